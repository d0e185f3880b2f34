"""Which way of asking people gives the steadiest score for the same money? (GENIE, §4, Figures 2 and 3.)

From several labels per item, designs are imitated by drawing again and again: five levels or two, one label of every
item or three of a third of them, averaged or put to the vote. The score's standard deviation over the draws is what a
design leaves to chance. The paper keeps the items fixed when it draws one label of each and draws items when it draws
three; here that is one figure, and a second one draws the items in both, because a new campaign would. Random halves of
the labels stand for days: two populations of annotators that judge the same items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from billboards.errors import InvalidInput, NotEnoughData

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Scale = Literal["binary", "five-level", "as given"]
Aggregation = Literal["mean", "majority"]


@dataclass(frozen=True, kw_only=True)
class DesignResult:
    """What one design gives over all draws, on the scale 0-1, averaged over the groups (generators).

    `sd` is the score's standard deviation when items are drawn too, `fixed_sd` as in the paper, `days` that of the
    score between two random halves of the labels on the same items. `separation` is the standard deviation of the
    groups' scores over `sd`: how well the design tells generators apart; NaN for a single group.
    """

    scale: Scale
    aggregation: Aggregation
    labels: int
    score: float
    sd: float
    fixed_sd: float
    days: float
    separation: float


@dataclass(frozen=True)
class Labels:
    """Labels on 0-1 as items × labels, shuffled to the left with NaN behind, and the group of each item."""

    values: Floats
    group: Ints

    @property
    def counts(self) -> Ints:
        return np.asarray(np.isfinite(self.values).sum(axis=1))


SCALES: Mapping[Scale, Callable[[Floats], Floats]] = {
    "binary": lambda values: np.where(np.isnan(values), np.nan, (values >= 0.5).astype(float)),
    "five-level": lambda values: np.floor(values * 4 + 0.5) / 4,
    "as given": lambda values: values,
}


def labels_of(item: ArrayLike, value: ArrayLike, group: ArrayLike, *, at_least: int) -> Labels:
    """Labels on 0-1 by item, of the items that have at least so many; items lie in one group each."""
    items, first, number = np.unique(np.asarray(item), return_index=True, return_inverse=True)
    x, groups = np.asarray(value, float), np.asarray(group)[first]
    if np.isnan(x).any() or x.min(initial=0) < 0 or x.max(initial=1) > 1:
        raise InvalidInput("designs compare labels between 0 and 1; say which range yours have")
    order = np.argsort(number, kind="stable")
    size = np.bincount(number, minlength=len(items))
    place = np.arange(len(x)) - np.repeat(np.cumsum(size) - size, size)
    table = np.full((len(items), size.max(initial=0)), np.nan)
    table[number[order], place] = x[order]
    enough = size >= at_least
    if not enough.any():
        raise NotEnoughData(f"no item has {at_least} labels, so there is nothing to compare designs on")
    return Labels(table[enough], np.unique(groups[enough], return_inverse=True)[1])


def compare_designs(labels: Labels, *, several: int = 3, rounds: int = 500, seed: int = 0) -> tuple[DesignResult, ...]:
    """Every scale and aggregation, with one label of each item and with `several` of every several-th item.

    In the halves, as many labels are taken for several as the smaller half has, at the same cost.
    """
    if several < 2 or rounds < 2:
        raise InvalidInput(f"designs need 2 or more labels and rounds, not {several} and {rounds}")
    half = halved(labels, several)
    random = np.random.default_rng(seed)
    scaled = {scale: SCALES[scale](labels.values) for scale, _, _ in _designs(labels, several)}
    shares = {share: _Share.of(labels.group, share) for share in (1, several, half)}
    totals = {key: _Totals.empty(labels, rounds) for key in _designs(labels, several)}
    for k in range(rounds):
        everyone, anew, few, today = (
            _Sample.of(labels, items, random)
            for items in (
                np.arange(len(labels.group)),
                *(shares[share].items(random) for share in (1, several, half)),
            )
        )
        for (scale, way, count), total in totals.items():
            drawn, fixed, same = (anew, everyone, everyone) if count == 1 else (few, few, today)
            taken = 1 if count == 1 else half
            total.drawn[k] = drawn.scores(scaled[scale], way, slice(0, count))
            total.fixed[k] = fixed.scores(scaled[scale], way, slice(0, count))
            total.days[k] = [same.scores(scaled[scale], way, slice(d, d + 2 * taken, 2)) for d in (0, 1)]
    return tuple(_result(key, total) for key, total in totals.items())


def halved(labels: Labels, several: int) -> int:
    """How many labels of an item can be taken in each half."""
    return min(several, int(labels.counts.min()) // 2)


@dataclass(frozen=True)
class _Totals:
    """Scores by round and group: items drawn, items fixed where one label is taken, and the two halves."""

    drawn: Floats
    fixed: Floats
    days: Floats

    @staticmethod
    def empty(labels: Labels, rounds: int) -> _Totals:
        groups = int(labels.group.max()) + 1
        return _Totals(np.empty((rounds, groups)), np.empty((rounds, groups)), np.empty((rounds, 2, groups)))


@dataclass(frozen=True)
class _Share:
    """How to draw one share-th of each group's items, with replacement: where each one's group begins, and its size."""

    order: Ints
    start: Ints
    size: Ints

    @staticmethod
    def of(group: Ints, share: int) -> _Share:
        size = np.bincount(group)
        taken = np.maximum(1, np.round(size / share)).astype(np.int64)
        starts = np.cumsum(size) - size
        return _Share(np.argsort(group, kind="stable"), np.repeat(starts, taken), np.repeat(size, taken))

    def items(self, random: np.random.Generator) -> Ints:
        return np.asarray(self.order[self.start + (random.random(len(self.size)) * self.size).astype(np.int64)])


@dataclass(frozen=True)
class _Sample:
    """Some items and a random order of each one's labels, its own for an item that was drawn twice."""

    items: Ints
    order: Ints
    group: Ints
    groups: int

    @staticmethod
    def of(labels: Labels, items: Ints, random: np.random.Generator) -> _Sample:
        values = labels.values[items]
        order = np.argsort(np.where(np.isnan(values), 2.0, random.random(values.shape)), axis=1)
        return _Sample(items, order, labels.group[items], int(labels.group.max()) + 1)

    def scores(self, values: Floats, way: Aggregation, places: slice) -> Floats:
        """Each group's mean over the items of the labels at these places, aggregated."""
        asked = values[self.items[:, None], self.order[:, places]]
        score = asked.mean(axis=1) if way == "mean" else majority(asked)
        counts = np.bincount(self.group, minlength=self.groups)
        return np.asarray(np.bincount(self.group, score, self.groups) / counts, float)


def majority(values: Floats) -> Floats:
    """The commonest value of each row, the mean of the commonest where several are."""
    votes = (values[:, :, None] == values[:, None, :]).sum(axis=2)
    # Values with equally many votes stand equally often among the winners, so their plain mean is that of the values.
    winners = votes == votes.max(axis=1, keepdims=True)
    return np.asarray(np.where(winners, values, 0.0).sum(axis=1) / winners.sum(axis=1), float)


def _designs(labels: Labels, several: int) -> Iterator[tuple[Scale, Aggregation, int]]:
    """Binary and five levels, and the scale as given where it has more; a single label needs no vote."""
    finer = not np.array_equal(SCALES["five-level"](labels.values), labels.values, equal_nan=True)
    scales: tuple[Scale, ...] = ("binary", "five-level", "as given") if finer else ("binary", "five-level")
    for scale in scales:
        yield scale, "mean", 1
        yield scale, "mean", several
        yield scale, "majority", several


def _result(key: tuple[Scale, Aggregation, int], total: _Totals) -> DesignResult:
    scale, way, count = key
    scores = total.drawn.mean(axis=0)
    sd = _pooled(total.drawn)
    between = float(scores.std(ddof=1)) if len(scores) > 1 else float("nan")
    days = float(np.sqrt(((total.days[:, 0] - total.days[:, 1]) ** 2).mean() / 2))
    separation = between / sd if sd > 0 else float("nan")
    return DesignResult(
        scale=scale,
        aggregation=way,
        labels=count,
        score=float(scores.mean()),
        sd=sd,
        fixed_sd=_pooled(total.fixed),
        days=days,
        separation=separation,
    )


def _pooled(scores: Floats) -> float:
    """The standard deviation over rounds, root mean square over groups."""
    return float(np.sqrt(scores.var(axis=0, ddof=1).mean()))
