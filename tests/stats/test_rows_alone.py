"""What is worked out of rows one by one equals what is drawn of all together."""

from __future__ import annotations

import numpy as np
import pytest

from billboards.stats import resampling, significance
from billboards.stats.clusters import significance_clusters
from billboards.stats.resampling import Floats, Resampling, bounds_of
from billboards.stats.significance import (
    Sides,
    cluster_rows,
    permute_against,
    permute_values,
    sign_rows,
    surely_differ,
)


def rows_of(count: int, instances: int, seed: int = 0) -> Floats:
    random = np.random.default_rng(seed)
    levels = random.normal(60.0, 8.0, (count, 1))
    rows: Floats = levels + random.normal(0.0, 12.0, (count, instances))
    return rows


def all_draws(row: Floats, draws: int) -> Floats:
    """The mean of a row in each corpus that sacreBLEU draws."""
    n = len(row)
    drawn = np.random.default_rng(12345).choice(n, size=(draws, n), replace=True)
    counts = np.stack([np.bincount(places, minlength=n) for places in drawn])
    means: Floats = (row * counts).sum(axis=1) / n
    return means


@pytest.mark.parametrize("instances", [3, 70, 1500])
def test_intervals_of_means_are_those_of_all_draws(instances: int) -> None:
    rows = rows_of(40, instances)
    # Rows that don't vary, have many ties, or are tiny or huge.
    rows[0] = 3.0
    rows[1] = np.round(rows[1] / 20)
    rows[2] *= 1e-300
    rows[3] *= 1e200
    bounds = Resampling(200).mean_bounds(rows)
    for row, (low, high) in zip(rows, bounds, strict=True):
        expected = bounds_of(all_draws(row, 200))
        assert (low, high) == (expected.low, expected.high)


def test_a_row_has_the_same_interval_in_any_company(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = rows_of(30, 90)
    together = Resampling(200).mean_bounds(rows)
    resampled = Resampling(200)
    alone = np.concatenate([resampled.mean_bounds(row[None]) for row in rows])
    np.testing.assert_array_equal(alone, together)
    monkeypatch.setattr(resampling, "_ROWS", 7)
    monkeypatch.setattr(resampling, "_SUMMED", 13)
    monkeypatch.setattr(resampling, "_FEW", 5)
    np.testing.assert_array_equal(Resampling(200).mean_bounds(rows), together)


def test_intervals_of_rows_of_other_lengths_in_turn() -> None:
    resampled, short, long = Resampling(100), rows_of(3, 20), rows_of(3, 50)
    first = resampled.mean_bounds(short)
    np.testing.assert_array_equal(resampled.mean_bounds(long), Resampling(100).mean_bounds(long))
    np.testing.assert_array_equal(resampled.mean_bounds(short), first)


@pytest.mark.parametrize("sides", ["one", "two"])
@pytest.mark.parametrize("draws", [1, 99, 500])
def test_clusters_of_rows_are_those_of_all_tests(sides: Sides, draws: int) -> None:
    rows = rows_of(60, 80, seed=draws)
    order = np.argsort(-rows.mean(axis=1)).tolist()
    p = permute_values(rows.copy(), draws=draws, seed=3, sides=sides).p
    expected = significance_clusters(order, p)
    found = cluster_rows(order, sign_rows(rows, draws=draws, seed=3), 80, seed=3, sides=sides)
    assert found == expected
    assert draws < 500 or 1 < max(found.values()) < 60


@pytest.mark.parametrize(("draws", "units"), [(300, 40), (40, 300), (1, 3)])
def test_no_eigenvalue_lies_above_what_is_said_to_be_above_all(draws: int, units: int) -> None:
    signs = significance.random_signs(np.random.default_rng(1), draws, units).astype(np.float64)
    products = signs @ signs.T if draws <= units else signs.T @ signs
    largest = float(np.linalg.eigvalsh(products)[-1])
    assert largest <= significance._above_eigenvalues(products) <= 1.05 * largest


def test_what_differs_without_a_test_differs_by_the_test() -> None:
    rows = rows_of(120, 60)
    best = int(np.argmax(rows.mean(axis=1)))
    apart = rows - rows[best]
    surely = surely_differ(apart.mean(axis=1), (apart**2).sum(axis=1), 60, draws=500, seed=4)
    p = permute_against(rows, best, draws=500, seed=4)
    assert surely.any()
    assert not surely.all()
    assert (p[surely] <= significance.LEVEL).all()
