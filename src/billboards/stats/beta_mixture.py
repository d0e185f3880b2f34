"""A mixture of betas fitted to annotators' right and wrong answers by maximum likelihood (GENIE, Appendix B.1).

EM from several random starts, all at once: the E-step divides annotators among components, the M-step is one turn of
Minka's fixed point, which never lowers the likelihood. EM is slow where the data hardly determine a concentration, so a
Newton step of the likelihood is taken when the likelihood rises as predicted: the optimum is reached in a dozen
steps. That step has the exact Hessian, made to climb by the absolute values of its eigenvalues; it may overshoot, so
nothing is taken unseen. Annotators with the same counts are one row with a multiplicity, so that the cost hardly grows
with their number.

A point is a mixture of k components, an array (k, 3): the logit of each weight against the last component's, the logit
of each mean m, and t = 1 / (1 + α + β), the correlation of two answers of one annotator. With q = 1 - m, the likelihood
of right and wrong answers in one order is that of Pólya's urn, Π(m(1-t) + it) · Π(q(1-t) + it) / Π(1 - t + it) with i
from 0 to the count: no gamma function, exact down to t = 0, where all annotators are alike. Each product is a running
one over i, so a table as long as the largest count serves every annotator.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from billboards.errors import InvalidInput, NotEnoughData

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
#: GENIE's starts and iterations; its relative tolerance is 1e-6, at which EM stops short of the optimum.
STARTS, ITERATIONS, TOLERANCE = 10, 1_000, 1e-10
#: Tables are as long as the largest count; nobody answers that many test questions.
MOST_QUESTIONS = 20_000


@dataclass(frozen=True, kw_only=True, slots=True)
class BetaMixture:
    """A prior of annotators' accuracy: betas with their weights, the least accurate first and the best last.

    A fitted one says its log-likelihood (of the answers in one order, pseudo-annotators included) and how many steps
    it took. Of a component whose annotators are all alike only the mean is known: its concentration is a bound.
    """

    weights: tuple[float, ...]
    alphas: tuple[float, ...]
    betas: tuple[float, ...]
    log_likelihood: float | None = None
    iterations: int = 0
    converged: bool = True

    @property
    def means(self) -> tuple[float, ...]:
        return tuple(a / (a + b) for a, b in zip(self.alphas, self.betas, strict=True))

    @property
    def concentrations(self) -> tuple[float, ...]:
        return tuple(a + b for a, b in zip(self.alphas, self.betas, strict=True))


def fit_beta_mixture(
    right: ArrayLike,
    wrong: ArrayLike,
    *,
    components: int = 2,
    seed: int = 0,
    starts: int = STARTS,
    iterations: int = ITERATIONS,
    tolerance: float = TOLERANCE,
) -> BetaMixture:
    """The likeliest mixture that the starts lead to; one ends when a step gains less than the relative tolerance."""
    counts = distinct_counts(right, wrong)
    if not counts.times.size:
        raise NotEnoughData("a prior can't be learned from annotators who answered no test question")
    return _mixture(climb(counts, random_points(components, starts, seed), iterations, tolerance))


@dataclass(frozen=True)
class Counts:
    """Distinct counts of right and wrong answers, each with the number of annotators that have it."""

    right: Ints
    wrong: Ints
    times: Floats


@dataclass(frozen=True)
class Climbs:
    """Where each start ended, how many steps it took, and its log-likelihood at the start and after every step."""

    points: Floats
    trace: Floats
    steps: Ints
    converged: NDArray[np.bool_]


def distinct_counts(right: ArrayLike, wrong: ArrayLike) -> Counts:
    """Annotators' counts, checked, equal ones together; those without questions say nothing and are left out."""
    pairs = np.stack([whole_counts(right), whole_counts(wrong)], axis=1)
    distinct, times = np.unique(pairs[pairs.any(axis=1)], axis=0, return_counts=True)
    return Counts(distinct[:, 0].copy(), distinct[:, 1].copy(), times.astype(np.float64))


def whole_counts(counts: ArrayLike) -> Ints:
    """Counts of answers as an array; refused where they can't be counts."""
    checked = np.asarray(counts)
    if checked.ndim != 1 or (checked.size and not np.issubdtype(checked.dtype, np.integer)) or (checked < 0).any():
        raise InvalidInput("counts of right and wrong answers must be whole numbers of 0 or more, one per annotator")
    if checked.max(initial=0) > MOST_QUESTIONS:
        raise InvalidInput(f"an annotator has {checked.max():,} test questions; at most {MOST_QUESTIONS:,} can be read")
    return checked.astype(np.int64)


def random_points(components: int, starts: int, seed: int) -> Floats:
    """GENIE's starts: equal weights, means uniform from 0 to 1, concentrations gamma with shape 2."""
    random = np.random.default_rng(seed)
    mean = random.uniform(size=(starts, components))
    concentration = random.gamma(2.0, size=(starts, components))
    return np.stack([np.zeros_like(mean), np.log(mean) - np.log1p(-mean), 1 / (1 + concentration)], axis=-1)


def climb(counts: Counts, points: Floats, iterations: int = ITERATIONS, tolerance: float = TOLERANCE) -> Climbs:
    """EM with Newton steps from every point, until steps gain next to nothing."""
    points, heights = points.copy(), values(counts, points)
    trace, taken = [heights.copy()], np.zeros(len(points), dtype=np.int64)
    going = np.arange(len(points))
    while going.size and len(trace) <= iterations:
        next_points, next_heights = advance(counts, points[going], heights[going])
        gain = next_heights - heights[going]
        points[going], heights[going] = next_points, next_heights
        taken[going] += 1
        trace.append(heights.copy())
        going = going[gain > tolerance * np.maximum(np.abs(next_heights), 1.0)]
    converged = np.ones(len(points), dtype=bool)
    converged[going] = False
    return Climbs(points, np.stack(trace), taken, converged)


def _mixture(climbs: Climbs) -> BetaMixture:
    """The highest end, its components from the least accurate to the best."""
    best = int(np.argmax(climbs.trace[-1]))
    logit, mean, t = climbs.points[best][np.argsort(climbs.points[best, :, 1], kind="stable")].T
    weights = np.exp(logit - logit.max())
    concentration = (1 - t) / t
    return BetaMixture(
        weights=tuple((weights / weights.sum()).tolist()),
        alphas=tuple((concentration / (1 + np.exp(-mean))).tolist()),
        betas=tuple((concentration / (1 + np.exp(mean))).tolist()),
        log_likelihood=float(climbs.trace[-1, best]),
        iterations=int(climbs.steps[best]),
        converged=bool(climbs.converged[best]),
    )


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


def em_step(counts: Counts, points: Floats) -> Floats:
    """Where one iteration of EM leads from each point."""
    return _em(points, _view(counts, points))


@dataclass(frozen=True, slots=True)
class Urns:
    """Log-likelihoods of counts under many betas, shape (..., counts), with derivatives by m and t.

    The last three are Σ 1 / (m(1-t) + it) over right answers, its like over wrong ones, and over all: what Minka's
    fixed point is made of.
    """

    log: Floats
    by_m: Floats
    by_t: Floats
    by_mm: Floats
    by_mt: Floats
    by_tt: Floats
    right: Floats
    wrong: Floats
    all: Floats


def log_likelihood(m: Floats, q: Floats, t: Floats, right: Ints, wrong: Ints) -> Floats:
    """The logarithm alone, shape (..., counts)."""
    factors, _ = _balls(m, q, t, right + wrong)
    of_right, of_wrong, of_all = _up_to((right, wrong, right + wrong), np.log(factors))
    return of_right + of_wrong - of_all


def urns(m: Floats, q: Floats, t: Floats, right: Ints, wrong: Ints) -> Floats:
    """Log-likelihoods with their first and second derivatives: the fields of `Urns`, stacked."""
    r, w, n = _up_to((right, wrong, right + wrong), _terms(*_balls(m, q, t, right + wrong)))
    rest = (1 - t)[..., None]
    return np.stack(
        [
            r[0] + w[0] - n[0],
            rest * (r[1] - w[1]),
            r[2] + w[2] - n[2],
            -rest * rest * (r[3] + w[3]),
            w[1] - r[1] + rest * (w[4] - r[4]),
            n[5] - r[5] - w[5],
            r[1],
            w[1],
            n[1],
        ]
    )


def _balls(m: Floats, q: Floats, t: Floats, counts: Ints) -> tuple[Floats, Floats]:
    """The factors of the three products for i below the largest count, and their derivatives by t: (3, ..., i)."""
    share = np.stack([m, q, np.ones_like(t)])[..., None]
    slope = np.arange(counts.max(initial=0)) - share
    return share + t[..., None] * slope, slope


def _terms(factors: Floats, slope: Floats) -> Floats:
    """With M a factor and D = M'/M its logarithm's slope: log M, 1/M, D, 1/M², D/M and D², shape (3, 6, ..., i)."""
    terms = np.empty((3, 6, *factors.shape[1:]))
    log, inverse, d, one_one, one_d, d_d = np.moveaxis(terms, 1, 0)
    np.log(factors, out=log)
    np.divide(1, factors, out=inverse)
    np.multiply(slope, inverse, out=d)
    np.multiply(inverse, inverse, out=one_one)
    np.multiply(inverse, d, out=one_d)
    np.multiply(d, d, out=d_d)
    return terms


def _up_to(counts: tuple[Ints, Ints, Ints], terms: Floats) -> list[Floats]:
    """For each of the three products, sums of its first `count` terms, for each count."""
    running = np.zeros((*terms.shape[:-1], terms.shape[-1] + 1))
    np.cumsum(terms, axis=-1, out=running[..., 1:])
    return [sums.take(count, axis=-1) for sums, count in zip(running, counts, strict=True)]


@dataclass(frozen=True, kw_only=True)
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


def _best(counts: Counts, points: Floats, heights: Floats, em: Floats, newton: Floats) -> tuple[Floats, Floats]:
    """The highest of the points themselves and of several lengths of both steps."""
    tried = _bounded(np.stack([points, *(points + x * em for x in LONGER), *(points + x * newton for x in SHORTER)]))
    reached = values(counts, tried[1:].reshape(-1, *points.shape[1:])).reshape(len(tried) - 1, -1)
    reached = np.concatenate([heights[None], reached])
    best = np.nanargmax(reached, axis=0), np.arange(len(points))
    return tried[best], reached[best]


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
    return _View(
        m=m,
        q=q,
        t=t,
        weights=np.exp(log_weights),
        shares=shares,
        times=counts.times,
        urns=Urns(*drawn),
        sizes=sizes,
        totals=totals,
    )


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
    curvature = np.zeros((*view.m.shape, 3, 3))
    curvature[..., 1, 1] = spread * (spread * totals.by_mm + (view.q - view.m) * totals.by_m)
    curvature[..., 1, 2] = curvature[..., 2, 1] = spread * totals.by_mt
    curvature[..., 2, 2] = totals.by_tt
    return curvature


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
