"""Do people agree beyond chance? Krippendorff's alpha and Cohen's kappa, from whatever ratings there are.

Alpha is 1 - D_o/D_e: disagreement within units over disagreement between any two ratings, with a distance that suits
the scale. Ordinal distances are interval distances of mid-ranks, so nominal, ordinal and interval need no matrix of
coincidences, only counts of each value in each unit; any number of annotators and any missing ratings will do
(Krippendorff 2011). Kappa compares two annotators on the units both have rated. Intervals resample units.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from billboards.errors import InvalidInput, NotEnoughData
from billboards.stats.correlation import resampling_weights
from billboards.stats.ratings import UNKNOWN, Ratings, ratings_in_columns, ratings_in_table, within_unit_pairs

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

Level = Literal["nominal", "ordinal", "interval", "ratio"]
Weights = Literal["plain", "linear", "quadratic"]

LEVELS: tuple[Level, ...] = get_args(Level)
WEIGHTS: tuple[Weights, ...] = get_args(Weights)


@dataclass(frozen=True)
class Reliability:
    """A coefficient of agreement with its bootstrap interval over units; NaN where it is not defined.

    `units` and `ratings` are those it rests on: units that at least two have rated.
    """

    value: float
    low: float
    high: float
    units: int
    ratings: int


@dataclass(frozen=True)
class PairKappa:
    """Cohen's kappa of two annotators over the units that both have rated; NaN where both always say the same one."""

    first: int
    second: int
    kappa: float
    units: int


@dataclass(frozen=True)
class _Counts:
    """How often each unit got each value: the entries that are not 0, with every unit's size."""

    unit: Ints
    code: Ints
    count: Floats
    size: Floats
    values: Floats

    def by_value(self, weights: Floats) -> Floats:
        return _sums(self.code, weights[self.unit] * self.count, len(self.values))

    def by_unit(self, amounts: Floats) -> Floats:
        return _sums(self.unit, amounts, len(self.size))


def krippendorff_alpha(ratings: Ratings | ArrayLike, level: Level = "interval") -> float:
    """Alpha of ratings (units × annotators, NaN where missing; or columns); NaN where no two values differ."""
    counts = _counted(_checked(ratings, level))
    return _alpha(counts, np.ones(len(counts.size)), level)


def krippendorff_alpha_of_columns(
    unit: ArrayLike, annotator: ArrayLike, value: ArrayLike, level: Level = "interval"
) -> float:
    """Alpha of ratings given as columns, for many annotators with few ratings each; -1 is an unknown annotator."""
    return krippendorff_alpha(ratings_in_columns(unit, annotator, value), level)


def alpha_with_interval(
    ratings: Ratings | ArrayLike, level: Level = "interval", *, resamples: int = 1000, seed: int = 0
) -> Reliability:
    """Alpha with its 95% interval over resampled units."""
    shared = _checked(ratings, level)
    counts = _counted(shared)
    draws = resampled_units(lambda weights: _alpha(counts, weights, level), len(counts.size), resamples, seed)
    value = _alpha(counts, np.ones(len(counts.size)), level)
    return Reliability(value, *percentile_interval(draws), len(counts.size), len(shared))


def resampled_units(statistic: Callable[[Floats], float], units: int, resamples: int, seed: int) -> Floats:
    """A statistic of how often each unit counts, over bootstrap draws of the units."""
    random = np.random.default_rng(seed)
    return np.array([statistic(resampling_weights(random, units, 1)[0]) for _ in range(resamples)])


def percentile_interval(draws: Floats) -> tuple[float, float]:
    """The middle 95% of bootstrap draws; NaN where fewer than half of them are defined."""
    finite = draws[np.isfinite(draws)]
    if len(finite) < max(2, len(draws) / 2):
        return float("nan"), float("nan")
    low, high = np.quantile(finite, (0.025, 0.975))
    return float(low), float(high)


def cohen_kappa(first: ArrayLike, second: ArrayLike, *, weights: Weights = "plain", on_scale: bool = False) -> float:
    """Kappa of two annotators' ratings of the same units; units that one of them has not rated are left out.

    Weighted kappas count how many steps apart two values lie in the sorted list of those that occur; `on_scale`, how
    far apart they lie on the scale, whether or not anybody gave the values in between.
    """
    mine, other = np.asarray(first, float), np.asarray(second, float)
    if mine.shape != other.shape or mine.ndim != 1:
        raise InvalidInput(f"kappa needs two ratings of each unit; the shapes are {mine.shape} and {other.shape}")
    both = np.isfinite(mine) & np.isfinite(other)
    return _kappa(mine[both], other[both], weights, on_scale)


def pairwise_kappas(
    ratings: Ratings | ArrayLike, *, weights: Weights = "plain", at_least: int = 10, on_scale: bool = False
) -> tuple[PairKappa, ...]:
    """Kappa of every two annotators who share at least so many units, by their numbers.

    Weighted kappas count steps among the values that the two gave; `on_scale`, distances on the scale.
    """
    table = ratings if isinstance(ratings, Ratings) else ratings_in_table(ratings)
    left, other = within_unit_pairs(table)
    named = (table.annotator[left] != UNKNOWN) & (table.annotator[other] != UNKNOWN)
    left, other = left[named], other[named]
    swap = table.annotator[left] > table.annotator[other]
    left, other = np.where(swap, other, left), np.where(swap, left, other)
    pair = table.annotator[left] * (table.annotator.max(initial=0) + 1) + table.annotator[other]
    order = np.argsort(pair, kind="stable")
    starts = np.flatnonzero(np.diff(pair[order], prepend=-1))
    groups = (group for group in np.split(order, starts[1:]) if len(group) >= max(at_least, 1))
    return tuple(
        PairKappa(
            int(table.annotator[left[k[0]]]),
            int(table.annotator[other[k[0]]]),
            _kappa(table.value[left[k]], table.value[other[k]], weights, on_scale),
            len(k),
        )
        for k in groups
    )


def _checked(ratings: Ratings | ArrayLike, level: Level) -> Ratings:
    if level not in LEVELS:
        raise InvalidInput(f"a scale is one of {', '.join(LEVELS)}, not {level!r}")
    shared = (ratings if isinstance(ratings, Ratings) else ratings_in_table(ratings)).pairable()
    if not len(shared):
        raise NotEnoughData("no unit was rated by two annotators, so there is no agreement to measure")
    if level == "ratio" and (shared.value < 0).any():
        raise InvalidInput(f"a ratio scale has no values below 0; the least one here is {shared.value.min():g}")
    return shared


def _counted(ratings: Ratings) -> _Counts:
    values, code = np.unique(ratings.value, return_inverse=True)
    keys, count = np.unique(ratings.unit * len(values) + code, return_counts=True)
    size = np.bincount(ratings.unit).astype(float)
    return _Counts(keys // len(values), keys % len(values), count.astype(float), size, values)


def _alpha(counts: _Counts, weights: Floats, level: Level) -> float:
    """1 - D_o/D_e where each unit counts `weights` times."""
    total = counts.by_value(weights)
    n = total.sum()
    within, between = _distances(counts, total, level)
    expected = between / (n - 1) if n > 1 else 0.0
    if expected <= 0:
        return float("nan")
    return float(1 - (weights * within / (counts.size - 1)).sum() / expected)


def _distances(counts: _Counts, total: Floats, level: Level) -> tuple[Floats, float]:
    """Squared distances summed over ordered pairs: within each unit, and among all ratings."""
    if level == "nominal":
        same = counts.by_unit(counts.count**2)
        return counts.size**2 - same, float(total.sum() ** 2 - (total**2).sum())
    if level == "ratio":
        return _ratio_distances(counts, total)
    x = counts.values - total @ counts.values / total.sum()
    if level == "ordinal":
        x = np.cumsum(total) - total / 2 - total.sum() / 2
    linear = counts.by_unit(counts.count * x[counts.code])
    square = counts.by_unit(counts.count * x[counts.code] ** 2)
    between = total.sum() * (total @ x**2) - (total @ x) ** 2
    # Rounding leaves a trace where all ratings are the same one.
    spread = np.ptp(x[total > 0])
    return 2 * (counts.size * square - linear**2), float(2 * between) if spread > 0 else 0.0


def _ratio_distances(counts: _Counts, total: Floats) -> tuple[Floats, float]:
    """As above for ((a - b)/(a + b))², which no sum of powers gives."""

    def distance(a: Floats, b: Floats) -> Floats:
        both = a + b
        return np.divide(a - b, both, out=np.zeros(both.shape), where=both > 0) ** 2

    entries = Ratings(counts.unit, counts.code, counts.count)
    left, other = within_unit_pairs(entries)
    pairs = distance(counts.values[counts.code[left]], counts.values[counts.code[other]])
    amounts = 2 * counts.count[left] * counts.count[other] * pairs
    within = _sums(counts.unit[left], amounts, len(counts.size))
    rows = (distance(np.full(len(counts.values), value), counts.values) @ total for value in counts.values)
    return within, float(total @ np.fromiter(rows, float, len(counts.values)))


def _sums(group: Ints, amounts: Floats, groups: int) -> Floats:
    return np.asarray(np.bincount(group, amounts, groups), float)


def _kappa(first: Floats, second: Floats, weights: Weights, on_scale: bool) -> float:
    """1 - observed over expected disagreement of two lists of values."""
    if weights not in WEIGHTS:
        raise InvalidInput(f"the weights of kappa are one of {', '.join(WEIGHTS)}, not {weights!r}")
    values, codes = np.unique(np.concatenate((first, second)), return_inverse=True)
    left, other = codes[: len(first)], codes[len(first) :]
    places = values if on_scale else np.arange(len(values), dtype=float)
    apart = np.abs(np.subtract.outer(places, places))
    cost = {"plain": (apart > 0).astype(float), "linear": apart, "quadratic": apart**2}[weights]
    marginals = [np.bincount(codes, minlength=len(values)) / max(len(first), 1) for codes in (left, other)]
    expected = float(marginals[0] @ cost @ marginals[1])
    return float(1 - cost[left, other].mean() / expected) if expected > 0 else float("nan")
