"""Rankings and comparisons by other statistics than pooled Pearson, and what ties count."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from public_sets import make_wmt19_darr
from scipy.stats import spearmanr
from small_boards import small_board

import billboards as bb
from billboards.analyses._archive import open_home
from billboards.analyses._disclosed import Disclosure
from billboards.analyses._view import judged_matrix
from billboards.analyses.compare import MetricPairs
from billboards.analyses.rank import RankingOptions, rank_board
from billboards.board import Board
from billboards.board.writing import write_board
from billboards.errors import InvalidInput
from billboards.stats.yardsticks import yardstick


@pytest.fixture
def board(tmp_path: Path) -> Board:
    ready = bb.open(write_board(small_board(20, 5), tmp_path / "board"))
    bb.score(ready, ["BLEU", "chrF", "length"])
    return ready


def test_metrics_are_ranked_by_the_statistic_that_is_asked_for(board: Board) -> None:
    ranking = bb.rank(board, statistic="spearman", grouping="by-item", draws=200).value
    assert (ranking.statistic, ranking.grouping) == ("spearman", "by-item")
    home = board.home
    assert home is not None
    matrix = judged_matrix(board, open_home(home).cells)
    for metric in ranking.metrics:
        scores, human = matrix.scores.of(metric.name), matrix.judged_human
        loop = []
        for x, y in zip(scores.T, human.T, strict=True):
            both = np.isfinite(x) & np.isfinite(y)
            if len(np.unique(x[both])) > 1 and len(np.unique(y[both])) > 1:
                loop.append(spearmanr(x[both], y[both]).statistic)
        assert metric.correlation == pytest.approx(np.mean(loop))
        assert metric.interval is not None
        assert metric.correlation is not None
        assert metric.interval[0] <= metric.correlation <= metric.interval[1]
    shown = str(bb.rank(board, statistic="spearman/by-item", draws=50))
    assert "metrics by Spearman’s rho, by item, with people" in shown
    assert any("fitted for pooled Pearson" in note for note in ranking.notes)


def test_every_two_metrics_are_compared_by_it_and_agree_with_the_ranking(board: Board) -> None:
    study = bb.compare(board, statistic="kendall-b", grouping="by-item", draws=200).value
    assert isinstance(study, MetricPairs)
    ranking = bb.rank(board, statistic="kendall-b", grouping="by-item", draws=200).value
    values = {metric.name: metric.correlation or 0.0 for metric in ranking.metrics}
    assert study.statistic == "kendall-b/by-item"
    assert len(study.compared) == 3
    for pair in study.compared:
        assert pair.difference == pytest.approx(values[pair.first] - values[pair.second])
    two = bb.compare(board, "BLEU", "chrF", statistic="kendall-b/by-item", draws=200).value
    assert isinstance(two, MetricPairs)
    assert [{pair.first, pair.second} for pair in two.compared] == [{"BLEU", "chrF"}]


def test_other_statistics_are_refused_where_judgments_are_hidden(board: Board) -> None:
    assert board.home is not None
    options = RankingOptions(disclosure=Disclosure(judgments=True), yardstick=yardstick("spearman"), draws=0)
    with pytest.raises(InvalidInput, match="keeps judgments hidden"):
        rank_board(board, open_home(board.home).cells, options)


def test_what_a_tie_counts_is_asked_for_and_said(tmp_path: Path) -> None:
    ready = bb.open(write_board(make_wmt19_darr(tmp_path / "in").load("wmt19-darr").board, tmp_path / "board"))
    bb.score(ready, ["BLEU", "length"])
    wrong, half = (bb.rank(ready, ties=ties).value for ties in ("wrong", "half"))
    for metric in wrong.metrics:
        (other,) = (m for m in half.metrics if m.name == metric.name)
        assert metric.tied is not None
        assert metric.correlation is not None
        assert other.correlation == pytest.approx(metric.correlation + metric.tied)
    assert "a pair that a metric ties counts half" in " ".join(str(bb.rank(ready, ties="half")).split())
