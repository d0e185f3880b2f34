"""Values of whole systems: standardised over generators, and freed of what another value explains."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from billboards.stats.system_level import correlations, residuals, standardised, value_and_interval, wilson_interval


def test_each_row_is_standardised_by_its_own_mean_and_spread() -> None:
    values = np.array([[1.0, 2.0, 3.0, np.nan], [10.0, 10.0, 10.0, 10.0], [0.0, 5.0, -5.0, 0.0]])
    taken = standardised(values)
    assert_allclose(taken[0], [-np.sqrt(1.5), 0, np.sqrt(1.5), np.nan])
    assert taken[1].tolist() == [0, 0, 0, 0]
    assert_allclose([taken[2].mean(), taken[2].std()], [0, 1], atol=1e-12)


def test_what_is_left_has_nothing_in_common_with_what_was_given() -> None:
    random = np.random.default_rng(0)
    given = random.normal(size=40)
    left = residuals(2 * given + random.normal(size=40), given)
    assert abs(np.corrcoef(left, given)[0, 1]) < 1e-12
    assert_allclose(residuals(3 * given + 1, given), np.zeros(40), atol=1e-12)


def test_wilsons_interval_is_that_of_statsmodels() -> None:
    from statsmodels.stats.proportion import proportion_confint

    for right, n in ((0, 5), (3, 10), (10, 10), (47, 100)):
        assert_allclose(wilson_interval(right, n), proportion_confint(right, n, method="wilson"), atol=1e-6)
    assert wilson_interval(0, 0) == (0.0, 1.0)


def test_the_first_draw_is_the_value_and_the_others_its_interval() -> None:
    value, interval = value_and_interval(np.array([9.0, 3.0, np.nan, 1.0, 2.0]), level=0.5)
    assert (value, interval) == (9.0, (1.5, 2.5))
    assert value_and_interval(np.array([np.nan, 1.0, 2.0])) == (None, None)
    assert value_and_interval(np.array([4.0, np.nan])) == (4.0, None)


def test_correlations_of_draws_are_those_of_numpy_over_the_generators_that_both_have() -> None:
    random = np.random.default_rng(4)
    x, y = random.normal(size=(2, 6, 8))
    x[1], y[2, 3:5] = -y[1], np.nan
    r = correlations(x, y)
    both = [np.isfinite(a) & np.isfinite(b) for a, b in zip(x, y, strict=True)]
    assert r == pytest.approx([np.corrcoef(a[k], b[k])[0, 1] for a, b, k in zip(x, y, both, strict=True)])
    assert r[1] == -1.0
    assert min(r[0], *r[2:]) < 0 < max(r)


def test_two_generators_or_one_side_that_does_not_vary_have_no_correlation() -> None:
    x = np.array([[1.0, 2.0, np.nan], [1.0, 1.0, 1.0], [1.0, 2.0, 4.0]])
    y = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [3.0, 2.0, 0.0]])
    assert correlations(x, y) == pytest.approx([np.nan, np.nan, -1.0], nan_ok=True)
