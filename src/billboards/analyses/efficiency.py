"""Set quality against cost (latency, price, energy, parameters, training data): what does no other entry beat?

Efficiency is a dimension of its own: what is best may cost a hundred times what is nearly as good. Generators are set
against their mean human score or a metric's, metrics against their correlation with people. Costs are what authors
state, and for metrics that run here the measured seconds per output; what nobody stated is missing and on no front.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from billboards.analyses._analysis import analysis
from billboards.analyses._people import PEOPLE
from billboards.analyses._view import View
from billboards.board.costs import COSTS, CostName
from billboards.errors import InvalidInput, MissingPart, NotEnoughData, UnknownName
from billboards.metrics.discovery import metric_class
from billboards.metrics.parts import split_part
from billboards.options import Named
from billboards.show.table import Table, TableColumn
from billboards.show.words import listed, one_line, value_text
from billboards.stats.correlation import pearson
from billboards.stats.pareto import pareto_front

if TYPE_CHECKING:
    import altair as alt

    from billboards.metrics.base import MetricCard
    from billboards.show.plot import Theme

Floats = NDArray[np.float64]
Side = Literal["generators", "metrics"]
#: A cost that spans more than this is drawn on a logarithmic axis.
WIDE = 20.0


@runtime_checkable
class Timed(Protocol):
    """A store of cells that knows how long they took."""

    def seconds_per_cell(self, signatures: Iterable[str]) -> dict[str, float]:
        """The mean seconds of a cell of each column."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A generator or a metric: how good it is, on how many outputs, and what it costs."""

    name: str
    kind: str
    quality: float | None
    n: int
    costs: Mapping[str, float]
    #: The costs that were measured here and not stated.
    measured: tuple[str, ...] = ()
    #: Whether nothing else is as good for less, or better for as much.
    on_front: bool = False


@dataclass(frozen=True, kw_only=True)
class Efficiency:
    """Quality against one cost, and all costs that are known."""

    board: str
    side: Side
    #: What quality is: people, a metric's name, or the correlation with people.
    by: str
    higher_is_better: bool
    cost: str
    entries: tuple[Entry, ...]

    @property
    def front(self) -> tuple[Entry, ...]:
        """Those on the front, the cheapest first."""
        chosen = [entry for entry in self.entries if entry.on_front]
        return tuple(sorted(chosen, key=lambda entry: entry.costs[self.cost]))


@analysis(
    view=("aggregate",),
    group="score and rank",
    paper="Ethayarajh and Jurafsky (2020), Utility is in the Eye of the User",
)
def efficiency(
    view: View,
    *,
    side: Annotated[Side, "generators, or the metrics that judge them"] = "generators",
    cost: Annotated[
        Literal["latency", "price", "energy", "parameters", "training_tokens"] | None,
        "the cost to set quality against (default: the first that two or more have)",
    ] = None,
    by: Annotated[
        str | None,
        Named(metavar="METRIC", metrics="scored"),
        "what generators' quality is measured by: people, or a metric (default: people, else the first metric)",
    ] = None,
) -> Efficiency:
    """Set quality against cost (latency, price, energy, parameters, training data): what does no other entry beat?"""
    if side == "metrics":
        if by is not None:
            raise InvalidInput("metrics are measured by their agreement with people; leave out --by")
        entries, measure, higher = _metrics(view), "correlation with people", True
    else:
        entries, measure, higher = _generators(view, by)
    chosen = cost or _first_cost(entries)
    if chosen is None or sum(chosen in e.costs and e.quality is not None for e in entries) < 2:
        shortage = "no cost is known of" if chosen is None else f"{COSTS[chosen].title} is known of fewer than"
        raise NotEnoughData(
            f"{view.board.name}: {shortage} two {side} with a quality; state {', '.join(COSTS)} in "
            f"{'[generators.NAME] of board.toml' if side == 'generators' else 'the metrics’ cards'}"
        )
    quality = _numbers(e.quality if higher or e.quality is None else -e.quality for e in entries)
    front = pareto_front(quality, _numbers(e.costs.get(chosen) for e in entries))
    marked = [
        Entry(**{**vars(entry), "on_front": bool(is_front)}) for entry, is_front in zip(entries, front, strict=True)
    ]
    order = sorted(marked, key=lambda e: (e.quality is None, -(e.quality or 0.0) if higher else (e.quality or 0.0)))
    return Efficiency(
        board=view.board.name, side=side, by=measure, higher_is_better=higher, cost=chosen, entries=tuple(order)
    )


def _numbers(values: Iterable[float | None]) -> Floats:
    return np.array([np.nan if value is None else value for value in values], float)


def _first_cost(entries: list[Entry]) -> CostName | None:
    return next((name for name in COSTS if sum(name in e.costs and e.quality is not None for e in entries) > 1), None)


def _generators(view: View, by: str | None) -> tuple[list[Entry], str, bool]:
    """Generators with their mean under people or a metric."""
    matrix = view.matrix()
    names = matrix.scores.names
    judged = bool(np.isfinite(matrix.judged_human).any())
    chosen = by or (PEOPLE if judged else next(iter(names), ""))
    if chosen == PEOPLE and judged:
        values, higher = matrix.judged_human, True
    elif chosen in names:
        values = matrix.scores.natural(chosen)
        column = next(column for column in matrix.scores.columns if column.name == chosen)
        higher = column.higher_is_better
    else:
        raise UnknownName("measure of quality", chosen, (*((PEOPLE,) if judged else ()), *names))
    entries = []
    for row, line in zip(matrix.scores.rows, values, strict=True):
        generator = view.board.row(row).generator
        if generator is None or generator.is_optimised:
            continue
        scored = line[np.isfinite(line)]
        stated: dict[str, float] = {
            name: getattr(generator, name) for name in COSTS if getattr(generator, name) is not None
        }
        mean = float(scored.mean()) if len(scored) else None
        entries.append(Entry(name=row, kind=generator.kind, quality=mean, n=len(scored), costs=stated))
    return entries, chosen, higher


def _metrics(view: View) -> list[Entry]:
    """Metrics with their correlation with people, stated costs, and the seconds that they take here."""
    matrix = view.matrix()
    scores = matrix.scores
    if not scores.names:
        return []
    correlations, counts = pearson(np.stack([scores.of(name) for name in scores.names]), matrix.judged_human)
    own = {column.name: column.signature for column in scores.columns if column.origin == "own"}
    seconds = seconds_per_output(view.cells, own, len(view.counted.instances))
    entries = []
    for column, r, n in zip(scores.columns, correlations, counts, strict=True):
        card = None if column.origin == "imported" else card_of(column.name)
        costs: dict[str, float] = {name: value for name in COSTS if (value := getattr(card, name, None)) is not None}
        measured = column.name in seconds
        if measured:
            costs["latency"] = seconds[column.name]
        quality = float(r) if np.isfinite(r) else None
        kind = "imported" if column.origin == "imported" else (card.making if card is not None else "") or "metric"
        entries.append(
            Entry(
                name=column.name,
                kind=kind,
                quality=quality,
                n=int(n),
                costs=costs,
                measured=("latency",) if measured else (),
            )
        )
    return entries


def seconds_per_output(cells: object, signatures: Mapping[str, str], outputs: int) -> dict[str, float]:
    """How long each metric takes for one output, by name, from the times of the cells that were computed here."""
    if not isinstance(cells, Timed) or not outputs:
        return {}
    seconds = cells.seconds_per_cell(signatures.values())
    return {name: seconds[own] / outputs for name, own in signatures.items() if seconds.get(own, 0.0) > 0.0}


def card_of(name: str) -> MetricCard | None:
    """What an installed metric says of itself."""
    try:
        return metric_class(split_part(name)[0].partition("(")[0]).card
    except (InvalidInput, MissingPart):
        return None


@efficiency.table
def efficiency_table(result: Efficiency) -> Table:
    """Everybody with quality and all known costs; the front is marked."""
    stated = [name for name in COSTS if any(name in entry.costs for entry in result.entries)]
    columns = (
        TableColumn("name", result.side[:-1], "left"),
        TableColumn("quality", result.by),
        TableColumn("n", "outputs"),
        *(TableColumn(name, f"{COSTS[name].title} ({COSTS[name].unit})") for name in stated),
        TableColumn("front", "front", "left"),
    )
    rows = tuple(
        {
            "name": entry.name,
            "quality": entry.quality,
            "n": entry.n,
            **{name: entry.costs.get(name) for name in stated},
            "front": "on the front" if entry.on_front else "",
        }
        for entry in result.entries
    )
    title = f"{result.side.capitalize()} of {result.board}: {result.by} against {COSTS[_cost(result)].title}"
    return Table(title, columns, rows)


def _cost(result: Efficiency) -> CostName:
    return cast("CostName", result.cost)


@efficiency.words
def efficiency_words(result: Efficiency) -> list[str]:
    """Who is on the front, and who lacks a number."""
    cost = COSTS[_cost(result)]
    front = result.front
    compared = [e for e in result.entries if result.cost in e.costs and e.quality is not None]
    words = [
        f"Of {len(compared)} {result.side} with a stated or measured {cost.title}, {len(front)} "
        f"{'is' if len(front) == 1 else 'are'} on the Pareto front: {listed([one_line(e.name) for e in front])}."
    ]
    if len(front) > 1:
        cheap, dear = front[0], front[-1]
        ratio = dear.costs[result.cost] / cheap.costs[result.cost] if cheap.costs[result.cost] else None
        if ratio is not None:
            gain = abs((dear.quality or 0.0) - (cheap.quality or 0.0))
            words.append(
                f"{one_line(dear.name)} costs {ratio:,.1f} times as much as {one_line(cheap.name)} and is "
                f"{value_text(gain, 3)} better ({result.by})."
            )
    missing = [e.name for e in result.entries if result.cost not in e.costs]
    if missing:
        words.append(f"No {cost.title} is known of {listed([one_line(name) for name in missing])}.")
    return words


def _labels(
    points: list[dict[str, Any]], values: list[float], x: alt.X, y: alt.Y, colour: str, *, wide: bool
) -> alt.LayerChart:
    """Names beside points, to the left of those that stand far right: there the chart ends."""
    import altair as alt

    def place(cost: float) -> float:
        low, high, own = (math.log(v) if wide else v for v in (min(values), max(values), cost))
        return (own - low) / (high - low) if high > low else 0.0

    def side(chosen: list[dict[str, Any]], align: Literal["left", "right"], dx: int) -> alt.Chart:
        base = alt.Chart(alt.InlineData(values=chosen))
        return base.mark_text(align=align, dx=dx, dy=-7, color=colour).encode(x, y, text="name:N")

    late = [place(point["cost"]) > 0.7 for point in points]
    before = side([p for p, is_late in zip(points, late, strict=True) if not is_late], "left", 7)
    after = side([p for p, is_late in zip(points, late, strict=True) if is_late], "right", -7)
    return before + after


@efficiency.chart
def efficiency_chart(result: Efficiency, theme: Theme = "light") -> alt.LayerChart:
    """Quality against cost, with the front as a line."""
    import altair as alt

    from billboards.show.plot import PALETTES, WIDTH, role_colour, themed

    cost, colours = COSTS[_cost(result)], PALETTES[theme]
    points: list[dict[str, Any]] = [
        {
            "cost": entry.costs[result.cost],
            "quality": entry.quality,
            "name": one_line(entry.name),
            result.side[:-1]: entry.name,
            "role": "on the front" if entry.on_front else "beaten on both sides",
            "known": "measured here" if result.cost in entry.measured else "stated",
        }
        for entry in result.entries
        if result.cost in entry.costs and entry.quality is not None
    ]
    values = [point["cost"] for point in points]
    wide = min(values) > 0 and max(values) / min(values) > WIDE
    x = alt.X(
        "cost:Q",
        title=f"{cost.title}, {cost.unit}",
        scale=alt.Scale(type="log", padding=24) if wide else alt.Scale(zero=False, padding=24),
        axis=alt.Axis(tickCount=5, format="~s" if max(values) >= 1000 else "~g"),
    )
    y = alt.Y("quality:Q", title=one_line(result.by), scale=alt.Scale(zero=False, padding=16), axis=alt.Axis(grid=True))
    roles = role_colour({"on the front": colours.accent, "beaten on both sides": colours.plain})
    shapes = alt.Scale(domain=["on the front", "beaten on both sides"], range=["circle", "diamond"])
    base = alt.Chart(alt.InlineData(values=points))
    tooltip = [
        alt.Tooltip("name:N", title=result.side[:-1]),
        alt.Tooltip("quality:Q", format=".4~g", title=one_line(result.by)),
        alt.Tooltip("cost:Q", format=".4~g", title=f"{cost.title} ({cost.unit})"),
        alt.Tooltip("known:N", title="cost"),
        alt.Tooltip("role:N", title="it is"),
    ]
    dots = base.mark_point(filled=True, size=60, opacity=1).encode(
        x, y, roles, alt.Shape("role:N", scale=shapes, legend=None), tooltip=tooltip
    )
    fronts = [point for point in points if point["role"] == "on the front"]
    on_front = alt.Chart(alt.InlineData(values=fronts))
    interpolated = "step-after" if result.higher_is_better else "step-before"
    line = on_front.mark_line(color=colours.accent, strokeWidth=1.5, interpolate=interpolated).encode(x, y)
    chart = (dots + line + _labels(fronts, values, x, y, colours.text, wide=wide)).properties(width=WIDTH, height=260)
    names = listed([point["name"] for point in sorted(fronts, key=lambda point: point["cost"])])
    title = f"Nothing beats {names} on both {one_line(result.by)} and {cost.title}"
    subtitle = (
        f"{len(points)} {result.side}, {one_line(result.by)} against {cost.title}. Circles and the line: the front. "
        "Diamonds: something is as good for less."
    )
    words = "; ".join(f"{p['name']} {value_text(p['quality'], 3)} at {p['cost']:g}" for p in points)
    return themed(chart, theme, title, subtitle, words)
