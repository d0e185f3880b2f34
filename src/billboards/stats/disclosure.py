"""How much a number may say of data that stay hidden: digits that its interval supports, and columns that single out.

A correlation printed with sixteen digits is an equation in the hidden judgments; a metric that is 1 on one output and 0
elsewhere turns it into that output's judgment. So numbers that rest on hidden data are given with as many digits as
their sampling error leaves meaning in, and a column whose variance lies in a few outputs has no correlation at all.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from billboards.stats.bootstrap import Interval

Floats = NDArray[np.float64]

#: Decimals of a correlation: three where its 95% interval is narrower than ±0.01, else two.
FEW, MORE = 2, 3
NARROW = 0.01
#: Significant digits of a number without an interval, and of the largest mean of a column.
DIGITS, MEAN_DIGITS = 2, 3
#: A column must vary on at least so many judged outputs, or on this share of them.
FEWEST_VARYING, LEAST_VARYING = 10, 0.01


def supported_decimals(n: int, interval: Interval | None = None) -> int:
    """The decimals that a correlation over n outputs supports: the wider of its interval and that of Fisher's z."""
    half = 1.96 / math.sqrt(max(n - 3, 1))
    if interval is not None:
        half = max(half, (interval[1] - interval[0]) / 2)
    return MORE if half < NARROW else FEW


def round_to(value: float, decimals: int) -> float:
    """A number with so many decimals (below 0: tens, hundreds); never a negative zero."""
    return float(round(value, decimals)) + 0.0


def round_significant(value: float, digits: int = DIGITS, *, beside: float | None = None) -> float:
    """A number with so many significant digits, of a larger one where it stands beside that."""
    size = max(abs(value), abs(beside or 0.0))
    if size == 0 or not math.isfinite(size):
        return value
    return round_to(value, digits - 1 - math.floor(math.log10(size)))


def mean_decimals(means: Floats, half_widths: Floats) -> int:
    """The decimals that a column's means support: no step below half an interval, or a thousandth of the largest mean.

    The second bound holds where scores don't vary: a column that is one number everywhere has intervals of no width.
    """
    sizes = np.abs(means[np.isfinite(means)])
    largest = float(sizes.max()) if len(sizes) else 0.0
    if largest == 0:
        return MEAN_DIGITS
    widths = half_widths[np.isfinite(half_widths)]
    finest = MEAN_DIGITS - 1 - math.floor(math.log10(largest))
    narrowest = float(widths.min()) if len(widths) else 0.0
    return finest if narrowest <= 0 else min(finest, math.ceil(-math.log10(narrowest)))


def varying_outputs(scores: Floats) -> float:
    """On how many outputs a column's variance rests: (Σd²)² / Σd⁴ of the distances d from its mean.

    k ones among many zeros give about k, a bell-shaped column a third of its outputs, whatever noise is added.
    """
    values = scores[np.isfinite(scores)]
    if len(values) < 2:
        return 0.0
    distances = values - values.mean()
    largest = float(np.abs(distances).max())
    if largest == 0:
        return 0.0
    squares = (distances / largest) ** 2
    return float(squares.sum() ** 2 / (squares**2).sum())


def hardly_varies(scores: Floats) -> str | None:
    """Why a column of judged outputs gets no correlation where judgments are hidden; None where it may have one.

    It must vary on ten outputs and on a hundredth of all; on a board of fewer than fifty, on a fifth.
    """
    n = int(np.isfinite(scores).sum())
    varying = varying_outputs(scores)
    if n < 2 or varying >= min(max(FEWEST_VARYING, LEAST_VARYING * n), n / 5):
        return None
    return f"its scores hardly vary: their variance lies in about {max(1, round(varying))} of {n:,} judged outputs"
