"""Linear mixed models with one random intercept per group, by exact likelihood, from sums per group.

With V = σ²(I + ρ·ZZᵀ), V⁻¹ keeps what lies within a group of size m and weighs the group's mean by u = 1/(1+mρ). So
[X y]ᵀV⁻¹[X y] is the cross products within groups plus, for each group size, u times those of the group means, and the
restricted likelihood with its derivatives is a cheap function of the one unknown log ρ: scanned over its whole range,
then polished by Newton's method. Many targets on the same rows share the sums and are scanned and polished together.
This is the model lme4 fits as `y ~ X + (1 | group)`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from billboards.stats.group_sums import Floats, Sums, check_design, gather_rows, mean_weights
from billboards.stats.likelihood import (
    PERFECT,
    ROUNDING,
    Curve,
    LikelihoodRatio,
    compare_deviances,
    profile,
    scan,
    t_test,
)

#: Logarithms of the variance ratios searched: 0, and 1e-10 to 1e10 in steps of a factor of 2.7.
GRID: Floats = np.concatenate(([-np.inf], np.linspace(math.log(1e-10), math.log(1e10), 47)))


@dataclass(frozen=True, kw_only=True)
class MixedFit:
    """Fixed effects with standard errors and Satterthwaite's degrees of freedom, and the two variances."""

    beta: Floats
    se: Floats
    df: Floats
    residual_variance: float
    group_variance: float
    deviance: float
    n: int
    groups: int

    @property
    def p(self) -> Floats:
        """Two-sided p-values of the fixed effects, by Satterthwaite's t-test."""
        return t_test(self.beta, self.se, self.df)


@dataclass(frozen=True, kw_only=True)
class MixedFits:
    """The fits of many targets on the same rows: targets × columns, and one variance and deviance per target."""

    beta: Floats
    se: Floats
    df: Floats
    residual_variance: Floats
    group_variance: Floats
    deviance: Floats
    n: int
    groups: int

    def of(self, target: int) -> MixedFit:
        """The fit of one target."""
        return MixedFit(
            beta=self.beta[target],
            se=self.se[target],
            df=self.df[target],
            residual_variance=float(self.residual_variance[target]),
            group_variance=float(self.group_variance[target]),
            deviance=float(self.deviance[target]),
            n=self.n,
            groups=self.groups,
        )


def fit_random_intercept(y: Floats, design: Floats, group: NDArray[np.intp], *, restricted: bool = True) -> MixedFit:
    """REML (or maximum likelihood) fit of y on the columns of `design`, with a random intercept per `group`.

    Rows are complete: leave those out that miss a value.
    """
    return fit_random_intercepts(y[None], design, group, restricted=restricted).of(0)


def fit_random_intercepts(y: Floats, design: Floats, group: NDArray[np.intp], *, restricted: bool = True) -> MixedFits:
    """The fits of every target (targets × rows) on the same `design` (rows × columns) and `group` (rows)."""
    check_design(design.T @ design, len(design))
    return fit_sums(gather_rows(np.vstack((design.T, y)), group, design.shape[1]), restricted=restricted)


def fit_sums(sums: Sums, *, restricted: bool = True) -> MixedFits:
    """The fits of every target from the sums of a design that `check_design` lets pass.

    A target that the fixed effects explain entirely has variances and standard errors of 0 and a deviance of -∞.
    """
    rest = sums.n - sums.within.shape[-1] + 1 if restricted else sums.n
    log_ratio = _best_log_ratio(sums, restricted)
    fitted = profile(_curve(sums, log_ratio), sums.n, restricted)
    perfect = fitted.residual <= PERFECT * sums.total[:, -1, -1]
    variance = np.where(perfect, 0.0, fitted.residual / rest)
    se = np.where(perfect[:, None], 0.0, fitted.standard_errors(rest))
    curved = fitted.bend[:, 0] > 0
    spread = np.where(curved, fitted.variance_slope[:, 0] ** 2 / np.where(curved, fitted.bend[:, 0], 1.0), 0.0)
    deviance = np.where(perfect, -np.inf, fitted.value)
    ratio = np.exp(log_ratio)
    return MixedFits(
        beta=fitted.beta,
        se=se,
        df=1 / (1 / rest + spread),
        residual_variance=variance,
        group_variance=variance * ratio,
        deviance=deviance,
        n=sums.n,
        groups=sums.groups,
    )


def likelihood_ratio(y: Floats, design: Floats, group: NDArray[np.intp], column: int) -> LikelihoodRatio:
    """Test of one fixed effect: maximum likelihood with and without its column."""
    full = fit_random_intercept(y, design, group, restricted=False)
    less = fit_random_intercept(y, np.delete(design, column, axis=1), group, restricted=False)
    return compare_deviances(full.deviance, less.deviance)


def _curve(sums: Sums, log_ratio: Floats) -> Curve:
    """Each target's curve at its own ratio."""
    weights = mean_weights(sums.sizes, log_ratio)
    u, slope, _ = weights
    targets, kinds, size, _ = sums.between.shape
    flat = np.stack(weights, axis=1) @ sums.between.reshape(targets, kinds, size * size)
    means = flat.reshape(targets, 3, size, size)
    log_v = np.log1p(sums.sizes * np.exp(log_ratio)[:, None]) @ sums.counts
    bends = (-slope @ sums.counts)[:, None, None]
    slopes = ((1 - u) @ sums.counts)[:, None]
    return Curve(
        normal=sums.within + means[:, 0],
        slope=means[:, 1:2],
        bend=means[:, 2:, None],
        log_v=log_v,
        log_v_slope=slopes,
        log_v_bend=bends,
    )


def _best_log_ratio(sums: Sums, restricted: bool) -> Floats:
    """Each target's log variance ratio of least deviance, -∞ where groups don't differ at all."""
    u = mean_weights(sums.sizes, GRID)[0]
    normal = sums.within[..., None] + np.tensordot(sums.between, u, axes=(1, 1))
    log_v = np.log1p(np.exp(GRID)[:, None] * sums.sizes) @ sums.counts
    values = scan(np.moveaxis(normal, 0, 2), log_v, sums.n, restricted)
    best = values[:, 2:-1].argmin(axis=1) + 2
    lowest = np.take_along_axis(values, best[:, None], axis=1)[:, 0]
    # Where nothing is left to explain, deviances are logarithms of rounding errors, not worth a search.
    perfect = normal[:, -1, -1, 0] <= PERFECT * sums.total[:, -1, -1]
    none = perfect | (values[:, 0] <= lowest + ROUNDING * np.abs(lowest))
    start, low, high = _vertex(values, best), GRID[best - 1], GRID[best + 1]
    ratios = _polish(sums, start, np.where(none, start, low), np.where(none, start, high), restricted)
    return np.where(none, -np.inf, ratios)


def _vertex(values: Floats, best: NDArray[np.intp]) -> Floats:
    """Where the parabola through each target's best point of the grid and its neighbours is lowest."""
    left, middle, right = (np.take_along_axis(values, best[:, None] + k, axis=1)[:, 0] for k in (-1, 0, 1))
    bend = left - 2 * middle + right
    shift = np.where(bend > 0, (left - right) / np.where(bend > 0, 2 * bend, 1.0), 0.0)
    vertex: Floats = GRID[best] + np.clip(shift, -1, 1) * (GRID[2] - GRID[1])
    return vertex


def _polish(sums: Sums, x: Floats, low: Floats, high: Floats, restricted: bool) -> Floats:
    """Newton's method on the deviance's slope, kept inside a bracket, for all targets at once."""
    for _ in range(100):
        at = profile(_curve(sums, x), sums.n, restricted)
        slope, bend = at.slope[:, 0], at.bend[:, 0, 0]
        low, high = np.where(slope > 0, low, x), np.where(slope > 0, x, high)
        newton = x - slope / np.where(bend > 0, bend, np.inf)
        inside = (bend > 0) & (newton >= low) & (newton <= high)
        step = np.where(inside, newton, (low + high) / 2) - x
        x = x + step
        # Newton's error after a step is of the order of that step's square; that of halving is the step.
        if np.where(inside, step**2, np.abs(step)).max(initial=0.0) < 1e-12:
            break
    return x
