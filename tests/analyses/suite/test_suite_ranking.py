"""One ranking over many boards: weighted means, tests on all boards at once, clusters."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_suites import valued_board, written_suite

from billboards.analyses._archive import open_home
from billboards.analyses.rank import rank_board
from billboards.analyses.suite.open import OpenSuite, open_suite, opened
from billboards.analyses.suite.results import Suite, SuiteBoard
from billboards.board.writing import write_board
from billboards.errors import NotEnoughData


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> OpenSuite:
    suite = open_suite(written_suite(tmp_path_factory.mktemp("suite")))
    suite.score()
    return suite


def test_a_metrics_value_is_the_weighted_mean_of_its_columns(ran: OpenSuite) -> None:
    ranking = ran.rank(draws=100).value
    for standing in ranking.standings:
        values = [standing.values[column.key] or 0.0 for column in ranking.columns]
        assert standing.value == pytest.approx(np.average(values, weights=[1, 2, 1]))
    assert ranking.n == {"One:truth": 36, "Two:truth": 30, "Pairs:better": 27}


def test_over_one_board_the_ranking_is_the_boards_own(tmp_path: Path) -> None:
    write_board(replace(valued_board("one", 30, seed=4), metrics=("chrF", "ROUGE-2", "length")), tmp_path / "one")
    suite = opened(Suite("single", (SuiteBoard(tmp_path / "one", ("truth",), ()),)))
    suite.score()
    found = suite.rank(draws=500, seed=3).value
    home = open_home(tmp_path / "one")
    own = rank_board(home.board, home.cells, aggregate="truth", draws=500, seed=3)
    assert [(s.metric, s.rank, s.cluster) for s in found.standings] == [
        (m.name, m.rank, m.cluster) for m in own.metrics
    ]
    for standing, metric in zip(found.standings, own.metrics, strict=True):
        assert standing.value == pytest.approx(metric.correlation)
        assert standing.interval == pytest.approx(metric.interval)


def test_two_boards_tell_apart_what_one_can_not(tmp_path: Path) -> None:
    """The same difference on more data is surer: every board added lowers the p-value."""
    for k in range(4):
        write_board(valued_board(f"b{k}", 14, seed=10 + k), tmp_path / f"b{k}")
    boards = tuple(SuiteBoard(tmp_path / f"b{k}", ("truth",), ()) for k in range(4))
    p = []
    for some in (boards[:1], boards):
        suite = opened(Suite("some", some, ("ROUGE-1", "ROUGE-4")))
        suite.score()
        p.append(suite.rank(draws=2000).value.p["ROUGE-1"]["ROUGE-4"])
    assert p[0] is not None
    assert p[1] is not None
    assert p[1] < p[0]


def test_a_metric_does_not_beat_itself_under_another_name(tmp_path: Path) -> None:
    write_board(valued_board("one", 20, seed=6), tmp_path / "one")
    named = ("ROUGE-1", "ROUGE-1(references=best)", "length")
    suite = opened(Suite("twice", (SuiteBoard(tmp_path / "one", ("truth",), ()),), named))
    suite.score()
    ranking = suite.rank(draws=300).value
    places = {standing.metric: (standing.rank, standing.cluster) for standing in ranking.standings}
    assert places["ROUGE-1"] == places["ROUGE-1(references=best)"]
    assert ranking.p["ROUGE-1"]["ROUGE-1(references=best)"] == 1.0


def test_a_metric_whose_scores_do_not_vary_has_no_rank_and_disturbs_no_other(tmp_path: Path) -> None:
    write_board(valued_board("one", 12, seed=6), tmp_path / "one")
    (tmp_path / "same.py").write_text("def score(outputs, references, inputs):\n    return [1.0 for _ in outputs]\n")
    suite = opened(Suite("same", (SuiteBoard(tmp_path / "one", ("truth",), ()),), ("chrF", "length")))
    suite.score()
    alone = suite.rank(draws=100).value
    beside = suite.judging(add=[tmp_path / "same.py"])
    beside.score()
    *others, same = beside.rank(draws=100).value.standings
    assert tuple(others) == alone.standings
    assert (same.rank, same.interval, same.reason) == (None, None, "the scores don't vary")


def test_the_same_seed_gives_the_same_ranking(ran: OpenSuite) -> None:
    assert ran.rank(draws=50, seed=7).value == ran.rank(draws=50, seed=7).value
    assert ran.rank(draws=50, seed=7).value != ran.rank(draws=50, seed=8).value


def test_a_suite_without_scores_says_what_to_do(tmp_path: Path) -> None:
    suite = open_suite(written_suite(tmp_path))
    with pytest.raises(NotEnoughData, match="no metric has scores on every board; run `billboards suite run` first"):
        suite.rank()


def test_other_dimensions_can_be_ranked_too(ran: OpenSuite) -> None:
    ranking = ran.rank("other", "one", draws=50).value
    assert [column.key for column in ranking.columns] == ["One:style"]
