"""Paired tests of all rows against one of them, beside a plain loop and beside the tests of every two rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import permutation_test

from billboards.stats.significance import permute_against, permute_values


def test_p_values_are_those_of_scipys_exact_test_of_paired_samples() -> None:
    random = np.random.default_rng(1)
    values = random.normal(size=(3, 10)) + np.array([[0.0], [0.4], [0.9]])
    p = permute_against(values, 2, draws=20_000)
    for k in (0, 1):
        exact = permutation_test(
            (values[2], values[k]), lambda a, b: np.mean(a - b), permutation_type="samples", n_resamples=5000
        )
        assert p[k] == pytest.approx(exact.pvalue, abs=0.015)
    assert p[2] == 1.0


@pytest.mark.parametrize("sides", ["one", "two"])
def test_p_values_are_those_of_the_tests_between_every_two(sides: str) -> None:
    values = np.random.default_rng(2).normal(size=(4, 60)) + np.array([[0.5], [0.0], [0.1], [0.3]])
    best = int(np.argmax(values.mean(axis=1)))
    p = permute_against(values, best, draws=4000, sides=sides)  # type: ignore[arg-type]
    every = permute_values(values, draws=4000, sides=sides).p  # type: ignore[arg-type]
    assert p == pytest.approx(every[best], abs=0.02)


def test_with_one_side_the_one_that_is_ahead_is_tested_whoever_it_is() -> None:
    values = np.array([[0.0] * 12, [1.0] * 11 + [0.5]])
    assert permute_against(values, 0, draws=999, sides="one")[1] < 0.01
    assert permute_against(values, 1, draws=999, sides="one")[0] < 0.01


def test_pairs_are_compared_where_both_have_values_and_not_at_all_where_nowhere() -> None:
    nan = np.nan
    values = np.array([[1.0, 2.0, 3.0, nan], [1.0, 2.0, 3.0, 9.0], [nan, nan, nan, 1.0]])
    p = permute_against(values, 0, draws=99)
    assert p[1] == 1.0
    assert np.isnan(p[2])


def test_where_two_share_an_infinite_value_nothing_is_tested() -> None:
    inf = np.inf
    values = np.array([[1.0, 2.0, 3.0], [inf, 2.0, 3.0], [1.0, -inf, 2.0], [0.0, 1.0, 2.0]])
    finite = permute_against(values, 0, draws=99)
    assert np.isnan(finite).tolist() == [False, True, True, False]
    assert np.isnan(permute_against(values, 1, draws=99)).tolist() == [True, False, True, True]
