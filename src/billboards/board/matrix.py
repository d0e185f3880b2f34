"""The matrix of a board: imported and own columns side by side, for one reference set.

Where a metric has both imported and own scores, they are compared on the outputs that have both. Equal ones are one
column: the scores that lead, as the board says, and the others in their gaps, so that a generator which the released
scores don't know is scored like all others. Different ones are two columns: the leading one under the metric's name,
the other beside it, which says so in its name and joins no ensemble, because a metric must not compete with itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from billboards.board.cells import CellStore, ColumnKey, Floats, PartedCells
from billboards.board.directions import directed
from billboards.board.model import Board, Outputs, ReferenceSet
from billboards.board.scores import Column, ImportedColumn, Scores, column_position
from billboards.errors import BillboardsError, StoreFailed
from billboards.metrics.discovery import board_metric, installed_metric, part_names
from billboards.metrics.labels import column_label
from billboards.metrics.parts import split_part

#: Scores are equal to this relative difference (released ones are text), and columns where this share of them is.
TOLERANCE, SHARE = 1e-6, 0.95

_Source = ImportedColumn | ColumnKey
_Loaded = tuple[Column, Mapping[int, Floats]]


def board_scores(board: Board, store: CellStore | None, *, references: ReferenceSet | None = None) -> Scores:
    """Every metric that has scores against these references (by default, the board's), completed where it can be.

    Columns are loaded one after the other straight into the matrix: beside it there are never more than two of them.
    """
    groups = _grouped(board, store, references)
    size = sum(1 if group.other is None else 2 for group in groups)
    matrix = _Matrix(np.empty((size, len(board.rows), len(board.instances))))
    for group in groups:
        matrix.add(board, store, group.source, group.other)
    return matrix.scores(tuple(row.name for row in board.rows))


def _grouped(board: Board, store: CellStore | None, references: ReferenceSet | None) -> list[_Group]:
    """Every metric that has imported or own columns against these references, those that lead first."""
    imported = _imported_columns(board, references)
    own = _own_columns(board, store, board.references if references is None else references)
    first: Sequence[_Source]
    second: Sequence[_Source]
    first, second = (imported, own) if board.lead == "imported" else (own, imported)
    others = {source.column.name: source for source in second}
    groups = []
    for source in first:
        partners = (other for name in _partners(board, source) if (other := others.pop(name, None)) is not None)
        groups.append(_Group(source, next(partners, None)))
    return [*groups, *(_Group(source, None) for source in others.values())]


@dataclass(frozen=True)
class _Group:
    """The scores of one metric: a column, and the other scores of the same metric, which complete or accompany it."""

    source: _Source
    other: _Source | None

    @property
    def is_alone(self) -> bool:
        """Whether these are own cells and nothing else, so that single rows may be read."""
        return isinstance(self.source, ColumnKey) and self.other is None

    def load(self, board: Board, store: CellStore | None) -> Scores:
        """The columns of this metric: none, one or two."""
        matrix = _Matrix(np.empty((2, len(board.rows), len(board.instances))))
        matrix.add(board, store, self.source, self.other)
        return matrix.scores(tuple(row.name for row in board.rows))


@dataclass(frozen=True, kw_only=True)
class BoardColumns:
    """The matrix of a board as `board_scores` has it, read when it is asked for: a column, or some rows of one.

    However large a board is, only what is looked at lies in memory.
    """

    board: Board
    store: CellStore | None
    columns: tuple[Column, ...]
    keys: tuple[ColumnKey | None, ...]
    #: Positions of the instances that are looked at; None is all of them.
    instances: tuple[int, ...] | None
    _groups: tuple[tuple[_Group, int], ...]
    #: Rows that have cells, of columns that are own cells and nothing else.
    _present: Mapping[ColumnKey, frozenset[str]]

    @cached_property
    def rows(self) -> tuple[str, ...]:
        return tuple(row.name for row in self.board.rows)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> int:
        """Position of a column, by its name or its source's name."""
        return column_position(self.columns, name)

    def key(self, name: str) -> ColumnKey | None:
        """Where own cells of a column are kept; None where there are none."""
        return self.keys[self.column(name)]

    def of(self, name: str) -> Floats:
        """One metric's scores, rows × instances."""
        return self.read(name, range(len(self.board.rows)))

    def read(self, name: str, rows: Sequence[int]) -> Floats:
        """One metric's scores of some rows, by position."""
        group, place = self._groups[self.column(name)]
        if group.is_alone and isinstance(group.source, ColumnKey):
            scores = self._own(group.source, rows)
        else:
            scores = self._loaded(group).values[place][list(rows)]
        return scores if self.instances is None else scores[:, list(self.instances)]

    def _own(self, key: ColumnKey, rows: Sequence[int]) -> Floats:
        """Own cells of some rows; a row whose text is a reference has none."""
        are_references = self._are_references(key.column.references)
        versions = [None if are_references[k] else self.board.rows[k].version for k in rows]
        cells = {} if self.store is None else self.store.load(key, filter(None, versions))
        scores = np.empty((len(rows), len(self.board.instances)))
        for place, version in enumerate(versions):
            cell = None if version is None else cells.get(version)
            if cell is not None and len(cell) != len(self.board.instances):
                raise _damaged(self.board, key, self.board.rows[rows[place]], cell)
            scores[place] = np.nan if cell is None else cell
        return scores

    def _loaded(self, group: _Group) -> Scores:
        """The columns of a metric; those that were last asked for are at hand."""
        if self._last.get("group") is not group:
            self._last.update(group=group, scores=group.load(self.board, self.store))
        scores: Scores = self._last["scores"]
        return scores

    @cached_property
    def _last(self) -> dict[str, Any]:
        return {}

    def versions(self, name: str) -> tuple[str | None, ...] | None:
        """What each row's scores under a metric are named by for ever; None for a row that has none.

        None instead of all where a row's scores may be put together of several.
        """
        group, _ = self._groups[self.column(name)]
        if not group.is_alone or not isinstance(group.source, ColumnKey):
            return None
        if group.source not in self._versions:
            present = self._present[group.source]
            are_references = self._are_references(group.source.column.references)
            rows = zip(self.board.rows, are_references, strict=True)
            self._versions[group.source] = tuple(
                row.version if row.version in present and not is_reference else None for row, is_reference in rows
            )
        return self._versions[group.source]

    @cached_property
    def _versions(self) -> dict[ColumnKey, tuple[str | None, ...]]:
        return {}

    def row_names(self, name: str) -> tuple[str, ...]:
        """The rows that have own cells under a metric, by their versions."""
        key = self.key(name)
        return () if key is None or self.store is None else tuple(sorted(self.store.present(key)))

    def _are_references(self, references: ReferenceSet) -> tuple[bool, ...]:
        if references not in self._references:
            of_rows = tuple(self.board.is_reference(row, references) for row in self.board.rows)
            self._references[references] = of_rows
        return self._references[references]

    @cached_property
    def _references(self) -> dict[ReferenceSet, tuple[bool, ...]]:
        return {}

    def dense(self, rows: Sequence[int]) -> Scores:
        """The matrix of some rows, in memory."""
        width = len(self.board.instances) if self.instances is None else len(self.instances)
        values = np.empty((len(self.columns), len(rows), width))
        for place, column in enumerate(self.columns):
            values[place] = self.read(column.name, rows)
        names = tuple(self.rows[row] for row in rows)
        return Scores(columns=self.columns, rows=names, values=values, keys=self.keys)

    def select(self, columns: Sequence[int]) -> BoardColumns:
        """Some columns."""
        return replace(
            self,
            columns=tuple(self.columns[k] for k in columns),
            keys=tuple(self.keys[k] for k in columns),
            _groups=tuple(self._groups[k] for k in columns),
        )


def board_columns(
    board: Board,
    store: CellStore | None,
    *,
    references: ReferenceSet | None = None,
    instances: Sequence[int] | None = None,
) -> BoardColumns:
    """The columns of `board_scores`, in its order, without their scores.

    board: the board whose rows are asked for.
    store: where own cells are kept.
    references: the references that metrics saw (default: the board's).
    instances: positions of the instances that are looked at (default: all).
    """
    columns: list[Column] = []
    keys: list[ColumnKey | None] = []
    groups: list[tuple[_Group, int]] = []
    presence: dict[ColumnKey, frozenset[str]] = {}
    for group in _grouped(board, store, references):
        if group.is_alone and isinstance(group.source, ColumnKey):
            present = frozenset[str]() if store is None else store.present(group.source)
            scored = (row for row in board.rows if row.version in present)
            if any(not board.is_reference(row, group.source.column.references) for row in scored):
                # Own columns know which way they are read without a look at their scores.
                columns.append(directed(group.source.column, np.empty(0)))
                keys.append(group.source)
                groups.append((group, 0))
                presence[group.source] = present
            continue
        loaded = group.load(board, store)
        columns += loaded.columns
        keys += loaded.keys
        groups += [(group, place) for place in range(len(loaded.columns))]
    return BoardColumns(
        board=board,
        store=store,
        columns=tuple(columns),
        keys=tuple(keys),
        instances=None if instances is None else tuple(instances),
        _groups=tuple(groups),
        _present=presence,
    )


def column_labels(board: Board, store: CellStore | None) -> dict[str, str]:
    """How own columns are headed, by the name each has in the matrix; those that are headed by it are left out."""
    imported = {column.name for column in board.imported}
    labels = {}
    for key in () if store is None else store.columns():
        name = key.column.name
        label = column_label(name, key.column.signature)
        if label != name:
            beside = " (own)" if name in imported and board.lead == "imported" else ""
            labels[f"{name}{beside}"] = f"{label}{beside}"
    return labels


def column_named(board: Board, store: CellStore | None, name: str) -> str:
    """The column that a name means, in any case and however its options are written; as it is where there is none."""
    imported = [given for column in board.imported for given in (column.name, column.source_name)]
    own = [] if store is None else [key.column.name for key in store.columns()]
    names = list(dict.fromkeys([*imported, *own]))
    if name in names:
        return name
    for column, label in column_labels(board, store).items():
        if label.casefold() == name.casefold():
            return column
    whole, part = split_part(name)
    try:
        # What is asked of a site comes from anybody: only installed metrics are looked at, and nothing is run.
        written = installed_metric(name).for_language(board.output_language).name
    except BillboardsError:
        written = name
    if written in names or split_part(written)[0] in names:
        return written
    alike = [other for other in names if other.casefold() in (name.casefold(), whole.casefold())]
    if len(alike) != 1:
        return name
    return alike[0] if part is None or alike[0].casefold() == name.casefold() else f"{alike[0]}[{part}]"


def _partners(board: Board, source: _Source) -> tuple[str, ...]:
    """The names under which the other scores of a metric stand, the likeliest first: a model that computes it, say."""
    name = source.column.name
    if isinstance(source, ImportedColumn):
        return (name,) if source.computed_by is None else (_written(board, source.computed_by), name)
    computed = (i.name for i in board.imported if i.computed_by and _written(board, i.computed_by) == name)
    return (*computed, name)


def _written(board: Board, spec: str) -> str:
    """A metric's name as its column has it; as it was given where it can't be opened here."""
    try:
        return board_metric(spec, board.output_language).name
    except BillboardsError:
        return spec


class _Matrix:
    """Columns that are put together one after the other."""

    def __init__(self, values: Floats) -> None:
        self.values = values
        self.columns: list[Column] = []
        self.keys: list[ColumnKey | None] = []

    def add(self, board: Board, store: CellStore | None, source: _Source, other: _Source | None) -> None:
        """A metric's leading scores, and its other ones in their gaps or beside them."""
        loaded = _load(board, store, source)
        beside = None if other is None else _load(board, store, other)
        key = source if isinstance(source, ColumnKey) else None
        if loaded is None or beside is None or other is None:
            if (only := loaded or beside) is not None:
                self._put(*only, key if loaded is not None else other if isinstance(other, ColumnKey) else None)
            return
        column, rows = loaded
        place = self._put(column, rows, key)
        share = _equal_share(place, beside[1])
        if share is not None and share >= SHARE:
            filled = [row for row, scores in beside[1].items() if _fill(place[row], scores)]
            names = tuple(board.rows[row].name for row in sorted(filled))
            self.columns[-1] = replace(self.columns[-1], completed=names, equal=share)
            self.keys[-1] = key or (other if isinstance(other, ColumnKey) else None)
        else:
            self.columns[-1] = replace(self.columns[-1], equal=share)
            named = f"{column.name} ({beside[0].origin})"
            self._put(
                replace(beside[0], name=named, beside=column.name, equal=share),
                beside[1],
                other if isinstance(other, ColumnKey) else None,
            )

    def _put(self, column: Column, rows: Mapping[int, Floats], key: ColumnKey | None) -> Floats:
        place: Floats = self.values[len(self.columns)]
        place.fill(np.nan)
        for row, scores in rows.items():
            place[row] = scores
        self.columns.append(directed(column, place))
        self.keys.append(key)
        return place

    def scores(self, rows: tuple[str, ...]) -> Scores:
        values = self.values[: len(self.columns)]
        return Scores(columns=tuple(self.columns), rows=rows, values=values, keys=tuple(self.keys))


def _equal_share(place: Floats, rows: Mapping[int, Floats]) -> float | None:
    """Of the outputs that have both scores, the share where they are equal; None where no output has both."""
    equal = both = 0
    for row, scores in rows.items():
        shared = np.isfinite(place[row]) & np.isfinite(scores)
        size = np.maximum(np.maximum(np.abs(place[row][shared]), np.abs(scores[shared])), 1.0)
        equal += int((np.abs(place[row][shared] - scores[shared]) <= TOLERANCE * size).sum())
        both += int(shared.sum())
    return equal / both if both else None


def _fill(place: Floats, scores: Floats) -> bool:
    """Put scores where there are none; whether there was such a gap."""
    gaps = ~np.isfinite(place) & np.isfinite(scores)
    place[gaps] = scores[gaps]
    return bool(gaps.any())


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
            higher_is_better=column.higher_is_better,
        )
        for column, rows in _loaded(board, store, _own_columns(board, store, board.references))
    ]
    return replace(board, imported=(*board.imported, *own))


def own_columns(board: Board, store: CellStore) -> Iterator[tuple[Column, Mapping[int, Floats]]]:
    """Every metric that was run against the board's references, with its scores by row."""
    return _loaded(board, store, _own_columns(board, store, board.references))


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
    for key in () if store is None else PartedCells(store, part_names(board.metrics), strict=False).columns():
        if key.column.references == (references if key.column.needs_references else ()) and _current(board, key):
            latest[key.column.name] = key
    return [key for _, key in sorted(latest.items())]


def _load(board: Board, store: CellStore | None, source: _Source) -> _Loaded | None:
    """A column with its scores by row; None for an own column that has none."""
    if isinstance(source, ImportedColumn):
        return source.column, {board.row_position[name]: scores for name, scores in source.values.items()}
    rows = {} if store is None else _cells(board, store, source)
    return (source.column, rows) if rows else None


def _loaded(board: Board, store: CellStore | None, sources: Sequence[_Source]) -> Iterator[_Loaded]:
    """Each column with its scores by row; an own column that has none is passed over."""
    for source in sources:
        if (loaded := _load(board, store, source)) is not None:
            yield loaded


def _cells(board: Board, store: CellStore, key: ColumnKey) -> dict[int, Floats]:
    """A column's scores by row; a row whose text is a reference has none, even where a copy of it was scored."""
    cells = store.load(key, (row.version for row in board.rows))
    for row in board.rows:
        if row.version in cells and len(cells[row.version]) != len(board.instances):
            raise _damaged(board, key, row, cells[row.version])
    return {
        k: cells[row.version]
        for k, row in enumerate(board.rows)
        if row.version in cells and not board.is_reference(row, key.column.references)
    }


def _damaged(board: Board, key: ColumnKey, row: Outputs, cell: Floats) -> StoreFailed:
    return StoreFailed(
        f"{key.column.name} of {row.name}: {len(cell)} scores are kept for "
        f"{len(board.instances)} instances; they are damaged: delete .billboards, and score again"
    )


def _current(board: Board, key: ColumnKey) -> bool:
    column = key.column
    return key.context == board.context_version(references=column.references, inputs=column.needs_input)
