"""The contract of a store of cells: what is there, what is missing, and one cell written whole or not at all.

A cell is one row's scores under one column. Its key says everything its numbers depend on: the version of the row's
texts, the metric's signature, and the version of the references and inputs the metric saw. A cell whose key is present
never needs to be computed again, and writing it twice changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from billboards.board.scores import Column

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ColumnKey:
    """A column with the version of what its metric saw beside the outputs."""

    column: Column
    context: str


class CellStore(Protocol):
    """Where cells are kept."""

    def columns(self) -> tuple[ColumnKey, ...]:
        """Every column that has a cell, the most recently begun last."""

    def present(self, key: ColumnKey) -> frozenset[str]:
        """The row versions that have a cell in this column."""

    def load(self, key: ColumnKey, versions: Iterable[str]) -> Mapping[str, Floats]:
        """The primary scores of those row versions that have a cell, instance by instance."""

    def save(self, key: ColumnKey, version: str, parts: Mapping[str, Floats], *, seconds: float) -> None:
        """Write one cell: all parts in one transaction, the first of them primary."""
