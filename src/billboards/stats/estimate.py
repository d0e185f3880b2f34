"""A generator's mean human score from few labels, with a metric as control variate (prediction-powered inference).

People label a random part of the instances, the metric has scored all of them. Where the labelled part is easier than
the whole in the metric's eyes, the mean of the labels is corrected by that difference times a weight, the slope of
labels on scores: the regression estimator of survey sampling, and PPI++ (Angelopoulos et al. 2023) with its power
tuning. A useless metric gets a weight near 0; a biased one does no harm, since it is never taken at its word. It must
not have been fitted on these labels: of an ensemble, take the one fitted without this generator.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput, NotEnoughData

Floats = NDArray[np.float64]

#: What is estimated: the mean over these very instances, or over all that they were drawn from.
Target = Literal["instances", "population"]

#: Subsamples are drawn in blocks of at most this many numbers, so that memory stays bounded on large boards.
_BLOCK = 4_000_000


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A mean human score with its interval, beside the plain mean of the same labels.

    `effective` is how many labels the plain mean would need for the same standard error; `weight` is what one point of
    the metric counts. Standard errors and the interval are NaN where all labels are equal: they tell no spread.
    """

    mean: float
    se: float
    low: float
    high: float
    plain_mean: float
    plain_se: float
    weight: float
    labels: int
    instances: int
    effective: float

    @property
    def saved(self) -> float:
        """Labels that need not be bought, thanks to the metric."""
        return self.effective - self.labels


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """How often intervals from random subsamples of a fully labelled generator held its true mean.

    `width` is the mean width of the intervals, and `gain` the variance of the plain mean over the estimate's, both as
    they came out. Draws whose labels are all equal have no interval and count as missed.
    """

    labels: int
    instances: int
    draws: int
    covered: float
    plain_covered: float
    width: float
    plain_width: float
    gain: float


@dataclass(frozen=True, kw_only=True)
class _Fits:
    """Estimates from many subsamples at once; `spread` is the labels' variance, `helped` where the metric took part."""

    mean: Floats
    variance: Floats
    plain_mean: Floats
    plain_variance: Floats
    spread: Floats
    weight: Floats
    helped: NDArray[np.bool_]


def estimate_mean(metric: Floats, labels: Floats, *, target: Target = "instances", level: float = 0.95) -> Estimate:
    """The mean human score of a generator from its labels (NaN where there is none) and its scores on all instances.

    The labelled instances must be a random subsample. With the target `instances` the mean over all the instances
    given is estimated, which is exact once all are labelled; with `population`, the mean over the texts they are a
    sample of. An instance without a score counts as average for the metric, which keeps the interval valid. Infinities
    count as missing.
    """
    _check(metric, labels)
    labelled = np.flatnonzero(np.isfinite(labels))
    n, instances = len(labelled), len(labels)
    if n < 2:
        raise NotEnoughData(f"an interval needs labels on at least 2 instances; there are {n}")
    x = _centred(metric)
    fits = _fit(x[labelled][None], labels[labelled][None], x, target)
    half = float(_half_width(fits, n, level)[0])
    mean, variance, spread = float(fits.mean[0]), float(fits.variance[0]), float(fits.spread[0])
    return Estimate(
        mean=mean,
        se=float(np.sqrt(variance)),
        low=mean - half,
        high=mean + half,
        plain_mean=float(fits.plain_mean[0]),
        plain_se=float(np.sqrt(fits.plain_variance[0])),
        weight=float(fits.weight[0]),
        labels=n,
        instances=instances,
        effective=_effective(variance, spread, instances, target),
    )


def _check(metric: Floats, labels: Floats) -> None:
    if metric.ndim != 1 or metric.shape != labels.shape:
        raise InvalidInput(
            f"scores and labels must be of the same instances, one number each; their shapes are {metric.shape} and "
            f"{labels.shape}"
        )


def _centred(metric: Floats) -> Floats:
    """Scores less their mean; 0 where there is none, and everywhere if they do not vary."""
    scored = np.isfinite(metric)
    if not scored.any() or np.ptp(metric[scored]) <= 1e-12 * np.abs(metric[scored]).max():
        return np.zeros_like(metric)
    return np.where(scored, metric - metric[scored].mean(), 0.0)


def _fit(x: Floats, y: Floats, everyone: Floats, target: Target) -> _Fits:
    """Estimates from subsamples (draws × labels) of scores x and labels y; `everyone` are all scores, with mean 0.

    The variance is HC3, close to the jackknife's: each residual is weighted by what its label counts and divided by
    1 - leverage, since a line fitted to few points passes too close to them. With the plain residual variance,
    intervals from 10 or 20 skewed labels cover too little.
    """
    n, instances = x.shape[1], len(everyone)
    gap, plain = -x.mean(axis=1), y.mean(axis=1)
    dx, dy = x + gap[:, None], y - plain[:, None]
    squares = (dx**2).sum(axis=1)
    varies = squares > n * (1e-9 * np.abs(everyone).max()) ** 2
    scaled = dx / np.where(varies, squares, 1.0)[:, None]
    leverage = 1 / n + dx * scaled
    # A slope that rests on one label alone says nothing about the others.
    helped = varies & (leverage.max(axis=1) < 1 - 1e-9) & (n > 2)
    weight = np.where(helped, (scaled * dy).sum(axis=1), 0.0)
    residual = dy - weight[:, None] * dx
    counts = 1 + n * gap[:, None] * scaled
    deleted = residual * counts / np.where(helped[:, None], 1 - leverage, 1.0)
    unlabelled = 1 - n / instances
    spread = (dy**2).sum(axis=1) / (n - 1)
    if unlabelled or target == "population":
        spread = np.where(spread > (1e-12 * np.abs(y).max(axis=1)) ** 2, spread, np.nan)
    variance = unlabelled * np.where(helped & ~np.isnan(spread), (deleted**2).sum(axis=1) / n**2, spread / n)
    plain_variance = unlabelled * spread / n
    if target == "population":
        explained = weight**2 * (everyone**2).sum() / (instances - 1)
        left = (residual**2).sum(axis=1) / np.maximum(n - 1 - helped, 1)
        variance, plain_variance = variance + (explained + left) / instances, spread / n
    return _Fits(
        mean=plain + weight * gap,
        variance=variance,
        plain_mean=plain,
        plain_variance=plain_variance,
        spread=spread,
        weight=weight,
        helped=helped,
    )


def _half_width(fits: _Fits, n: int, level: float) -> Floats:
    from scipy.stats import t as student

    quantile = student.ppf((1 + level) / 2, n - 1 - fits.helped.astype(int))
    half: Floats = quantile * np.sqrt(fits.variance)
    return half


def _effective(variance: float, spread: float, instances: int, target: Target) -> float:
    """The n at which the plain mean has this variance: spread·(1/n - 1/instances), or spread/n in a population."""
    if target == "instances":
        return float(instances) if variance == 0 else 1 / (variance / spread + 1 / instances)
    return spread / variance


def simulate_coverage(
    metric: Floats, human: Floats, *, labels: int, draws: int = 4000, seed: int = 0, level: float = 0.95
) -> Coverage:
    """What intervals for the mean over these instances would have covered, had people labelled only some of them."""
    _check(metric, human)
    judged = np.isfinite(human)
    x, y = _centred(metric[judged]), human[judged]
    if not 2 <= labels <= len(y):
        raise NotEnoughData(f"{labels} labels can't be drawn from {len(y)} judged instances; choose 2 to {len(y)}")
    fits = _fit_subsamples(x, y, labels, draws, np.random.default_rng(seed))
    plain = replace(fits, variance=fits.plain_variance, helped=np.zeros(draws, bool))
    half, plain_half = _half_width(fits, labels, level), _half_width(plain, labels, level)
    errors, plain_errors = np.abs(fits.mean - y.mean()), np.abs(fits.plain_mean - y.mean())
    # A census has no error at all, which rounding must not turn into a miss.
    rounding = 1e-12 * np.abs(y).max()
    variance = fits.mean.var()
    return Coverage(
        labels=labels,
        instances=len(y),
        draws=draws,
        covered=float(np.mean(errors <= half + rounding)),
        plain_covered=float(np.mean(plain_errors <= plain_half + rounding)),
        width=float(2 * np.nanmean(half)) if np.isfinite(half).any() else float("nan"),
        plain_width=float(2 * np.nanmean(plain_half)) if np.isfinite(half).any() else float("nan"),
        gain=float(fits.plain_mean.var() / variance) if variance > 0 else float("nan"),
    )


def _fit_subsamples(x: Floats, y: Floats, labels: int, draws: int, random: np.random.Generator) -> _Fits:
    """Estimates from random subsamples without repeats."""
    block = max(1, _BLOCK // len(y))
    parts = []
    for start in range(0, draws, block):
        keys = random.random((min(block, draws - start), len(y)))
        chosen = np.argpartition(keys, labels - 1, axis=1)[:, :labels]
        parts.append(_fit(x[chosen], y[chosen], x, "instances"))
    names = [field.name for field in fields(_Fits)]
    return _Fits(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})
