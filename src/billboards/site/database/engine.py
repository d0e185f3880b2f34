"""The database of a site: one engine per process, one transaction per change; SQLite in a file, or PostgreSQL.

A writing transaction takes its lock when it begins, so what it has read stays true until it ends; that is what makes
every compare-and-set of the site safe. On SQLite it is the file's own lock. On PostgreSQL locks are advisory, and end
with the transaction or its connection, however that ends: who says which boards a change is about is alone on those
boards, beside writers of others; who doesn't is alone on the site. Claims of work take none: they lock the one row they
are about. A commit is on disk when it returns. What the database refuses comes out as `StoreFailed`, with what to do
about it; as `StoreAway` where the same may succeed once the server is back or the disk has space.
"""

from __future__ import annotations

import logging
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, OperationalError, SQLAlchemyError

from billboards.errors import InvalidInput, MissingPart, OtherSchema, StoreAway, StoreFailed
from billboards.site.database.schema import REVISION

log = logging.getLogger("billboards.site.database")

#: Seconds to wait for another process's write; every write of the site takes a fraction of one.
PATIENCE = 60
#: The advisory lock that PostgreSQL's writers take, and with a second number those of one board or team; any number
#: that nobody else uses on the same database.
WRITE_LOCK = 4_112_021


class UnfitValue(StoreFailed, InvalidInput):
    """A value that no database takes: a mistake of whoever sent it, and for a worker's job a reason to be given up."""


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
    def writing(
        self, *, boards: Collection[str] = (), team: int | None = None, any_schema: bool = False
    ) -> Iterator[Connection]:
        """A transaction that is alone in writing: all of it is kept, or none.

        With `boards` it is alone on these boards only, and with `team` beside no other that names the same team: it
        may then rest on their rows, and on what only changes of the whole site can change. A database of another
        version is refused, unless `any_schema` says that bringing it to this one is the purpose.
        """
        with self._errors(), self.engine.connect() as connection:
            connection = connection.execution_options(writing=True, lock_parts=_lock_parts(boards, team))
            with connection.begin():
                if not any_schema:
                    _check_schema(connection)
                yield connection

    @contextmanager
    def claiming(self) -> Iterator[Connection]:
        """A transaction that may take leases beside other writers: it changes only rows that it has locked."""
        if self.is_sqlite:
            with self.writing() as connection:
                yield connection
            return
        with self._errors(), self.engine.connect() as connection:
            connection = connection.execution_options(claiming=True)
            with connection.begin():
                _check_schema(connection)
                yield connection

    @property
    def is_sqlite(self) -> bool:
        return self.engine.dialect.name == "sqlite"

    def upgrade(self) -> None:
        """Bring the tables to this version of the program; costs one look where they are."""
        revision = self.revision()
        if revision == REVISION:
            return
        from billboards.site.database.migrations import migrate

        if revision is not None:
            # A warning, so that it is read where only those are shown: the way back is a backup from before.
            log.warning("%s: the tables are brought from version %s to %s", self.shown, revision, REVISION)
        with self.writing(any_schema=True) as connection:
            migrate(connection, REVISION)
        if revision is not None:
            log.warning(
                "%s: the tables are of version %s now; older programs can't write to them", self.shown, REVISION
            )

    def revision(self) -> str | None:
        """The migration the database stands at, or None for an empty one."""
        with self.reading() as connection:
            if not inspect(connection).has_table("alembic_version"):
                return None
            return connection.execute(text("select version_num from alembic_version")).scalar()

    def clear_log(self) -> bool:
        """Bring everything that SQLite keeps beside its file into the file, and empty the rest.

        What was deleted stands in the write-ahead log until then. False where another process is reading all the time;
        a server's log is its own business.
        """
        if not self.is_sqlite:
            return True
        # The driver's own connection: a transaction, which SQLAlchemy begins, would itself be in the way.
        connection = self.engine.raw_connection()
        try:
            busy, *_ = connection.cursor().execute("pragma wal_checkpoint(truncate)").fetchone()
        finally:
            connection.close()
        return not busy

    def close(self) -> None:
        self.engine.dispose()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except IntegrityError:
            raise
        except DataError as error:
            # A NUL in a text, a number beyond all: somebody sent it, and the server is well.
            raise UnfitValue(f"a value can't be kept: {error.orig}; send another") from error
        except DBAPIError as error:
            passes = isinstance(error, OperationalError) or error.connection_invalidated
            kind = StoreAway if passes else StoreFailed
            raise kind(f"{self.shown}: {error.orig}; {self._advice}") from error
        except SQLAlchemyError as error:
            raise StoreFailed(f"{self.shown}: {error}") from error

    @property
    def shown(self) -> str:
        """The address as people may see it."""
        return make_url(self.url).render_as_string(hide_password=True)

    @property
    def _advice(self) -> str:
        if self.is_sqlite:
            return "see that the disk has space, the file may be written and is not damaged"
        return "see that the server runs, lets this user in and has space"


def _check_schema(connection: Connection) -> None:
    """Refuse to write where another version of the program has changed the tables since this process began.

    Whoever migrates holds the write lock, so what a writing transaction reads here stays true until it ends.
    """
    revision = connection.execute(text("select version_num from alembic_version")).scalar()
    if revision != REVISION:
        raise OtherSchema(
            f"the database's tables are of version {revision}, this program's of {REVISION}: nothing is written; "
            "start this process again with the version of billboards that the site runs now"
        )


def _engine(url: str) -> Engine:
    try:
        backend = make_url(url).get_backend_name()
    except SQLAlchemyError as error:
        raise InvalidInput(f"{url!r} is no address of a database, such as postgresql://user@host/name") from error
    if backend == "sqlite":
        engine = create_engine(url, connect_args={"timeout": PATIENCE}, pool_size=20, max_overflow=40)
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    if backend != "postgresql":
        raise InvalidInput(f"a site's database is SQLite or PostgreSQL, not {backend}")
    if find_spec("psycopg") is None:
        raise MissingPart("PostgreSQL needs psycopg; install it with `pip install 'billboards[postgres]'`")
    driven = make_url(url).set(drivername="postgresql+psycopg")
    # A server that was started again has closed the connections that are kept: each is tried before it is used.
    engine = create_engine(
        driven, pool_pre_ping=True, pool_size=10, max_overflow=20, connect_args={"connect_timeout": 10}
    )
    event.listen(engine, "begin", _begin_postgresql)
    return engine


def _set_up_sqlite(connection: Any, _: object) -> None:
    """Readers beside one writer, commits that survive a power cut, foreign keys that hold, deleted rows overwritten."""
    # The driver's own transactions begin too late: not before the first write, after what the write rests on was read.
    connection.isolation_level = None
    for setting in ("journal_mode = wal", "synchronous = full", "foreign_keys = on", "secure_delete = on"):
        connection.execute(f"pragma {setting}")


def _begin_sqlite(connection: Connection) -> None:
    writing = connection.get_execution_options().get("writing", False)
    connection.exec_driver_sql("begin immediate" if writing else "begin")


def _lock_parts(boards: Collection[str], team: int | None) -> tuple[int, ...]:
    """The numbers of what a change is about, in one order for everybody, so that no two wait for each other.

    Two names with the same number just wait for one another.
    """
    if not boards:
        return ()
    words = [f"board {name}" for name in boards] + ([] if team is None else [f"team {team}"])
    return tuple(sorted({zlib.crc32(word.encode("utf-8", "surrogatepass")) - 2**31 for word in words}))


def _begin_postgresql(connection: Connection) -> None:
    options = connection.get_execution_options()
    if options.get("writing"):
        parts = options.get("lock_parts", ())
        connection.exec_driver_sql(f"set local lock_timeout = '{PATIENCE}s'")
        # Changes of the whole site keep out those of boards, which share this one.
        connection.exec_driver_sql(f"select pg_advisory_xact_lock{'_shared' if parts else ''}({WRITE_LOCK})")
        for part in parts:
            connection.exec_driver_sql(f"select pg_advisory_xact_lock({WRITE_LOCK}, {part})")
    elif not options.get("claiming"):
        connection.exec_driver_sql("set transaction isolation level repeatable read, read only")
