"""Human + metric estimates: statsmodels' regression and PPI++'s formula as oracles, coverage by simulation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.typing import NDArray
from scipy import stats

import billboards as bb
from billboards.analyses._view import judged_matrix
from billboards.errors import InvalidInput, NotEnoughData
from billboards.stats.estimate import Target, estimate_mean, simulate_coverage

Floats = NDArray[np.float64]


def generator(seed: int, instances: int = 400, labelled: int = 60) -> tuple[Floats, Floats, Floats]:
    """Scores, labels with gaps, and the labels of all instances; labels are skewed, as people's are."""
    random = np.random.default_rng(seed)
    quality = random.gamma(2.0, 10.0, size=instances)
    human = 100 - quality
    metric = 0.7 - quality / 50 + 0.2 * random.normal(size=instances)
    labels = np.full(instances, np.nan)
    chosen = random.choice(instances, labelled, replace=False)
    labels[chosen] = human[chosen]
    return metric, labels, human


def test_mean_and_error_equal_a_regression_with_robust_errors_at_the_mean_score() -> None:
    metric, labels, _ = generator(1)
    there = np.isfinite(labels)
    fit = sm.OLS(labels[there], sm.add_constant(metric[there])).fit(cov_type="HC3")
    at = np.array([1.0, metric.mean()])
    found = estimate_mean(metric, labels)
    variance = (1 - 60 / 400) * at @ fit.cov_params() @ at
    assert found.mean == pytest.approx(fit.params @ at, rel=1e-12)
    assert found.se == pytest.approx(np.sqrt(variance), rel=1e-10)
    assert found.weight == pytest.approx(fit.params[1], rel=1e-10)
    assert found.high - found.mean == pytest.approx(stats.t.ppf(0.975, 58) * np.sqrt(variance), rel=1e-10)


def test_the_mean_equals_ppi_with_its_power_tuning() -> None:
    metric, labels, _ = generator(2)
    there = np.isfinite(labels)
    y, f, unlabelled = labels[there], metric[there], metric[~there]
    n, rest = len(y), len(unlabelled)
    tuning = np.cov(y, f)[0, 1] / (1 + n / rest) / np.var(f, ddof=1)
    ppi = tuning * unlabelled.mean() + (y - tuning * f).mean()
    assert estimate_mean(metric, labels).mean == pytest.approx(ppi, rel=1e-12)


def test_a_small_table_worked_by_hand() -> None:
    # scores 1, 2, 3 labelled 10, 30, 20: slope (−1·−10 + 1·0)/2 = 5; all scores average 3, so 20 + 5·(3 − 2) = 25
    found = estimate_mean(np.array([1.0, 2, 3, 4, 5]), np.array([10.0, 30, 20, np.nan, np.nan]))
    assert (found.mean, found.weight, found.plain_mean) == pytest.approx((25, 5, 20))
    assert found.plain_se == pytest.approx(np.sqrt(100 / 3 * (1 - 3 / 5)))
    assert (found.labels, found.instances) == (3, 5)


def test_effective_labels_are_what_the_plain_mean_would_need() -> None:
    metric, labels, _ = generator(3)
    spread = np.nanvar(labels, ddof=1)
    found = estimate_mean(metric, labels)
    assert found.se**2 == pytest.approx(spread * (1 / found.effective - 1 / 400), rel=1e-10)
    assert found.saved == found.effective - 60 > 30
    population = estimate_mean(metric, labels, target="population")
    assert population.se**2 == pytest.approx(spread / population.effective, rel=1e-10)
    assert population.plain_se == pytest.approx(np.sqrt(spread / 60), rel=1e-12)
    assert population.se > found.se


def test_a_metric_in_other_units_or_upside_down_gives_the_same_estimate() -> None:
    metric, labels, _ = generator(4)
    found = estimate_mean(metric, labels)
    other = estimate_mean(1e6 - 3 * metric, labels)
    assert (other.mean, other.se, other.effective) == pytest.approx((found.mean, found.se, found.effective), rel=1e-6)


@pytest.mark.parametrize("metric", [np.full(40, 0.1), np.full(40, np.nan)])
def test_a_constant_or_absent_metric_leaves_the_plain_mean(metric: Floats) -> None:
    labels = generator(5, instances=40, labelled=12)[1]
    found = estimate_mean(metric, labels)
    assert (found.mean, found.se, found.weight) == (found.plain_mean, found.plain_se, 0)
    assert found.effective == pytest.approx(12)
    y = labels[np.isfinite(labels)]
    assert found.high == pytest.approx(y.mean() + stats.t.ppf(0.975, 11) * y.std(ddof=1) * np.sqrt((1 - 0.3) / 12))


def test_a_slope_that_rests_on_one_label_is_not_trusted() -> None:
    metric = np.array([0.0, 0, 0, 1, 1, 1])
    found = estimate_mean(metric, np.array([1.0, 2, 3, 9, np.nan, np.nan]))
    assert (found.weight, found.mean) == (0, 3.75)


def test_a_metric_equal_to_the_judgments_is_worth_all_labels() -> None:
    _, labels, human = generator(6)
    found = estimate_mean(human, labels)
    assert found.mean == pytest.approx(human.mean(), rel=1e-12)
    assert found.high - found.low == pytest.approx(0, abs=1e-9)
    assert found.effective == pytest.approx(400, rel=1e-6)


def test_once_all_are_labelled_nothing_is_uncertain() -> None:
    metric, _, human = generator(7)
    found = estimate_mean(metric, human)
    assert found.mean == pytest.approx(human.mean(), rel=1e-12)
    assert (found.se, found.effective) == (0, 400)
    assert estimate_mean(metric, human, target="population").se > 0
    assert estimate_mean(metric, np.full(400, 0.3)).se == 0


@pytest.mark.parametrize("target", ["instances", "population"])
def test_equal_labels_have_a_mean_but_no_interval(target: Target) -> None:
    labels = np.where(np.arange(30) < 8, 0.1, np.nan)
    found = estimate_mean(np.arange(30.0), labels, target=target)
    assert found.mean == pytest.approx(0.1)
    assert np.isnan([found.se, found.low, found.high, found.plain_se, found.effective]).all()


def test_two_labels_are_enough_for_a_plain_interval_and_one_is_not() -> None:
    found = estimate_mean(np.arange(5.0), np.array([1.0, 3, np.nan, np.nan, np.nan]))
    assert (found.mean, found.weight) == (2, 0)
    assert np.isfinite(found.high)
    with pytest.raises(NotEnoughData, match="at least 2 instances; there are 1"):
        estimate_mean(np.arange(3.0), np.array([1.0, np.inf, np.nan]))


def test_scores_of_other_instances_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"\(3,\) and \(4,\)"):
        estimate_mean(np.arange(3.0), np.arange(4.0))


def test_missing_scores_count_as_average_and_the_interval_stays_valid() -> None:
    metric, _, human = generator(8)
    metric[np.random.default_rng(0).random(400) < 0.3] = np.nan
    filled = np.where(np.isnan(metric), np.nanmean(metric), metric)
    labels = np.where(np.arange(400) % 5 == 0, human, np.nan)
    assert estimate_mean(metric, labels).mean == pytest.approx(estimate_mean(filled, labels).mean, rel=1e-12)
    assert simulate_coverage(metric, human, labels=60, draws=800).covered == pytest.approx(0.95, abs=0.025)


@pytest.mark.parametrize("labels", [10, 30, 100])
def test_intervals_cover_the_mean_of_skewed_labels(labels: int) -> None:
    metric, _, human = generator(9)
    found = simulate_coverage(metric, human, labels=labels, draws=1500, seed=1)
    assert found.covered == pytest.approx(0.95, abs=0.02)
    assert found.gain > 1.5
    assert found.width < found.plain_width


def test_simulated_coverage_is_the_loop_over_estimates() -> None:
    metric, _, human = generator(10, instances=30, labelled=8)
    found = simulate_coverage(metric, human, labels=8, draws=200, seed=5)
    keys = np.random.default_rng(5).random((200, 30))
    hits, means = [], []
    for chosen in np.argpartition(keys, 7, axis=1)[:, :8]:
        labels = np.full(30, np.nan)
        labels[chosen] = human[chosen]
        one = estimate_mean(metric, labels)
        hits.append(one.low <= human.mean() <= one.high)
        means.append((one.mean, one.plain_mean))
    assert found.covered == np.mean(hits)
    plain = np.var(means, axis=0)
    assert found.gain == pytest.approx(plain[1] / plain[0], rel=1e-9)


def test_intervals_cover_the_mean_of_the_population_that_instances_come_from() -> None:
    random = np.random.default_rng(11)
    hits = []
    for _ in range(1500):
        quality = random.normal(size=80)
        metric, human = quality + 0.5 * random.normal(size=80), quality + 0.5 * random.normal(size=80)
        found = estimate_mean(metric, np.where(np.arange(80) < 30, human, np.nan), target="population")
        hits.append(found.low <= 0 <= found.high)
    assert np.mean(hits) == pytest.approx(0.95, abs=0.02)


def test_labelling_everything_always_covers() -> None:
    metric, _, human = generator(12, instances=50, labelled=8)
    found = simulate_coverage(metric, human, labels=50, draws=20)
    assert (found.covered, found.plain_covered, found.width) == (1, 1, 0)
    with pytest.raises(NotEnoughData, match="60 labels can't be drawn from 50"):
        simulate_coverage(metric, human, labels=60)


@pytest.mark.data
def test_intervals_cover_on_a_real_board(shared_data: Path) -> None:
    board = bb.import_board("billboard", shared_data / "billboard", board="cnndm", judgments=shared_data / "THumB")
    view = judged_matrix(board, None)
    metric = view.scores.values[view.scores.names.index("COMET")]
    found = [
        simulate_coverage(metric[row], view.human[row], labels=50, draws=400, seed=int(row))
        for row in np.flatnonzero(view.judged)
    ]
    assert len(found) == 18
    covered = [one.covered for one in found]
    assert np.mean(covered) == pytest.approx(0.95, abs=0.01)
    assert min(covered) > 0.9
    assert np.mean([one.gain for one in found]) > 1.03
