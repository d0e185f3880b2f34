"""Scores: one number per instance in each cell of generators × metrics, never 0 for missing.

A column is a metric (by its signature) against a reference set; the same metric against A, against B and against both
are three columns. Scores are oriented when they enter a board: higher is better in every column. What is shown or
written for readers is turned back (`natural`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from billboards.errors import UnknownName

if TYPE_CHECKING:
    from billboards.board.cells import ColumnKey

Floats = NDArray[np.float64]
ScoreOrScores = TypeVar("ScoreOrScores", float, Floats)
Origin = Literal["own", "imported"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """The identity of a column: which metric, under which signature, against which references."""

    name: str
    signature: str
    references: tuple[str, ...] = ()
    origin: Origin = "own"
    source_name: str | None = None
    needs_references: bool = True
    needs_input: bool = False
    is_statistic: bool = False
    #: The column of the same metric that leads, where own and imported scores differ and both stand.
    beside: str | None = None
    #: The rows whose gaps were filled from the other scores of the same metric, own or imported, which are equal.
    completed: tuple[str, ...] = ()
    #: Of the outputs that have both own and imported scores, the share where the two are equal.
    equal: float | None = None
    #: Which way its users read it; inside a board it is turned, so that higher is better everywhere.
    higher_is_better: bool = True
    #: Whether somebody sent these scores without what computes them: what comes later stays without a score.
    scores_only: bool = False

    @property
    def reference_free(self) -> bool:
        return not self.needs_references


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportedColumn:
    """A column of scores that came with the data: source's name, canonical name, and a row's scores by its name."""

    name: str
    source_name: str
    signature: str
    values: Mapping[str, Floats] = field(repr=False)
    references: tuple[str, ...] = ()
    needs_references: bool = True
    needs_input: bool = False
    is_ensemble: bool = False
    is_statistic: bool = False
    #: The metric that computes such scores here, where it has another name: a model, say.
    computed_by: str | None = None
    #: Which way its users read it; the values are turned, so that higher is better.
    higher_is_better: bool = True
    #: Whether somebody sent these scores without what computes them: they rank no generators and join no ensemble.
    scores_only: bool = False

    @property
    def column(self) -> Column:
        return Column(
            name=self.name,
            signature=self.signature,
            references=self.references,
            origin="imported",
            source_name=self.source_name,
            needs_references=self.needs_references,
            needs_input=self.needs_input,
            is_statistic=self.is_statistic,
            higher_is_better=self.higher_is_better,
            scores_only=self.scores_only,
        )


def natural(scores: ScoreOrScores, *, higher_is_better: bool) -> ScoreOrScores:
    """A column's score, or all of its scores, as its users know them, without a negative zero."""
    return scores if higher_is_better else 0.0 - scores


def is_zero(rows: Iterable[Floats]) -> bool:
    """Whether there are scores and every one of them is 0."""
    scores = np.concatenate([np.empty(0), *rows])
    scores = scores[np.isfinite(scores)]
    return bool(len(scores)) and not scores.any()


def column_position(columns: Sequence[Column], name: str) -> int:
    """Position of a column, by its name or its source's name."""
    for k, column in enumerate(columns):
        if name in (column.name, column.source_name):
            return k
    raise UnknownName("metric", name, [column.name for column in columns])


@dataclass(frozen=True, kw_only=True)
class Scores:
    """The matrix of a board: columns × rows × instances, NaN where there is no score.

    `keys` says of each column where own cells of it are kept: its own, or such as equal its imported scores.
    """

    columns: tuple[Column, ...]
    rows: tuple[str, ...]
    values: Floats
    keys: tuple[ColumnKey | None, ...] = ()

    def key(self, name: str) -> ColumnKey | None:
        """Where own cells of a column are kept; None where there are none."""
        return self.keys[self.column(name)] if self.keys else None

    def select(self, columns: Sequence[int] | None = None, instances: Sequence[int] | None = None) -> Scores:
        """Some columns, or the scores of some instances."""
        chosen = range(len(self.columns)) if columns is None else columns
        values = self.values if columns is None else self.values[list(columns)]
        return Scores(
            columns=tuple(self.columns[k] for k in chosen),
            rows=self.rows,
            values=values if instances is None else values[:, :, list(instances)],
            keys=tuple(self.keys[k] for k in chosen) if self.keys else (),
        )

    def leading(self) -> Scores:
        """The columns that compete: of own and imported scores that differ, those that lead."""
        places = [k for k, column in enumerate(self.columns) if column.beside is None]
        return self if len(places) == len(self.columns) else self.select(places)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> int:
        """Position of a column, by its name or its source's name."""
        return column_position(self.columns, name)

    def of(self, name: str) -> Floats:
        """One metric's scores, rows × instances."""
        scores: Floats = self.values[self.column(name)]
        return scores

    def natural(self, name: str) -> Floats:
        """One metric's scores as its users know them, rows × instances."""
        return natural(self.of(name), higher_is_better=self.columns[self.column(name)].higher_is_better)
