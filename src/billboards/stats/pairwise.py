"""Agreement on pairs of outputs of one instance: acc_eq and tau_eq with calibrated ties, their test, and PDP.

Accuracy with ties (Deutsch et al. 2023) asks of every two outputs of an instance whether a metric puts them in the
order people do, or ties them where people do: acc_eq = (C + T_hm)/(C + D + T_h + T_m + T_hm) in each instance, averaged
over the instances that have a pair. Metrics hardly ever tie exactly, so differences up to one epsilon per metric count
as ties. Raising epsilon past a pair's |Δ| changes the outcome only where the order was right (lost) or people tie the
pair (won), so one sort of these pairs and a running sum give the accuracy at every epsilon at once. The epsilon that is
best on the very data it is measured on flatters the metric; the held-out value stands beside it. Numbers agree with
mt-metrics-eval: a pair takes part when both outputs have a score and a judgment, an instance when it has such a pair,
and every instance counts the same.

Does one metric have the higher acc_eq, or was it luck? Exchanging two metrics' scores would ask for a new epsilon after
every exchange. So decisions are exchanged instead, as the WMT metrics task does: each metric decides every pair of
outputs at its own epsilon, and the two decisions about a pair change sides with probability ½ (mt-metrics-eval's
permutation of pairs). Where both are right or both wrong nothing changes; so of each instance only the numbers of pairs
that one of the two alone has right matter, and a draw is one binomial number for all instances with equally many pairs.
P-values carry the +1 correction. Pairs of one instance share outputs, and so aren't independent: exchanged one by one,
differences look surer than they are. `unit="instances"` exchanges all decisions about an instance together, which keeps
the level.

PDP, the pairwise difference Pearson: do a metric's differences between outputs of one instance follow people's? PDP = Σ
d_h·d_m / sqrt(Σ d_h² · Σ d_m²) over all pairs of outputs within instances. Unlike a pooled Pearson it is not moved by
instances that are easy for everyone, and unlike a group-by-item one it gives an instance weight by how much its outputs
differ. Over the pairs of an instance with m outputs, Σ (x_a - x_b)(y_a - y_b) = m · Σ (x - x̄)(y - ȳ), so no pair needs
to be formed.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput
from billboards.stats.alignment import aligned, finite_or_missing, group_centred, jointly
from billboards.stats.significance import Sides, reached

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Indices = NDArray[np.intp]
#: Accuracies closer than this are equal but for rounding; a step of one pair is never as small.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Calibrated:
    """acc_eq of each metric at its epsilon, with the pairs and instances used; NaN where there is no pair."""

    accuracy: Floats
    epsilon: Floats
    n: Integers
    instances: Integers

    @property
    def tau(self) -> Floats:
        """tau_eq, which is acc_eq from -1 to 1: (C + T_hm - D - T_h - T_m) over all pairs."""
        return 2 * self.accuracy - 1


@dataclass(frozen=True)
class HeldOut:
    """acc_eq of each metric where every instance is judged with an epsilon from other instances."""

    accuracy: Floats
    epsilons: Floats
    n: Integers
    instances: Integers

    @property
    def tau(self) -> Floats:
        """tau_eq, held out as well."""
        return 2 * self.accuracy - 1


@dataclass(frozen=True)
class _Outcomes:
    """How a metric fares at epsilon 0 in each instance, and which pairs change as epsilon rises, smallest |Δ| first."""

    right: Floats
    pairs: Floats
    size: Floats
    gain: Floats
    instance: Indices

    def weights(self, among: NDArray[np.bool_]) -> Floats:
        """What one pair of an instance adds to the accuracy averaged over these instances."""
        taking_part = among & (self.pairs > 0)
        share = taking_part / np.maximum(self.pairs, 1)
        return share / max(int(taking_part.sum()), 1)

    def best_epsilon(self, weights: Floats) -> float:
        """The smallest of the epsilons with the highest accuracy; 0 where no tie helps."""
        won = np.cumsum(self.gain * weights[self.instance])
        # An epsilon ties every pair of its size, so only the last of equal sizes is a candidate.
        won[:-1][self.size[1:] == self.size[:-1]] = -np.inf
        highest = won.max(initial=0.0)
        return 0.0 if highest <= _ROUNDING else float(self.size[np.argmax(won >= highest - _ROUNDING)])

    def accuracy(self, epsilon: float, weights: Floats) -> float:
        """The weighted accuracy where differences up to epsilon are ties."""
        tied = slice(0, np.searchsorted(self.size, epsilon, side="right"))
        return float((weights * self.right).sum() + (self.gain[tied] * weights[self.instance[tied]]).sum())


def pair_index(rows: int, *, most: int | None = None, seed: int = 0) -> tuple[Indices, Indices]:
    """First and second row of every pair of rows, or of `most` pairs drawn with a seed where there are more."""
    first, second = np.triu_indices(rows, 1)
    if most is not None and len(first) > most:
        drawn = np.sort(np.random.default_rng(seed).choice(len(first), most, replace=False))
        first, second = first[drawn], second[drawn]
    return first, second


def pair_differences(values: Floats) -> Floats:
    """Score of the first less that of the second row of every pair: … × rows × instances to … × pairs × instances."""
    values = finite_or_missing(np.asarray(values, np.float64))
    first, second = pair_index(values.shape[-2])
    differences: Floats = values[..., first, :] - values[..., second, :]
    return differences


def acc_eq(
    scores: Floats,
    human: Floats,
    *,
    epsilon: float | Sequence[float] | Floats | None = None,
    most: int | None = None,
    seed: int = 0,
) -> Calibrated:
    """acc_eq of each metric (metrics × rows × instances) with people (rows × instances).

    Without an epsilon each metric gets its best one of 0 and every |Δ| there is; the smallest where several are best.
    With hundreds of rows, `most` looks at a sample of so many pairs of rows.
    """
    scores, human = aligned(scores, human)
    given = None if epsilon is None else _checked(epsilon, len(scores))
    rows = pair_index(len(human), most=most, seed=seed)
    preferred = _signs(human, rows)
    measured = [_calibrated(_outcomes(metric, preferred, rows), given, k) for k, metric in enumerate(scores)]
    accuracy, best, n, instances = np.array(measured, np.float64).reshape(-1, 4).T
    return Calibrated(accuracy, best, n.astype(np.int64), instances.astype(np.int64))


def _checked(epsilon: float | Sequence[float] | Floats, metrics: int) -> Floats:
    """One epsilon for each metric."""
    given = np.asarray(epsilon, np.float64)
    if not (given >= 0).all():
        raise InvalidInput(f"epsilon is the largest difference that counts as a tie, so 0 or more; got {epsilon}")
    if given.shape not in ((), (metrics,)):
        raise InvalidInput(f"give one epsilon, or one for each of {metrics} metrics; got {given.shape}")
    return np.broadcast_to(given, metrics)


def _calibrated(outcomes: _Outcomes, given: Floats | None, k: int) -> tuple[float, float, float, int]:
    instances = int((outcomes.pairs > 0).sum())
    if not instances:
        return np.nan, np.nan, 0, 0
    weights = outcomes.weights(outcomes.pairs > 0)
    epsilon = outcomes.best_epsilon(weights) if given is None else float(given[k])
    return outcomes.accuracy(epsilon, weights), epsilon, outcomes.pairs.sum(), instances


def held_out_acc_eq(
    scores: Floats, human: Floats, *, folds: int = 2, most: int | None = None, seed: int = 0
) -> HeldOut:
    """acc_eq with each fold of the instances judged at the epsilon that is best on the others, as one average.

    Instances are dealt to the folds at random. Where the others have no pair there is no epsilon (NaN), and the
    fold's instances don't count.
    """
    scores, human = aligned(scores, human)
    if folds < 2:
        raise InvalidInput(f"an epsilon can be held out with 2 folds or more; got {folds}")
    rows = pair_index(len(human), most=most, seed=seed)
    preferred = _signs(human, rows)
    fold = _dealt(preferred, folds, seed)
    accuracies = [_held_out(_outcomes(metric, preferred, rows), fold, folds) for metric in scores]
    table = np.array(accuracies, np.float64).reshape(-1, 3 + folds)
    return HeldOut(table[:, 0], table[:, 3:], table[:, 1].astype(np.int64), table[:, 2].astype(np.int64))


def _dealt(preferred: Floats, folds: int, seed: int) -> Integers:
    """A fold for every instance with a judged pair, -1 for the others."""
    fold = np.full(preferred.shape[1], -1)
    judged = np.flatnonzero(~np.isnan(preferred).all(axis=0))
    shuffled = np.random.default_rng(seed).permutation(judged)
    fold[shuffled] = np.arange(len(shuffled)) % folds
    return fold


def _held_out(outcomes: _Outcomes, fold: Integers, folds: int) -> list[float]:
    paired = outcomes.pairs > 0
    learnable = [bool((paired & (fold != k)).any()) for k in range(folds)]
    epsilons = [outcomes.best_epsilon(outcomes.weights(fold != k)) if learnable[k] else np.nan for k in range(folds)]
    counted = paired & np.isin(fold, np.flatnonzero(learnable))
    if not counted.any():
        return [np.nan, 0, 0, *epsilons]
    weights = outcomes.weights(counted)
    accuracy = sum(outcomes.accuracy(epsilons[k], weights * (fold == k)) for k in range(folds) if learnable[k])
    return [accuracy, outcomes.pairs[counted].sum(), counted.sum(), *epsilons]


def _signs(values: Floats, rows: tuple[Indices, Indices]) -> Floats:
    return np.sign(values[rows[0]] - values[rows[1]])


def _outcomes(metric: Floats, preferred: Floats, rows: tuple[Indices, Indices]) -> _Outcomes:
    """A metric's outcomes from its scores (rows × instances) and the order people prefer (pairs × instances)."""
    difference = metric[rows[0]] - metric[rows[1]]
    right = np.sign(difference) == preferred
    wins = (preferred == 0) & (difference != 0) & ~np.isnan(difference)
    changing = np.flatnonzero(wins | (right & (difference != 0)))
    size = np.abs(difference.ravel()[changing])
    order = np.argsort(size, kind="stable")
    changing = changing[order]
    return _Outcomes(
        right.sum(axis=0).astype(np.float64),
        (~np.isnan(difference + preferred)).sum(axis=0).astype(np.float64),
        size[order],
        np.where(wins.ravel()[changing], 1.0, -1.0),
        changing % max(metric.shape[1], 1),
    )


Flags = NDArray[np.bool_]
Unit = Literal["pairs", "instances"]
#: Signs drawn at a time; bounds memory on large boards.
_BLOCK = 8_000_000


@dataclass(frozen=True)
class AccuracyTests:
    """acc_eq and epsilon of each metric; for every ordered pair (a, b) their difference and its p-value.

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
    sides: Sides = "one",
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
    p_values = (1 + exchange(alone, draws, seed, sides)) / (1 + draws)
    difference, p, n = np.zeros((len(scores),) * 2), np.ones((len(scores),) * 2), np.diag(calibrated.n)
    for (a, b), decided_alone, (better, worse) in zip(pairs, alone, p_values, strict=True):
        difference[a, b], difference[b, a] = decided_alone.leads.sum(), -decided_alone.leads.sum()
        p[a, b], p[b, a] = better, worse
        n[a, b] = n[b, a] = decided_alone.pairs.sum()
    difference, p = (np.where(n > 0, values, np.nan) for values in (difference, p))
    return AccuracyTests(calibrated.accuracy, calibrated.epsilon, difference, p, n)


def _decisions(
    scores: Floats, human: Floats, epsilon: Floats, rows: tuple[NDArray[np.intp], NDArray[np.intp]]
) -> tuple[Flags, Flags]:
    """Which pairs of outputs each metric has right, and which it decides: metrics × pairs × instances."""
    preferred = np.sign(human[rows[0]] - human[rows[1]])
    right, decided = np.empty((2, len(scores), *preferred.shape), bool)
    for k, metric in enumerate(scores):
        lead = metric[rows[0]] - metric[rows[1]]
        decided[k] = ~np.isnan(lead + preferred)
        right[k] = np.where(np.abs(lead) <= epsilon[k], 0.0, np.sign(lead)) == preferred
    return right, decided


def _alone(first: Flags, second: Flags, decided: Flags) -> _Alone:
    counts = (decided, first & ~second & decided, second & ~first & decided)
    return _Alone(*(np.count_nonzero(right, axis=0).astype(np.int64) for right in counts))


def _exchange_pairs(compared: Sequence[_Alone], draws: int, seed: int, sides: Sides) -> Floats:
    """In how many draws the difference is at least as high, and at least as low, as observed: compared × 2.

    Of m pairs that one of the two alone has right, the first gets as many as m coins show heads.
    """
    counts = np.zeros((len(compared), 2))
    for k, alone in enumerate(compared):
        random = np.random.default_rng(seed)
        instances = max(int((alone.pairs > 0).sum()), 1)
        # Instances with equally many pairs give a pair the same weight, so their coins are tossed together.
        open_pairs = np.bincount(alone.pairs, alone.first + alone.second).astype(np.int64)
        drawn = np.zeros(draws)
        for size in np.flatnonzero(open_pairs):
            heads = random.binomial(open_pairs[size], 0.5, draws)
            drawn += (2 * heads - open_pairs[size]) / (size * instances)
        counts[k] = _reached(drawn[:, None], alone.leads[None], sides)[0]
    return counts


def _exchange_instances(compared: Sequence[_Alone], draws: int, seed: int, sides: Sides) -> Floats:
    """The same where all decisions about an instance change sides together, the same coins for every comparison."""
    leads = np.array([alone.leads for alone in compared]).reshape(len(compared), -1)
    random = np.random.default_rng(seed)
    size = max(1, _BLOCK // max(*leads.shape, 1))
    counts = np.zeros((len(compared), 2))
    for start in range(0, draws, size):
        coins = random.integers(0, 2, (min(size, draws - start), leads.shape[1]), np.int8)
        counts += _reached(2 * (coins.astype(np.float64) @ leads.T) - leads.sum(axis=1), leads, sides)
    return counts


def _reached(drawn: Floats, leads: Floats, sides: Sides) -> Floats:
    """How many of the drawn differences (draws × compared) are at least as high, and as low, as observed.

    With two sides both are how many are as large, either way.
    """
    if sides == "two":
        count = reached(drawn, leads.sum(axis=1), sides, slack=_ROUNDING)
        return np.stack((count, count), axis=1)
    beyond = drawn - leads.sum(axis=1)
    return np.stack([np.count_nonzero(sign * beyond >= -_ROUNDING, axis=0) for sign in (1, -1)], axis=1).astype(float)


@dataclass(frozen=True)
class PairedDifferences:
    """PDP of each metric and the pairs it rests on; NaN where a side never differs within an instance."""

    value: Floats
    n: Integers


def pairwise_difference_pearson(scores: Floats, human: Floats) -> PairedDifferences:
    """PDP of each metric (metrics × rows × instances) with people (rows × instances)."""
    scores, human = aligned(scores, human)
    measured = [_pdp(*jointly(metric, human)) for metric in scores]
    value, n = np.array(measured, np.float64).reshape(-1, 2).T
    return PairedDifferences(value, n.astype(np.int64))


def _pdp(x: Floats, y: Floats) -> tuple[float, int]:
    outputs = (~np.isnan(x)).sum(axis=0)
    x, y = _scaled(group_centred(x)), _scaled(group_centred(y))
    xx, yy, xy = (float(outputs @ (a * b).sum(axis=0)) for a, b in ((x, x), (y, y), (x, y)))
    value = min(max(xy / np.sqrt(xx * yy), -1.0), 1.0) if xx > 0 and yy > 0 else np.nan
    return value, int((outputs * (outputs - 1) // 2).sum())


def _scaled(values: Floats) -> Floats:
    """Values over the largest, so that squares neither vanish nor overflow."""
    largest = np.abs(values).max(initial=0.0)
    return values / largest if largest > 0 else values
