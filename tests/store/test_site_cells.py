"""The site's cells: counted without being read, loaded a column at a time, narrowed to what is finished."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sqlalchemy import event

from billboards.domain import Column
from billboards.store.base import ColumnKey
from billboards.store.database import Database
from billboards.store.sql_cells import SqlCells, failed_cells, is_present, write_failure

BLEU = ColumnKey(Column("BLEU", "BLEU|v1", ("A",)), "c1")
NEW = ColumnKey(Column("new", "new|v1", ("A",)), "c1")


@contextmanager
def statements(database: Database) -> Iterator[list[tuple[str, Any]]]:
    """What is asked of the database meanwhile."""
    asked: list[tuple[str, Any]] = []

    def note(_: Any, __: Any, statement: str, parameters: Any, *rest: Any) -> None:
        asked.append((statement, parameters))

    event.listen(database.engine, "before_cursor_execute", note)
    yield asked
    event.remove(database.engine, "before_cursor_execute", note)


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
        assert len(cells.all_present()) == 40
        assert len(cells.present(BLEU)) == 20
        with sqlite_database.reading() as connection:
            assert is_present(connection, "ferry", ("BLEU|v1", "c1", "v3"))
    steps = [step for step in plans(sqlite_database, asked).splitlines() if "cells" in step]
    assert steps
    assert all("COVERING INDEX" in step for step in steps if "score_columns" not in step), steps


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
    cell = ("BLEU|v1", "c1", "v")
    with database.writing() as connection:
        said = {"reason": "no", "platform": True, "now": 5.0}
        assert write_failure(connection, "ferry", cell, **said) == 1  # type: ignore[arg-type]
        assert write_failure(connection, "ferry", cell, **said, times=3) == 4  # type: ignore[arg-type]
        assert failed_cells(connection, "ferry")[cell].attempts == 4
    SqlCells(database, "ferry").save(BLEU, "v", {"": np.zeros(1)}, seconds=0)
    with database.reading() as connection:
        assert failed_cells(connection, "ferry") == {}


def test_the_time_of_a_cell_is_foretold_by_those_there(database: Database) -> None:
    assert filled(database).seconds_per_cell(["BLEU|v1", "unknown"]) == {"BLEU|v1": 2.0}
