"""How often a board has changed, asked once per request: one indexed query on a connection that stays open.

This is what makes kept pages cheap, so it goes to the driver itself: the same query through SQLAlchemy's connection
pool and transaction takes ten times as long as sending the page. The statement is SQLAlchemy's, compiled once for the
database at hand.
"""

from __future__ import annotations

import threading
from typing import Any

from sqlalchemy import bindparam, func, select
from sqlalchemy.exc import DBAPIError

from billboards.errors import StoreFailed
from billboards.site.database.engine import Database
from billboards.site.database.schema import boards


class Generations:
    """Looks at generations, from any thread, each on a connection of its own."""

    def __init__(self, database: Database) -> None:
        self._database = database
        dialect = database.engine.dialect
        one = select(boards.c.generation).where(boards.c.name == bindparam("board")).compile(dialect=dialect)
        self._one, self._positional = str(one), one.positional
        self._all = str(select(func.sum(boards.c.generation)).compile(dialect=dialect))
        self._mistakes: type[Exception] = dialect.loaded_dbapi.Error
        self._local = threading.local()

    def of(self, board: str) -> int | None:
        """A board's generation, or None where there is none of that name."""
        return self._ask(self._one, (board,) if self._positional else {"board": board})

    def of_all(self) -> int:
        """The sum of all boards' generations: it rises with each of them."""
        return self._ask(self._all, ()) or 0

    def _ask(self, statement: str, values: tuple[str, ...] | dict[str, str]) -> int | None:
        try:
            return self._asked(statement, values)
        except self._mistakes:
            # The server may have been started again since; a new connection tells.
            self._local.connection = None
        try:
            return self._asked(statement, values)
        except (self._mistakes, DBAPIError) as error:
            self._local.connection = None
            raise StoreFailed(f"the site's database can't be read: {error}; see that it is there and whole") from error

    def _asked(self, statement: str, values: tuple[str, ...] | dict[str, str]) -> int | None:
        connection = self._connection()
        cursor = connection.cursor()
        cursor.execute(statement, values)
        found = cursor.fetchone()
        cursor.close()
        if not self._database.is_sqlite:
            # Elsewhere the driver has begun a transaction, in which nothing new would ever be seen.
            connection.rollback()
        return None if found is None or found[0] is None else int(found[0])

    def _connection(self) -> Any:
        if getattr(self._local, "connection", None) is None:
            self._local.connection = self._database.engine.raw_connection()
        return self._local.connection
