"""Agreement with preferences: the share worked by hand, intervals over instances, and tests between metrics."""

from __future__ import annotations

import numpy as np
import pytest

from billboards.stats.preferences import decisions, exchange_decisions, preference_agreement, preference_correlations

SCORES = np.array([[[3.0, 1.0], [2.0, 1.0], [1.0, np.nan]], [[1.0, 1.0], [2.0, 0.0], [3.0, 5.0]]])
BETTER, WORSE, INSTANCE = np.array([0, 0, 0, 0]), np.array([1, 2, 1, 2]), np.array([0, 0, 1, 1])


def test_a_tied_pair_is_wrong_and_a_missing_score_no_decision() -> None:
    said = decisions(SCORES, BETTER, WORSE, INSTANCE)
    np.testing.assert_array_equal(said, [[1, 1, -1, np.nan], [-1, -1, 1, -1]])
    found = preference_correlations(said, INSTANCE, draws=0)
    assert found.r.tolist() == [pytest.approx(1 / 3), -0.5]
    assert found.n.tolist() == [3, 4]


def test_the_value_is_wmt_s_kendall() -> None:
    random = np.random.default_rng(0)
    scores = random.integers(0, 4, (3, 5, 40)).astype(float)
    better, worse = np.repeat(np.arange(5), 8), np.tile(np.roll(np.arange(5), 1), 8)
    worse = np.where(worse == better, (better + 1) % 5, worse)
    instance = np.arange(40)
    found = preference_correlations(decisions(scores, better, worse, instance), instance, draws=0)
    expected = preference_agreement(scores[:, better, instance], scores[:, worse, instance])
    np.testing.assert_allclose(found.r, expected.value)
    np.testing.assert_array_equal(found.n, expected.n)


def test_intervals_hold_the_value_and_need_two_instances() -> None:
    random = np.random.default_rng(1)
    said = random.choice([-1.0, 1.0], (2, 300), p=[0.3, 0.7])
    found = preference_correlations(said, np.arange(300) // 3, seed=4)
    assert (found.low < found.r).all()
    assert (found.r < found.high).all()
    one = preference_correlations(said[:, :3], np.zeros(3, int))
    assert np.isnan(one.low).all()


def test_a_metric_that_decides_better_beats_one_that_guesses() -> None:
    random = np.random.default_rng(2)
    right, guess = np.where(random.random(400) < 0.8, 1.0, -1.0), random.choice([-1.0, 1.0], 400)
    instance = np.arange(400) // 2
    p = exchange_decisions(np.array([right, guess, right]), instance, draws=999)
    assert p[0, 1] == pytest.approx(0.001)
    assert p[1, 0] == pytest.approx(1.0)
    assert p[0, 2] == 1.0
    assert np.isnan(p[0, 0])


def test_two_metrics_are_compared_on_the_pairs_that_both_decide() -> None:
    first = np.array([1.0, 1.0, 1.0, np.nan, np.nan, 1.0])
    second = np.array([1.0, 1.0, 1.0, -1.0, -1.0, 1.0])
    p = exchange_decisions(np.array([first, second]), np.arange(6), draws=99)
    assert p[0, 1] == 1.0


def test_under_no_difference_small_p_values_are_as_rare_as_they_should_be() -> None:
    random = np.random.default_rng(3)
    small = 0
    for seed in range(200):
        said = random.choice([-1.0, 1.0], (2, 120))
        small += exchange_decisions(said, np.arange(120) // 2, draws=199, seed=seed)[0, 1] <= 0.05
    assert 1 <= small <= 20
