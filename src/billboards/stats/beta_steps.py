"""One step up the likelihood of a mixture of betas, from many points at once: EM's, and Newton's.

A point is a mixture of k components, an array (k, 3): the logit of each weight against the last component's, the logit
of each mean, and t, the correlation of two answers of one annotator. EM's M-step is one turn of Minka's fixed point,
which never lowers the likelihood. Newton's step has the exact Hessian, made to climb by the absolute values of its
eigenvalues; it may overshoot, so nothing is taken unseen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from billboards.stats.beta_binomial import Urns, log_likelihood, urns

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Bounds of logits and of t; the latter keep concentrations between 1e-6 and 1e12.
LOGIT, LOW_T, HIGH_T = 30.0, 1e-12, 1 - 1e-6
#: The farthest that a Newton step moves a logit.
REACH = 3.0
#: A t below this that should fall goes to its bound at once.
NEAR = 1e-6
#: The smallest curvature that a Newton step trusts, as a share of the largest.
FLAT = 1e-10
#: How much of its promise Newton's step must keep to be taken without a look at others.
TRUST = 0.1
#: How much of EM's step is tried then, which is safe but short, and of Newton's, which is neither.
LONGER, SHORTER = (1.0, 4.0, 16.0), (1.0, 0.25, 0.0625)


@dataclass(frozen=True)
class Counts:
    """Distinct counts of right and wrong answers, each with the number of annotators that have it."""

    right: Ints
    wrong: Ints
    times: Floats


@dataclass(frozen=True)
class _View:
    """How points see the counts: parameters (points, k), annotators' shares and urns of each count, and their totals.

    A total is a component's: summed over counts, each with the annotators that belong to it.
    """

    m: Floats
    q: Floats
    t: Floats
    weights: Floats
    shares: Floats
    times: Floats
    urns: Urns
    sizes: Floats
    totals: Urns


def values(counts: Counts, points: Floats) -> Floats:
    """Log-likelihoods of points."""
    logit, mean, t = np.moveaxis(points, -1, 0)
    log = log_likelihood(_share(mean), _share(-mean), t, counts.right, counts.wrong)
    return np.asarray(_log_sum(_log_weights(logit)[..., None] + log)[:, 0] @ counts.times)


def advance(counts: Counts, points: Floats, heights: Floats) -> tuple[Floats, Floats]:
    """The next points and their log-likelihoods, which are never lower.

    Newton's step is taken where it climbs about as far as it promises; elsewhere the best of EM's step, longer ones in
    its direction, and shorter ones in Newton's.
    """
    view = _view(counts, points)
    gradient = _gradient(view)
    newton = _newton(points, gradient, _hessian(view))
    tried = _bounded(points + newton)
    reached = values(counts, tried)
    promise = np.maximum(0.5 * (gradient * newton).sum(axis=(1, 2)), 0.0)
    (short,) = np.nonzero(~(reached - heights >= TRUST * promise))
    if short.size:
        em = _em(points, view)[short] - points[short]
        tried[short], reached[short] = _best(counts, points[short], heights[short], em, newton[short])
    return tried, reached


def _best(counts: Counts, points: Floats, heights: Floats, em: Floats, newton: Floats) -> tuple[Floats, Floats]:
    """The highest of the points themselves and of several lengths of both steps."""
    tried = _bounded(np.stack([points, *(points + x * em for x in LONGER), *(points + x * newton for x in SHORTER)]))
    reached = values(counts, tried[1:].reshape(-1, *points.shape[1:])).reshape(len(tried) - 1, -1)
    reached = np.concatenate([heights[None], reached])
    best = np.nanargmax(reached, axis=0), np.arange(len(points))
    return tried[best], reached[best]


def em_step(counts: Counts, points: Floats) -> Floats:
    """Where one iteration of EM leads from each point."""
    return _em(points, _view(counts, points))


def _view(counts: Counts, points: Floats) -> _View:
    logit, mean, t = np.moveaxis(points, -1, 0)
    m, q = _share(mean), _share(-mean)
    drawn = urns(m, q, t, counts.right, counts.wrong)
    log_weights = _log_weights(logit)
    joint = log_weights[..., None] + drawn[0]
    shares = np.exp(joint - _log_sum(joint))
    belonging = shares * counts.times
    totals = Urns(*np.einsum("xpkj,pkj->xpk", drawn, belonging))
    sizes = belonging.sum(axis=-1)
    return _View(m, q, t, np.exp(log_weights), shares, counts.times, Urns(*drawn), sizes, totals)


def _em(points: Floats, view: _View) -> Floats:
    """Weights in closed form; α and β by one turn of Minka's fixed point, here in terms of mean and t."""
    with np.errstate(divide="ignore", invalid="ignore"):
        right, wrong = view.totals.right / view.totals.all, view.totals.wrong / view.totals.all
        grown = view.m * right + view.q * wrong
        logits = np.log(view.sizes / view.sizes[:, -1:])
        means = points[..., 1] + np.log(right / wrong)
        moved = np.stack([logits, means, view.t / (view.t + (1 - view.t) * grown)], axis=-1)
    return _bounded(np.where(np.isnan(moved), points, moved))


def _gradient(view: _View) -> Floats:
    """By logit of weight, logit of mean and t: shape (points, k, 3)."""
    by_weight = view.sizes - view.times.sum() * view.weights
    return np.stack([by_weight, view.m * view.q * view.totals.by_m, view.totals.by_t], axis=-1)


def _hessian(view: _View) -> Floats:
    """Of the likelihood itself, not of EM's bound: shape (points, 3k, 3k)."""
    k, people = view.m.shape[1], view.times.sum()
    scores = np.empty((*view.shares.shape[:2], 3, view.shares.shape[2]))
    scores[:, :, 0] = 1
    scores[:, :, 1] = (view.m * view.q)[..., None] * view.urns.by_m
    scores[:, :, 2] = view.urns.by_t
    shared = scores * view.shares[..., None, :]
    belonging = shared * view.times
    within = belonging @ np.swapaxes(scores, -1, -2) + _curvature(view)
    within[..., 0, 0] -= people * view.weights
    flat = shared.reshape(len(shared), 3 * k, -1)
    hessian = -belonging.reshape(flat.shape) @ np.swapaxes(flat, -1, -2)
    for i in range(k):
        own = slice(3 * i, 3 * i + 3)
        hessian[:, own, own] += within[:, i]
    hessian[:, ::3, ::3] += people * view.weights[:, :, None] * view.weights[:, None, :]
    return np.asarray(hessian)


def _curvature(view: _View) -> Floats:
    """Second derivatives of each component's log-likelihood, summed over its annotators: shape (points, k, 3, 3)."""
    spread, totals = view.m * view.q, view.totals
    found = np.zeros((*view.m.shape, 3, 3))
    found[..., 1, 1] = spread * (spread * totals.by_mm + (view.q - view.m) * totals.by_m)
    found[..., 1, 2] = found[..., 2, 1] = spread * totals.by_mt
    found[..., 2, 2] = totals.by_tt
    return found


def _newton(points: Floats, gradient: Floats, hessian: Floats) -> Floats:
    """A step of length one, or as far as logits may reach; what pushes against a bound stays there."""
    count, k, _ = points.shape
    held = np.zeros(points.shape, dtype=bool)
    held[:, -1, 0] = True
    falling = (gradient[..., 2] < 0) & (points[..., 2] < NEAR)
    held[..., 2] = falling | (gradient[..., 2] > 0) & (points[..., 2] >= HIGH_T)
    free = ~held.reshape(count, 3 * k)
    curves = np.where(free[:, :, None] & free[:, None, :], hessian, -np.eye(3 * k))
    levels, axes = np.linalg.eigh(curves)
    steepness = np.abs(levels)
    steepness = np.maximum(steepness, FLAT * steepness.max(axis=-1, keepdims=True))
    along = np.einsum("spa,sp->sa", axes, np.where(free, gradient.reshape(count, 3 * k), 0.0)) / steepness
    step = np.einsum("spa,sa->sp", axes, along).reshape(points.shape)
    step[falling, 2] = LOW_T - points[falling, 2]
    longest = np.abs(step[..., :2]).max(axis=(1, 2), keepdims=True)
    return np.asarray(step * np.minimum(1.0, REACH / np.maximum(longest, REACH)))


def _bounded(points: Floats) -> Floats:
    low, high = np.array([-LOGIT, -LOGIT, LOW_T]), np.array([LOGIT, LOGIT, HIGH_T])
    return np.clip(points, low, high)


def _share(logit: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-logit)))


def _log_weights(logit: Floats) -> Floats:
    return logit - _log_sum(logit[..., None])[..., 0]


def _log_sum(joint: Floats) -> Floats:
    """The logarithm of the sum over components, which stay as an axis of length one."""
    top = joint.max(axis=-2, keepdims=True)
    return np.asarray(top + np.log(np.exp(joint - top).sum(axis=-2, keepdims=True)))
