"""What one more reference is worth (Fig. 3): each metric's correlation as references are added.

For every size, the mean over all subsets of the references, or over 50 seeded ones. A metric that takes the best score
over references is computed once per single reference, and every subset is a maximum; one with a definition of its own
for several references is computed for each subset.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from billboards.analyses.preferences import check_values
from billboards.analyses.ranking_results import ReferenceEffect, ReferencePoint
from billboards.analyses.view import View, view_board
from billboards.board import Board, Outputs, ReferenceSet
from billboards.board.cells import CellStore
from billboards.board.scoring import Progress, column_key, compute_cells, missing_cells
from billboards.errors import NotEnoughData
from billboards.metrics.base import Metric
from billboards.metrics.executor import Executor
from billboards.stats.correlation import pearson
from billboards.stats.references import reference_subsets

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
    view = view_board(board, store, aggregate=aggregate)
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
    return ReferenceEffect(board.name, view.aggregate, seed, drawn, _reference_free(view), missing)


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
    view: View,
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


def _reference_free(view: View) -> dict[str, float]:
    """Correlations that don't depend on references, to draw beside the curves."""
    r, _ = pearson(view.scores.values, view.judged_human)
    return {
        column.name: float(value)
        for column, value in zip(view.scores.columns, r, strict=True)
        if column.reference_free and not column.is_statistic and not np.isnan(value)
    }
