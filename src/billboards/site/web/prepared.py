"""What nearly every request asks of the database, through prepared statements on a connection that stays open.

How often a board has changed and whose session a cookie is: this is what makes kept pages cheap, so it goes to the
driver itself. The same queries through SQLAlchemy's connection pool and transaction take ten times as long as sending
the page. The statements are SQLAlchemy's, compiled once for the database at hand; each thread has a connection of its
own.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Select, bindparam, func, select
from sqlalchemy.exc import DBAPIError

from billboards.errors import StoreFailed
from billboards.site.accounts import records as accounts
from billboards.site.database.engine import Database
from billboards.site.database.schema import boards


class Prepared:
    """The statements of one process."""

    def __init__(self, database: Database) -> None:
        self._database = database
        dialect = database.engine.dialect
        self._of_board = _Statement(select(boards.c.generation).where(boards.c.name == bindparam("board")), dialect)
        self._of_all = _Statement(select(func.sum(boards.c.generation)), dialect)
        self._session = _Statement(accounts.live_session(), dialect)
        self._mistakes: type[Exception] = dialect.loaded_dbapi.Error
        self._local = threading.local()

    def generation(self, board: str) -> int | None:
        """A board's generation, or None where there is none of that name."""
        if "\0" in board:
            # PostgreSQL takes it in no text, so no board is called so; asking would cost the connection.
            return None
        row = self._ask(self._of_board, {"board": board})
        return None if row is None or row[0] is None else int(row[0])

    def generations(self) -> int:
        """The sum of all boards' generations: it rises with each of them."""
        row = self._ask(self._of_all, {})
        return 0 if row is None or row[0] is None else int(row[0])

    def session(self, cookie: str, now: float) -> accounts.LiveSession | None:
        """Whose session a cookie is, unless it is over."""
        row = self._ask(self._session, {"id": accounts.digest(cookie), "now": now})
        return None if row is None else accounts.LiveSession(*row)

    def _ask(self, statement: _Statement, values: Mapping[str, Any]) -> tuple[Any, ...] | None:
        try:
            return self._asked(statement, values)
        except self._mistakes:
            # The server may have been started again since; a new connection tells.
            self._drop()
        try:
            return self._asked(statement, values)
        except (self._mistakes, DBAPIError) as error:
            self._drop()
            raise StoreFailed(
                f"{self._database.shown}: can't be read: {error}; see that it is there and whole"
            ) from error

    def _asked(self, statement: _Statement, values: Mapping[str, Any]) -> tuple[Any, ...] | None:
        connection = self._connection()
        cursor = connection.cursor()
        cursor.execute(statement.text, statement.order(values))
        row: tuple[Any, ...] | None = cursor.fetchone()
        cursor.close()
        if not self._database.is_sqlite:
            # Elsewhere the driver has begun a transaction, in which nothing new would ever be seen.
            connection.rollback()
        return row

    def _drop(self) -> None:
        """Close this thread's connection, which may be broken; the next question opens another."""
        connection, self._local.connection = getattr(self._local, "connection", None), None
        if connection is not None:
            connection.invalidate()

    def _connection(self) -> Any:
        if getattr(self._local, "connection", None) is None:
            self._local.connection = self._database.engine.raw_connection()
        return self._local.connection


class _Statement:
    """A query as the driver takes it."""

    def __init__(self, query: Select[Any], dialect: Any) -> None:
        compiled = query.compile(dialect=dialect)
        self.text = str(compiled)
        self._names = tuple(compiled.positiontup or ()) if compiled.positional else None

    def order(self, values: Mapping[str, Any]) -> Any:
        """The values by place or by name, as the driver wants them."""
        return values if self._names is None else tuple(values[name] for name in self._names)
