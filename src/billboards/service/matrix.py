"""The matrix of a board: imported and own columns side by side, for one reference set.

Imported scores and own scores of the same metric stand beside each other; the board says which of the two leads, and
only the leading one takes part in rankings, because two columns of one metric would compete with themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from billboards.domain import Board, Column, ImportedColumn, ReferenceSet, Scores
from billboards.store.base import CellStore, ColumnKey, Floats

_Loaded = tuple[Column, dict[int, Floats]]


def board_scores(board: Board, store: CellStore | None, *, references: ReferenceSet | None = None) -> Scores:
    """The leading column of every metric that has scores against these references (by default, the board's)."""
    imported = _imported(board, references)
    own = _own(board, store, board.references if references is None else references)
    return _stacked(board, _leading(board, imported, own))


def with_own_scores(board: Board, store: CellStore | None) -> Board:
    """The board with own columns beside the imported ones, for layouts that know only columns of scores."""
    taken = {item.source_name for item in board.imported}
    own = [
        ImportedColumn(
            column.name,
            column.name if column.name not in taken else f"{column.name} (own)",
            column.signature,
            {board.rows[k].name: values for k, values in rows.items()},
            column.references,
            column.needs_references,
            column.needs_input,
        )
        for column, rows in _own(board, store, board.references)
    ]
    return replace(board, imported=(*board.imported, *own))


def _imported(board: Board, references: ReferenceSet | None) -> list[_Loaded]:
    """Imported columns; of a narrower reference set only those that saw nothing outside it."""
    found = []
    for item in board.imported:
        if item.is_ensemble or (references is not None and not set(item.references) <= set(references)):
            continue
        rows = {board.row_position[name]: values for name, values in item.values.items()}
        found.append((item.column, rows))
    return found


def _own(board: Board, store: CellStore | None, references: ReferenceSet) -> list[_Loaded]:
    """Own columns against exactly this reference set; of several signatures of one name, the latest."""
    if store is None:
        return []
    latest: dict[str, ColumnKey] = {}
    for key in store.columns():
        if key.column.references == (references if key.column.needs_references else ()) and _current(board, key):
            latest[key.column.name] = key
    found = [(key.column, _cells(board, store, key)) for _, key in sorted(latest.items())]
    return [(column, rows) for column, rows in found if rows]


def _cells(board: Board, store: CellStore, key: ColumnKey) -> dict[int, Floats]:
    """A column's scores by row; a row whose text is a reference has none, even where a copy of it was scored."""
    cells = store.load(key, (row.version for row in board.rows))
    return {
        k: cells[row.version]
        for k, row in enumerate(board.rows)
        if row.version in cells and not board.is_reference(row, key.column.references)
    }


def _current(board: Board, key: ColumnKey) -> bool:
    column = key.column
    return key.context == board.context_version(references=column.references, inputs=column.needs_input)


def _leading(board: Board, imported: list[_Loaded], own: list[_Loaded]) -> list[_Loaded]:
    first, second = (imported, own) if board.lead == "imported" else (own, imported)
    taken = {column.name for column, _ in first}
    return [*first, *(item for item in second if item[0].name not in taken)]


def _stacked(board: Board, loaded: Sequence[_Loaded]) -> Scores:
    values = np.full((len(loaded), len(board.rows), len(board.instances)), np.nan)
    for k, (_, rows) in enumerate(loaded):
        for row, scores in rows.items():
            values[k, row] = scores
    return Scores(tuple(column for column, _ in loaded), tuple(row.name for row in board.rows), values)
