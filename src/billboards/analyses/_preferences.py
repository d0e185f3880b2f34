"""Metrics against people who compared outputs instead of rating them: WMT's Kendall over pairs, with its certainty.

A pair takes part when both of its outputs do, ties among people aside. A pair that a metric ties counts as wrong, as in
WMT, unless half credit is asked for, or that such pairs are left out.
Intervals come from drawing instances or documents, tests from exchanging what two metrics decide on an instance.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from billboards.board import Aggregate, Board, Preferences, Slice, is_preference, preferred_pairs
from billboards.errors import InvalidInput, NotEnoughData
from billboards.stats.bootstrap import Resampled
from billboards.stats.correlation import Correlations
from billboards.stats.preferences import Ties, decisions, exchange_decisions, preference_correlations
from billboards.stats.significance import Sides

Floats = NDArray[np.float64]

WMT_STATISTIC, WMT_GROUPING = "kendall", "preferences"


def pairs_in(board: Board, aggregate: Aggregate, part: Slice, rows: NDArray[np.bool_]) -> Preferences:
    """The pairs on a part of the board whose outputs both stand in these rows, with places counted within the part."""
    place = np.full(len(board.instances), -1, np.int32)
    keep = board.select(part)
    place[list(keep)] = np.arange(len(keep))
    pairs = preferred_pairs(board, aggregate)
    chosen = pairs.where(rows[pairs.better] & rows[pairs.worse] & (place[pairs.instance] >= 0))
    return replace(chosen, instance=place[chosen.instance])


def agreement_with_preferences(
    board: Board,
    part: Slice,
    scores: Floats,
    pairs: Preferences,
    *,
    resampled: Resampled,
    draws: int,
    seed: int,
    sides: Sides,
    ties: Ties = "wrong",
) -> tuple[Correlations, Floats | None]:
    """(C - D)/(C + D) of each metric with 95% intervals, and p-values of tests between every two metrics."""
    if resampled not in ("instances", "documents"):
        raise InvalidInput(
            f"the judgments of {board.name} that rank compare outputs: intervals come from drawing instances or "
            f"documents again, not {resampled}"
        )
    decided = pairs.decided
    choices = decisions(scores, decided.better, decided.worse, decided.instance, ties)
    units = units_of(board, part, decided.instance, resampled)
    correlations = preference_correlations(choices, units, draws=draws, seed=seed)
    return correlations, exchange_decisions(choices, units, draws=draws, seed=seed, sides=sides) if draws else None


def check_values(board: Board, aggregate: str | None, so: str) -> None:
    """Refuse what needs people's values where they only compared outputs."""
    if aggregate is None and board.ranks is None:
        return
    chosen = board.aggregate(aggregate)
    if is_preference(board, chosen):
        raise NotEnoughData(
            f"people compared outputs on {chosen.name} and gave no values, so {so}; "
            "rank, compare, power and sensitivity work with comparisons"
        )


def shares_between(pairs: Preferences, first: int, second: int, shape: tuple[int, ...]) -> Floats:
    """The share of comparisons between two rows that each won on an instance, in percent, as 2 × instances."""
    between = np.isin(pairs.better, (first, second)) & np.isin(pairs.worse, (first, second))
    return pairs.where(between).share_won(shape)[[first, second]]


def units_of(board: Board, part: Slice, instance: NDArray[np.int32], resampled: Resampled) -> NDArray[np.int64]:
    """What each pair is drawn with: its instance, or that one's document."""
    if resampled == "instances":
        return instance.astype(np.int64)
    names = [board.documents[k] for k in board.select(part)]
    return np.unique(names, return_inverse=True)[1][instance].astype(np.int64)
