"""How severe is each annotator, does it change while they work, and what would the means be without it?

The model is y = generator + instance + annotator + drift·(ratings done so far) + error, everything but the generators
drawn from normal distributions whose variances REML finds: lme4's `y ~ 0 + generator + (1|instance) + (1|annotator) +
(0 + position|annotator)`. Random effects shrink what few ratings say. Instances, the many, are absorbed in closed form;
what remains is one dense system of the size of the annotators. Severity and quality can be told apart only where
annotators overlap: generators that no chain of annotators connects are compared by faith in the draw of annotators, and
the result says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from billboards.errors import InvalidInput, NotEnoughData

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Drift is the change over so many ratings of one annotator.
DRIFT_UNIT = 100.0

#: Logarithms of the variance ratios searched; the lower end is 0 for every practical purpose.
_LEAST, _MOST = -16.0, 9.0


@dataclass(frozen=True, kw_only=True)
class SeverityFit:
    """Corrected means of the generators and what was found about each annotator, on the scale of the ratings.

    Severity is how far below the average annotator somebody rates, drift how much more lenient 100 further ratings make
    them; both are shrunken towards 0. `raw` are plain means. `part` numbers the generators by connected parts of the
    graph of annotators and generators; means of different parts are not comparable by the data alone. Variances are of
    instances, annotators, drifts and what is left.
    """

    means: Floats
    se: Floats
    covariance: Floats
    raw: Floats
    severity: Floats
    severity_se: Floats
    drift: Floats
    drift_se: Floats
    corrected: Floats
    part: Ints
    instance_variance: float
    annotator_variance: float
    drift_variance: float
    residual_variance: float

    @property
    def identified(self) -> bool:
        """Whether every generator is connected with every other by annotators who rated both."""
        return bool((self.part == 0).all())


class _Codes(NamedTuple):
    """Whose rating of what each one is, as numbers from 0."""

    generator: Ints
    instance: Ints
    annotator: Ints


@dataclass(frozen=True, kw_only=True)
class _Rows:
    """Cross products of the columns [severity, drift | generators | y], and the columns' sums over each instance."""

    cross: Floats
    sums: Floats
    size: Floats
    n: int
    annotators: int
    drifts: int
    generators: int

    @property
    def random(self) -> int:
        return self.annotators + self.drifts

    @property
    def blocks(self) -> tuple[slice, ...]:
        """The columns of each random effect that is not absorbed."""
        both = slice(0, self.annotators), slice(self.annotators, self.random)
        return both if self.drifts else both[:1]


@dataclass(frozen=True)
class _Solution:
    """The mixed-model equations solved at given ratios: effects, their covariance over the residual variance.

    `slope` is the deviance's by the logarithm of each ratio.
    """

    deviance: float
    slope: Floats
    effects: Floats
    inverse: Floats
    variance: float


def correct_severity(
    value: ArrayLike,
    generator: ArrayLike,
    instance: ArrayLike,
    annotator: ArrayLike,
    *,
    time: ArrayLike | None = None,
    drift: bool = True,
) -> SeverityFit:
    """Generators' means corrected for the annotators' severity and drift; everything numbered from 0.

    `time` orders each annotator's ratings (by default they are in the order given).
    """
    y = np.asarray(value, float)
    codes = _Codes(*(np.asarray(column, np.int64) for column in (generator, instance, annotator)))
    _check(y, codes)
    position = _positions(codes.annotator, np.asarray(range(len(y)) if time is None else time, float))
    centre = float(y.mean())
    rows = _gathered(y - centre, codes, position, drift)
    ratios, solution = _search(rows)
    return _described(y, codes, position, rows, ratios, solution, centre)


def connected_parts(generator: Ints, annotator: Ints) -> Ints:
    """For each generator, the number of the part it lies in when annotators connect those they rated."""
    from scipy import sparse
    from scipy.sparse.csgraph import connected_components

    generators = int(generator.max()) + 1
    size = generators + int(annotator.max()) + 1
    graph = sparse.coo_matrix((np.ones(len(generator)), (generator, generators + annotator)), (size, size))
    parts = connected_components(graph, directed=False)[1][:generators]
    return np.asarray(np.unique(parts, return_inverse=True)[1], np.int64)


def _check(y: Floats, codes: _Codes) -> None:
    if any(column.shape != y.shape for column in codes) or y.ndim != 1:
        raise InvalidInput("severity needs a generator, an instance and an annotator for every rating")
    if len(y) == 0 or not np.isfinite(y).all() or min(int(column.min()) for column in codes) < 0:
        raise InvalidInput("severity needs finite ratings by known annotators; leave the others out")
    generators, _, annotators = (int(column.max()) + 1 for column in codes)
    if annotators < 2 or len(y) < generators + annotators:
        raise NotEnoughData(
            f"{len(y)} ratings of {generators} generators by {annotators} annotators can't tell severity from quality; "
            "let two or more annotators rate several outputs each"
        )
    if (np.bincount(codes.generator) == 0).any():
        raise InvalidInput("generators must be numbered from 0 without gaps, each with a rating")
    if np.ptp(y) == 0:
        raise NotEnoughData(f"every rating is {y[0]:g}, so there is nothing to tell annotators apart by")


def _positions(annotator: Ints, time: Floats) -> Floats:
    """How many ratings an annotator had done before, less their middle, in units of 100; equal times share a place."""
    order = np.lexsort((time, annotator))
    size = np.bincount(annotator)
    starts = np.cumsum(size) - size
    place = np.arange(len(annotator)) - starts[annotator[order]]
    fresh = (np.diff(annotator[order], prepend=-1) != 0) | (np.diff(time[order], prepend=np.nan) != 0)
    tie = np.cumsum(fresh) - 1
    position = np.empty(len(annotator))
    position[order] = (np.bincount(tie, place) / np.bincount(tie))[tie]
    return (position - (size[annotator] - 1) / 2) / DRIFT_UNIT


def _gathered(y: Floats, codes: _Codes, position: Floats, drift: bool) -> _Rows:
    from scipy import sparse

    generator, instance, annotator = codes
    generators, instances, annotators = (int(column.max()) + 1 for column in codes)
    k, ones = np.arange(len(y)), np.ones(len(y))
    blocks = [sparse.csr_matrix((ones, (k, annotator)), (len(y), annotators))]
    if drift:
        blocks.append(sparse.csr_matrix((position, (k, annotator)), (len(y), annotators)))
    blocks.append(sparse.csr_matrix((ones, (k, generator)), (len(y), generators)))
    blocks.append(sparse.csr_matrix(y[:, None]))
    columns = sparse.hstack(blocks).tocsr()
    marks = sparse.csr_matrix((ones, (instance, k)), (instances, len(y)))
    return _Rows(
        cross=(columns.T @ columns).toarray(),
        sums=(marks @ columns).toarray(),
        size=np.bincount(instance, minlength=instances).astype(float),
        n=len(y),
        annotators=annotators,
        drifts=annotators if drift else 0,
        generators=generators,
    )


def _search(rows: _Rows) -> tuple[Floats, _Solution]:
    """The variance ratios (instances, annotators, drifts) of the greatest restricted likelihood."""
    from scipy.optimize import minimize

    def judged(logs: Floats) -> tuple[float, Floats]:
        solution = _solve(rows, np.exp(logs))
        return solution.deviance, solution.slope

    # Instances that were rated once each can't be told from error, and are left to it.
    most = _MOST if rows.size.max() > 1 else _LEAST
    bounds = [(_LEAST, most), *[(_LEAST, _MOST)] * len(rows.blocks)]
    ends = [
        minimize(judged, np.minimum(start, [high for _, high in bounds]), jac=True, method="L-BFGS-B", bounds=bounds)
        for start in (0.0, -4.0)
    ]
    best = np.exp(min(ends, key=lambda end: float(end.fun)).x)
    return best, _solve(rows, best)


def _solve(rows: _Rows, ratios: Floats) -> _Solution:
    """Henderson's equations at variance ratios: the restricted deviance (up to a constant) and all effects.

    Absorbing the instances leaves the cross products less those of their sums, weighted by ρ/(1 + ρ·size).
    """
    from scipy.linalg import cho_factor, cho_solve

    of_instances, grown = float(ratios[0]), 1 + float(ratios[0]) * rows.size
    system = rows.cross - rows.sums.T @ (rows.sums * (of_instances / grown)[:, None])
    left, right, total = system[:-1, :-1], system[:-1, -1], system[-1, -1]
    for ratio, block in zip(ratios[1:], rows.blocks, strict=True):
        left[block, block] += np.eye(rows.annotators) / ratio
    factor = cho_factor(left, lower=True)
    effects, inverse = cho_solve(factor, right), cho_solve(factor, np.eye(len(left)))
    freedom = rows.n - rows.generators
    variance = max(float(total - right @ effects), 1e-12 * rows.n) / freedom
    determinants = 2 * np.log(np.diag(factor[0])).sum() + np.log(grown).sum()
    determinants += rows.annotators * np.log(ratios[1:]).sum()
    unexplained = rows.sums[:, -1] - rows.sums[:, :-1] @ effects
    of_fixed = ((rows.sums[:, :-1] @ inverse) * rows.sums[:, :-1]).sum(axis=1)
    slope = [of_instances * (rows.size / grown - (of_fixed + unexplained**2 / variance) / grown**2).sum()]
    for ratio, block in zip(ratios[1:], rows.blocks, strict=True):
        explained = np.trace(inverse[block, block]) + (effects[block] ** 2).sum() / variance
        slope.append(rows.annotators - explained / ratio)
    return _Solution(
        float(freedom * np.log(variance) + determinants), np.array(slope, float), effects, inverse, variance
    )


def _described(
    y: Floats,
    codes: _Codes,
    position: Floats,
    rows: _Rows,
    ratios: Floats,
    solution: _Solution,
    centre: float,
) -> SeverityFit:
    generator, _, annotator = codes
    covariance = solution.variance * solution.inverse
    errors = np.sqrt(np.diag(covariance))
    a, r = rows.annotators, rows.random
    leniency, slopes = solution.effects[:a], solution.effects[a:r] if rows.drifts else np.zeros(a)
    return SeverityFit(
        means=solution.effects[r:] + centre,
        se=errors[r:],
        covariance=covariance[r:, r:],
        raw=np.asarray(np.bincount(generator, y) / np.bincount(generator), float),
        severity=-leniency,
        severity_se=errors[:a],
        drift=slopes,
        drift_se=errors[a:r] if rows.drifts else np.zeros(a),
        corrected=y - leniency[annotator] - slopes[annotator] * position,
        part=connected_parts(generator, annotator),
        instance_variance=solution.variance * float(ratios[0]),
        annotator_variance=solution.variance * float(ratios[1]),
        drift_variance=solution.variance * float(ratios[2]) if rows.drifts else 0.0,
        residual_variance=solution.variance,
    )
