"""Crossed random effects against closed forms, dense matrices, and numbers that lme4 and lmerTest gave once."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from billboards.errors import NotEnoughData
from billboards.stats.crossed import CrossedFit, fit_crossed, likelihood_ratio
from billboards.stats.overrating import overrating_crossed

Floats = NDArray[np.float64]


def board(
    seed: int, *, shape: tuple[int, int] = (7, 40), instances: float = 1.0, generators: float = 0.6, gaps: float = 0.15
) -> tuple[Floats, Floats]:
    """y and [1, machine, h] as generators × instances, with gaps."""
    random = np.random.default_rng(seed)
    h = random.normal(size=shape)
    machine = np.broadcast_to((np.arange(shape[0]) > 0)[:, None], shape)
    y = 0.5 * machine + 0.2 * h + instances * random.normal(size=(1, shape[1]))
    y = y + generators * random.normal(size=(shape[0], 1)) + random.normal(size=shape)
    y[random.random(shape) < gaps] = np.nan
    return y, np.stack((np.ones(shape), machine, h))


def dense_deviance(y: Floats, design: Floats, variances: Floats) -> float:
    """-2 log restricted likelihood from the whole covariance matrix, at the best fixed effects."""
    used = np.isfinite(y)
    generator, instance = np.nonzero(used)
    x, values = design[:, used].T, y[used]
    v = variances[0] * np.eye(len(values)) + variances[1] * np.equal.outer(instance, instance)
    v = v + variances[2] * np.equal.outer(generator, generator)
    weighed = np.linalg.solve(v, np.column_stack((x, values)))
    normal = np.column_stack((x, values)).T @ weighed
    fixed = normal[:-1, :-1]
    residual = normal[-1, -1] - normal[:-1, -1] @ np.linalg.solve(fixed, normal[:-1, -1])
    spread = np.linalg.slogdet(v)[1] + np.linalg.slogdet(fixed)[1]
    return float(spread + residual + (len(values) - len(fixed)) * math.log(2 * math.pi))


def variances(fit: CrossedFit) -> Floats:
    return np.array([fit.residual_variance, fit.instance_variance, fit.generator_variance])


@pytest.mark.parametrize("seed", range(4))
def test_the_fit_is_the_optimum_of_the_dense_likelihood(seed: int) -> None:
    y, design = board(seed)
    fit = fit_crossed(y, design)
    best = variances(fit)
    assert fit.deviance == pytest.approx(dense_deviance(y, design, best), abs=1e-9)
    for k in range(3):
        for factor in (0.99, 1.01):
            nearby = best.copy()
            nearby[k] *= factor
            assert dense_deviance(y, design, nearby) > fit.deviance


def test_effects_and_errors_are_those_of_generalised_least_squares() -> None:
    y, design = board(5)
    fit = fit_crossed(y, design)
    used = np.isfinite(y)
    generator, instance = np.nonzero(used)
    v = fit.residual_variance * np.eye(fit.n) + fit.instance_variance * np.equal.outer(instance, instance)
    v = v + fit.generator_variance * np.equal.outer(generator, generator)
    x, inverse = design[:, used].T, np.linalg.inv(v)
    np.testing.assert_allclose(fit.beta, np.linalg.solve(x.T @ inverse @ x, x.T @ inverse @ y[used]), atol=1e-10)
    np.testing.assert_allclose(fit.se, np.sqrt(np.diag(np.linalg.inv(x.T @ inverse @ x))), rtol=1e-10)
    assert (fit.n, fit.instances, fit.generators) == (used.sum(), 40, 7)


def test_a_balanced_table_has_the_closed_form_of_two_way_analysis_of_variance() -> None:
    y, _ = board(6, shape=(6, 30), gaps=0.0)
    fit = fit_crossed(y, np.ones((1, 6, 30)))
    rows, columns = y.mean(axis=1, keepdims=True), y.mean(axis=0, keepdims=True)
    residual = ((y - rows - columns + y.mean()) ** 2).sum() / (5 * 29)
    generators, instances = 30 * rows.var(ddof=1), 6 * columns.var(ddof=1)
    assert fit.residual_variance == pytest.approx(residual, rel=1e-9)
    assert fit.generator_variance == pytest.approx((generators - residual) / 30, rel=1e-9)
    assert fit.instance_variance == pytest.approx((instances - residual) / 6, rel=1e-9)
    assert fit.se[0] == pytest.approx(np.sqrt((generators + instances - residual) / 180), rel=1e-9)
    # Satterthwaite's formula for a sum of mean squares with 5, 29 and 145 degrees of freedom.
    squares = generators**2 / 5 + instances**2 / 29 + residual**2 / 145
    assert fit.df[0] == pytest.approx((generators + instances - residual) ** 2 / squares, rel=1e-7)


def test_a_difference_between_generators_is_judged_by_their_number() -> None:
    y, design = board(7, shape=(9, 50), gaps=0.0)
    fit = fit_crossed(y, design[:2])
    person, machines = y[0].mean(), y[1:].mean(axis=1)
    assert fit.beta[1] == pytest.approx(machines.mean() - person, abs=1e-10)
    assert fit.se[1] == pytest.approx(machines.std(ddof=1) * np.sqrt(1 + 1 / 8), rel=1e-9)
    assert fit.df[1] == pytest.approx(9 - 2, rel=1e-7)
    # The same as comparing one mean with eight by a t-test.
    assert fit.p[1] == pytest.approx(stats.ttest_ind([person], machines).pvalue, rel=1e-7)
    half = stats.t.ppf(0.975, 7) * fit.se[1]
    assert fit.interval(1) == pytest.approx((fit.beta[1] - half, fit.beta[1] + half), rel=1e-7)


def small_table() -> tuple[Floats, Floats]:
    """Five generators, eight instances, three gaps, and no random numbers."""
    g, i = np.indices((5, 8))
    y = np.round(10 * np.sin(2.3 * g + 1) + 6 * np.cos(1.7 * i) + 8 * np.sin(7 * g + 11 * i), 3)
    y[0, 2] = y[1, 3] = y[3, 5] = np.nan
    return y, np.stack((np.ones((5, 8)), g > 0, (3.0 * g + 5 * i) % 7))


def test_a_small_table_equals_lme4_1_1_31_and_lmertest_3_1_3() -> None:
    y, design = small_table()
    assert y[0, :2].tolist() == [14.415, -0.358]
    fit = fit_crossed(y, design)
    np.testing.assert_allclose(fit.beta, [10.511118, -9.289262, -0.831587], rtol=2e-6)
    np.testing.assert_allclose(fit.se, [7.778812, 7.983634, 0.453032], rtol=2e-6)
    np.testing.assert_allclose(variances(fit), [28.651602, 64.404091, 46.816155], rtol=5e-6)
    assert fit.deviance == pytest.approx(245.520319026, abs=1e-8)
    np.testing.assert_allclose(fit.df, [4.182803, 3.001776, 24.510203], rtol=1e-5)
    np.testing.assert_allclose(fit.p, [0.245081, 0.328698, 0.078579], rtol=1e-5)


def test_likelihood_ratios_of_the_small_table_equal_lme4_and_halve_p_for_a_variance() -> None:
    y, design = small_table()
    fit, effect = fit_crossed(y, design), likelihood_ratio(y, design, 1)
    assert effect.statistic == pytest.approx(1.685934, abs=1e-5)
    assert effect.p == pytest.approx(0.194138, abs=1e-6)
    assert fit.instance_test.statistic == pytest.approx(20.533393, abs=1e-5)
    assert fit.instance_test.p == pytest.approx(5.86e-06 / 2, rel=1e-3)
    assert fit.generator_test.statistic == pytest.approx(14.675446, abs=1e-5)
    assert fit.generator_test.p == pytest.approx(stats.chi2.sf(14.675446, 1) / 2, rel=1e-5)


def test_variances_of_zero_are_found_as_such() -> None:
    y, design = board(1, instances=0.0, generators=0.0, gaps=0.0)
    y -= y.mean(axis=1, keepdims=True) + y.mean(axis=0, keepdims=True)
    fit = fit_crossed(y, design)
    beta, residual, *_ = np.linalg.lstsq(design.reshape(3, -1).T, y.ravel(), rcond=None)
    assert (fit.instance_variance, fit.generator_variance) == (0, 0)
    np.testing.assert_allclose(fit.beta, beta, atol=1e-12)
    assert fit.residual_variance == pytest.approx(residual[0] / 277, rel=1e-12)
    np.testing.assert_allclose(fit.df, 277, rtol=1e-12)
    assert (fit.generator_test.statistic, fit.generator_test.p) == (0, 1)
    assert (fit.instance_test.statistic, fit.instance_test.p) == (0, 1)


def test_the_roles_of_instances_and_generators_can_be_exchanged() -> None:
    y, design = board(8, shape=(6, 25))
    one, other = fit_crossed(y, design), fit_crossed(y.T, design.transpose(0, 2, 1))
    np.testing.assert_allclose(one.beta, other.beta, atol=1e-9)
    np.testing.assert_allclose(one.df, other.df, rtol=1e-6)
    assert (one.instances, one.generators) == (other.generators, other.instances)
    assert one.instance_variance == pytest.approx(other.generator_variance, rel=1e-7)
    assert one.without_instances == pytest.approx(other.without_generators, abs=1e-9)


def test_infinite_values_count_as_missing_and_a_row_without_values_as_absent() -> None:
    y, design = board(10)
    y[2, 3] = np.nan
    first = fit_crossed(y, design)
    y[2, 3] = np.inf
    padded = fit_crossed(
        np.vstack((y, np.full((1, 40), np.nan))), np.concatenate((design, np.ones((3, 1, 40))), axis=1)
    )
    assert (padded.n, padded.generators) == (first.n, 7)
    np.testing.assert_allclose(padded.beta, first.beta, atol=1e-9)


def test_what_the_fixed_effects_explain_has_no_variance_left() -> None:
    _, design = board(11)
    fit = fit_crossed(3 * design[2] - 1, design)
    np.testing.assert_allclose(fit.beta, [-1, 0, 3], atol=1e-12)
    assert variances(fit).tolist() == [0, 0, 0]
    assert fit.se.tolist() == [0, 0, 0]
    assert np.isnan(fit.p).all()
    gained, not_gained = (likelihood_ratio(3 * design[2] - 1, design, column) for column in (2, 1))
    assert (gained.statistic, gained.p) == (math.inf, 0)
    assert (not_gained.statistic, not_gained.p) == (0, 1)


@pytest.mark.parametrize("unit", [1e-7, 1e7])
def test_the_unit_of_the_scores_changes_nothing_but_the_unit_of_the_variances(unit: float) -> None:
    y, design = board(11)
    fit, scaled = fit_crossed(y, design), fit_crossed(unit * y, design)
    np.testing.assert_allclose(variances(scaled), unit**2 * variances(fit), rtol=1e-4)
    np.testing.assert_allclose(scaled.p, fit.p, rtol=1e-3)
    assert variances(fit).min() > 0


@pytest.mark.parametrize(
    ("rows", "columns", "message"),
    [
        (slice(None), slice(1), "at least two generators and two instances"),
        (slice(1), slice(None), "at least two generators and two instances"),
        (slice(0), slice(0), "at least two generators and two instances"),
        (slice(2), slice(None), "already tell every generator"),
    ],
    ids=["one instance", "one generator", "nothing", "two generators and their difference"],
)
def test_too_few_of_either_are_refused(rows: slice, columns: slice, message: str) -> None:
    y, design = board(12, gaps=0.0)
    with pytest.raises(NotEnoughData, match=message):
        fit_crossed(y[rows, columns], design[:, rows, columns])


def test_a_repeated_column_is_refused() -> None:
    y, design = board(13)
    with pytest.raises(NotEnoughData, match="repeats the others"):
        fit_crossed(y, np.concatenate((design, design[2:])))


@pytest.mark.parametrize("axis", [0, 1], ids=["instances", "generators"])
def test_values_that_instances_or_generators_explain_entirely_are_refused(axis: int) -> None:
    y, design = board(14, gaps=0.0)
    with pytest.raises(NotEnoughData, match="explain every value"):
        fit_crossed(np.broadcast_to(y.mean(axis=axis, keepdims=True), y.shape), design)


def test_overrating_with_generators_as_a_sample_is_less_sure_and_in_standard_deviations() -> None:
    y, design = board(15, shape=(10, 60))
    machine = np.arange(10) > 0
    found = overrating_crossed(y * 30 + 500, design[2] * 10 + 70, machine)
    direct = fit_crossed((y - np.nanmean(y)) / np.nanstd(y), design)
    assert found.beta0 == pytest.approx(direct.beta[1], abs=1e-9)
    assert found.se == pytest.approx(direct.se[1], rel=1e-9)
    assert found.p == pytest.approx(direct.p[1], rel=1e-7)
    low, high = found.interval90
    assert high - low == pytest.approx(2 * stats.t.ppf(0.95, direct.df[1]) * found.se, rel=1e-7)
    assert direct.df[1] < 10


def test_overrating_of_a_constant_metric_is_refused() -> None:
    _, design = board(16)
    with pytest.raises(NotEnoughData, match="same score"):
        overrating_crossed(np.full((7, 40), 0.1), design[2], np.arange(7) > 0)
