"""Databases moved with every table filled: through the migrations, and from one database to the other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from full_tables import LONG, fill_every_table
from postgres import PostgresServer
from sqlalchemy import insert, inspect, select, update

from billboards.errors import InvalidInput, StoreFailed
from billboards.site.database.engine import Database
from billboards.site.database.migrations import alembic_config
from billboards.site.database.row_lines import BATCH, Tally, Tell, check_empty, fill, read_rows, tables_of, tally_of
from billboards.site.database.schema import REVISION, audit, boards, metadata

#: For what one direction shows as well as both: from SQLite to PostgreSQL.
from_sqlite = pytest.mark.parametrize("full", ["sqlite"], indirect=True)


#: Tables that have gained columns since the first migration: of these, rows are counted.
GROWN = ("accounts", "sessions", "tokens", "rankings")


def tallies(database: Database) -> dict[str, tuple[int, str]]:
    with database.reading() as connection:
        found = {table.name: tally_of(connection, table) for table in tables_of(connection, database.revision())}
    return {name: (tally.rows, tally.digest) for name, tally in found.items()}


def without_grown(tallied: dict[str, tuple[int, str]]) -> dict[str, tuple[int, str]]:
    return {name: (rows, "" if name in GROWN else digest) for name, (rows, digest) in tallied.items()}


def copy(source: Database, target: Database, tell: Tell | None = None) -> dict[str, Tally]:
    """Everything of one database written into another, as a backup is restored."""
    check_empty(target)
    with source.reading() as origin, target.writing(any_schema=True) as goal:
        sent = {table.name: tally_of(origin, table) for table in tables_of(origin)}
        return fill(goal, REVISION, lambda table: read_rows(origin, table), lambda table: sent[table.name], tell)


@pytest.fixture(params=["sqlite", "postgresql"])
def full(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """A database with rows in every table."""
    sqlite = f"sqlite:///{tmp_path / 'full.sqlite'}"
    made = Database(sqlite if request.param == "sqlite" else request.getfixturevalue("postgres").new_database())
    made.upgrade()
    with made.writing() as connection:
        fill_every_table(connection)
    yield made
    made.close()


@pytest.fixture
def empty(full: Database, tmp_path: Path, postgres: PostgresServer) -> Iterator[Database]:
    """A new database of the other kind."""
    made = Database(postgres.new_database() if full.is_sqlite else f"sqlite:///{tmp_path / 'new.sqlite'}")
    yield made
    made.close()


@from_sqlite
def test_every_table_has_rows_here(full: Database) -> None:
    assert {name: rows for name, (rows, _) in tallies(full).items()} == {
        table: BATCH + 7 if table == LONG else 3 for table in metadata.tables
    }


def test_down_and_up_keeps_the_rows_of_every_table_that_stays(full: Database) -> None:
    before = tallies(full)
    with full.writing() as connection:
        command.downgrade(alembic_config(connection), "0001")
        staying = set(inspect(connection).get_table_names()) - {"alembic_version"}
    assert full.revision() == "0001"
    assert without_grown(tallies(full)) == without_grown({name: before[name] for name in staying})
    full.upgrade()
    after = tallies(full)
    assert full.revision() == REVISION
    assert {name for name, (rows, _) in after.items() if rows == 0} == set(before) - staying
    kept = without_grown({name: before[name] for name in staying})
    assert without_grown({name: after[name] for name in staying}) == kept
    with full.reading() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []


def test_moving_to_the_other_kind_and_back_changes_no_bit(full: Database, empty: Database, tmp_path: Path) -> None:
    before = tallies(full)
    told = []
    moved = copy(full, empty, lambda table, rows: told.append((table, rows)))
    assert {name: (tally.rows, tally.digest) for name, tally in moved.items()} == before == tallies(empty)
    assert (LONG, BATCH) in told
    assert (LONG, BATCH + 7) in told
    back = Database(f"sqlite:///{tmp_path / 'back.sqlite'}")
    copy(empty, back)
    assert tallies(back) == before
    back.close()


def test_rows_of_an_earlier_migration_arrive_and_are_brought_up_to_this_one(full: Database, empty: Database) -> None:
    with full.writing() as connection:
        command.downgrade(alembic_config(connection), "0001")
    before = tallies(full)
    with full.reading() as origin, empty.writing(any_schema=True) as goal:
        old = {table.name: table for table in tables_of(origin, "0001")}
        fill(
            goal,
            "0001",
            lambda table: read_rows(origin, old[table.name]),
            lambda table: tally_of(origin, old[table.name]),
        )
    after = tallies(empty)
    assert empty.revision() == REVISION
    assert without_grown({name: after[name] for name in before}) == without_grown(before)


@from_sqlite
def test_counting_goes_on_where_the_rows_that_were_brought_end(full: Database, empty: Database) -> None:
    copy(full, empty)
    entry = {"at": 1.0, "actor": "a", "action": "b", "subject": "c", "detail": {}}
    with empty.writing() as connection:
        assert connection.execute(insert(audit).values(**entry)).inserted_primary_key == (103,)


@from_sqlite
def test_a_target_with_rows_is_refused_and_left_alone(full: Database, empty: Database) -> None:
    empty.upgrade()
    with empty.writing() as connection:
        connection.execute(
            insert(boards).values(name="mine", folder="", fingerprint="", settings={}, generation=1, changed=1.0)
        )
    with pytest.raises(InvalidInput, match="is not empty"):
        copy(full, empty)
    with pytest.raises(InvalidInput, match="is not empty"):
        copy(full, full)
    with empty.reading() as connection:
        assert connection.execute(select(boards.c.name)).scalars().all() == ["mine"]


def test_what_postgresql_cannot_keep_is_named_and_the_move_can_be_begun_again(
    tmp_path: Path, postgres: PostgresServer
) -> None:
    source, target = Database(f"sqlite:///{tmp_path / 'full.sqlite'}"), Database(postgres.new_database())
    source.upgrade()
    with source.writing() as connection:
        fill_every_table(connection)
        connection.execute(update(audit).where(audit.c.id == 101).values(action="a\0b"))
    with pytest.raises(StoreFailed, match=r"table audit: one of rows 1 to 3 can't be kept there: .*NUL"):
        copy(source, target)
    with target.reading() as connection:
        assert inspect(connection).get_table_names() == []
    with source.writing() as connection:
        connection.execute(update(audit).where(audit.c.id == 101).values(action="ab"))
    assert copy(source, target)["audit"].rows == 3
    for database in (source, target):
        database.close()


@from_sqlite
def test_rows_that_arrive_otherwise_than_they_were_sent_undo_the_move(full: Database, empty: Database) -> None:
    def move_with_a_row_lost() -> None:
        with full.reading() as origin, empty.writing(any_schema=True) as goal:
            sent = {table.name: tally_of(origin, table) for table in tables_of(origin)}
            fill(goal, REVISION, lambda table: list(read_rows(origin, table))[: -1 if table is audit else None],
                 lambda table: sent[table.name])  # fmt: skip

    with pytest.raises(StoreFailed, match="table audit: 3 rows were sent and 2 arrived"):
        move_with_a_row_lost()
    with empty.reading() as connection:
        assert inspect(connection).get_table_names() == []
