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
    ranking = ran.measured(preferences="mixed").rank(draws=100).value
    for standing in ranking.standings:
        values = [standing.values[column.key] or 0.0 for column in ranking.columns]
        assert standing.value == pytest.approx(np.average(values, weights=[1, 2, 1]))
    assert ranking.n == {"One:truth": 36, "Two:truth": 30, "Pairs:better": 27}


def test_preferences_stay_apart_from_a_mean_of_correlations_and_the_table_says_so(ran: OpenSuite) -> None:
    result = ran.rank(draws=100)
    assert [column.label for column in result.value.columns] == ["One", "Two"]
    assert list(result.value.left_out) == ["Pairs:better"]
    assert any(note.startswith("Left out of the mean: Pairs, because people gave") for note in result.tables[0].notes)
    mixed = ran.measured(preferences="mixed").rank(draws=100)
    assert "The mean mixes correlations with (C − D)/(C + D) over pairs, on Pairs." in mixed.tables[0].notes


@pytest.mark.parametrize("statistic", ["pearson", "kendall", "spearman/by-item"])
def test_average_and_ranking_are_over_the_same_columns_and_in_the_same_order(ran: OpenSuite, statistic: str) -> None:
    suite = ran.measured(statistics=statistic)
    averages = [a for a in suite.tables(draws=0).value.averages if a.statistic == statistic and a.block == "all"]
    ranking = suite.rank(draws=100).value
    assert {a.columns for a in averages} == {tuple(column.key for column in ranking.columns)}
    by_average = [a.metric for a in sorted(averages, key=lambda a: -a.value)]
    assert by_average == [s.metric for s in ranking.standings if s.metric in by_average]
    for average in averages:
        (standing,) = (s for s in ranking.standings if s.metric == average.metric)
        assert average.value == pytest.approx(standing.value)


def test_several_yardsticks_are_averaged_and_each_has_its_column(ran: OpenSuite) -> None:
    result = ran.measured("summeval").rank(draws=50)
    heads = [column.label for column in result.value.columns]
    assert heads[:2] == ["One Spearman’s rho, by item", "One Kendall’s tau-b, by item"]
    for standing in result.value.standings:
        values = [standing.values[column.key] for column in result.value.columns]
        weights = [column.weight for column in result.value.columns]
        assert standing.value == pytest.approx(np.average(np.array(values, float), weights=weights))
    assert any("preset summeval: the mean of these" in note for note in result.tables[0].notes)


def test_ties_count_as_asked_in_tables_and_ranking(ran: OpenSuite) -> None:
    """Length ties pairs of equally many words; half credit moves it towards nought from below."""
    shown = {}
    for ties in ("wrong", "half", "left-out"):
        suite = ran.measured(statistics="kendall", ties=ties)
        result = suite.tables(draws=0).value
        (cell,) = (c for c in result.cells if c.column == "Pairs:better" and c.metric == "length")
        (standing,) = (s for s in suite.rank(draws=50).value.standings if s.metric == "length")
        assert cell.measures["preferences"].value == pytest.approx(standing.values["Pairs:better"])
        assert cell.measures["accuracy"].value == pytest.approx((1 + cell.measures["preferences"].value) / 2)
        shown[ties] = cell
    tied = shown["wrong"].tied
    assert tied is not None
    assert tied > 0
    assert {cell.tied for cell in shown.values()} == {tied}
    wrong, half, out = (shown[ties].measures["preferences"].value for ties in ("wrong", "half", "left-out"))
    assert half == pytest.approx(wrong + tied)
    assert out == pytest.approx(half / (1 - tied))


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
