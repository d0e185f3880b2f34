"""Two effects on metrics as charts: of a text's being a machine's, and of one reference more.

Reference-free metrics are level lines beside the curves of the others.
"""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from billboards.analyses.effect_tables import verdict
from billboards.analyses.findings import overrating_words
from billboards.analyses.ranking_results import OverratingReport, ReferenceEffect
from billboards.errors import NotEnoughData, UnknownName
from billboards.show.plot import PALETTES, ROW, WIDTH, Points, Theme, apart, cycle, distinct, role_colour, themed
from billboards.show.table import REFERENCE_FREE
from billboards.show.words import one_line, value_text

#: How many labels fit above one another beside the curves.
LABELS = 17


def overrating_forest(report: OverratingReport, *, theme: Theme = "light") -> alt.LayerChart:
    """How much each metric overrates machines, with 90% intervals and a line at zero, least first."""
    if not report.metrics:
        raise NotEnoughData(f"{report.board}: overrating was measured for no metric; nothing to draw")
    colours = PALETTES[theme]
    estimates = sorted(report.metrics, key=lambda estimate: estimate.beta0)
    names = distinct(estimate.name for estimate in estimates)
    rows = [
        {"name": name, "beta0": e.beta0, "low": e.interval90[0], "high": e.interval90[1], "role": verdict(e)}
        for name, e in zip(names, estimates, strict=True)
    ]
    kinds = ["overrates machines", "neither", "overrates people"]
    roles = role_colour(dict(zip(kinds, (colours.people, colours.plain, colours.accent), strict=True)))
    shapes = alt.Scale(domain=kinds, range=["circle", "diamond", "square"])
    y = alt.Y("name:N", sort=names, title=None, axis=alt.Axis(grid=True))
    x = alt.X("beta0:Q", title="beta0, in standard deviations of the metric")
    base = alt.Chart(alt.InlineData(values=rows))
    zero = (
        alt.Chart(alt.InlineData(values=[{"zero": 0}]))
        .mark_rule(color=colours.text, strokeDash=[3, 3])
        .encode(x="zero:Q")
    )
    whiskers = base.mark_rule(strokeWidth=2).encode(alt.X("low:Q"), y, alt.X2("high:Q"), roles)
    dots = base.mark_point(filled=True, size=60, opacity=1).encode(
        x, y, roles, alt.Shape("role:N", scale=shapes, legend=None), tooltip=["name:N", "beta0:Q", "role:N"]
    )
    chart = (zero + whiskers + dots).properties(width=WIDTH, height=ROW * len(rows))
    subtitle = "Circles: machines overrated. Squares: people overrated. Diamonds: neither. Lines are 90% intervals."
    words = "; ".join(f"{row['name']} {value_text(row['beta0'], 2)}" for row in rows)
    return themed(chart, theme, overrating_words(report), subtitle, words)


def reference_curves(
    effect: ReferenceEffect, *, metrics: Sequence[str] | None = None, theme: Theme = "light"
) -> alt.LayerChart:
    """Correlation as references are added, beside reference-free metrics as level lines; the best six unless named."""
    names = _curve_names(effect, metrics)
    colours = PALETTES[theme]
    points: Points = [
        {"name": one_line(name), "size": p.size, "value": p.correlation, "low": p.low, "high": p.high}
        for name in names
        for p in effect.curves.get(name, ())
    ]
    sizes = sorted({point["size"] for point in points})
    free = [(one_line(name), effect.reference_free[name]) for name in names if name in effect.reference_free]
    level = [{"name": name, "size": size, "value": r} for name, r in free for size in (sizes[0], sizes[-1])]
    x = alt.X("size:Q", title="references", axis=alt.Axis(values=sizes, format="d", grid=False))
    agreement = f"correlation with people ({one_line(effect.aggregate)})"
    y = alt.Y("value:Q", title=agreement, axis=alt.Axis(grid=True), scale=alt.Scale(zero=False))
    own = alt.Scale(domain=list(map(one_line, names)), range=cycle(colours.lines, len(names)))
    colour = alt.Color("name:N", scale=own, legend=None)
    base = alt.Chart(alt.InlineData(values=points))
    bands = base.mark_area(opacity=0.14).encode(x, alt.Y("low:Q", title=agreement), alt.Y2("high:Q"), colour)
    tooltip = ["name:N", "size:Q", alt.Tooltip("value:Q", format=".3f")]
    lines = base.mark_line(strokeWidth=2, point={"size": 28}).encode(x, y, colour, tooltip=tooltip)
    levels = alt.Chart(alt.InlineData(values=level)).mark_line(strokeWidth=2, strokeDash=[5, 3]).encode(x, y, colour)
    labels = alt.Chart(alt.InlineData(values=_end_labels(effect, names, sizes[-1])))
    ends = labels.mark_text(align="left", dx=8, color=colours.text, limit=130).encode(x, y, text="label:N")
    chart = (bands + lines + levels + ends).properties(width=WIDTH - 60, height=LABELS * 16)
    words = "; ".join(f"{one_line(name)} {value_text(_curve_end(effect, name), 3)}" for name in names)
    return themed(chart, theme, _curve_title(effect, names), _curve_subtitle(effect, names), words)


def _curve_names(effect: ReferenceEffect, metrics: Sequence[str] | None) -> list[str]:
    """The metrics to draw: those asked for, or the best five with references and the best one without."""
    known = [name for name, curve in effect.curves.items() if curve] + list(effect.reference_free)
    best = sorted(known, key=lambda name: -_curve_end(effect, name))
    free = [name for name in best if name in effect.reference_free][:1]
    based = [name for name in best if name not in effect.reference_free][:5]
    chosen = [name for name in best if name in free or name in based] if metrics is None else list(metrics)
    for name in chosen:
        if name not in known:
            raise UnknownName("metric", name, known)
    if not any(effect.curves.get(name) for name in chosen):
        raise NotEnoughData(f"{effect.board}: no metric was measured by the number of references; nothing to draw")
    return chosen


def _curve_end(effect: ReferenceEffect, name: str) -> float:
    return effect.reference_free[name] if name in effect.reference_free else effect.curves[name][-1].correlation


def _end_labels(effect: ReferenceEffect, names: Sequence[str], size: int) -> Points:
    """A label per line at its right end, pushed apart where lines end close together."""
    drawn = [p for name in names for p in effect.curves.get(name, ())]
    ordered = sorted(names, key=lambda name: _curve_end(effect, name))
    ends = [_curve_end(effect, name) for name in ordered]
    highest, lowest = max((*ends, *(p.high for p in drawn))), min((*ends, *(p.low for p in drawn)))
    places = apart(ends, (highest - lowest) / LABELS)
    labels = [f"{one_line(n)} {REFERENCE_FREE}" if n in effect.reference_free else one_line(n) for n in ordered]
    return [{"label": label, "value": at, "size": size} for label, at in zip(labels, places, strict=True)]


def _curve_title(effect: ReferenceEffect, names: Sequence[str]) -> str:
    best = next(name for name in names if effect.curves.get(name))
    first, last = effect.curves[best][0], effect.curves[best][-1]
    if first.size == last.size:
        references = "reference" if last.size == 1 else "references"
        return f"{one_line(best)} reaches {value_text(last.correlation, 3)} with {last.size} {references}"
    verb = "rises" if last.correlation > first.correlation else "falls"
    change = f"{value_text(first.correlation, 3)} to {value_text(last.correlation, 3)}"
    return f"{one_line(best)} {verb} from {change} as references go from {first.size} to {last.size}"


def _curve_subtitle(effect: ReferenceEffect, names: Sequence[str]) -> str:
    total = len(effect.curves) + len(effect.reference_free)
    part = f"{len(names)} of {total} metrics. " if len(names) < total else ""
    dashed = f" Dashed and {REFERENCE_FREE}: no references." if set(names) & set(effect.reference_free) else ""
    return f"{part}Bands span the sets of references tried.{dashed}"
