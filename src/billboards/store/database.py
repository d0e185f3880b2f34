"""The database of a site: one engine per process, one transaction per change.

A writing transaction takes the write lock when it begins, so what it has read stays true until it ends; that is what
makes every compare-and-set of the site safe. A commit is on disk when it returns. What the database refuses comes out
as `StoreFailed`, with what to do about it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError

from billboards.errors import StoreFailed
from billboards.store.schema import REVISION

#: Seconds to wait for another process's write; every write of the site takes a fraction of one.
PATIENCE = 60


class Database:
    """The site's tables behind one URL."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.engine = _engine(url)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection for looking: everything read inside is of one moment."""
        with self._errors(), self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that is alone in writing: all of it is kept, or none."""
        with self._errors(), self.engine.connect() as connection:
            connection = connection.execution_options(writing=True)
            with connection.begin():
                yield connection

    def upgrade(self) -> None:
        """Bring the tables to this version of the program; costs one look where they are."""
        if self.revision() != REVISION:
            from billboards.store.migrating import migrate

            with self.writing() as connection:
                migrate(connection, REVISION)

    def revision(self) -> str | None:
        """The migration the database stands at, or None for an empty one."""
        with self.reading() as connection:
            if not inspect(connection).has_table("alembic_version"):
                return None
            return connection.execute(text("select version_num from alembic_version")).scalar()

    def close(self) -> None:
        self.engine.dispose()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except IntegrityError:
            raise
        except DBAPIError as error:
            where = make_url(self.url).render_as_string(hide_password=True)
            raise StoreFailed(
                f"{where}: {error.orig}; see that the disk has space, the file may be written and is not damaged"
            ) from error
        except SQLAlchemyError as error:
            raise StoreFailed(f"{make_url(self.url).render_as_string(hide_password=True)}: {error}") from error


def _engine(url: str) -> Engine:
    if make_url(url).get_backend_name() != "sqlite":
        return create_engine(url, pool_pre_ping=True)
    engine = create_engine(url, connect_args={"timeout": PATIENCE}, pool_size=20, max_overflow=40)
    event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _set_up_sqlite(connection: Any, _: object) -> None:
    """Readers beside one writer, commits that survive a power cut, foreign keys that hold."""
    # The driver's own transactions begin too late: not before the first write, after what the write rests on was read.
    connection.isolation_level = None
    for setting in ("journal_mode = wal", "synchronous = full", "foreign_keys = on"):
        connection.execute(f"pragma {setting}")


def _begin_sqlite(connection: Connection) -> None:
    writing = connection.get_execution_options().get("writing", False)
    connection.exec_driver_sql("begin immediate" if writing else "begin")
