"""Scores that were read are not read again, as long as there is room for them."""

from __future__ import annotations

import numpy as np

from billboards.site.work.cells import Cells, KeptScores

COLUMN = ("chrF", "context")


class Reading:
    """A store of one score a row that notes what it is asked for."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def __call__(self, versions: set[str]) -> Cells:
        self.asked.append(sorted(versions))
        return {version: np.array([float(version)]) for version in versions if version != "9"}


def test_one_more_row_is_all_that_is_read() -> None:
    kept, read = KeptScores(), Reading()
    assert kept.load(COLUMN, {"1", "2"}, read).keys() == {"1", "2"}
    found = kept.load(COLUMN, {"1", "2", "3"}, read)
    assert {version: scores.tolist() for version, scores in found.items()} == {"1": [1.0], "2": [2.0], "3": [3.0]}
    assert read.asked == [["1", "2"], ["3"]]


def test_a_cell_that_was_not_there_is_asked_for_again_and_a_row_that_left_is_forgotten() -> None:
    kept, read = KeptScores(), Reading()
    assert kept.load(COLUMN, {"1", "9"}, read).keys() == {"1"}
    assert kept.load(COLUMN, {"9"}, read) == {}
    kept.load(COLUMN, {"1"}, read)
    assert read.asked == [["1", "9"], ["9"], ["1"]]


def test_what_does_not_fit_is_read_each_time() -> None:
    kept, read = KeptScores(most=16), Reading()
    for _ in range(2):
        kept.load(COLUMN, {"1", "2"}, read)
        kept.load(("BLEU", "context"), {"1"}, read)
    assert read.asked == [["1", "2"], ["1"], ["1"]]


def test_another_column_of_the_same_rows_is_another() -> None:
    kept, read = KeptScores(), Reading()
    kept.load(COLUMN, {"1"}, read)
    kept.load(("chrF", "elsewhere"), {"1"}, read)
    assert read.asked == [["1"], ["1"]]
