"""Where people compared outputs, metrics and generators are compared by that, and what can't be says so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from compared_boards import LONGER, compared_board

import billboards as bb
from billboards.analyses.compare import GeneratorComparison, MetricComparison, MetricPairs
from billboards.board import Board
from billboards.board.writing import write_board
from billboards.errors import InvalidInput, NotEnoughData
from billboards.stats.power import tell_preferences_apart


@pytest.fixture
def compared(tmp_path: Path) -> Board:
    found = bb.open(write_board(compared_board(tmp_path), tmp_path / "board"))
    bb.score(found, ["BLEU", "length"])
    return found


def test_two_metrics_are_compared_on_the_pairs_that_both_decide(compared: Board) -> None:
    result = bb.compare(compared, "BLEU", "length", seed=1)
    found = result.value
    assert isinstance(found, MetricComparison)
    assert (found.statistic, found.n) == ("kendall", 12)
    assert found.correlations == pytest.approx((1.0, 8 / 12))
    assert found.difference == pytest.approx(4 / 12)
    # Only two instances differ: of the four ways to exchange them one is as far as this, and one as far the other way.
    assert found.p_permutation == pytest.approx(2 / 4, abs=0.05)
    assert found.interval is not None
    assert found.difference is not None
    assert 0 <= found.interval[0] < found.difference < found.interval[1]
    assert (found.accuracy, found.p_williams, found.between) == (None, None, None)
    said = " ".join(str(result).split())
    assert "WMT's Kendall of BLEU 1.000" in said
    assert "p, two-sided (whole instances exchanged)" in said
    assert "pairs of outputs that people compared 12" in said


def test_the_pairs_that_decide_between_metrics_are_shown_with_both_texts(compared: Board) -> None:
    found = bb.compare(compared, "BLEU", "length").value
    assert isinstance(found, MetricComparison)
    assert {(one.instance, one.generator, one.other_generator) for one in found.for_first} == {
        ("1", "A", "B"),
        ("2", "A", "B"),
    }
    assert found.for_first[0].other == LONGER
    assert found.for_second == ()


def test_every_two_metrics_are_compared_without_acc_eq(compared: Board) -> None:
    result = bb.compare_all(compared, draws=200)
    assert isinstance(result.value, MetricPairs)
    (pair,) = result.value.compared
    assert (pair.first, pair.second, pair.n, pair.accuracy) == ("BLEU", "length", 12, None)
    assert pair.difference == pytest.approx(4 / 12)
    assert pair.p == pytest.approx(1 / 2, abs=0.15)
    assert "acc_eq" not in str(result)


def test_pairs_are_not_exchanged_by_generators(compared: Board) -> None:
    for metrics in (("BLEU", "length"), ()):
        with pytest.raises(InvalidInput, match="exchanged instance by instance, not by generators"):
            bb.compare(compared, *metrics, unit="generators")


def test_two_generators_are_compared_by_the_comparisons_each_won(compared: Board) -> None:
    result = bb.compare(compared, "A", "B")
    assert isinstance(result.value, GeneratorComparison)
    people = result.value.scores[0]
    assert (people.name, people.wins, people.losses, people.n) == ("people", 5, 1, 6)
    assert people.means == pytest.approx((500 / 6, 100 / 6))
    assert "people: the share of comparisons between the two that each won" in " ".join(str(result).split())


def test_power_is_said_for_both_kinds_of_entries(compared: Board) -> None:
    (need,) = bb.power(compared, "BLEU", "length").value.needs
    assert (need.name, need.units) == ("WMT's Kendall", 6)
    assert need.difference == pytest.approx(4 / 12)
    assert need.needed is not None
    of_people = bb.power(compared, "A", "B").value.needs[0]
    assert (of_people.name, of_people.units) == ("people", 6)
    assert of_people.difference == pytest.approx(400 / 6)


def test_metrics_are_ranked_without_each_generator(compared: Board) -> None:
    found = bb.sensitivity(compared).value
    values = {condition.name: condition.values["length"] for condition in found.conditions}
    # Without A nobody was compared with anybody.
    assert values == {"WMT's Kendall": pytest.approx(8 / 12), "B": 1.0, "C": pytest.approx(2 / 6)}
    assert list(found.pulls) == ["B", "C"]


@pytest.mark.parametrize(
    ("ask", "why"),
    [
        (bb.hybrids, "a mixture of outputs has no mean to order it by"),
        (lambda board: bb.estimate(board, "A"), "there is no mean to estimate"),
        (bb.references, "nothing correlates with more references"),
        (bb.overrating, "machines and people can't be compared at equal quality"),
    ],
)
def test_what_needs_values_says_why_not_and_what_instead(
    compared: Board, ask: Callable[[Board], object], why: str
) -> None:
    with pytest.raises(NotEnoughData, match=f"gave no values, so {why}; rank, compare, power and sensitivity work"):
        ask(compared)


def test_what_power_needs_is_what_finds_the_difference() -> None:
    """Resampled boards of the size asked for find it with about the power asked for."""
    random = np.random.default_rng(3)
    instance = np.repeat(np.arange(300), 4)
    first, second = (np.where(random.random(1200) < share, 1.0, -1.0) for share in (0.70, 0.62))
    found = tell_preferences_apart(first, second, instance)
    size = int(found.needed)
    by_instance = (first - second).reshape(300, 4).mean(axis=1)
    drawn = by_instance[random.integers(300, size=(2000, size))]
    z = drawn.mean(axis=1) / (drawn.std(axis=1, ddof=1) / size**0.5)
    assert (z > 1.96).mean() == pytest.approx(0.8, abs=0.03)
