"""The metric under audit: its scores of the board's generators, from its program or as they came with the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from billboards.analyses.audit.bench import Bench
from billboards.board import Board, ImportedColumn
from billboards.errors import UnknownName
from billboards.metrics.base import Metric

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A column of the board, and the program behind it where there is one."""

    name: str
    signature: str
    needs_references: bool
    metric: Metric | None = None
    column: ImportedColumn | None = None
    #: Whether its users read it so; its scores are turned where they don't.
    higher_is_better: bool = True

    def scores(self, bench: Bench, rows: Sequence[int]) -> Floats:
        """Scores of rows of the board (rows × instances), NaN where there is none."""
        if self.metric is not None:
            return bench.scores(self.metric, [bench.board.rows[k] for k in rows])
        values = {} if self.column is None else self.column.values
        empty = np.full(len(bench.board.instances), np.nan)
        return np.stack([values.get(bench.board.rows[k].name, empty) for k in rows])


def program(metric: Metric) -> Subject:
    """A metric that can be run."""
    card = metric.card
    return Subject(
        name=metric.name,
        signature=metric.signature,
        needs_references=card.needs_references,
        metric=metric,
        higher_is_better=card.higher_is_better,
    )


def released(board: Board, name: str) -> Subject:
    """A column that came with the data, by its name or its source's."""
    for column in board.imported:
        if name in (column.name, column.source_name) and not column.is_ensemble:
            return Subject(
                name=column.name,
                signature=column.signature,
                needs_references=column.needs_references,
                metric=None,
                column=column,
                higher_is_better=column.higher_is_better,
            )
    raise UnknownName("column of scores that came with the data", name, (column.name for column in board.imported))
