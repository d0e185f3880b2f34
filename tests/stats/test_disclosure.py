"""How many digits a number may have that rests on hidden data, and which columns get no correlation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from billboards.stats.disclosure import (
    hardly_varies,
    mean_decimals,
    round_significant,
    round_to,
    supported_decimals,
    varying_outputs,
)


@pytest.mark.parametrize(
    ("n", "interval", "decimals"),
    [
        (400, None, 2),
        (38_418, None, 2),
        (38_500, None, 3),
        (50_000, (0.30, 0.33), 2),
        (50_000, (0.310, 0.325), 3),
        (2, None, 2),
    ],
)
def test_a_correlation_has_two_decimals_and_three_where_its_interval_is_narrow(
    n: int, interval: tuple[float, float] | None, decimals: int
) -> None:
    assert supported_decimals(n, interval) == decimals


def test_numbers_are_rounded_by_decimals_or_significant_digits() -> None:
    assert round_to(0.12345, 2) == 0.12
    assert str(round_to(-0.001, 2)) == "0.0"
    assert round_to(1234.0, -2) == 1200.0
    assert [round_significant(value) for value in (0.01234, 67.8, -3.77, 0.0)] == [0.012, 68.0, -3.8, 0.0]
    assert round_significant(0.049, beside=3.77) == 0.0
    assert round_significant(0.06, beside=3.77) == 0.1


@pytest.mark.parametrize(
    ("means", "widths", "decimals"),
    [
        ([0.412345, 0.3], [0.02, 0.03], 2),
        ([0.412345, 0.3], [0.0001, 0.0002], 3),
        ([34.567, 12.0], [0.7, 0.9], 1),
        ([34.567, 12.0], [0.0, 0.0], 1),
        ([123_456_789_012_345.0], [0.0], -12),
        ([0.0, 0.0], [0.0, 0.0], 3),
        ([np.nan], [], 3),
    ],
)
def test_means_have_no_step_below_a_thousandth_of_the_largest(
    means: list[float], widths: list[float], decimals: int
) -> None:
    assert mean_decimals(np.array(means), np.array(widths)) == decimals


@given(st.lists(st.integers(0, 2**48), min_size=2, max_size=12))
def test_a_mean_holds_ten_bits_whatever_is_written_into_it(numbers: list[int]) -> None:
    means = np.array(numbers, float)
    decimals = mean_decimals(means, np.zeros(len(means)))
    step = 10.0**-decimals
    levels = {round(round_to(float(mean), decimals) / step) for mean in means}
    assert all(0 <= level <= 1000 for level in levels)


def test_a_columns_variance_rests_on_as_many_outputs_as_differ() -> None:
    random = np.random.default_rng(0)
    for count in (1, 3, 20):
        column = np.zeros(1000)
        column[:count] = 1.0
        assert varying_outputs(column) == pytest.approx(count, rel=0.05)
    assert varying_outputs(random.normal(size=3000)) == pytest.approx(1000, rel=0.1)
    assert varying_outputs(np.full(10, 2.0)) == 0.0
    assert varying_outputs(np.array([np.nan, 1.0])) == 0.0


def test_one_hot_columns_hardly_vary_also_under_noise_and_honest_ones_do() -> None:
    random = np.random.default_rng(1)
    column = np.zeros((10, 40))
    column[3, 7] = 1.0
    assert hardly_varies(column) == ("its scores hardly vary: their variance lies in about 1 of 400 judged outputs")
    assert hardly_varies(column + 0.001 * random.normal(size=column.shape)) is not None
    assert hardly_varies(random.normal(size=400)) is None
    assert hardly_varies(random.exponential(size=400)) is None
    assert hardly_varies((random.random(400) < 0.05).astype(float)) is None
    assert hardly_varies(random.normal(size=12)) is None
    assert hardly_varies(np.full(5, np.nan)) is None
