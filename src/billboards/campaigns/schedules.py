"""Who is compared with whom: balanced over all pairs and orders, or more often where two are not told apart yet.

A balanced schedule of pairs is a round-robin tournament: each instance has a round in which everybody meets one other
(with an odd number, one sits out), and each cycle of rounds has every pair once, the other way round in every second
cycle. Sets of three or more are put together from those who met least often. An adaptive schedule begins balanced and
then takes, one comparison at a time, the pair that narrows the doubts between neighbours most
(`stats.bradley_terry.comparison_worth`); some comparisons stay as planned, so that nobody is lost sight of.
Everything follows from the seed and the answers.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from billboards.stats.bradley_terry import comparison_worth

Floats = NDArray[np.float64]
Pair = tuple[int, int]
#: In an adaptive schedule, one comparison of so many stays as it was planned.
KEPT = 5


def balanced_pairs(entries: int, rounds: int, draw: random.Random) -> Iterator[list[Pair]]:
    """The pairs of each round, the one that is shown first in front."""
    places = entries + entries % 2
    names = draw.sample(range(entries), entries)
    cycle = places - 1
    order = list(range(cycle))
    for k in range(rounds):
        if k % cycle == 0:
            draw.shuffle(order)
        turned = (k // cycle) % 2 == 1
        pairs = [pair for pair in _round(places, order[k % cycle]) if max(pair) < entries]
        yield [(names[b], names[a]) if turned else (names[a], names[b]) for a, b in pairs]


def _round(places: int, number: int) -> Iterator[Pair]:
    """A round of the circle method, in which everybody is in front about as often as behind."""
    circle = places - 1
    yield (circle, number) if number % 2 else (number, circle)
    for k in range(1, places // 2):
        ahead, behind = (number + k) % circle, (number - k) % circle
        yield (ahead, behind) if k % 2 else (behind, ahead)


def balanced_sets(entries: int, size: int, rounds: int, draw: random.Random) -> Iterator[list[tuple[int, ...]]]:
    """The sets of each round in the order they are shown: who was asked about, and met, least often comes first."""
    from scipy.optimize import linear_sum_assignment

    used, met = np.zeros(entries, int), np.zeros((entries, entries), int)
    shown_at = np.zeros((entries, size), int)
    for _ in range(rounds):
        luck = draw.sample(range(entries), entries)
        waiting = sorted(range(entries), key=lambda k: (used[k], luck[k]))[: entries // size * size]
        sets = []
        while waiting:
            members = [waiting.pop(0)]
            while len(members) < size:
                chosen = min(waiting, key=lambda k: (met[members, k].sum(), luck[k]))
                waiting.remove(chosen)
                members.append(chosen)
            _, place = linear_sum_assignment(shown_at[members])
            ordered = [member for _, member in sorted(zip(place.tolist(), members, strict=True))]
            shown_at[ordered, range(size)] += 1
            used[members] += 1
            met[np.ix_(members, members)] += 1
            sets.append(tuple(ordered))
        yield sets


@dataclass(frozen=True, kw_only=True)
class Coming:
    """A comparison to come: its instance, the pair that is planned, and those that could be asked about there.

    Pairs have the smaller number in front.
    """

    instance: str
    planned: Pair
    possible: frozenset[Pair]


def adapt_pairs(
    theta: Floats, covariance: Floats, coming: Sequence[Coming], draw: random.Random, *, level: float = 0.05
) -> list[Pair]:
    """The pair for each comparison to come; on an instance, a pair is asked about once if others are possible.

    After each choice the covariance is what it will be once that comparison is answered, whoever wins, so that not all
    go to one pair.
    """
    kept = [k % KEPT == KEPT - 1 for k in range(len(coming))]
    taken: dict[str, set[Pair]] = {comparison.instance: set() for comparison in coming}
    for comparison, stays in zip(coming, kept, strict=True):
        if stays:
            taken[comparison.instance].add(comparison.planned)
    chosen = []
    for comparison, stays in zip(coming, kept, strict=True):
        pair = comparison.planned
        if not stays:
            pair = _best(theta, covariance, comparison, taken[comparison.instance], draw, level)
        covariance = answered(theta, covariance, pair)
        taken[comparison.instance].add(pair)
        chosen.append(pair)
    return chosen


def _best(
    theta: Floats, covariance: Floats, comparison: Coming, taken: Collection[Pair], draw: random.Random, level: float
) -> Pair:
    """The pair that is worth most; the planned one where none is worth anything."""
    free = sorted(comparison.possible.difference(taken))
    if not free:
        return comparison.planned
    worth = comparison_worth(theta, covariance, level=level)
    best = max(worth[pair] for pair in free)
    if best <= 0 and comparison.planned not in taken:
        return comparison.planned
    return draw.choice([pair for pair in free if worth[pair] >= best * (1 - 1e-9)])


def answered(theta: Floats, covariance: Floats, pair: Pair) -> Floats:
    """The covariance of strengths after one more comparison of a pair, by its information p(1 - p)."""
    first, second = pair
    p = 1.0 / (1.0 + np.exp(theta[second] - theta[first]))
    shared = covariance[first] - covariance[second]
    information = p * (1 - p)
    narrowed: Floats = covariance - np.outer(shared, shared) * (
        information / (1 + information * (shared[first] - shared[second]))
    )
    return narrowed
