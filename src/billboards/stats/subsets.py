"""A better ensemble of k metrics: the best subset, chosen and refitted honestly, beside the paper's lasso.

Three things change, each for a reason that has nothing to do with the boards it was measured on. The subset is chosen
by how well it predicts generators it has not seen, and that choice is made again inside every fold, so the reported
correlation has never met the generator it is measured on. Weights are those of least squares *within* generators (each
generator's own means taken out), so that one generator that people and metrics place differently (GPT-2 on cnndm) moves
a level and not the weights; and they are not shrunk, since a handful of metrics needs none. And every fold uses the
same centre: with an intercept of its own, a fold without a bad generator predicts too high for exactly that one.

As in the lasso, only sums per generator are needed: leaving one or two out is a subtraction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from billboards.errors import NotEnoughData
from billboards.stats.ensemble import Blocks, EnsembleFit, Linear

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

#: More subsets than this are not tried; the metrics that correlate worst are left out first.
MOST_SUBSETS = 20_000
#: Of more generators than this, several are held out together: the work grows with the square of the folds.
MOST_FOLDS = 25
#: A subset whose metrics are this nearly dependent (smallest eigenvalue of their correlations) is passed over.
DEPENDENT = 1e-4
#: Over all outputs a standardised metric varies by their number; this share of it is rounding.
NOTHING = 1e-9


@dataclass(frozen=True, kw_only=True)
class _Sums:
    """Sums per generator of standardised scores x and centred judgments y, and their within-generator products."""

    n: Floats
    x: Floats
    y: Floats
    xx: Floats
    xy: Floats
    yy: Floats
    within_xx: Floats
    within_xy: Floats


def fit_best_subset(blocks: Blocks, *, k: int = 3) -> EnsembleFit:
    """The best subset of at most k metrics, with its nested leave-one-generator-out correlation.

    `lam` is 0: nothing is shrunk.
    """
    generators = len(blocks.n)
    if generators < 3:
        raise NotEnoughData(
            f"a nested choice needs judgments of at least 3 generators (one held out, one to choose by, one to fit); "
            f"{generators} have any"
        )
    sums, subsets, linear = _chosen(blocks, k)
    return EnsembleFit(linear, 0.0, None, _nested_correlation(sums, subsets), int(blocks.n.sum()))


def choose_subset(blocks: Blocks, *, k: int = 3) -> Linear:
    """The best subset alone, without a measure of how good it is; with 2 generators or more."""
    if len(blocks.n) < 2:
        raise NotEnoughData("a subset is chosen by predicting generators from others: judgments of 2 are needed")
    return _chosen(blocks, k)[2]


def _chosen(blocks: Blocks, k: int) -> tuple[_Sums, Ints, Linear]:
    """The sums and subsets that it was chosen from, and the best subset's combination."""
    sums, centre, scale, mean = _standardise(blocks)
    sums = _in_folds(sums)
    subsets = _subsets(sums, k)
    chosen, weights = _choose(sums, subsets, frozenset(range(len(sums.n))))
    whole = np.zeros(len(centre))
    whole[chosen] = weights
    return sums, subsets, Linear(whole, centre, scale, mean)


def _standardise(blocks: Blocks) -> tuple[_Sums, Floats, Floats, float]:
    n, total = blocks.n.sum(), blocks.total()
    shift, mean = total.x / n, total.y / n
    variance = np.diag(total.xx) / n - shift**2
    varies = variance > 1e-12 * np.maximum(np.diag(total.xx) / n, 1e-300)
    spread = np.sqrt(np.where(varies, variance, 1.0))
    x = (blocks.x - blocks.n[:, None] * shift) / spread
    y = blocks.y - blocks.n * mean
    cross = blocks.x[:, :, None] * shift[None, None, :]
    xx = blocks.xx - cross - cross.transpose(0, 2, 1) + blocks.n[:, None, None] * np.outer(shift, shift)
    xy = blocks.xy - blocks.x * mean - shift * blocks.y[:, None] + blocks.n[:, None] * shift * mean
    yy = blocks.yy - 2 * mean * blocks.y + blocks.n * mean**2
    xx, xy = xx / np.outer(spread, spread), xy / spread
    own_xx = xx - x[:, :, None] * x[:, None, :] / blocks.n[:, None, None]
    own_xy = xy - x * (y / blocks.n)[:, None]
    return (
        _Sums(n=blocks.n, x=x, y=y, xx=xx, xy=xy, yy=yy, within_xx=own_xx, within_xy=own_xy),
        shift + blocks.shift,
        spread,
        float(mean),
    )


def _in_folds(sums: _Sums) -> _Sums:
    """The sums of what is held out together: one generator each, unless there are many."""
    if len(sums.n) <= MOST_FOLDS:
        return sums
    parts = {field.name: getattr(sums, field.name) for field in fields(sums)}
    dealt = {
        name: np.array([part[k::MOST_FOLDS].sum(axis=0) for k in range(MOST_FOLDS)]) for name, part in parts.items()
    }
    return _Sums(**dealt)


def _subsets(sums: _Sums, k: int) -> Ints:
    """All subsets of k metrics, or fewer, whose scores within generators are not nearly dependent."""
    gram, moment = sums.within_xx.sum(axis=0), sums.within_xy.sum(axis=0)
    size = np.diag(gram)
    usable = np.flatnonzero(size > NOTHING * float(sums.n.sum()))
    strength = np.abs(moment[usable]) / np.sqrt(size[usable])
    usable = usable[np.argsort(-strength, kind="stable")]
    if not len(usable):
        raise NotEnoughData("no metric varies within generators, so no ensemble can be fitted")
    while len(usable) > k and math.comb(len(usable), k) > MOST_SUBSETS:
        usable = usable[:-1]
    correlation = gram / np.sqrt(np.outer(np.where(size > 0, size, 1.0), np.where(size > 0, size, 1.0)))
    for count in range(min(k, len(usable)), 1, -1):
        subsets = np.array(list(combinations(np.sort(usable), count)), np.intp)
        parts = correlation[subsets[:, :, None], subsets[:, None, :]]
        independent = subsets[np.linalg.eigvalsh(parts)[:, 0] > DEPENDENT]
        if len(independent):
            return independent
    return np.sort(usable)[:, None]


def _weights(sums: _Sums, subsets: Ints, used: frozenset[int]) -> Floats:
    """Least-squares weights of every subset within the generators used."""
    rows = sorted(used)
    gram, moment = sums.within_xx[rows].sum(axis=0), sums.within_xy[rows].sum(axis=0)
    parts = gram[subsets[:, :, None], subsets[:, None, :]]
    # A metric may not vary at all within the few generators used; it gets no weight instead of no solution.
    outputs, largest = float(sums.n[rows].sum()), float(np.diag(gram).max())
    parts += (1e-12 * largest if largest > NOTHING * outputs else outputs) * np.eye(subsets.shape[1])
    weights: Floats = np.linalg.solve(parts, moment[subsets][:, :, None])[:, :, 0]
    return weights


def _choose(sums: _Sums, subsets: Ints, used: frozenset[int]) -> tuple[Ints, Floats]:
    """The subset that best predicts each of these generators from the others, and its weights on all of them."""
    parts = np.zeros((len(subsets), 6))
    for held in sorted(used):
        parts += _predicted(sums, subsets, _weights(sums, subsets, used - {held}), held)
    best = int(np.argmax(_pearson(parts)))
    return subsets[best], _weights(sums, subsets[best : best + 1], used)[0]


def _nested_correlation(sums: _Sums, subsets: Ints) -> float:
    """Pooled Pearson of judgments with predictions from subsets that were chosen and fitted without the generator."""
    everyone = frozenset(range(len(sums.n)))
    # Without two generators the weights are the same, whichever of the two is predicted: each pair is fitted once.
    parts = np.zeros((len(everyone), len(subsets), 6))
    for first, other in combinations(sorted(everyone), 2):
        weights = _weights(sums, subsets, everyone - {first, other})
        parts[first] += _predicted(sums, subsets, weights, other)
        parts[other] += _predicted(sums, subsets, weights, first)
    total = np.zeros((1, 6))
    for held in sorted(everyone):
        best = int(np.argmax(_pearson(parts[held])))
        chosen = subsets[best : best + 1]
        total += _predicted(sums, chosen, _weights(sums, chosen, everyone - {held}), held)
    return float(_pearson(total)[0])


def _predicted(sums: _Sums, subsets: Ints, weights: Floats, row: int) -> Floats:
    """n, Σp, Σy, Σpp, Σyy, Σpy of one generator under every subset's weights."""
    p = np.einsum("sk,sk->s", weights, sums.x[row][subsets])
    squares = sums.xx[row][subsets[:, :, None], subsets[:, None, :]]
    pp = np.einsum("sk,skl,sl->s", weights, squares, weights)
    py = np.einsum("sk,sk->s", weights, sums.xy[row][subsets])
    same = np.ones(len(subsets))
    return np.stack((sums.n[row] * same, p, sums.y[row] * same, pp, sums.yy[row] * same, py), axis=1)


def _pearson(parts: Floats) -> Floats:
    n, p, y, pp, yy, py = parts.T
    vp, vy = pp - p * p / n, yy - y * y / n
    defined = (vp > 1e-12 * pp) & (vy > 1e-12 * yy)
    return np.where(defined, (py - p * y / n) / np.sqrt(np.where(defined, vp * vy, 1.0)), -np.inf)
