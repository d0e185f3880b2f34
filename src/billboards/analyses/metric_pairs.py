"""Every two metrics of a board compared at once, with p-values corrected for there being so many of them.

With 15 metrics there are 105 pairs, of which five would differ at .05 by luck alone. So beside each p stands Holm's,
which bounds the chance of any false finding, and Benjamini and Hochberg's, which bounds the share of false ones. A pair
is compared on the judged outputs that both metrics have scored; where people compared outputs, on the comparisons that
both decide, by WMT's Kendall.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from billboards.analyses.compare import MOST_PAIRS
from billboards.analyses.compare_preferences import check_unit
from billboards.analyses.comparison_results import MetricPair, MetricPairs, Unit
from billboards.analyses.view import view_board
from billboards.board import Board, Preferences, Slice
from billboards.board.cells import CellStore
from billboards.errors import InvalidInput, NotEnoughData
from billboards.stats.clusters import benjamini_hochberg, holm
from billboards.stats.pairs_permutation import AccuracyTests, permute_decisions
from billboards.stats.preference_tests import decisions, exchange_decisions
from billboards.stats.significance import PairTests, permute_correlations

Floats = NDArray[np.float64]


def compare_all_metrics(
    board: Board,
    store: CellStore | None,
    *,
    aggregate: str | None = None,
    part: Slice | None = None,
    unit: Unit = "both",
    draws: int = 10_000,
    seed: int = 0,
) -> MetricPairs:
    """All pairs of metrics by pooled Pearson and by acc_eq, the surest difference first."""
    view = view_board(board, store, aggregate=aggregate, part=part)
    names = view.scores.names
    if len(names) < 2 or not (view.judged.any() or view.pairs):
        raise NotEnoughData(f"board {board.name} needs judged outputs and scores of two metrics before they compare")
    if draws < 1:
        raise InvalidInput(f"comparing all metrics is testing them, which needs at least 1 draw; got {draws}")
    if view.pairs is not None:
        check_unit(board, unit)
        compared = _compared(names, _tests_on_pairs(view.scores.values, view.pairs.decided, draws, seed), None)
        return MetricPairs(board.name, view.aggregate, str(view.part), "instances", draws, seed, compared, "kendall")
    scores, human = view.scores.values[:, view.judged], view.human[view.judged]
    tests = permute_correlations(scores, human, unit=unit, draws=draws, seed=seed)
    accuracy = permute_decisions(scores, human, draws=draws, seed=seed, most=MOST_PAIRS)
    return MetricPairs(board.name, view.aggregate, str(view.part), unit, draws, seed, _compared(names, tests, accuracy))


def _tests_on_pairs(scores: Floats, decided: Preferences, draws: int, seed: int) -> PairTests:
    """Every two metrics by WMT's Kendall on the pairs that both decide."""
    said = decisions(scores, decided.better, decided.worse, decided.instance)
    there = np.isfinite(said)
    n = there.astype(np.int64) @ there.T
    sums = np.where(there, said, 0.0) @ there.T
    with np.errstate(invalid="ignore"):
        difference = (sums - sums.T) / n
    return PairTests(difference, exchange_decisions(said, decided.instance, draws=draws, seed=seed), n)


def _compared(names: tuple[str, ...], tests: PairTests, accuracy: AccuracyTests | None) -> tuple[MetricPair, ...]:
    pairs = [(a, b) if _leads(tests, a, b) else (b, a) for a, b in itertools.combinations(range(len(names)), 2)]
    p = np.array([_two_sided(tests.p, a, b) for a, b in pairs])
    corrected = holm(p), benjamini_hochberg(p)
    found = [
        MetricPair(
            names[a],
            names[b],
            _defined(tests.difference[a, b]),
            _defined(p[k]),
            _defined(corrected[0][k]),
            _defined(corrected[1][k]),
            int(tests.n[a, b]),
            *((None, None, 0) if accuracy is None else _in_accuracy(accuracy, a, b)),
        )
        for k, (a, b) in enumerate(pairs)
    ]
    return tuple(sorted(found, key=_surest))


def _in_accuracy(tests: AccuracyTests, a: int, b: int) -> tuple[float | None, float | None, int]:
    return _defined(tests.difference[a, b]), _defined(_two_sided(tests.p, a, b)), int(tests.n[a, b])


def _leads(tests: PairTests, a: int, b: int) -> bool:
    return not tests.difference[a, b] < 0


def _two_sided(p: Floats, a: int, b: int) -> float:
    """Twice the smaller one-sided p-value: nobody said before the test who would be ahead."""
    return float(min(2 * min(p[a, b], p[b, a]), 1.0)) if np.isfinite(p[a, b]) else np.nan


def _surest(pair: MetricPair) -> tuple[float, float]:
    return (2.0 if pair.p is None else pair.p, -abs(pair.difference or 0.0))


def _defined(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
