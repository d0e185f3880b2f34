"""Charts of results, specified once in Vega-Lite for the HTML report, notebooks and sites alike.

Each chart says its finding in its title, uses one accent colour and one for people, tells both apart by more than
colour, and comes light or dark on a transparent ground. Names from boards enter only as data and titles, never as
fields or expressions, so that a metric may be called anything.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import altair as alt
import numpy as np
from numpy.typing import NDArray

from billboards.domain import EnsembleStudy, OverratingReport, Ranking, ReferenceEffect
from billboards.errors import NotEnoughData, UnknownName
from billboards.reports.findings import best_metric_words, correlated, overrating_words
from billboards.reports.tables import HUMAN, REFERENCE_FREE, STATISTIC, metric_mark
from billboards.reports.wording import one_line, rank_texts, statistic_name, value_text, verdict

Theme = Literal["light", "dark"]
Floats = NDArray[np.float64]
Points = list[dict[str, Any]]

#: Width of a plot and height of one of its rows, in pixels: with labels, what a phone shows without shrinking much.
WIDTH = 300
ROW = 22
#: Letters to a line of a title.
LINE = 48
#: How many labels fit above one another beside the curves.
LABELS = 17


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of a theme; accent and people are blue and orange, which every eye tells apart.

    `turn` is the correlation from which a heat map's figures change between black and white to stay legible.
    """

    text: str
    faint: str
    grid: str
    figures: tuple[str, str]
    turn: float
    plain: str
    accent: str
    people: str
    lines: tuple[str, ...]


PALETTES: Mapping[Theme, Palette] = {
    "light": Palette(
        text="#1f2328",
        faint="#59636e",
        grid="#e4e7eb",
        figures=("#000000", "#ffffff"),
        turn=0.83,
        plain="#8491a0",
        accent="#0b62b5",
        people="#c2500a",
        lines=("#0b62b5", "#c2500a", "#0a7d5c", "#a1487e", "#8a6d00", "#3a8fca"),
    ),
    "dark": Palette(
        text="#e6e9ed",
        faint="#9aa4af",
        grid="#2f353d",
        figures=("#ffffff", "#000000"),
        turn=0.57,
        plain="#6f7b88",
        accent="#5aa9f2",
        people="#f2954a",
        lines=("#5aa9f2", "#f2954a", "#3cc69a", "#df8fc0", "#d9b93b", "#b7d9f5"),
    ),
}


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


def overrating_forest(report: OverratingReport, *, theme: Theme = "light") -> alt.LayerChart:
    """How much each metric overrates machines, with 90% intervals and a line at zero, least first."""
    if not report.metrics:
        raise NotEnoughData(f"{report.board}: overrating was measured for no metric; nothing to draw")
    colours = PALETTES[theme]
    estimates = sorted(report.metrics, key=lambda estimate: estimate.beta0)
    names = _distinct(estimate.name for estimate in estimates)
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


def rank_swaps(ranking: Ranking, left: str, right: str, *, theme: Theme = "light") -> alt.LayerChart:
    """Generators' places under two metrics, joined by lines; those that move most are in the accent colour."""
    swaps = _swaps(ranking, left, right)
    colours = PALETTES[theme]
    x = alt.X("side:Q", axis=None, scale=alt.Scale(domain=[0, 1]))
    y = alt.Y("place:Q", axis=None, scale=alt.Scale(domain=[0, len(swaps) + 0.5], reverse=True))
    roles = role_colour({"people": colours.people, "moved": colours.accent, "other": colours.plain})
    dashed = alt.Scale(domain=["people", "moved", "other"], range=[[5, 3], [1, 0], [1, 0]])
    dash = alt.StrokeDash("role:N", scale=dashed, legend=None)
    ends = alt.Chart(alt.InlineData(values=[_end(swap, k, side) for k, swap in enumerate(swaps) for side in (0, 1)]))
    lines = ends.mark_line(strokeWidth=1.8).encode(x, y, roles, dash, detail="key:N", order="side:Q")
    dots = ends.mark_point(filled=True, size=36, opacity=1).encode(x, y, roles)
    words = {"color": colours.text, "limit": 180}
    text = alt.Text("label:N")
    at_left = ends.transform_filter("datum.side == 0").mark_text(align="right", dx=-8, **words).encode(x, y, text)
    at_right = ends.transform_filter("datum.side == 1").mark_text(align="left", dx=8, **words).encode(x, y, text)
    metrics = [{"side": side, "place": 0, "label": one_line(name)} for side, name in enumerate((left, right))]
    heads = alt.Chart(alt.InlineData(values=metrics)).mark_text(fontWeight="bold", **words).encode(x, y, text)
    chart = (lines + dots + at_left + at_right + heads).properties(width=120, height=ROW * (len(swaps) + 1))
    moves = "; ".join(f"{swap.name} {swap.left.rank} to {swap.right.rank}" for swap in swaps)
    return themed(chart, theme, _swap_title(swaps, left, right), _swap_subtitle(ranking, swaps), moves)


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


def metric_correlations(study: EnsembleStudy, *, theme: Theme = "light") -> alt.LayerChart:
    """Which metrics say the same: the correlation of every pair on the judged outputs, in hundredths."""
    names = _distinct(study.names)
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


def to_svg(chart: alt.TopLevelMixin, *, titled: bool = True) -> str:
    """A chart as a static picture, for which nothing is fetched; without its title where a page states it as text."""
    import vl_convert

    specification = chart.to_dict(validate=False)
    # A picture is described as a whole; a description of each of its points would only make it large.
    specification["config"]["aria"] = False
    if not titled:
        del specification["title"]
    wanted = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    known = vl_convert.get_vegalite_versions()
    version = wanted if wanted in known else known[-1]
    return str(vl_convert.vegalite_to_svg(specification, vl_version=version, allowed_base_urls=[]))


def themed(chart: alt.LayerChart, theme: Theme, title: str, subtitle: str, words: str) -> alt.LayerChart:
    """A chart with its title, its text alternative and the common look."""
    colours = PALETTES[theme]
    lines, below = (textwrap.wrap(t, n, break_long_words=False) for t, n in ((title, LINE), (subtitle, LINE + 10)))
    heading = alt.TitleParams(lines, subtitle=below)
    axis = {
        "labelColor": colours.text,
        "titleColor": colours.faint,
        "titleFontWeight": "normal",
        "gridColor": colours.grid,
        "domainColor": colours.grid,
        "tickColor": colours.grid,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "labelLimit": 150,
    }
    titles = {"anchor": "start", "frame": "bounds", "offset": 12, "fontSize": 14, "subtitleFontSize": 12}
    return chart.properties(title=heading, description=f"{title}. {words}").configure(
        background="transparent",
        font="system-ui, sans-serif",
        # Room for a reader's font that is wider than the one a picture was measured with.
        padding={"left": 16, "right": 24, "top": 6, "bottom": 6},
        axis=axis,
        axisX={"labelFlush": False},
        axisY={"grid": False, "ticks": False, "labelPadding": 6},
        view={"stroke": None},
        text={"fontSize": 12},
        title=titles | {"color": colours.text, "subtitleColor": colours.faint},
    )


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


def role_colour(roles: Mapping[str, str]) -> alt.Color:
    return alt.Color("role:N", scale=alt.Scale(domain=list(roles), range=list(roles.values())), legend=None)


def _distinct(names: Iterable[str]) -> list[str]:
    """Names as labels that differ: a metric that stands twice on a board is two bars, not one."""
    seen: Counter[str] = Counter()
    labels = []
    for name in map(one_line, names):
        seen[name] += 1
        labels.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return labels


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
    for bar, name in zip(bars, _distinct(bar["name"] for bar in bars), strict=True):
        end = max(0.0, bar["value"], bar.get("high") or 0.0)
        bar |= {"name": name, "label": value_text(bar["value"], 3), "end": end}
    return bars


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a generator stands under one metric: its line from the top, its rank, and the rank in words."""

    line: int
    rank: int
    text: str


@dataclass(frozen=True, slots=True)
class _Swap:
    """A generator under two metrics."""

    name: str
    people: bool
    left: _Place
    right: _Place
    role: str = "other"

    @property
    def moved(self) -> int:
        return self.right.rank - self.left.rank


def _swaps(ranking: Ranking, left: str, right: str) -> list[_Swap]:
    """Each generator that both metrics scored, with the part it plays in the picture."""
    known = {name for standing in ranking.generators for name in standing.scores}
    for name in (left, right):
        if name not in known:
            raise UnknownName("metric", name, known)
    real = [g for g in ranking.generators if g.kind != "optimised"]
    pairs = [(g, g.scores.get(left), g.scores.get(right)) for g in real]
    both = [(g, a, b) for g, a, b in pairs if a is not None and b is not None]
    if len(both) < 2:
        raise NotEnoughData(
            f"{ranking.board}: {left} and {right} have {len(both)} generators in common; swaps need two or more"
        )
    lefts, rights = _places([a for _, a, _ in both]), _places([b for _, _, b in both])
    swaps = [
        _Swap(one_line(g.name), g.kind == "human", a, b) for (g, _, _), a, b in zip(both, lefts, rights, strict=True)
    ]
    moves = sorted((abs(swap.moved) for swap in swaps), reverse=True)
    enough = max(2, moves[min(2, len(moves) - 1)])
    return [replace(swap, role=_swap_role(swap, enough)) for swap in swaps]


def _swap_role(swap: _Swap, enough: int) -> str:
    return "people" if swap.people else "moved" if abs(swap.moved) >= enough else "other"


def _places(scores: Sequence[float]) -> list[_Place]:
    """Ranks with ties, and a line of its own for each so that no two labels meet."""
    order = sorted(range(len(scores)), key=lambda k: -scores[k])
    line = {k: place + 1 for place, k in enumerate(order)}
    ranks = [1 + sum(other > score for other in scores) for score in scores]
    return [_Place(line[k], ranks[k], text) for k, text in enumerate(rank_texts(ranks))]


def _end(swap: _Swap, key: int, side: int) -> dict[str, Any]:
    place = swap.right if side else swap.left
    name = f"{swap.name} {HUMAN}" if swap.people else swap.name
    label = f"{place.text}  {name}" if side else f"{name}  {place.text}"
    return {"side": side, "place": place.line, "label": label, "role": swap.role, "key": key}


def _swap_title(swaps: Sequence[_Swap], left: str, right: str) -> str:
    most = max(swaps, key=lambda swap: abs(swap.moved))
    left, right = one_line(left), one_line(right)
    if most.moved == 0:
        return f"{left} and {right} rank the generators alike"
    verb = "falls" if most.moved > 0 else "rises"
    return f"{most.name} {verb} from {most.left.rank} to {most.right.rank} when {right} ranks instead of {left}"


def _swap_subtitle(ranking: Ranking, swaps: Sequence[_Swap]) -> str:
    left_out = sum(g.kind != "optimised" for g in ranking.generators) - len(swaps)
    people = f" Dashed and {HUMAN}: written by people." if any(swap.people for swap in swaps) else ""
    absent = f" {left_out} without a score under both left out." if left_out else ""
    return f"Blue lines move most.{people}{absent}"


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


def cycle(colours: tuple[str, ...], count: int) -> list[str]:
    return [colours[k % len(colours)] for k in range(count)]


def _end_labels(effect: ReferenceEffect, names: Sequence[str], size: int) -> Points:
    """A label per line at its right end, pushed apart where lines end close together."""
    drawn = [p for name in names for p in effect.curves.get(name, ())]
    ordered = sorted(names, key=lambda name: _curve_end(effect, name))
    ends = [_curve_end(effect, name) for name in ordered]
    highest, lowest = max((*ends, *(p.high for p in drawn))), min((*ends, *(p.low for p in drawn)))
    places = apart(ends, (highest - lowest) / LABELS)
    labels = [f"{one_line(n)} {REFERENCE_FREE}" if n in effect.reference_free else one_line(n) for n in ordered]
    return [{"label": label, "value": at, "size": size} for label, at in zip(labels, places, strict=True)]


def apart(values: Sequence[float], gap: float) -> list[float]:
    """Ascending values moved as little as it takes to be a gap apart: neighbours that are too close part evenly."""
    places = list(values)
    for _ in range(100):
        for k in range(len(places) - 1):
            short = gap - (places[k + 1] - places[k])
            if short > 0:
                places[k] -= short / 2
                places[k + 1] += short / 2
    return places


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
