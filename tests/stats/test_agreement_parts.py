"""Parts of pooled agreement: they add up, are those of an analysis of variance, and find a simulated truth."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from billboards.stats import agreement_parts as module
from billboards.stats.agreement_parts import agreement_parts
from billboards.stats.correlation import pearson, resampling_weights

Floats = NDArray[np.float64]


def gappy(seed: int = 0, rows: int = 5, instances: int = 12, missing: float = 0.3) -> tuple[Floats, Floats]:
    """Three metrics and people on a board with holes, one metric with further ones."""
    random = np.random.default_rng(seed)
    human = random.normal(size=(rows, instances)) + random.normal(size=instances) + random.normal(size=(rows, 1))
    scores = np.stack([human + spread * random.normal(size=human.shape) for spread in (0.5, 2.0, 4.0)])
    human[random.random(human.shape) < missing] = np.nan
    if missing:
        scores[1][random.random(human.shape) < 0.1] = np.nan
    return scores, human


def of_products(squares: Callable[[Floats], float], x: Floats, y: Floats) -> float:
    """A quadratic form's bilinear one."""
    return (squares(x + y) - squares(x - y)) / 4


def by_regression(x: Floats, y: Floats) -> Floats:
    """The three parts from least-squares fits of dummies for items and generators."""
    used = np.isfinite(x) & np.isfinite(y)
    generator, item = np.nonzero(used)
    x, y, n = x[used], y[used], int(used.sum())
    items = np.equal.outer(item, np.unique(item)).astype(float)
    generators = np.equal.outer(generator, np.unique(generator)).astype(float)
    both = np.hstack((items, generators))

    def left(values: Floats, design: Floats) -> float:
        fitted = design @ np.linalg.lstsq(design, values, rcond=None)[0]
        return float(((values - fitted) ** 2).sum())

    total = of_products(lambda v: left(v, np.ones((n, 1))), x, y)
    within = of_products(lambda v: left(v, items), x, y)
    rest = of_products(lambda v: left(v, both), x, y)
    q = np.linalg.matrix_rank(both) - items.shape[1]
    c_rest = rest / (n - items.shape[1] - q)
    c_generator = (within - rest - q * c_rest) / (n - items.shape[1])
    of_outputs = c_rest * (n - 1)
    of_generators = c_generator * (n - (generators.sum(axis=0) ** 2).sum() / n)
    scale = np.sqrt(left(x, np.ones((n, 1))) * left(y, np.ones((n, 1))))
    parts: Floats = np.array([total - of_generators - of_outputs, of_generators, of_outputs]) / scale
    return parts


@pytest.mark.parametrize("missing", [0.0, 0.3, 0.6])
def test_the_parts_add_up_to_the_pooled_correlation(missing: float) -> None:
    scores, human = gappy(missing=missing)
    taken = agreement_parts(scores, human)
    r, n = pearson(scores, human)
    assert taken.parts.sum(axis=1) == pytest.approx(r, abs=1e-12)
    assert taken.r == pytest.approx(r, abs=1e-12)
    assert taken.n.tolist() == n.tolist()
    assert taken.people.sum(axis=1) == pytest.approx(1.0, abs=1e-12)
    assert taken.scores.sum(axis=1) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.3, 0.6])
def test_they_are_those_of_least_squares_fits_with_dummies(missing: float) -> None:
    scores, human = gappy(missing=missing)
    taken = agreement_parts(scores, human)
    for k, metric in enumerate(scores):
        used = np.isfinite(metric) & np.isfinite(human)
        people = np.where(used, human, np.nan)
        assert taken.parts[k] == pytest.approx(by_regression(metric, human), abs=1e-10)
        assert taken.people[k] == pytest.approx(by_regression(people, people), abs=1e-10)
        assert taken.scores[k] == pytest.approx(by_regression(np.where(used, metric, np.nan), metric), abs=1e-10)


def test_on_a_complete_board_they_are_the_mean_squares_of_a_textbook() -> None:
    scores, human = gappy(missing=0.0)
    rows, items = human.shape
    mean = human.mean()
    of_items = rows * ((human.mean(axis=0) - mean) ** 2).sum() / (items - 1)
    of_rows = items * ((human.mean(axis=1) - mean) ** 2).sum() / (rows - 1)
    rest = ((human - human.mean(axis=0) - human.mean(axis=1, keepdims=True) + mean) ** 2).sum()
    rest /= (rows - 1) * (items - 1)
    components = np.array([(of_items - rest) / rows, (of_rows - rest) / items, rest])
    n = rows * items
    expected = components * [n - rows, n - items, n - 1] / ((human - mean) ** 2).sum()
    assert agreement_parts(human[None], human).parts[0] == pytest.approx(expected, abs=1e-12)
    assert scores.shape == (3, rows, items)


def test_generators_that_never_meet_are_compared_only_with_those_they_meet() -> None:
    scores, human = gappy(missing=0.0, rows=4)
    human[:2, 6:] = human[2:, :6] = np.nan
    assert agreement_parts(scores, human).parts[0] == pytest.approx(by_regression(scores[0], human), abs=1e-10)


def simulated(random: np.random.Generator, rows: int, items: int, covariances: Floats) -> tuple[Floats, Floats]:
    """A metric and people whose item, generator and output effects have these 2 × 2 covariances."""
    effects = [
        np.linalg.cholesky(covariance) @ random.normal(size=(2, size))
        for covariance, size in zip(covariances, (items, rows, rows * items), strict=True)
    ]
    tables = effects[0][:, None, :] + effects[1][:, :, None] + effects[2].reshape(2, rows, items)
    return tables[0], tables[1]


#: A metric that knows items, half knows generators, and hardly judges outputs.
TRUTH = np.array([[[1.0, 0.8], [0.8, 1.0]], [[0.5, 0.2], [0.2, 0.4]], [[1.0, 0.1], [0.1, 1.6]]])


@pytest.mark.parametrize("kept", [1.0, 0.35])
def test_a_simulated_truth_is_found_whatever_is_missing(kept: float) -> None:
    random = np.random.default_rng(4)
    taken, plain = [], []
    for _ in range(120):
        scores, human = simulated(random, 12, 60, TRUTH)
        human[random.random(human.shape) > kept] = np.nan
        parts = agreement_parts(scores[None], human)
        taken.append((parts.parts[0], parts.people[0]))
        used = np.isfinite(human)
        means = np.nansum(np.where(used, human, 0), axis=0) / np.maximum(used.sum(axis=0), 1)
        explained = (used.sum(axis=0) * (means - human[used].mean()) ** 2).sum()
        plain.append(explained / ((human[used] - human[used].mean()) ** 2).sum())
    # Of 12 generators and 60 items a board holds 11/12 and 59/60 of the variance there is among all.
    held = TRUTH * np.array([59 / 60, 11 / 12, 1.0])[:, None, None]
    agreement = held[:, 0, 1] / np.sqrt(held[:, 0, 0].sum() * held[:, 1, 1].sum())
    people = held[:, 1, 1] / held[:, 1, 1].sum()
    found = np.mean(taken, axis=0)
    assert found[0] == pytest.approx(agreement, abs=0.02)
    assert found[1] == pytest.approx(people, abs=0.02)
    # Means of the few outputs of an item hold their chance, too: read as difficulty they say far too much.
    assert np.mean(plain) > people[0] + (0.1 if kept < 1 else 0.03)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("documents", [False, True])
def test_a_draw_is_a_board_with_items_repeated(missing: float, documents: bool) -> None:
    scores, human = gappy(missing=missing)
    unit = np.arange(12) // 3 if documents else None
    taken = agreement_parts(scores, human, unit=unit, draws=6, seed=9)
    weights = resampling_weights(np.random.default_rng(9), 4 if documents else 12, 6)
    for draw, weight in enumerate(weights.astype(int)):
        times = np.repeat(weight, 3) if documents else weight
        repeated = agreement_parts(np.repeat(scores, times, axis=2), np.repeat(human, times, axis=1))
        expected = np.stack((repeated.parts, repeated.scores, repeated.people), axis=1)
        assert taken.drawn[draw] == pytest.approx(expected, abs=1e-9, nan_ok=True)
    low, high = taken.intervals
    assert (low <= high).all()
    assert low[0, 0] == pytest.approx(np.nanquantile(taken.drawn[:, 0, 0], 0.025, axis=0))


def test_draws_that_are_worked_out_in_blocks_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    scores, human = gappy(missing=0.3)
    at_once = agreement_parts(scores, human, draws=7, seed=9)
    monkeypatch.setattr(module, "_BLOCK", 1)
    one_by_one = agreement_parts(scores, human, draws=7, seed=9)
    assert one_by_one.drawn == pytest.approx(at_once.drawn, abs=1e-12, nan_ok=True)
    monkeypatch.setattr(module, "_BLOCK", 2 * 10**3)
    in_blocks = agreement_parts(scores, human, draws=7, seed=9)
    assert in_blocks.drawn == pytest.approx(at_once.drawn, abs=1e-12, nan_ok=True)


def test_the_last_block_of_draws_is_as_long_as_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_BLOCK", 12)
    blocks = list(module._weights(np.arange(4), draws=7, seed=0, numbers=1))
    assert [(part.start, part.stop, weights.shape) for part, weights in blocks] == [
        (0, 3, (3, 4)),
        (3, 6, (3, 4)),
        (6, 7, (1, 4)),
    ]


def test_without_two_outputs_of_an_item_or_without_variance_there_are_no_parts() -> None:
    scores, human = gappy()
    assert np.isnan(agreement_parts(np.full_like(scores, 3.0), human).parts).all()
    assert np.isnan(agreement_parts(scores, np.full_like(human, 2.0)).parts).all()
    alone = np.full(human.shape, np.nan)
    alone[0] = np.arange(12.0)
    taken = agreement_parts(scores, alone, draws=5)
    assert np.isnan(taken.parts).all()
    assert np.isnan(taken.intervals).all()
    assert agreement_parts(scores, human).intervals.shape == (2, 3, 3, 3)
