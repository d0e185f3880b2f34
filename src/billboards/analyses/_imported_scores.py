"""Comparing imported scores with own ones: does a released column hold what its name says?

Wherever the metric is known, a seeded sample of each generator's outputs is scored here and compared. A generator whose
column is something else is named, and where another known metric gives those numbers, so is that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from billboards.board import Board, ImportedColumn, Outputs
from billboards.board.matrix import TOLERANCE
from billboards.board.missing_cells import Cell, Progress, cell_batch, column_key
from billboards.metrics.base import Batch, Metric, score_checked

Floats = NDArray[np.float64]

#: Instances compared per generator; slow metrics get fewer.
SAMPLE, SLOW_SAMPLE = 50, 5


@dataclass(frozen=True)
class Difference:
    """A generator whose imported scores are not what the metric gives here."""

    generator: str
    largest: float
    holds: str | None


@dataclass(frozen=True, kw_only=True)
class Recomputed:
    """One imported column against own scores."""

    name: str
    source_name: str
    signature: str
    compared: int
    equal: tuple[str, ...]
    different: tuple[Difference, ...]


def recompute(
    board: Board,
    metric_named: Callable[[str], Metric | None],
    alternatives: Sequence[Metric],
    *,
    sample: int = SAMPLE,
    seed: int = 0,
    on_progress: Callable[[Progress], None] | None = None,
) -> tuple[tuple[Recomputed, ...], tuple[str, ...]]:
    """Every imported column of a known metric compared with own scores, and the names of those not known here.

    `on_progress` hears of every generator of every column.
    """
    named = [(column, None if column.is_ensemble else metric_named(column.name)) for column in board.imported]
    columns = [(column, metric) for column, metric in named if metric is not None]
    others = {other.signature: other for other in alternatives}
    total, done, compared = sum(len(column.values) for column, _ in columns), 0, []

    def step(column: ImportedColumn) -> None:
        nonlocal done
        done += 1
        if on_progress is not None:
            on_progress(Progress(done, total, column.source_name))

    for column, metric in columns:
        different = [other for signature, other in others.items() if signature != metric.signature]
        compared.append(_compare(board, column, metric, different, sample, seed, step))
    return tuple(compared), tuple(column.source_name for column, metric in named if metric is None)


def _compare(
    board: Board,
    column: ImportedColumn,
    metric: Metric,
    others: Sequence[Metric],
    sample: int,
    seed: int,
    step: Callable[[ImportedColumn], None],
) -> Recomputed:
    equal, different, compared = [], [], 0
    size = min(sample, SLOW_SAMPLE) if metric.card.slow else sample
    if metric.needs_all_outputs:
        size = len(board.instances)
    # A score that depends on the whole corpus says nothing about a sample of it.
    others = [other for other in others if metric.needs_all_outputs or not other.needs_all_outputs]
    for name, released in column.values.items():
        row = board.row(name)
        chosen = _chosen(board, metric, column, row, released, size, seed)
        if len(chosen):
            gap = _gap(board, metric, column, row, released, chosen)
            compared += len(chosen)
            if gap <= TOLERANCE:
                equal.append(name)
            else:
                holds = (o.name for o in others if _explains(board, o, column, row, released, chosen))
                different.append(Difference(name, gap, next(holds, None)))
        step(column)
    return Recomputed(
        name=column.name,
        source_name=column.source_name,
        signature=metric.signature,
        compared=compared,
        equal=tuple(equal),
        different=tuple(different),
    )


def _explains(
    board: Board, other: Metric, column: ImportedColumn, row: Outputs, released: Floats, chosen: NDArray[np.intp]
) -> bool:
    """Whether another metric gives the released scores; most are seen not to by the first of them."""
    parts = [chosen] if other.needs_all_outputs else [chosen[:1], chosen]
    return all(_gap(board, other, column, row, released, part) <= TOLERANCE for part in parts)


def _chosen(
    board: Board, metric: Metric, column: ImportedColumn, row: Outputs, released: Floats, size: int, seed: int
) -> NDArray[np.intp]:
    _, positions = cell_batch(board, _cell(board, metric, column, row))
    usable = positions[np.isfinite(released[positions])]
    return np.sort(np.random.default_rng(seed).permutation(usable)[:size])


def _gap(
    board: Board, metric: Metric, column: ImportedColumn, row: Outputs, released: Floats, chosen: NDArray[np.intp]
) -> float:
    """The largest relative difference between released and own scores on the chosen instances."""
    batch, positions = cell_batch(board, _cell(board, metric, column, row))
    where = np.flatnonzero(np.isin(positions, chosen)).tolist()
    if len(where) != len(chosen):
        return float("inf")
    part = Batch(
        [batch.outputs[k] for k in where],
        [batch.references[k] for k in where] if batch.references else [],
        [batch.inputs[k] for k in where] if batch.inputs else [],
        batch.language,
    )
    sign = 1.0 if metric.card.higher_is_better else -1.0
    own = sign * next(iter(score_checked(metric, part).values()))
    scale = np.maximum(np.maximum(np.abs(own), np.abs(released[chosen])), 1.0)
    return float((np.abs(own - released[chosen]) / scale).max())


def _cell(board: Board, metric: Metric, column: ImportedColumn, row: Outputs) -> Cell[Metric]:
    return Cell(metric, column_key(board, metric, column.references), row)
