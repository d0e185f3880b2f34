"""The site's cells: counted without being read, loaded a column at a time, narrowed to what is finished."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from asked_statements import statements
from sqlalchemy import update

from billboards.board import Column
from billboards.board.cells import ColumnKey
from billboards.errors import StoreFailed
from billboards.site.database.engine import Database
from billboards.site.database.schema import cell_counts
from billboards.site.work.cells import SqlCells, failed_cells, is_stored, stored_cells, write_failure

BLEU = ColumnKey(Column(name="BLEU", signature="BLEU|v1", references=("A",)), "c1")
NEW = ColumnKey(Column(name="new", signature="new|v1", references=("A",)), "c1")
BLEU_COLUMN = ("BLEU|v1", "c1")
#: Two cells that are there, and others that are not: of another row, context and metric.
ASKED = {
    BLEU_COLUMN: frozenset({"v1", "v2", "gone"}),
    ("BLEU|v1", "c2"): frozenset({"v1"}),
    ("other|v1", "c1"): frozenset({"v1"}),
}


def filled(database: Database) -> SqlCells:
    cells = SqlCells(database, "ferry")
    for key in (BLEU, NEW):
        for k in range(20):
            cells.save(key, f"v{k}", {"": np.full(2000, float(k)), "other": np.zeros(2000)}, seconds=2.0)
    return cells


def plans(database: Database, asked: list[tuple[str, Any]]) -> str:
    with database.reading() as connection:
        steps = [
            str(row)
            for statement, parameters in asked
            if statement.startswith("SELECT")
            for row in connection.exec_driver_sql(f"explain query plan {statement}", parameters)
        ]
    return "\n".join(steps)


def test_looking_what_is_there_reads_an_index_and_no_scores(sqlite_database: Database) -> None:
    cells = filled(sqlite_database)
    with statements(sqlite_database) as asked:
        assert len(cells.present(BLEU)) == 20
        with sqlite_database.reading() as connection:
            assert stored_cells(connection, "ferry", ASKED) == {BLEU_COLUMN: {"v1", "v2"}}
            assert is_stored(connection, "ferry", ("BLEU|v1", "c1", "v3"))
    steps = [step for step in plans(sqlite_database, asked).splitlines() if "cells" in step]
    assert steps
    assert all("COVERING INDEX" in step for step in steps if "score_columns" not in step), steps


@pytest.mark.parametrize("others", [0, 200])
def test_of_the_cells_asked_for_those_there_are_named_however_many_are_asked_for(
    database: Database, others: int
) -> None:
    filled(database)
    more = frozenset(f"w{k}" for k in range(others))
    with database.reading() as connection:
        found = stored_cells(connection, "ferry", {column: rows | more for column, rows in ASKED.items()})
        assert found.pop(BLEU_COLUMN) == {"v1", "v2"}
        assert not any(found.values())
        assert stored_cells(connection, "elsewhere", ASKED) == {}


def test_a_column_is_loaded_with_one_query(database: Database) -> None:
    cells = filled(database)
    with statements(database) as asked:
        loaded = cells.load(BLEU, [f"v{k}" for k in range(20)])
    assert len([statement for statement, _ in asked if statement.startswith("SELECT")]) == 1
    assert {version: scores[0] for version, scores in loaded.items()} == {f"v{k}": float(k) for k in range(20)}


def test_a_column_that_is_not_finished_is_not_seen(database: Database) -> None:
    narrow = filled(database).only(["BLEU|v1"])
    assert narrow.columns() == (BLEU,)
    assert narrow.present(NEW) == frozenset()
    assert narrow.load(NEW, ["v1"]) == {}


def test_boards_have_cells_of_their_own(database: Database) -> None:
    filled(database)
    assert SqlCells(database, "elsewhere").columns() == ()


def test_a_failure_is_counted_and_forgotten_when_the_cell_is_there(database: Database) -> None:
    cell, asked = ("BLEU|v1", "c1", "v"), {("BLEU|v1", "c1"): {"v"}}
    with database.writing() as connection:
        said = {"reason": "no", "platform": True, "now": 5.0}
        assert write_failure(connection, "ferry", cell, **said) == 1  # type: ignore[arg-type]
        assert write_failure(connection, "ferry", cell, **said, times=3) == 4  # type: ignore[arg-type]
        assert failed_cells(connection, "ferry", asked)[cell].attempts == 4
        assert failed_cells(connection, "ferry", {("BLEU|v1", "c2"): {"v"}, ("BLEU|v1", "c1"): {"w"}}) == {}
    SqlCells(database, "ferry").save(BLEU, "v", {"": np.zeros(1)}, seconds=0)
    with database.reading() as connection:
        assert failed_cells(connection, "ferry", asked) == {}


def test_the_time_of_a_cell_is_foretold_by_those_there(database: Database) -> None:
    assert filled(database).seconds_per_cell(["BLEU|v1", "unknown"]) == {"BLEU|v1": 2.0}


def test_a_cell_that_should_be_counted_is_stored_once_its_counts_are(database: Database) -> None:
    cells = filled(database)
    counts = np.arange(6000).reshape(2000, 3)
    cells.save(BLEU, "v1", {"": np.zeros(2000)}, seconds=1.0, counts=counts)
    cells.save(BLEU, "v5", {"": np.zeros(2000)}, seconds=1.0, counts=counts / 7)
    with database.reading() as connection:
        assert stored_cells(connection, "ferry", ASKED, counted={BLEU_COLUMN}) == {BLEU_COLUMN: {"v1"}}
        assert is_stored(connection, "ferry", ("BLEU|v1", "c1", "v1"), counted=True)
        assert not is_stored(connection, "ferry", ("BLEU|v1", "c1", "v2"), counted=True)
    loaded = cells.load_counts(BLEU, ["v1", "v2", "v5"])
    assert cells.counted(BLEU) == loaded.keys() == {"v1", "v5"}
    np.testing.assert_array_equal(loaded["v1"], counts)
    np.testing.assert_array_equal(loaded["v5"], counts / 7)
    assert cells.only(["new|v1"]).load_counts(BLEU, ["v1"]) == {}
    assert cells.only(["new|v1"]).counted(BLEU) == frozenset()


def test_damaged_counts_are_named(database: Database) -> None:
    cells = filled(database)
    cells.save(BLEU, "v1", {"": np.zeros(1)}, seconds=1.0, counts=np.ones((1, 2)))
    with database.writing() as connection:
        connection.execute(update(cell_counts).values(packed=b"nonsense"))
    with pytest.raises(StoreFailed, match=r"cell_counts.*damaged"):
        cells.load_counts(BLEU, ["v1"])
