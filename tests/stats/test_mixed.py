"""Exact REML against statsmodels, closed forms and the boundary."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.typing import NDArray

from billboards.errors import NotEnoughData
from billboards.stats.mixed import fit_random_intercept
from billboards.stats.overrating import overrating

Floats = NDArray[np.float64]


def rows(seed: int, *, groups: int, spread: float) -> tuple[Floats, Floats, NDArray[np.intp]]:
    random = np.random.default_rng(seed)
    group = np.sort(random.integers(0, groups, size=groups * 6))
    design = np.column_stack((np.ones(len(group)), random.random(len(group)) < 0.8, random.normal(size=len(group))))
    y = design @ [0.3, 0.7, -0.2] + spread * random.normal(size=groups)[group] + random.normal(size=len(group))
    return y, design.astype(float), group


@pytest.mark.parametrize(("seed", "spread"), [(1, 0.3), (2, 1.0), (3, 3.0), (4, 0.6)])
def test_estimates_equal_statsmodels(seed: int, spread: float) -> None:
    y, design, group = rows(seed, groups=60, spread=spread)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = sm.MixedLM(y, design, group).fit(reml=True, method="powell", gtol=1e-10)
    ours = fit_random_intercept(y, design, group)
    np.testing.assert_allclose(ours.beta, peer.fe_params, atol=1e-5)
    assert ours.residual_variance == pytest.approx(peer.scale, rel=1e-4)
    assert ours.group_variance == pytest.approx(float(peer.cov_re[0, 0]), rel=1e-3)
    assert ours.deviance == pytest.approx(-2 * peer.llf, abs=1e-5)
    assert -ours.deviance / 2 >= peer.llf - 1e-6


def test_standard_errors_are_those_of_generalised_least_squares_at_the_estimated_variances() -> None:
    y, design, group = rows(5, groups=20, spread=1.0)
    fit = fit_random_intercept(y, design, group)
    same = (group[:, None] == group[None, :]).astype(float)
    inverse = np.linalg.inv(fit.residual_variance * np.eye(len(y)) + fit.group_variance * same)
    np.testing.assert_allclose(fit.se, np.sqrt(np.diag(np.linalg.inv(design.T @ inverse @ design))), rtol=1e-10)
    expected = np.linalg.solve(design.T @ inverse @ design, design.T @ inverse @ y)
    np.testing.assert_allclose(fit.beta, expected, atol=1e-10)


def test_balanced_groups_have_the_closed_form_of_analysis_of_variance() -> None:
    y = np.random.default_rng(5).normal(size=(40, 5)) + 2 * np.random.default_rng(6).normal(size=(40, 1))
    fit = fit_random_intercept(y.ravel(), np.ones((200, 1)), np.repeat(np.arange(40), 5))
    within = ((y - y.mean(axis=1, keepdims=True)) ** 2).sum() / (40 * 4)
    between = 5 * ((y.mean(axis=1) - y.mean()) ** 2).sum() / 39
    assert fit.residual_variance == pytest.approx(within, rel=1e-6)
    assert fit.group_variance == pytest.approx((between - within) / 5, rel=1e-6)
    assert fit.se[0] == pytest.approx(np.sqrt(between / 200), rel=1e-6)


def test_groups_that_do_not_differ_give_ordinary_least_squares() -> None:
    random = np.random.default_rng(7)
    y = random.normal(size=(30, 4))
    y -= y.mean(axis=1, keepdims=True)
    design = np.column_stack((np.ones(120), random.normal(size=120)))
    fit = fit_random_intercept(y.ravel(), design, np.repeat(np.arange(30), 4))
    beta, residual, *_ = np.linalg.lstsq(design, y.ravel(), rcond=None)
    assert fit.group_variance == 0.0
    np.testing.assert_allclose(fit.beta, beta, atol=1e-12)
    assert fit.residual_variance == pytest.approx(residual[0] / 118, rel=1e-12)


def test_a_repeated_column_is_refused() -> None:
    y, design, group = rows(8, groups=10, spread=1.0)
    with pytest.raises(NotEnoughData, match="repeats the others"):
        fit_random_intercept(y, np.column_stack((design, design[:, 1])), group)


def test_overrating_is_the_machines_bonus_in_standard_deviations() -> None:
    random = np.random.default_rng(9)
    human = random.normal(size=(9, 400)) * 10 + 70
    machine = np.arange(9) > 0
    scores = (
        0.05 * human + 0.9 * machine[:, None] + 0.5 * random.normal(size=400) + 0.5 * random.normal(size=human.shape)
    )
    found = overrating(scores, human, machine)
    assert found.beta0 == pytest.approx(0.9 / scores.std(), abs=0.05)
    assert found.interval90 == (found.beta0 - 1.645 * found.se, found.beta0 + 1.645 * found.se)
    assert (found.n, found.instances) == (3600, 400)


def test_overrating_does_not_depend_on_units_and_leaves_missing_out() -> None:
    random = np.random.default_rng(10)
    human, scores, machine = random.normal(size=(4, 50)), random.normal(size=(4, 50)), np.array([0, 1, 1, 1], bool)
    scores[2, :10] = np.nan
    first = overrating(scores, human, machine)
    other = overrating(scores * 37 - 4, human * 20 + 100, machine)
    assert first.n == 190
    assert other.beta0 == pytest.approx(first.beta0, abs=1e-7)
    assert other.se == pytest.approx(first.se, rel=1e-6)


@pytest.mark.parametrize(
    ("scores", "message"),
    [(np.ones((2, 5)), "same score"), (np.array([[np.nan] * 5, range(5)]), "both need scores")],
)
def test_overrating_without_an_answer_says_why(scores: Floats, message: str) -> None:
    human = np.random.default_rng(11).normal(size=(2, 5))
    with pytest.raises(NotEnoughData, match=message):
        overrating(scores, human, np.array([False, True]))
