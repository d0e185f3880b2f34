"""How far metrics agree with people on one dimension of one board, by the statistic that fits what people gave.

Values of outputs: Pearson and Kendall's tau-b, pooled over outputs as in BEAMetrics, with two-sided p-values and 95%
intervals over instances (bootstrap for Pearson, jackknife for Kendall), and any other yardstick that is asked for
(`stats.yardsticks`). Preferences: WMT's Kendall (C - D)/(C + D) over pairs and the share of pairs in people's order, p
from changing the signs of whole instances, since the pairs of an instance share outputs; what a pair counts that a
metric ties is said with the share of such pairs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from billboards.analyses.suite.checked_boards import OpenBoard
from billboards.analyses.suite.chosen import Chosen
from billboards.analyses.suite.results import KENDALL, PEARSON, Block, Measure, measure_key
from billboards.board import Preferences, human_scores
from billboards.board.missing_cells import column_key
from billboards.stats.correlation import instance_sums, resampled_pearson, resampling_weights
from billboards.stats.grouped import correlation
from billboards.stats.kendall import kendall_se
from billboards.stats.preferences import Ties, credits_of
from billboards.stats.yardsticks import Yardstick, agreements

Floats = NDArray[np.float64]

#: Half the width of a 95% interval, in standard errors.
WIDTH = 1.959963984540054


@dataclass(frozen=True)
class Columns:
    """The scores of some metrics on one board and block, with the signature of each (metrics × rows × instances)."""

    names: tuple[str, ...]
    signatures: tuple[str, ...]
    values: Floats


@dataclass(frozen=True)
class Measured:
    """What a metric reached on one dimension of one board, and on how many outputs or pairs."""

    measures: Mapping[str, Measure]
    n: int
    signature: str
    #: The share of pairs that the metric ties, where people compared outputs.
    tied: float | None = None


def load_columns(member: OpenBoard, block: Block, chosen: Sequence[Chosen]) -> Columns:
    """The scores that there are in a block, own ones first, else those that came with the board under that name."""
    names, signatures, values = [], [], []
    for row in chosen:
        column = _own(member, row, block) or _imported(member, row, block)
        if column is not None and np.isfinite(column[1]).any():
            names.append(row.name)
            signatures.append(column[0])
            values.append(column[1])
    shape = len(names), len(member.board.rows), len(member.board.instances)
    return Columns(tuple(names), tuple(signatures), np.array(values).reshape(shape))


def load_beside(member: OpenBoard, block: Block, chosen: Sequence[Chosen]) -> Columns:
    """The scores of a block's metrics and of those that need no references."""
    with_references = load_columns(member, block, [row for row in chosen if block in row.blocks])
    without = load_columns(member, "none", [row for row in chosen if not row.needs_references and block != "none"])
    return Columns(
        (*with_references.names, *without.names),
        (*with_references.signatures, *without.signatures),
        np.concatenate([with_references.values, without.values]),
    )


def _own(member: OpenBoard, row: Chosen, block: Block) -> tuple[str, Floats] | None:
    metric, board = row.on.get(member.key), member.board
    if metric is None or (metric.card.needs_references and not member.references(block)):
        return None
    key = column_key(board, metric, member.references(block))
    cells = member.cells.load(key, (output.version for output in board.rows))
    rows = {output.name: cells[output.version] for output in board.rows if output.version in cells}
    return (metric.signature, _laid(member, block, rows)) if rows else None


def _imported(member: OpenBoard, row: Chosen, block: Block) -> tuple[str, Floats] | None:
    for column in member.columns:
        if row.name in (column.name, column.source_name) and column.references == member.references(block):
            return column.signature, _laid(member, block, column.values)
    return None


def _laid(member: OpenBoard, block: Block, rows: Mapping[str, Floats]) -> Floats:
    """Scores by row as rows × instances, NaN where there are none or the row takes no part."""
    laid = np.full((len(member.board.rows), len(member.board.instances)), np.nan)
    for k, takes_part in enumerate(member.rows(block)):
        name = member.board.rows[k].name
        if takes_part and name in rows:
            laid[k] = rows[name]
    return laid


def people_say(member: OpenBoard, dimension: str) -> Floats:
    """People's values on a dimension, rows × instances, on 0-100 or as z-scores, NaN where there are none."""
    board = member.board
    shape = len(board.rows), len(board.instances)
    return human_scores(board.judgments, board.aggregate(dimension), board.dimensions, shape)


def decisions(scores: Floats, pairs: Preferences, ties: Ties = "wrong") -> Floats:
    """1 where a metric (metrics × rows × instances) agrees with people on a pair, -1 where not; a tie as asked."""
    return credits_of(leads(scores, pairs), ties)


def leads(scores: Floats, pairs: Preferences) -> Floats:
    """How far metrics put the output that people prefer above the other one, as metrics × pairs."""
    lead: Floats = scores[:, pairs.better, pairs.instance] - scores[:, pairs.worse, pairs.instance]
    return lead


def measure(
    member: OpenBoard,
    columns: Columns,
    dimension: str,
    *,
    draws: int,
    seed: int,
    yardsticks: Sequence[Yardstick] = (),
    ties: Ties = "wrong",
) -> dict[str, Measured]:
    """Every metric's agreement with people on a dimension; a metric without any has no entry."""
    if not columns.names:
        return {}
    if member.given(dimension) == "preferences":
        return _measure_preferences(columns, member.pairs(dimension), draws, seed, ties)
    human = people_say(member, dimension)
    measured = _measure_values(columns, human, draws, seed)
    for how in yardsticks:
        if how not in (PEARSON, KENDALL):
            _add_measure(measured, columns, human, how, draws, seed, ties)
    return measured


def _add_measure(
    measured: dict[str, Measured],
    columns: Columns,
    human: Floats,
    how: Yardstick,
    draws: int,
    seed: int,
    ties: Ties,
) -> None:
    agreed = agreements(columns.values, human, how, draws=draws, seed=seed, ties=ties)
    for k, name in enumerate(columns.names):
        if np.isnan(agreed.value[k]) or name not in measured:
            continue
        measure = _drawn(float(agreed.value[k]), float(agreed.p[k]), agreed.drawn[:, k])
        measured[name] = replace(measured[name], measures={**measured[name].measures, measure_key(how): measure})


def _measure_values(columns: Columns, human: Floats, draws: int, seed: int) -> dict[str, Measured]:
    pearson = correlation(columns.values, human, statistic="pearson")
    kendall = correlation(columns.values, human, statistic="kendall-b")
    sums = instance_sums(columns.values, human)
    drawn = resampled_pearson(sums, draws=draws, seed=seed)
    several = (sums[:, :, 0] > 0).sum(axis=1) > 1
    measured = {}
    for k, name in enumerate(columns.names):
        if np.isnan(pearson.value[k]):
            continue
        tau = float(kendall.value[k])
        measures = {
            "pearson": _drawn(
                float(pearson.value[k]), float(pearson.p[k]), drawn[:, k] if several[k] else drawn[:0, k]
            ),
            "kendall": _spread(tau, float(kendall.p[k]), kendall_se(columns.values[k], human) if draws else math.nan),
        }
        measured[name] = Measured(measures, int(pearson.n[k]), columns.signatures[k])
    return measured


def _measure_preferences(
    columns: Columns, pairs: Preferences, draws: int, seed: int, ties: Ties
) -> dict[str, Measured]:
    lead = leads(columns.values, pairs)
    decided = credits_of(lead, ties)
    instances, place = np.unique(pairs.instance, return_inverse=True)
    measured = {}
    weights = resampling_weights(np.random.default_rng(seed), len(instances), draws)
    for k, name in enumerate(columns.names):
        compared = np.isfinite(decided[k])
        if not compared.any():
            continue
        balance: Floats = np.bincount(place[compared], decided[k][compared], len(instances)).astype(np.float64)
        count = np.bincount(place[compared], minlength=len(instances)).astype(float)
        with np.errstate(invalid="ignore", divide="ignore"):
            drawn = (weights @ balance) / (weights @ count)
        value, p = float(balance.sum() / count.sum()), _p_of_signs(balance)
        several = drawn if (count > 0).sum() > 1 else drawn[:0]
        # The share of pairs in people's order is the same value on another scale.
        measures = {
            "preferences": _drawn(value, p, several),
            "accuracy": _drawn((1 + value) / 2, p, (1 + several) / 2),
        }
        tied = float((lead[k] == 0).sum() / np.isfinite(lead[k]).sum())
        measured[name] = Measured(measures, int(compared.sum()), columns.signatures[k], tied)
    return measured


def _p_of_signs(balance: Floats) -> float:
    """Two-sided p that instances agree with people by luck: the sum under random signs, taken as normal."""
    spread = math.sqrt(float((balance**2).sum()))
    return math.erfc(abs(float(balance.sum())) / spread / math.sqrt(2)) if spread > 0 else 1.0


def _drawn(value: float, p: float, drawn: Floats) -> Measure:
    """A measure with the spread of its draws, where there are any."""
    finite = drawn[np.isfinite(drawn)]
    if len(finite) < 2:
        return Measure(value, _defined(p))
    low, high = np.quantile(finite, (0.025, 0.975)).tolist()
    return Measure(value, _defined(p), float(finite.std(ddof=1)), (low, high))


def _spread(value: float, p: float, se: float) -> Measure:
    """A measure with an interval from its standard error, which can't leave -1 to 1."""
    if math.isnan(se):
        return Measure(value, _defined(p))
    return Measure(value, _defined(p), se, (max(value - WIDTH * se, -1.0), min(value + WIDTH * se, 1.0)))


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else value
