"""Which items to label next: where a label is expected to say most, drawn by chance so that estimates stay unbiased.

Labels are worth most where people can't be foretold: with probabilities proportional to the expected error of a
prediction, the variance of the estimate is least (Neyman 1934). A plain mean over such labels would be wrong, since odd
items are in it too often; each label counts 1/probability instead, as a correction to the prediction of all items
(the difference estimator of survey sampling). Items labelled already have probability 1, however they were chosen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from billboards.errors import InvalidInput, NotEnoughData

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class WeightedEstimate:
    """A mean over all items from labels drawn with known probabilities; `se` is NaN where it can't be told."""

    mean: float
    se: float
    low: float
    high: float
    labels: int


def inclusion_probabilities(
    spread: ArrayLike, labels: int, *, certain: Bools | None = None, least: float = 0.2
) -> Floats:
    """The chance of each item to be labelled: their sum is `labels`, beside the `certain` ones, which have 1.

    Chances are proportional to the expected error `spread`, except for a share `least` of the labels that is spread
    evenly, so that no item is out of reach and a wrong expectation costs little.
    """
    errors = np.asarray(spread, float)
    given = np.zeros(len(errors), bool) if certain is None else certain
    open_items = np.flatnonzero(~given)
    if not 1 <= labels <= len(open_items):
        raise InvalidInput(f"{labels} labels can't be spread over {len(open_items)} unlabelled items")
    if not np.isfinite(errors[open_items]).all() or (errors[open_items] < 0).any():
        raise InvalidInput("every unlabelled item needs an expected error of 0 or more")
    if not 0 < least <= 1:
        raise InvalidInput(f"the share of labels that is spread evenly is above 0 and at most 1, not {least}")
    size = errors[open_items] / max(float(errors[open_items].mean()), 1e-300)
    chances = np.ones(len(errors))
    chances[open_items] = _capped(least + (1 - least) * size if size.any() else np.ones(len(size)), labels)
    return chances


def draw_items(probabilities: Floats, *, certain: Bools | None = None, seed: int = 0) -> Ints:
    """Items drawn with exactly these probabilities, their number fixed by the sum; the `certain` ones are not listed.

    Systematic sampling in random order: one random number, and a step of 1 along the summed probabilities.
    """
    random = np.random.default_rng(seed)
    given = np.zeros(len(probabilities), bool) if certain is None else certain
    order = random.permutation(np.flatnonzero(~given))
    sums = np.cumsum(probabilities[order])
    count = round(float(sums[-1])) if len(order) else 0
    # Rounding must not push the last step past the last item.
    ticks = np.minimum(random.random() + np.arange(count), count * (1 - 1e-12))
    return np.sort(order[np.searchsorted(sums * (count / sums[-1]), ticks, side="right")]) if count else order[:0]


def residual_spread(score: ArrayLike, known_score: ArrayLike, residual: ArrayLike, *, strata: int = 5) -> Floats:
    """The expected error at each score, from errors at known scores: their root mean square in strata of equal size.

    Each stratum is drawn towards the whole as if it had ten more errors of average size. A score that is missing has
    the average.
    """
    at, labelled_score, errors = (np.asarray(column, float) for column in (score, known_score, residual))
    used = np.isfinite(labelled_score) & np.isfinite(errors)
    if used.sum() < 2:
        raise NotEnoughData("expected errors need two labelled items or more that have a score")
    labelled_score, squares = labelled_score[used], errors[used] ** 2
    cuts = np.quantile(labelled_score, np.arange(1, strata) / strata)
    stratum = np.searchsorted(cuts, labelled_score, side="right")
    total, count = np.bincount(stratum, squares, strata), np.bincount(stratum, minlength=strata)
    spread = np.sqrt((total + 10 * squares.mean()) / (count + 10))
    expected = spread[np.searchsorted(cuts, np.where(np.isfinite(at), at, 0.0), side="right")]
    return np.asarray(np.where(np.isfinite(at), expected, np.sqrt(squares.mean())), float)


def neyman_allocation(sizes: ArrayLike, spreads: ArrayLike, labels: int) -> Ints:
    """How many of the labels each stratum gets: in proportion to its size times its spread, at most its size."""
    size, spread = np.asarray(sizes, np.int64), np.asarray(spreads, float)
    if not 0 < labels <= size.sum() or size.shape != spread.shape:
        raise InvalidInput(f"{labels} labels can't be spread over strata of {size.sum()} items")
    wanted = size * np.where(spread.any(), spread, 1.0)
    shares = size * _capped(np.maximum(wanted / np.maximum(size, 1), 1e-12), labels, size)
    counts = np.floor(shares + 1e-9).astype(np.int64)
    rest = np.argsort(-(shares - counts), kind="stable")[: labels - int(counts.sum())]
    counts[rest] += 1
    return counts


def estimate_weighted(
    labels: ArrayLike, probabilities: ArrayLike, *, prediction: ArrayLike | None = None, level: float = 0.95
) -> WeightedEstimate:
    """The mean over all items from labels (NaN where there is none) that were drawn with these probabilities.

    Labels correct the prediction (0 without one; it must not rest on the labels that were drawn) by 1/probability. The
    variance is Hájek's for a draw of fixed size.
    """
    y, chances = np.asarray(labels, float), np.asarray(probabilities, float)
    guess = np.zeros(len(y)) if prediction is None else np.asarray(prediction, float)
    if not y.shape == chances.shape == guess.shape or not np.isfinite(guess).all():
        raise InvalidInput("every item needs a probability, a prediction if there are any, and a label or NaN")
    labelled = np.isfinite(y)
    if (chances[labelled] <= 0).any() or not np.isfinite(y[chances >= 1]).all():
        raise InvalidInput("an item of probability 1 has no label, or one of probability 0 has; which draw is this?")
    error = np.where(labelled, y - guess, 0.0)
    mean = guess.mean() + (error[labelled] / chances[labelled]).sum() / len(y)
    drawn = labelled & (chances < 1)
    n = int(drawn.sum())
    return _with_interval(float(mean), _hajek(error[drawn], chances[drawn], len(y)), n, int(labelled.sum()), level)


def estimate_regression(
    labels: ArrayLike, probabilities: ArrayLike, *, metric: ArrayLike | None = None, level: float = 0.95
) -> WeightedEstimate:
    """The mean over all items from drawn labels (NaN elsewhere), with a metric of all items fitted on the same labels.

    The generalised regression estimator (Cassel, Särndal and Wretman 1976): a line through the labels, each weighted by
    1/probability, gives the mean over all items. Without a metric it is Hájek's ratio: the weighted mean of the labels.
    It is right on average but for a term that shrinks with 1/labels. An item whose score is missing has the mean score.
    """
    y, chances = np.asarray(labels, float), np.asarray(probabilities, float)
    if y.shape != chances.shape or not (np.isfinite(chances).all() and (chances > 0).all() and (chances <= 1).all()):
        raise InvalidInput("every item needs a probability above 0 and at most 1, and a label or NaN")
    labelled = np.isfinite(y)
    n = int(labelled.sum())
    if n < 2:
        raise NotEnoughData(f"a mean with an interval needs two drawn labels or more; there are {n}")
    x = _scores_of(metric, len(y))
    weight = 1 / chances[labelled]
    centre_x, centre_y = (float(weight @ values / weight.sum()) for values in (x[labelled], y[labelled]))
    dx, dy = x[labelled] - centre_x, y[labelled] - centre_y
    squares = float(weight @ dx**2)
    slope = float(weight @ (dx * dy)) / squares if n > 2 and squares > 0 else 0.0
    error = dy - slope * dx
    gap = float(x.mean()) - centre_x
    # Each label counts so much for the estimate, beside its 1/probability (Särndal's g-weights).
    counts = len(y) / weight.sum() + (len(y) * gap * dx / squares if slope and squares > 0 else 0.0)
    drawn = chances[labelled] < 1
    lost = (n - 1) / max(n - 1 - (slope != 0.0), 1)
    variance = lost * _hajek((error * counts)[drawn], chances[labelled][drawn], len(y))
    return _with_interval(centre_y + slope * gap, variance, int(drawn.sum()), n, level)


def _scores_of(metric: ArrayLike | None, items: int) -> Floats:
    """A metric's scores with the mean where one is missing; 0 everywhere where there are none."""
    if metric is None:
        return np.zeros(items)
    scores = np.asarray(metric, float)
    if scores.shape != (items,):
        raise InvalidInput(f"scores must be of the same {items} items as the labels; their shape is {scores.shape}")
    seen = np.isfinite(scores)
    return np.where(seen, scores, scores[seen].mean()) if seen.any() else np.zeros(items)


def combine_batches(mean: float, se: float, later: WeightedEstimate, *, level: float = 0.95) -> WeightedEstimate:
    """The estimate from labels that were drawn first, and the one from those drawn after looking at them, as one.

    Whatever the first labels were, the later estimate is right on average, so the two are uncorrelated; each counts by
    its precision.
    """
    if not (se > 0 and later.se > 0):
        return later
    precision = np.array([se**-2, later.se**-2])
    pooled = float(precision @ (mean, later.mean) / precision.sum())
    return _with_interval(pooled, 1 / float(precision.sum()), later.labels - 2, later.labels, level)


def _with_interval(mean: float, variance: float, n: int, labels: int, level: float) -> WeightedEstimate:
    from scipy.stats import t as student

    se = float(np.sqrt(variance))
    half = float(student.ppf((1 + level) / 2, n - 1)) * se if n > 1 else (0.0 if n == 0 else float("nan"))
    return WeightedEstimate(mean, se, mean - half, mean + half, labels)


def _hajek(error: Floats, chances: Floats, items: int) -> float:
    """Variance of a mean whose n errors count 1/probability: 0 in a census, NaN from a single draw."""
    n = len(error)
    if n < 2:
        return 0.0 if n == 0 else float("nan")
    share = (1 - chances) * n / (n - 1)
    expanded = error / chances
    centre = (share * expanded).sum() / share.sum()
    return float((share * (expanded - centre) ** 2).sum()) / items**2


def _capped(size: Floats, labels: float, copies: Ints | None = None) -> Floats:
    """Chances in proportion to size with the sum `labels`, none above 1; each stands for `copies` items."""
    times = np.ones(len(size)) if copies is None else copies.astype(float)
    full = np.zeros(len(size), bool)
    while True:
        left = labels - times[full].sum()
        scale = (times * size)[~full].sum()
        chances = np.where(full, 1.0, size * (left / scale if scale > 0 else 0.0))
        over = ~full & (chances > 1)
        if not over.any():
            return np.asarray(np.minimum(chances, 1.0), float)
        full |= over
