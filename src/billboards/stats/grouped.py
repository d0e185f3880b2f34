"""Correlations with people: Pearson, Spearman and Kendall, pooled or in groups, with the data they rest on.

Pooled: over all outputs at once. By item: over the outputs of each instance, then averaged over instances, so that the
difference between easy and hard instances earns nothing. By system: over the instances of each generator, then averaged
over generators. System level: over the generators' means of the outputs that have both a score and a judgment. As in
mt-metrics-eval, a group has no value and is left out of the average where it has fewer than two outputs, or where all
its scores or all its judgments are equal; `groups` says how many took part.

p-values are two-sided, of no association: pooled and at system level those of scipy (with two outputs Pearson's and
Spearman's are 1, since two points always lie on a line); by item that of a t-test over the instances' values; by system
there is none, since all generators share the instances.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from billboards.errors import UnknownName
from billboards.stats.alignment import aligned, group_centred, jointly
from billboards.stats.kendall import Variant, kendall, kendall_with_p

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Statistic = Literal["pearson", "spearman", "kendall-b", "kendall-c"]
Grouping = Literal["pooled", "by-item", "by-system", "system-level"]

STATISTICS: tuple[Statistic, ...] = ("pearson", "spearman", "kendall-b", "kendall-c")
GROUPINGS: tuple[Grouping, ...] = ("pooled", "by-item", "by-system", "system-level")
_KENDALL: dict[Statistic, Variant] = {"kendall-b": "b", "kendall-c": "c"}


@dataclass(frozen=True)
class Correlation:
    """A correlation of each metric, its p-value, and the outputs (generators at system level) and groups it rests on.

    NaN where no group has a value, and for p where there is no test.
    """

    value: Floats
    p: Floats
    n: Integers
    groups: Integers


def correlation(
    scores: Floats, human: Floats, *, statistic: Statistic = "pearson", grouping: Grouping = "pooled"
) -> Correlation:
    """A correlation of each metric (metrics × rows × instances) with people (rows × instances)."""
    scores, human = aligned(scores, human)
    if statistic not in STATISTICS:
        raise UnknownName("statistic", statistic, STATISTICS)
    if grouping not in GROUPINGS:
        raise UnknownName("grouping", grouping, GROUPINGS)
    measured = [_correlation(*jointly(metric, human), statistic, grouping) for metric in scores]
    value, p, n, groups = np.array(measured, np.float64).reshape(-1, 4).T
    return Correlation(value, p, n.astype(np.int64), groups.astype(np.int64))


def _correlation(x: Floats, y: Floats, statistic: Statistic, grouping: Grouping) -> tuple[float, float, int, int]:
    """One metric's correlation, p-value, outputs and groups."""
    x, y = _grouped(x, grouping), _grouped(y, grouping)
    outputs = (~np.isnan(x)).sum(axis=0)
    if grouping in ("pooled", "system-level"):
        value, p = _whole(x, y, int(outputs[0]), statistic)
        values = np.array([value])
    else:
        values = correlations_of_groups(x, y, statistic)
        value, p = _average(values[~np.isnan(values)], grouping)
    defined = ~np.isnan(values)
    return value, p, int(outputs[defined].sum()), int(defined.sum())


def _whole(x: Floats, y: Floats, n: int, statistic: Statistic) -> tuple[float, float]:
    """The correlation in a single group, and its p-value."""
    if statistic in _KENDALL:
        return kendall_with_p(x[:, 0], y[:, 0], _KENDALL[statistic])
    r = float(correlations_of_groups(x, y, statistic)[0])
    return r, 1.0 if n == 2 and not np.isnan(r) else _p_of_t(n - 2, (1 - abs(r)) * (1 + abs(r)))


def _average(values: Floats, grouping: Grouping) -> tuple[float, float]:
    """The average over groups, and its p-value from a t-test where groups are independent and two or more."""
    if not len(values):
        return np.nan, np.nan
    mean, degrees = float(values.mean()), len(values) - 1
    if grouping == "by-system" or not degrees:
        return mean, np.nan
    error = degrees * float(values.var(ddof=1)) / len(values)
    return mean, 1.0 if mean == 0 else _p_of_t(degrees, error / (error + mean**2))


def _grouped(values: Floats, grouping: Grouping) -> Floats:
    """Scores or judgments (rows × instances) as outputs × groups."""
    if grouping == "by-item":
        return values
    if grouping == "by-system":
        return values.T
    return (_means(values) if grouping == "system-level" else values).reshape(-1, 1)


def _means(values: Floats) -> Floats:
    """The mean of each row below the highest value there is, NaN where it has none; equal but for rounding is equal."""
    present = ~np.isnan(values)
    count = present.sum(axis=1)
    below = np.where(present, values - np.fmax.reduce(values, axis=None, initial=-np.inf), 0.0)
    scale = np.abs(below).max(initial=0.0) or 1.0
    means = np.round(below.sum(axis=1) / np.maximum(count, 1) / scale, 12)
    return np.where(count > 0, means, np.nan)


def correlations_of_groups(x: Floats, y: Floats, statistic: Statistic) -> Floats:
    """A correlation in each group (outputs × groups, NaN in both where either is missing); NaN where undefined."""
    if statistic == "pearson":
        return _pearson(x, y)
    if statistic == "spearman":
        return _pearson(ranks_within(x), ranks_within(y))
    return kendall(x, y, _KENDALL[statistic])


def _pearson(x: Floats, y: Floats) -> Floats:
    """Pearson's r of each group (outputs × groups, NaN in both where either is missing)."""
    x, y = _standardised(x), _standardised(y)
    xx, yy, xy = ((a * b).sum(axis=0) for a, b in ((x, x), (y, y), (x, y)))
    with np.errstate(invalid="ignore", divide="ignore"):
        r = xy / np.sqrt(xx * yy)
    return np.where((xx > 0) & (yy > 0), np.clip(r, -1.0, 1.0), np.nan)


def _standardised(values: Floats) -> Floats:
    """Values less their group's mean, over the largest of these; 0 where missing or where the group has one value."""
    centred = group_centred(values)
    spread = np.abs(centred).max(axis=0, initial=0.0)
    return centred / np.where(spread > 0, spread, 1.0)


def ranks_within(values: Floats) -> Floats:
    """Ranks within groups, the mean rank for ties, NaN where missing."""
    from scipy.stats import rankdata

    missing = np.isnan(values)
    ranks = rankdata(np.where(missing, np.inf, values), axis=0)
    return np.where(missing, np.nan, ranks)


def _p_of_t(degrees: int, share: float) -> float:
    """Two-sided p of a t statistic with degrees/(degrees + t²) = share; for a correlation that is 1 - r²."""
    from scipy.special import betainc

    return float(betainc(degrees / 2, 0.5, share))
