"""How likely r right and w wrong answers are where the accuracy is drawn from a beta, with all derivatives.

A beta is written by its mean m, with q = 1 - m, and by t = 1 / (1 + α + β), the correlation of two answers of one
annotator. The likelihood of the answers in one order is then that of Pólya's urn, Π(m(1-t) + it) · Π(q(1-t) + it) /
Π(1 - t + it) with i from 0 to the count: no gamma function, exact down to t = 0, where all annotators are alike. Each
product is a running one over i, so a table as long as the largest count serves every annotator.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


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
    log, one, d, one_one, one_d, d_d = np.moveaxis(terms, 1, 0)
    np.log(factors, out=log)
    np.divide(1, factors, out=one)
    np.multiply(slope, one, out=d)
    np.multiply(one, one, out=one_one)
    np.multiply(one, d, out=one_d)
    np.multiply(d, d, out=d_d)
    return terms


def _up_to(counts: tuple[Ints, Ints, Ints], terms: Floats) -> list[Floats]:
    """For each of the three products, sums of its first `count` terms, for each count."""
    running = np.zeros((*terms.shape[:-1], terms.shape[-1] + 1))
    np.cumsum(terms, axis=-1, out=running[..., 1:])
    return [sums.take(count, axis=-1) for sums, count in zip(running, counts, strict=True)]
