"""Paired tests against plain loops and sacreBLEU's own p-value."""

from __future__ import annotations

import numpy as np
import pytest
from sacrebleu.significance import _compute_p_value, estimate_ci

from billboards.stats import resampling
from billboards.stats.resampling import Counts, Floats, Swaps, bootstrap_p, bounds_of, randomisation_p


def shares(sums: Counts) -> Floats:
    values: Floats = 100 * sums[:, 0] / sums[:, 1]
    return values


def test_the_bootstrap_p_is_sacrebleus() -> None:
    random = np.random.default_rng(1)
    first, second = random.normal(50, 1, 1000), random.normal(50.4, 1, 1000)
    drawn = np.abs(second - first)
    for difference in (0.2, 1.5, -1.5, 9.0):
        expected = _compute_p_value(drawn - drawn.mean(), abs(difference))
        assert bootstrap_p(first, second, difference) == expected


def test_bounds_are_sacrebleus() -> None:
    values = np.random.default_rng(2).normal(50, 1, 1000)
    mean, half = estimate_ci(values)
    bounds = bounds_of(values)
    assert (bounds.high - bounds.low) / 2 == pytest.approx(half)
    assert bounds.mean == pytest.approx(mean)


@pytest.mark.parametrize("kind", [np.int64, np.float64])
def test_randomisation_swaps_as_a_plain_loop_does(kind: type) -> None:
    random = np.random.default_rng(3)
    first: Counts = random.integers(1, 9, (41, 2)).astype(kind)
    second: Counts = random.integers(1, 9, (41, 2)).astype(kind)
    difference = float(shares(second.sum(axis=0)[None])[0] - shares(first.sum(axis=0)[None])[0])
    chosen = np.random.default_rng(12345).integers(2, size=(10_000, 41), dtype=bool)
    drawn = [
        abs(shares((c @ first + ~c @ second)[None])[0] - shares((~c @ first + c @ second)[None])[0]) for c in chosen
    ]
    assert randomisation_p(first, second, shares, difference) == _compute_p_value(np.array(drawn), abs(difference))


def test_trials_in_pieces_are_the_same_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = np.random.default_rng(4).integers(-9, 9, (37, 3))
    swaps = Swaps(1000)
    whole = np.concatenate(list(swaps.sums(matrix)))
    np.testing.assert_array_equal(np.concatenate(list(swaps.sums(matrix))), whole)
    monkeypatch.setattr(resampling, "_AT_ONCE", 4 * 37 * 40)
    monkeypatch.setattr(resampling, "_KEPT", 0)
    pieces = list(Swaps(1000).sums(matrix))
    assert len(pieces) == 32
    np.testing.assert_array_equal(np.concatenate(pieces), whole)
    chosen = np.random.default_rng(12345).integers(2, size=(1000, 37), dtype=bool)
    np.testing.assert_array_equal(whole, chosen @ matrix)
