"""Comparing two metrics where people compared outputs: on the pairs that both decide, by WMT's Kendall.

The difference is that of (C - D)/(C + D); its interval comes from drawing instances (or documents) again, its p-value
from exchanging what the two decide on one. A pair speaks for a metric that has it right where the other has it wrong,
the more so the further the two pull apart, each in units of its own spread.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from billboards.analyses.comparison_results import DecidingOutput, MetricComparison, Unit
from billboards.analyses.preferences import units_of
from billboards.analyses.ranking_results import Resampled
from billboards.analyses.view import View
from billboards.board import Board, Preferences
from billboards.errors import InvalidInput, NotEnoughData
from billboards.stats.power import tell_preferences_apart
from billboards.stats.preference_tests import decisions, exchange_decisions, preference_correlations

Floats = NDArray[np.float64]


def check_unit(board: Board, unit: Unit) -> None:
    """Pairs can't be exchanged generator by generator: a pair has two."""
    if unit == "generators":
        raise InvalidInput(
            f"the judgments of {board.name} that rank compare outputs: what two metrics decide is exchanged "
            "instance by instance, not by generators"
        )


def compare_on_pairs(
    board: Board,
    view: View,
    pairs: Preferences,
    names: tuple[str, str],
    *,
    resampled: Resampled,
    draws: int,
    seed: int,
    shown: int,
) -> MetricComparison:
    """Does the first metric agree with more of people's preferences than the second?"""
    scores, decided = np.stack([view.scores.of(name) for name in names]), pairs.decided
    said = decisions(scores, decided.better, decided.worse, decided.instance)
    both = np.isfinite(said[0]) & np.isfinite(said[1])
    if not both.any():
        raise NotEnoughData(f"{names[0]} and {names[1]} have both scored no pair of outputs that people compared")
    said, decided = said[:, both], decided.where(both)
    units = units_of(board, view.part, decided.instance, resampled)
    each = preference_correlations(said, units, draws=0).r
    found = preference_correlations((said[0] - said[1])[None], units, draws=draws, seed=seed)
    ahead = (0, 1) if each[0] >= each[1] else (1, 0)
    return MetricComparison(
        board.name,
        *names,
        (float(each[0]), float(each[1])),
        None,
        float(found.r[0]),
        None if np.isnan(found.low[0]) else (float(found.low[0]), float(found.high[0])),
        float(exchange_decisions(said, units, draws=draws, seed=seed)[ahead]) if draws else None,
        None,
        len(decided),
        draws,
        seed,
        _needed(said, decided.instance),
        *_deciding_pairs(board, view, scores, decided, shown),
        None,
        "instances",
        resampled,
        "kendall",
    )


def _needed(said: Floats, instance: NDArray[np.int32]) -> int | None:
    try:
        needed = tell_preferences_apart(said[0], said[1], instance).needed
    except NotEnoughData:
        return None
    return int(needed) if math.isfinite(needed) else None


def _deciding_pairs(
    board: Board, view: View, scores: Floats, decided: Preferences, shown: int
) -> tuple[tuple[DecidingOutput, ...], tuple[DecidingOutput, ...]]:
    """The pairs that one metric has right and the other wrong; a pair that many have judged is shown once."""
    places = np.unique(np.stack((decided.better, decided.worse, decided.instance)), axis=1)
    better, worse, instance = places
    margins = scores[:, better, instance] - scores[:, worse, instance]
    spread = margins.std(axis=1, keepdims=True)
    pull = margins / np.where(spread > 0, spread, 1.0)
    weight = pull[0] - pull[1]
    keep = board.select(view.part)

    def output(k: int) -> DecidingOutput:
        good, bad, place = board.rows[better[k]], board.rows[worse[k]], keep[instance[k]]
        shown_instance = board.instances[place]
        return DecidingOutput(
            shown_instance.id,
            good.name,
            float(weight[k]),
            None,
            float(margins[0, k]),
            float(margins[1, k]),
            good.texts[place] or "",
            bad.texts[place] or "",
            shown_instance.references[0].text if shown_instance.references else "",
            bad.name,
        )

    def most(right: Floats, wrong: Floats, pulled: Floats) -> tuple[DecidingOutput, ...]:
        order = np.argsort(-pulled, kind="stable")
        return tuple(output(int(k)) for k in order[(right[order] > 0) & (wrong[order] <= 0)][:shown])

    return most(margins[0], margins[1], weight), most(margins[1], margins[0], -weight)
