"""Cells in memory, for outputs and boards that lie in no folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from billboards.board.cell_contract import ColumnKey, Floats


class MemoryCells:
    """Cells that live as long as this object."""

    def __init__(self) -> None:
        self._cells: dict[ColumnKey, dict[str, Mapping[str, Floats]]] = {}

    def columns(self) -> tuple[ColumnKey, ...]:
        return tuple(self._cells)

    def present(self, key: ColumnKey) -> frozenset[str]:
        return frozenset(self._cells.get(key, ()))

    def load(self, key: ColumnKey, versions: Iterable[str]) -> dict[str, Floats]:
        cells = self._cells.get(key, {})
        return {version: next(iter(cells[version].values())) for version in versions if version in cells}

    def save(self, key: ColumnKey, version: str, parts: Mapping[str, Floats], *, seconds: float) -> None:  # noqa: ARG002 - the contract's
        self._cells.setdefault(key, {})[version] = {name: scores.copy() for name, scores in parts.items()}
