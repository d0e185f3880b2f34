"""Pairs decided while labels come: complete instances, both directions, what stays decided, who drops out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from billboards.errors import InvalidInput
from billboards.stats.correlation import instance_sums, pearson_of_sums, resampled_pearson
from billboards.stats.sequences import log_asymptotic_evidence, log_evidence
from billboards.stats.watching import Cells, Decisions, PairTests, cells_by_unit, watch_pairs
from billboards.stats.watching_metrics import pearson_gradient, watch_correlations

Floats = NDArray[np.float64]
NO = np.nan


def campaign(gaps: tuple[float, ...], units: int, seed: int = 0) -> Floats:
    """Ratings on 0-1 in steps of .25: instances differ, and so do generators by these gaps."""
    random = np.random.default_rng(seed)
    latent = 0.5 + random.normal(0, 0.15, units) + np.array(gaps)[:, None] + random.normal(0, 0.2, (len(gaps), units))
    return np.asarray(np.clip(np.round(4 * latent) / 4, 0, 1))


def test_the_evidence_of_a_pair_is_that_of_its_differences() -> None:
    values = campaign((0.1, 0.0), 40)
    tests = PairTests(2, level=1e-9)
    for unit in values.T:
        tests.add(unit)
    share = (values[0] - values[1] + 1) / 2
    expected = log_evidence(share, 0.5)[-1], log_evidence(1 - share, 0.5)[-1]
    assert tests.decisions.evidence[0] == pytest.approx(expected)
    assert tests.decisions.first_is_better.tolist() == [True]


def test_the_evidence_in_a_pool_is_that_of_its_differences() -> None:
    values = campaign((0.1, 0.0), 30)
    tests = PairTests(2, level=1e-9, pool=45)
    for unit in values.T:
        tests.add(unit)
    share = (values[0] - values[1] + 1) / 2
    expected = log_evidence(share, 0.5, pool=45)[-1], log_evidence(1 - share, 0.5, pool=45)[-1]
    assert tests.decisions.evidence[0] == pytest.approx(expected)


def test_a_pool_that_is_used_up_decides_every_difference() -> None:
    values = np.full((2, 30), 0.5)
    values[1, 20] = 0.75
    watched = watch_pairs(cells_by_unit(values, np.ones((2, 30), np.int64), range(30)), np.isfinite(values), pool=30)
    assert watched.decisions.decided_at.tolist() == [30]
    assert watched.decisions.first_is_better.tolist() == [False]
    assert math.isinf(watched.decisions.evidence[0, 1])


def test_values_without_ends_are_weighed_asymptotically() -> None:
    values = 30 * campaign((0.2, 0.0), 50)
    tests = PairTests(2, level=1e-9, bounded=False)
    for unit in values[:, :29].T:
        tests.add(unit)
    assert tests.decisions.evidence.tolist() == [[0.0, 0.0]], "too few units say nothing"
    for unit in values[:, 29:].T:
        tests.add(unit)
    gap = values[0] - values[1]
    assert tests.decisions.evidence[0, 0] == pytest.approx(float(log_asymptotic_evidence(gap.mean(), gap.std(), 50)))
    assert tests.decisions.evidence[0, 1] == pytest.approx(float(log_asymptotic_evidence(-gap.mean(), gap.std(), 50)))


def test_an_instance_comes_in_once_all_of_it_is_judged() -> None:
    generator, unit = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 0])
    cells = Cells(generator=generator, unit=unit, value=np.array([1.0, 1.0, 0.0, 0.0]), labels=np.arange(1, 5))
    asked = np.ones((2, 3), bool)
    assert watch_pairs(cells, asked).units == 2, "of the third nothing is judged"
    third = Cells(generator=generator[:3], unit=unit[:3], value=np.array([1.0, 1.0, 0.0]), labels=np.arange(1, 4))
    assert watch_pairs(third, asked).units == 1
    asked[1, 0] = False
    assert watch_pairs(third, asked).units == 2, "what is not asked is not waited for"


def test_what_is_decided_stays_decided_and_says_when() -> None:
    values = np.concatenate([np.tile([[1.0], [0.0]], 12), np.tile([[0.0], [1.0]], 40)], axis=1)
    cells = cells_by_unit(values, np.full(values.shape, 3), range(52))
    watched = watch_pairs(cells, np.isfinite(values))
    # Both directions of one pair: an e-value of 40. The boldest of 14 gamblers has 2^n for n ones against 1/2.
    assert watched.decisions.decided_at.tolist() == [9]
    assert watched.decided_labels.tolist() == [9 * 2 * 3]
    assert watched.decisions.first_is_better.tolist() == [True], "what comes later no longer counts"


def test_a_generator_that_is_told_apart_drops_out_and_the_others_go_on() -> None:
    values = campaign((0.0, 0.05, 0.45), 200, seed=2)
    cells = cells_by_unit(values, np.ones(values.shape, np.int64), range(200))
    kept = watch_pairs(cells, np.isfinite(values))
    dropping = watch_pairs(cells, np.isfinite(values), drop=True)
    assert next(iter(dropping.dropped)) == 2
    out = dropping.dropped[2]
    assert out == max(kept.decided_labels[1], kept.decided_labels[2]) < 300
    # Without the third generator's later labels the replay says the same of the other two.
    asked = Cells(
        **{name: getattr(cells, name)[(cells.generator != 2) | (cells.labels <= out)] for name in vars(cells)}
    )
    again = watch_pairs(asked, np.isfinite(values), drop=True)
    assert again.decisions.evidence == pytest.approx(dropping.decisions.evidence)
    assert again.dropped == dropping.dropped


def test_units_that_waited_only_for_who_dropped_out_come_in() -> None:
    values = np.tile([[1.0], [0.5], [0.5]], 30)
    cells = cells_by_unit(values, np.ones(values.shape, np.int64), range(30))
    needed = watch_pairs(cells, np.isfinite(values), drop=True).dropped[0] // 3
    early = [(g, u) for u in range(needed) for g in range(3)]
    order = [(1, 29), (2, 29), *early, (0, 29), (1, 28), (2, 28)]
    generator, unit = (np.array(side) for side in zip(*order, strict=True))
    cells = Cells(generator=generator, unit=unit, value=values[generator, unit], labels=np.arange(1, len(order) + 1))
    watched = watch_pairs(cells, np.isfinite(values), drop=True)
    assert dict(watched.dropped) == {0: 2 + 3 * needed}
    assert watched.units == needed + 2, "those judged without it, and the one that waited"


def test_equal_generators_are_hardly_ever_told_apart_however_often_one_looks() -> None:
    wrong = [
        watch_pairs(
            cells_by_unit(values, np.ones(values.shape, np.int64), range(80)), np.isfinite(values)
        ).decisions.decided.any()
        for values in (campaign((0.0, 0.0, 0.0), 80, seed=seed) for seed in range(60))
    ]
    assert np.mean(wrong) <= 0.05


def test_missing_outputs_are_no_evidence() -> None:
    tests = PairTests(3)
    tests.add(np.array([1.0, NO, 0.0]))
    assert tests.decisions.evidence[0].tolist() == [0.0, 0.0]
    assert tests.decisions.evidence[1, 0] > 0
    tests.add(np.array([NO, NO, 0.5]))
    assert tests.units == 2


def test_a_level_is_a_share() -> None:
    with pytest.raises(InvalidInput, match="share of false decisions"):
        Decisions(2, level=1.0)


def metrics(units: int, seed: int, *noise: float) -> tuple[Floats, Floats]:
    """Two generators' outputs judged by people, and metrics that follow them with so much noise."""
    random = np.random.default_rng(seed)
    human = random.normal(0, 1, (2, units)) + random.normal(0, 0.5, units)
    return np.stack([human + random.normal(0, sd, (2, units)) for sd in noise]), human


def test_the_gradient_of_r_is_its_slope() -> None:
    scores, human = metrics(20, 1, 1.0)
    sums = instance_sums(scores, human).sum(axis=1)
    for place in range(6):
        step = np.zeros(6)
        step[place] = 1e-6
        slope = (pearson_of_sums(sums + step) - pearson_of_sums(sums - step)) / 2e-6
        assert pearson_gradient(sums)[0, place] == pytest.approx(slope[0], rel=1e-4, abs=1e-8)


def test_sequences_of_correlations_rest_on_the_spread_that_resampling_finds() -> None:
    sums = instance_sums(*metrics(300, 2, 0.8, 1.5))
    watched = watch_correlations(sums)
    drawn = resampled_pearson(sums, draws=2000, seed=1)
    assert watched.value == pytest.approx(pearson_of_sums(sums.sum(axis=1)))
    # At 300 units an asymptotic sequence is 2.88/1.96 times as wide as an ordinary interval.
    unit = (watched.high - watched.value) / (drawn.std(axis=0) * math.sqrt(300))
    assert unit == pytest.approx(unit[0], rel=0.15)
    apart = (watched.difference_high[0] - watched.difference[0]) / ((drawn[:, 0] - drawn[:, 1]).std() * math.sqrt(300))
    assert apart == pytest.approx(unit[0], rel=0.15)
    assert watched.difference[0] == pytest.approx(watched.value[0] - watched.value[1])


def test_a_better_metric_is_decided_and_an_equal_one_is_not() -> None:
    sums = instance_sums(*metrics(300, 3, 0.6, 0.6, 2.0))
    decisions = watch_correlations(sums).decisions
    assert decisions.decided.tolist() == [False, True, True]
    assert decisions.first_is_better[1:].all()
    assert (decisions.decided_at[1:] < 120).all()


def test_metrics_that_always_agree_are_not_told_apart() -> None:
    scores, human = metrics(60, 4, 0.6)
    watched = watch_correlations(instance_sums(np.concatenate([scores, 2 * scores + 1]), human))
    assert not watched.decisions.decided.any()
    assert (watched.decisions.evidence == 0).all()
    assert np.isnan(watched.difference_low).all()
    few = watch_correlations(instance_sums(scores[:, :, :20], human[:, :20]))
    assert np.isnan(few.value).all()
