"""The site's database: migrations that meet the tables, transactions that hold, errors that say what to do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, select, text

from billboards.errors import StoreFailed
from billboards.site.accounts.records import Account
from billboards.site.boards import registry
from billboards.site.database import migrations
from billboards.site.database.engine import Database
from billboards.site.database.migrations import alembic_config
from billboards.site.database.schema import REVISION, boards, metadata

COUNTER = """
import sys
from sqlalchemy import select, update
from billboards.site.database.engine import Database
from billboards.site.database.schema import boards
database = Database(sys.argv[1])
for _ in range(50):
    with database.writing() as connection:
        seen = connection.execute(select(boards.c.generation)).scalar()
        connection.execute(update(boards).values(generation=seen + 1))
"""


def test_a_fresh_upgrade_equals_the_tables(database: Database) -> None:
    with database.reading() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []


def test_the_revision_the_program_asks_for_is_the_last_one() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    assert ScriptDirectory.from_config(config).get_heads() == [REVISION]


def test_down_and_up_again_with_data_in_it(database: Database, account: Account) -> None:
    assert account.name == "ann"
    with database.writing() as connection:
        command.downgrade(alembic_config(connection), "base")
        assert inspect(connection).get_table_names() == ["alembic_version"]
    assert database.revision() is None
    database.upgrade()
    with database.writing() as connection:
        registry.add_board(connection, "ferry", "somewhere", "f", now=1.0)
        assert [one.name for one in registry.list_boards(connection)] == ["ferry"]


def test_a_database_of_a_later_version_is_refused(database: Database) -> None:
    with database.writing() as connection:
        connection.execute(text("update alembic_version set version_num = '9999'"))
    with pytest.raises(StoreFailed, match="update billboards"):
        database.upgrade()


def test_opening_again_changes_nothing(database: Database, tmp_path: Path) -> None:
    again = Database(database.url)
    again.upgrade()
    with again.reading() as connection:
        assert registry.board(connection, "ferry").generation == 1
    again.close()


def test_what_raises_inside_a_transaction_leaves_nothing(database: Database) -> None:
    def write_and_fail() -> None:
        with database.writing() as connection:
            registry.add_board(connection, "other", "x", "y", now=2.0)
            raise KeyError

    with pytest.raises(KeyError):
        write_and_fail()
    with database.reading() as connection:
        assert connection.execute(select(boards.c.name)).scalars().all() == ["ferry"]


def test_writers_of_several_processes_never_overwrite_what_they_did_not_see(database: Database) -> None:
    writers = [subprocess.Popen([sys.executable, "-c", COUNTER, database.url]) for _ in range(3)]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    with database.reading() as connection:
        assert registry.board(connection, "ferry").generation == 1 + 3 * 50


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "site.sqlite").write_bytes(b"no database at all, but long enough to look like one" * 100)
    with pytest.raises(StoreFailed, match=r"site\.sqlite: .*not damaged"):
        Database(f"sqlite:///{tmp_path / 'site.sqlite'}").upgrade()
