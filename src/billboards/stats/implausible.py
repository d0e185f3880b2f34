"""Ratings that a good metric finds implausible (Billboards, §2.4): a list for a second look, never a verdict.

Ratings are regressed on the metric's scores, and each is compared with what the others make one expect. Residuals are
studentised without the rating itself, so that one wild rating can't hide by widening its own yardstick.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from billboards.errors import InvalidInput, NotEnoughData

Floats = NDArray[np.float64]


def standardised_residuals(score: ArrayLike, human: ArrayLike) -> tuple[Floats, Floats]:
    """What the score makes one expect of each rating, and the externally studentised residual; NaN where one lacks.

    Above 0 people were kinder than the score suggests. Any shape; both of the same one.
    """
    x, y = np.asarray(score, float), np.asarray(human, float)
    if x.shape != y.shape:
        raise InvalidInput(f"every rating needs its score; the shapes are {x.shape} and {y.shape}")
    used = np.isfinite(x) & np.isfinite(y)
    n = int(used.sum())
    if n < 4 or np.ptp(x[used]) == 0 or np.ptp(y[used]) == 0:
        raise NotEnoughData("implausible ratings need four or more that have a score, and neither may be constant")
    dx, dy = x[used] - x[used].mean(), y[used] - y[used].mean()
    slope = (dx @ dy) / (dx @ dx)
    error, leverage = dy - slope * dx, 1 / n + dx**2 / (dx @ dx)
    left = np.maximum(error @ error - error**2 / (1 - leverage), 1e-300) / (n - 3)
    expected, residual = np.full(x.shape, np.nan), np.full(x.shape, np.nan)
    expected[used] = y[used] - error
    residual[used] = error / np.sqrt(left * (1 - leverage))
    return expected, residual
