"""One ranking of metrics over many boards, as the WMT metrics task makes it.

A metric's value is the weighted mean over columns of what it reaches on each: pooled Pearson where people gave values,
WMT's Kendall where they gave preferences. Whether one metric beats another is tested on all boards at once: in every
draw the two are exchanged at random on each board, and the weighted mean of the differences is compared with the one
seen. Clusters follow from these p-values, intervals from the boards' bootstrap, draw by draw. All metrics are measured
on the outputs that all of them have scored; a metric that lacks a board is listed without a rank.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from billboards.analyses.suite.chosen import Chosen
from billboards.analyses.suite.measuring import Columns, decisions, load_beside, people_say
from billboards.analyses.suite.opening import OpenBoard
from billboards.analyses.suite.results import Block, Role, Suite, SuiteColumn, SuiteRanking, SuiteStanding
from billboards.analyses.suite.tables import DRAWS, column_groups
from billboards.errors import NotEnoughData
from billboards.stats.clusters import places
from billboards.stats.correlation import instance_sums, pearson_of_sums, resampled_pearson, resampling_weights
from billboards.stats.significance import Sides, exchange_correlations, random_signs, reached

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class _Draws:
    """Values of the metrics on one board, their bootstrap (draws × metrics), and differences after exchanges."""

    values: Floats
    drawn: Floats
    exchanged: Floats
    n: int


@dataclass(frozen=True)
class _Loaded:
    """The scores of one board in the block that ranks."""

    member: OpenBoard
    columns: Columns
    seed: int

    def of(self, names: Sequence[str]) -> Floats:
        return self.columns.values[[self.columns.names.index(name) for name in names]]


def rank_suite(
    suite: Suite,
    boards: Sequence[OpenBoard],
    chosen: Sequence[Chosen],
    *,
    role: Role = "correctness",
    block: Block = "all",
    only: str | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    sides: Sides = "two",
) -> SuiteRanking:
    """Metrics over the columns of one table, or in one of them; those without references stand beside the block's."""
    if draws < 2:
        raise NotEnoughData(f"ranking a suite is testing its metrics, which needs draws; got {draws}")
    loaded = {
        member.board.name: _Loaded(member, load_beside(member, block, chosen), seed + k)
        for k, member in enumerate(boards)
    }
    groups = [
        (column, parts)
        for column, parts in column_groups(boards)
        if column.key == only or (only is None and column.role == role)
    ]
    if not groups:
        raise NotEnoughData(f"suite {suite.name} has no column of {role}; name dimensions of its boards as such")
    lacking = {row.name: list(_lacking(row.name, groups, loaded)) for row in chosen}
    ranked = [row for row in chosen if not lacking[row.name]]
    if not ranked:
        raise NotEnoughData(
            f"suite {suite.name}: no metric has scores on every board; run `billboards suite run` first"
        )
    names = [row.name for row in ranked]
    by_column = [
        (column, _combined([(_draw(loaded[member.board.name], names, d, draws), w) for member, d, w in parts]))
        for column, parts in groups
    ]
    weights = np.array([column.weight for column, _ in by_column])
    overall = _combined(
        [(column_draws, weight) for (_, column_draws), weight in zip(by_column, weights / weights.sum(), strict=True)]
    )
    p = _p_values(overall, sides)
    standings = _standings(ranked, by_column, overall, p)
    out = [_unranked(row, lacking[row.name]) for row in chosen if lacking[row.name]]
    return SuiteRanking(
        suite.name,
        role,
        block,
        tuple(column for column, _ in by_column),
        (*standings, *sorted(out, key=lambda standing: standing.metric)),
        {a: {b: _defined(p[i, j]) for j, b in enumerate(names) if i != j} for i, a in enumerate(names)},
        {column.key: column_draws.n for column, column_draws in by_column},
        draws,
        seed,
        sides,
    )


_Groups = Sequence[tuple[SuiteColumn, Sequence[tuple[OpenBoard, str, float]]]]


def _lacking(name: str, groups: _Groups, loaded: Mapping[str, _Loaded]) -> Iterator[str]:
    """The boards on which a metric has no scores."""
    labels = {
        member.label
        for _, parts in groups
        for member, _, _ in parts
        if name not in loaded[member.board.name].columns.names
    }
    yield from sorted(labels)


def _draw(loaded: _Loaded, names: Sequence[str], dimension: str, draws: int) -> _Draws:
    scores, seed = loaded.of(names), loaded.seed
    if loaded.member.given(dimension) == "preferences":
        return _draw_preferences(loaded.member, scores, dimension, draws, seed)
    human = people_say(loaded.member, dimension)
    shared = np.isfinite(scores).all(axis=0) & np.isfinite(human)
    scores = np.where(shared, scores, np.nan)
    sums = instance_sums(scores, human)
    exchanged = exchange_correlations(scores, human, draws=draws, seed=seed)
    if not len(exchanged.drawn):
        raise NotEnoughData(
            f"{loaded.member.label}: fewer than three outputs have a judgment and a score of every metric"
        )
    values = pearson_of_sums(sums.sum(axis=1))
    return _Draws(values, resampled_pearson(sums, draws=draws, seed=seed), exchanged.drawn, exchanged.n)


def _draw_preferences(member: OpenBoard, scores: Floats, dimension: str, draws: int, seed: int) -> _Draws:
    """Draws over instances: all pairs of an instance are drawn, or exchanged, together."""
    pairs = member.pairs(dimension)
    decided = decisions(scores, pairs)
    shared = np.isfinite(decided).all(axis=0)
    if not shared.any():
        raise NotEnoughData(f"{member.label}: no pair of outputs has a preference and scores of every metric")
    _, place = np.unique(pairs.instance[shared], return_inverse=True)
    balance = np.array([np.bincount(place, metric) for metric in decided[:, shared]])
    count = np.bincount(place).astype(float)
    random = np.random.default_rng(seed)
    weights = resampling_weights(random, len(count), draws)
    signed = random_signs(random, draws, len(count)).astype(np.float64) @ balance.T / count.sum()
    exchanged = signed[:, :, None] - signed[:, None, :]
    drawn = (weights @ balance.T) / (weights @ count)[:, None]
    return _Draws(balance.sum(axis=1) / count.sum(), drawn, exchanged, int(shared.sum()))


def _combined(parts: Sequence[tuple[_Draws, float]]) -> _Draws:
    """The weighted mean over boards or columns, draw by draw."""

    def mean(of: str) -> Floats:
        total: Floats = np.sum([weight * getattr(part, of) for part, weight in parts], axis=0)
        return total

    return _Draws(mean("values"), mean("drawn"), mean("exchanged"), sum(part.n for part, _ in parts))


def _p_values(overall: _Draws, sides: Sides) -> Floats:
    """P of every ordered pair that the first is better, or that the two differ, with the +1 correction."""
    difference = overall.values[:, None] - overall.values[None, :]
    p: Floats = (1 + reached(overall.exchanged.copy(), difference, sides, slack=1e-6)) / (1 + len(overall.exchanged))
    return np.where(np.isnan(difference), np.nan, p)


def _standings(
    ranked: Sequence[Chosen], by_column: Sequence[tuple[SuiteColumn, _Draws]], overall: _Draws, p: Floats
) -> tuple[SuiteStanding, ...]:
    order, ranks, clusters = places(overall.values, p)
    low, high = np.full((2, len(ranked)), np.nan)
    varies: NDArray[np.bool_] = np.asarray(np.isfinite(overall.drawn).any(axis=0))
    if varies.any():
        low[varies], high[varies] = np.nanquantile(overall.drawn[:, varies], (0.025, 0.975), axis=0)
    standings = [
        SuiteStanding(
            row.name,
            ranks[k],
            _defined(overall.values[k]),
            (float(low[k]), float(high[k])) if varies[k] else None,
            clusters.get(k),
            {column.key: _defined(column_draws.values[k]) for column, column_draws in by_column},
            row.is_statistic,
            not row.needs_references,
        )
        for k, row in enumerate(ranked)
    ]
    rest = [replace(standing, reason="the scores don't vary") for standing in standings if standing.rank is None]
    return (*(standings[k] for k in order), *rest)


def _unranked(row: Chosen, lacking: Sequence[str]) -> SuiteStanding:
    reason = f"no scores on {', '.join(lacking)}"
    return SuiteStanding(row.name, None, None, None, None, {}, row.is_statistic, not row.needs_references, reason)


def _defined(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
