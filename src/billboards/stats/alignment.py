"""Scores and judgments as every statistic takes them: the same rows and the same instances, NaN where there is nothing.

Scores are metrics × rows × instances (a row is a generator), judgments rows × instances. Shapes are checked here, once,
because arrays of other shapes would be stretched to fit and misaligned without a word. An infinite score is no number
to compare, so it counts as missing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput

Floats = NDArray[np.float64]


def aligned(scores: Floats, human: Floats) -> tuple[Floats, Floats]:
    """Both as finite numbers or NaN; refused where their rows or instances differ in number."""
    scores, human = np.asarray(scores, np.float64), np.asarray(human, np.float64)
    if scores.ndim != 3 or scores.shape[1:] != human.shape:
        raise InvalidInput(
            f"scores must be metrics × rows × instances and judgments rows × instances with the same rows and "
            f"instances; their shapes are {scores.shape} and {human.shape}"
        )
    return finite_or_missing(scores), finite_or_missing(human)


def finite_or_missing(values: Floats) -> Floats:
    """The same numbers with NaN for infinities; a copy only where there are any."""
    infinite = np.isinf(values)
    return np.where(infinite, np.nan, values) if infinite.any() else values


def jointly(metric: Floats, human: Floats) -> tuple[Floats, Floats]:
    """One metric's scores and the judgments (rows × instances), both NaN where either is missing."""
    missing = np.isnan(metric) | np.isnan(human)
    return np.where(missing, np.nan, metric), np.where(missing, np.nan, human)


def group_centred(values: Floats) -> Floats:
    """Values (… × outputs × groups, such as rows × instances) less the mean of their group, 0 where missing.

    Differences within groups stay as they are, and exactly 0 where all values of a group are equal.
    """
    present = ~np.isnan(values)
    # With the highest taken away first, equal values are exactly 0 and so is their mean.
    highest = np.fmax.reduce(values, axis=-2, keepdims=True, initial=-np.inf)
    below = np.where(present, values - highest, 0.0)
    mean = below.sum(axis=-2, keepdims=True) / np.maximum(present.sum(axis=-2, keepdims=True), 1)
    centred: Floats = np.where(present, below - mean, 0.0)
    return centred
