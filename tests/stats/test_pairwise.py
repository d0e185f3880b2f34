"""acc_eq with calibrated ties, in sample and held out, and PDP: tables worked by hand, and plain loops over pairs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from billboards.errors import InvalidInput
from billboards.stats.pairwise import (
    acc_eq,
    held_out_acc_eq,
    pair_differences,
    pair_index,
    pairwise_difference_pearson,
)

Floats = NDArray[np.float64]
NAN = float("nan")


def table(seed: int, *, metrics: int = 3, rows: int = 5, instances: int = 12) -> tuple[Floats, Floats]:
    """Scores on a coarse scale and judgments from 0 to 3, with many ties and a fifth of each missing."""
    random = np.random.default_rng(seed)
    human = random.integers(0, 4, size=(rows, instances)).astype(float)
    scores = np.round(human + 2 * random.normal(size=(metrics, rows, instances)), 1)
    human[random.random(human.shape) < 0.2] = NAN
    scores[random.random(scores.shape) < 0.2] = NAN
    return scores, human


def pairs_of(one: Floats, human: Floats) -> list[list[tuple[float, float]]]:
    """Differences of (metric, people) for each instance that has a pair."""
    found = []
    for x, y in zip(one.T, human.T, strict=True):
        there = [k for k in range(len(x)) if not np.isnan(x[k] + y[k])]
        if len(there) > 1:
            found.append([(x[a] - x[b], y[a] - y[b]) for a, b in combinations(there, 2)])
    return found


def accuracy_at(instances: list[list[tuple[float, float]]], epsilon: float) -> float:
    def sign(value: float, limit: float) -> int:
        return 0 if abs(value) <= limit else 1 if value > 0 else -1

    return float(np.mean([np.mean([sign(m, epsilon) == sign(h, 0) for m, h in pairs]) for pairs in instances]))


def test_ties_are_calibrated_on_a_table_worked_by_hand() -> None:
    # People tie the first two outputs. The metric's |Δ| are 2 (tied by people), 10 and 8 (both in the right order).
    # epsilon 0: 2 of 3 right; 2: all 3; 8: 2 of 3; 10: 1 of 3.
    human, scores = np.array([[1.0], [1.0], [3.0]]), np.array([[[50.0], [52.0], [60.0]]])
    found = acc_eq(scores, human)
    assert (found.accuracy[0], found.epsilon[0], found.tau[0]) == (1, 2, 1)
    assert (found.n[0], found.instances[0]) == (3, 1)
    at = {epsilon: acc_eq(scores, human, epsilon=epsilon) for epsilon in (0.0, 1.99, 2.0, 8.0, 10.0)}
    assert [at[e].accuracy[0] for e in at] == pytest.approx([2 / 3, 2 / 3, 1, 2 / 3, 1 / 3])
    assert at[10.0].tau[0] == pytest.approx(-1 / 3)


def test_every_instance_counts_the_same_however_many_pairs_it_has() -> None:
    # The first instance has 3 pairs, all right; the second has 1, wrong, and no epsilon mends it.
    human = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, NAN]])
    scores = np.array([[[1.0, 5.0], [3.0, 6.0], [5.0, 7.0]]])
    found = acc_eq(scores, human)
    assert (found.accuracy[0], found.epsilon[0], found.n[0], found.instances[0]) == (0.5, 0, 4, 2)


def test_an_epsilon_ties_all_pairs_of_its_size_and_the_smallest_of_the_best_is_taken() -> None:
    # |Δ| = 1 holds a pair that people tie (won) and one in the right order (lost): no use. |Δ| = 4 wins one; the pair
    # with 5 is wrong at any epsilon.
    human = np.array([[1.0, 1.0, 1.0, 2.0], [1.0, 2.0, 1.0, 1.0]])
    scores = np.array([[[0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 4.0, 5.0]]])
    found = acc_eq(scores, human)
    assert (found.accuracy[0], found.epsilon[0]) == (0.5, 4)
    without_the_third = acc_eq(scores[:, :, [0, 1, 3]], human[:, [0, 1, 3]])
    assert (without_the_third.accuracy[0], without_the_third.epsilon[0]) == (pytest.approx(1 / 3), 0)


@pytest.mark.parametrize("seed", range(6))
def test_the_best_epsilon_is_that_of_a_search_through_all_differences(seed: int) -> None:
    scores, human = table(seed)
    found = acc_eq(scores, human)
    for k, one in enumerate(scores):
        instances = pairs_of(one, human)
        candidates = sorted({0.0, *(abs(m) for pairs in instances for m, _ in pairs)})
        accuracies = [accuracy_at(instances, epsilon) for epsilon in candidates]
        best = int(np.argmax(np.round(accuracies, 12)))
        assert found.accuracy[k] == pytest.approx(accuracies[best], abs=1e-12)
        assert found.epsilon[k] == candidates[best]
        assert (found.n[k], found.instances[k]) == (sum(map(len, instances)), len(instances))


def test_a_given_epsilon_may_differ_by_metric() -> None:
    scores, human = table(7)
    each = acc_eq(scores, human, epsilon=[0.0, 0.5, 2.0])
    for k, epsilon in enumerate((0.0, 0.5, 2.0)):
        assert each.accuracy[k] == pytest.approx(accuracy_at(pairs_of(scores[k], human), epsilon), abs=1e-12)
        assert each.epsilon[k] == epsilon


def test_units_of_the_metric_change_epsilon_and_nothing_else() -> None:
    scores, human = table(8)
    first, other = acc_eq(scores, human), acc_eq(scores * 4 + 64, human * 20)
    np.testing.assert_allclose(other.accuracy, first.accuracy, atol=1e-12)
    np.testing.assert_allclose(other.epsilon, 4 * first.epsilon, atol=1e-9)


def test_held_out_leaving_one_instance_out_equals_a_loop() -> None:
    scores, human = table(9, metrics=2, instances=8)
    found = held_out_acc_eq(scores, human, folds=8, seed=3)
    for k in range(2):
        values = []
        for out in range(8):
            rest = [i for i in range(8) if i != out]
            epsilon = acc_eq(scores[:, :, rest], human[:, rest]).epsilon[k]
            values.append(acc_eq(scores[:, :, [out]], human[:, [out]], epsilon=epsilon).accuracy[k])
        assert found.accuracy[k] == pytest.approx(np.nanmean(values), abs=1e-12)
    assert found.epsilons.shape == (2, 8)
    np.testing.assert_array_equal(found.n, acc_eq(scores, human).n)


def test_two_folds_swap_their_epsilons() -> None:
    # Instance 0 wants epsilon 1 (people tie a difference of 1), instance 1 wants 0 (a difference of 1 is right):
    # in sample 1 of 2 is the best there is, held out both are wrong.
    human, scores = np.array([[5.0, 5.0], [5.0, 6.0]]), np.array([[[0.0, 0.0], [1.0, 1.0]]])
    assert acc_eq(scores, human).accuracy[0] == 0.5
    found = held_out_acc_eq(scores, human)
    assert found.accuracy[0] == 0
    assert found.tau[0] == -1
    assert sorted(found.epsilons[0]) == [0, 1]


def test_the_held_out_value_depends_on_the_seed_alone() -> None:
    scores, human = table(10, instances=40)
    first, again, other = (held_out_acc_eq(scores, human, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.accuracy, again.accuracy)
    assert (first.accuracy != other.accuracy).any()


def test_one_instance_has_an_epsilon_but_none_to_hold_out() -> None:
    human, scores = np.array([[1.0], [2.0]]), np.array([[[1.0], [2.0]]])
    assert acc_eq(scores, human).accuracy[0] == 1
    found = held_out_acc_eq(scores, human)
    assert np.isnan(found.accuracy[0])
    assert (found.n[0], found.instances[0]) == (0, 0)


def test_a_metric_equal_to_the_judgments_agrees_at_epsilon_0() -> None:
    human = table(11)[1]
    found = acc_eq(human[None], human)
    assert (found.accuracy[0], found.epsilon[0]) == (pytest.approx(1, abs=1e-15), 0)
    assert held_out_acc_eq(human[None], human).accuracy[0] == pytest.approx(1, abs=1e-15)
    assert pairwise_difference_pearson(human[None], human).value[0] == pytest.approx(1, abs=1e-15)


def test_where_people_tie_everything_any_metric_can_be_calibrated_to_agree() -> None:
    scores = np.array([[[1.0, 4.0], [3.0, 9.0]]])
    found = acc_eq(scores, np.full((2, 2), 3.0))
    assert (found.accuracy[0], found.epsilon[0]) == (1, 5)
    assert np.isnan(pairwise_difference_pearson(scores, np.full((2, 2), 3.0)).value[0])


def test_a_constant_metric_is_right_where_people_tie() -> None:
    human = np.array([[1.0, 1.0, 1.0], [1.0, 2.0, 3.0]])
    found = acc_eq(np.full((1, 2, 3), 0.1), human)
    assert (found.accuracy[0], found.epsilon[0], found.n[0]) == (pytest.approx(1 / 3), 0, 3)
    assert np.isnan(pairwise_difference_pearson(np.full((1, 2, 3), 0.1), human).value[0])


def test_infinities_are_missing() -> None:
    scores, human = table(12)
    infinite = np.where(np.isnan(scores), np.inf, scores)
    for statistic in (acc_eq, held_out_acc_eq, pairwise_difference_pearson):
        first, other = statistic(scores, human), statistic(infinite, np.where(np.isnan(human), -np.inf, human))
        np.testing.assert_array_equal(first.n, other.n)
    np.testing.assert_array_equal(acc_eq(scores, human).accuracy, acc_eq(infinite, human).accuracy)


def test_without_a_pair_there_is_no_accuracy() -> None:
    one_row = acc_eq(np.ones((2, 1, 3)), np.ones((1, 3)))
    assert np.isnan(one_row.accuracy).all()
    assert np.isnan(one_row.epsilon).all()
    assert one_row.n.tolist() == [0, 0]
    none = acc_eq(np.empty((0, 2, 3)), np.ones((2, 3)))
    assert none.accuracy.shape == (0,)
    assert pairwise_difference_pearson(np.ones((1, 1, 3)), np.ones((1, 3))).n.tolist() == [0]


def test_a_sample_of_pairs_of_rows_is_drawn_with_a_seed() -> None:
    assert [len(side) for side in pair_index(5)] == [10, 10]
    first, second = pair_index(40, most=30, seed=1)
    assert len(set(zip(first.tolist(), second.tolist(), strict=True))) == 30
    assert (first < second).all()
    scores, human = table(13, rows=12, instances=30)
    whole, part = acc_eq(scores, human), acc_eq(scores, human, most=30)
    assert (part.n < whole.n).all()
    np.testing.assert_allclose(part.accuracy, whole.accuracy, atol=0.1)
    np.testing.assert_array_equal(acc_eq(scores, human, most=66).accuracy, whole.accuracy)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda s, h: acc_eq(s, h[:, :1]), "shapes are"),
        (lambda s, h: acc_eq(s[0], h), "shapes are"),
        (lambda s, h: acc_eq(s, h, epsilon=-1.0), "0 or more; got -1"),
        (lambda s, h: acc_eq(s, h, epsilon=NAN), "0 or more; got nan"),
        (lambda s, h: acc_eq(s, h, epsilon=[1.0, 2.0]), "one for each of 3 metrics"),
        (lambda s, h: held_out_acc_eq(s, h, folds=1), "2 folds or more; got 1"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong: object, message: str) -> None:
    assert callable(wrong)
    with pytest.raises(InvalidInput, match=message):
        wrong(*table(14))


def test_differences_are_first_less_second_for_every_pair_of_rows() -> None:
    values = np.array([[1.0, 2.0], [4.0, np.inf], [9.0, 0.0]])
    np.testing.assert_array_equal(pair_differences(values), [[-3, NAN], [-8, 2], [-5, NAN]])
    assert pair_differences(np.stack([values, values])).shape == (2, 3, 2)


def test_pdp_of_a_table_worked_by_hand() -> None:
    # Instance 0: d_h = -1, -2, -1 and d_m = -2, -1, 1; instance 1 has one pair: d_h = 3, d_m = 1.
    # Σ d_h·d_m = 2 + 2 - 1 + 3 = 6; Σ d_h² = 1 + 4 + 1 + 9 = 15; Σ d_m² = 4 + 1 + 1 + 1 = 7.
    human = np.array([[1.0, 5.0], [2.0, 2.0], [3.0, NAN]])
    scores = np.array([[[0.0, 7.0], [2.0, 6.0], [1.0, 0.0]]])
    found = pairwise_difference_pearson(scores, human)
    assert found.value[0] == pytest.approx(6 / np.sqrt(15 * 7), abs=1e-15)
    assert found.n[0] == 4


@pytest.mark.parametrize("seed", range(4))
def test_pdp_equals_a_loop_over_pairs_and_ignores_what_an_instance_adds(seed: int) -> None:
    scores, human = table(seed)
    found = pairwise_difference_pearson(scores, human)
    shifted = pairwise_difference_pearson(scores + 1000 * np.arange(12), human - 50 * np.arange(12))
    for k, one in enumerate(scores):
        m, h = np.array([pair for pairs in pairs_of(one, human) for pair in pairs]).T
        assert found.value[k] == pytest.approx((m @ h) / np.sqrt((m @ m) * (h @ h)), abs=1e-13)
        assert found.n[k] == len(m)
    np.testing.assert_allclose(shifted.value, found.value, atol=1e-9)
