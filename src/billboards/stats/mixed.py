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

from billboards.errors import NotEnoughData

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: Logarithms of the variance ratios searched: 0, and 1e-10 to 1e10 in steps of a factor of 2.7.
GRID: Floats = np.concatenate(([-np.inf], np.linspace(math.log(1e-10), math.log(1e10), 47)))

#: Deviances whose difference is below this share of them differ by rounding only; the simpler model is then taken.
ROUNDING = 1e-11

#: A residual sum of squares below this share of the target's is rounding: the fixed effects explain everything.
PERFECT = 1e-13

#: Keeps logarithms and quotients finite where a sum of squares is 0.
TINY = 1e-300


@dataclass(frozen=True)
class LikelihoodRatio:
    """Twice the gain in log likelihood of the larger model, and how often chance gives as much."""

    statistic: float
    p: float


@dataclass(frozen=True)
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


@dataclass(frozen=True)
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
        variances = float(self.residual_variance[target]), float(self.group_variance[target])
        effects = self.beta[target], self.se[target], self.df[target]
        return MixedFit(*effects, *variances, float(self.deviance[target]), self.n, self.groups)


@dataclass(frozen=True)
class Sums:
    """Cross products of [X y] within groups, and of the groups' means (times size) for each group size.

    `within` is columns × columns and `between` sizes × columns × columns, with an axis for the targets y before them.
    """

    n: int
    sizes: Floats
    counts: Floats
    within: Floats
    between: Floats

    @property
    def total(self) -> Floats:
        """Cross products over all rows."""
        total: Floats = self.within + self.between.sum(axis=-3)
        return total

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return int(self.counts.sum())


@dataclass(frozen=True)
class Curve:
    """[X y]ᵀV⁻¹[X y] and log|V|, with slopes and bends in the logarithms of the variance ratios."""

    normal: Floats
    slope: Floats
    bend: Floats
    log_v: Floats
    log_v_slope: Floats
    log_v_bend: Floats


@dataclass(frozen=True)
class Profile:
    """-2 log likelihood at the best fixed effects and residual variance, with its slope and bend, and those effects.

    `variance_slope` is the slope of the logarithm of each fixed effect's squared standard error.
    """

    value: Floats
    slope: Floats
    bend: Floats
    beta: Floats
    inverse: Floats
    residual: Floats
    variance_slope: Floats

    def standard_errors(self, rest: int) -> Floats:
        """Of the fixed effects, from a residual variance on `rest` degrees of freedom."""
        return np.sqrt((self.residual / rest)[..., None] * np.diagonal(self.inverse, axis1=-2, axis2=-1))


def fit_random_intercept(y: Floats, design: Floats, group: NDArray[np.intp], *, restricted: bool = True) -> MixedFit:
    """REML (or maximum likelihood) fit of y on the columns of `design`, with a random intercept per `group`.

    Rows are complete: leave those out that miss a value.
    """
    return fit_random_intercepts(y[None], design, group, restricted=restricted).of(0)


def fit_random_intercepts(y: Floats, design: Floats, group: NDArray[np.intp], *, restricted: bool = True) -> MixedFits:
    """The fits of every target (targets × rows) on the same `design` (rows × columns) and `group` (rows)."""
    check_design(design.T @ design, len(design))
    return fit_sums(_gather_rows(np.vstack((design.T, y)), group, design.shape[1]), restricted=restricted)


def fit_sums(sums: Sums, *, restricted: bool = True) -> MixedFits:
    """The fits of every target from the sums of a design that `check_design` lets pass.

    A target that the fixed effects explain entirely has variances and standard errors of 0 and a deviance of -∞.
    """
    rest = sums.n - sums.within.shape[-1] + 1 if restricted else sums.n
    log_ratio = _best_log_ratio(sums, restricted)
    found = profile(_curve(sums, log_ratio), sums.n, restricted)
    perfect = found.residual <= PERFECT * sums.total[:, -1, -1]
    variance = np.where(perfect, 0.0, found.residual / rest)
    se = np.where(perfect[:, None], 0.0, found.standard_errors(rest))
    curved = found.bend[:, 0] > 0
    spread = np.where(curved, found.variance_slope[:, 0] ** 2 / np.where(curved, found.bend[:, 0], 1.0), 0.0)
    deviance = np.where(perfect, -np.inf, found.value)
    ratio = np.exp(log_ratio)
    return MixedFits(found.beta, se, 1 / (1 / rest + spread), variance, variance * ratio, deviance, sums.n, sums.groups)


def likelihood_ratio(y: Floats, design: Floats, group: NDArray[np.intp], column: int) -> LikelihoodRatio:
    """Test of one fixed effect: maximum likelihood with and without its column."""
    full = fit_random_intercept(y, design, group, restricted=False)
    less = fit_random_intercept(y, np.delete(design, column, axis=1), group, restricted=False)
    return compare_deviances(full.deviance, less.deviance)


def compare_deviances(full: float, less: float, *, on_boundary: bool = False) -> LikelihoodRatio:
    """Likelihood-ratio test of one parameter from the deviances with and without it.

    A variance can't be negative: under the null hypothesis half of the samples have their optimum at 0, and the
    statistic is an even mixture of 0 and a χ² of one degree of freedom (chi-bar-square). With `on_boundary`, p is that
    of the mixture, half of χ²'s; where another variance is 0 as well, or levels are few, it is an approximation.
    """
    gain = less - full
    # A model that explains everything has a deviance of -∞; against one that does as well, nothing is gained.
    statistic = gain if gain > (ROUNDING * abs(full) if math.isfinite(full) else 0.0) else 0.0
    p = math.erfc(math.sqrt(statistic / 2))
    return LikelihoodRatio(statistic, p / 2 if on_boundary and statistic > 0 else p)


def t_test(beta: Floats, se: Floats, df: Floats) -> Floats:
    """Two-sided p-values of beta = 0; NaN where the standard error is 0, for lack of a yardstick."""
    from scipy.special import stdtr

    p: Floats = np.where(se > 0, 2 * stdtr(df, -np.abs(beta) / np.where(se > 0, se, 1.0)), np.nan)
    return p


def check_design(products: Floats, n: int) -> None:
    """Refuse fixed effects that the rows don't determine, from their cross products."""
    columns = len(products)
    scale = np.sqrt(np.diag(products))
    there = bool((scale > 0).all())
    # Columns are compared at the same length, so that the units of a covariate don't matter.
    if n <= columns or not there or np.linalg.eigvalsh(products / np.outer(scale, scale)).min(initial=1.0) < 1e-12:
        raise NotEnoughData(f"{n} rows don't determine {columns} fixed effects; a column repeats the others")


def _gather_rows(table: Floats, group: NDArray[np.intp], columns: int) -> Sums:
    """The sums of a table of `columns` design columns, then targets (columns × rows), in any order of the groups."""
    order = np.argsort(group, kind="stable")
    table, group = table[:, order], group[order]
    starts = np.flatnonzero(np.concatenate(([True], group[1:] != group[:-1])))
    size = np.diff(np.append(starts, len(group)))
    means = np.add.reduceat(table, starts, axis=1) / size
    return _summed(table - np.repeat(means, size, axis=1), means, size, columns)


def gather_grid(table: Floats, used: Bools, columns: int) -> Sums:
    """The sums of a table of `columns` design columns, then targets, laid out as columns × rows × groups.

    Only cells `used` (rows × groups) count; the table is 0 elsewhere.
    """
    size = used.sum(axis=0)
    means = table.sum(axis=1) / np.maximum(size, 1)
    centred = table - means[:, None]
    if not used.all():
        centred *= used
    there = size > 0
    return _summed(centred.reshape(len(table), -1), means[:, there], size[there], columns)


def _summed(centred: Floats, means: Floats, size: NDArray[np.intp], columns: int) -> Sums:
    """From columns × rows less their groups' means, columns × groups of means, and the groups' sizes."""
    means = means * np.sqrt(size)
    sizes, kind, counts = np.unique(size, return_inverse=True, return_counts=True)
    alike = (means if len(sizes) == 1 else means[:, kind == k] for k in range(len(sizes)))
    between = np.stack([_products(part, columns) for part in alike], axis=1)
    within = _products(centred, columns)
    return Sums(int(size.sum()), sizes.astype(float), counts.astype(float), within, between)


def _products(table: Floats, columns: int) -> Floats:
    """Cross products of [X y] for each target y; those between targets are of no use."""
    x, y = table[:columns], table[columns:]
    products = np.empty((len(y), columns + 1, columns + 1))
    products[:, :-1, :-1] = x @ x.T
    products[:, -1, :-1] = products[:, :-1, -1] = y @ x.T
    products[:, -1, -1] = np.einsum("ij,ij->i", y, y)
    return products


def mean_weights(sizes: Floats, log_ratio: Floats) -> tuple[Floats, Floats, Floats]:
    """u = 1/(1+mρ) for each ratio and group size, with its first and second derivative in log ρ."""
    u = 1 / (1 + sizes * np.exp(log_ratio)[..., None])
    slope = -u * (1 - u)
    return u, slope, slope * (2 * u - 1)


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
    return Curve(sums.within + means[:, 0], means[:, 1:2], means[:, 2:, None], log_v, slopes, bends)


def profile(curve: Curve, n: int, restricted: bool) -> Profile:
    """-2 log likelihood with derivatives; every array may have leading axes, the same for all."""
    columns = curve.normal.shape[-1] - 1
    rest = n - columns if restricted else n
    fixed = curve.normal[..., :columns, :columns]
    inverse: Floats = np.linalg.inv(fixed).astype(np.float64, copy=False)
    beta = (inverse @ curve.normal[..., :columns, -1:])[..., 0]
    residual, first, second = _residual(curve, beta, inverse)
    value = curve.log_v + rest * (1 + np.log(2 * math.pi * residual / rest))
    slope = curve.log_v_slope + rest * first
    bend = curve.log_v_bend + rest * (second - first[..., :, None] * first[..., None, :])
    turned = inverse[..., None, :, :] @ curve.slope[..., :columns, :columns]
    if restricted:
        value = value + np.linalg.slogdet(fixed)[1]
        slope = slope + np.trace(turned, axis1=-2, axis2=-1)
        bend = bend + np.einsum("...ij,...abji->...ab", inverse, curve.bend[..., :columns, :columns])
        bend = bend - np.einsum("...aij,...bji->...ab", turned, turned)
    widths = np.diagonal(inverse, axis1=-2, axis2=-1)[..., None, :]
    narrowed = np.einsum("...aij,...ji->...ai", turned, inverse) / widths
    return Profile(value, slope, bend, beta, inverse, residual, first[..., None] - narrowed)


def _residual(curve: Curve, beta: Floats, inverse: Floats) -> tuple[Floats, Floats, Floats]:
    """The residual sum of squares at the best fixed effects, and its slope and bend over itself."""
    contrast = np.concatenate((-beta, np.ones((*beta.shape[:-1], 1))), axis=-1)
    residual = np.maximum(_quadratic(curve.normal, contrast), 1e-30 * curve.normal[..., -1, -1] + TINY)
    pulled = (curve.slope @ contrast[..., None, :, None])[..., 0]
    moved = pulled[..., : beta.shape[-1]]
    slope = (pulled @ contrast[..., None])[..., 0]
    bend = _quadratic(curve.bend, contrast[..., None, None, :]) - 2 * moved @ inverse @ np.swapaxes(moved, -1, -2)
    return residual, slope / residual[..., None], bend / residual[..., None, None]


def _quadratic(matrix: Floats, vector: Floats) -> Floats:
    """vᵀMv over leading axes."""
    product: Floats = ((matrix @ vector[..., None])[..., 0] * vector).sum(axis=-1)
    return product


def scan(normal: Floats, log_v: Floats, n: int, restricted: bool) -> Floats:
    """-2 log likelihood for many matrices [X y]ᵀV⁻¹[X y] at once, whose two axes come first (overwritten).

    Eliminating column after column leaves the pivots: |XᵀV⁻¹X| is the product of all but the last, the residual sum of
    squares is the last.
    """
    columns = len(normal) - 1
    rest = n - columns if restricted else n
    value = log_v
    for k in range(columns):
        if restricted:
            # Rounding may leave a pivot below 0 where ratios are extreme; the optimum is not there.
            value = value + np.log(np.where(normal[k, k] > 0, normal[k, k], np.inf))
        normal[k + 1 :, k + 1 :] -= normal[k + 1 :, k, None] * (normal[k, k + 1 :] / normal[k, k])
    residual = np.maximum(normal[-1, -1], TINY)
    deviance: Floats = value + rest * (1 + np.log(2 * math.pi * residual / rest))
    return deviance


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
    found = _polish(sums, start, np.where(none, start, low), np.where(none, start, high), restricted)
    return np.where(none, -np.inf, found)


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
