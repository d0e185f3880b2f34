"""Corpora drawn again, and paired tests between two systems on one corpus, as sacreBLEU does both.

What is resampled are rows of counts, one for each instance, whose sum a metric scores; a mean of scores is such a sum,
too. The bootstrap (Koehn 2004, Statistical Significance Tests for Machine Translation Evaluation, EMNLP; Post 2018)
draws 1,000 corpora of as many instances with replacement by `numpy.random.default_rng(12345)`; the bounds of an
interval are the 26th value from below and from above. Approximate randomisation (Riezler and Maxwell 2005, On Some
Pitfalls in Automatic Evaluation and Significance Testing for MT) swaps the two systems' rows of an instance with
probability one half, 10,000 times. Draws, swaps and p-values are sacreBLEU's. They agree with its beyond the digits
that it prints: the sums are the same, but its bootstrap goes on in single precision, which may change the seventh
digit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[Any]
#: Scores of corpora from the sums of their rows.
Scores = Callable[[Counts], Floats]

#: sacreBLEU's number of resampled corpora, of trials of a randomisation, and its seed.
DRAWS, TRIALS, SEED = 1000, 10_000, 12345
#: Bytes of drawn multiplicities that are kept, and of the matrices that are multiplied at a time.
_KEPT, _AT_ONCE = 2**28, 2**26
#: Rows whose sums are held at a time, and instances that are summed in single precision.
_ROWS, _SUMMED = 1024, 1024
#: Rows that are worked on at a time where they should stay in the processor's cache.
_FEW = 64
#: Whole numbers up to here are exact in single precision.
_EXACT = 2**24


@dataclass(frozen=True, kw_only=True)
class _Drawn:
    """How often each instance is in each draw (draws × instances), the same as numbers, and the longest draw's norm."""

    multiplicities: NDArray[np.uint16]
    single: NDArray[np.float32]
    longest: float


@dataclass
class Resampling:
    """Corpora drawn with replacement: how often each instance is in each of them, the same for all of one size."""

    draws: int = DRAWS
    seed: int = SEED
    _kept: dict[int, list[NDArray[np.uint16]]] = field(default_factory=dict, repr=False)
    _last: dict[int, _Drawn] = field(default_factory=dict, repr=False)

    def sums(self, matrix: Counts) -> Floats:
        """The sum of a matrix's rows in each draw: draws × columns."""
        n, width = matrix.shape
        kind = _precision(matrix)
        given, sums = matrix.astype(kind), np.empty((self.draws, width))
        start = 0
        for multiplicities in self._multiplicities(n):
            stop = start + len(multiplicities)
            sums[start:stop] = np.matmul(multiplicities.astype(kind), given)
            start = stop
        return sums

    def mean_bounds(self, rows: Floats) -> Floats:
        """The 95% intervals of the means of rows (rows × instances, none missing): what `bounds_of` says of all draws.

        Only the two draws that bound an interval must be known to the last digit. All draws are summed in single
        precision, the few that may be meant are summed again, each by itself: so a row has the same interval in
        whatever company it is resampled.
        """
        count, n = rows.shape
        bounds = np.empty((count, 2))
        drawn = self._drawn(n)
        places = self.draws // 40, self.draws - self.draws // 40 - 1
        for start in range(0, count, _ROWS):
            some = rows[start : start + _ROWS]
            scaled, error = _scaled(some, drawn.longest)
            sums = scaled[:, :_SUMMED] @ drawn.single[:, :_SUMMED].T
            for first in range(_SUMMED, n, _SUMMED):
                part = slice(first, first + _SUMMED)
                sums += scaled[:, part] @ drawn.single[:, part].T
            ordered = np.sort(sums, axis=1)
            for side, place in enumerate(places):
                exact = _exact_at(place, sums, ordered, error, some, drawn.multiplicities)
                bounds[start : start + len(some), side] = exact
        return bounds

    def _drawn(self, n: int) -> _Drawn:
        """All draws of n instances; those that were last asked for are at hand."""
        if n in self._last:
            return self._last[n]
        multiplicities = np.concatenate(list(self._multiplicities(n)))
        single = multiplicities.astype(np.float32)
        longest = float(np.sqrt(np.square(single, dtype=np.float64).sum(axis=1).max()))
        self._last.clear()
        drawn = _Drawn(multiplicities=multiplicities, single=single, longest=longest)
        if single.nbytes + multiplicities.nbytes <= _KEPT:
            self._last[n] = drawn
        return drawn

    def _multiplicities(self, n: int) -> Iterator[NDArray[np.uint16]]:
        """How often each of n instances is in each draw, some draws at a time."""
        if n in self._kept:
            yield from self._kept[n]
            return
        random = np.random.default_rng(self.seed)
        at_once = max(1, _AT_ONCE // (16 * n))
        drawn, fits = [], 2 * n * self.draws + self._bytes <= _KEPT
        for start in range(0, self.draws, at_once):
            size = min(at_once, self.draws - start)
            places = random.choice(n, size=(size, n), replace=True) + n * np.arange(size)[:, np.newaxis]
            multiplicities = np.bincount(places.ravel(), minlength=size * n).reshape(size, n).astype(np.uint16)
            if fits:
                drawn.append(multiplicities)
            yield multiplicities
        if fits:
            self._kept[n] = drawn

    @property
    def _bytes(self) -> int:
        return sum(part.nbytes for parts in self._kept.values() for part in parts)


@dataclass
class Swaps:
    """Which instances two systems exchange, each with probability one half, in each of many trials."""

    trials: int = TRIALS
    seed: int = SEED
    _kept: dict[int, list[NDArray[np.float32]]] = field(default_factory=dict, repr=False)

    def sums(self, matrix: Counts) -> Iterator[Floats]:
        """The sum of those of a matrix's rows that each trial chooses, some trials at a time: trials × columns."""
        kind = _precision(matrix)
        given = matrix.astype(kind)
        for chosen in self._chosen(len(matrix)):
            yield np.matmul(chosen.astype(kind, copy=False), given).astype(np.float64)

    def _chosen(self, n: int) -> Iterator[NDArray[np.float32]]:
        if n in self._kept:
            yield from self._kept[n]
            return
        random = np.random.default_rng(self.seed)
        # The generator draws 32 bits at a time: pieces of a multiple of 32 rows are the pieces of one large draw.
        at_once = max(32, _AT_ONCE // (4 * n) // 32 * 32)
        drawn, fits = [], 4 * n * self.trials <= _KEPT and not self._kept
        for start in range(0, self.trials, at_once):
            size = min(at_once, self.trials - start)
            chosen = random.integers(2, size=(size, n), dtype=bool).astype(np.float32)
            if fits:
                drawn.append(chosen)
            yield chosen
        if fits:
            self._kept[n] = drawn


def _scaled(rows: Floats, longest: float) -> tuple[NDArray[np.float32], Floats]:
    """Rows around their means in single precision, none beyond 1, and how far rounding may take sums of them.

    longest: the largest norm of what they are multiplied with.
    """
    n = rows.shape[1]
    scaled, error = np.empty(rows.shape, np.float32), np.empty(len(rows))
    terms = min(_SUMMED, n) + n // _SUMMED + 4
    for start in range(0, len(rows), _FEW):
        some = slice(start, start + _FEW)
        mean = rows[some].mean(axis=1, keepdims=True)
        apart = rows[some] - mean
        scale = np.maximum(apart.max(axis=1, keepdims=True), -apart.min(axis=1, keepdims=True))
        scale[scale == 0] = 1.0
        norm = np.sqrt(np.einsum("ij,ij->i", apart, apart)) / scale[:, 0]
        np.divide(apart, scale, out=scaled[some], casting="same_kind")
        # What rounding may have done: to these sums, by Cauchy and Schwarz, and to the exact ones.
        error[some] = terms * 2.0**-24 * longest * norm + 1e-13 * n * (1 + np.abs(mean / scale)[:, 0])
    return scaled, error


def _exact_at(
    place: int,
    sums: NDArray[np.float32],
    ordered: NDArray[np.float32],
    error: Floats,
    rows: Floats,
    multiplicities: NDArray[np.uint16],
) -> Floats:
    """Of each row's resampled means the one at this place in their order, from sums that are off by some error.

    ordered: the sums of each row in their order.
    """
    near = ordered[:, place].astype(np.float64)
    # Rounded away from what is looked for, so that single precision compares no less than double would.
    low = np.nextafter((near - 2 * error).astype(np.float32), np.float32(-np.inf))
    high = np.nextafter((near + 2 * error).astype(np.float32), np.float32(np.inf))
    # Looked for from the nearer end, where few sums must be looked at twice.
    if 2 * place < sums.shape[1]:
        row, draw = _places(sums <= high[:, np.newaxis])
        meant = sums[row, draw] >= low[row]
        below = np.bincount(row[~meant], minlength=len(rows))
    else:
        row, draw = _places(sums >= low[:, np.newaxis])
        meant = sums[row, draw] <= high[row]
        below = sums.shape[1] - np.bincount(row, minlength=len(rows))
    row, draw = row[meant], draw[meant]
    means, taken = np.empty(len(row)), np.empty((_FEW, rows.shape[1]))
    for start in range(0, len(row), _FEW):
        some = slice(start, start + _FEW)
        products = taken[: len(row[some])]
        np.multiply(rows[row[some]], multiplicities[draw[some]], out=products)
        means[some] = products.sum(axis=1) / rows.shape[1]
    order = np.lexsort((means, row))
    first = np.searchsorted(row, np.arange(len(rows)))
    exact: Floats = means[order][first + place - below]
    return exact


def _places(marked: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The rows and columns of what is marked; of few marks in a fourth of the time that `np.nonzero` takes."""
    row, column = np.divmod(np.flatnonzero(marked), marked.shape[1])
    return row, column


def _precision(matrix: Counts) -> type[np.float32] | type[np.float64]:
    """Sums of whole numbers are exact in single precision while they are small, and take half the time."""
    whole = not np.issubdtype(matrix.dtype, np.floating)
    exact = whole and len(matrix) * max(int(matrix.max(initial=0)), -int(matrix.min(initial=0))) < _EXACT
    return np.float32 if exact else np.float64


@dataclass(frozen=True, kw_only=True, slots=True)
class Bounds:
    """The 95% interval of resampled values, and their mean."""

    low: float
    high: float
    mean: float


def bounds_of(resampled: Floats) -> Bounds:
    """The interval that resampled values leave when 2.5% of them are cut off at either end."""
    ordered, outside = np.sort(resampled), len(resampled) // 40
    return Bounds(
        low=float(ordered[outside]),
        high=float(ordered[len(ordered) - outside - 1]),
        mean=fsum(ordered) / len(ordered),
    )


def bootstrap_p(first: Floats, second: Floats, difference: float) -> float:
    """The p-value of a paired bootstrap: how often resampled differences stray from their mean by more than was seen.

    first, second: values of the two systems in the same draws.
    difference: that of their values on the corpus itself.
    """
    drawn = np.abs(second - first)
    return _p_value(drawn - drawn.mean(), abs(difference))


def randomisation_p(
    first: Counts, second: Counts, scores: Scores, difference: float, *, swaps: Swaps | None = None
) -> float:
    """The p-value of approximate randomisation: how often two mixtures of both systems differ by more than was seen.

    first, second: rows of counts of the two systems.
    scores: the values of corpora from sums of rows.
    difference: that of the two systems' values.
    swaps: the trials.
    """
    kind = np.int64 if not np.issubdtype(np.result_type(first, second), np.floating) else np.float64
    of_first, of_second = first.sum(axis=0, dtype=kind), second.sum(axis=0, dtype=kind)
    drawn = []
    for taken in (swaps or Swaps()).sums(first.astype(kind) - second.astype(kind)):
        mixed = taken.astype(kind)
        drawn.append(np.abs(scores(of_second + mixed) - scores(of_first - mixed)))
    return _p_value(np.concatenate(drawn), abs(difference))


def _p_value(drawn: Floats, difference: float) -> float:
    """The share of values above what was seen, which itself counts as one of them."""
    return (int(np.count_nonzero(drawn > difference)) + 1) / (len(drawn) + 1)
