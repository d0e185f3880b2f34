"""A linear mixed model with two crossed random intercepts, instances and generators, by exact likelihood.

The intercepts of the larger factor are eliminated in closed form, as with one factor: all that is needed of the rows is
the cross products of [Z X y], Z marking the smaller factor's levels, within the larger's groups and of their means by
group size. What remains is a system of the size of Z for each pair of variance ratios (Woodbury's identity), with exact
derivatives. The likelihood is scanned over all pairs of ratios, 0 included, and polished by Newton's method inside and
on each edge, so a variance of 0 is found as such. This is lme4's `y ~ X + (1 | instance) + (1 | generator)`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from billboards.errors import NotEnoughData
from billboards.stats.group_sums import Sums, check_design, mean_weights
from billboards.stats.likelihood import (
    PERFECT,
    ROUNDING,
    Curve,
    LikelihoodRatio,
    Profile,
    compare_deviances,
    profile,
    scan,
    t_test,
)

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: Logarithms of the variance ratios searched: 0, and 1e-8 to 1e5 in steps of a factor of 2.7.
GRID: Floats = np.concatenate(([-np.inf], np.linspace(math.log(1e-8), math.log(1e5), 31)))


@dataclass(frozen=True, kw_only=True)
class CrossedFit:
    """Fixed effects with standard errors and Satterthwaite's degrees of freedom, and the variance components.

    `without_instances` and `without_generators` are the deviances of the best models that lack one of the two.
    """

    beta: Floats
    se: Floats
    df: Floats
    residual_variance: float
    instance_variance: float
    generator_variance: float
    deviance: float
    without_instances: float
    without_generators: float
    n: int
    instances: int
    generators: int

    @property
    def p(self) -> Floats:
        """Two-sided p-values of the fixed effects, by Satterthwaite's t-test."""
        return t_test(self.beta, self.se, self.df)

    def interval(self, column: int, level: float = 0.95) -> tuple[float, float]:
        """Of one fixed effect, by Satterthwaite's t-distribution."""
        from scipy.special import stdtrit

        half = float(stdtrit(self.df[column], (1 + level) / 2) * self.se[column])
        return float(self.beta[column]) - half, float(self.beta[column]) + half

    @property
    def instance_test(self) -> LikelihoodRatio:
        """Do instances differ? Restricted likelihood ratio with chi-bar-square p (see `compare_deviances`)."""
        return compare_deviances(self.deviance, self.without_instances, on_boundary=True)

    @property
    def generator_test(self) -> LikelihoodRatio:
        """Do generators differ beyond the fixed effects? As `instance_test`."""
        return compare_deviances(self.deviance, self.without_generators, on_boundary=True)


@dataclass(frozen=True)
class _Crossed:
    """The sums of [Z X y], and how many of its columns are Z's and X's."""

    sums: Sums
    levels: int
    columns: int
    restricted: bool

    @property
    def rest(self) -> int:
        return self.sums.n - self.columns if self.restricted else self.sums.n

    def at(self, log_ratios: Floats) -> Profile:
        """The likelihood at the logarithms of the eliminated factor's ratio and of Z's."""
        return profile(_curve(self.sums, self.levels, log_ratios), self.sums.n, self.restricted)


def fit_crossed(y: Floats, design: Floats, *, restricted: bool = True) -> CrossedFit:
    """REML (or maximum likelihood) fit of y (generators × instances) on `design` (columns × generators × instances).

    Cells that are not finite in y or any column are left out. A target that the fixed effects explain entirely has
    variances and standard errors of 0 and a deviance of -∞; one that they explain only together with instances or
    generators is refused, because its likelihood has no maximum.
    """
    swapped = y.shape[0] > y.shape[1]
    if swapped:
        y, design = y.T, design.transpose(0, 2, 1)
    used = np.isfinite(y) & np.isfinite(design).all(axis=0)
    counts = int(used.any(axis=0).sum()), int(used.any(axis=1).sum())
    if min(counts) < 2 or used.sum() <= max(counts):
        raise NotEnoughData(
            "crossed random effects need at least two generators and two instances, some of them seen more than once"
        )
    crossed = _Crossed(_gather(y, design, used), len(y), len(design), restricted)
    _check(crossed)
    fit = _fit(crossed, *counts)
    return _roles_swapped(fit) if swapped else fit


def likelihood_ratio(y: Floats, design: Floats, column: int) -> LikelihoodRatio:
    """Test of one fixed effect: maximum likelihood with and without its column, on the same cells."""
    y = np.where(np.isfinite(design).all(axis=0), y, np.nan)
    full = fit_crossed(y, design, restricted=False)
    less = fit_crossed(y, np.delete(design, column, axis=0), restricted=False)
    return compare_deviances(full.deviance, less.deviance)


def _roles_swapped(fit: CrossedFit) -> CrossedFit:
    return replace(
        fit,
        instance_variance=fit.generator_variance,
        generator_variance=fit.instance_variance,
        without_instances=fit.without_generators,
        without_generators=fit.without_instances,
        instances=fit.generators,
        generators=fit.instances,
    )


def _gather(y: Floats, design: Floats, used: Bools) -> Sums:
    """The sums of [Z X y] by columns of the grid, without ever laying out Z.

    A marker's mean over a column is the share of that column it marks, and its products with values less their
    columns' means are sums over a row.
    """
    levels, size = len(y), used.sum(axis=0)
    table = np.where(used, np.concatenate((design, y[None])), 0.0)
    means = table.sum(axis=1) / np.maximum(size, 1)
    centred = np.where(used, table - means[:, None], 0.0)
    shares = used / np.maximum(size, 1)
    rooted = (np.concatenate((shares, means)) * np.sqrt(size))[:, size > 0]
    sizes, kind, counts = np.unique(size[size > 0], return_inverse=True, return_counts=True)
    between = np.stack([rooted[:, kind == k] @ rooted[:, kind == k].T for k in range(len(sizes))])
    within = np.empty(between.shape[1:])
    within[:levels, :levels] = np.diag(used.sum(axis=1)) - between[:, :levels, :levels].sum(axis=0)
    within[:levels, levels:] = centred.sum(axis=2).T
    within[levels:, :levels] = within[:levels, levels:].T
    flat = centred.reshape(len(table), -1)
    within[levels:, levels:] = flat @ flat.T
    return Sums(int(size.sum()), sizes.astype(float), counts.astype(float), within, between)


def _check(crossed: _Crossed) -> None:
    """Refuse data on which the two variances or the fixed effects can't be told apart."""
    sums, fixed = crossed.sums, slice(crossed.levels, -1)
    total = sums.total
    check_design(total[fixed, fixed], sums.n)
    inverse = np.linalg.inv(total[fixed, fixed])
    marks = total[: crossed.levels, fixed]
    # What is left of the markers Z after regressing them on X, and of the eliminated factor's markers.
    left = sums.n - np.einsum("gi,ij,gj->", marks, inverse, marks)
    sizes = sums.sizes[:, None, None]
    other = sums.n - float(np.sum((sizes * sums.between[:, fixed, fixed]).sum(axis=0) * inverse))
    if min(left, other) < 1e-9 * sums.n:
        raise NotEnoughData("the fixed effects already tell every generator or instance from the others")


def _fit(crossed: _Crossed, groups: int, levels: int) -> CrossedFit:
    rest, total = crossed.rest, crossed.sums.total[-1, -1]
    nowhere = np.full(2, -np.inf)
    simple = crossed.at(nowhere)
    perfect = bool(simple.residual <= PERFECT * total)
    if perfect:
        best, fitted, without = nowhere, simple, (-math.inf, -math.inf)
    else:
        best, fitted, without = _search(crossed, simple)
    variance = 0.0 if perfect else float(fitted.residual) / rest
    ratios = np.exp(best)
    return CrossedFit(
        beta=fitted.beta,
        se=np.zeros(crossed.columns) if perfect else fitted.standard_errors(rest),
        df=_satterthwaite(fitted, np.isfinite(best), rest),
        residual_variance=variance,
        instance_variance=variance * float(ratios[0]),
        generator_variance=variance * float(ratios[1]),
        deviance=-math.inf if perfect else float(fitted.value),
        without_instances=without[0],
        without_generators=without[1],
        n=crossed.sums.n,
        instances=groups,
        generators=levels,
    )


def _satterthwaite(fitted: Profile, free: Bools, rest: int) -> Floats:
    """2·v²/var(v) of each fixed effect's variance v, from the curvature in the ratios that are not 0."""
    slopes, bend = fitted.variance_slope[free], fitted.bend[np.ix_(free, free)]
    spread = np.einsum("ai,ab,bi->i", slopes, np.linalg.pinv(bend, hermitian=True), slopes)
    df: Floats = 1 / (1 / rest + np.maximum(spread, 0.0))
    return df


def _search(crossed: _Crossed, simple: Profile) -> tuple[Floats, Profile, tuple[float, float]]:
    """The best pair of log ratios, the likelihood there, and the least deviances without either factor."""
    values = _scanned(crossed)
    inside = np.array(np.unravel_index(values[1:, 1:].argmin(), values[1:, 1:].shape)) + 1
    left, right = int(values[1:, 0].argmin()) + 1, int(values[0, 1:].argmin()) + 1
    starts = [GRID[inside], np.array([GRID[left], -np.inf]), np.array([-np.inf, GRID[right]])]
    both, first, second = (_polished(crossed.at, start) for start in starts)
    corner = np.full(2, -np.inf), simple
    first, second = _simpler(corner, first), _simpler(corner, second)
    log_ratios, fitted = _simpler(_simpler(first, second), both)
    if log_ratios.max() > GRID[-1] - 1e-6:
        raise NotEnoughData("instances or generators explain every value, so that nothing is left to judge effects by")
    return log_ratios, fitted, (float(second[1].value), float(first[1].value))


def _simpler(less: tuple[Floats, Profile], full: tuple[Floats, Profile]) -> tuple[Floats, Profile]:
    """The better of two, or the first where the second is better by rounding errors only."""
    gain = float(less[1].value - full[1].value)
    return full if gain > ROUNDING * abs(float(full[1].value)) else less


def _scanned(crossed: _Crossed) -> Floats:
    """The deviance on the whole grid: one eigendecomposition of Z's block serves a row of it."""
    sums, levels = crossed.sums, crossed.levels
    ratio = np.exp(GRID)
    whole = _weighed(sums, mean_weights(sums.sizes, GRID)[0]) + sums.within
    scale, axes = np.linalg.eigh(whole[:, :levels, :levels])
    scale = np.maximum(scale, 0.0)
    turned = np.swapaxes(axes, 1, 2) @ whole[:, :levels, levels:]
    outer = (turned[..., :, None] * turned[..., None, :]).reshape(len(GRID), levels, -1)
    grown = 1 + ratio[:, None] * scale[:, None, :]
    size = turned.shape[2]
    explained = (ratio[:, None] / grown @ outer).reshape(len(GRID), len(GRID), size, size)
    normal = np.moveaxis(whole[:, None, levels:, levels:] - explained, (2, 3), (0, 1))
    log_v = np.log1p(ratio[:, None] * sums.sizes) @ sums.counts
    return scan(normal, log_v[:, None] + np.log(grown).sum(axis=2), sums.n, crossed.restricted)


def _weighed(sums: Sums, weights: Floats) -> Floats:
    """Sums over group sizes of the cross products of means, for each row of weights."""
    flat = weights @ sums.between.reshape(len(sums.sizes), -1)
    return flat.reshape(len(weights), *sums.within.shape)


def _polished(at: Callable[[Floats], Profile], start: Floats) -> tuple[Floats, Profile]:
    """Newton's method in the ratios that are not 0, along directions of descent, with steps that must pay."""
    free = np.isfinite(start)
    x, here = start, at(start)
    for _ in range(100):
        slope, bend = here.slope[free], here.bend[np.ix_(free, free)]
        curvature, axes = np.linalg.eigh(bend)
        # Where the deviance is not convex, go down the slope instead of up to a saddle.
        direction = -axes @ (axes.T @ slope / np.maximum(np.abs(curvature), 1e-8))
        direction *= min(1.0, 2.0 / max(float(np.abs(direction).max()), 1e-300))
        before = x
        x, here = _paying_step(at, x, here, free, direction)
        # Newton's error after a step is of the order of that step's square.
        if np.abs(x[free] - before[free]).max() < 1e-6:
            break
    return x, here


def _paying_step(
    at: Callable[[Floats], Profile], x: Floats, here: Profile, free: Bools, direction: Floats
) -> tuple[Floats, Profile]:
    """The first of ever shorter steps that lowers the deviance, or the old place."""
    for halvings in range(30):
        after = x.copy()
        after[free] = np.clip(x[free] + direction / 2**halvings, GRID[1], GRID[-1])
        reached = at(after)
        if reached.value <= here.value + 1e-13 * abs(here.value):
            return after, reached
    return x, here


def _curve(sums: Sums, levels: int, log_ratios: Floats) -> Curve:
    """[X y]ᵀV⁻¹[X y] and log|V| with their derivatives.

    N is [Z X y]ᵀW⁻¹[Z X y] with W of the eliminated factor alone, a function of its log ratio a. With r = e^b, the
    ratio of Z's, K = (I + r·N_zz)⁻¹ and Q = K·N_zt, what is sought is N_tt - r·N_tz·Q, and U = (-rQ, I) takes N's slope
    to its own.
    """
    weights = np.concatenate(mean_weights(sums.sizes, log_ratios[:1]))
    n0, n1, n2 = _weighed(sums, weights)
    n0 = n0 + sums.within
    z, t, r = slice(levels), slice(levels, None), float(np.exp(log_ratios[1]))
    core = np.eye(levels) + r * n0[z, z]
    k: Floats = np.linalg.inv(core).astype(np.float64, copy=False)
    q = k @ n0[z, t]
    u = np.vstack((-r * q, np.eye(q.shape[1])))
    n1_u = n1 @ u
    f = k @ n1_u[z]
    mixed, own = f.T @ q, q.T @ q
    aa, ab, bb = u.T @ n2 @ u - 2 * r * n1_u[z].T @ f, -r * (mixed + mixed.T), r * (own - 2 * q.T @ k @ q)
    log_slope, log_bend = _log_v_derivatives(weights[0], sums.counts, k, r * n1[z, z], r * n2[z, z])
    log_w = float(sums.counts @ np.log1p(sums.sizes * np.exp(log_ratios[0])))
    return Curve(
        normal=n0[t, t] - r * n0[t, z] @ q,
        slope=np.stack((u.T @ n1_u, -r * own)),
        bend=np.stack((np.stack((aa, ab)), np.stack((ab, bb)))),
        log_v=np.asarray(log_w + np.linalg.slogdet(core)[1]),
        log_v_slope=log_slope,
        log_v_bend=log_bend,
    )


def _log_v_derivatives(u: Floats, counts: Floats, k: Floats, n1: Floats, n2: Floats) -> tuple[Floats, Floats]:
    """Slope and bend of log|V| = log|W| + log|I + r·N_zz|, from r times N_zz's own slope and bend in log ratio a."""
    k_n1 = k @ n1
    slope = np.array([(1 - u) @ counts + np.trace(k_n1), len(k) - np.trace(k)])
    aa = u * (1 - u) @ counts + np.sum(k * n2) - np.sum(k_n1 * k_n1.T)
    ab, bb = np.sum(k_n1 * k), np.trace(k) - np.sum(k * k)
    return slope, np.array([[aa, ab], [ab, bb]])
