"""Cells and where they are kept: what is there, what is missing, and one cell written whole or not at all.

A cell is one row's scores under one column. Its key says everything its numbers depend on: the version of the row's
texts, the metric's signature, and the version of the references and inputs the metric saw. A cell whose key is present
never needs to be computed again, and writing it twice changes nothing. Beside the scores of a metric that is defined on
a corpus stand the counts of every output, from which the value of any part of the board is computed without its texts.
Cells that version 0.1 wrote have no counts; they are scored again, and stay as they are until then.

`SqliteCells` is one SQLite file inside the board folder, with one transaction per cell: a crash, Ctrl-C or full disk in
the middle leaves a missing cell, and missing cells are computed again. The file is a cache of work, not a source: it
may be deleted at any time. `MemoryCells` are for outputs and boards that lie in no folder.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from billboards.board.counts import pack_counts, unpack_counts
from billboards.board.scores import Column
from billboards.errors import StoreFailed, UnknownName
from billboards.metrics.base import Counts
from billboards.metrics.discovery import part_names
from billboards.metrics.parts import PART, split_part
from billboards.reading import json_value

Floats = NDArray[np.float64]
FILE = Path(".billboards") / "cells.sqlite"
_SCHEMA = """
create table if not exists columns (
    id integer primary key, name text not null, signature text not null, "references" text not null,
    context text not null, needs_references integer not null, needs_input integer not null,
    is_statistic integer not null, unique (signature, context)
);
create table if not exists cells (
    column_id integer not null references columns, outputs text not null, part text not null,
    is_primary integer not null, scores blob not null, seconds real not null, created text not null,
    primary key (column_id, outputs, part)
) without rowid;
create table if not exists counts (
    column_id integer not null references columns, outputs text not null, packed blob not null,
    primary key (column_id, outputs)
);
"""
#: An empty table in the place of one that is not in the file.
_NO_COUNTS = "create temporary table counts (column_id integer, outputs text, packed blob)"


@dataclass(frozen=True, slots=True)
class ColumnKey:
    """A column with the version of what its metric saw beside the outputs."""

    column: Column
    context: str


def stored_as(key: ColumnKey) -> tuple[str, str]:
    """The signature under which a column's cells are kept, and the part of them that it is; "" is the primary one."""
    signature, _, part = key.column.signature.partition(PART)
    return signature, part


def part_key(key: ColumnKey, part: str) -> ColumnKey:
    """A part of a column as a column of its own."""
    column = key.column
    named = replace(column, name=f"{column.name}[{part}]", signature=f"{column.signature}{PART}{part}")
    return replace(key, column=named)


class CellStore(Protocol):
    """Where cells are kept."""

    def columns(self) -> tuple[ColumnKey, ...]:
        """Every column that has a cell, the most recently begun last."""

    def present(self, key: ColumnKey) -> frozenset[str]:
        """The row versions that have a cell in this column."""

    def load(self, key: ColumnKey, versions: Iterable[str]) -> Mapping[str, Floats]:
        """The scores of those row versions that have a cell, instance by instance: primary ones, or a part's."""

    def parts(self, key: ColumnKey) -> tuple[str, ...]:
        """The names of the parts that a column's cells hold."""

    def declare(self, key: ColumnKey) -> None:
        """Have a column for a part of a metric, beside that of the metric itself."""

    def counted(self, key: ColumnKey) -> frozenset[str]:
        """The row versions whose cell in this column has counts."""

    def load_counts(self, key: ColumnKey, versions: Iterable[str]) -> Mapping[str, Counts]:
        """The counts of those row versions that have some: one row for each instance, or one for the whole system."""

    def save(
        self,
        key: ColumnKey,
        version: str,
        parts: Mapping[str, Floats],
        *,
        seconds: float,
        counts: Counts | None = None,
    ) -> None:
        """Write one cell: all parts and its counts in one transaction, the first part primary."""


class MemoryCells:
    """Cells that live as long as this object."""

    def __init__(self) -> None:
        self._cells: dict[ColumnKey, dict[str, Mapping[str, Floats]]] = {}
        self._counts: dict[ColumnKey, dict[str, bytes]] = {}

    def columns(self) -> tuple[ColumnKey, ...]:
        return tuple(self._cells)

    def present(self, key: ColumnKey) -> frozenset[str]:
        return frozenset(self._cells.get(_whole(key), ()))

    def load(self, key: ColumnKey, versions: Iterable[str]) -> dict[str, Floats]:
        cells, (_, part) = self._cells.get(_whole(key), {}), stored_as(key)
        chosen = {version: cells[version] for version in versions if version in cells}
        return {
            version: parts[part] if part else next(iter(parts.values()))
            for version, parts in chosen.items()
            if not part or part in parts
        }

    def parts(self, key: ColumnKey) -> tuple[str, ...]:
        return tuple(dict.fromkeys(part for cell in self._cells.get(_whole(key), {}).values() for part in cell))

    def declare(self, key: ColumnKey) -> None:
        self._cells.setdefault(key, {})

    def counted(self, key: ColumnKey) -> frozenset[str]:
        return frozenset(self._counts.get(key, ()))

    def load_counts(self, key: ColumnKey, versions: Iterable[str]) -> dict[str, Counts]:
        packed = self._counts.get(key, {})
        return {version: unpack_counts(packed[version]) for version in versions if version in packed}

    def save(
        self,
        key: ColumnKey,
        version: str,
        parts: Mapping[str, Floats],
        *,
        seconds: float,  # noqa: ARG002 - the contract's
        counts: Counts | None = None,
    ) -> None:
        self._cells.setdefault(key, {})[version] = {name: scores.copy() for name, scores in parts.items()}
        self._counts.setdefault(key, {}).pop(version, None)
        if counts is not None:
            self._counts[key][version] = pack_counts(counts)


def _whole(key: ColumnKey) -> ColumnKey:
    """The column that a part belongs to."""
    signature, part = stored_as(key)
    if not part:
        return key
    return replace(key, column=replace(key.column, name=key.column.name.removesuffix(f"[{part}]"), signature=signature))


class PartedCells:
    """Cells with columns for parts of metrics, by name; a part of what is not scored is passed over."""

    def __init__(self, store: CellStore, names: Iterable[str], *, strict: bool = True) -> None:
        self.store, self.names, self.strict = store, tuple(names), strict

    def columns(self) -> tuple[ColumnKey, ...]:
        keys = self.store.columns()
        return (*keys, *(key for name in self.names for key in self._parts_named(name, keys)))

    def _parts_named(self, name: str, keys: Iterable[ColumnKey]) -> Iterator[ColumnKey]:
        base, part = split_part(name)
        for key in keys if part is not None else ():
            if part is not None and key.column.name == base:
                if part in self.store.parts(key):
                    yield part_key(key, part)
                elif self.strict:
                    raise UnknownName(f"part of {base}", part, filter(None, self.store.parts(key)))

    def present(self, key: ColumnKey) -> frozenset[str]:
        return self.store.present(key)

    def load(self, key: ColumnKey, versions: Iterable[str]) -> Mapping[str, Floats]:
        return self.store.load(key, versions)

    def parts(self, key: ColumnKey) -> tuple[str, ...]:
        return self.store.parts(key)

    def declare(self, key: ColumnKey) -> None:
        self.store.declare(key)

    def counted(self, key: ColumnKey) -> frozenset[str]:
        return self.store.counted(key)

    def load_counts(self, key: ColumnKey, versions: Iterable[str]) -> Mapping[str, Counts]:
        return self.store.load_counts(key, versions)

    def save(
        self,
        key: ColumnKey,
        version: str,
        parts: Mapping[str, Floats],
        *,
        seconds: float,
        counts: Counts | None = None,
    ) -> None:
        self.store.save(key, version, parts, seconds=seconds, counts=counts)


def with_parts(store: CellStore | None, names: Iterable[str | None]) -> CellStore | None:
    """A store that has columns for the parts among these names, too; an unknown part of a scored metric is refused."""
    parts = part_names(filter(None, names))
    return store if store is None or not parts else PartedCells(store, parts)


class SqliteCells:
    """The cells of one board folder. Nothing is created on disk before the first cell is written."""

    def __init__(self, home: Path) -> None:
        self.path = home / FILE

    def columns(self) -> tuple[ColumnKey, ...]:
        return tuple(key for _, key in self._columns())

    def present(self, key: ColumnKey) -> frozenset[str]:
        with self._reading() as database:
            rows = database.execute(
                "select outputs from cells join columns on id = column_id where signature = ? and context = ?",
                (stored_as(key)[0], key.context),
            )
            return frozenset(outputs for (outputs,) in rows)

    def load(self, key: ColumnKey, versions: Iterable[str]) -> dict[str, Floats]:
        wanted, (signature, part) = set(versions), stored_as(key)
        with self._reading() as database:
            rows = database.execute(
                "select outputs, scores from cells join columns on id = column_id "
                f"where signature = ? and context = ? and {'part = ?' if part else 'is_primary'}",
                (signature, key.context, *filter(None, [part])),
            )
            return {outputs: np.frombuffer(scores) for outputs, scores in rows if outputs in wanted}

    def counted(self, key: ColumnKey) -> frozenset[str]:
        with self._reading() as database:
            rows = database.execute(
                "select outputs from counts join columns on id = column_id where signature = ? and context = ?",
                (key.column.signature, key.context),
            )
            return frozenset(outputs for (outputs,) in rows)

    def load_counts(self, key: ColumnKey, versions: Iterable[str]) -> dict[str, Counts]:
        wanted = set(versions)
        with self._reading() as database:
            rows = database.execute(
                "select outputs, packed from counts join columns on id = column_id where signature = ? and context = ?",
                (key.column.signature, key.context),
            )
            return {outputs: unpack_counts(packed) for outputs, packed in rows if outputs in wanted}

    def parts(self, key: ColumnKey) -> tuple[str, ...]:
        with self._reading() as database:
            rows = database.execute(
                "select distinct part, is_primary from cells join columns on id = column_id "
                "where signature = ? and context = ? order by is_primary desc, part",
                (stored_as(key)[0], key.context),
            )
            return tuple(part for part, _ in rows)

    def declare(self, key: ColumnKey) -> None:
        with self._writing() as database:
            self._column_id(database, key)

    def seconds_per_cell(self, signatures: Iterable[str]) -> dict[str, float]:
        """How long a cell of each of these columns took on average, where there is one."""
        mean = "select avg(seconds) from cells join columns on id = column_id where signature = ? and is_primary"
        with self._reading() as database:
            taken = {name: database.execute(mean, (name,)).fetchone()[0] for name in signatures}
        return {name: float(seconds) for name, seconds in taken.items() if seconds is not None}

    def seconds(self, key: ColumnKey) -> dict[str, float]:
        """How long each row version took to score, where it was scored here."""
        with self._reading() as database:
            rows = database.execute(
                "select outputs, seconds from cells join columns on id = column_id "
                "where signature = ? and context = ? and is_primary",
                (stored_as(key)[0], key.context),
            )
            return {str(outputs): float(seconds) for outputs, seconds in rows}

    def save(
        self,
        key: ColumnKey,
        version: str,
        parts: Mapping[str, Floats],
        *,
        seconds: float,
        counts: Counts | None = None,
    ) -> None:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with self._writing() as database:
            column_id = self._column_id(database, key)
            database.executemany(
                "insert or replace into cells values (?, ?, ?, ?, ?, ?, ?)",
                [
                    (column_id, version, part, k == 0, np.ascontiguousarray(scores).tobytes(), seconds, now)
                    for k, (part, scores) in enumerate(parts.items())
                ],
            )
            if counts is None:
                database.execute("delete from counts where column_id = ? and outputs = ?", (column_id, version))
            else:
                row = (column_id, version, pack_counts(counts))
                database.execute("insert or replace into counts values (?, ?, ?)", row)

    def date(self, created: str) -> None:
        """Say of all cells that they were made at this time, so that equal cells make equal files."""
        with self._writing() as database:
            database.execute("update cells set created = ?", (created,))

    def _columns(self) -> list[tuple[int, ColumnKey]]:
        with self._reading() as database:
            rows = database.execute(
                'select id, name, signature, "references", context, needs_references, needs_input, is_statistic '
                "from columns order by id"
            ).fetchall()
            return [(number, _column(*facts)) for number, *facts in rows]

    @staticmethod
    def _column_id(database: sqlite3.Connection, key: ColumnKey) -> int:
        column = key.column
        database.execute(
            'insert or ignore into columns (name, signature, "references", context, needs_references, needs_input, '
            "is_statistic) values (?, ?, ?, ?, ?, ?, ?)",
            (
                column.name,
                column.signature,
                json.dumps(column.references),
                key.context,
                column.needs_references,
                column.needs_input,
                column.is_statistic,
            ),
        )
        row = database.execute(
            "select id from columns where signature = ? and context = ?", (column.signature, key.context)
        ).fetchone()
        return int(row[0])

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """A connection for looking; where nothing was written yet, one to an empty database."""
        with self._errors():
            begun = self._begun()
            with closing(sqlite3.connect(self.path if begun else ":memory:", timeout=60)) as database:
                if not begun:
                    database.executescript(_SCHEMA)
                elif not _has_table(database, "counts"):
                    # Version 0.1 kept none, and a folder that is only read stays as it is.
                    database.executescript(_NO_COUNTS)
                try:
                    yield database
                except (ValueError, TypeError) as error:
                    # What no cell was ever written as.
                    raise sqlite3.DatabaseError(f"a value is damaged: {error}") from error

    def _begun(self) -> bool:
        """Whether the file holds its tables; an interrupt may have come before they were made."""
        if not self.path.exists():
            return False
        with closing(sqlite3.connect(self.path, timeout=60)) as database:
            return _has_table(database, "cells")

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._errors():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=60)) as database:
                database.execute("pragma journal_mode = wal")
                database.execute("pragma synchronous = normal")
                database.executescript(f"begin immediate; {_SCHEMA} commit;")
                with database:
                    yield database

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            raise StoreFailed(
                f"{self.path}: {error}; free space or permissions may be missing, then run again"
            ) from error
        except sqlite3.DatabaseError as error:
            raise StoreFailed(f"{self.path}: {error}; delete the file, its scores will be computed again") from error
        except OSError as error:
            raise StoreFailed(f"{self.path}: can't be written: {error.strerror or error}") from error


def _has_table(database: sqlite3.Connection, name: str) -> bool:
    return database.execute("select 1 from sqlite_master where name = ?", (name,)).fetchone() is not None


def _column(name: str, signature: str, refs: str, context: str, *kinds: int) -> ColumnKey:
    """A column from its row; texts are made of what a damaged file may hold instead."""
    needs_references, needs_input, is_statistic = map(bool, kinds)
    references = tuple(map(str, json_value(refs)))
    column = Column(
        name=str(name),
        signature=str(signature),
        references=references,
        origin="own",
        source_name=None,
        needs_references=needs_references,
        needs_input=needs_input,
        is_statistic=is_statistic,
    )
    return ColumnKey(column, str(context))
