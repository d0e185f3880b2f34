"""The matrix of a board: imported and own columns side by side, for one reference set.

Imported scores and own scores of the same metric stand beside each other; the board says which of the two leads, and
only the leading one takes part in rankings, because two columns of one metric would compete with themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from billboards.board.cells import CellStore, ColumnKey, Floats
from billboards.board.model import Board, ReferenceSet
from billboards.board.scores import Column, ImportedColumn, Scores

_Loaded = tuple[Column, Mapping[int, Floats]]


def board_scores(board: Board, store: CellStore | None, *, references: ReferenceSet | None = None) -> Scores:
    """The leading column of every metric that has scores against these references (by default, the board's).

    Columns are loaded one after the other straight into the matrix: beside it there is never more than one of them.
    """
    imported = _imported_columns(board, references)
    own = _own_columns(board, store, board.references if references is None else references)
    first: Sequence[ImportedColumn | ColumnKey]
    second: Sequence[ImportedColumn | ColumnKey]
    first, second = (imported, own) if board.lead == "imported" else (own, imported)
    values = np.empty((len(imported) + len(own), len(board.rows), len(board.instances)))
    columns = _fill(values, [], _loaded(board, store, first))
    taken = {column.name for column in columns}
    columns = _fill(values, columns, _loaded(board, store, [s for s in second if s.column.name not in taken]))
    return Scores(columns=tuple(columns), rows=tuple(row.name for row in board.rows), values=values[: len(columns)])


def _fill(values: Floats, columns: list[Column], loaded: Iterator[_Loaded]) -> list[Column]:
    """Put columns into the matrix after those that are there; all columns now there."""
    columns = list(columns)
    for column, rows in loaded:
        place = values[len(columns)]
        place.fill(np.nan)
        for row, scores in rows.items():
            place[row] = scores
        columns.append(column)
    return columns


def with_own_scores(board: Board, store: CellStore | None) -> Board:
    """The board with own columns beside the imported ones, for layouts that know only columns of scores."""
    taken = {item.source_name for item in board.imported}
    own = [
        ImportedColumn(
            name=column.name,
            source_name=column.name if column.name not in taken else f"{column.name} (own)",
            signature=column.signature,
            values={board.rows[k].name: values for k, values in rows.items()},
            references=column.references,
            needs_references=column.needs_references,
            needs_input=column.needs_input,
            is_statistic=column.is_statistic,
        )
        for column, rows in _loaded(board, store, _own_columns(board, store, board.references))
    ]
    return replace(board, imported=(*board.imported, *own))


def _imported_columns(board: Board, references: ReferenceSet | None) -> list[ImportedColumn]:
    """Imported columns; of a narrower reference set only those that saw nothing outside it."""
    return [
        item
        for item in board.imported
        if not item.is_ensemble and (references is None or set(item.references) <= set(references))
    ]


def _own_columns(board: Board, store: CellStore | None, references: ReferenceSet) -> list[ColumnKey]:
    """Own columns against exactly this reference set; of several signatures of one name, the latest."""
    latest: dict[str, ColumnKey] = {}
    for key in () if store is None else store.columns():
        if key.column.references == (references if key.column.needs_references else ()) and _current(board, key):
            latest[key.column.name] = key
    return [key for _, key in sorted(latest.items())]


def _loaded(board: Board, store: CellStore | None, sources: Sequence[ImportedColumn | ColumnKey]) -> Iterator[_Loaded]:
    """Each column with its scores by row; an own column that has none is passed over."""
    for source in sources:
        if isinstance(source, ImportedColumn):
            yield source.column, {board.row_position[name]: scores for name, scores in source.values.items()}
        elif store is not None and (rows := _cells(board, store, source)):
            yield source.column, rows


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
