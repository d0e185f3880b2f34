"""Power: statsmodels' sample sizes, jackknife spreads, and rejection rates on fresh data as oracles."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from statsmodels.stats.power import TTestPower

from billboards.errors import InvalidInput, NotEnoughData
from billboards.stats.correlation import pearson
from billboards.stats.estimate import estimate_mean
from billboards.stats.power import (
    Needed,
    generator_means,
    labels_to_tell_generators_apart,
    resample_generators,
    resample_metrics,
    tell_generators_apart,
    tell_metrics_apart,
)

Floats = NDArray[np.float64]


def with_effect(effect: float, n: int) -> Floats:
    """Differences with exactly this mean and a sample standard deviation of 1."""
    x = stats.norm.ppf((np.arange(n) + 0.5) / n)
    standardised: Floats = x / x.std(ddof=1) + effect
    return standardised


@pytest.mark.parametrize(("effect", "power", "level"), [(0.05, 0.8, 0.05), (0.3, 0.9, 0.01), (1.0, 0.8, 0.05)])
def test_instances_needed_equal_the_paired_t_test_of_statsmodels(effect: float, power: float, level: float) -> None:
    found = tell_generators_apart(with_effect(effect, 50), np.zeros(50), power=power, level=level)
    exact = TTestPower().solve_power(effect_size=effect, alpha=level, power=power)
    assert found.needed == pytest.approx(exact, abs=1)
    assert (found.difference, found.sd, found.units) == pytest.approx((effect, 1, 50))


@pytest.mark.parametrize("effect", [0.05, 0.3, 0.6])
def test_power_on_this_board_equals_statsmodels(effect: float) -> None:
    found = tell_generators_apart(with_effect(effect, 40), np.zeros(40))
    assert found.power_here == pytest.approx(TTestPower().power(effect, 40, 0.05), abs=0.01)


def test_a_sample_size_worked_by_hand() -> None:
    # z(.975) + z(.8) = 1.95996 + .84162 = 2.80159; (2.80159 · 2)² + 1.95996²/2 = 31.396 + 1.921 = 33.3
    assert tell_generators_apart(with_effect(0.5, 10), np.zeros(10)).needed == 34


def test_power_on_ten_instances_worked_by_hand() -> None:
    # .8 · √(10 - 1.95996²/2) = 2.27392, and Φ(2.27392 - 1.95996) + Φ(-2.27392 - 1.95996) = .62324
    assert tell_generators_apart(with_effect(0.8, 10), np.zeros(10)).power_here == pytest.approx(0.62324, abs=1e-5)


def test_fresh_data_of_that_size_find_two_generators_as_often_as_promised() -> None:
    random = np.random.default_rng(1)
    first, second = _generators(random, 4000)
    needed = tell_generators_apart(first, second).needed
    assert 60 < needed < 200
    hits = [stats.ttest_rel(*_generators(random, int(needed))).pvalue < 0.05 for _ in range(600)]
    assert np.mean(hits) == pytest.approx(0.8, abs=0.06)


def _generators(random: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    ease = random.gamma(2.0, 5.0, size=n)
    return ease + 1.0 + random.gamma(1.0, 3.0, size=n), ease + random.gamma(1.0, 3.0, size=n)


def test_resampled_generators_agree_with_the_closed_form() -> None:
    first, second = _generators(np.random.default_rng(2), 500)
    closed = tell_generators_apart(first, second).needed
    sizes = [int(closed / 4), int(closed / 2), int(closed), int(closed * 2)]
    curve = resample_generators(first, second, sizes, draws=2000, seed=1)
    assert (np.diff(curve.found) > 0).all()
    assert curve.found[2] == pytest.approx(0.8, abs=0.04)
    assert curve.needed == pytest.approx(closed, rel=0.1)


def test_a_resampled_t_test_equals_scipy_on_the_same_resamples() -> None:
    d = np.random.default_rng(3).normal(0.4, 1, size=15)
    curve = resample_generators(d, np.zeros(15), [12], draws=300, seed=9)
    counts = np.random.default_rng(9).multinomial(12, np.full(15, 1 / 15), size=300)
    tests = [stats.ttest_1samp(np.repeat(d, row), 0) for row in counts]
    sign = np.sign(d.mean())
    assert curve.found[0] == np.mean([one.pvalue < 0.05 and one.statistic * sign > 0 for one in tests])


def _metrics(random: np.random.Generator, instances: int, rows: int = 3) -> tuple[Floats, Floats, Floats]:
    """Two metrics of correlation .71 and .60 with people, on outputs that share their instance's ease."""
    ease = random.normal(size=instances)
    human = ease + random.normal(size=(rows, instances))
    shared = random.normal(size=(rows, instances))
    first = human + shared + 1.0 * random.normal(size=(rows, instances))
    second = human + shared + 1.6 * random.normal(size=(rows, instances))
    return first, second, human


def rejected(found: Needed) -> bool:
    statistic = found.difference / (found.sd / np.sqrt(found.units))
    return bool(abs(statistic) > stats.t.ppf(0.975, found.units - 3))


def test_the_spread_of_a_difference_of_correlations_is_that_of_the_jackknife() -> None:
    first, second, human = _metrics(np.random.default_rng(4), 400)
    found = tell_metrics_apart(first, second, human)
    scores = np.stack((first, second))
    r = pearson(scores, human)[0]
    without = [pearson(np.delete(scores, k, axis=2), np.delete(human, k, axis=1))[0] for k in range(400)]
    left_out = np.array([a - b for a, b in without])
    jackknife = np.sqrt(399 / 400 * np.sum((left_out - left_out.mean()) ** 2))
    assert found.difference == pytest.approx(r[0] - r[1], abs=1e-12)
    assert found.sd / np.sqrt(400) == pytest.approx(jackknife, rel=0.02)


def test_fresh_data_of_that_size_find_two_metrics_as_often_as_promised() -> None:
    random = np.random.default_rng(5)
    needed = tell_metrics_apart(*_metrics(random, 20_000)).needed
    assert 30 < needed < 200
    hits = [rejected(tell_metrics_apart(*_metrics(random, int(needed)))) for _ in range(600)]
    assert np.mean(hits) == pytest.approx(0.8, abs=0.05)


@pytest.mark.parametrize(("units", "rows"), [(12, 1), (50, 1), (100, 4)])
def test_equal_metrics_are_seldom_told_apart(units: int, rows: int) -> None:
    random = np.random.default_rng(6)
    hits = []
    for _ in range(600):
        human = random.normal(size=units) + random.normal(size=(rows, units))
        first, second = human + random.normal(size=(2, rows, units))
        hits.append(rejected(tell_metrics_apart(first, second, human)))
    assert np.mean(hits) < 0.075


def test_resampled_metrics_agree_with_the_closed_form() -> None:
    board = _metrics(np.random.default_rng(7), 300)
    closed = tell_metrics_apart(*board).needed
    sizes = [int(closed / 3), int(closed), int(closed * 2)]
    curve = resample_metrics(*board, sizes, draws=1500, seed=2)
    assert curve.found[1] == pytest.approx(0.8, abs=0.05)
    assert curve.needed == pytest.approx(closed, rel=0.15)
    again = resample_metrics(*board, sizes, draws=1500, seed=2)
    assert again.found.tolist() == curve.found.tolist()


def test_resampling_equals_testing_the_repeated_instances() -> None:
    first, second, human = _metrics(np.random.default_rng(8), 25)
    curve = resample_metrics(first, second, human, [20], draws=200, seed=3)
    hits = []
    for row in np.random.default_rng(3).multinomial(20, np.full(25, 1 / 25), size=200):
        picked = np.repeat(np.arange(25), row)
        one = tell_metrics_apart(first[:, picked], second[:, picked], human[:, picked])
        hits.append(rejected(one) and one.difference > 0)
    assert tell_metrics_apart(first, second, human).difference > 0
    assert curve.found[0] == np.mean(hits)


def test_resampling_finds_the_same_in_either_order_of_the_metrics() -> None:
    first, second, human = _metrics(np.random.default_rng(8), 60)
    curve = resample_metrics(first, second, human, [20, 50], draws=300, seed=3)
    assert curve.found[1] > 0.1
    assert resample_metrics(second, first, human, [20, 50], draws=300, seed=3).found.tolist() == curve.found.tolist()


def test_generators_needed_come_from_their_means() -> None:
    random = np.random.default_rng(9)
    level = random.normal(size=(30, 1))
    human = level + random.normal(size=(30, 8))
    first, second = human + 0.5 * random.normal(size=(30, 8)), human + 2 * random.normal(size=(30, 1))
    first[3, 2:] = np.nan
    human[7] = np.nan
    a, b, h = generator_means(first, second, human)
    assert a.shape == b.shape == h.shape == (1, 29)
    assert (a[0, 3], h[0, 3]) == pytest.approx((first[3, :2].mean(), human[3, :2].mean()))
    found = tell_metrics_apart(a, b, h)
    assert found.units == 29
    assert found.difference == pytest.approx(np.corrcoef(a, h)[0, 1] - np.corrcoef(b, h)[0, 1], abs=1e-12)
    assert found.needed < 30
    assert resample_metrics(a, b, h, [29], draws=300).found[0] > 0.8


def test_cells_that_one_side_lacks_are_left_out_for_all() -> None:
    first, second, human = _metrics(np.random.default_rng(10), 50)
    holes = [one.copy() for one in (first, second, human)]
    holes[0][0, :10] = np.nan
    holes[1][1, 5:15] = np.inf
    holes[2][:, 40:] = np.nan
    used = np.isfinite(holes[0]) & np.isfinite(holes[1]) & np.isfinite(holes[2])
    found = tell_metrics_apart(holes[0], holes[1], holes[2])
    assert found.units == 40
    r = [np.corrcoef(one[used], human[used])[0, 1] for one in (first, second)]
    assert found.difference == pytest.approx(r[0] - r[1], abs=1e-12)


def test_infinities_count_as_missing() -> None:
    first, second = np.array([1.0, np.inf, 3, 5, 9, 4]), np.array([0.0, np.inf, 1, 5, 4, -np.inf])
    found = tell_generators_apart(first, second)
    assert (found.units, found.difference) == (4, 2)
    labels = labels_to_tell_generators_apart((first, second), (first, second))
    assert (labels.instances, labels.difference) == (4, 2)


def test_labels_find_the_preferred_generator_as_often_as_promised_alone_and_with_a_metric() -> None:
    random = np.random.default_rng(11)
    liked = random.normal(0.2, 1.0, size=500)
    scored = liked + 0.7 * random.normal(size=500)
    none = np.zeros(500)
    found = labels_to_tell_generators_apart((liked, none), (scored, none))
    assert found.difference == pytest.approx(liked.mean())
    assert found.with_metric < 0.6 * found.alone < 200
    for labels, metric in ((found.alone, none), (found.with_metric, scored)):
        hits = []
        for _ in range(600):
            given = np.full(500, np.nan)
            chosen = random.choice(500, int(labels), replace=False)
            given[chosen] = liked[chosen]
            hits.append(estimate_mean(metric, given).low > 0)
        assert np.mean(hits) == pytest.approx(0.8, abs=0.06)


def test_a_metric_that_does_not_help_saves_no_labels_and_one_equal_to_people_all_of_them() -> None:
    human = (np.random.default_rng(12).normal(0.3, 1, size=100), np.zeros(100))
    useless = labels_to_tell_generators_apart(human, (np.ones(100), np.zeros(100)))
    assert useless.with_metric == useless.alone
    assert labels_to_tell_generators_apart(human, human).with_metric == 3
    same = labels_to_tell_generators_apart((human[0], human[0]), human)
    assert (same.difference, same.alone, same.with_metric) == (0, 100, 100)


def test_entries_that_do_not_differ_are_never_told_apart() -> None:
    first, _, human = _metrics(np.random.default_rng(13), 30)
    for found in (tell_generators_apart(first[0], first[0]), tell_metrics_apart(first, first * 3 - 7, human)):
        assert (found.difference, found.needed) == (0, math.inf)
        assert found.power_here == 0.05
    curve = resample_metrics(first, first, human, [30, 60], draws=50)
    assert curve.found.tolist() == [0, 0]
    assert math.isnan(curve.needed)


def test_a_difference_that_never_varies_needs_two_instances() -> None:
    found = tell_generators_apart(np.array([3.0, 4.0, 5.0]), np.array([2.0, 3.0, 4.0]))
    assert (found.needed, found.power_here) == (2, 1)


def test_a_metric_equal_to_the_judgments_is_told_from_noise() -> None:
    first, _, human = _metrics(np.random.default_rng(14), 60)
    found = tell_metrics_apart(human, first, human)
    assert found.difference > 0
    assert 2 <= found.needed < 60


def test_what_cannot_be_asked_is_refused() -> None:
    first, second, human = _metrics(np.random.default_rng(15), 30)
    with pytest.raises(NotEnoughData, match="do not vary"):
        tell_metrics_apart(np.ones_like(first), second, human)
    with pytest.raises(NotEnoughData, match="there are 3"):
        tell_metrics_apart(first[:, :3], second[:, :3], human[:, :3])
    with pytest.raises(NotEnoughData, match="they share 1"):
        tell_generators_apart(np.array([1.0, np.nan]), np.array([1.0, 2.0]))
    with pytest.raises(NotEnoughData, match="they share 3"):
        labels_to_tell_generators_apart((human[0, :3], human[1, :3]), (first[0, :3], first[1, :3]))
    with pytest.raises(InvalidInput, match="at least 4"):
        resample_metrics(first, second, human, [3, 10])
    with pytest.raises(InvalidInput, match=r"a power of 1 at level 0.05"):
        tell_generators_apart(first[0], second[0], power=1.0)
