"""Metrics as charts: one against people, all by their correlation with people, and each beside every other.

A metric that stands twice on a board is two bars; what is drawn of a large board is a seeded sample that says so.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import altair as alt
import numpy as np
from numpy.typing import NDArray

from billboards.analyses.findings import best_metric_words, correlated
from billboards.analyses.ranking_results import EnsembleStudy, Ranking
from billboards.analyses.ranking_tables import metric_mark, statistic_name
from billboards.errors import NotEnoughData
from billboards.show.plot import PALETTES, ROW, WIDTH, Points, Theme, distinct, role_colour, themed
from billboards.show.table import REFERENCE_FREE, STATISTIC
from billboards.show.words import one_line, value_text

Floats = NDArray[np.float64]


def scatter(
    human: Floats,
    scores: Floats,
    generators: Sequence[str],
    metric_name: str,
    *,
    human_name: str = "people",
    human_generators: Collection[str] = (),
    correlation: float | None = None,
    sample: int = 1500,
    seed: int = 0,
    theme: Theme = "light",
) -> alt.LayerChart:
    """A metric against people, a point per judged output; arrays are generators × instances, NaN where missing.

    The trend is fitted to every pair, though at most `sample` of them are drawn.
    """
    row, instance = np.nonzero(np.isfinite(human) & np.isfinite(scores))
    if len(row) < 2:
        raise NotEnoughData(f"{metric_name}: {len(row)} outputs have both a score and a judgment; nothing to draw")
    x, y = human[row, instance], scores[row, instance]
    who = [one_line(generators[int(k)]) for k in row]
    people = set(map(one_line, human_generators))
    points: Points = [
        {"x": _short(x[k]), "y": _short(y[k]), "generator": who[k], "people": who[k] in people}
        for k in _sampled(len(row), sample, seed)
    ]
    chart = _scatter_layers(points, _trend(x, y), one_line(metric_name), one_line(human_name), theme)
    agreement = "" if correlation is None else f" (correlation {value_text(correlation, 3)})"
    drawn = f"{len(points):,} of {len(row):,}" if len(points) < len(row) else f"All {len(row):,}"
    triangles = " Triangles: written by people." if any(point["people"] for point in points) else ""
    subtitle = f"{drawn} judged outputs; the line is the trend of all.{triangles}"
    return themed(chart, theme, f"{one_line(metric_name)} against people{agreement}", subtitle, subtitle)


def correlation_bars(ranking: Ranking, *, theme: Theme = "light") -> alt.LayerChart:
    """Metrics by their correlation with people, with intervals, the ensemble among them in the accent colour."""
    bars = _bars(ranking)
    if not bars:
        raise NotEnoughData(f"{ranking.board}: no metric has a correlation with {ranking.aggregate}; nothing to draw")
    colours = PALETTES[theme]
    names = [bar["name"] for bar in bars]
    y = alt.Y("name:N", sort=names, title=None)
    x = alt.X("value:Q", title=f"{statistic_name(ranking)} correlation with people ({one_line(ranking.aggregate)})")
    roles = role_colour({"ensemble": colours.accent, "metric": colours.plain, "statistic": colours.grid})
    tooltip = ["name:N", alt.Tooltip("value:Q", format=".3f"), alt.Tooltip("n:Q", format=",")]
    base = alt.Chart(alt.InlineData(values=bars))
    lengths = base.mark_bar(height={"band": 0.66}, cornerRadiusEnd=2, stroke=colours.plain).encode(
        x, y, roles, tooltip=tooltip
    )
    whiskers = base.mark_rule(color=colours.text, strokeWidth=1.2).encode(alt.X("low:Q"), y, alt.X2("high:Q"))
    figures = base.mark_text(align="left", dx=5, color=colours.text).encode(alt.X("end:Q"), y, text="label:N")
    chart = (lengths + whiskers + figures).properties(width=WIDTH, height=ROW * len(bars))
    notes = {REFERENCE_FREE: "uses no references", STATISTIC: "a statistic of the text"}
    marks = [f" {mark} {note}." for mark, note in notes.items() if any(name.endswith(mark) for name in names)]
    intervals = "Lines are 95% intervals." if any(bar.get("low") is not None for bar in bars) else ""
    words = "; ".join(f"{bar['name']} {bar['label']}" for bar in bars)
    title = best_metric_words(ranking) or f"No metric of {one_line(ranking.board)} judges quality"
    return themed(chart, theme, title, "".join((intervals, *marks)).strip(), words)


def metric_correlations(study: EnsembleStudy, *, theme: Theme = "light") -> alt.LayerChart:
    """Which metrics say the same: the correlation of every pair on the judged outputs, in hundredths."""
    names = distinct(study.names)
    cells: Points = [
        {"row": names[i], "column": names[j], "value": r, "label": f"{round(100 * r)}"}
        for i, row in enumerate(study.correlations)
        for j, r in enumerate(row)
        if i != j and r is not None and np.isfinite(r)
    ]
    if not cells:
        raise NotEnoughData(f"{study.ensemble.board}: no two metrics can be compared; nothing to draw")
    colours = PALETTES[theme]
    x = alt.X("column:N", sort=names, title=None, axis=alt.Axis(orient="top", labelAngle=-60, domain=False))
    y = alt.Y("row:N", sort=names, title=None, axis=alt.Axis(domain=False))
    scale = alt.Scale(domain=[-1, 0, 1], range=[colours.people, colours.grid, colours.accent])
    weak, strong = (alt.value(colour) for colour in colours.figures)
    legible = alt.condition(f"abs(datum.value) > {colours.turn}", strong, weak)
    base = alt.Chart(alt.InlineData(values=cells)).encode(x, y)
    tooltip = ["row:N", "column:N", alt.Tooltip("value:Q", format=".3f")]
    squares = base.mark_rect().encode(alt.Color("value:Q", scale=scale, legend=None), tooltip=tooltip)
    figures = base.mark_text(fontSize=10).encode(text="label:N", color=legible)
    side = max(20, min(34, 360 // len(names))) * len(names)
    most, least = max(cells, key=lambda cell: cell["value"]), min(cells, key=lambda cell: cell["value"])
    title = f"{most['row']} and {most['column']} are most alike ({value_text(most['value'], 2)})"
    words = f"Least alike are {least['row']} and {least['column']} ({value_text(least['value'], 2)})"
    subtitle = "Correlation of each pair of metrics on the judged outputs, × 100."
    return themed((squares + figures).properties(width=side, height=side), theme, title, subtitle, words)


def _scatter_layers(points: Points, trend: Points, metric: str, human: str, theme: Theme) -> alt.LayerChart:
    colours = PALETTES[theme]
    x = alt.X("x:Q", title=human, scale=alt.Scale(zero=False, nice=True), axis=alt.Axis(tickCount=6))
    y = alt.Y("y:Q", title=metric, scale=alt.Scale(zero=False, nice=True), axis=alt.Axis(grid=True))
    kinds = [False, True]
    who = alt.Color("people:N", scale=alt.Scale(domain=kinds, range=[colours.accent, colours.people]), legend=None)
    shape = alt.Shape("people:N", scale=alt.Scale(domain=kinds, range=["circle", "triangle-up"]), legend=None)
    base = alt.Chart(alt.InlineData(values=points))
    tooltip = ["generator:N", "x:Q", "y:Q"]
    dots = base.mark_point(filled=True, size=14, opacity=0.45).encode(x, y, who, shape, tooltip=tooltip)
    line = alt.Chart(alt.InlineData(values=trend)).mark_line(color=colours.text, strokeWidth=2).encode(x, y)
    return (dots + line).properties(width=WIDTH, height=260)


def _sampled(count: int, sample: int, seed: int) -> NDArray[np.int64]:
    """Which of so many points to draw: all of them, or a seeded sample in its order."""
    if count <= sample:
        return np.arange(count)
    return np.sort(np.random.default_rng(seed).choice(count, sample, replace=False))


def _trend(x: Floats, y: Floats) -> Points:
    """The least-squares line from the lowest to the highest judgment; none where all judgments are alike."""
    low, high = float(x.min()), float(x.max())
    if low == high:
        return []
    slope, intercept = np.polyfit(x, y, 1)
    return [{"x": end, "y": float(intercept + slope * end)} for end in (low, high)]


def _short(value: float) -> float:
    """A coordinate in as many figures as a picture can show."""
    return float(f"{value:.5g}")


def _bars(ranking: Ranking) -> Points:
    """What `correlation_bars` draws, longest first; `end` is where a bar's figure stands."""
    bars: Points = []
    for m in correlated(ranking):
        low, high = m.interval or (None, None)
        role = "statistic" if m.is_statistic else "metric"
        name = f"{m.name} {metric_mark(m)}".rstrip()
        bars.append({"name": name, "value": m.correlation, "low": low, "high": high, "role": role, "n": m.n})
    ensemble = ranking.ensemble
    if ensemble is not None and ensemble.correlation is not None:
        bars.append({"name": "ensemble", "value": ensemble.correlation, "role": "ensemble", "n": ensemble.n})
    bars.sort(key=lambda bar: -bar["value"])
    for bar, name in zip(bars, distinct(bar["name"] for bar in bars), strict=True):
        end = max(0.0, bar["value"], bar.get("high") or 0.0)
        bar |= {"name": name, "label": value_text(bar["value"], 3), "end": end}
    return bars
