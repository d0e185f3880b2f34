"""Means with bootstrap intervals, worst-case standard errors, and ratings that a metric finds implausible."""

from __future__ import annotations

import numpy as np
import pytest

from billboards.errors import InvalidInput, NotEnoughData
from billboards.stats.implausible import standardised_residuals
from billboards.stats.worst_case import bootstrap_mean, labels_for_se, worst_case_se


def test_the_worst_case_of_genies_presets() -> None:
    assert worst_case_se(0.5, 800) == pytest.approx(0.01768, abs=1e-5)
    assert worst_case_se(0.5, 300) == pytest.approx(0.02887, abs=1e-5)
    assert worst_case_se(0.8, 100) == pytest.approx(0.04)
    assert worst_case_se(3, 100, low=1, high=5) == pytest.approx(0.2)


def test_no_labels_can_vary_more_than_the_worst_case() -> None:
    labels = np.random.default_rng(0).beta(0.2, 0.1, 500)
    assert labels.std() / np.sqrt(500) <= worst_case_se(float(labels.mean()), 500)


def test_labels_for_a_standard_error_are_enough_and_one_fewer_is_not() -> None:
    n = labels_for_se(0.02, mean=0.7)
    assert worst_case_se(0.7, n) <= 0.02 < worst_case_se(0.7, n - 1)
    assert labels_for_se(0.05) == 100


def test_a_bootstrap_interval_of_a_mean_is_about_two_standard_errors_wide() -> None:
    values = np.append(np.random.default_rng(1).normal(50, 10, 400), np.nan)
    mean, low, high = bootstrap_mean(values, resamples=2000, seed=3)
    assert mean == pytest.approx(np.nanmean(values))
    assert high - low == pytest.approx(2 * 1.96 * 0.5, rel=0.1)
    assert bootstrap_mean(values, resamples=50, seed=3) == bootstrap_mean(values, resamples=50, seed=3)


def test_values_of_one_group_are_drawn_together() -> None:
    values = np.repeat(np.random.default_rng(2).normal(0, 1, 50), 20)
    _, low, high = bootstrap_mean(values, groups=np.repeat(np.arange(50), 20), resamples=1000)
    _, narrow, wide = bootstrap_mean(values, resamples=1000)
    assert high - low > 3 * (wide - narrow)


def test_a_mean_off_the_scale_and_no_labels_are_refused() -> None:
    with pytest.raises(InvalidInput, match="does not lie on the scale"):
        worst_case_se(5, 10)
    with pytest.raises(NotEnoughData):
        bootstrap_mean([np.nan])


def test_a_residual_is_that_of_a_line_fitted_to_the_other_ratings() -> None:
    random = np.random.default_rng(4)
    score, human = random.normal(0, 1, 30), random.normal(0, 1, 30)
    _, found = standardised_residuals(np.append(score, np.nan), np.append(human, 1.0))
    for k in range(3):
        others = np.arange(30) != k
        x, y = score[others], human[others]
        slope, start = np.polyfit(x, y, 1)
        spread = np.sqrt(((y - start - slope * x) ** 2).sum() / 27)
        wide = np.sqrt(1 + 1 / 29 + (score[k] - x.mean()) ** 2 / ((x - x.mean()) ** 2).sum())
        assert found[k] == pytest.approx((human[k] - start - slope * score[k]) / (spread * wide))
    assert np.isnan(found[30])


def test_ratings_without_as_many_scores_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"every rating needs its score; the shapes are \(5,\) and \(4,\)"):
        standardised_residuals(np.arange(5.0), np.arange(4.0))


def test_ratings_that_were_turned_round_come_first() -> None:
    random = np.random.default_rng(5)
    score = random.normal(50, 20, 500)
    human = score + random.normal(0, 10, 500)
    wrong = random.permutation(500)[:20]
    human[wrong] = 100 - human[wrong]
    residual = np.abs(standardised_residuals(score, human)[1])
    first = np.argsort(-residual)[:20]
    # By chance one of them would be wrong.
    assert np.isin(first, wrong).sum() >= 8
