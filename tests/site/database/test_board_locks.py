"""Who waits for whom: writers of one board beside those of another, and nobody beside a change of the whole site."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from postgres import PostgresServer
from small_sites import Clock, Harbour, make_board
from sqlalchemy import text

from billboards.board.writing import write_board
from billboards.errors import Refused, StoreAway
from billboards.site.accounts.access import local_viewer
from billboards.site.database import engine
from billboards.site.database.engine import Database
from billboards.site.settings import DATABASE
from billboards.site.site import open_site
from billboards.site.submissions import sending


@pytest.fixture
def database(postgres: PostgresServer) -> Iterator[Database]:
    """PostgreSQL with this version's tables: SQLite has one writer at a time, whatever it writes."""
    made = Database(postgres.new_database())
    made.upgrade()
    yield made
    made.close()


#: What a writer says of itself, beside one that changes the board "ferry" for team 1, and whether it must wait.
WRITERS: list[tuple[dict[str, Any], bool]] = [
    ({"boards": ["tram"]}, False),
    ({"boards": ["tram"], "team": 2}, False),
    ({"boards": ["ferry"]}, True),
    ({"boards": ["tram", "ferry"]}, True),
    ({"boards": ["tram"], "team": 1}, True),
    ({}, True),
    ({"any_schema": True}, True),
]


def waits(database: Database, holding: dict[str, Any], asking: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether a writer that comes while another one is at it finds no room within 0.2 s."""
    with database.writing(**holding) as first:
        first.execute(text("select 1"))
        monkeypatch.setattr(engine, "PATIENCE", 0.2)
        try:
            with database.writing(**asking) as second:
                second.execute(text("select 1"))
        except StoreAway as error:
            assert "lock timeout" in str(error)  # noqa: PT017 - what is asked is whether it happens
            return True
        return False


@pytest.mark.parametrize(("asking", "must_wait"), WRITERS, ids=[str(asking) for asking, _ in WRITERS])
def test_a_writer_waits_for_writers_of_the_same_board_or_team_and_of_the_site(
    database: Database, asking: dict[str, Any], *, must_wait: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    holding = {"boards": ["ferry"], "team": 1}
    assert waits(database, holding, asking, monkeypatch) is must_wait
    monkeypatch.undo()
    assert waits(database, asking, holding, monkeypatch) is must_wait


def test_boards_named_in_another_order_are_locked_in_the_same() -> None:
    names = ["ferry", "tram", "käse"]
    parts = engine._lock_parts(names, 3)
    assert parts == engine._lock_parts(names[::-1], 3)
    assert len(parts) == 4
    assert all(-(2**31) <= part < 2**31 for part in parts)
    assert engine._lock_parts((), 3) == (), "a team alone is no reason to share the site"


@pytest.fixture
def harbour(tmp_path: Path, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Harbour]:
    """A site on PostgreSQL with two boards, which takes one submission of a team in a day."""
    board = make_board()
    for name in ("ferry", "tram"):
        write_board(replace(board, name=name), tmp_path / "data" / "boards" / name)
    (tmp_path / "data" / "site.toml").write_text("submissions_per_day = 1\n")
    monkeypatch.setenv(DATABASE, postgres.new_database())
    clock = Clock()
    site = open_site(tmp_path / "data", clock=clock)
    yield Harbour(site, clock, local_viewer(site), board)
    site.close()


def send(harbour: Harbour, board: str) -> Any:
    return sending.submit_generator(harbour.site, harbour.person("ann"), board, "tug", harbour.outputs(0))


def test_a_submission_is_taken_while_another_board_is_being_written(harbour: Harbour) -> None:
    harbour.person("ann")
    with harbour.site.database.writing(boards=["ferry"]) as connection:
        connection.execute(text("select 1"))
        assert send(harbour, "tram").submission.state == "received"


def test_a_team_can_not_pass_its_daily_number_by_sending_to_two_boards_at_once(harbour: Harbour) -> None:
    account = harbour.person("ann").account
    assert account is not None
    with ThreadPoolExecutor(2) as pool:
        with harbour.site.database.writing(boards=["elsewhere"], team=account.team_id) as connection:
            connection.execute(text("select 1"))
            sent = [pool.submit(send, harbour, board) for board in ("ferry", "tram")]
        refused = [error for future in sent if (error := future.exception()) is not None]
    assert [type(error) for error in refused] == [Refused]
    assert "has sent the 1 submissions that this site takes a day" in str(refused[0])
