"""Every statistic in every grouping beside a plain loop over the same outputs, with its draws and exchanges."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from billboards.errors import BillboardsError, InvalidInput
from billboards.stats.correlation import resampling_weights
from billboards.stats.significance import random_signs
from billboards.stats.yardsticks import GROUPINGS_OF, PRESETS, Yardstick, agreements, preset, yardstick

Floats = NDArray[np.float64]

COEFFICIENTS: dict[str, Callable[[Floats, Floats], float]] = {
    "pearson": lambda x, y: float(scipy_stats.pearsonr(x, y).statistic),
    "spearman": lambda x, y: float(scipy_stats.spearmanr(x, y).statistic),
    "kendall-b": lambda x, y: float(scipy_stats.kendalltau(x, y).statistic),
    "kendall-c": lambda x, y: float(scipy_stats.kendalltau(x, y, variant="c").statistic),
}


def board(
    seed: int = 3, metrics: int = 3, rows: int = 6, instances: int = 30, missing: float = 0.1
) -> tuple[Floats, Floats]:
    """Judgments from 1 to 5 in steps of .5, metrics that follow them more or less, some of it missing."""
    random = np.random.default_rng(seed)
    quality = random.normal(size=(rows, 1)) + random.normal(size=(rows, instances))
    human = np.clip(np.round(2 * (quality + 3)) / 2, 1, 5)
    noise = random.normal(size=(metrics, rows, instances))
    scores = np.round(quality + noise * np.arange(1, metrics + 1)[:, None, None], 1)
    scores[random.random(scores.shape) < missing] = np.nan
    human[random.random(human.shape) < missing] = np.nan
    return scores, human


def value(metric: Floats, human: Floats, how: Yardstick) -> float:
    """What a plain loop gives."""
    both = np.isfinite(metric) & np.isfinite(human)
    coefficient = COEFFICIENTS[how.statistic]

    def of(x: Floats, y: Floats) -> float:
        varies = len(x) > 1 and len(np.unique(x)) > 1 and len(np.unique(y)) > 1
        return coefficient(x, y) if varies else np.nan

    if how.grouping == "pooled":
        return of(metric[both], human[both])
    if how.grouping == "by-item":
        return float(np.nanmean([of(metric[both[:, i], i], human[both[:, i], i]) for i in range(human.shape[1])]))
    if how.grouping == "by-system":
        return float(
            np.nanmean([of(metric[g, both[g]], human[g, both[g]]) for g in range(len(human)) if both[g].any()])
        )
    judged = [g for g in range(len(human)) if both[g].any()]
    x, y = (np.array([side[g, both[g]].mean() for g in judged]) for side in (metric, human))
    return of(np.round(x, 12), np.round(y, 12))


CORRELATIONS = [
    yardstick(f"{statistic}/{grouping}") for statistic in COEFFICIENTS for grouping in GROUPINGS_OF["pearson"]
]


@pytest.mark.parametrize("how", CORRELATIONS, ids=lambda how: how.name)
def test_a_correlation_is_what_scipy_says_in_a_loop(how: Yardstick) -> None:
    scores, human = board()
    measured = agreements(scores, human, how)
    assert measured.value == pytest.approx([value(metric, human, how) for metric in scores], abs=1e-12)


@pytest.mark.parametrize("how", CORRELATIONS, ids=lambda how: how.name)
def test_draws_are_the_values_on_instances_drawn_again(how: Yardstick) -> None:
    scores, human = board(instances=40)
    measured = agreements(scores, human, how, draws=300, seed=5)
    weights = resampling_weights(np.random.default_rng(5), human.shape[1], 300)
    again = []
    for draw in weights[:40]:
        picked = np.repeat(np.arange(human.shape[1]), draw.astype(int))
        again.append([value(metric[:, picked], human[:, picked], how) for metric in scores])
    if how.statistic.startswith("kendall") and how.grouping in ("pooled", "by-system"):
        # A jackknife instead of draws: the same spread, not the same draws.
        spread = np.std([value(scores[0][:, p], human[:, p], how) for p in _picks(weights)])
        assert measured.drawn[:, 0].std() == pytest.approx(spread, rel=0.2)
    else:
        assert measured.drawn[:40] == pytest.approx(np.array(again), abs=1e-9)


def _picks(weights: Floats) -> list[NDArray[np.intp]]:
    return [np.repeat(np.arange(weights.shape[1]), draw.astype(int)) for draw in weights]


@pytest.mark.parametrize("name", ["spearman/by-item", "kendall-b/by-item", "accuracy/by-item", "kendall-wmt", "acc-eq"])
def test_exchanges_by_item_are_those_of_a_loop_that_swaps_instances(name: str) -> None:
    scores, human = board(missing=0.0)
    human = human * 20
    how = yardstick(name)
    measured = agreements(scores, human, how, exchanges=25, seed=2)
    signs = random_signs(np.random.default_rng(2), 25, human.shape[1])
    by_item = _item_values(scores, human, how)
    for draw, sign in enumerate(signs):
        first, second = (np.where(sign > 0, by_item[a], by_item[b]) for a, b in ((0, 1), (1, 0)))
        sums = np.nansum(first, axis=-1), np.nansum(second, axis=-1)
        wanted = sums[0][0] / sums[0][1] - sums[1][0] / sums[1][1]
        assert measured.exchanged[draw, 0, 1] == pytest.approx(wanted, abs=1e-9)
        assert measured.exchanged[draw, 1, 0] == pytest.approx(-wanted, abs=1e-9)


def _item_values(scores: Floats, human: Floats, how: Yardstick) -> Floats:
    """Part and whole of every metric on every instance: metrics × 2 × instances."""
    from billboards.stats.pairwise import acc_eq

    epsilon = acc_eq(scores, human).epsilon
    values = np.zeros((len(scores), 2, human.shape[1]))
    for k, metric in enumerate(scores):
        for i in range(human.shape[1]):
            x, y = metric[:, i], human[:, i]
            if how.statistic in COEFFICIENTS:
                r = COEFFICIENTS[how.statistic](x, y) if len(set(x)) > 1 and len(set(y)) > 1 else np.nan
                values[k, :, i] = (0, 0) if np.isnan(r) else (r, 1)
                continue
            pairs = list(itertools.combinations(range(len(x)), 2))
            if how.statistic == "acc-eq":
                right = [
                    (0 if abs(x[a] - x[b]) <= epsilon[k] else np.sign(x[a] - x[b])) == np.sign(y[a] - y[b])
                    for a, b in pairs
                ]
                values[k, :, i] = np.mean(right), 1
                continue
            apart = 25 if how.statistic == "kendall-wmt" else 1e-9
            signs = [np.sign((x[a] - x[b]) * (y[a] - y[b])) for a, b in pairs if abs(y[a] - y[b]) >= apart]
            good = sum(s > 0 for s in signs)
            part = 2 * good - len(signs) if how.statistic == "kendall-wmt" else good
            values[k, :, i] = part, len(signs)
    return values


@pytest.mark.parametrize("name", ["pearson/system-level", "kendall-b/system-level", "accuracy/system-level"])
def test_exchanges_at_system_level_swap_standardised_scores_of_instances(name: str) -> None:
    scores, human = board(missing=0.0)
    how = yardstick(name)
    measured = agreements(scores, human, how, exchanges=20, seed=4)
    signs = random_signs(np.random.default_rng(4), 20, human.shape[1])
    standard = [(metric - metric.mean()) / metric.std() for metric in scores]
    for draw, sign in enumerate(signs):
        first = np.where(sign > 0, standard[0], standard[1]).mean(axis=1)
        second = np.where(sign > 0, standard[1], standard[0]).mean(axis=1)
        people = human.mean(axis=1)
        wanted = _of_means(first, people, how) - _of_means(second, people, how)
        assert measured.exchanged[draw, 0, 1] == pytest.approx(wanted, abs=1e-9)


def _of_means(x: Floats, y: Floats, how: Yardstick) -> float:
    if how.statistic == "accuracy":
        pairs = list(itertools.combinations(range(len(x)), 2))
        return float(np.mean([np.sign(x[a] - x[b]) == np.sign(y[a] - y[b]) for a, b in pairs]))
    return COEFFICIENTS[how.statistic](x, y)


@pytest.mark.parametrize(("ties", "wanted"), [("wrong", 0.5), ("half", 0.625), ("left-out", 2 / 3)])
def test_pairs_that_a_metric_ties_count_as_asked(ties: str, wanted: float) -> None:
    """Four pairs that people decide: two right, one wrong, one tied."""
    human = np.array([[2.0, 2.0, 2.0, 2.0], [1.0, 1.0, 1.0, 1.0]])
    scores = np.array([[[5.0, 5.0, 1.0, 3.0], [1.0, 1.0, 5.0, 3.0]]])
    measured = agreements(scores, human, yardstick("accuracy/by-item"), ties=ties)  # type: ignore[arg-type]
    assert measured.value[0] == pytest.approx(wanted)
    assert measured.n[0] == (3 if ties == "left-out" else 4)
    assert measured.tied is not None
    assert measured.tied[0] == pytest.approx(0.25)


def test_pdp_draws_are_pdp_on_instances_drawn_again() -> None:
    scores, human = board()
    measured = agreements(scores, human, yardstick("pdp"), draws=10, seed=1)
    for draw, picked in enumerate(_picks(resampling_weights(np.random.default_rng(1), human.shape[1], 10))):
        again = agreements(scores[:, :, picked], human[:, picked], yardstick("pdp"))
        assert measured.drawn[draw] == pytest.approx(again.value, abs=1e-9)


def test_spa_draws_lie_about_the_value() -> None:
    scores, human = board(instances=200, missing=0.0)
    measured = agreements(scores, human, yardstick("spa"), draws=200, exchanges=100)
    again = agreements(scores, human, yardstick("spa"), draws=200, seed=9)
    assert np.abs(measured.drawn.mean(axis=0) - measured.value).max() < 0.06
    assert measured.drawn.std(axis=0) == pytest.approx(again.drawn.std(axis=0), rel=0.5)
    assert measured.exchanged[:, 0, 0] == pytest.approx(0)
    assert np.isnan(measured.p).all()


@pytest.mark.parametrize(
    "how", [yardstick(s, g) for s, groups in GROUPINGS_OF.items() for g in groups], ids=lambda h: h.name
)
def test_a_metric_that_says_what_people_say_beats_noise_by_every_yardstick(how: Yardstick) -> None:
    random = np.random.default_rng(8)
    human = 100 * random.random((8, 60)) + 40 * np.arange(8)[:, None]
    scores = np.array([human + random.normal(size=human.shape), random.normal(size=human.shape)])
    measured = agreements(scores, human, how, draws=200, exchanges=200)
    difference = measured.value[0] - measured.value[1]
    p = (1 + (np.abs(measured.exchanged[:, 0, 1]) >= abs(difference)).sum()) / 201
    assert measured.value[0] > 0.9
    assert p < 0.05
    interval = measured.interval(0)
    assert interval is not None
    assert interval[0] <= measured.value[0] + 0.02


@pytest.mark.parametrize("how", [yardstick("spearman/by-item"), yardstick("kendall-b"), yardstick("pearson/by-system")])
def test_two_metrics_that_are_alike_are_told_apart_about_as_often_as_chance_says(how: Yardstick) -> None:
    told = 0
    for seed in range(60):
        random = np.random.default_rng(seed)
        quality = random.normal(size=(5, 40))
        human = quality + random.normal(size=quality.shape)
        scores = np.array([quality + random.normal(size=quality.shape) for _ in range(2)])
        measured = agreements(scores, human, how, exchanges=200, seed=seed)
        difference = abs(measured.value[0] - measured.value[1])
        told += (1 + (np.abs(measured.exchanged[:, 0, 1]) >= difference).sum()) / 201 <= 0.05
    assert told <= 9


def test_names_of_yardsticks_are_read_as_people_write_them() -> None:
    assert yardstick("Spearman by item").name == "spearman/by-item"
    assert yardstick("kendall").name == "kendall-b/pooled"
    assert yardstick("acc_eq").name == "acc-eq/by-item"
    assert yardstick("spa").words == "SPA"
    assert yardstick("kendall-c", "system-level").words == "Kendall’s tau-c, system level"
    with pytest.raises(InvalidInput, match="spa is measured system-level, not pooled"):
        yardstick("spa/pooled")
    with pytest.raises(BillboardsError, match="pearsonn"):
        yardstick("pearsonn")
    with pytest.raises(BillboardsError, match="by-iten"):
        yardstick("pearson/by-iten")


def test_presets_are_named_after_those_who_report_so() -> None:
    assert {"summeval", "wmt24", "beametrics", "realsumm"} <= set(PRESETS)
    assert [how.name for how in preset("wmt24").yardsticks] == ["spa/system-level", "acc-eq/by-item"]
    with pytest.raises(BillboardsError, match="wmt99"):
        preset("wmt99")


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("pearson/global", "pearson/pooled"),
        ("kendall-b/segment", "kendall-b/by-item"),
        ("kendall-b/summary-level", "kendall-b/by-item"),
        ("spearman/system", "spearman/by-system"),
        ("spearman/sys", "spearman/system-level"),
        ("tau-c", "kendall-c/pooled"),
        ("darr", "kendall-wmt/by-item"),
        ("pairwise", "accuracy/system-level"),
    ],
)
def test_communities_names_are_understood(written: str, name: str) -> None:
    assert yardstick(written).name == name


@pytest.mark.parametrize("name", ["pearson/by-system", "kendall-b/by-system"])
def test_exchanges_by_system_are_differences_of_draws_moved_to_where_metrics_are_alike(name: str) -> None:
    scores, human = board(missing=0.0)
    measured = agreements(scores, human, yardstick(name), draws=30, exchanges=20, seed=2)
    apart = measured.drawn[:20] - measured.value
    for a, b in itertools.product(range(3), repeat=2):
        assert measured.exchanged[:, a, b] == pytest.approx(apart[:, a] - apart[:, b])
    assert (measured.exchanged[:, 1, 1] == 0).all()


@pytest.mark.parametrize("name", list(PRESETS))
def test_a_preset_says_where_its_yardsticks_are_written(name: str) -> None:
    assert re.search(r"\b20\d\d\b", PRESETS[name].source)
