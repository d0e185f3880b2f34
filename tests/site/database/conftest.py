"""A site's database with a board and an account in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from billboards.site.accounts import records as accounts
from billboards.site.accounts.records import Account
from billboards.site.boards import registry
from billboards.site.database.engine import Database


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """Every promise of the store is kept on both databases."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path / 'site.sqlite'}"
    else:
        url = request.getfixturevalue("postgres").new_database()
    yield from _filled(url)


@pytest.fixture
def sqlite_database(tmp_path: Path) -> Iterator[Database]:
    """For what only one of the two can be asked."""
    yield from _filled(f"sqlite:///{tmp_path / 'site.sqlite'}")


def _filled(url: str) -> Iterator[Database]:
    made = Database(url)
    made.upgrade()
    with made.writing() as connection:
        registry.add_board(connection, "ferry", "somewhere", "f", now=1.0)
    yield made
    made.close()


@pytest.fixture
def account(database: Database) -> Account:
    with database.writing() as connection:
        return accounts.add_account(connection, "ann", "submitter", actor="test", now=1.0, email="ann@example.org")
