"""Pooled Pearson, its pairs, and its bootstrap."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from billboards.stats import correlation
from billboards.stats.correlation import between_metrics, pearson, pearson_with_intervals

NAN = float("nan")


def test_pearson_of_a_table_worked_by_hand() -> None:
    # x = 1, 2, 3, 4 and y = 1, 3, 2, 4: Σ(x-2.5)(y-2.5) = 4, both sums of squares are 5, so r = .8
    r, n = pearson(np.array([[[1.0, 2.0], [3.0, 4.0]]]), np.array([[1.0, 3.0], [2.0, 4.0]]))
    assert r[0] == pytest.approx(0.8, abs=1e-15)
    assert n[0] == 4


def test_missing_values_are_left_out_pairwise_and_counted() -> None:
    random = np.random.default_rng(1)
    scores, human = random.normal(size=(3, 4, 50)), random.normal(size=(4, 50))
    scores[0, 1, 3] = scores[1, 2, :7] = NAN
    human[0, 10:20] = NAN
    r, n = pearson(scores, human)
    for k in range(3):
        used = np.isfinite(scores[k]) & np.isfinite(human)
        assert r[k] == pytest.approx(stats.pearsonr(scores[k][used], human[used])[0], abs=1e-13)
        assert n[k] == used.sum()


def test_a_large_board_is_summed_some_rows_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(4)
    scores, human = random.normal(size=(2, 7, 20)), random.normal(size=(7, 20))
    scores[0, 1, 3] = human[2, 10:] = NAN
    human[5] = NAN
    whole = pearson_with_intervals(scores, human, draws=50)
    monkeypatch.setattr(correlation, "_CELLS", 40)
    monkeypatch.setattr(correlation, "_BLOCK", 100)
    parts = pearson_with_intervals(scores, human, draws=50)
    for name in ("r", "n", "low", "high"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), atol=1e-14)


def test_large_offsets_lose_no_digits() -> None:
    random = np.random.default_rng(2)
    x, y = random.normal(size=(2, 3, 100))
    small, _ = pearson(x[None], y)
    large, _ = pearson(x[None] * 1e-6 + 1e6, y + 1e9)
    assert large[0] == pytest.approx(small[0], abs=1e-4)


@pytest.mark.parametrize("scores", [[[2.0, 2.0, 2.0]], [[0.1, 0.1, 0.1]], [[1e9, 1e9, 1e9]], [[1.0, NAN, NAN]]])
def test_what_does_not_vary_has_no_correlation(scores: list[list[float]]) -> None:
    r, _ = pearson(np.array([scores]), np.array([[1.0, 2.0, 3.0]]))
    assert np.isnan(r[0])


def test_a_metric_equal_to_the_judgments_correlates_perfectly() -> None:
    human = np.random.default_rng(3).normal(size=(2, 30))
    found = pearson_with_intervals(human[None], human, draws=50)
    assert found.r[0] == pytest.approx(1, abs=1e-15)
    assert (found.low[0], found.high[0]) == pytest.approx((1, 1), abs=1e-12)


def test_the_bootstrap_equals_a_plain_loop_over_resampled_instances() -> None:
    random = np.random.default_rng(4)
    human = random.normal(size=(3, 40))
    scores = np.stack([human + random.normal(size=human.shape), random.normal(size=human.shape)])
    found = pearson_with_intervals(scores, human, draws=400, seed=7)
    drawing = np.random.default_rng(7)
    picks = [drawing.integers(40, size=40) for _ in range(400)]
    loop = np.array([[np.corrcoef(m[:, p].ravel(), human[:, p].ravel())[0, 1] for m in scores] for p in picks])
    np.testing.assert_allclose(found.low, np.quantile(loop, 0.025, axis=0), atol=1e-12)
    np.testing.assert_allclose(found.high, np.quantile(loop, 0.975, axis=0), atol=1e-12)


def test_the_same_seed_gives_the_same_interval_and_another_does_not() -> None:
    random = np.random.default_rng(5)
    scores, human = random.normal(size=(1, 2, 30)), random.normal(size=(2, 30))
    first, again, other = (pearson_with_intervals(scores, human, draws=100, seed=s) for s in (1, 1, 2))
    assert first.low[0] == again.low[0]
    assert first.low[0] != other.low[0]


def test_correlations_between_metrics_are_symmetric_with_ones_on_the_diagonal() -> None:
    scores = np.random.default_rng(6).normal(size=(4, 3, 20))
    matrix = between_metrics(scores)
    np.testing.assert_allclose(matrix, np.corrcoef(scores.reshape(4, -1)), atol=1e-13)


def test_one_instance_has_a_correlation_without_an_interval() -> None:
    random = np.random.default_rng(8)
    scores, human = random.normal(size=(2, 5, 3)), random.normal(size=(5, 3))
    scores[0, :, 1:] = NAN
    measured = pearson_with_intervals(scores, human, draws=50)
    assert np.isfinite(measured.r).all()
    assert np.isnan([measured.low[0], measured.high[0]]).all()
    assert measured.low[1] < measured.high[1]
