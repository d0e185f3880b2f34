"""Confidence sequences and e-values: the published formulas written out, closed forms, and what holds at all times."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.stats import norm

from billboards.errors import InvalidInput
from billboards.stats.sequences import (
    STAKES,
    asymptotic_sequence,
    confidence_sequence,
    e_benjamini_hochberg,
    log_asymptotic_evidence,
    log_evidence,
    log_evidence_of_error,
    mixture_width,
)

Floats = NDArray[np.float64]


def plain_evidence(values: Floats, mean: float, pool: int | None = None) -> list[float]:
    """What 14 gamblers have after each value on average, one bet after the other."""
    wealth, total = [1.0] * len(STAKES), 0.0
    evidence: list[float] = []
    for drawn, value in enumerate(values.tolist()):
        expected = mean if pool is None else (pool * mean - total) / (pool - drawn)
        total += value
        if pool is not None and total > pool * mean + 1e-9:
            return evidence + [math.inf] * (len(values) - drawn)
        if expected > 1e-9:
            bets = [stake / expected for stake in STAKES]
            wealth = [has * (1 + bet * (value - expected)) for has, bet in zip(wealth, bets, strict=True)]
        evidence.append(sum(wealth) / len(wealth))
    return evidence


def ratings(seed: int, n: int, levels: int = 5) -> Floats:
    return np.random.default_rng(seed).binomial(levels - 1, 0.7, n) / (levels - 1)


@pytest.mark.parametrize("pool", [None, 100])
def test_evidence_is_what_gamblers_have(pool: int | None) -> None:
    values = ratings(1, 60)
    for mean in (0.3, 0.5, 0.71):
        assert np.exp(log_evidence(values, mean, pool=pool)) == pytest.approx(plain_evidence(values, mean, pool))


def test_a_pool_refutes_means_that_what_is_left_of_it_cannot_make() -> None:
    values = np.array([1.0, 1, 0, 1])
    assert np.isfinite(log_evidence(values, 0.3, pool=10)).all(), "three of ten make .3 at least"
    assert np.isinf(log_evidence(values, 0.29, pool=10)).tolist() == [False, False, False, True]
    assert confidence_sequence(np.ones(5), pool=5) == pytest.approx((1.0, 1.0), abs=1e-6)
    assert confidence_sequence(np.zeros(5), pool=5) == pytest.approx((0.0, 0.0), abs=1e-6)


@pytest.mark.parametrize("pool", [None, 200])
def test_the_interval_holds_every_mean_that_was_never_refuted(pool: int | None) -> None:
    values = ratings(2, 120)
    kept = [
        mean
        for mean in np.arange(400, 900) / 1000
        if max(plain_evidence(values, mean, pool)) < 40 and max(plain_evidence(1 - values, 1 - mean, pool)) < 40
    ]
    low, high = confidence_sequence(values, pool=pool)
    assert (low, high) == pytest.approx((kept[0], kept[-1]), abs=0.0011)
    assert confidence_sequence(100 * values, high=100, pool=pool) == pytest.approx((100 * low, 100 * high), abs=1e-5)


def test_the_interval_only_shrinks_and_one_sided_values_have_one_end() -> None:
    values = ratings(3, 90)
    widths = [high - low for low, high in (confidence_sequence(values[:n]) for n in (5, 20, 50, 90))]
    assert widths == sorted(widths, reverse=True)
    low, high = confidence_sequence(np.zeros(50))
    assert low == 0
    # The boldest gambler has 1/(1 - mean) for each zero; with the others' help 40 times the stake come a bit sooner.
    assert 1 - (40 * len(STAKES)) ** (-1 / 50) > high > 1 - 40 ** (-1 / 50)


def ever_wrong(ordinary: bool, seed: int, runs: int = 150, n: int = 150) -> float:
    """How often an interval misses the true mean of five-level ratings at any look from the 10th label on."""
    wrong = 0
    for run in range(runs):
        values = ratings(seed + run, n)
        if ordinary:
            count = np.arange(1, n + 1)
            mean = np.cumsum(values) / count
            sd = np.sqrt(np.maximum(np.cumsum(values**2) / count - mean**2, 0) * count / np.maximum(count - 1, 1))
            wrong += bool((np.abs(mean - 0.7) > 1.96 * sd / np.sqrt(count))[9:].any())
        else:
            low = log_evidence(values, 0.7).max() >= math.log(40)
            wrong += bool(low or log_evidence(1 - values, 0.3).max() >= math.log(40))
    return wrong / runs


def test_sequences_hold_at_every_look_and_ordinary_intervals_do_not() -> None:
    assert ever_wrong(ordinary=False, seed=100) <= 0.05
    assert ever_wrong(ordinary=True, seed=100) > 0.2


def test_values_outside_of_their_scale_are_refused() -> None:
    with pytest.raises(InvalidInput, match="from 0 to 1"):
        confidence_sequence([0.2, 1.2])
    with pytest.raises(InvalidInput, match="a higher end"):
        confidence_sequence([0.2], low=1, high=1)
    with pytest.raises(InvalidInput, match="pool of 2"):
        confidence_sequence([0.2, 0.3, 0.4], pool=2)
    with pytest.raises(InvalidInput, match="between 0 and 1"):
        e_benjamini_hochberg([1.0], 0)
    with pytest.raises(InvalidInput, match="an accuracy"):
        log_evidence_of_error(1, 1, accuracy=1.0)


def test_asymptotic_sequences_follow_the_published_formula() -> None:
    n, sd, rho, alpha = 250, 3.0, 0.2, 0.05
    low, high = asymptotic_sequence(1.5, sd, n, rho=rho)
    half = sd * math.sqrt(2 * (n * rho**2 + 1) / (n**2 * rho**2) * math.log(math.sqrt(n * rho**2 + 1) / alpha))
    assert (float(low), float(high)) == pytest.approx((1.5 - half, 1.5 + half))
    assert mixture_width(0.95, 100) == pytest.approx(
        math.sqrt((-2 * math.log(0.05) + math.log(-2 * math.log(0.05) + 1)) / 100)
    )


@pytest.mark.parametrize("estimate", [-0.4, 0.0, 0.7])
def test_asymptotic_evidence_is_the_mixture_over_gains(estimate: float) -> None:
    n, sd, rho = 40, 2.0, 0.3
    total = n * estimate / sd
    mixed, _ = quad(lambda gain: 2 * norm.pdf(gain, 0, rho) * math.exp(gain * total - gain**2 * n / 2), 0, 10)
    assert math.exp(log_asymptotic_evidence(estimate, sd, n, rho=rho)) == pytest.approx(mixed, rel=1e-6)


def test_evidence_of_error_is_the_likelihood_ratio_over_lower_accuracies() -> None:
    for right, wrong in ((0, 5), (3, 3), (12, 1)):
        mixed, _ = quad(lambda p, r=right, w=wrong: p**r * (1 - p) ** w / 0.8 / (0.8**r * 0.2**w), 0, 0.8)
        assert math.exp(log_evidence_of_error(right, wrong, accuracy=0.8)) == pytest.approx(mixed)


def test_who_is_accurate_enough_is_hardly_ever_excluded_and_who_guesses_is() -> None:
    random = np.random.default_rng(5)

    def ever(accuracy: float) -> float:
        right = np.cumsum(random.random((500, 80)) < accuracy, axis=1)
        wrong = np.arange(1, 81) - right
        return float((log_evidence_of_error(right, wrong, accuracy=0.8) >= math.log(100)).any(axis=1).mean())

    assert ever(0.8) <= 0.01
    assert ever(0.95) == 0
    assert ever(0.4) > 0.99


def test_e_bh_rejects_the_largest_group_that_is_large_enough() -> None:
    values = np.array([2000.0, 3.0, 45.0, 70.0, 100.0, 0.1])
    # 6 / (0.1 k) is 60, 30, 20, 15 …: 2000, 100, 70 and 45 pass, 3 does not.
    assert e_benjamini_hochberg(np.log(values), 0.1).tolist() == [True, False, True, True, True, False]
    assert not e_benjamini_hochberg(np.log([50.0, 1.0, 1.0, 1.0, 1.0, 1.0]), 0.1).any()
    assert not e_benjamini_hochberg(np.log([70.0]), 0.1, hypotheses=8).any()
    assert e_benjamini_hochberg(np.log([81.0]), 0.1, hypotheses=8).tolist() == [True]
