"""How strong each generator is, from who was preferred to whom: Bradley and Terry's model, with ties.

A generator's strength is a number θ on the scale of log-odds. Without ties, i is preferred to j with the chance
1/(1 + e^-d), d = θᵢ - θⱼ (Bradley and Terry, 1952). Davidson (1970) gives a tie the weight ν·√(πᵢπⱼ) beside πᵢ and πⱼ,
π = e^θ; Rao and Kupper (1967) let people see a difference only where it exceeds a threshold c: i is preferred with the
chance 1/(1 + e^(c - d)), and what is left is a tie. All three likelihoods are concave in (θ, log ν) or (θ, c), so that
Newton's method finds the one maximum. Choices of a best and a worst output of several have a model of their own,
maximum difference (Marley and Louviere, 2005). Strengths add up to 0.

There is no maximum where some generators were never beaten or tied by the others: their strength would be infinite.
`fit_strengths` then refuses and names them. A `prior` of so many imaginary comparisons of each generator with one of
strength 0, half of them won, keeps every strength finite; it is used only where somebody asks for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput, NotEnoughData

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
#: What a comparison that ended even says: a model of ties, half a win for either, or nothing.
TieModel = Literal["davidson", "rao-kupper", "half", "dropped"]
TIE_MODELS: tuple[TieModel, ...] = ("davidson", "rao-kupper", "half", "dropped")
#: Elo's scale: a generator with 400 points more is preferred ten times as often as the other.
ELO_POINTS = 400 / math.log(10)
ELO_MEAN = 1000.0
_STEPS = 100
_SMALL = 1e-7


@dataclass(frozen=True, kw_only=True)
class Outcomes:
    """Comparisons one by one: the first entry, the second, and 1 where the first won, 0 for a tie, -1 where it lost."""

    first: Ints
    second: Ints
    result: Ints

    def __len__(self) -> int:
        return len(self.first)


@dataclass(frozen=True, kw_only=True)
class PairCounts:
    """Each pair of entries that met, once, `first` < `second`: how often either won, and how often they tied."""

    entries: int
    first: Ints
    second: Ints
    won: Floats
    lost: Floats
    tied: Floats

    @property
    def total(self) -> float:
        return float(self.won.sum() + self.lost.sum() + self.tied.sum())

    def wins(self) -> Floats:
        """How often the entry of a row was preferred to the one of a column."""
        table = np.zeros((self.entries, self.entries))
        table[self.first, self.second] = self.won
        table[self.second, self.first] = self.lost
        return table

    def ties(self) -> Floats:
        """How often two entries tied; symmetric."""
        table = np.zeros((self.entries, self.entries))
        table[self.first, self.second] = self.tied
        return table + table.T


@dataclass(frozen=True, kw_only=True)
class Strengths:
    """A fitted model: strengths that add up to 0, and what their errors have in common.

    `tie` is Davidson's log ν or Rao and Kupper's threshold c; None where there is no such parameter, or where nobody
    tied. `inverse` is the inverse of the observed information of the strengths and, last, of the tie parameter.
    """

    theta: Floats
    inverse: Floats
    tie: float | None
    ties: TieModel
    log_likelihood: float
    prior: float
    steps: int

    @cached_property
    def covariance(self) -> Floats:
        """Of the strengths' errors by the observed information, as if all comparisons were independent."""
        return _centred(self.inverse, len(self.theta))

    @property
    def se(self) -> Floats:
        """Standard errors of the strengths, each against the mean of all, if comparisons were independent."""
        root: Floats = np.sqrt(np.maximum(np.diag(self.covariance), 0.0))
        return root

    @property
    def ratings(self) -> Floats:
        """Strengths on Elo's scale with a mean of 1000."""
        return ELO_MEAN + ELO_POINTS * self.theta

    def chances(self) -> tuple[Floats, Floats]:
        """The model's chances that the entry of a row is preferred to that of a column, and that they tie."""
        difference = self.theta[:, None] - self.theta[None, :]
        if self.tie is None or self.ties not in ("davidson", "rao-kupper"):
            return _logistic(difference), np.zeros_like(difference)
        if self.ties == "davidson":
            weights = np.stack((difference / 2, -difference / 2, np.full_like(difference, self.tie)))
            shares = np.exp(weights - weights.max(axis=0))
            shares /= shares.sum(axis=0)
            return shares[0], shares[2]
        won, lost = _logistic(difference - self.tie), _logistic(-difference - self.tie)
        return won, 1.0 - won - lost


def difference_z(theta: Floats, covariance: Floats) -> Floats:
    """Differences of strengths over their standard errors; 0 on the diagonal."""
    variance = np.diag(covariance)
    error = np.sqrt(np.maximum(variance[:, None] + variance[None, :] - 2 * covariance, 0.0))
    z = np.zeros_like(covariance)
    np.divide(theta[:, None] - theta[None, :], error, out=z, where=error > 0)
    return z


def count_pairs(outcomes: Outcomes, entries: int, weights: Floats | None = None) -> PairCounts:
    """Comparisons counted by pair, each with its weight where there are weights."""
    edges, edge, flipped = _edges(outcomes, entries)
    return _counted(edges, edge, outcomes.result * flipped, entries, weights)


def _edges(outcomes: Outcomes, entries: int) -> tuple[Ints, Ints, Ints]:
    """The pairs that met as first · entries + second, each comparison's pair, and -1 where it names them reversed."""
    first, second = np.asarray(outcomes.first, np.int64), np.asarray(outcomes.second, np.int64)
    if len(first) and (min(first.min(), second.min()) < 0 or max(first.max(), second.max()) >= entries):
        raise InvalidInput(f"comparisons name entries outside 0 to {entries - 1}")
    if (first == second).any():
        raise InvalidInput("a comparison is of two entries; one here is compared with itself")
    low, high = np.minimum(first, second), np.maximum(first, second)
    edges, edge = np.unique(low * entries + high, return_inverse=True)
    return edges.astype(np.int64), edge.astype(np.int64), np.where(first == low, 1, -1)


def _counted(edges: Ints, edge: Ints, result: Ints, entries: int, weights: Floats | None) -> PairCounts:
    table = np.bincount(edge * 3 + (1 - result), weights, minlength=3 * len(edges)).reshape(-1, 3).astype(np.float64)
    return PairCounts(
        entries=entries,
        first=edges // max(entries, 1),
        second=edges % max(entries, 1),
        won=table[:, 0],
        tied=table[:, 1],
        lost=table[:, 2],
    )


# What a comparison's likelihood is in the difference d of two strengths and the tie parameter s: its value, and its
# first and second derivatives (d, s; dd, ds, ss), each an array over pairs.
_Curves = tuple[Floats, Floats, Floats, Floats, Floats, Floats]


def _logistic(x: Floats) -> Floats:
    from scipy.special import expit

    chances: Floats = np.asarray(expit(x), np.float64)
    return chances


def _log_logistic(x: Floats) -> Floats:
    logs: Floats = -np.logaddexp(0.0, -x)
    return logs


def _plain(d: Floats, _s: float, won: Floats, lost: Floats, _tied: Floats) -> _Curves:
    p = _logistic(d)
    value = won * _log_logistic(d) + lost * _log_logistic(-d)
    nothing = np.zeros_like(d)
    return value, won - (won + lost) * p, nothing, -(won + lost) * p * (1 - p), nothing, nothing


def _davidson(d: Floats, s: float, won: Floats, lost: Floats, tied: Floats) -> _Curves:
    """A multinomial logit with the terms d/2, -d/2 and log ν."""
    n = won + lost + tied
    weights = np.stack((d / 2, -d / 2, np.full_like(d, s)))
    top = weights.max(axis=0)
    total = top + np.log(np.exp(weights - top).sum(axis=0))
    p, q, t = np.exp(weights - total)
    value = won * d / 2 - lost * d / 2 + tied * s - n * total
    return (
        value,
        (won - lost) / 2 - n * (p - q) / 2,
        tied - n * t,
        -n * (p + q - (p - q) ** 2) / 4,
        n * t * (p - q) / 2,
        -n * t * (1 - t),
    )


def _rao_kupper(d: Floats, s: float, won: Floats, lost: Floats, tied: Floats) -> _Curves:
    """A cumulative logit with thresholds -c and c; the chance of a tie is F(d+c)·F(c-d)·(1 - e^-2c)."""
    above, below = _logistic(s - d), _logistic(s + d)
    half = math.expm1(2 * s)
    # log P(tie) = log F(c+d) + log F(c-d) + log(1 - e^-2c), and P(win) = F(d-c) = 1 - F(c-d).
    value = won * _log_logistic(d - s) + lost * _log_logistic(-d - s)
    value = value + tied * (_log_logistic(s + d) + _log_logistic(s - d) + math.log(-math.expm1(-2 * s)))
    bend_above, bend_below = above * (1 - above), below * (1 - below)
    slope_d = won * above - lost * below + tied * ((1 - below) - (1 - above))
    slope_s = -won * above - lost * below + tied * ((1 - below) + (1 - above) + 2 / half)
    bend_s = tied * 4 * (half + 1) / half**2
    return (
        value,
        slope_d,
        slope_s,
        -(won + tied) * bend_above - (lost + tied) * bend_below,
        (won + tied) * bend_above - (lost + tied) * bend_below,
        -(won + tied) * bend_above - (lost + tied) * bend_below - bend_s,
    )


#: Where ties have a parameter of their own.
_CURVES: dict[TieModel, Callable[[Floats, float, Floats, Floats, Floats], _Curves]] = {
    "davidson": _davidson,
    "rao-kupper": _rao_kupper,
}


def fit_strengths(
    counts: PairCounts, *, ties: TieModel = "davidson", prior: float = 0.0, start: Strengths | None = None
) -> Strengths:
    """Strengths by maximum likelihood, or with `prior` imaginary comparisons of each entry with one of strength 0.

    `NotEnoughData` where there is no finite maximum: the message says which entries were never beaten by the others.
    `start` is a fit of similar counts to begin from; it is not checked again whether there is a maximum.
    """
    if ties not in TIE_MODELS:
        raise InvalidInput(f"ties are one of {', '.join(TIE_MODELS)}, not {ties!r}")
    if not prior >= 0:
        raise InvalidInput(f"a prior is a number of imaginary comparisons, 0 or more; found {prior}")
    won, lost, tied = counts.won, counts.lost, counts.tied
    if ties == "half":
        won, lost, tied = won + tied / 2, lost + tied / 2, np.zeros_like(tied)
    elif ties == "dropped":
        tied = np.zeros_like(tied)
    modelled = ties in ("davidson", "rao-kupper") and bool(tied.any())
    if start is None:
        _check(counts, won, lost, tied, prior=prior)
    curve = _CURVES[ties] if modelled else _plain
    theta = np.zeros(counts.entries) if start is None else start.theta.copy()
    tie = _first_tie(ties, won, lost, tied) if start is None or start.tie is None else start.tie

    def at(theta: Floats, tie: float) -> _Place:
        """The log-likelihood, its slope and its bend; the last place is the tie parameter's."""
        value, slope_d, slope_s, dd, ds, ss = curve(theta[counts.first] - theta[counts.second], tie, won, lost, tied)
        n = counts.entries
        slope, bend = np.zeros(n + 1), np.zeros((n + 1, n + 1))
        slope[:n], slope[n] = _differences(counts, slope_d), slope_s.sum()
        bend[counts.first, counts.second] = -dd
        bend += bend.T
        bend[range(n), range(n)] = np.bincount(counts.first, dd, n) + np.bincount(counts.second, dd, n)
        bend[:n, n] = bend[n, :n] = _differences(counts, ds)
        bend[n, n] = ss.sum()
        return _with_prior(theta, prior, float(value.sum()), slope, bend)

    theta, tie, (value, _, bend), steps = _climb(
        at, theta, tie, modelled, positive=ties == "rao-kupper", pinned=prior == 0
    )
    return Strengths(
        theta=theta - theta.mean(),
        inverse=_inverse(bend, counts.entries, modelled, pinned=prior == 0),
        tie=tie if modelled else None,
        ties=ties,
        log_likelihood=value,
        prior=prior,
        steps=steps,
    )


#: A log-likelihood with its slope and its bend.
_Place = tuple[float, Floats, Floats]


def _differences(counts: PairCounts, values: Floats) -> Floats:
    """Values of pairs summed by entry, with a plus for the first and a minus for the second."""
    n = counts.entries
    first, second = (np.bincount(side, values, n).astype(np.float64) for side in (counts.first, counts.second))
    return first - second


def _with_prior(theta: Floats, prior: float, value: float, slope: Floats, bend: Floats) -> _Place:
    """A log-likelihood with imaginary comparisons of each entry with one of strength 0, half of them won."""
    if prior:
        n, p = len(theta), _logistic(theta)
        slope[:n] += prior * (0.5 - p)
        bend[range(n), range(n)] -= prior * p * (1 - p)
        value += prior / 2 * float((_log_logistic(theta) + _log_logistic(-theta)).sum())
    return value, slope, bend


def _first_tie(ties: TieModel, won: Floats, lost: Floats, tied: Floats) -> float:
    """The tie parameter if all were equally strong."""
    share = min(max(float(tied.sum()) / max(float(won.sum() + lost.sum() + tied.sum()), 1e-9), 1e-6), 1 - 1e-6)
    return math.log(2 * share / (1 - share)) if ties == "davidson" else math.log((1 + share) / (1 - share))


def _climb(
    at: Callable[[Floats, float], _Place],
    theta: Floats,
    tie: float,
    modelled: bool,
    *,
    positive: bool,
    pinned: bool,
) -> tuple[Floats, float, _Place, int]:
    """Newton's method with steps halved until they pay; without a prior the strengths' sum is held at 0."""
    n = len(theta)
    here = at(theta, tie)
    for step in range(1, _STEPS + 1):
        free = n + modelled
        value, slope, bend = here
        normal = -bend[:free, :free]
        if pinned:
            normal[:n, :n] += 1.0 / n
        move = np.linalg.solve(normal, slope[:free])
        gain = float(move @ slope[:free])
        # A move of some strengths by more than e^4 is a sign of a flat place far away; go there in stages.
        move *= min(1.0, 4.0 / max(float(np.abs(move).max(initial=0.0)), 1e-300))
        for _ in range(60):
            reached_theta, reached_tie = theta + move[:n], tie + (float(move[n]) if modelled else 0.0)
            if not positive or not modelled or reached_tie > 0:
                reached = at(reached_theta, reached_tie)
                if reached[0] >= value - 1e-12 * abs(value):
                    break
            move /= 2
        else:
            return theta, tie, here, step
        theta, tie, here = reached_theta, reached_tie, reached
        # What is left after a step of Newton's is of the order of the square of what it gained.
        if gain < _SMALL:
            return theta, tie, here, step
    raise NotEnoughData("the strengths did not settle; some entries are hardly compared with others: use a prior")


def _inverse(bend: Floats, n: int, modelled: bool, *, pinned: bool) -> Floats:
    """The inverse information; without a prior the strengths' common shift, of which nothing is known, is held."""
    free = n + modelled
    normal = -bend[:free, :free].copy()
    if pinned:
        normal[:n, :n] += 1.0 / n
    return np.asarray(np.linalg.inv(normal), np.float64)


def _centred(covariance: Floats, n: int) -> Floats:
    """The strengths' part of a covariance, for strengths that add up to 0."""
    centre = np.eye(n) - 1.0 / n
    centred: Floats = centre @ covariance[:n, :n] @ centre
    return centred


def _check(counts: PairCounts, won: Floats, lost: Floats, tied: Floats, *, prior: float) -> None:
    """Refuse counts of which there is no finite maximum, and say why."""
    if counts.entries < 2 or not counts.total:
        raise NotEnoughData("strengths need at least two entries that were compared")
    if not (won.sum() + lost.sum()):
        raise NotEnoughData("all comparisons are ties, so nobody is stronger than anybody")
    if prior:
        return
    apart = separated(counts, won, lost, tied)
    if apart is not None:
        raise Separated(apart, counts)


class Separated(NotEnoughData):
    """Some entries were never beaten by the others, or never met them, so that no finite strengths fit best."""

    def __init__(self, group: tuple[int, ...], counts: PairCounts) -> None:
        self.group = group
        inside = np.isin(np.arange(counts.entries), group)
        across = inside[counts.first] != inside[counts.second]
        self.met = bool((counts.won + counts.lost + counts.tied)[across].any())
        super().__init__(self.words(tuple(f"entry {k}" for k in range(counts.entries))))

    def words(self, names: tuple[str, ...]) -> str:
        """What is wrong, with the entries' names."""
        listed = ", ".join(names[k] for k in self.group[:8]) + (", …" if len(self.group) > 8 else "")
        verb = "was" if len(self.group) == 1 else "were"
        if not self.met:
            return f"{listed} {verb} never compared with the others, so strengths on one scale don't exist; use a prior"
        return (
            f"{listed} {verb} never beaten by the others, so no finite strength fits best; use a prior, which adds "
            "imaginary comparisons"
        )


def separated(counts: PairCounts, won: Floats, lost: Floats, tied: Floats) -> tuple[int, ...] | None:
    """Entries whose strengths could grow for ever without making what was seen less likely; None where there are none.

    Where everybody can be reached from everybody by comparisons that were won, there is a maximum (Ford, 1957). A tie
    leads both ways, but only as far as it can't be explained by a tie parameter that grows as well; that is a linear
    programme.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    def groups(both_ways: Floats) -> tuple[int, Ints]:
        beats = np.concatenate((won, lost)) + np.concatenate((both_ways, both_ways))
        winner = np.concatenate((counts.first, counts.second))[beats > 0]
        loser = np.concatenate((counts.second, counts.first))[beats > 0]
        graph = coo_array((np.ones(len(winner)), (winner, loser)), shape=(counts.entries, counts.entries))
        number, label = connected_components(graph, directed=True, connection="strong")
        return int(number), np.asarray(label, np.int64)

    if groups(np.zeros_like(tied))[0] == 1:
        return None
    number, label = groups(tied)
    if number > 1:
        return _unbeaten(counts, won, lost, tied, number, label)
    return _grows_with_ties(counts, won, lost, tied)


def _unbeaten(counts: PairCounts, won: Floats, lost: Floats, tied: Floats, number: int, label: Ints) -> tuple[int, ...]:
    """The smallest of the groups that nobody outside has beaten or tied."""
    beaten = np.zeros(number, bool)
    first, second = label[counts.first], label[counts.second]
    beaten[second[(first != second) & (won + tied > 0)]] = True
    beaten[first[(first != second) & (lost + tied > 0)]] = True
    groups = [np.flatnonzero(label == k) for k in np.flatnonzero(~beaten)]
    return tuple(int(k) for k in min(groups, key=lambda group: (len(group), int(group[0]))))


def _grows_with_ties(counts: PairCounts, won: Floats, lost: Floats, tied: Floats) -> tuple[int, ...] | None:
    """A direction of strengths δ and of the tie parameter ε in which nothing that was seen becomes less likely.

    Who won must rise at least as fast as a tie, δᵢ - δⱼ ≥ ε ≥ 0, and a tie as fast as either win, ε ≥ |δᵢ - δⱼ|.
    """
    from scipy.optimize import linprog

    n = counts.entries
    rows = []

    def bound(sign: int, k: int, tie: float) -> None:
        """Ask for sign · (δᵢ - δⱼ) + tie · ε ≥ 0."""
        row = np.zeros(n + 1)
        row[counts.first[k]], row[counts.second[k]], row[n] = -sign, sign, -tie
        rows.append(row)

    for k in range(len(won)):
        if won[k] > 0:
            bound(1, k, -1.0)
        if lost[k] > 0:
            bound(-1, k, -1.0)
        if tied[k] > 0:
            bound(1, k, 1.0)
            bound(-1, k, 1.0)
    limits = [(0.0, 0.0), *[(-1.0, 1.0)] * (n - 1), (0.0, 1.0)]
    solution = linprog(np.append(np.zeros(n), -1.0), A_ub=np.array(rows), b_ub=np.zeros(len(rows)), bounds=limits)
    direction = np.asarray(solution.x, np.float64)
    if direction[n] < 1e-7:
        return None
    delta = direction[:n]
    return tuple(int(k) for k in np.flatnonzero(delta > delta.max() - 1e-7))


def comparison_scores(outcomes: Outcomes, fitted: Strengths) -> Any:
    """How each comparison pulls at the strengths and, last, at the tie parameter: sparse, comparisons × parameters."""
    from scipy.sparse import coo_array

    n, count = len(fitted.theta), len(outcomes)
    won, lost, tied = ((outcomes.result == result).astype(np.float64) for result in (1, -1, 0))
    if fitted.ties == "half":
        won, lost = won + tied / 2, lost + tied / 2
    modelled = fitted.tie is not None
    curve = _CURVES[fitted.ties] if modelled else _plain
    difference = fitted.theta[outcomes.first] - fitted.theta[outcomes.second]
    _, slope_d, slope_s, *_ = curve(difference, fitted.tie or 0.0, won, lost, tied)
    rows = np.arange(count)
    places = [(rows, outcomes.first, slope_d), (rows, outcomes.second, -slope_d)]
    places += [(rows, np.full(count, n), slope_s)] if modelled else []
    row, column, value = (np.concatenate(parts) for parts in zip(*places, strict=True))
    return coo_array((value, (row, column)), shape=(count, n + modelled)).tocsr()


def clustered_covariance(scores: Any, fitted: Strengths, *units: Ints) -> Floats:
    """Of the strengths' errors where comparisons of one unit, such as an instance or an annotator, go together.

    The sandwich of Liang and Zeger (1986), with G/(G - 1) for G units. With two kinds of units, which cross, it is the
    sum of both less that of their combinations (Cameron, Gelbach and Miller, 2011); a variance that becomes negative by
    this is taken as 0.
    """
    from scipy.sparse import coo_array

    def sandwich(unit: Ints) -> Floats:
        names, place = np.unique(unit, return_inverse=True)
        if len(names) < 2:
            raise NotEnoughData("comparisons of one single unit say nothing about other units")
        marks = coo_array((np.ones(len(place)), (place.ravel(), np.arange(len(place)))), (len(names), len(place)))
        sums = marks.tocsr() @ scores
        meat = (sums.T @ sums).toarray() * len(names) / (len(names) - 1)
        bread: Floats = fitted.inverse @ meat @ fitted.inverse
        return bread

    if len(units) == 1:
        return _centred(sandwich(units[0]), len(fitted.theta))
    first, second = units
    combined = np.unique(np.stack((first, second)), axis=1, return_inverse=True)[1].ravel()
    total = _centred(sandwich(first) + sandwich(second) - sandwich(combined), len(fitted.theta))
    values, vectors = np.linalg.eigh((total + total.T) / 2)
    repaired: Floats = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return repaired


def draw_strengths(outcomes: Outcomes, fitted: Strengths, unit: Ints, *, draws: int = 1000, seed: int = 0) -> Floats:
    """Strengths (draws × entries) under other weights of the units: a Bayesian bootstrap (Rubin, 1981).

    `unit` numbers what a comparison is drawn with, such as its instance. Weights are exponential, never 0: a maximum
    that exists in the data exists in every draw.
    """
    entries = len(fitted.theta)
    edges, edge, flipped = _edges(outcomes, entries)
    result = outcomes.result * flipped
    names, place = np.unique(unit, return_inverse=True)
    random = np.random.default_rng(seed)
    theta = np.empty((draws, entries))
    for k in range(draws):
        weights = random.standard_exponential(len(names))[place]
        counts = _counted(edges, edge, result, entries, weights * (len(outcomes) / weights.sum()))
        theta[k] = fit_strengths(counts, ties=fitted.ties, prior=fitted.prior, start=fitted).theta
    return theta


@dataclass(frozen=True, kw_only=True)
class BestWorst:
    """Choices of the best and the worst output of several: the sets (choices × outputs), and two places in each."""

    sets: Ints
    best: Ints
    worst: Ints

    def pairs(self) -> Outcomes:
        """What the choices imply: the best beats every other, and every other beats the worst."""
        count, size = self.sets.shape
        rows = np.arange(count)
        best, worst = self.sets[rows, self.best], self.sets[rows, self.worst]
        first, second = [best], [worst]
        for place in range(size):
            middle = (self.best != place) & (self.worst != place)
            own = self.sets[middle, place]
            first += [best[middle], own]
            second += [own, worst[middle]]
        winners, losers = np.concatenate(first), np.concatenate(second)
        return Outcomes(first=winners, second=losers, result=np.ones(len(winners), np.int64))


def fit_best_worst(choices: BestWorst, entries: int, *, prior: float = 0.0) -> Strengths:
    """Strengths by the maximum-difference model: the chance of best b and worst w is proportional to e^(θ_b - θ_w).

    It has a maximum where the pairs that the choices imply have one.
    """
    count, size = choices.sets.shape
    if size < 2:
        raise InvalidInput("a best and a worst output need at least 2 to choose from")
    if (choices.best == choices.worst).any():
        raise InvalidInput("one output can't be the best and the worst of a set")
    implied = count_pairs(choices.pairs(), entries)
    _check(implied, implied.won, implied.lost, implied.tied, prior=prior)
    rows = np.arange(count)
    ends = choices.sets[rows, choices.best], choices.sets[rows, choices.worst]
    off_diagonal = ~np.eye(size, dtype=bool)

    def at(theta: Floats, _tie: float) -> _Place:
        own = theta[choices.sets]
        terms = np.where(off_diagonal, own[:, :, None] - own[:, None, :], -np.inf)
        top = terms.max(axis=(1, 2), keepdims=True)
        chances = np.exp(terms - top)
        total = chances.sum(axis=(1, 2), keepdims=True)
        chances /= total
        logs = theta[ends[0]] - theta[ends[1]] - (top + np.log(total))[:, 0, 0]
        as_best, as_worst = chances.sum(axis=2), chances.sum(axis=1)
        mean = as_best - as_worst
        slope, bend = np.zeros(entries + 1), np.zeros((entries + 1, entries + 1))
        np.add.at(slope, ends[0], 1.0)
        np.add.at(slope, ends[1], -1.0)
        np.add.at(slope, choices.sets, -mean)
        spread = -(chances + chances.transpose(0, 2, 1)) - mean[:, :, None] * mean[:, None, :]
        spread[:, range(size), range(size)] += as_best + as_worst
        np.add.at(bend, (choices.sets[:, :, None], choices.sets[:, None, :]), -spread)
        return _with_prior(theta, prior, float(logs.sum()), slope, bend)

    theta, _, (value, _, bend), steps = _climb(
        at, np.zeros(entries), 0.0, modelled=False, positive=False, pinned=prior == 0
    )
    return Strengths(
        theta=theta - theta.mean(),
        inverse=_inverse(bend, entries, modelled=False, pinned=prior == 0),
        tie=None,
        ties="dropped",
        log_likelihood=value,
        prior=prior,
        steps=steps,
    )


def best_worst_scores(choices: BestWorst, fitted: Strengths) -> Any:
    """As `comparison_scores`, for choices of a best and a worst output."""
    from scipy.sparse import coo_array

    count, size = choices.sets.shape
    rows = np.arange(count)
    pulls = -_expected(fitted.theta[choices.sets])
    pulls[rows, choices.best] += 1.0
    pulls[rows, choices.worst] -= 1.0
    places = np.repeat(rows, size), choices.sets.ravel()
    return coo_array((pulls.ravel(), places), shape=(count, len(fitted.theta))).tocsr()


def _expected(own: Floats) -> Floats:
    """The chance of each output of a set to be the best less that to be the worst (choices × outputs)."""
    chances = np.exp(own[:, :, None] - own[:, None, :]) * ~np.eye(own.shape[1], dtype=bool)
    chances /= chances.sum(axis=(1, 2), keepdims=True)
    expected: Floats = chances.sum(axis=2) - chances.sum(axis=1)
    return expected


def elo_history(outcomes: Outcomes, entries: int, *, k: float = 4.0, start: float = ELO_MEAN) -> Floats:
    """Elo ratings before the first comparison and after each (comparisons + 1 × entries), a tie counting half.

    They depend on the order of the comparisons: another order of the same ones ends in other ratings.
    """
    history = np.empty((len(outcomes) + 1, entries))
    ratings = np.full(entries, float(start))
    history[0] = ratings
    lines = zip(outcomes.first.tolist(), outcomes.second.tolist(), outcomes.result.tolist(), strict=True)
    for step, (first, second, result) in enumerate(lines, 1):
        expected = 1.0 / (1.0 + 10.0 ** ((ratings[second] - ratings[first]) / 400.0))
        change = k * ((result + 1) / 2 - expected)
        ratings[first] += change
        ratings[second] -= change
        history[step] = ratings
    return history


def comparison_worth(theta: Floats, covariance: Floats, *, level: float = 0.05) -> Floats:
    """What one more comparison of each two entries is worth: how much it narrows the doubts between neighbours.

    A doubt is the variance of the difference between two neighbours in the order of strengths, weighted by the chance
    that they stand the wrong way round, if that is above half of `level`. A comparison of i and j adds the information
    p(1 - p); what that takes from each variance follows from the covariance by Sherman and Morrison's formula. The
    table is symmetric, and 0 throughout where all neighbours are told apart.
    """
    from scipy.special import ndtr

    n = len(theta)
    order = np.argsort(-theta, kind="stable")
    contrasts = np.zeros((n - 1, n))
    contrasts[np.arange(n - 1), order[:-1]] = 1.0
    contrasts[np.arange(n - 1), order[1:]] = -1.0
    variance = np.maximum(np.einsum("ki,ij,kj->k", contrasts, covariance, contrasts), 1e-300)
    wrong = ndtr(-(contrasts @ theta) / np.sqrt(variance))
    wrong = np.where(wrong > level / 2, wrong, 0.0)
    shared = contrasts @ covariance
    first, second = np.triu_indices(n, 1)
    own = covariance[first, first] + covariance[second, second] - 2 * covariance[first, second]
    p = _logistic(theta[first] - theta[second])
    information = p * (1 - p)
    taken = (shared[:, first] - shared[:, second]) ** 2 * information / (1 + information * np.maximum(own, 0.0))
    worth = np.zeros((n, n))
    worth[first, second] = wrong @ taken
    return worth + worth.T
