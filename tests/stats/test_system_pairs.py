"""Pairwise system accuracy and SPA: tables worked by hand, plain loops over pairs of generators."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from numpy.typing import NDArray

from billboards.errors import InvalidInput
from billboards.stats.system_pairs import one_sided_p, random_swaps, soft_pairwise_accuracy, system_pairwise_accuracy

Floats = NDArray[np.float64]
NAN = float("nan")


def table(seed: int, *, missing: float, rows: int = 5) -> tuple[Floats, Floats]:
    random = np.random.default_rng(seed)
    human = random.integers(0, 4, size=(rows, 30)) + np.arange(rows)[:, None] / 4
    scores = human + 2 * random.normal(size=(3, rows, 30))
    human[random.random(human.shape) < missing] = NAN
    scores[random.random(scores.shape) < missing] = NAN
    return scores, human


def test_p_over_all_swaps_of_a_table_worked_by_hand() -> None:
    # Differences 1, 2, 3: of the 8 swaps only the empty one takes nothing away, and counts half: p = .5/8.
    # Differences 1, -2, 0: swaps take away 0, 1, -2, -1, and the same again with the last: (4 + 2/2)/8.
    # Differences 0, 0, 0: nothing is ever taken away: ½.
    swaps = np.array(list(product((False, True), repeat=3)))
    first = np.array([[1.0, 2.0, 3.0], [1.0, -2.0, 0.0], [0.0, 0.0, 0.0]])
    p = one_sided_p(np.stack([first, np.zeros((3, 3))], axis=1), swaps)
    np.testing.assert_array_equal(p[:, 0, 1], [0.0625, 0.625, 0.5])
    assert np.isnan(p[:, 1, 0]).all()
    swapped = one_sided_p(np.stack([np.zeros((3, 3)), first], axis=1), swaps)
    np.testing.assert_array_equal(swapped[:, 0, 1], 1 - p[:, 0, 1])


def test_spa_of_a_table_worked_by_hand() -> None:
    # With the differences above for the metric (1, 2, 3) and people (1, -2, 0), SPA = 1 - |.625 - .0625| = .4375
    # over all swaps; 200,000 random ones come within .004.
    scores, human = np.array([[[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]]), np.array([[1.0, -2.0, 0.0], [0.0, 0.0, 0.0]])
    found = soft_pairwise_accuracy(scores, human, draws=200_000, seed=1)
    assert found.value[0] == pytest.approx(0.4375, abs=0.004)
    assert found.n[0] == 1


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_spa_equals_a_loop_over_pairs_and_draws(missing: float) -> None:
    scores, human = table(1, missing=missing)
    found = soft_pairwise_accuracy(scores, human, draws=150, seed=5)
    swaps = random_swaps(150, 30, 5)
    for k, one in enumerate(scores):
        terms = []
        for a, b in combinations(range(5), 2):
            there = ~np.isnan(one[a] + one[b] + human[a] + human[b])
            p = []
            for values in (human, one):
                d = (values[a] - values[b])[there]
                null = np.round(np.where(swaps[:, there], -d, d).sum(axis=1) - d.sum(), 9)
                p.append(np.mean(null > 0) + np.mean(null == 0) / 2)
            terms.append(1 - abs(p[0] - p[1]))
        assert found.value[k] == pytest.approx(np.mean(terms), abs=1e-12)
        assert found.n[k] == 10


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_the_order_of_rows_and_unjudged_instances_do_not_matter(missing: float) -> None:
    scores, human = table(2, missing=missing)
    order = [3, 0, 4, 2, 1]
    first, other = soft_pairwise_accuracy(scores, human), soft_pairwise_accuracy(scores[:, order], human[order])
    np.testing.assert_allclose(other.value, first.value, atol=1e-12)
    accuracy, again = system_pairwise_accuracy(scores, human), system_pairwise_accuracy(scores[:, order], human[order])
    np.testing.assert_array_equal(accuracy.value, again.value)
    wider = np.concatenate([scores, scores[:, :, :4]], axis=2), np.concatenate([human, np.full((5, 4), NAN)], axis=1)
    np.testing.assert_array_equal(soft_pairwise_accuracy(*wider).value, first.value)


def test_a_constant_metric_is_unsure_of_every_pair_however_rows_are_sorted() -> None:
    _, human = table(3, missing=0.0)
    p = one_sided_p(human[None], random_swaps(1000, 30, 0))[0]
    expected = 1 - np.nanmean(np.abs(p - 0.5))
    for rows in ([0, 1, 2, 3, 4], [4, 3, 2, 1, 0]):
        found = soft_pairwise_accuracy(np.full((1, 5, 30), 0.1), human[rows])
        assert found.value[0] == pytest.approx(expected, abs=1e-12)
    assert system_pairwise_accuracy(np.full((1, 5, 30), 0.1), human).value[0] == 0


def test_a_metric_equal_to_the_judgments_agrees_on_all_and_its_opposite_as_far_as_people_are_unsure() -> None:
    _, human = table(4, missing=0.2)
    assert soft_pairwise_accuracy(human[None], human).value[0] == 1
    assert system_pairwise_accuracy(human[None], human).value[0] == 1
    p = one_sided_p(human[None], random_swaps(1000, 30, 0))
    reversed_agreement = soft_pairwise_accuracy(-human[None], human).value[0]
    assert reversed_agreement == pytest.approx(1 - np.nanmean(np.abs(2 * p - 1)), abs=1e-12)
    assert system_pairwise_accuracy(-human[None], human).value[0] == 0


def test_where_people_tie_all_generators_a_constant_metric_agrees_and_no_other() -> None:
    human = np.full((3, 4), 2.0)
    scores = np.stack([human, np.arange(12.0).reshape(3, 4)])
    np.testing.assert_array_equal(system_pairwise_accuracy(scores, human).value, [1, 0])
    soft = soft_pairwise_accuracy(scores, human).value
    assert soft[0] == 1
    assert soft[1] == pytest.approx(0.5 + 1 / 32, abs=0.01)


def test_pairwise_accuracy_counts_orders_worked_by_hand() -> None:
    # Means of people 1, 2, 3 and of the metric 1, 3, 2: two of three pairs in the same order.
    human = np.array([[0.0, 2.0], [2.0, 2.0], [4.0, 2.0]])
    scores = np.array([[[1.0, 1.0], [2.0, 4.0], [2.0, 2.0]]])
    found = system_pairwise_accuracy(scores, human)
    assert (found.value[0], found.n[0]) == (pytest.approx(2 / 3), 3)


def test_two_generators_are_compared_on_the_instances_they_share() -> None:
    # On the shared first two instances the first is better under both; the third, which only the second has, is easy.
    human = np.array([[3.0, 3.0, NAN], [2.0, 2.0, 90.0]])
    scores = np.array([[[5.0, 6.0, 7.0], [4.0, 4.0, 80.0]]])
    assert system_pairwise_accuracy(scores, human).value[0] == 1
    assert soft_pairwise_accuracy(scores, human).value[0] == 1


def test_rounding_makes_no_order_of_equal_means() -> None:
    human = np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.2, 0.2, 0.2]])
    assert system_pairwise_accuracy(np.ones((1, 3, 3)), human).value[0] == 1


def test_generators_that_share_nothing_are_no_pair() -> None:
    human = np.array([[1.0, 2.0, NAN], [2.0, 1.0, NAN], [NAN, NAN, 3.0]])
    scores = np.array([human, np.full((3, 3), NAN)])
    for statistic in (system_pairwise_accuracy, soft_pairwise_accuracy):
        found = statistic(scores, human)
        assert found.n.tolist() == [1, 0]
        assert np.isnan(found.value[1])
        assert statistic(np.empty((0, 3, 3)), human).value.shape == (0,)
        assert np.isnan(statistic(np.ones((1, 1, 3)), np.ones((1, 3))).value[0])


def test_infinities_are_missing() -> None:
    scores, human = table(6, missing=0.2)
    infinite = np.where(np.isnan(scores), -np.inf, scores), np.where(np.isnan(human), np.inf, human)
    for statistic in (system_pairwise_accuracy, soft_pairwise_accuracy):
        np.testing.assert_array_equal(statistic(*infinite).value, statistic(scores, human).value)


def test_the_seed_decides_the_draws_and_blocks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    scores, human = table(7, missing=0.1)
    first, other = (soft_pairwise_accuracy(scores, human, draws=90, seed=seed).value for seed in (1, 2))
    assert (first != other).any()
    monkeypatch.setattr("billboards.stats.system_pairs._BLOCK", 300)
    np.testing.assert_array_equal(soft_pairwise_accuracy(scores, human, draws=90, seed=1).value, first)


def test_no_draw_is_no_test() -> None:
    with pytest.raises(InvalidInput, match="at least 1 draw; got 0"):
        soft_pairwise_accuracy(*table(8, missing=0.0), draws=0)
