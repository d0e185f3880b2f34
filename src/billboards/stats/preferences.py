"""Agreement with people who prefer or label outputs: WMT's Kendall over relative-ranking pairs, and AUC.

Relative ranking (WMT 2014-2020): of two outputs of an instance people prefer one, by saying so or by judgments at least
25 points of 100 apart; (C - D)/(C + D) over these pairs, where a metric that ties a pair has it wrong. AUC is for
boards whose outputs are labelled one of two ways, such as paraphrase or not: the chance that a metric puts an output
with the higher label above one with the lower, a tie counting half. Pairs and outputs without a score are left out, and
counts say how many took part.

Intervals and tests draw and exchange whole instances, because the pairs of an instance share outputs. A metric's
balance on an instance is its pairs in people's order less the others; (C - D)/(C + D) is the sum of balances over the
pairs, so a thousand draws for all metrics are one matrix product.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput
from billboards.stats.alignment import aligned, finite_or_missing
from billboards.stats.correlation import Correlations, resampling_weights
from billboards.stats.pairwise import pair_index
from billboards.stats.significance import Sides, reached

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Indices = NDArray[np.intp]
#: What a pair counts that a metric ties: as wrong (WMT's way), half right and half wrong, or not at all.
Ties = Literal["wrong", "half", "left-out"]
TIES: tuple[Ties, ...] = ("wrong", "half", "left-out")
_CREDIT: dict[Ties, float] = {"wrong": -1.0, "half": 0.0, "left-out": np.nan}


def credits_of(lead: Floats, ties: Ties) -> Floats:
    """1 for a pair in people's order (the better output leads), -1 for one against it; NaN where it doesn't count."""
    if ties not in TIES:
        raise InvalidInput(f"ties count as one of {', '.join(TIES)}, not {ties!r}")
    credit: Floats = np.where(np.isnan(lead), np.nan, np.where(lead == 0, _CREDIT[ties], np.sign(lead)))
    return credit


@dataclass(frozen=True)
class RelativeRanking:
    """(C - D)/(C + D) of each metric, its pairs in people's order, and its others; NaN without any."""

    value: Floats
    concordant: Integers
    discordant: Integers

    @property
    def n(self) -> Integers:
        """The pairs used."""
        return self.concordant + self.discordant


@dataclass(frozen=True)
class Separation:
    """AUC of each metric and how many outputs of either label it rests on; NaN where a label has none."""

    value: Floats
    positives: Integers
    negatives: Integers


def preferences(human: Floats, *, threshold: float = 25.0) -> tuple[Indices, Indices, Indices]:
    """Better row, worse row and instance of every pair that judgments put at least a threshold apart."""
    human = finite_or_missing(np.asarray(human, np.float64))
    first, second = pair_index(len(human))
    difference = human[first] - human[second]
    pair, instance = np.nonzero((np.abs(difference) >= threshold) & (difference != 0))
    first_is_better = difference[pair, instance] > 0
    better = np.where(first_is_better, first[pair], second[pair])
    worse = np.where(first_is_better, second[pair], first[pair])
    return better, worse, instance


def relative_ranking(scores: Floats, human: Floats, *, threshold: float = 25.0) -> RelativeRanking:
    """WMT's Kendall of each metric (metrics × rows × instances) over pairs that people's judgments imply."""
    scores, human = aligned(scores, human)
    better, worse, instance = preferences(human, threshold=threshold)
    # One metric at a time: there may be many more pairs than outputs.
    measured = [
        preference_agreement(metric[None, better, instance], metric[None, worse, instance]) for metric in scores
    ]
    if not measured:
        return preference_agreement(np.empty((0, 0)), np.empty((0, 0)))
    return RelativeRanking(
        np.concatenate([metric.value for metric in measured]),
        np.concatenate([metric.concordant for metric in measured]),
        np.concatenate([metric.discordant for metric in measured]),
    )


def preference_agreement(better: Floats, worse: Floats) -> RelativeRanking:
    """WMT's Kendall from each metric's scores (metrics × pairs) of the outputs people prefer, and of the others."""
    better, worse = (finite_or_missing(np.asarray(side, np.float64)) for side in (better, worse))
    if better.ndim != 2 or better.shape != worse.shape:
        raise InvalidInput(
            f"each pair needs a better and a worse output, as metrics × pairs; got {better.shape} and {worse.shape}"
        )
    n = (~np.isnan(better - worse)).sum(axis=1)
    concordant = (better > worse).sum(axis=1)
    value = np.where(n > 0, (2 * concordant - n) / np.maximum(n, 1), np.nan)
    return RelativeRanking(value, concordant, n - concordant)


def area_under_curve(scores: Floats, human: Floats) -> Separation:
    """AUC of each metric (metrics × rows × instances) for labels (rows × instances) of two values."""
    scores, human = aligned(scores, human)
    labelled = ~np.isnan(human)
    labels = np.unique(human[labelled])
    if len(labels) > 2:
        raise InvalidInput(f"AUC is for labels of two values; here are {len(labels)}, {labels[0]:g} to {labels[-1]:g}")
    positive = human[labelled] == labels[-1:]
    areas = [_area(metric[labelled], positive) for metric in scores]
    value, positives, negatives = np.array(areas, np.float64).reshape(-1, 3).T
    return Separation(value, positives.astype(np.int64), negatives.astype(np.int64))


def _area(x: Floats, positive: NDArray[np.bool_]) -> tuple[float, int, int]:
    """From the ranks of the positives (Mann and Whitney)."""
    from scipy.stats import rankdata

    present = ~np.isnan(x)
    x, positive = x[present], positive[present]
    positives, negatives = int(positive.sum()), int((~positive).sum())
    if not positives or not negatives:
        return np.nan, positives, negatives
    wins = float(rankdata(x)[positive].sum()) - positives * (positives + 1) / 2
    return wins / (positives * negatives), positives, negatives


Positions = NDArray[np.integer]


def decisions(scores: Floats, better: Positions, worse: Positions, instance: Positions, ties: Ties = "wrong") -> Floats:
    """1 where a metric (metrics × rows × instances) agrees with people on a pair, -1 where not, else NaN.

    ties: what a pair counts that a metric ties: -1 (wrong), 0 (half right, half wrong) or nothing (left-out).
    """
    # One metric at a time: there may be many more pairs than outputs.
    decided = np.empty((len(scores), len(better)))
    for k, metric in enumerate(scores):
        decided[k] = credits_of(metric[better, instance] - metric[worse, instance], ties)
    return decided


def tied_shares(scores: Floats, better: Positions, worse: Positions, instance: Positions) -> Floats:
    """The share of the pairs that each metric scores of which it ties both outputs; NaN without any pair."""
    shares = np.full(len(scores), np.nan)
    for k, metric in enumerate(scores):
        lead = metric[better, instance] - metric[worse, instance]
        scored = int((~np.isnan(lead)).sum())
        shares[k] = (lead == 0).sum() / scored if scored else np.nan
    return shares


def preference_correlations(
    decided: Floats, instance: Positions, *, draws: int = 1000, seed: int = 0, level: float = 0.95
) -> Correlations:
    """(C - D)/(C + D) of each metric from its decisions (metrics × pairs), and an interval over instances."""
    balance, count = _by_instance(decided, instance)
    n = count.sum(axis=1)
    low, high = np.full((2, len(decided)), np.nan)
    several = (count > 0).sum(axis=1) > 1
    if draws and several.any():
        weights = resampling_weights(np.random.default_rng(seed), balance.shape[1], draws)
        outside = (1 - level) / 2
        with np.errstate(invalid="ignore", divide="ignore"):
            drawn = (weights @ balance[several].T) / (weights @ count[several].T)
        low[several], high[several] = np.nanquantile(drawn, (outside, 1 - outside), axis=0)
    value = np.where(n > 0, balance.sum(axis=1) / np.maximum(n, 1), np.nan)
    return Correlations(value, n.astype(np.int64), low, high)


def exchange_decisions(
    decided: Floats, instance: Positions, *, draws: int = 1000, seed: int = 0, sides: Sides = "one"
) -> Floats:
    """P-values that one metric agrees more than another: what two decide on an instance is exchanged, or is not.

    Each two metrics are compared on the pairs that both decide; p[a, b] is for a above b, or with two sides for a
    other than b, with the +1 correction.
    """
    random = np.random.default_rng(seed)
    balance, count = _by_instance(decided, instance)
    signs = random.choice([-1.0, 1.0], (draws, balance.shape[1]))
    complete = (count == count.max(axis=0, initial=0)).all(axis=1)
    p = np.full((len(decided), len(decided)), np.nan)
    drawn, observed = signs @ balance.T, balance.sum(axis=1)
    for a in range(len(decided)):
        for b in range(len(decided)):
            if a == b:
                continue
            if complete[a] and complete[b]:
                p[a, b] = _p_value(drawn[:, a] - drawn[:, b], observed[a] - observed[b], sides)
            else:
                joint = decided[a] - decided[b]
                difference, shared = _by_instance(joint[None], instance)
                p[a, b] = _p_value(signs @ difference[0], difference.sum(), sides) if shared.any() else np.nan
    return p


def _p_value(drawn: Floats, observed: float, sides: Sides) -> float:
    return float(1 + reached(drawn, np.asarray(observed), sides, slack=1e-9)) / (1 + len(drawn))


def _by_instance(decided: Floats, instance: Positions) -> tuple[Floats, Floats]:
    """The sum of decisions and their number, as metrics × instances that have any."""
    places, place = np.unique(instance, return_inverse=True)
    balance, count = np.zeros((2, len(decided), len(places)))
    for k, metric in enumerate(decided):
        present = ~np.isnan(metric)
        balance[k] = np.bincount(place[present], metric[present], len(places))
        count[k] = np.bincount(place[present], minlength=len(places))
    return balance, count
