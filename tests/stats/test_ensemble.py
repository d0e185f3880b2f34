"""The ensemble from sums per generator against a plain loop over rows with scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import Lasso

from billboards.errors import NotEnoughData
from billboards.stats.ensemble import apply_linear, fit_ensemble, gather_blocks, held_out_correlation

Floats = NDArray[np.float64]


def board(seed: int, generators: int = 6, instances: int = 80, metrics: int = 7) -> tuple[Floats, Floats]:
    random = np.random.default_rng(seed)
    quality = random.normal(size=(generators, 1)) + random.normal(size=(generators, instances))
    scores = quality * random.uniform(0.1, 1.5, size=(metrics, 1, 1)) + random.normal(
        size=(metrics, generators, instances)
    )
    return scores * 20 + 100, 60 + 10 * quality + 5 * random.normal(size=quality.shape)


def loop(scores: Floats, human: Floats, penalty: float) -> float:
    """Leave-one-generator-out with scikit-learn, row by row."""
    predicted = np.full(human.shape, np.nan)
    for held in range(len(human)):
        rest = np.arange(len(human)) != held
        used = np.isfinite(human[rest]) & np.isfinite(scores[:, rest]).all(axis=0)
        x, y = scores[:, rest][:, used].T, human[rest][used]
        mean, spread = x.mean(axis=0), x.std(axis=0)
        fit = Lasso(alpha=penalty, tol=1e-12, max_iter=1_000_000).fit((x - mean) / spread, y)
        predicted[held] = fit.predict(np.nan_to_num((scores[:, held].T - mean) / spread))
    used = np.isfinite(human) & np.isfinite(scores).all(axis=0)
    return float(np.corrcoef(predicted[used], human[used])[0, 1])


@pytest.mark.parametrize("seed", range(5))
def test_leave_one_generator_out_equals_a_loop_over_rows(seed: int) -> None:
    scores, human = board(seed)
    scores[2, 1, :9] = human[4, 10:30] = np.nan
    fit = fit_ensemble(gather_blocks(scores, human))
    assert np.count_nonzero(fit.linear.weights) == 3
    assert fit.correlation == pytest.approx(loop(scores, human, fit.lam), abs=1e-7)
    assert fit.n == 6 * 80 - 9 - 20


def test_the_tuned_penalty_is_the_lower_knot_and_a_given_one_is_kept() -> None:
    blocks = gather_blocks(*board(3))
    tuned = fit_ensemble(blocks)
    assert tuned.lam_range is not None
    low, high = tuned.lam_range
    assert tuned.lam == low < high
    inside = fit_ensemble(blocks, lam=(low + high) / 2)
    assert inside.lam == (low + high) / 2
    assert set(np.flatnonzero(inside.linear.weights)) == set(np.flatnonzero(tuned.linear.weights))
    assert np.count_nonzero(fit_ensemble(blocks, lam=low * 0.99).linear.weights) == 4


@pytest.mark.parametrize("metrics", [1, 2, 7])
@pytest.mark.parametrize("generators", [1, 2, 3, 40])
def test_sums_without_each_generator_are_to_the_last_digit_those_of_the_others(generators: int, metrics: int) -> None:
    blocks = gather_blocks(*board(2, generators, 9, metrics))
    for blocks_of in (blocks, blocks.without_metrics([0])):
        left = list(blocks_of.leaving_one_out())
        assert len(left) == generators
        for held, sums in enumerate(left):
            expected = blocks_of.total(without=held)
            for name in ("n", "x", "y", "xx", "xy", "yy"):
                np.testing.assert_array_equal(getattr(sums, name), getattr(expected, name))


@pytest.mark.parametrize("k", [1, 2, 4])
def test_k_chooses_how_many_metrics_take_part(k: int) -> None:
    assert np.count_nonzero(fit_ensemble(gather_blocks(*board(4)), k=k).linear.weights) == k


def test_removing_a_metric_from_the_sums_equals_never_having_had_it() -> None:
    scores, human = board(5)
    removed = fit_ensemble(gather_blocks(scores, human).without_metrics([2]))
    never = fit_ensemble(gather_blocks(np.delete(scores, 2, axis=0), human))
    assert removed.correlation == pytest.approx(never.correlation, abs=1e-12)
    np.testing.assert_allclose(removed.linear.weights, never.linear.weights, atol=1e-10)


def test_applying_it_gives_the_judgments_scale_and_nan_where_a_metric_is_missing() -> None:
    scores, human = board(6)
    fit = fit_ensemble(gather_blocks(scores, human))
    used = int(np.flatnonzero(fit.linear.weights)[0])
    unused = int(np.flatnonzero(fit.linear.weights == 0)[0])
    scores[used, 0, 0] = scores[unused, 0, 1] = np.nan
    applied = apply_linear(fit.linear, scores)
    assert np.isnan(applied[0, 0])
    assert np.isfinite(applied[0, 1])
    assert np.nanmean(applied) == pytest.approx(human.mean(), abs=0.5)


def test_one_judged_generator_is_not_enough() -> None:
    scores, human = board(7, generators=1)
    with pytest.raises(NotEnoughData, match="at least 2 generators"):
        fit_ensemble(gather_blocks(scores, human))


def test_predictions_that_do_not_vary_have_no_correlation() -> None:
    scores, human = board(0)
    assert np.isnan(held_out_correlation(gather_blocks(scores, np.full_like(human, 50.0)), 0.1))
    assert held_out_correlation(gather_blocks(scores, human), 0.1) > 0.3
