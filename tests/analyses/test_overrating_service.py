"""Overrating on a board: who takes part, and whose text is kept out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_boards import Errors, Overlap, small_board

from billboards.analyses.overrating import human_generators, measure_overrating, references_without, rows_compared
from billboards.board import ImportedColumn, human_scores
from billboards.board.cells import MemoryCells
from billboards.board.matrix import board_scores
from billboards.board.missing_cells import score_board
from billboards.errors import InvalidInput, UnknownName
from billboards.metrics.executor import InProcess
from billboards.stats.overrating import overrating, overrating_crossed

METRICS = [Overlap(), Errors()]


def test_the_persons_text_is_kept_out_of_the_references() -> None:
    board = small_board()
    assert references_without(board, "B", None) == ("A",)
    assert references_without(board, "A", None) == ("B",)
    with pytest.raises(InvalidInput, match="own text"):
        references_without(board, "B", ("A", "B"))
    with pytest.raises(InvalidInput, match="g0 is not a human generator; judged ones on this board: A, B"):
        references_without(board, "g0", None)
    with pytest.raises(UnknownName):
        references_without(board, "nobody", None)


def test_a_person_under_another_name_than_the_reference_is_recognised_by_the_text() -> None:
    board = small_board()
    renamed = replace(board.rows[5].generator or pytest.fail("a generator"), name="Bea")
    board = replace(board, rows=(*board.rows[:5], replace(board.rows[5], name="Bea", generator=renamed)))
    assert references_without(board, "Bea", None) == ("A",)


def test_machines_and_the_one_person_take_part() -> None:
    board = small_board()
    assert [row.name for row in rows_compared(board, "B")] == ["g0", "g1", "g2", "g3", "B"]
    assert human_generators(board) == ("A", "B")


def test_the_coefficient_is_that_of_the_rows_scored_against_the_other_reference() -> None:
    board, store = small_board(instances=30), MemoryCells()
    score_board(board, store, METRICS, InProcess(), references=("A",), rows=rows_compared(board, "B"))
    report = measure_overrating(board, store, "B")
    assert report.references == ("A",)
    assert {m.name for m in report.metrics} == {"overlap", "errors"}
    assert {m.n for m in report.metrics} == {150}
    assert [m.beta0 for m in report.metrics] == sorted(m.beta0 for m in report.metrics)
    assert "ensemble" in report.missing or "ensemble" in {m.name for m in report.metrics}


def test_imported_scores_that_saw_the_persons_text_are_not_used_and_said_so() -> None:
    board = small_board(instances=8)
    values = {f"g{k}": np.arange(8.0) + k for k in range(4)}
    column = ImportedColumn(
        name="COMET", source_name="comet", signature="imported:1", values=values, references=("A", "B")
    )
    free = ImportedColumn(
        name="QE",
        source_name="qe",
        signature="imported:2",
        values=values,
        references=(),
        needs_references=False,
        needs_input=True,
    )
    report = measure_overrating(replace(board, imported=(column, free)), MemoryCells(), "B")
    assert report.missing["COMET"] == "its released scores used references A, B; scores with A alone are needed"
    assert report.missing["QE"] == "has no scores of B"


def test_a_person_without_judgments_is_refused() -> None:
    board = small_board()
    judged = board.judgments.row != 5
    judgments = replace(
        board.judgments,
        **{
            name: getattr(board.judgments, name)[judged]
            for name in ("instance", "row", "annotator", "campaign", "values")
        },
    )
    with pytest.raises(InvalidInput, match="B has no judgments under overall"):
        measure_overrating(replace(board, judgments=judgments), MemoryCells(), "B")


def test_service_and_statistic_agree() -> None:
    board, store = small_board(instances=20), MemoryCells()
    score_board(board, store, [Overlap()], InProcess(), references=("A",), rows=rows_compared(board, "B"))
    report = measure_overrating(board, store, "B")
    found = next(m for m in report.metrics if m.name == "overlap")
    reference = [set(i.references[0].text.split()) for i in board.instances]
    rows = [board.rows[k] for k in (0, 1, 2, 3, 5)]
    scores = np.array(
        [[len(set((t or "").split()) & r) for t, r in zip(w.texts, reference, strict=True)] for w in rows], float
    )
    people = (board.judgments.means("adequacy", (6, 20)) - 1) * 25
    expected = overrating(scores, people[[0, 1, 2, 3, 5]], np.array([1, 1, 1, 1, 0], bool))
    assert found.beta0 == pytest.approx(expected.beta0, abs=1e-9)


def test_with_generators_as_a_sample_there_is_a_p_and_shares_of_variance() -> None:
    board, store = small_board(instances=30), MemoryCells()
    score_board(board, store, METRICS, InProcess(), references=("A",), rows=rows_compared(board, "B"))
    plain, crossed = (measure_overrating(board, store, "B", crossed=crossed) for crossed in (False, True))
    assert (plain.crossed, crossed.crossed) == (False, True)
    assert all(one.p is None and not one.components for one in plain.metrics)
    for one in crossed.metrics:
        assert one.p is not None
        assert 0 < one.p <= 1
        assert sum(one.components.values()) == pytest.approx(1)
    names = [row.name for row in rows_compared(board, "B")]
    rows = [board.row_position[name] for name in names]
    people = human_scores(board.judgments, board.aggregate(), board.dimensions, (6, 30))[rows]
    scores = board_scores(board, store, references=("A",)).of("overlap")[rows]
    expected = overrating_crossed(scores, people, np.array([name != "B" for name in names]))
    found = next(one for one in crossed.metrics if one.name == "overlap")
    assert (found.beta0, found.p, found.interval90) == (expected.beta0, expected.p, expected.interval90)
