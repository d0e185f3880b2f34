"""Measure what one more reference is worth: each metric's correlation with 1, 2, … references.

What one more reference is worth (Fig. 3): each metric's correlation as references are added.

For every size, the mean over all subsets of the references, or over 50 seeded ones. A metric that takes the best score
over references is computed once per single reference, and every subset is a maximum; one with a definition of its own
for several references is computed for each subset.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from billboards.analyses._analysis import analysis
from billboards.analyses._preferences import check_values
from billboards.analyses._view import JudgedMatrix, View, judged_matrix
from billboards.board import Board, Outputs, ReferenceSet
from billboards.board.cells import CellStore
from billboards.board.missing_cells import Progress, column_key, compute_cells, missing_cells
from billboards.errors import NotEnoughData, UnknownName
from billboards.metrics.base import Metric
from billboards.metrics.executor import Executor
from billboards.options import Named
from billboards.run.local import executor
from billboards.show.table import NOTES, REFERENCE_FREE, Table, TableColumn, finite, reason_notes
from billboards.show.words import one_line, value_text
from billboards.stats.correlation import pearson
from billboards.stats.references import reference_subsets

if TYPE_CHECKING:
    import altair as alt

    from billboards.show.plot import Points, Theme


@dataclass(frozen=True, slots=True)
class ReferencePoint:
    """A metric's correlation with a number of references: mean, lowest and highest over the subsets tried."""

    size: int
    correlation: float
    low: float
    high: float
    subsets: int


@dataclass(frozen=True, kw_only=True)
class ReferenceEffect:
    """Correlation of each reference-based metric as references are added (Fig. 3), beside reference-free ones."""

    DOCUMENT: ClassVar[str] = "references"

    board: str
    aggregate: str
    seed: int
    curves: Mapping[str, tuple[ReferencePoint, ...]]
    reference_free: Mapping[str, float]
    missing: Mapping[str, str] = field(default_factory=dict)


Floats = NDArray[np.float64]
_UNDEFINED = "no correlation with any number of references: the scores or the judgments don't vary"


def reference_effect(
    board: Board,
    store: CellStore,
    metrics: Sequence[Metric],
    executor: Executor,
    *,
    aggregate: str | None = None,
    most: int = 50,
    seed: int = 0,
    on_progress: Callable[[Progress], None] | None = None,
) -> ReferenceEffect:
    """Correlation of each reference-based metric with 1, 2, … references, scoring what is missing."""
    check_values(board, aggregate, "nothing correlates with more references")
    view = judged_matrix(board, store, aggregate=aggregate)
    rows = [row for row, judged in zip(board.rows, view.judged, strict=True) if judged]
    if not rows:
        raise NotEnoughData(f"board {board.name} has no judged outputs, so nothing correlates with more references")
    based = [metric for metric in metrics if metric.card.needs_references]
    subsets = _subsets(board.references, most, seed)
    cells = [
        cell
        for metric in based
        for references in _columns_needed(metric, subsets, board.references)
        for cell in missing_cells(board, store, [metric], references, rows)[0]
    ]
    failures = compute_cells(board, store, cells, executor, on_progress=on_progress).failures
    curves = {m.name: _curve(board, store, m, subsets, rows, view) for m in based if m.name not in failures}
    missing = failures | {name: _UNDEFINED for name, curve in curves.items() if not curve}
    drawn = {name: curve for name, curve in curves.items() if curve}
    return ReferenceEffect(
        board=board.name,
        aggregate=view.aggregate,
        seed=seed,
        curves=drawn,
        reference_free=_reference_free(view),
        missing=missing,
    )


def _subsets(names: ReferenceSet, most: int, seed: int) -> dict[int, tuple[ReferenceSet, ...]]:
    return {size: reference_subsets(names, size, most=most, seed=seed) for size in range(1, len(names) + 1)}


def _columns_needed(
    metric: Metric, subsets: dict[int, tuple[ReferenceSet, ...]], names: ReferenceSet
) -> tuple[ReferenceSet, ...]:
    if metric.takes_best_reference:
        return tuple((name,) for name in names)
    return tuple(subset for sized in subsets.values() for subset in sized)


def _curve(
    board: Board,
    store: CellStore,
    metric: Metric,
    subsets: dict[int, tuple[ReferenceSet, ...]],
    rows: Sequence[Outputs],
    view: JudgedMatrix,
) -> tuple[ReferencePoint, ...]:
    human = view.human[view.judged]
    points = []
    for size, sized in subsets.items():
        r = [_correlation(_subset_scores(board, store, metric, subset, rows), human) for subset in sized]
        defined = [value for value in r if not np.isnan(value)]
        if defined:
            points.append(ReferencePoint(size, float(np.mean(defined)), min(defined), max(defined), len(sized)))
    return tuple(points)


def _subset_scores(
    board: Board, store: CellStore, metric: Metric, subset: ReferenceSet, rows: Sequence[Outputs]
) -> Floats:
    if metric.takes_best_reference:
        singles = np.stack([_column(board, store, metric, (name,), rows) for name in subset])
        best: Floats = np.fmax.reduce(singles, axis=0)
        return best
    return _column(board, store, metric, subset, rows)


def _column(
    board: Board, store: CellStore, metric: Metric, references: ReferenceSet, rows: Sequence[Outputs]
) -> Floats:
    cells = store.load(column_key(board, metric, references), (row.version for row in rows))
    empty = np.full(len(board.instances), np.nan)
    return np.stack([cells.get(row.version, empty) for row in rows])


def _correlation(scores: Floats, human: Floats) -> float:
    return float(pearson(scores[None], human)[0][0])


def _reference_free(view: JudgedMatrix) -> dict[str, float]:
    """Correlations that don't depend on references, to draw beside the curves."""
    r, _ = pearson(view.scores.values, view.judged_human)
    return {
        column.name: float(value)
        for column, value in zip(view.scores.columns, r, strict=True)
        if column.reference_free and not column.is_statistic and not np.isnan(value)
    }


def reference_table(effect: ReferenceEffect) -> Table:
    """Each metric's correlation by the number of references; reference-free ones stand under none."""
    sizes = sorted({point.size for curve in effect.curves.values() for point in curve})
    rows: list[dict[str, object]] = []
    for name, curve in sorted(effect.curves.items(), key=lambda item: -item[1][-1].correlation if item[1] else 1.0):
        row: dict[str, object] = {"name": name}
        for point in curve:
            row |= {f"refs_{point.size}": finite(point.correlation), f"range_{point.size}": (point.low, point.high)}
        rows.append(row)
    free = sorted(effect.reference_free.items(), key=lambda item: -item[1])
    rows += [{"name": name, "refs_0": finite(value), "mark": REFERENCE_FREE} for name, value in free]
    rows += [{"name": name, "reason": reason} for name, reason in sorted(effect.missing.items())]
    columns = (
        TableColumn("name", "metric", "left", kind="name"),
        TableColumn("refs_0", "none", digits=3, visible=bool(free)),
        *(TableColumn(f"refs_{size}", str(size), digits=3) for size in sizes),
        *(TableColumn(f"range_{size}", f"range {size}", digits=3, kind="interval", visible=False) for size in sizes),
        TableColumn("reason", "why not", "left", visible=False),
    )
    title = f"{effect.board}: correlation with people ({effect.aggregate}) by number of references"
    note = "Each number is a mean over sets of that many references: over all of them, or over 50 drawn with the seed."
    marks = (NOTES[REFERENCE_FREE],) if free else ()
    return Table(title, columns, tuple(rows), (note, *reason_notes("Not measured:", effect.missing), *marks))


#: How many labels fit above one another beside the curves.
LABELS = 17


def reference_curves(
    effect: ReferenceEffect, *, metrics: Sequence[str] | None = None, theme: Theme = "light"
) -> alt.LayerChart:
    """Correlation as references are added, beside reference-free metrics as level lines; the best six unless named."""
    import altair as alt

    from billboards.show.plot import PALETTES, WIDTH, cycle, themed

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
    drawable = [name for name, curve in effect.curves.items() if curve] + list(effect.reference_free)
    best = sorted(drawable, key=lambda name: -_curve_end(effect, name))
    free = [name for name in best if name in effect.reference_free][:1]
    based = [name for name in best if name not in effect.reference_free][:5]
    chosen = [name for name in best if name in free or name in based] if metrics is None else list(metrics)
    for name in chosen:
        if name not in drawable:
            raise UnknownName("metric", name, drawable)
    if not any(effect.curves.get(name) for name in chosen):
        raise NotEnoughData(f"{effect.board}: no metric was measured by the number of references; nothing to draw")
    return chosen


def _curve_end(effect: ReferenceEffect, name: str) -> float:
    return effect.reference_free[name] if name in effect.reference_free else effect.curves[name][-1].correlation


def _end_labels(effect: ReferenceEffect, names: Sequence[str], size: int) -> Points:
    """A label per line at its right end, pushed apart where lines end close together."""
    from billboards.show.plot import apart

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


@analysis(
    view=("aggregate",), scores=True, quick=False, group="how good are the metrics?", paper="Billboards, Figure 3"
)
def references(
    view: View,
    metrics: Annotated[
        tuple[str, ...] | None,
        Named(name="metric", metavar="NAME", metrics="computed"),
        "a metric, options in brackets as in 'chrF(beta=1)', a part as in 'ROUGE-L[recall]', a file, pack:NAME or "
        "evaluate:NAME; may be repeated (default: the board's)",
    ] = None,
    *,
    most: Annotated[
        int, Ge(1), Named(metavar="N"), "how many subsets of references to try for each number of them"
    ] = 50,
    seed: Annotated[int, Ge(0), Named(metavar="N"), "seed of what is random"] = 0,
) -> ReferenceEffect:
    """Measure what one more reference is worth: each metric's correlation with 1, 2, … references.

    Slow metrics take part only when they are named.
    """
    if view.scoring is None or view.cells is None:
        raise NotEnoughData(
            "this needs scores against every single reference, which are not computed here; "
            "`billboards references BOARD` computes them"
        )
    chosen = view.metrics(metrics)
    return reference_effect(
        view.counted,
        view.cells,
        chosen if metrics is not None else [metric for metric in chosen if not metric.card.slow],
        executor(view.scoring.jobs),
        aggregate=view.aggregate,
        most=most,
        seed=seed,
        on_progress=view.scoring.on_progress,
    )


references.table(reference_table)


@references.chart
def _curves(effect: ReferenceEffect, theme: Theme) -> alt.LayerChart | None:
    return reference_curves(effect, theme=theme) if any(effect.curves.values()) else None


@references.in_report
def _where_one_can_be_added(view: View) -> list[dict[str, str]]:
    board = view.counted
    return [{}] if len(board.references) > 1 and board.metrics and board.ranks is not None else []
