"""Charts of an audit: rank-swap lines as in Figures 2 to 4 of the paper, and likeness against what the metric adds.

Scores stand in standard deviations between machines, so that two metrics share an axis. The optimised output has the
accent colour, people are orange; both are told apart by dashes and marks as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from billboards.analyses.audit.results import MetricAudit
from billboards.errors import NotEnoughData
from billboards.show.words import one_line, value_text

if TYPE_CHECKING:
    import altair as alt

    from billboards.show.plot import Palette, Points, Theme


ROLES = ("optimised", "people", "machine")
WIDTH, HEIGHT = 190, 300


def audit_swaps(audit: MetricAudit, judge: str, *, theme: Theme = "light") -> alt.LayerChart:
    """Every generator under another judge (left) and under the audited metric (right)."""
    import altair as alt

    from billboards.show.plot import PALETTES, role_colour, themed

    colours = PALETTES[theme]
    ends = _ends(audit, judge)
    marks = _human_marks(audit)
    x = alt.X("side:Q", axis=None, scale=alt.Scale(domain=[-0.02, 1.02]))
    y = alt.Y("value:Q", axis=None)
    colour = role_colour({"optimised": colours.accent, "people": colours.people, "machine": colours.plain})
    dash = alt.StrokeDash("role:N", scale=alt.Scale(domain=list(ROLES), range=[[1, 0], [5, 3], [1, 0]]), legend=None)
    width = alt.StrokeWidth("role:N", scale=alt.Scale(domain=list(ROLES), range=[3, 2, 1]), legend=None)
    base = alt.Chart(alt.InlineData(values=ends))
    lines = base.mark_line().encode(x, y, colour, dash, width, detail="name:N", order="side:Q")
    dots = base.mark_point(filled=True, size=30, opacity=1).encode(x, y, colour, tooltip=["name:N", "value:Q"])
    labelled = alt.Chart(alt.InlineData(values=_labels(ends)))
    words = {"color": colours.text, "limit": 170}
    left = labelled.transform_filter("datum.side == 0").mark_text(align="right", dx=-8, **words)
    right = labelled.transform_filter("datum.side == 1").mark_text(align="left", dx=8, **words)
    layers = lines + dots + left.encode(x, y, text="name:N") + right.encode(x, y, text="name:N")
    if marks:
        layers += _crosses(marks, colours, x, y)
    heads = [{"side": side, "label": one_line(name)} for side, name in enumerate((judge, audit.metric))]
    layers += (
        alt.Chart(alt.InlineData(values=heads))
        .mark_text(fontWeight="bold", dy=-8, **words)
        .encode(x, y=alt.value(0), text="label:N")
    )
    chart = layers.properties(width=WIDTH, height=HEIGHT)
    landing = next(landing for landing in audit.judges if landing.judge == judge)
    title = (
        f"What {one_line(audit.metric)} likes best ranks {audit.own.rank} there and "
        f"{landing.rank} of {landing.machines + 1} under {one_line(judge)}"
    )
    crosses = " Crosses: human references." if marks else ""
    people = " Dashed: people." if any(end["role"] == "people" for end in ends) else ""
    subtitle = f"Means in standard deviations between machines. Blue and thick: made for the metric.{people}{crosses}"
    description = "; ".join(f"{point['name']} {point['value']:.2f}" for point in ends if point["side"] == 1)
    return themed(chart, theme, title, subtitle, description)


def _ends(audit: MetricAudit, judge: str) -> Points:
    """Both ends of every line, standardised over the machines."""
    both = [s for s in audit.systems if s.means.get(judge) is not None and s.means.get(audit.metric) is not None]
    machines = [s for s in both if s.kind == "machine"]
    if len(machines) < 2:
        raise NotEnoughData(f"{audit.metric} and {judge} have {len(machines)} machines in common; nothing to draw")
    ends: Points = []
    for side, name in enumerate((judge, audit.metric)):
        centre, spread = _scale([float(s.means[name] or 0.0) for s in machines])
        ends += [
            {
                "side": side,
                "value": round((float(s.means[name] or 0.0) - centre) / spread, 4),
                "name": f"made for {one_line(audit.metric)}" if s.kind == "optimised" else one_line(s.name),
                "role": "people" if s.kind == "human" else s.kind,
            }
            for s in both
        ]
    return ends


def _scale(values: list[float]) -> tuple[float, float]:
    return float(np.mean(values)), float(np.std(values)) or 1.0


def _human_marks(audit: MetricAudit) -> Points:
    """References under the audited metric, where they are not generators of the board."""
    names = {system.name for system in audit.systems}
    means = [float(s.means[audit.metric] or 0.0) for s in audit.systems if s.kind == "machine"]
    centre, spread = _scale(means)
    return [
        {"side": 1, "value": round((place.mean - centre) / spread, 4)}
        for place in audit.bias
        if place.judge == audit.metric and place.person not in names
    ]


def _crosses(marks: Points, colours: Palette, x: Any, y: Any) -> alt.Chart:
    import altair as alt

    base = alt.Chart(alt.InlineData(values=marks))
    return base.mark_point(shape="cross", angle=45, size=70, color=colours.people, opacity=1).encode(x, y)


def _labels(ends: Points) -> Points:
    """Names of the optimised output, of people, and of the first and last machine at each side, kept apart."""
    from billboards.show.plot import apart

    labels: Points = []
    for side in (0, 1):
        mine = sorted((e for e in ends if e["side"] == side), key=lambda e: float(e["value"]))
        machines = [e for e in mine if e["role"] == "machine"]
        named = [e for e in mine if e["role"] != "machine" or e in (machines[0], machines[-1])]
        span = max(e["value"] for e in mine) - min(e["value"] for e in mine)
        places = apart([e["value"] for e in named], 0.06 * (span or 1.0))
        labels += [{**e, "value": place} for e, place in zip(named, places, strict=True)]
    return labels


def relatives_scatter(audit: MetricAudit, *, theme: Theme = "light") -> alt.LayerChart:
    """Likeness to the optimised output against what the metric gives beyond quality; a point per machine."""
    import altair as alt

    from billboards.show.plot import PALETTES, themed

    if len(audit.relatives) < 2:
        raise NotEnoughData(f"{audit.metric}: too few machines with a likeness and a quality; nothing to draw")
    colours = PALETTES[theme]
    points: Points = [
        {"x": round(relative.similarity, 4), "y": round(relative.residual, 4), "name": one_line(relative.name)}
        for relative in audit.relatives
    ]
    x = alt.X("x:Q", title="likeness to what it likes best", axis=alt.Axis(tickCount=6))
    y = alt.Y("y:Q", title=f"{one_line(audit.metric)} beyond quality", axis=alt.Axis(grid=True))
    base = alt.Chart(alt.InlineData(values=points))
    dots = base.mark_point(filled=True, size=40, color=colours.accent, opacity=0.9).encode(x, y, tooltip=["name:N"])
    ends = {min(points, key=lambda p: p["x"])["name"], max(points, key=lambda p: p["x"])["name"]}
    named = alt.Chart(alt.InlineData(values=[p for p in points if p["name"] in ends]))
    words = named.mark_text(align="center", dy=-10, color=colours.text, limit=150).encode(x, y, text="name:N")
    chart = (dots + words).properties(width=WIDTH + 90, height=HEIGHT - 40)
    title = f"{one_line(audit.metric)} and likeness to its own output at equal quality: {value_text(audit.kinship, 2)}"
    subtitle = f"One point per machine, in standard deviations; quality by {one_line(audit.quality)}."
    description = "; ".join(f"{p['name']} {p['x']:.2f}, {p['y']:.2f}" for p in points)
    return themed(chart, theme, title, subtitle, description)
