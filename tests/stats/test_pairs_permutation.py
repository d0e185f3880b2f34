"""The pairs permutation of acc_eq, against all exchanges written out, and under a hypothesis that is true."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from billboards.errors import InvalidInput
from billboards.stats.pairwise import Unit, acc_eq, permute_decisions

#: Three outputs of two instances; metric 0 has all six pairs right, metric 1 three of them, metric 2 four.
HUMAN = np.array([[1.0, 3.0], [2.0, 2.0], [3.0, 1.0]])
SCORES = np.array(
    [
        [[10.0, 30.0], [20.0, 20.0], [30.0, 10.0]],
        [[30.0, 30.0], [20.0, 20.0], [10.0, 10.0]],
        [[20.0, 20.0], [10.0, 30.0], [30.0, 10.0]],
    ]
)


def every_exchange(right: Any, pairs_of_instance: Any, unit: Unit) -> float:
    """The share of all exchanges whose difference reaches the observed one, from correctness (2 × pairs)."""
    weight = 1 / np.bincount(pairs_of_instance)[pairs_of_instance] / (pairs_of_instance.max() + 1)
    lead = (right[0].astype(float) - right[1]) * weight
    coins = len(lead) if unit == "pairs" else int(pairs_of_instance.max()) + 1
    which = np.arange(len(lead)) if unit == "pairs" else pairs_of_instance
    found = [np.array(signs)[which] @ lead for signs in itertools.product((1, -1), repeat=coins)]
    return float(np.mean(np.array(found) >= lead.sum() - 1e-12))


def test_accuracies_and_differences_are_those_counted_by_hand() -> None:
    found = permute_decisions(SCORES, HUMAN, draws=10)
    assert found.accuracy.tolist() == pytest.approx([1, 3 / 6, 4 / 6])
    assert found.epsilon.tolist() == [0, 0, 0]
    assert found.difference[0].tolist() == pytest.approx([0, 3 / 6, 2 / 6])
    assert np.array_equal(found.difference, -found.difference.T)
    assert found.n.tolist() == [[6, 6, 6]] * 3
    assert np.diag(found.p).tolist() == [1, 1, 1]


def test_three_pairs_that_one_metric_alone_has_right_give_one_eighth() -> None:
    found = permute_decisions(SCORES, HUMAN, draws=40_000)
    assert found.p[0, 1] == pytest.approx(1 / 8, abs=0.006)
    assert found.p[1, 0] == 1
    # Metric 2 is wrong on a pair in each instance: two coins.
    assert found.p[0, 2] == pytest.approx(1 / 4, abs=0.008)


@pytest.mark.parametrize("unit", ["pairs", "instances"])
def test_p_values_are_those_of_all_exchanges_where_instances_have_different_pairs(unit: Unit) -> None:
    random = np.random.default_rng(4)
    human = random.integers(0, 3, (4, 3)).astype(float)
    human[3, 0] = human[2, 1] = human[3, 1] = np.nan
    scores = random.integers(0, 4, (2, 4, 3)).astype(float)
    found = permute_decisions(scores, human, unit=unit, draws=40_000, seed=1)
    first, second = np.triu_indices(4, 1)
    preferred = np.sign(human[first] - human[second])
    lead = scores[:, first] - scores[:, second]
    tied = np.abs(lead) <= found.epsilon[:, None, None]
    right = np.where(tied, 0, np.sign(lead)) == preferred
    there = np.isfinite(preferred.T)
    instance = np.nonzero(there)[0]
    assert np.bincount(instance).tolist() == [3, 1, 6]
    sides = np.stack([one.T[there] for one in right])
    assert not np.array_equal(*sides)
    assert found.p[0, 1] == pytest.approx(every_exchange(sides, instance, unit), abs=0.01)
    assert found.p[1, 0] == pytest.approx(every_exchange(sides[::-1], instance, unit), abs=0.01)
    assert found.accuracy.tolist() == pytest.approx(acc_eq(scores, human).accuracy.tolist())


def test_the_smallest_p_is_one_over_all_draws_and_one() -> None:
    human = np.tile(np.arange(6.0)[:, None], 40)
    found = permute_decisions(np.stack([human, -human]), human, draws=99)
    assert (found.p[0, 1], found.p[1, 0]) == (0.01, 1.0)


def test_each_metric_is_held_to_its_own_epsilon() -> None:
    human = np.array([[1.0, 1.0], [1.0, 1.0], [5.0, 5.0]])
    noise = np.array([[0.0, 3.0], [2.0, 0.0], [0.0, 0.0]])
    found = permute_decisions(np.stack([100 * human + noise, human + noise / 100]), human)
    assert found.accuracy.tolist() == [1, 1]
    assert found.epsilon.tolist() == pytest.approx([3, 0.03])
    assert (found.difference[0, 1], found.p[0, 1]) == (0, 1)


def test_a_difference_is_measured_where_both_metrics_decide() -> None:
    lacking = SCORES.copy()
    lacking[1, 2, 0] = np.nan
    lacking[2, :, 1] = np.inf
    found = permute_decisions(lacking, HUMAN, draws=10)
    assert found.n.tolist() == [[6, 4, 3], [4, 4, 1], [3, 1, 3]]
    # Instance 1: one pair left, which metric 1 has wrong; instance 2: all right.
    assert found.difference[0, 1] == pytest.approx(1 / 2)


def test_metrics_without_a_common_pair_have_no_test() -> None:
    apart = SCORES[:2].copy()
    apart[0, :, 0] = apart[1, :, 1] = np.nan
    found = permute_decisions(apart, HUMAN, draws=10)
    assert np.isnan([found.difference[0, 1], found.p[0, 1], found.p[1, 0]]).all()
    assert found.n[0, 1] == 0
    alone = permute_decisions(SCORES[:, :1], HUMAN[:1], draws=10)
    assert np.isnan(alone.accuracy).all()
    assert np.isnan(alone.p).all()


def test_a_pair_of_metrics_has_the_same_p_whoever_else_takes_part() -> None:
    random = np.random.default_rng(0)
    human, scores = random.normal(size=(5, 30)), random.normal(size=(3, 5, 30))
    every, two = permute_decisions(scores, human, seed=3), permute_decisions(scores[[0, 2]], human, seed=3)
    assert every.p[0, 2] == two.p[0, 1]
    assert every.p[0, 2] != permute_decisions(scores[[0, 2]], human, seed=4).p[0, 1]


@pytest.mark.parametrize(("unit", "rows", "least", "highest"), [("pairs", 2, 0.01, 0.08), ("instances", 8, 0.01, 0.08)])
def test_equally_good_metrics_are_found_different_as_seldom_as_the_level_says(
    unit: Unit, rows: int, least: float, highest: float
) -> None:
    random = np.random.default_rng(0)
    wrong = 0
    for seed in range(300):
        human = random.integers(0, 5, (rows, 40)).astype(float)
        scores = human + 2 * random.normal(size=(2, rows, 40))
        wrong += int(permute_decisions(scores, human, unit=unit, draws=199, seed=seed).p[0, 1] <= 0.05)
    assert least <= wrong / 300 <= highest


def test_exchanging_pairs_of_many_outputs_one_by_one_is_too_sure_as_the_module_says() -> None:
    random = np.random.default_rng(0)
    wrong = 0
    for seed in range(200):
        human = random.integers(0, 5, (8, 40)).astype(float)
        scores = human + 2 * random.normal(size=(2, 8, 40))
        wrong += int(permute_decisions(scores, human, draws=199, seed=seed).p[0, 1] <= 0.05)
    assert 0.08 < wrong / 200 < 0.25


def test_no_draws_are_refused() -> None:
    with pytest.raises(InvalidInput, match="at least 1 draw"):
        permute_decisions(SCORES, HUMAN, draws=0)
