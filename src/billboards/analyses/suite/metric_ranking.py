"""One ranking of metrics over many boards, as the WMT metrics task makes it.

A metric's value is the weighted mean over columns of what it reaches on each, by pooled Pearson or by the yardsticks
that are asked for (several, as a preset may name, are averaged). Columns of preferences have WMT's Kendall; they join a
mean of the same kind, and others only where somebody says so. Whether one metric beats another is tested on all boards
at once: in every draw the two are exchanged at random on each board, and the weighted mean of the differences is
compared with the one seen. Clusters follow from these p-values, intervals from the boards' bootstrap, draw by draw. All
metrics are measured on the outputs that all of them have scored; a metric that lacks a board is listed without a rank.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from billboards.analyses.suite.averaging import is_of_pairs
from billboards.analyses.suite.checked_boards import OpenBoard
from billboards.analyses.suite.chosen import Chosen
from billboards.analyses.suite.dimension_agreement import Columns, decisions, leads, load_beside, people_say
from billboards.analyses.suite.results import (
    PEARSON,
    Block,
    Role,
    Suite,
    SuiteColumn,
    SuiteRanking,
    SuiteStanding,
    measure_key,
)
from billboards.analyses.suite.tables import DRAWS, column_groups
from billboards.board import Preferences
from billboards.errors import NotEnoughData
from billboards.stats.bootstrap import Interval
from billboards.stats.clusters import places
from billboards.stats.correlation import instance_sums, pearson_of_sums, resampled_pearson, resampling_weights
from billboards.stats.preferences import Ties
from billboards.stats.significance import Sides, exchange_correlations, random_signs, reached
from billboards.stats.yardsticks import Yardstick, agreements, ratio_draws

Floats = NDArray[np.float64]
_Groups = Sequence[tuple[SuiteColumn, Sequence[tuple[OpenBoard, str, float]]]]


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
    yardsticks: Sequence[Yardstick] = (),
    about: str | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    sides: Sides = "two",
) -> SuiteRanking:
    """Metrics over the columns of one table, or in one of them; those without references stand beside the block's.

    `about` names a metric whose differences from the others are wanted with intervals.
    """
    if draws < 2:
        raise NotEnoughData(f"ranking a suite is testing its metrics, which needs draws; got {draws}")
    loaded = {
        member.key: _Loaded(member, load_beside(member, block, chosen), seed + k) for k, member in enumerate(boards)
    }
    hows = tuple(yardsticks) or suite.yardsticks or (PEARSON,)
    every = [
        (column, parts)
        for column, parts in column_groups(boards)
        if column.key == only or (only is None and column.role == role)
    ]
    if not every:
        raise NotEnoughData(f"suite {suite.name} has no column of {role}; name dimensions of its boards as such")
    left_out = {} if only is not None or suite.preferences == "mixed" else _of_another_kind(every, hows)
    if only is None:
        left_out |= _without_scores([group for group in every if group[0].key not in left_out], chosen, block, loaded)
    groups = [(column, parts) for column, parts in every if column.key not in left_out]
    lacking = {row.name: list(_lacking(row.name, groups, loaded)) for row in chosen}
    ranked = [row for row in chosen if not lacking[row.name]]
    if not ranked:
        raise NotEnoughData(
            f"suite {suite.name}: no metric has scores on every board; run `billboards suite run` first"
        )
    names = [row.name for row in ranked]
    by_column = [
        (
            _headed(column, how, hows),
            _combined([(_draw(loaded[member.key], names, d, how, suite.ties, draws), w) for member, d, w in parts]),
        )
        for column, parts in groups
        for how in (hows if column.given == "values" else hows[:1])
    ]
    weights = np.array([column.weight for column, _ in by_column])
    overall = _combined(
        [(column_draws, weight) for (_, column_draws), weight in zip(by_column, weights / weights.sum(), strict=True)]
    )
    p = _p_values(overall, sides)
    standings = _standings(ranked, by_column, overall, p)
    out = [_unranked(row, lacking[row.name]) for row in chosen if lacking[row.name]]
    return SuiteRanking(
        suite=suite.name,
        role=role,
        block=block,
        columns=tuple(column for column, _ in by_column),
        standings=(*standings, *sorted(out, key=lambda standing: standing.metric)),
        p={a: {b: _defined(p[i, j]) for j, b in enumerate(names) if i != j} for i, a in enumerate(names)},
        n={column.key: column_draws.n for column, column_draws in by_column},
        draws=draws,
        seed=seed,
        sides=sides,
        yardsticks=tuple(map(measure_key, hows)),
        preset=suite.preset if hows == suite.yardsticks else None,
        ties=suite.ties,
        preferences=suite.preferences,
        left_out=left_out,
        leads=_leads(overall, names, about),
    )


def _leads(overall: _Draws, names: Sequence[str], about: str | None) -> dict[str, Interval]:
    """The intervals of one metric's differences from the others."""
    if about not in names:
        return {}
    lead = overall.drawn[:, [names.index(about)]] - overall.drawn
    leads = {}
    for k, name in enumerate(names):
        finite = lead[:, k][np.isfinite(lead[:, k])]
        if name != about and len(finite) > 1:
            low, high = np.quantile(finite, (0.025, 0.975)).tolist()
            leads[name] = (low, high)
    return leads


def _of_another_kind(groups: _Groups, hows: Sequence[Yardstick]) -> dict[str, str]:
    """Columns of preferences, where there are columns of values and their statistic is of another kind."""
    values = [column for column, _ in groups if column.given == "values"]
    if not values or all(is_of_pairs(measure_key(how)) for how in hows):
        return {}
    reason = 'people gave preferences there, which are no correlation; say preferences = "mixed" to count them'
    return {column.key: reason for column, _ in groups if column.given == "preferences"}


def _without_scores(
    groups: _Groups, chosen: Sequence[Chosen], block: Block, loaded: Mapping[str, _Loaded]
) -> dict[str, str]:
    """Columns in which no metric of the block has a value, as the averages leave them out: there are no references, or
    nothing is scored. Where there is no other column, none is left out.
    """
    names = {row.name for row in chosen if block in row.blocks}
    without = [
        column.key
        for column, parts in groups
        if not any(all(name in loaded[member.key].columns.names for member, _, _ in parts) for name in names)
    ]
    reason = "no metric has scores there with these references" if block != "none" else "no metric has scores there"
    return dict.fromkeys(without, reason) if len(without) < len(groups) else {}


def _headed(column: SuiteColumn, how: Yardstick, hows: Sequence[Yardstick]) -> SuiteColumn:
    """A column by one of several yardsticks, which its label says."""
    if len(hows) == 1 or column.given == "preferences":
        return column
    return replace(column, key=f"{column.key} {how.name}", label=f"{column.label} {how.words}")


def _lacking(name: str, groups: _Groups, loaded: Mapping[str, _Loaded]) -> Iterator[str]:
    """The boards on which a metric has no scores."""
    labels = {
        member.label for _, parts in groups for member, _, _ in parts if name not in loaded[member.key].columns.names
    }
    yield from sorted(labels)


def _draw(loaded: _Loaded, names: Sequence[str], dimension: str, how: Yardstick, ties: Ties, draws: int) -> _Draws:
    scores, seed = loaded.of(names), loaded.seed
    if loaded.member.given(dimension) == "preferences":
        return _draw_preferences(loaded.member, scores, dimension, how, ties, draws, seed)
    human = people_say(loaded.member, dimension)
    shared = np.isfinite(scores).all(axis=0) & np.isfinite(human)
    scores = np.where(shared, scores, np.nan)
    if how != PEARSON:
        human = np.where(shared, human, np.nan)
        if shared.sum() < 3:
            raise NotEnoughData(
                f"{loaded.member.label}: fewer than three outputs have a judgment and a score of every metric"
            )
        agreed = agreements(scores, human, how, draws=draws, exchanges=draws, seed=seed, ties=ties)
        return _Draws(agreed.value, agreed.drawn, agreed.exchanged, int(shared.sum()))
    sums = instance_sums(scores, human)
    exchanged = exchange_correlations(scores, human, draws=draws, seed=seed)
    if not len(exchanged.drawn):
        raise NotEnoughData(
            f"{loaded.member.label}: fewer than three outputs have a judgment and a score of every metric"
        )
    values = pearson_of_sums(sums.sum(axis=1))
    return _Draws(values, resampled_pearson(sums, draws=draws, seed=seed), exchanged.drawn, exchanged.n)


def _draw_preferences(
    member: OpenBoard, scores: Floats, dimension: str, how: Yardstick, ties: Ties, draws: int, seed: int
) -> _Draws:
    """Draws over instances: all pairs of an instance are drawn, or exchanged, together."""
    pairs = member.pairs(dimension)
    if ties == "left-out":
        return _draw_untied(leads(scores, pairs), pairs, how, draws, seed, member.label)
    decided = decisions(scores, pairs, ties)
    if how.statistic == "accuracy":
        decided = (1 + decided) / 2
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


def _draw_untied(lead: Floats, pairs: Preferences, how: Yardstick, draws: int, seed: int, label: str) -> _Draws:
    """The same where pairs that a metric ties don't count: of the pairs that all score, each metric has its own."""
    shared = np.isfinite(lead).all(axis=0)
    if not shared.any():
        raise NotEnoughData(f"{label}: no pair of outputs has a preference and scores of every metric")
    _, place = np.unique(pairs.instance[shared], return_inverse=True)
    won, lost = (
        np.array([np.bincount(place, side) for side in sides]) for sides in (lead[:, shared] > 0, lead[:, shared] < 0)
    )
    parts, wholes = (won if how.statistic == "accuracy" else won - lost), won + lost
    return _Draws(*ratio_draws(parts, wholes, draws=draws, seed=seed), int(shared.sum()))


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
            metric=row.name,
            rank=ranks[k],
            value=_defined(overall.values[k]),
            interval=(float(low[k]), float(high[k])) if varies[k] else None,
            cluster=clusters.get(k),
            values={column.key: _defined(column_draws.values[k]) for column, column_draws in by_column},
            is_statistic=row.is_statistic,
            reference_free=not row.needs_references,
        )
        for k, row in enumerate(ranked)
    ]
    rest = [replace(standing, reason="the scores don't vary") for standing in standings if standing.rank is None]
    return (*(standings[k] for k in order), *rest)


def _unranked(row: Chosen, lacking: Sequence[str]) -> SuiteStanding:
    reason = f"no scores on {', '.join(lacking)}"
    return SuiteStanding(
        metric=row.name,
        rank=None,
        value=None,
        interval=None,
        cluster=None,
        values={},
        is_statistic=row.is_statistic,
        reference_free=not row.needs_references,
        reason=reason,
    )


def _defined(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
