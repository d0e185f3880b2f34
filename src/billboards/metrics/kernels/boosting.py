"""Boosted regression trees by compiled code (`_boosting.c`): the trees as arrays, and what they say of new values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from billboards.metrics.kernels.calling import F64, I32, U8, Kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

#: Most bins that an input is cut into.
MOST_BINS = 64

_fit = Kernel(
    "_boosting",
    "boost_fit",
    (U8, F64, I32, int, int, int, float, float, float, float, int, I32, I32, I32, F64, F64),
)
_apply = Kernel("_boosting", "boost_apply", (F64, int, I32, F64, I32, F64, int, F64))


@dataclass(frozen=True, kw_only=True)
class Growth:
    """How trees are grown: how many, how large, how slowly, and on which share of rows and inputs each."""

    trees: int = 100
    leaves: int = 8
    fewest: int = 20
    rate: float = 0.1
    shrink: float = 0.0
    row_share: float = 1.0
    input_share: float = 1.0
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class Trees:
    """Fitted trees, `nodes` places each: input (-1 in a leaf), the largest value that goes left, children, value."""

    inputs: int
    nodes: int
    base: float
    input: Ints
    limit: Floats
    children: Ints
    value: Floats

    def predict(self, values: Floats) -> Floats:
        """What the trees say of each row of values (rows × inputs)."""
        predicted = np.full(len(values), self.base)
        given = np.ascontiguousarray(values, np.float64).ravel()
        _apply(given, self.inputs, self.input, self.limit, self.children, self.value, self.nodes, predicted)
        return predicted


def bin_limits(values: Floats, most: int = MOST_BINS) -> list[Floats]:
    """Where each input (rows × inputs) is cut: between neighbours where there are few values, else at quantiles."""
    limits = []
    ordered = np.sort(values, axis=0)
    for column in ordered.T:
        steps = np.flatnonzero(column[1:] > column[:-1])
        if len(steps) >= most:
            # The step nearest to each quantile, so that a limit never lies between equal values.
            wanted = np.arange(1, most) * (len(column) / most) - 1
            steps = np.unique(steps[np.minimum(np.searchsorted(steps, wanted), len(steps) - 1)])
        limits.append((column[steps] + column[steps + 1]) / 2)
    return limits


def binned(values: Floats, limits: list[Floats]) -> NDArray[np.uint8]:
    """The bin of each value: how many limits lie below it."""
    columns = [np.searchsorted(cuts, column, side="left") for cuts, column in zip(limits, values.T, strict=True)]
    return np.ascontiguousarray(np.array(columns, np.uint8).T)


def fit_trees(values: Floats, target: Floats, directions: Ints, growth: Growth) -> Trees:
    """Trees from values (rows × inputs) to a target; along an input of direction 1 no tree ever falls (-1: rises)."""
    limits = bin_limits(values)
    return fit_binned(binned(values, limits), limits, target, directions, growth)


def _rounded(values: Floats, digits: int) -> Floats:
    """Numbers with so many significant digits."""
    sizes = np.floor(np.log10(np.where(np.isfinite(values) & (values != 0), np.abs(values), 1.0)))
    scale = 10.0 ** np.clip(digits - 1 - sizes, -22, 22)
    return np.where(np.isfinite(values), np.round(values * scale) / scale, values)


def fit_binned(
    bins: NDArray[np.uint8], limits: list[Floats], target: Floats, directions: Ints, growth: Growth
) -> Trees:
    """Trees from values that were cut into bins before."""
    rows, inputs = bins.shape
    nodes = 2 * growth.leaves - 1
    places = growth.trees * nodes
    feature, last_bin, children = np.zeros(places, np.int32), np.zeros(places, np.int32), np.zeros(2 * places, np.int32)
    value, fitted = np.zeros(places), np.zeros(rows)
    base = float(target.mean())
    _fit(
        bins.ravel(),
        target - base,
        directions,
        growth.trees,
        growth.leaves,
        growth.fewest,
        growth.rate,
        growth.shrink,
        growth.row_share,
        growth.input_share,
        growth.seed,
        feature,
        last_bin,
        children,
        value,
        fitted,
    )
    padded = np.full((inputs, MOST_BINS + 1), np.inf)
    for k, cuts in enumerate(limits):
        padded[k, : len(cuts)] = cuts
    # So many digits as trees are written down with: whoever reads them gets the same predictions.
    limit = _rounded(np.where(feature >= 0, padded[feature, last_bin], 0.0), 9)
    value = _rounded(value, 7)
    return Trees(inputs=inputs, nodes=nodes, base=base, input=feature, limit=limit, children=children, value=value)
