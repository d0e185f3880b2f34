"""Sensitivity: conditions, ranges of ranks, and the generator that pulls."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_boards import Errors, Overlap, small_board

import billboards as bb
from billboards.domain import Judgments
from billboards.errors import NotEnoughData
from billboards.execution.local import InProcess
from billboards.service.scoring import score_board
from billboards.service.sensitivity import measure_sensitivity
from billboards.stats.correlation import pearson
from billboards.stats.grouped import correlation
from billboards.store.memory import MemoryCells


def test_every_statistic_and_every_generator_left_out_is_a_condition() -> None:
    board, store = small_board(instances=20), MemoryCells()
    score_board(board, store, [Overlap(), Errors()], InProcess())
    report = measure_sensitivity(board, store, draws=50)
    names = [condition.name for condition in report.conditions]
    assert names[0] == "pearson, pooled"
    assert {"kendall-b, by item", "spearman, system level", "acc_eq", "PDP", "SPA"} <= set(names)
    assert [c.name for c in report.conditions if c.kind == "without"] == ["g0", "g1", "g2", "g3"]
    ranges = {m.name: m for m in report.metrics}
    assert ranges["overlap"].best == min(c.ranks["overlap"] or 9 for c in report.conditions)
    assert ranges["overlap"].moves == (ranges["overlap"].best != ranges["overlap"].worst)


def test_conditions_hold_what_the_statistics_give() -> None:
    board, store = small_board(instances=20), MemoryCells()
    score_board(board, store, [Overlap()], InProcess())
    report = measure_sensitivity(board, store, draws=50)
    by_name = {condition.name: condition for condition in report.conditions}
    scores = np.stack([store.load(store.columns()[0], [row.version])[row.version] for row in board.rows[:4]])[None]
    people = (board.judgments.means("adequacy", (6, 20))[:4] - 1) * 25
    expected = correlation(scores, people, statistic="spearman", grouping="by-item").value[0]
    assert by_name["spearman, by item"].values["overlap"] == pytest.approx(expected, abs=1e-12)
    without = pearson(scores[:, 1:], people[1:])[0][0]
    assert by_name["g0"].values["overlap"] == pytest.approx(without, abs=1e-12)


def test_other_dimensions_are_conditions_and_the_same_one_is_not_repeated() -> None:
    board, store = small_board(instances=20), MemoryCells()
    score_board(board, store, [Overlap()], InProcess())
    assert not [c for c in measure_sensitivity(board, store, draws=10).conditions if c.kind == "dimension"]


def test_a_board_without_judgments_has_nothing_to_be_sensitive_about() -> None:
    board = replace(small_board(), judgments=Judgments(), ranks=None)
    with pytest.raises(NotEnoughData, match="needs judged outputs"):
        measure_sensitivity(board, MemoryCells())


@pytest.mark.data
def test_the_outlier_that_spoils_cnndm_is_named(shared_data: Path) -> None:
    """Footnote 10 of the paper: the zero-shot GPT-2."""
    board = bb.import_board("billboard", shared_data / "billboard", board="cnndm", judgments=shared_data / "THumB")
    report = measure_sensitivity(board, None, draws=10)
    assert report.outliers == ("GPT-2-zero-shot",)
    assert {c.name for c in report.conditions if c.kind == "dimension"} == {
        "crowd",
        "coherence",
        "consistency",
        "fluency",
        "relevance",
    }
