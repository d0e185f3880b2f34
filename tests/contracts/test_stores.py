"""The contract of every store of cells."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from billboards.board import Column
from billboards.board.cells import CellStore, ColumnKey, MemoryCells, PartedCells, SqliteCells, part_key
from billboards.errors import UnknownName
from billboards.site.boards import registry
from billboards.site.database.engine import Database
from billboards.site.work.cells import SqlCells


def site_cells(folder: Path) -> SqlCells:
    database = Database(f"sqlite:///{folder / 'site.sqlite'}")
    database.upgrade()
    with database.writing() as connection:
        registry.add_board(connection, "small", str(folder), "", now=0.0)
    return SqlCells(database, "small")


STORES: dict[str, Callable[[Path], CellStore]] = {
    "sqlite": SqliteCells,
    "memory": lambda _: MemoryCells(),
    "site": site_cells,
}

BLEU = ColumnKey(Column(name="BLEU", signature="BLEU|v1", references=("A", "B")), "c1")
OTHER_REFERENCES = ColumnKey(Column(name="BLEU", signature="BLEU|v1", references=("A",)), "c2")
OTHER_SIGNATURE = ColumnKey(Column(name="BLEU", signature="BLEU|v2", references=("A", "B")), "c1")


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> CellStore:
    return STORES[request.param](tmp_path)


def test_an_empty_store_has_nothing(store: CellStore) -> None:
    assert store.columns() == ()
    assert store.present(BLEU) == frozenset()
    assert store.load(BLEU, ["v"]) == {}


def test_a_cell_comes_back_bit_for_bit_with_its_missing_values(store: CellStore) -> None:
    scores = np.array([0.1, np.nan, -1e-300, 1 / 3])
    store.save(BLEU, "v", {"": scores}, seconds=1.5)
    assert store.columns() == (BLEU,)
    assert store.present(BLEU) == {"v"}
    np.testing.assert_array_equal(store.load(BLEU, ["v", "unknown"])["v"], scores)


def test_cells_of_other_references_and_signatures_stay_apart(store: CellStore) -> None:
    store.save(BLEU, "v", {"": np.array([1.0])}, seconds=0)
    store.save(OTHER_REFERENCES, "v", {"": np.array([2.0])}, seconds=0)
    store.save(OTHER_SIGNATURE, "v", {"": np.array([3.0])}, seconds=0)
    loaded = [store.load(key, ["v"])["v"][0] for key in (BLEU, OTHER_REFERENCES, OTHER_SIGNATURE)]
    assert loaded == [1.0, 2.0, 3.0]
    assert store.columns() == (BLEU, OTHER_REFERENCES, OTHER_SIGNATURE)


def test_writing_a_cell_twice_leaves_one(store: CellStore) -> None:
    for value in (1.0, 1.0):
        store.save(BLEU, "v", {"": np.array([value])}, seconds=0)
    assert store.present(BLEU) == {"v"}


def test_the_first_part_is_primary(store: CellStore) -> None:
    store.save(BLEU, "v", {"f": np.array([0.5]), "precision": np.array([0.9])}, seconds=0)
    assert store.load(BLEU, ["v"])["v"][0] == 0.5


COUNTS = {
    "small": np.array([[3, 250], [0, 1], [7, 9]]),
    "large": np.array([[70_000, 1], [2, 3], [4, 5]]),
    "below zero": np.array([[-1, 2], [3, 4], [5, 6]]),
    "broken": np.array([[1, 1 / 3], [2, 2.5], [0, 0.1]]),
    "no rows": np.empty((0, 2)),
    "one column": np.array([[5], [6], [7]]),
    "five columns": np.arange(15).reshape(3, 5) * 300,
    "steps of three": np.array([[9, 20, 5, 8, 19, 3, 7, 18, 1, 6]] * 3),
}


@pytest.mark.parametrize("kind", COUNTS)
def test_counts_come_back_number_for_number(store: CellStore, kind: str) -> None:
    store.save(BLEU, "v", {"": np.array([0.1, np.nan, 0.3])}, seconds=0, counts=COUNTS[kind])
    assert store.counted(BLEU) == {"v"}
    loaded = store.load_counts(BLEU, ["v", "unknown"])
    assert list(loaded) == ["v"]
    np.testing.assert_array_equal(loaded["v"], COUNTS[kind])


def test_a_cell_may_have_no_counts_and_gets_some_when_it_is_written_again(store: CellStore) -> None:
    store.save(BLEU, "v", {"": np.array([0.5])}, seconds=0)
    store.save(BLEU, "w", {"": np.array([0.5])}, seconds=0, counts=np.array([[1, 2]]))
    assert store.present(BLEU) == {"v", "w"}
    assert store.counted(BLEU) == {"w"}
    assert store.load_counts(BLEU, ["v"]) == {}
    store.save(BLEU, "v", {"": np.array([0.5])}, seconds=0, counts=np.array([[3, 4]]))
    assert store.counted(BLEU) == {"v", "w"}
    assert store.load_counts(OTHER_REFERENCES, ["v"]) == {}


def test_counts_of_a_cell_that_is_written_without_any_are_gone(store: CellStore) -> None:
    store.save(BLEU, "v", {"": np.array([0.5])}, seconds=0, counts=np.array([[1, 2]]))
    store.save(BLEU, "v", {"": np.array([0.5])}, seconds=0)
    assert store.counted(BLEU) == frozenset()


def test_a_part_is_a_column_with_the_cells_of_its_metric(store: CellStore) -> None:
    store.save(BLEU, "v", {"f": np.array([0.5]), "precision": np.array([0.9])}, seconds=0)
    store.save(BLEU, "w", {"f": np.array([0.1])}, seconds=0)
    precision = part_key(BLEU, "precision")
    assert precision.column.name == "BLEU[precision]"
    assert store.parts(BLEU) == store.parts(precision) == ("f", "precision")
    assert store.present(precision) == {"v", "w"}
    assert {version: scores[0] for version, scores in store.load(precision, ["v", "w"]).items()} == {"v": 0.9}
    assert PartedCells(store, ["BLEU[precision]", "TER[x]"]).columns() == (BLEU, precision)
    with pytest.raises(UnknownName, match="no part of BLEU named 'x'; known: f, precision"):
        PartedCells(store, ["BLEU[x]"]).columns()
