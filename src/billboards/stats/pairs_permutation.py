"""The pairs permutation: does one metric have the higher acc_eq, or was it luck?

Exchanging two metrics' scores would ask for a new epsilon after every exchange. So decisions are exchanged instead, as
the WMT metrics task does: each metric decides every pair of outputs at its own epsilon, and the two decisions about a
pair change sides with probability ½ (Deutsch et al. 2023; mt-metrics-eval's permutation of pairs). Where both are right
or both wrong nothing changes; so of each instance only the numbers of pairs that one of the two alone has right matter,
and a draw is one binomial number for all instances with equally many pairs. P-values carry the +1 correction.

Pairs of one instance share outputs, and so aren't independent: exchanged one by one, differences look surer than they
are. `unit="instances"` exchanges all decisions about an instance together, which keeps the level.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput
from billboards.stats.alignment import aligned
from billboards.stats.pairwise import acc_eq, pair_index

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Unit = Literal["pairs", "instances"]

#: Differences closer than this are equal but for rounding; a step of one pair is never as small.
_ROUNDING = 1e-12
#: Signs drawn at a time; bounds memory on large boards.
_BLOCK = 8_000_000


@dataclass(frozen=True)
class AccuracyTests:
    """acc_eq and epsilon of each metric; for every ordered pair (a, b) their difference and the p that a is better.

    A difference is measured on the `n` pairs of outputs that both metrics decide. NaN where there are none; the
    diagonal holds 0 and 1.
    """

    accuracy: Floats
    epsilon: Floats
    difference: Floats
    p: Floats
    n: Integers


@dataclass(frozen=True)
class _Alone:
    """Of each instance: pairs that both metrics decide, and those that only the first or only the second has right."""

    pairs: Integers
    first: Integers
    second: Integers

    @property
    def leads(self) -> Floats:
        """What each instance adds to the difference of the two accuracies, averaged over the instances with a pair."""
        instances = max(int((self.pairs > 0).sum()), 1)
        leads: Floats = (self.first - self.second) / np.maximum(self.pairs, 1) / instances
        return leads


def permute_decisions(
    scores: Floats,
    human: Floats,
    *,
    unit: Unit = "pairs",
    draws: int = 1000,
    seed: int = 0,
    most: int | None = None,
) -> AccuracyTests:
    """Permutation tests of acc_eq between all pairs of metrics (metrics × rows × instances), each at its best epsilon.

    With hundreds of rows, `most` looks at a sample of so many pairs of rows.
    """
    scores, human = aligned(scores, human)
    if draws < 1:
        raise InvalidInput(f"a permutation test needs at least 1 draw; got {draws}")
    calibrated = acc_eq(scores, human, most=most, seed=seed)
    right, decided = _decisions(scores, human, calibrated.epsilon, pair_index(len(human), most=most, seed=seed))
    pairs = list(itertools.combinations(range(len(scores)), 2))
    alone = [_alone(right[a], right[b], decided[a] & decided[b]) for a, b in pairs]
    exchange = _exchange_pairs if unit == "pairs" else _exchange_instances
    reached = (1 + exchange(alone, draws, seed)) / (1 + draws)
    difference, p, n = np.zeros((len(scores),) * 2), np.ones((len(scores),) * 2), np.diag(calibrated.n)
    for (a, b), one, (better, worse) in zip(pairs, alone, reached, strict=True):
        difference[a, b], difference[b, a] = one.leads.sum(), -one.leads.sum()
        p[a, b], p[b, a] = better, worse
        n[a, b] = n[b, a] = one.pairs.sum()
    difference, p = (np.where(n > 0, values, np.nan) for values in (difference, p))
    return AccuracyTests(calibrated.accuracy, calibrated.epsilon, difference, p, n)


def _decisions(
    scores: Floats, human: Floats, epsilon: Floats, rows: tuple[NDArray[np.intp], NDArray[np.intp]]
) -> tuple[Flags, Flags]:
    """Which pairs of outputs each metric has right, and which it decides: metrics × pairs × instances."""
    preferred = np.sign(human[rows[0]] - human[rows[1]])
    right, decided = np.empty((2, len(scores), *preferred.shape), bool)
    for k, one in enumerate(scores):
        lead = one[rows[0]] - one[rows[1]]
        decided[k] = ~np.isnan(lead + preferred)
        right[k] = np.where(np.abs(lead) <= epsilon[k], 0.0, np.sign(lead)) == preferred
    return right, decided


def _alone(first: Flags, second: Flags, decided: Flags) -> _Alone:
    counts = (decided, first & ~second & decided, second & ~first & decided)
    return _Alone(*(np.count_nonzero(one, axis=0).astype(np.int64) for one in counts))


def _exchange_pairs(compared: Sequence[_Alone], draws: int, seed: int) -> Floats:
    """In how many draws the difference is at least as high, and at least as low, as observed: compared × 2.

    Of m pairs that one of the two alone has right, the first gets as many as m coins show heads.
    """
    reached = np.zeros((len(compared), 2))
    for k, alone in enumerate(compared):
        random = np.random.default_rng(seed)
        instances = max(int((alone.pairs > 0).sum()), 1)
        # Instances with equally many pairs give a pair the same weight, so their coins are tossed together.
        open_pairs = np.bincount(alone.pairs, alone.first + alone.second).astype(np.int64)
        drawn = np.zeros(draws)
        for size in np.flatnonzero(open_pairs):
            heads = random.binomial(open_pairs[size], 0.5, draws)
            drawn += (2 * heads - open_pairs[size]) / (size * instances)
        reached[k] = _reached(drawn[:, None], alone.leads[None])[0]
    return reached


def _exchange_instances(compared: Sequence[_Alone], draws: int, seed: int) -> Floats:
    """The same where all decisions about an instance change sides together, the same coins for every comparison."""
    leads = np.array([alone.leads for alone in compared]).reshape(len(compared), -1)
    random = np.random.default_rng(seed)
    size = max(1, _BLOCK // max(*leads.shape, 1))
    reached = np.zeros((len(compared), 2))
    for start in range(0, draws, size):
        coins = random.integers(0, 2, (min(size, draws - start), leads.shape[1]), np.int8)
        reached += _reached(2 * (coins.astype(np.float64) @ leads.T) - leads.sum(axis=1), leads)
    return reached


def _reached(drawn: Floats, leads: Floats) -> Floats:
    """How many of the drawn differences (draws × compared) are at least as high, and as low, as observed."""
    beyond = drawn - leads.sum(axis=1)
    return np.stack([np.count_nonzero(sign * beyond >= -_ROUNDING, axis=0) for sign in (1, -1)], axis=1).astype(float)
