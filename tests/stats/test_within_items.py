"""Agreement within items, against plain loops over pairs, and its test against every exchange there is."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray

from billboards.errors import InvalidInput
from billboards.stats import within_items as module
from billboards.stats.bootstrap import Unit
from billboards.stats.correlation import resampling_weights
from billboards.stats.pairwise import pairwise_difference_pearson
from billboards.stats.within_items import better_within_items, within_groups, within_items

Floats = NDArray[np.float64]


def gappy(seed: int = 0, rows: int = 5, instances: int = 14) -> tuple[Floats, Floats]:
    """Two metrics and people on a board with holes."""
    random = np.random.default_rng(seed)
    human = random.normal(size=(rows, instances)) + 3 * random.normal(size=instances)
    scores = np.stack([human + spread * random.normal(size=human.shape) for spread in (0.5, 2.0)])
    human[random.random(human.shape) < 0.3] = np.nan
    scores[1][random.random(human.shape) < 0.2] = np.nan
    return scores, human


def over_pairs(scores: Floats, human: Floats, of_rows: Floats | None = None, of_items: Floats | None = None) -> float:
    """Σ d_m·d_h / sqrt(Σ d_m² · Σ d_h²), pair by pair, each weighted by its rows and its instance."""
    rows, items = human.shape
    of_rows = np.ones(rows) if of_rows is None else of_rows
    of_items = np.ones(items) if of_items is None else of_items
    xx = yy = xy = 0.0
    for i in range(items):
        for a, b in itertools.combinations(range(rows), 2):
            d, e = scores[a, i] - scores[b, i], human[a, i] - human[b, i]
            if math.isfinite(d) and math.isfinite(e):
                weight = of_items[i] * of_rows[a] * of_rows[b]
                xx, yy, xy = xx + weight * d * d, yy + weight * e * e, xy + weight * d * e
    return xy / math.sqrt(xx * yy) if xx * yy else math.nan


def test_it_is_the_correlation_of_differences_over_all_pairs() -> None:
    scores, human = gappy()
    measured = within_items(scores, human)
    assert measured.r == pytest.approx([over_pairs(metric, human) for metric in scores], abs=1e-12)
    peer = pairwise_difference_pearson(scores, human)
    assert measured.r == pytest.approx(peer.value, abs=1e-12)
    assert measured.n.tolist() == peer.n.tolist()
    assert np.isnan(measured.low).all()


@pytest.mark.parametrize("unit", ["instances", "documents", "generators", "both"])
def test_every_draw_weights_pairs_as_a_loop_does(unit: Unit) -> None:
    scores, human = gappy()
    documents = np.arange(14) // 3
    measured = within_items(scores, human, unit=unit, documents=documents, draws=40, seed=3)
    random = np.random.default_rng(3)
    units = {"instances": 14, "documents": 5, "generators": 5, "both": 5}[unit]
    weights = resampling_weights(random, units, 40)
    seconds = resampling_weights(random, 14, 40) if unit == "both" else None
    drawn = []
    for draw, weight in enumerate(weights):
        rows = weight if unit in ("generators", "both") else None
        items = {"instances": weight, "documents": weight[documents] if units == 5 else None}.get(unit)
        items = seconds[draw] if seconds is not None else items
        drawn.append([over_pairs(metric, human, rows, items) for metric in scores])
    low, high = np.nanquantile(np.array(drawn), (0.025, 0.975), axis=0)
    assert measured.low == pytest.approx(low, abs=1e-9)
    assert measured.high == pytest.approx(high, abs=1e-9)


@pytest.mark.parametrize("unit", ["instances", "documents", "generators"])
def test_draws_that_are_worked_out_in_blocks_are_the_same(unit: Unit, monkeypatch: pytest.MonkeyPatch) -> None:
    scores, human = gappy()
    documents = np.arange(14) // 3
    at_once = within_items(scores, human, unit=unit, documents=documents, draws=41, seed=3)
    monkeypatch.setattr(module, "_BLOCK", 6 * 14 * 2)
    in_blocks = within_items(scores, human, unit=unit, documents=documents, draws=41, seed=3)
    assert in_blocks.low == pytest.approx(at_once.low, abs=1e-12)
    assert in_blocks.high == pytest.approx(at_once.high, abs=1e-12)


def test_what_all_outputs_of_an_instance_have_in_common_earns_nothing() -> None:
    scores, human = gappy()
    hard = 100 * np.random.default_rng(5).normal(size=14)
    assert within_items(scores + hard, human + hard).r == pytest.approx(within_items(scores, human).r, abs=1e-7)
    same = np.broadcast_to(hard, human.shape)[None]
    assert np.isnan(within_items(same, human, draws=10).r[0])


def test_ties_and_two_generators_leave_a_value() -> None:
    human = np.array([[1.0, 2.0, 3.0, 3.0], [1.0, 3.0, 3.0, 5.0]])
    scores = np.array([[[0.0, 1.0, 5.0, 2.0], [0.0, 2.0, 6.0, 2.0]]])
    # Differences of people 0, 1, 0, 2 and of the metric 0, 1, 1, 0.
    assert within_items(scores, human).r[0] == pytest.approx(1 / math.sqrt(5 * 2))
    assert within_items(scores, human).n[0] == 4


def test_one_instance_drawn_again_and_again_is_no_sample() -> None:
    human = np.array([[1.0, np.nan], [2.0, 4.0], [5.0, np.nan]])
    scores = np.array([[[1.0, 2.0], [3.0, 3.0], [4.0, 1.0]]])
    measured = within_items(scores, human, draws=50)
    assert measured.n[0] == 3
    assert np.isnan(measured.low[0])


def test_single_outputs_with_their_instances_say_the_same() -> None:
    scores, human = gappy()
    items = np.broadcast_to(np.arange(14), human.shape)
    value, pairs = within_groups(scores[1].ravel(), human.ravel(), items.ravel())
    measured = within_items(scores[1:], human)
    assert value == pytest.approx(measured.r[0], abs=1e-12)
    assert pairs == measured.n[0]
    assert math.isnan(within_groups(np.array([]), np.array([]), np.array([], np.int64))[0])


def test_the_test_agrees_with_every_exchange_of_whole_instances() -> None:
    random = np.random.default_rng(8)
    human = random.normal(size=(4, 9)) + random.normal(size=9)
    first, second = (human + spread * random.normal(size=human.shape) for spread in (0.9, 1.5))
    human[0, 2] = second[1, 5] = np.nan
    used = np.isfinite(human) & np.isfinite(second)
    x, y, h = (np.where(used, values, np.nan) for values in (first, second, human))
    sums = []
    for values in (x, y):
        centred, people = (v - np.nanmean(v, axis=0) for v in (values, h))
        m = used.sum(axis=0)
        scale = math.sqrt(np.nansum(m * centred**2) * np.nansum(m * people**2))
        sums.append((np.nansum(m * centred**2, axis=0), np.nansum(m * centred * people, axis=0), scale))
    own = [np.nansum(squares) for squares, _, _ in sums]
    people = np.nansum(used.sum(axis=0) * (h - np.nanmean(h, axis=0)) ** 2)

    def apart(exchanged: NDArray[np.bool_]) -> float:
        values = []
        for a, b in ((0, 1), (1, 0)):
            squares = np.where(exchanged, sums[b][0] / own[b], sums[a][0] / own[a]).sum()
            products = np.where(exchanged, sums[b][1] / own[b] ** 0.5, sums[a][1] / own[a] ** 0.5).sum()
            values.append(products / math.sqrt(squares * people))
        return float(values[0] - values[1])

    every = [apart(np.array(signs, bool)) for signs in itertools.product((0, 1), repeat=9)]
    observed = apart(np.zeros(9, bool))
    exact = np.mean(np.abs(every) >= abs(observed) - 1e-9)
    p = better_within_items(first, second, human, draws=4000, seed=1)
    assert 0.02 < exact < 0.9
    assert p == pytest.approx(exact, abs=0.03)
    one = better_within_items(first, second, human, draws=4000, seed=1, sides="one")
    assert one == pytest.approx(np.mean(np.array(every) >= observed - 1e-9), abs=0.03)


def test_the_test_keeps_its_level_between_equally_good_metrics() -> None:
    random = np.random.default_rng(2)
    alarms = 0
    for seed in range(120):
        human = random.normal(size=(4, 25)) + 2 * random.normal(size=25)
        first, second = (human + 1.5 * random.normal(size=human.shape) for _ in range(2))
        alarms += better_within_items(first, second, human, draws=150, seed=seed) <= 0.05
    assert alarms <= 13


def test_units_that_there_are_not_are_refused() -> None:
    scores, human = gappy()
    with pytest.raises(InvalidInput, match="resamples one of"):
        within_items(scores, human, unit="words")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="document of every instance"):
        within_items(scores, human, unit="documents", draws=5)
