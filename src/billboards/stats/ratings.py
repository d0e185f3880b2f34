"""Ratings as three columns: which unit, by which annotator, which value.

A crowd of thousands gives a handful of ratings each, so a table of units × annotators would be empty nearly everywhere.
Statistics of agreement work on the columns instead; a table with NaN for what is missing becomes columns first. An
unknown annotator (-1) counts as somebody who rated once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from billboards.errors import InvalidInput

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

UNKNOWN = -1


@dataclass(frozen=True)
class Ratings:
    """One rating per position, no annotator twice on one unit; units and annotators are numbers from 0."""

    unit: Ints
    annotator: Ints
    value: Floats

    def __len__(self) -> int:
        return len(self.value)

    @property
    def known(self) -> bool:
        """Whether it is known of every rating whose it is."""
        return bool((self.annotator != UNKNOWN).all())

    def pairable(self) -> Ratings:
        """Only the units that two or more have rated, numbered anew; the others say nothing about agreement."""
        shared = np.bincount(self.unit, minlength=1)[self.unit] > 1
        return Ratings(np.unique(self.unit[shared], return_inverse=True)[1], self.annotator[shared], self.value[shared])

    def table(self) -> Floats:
        """Units × annotators with NaN for what is missing; annotators in the order of their numbers."""
        unit = np.unique(self.unit, return_inverse=True)[1]
        annotator = np.unique(self.annotator, return_inverse=True)[1]
        table = np.full((unit.max(initial=-1) + 1, annotator.max(initial=-1) + 1), np.nan)
        table[unit, annotator] = self.value
        return table


def ratings_in_columns(unit: ArrayLike, annotator: ArrayLike, value: ArrayLike) -> Ratings:
    """Checked columns; units and annotators may be any labels, values that are not finite are missing."""
    units, annotators, values = np.asarray(unit), np.asarray(annotator), np.asarray(value, float)
    if not units.shape == annotators.shape == values.shape or values.ndim != 1:
        raise InvalidInput(
            f"ratings need a unit, an annotator and a value each; their shapes are {units.shape}, {annotators.shape} "
            f"and {values.shape}"
        )
    present = np.isfinite(values)
    number = np.unique(units[present], return_inverse=True)[1]
    ratings = Ratings(number, _numbered(annotators[present]), values[present])
    _refuse_repeats(ratings, units[present], annotators[present])
    return ratings


def ratings_in_table(table: ArrayLike) -> Ratings:
    """Ratings of a table, units × annotators, NaN where there is none."""
    values = np.asarray(table, float)
    if values.ndim != 2:
        raise InvalidInput(f"a table of ratings is units × annotators; this one has the shape {values.shape}")
    unit, annotator = np.nonzero(np.isfinite(values))
    return Ratings(np.unique(unit, return_inverse=True)[1], annotator, values[unit, annotator])


def within_unit_pairs(ratings: Ratings) -> tuple[Ints, Ints]:
    """Positions of the two ratings of every pair on one unit, each pair once."""
    order = np.argsort(ratings.unit, kind="stable")
    units = ratings.unit[order]
    first, second = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    together, apart = np.arange(len(units)), 1
    while len(together):
        # Who has no partner so far apart has none farther on, so the work is as much as there are pairs.
        together = together[: np.searchsorted(together, len(units) - apart)]
        together = together[units[together + apart] == units[together]]
        first.append(order[together])
        second.append(order[together + apart])
        apart += 1
    return np.concatenate(first), np.concatenate(second)


def _numbered(annotators: NDArray[np.generic]) -> Ints:
    """Numbers from 0 in sorted order; -1 stays what it is."""
    counted = np.issubdtype(annotators.dtype, np.integer)
    named = annotators != UNKNOWN if counted else np.ones(len(annotators), bool)
    numbers = np.full(len(annotators), UNKNOWN, np.int64)
    numbers[named] = np.unique(annotators[named], return_inverse=True)[1]
    return numbers


def _refuse_repeats(ratings: Ratings, units: NDArray[np.generic], annotators: NDArray[np.generic]) -> None:
    key = ratings.unit * (ratings.annotator.max(initial=0) + 1) + ratings.annotator
    key[ratings.annotator == UNKNOWN] = -1
    order = np.argsort(key, kind="stable")
    again = np.flatnonzero((np.diff(key[order]) == 0) & (key[order][1:] >= 0))
    if len(again):
        k = int(order[again[0]])
        raise InvalidInput(
            f"annotator {annotators[k]} rated unit {units[k]} more than once ({len(again)} such ratings in all); keep "
            "one of them, or give the repeat a unit of its own"
        )
