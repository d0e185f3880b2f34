"""Charts of a suite: families of metrics over tasks that grow more difficult, and metrics over all boards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from billboards.analyses.suite.results import SuiteRanking, SuiteResult
from billboards.errors import NotEnoughData
from billboards.show.words import one_line, value_text

if TYPE_CHECKING:
    import altair as alt

    from billboards.show.plot import Theme


def difficulty_lines(result: SuiteResult, *, theme: Theme = "light") -> alt.LayerChart:
    """What each family of metrics reaches on tasks from the easiest to the most difficult (BEAMetrics, Fig. 2)."""
    import altair as alt

    from billboards.show.plot import PALETTES, WIDTH, cycle, themed

    columns = {column.key: column for column in result.columns}
    points = [
        {
            "family": one_line(point.family),
            "task": one_line(f"{columns[point.column].task or columns[point.column].label}"),
            "board": one_line(columns[point.column].label),
            "value": 100 * point.value,
        }
        for point in result.families
    ]
    if not points:
        raise NotEnoughData(f"suite {result.suite} names no families of metrics or no difficulties; nothing to draw")
    labels = {point["board"]: f"{point['task']} ({point['board']})" for point in points}
    points = [{**point, "place": labels[point["board"]]} for point in points]
    families = list(dict.fromkeys(point["family"] for point in points))
    colours = PALETTES[theme]
    x = alt.X("place:N", sort=list(labels.values()), title="tasks, from easy to difficult", axis=_slanted())
    y = alt.Y("value:Q", title="agreement with people × 100", axis=alt.Axis(grid=True))
    own = alt.Scale(domain=families, range=cycle(colours.lines, len(families)))
    colour = alt.Color("family:N", scale=own, legend=None)
    base = alt.Chart(alt.InlineData(values=points))
    lines = base.mark_line(strokeWidth=2, point={"size": 36}).encode(
        x, y, colour, tooltip=["family:N", "place:N", alt.Tooltip("value:Q", format=".1f")]
    )
    ends = [next(point for point in reversed(points) if point["family"] == family) for family in families]
    names = alt.Chart(alt.InlineData(values=ends)).mark_text(align="left", dx=8, color=colours.text)
    chart = (lines + names.encode(x, y, text="family:N")).properties(width=max(WIDTH, 52 * len(labels)), height=240)
    words = "; ".join(f"{p['family']} on {p['board']} {value_text(p['value'], 1)}" for p in points)
    subtitle = "Mean of a family’s metrics on correctness, with all references."
    return themed(chart, theme, _difficulty_title(points), subtitle, words)


def _slanted() -> alt.Axis:
    import altair as alt

    return alt.Axis(labelAngle=-35, labelLimit=190, grid=False)


def _difficulty_title(points: list[dict[str, Any]]) -> str:
    best, worst = max(points, key=lambda p: p["value"]), min(points, key=lambda p: p["value"])
    return (
        f"From {value_text(best['value'], 1)} on {best['board']} ({best['family']}) "
        f"to {value_text(worst['value'], 1)} on {worst['board']} ({worst['family']})"
    )


def suite_bars(ranking: SuiteRanking, *, theme: Theme = "light") -> alt.LayerChart:
    """Metrics by their mean over a suite, with intervals; bars of one cluster share a shade."""
    import altair as alt

    from billboards.show.plot import PALETTES, ROW, WIDTH, themed

    rows = [
        {
            "name": one_line(standing.metric),
            "value": 100 * standing.value,
            "low": 100 * standing.interval[0],
            "high": 100 * standing.interval[1],
            "end": max(100 * standing.interval[1], 0.0),
            "label": value_text(100 * standing.value, 1),
            "even": (standing.cluster or 0) % 2 == 0,
        }
        for standing in ranking.standings
        if standing.value is not None and standing.interval is not None
    ]
    if not rows:
        raise NotEnoughData(f"suite {ranking.suite}: no metric has scores on every board; nothing to draw")
    colours = PALETTES[theme]
    y = alt.Y("name:N", sort=[row["name"] for row in rows], title=None)
    x = alt.X("value:Q", title="weighted mean over boards × 100")
    shade = alt.Color(
        "even:N", scale=alt.Scale(domain=[False, True], range=[colours.accent, colours.plain]), legend=None
    )
    base = alt.Chart(alt.InlineData(values=rows))
    bars = base.mark_bar(height={"band": 0.66}, cornerRadiusEnd=2).encode(x, y, shade)
    whiskers = base.mark_rule(color=colours.text, strokeWidth=1.2).encode(alt.X("low:Q"), y, alt.X2("high:Q"))
    figures = base.mark_text(align="left", dx=5, color=colours.text).encode(alt.X("end:Q"), y, text="label:N")
    chart = (bars + whiskers + figures).properties(width=WIDTH, height=ROW * len(rows))
    words = "; ".join(f"{row['name']} {row['label']}" for row in rows)
    title = f"{rows[0]['name']} agrees best with people over all boards"
    subtitle = "Lines are 95% intervals. The shade changes where a new cluster begins."
    return themed(chart, theme, title, subtitle, words)
