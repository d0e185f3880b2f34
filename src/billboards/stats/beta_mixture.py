"""A mixture of betas fitted to annotators' right and wrong answers by maximum likelihood (GENIE, Appendix B.1).

EM from several random starts, all at once: the E-step divides annotators among components, the M-step goes on from the
last one. EM crawls where a concentration is hardly identified, so a Newton step of the likelihood itself is taken
wherever it climbs as it promises: the likelihood never falls, and the optimum is reached in a dozen steps. Annotators
with the same counts are one row with a multiplicity, so that the cost hardly grows with their number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from billboards.errors import InvalidInput, NotEnoughData
from billboards.stats.annotator_results import BetaMixture
from billboards.stats.beta_steps import Counts, advance, values

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: GENIE's starts and iterations; its relative tolerance is 1e-6, at which EM stops short of the optimum.
STARTS, ITERATIONS, TOLERANCE = 10, 1_000, 1e-10
#: Tables are as long as the largest count; nobody answers that many test questions.
MOST_QUESTIONS = 20_000


@dataclass(frozen=True)
class Climbs:
    """Where each start ended, how many steps it took, and its log-likelihood at the start and after every step."""

    points: Floats
    trace: Floats
    steps: Ints
    converged: NDArray[np.bool_]


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


def distinct_counts(right: ArrayLike, wrong: ArrayLike) -> Counts:
    """Annotators' counts, checked, equal ones together; those without questions say nothing and are left out."""
    pairs = np.stack([whole_counts(right), whole_counts(wrong)], axis=1)
    found, times = np.unique(pairs[pairs.any(axis=1)], axis=0, return_counts=True)
    return Counts(found[:, 0].copy(), found[:, 1].copy(), times.astype(np.float64))


def whole_counts(counts: ArrayLike) -> Ints:
    """Counts of answers as an array; refused where they can't be counts."""
    found = np.asarray(counts)
    if found.ndim != 1 or (found.size and not np.issubdtype(found.dtype, np.integer)) or (found < 0).any():
        raise InvalidInput("counts of right and wrong answers must be whole numbers of 0 or more, one per annotator")
    if found.max(initial=0) > MOST_QUESTIONS:
        raise InvalidInput(f"an annotator has {found.max():,} test questions; at most {MOST_QUESTIONS:,} can be read")
    return found.astype(np.int64)


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
        tuple((weights / weights.sum()).tolist()),
        tuple((concentration / (1 + np.exp(-mean))).tolist()),
        tuple((concentration / (1 + np.exp(mean))).tolist()),
        log_likelihood=float(climbs.trace[-1, best]),
        iterations=int(climbs.steps[best]),
        converged=bool(climbs.converged[best]),
    )
