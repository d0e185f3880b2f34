"""Scores: one number per instance in each cell of generators × metrics, never 0 for missing.

A column is a metric (by its signature) against a reference set; the same metric against A, against B and against both
are three columns. Scores are oriented when they enter a board: higher is better in every column.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from billboards.errors import UnknownName

Floats = NDArray[np.float64]
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
        )


@dataclass(frozen=True, kw_only=True)
class Scores:
    """The matrix of a board: columns × rows × instances, NaN where there is no score."""

    columns: tuple[Column, ...]
    rows: tuple[str, ...]
    values: Floats

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> int:
        """Position of a column, by its name or its source's name."""
        for k, column in enumerate(self.columns):
            if name in (column.name, column.source_name):
                return k
        raise UnknownName("metric", name, self.names)

    def of(self, name: str) -> Floats:
        """One metric's scores, rows × instances."""
        scores: Floats = self.values[self.column(name)]
        return scores
