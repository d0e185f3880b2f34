"""What a site's database holds as lines of text, and a database made of such lines.

Tables go in the order of their foreign keys and in batches; every row is counted and hashed where it is read and again
where it has arrived, so that nothing is lost or bent on the way without being noticed. The digest of a table is the sum
of its rows' digests: databases need not agree on an order of texts. What is written is one transaction: all of it or
nothing, so whatever interrupts it, it can simply be begun again.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from sqlalchemy import Column, Connection, Integer, LargeBinary, MetaData, Table, func, insert, inspect, select, text
from sqlalchemy.exc import DBAPIError, StatementError

from billboards.errors import InvalidInput, StoreFailed
from billboards.reading import json_value
from billboards.site.database.engine import Database
from billboards.site.database.migrations import migrate
from billboards.site.database.schema import REVISION, metadata

#: Rows that are held in memory at a time; a row of scores may have a hundred thousand bytes.
BATCH = 500
#: Where Alembic writes down which migration a database stands at; made by migrating, never moved.
VERSION_TABLE = "alembic_version"

Row = Mapping[str, Any]
Tell = Callable[[str, int], None]


@dataclass
class Tally:
    """How many rows there are, and what they say, whatever their order."""

    rows: int = 0
    _sum: int = field(default=0, repr=False)

    @classmethod
    def of(cls, rows: int, digest: str) -> Tally:
        """A tally that was written down."""
        if re.fullmatch(r"[0-9a-f]{64}", digest) is None:
            raise InvalidInput(f"{digest[:80]!r} is no digest of a table; take another backup")
        return cls(rows, int(digest, 16))

    def add(self, line: str) -> None:
        self.rows += 1
        self._sum = (self._sum + int.from_bytes(hashlib.sha256(line.encode()).digest())) % 2**256

    @property
    def digest(self) -> str:
        return f"{self._sum:064x}"


def line_of(table: Table, row: Row) -> str:
    """A row as one line of JSON, the same for the same values on every database."""
    try:
        values = [_plain(row[column.name], binary=isinstance(column.type, LargeBinary)) for column in _columns(table)]
        return json.dumps(values, ensure_ascii=True, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise _damaged(table, error) from error


def row_of_line(table: Table, line: str) -> Row:
    """A row from its line."""
    values = json_value(line)
    if not isinstance(values, list):
        raise TypeError("a row is a list")
    pairs = zip(_columns(table), values, strict=True)
    return {column.name: _value(value, binary=isinstance(column.type, LargeBinary)) for column, value in pairs}


def _columns(table: Table) -> list[Column[Any]]:
    """A table's columns in an order that does not depend on how the table was made."""
    return sorted(table.columns, key=lambda column: column.name)


def _plain(value: Any, *, binary: bool) -> Any:
    return base64.b64encode(value).decode() if binary and value is not None else value


def _value(value: Any, *, binary: bool) -> Any:
    return base64.b64decode(value, validate=True) if binary and value is not None else value


def tables_of(connection: Connection, revision: str | None = REVISION) -> tuple[Table, ...]:
    """The tables at a migration, each after those it refers to; an earlier one's are read from the database."""
    tables = metadata
    if revision != REVISION:
        tables = MetaData()
        tables.reflect(connection)
    return tuple(table for table in tables.sorted_tables if table.name != VERSION_TABLE)


def read_rows(connection: Connection, table: Table) -> Iterator[Row]:
    """All rows of a table in the order of its key, a batch in memory at a time."""
    query = select(table).order_by(*table.primary_key.columns).execution_options(yield_per=BATCH)
    try:
        for row in connection.execute(query).mappings():
            yield {column.name: row[column] for column in table.columns}
    except (TypeError, ValueError) as error:
        raise _damaged(table, error) from error


def _damaged(table: Table, error: Exception) -> StoreFailed:
    """A file that was damaged may hold a text where a number was, or the half of one."""
    return StoreFailed(f"table {table.name}: a row can't be read: {error}; the database is damaged: restore a backup")


def write_rows(connection: Connection, table: Table, rows: Iterable[Row], tell: Tell | None = None) -> None:
    """Put rows into a table, in batches."""
    waiting, done = iter(rows), 0
    while batch := [dict(row) for row in islice(waiting, BATCH)]:
        try:
            connection.execute(insert(table), batch)
        except (DBAPIError, StatementError, ValueError, TypeError, OverflowError) as error:
            why = str(getattr(error, "orig", error)).strip().splitlines()[0]
            raise StoreFailed(
                f"table {table.name}: one of rows {done + 1} to {done + len(batch)} can't be kept there: {why}; "
                "nothing was changed: mend that row and begin again"
            ) from error
        done += len(batch)
        if tell is not None:
            tell(table.name, done)


def tally_of(connection: Connection, table: Table) -> Tally:
    """A table's tally, read from the database."""
    tally = Tally()
    for row in read_rows(connection, table):
        tally.add(line_of(table, row))
    return tally


def fill(
    connection: Connection,
    revision: str,
    lines: Callable[[Table], Iterable[Row]],
    expected: Callable[[Table], Tally],
    tell: Tell | None = None,
) -> dict[str, Tally]:
    """Make a database's tables, fill them, and see that everything arrived; needs a writing transaction."""
    migrate(connection, revision)
    arrived = {}
    for table in tables_of(connection, revision):
        write_rows(connection, table, lines(table), tell)
        arrived[table.name] = tally = tally_of(connection, table)
        if (tally.rows, tally.digest) != (expected(table).rows, expected(table).digest):
            raise StoreFailed(
                f"table {table.name}: {expected(table).rows} rows were sent and {tally.rows} arrived, or some arrived "
                "changed; nothing was kept"
            )
        _set_sequence(connection, table)
    if revision != REVISION:
        migrate(connection, REVISION)
    return arrived


def _set_sequence(connection: Connection, table: Table) -> None:
    """Let PostgreSQL count on where the rows that were brought end; SQLite looks for itself."""
    (key, *others) = table.primary_key.columns
    if connection.dialect.name != "postgresql" or others or not isinstance(key.type, Integer):
        return
    last = connection.execute(select(func.max(key))).scalar()
    if last is not None:
        query = text("select setval(pg_get_serial_sequence(:name, :key), :last)")
        connection.execute(query, {"name": table.name, "key": key.name, "last": last})


def check_empty(database: Database) -> None:
    """Refuse a database that holds something."""
    with database.reading() as connection:
        for name in inspect(connection).get_table_names():
            if name == VERSION_TABLE:
                continue
            if name not in metadata.tables or connection.execute(select(metadata.tables[name]).limit(1)).first():
                raise InvalidInput(
                    f"{database.shown}: is not empty (table {name}); name a database that is new or has no rows"
                )
