"""Two sources of judgments on the same outputs, such as crowd against experts (Billboards, §2.5, Fig. 2).

Agreement is measured over single outputs and over the generators' means, on the outputs that both have judged. Where
they disagree most is worth reading: the two corners of the plot, outputs that one source puts high and the other low,
after each source's values were standardised, since crowds and experts use a scale differently.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput, NotEnoughData

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Association:
    """Three correlations of two sources and the pairs they rest on; NaN where a source does not vary."""

    pearson: float
    spearman: float
    kendall: float
    n: int


@dataclass(frozen=True)
class Agreement:
    """How two sources of judgments agree on outputs and on generators' means over the outputs that both judged.

    `bias` is the mean of first - second and `distance` the mean of |first - second| on the scale they came in, which
    should be a common one such as 0-100; `standardised_distance` is that of their z-scores (1.13 for sources that have
    nothing to do with each other and are normal).
    """

    outputs: Association
    generators: Association
    bias: float
    distance: float
    standardised_distance: float


@dataclass(frozen=True)
class Corner:
    """Outputs on which one source is far above the other, most divergent first: row, instance, and z-difference."""

    row: Ints
    instance: Ints
    difference: Floats


def measure_agreement(first: Floats, second: Floats) -> Agreement:
    """Agreement of two sources (rows × instances, NaN where they did not judge; an infinity counts as missing)."""
    used = _common(first, second)
    a, b = first[used], second[used]
    means = [np.where(used, source, 0.0).sum(axis=1)[used.any(axis=1)] for source in (first, second)]
    count = used.sum(axis=1)[used.any(axis=1)]
    return Agreement(
        associate(a, b),
        associate(means[0] / count, means[1] / count),
        float((a - b).mean()),
        float(np.abs(a - b).mean()),
        float(np.abs(_standardised(a) - _standardised(b)).mean()),
    )


def disagreement_corners(first: Floats, second: Floats, *, k: int = 25) -> tuple[Corner, Corner]:
    """The k outputs that the first source puts highest above the second, and the k that it puts farthest below.

    Each source is standardised over the outputs that both judged (population sd). Equal differences stay in the order
    of the board; an output on which the sources do not differ stands in no corner.
    """
    if k < 1:
        raise InvalidInput(f"a corner of {k} outputs has nothing to show; ask for 1 or more")
    used = _common(first, second)
    row, instance = np.nonzero(used)
    difference = _standardised(first[used]) - _standardised(second[used])
    if np.isnan(difference).any():
        raise NotEnoughData("one of the sources gave every output the same value, so it has no corners to look at")
    order = np.argsort(-difference, kind="stable")
    above = order[difference[order] > 0][:k]
    back = np.argsort(difference, kind="stable")
    below = back[difference[back] < 0][:k]
    corners = [Corner(row[some], instance[some], difference[some]) for some in (above, below)]
    return corners[0], corners[1]


def associate(x: Floats, y: Floats) -> Association:
    """Pearson, Spearman and Kendall's tau-b of two arrays without gaps."""
    from scipy.stats import kendalltau, pearsonr, spearmanr

    n = len(x)
    if n < 2 or not _varies(x) or not _varies(y):
        return Association(float("nan"), float("nan"), float("nan"), n)
    return Association(
        float(pearsonr(x, y).statistic), float(spearmanr(x, y).statistic), float(kendalltau(x, y).statistic), n
    )


def _common(first: Floats, second: Floats) -> NDArray[np.bool_]:
    if first.shape != second.shape:
        raise InvalidInput(f"two sources must judge the same outputs; their shapes are {first.shape}, {second.shape}")
    used = np.isfinite(first) & np.isfinite(second)
    if not used.any():
        raise NotEnoughData("no output was judged by both sources, so they can't be compared")
    return used


def _varies(values: Floats) -> bool:
    return bool(values.std() > 1e-12 * np.abs(values).max())


def _standardised(values: Floats) -> Floats:
    """z-scores over these values; NaN for a constant."""
    return (values - values.mean()) / values.std() if _varies(values) else np.full(values.shape, np.nan)
