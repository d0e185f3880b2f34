"""A linear mixed model with one random intercept per group, by exact REML, from sums per group.

With V = σ²(I + ρ·ZZᵀ) and one random intercept, V's inverse on a group of size m is I - ρ/(1+mρ)·11ᵀ. So all that the
restricted likelihood needs is the cross products of all rows and, for each group size, the cross products of the
groups' sums. The likelihood is then a cheap function of the one unknown ρ, searched over its whole range and polished;
fixed effects and variance follow in closed form. This is the model lme4 fits as `y ~ X + (1 | group)`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from billboards.errors import NotEnoughData

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class MixedFit:
    """Fixed effects with standard errors, the residual variance, and the random intercept's."""

    beta: Floats
    se: Floats
    residual_variance: float
    group_variance: float
    deviance: float
    n: int
    groups: int


@dataclass(frozen=True)
class _Sums:
    """Cross products of [X y] over all rows, and of the groups' sums of [X y] by group size."""

    n: int
    columns: int
    groups: int
    within: Floats
    sizes: Floats
    counts: Floats
    between: Floats


def fit_random_intercept(y: Floats, design: Floats, group: NDArray[np.intp]) -> MixedFit:
    """REML fit of y on the columns of `design` with a random intercept for each value of `group`."""
    sums = _gather(y, design, group)
    if sums.n <= sums.columns or np.linalg.matrix_rank(sums.within[:-1, :-1]) < sums.columns:
        raise NotEnoughData(f"{sums.n} rows don't determine {sums.columns} fixed effects; a column repeats the others")
    ratio = _best_ratio(sums)
    normal = _normal(sums, ratio)
    inverse = np.linalg.inv(normal[:-1, :-1])
    beta = inverse @ normal[:-1, -1]
    variance = _residual(normal, beta) / (sums.n - sums.columns)
    return MixedFit(
        beta,
        np.sqrt(variance * np.diag(inverse)),
        variance,
        variance * ratio,
        _deviance(sums, ratio),
        sums.n,
        sums.groups,
    )


def _gather(y: Floats, design: Floats, group: NDArray[np.intp]) -> _Sums:
    table = np.column_stack((design, y))
    _, code, size = np.unique(group, return_inverse=True, return_counts=True)
    totals = np.stack([np.bincount(code, weights=column, minlength=len(size)) for column in table.T], axis=1)
    sizes, kind = np.unique(size, return_inverse=True)
    between = np.stack([totals[kind == k].T @ totals[kind == k] for k in range(len(sizes))])
    counts = np.bincount(kind).astype(float)
    return _Sums(len(y), design.shape[1], len(size), table.T @ table, sizes.astype(float), counts, between)


def _normal(sums: _Sums, ratio: float) -> Floats:
    """[X y]ᵀ V⁻¹ [X y] up to the residual variance."""
    shrink = ratio / (1 + sums.sizes * ratio)
    normal: Floats = sums.within - np.tensordot(shrink, sums.between, axes=1)
    return normal


def _residual(normal: Floats, beta: Floats) -> float:
    return float(normal[-1, -1] - normal[:-1, -1] @ beta)


def _deviance(sums: _Sums, ratio: float) -> float:
    """-2 log restricted likelihood at the best fixed effects and variance for this ratio."""
    normal = _normal(sums, ratio)
    fixed = normal[:-1, :-1]
    rest = sums.n - sums.columns
    best = np.asarray(np.linalg.solve(fixed, normal[:-1, -1]), np.float64)
    residual = max(_residual(normal, best), float(np.finfo(float).tiny))
    log_v = float(sums.counts @ np.log1p(sums.sizes * ratio))
    return log_v + float(np.linalg.slogdet(fixed)[1]) + rest * (1 + math.log(2 * math.pi * residual / rest))


def _best_ratio(sums: _Sums) -> float:
    """The variance ratio that minimises the deviance: a scan of its whole range, then a polish around the best."""
    from scipy.optimize import minimize_scalar

    grid = np.linspace(np.log(1e-10), np.log(1e10), 93)
    values = [_deviance(sums, float(np.exp(point))) for point in grid]
    best = int(np.argmin(values))
    bounds = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    found = minimize_scalar(
        lambda point: _deviance(sums, float(np.exp(point))), bounds=bounds, method="bounded", options={"xatol": 1e-9}
    )
    # The restricted likelihood may be largest where groups do not differ at all.
    return 0.0 if _deviance(sums, 0.0) <= float(found.fun) else float(np.exp(found.x))
