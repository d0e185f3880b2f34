"""One metric against every other on a board: who beats whom, by how much, and how sure that is.

Places are those of `billboards rank` on the same board and dimension: all columns that are there take part, computed
here, imported with the board or sent as scores. Differences are on the outputs that both metrics score; the p-values
are the ranking's own tests, the intervals a paired bootstrap over instances.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from billboards.analyses._preferences import units_of
from billboards.analyses._view import JudgedMatrix
from billboards.analyses.rank import PEARSON, MetricStanding, RankingOptions, rank_only_metrics
from billboards.analyses.suite.checked_boards import OpenBoard
from billboards.board import ReferenceSet
from billboards.errors import NotEnoughData
from billboards.stats.bootstrap import Interval
from billboards.stats.clusters import places
from billboards.stats.correlation import instance_sums, pearson_of_sums, resampled_pearson
from billboards.stats.preferences import Ties, decisions, preference_correlations
from billboards.stats.significance import Sides
from billboards.stats.yardsticks import Yardstick, agreements

Floats = NDArray[np.float64]
Verdict = Literal["beats", "ties with", "loses to"]
#: Where the scores of a rival are from.
Source = Literal["computed here", "imported", "sent as scores"]
LEVEL = 0.05
#: Outputs that two metrics must share before they are compared.
FEWEST = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Rival:
    """How a metric fares against another one: verdict at p ≤ .05, difference, 95% interval, p, and the n behind it.

    Differences are of agreement with people, this metric's less the other's. There is no p without draws.
    """

    metric: str
    source: Source
    verdict: Verdict
    difference: float
    interval: Interval | None = None
    p: float | None = None
    n: int = 0
    #: The other metric's own agreement.
    value: float | None = None
    is_statistic: bool = False


@dataclass(frozen=True, kw_only=True)
class PlaceOnBoard:
    """A metric's place among all others on one dimension of a board, as `rank` has it."""

    rank: int
    of: int
    #: Whether others share the rank.
    shared: bool
    value: float
    best: str
    best_value: float
    rivals: tuple[Rival, ...]
    #: Columns without a rank, each with the reason.
    unranked: Mapping[str, str] = field(default_factory=dict)


def place_on_board(
    member: OpenBoard,
    dimension: str,
    metric: str,
    *,
    references: ReferenceSet | None = None,
    among: Collection[str] | None = None,
    how: Yardstick = PEARSON,
    ties: Ties = "wrong",
    draws: int,
    seed: int,
    sides: Sides,
) -> PlaceOnBoard | None:
    """A metric's place on a board, by the name of its column; None where it has none.

    references: what metrics see (default: as the board ranks).
    among: the columns to compare with (default: all that are there).
    """
    options = RankingOptions(
        aggregate=dimension, references=references, draws=draws, seed=seed, sides=sides, yardstick=how, ties=ties
    )
    try:
        ranked = rank_only_metrics(member.board, member.home.cells, options)
    except NotEnoughData:
        return None
    by_name = {standing.name: standing for standing in ranked.metrics}
    columns = ranked.matrix.scores.names
    chosen = [k for k, name in enumerate(columns) if among is None or name in among or name == metric]
    own = by_name.get(metric)
    if own is None or own.rank is None or metric not in columns:
        return None
    competes = np.array([by_name[columns[k]].rank is not None for k in chosen])
    values = np.where(competes, ranked.correlations.r[chosen], np.nan)
    tests = None if ranked.tests is None else ranked.tests[np.ix_(chosen, chosen)]
    order, ranks, _ = places(values, tests)
    place = chosen.index(columns.index(metric))
    rank = ranks[place]
    assert rank is not None
    best = by_name[columns[chosen[order[0]]]]
    against = [i for i in range(len(chosen)) if i != place and ranks[i] is not None]
    leads = _leads(ranked.matrix, member, metric, [columns[chosen[i]] for i in against], options)
    rivals = [
        _rival(lead, by_name[columns[chosen[i]]], tests, (place, i))
        for i, lead in zip(against, leads, strict=True)
        if lead is not None
    ]
    return PlaceOnBoard(
        rank=rank,
        of=sum(each is not None for each in ranks),
        shared=sum(each == rank for each in ranks) > 1,
        value=float(ranked.correlations.r[columns.index(metric)]),
        best=best.name,
        best_value=best.correlation or 0.0,
        rivals=tuple(sorted(rivals, key=lambda rival: rival.difference)),
        unranked={
            columns[k]: by_name[columns[k]].reason or "no agreement could be measured"
            for i, k in enumerate(chosen)
            if ranks[i] is None
        },
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Lead:
    """The difference of two metrics on what both score, its interval, and how much that is."""

    difference: float
    interval: Interval | None
    n: int


def _rival(lead: _Lead, other: MetricStanding, tests: Floats | None, at: tuple[int, int]) -> Rival:
    difference = lead.difference
    ahead = at if difference >= 0 else at[::-1]
    p = None if tests is None or np.isnan(tests[ahead]) else float(tests[ahead])
    return Rival(
        metric=other.name,
        source=source_of(other),
        verdict=verdict_of(difference, p),
        difference=difference,
        interval=lead.interval,
        p=p,
        n=lead.n,
        value=other.correlation,
        is_statistic=other.is_statistic,
    )


def source_of(standing: MetricStanding) -> Source:
    """Where a metric's scores are from."""
    return "sent as scores" if standing.scores_only else "computed here" if standing.origin == "own" else "imported"


def verdict_of(difference: float, p: float | None) -> Verdict:
    """What a difference and its p amount to."""
    if p is None or p > LEVEL or difference == 0:
        return "ties with"
    return "beats" if difference > 0 else "loses to"


def _leads(
    matrix: JudgedMatrix, member: OpenBoard, metric: str, others: list[str], options: RankingOptions
) -> list[_Lead | None]:
    """The differences of a metric from others, each on what both score; None where that is too little."""
    if matrix.pairs is not None:
        return [_lead_in_pairs(matrix, member, (metric, other), options) for other in others]
    human = matrix.judged_human
    leads: list[_Lead | None] = []
    if options.yardstick != PEARSON:
        for other in others:
            pair, judged, n = _shared(matrix, metric, other, human)
            leads.append(None if n < FEWEST else _lead_in(pair, judged, n, options))
        return leads
    if not others:
        return leads
    sums, counts = [], []
    for other in others:
        pair, judged, n = _shared(matrix, metric, other, human)
        sums.append(instance_sums(pair, judged))
        counts.append(n)
    stacked = np.concatenate(sums)
    values = pearson_of_sums(stacked.sum(axis=1)).reshape(-1, 2)
    # Instances are drawn once for all others, since the draws depend on nothing but the seed.
    drawn = resampled_pearson(stacked, draws=options.draws, seed=options.seed).reshape(-1, len(others), 2)
    return [None if n < FEWEST else _lead_of(values[k], drawn[:, k], n) for k, n in enumerate(counts)]


def _shared(matrix: JudgedMatrix, metric: str, other: str, human: Floats) -> tuple[Floats, Floats, int]:
    """The scores of two metrics and the judgments, NaN where any of the three is missing, and how many there are."""
    pair = np.stack([matrix.scores.of(name) for name in (metric, other)])
    used = np.isfinite(pair).all(axis=0) & np.isfinite(human)
    return np.where(used, pair, np.nan), np.where(used, human, np.nan), int(used.sum())


def _lead_in(pair: Floats, human: Floats, n: int, options: RankingOptions) -> _Lead | None:
    """The lead of the first metric by another yardstick than pooled Pearson."""
    agreed = agreements(pair, human, options.yardstick, draws=options.draws, seed=options.seed, ties=options.ties)
    return _lead_of(agreed.value, agreed.drawn, n)


def _lead_in_pairs(
    matrix: JudgedMatrix, member: OpenBoard, names: tuple[str, str], options: RankingOptions
) -> _Lead | None:
    """The lead of the first metric where people compared outputs."""
    assert matrix.pairs is not None
    scores = np.stack([matrix.scores.of(name) for name in names])
    decided = matrix.pairs.decided
    choices = decisions(scores, decided.better, decided.worse, decided.instance, options.ties)
    both: NDArray[np.bool_] = np.asarray(np.isfinite(choices).all(axis=0))
    if not both.any():
        return None
    units = units_of(member.board, matrix.part, decided.where(both).instance, "instances")
    lead = preference_correlations((choices[0] - choices[1])[None, both], units, draws=options.draws, seed=options.seed)
    interval = None if np.isnan(lead.low[0]) else (float(lead.low[0]), float(lead.high[0]))
    return _Lead(difference=float(lead.r[0]), interval=interval, n=int(both.sum()))


def _lead_of(values: Floats, drawn: Floats, n: int) -> _Lead | None:
    """The lead of the first of two metrics from their values and those of every draw (draws × 2)."""
    if np.isnan(values).any():
        return None
    lead = drawn[:, 0] - drawn[:, 1]
    lead = lead[np.isfinite(lead)]
    interval = None
    if len(lead) > 1:
        low, high = np.quantile(lead, (0.025, 0.975)).tolist()
        interval = (low, high)
    return _Lead(difference=float(values[0] - values[1]), interval=interval, n=n)
