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


@dataclass(frozen=True, slots=True)
class MetricCard:
    """What a metric says of itself."""

    name: str
    summary: str = ""
    needs_references: bool = True
    needs_input: bool = False
    #: A program or data files beside the package, such as WordNet's.
    needs_part: str | None = None
    higher_is_better: bool = True
    #: Lowest and highest score there can be; None for an end without bound.
    range: tuple[float | None, float | None] | None = None
    languages: tuple[str, ...] | None = None
    deterministic: bool = True
    training_data: str | None = None
    licence: str | None = None
    paper: str | None = None
    failures: str | None = None
    slow: bool = False
    #: A statistic describes an output (its length, say) without judging it: shown, but it never leads or joins.
    is_statistic: bool = False

    def missing(self) -> tuple[str, ...]:
        """The facts that a complete card states and this one doesn't."""
        facts = {
            "summary": self.summary,
            "range": self.range,
            "training data": self.training_data,
            "licence": self.licence,
            "paper": self.paper,
            "failures": self.failures,
        }
        return tuple(fact for fact, said in facts.items() if not said or (isinstance(said, str) and not said.strip()))


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True)
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
            self.name,
            self.signature,
            self.references,
            "imported",
            self.source_name,
            self.needs_references,
            self.needs_input,
            self.is_statistic,
        )


@dataclass(frozen=True)
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
