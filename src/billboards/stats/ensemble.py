"""The ensemble of a few metrics (Billboards, §2.2): a lasso from scores to judgments, from sums per generator.

Metrics are standardised over the judged outputs (population sd), the target is on 0-100, and the penalty is tuned so
that exactly k weights are not zero: by default to the lower knot of that stretch of the path, where the k weights are
largest before another metric enters. The ensemble's own correlation is measured on generators it has not seen: fit on
the others, predict the one left out, one pooled Pearson. All of it needs only each generator's count, sums and cross
products, so leaving one out is a subtraction and no fold touches the rows again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from billboards.errors import NotEnoughData
from billboards.stats.lasso import Segment, lasso_path, segment_with, weights_at

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Blocks:
    """Counts, sums and cross products per generator: of the scores x (shifted by `shift`) and the judgments y."""

    shift: Floats
    n: Floats
    x: Floats
    y: Floats
    xx: Floats
    xy: Floats
    yy: Floats

    def total(self, without: int | None = None) -> Moments:
        """The sums over all generators, or over all but one."""
        return Moments(**{field.name: self._sum(field.name, without) for field in fields(Moments)})

    def _sum(self, name: str, without: int | None) -> Any:
        keep = np.ones(len(self.n), bool)
        if without is not None:
            keep[without] = False
        return getattr(self, name)[keep].sum(axis=0)

    def leaving_one_out(self) -> Iterator[Moments]:
        """`total` without each generator in turn."""
        for held, xx in enumerate(self._products_left()):
            others = {field.name: self._sum(field.name, held) for field in fields(Moments) if field.name != "xx"}
            yield Moments(xx=xx, **others)

    def _products_left(self) -> Iterator[Floats]:
        """The sums of products without each generator in turn, to the last digit what `total` says.

        Products are added in the generators' order. So the sum of those before the one left out is carried on, which
        is most of the work of a fit where many generators are judged.
        """
        if self.xx.shape[1] < 2:
            # Single numbers are added in another order, and quickly.
            yield from (self._sum("xx", held) for held in range(len(self.n)))
            return
        left = self.xx.copy()
        for held in range(len(left)):
            if held:
                left[held] = left[held - 1] + self.xx[held - 1] if held > 1 else left[0]
            yield left[max(held, 1) :].sum(axis=0)

    def without_metrics(self, columns: list[int]) -> Blocks:
        """The same sums as if these metrics had never been there."""
        keep = np.setdiff1d(np.arange(len(self.shift)), columns)
        xx = self.xx[:, keep][:, :, keep]
        return Blocks(
            shift=self.shift[keep], n=self.n, x=self.x[:, keep], y=self.y, xx=xx, xy=self.xy[:, keep], yy=self.yy
        )


@dataclass(frozen=True, kw_only=True)
class Moments:
    """Sums over a set of outputs."""

    n: float
    x: Floats
    y: float
    xx: Floats
    xy: Floats
    yy: float


@dataclass(frozen=True)
class Linear:
    """A fitted combination: intercept + Σ weight · (score - centre) / scale."""

    weights: Floats
    centre: Floats
    scale: Floats
    intercept: float


@dataclass(frozen=True)
class EnsembleFit:
    """A fitted ensemble, its penalty, the range of penalties with the same selection, and its honest correlation."""

    linear: Linear
    lam: float
    lam_range: tuple[float, float] | None
    correlation: float
    n: int


def gather_blocks(scores: Floats | Sequence[Floats], human: Floats) -> Blocks:
    """Sums per generator of the outputs that every metric and people have scored (metrics × rows × instances)."""
    used = np.isfinite(human)
    for metric in scores:
        used &= np.isfinite(metric)
    judged = np.flatnonzero(used.any(axis=1))
    shift = np.array([metric[used].mean() if used.any() else 0.0 for metric in scores])
    metrics = len(scores)
    parts = [
        _block(
            np.array([metric[row, used[row]] for metric in scores]).reshape(metrics, -1).T - shift,
            human[row, used[row]],
        )
        for row in judged
    ]
    shapes = {"n": (), "x": (metrics,), "y": (), "xx": (metrics, metrics), "xy": (metrics,), "yy": ()}
    columns = {key: np.array([part[key] for part in parts]).reshape(-1, *shape) for key, shape in shapes.items()}
    return Blocks(shift=shift, **columns)


def _block(x: Floats, y: Floats) -> dict[str, float | Floats]:
    return {"n": float(len(y)), "x": x.sum(axis=0), "y": float(y.sum()), "xx": x.T @ x, "xy": x.T @ y, "yy": y @ y}


def fit_ensemble(blocks: Blocks, *, k: int = 3, lam: float | None = None) -> EnsembleFit:
    """The ensemble of k metrics, or the one at a given penalty, with its leave-one-generator-out correlation."""
    if len(blocks.n) < 2:
        raise NotEnoughData(
            f"an ensemble needs judgments of at least 2 generators, so that one can be held out; "
            f"{len(blocks.n)} has any"
        )
    segment = None if lam is not None else _tuned(blocks, k)
    penalty = lam if lam is not None else _penalty(segment)
    linear = _fit(blocks.total(), blocks.shift, penalty)
    if not linear.weights.any():
        raise NotEnoughData(f"lambda {penalty:g} leaves no metric any weight; choose a smaller one, or k instead")
    span = None if segment is None else (segment.low, segment.high)
    return EnsembleFit(linear, penalty, span, held_out_correlation(blocks, penalty), int(blocks.n.sum()))


def fit_lasso(blocks: Blocks, *, k: int = 3) -> Linear:
    """The combination of k metrics alone, without a measure of how good it is."""
    return _fit(blocks.total(), blocks.shift, _penalty(_tuned(blocks, k)))


def _tuned(blocks: Blocks, k: int) -> Segment:
    *_, gram, moment = _standardised(blocks.total())
    segment = segment_with(lasso_path(gram, moment), k)
    if segment is None:
        raise NotEnoughData("no metric varies together with the judgments, so no ensemble can be fitted")
    return segment


def _penalty(segment: Segment | None) -> float:
    """The lower knot, unless a weight is back at 0 there; then the middle of the stretch."""
    assert segment is not None
    whole = np.count_nonzero(segment.at_low[list(segment.active)]) == len(segment.active)
    return segment.low if whole else (segment.low + segment.high) / 2


def _standardised(sums: Moments) -> tuple[Floats, Floats, float, Floats, Floats]:
    """Means, spreads, mean target, and XᵀX/n and Xᵀy/n of standardised columns and centred target."""
    mean, target = sums.x / sums.n, sums.y / sums.n
    covariance = sums.xx / sums.n - np.outer(mean, mean)
    variance = np.diag(covariance).copy()
    varies = variance > 1e-12 * np.maximum(np.diag(sums.xx) / sums.n, 1e-300)
    spread = np.where(varies, np.sqrt(np.where(varies, variance, 1.0)), 1.0)
    gram = np.where(np.outer(varies, varies), covariance / np.outer(spread, spread), 0.0)
    moment = np.where(varies, (sums.xy / sums.n - mean * target) / spread, 0.0)
    return mean, spread, target, gram, moment


def _fit(sums: Moments, shift: Floats, penalty: float) -> Linear:
    mean, spread, target, gram, moment = _standardised(sums)
    weights = weights_at(lasso_path(gram, moment, until=penalty), penalty, len(mean))
    return Linear(weights, mean + shift, spread, float(target))


def held_out_correlation(blocks: Blocks, penalty: float) -> float:
    """Pooled Pearson of judgments with predictions for each generator from a fit on the others."""
    sums = np.zeros(6)
    for held, others in enumerate(blocks.leaving_one_out()):
        linear = _fit(others, blocks.shift, penalty)
        slope = linear.weights / linear.scale
        offset = linear.intercept - float(slope @ (linear.centre - blocks.shift))
        sums += _predicted(blocks, held, slope, offset)
    n, p, y, pp, yy, py = sums
    vp, vy = pp - p * p / n, yy - y * y / n
    if vp <= 1e-12 * pp or vy <= 1e-12 * yy:
        return float("nan")
    return float((py - p * y / n) / np.sqrt(vp * vy))


def _predicted(blocks: Blocks, row: int, slope: Floats, offset: float) -> Floats:
    """n, Σp, Σy, Σpp, Σyy, Σpy of one generator's predictions p = offset + slope·x."""
    n, x, y = blocks.n[row], blocks.x[row], blocks.y[row]
    linear = slope @ x
    squares = slope @ blocks.xx[row] @ slope + 2 * offset * linear + n * offset**2
    return np.array([n, linear + n * offset, y, squares, blocks.yy[row], slope @ blocks.xy[row] + offset * y])


def apply_linear(linear: Linear, scores: Floats) -> Floats:
    """The ensemble's scores from its metrics' (metrics × …); NaN where a metric with weight has none."""
    used = np.flatnonzero(linear.weights)
    total = np.full(scores.shape[1:], linear.intercept)
    for column in used:
        total = total + linear.weights[column] * (scores[column] - linear.centre[column]) / linear.scale[column]
    return total
