"""Which generators differ, asked again after each label: what is decided, after how many, and who may be left out.

The unit is the instance, with the outputs of all generators: it comes in once everything asked of it is judged, so that
the values of a pair are compared on the same text and nothing is foreseen from half an instance. For each two
generators there are two e-values, that the first and that the second is better, from the differences on all instances
so far (`sequences`); e-BH over all of them decides. What is decided stays decided: its e-value is that of the moment it
was, which is a stopping time, so the share of false decisions is kept whenever one stops (Wang & Ramdas 2022).

Where generators drop out, one that is told apart from all others is no longer asked about, and an instance is complete
once all others are judged. Assumed is that instances come in random order, and that who judges which generator is left
to chance; then a difference of equal generators is 0 in expectation, whatever came before.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput
from billboards.stats.sequences import STAKES, e_benjamini_hochberg, log_asymptotic_evidence, log_mean

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
#: Asymptotic e-values say nothing before so many units.
BURN_IN = 30


class Decisions:
    """Pairs told apart by e-BH at every look; what is decided stays so, with the e-value it had then.

    `first` and `second` number the members of each pair. `evidence` holds log e-values (pairs × 2), that of the first
    being better before that of the second; `decided_at` the units seen when the pair was decided, 0 for never.
    """

    def __init__(self, members: int, *, level: float) -> None:
        if not 0 < level < 1:
            raise InvalidInput(f"the share of false decisions lies between 0 and 1; found {level:g}")
        self.first, self.second = (side.astype(np.int64) for side in np.triu_indices(members, 1))
        self.evidence: Floats = np.zeros((len(self.first), 2))
        self.decided_at: Ints = np.zeros(len(self.first), np.int64)
        self._level, self._members, self._least = level, members, -math.log(level)

    @property
    def decided(self) -> Bools:
        return np.asarray(self.decided_at > 0)

    @property
    def first_is_better(self) -> Bools:
        """Which way the evidence points."""
        return np.asarray(self.evidence[:, 0] >= self.evidence[:, 1])

    @property
    def told_apart(self) -> Bools:
        """The members of which every pair is decided."""
        open_pairs = ~self.decided
        told = np.ones(self._members, bool)
        told[self.first[open_pairs]] = told[self.second[open_pairs]] = False
        return told

    def look(self, pairs: Ints, evidence: Floats, units: int) -> bool:
        """Take in the log e-values of some pairs after so many units. Is a pair decided by them?"""
        fresh = self.decided_at[pairs] == 0
        self.evidence[pairs[fresh]] = evidence[fresh]
        # e-BH never rejects below 1/level.
        if not (evidence[fresh] >= self._least).any():
            return False
        rejected = e_benjamini_hochberg(self.evidence, self._level).any(axis=1)
        new = rejected & ~self.decided
        self.decided_at[new] = units
        return bool(new.any())


class PairTests:
    """E-values that generators differ, for each pair in both directions, grown by one unit at a time.

    Values are on 0-1, and differences are bet on; where `bounded` is false they may be any numbers, and e-values are
    asymptotic. With a `pool`, units are drawn from so many without replacement.
    """

    def __init__(self, generators: int, *, level: float = 0.05, pool: int | None = None, bounded: bool = True) -> None:
        self.decisions = Decisions(generators, level=level)
        self.units = 0
        self._pool, self._bounded = pool, bounded
        pairs = len(self.decisions.first)
        self._wealth: Floats = np.zeros((pairs, 2, len(STAKES)))
        self._drawn, self._total, self._squares = np.zeros(pairs), np.zeros(pairs), np.zeros(pairs)

    def add(self, values: Floats) -> bool:
        """Bring in one unit: a value for each generator, NaN where there is none. Is a pair decided by it?"""
        self.units += 1
        difference = values[self.decisions.first] - values[self.decisions.second]
        used = np.flatnonzero(np.isfinite(difference) & ~self.decisions.decided)
        if not len(used):
            return False
        evidence = self._bet(used, difference[used]) if self._bounded else self._weigh(used, difference[used])
        return self.decisions.look(used, evidence, self.units)

    def _bet(self, used: Ints, difference: Floats) -> Floats:
        """Bet that the first is better, and that the second is, at odds that are fair where both are equal."""
        if self._pool is not None:
            return self._bet_in_pool(used, difference, self._pool)
        gain = STAKES * difference[:, None]
        with np.errstate(divide="ignore"):
            wealth = self._wealth[used] + np.log1p(np.stack([gain, -gain], axis=1))
        self._wealth[used] = wealth
        return log_mean(wealth)

    def _bet_in_pool(self, used: Ints, difference: Floats, pool: int) -> Floats:
        """Shares are 1/2 where both are equal; what is left of the pool must make up for what was drawn."""
        share = (difference + 1) / 2
        expected = (0.5 * pool - self._total[used]) / np.maximum(pool - self._drawn[used], 1)
        for side, (value, mean) in enumerate(((share, expected), (1 - share, 1 - expected))):
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = np.where(np.abs(mean) < 1e-9, np.where(value > 1e-9, np.inf, 1.0), value / mean)
                ratio = np.where(mean < -1e-9, np.inf, ratio)
                self._wealth[used, side] += np.log(1 - STAKES + STAKES * ratio[:, None])
        self._drawn[used] += 1
        self._total[used] += share
        given = np.stack([self._total[used], self._drawn[used] - self._total[used]], axis=1)
        self._wealth[used] += np.where(given > 0.5 * pool + 1e-9, np.inf, 0.0)[..., None]
        wealth = self._wealth[used]
        # What was refuted stays so: no bound and a lost stake together are no number, and stand for no bound.
        refuted: Bools = np.logical_not((wealth < np.inf).all(axis=-1))
        return np.where(refuted, np.inf, log_mean(np.where(refuted[..., None], 0.0, wealth)))

    def _weigh(self, used: Ints, difference: Floats) -> Floats:
        """Asymptotic evidence from means and standard deviations so far; none before enough units have come."""
        self._drawn[used] += 1
        self._total[used] += difference
        self._squares[used] += difference**2
        n = self._drawn[used]
        mean = self._total[used] / n
        sd = np.sqrt(np.maximum(self._squares[used] / n - mean**2, 0.0))
        usable = (n >= BURN_IN) & (sd > 1e-12)
        divisor = np.where(usable, sd, 1.0)
        both = np.stack([log_asymptotic_evidence(sign * mean, divisor, n) for sign in (1, -1)], axis=1)
        return np.where(usable[:, None], both, 0.0)


@dataclass(frozen=True, kw_only=True)
class Cells:
    """Judged outputs in the order in which each was complete: generator, unit, value, and labels given until then."""

    generator: Ints
    unit: Ints
    value: Floats
    labels: Ints


@dataclass(frozen=True, kw_only=True)
class Watched:
    """How pairs of generators stand after so many complete `units`.

    `decided_labels` has for each pair the labels given when it was decided (0 for never), `dropped` for each generator
    that was told apart from all others the labels given by then.
    """

    decisions: Decisions
    units: int
    decided_labels: Ints
    dropped: Mapping[int, int] = field(default_factory=dict)


def watch_pairs(
    cells: Cells,
    asked: Bools,
    *,
    level: float = 0.05,
    drop: bool = False,
    pool: int | None = None,
    bounded: bool = True,
) -> Watched:
    """Replay judged outputs in their order; `asked` says what is asked of whom (generators × units).

    With `drop`, generators that are told apart from all others are no longer waited for.
    """
    replay = _Replay(asked, PairTests(len(asked), level=level, pool=pool, bounded=bounded), drop=drop)
    columns = (cells.generator.tolist(), cells.unit.tolist(), cells.value.tolist(), cells.labels.tolist())
    for generator, unit, value, labels in zip(*columns, strict=True):
        replay.add(generator, unit, value, labels)
    return Watched(
        decisions=replay.tests.decisions,
        units=replay.tests.units,
        decided_labels=replay.decided_labels,
        dropped=replay.dropped,
    )


class _Replay:
    def __init__(self, asked: Bools, tests: PairTests, *, drop: bool) -> None:
        self.tests = tests
        self.decided_labels: Ints = np.zeros(len(tests.decisions.first), np.int64)
        self.dropped: dict[int, int] = {}
        self._drop = drop
        self._values: Floats = np.full(asked.shape, np.nan)
        self._missing: Bools = asked.copy()
        self._waiting: list[int] = asked.sum(axis=0).tolist()
        #: Units that have begun and are not complete, in the order they began.
        self._begun: dict[int, None] = {}

    def add(self, generator: int, unit: int, value: float, labels: int) -> None:
        if generator in self.dropped or not self._missing[generator, unit]:
            return
        self._values[generator, unit] = value
        self._missing[generator, unit] = False
        self._waiting[unit] -= 1
        self._begun[unit] = None
        if self._waiting[unit] == 0:
            self._enter(unit, labels)

    def _enter(self, unit: int, labels: int) -> None:
        del self._begun[unit]
        if not self.tests.add(self._values[:, unit]):
            return
        new = self.tests.decisions.decided & (self.decided_labels == 0)
        self.decided_labels[new] = labels
        if self._drop:
            self._leave_out(labels)

    def _leave_out(self, labels: int) -> None:
        """Wait no longer for who is told apart; units that waited for nobody else come in."""
        out = [k for k in np.flatnonzero(self.tests.decisions.told_apart).tolist() if k not in self.dropped]
        if not out:
            return
        for generator in out:
            self.dropped[generator] = labels
            self._missing[generator] = False
        if len(self.dropped) == len(self._missing):
            return
        self._waiting = self._missing.sum(axis=0).tolist()
        while (ready := next((unit for unit in self._begun if self._waiting[unit] == 0), None)) is not None:
            self._enter(ready, labels)


def cells_by_unit(values: Floats, labels: Ints, order: Sequence[int]) -> Cells:
    """All cells of a matrix (generators × units, NaN where there is none), unit by unit in this order."""
    units = np.asarray(order, np.int64)
    generator, place = (side.astype(np.int64) for side in np.nonzero(np.isfinite(values[:, units])))
    by_unit = np.lexsort((generator, place))
    generator, unit = generator[by_unit], units[place[by_unit]]
    return Cells(
        generator=generator, unit=unit, value=values[generator, unit], labels=np.cumsum(labels[generator, unit])
    )
