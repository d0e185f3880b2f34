"""Sensitivity: conditions, ranges of ranks, and the generator that pulls."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_boards import Errors, Overlap, small_board

import billboards as bb
from billboards.analyses._view import judged_matrix
from billboards.analyses.sensitivity import measure_sensitivity, values_table
from billboards.board import Judgments
from billboards.board.cells import MemoryCells
from billboards.board.missing_cells import score_board
from billboards.errors import NotEnoughData
from billboards.metrics.executor import InProcess
from billboards.stats.correlation import pearson
from billboards.stats.grouped import correlation
from billboards.stats.pairwise import held_out_acc_eq
from billboards.stats.preferences import area_under_curve, relative_ranking


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


def test_values_stand_with_their_p_and_the_pairs_they_rest_on() -> None:
    board, store = small_board(instances=20), MemoryCells()
    score_board(board, store, [Overlap(), Errors()], InProcess())
    report = measure_sensitivity(board, store, draws=50)
    by_name = {condition.name: condition for condition in report.conditions}
    view = judged_matrix(board, store)
    scores, human = view.scores.values[:, view.judged], view.human[view.judged]
    expected = correlation(scores, human, statistic="kendall-c", grouping="by-item")
    found = by_name["kendall-c, by item"]
    assert [found.p[name] for name in view.scores.names] == pytest.approx(expected.p.tolist())
    assert [found.n[name] for name in view.scores.names] == expected.n.tolist()
    assert by_name["pearson, pooled"].n == {"overlap": 80, "errors": 80}
    assert by_name["pearson, system level"].n == {"overlap": 4, "errors": 4}
    assert by_name["SPA"].n == {"overlap": 6, "errors": 6}
    assert by_name["acc_eq"].n == {"overlap": 120, "errors": 120}
    assert by_name["pearson, by system"].p == {"overlap": None, "errors": None}
    preferred = relative_ranking(scores, human)
    assert list(by_name["WMT's Kendall"].values.values()) == pytest.approx(preferred.value.tolist())
    held_out = held_out_acc_eq(scores, human)
    assert list(by_name["acc_eq, held out"].values.values()) == pytest.approx(held_out.accuracy.tolist())


def test_a_board_of_two_labels_has_the_area_under_the_curve() -> None:
    board, store = small_board(instances=20), MemoryCells()
    score_board(board, store, [Overlap()], InProcess())
    labelled = replace(board.judgments, values=np.where(board.judgments.values > 3, 5.0, 1.0))
    report = measure_sensitivity(replace(board, judgments=labelled), store, draws=10)
    by_name = {condition.name: condition for condition in report.conditions}
    view = judged_matrix(replace(board, judgments=labelled), store)
    expected = area_under_curve(view.scores.values, view.judged_human)
    assert by_name["AUC"].values["overlap"] == pytest.approx(expected.value[0])
    assert by_name["AUC"].n["overlap"] == 80
    whole = measure_sensitivity(board, store, draws=10)
    assert "AUC" not in {condition.name for condition in whole.conditions}


def test_outputs_without_a_generator_have_no_statistics_of_systems() -> None:
    board, store = small_board(instances=20), MemoryCells()
    loose = tuple(
        replace(row, name=f"#{k}", generator=None, ids=tuple(f"{k}-{i}" for i in range(20)))
        for k, row in enumerate(board.rows[:4], 1)
    )
    board = replace(board, rows=(*loose, *board.rows[4:]))
    score_board(board, store, [Overlap()], InProcess())
    names = {condition.name for condition in measure_sensitivity(board, store, draws=10).conditions}
    assert {"pearson, pooled", "pearson, by item", "acc_eq"} <= names
    assert not names & {"SPA", "pearson, system level", "pearson, by system", "pairwise system accuracy"}


def test_every_value_can_be_shown_with_its_p_and_n() -> None:
    board, store = small_board(instances=20), MemoryCells()
    score_board(board, store, [Overlap()], InProcess())
    table = values_table(measure_sensitivity(board, store, draws=10))
    row = next(row for row in table.rows if row["statistic"] == "spearman, pooled")
    assert row["n"] == 80
    assert isinstance(row["p"], float)


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
