"""Exact REML against statsmodels, closed forms and the boundary."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.typing import NDArray
from scipy import stats
from scipy.optimize import minimize_scalar

from billboards.errors import NotEnoughData
from billboards.stats import mixed
from billboards.stats import overrating as overrating_module
from billboards.stats.mixed import fit_random_intercept, fit_random_intercepts, likelihood_ratio
from billboards.stats.overrating import overrating, overrating_all

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


@pytest.mark.parametrize(("seed", "spread"), [(11, 0.5), (12, 1.0), (13, 5.0)])
def test_the_fit_is_the_optimum_of_the_dense_likelihood(seed: int, spread: float) -> None:
    y, design, group = rows(seed, groups=25, spread=spread)
    same = np.equal.outer(group, group).astype(float)

    def deviance(log_ratio: float) -> float:
        v = np.eye(len(y)) + math.exp(log_ratio) * same
        weighed = np.linalg.solve(v, design)
        fixed, moment = design.T @ weighed, weighed.T @ y
        residual = y @ np.linalg.solve(v, y) - moment @ np.linalg.solve(fixed, moment)
        rest = len(y) - 3
        spreads = np.linalg.slogdet(v)[1] + np.linalg.slogdet(fixed)[1]
        return float(spreads + rest * (1 + math.log(2 * math.pi * residual / rest)))

    best = minimize_scalar(deviance, bounds=(-8, 8), method="bounded", options={"xatol": 1e-10})
    fit = fit_random_intercept(y, design, group)
    assert fit.deviance == pytest.approx(best.fun, abs=1e-9)
    assert fit.group_variance / fit.residual_variance == pytest.approx(math.exp(best.x), rel=1e-5)


def test_many_targets_at_once_equal_one_at_a_time_in_any_order_of_rows() -> None:
    y, design, group = rows(14, groups=30, spread=1.0)
    random = np.random.default_rng(14)
    targets = np.stack((y, random.normal(size=len(y)), y + 10 * design[:, 2]))
    order = random.permutation(len(y))
    fits = fit_random_intercepts(targets[:, order], design[order], group[order])
    for k, target in enumerate(targets):
        alone = fit_random_intercept(target, design, group)
        np.testing.assert_allclose(fits.of(k).beta, alone.beta, atol=1e-10)
        np.testing.assert_allclose(fits.of(k).df, alone.df, rtol=1e-6)
        assert fits.of(k).deviance == pytest.approx(alone.deviance, abs=1e-9)


def test_degrees_of_freedom_are_those_of_analysis_of_variance_where_that_is_exact() -> None:
    random = np.random.default_rng(15)
    y = random.normal(size=(40, 5)) + 2 * random.normal(size=(40, 1))
    covariate = np.tile([-2.0, -1.0, 0.0, 1.0, 2.0], 40)
    design = np.column_stack((np.ones(200), covariate))
    fit = fit_random_intercept(y.ravel(), design, np.repeat(np.arange(40), 5))
    # 40 group means less their mean; 200 values less 40 group means and a slope within groups.
    np.testing.assert_allclose(fit.df, [39, 159], rtol=1e-9)
    np.testing.assert_allclose(fit.p, 2 * stats.t.sf(np.abs(fit.beta / fit.se), [39, 159]), rtol=1e-7)


def test_the_likelihood_ratio_without_group_effects_is_that_of_least_squares() -> None:
    random = np.random.default_rng(16)
    y, x = random.normal(size=(30, 4)), random.normal(size=(30, 4))
    y -= y.mean(axis=1, keepdims=True)
    x -= x.mean(axis=1, keepdims=True)
    design = np.column_stack((np.ones(120), x.ravel()))
    found = likelihood_ratio(y.ravel(), design, np.repeat(np.arange(30), 4), 1)
    correlation = np.corrcoef(x.ravel(), y.ravel())[0, 1]
    assert found.statistic == pytest.approx(-120 * math.log(1 - correlation**2), rel=1e-9)
    assert found.p == pytest.approx(stats.chi2.sf(found.statistic, 1), rel=1e-9)


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


def test_no_rows_are_refused() -> None:
    with pytest.raises(NotEnoughData, match="0 rows"):
        fit_random_intercept(np.empty(0), np.empty((0, 2)), np.empty(0, np.intp))


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


def metrics(seed: int, shape: tuple[int, int] = (6, 50)) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Five metrics, judgments, and which rows are machines."""
    random = np.random.default_rng(seed)
    human = random.normal(size=shape) * 10 + 70
    machine = np.arange(shape[0]) > 0
    spreads = np.linspace(0, 2, 5)[:, None, None]
    scores = spreads * random.normal(size=(5, 1, shape[1])) + 0.02 * human + 0.4 * machine[:, None]
    return scores + random.normal(size=(5, *shape)), human, machine


def test_all_metrics_at_once_equal_a_fit_of_each_one_standardised_whatever_is_missing() -> None:
    scores, human, machine = metrics(17)
    scores[1, 2, :9] = scores[3, 2, :9] = scores[2, 0, 40:] = human[4, 5:8] = np.nan
    found = overrating_all(scores, human, machine)
    for k, one in enumerate(scores):
        used = np.isfinite(one) & np.isfinite(human)
        row, instance = np.nonzero(used)
        s = (one[used] - one[used].mean()) / one[used].std()
        fit = fit_random_intercept(s, np.column_stack((np.ones(len(s)), machine[row], human[used])), instance)
        assert found.beta0[k] == pytest.approx(fit.beta[1], abs=1e-9)
        assert found.se[k] == pytest.approx(fit.se[1], rel=1e-9)
        assert (found.n[k], found.instances[k]) == (used.sum(), 50)
        assert overrating(one, human, machine).beta0 == pytest.approx(found.beta0[k], abs=1e-10)
    assert found.n.tolist() == [297, 288, 287, 288, 297]


def test_metrics_are_fitted_in_blocks_on_large_boards(monkeypatch: pytest.MonkeyPatch) -> None:
    scores, human, machine = metrics(18)
    whole = overrating_all(scores, human, machine)
    monkeypatch.setattr(overrating_module, "_BLOCK", 2 * 6 * 50)
    np.testing.assert_allclose(overrating_all(scores, human, machine).beta0, whole.beta0, atol=1e-10)


def test_a_metric_without_an_answer_does_not_keep_the_others_from_theirs() -> None:
    scores, human, machine = metrics(19)
    alone = overrating(scores[0], human, machine)
    scores[1], scores[2, 0], scores[3] = 0.1, np.nan, human
    found = overrating_all(scores, human, machine)
    assert found.beta0[0] == pytest.approx(alone.beta0, abs=1e-10)
    assert "same score" in found.why[1]
    assert "both need scores" in found.why[2]
    assert np.isnan(found.beta0[[1, 2]]).all()
    assert np.isnan(found.se[[1, 2]]).all()
    assert found.why[0] == found.why[3] == found.why[4] == ""
    # A metric equal to the judgments is neutral, and nothing is left to be unsure about.
    assert found.beta0[3] == pytest.approx(0, abs=1e-12)
    assert found.se[3] == 0


@pytest.mark.parametrize("unit", [1e-170, 1e170])
def test_scores_of_any_size_have_the_same_overrating(unit: float) -> None:
    scores, human, machine = metrics(25)
    found = overrating_all(scores * unit, human, machine)
    np.testing.assert_allclose(found.beta0, overrating_all(scores, human, machine).beta0, atol=1e-10)


def test_infinite_scores_count_as_missing() -> None:
    scores, human, machine = metrics(20)
    scores[0, 1, 7] = np.nan
    first = overrating(scores[0], human, machine)
    scores[0, 1, 7] = -np.inf
    assert overrating(scores[0], human, machine) == first


def test_a_metric_of_the_input_alone_is_neutral() -> None:
    scores, human, machine = metrics(21)
    found = overrating(np.broadcast_to(scores[0, 0], human.shape), human, machine)
    assert found.beta0 == pytest.approx(0, abs=1e-9)
    assert found.se < 1e-5


def test_one_instance_or_one_output_an_instance_is_least_squares() -> None:
    scores, human, machine = metrics(22, shape=(6, 1))
    single = overrating(scores[1], human, machine)
    s = (scores[1] - scores[1].mean()) / scores[1].std()
    design = np.column_stack((np.ones(6), machine, human[:, 0]))
    peer = sm.OLS(s[:, 0], design).fit()
    assert single.beta0 == pytest.approx(peer.params[1], abs=1e-9)
    assert single.se == pytest.approx(peer.bse[1], rel=1e-7)
    scores, human, machine = metrics(23, shape=(6, 12))
    scores[1][np.arange(12) % 6 != np.arange(6)[:, None]] = np.nan
    used = np.isfinite(scores[1])
    s = (scores[1][used] - scores[1][used].mean()) / scores[1][used].std()
    peer = sm.OLS(s, np.column_stack((np.ones(12), machine[np.nonzero(used)[0]], human[used]))).fit()
    assert overrating(scores[1], human, machine).beta0 == pytest.approx(peer.params[1], abs=1e-9)


def test_two_generators_are_enough() -> None:
    scores, human, machine = metrics(24, shape=(2, 400))
    found = overrating(scores[0], human, machine)
    assert found.beta0 == pytest.approx(0.4 / scores[0].std(), abs=3 * found.se)
    assert found.n == 800


NO_PERSON = np.array([[np.nan] * 5, range(5)])
VARYING = np.array([range(5), [2.0, 0.0, 1.0, 4.0, 3.0]])


@pytest.mark.parametrize(
    ("scores", "human", "message"),
    [
        (np.ones((2, 5)), VARYING, "same score"),
        (np.full((2, 5), 0.1), VARYING, "same score"),
        (NO_PERSON, VARYING, "both need scores"),
        (np.full((2, 5), np.nan), VARYING, "both need scores"),
        (VARYING, np.full((2, 5), 3.0), "every judgment is the same"),
        (VARYING, np.repeat([[1.0], [2.0]], 5, axis=1), "repeats the others"),
    ],
    ids=[
        "constant",
        "constant but for rounding",
        "no person",
        "nothing",
        "tied judgments",
        "judgments tell them apart",
    ],
)
def test_overrating_without_an_answer_says_why(scores: Floats, human: Floats, message: str) -> None:
    with pytest.raises(NotEnoughData, match=message):
        overrating(scores, human, np.array([False, True]))


def test_no_metrics_have_no_overrating() -> None:
    found = overrating_all(np.empty((0, 2, 5)), VARYING, np.array([False, True]))
    assert (len(found.beta0), found.why) == (0, ())


@pytest.mark.parametrize("offset", [-0.4, 0.0, 0.3])
def test_the_search_begins_at_the_lowest_point_of_a_parabola(offset: float) -> None:
    step = mixed.GRID[2] - mixed.GRID[1]
    lowest = mixed.GRID[7] + offset * step
    values = ((mixed.GRID - lowest) ** 2)[np.newaxis]
    assert mixed._vertex(values, np.array([7])) == pytest.approx(lowest)
    flat = np.zeros((1, len(mixed.GRID)))
    assert mixed._vertex(flat, np.array([7])) == pytest.approx(mixed.GRID[7])
