"""Rankings are kept in few bytes, and every document comes back byte for byte."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from alembic import command
from sqlalchemy import Connection, insert, select, update

from billboards.errors import StoreFailed
from billboards.site.boards import packed_documents, snapshots
from billboards.site.boards.packed_documents import change_texts, pack, read_text, replace_text, unpack
from billboards.site.database.engine import Database
from billboards.site.database.migrations import alembic_config, migrate
from billboards.site.database.schema import REVISION, boards, rankings


@pytest.fixture
def database(tmp_path: Any) -> Any:
    opened = Database(f"sqlite:///{tmp_path / 'site.sqlite'}")
    opened.upgrade()
    values = {"folder": "f", "fingerprint": "", "settings": {}, "generation": 1, "changed": 0.0}
    with opened.writing() as connection:
        connection.execute(insert(boards).values(name="b", **values))
    yield opened
    opened.close()


def document(size: int, seed: int = 0) -> dict[str, Any]:
    """A ranking of so many generators, each with a number of its own."""
    random = Random(seed)
    generators = [
        {"name": f"g{k}", "rank": k + 1, "scores": {"m": random.random()}, "cluster": None} for k in range(size)
    ]
    ranking = {"ranked_by": "m", "metrics": [], "ensemble": None, "generators": generators}
    return {"schema": 1, "ranking": ranking, "rows": {}, "columns": {}}


def keep(connection: Connection, size: int, seed: int = 0) -> snapshots.Snapshot:
    said = document(size, seed)
    return snapshots.keep(
        connection, "b", "public", said, basis=f"{size}", cause={}, moves=[], ensemble=None, now=float(size)
    )


def stored(connection: Connection) -> list[tuple[int, int | None, int]]:
    rows = connection.execute(select(rankings.c.number, rankings.c.base, rankings.c.packed).order_by("number"))
    return [(number, base, len(packed or b"")) for number, base, packed in rows]


def test_a_text_comes_back_byte_for_byte_alone_and_beside_its_base() -> None:
    base, text = "ä \ud800 " * 500 + "x", "ä \ud800 " * 500 + "y"
    assert unpack(pack(text)) == text
    assert unpack(pack(text, base), base) == text
    assert len(pack(text, base)) < len(pack(text))


def test_rankings_after_the_first_are_differences_to_it_and_read_as_before(database: Database) -> None:
    with database.writing() as connection:
        kept = [keep(connection, size) for size in range(300, 306)]
        sizes = stored(connection)
        assert [base for _, base, _ in sizes] == [None, 1, 1, 1, 1, 1]
        assert all(5 * size < sizes[0][2] for _, _, size in sizes[1:])
        assert [snapshots.document(connection, each) for each in kept] == [document(size) for size in range(300, 306)]


def test_a_document_that_differs_much_or_comes_late_is_kept_whole(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed_documents, "MOST_DIFFERENCES", 2)
    with database.writing() as connection:
        for size in (300, 301, 302, 303):
            keep(connection, size)
        keep(connection, 303, seed=1)
        assert [base for _, base, _ in stored(connection)] == [None, 1, 1, None, None]


def test_a_ranking_that_others_rest_on_is_thinned_out_and_the_next_one_takes_its_place(database: Database) -> None:
    with database.writing() as connection:
        kept = [keep(connection, size) for size in range(300, 304)]
        replace_text(connection, "b", "public", 1, "")
        assert [base for _, base, _ in stored(connection)] == [None, None, 2, 2]
        assert read_text(connection, "b", "public", 1) == ""
        assert [snapshots.document(connection, each) for each in kept[1:]] == [document(k) for k in (301, 302, 303)]


def test_texts_are_changed_in_whole_documents_and_in_differences(database: Database) -> None:
    with database.writing() as connection:
        kept = [keep(connection, size) for size in (300, 301)]
        changed = change_texts(connection, "b", lambda text: text.replace('"g300"', '"nobody"'))
        assert changed == [("public", 2)]
        changed = change_texts(connection, "b", lambda text: text.replace('"g7"', '"someone"'))
        assert changed == [("public", 1), ("public", 2)]
        for each in kept:
            assert snapshots.document(connection, each)["ranking"]["generators"][7]["name"] == "someone"
        assert [base for _, base, _ in stored(connection)] == [None, 1]


def test_a_damaged_document_is_said_to_be_damaged(database: Database) -> None:
    with database.writing() as connection:
        kept = keep(connection, 300)
        connection.execute(update(rankings).values(packed=b"nothing"))
        with pytest.raises(StoreFailed, match=r"ranking 1 of b: .*damaged.*restore a backup"):
            snapshots.document_text(connection, kept)


def test_plain_documents_of_older_databases_are_read_and_may_be_a_base(database: Database) -> None:
    with database.writing() as connection:
        kept = [keep(connection, 300)]
        text = json.dumps(document(300))
        connection.execute(update(rankings).values(document=text, packed=None))
        assert snapshots.document_text(connection, kept[0]) == text
        kept.append(keep(connection, 301))
        assert stored(connection)[1][1] == 1
        assert snapshots.document(connection, kept[1]) == document(301)


def test_going_back_to_an_older_database_leaves_plain_documents(database: Database) -> None:
    with database.writing() as connection:
        texts = [snapshots.document_text(connection, keep(connection, size)) for size in (300, 301)]
    with database.writing() as connection:
        command.downgrade(alembic_config(connection), "0006")
        rows = connection.exec_driver_sql("select document from rankings order by number").scalars().all()
        assert list(rows) == texts
        migrate(connection, REVISION)
        assert [read_text(connection, "b", "public", number) for number in (1, 2)] == texts
