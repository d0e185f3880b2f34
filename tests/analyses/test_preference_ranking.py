"""A board whose people compared outputs is ranked by what they said, by default and with its own words."""

from __future__ import annotations

from pathlib import Path

import pytest
from public_sets import make_wmt19_darr

import billboards as bb
from billboards.board import Board, Slice
from billboards.board.writing import write_board
from billboards.errors import InvalidInput, NotEnoughData


@pytest.fixture
def compared(tmp_path: Path) -> Board:
    board = make_wmt19_darr(tmp_path / "in").load("wmt19-darr").board
    found = bb.open(write_board(board, tmp_path / "board"))
    bb.score(found, ["BLEU", "length"])
    return found


def test_metrics_are_ranked_by_pairs(compared: Board) -> None:
    ranking = bb.rank(compared).value
    assert (ranking.statistic, ranking.grouping, ranking.aggregate) == ("kendall", "preferences", "better")
    standings = {standing.name: standing for standing in ranking.metrics}
    assert standings["length"].correlation == -1.0
    assert standings["BLEU"].n == 4
    assert ranking.ensemble is None
    assert "people compared outputs on better and gave no values to fit" in ranking.notes[0]
    assert {line.name: line.n for line in ranking.lines} == {"random": 4, "length": 4}


def test_generators_show_the_comparisons_they_won(compared: Board) -> None:
    people = {one.name: (one.human, one.judged) for one in bb.rank(compared).value.generators}
    assert people == {"NEU.1": (100.0, 2), "UEDIN.2": (0.0, 2), "online.0": (0.0, 2)}


def test_tables_say_what_the_numbers_are(compared: Board) -> None:
    said = str(bb.rank(compared))
    assert "metrics by WMT's Kendall correlation with people (better)" in said
    assert "a metric that ties a pair has it wrong" in " ".join(said.split())
    assert "comparisons that a generator's outputs won, in percent" in " ".join(said.split())


def test_drawing_generators_again_makes_no_sense_of_pairs(compared: Board) -> None:
    assert bb.rank(compared, resampled="documents").value.resampled == "documents"
    with pytest.raises(InvalidInput, match="intervals come from drawing instances or documents again, not generators"):
        bb.rank(compared, resampled="generators")


def test_a_part_of_the_board_has_its_own_pairs(tmp_path: Path, compared: Board) -> None:
    with pytest.raises(InvalidInput, match="no part of the board named"):
        bb.rank(compared, part=Slice(domain="news"))


def test_what_needs_values_says_that_there_are_none(compared: Board) -> None:
    with pytest.raises(NotEnoughData, match="people compared outputs on better and gave no values to fit"):
        bb.ensemble(compared)
