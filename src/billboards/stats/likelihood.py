"""The likelihood of a mixed model at given variance ratios, and the tests that follow from it.

At its best fixed effects and residual variance, -2 log likelihood is a function of the variance ratios alone; it comes
with its slope and bend for Newton's method, or for many ratios at once without them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from billboards.stats.group_sums import Floats

#: Deviances whose difference is below this share of them differ by rounding only; the simpler model is then taken.
ROUNDING = 1e-11
#: A residual sum of squares below this share of the target's is rounding: the fixed effects explain everything.
PERFECT = 1e-13
#: Keeps logarithms and quotients finite where a sum of squares is 0.
TINY = 1e-300


@dataclass(frozen=True, kw_only=True)
class Curve:
    """[X y]ᵀV⁻¹[X y] and log|V|, with slopes and bends in the logarithms of the variance ratios."""

    normal: Floats
    slope: Floats
    bend: Floats
    log_v: Floats
    log_v_slope: Floats
    log_v_bend: Floats


@dataclass(frozen=True, kw_only=True)
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


@dataclass(frozen=True)
class LikelihoodRatio:
    """Twice the gain in log likelihood of the larger model, and how often chance gives as much."""

    statistic: float
    p: float


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
    return Profile(
        value=value,
        slope=slope,
        bend=bend,
        beta=beta,
        inverse=inverse,
        residual=residual,
        variance_slope=first[..., None] - narrowed,
    )


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
