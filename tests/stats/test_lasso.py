"""The exact lasso path against scikit-learn's coordinate descent and the optimality conditions."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import Lasso, lars_path_gram

from billboards.stats.lasso import lasso_path, segment_with, weights_at

Floats = NDArray[np.float64]


def standardised(random: np.random.Generator, rows: int, columns: int, *, shared: float) -> tuple[Floats, Floats]:
    common = random.normal(size=(rows, 1))
    x = shared * common + random.normal(size=(rows, columns))
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    y = x @ (random.normal(size=columns) * (random.random(columns) < 0.5))
    y = y + 3 * random.normal(size=rows)
    return x, y - y.mean()


@pytest.mark.parametrize("seed", range(30))
def test_every_point_of_the_path_equals_scikit_learns(seed: int) -> None:
    random = np.random.default_rng(seed)
    x, y = standardised(random, 200, int(random.integers(2, 16)), shared=float(random.choice([0, 1, 4])))
    path = lasso_path(x.T @ x / len(y), x.T @ y / len(y))
    for penalty in path[0].high * np.array([1.1, 0.9, 0.5, 0.2, 0.05, 0.01]):
        expected = Lasso(alpha=penalty, tol=1e-12, max_iter=1_000_000).fit(x, y).coef_
        np.testing.assert_allclose(weights_at(path, float(penalty), x.shape[1]), expected, atol=1e-6)


@pytest.mark.parametrize("seed", range(200))
def test_the_optimality_conditions_hold_on_every_segment(seed: int) -> None:
    random = np.random.default_rng(1000 + seed)
    x, y = standardised(random, 40, int(random.integers(1, 20)), shared=float(random.choice([0, 2, 8])))
    gram, moment = x.T @ x / len(y), x.T @ y / len(y)
    path = lasso_path(gram, moment)
    assert path[-1].low == pytest.approx(0, abs=1e-8 * path[0].high)
    for segment in path:
        for penalty in (segment.high, (segment.high + segment.low) / 2, segment.low):
            weights = segment.at(penalty)
            slack = moment - gram @ weights
            assert np.abs(slack).max() <= penalty + 1e-7 * path[0].high
            inside = np.flatnonzero(np.abs(weights) > 1e-9)
            np.testing.assert_allclose(slack[inside], penalty * np.sign(weights[inside]), atol=1e-7 * path[0].high)


def test_knots_equal_those_of_least_angle_regression() -> None:
    random = np.random.default_rng(5)
    x, y = standardised(random, 300, 10, shared=1.0)
    knots, *_ = lars_path_gram(x.T @ y, x.T @ x, n_samples=len(y), method="lasso")
    path = lasso_path(x.T @ x / len(y), x.T @ y / len(y))
    np.testing.assert_allclose([*(s.high for s in path), path[-1].low], knots, atol=1e-9)


def test_two_equal_columns_never_both_enter() -> None:
    random = np.random.default_rng(6)
    x, y = standardised(random, 100, 4, shared=0.5)
    x = np.column_stack((x, x[:, 1]))
    path = lasso_path(x.T @ x / len(y), x.T @ y / len(y))
    assert not any({1, 4} <= set(segment.active) for segment in path)
    single = lasso_path(x[:, :4].T @ x[:, :4] / len(y), x[:, :4].T @ y / len(y))
    penalty = path[0].high * 0.1
    together = weights_at(path, penalty, 5)
    alone = weights_at(single, penalty, 4)
    np.testing.assert_allclose(together[:4] + np.array([0, together[4], 0, 0]), alone, atol=1e-9)


def test_a_constant_column_never_enters_and_no_signal_gives_no_path() -> None:
    gram, moment = np.diag([1.0, 0.0]), np.array([0.5, 0.0])
    assert all(segment.active == (0,) for segment in lasso_path(gram, moment))
    assert lasso_path(np.eye(2), np.zeros(2)) == []
    assert segment_with([], 3) is None


def test_asking_for_more_columns_than_there_are_gives_all_there_are() -> None:
    x, y = standardised(np.random.default_rng(7), 100, 2, shared=0.0)
    segment = segment_with(lasso_path(x.T @ x / len(y), x.T @ y / len(y)), 5)
    assert segment is not None
    assert len(segment.active) == 2


def test_a_path_that_stops_early_is_the_beginning_of_the_whole() -> None:
    x, y = standardised(np.random.default_rng(8), 200, 10, shared=1.0)
    gram, moment = x.T @ x / len(y), x.T @ y / len(y)
    whole = lasso_path(gram, moment)
    for penalty in (whole[0].high * 1.5, whole[0].high * 0.5, whole[3].high, whole[-1].high * 0.5):
        early = lasso_path(gram, moment, until=penalty)
        assert len(early) <= len(whole)
        np.testing.assert_array_equal(weights_at(early, penalty, 10), weights_at(whole, penalty, 10))
