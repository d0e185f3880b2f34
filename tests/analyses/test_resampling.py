"""Intervals over what is resampled, on boards."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from edge_boards import EDGES, ordinary_board

import billboards as bb
from billboards.analyses._view import judged_matrix
from billboards.analyses.compare import MetricComparison
from billboards.analyses.rank import rank_board
from billboards.stats.bootstrap import Resampled, bootstrap_pearson


def in_documents() -> bb.Board:
    """The ordinary board with four documents of three instances."""
    board = ordinary_board()
    return replace(board, instances=tuple(replace(one, document=f"d{k // 3}") for k, one in enumerate(board.instances)))


@pytest.mark.parametrize("resampled", ["documents", "generators", "both"])
def test_intervals_are_quantiles_of_what_the_statistics_draw(resampled: Resampled) -> None:
    board = in_documents()
    ranking = rank_board(board, None, resampled=resampled, draws=200, seed=3)
    view = judged_matrix(board, None)
    documents = [instance.document or "" for instance in board.instances]
    drawn = bootstrap_pearson(
        view.scores.values, view.judged_human, unit=resampled, documents=documents, draws=200, seed=3
    )
    assert ranking.resampled == resampled
    for standing in ranking.metrics:
        values = drawn[:, view.scores.column(standing.name)]
        assert standing.interval == pytest.approx(tuple(np.nanquantile(values, (0.025, 0.975))))


def test_an_instance_without_a_document_is_its_own() -> None:
    board = ordinary_board()
    by_document = rank_board(board, None, resampled="documents", draws=4000, seed=1).metrics[0].interval
    by_instance = rank_board(board, None, draws=4000, seed=1).metrics[0].interval
    assert by_document == pytest.approx(by_instance, abs=0.02)


@pytest.mark.parametrize(("edge", "resampled"), [("one instance", "both"), ("one instance", "documents")])
def test_one_unit_drawn_again_and_again_gives_no_interval(edge: str, resampled: Resampled) -> None:
    ranking = rank_board(EDGES[edge](), None, resampled=resampled, draws=20)
    assert {standing.interval for standing in ranking.metrics} == {None}
    assert all(standing.correlation is not None for standing in ranking.metrics)


def test_a_difference_is_resampled_in_the_same_way_and_says_so() -> None:
    board = in_documents()
    result = bb.compare(board, "first", "second", resampled="both", draws=200, seed=3)
    assert isinstance(result.value, MetricComparison)
    view = judged_matrix(board, None)
    drawn = bootstrap_pearson(view.scores.values[:2], view.judged_human, unit="both", draws=200, seed=3)
    expected = np.quantile(drawn[:, 0] - drawn[:, 1], (0.025, 0.975))
    assert result.value.interval == pytest.approx(tuple(expected))
    assert any("bootstrap over instances and generators" in str(row["what"]) for row in result.tables[0].rows)
    assert result.document["resampled"] == "both"


def test_a_kept_ranking_says_what_was_resampled() -> None:
    assert bb.rank(in_documents(), resampled="generators", draws=20).document["resampled"] == "generators"
