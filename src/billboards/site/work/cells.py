"""The cells of one board of a site, in the site's database.

The same contract as the cells of a board folder, with two additions: a cell may be saved on the condition that its
worker still holds the lease for it, and a view may be narrowed to some signatures, so that a column that is still being
computed, or was withdrawn, is not seen. A cell that is there never goes, so which are there is answered from the keys
alone, without reading a score, and a process may keep scores that it has read (`KeptScores`). Beside the cells stand
the counts of metrics that are defined on a corpus, and why other cells could not be computed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby

import numpy as np
from sqlalchemy import ColumnElement, Connection, RowMapping, Table, and_, delete, func, insert, select

from billboards.board import Column
from billboards.board.cells import CellStore, ColumnKey, Floats, stored_as
from billboards.board.counts import pack_counts, unpack_counts
from billboards.board.missing_cells import CellId
from billboards.errors import StoreFailed
from billboards.metrics.base import Counts
from billboards.site.database.engine import Database
from billboards.site.database.schema import cell_counts, cell_failures, cells, score_columns
from billboards.site.database.trail import storable

#: A column by what its cells share: signature and context.
ColumnId = tuple[str, str]
#: The scores of a column, by row version.
Cells = dict[str, Floats]
#: Rows that are asked for by name; of more, the whole column is read.
FEW = 100
#: Bytes of scores that a process keeps: 100 million of them, and some room.
MOST = 2**30


@dataclass(frozen=True)
class SqlCells:
    """The cells of one board; with `signatures`, only those columns are there."""

    database: Database
    board: str
    signatures: frozenset[str] | None = None
    #: What this process has read and keeps; None where it keeps nothing.
    kept: KeptScores | None = field(default=None, compare=False)
    #: Other names than they were scored under, by signature, where two teams chose the same.
    names: Mapping[str, str] = field(default_factory=dict, compare=False)

    def called(self, names: Mapping[str, str]) -> SqlCells:
        """The same cells, some columns under other names."""
        return replace(self, names=names)

    def only(self, signatures: Iterable[str]) -> SqlCells:
        """The same cells, seen through some signatures only."""
        return replace(self, signatures=frozenset(signatures))

    def keeping(self, kept: KeptScores) -> SqlCells:
        """The same cells, each read once."""
        return replace(self, kept=kept)

    def columns(self) -> tuple[ColumnKey, ...]:
        with self.database.reading() as connection:
            begun = select(cells.c.column_id).where(cells.c.column_id == score_columns.c.id).exists()
            query = select(score_columns).where(score_columns.c.board == self.board, begun).order_by(score_columns.c.id)
            keys = [_key(row) for row in connection.execute(query).mappings()]
        return tuple(self._called(key) for key in keys if self._seen(key.column.signature))

    def _called(self, key: ColumnKey) -> ColumnKey:
        name = self.names.get(key.column.signature)
        return key if name is None else replace(key, column=replace(key.column, name=name))

    def present(self, key: ColumnKey) -> frozenset[str]:
        if not self._seen(stored_as(key)[0]):
            return frozenset()
        with self.database.reading() as connection:
            # One line and not one a cell; a version is a digest and holds no comma.
            query = select(func.aggregate_strings(cells.c.row_version, ",")).join(score_columns).where(self._is(key))
            versions: str | None = connection.execute(query).scalar()
        return frozenset(versions.split(",") if versions else ())

    def load(self, key: ColumnKey, versions: Iterable[str]) -> dict[str, Floats]:
        asked = set(versions)
        if not self._seen(stored_as(key)[0]):
            return {}
        if self.kept is None:
            return self._read(key, asked)
        return self.kept.load((key.column.signature, key.context), asked, partial(self._read, key))

    def _read(self, key: ColumnKey, asked: set[str]) -> dict[str, Floats]:
        part = stored_as(key)[1]
        which = cells.c.part == part if part else cells.c.is_primary
        query = select(cells.c.row_version, cells.c.scores).join(score_columns).where(self._is(key), which)
        if len(asked) <= FEW:
            query = query.where(cells.c.row_version.in_(sorted(asked)))
        with self.database.reading() as connection:
            rows = connection.execute(query).all()
        return {version: np.frombuffer(scores, np.float64) for version, scores in rows if version in asked}

    def copy_to(self, store: CellStore, key: ColumnKey, versions: Iterable[str], *, counts: bool = True) -> None:
        """Write a column's cells of these rows, with all their parts and, where wanted, counts into another store."""
        asked = set(versions)
        counted = self.load_counts(key, asked) if counts else {}
        facts = (cells.c.row_version, cells.c.part, cells.c.scores, cells.c.seconds)
        query = select(*facts).join(score_columns).where(self._is(key))
        order = query.order_by(cells.c.row_version, cells.c.is_primary.desc(), cells.c.part)
        with self.database.reading() as connection:
            rows = [row for row in connection.execute(order) if row.row_version in asked]
        for version, parts in groupby(rows, key=lambda row: str(row.row_version)):
            stored = list(parts)
            scores = {str(row.part): np.frombuffer(row.scores, np.float64) for row in stored}
            store.save(key, version, scores, seconds=float(stored[0].seconds), counts=counted.get(version))

    def parts(self, key: ColumnKey) -> tuple[str, ...]:
        query = select(cells.c.part, cells.c.is_primary).join(score_columns).where(self._is(key)).distinct()
        with self.database.reading() as connection:
            rows = connection.execute(query).all()
        return tuple(part for part, _ in sorted(rows, key=lambda row: (not row[1], row[0])))

    def declare(self, key: ColumnKey) -> None:
        """A site's columns are those that the board's file names; nothing need be kept beside it."""

    def counted(self, key: ColumnKey) -> frozenset[str]:
        if not self._has_counts(key):
            return frozenset()
        with self.database.reading() as connection:
            query = select(cell_counts.c.row_version).join(score_columns).where(self._is(key))
            return frozenset(connection.execute(query).scalars())

    def load_counts(self, key: ColumnKey, versions: Iterable[str]) -> dict[str, Counts]:
        asked = set(versions)
        if not self._has_counts(key):
            return {}
        query = select(cell_counts.c.row_version, cell_counts.c.packed).join(score_columns).where(self._is(key))
        if len(asked) <= FEW:
            query = query.where(cell_counts.c.row_version.in_(sorted(asked)))
        with self.database.reading() as connection:
            rows = connection.execute(query).all()
        try:
            return {version: unpack_counts(packed) for version, packed in rows if version in asked}
        except ValueError as error:
            raise StoreFailed(f"table cell_counts: {error}; the database is damaged: restore a backup") from error

    def _has_counts(self, key: ColumnKey) -> bool:
        """Whether a column may have counts: it is seen, and not a part of another, whose counts aren't its own."""
        signature, part = stored_as(key)
        return not part and self._seen(signature)

    def save(
        self,
        key: ColumnKey,
        version: str,
        parts: Mapping[str, Floats],
        *,
        seconds: float,
        counts: Counts | None = None,
    ) -> None:
        with self.database.writing(boards=[self.board]) as connection:
            write_cell(connection, self.board, key, version, parts, seconds=seconds, now=time.time(), counts=counts)

    def seconds_per_cell(self, signatures: Iterable[str]) -> dict[str, float]:
        """How long a cell of each of these columns took on average, where there is one."""
        query = (
            select(score_columns.c.signature, func.avg(cells.c.seconds))
            .join(cells, cells.c.column_id == score_columns.c.id)
            .where(score_columns.c.board == self.board, score_columns.c.signature.in_(list(signatures)))
            .group_by(score_columns.c.signature)
        )
        with self.database.reading() as connection:
            return {signature: float(seconds) for signature, seconds in connection.execute(query)}

    def _seen(self, signature: str) -> bool:
        return self.signatures is None or signature in self.signatures

    def _is(self, key: ColumnKey) -> ColumnElement[bool]:
        return and_(
            score_columns.c.board == self.board,
            score_columns.c.signature == stored_as(key)[0],
            score_columns.c.context == key.context,
        )


@dataclass
class KeptScores:
    """Scores that a process has read once and keeps, so that a ranking with one more row reads that row alone.

    A cell is named by everything its numbers depend on, so what was read stays right for ever. Only the rows that were
    last asked for are kept, and only as much as fits: a board that is larger is read whole each time.
    """

    most: int = MOST
    _columns: dict[ColumnId, Cells] = field(default_factory=dict, repr=False)
    _bytes: int = 0

    def load(self, column: ColumnId, versions: set[str], read: Callable[[set[str]], Cells]) -> Cells:
        """The cells of these rows; `read` is asked for those that are not kept."""
        before = self._columns.pop(column, {})
        self._bytes -= _size(before)
        scores = {version: before[version] for version in versions & before.keys()}
        missing = versions - scores.keys()
        if missing:
            scores |= read(missing)
        if self._bytes + _size(scores) <= self.most:
            self._columns[column] = scores
            self._bytes += _size(scores)
        return dict(scores)


def _size(cells: Cells) -> int:
    return sum(scores.nbytes for scores in cells.values())


def write_cell(
    connection: Connection,
    board: str,
    key: ColumnKey,
    version: str,
    parts: Mapping[str, Floats],
    *,
    seconds: float,
    now: float,
    counts: Counts | None = None,
) -> None:
    """Write one cell in somebody's transaction; what stood there is replaced, and a failure of it forgotten."""
    column_id = _column_id(connection, board, key)
    connection.execute(delete(cells).where(cells.c.column_id == column_id, cells.c.row_version == version))
    rows = [
        {
            "column_id": column_id,
            "row_version": version,
            "part": part,
            "is_primary": k == 0,
            "scores": np.ascontiguousarray(scores, np.float64).tobytes(),
            "seconds": seconds,
            "created": now,
        }
        for k, (part, scores) in enumerate(parts.items())
    ]
    connection.execute(insert(cells), rows)
    here = and_(cell_counts.c.column_id == column_id, cell_counts.c.row_version == version)
    connection.execute(delete(cell_counts).where(here))
    if counts is not None:
        packed = {"column_id": column_id, "row_version": version, "packed": pack_counts(counts)}
        connection.execute(insert(cell_counts), packed)
    forget_failure(connection, board, (key.column.signature, key.context, version))


def write_failure(
    connection: Connection, board: str, cell_id: CellId, *, reason: str, platform: bool, now: float, times: int = 1
) -> int:
    """Note that a cell could not be computed, so many times more; returns how many times by now."""
    before = connection.execute(select(cell_failures.c.attempts).where(_failure(board, cell_id))).scalar()
    forget_failure(connection, board, cell_id)
    signature, context, version = cell_id
    attempts = times + (before or 0)
    connection.execute(
        insert(cell_failures).values(
            board=board,
            signature=signature,
            context=context,
            row_version=version,
            reason=storable(reason),
            platform=platform,
            attempts=attempts,
            created=now,
        )
    )
    return attempts


def forget_failure(connection: Connection, board: str, cell_id: CellId) -> None:
    connection.execute(delete(cell_failures).where(_failure(board, cell_id)))


def _failure(board: str, cell_id: CellId) -> ColumnElement[bool]:
    signature, context, version = cell_id
    return and_(
        cell_failures.c.board == board,
        cell_failures.c.signature == signature,
        cell_failures.c.context == context,
        cell_failures.c.row_version == version,
    )


def _column_id(connection: Connection, board: str, key: ColumnKey) -> int:
    column = key.column
    where = and_(
        score_columns.c.board == board,
        score_columns.c.signature == column.signature,
        score_columns.c.context == key.context,
    )
    column_id = connection.execute(select(score_columns.c.id).where(where)).scalar()
    if column_id is not None:
        return int(column_id)
    made = connection.execute(
        insert(score_columns).values(
            board=board,
            name=column.name,
            signature=column.signature,
            references=list(column.references),
            context=key.context,
            needs_references=column.needs_references,
            needs_input=column.needs_input,
            is_statistic=column.is_statistic,
        )
    )
    assert made.inserted_primary_key is not None
    return int(made.inserted_primary_key[0])


def _key(row: RowMapping) -> ColumnKey:
    references = row["references"]
    assert isinstance(references, list)
    column = Column(
        name=str(row["name"]),
        signature=str(row["signature"]),
        references=tuple(references),
        origin="own",
        source_name=None,
        needs_references=bool(row["needs_references"]),
        needs_input=bool(row["needs_input"]),
        is_statistic=bool(row["is_statistic"]),
    )
    return ColumnKey(column, str(row["context"]))


@dataclass(frozen=True)
class CellFailure:
    """Why a cell is not there."""

    reason: str
    platform: bool
    attempts: int
    created: float


def stored_cells(
    connection: Connection,
    board: str,
    asked: Mapping[ColumnId, frozenset[str]],
    *,
    counted: Collection[ColumnId] = (),
) -> dict[ColumnId, frozenset[str]]:
    """Of the cells asked for, by column the versions of their rows, those that are there; of columns that are to be
    `counted`, those that have counts."""
    plain = _stored(connection, board, cells, {column: asked[column] for column in asked if column not in counted})
    return plain | _stored(connection, board, cell_counts, {c: asked[c] for c in asked if c in counted})


def _stored(
    connection: Connection, board: str, table: Table, asked: Mapping[ColumnId, frozenset[str]]
) -> dict[ColumnId, frozenset[str]]:
    if not asked:
        return {}
    query = (
        # One line a column and not one a cell; a version is a digest and holds no comma.
        select(score_columns.c.signature, score_columns.c.context, func.aggregate_strings(table.c.row_version, ","))
        .join(table, table.c.column_id == score_columns.c.id)
        .where(score_columns.c.board == board, *_among(score_columns.c.signature, table.c.row_version, asked))
        .group_by(score_columns.c.signature, score_columns.c.context)
    )
    stored = {(signature, context): versions for signature, context, versions in connection.execute(query)}
    return {column: asked[column].intersection(stored[column].split(",")) for column in asked.keys() & stored.keys()}


def is_stored(connection: Connection, board: str, cell_id: CellId, *, counted: bool = False) -> bool:
    """Whether one cell is there; with its counts, if it should have some."""
    signature, context, version = cell_id
    table = cell_counts if counted else cells
    query = (
        select(table.c.column_id)
        .join(score_columns, table.c.column_id == score_columns.c.id)
        .where(
            score_columns.c.board == board,
            score_columns.c.signature == signature,
            score_columns.c.context == context,
            table.c.row_version == version,
        )
    )
    return connection.execute(query.limit(1)).one_or_none() is not None


def failed_cells(
    connection: Connection, board: str, asked: Mapping[ColumnId, Collection[str]]
) -> dict[CellId, CellFailure]:
    """Of the cells asked for, by column the versions of their rows, those that could not be computed, and why."""
    key = (cell_failures.c.signature, cell_failures.c.context, cell_failures.c.row_version)
    facts = (cell_failures.c[word] for word in ("reason", "platform", "attempts", "created"))
    where = _among(cell_failures.c.signature, cell_failures.c.row_version, asked)
    rows = connection.execute(select(*key, *facts).where(cell_failures.c.board == board, *where))
    return {
        (signature, context, version): CellFailure(*failure)
        for signature, context, version, *failure in rows
        if version in asked.get((signature, context), ())
    }


def _among(
    signature: ColumnElement[str], version: ColumnElement[str], asked: Mapping[ColumnId, Collection[str]]
) -> list[ColumnElement[bool]]:
    """What narrows a query to the metrics and to the rows asked for, where they are few."""
    named = (signature, {name for name, _ in asked}), (version, set[str]().union(*asked.values()))
    return [column.in_(sorted(names)) for column, names in named if len(names) <= FEW]
