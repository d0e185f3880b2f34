"""Sensitivity: would the metric ranking stand if one had chosen otherwise?

The same metrics are ranked under every statistic and grouping, by every dimension of judgments, and without each
generator in turn. A metric whose place changes is marked; so is a generator that pulls the correlations far more than
the others do, as the zero-shot system does on cnndm in the paper (footnote 10). Where people compared outputs there is
one statistic, WMT's Kendall over pairs, and all else is as before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from billboards.analyses.comparison_results import Condition, RankRange, Sensitivity
from billboards.analyses.view import View, view_board
from billboards.board import Board, Preferences, ReferenceSet, Slice
from billboards.board.cells import CellStore
from billboards.errors import NotEnoughData
from billboards.stats.correlation import pearson
from billboards.stats.grouped import GROUPINGS, STATISTICS, Grouping, correlation
from billboards.stats.paired_differences import pairwise_difference_pearson
from billboards.stats.pairwise import acc_eq, held_out_acc_eq
from billboards.stats.preference_tests import decisions, preference_correlations
from billboards.stats.preferences import area_under_curve, relative_ranking
from billboards.stats.system_pairs import soft_pairwise_accuracy, system_pairwise_accuracy

Floats = NDArray[np.float64]
Kind = Literal["statistic", "dimension", "without"]

#: A generator is an outlier when its pull is this many times the median of all.
OUTLIER = 5.0
#: Pairs of generators looked at per instance on boards with hundreds of them.
MOST_PAIRS = 2000


def measure_sensitivity(
    board: Board,
    store: CellStore | None,
    *,
    aggregate: str | None = None,
    references: ReferenceSet | None = None,
    part: Slice | None = None,
    draws: int = 1000,
    seed: int = 0,
) -> Sensitivity:
    """The metric ranking under every condition there is."""
    view = view_board(board, store, aggregate=aggregate, references=references, part=part)
    if not (view.judged.any() or view.pairs) or not len(view.scores.columns):
        raise NotEnoughData(f"board {board.name} needs judged outputs and scores before a ranking can be sensitive")
    conditions = [
        *_statistics(board, view, draws, seed),
        *_dimensions(board, store, view, references),
        *_without(board, view),
    ]
    base = conditions[0]
    pulls = _pulls(base, [c for c in conditions if c.kind == "without"])
    return Sensitivity(
        board.name,
        view.aggregate,
        tuple(conditions),
        tuple(_range(name, base, conditions) for name in sorted(base.ranks, key=lambda n: (base.ranks[n] or 999, n))),
        pulls,
        _outliers(pulls),
    )


def _condition(
    name: str, kind: Kind, view: View, values: Floats, n: NDArray[np.int64], p: Floats | None = None
) -> Condition:
    named = _named(view, values)
    # Values that differ by rounding alone share a rank.
    rounded = {metric: None if v is None else round(v, 12) for metric, v in named.items()}
    order = sorted((v for v in rounded.values() if v is not None), reverse=True)
    ranks = {metric: None if v is None else 1 + order.index(v) for metric, v in rounded.items()}
    counts = dict(zip(view.scores.names, n.tolist(), strict=True))
    return Condition(name, kind, named, ranks, counts, {} if p is None else _named(view, p))


def _named(view: View, values: Floats) -> dict[str, float | None]:
    return {name: None if np.isnan(v) else float(v) for name, v in zip(view.scores.names, values, strict=True)}


def _statistics(board: Board, view: View, draws: int, seed: int) -> Iterator[Condition]:
    """Every statistic and grouping on the judged rows; the one that ranks, pooled Pearson or WMT's Kendall, first."""
    if view.pairs is not None:
        yield _condition("WMT's Kendall", "statistic", view, *_agreement(view.scores.values, view))
        return
    scores, human = view.scores.values[:, view.judged], view.human[view.judged]
    generators = np.array([row.generator is not None for row in board.rows], bool)[view.judged]
    for grouping in GROUPINGS:
        # Rows without a generator are laid out as it falls, so nothing can be said of them as systems.
        rows = generators if grouping in ("by-system", "system-level") else np.ones(len(human), bool)
        for statistic in STATISTICS if rows.any() else ():
            found = correlation(scores[:, rows], human[rows], statistic=statistic, grouping=grouping)
            yield _condition(f"{statistic}, {_words(grouping)}", "statistic", view, found.value, found.n, found.p)
    if len(np.unique(human[np.isfinite(human)])) == 2:
        auc = area_under_curve(scores, human)
        yield _condition("AUC", "statistic", view, auc.value, auc.positives + auc.negatives)
    if len(human) > 1:
        yield from _pairs_of_outputs(view, scores, human, seed)
    if generators.sum() > 1:
        yield from _pairs_of_generators(view, scores[:, generators], human[generators], draws, seed)


def _pairs_of_outputs(view: View, scores: Floats, human: Floats, seed: int) -> Iterator[Condition]:
    """Agreement on pairs of outputs of one instance."""
    accuracy = acc_eq(scores, human, most=MOST_PAIRS, seed=seed)
    yield _condition("acc_eq", "statistic", view, accuracy.accuracy, accuracy.n)
    held_out = held_out_acc_eq(scores, human, most=MOST_PAIRS, seed=seed)
    yield _condition("acc_eq, held out", "statistic", view, held_out.accuracy, held_out.n)
    differences = pairwise_difference_pearson(scores, human)
    yield _condition("PDP", "statistic", view, differences.value, differences.n)
    rows = _some_rows(len(human), seed)
    preferred = relative_ranking(scores[:, rows], human[rows])
    yield _condition("WMT's Kendall", "statistic", view, preferred.value, preferred.n)


def _some_rows(rows: int, seed: int) -> NDArray[np.intp]:
    """All rows, or a seeded sample of so many that their pairs are about as many as are looked at."""
    most = int((2 * MOST_PAIRS) ** 0.5)
    return np.sort(np.random.default_rng(seed).permutation(rows)[:most])


def _pairs_of_generators(view: View, scores: Floats, human: Floats, draws: int, seed: int) -> Iterator[Condition]:
    """Agreement on pairs of generators."""
    spa = soft_pairwise_accuracy(scores, human, draws=max(draws, 1), seed=seed)
    yield _condition("SPA", "statistic", view, spa.value, spa.n)
    accuracy = system_pairwise_accuracy(scores, human)
    yield _condition("pairwise system accuracy", "statistic", view, accuracy.value, accuracy.n)


def _words(grouping: Grouping) -> str:
    return grouping.replace("-", " ")


def _dimensions(
    board: Board, store: CellStore | None, view: View, references: ReferenceSet | None
) -> Iterator[Condition]:
    """Agreement with every other dimension and aggregate that has judgments, by the statistic that fits them."""
    for name in (*board.aggregates, *board.dimensions):
        if name == view.aggregate or board.aggregate(view.aggregate).dimensions == (name,):
            continue
        other = view_board(board, store, aggregate=name, references=references, part=view.part)
        if other.judged.any() or other.pairs:
            yield _condition(name, "dimension", view, *_agreement(view.scores.values, other))


def _without(board: Board, view: View) -> Iterator[Condition]:
    """What ranks, without each judged generator in turn."""
    if view.pairs is not None:
        yield from _pairs_without(board, view, view.pairs.decided)
        return
    human = view.judged_human
    for k in np.flatnonzero(view.judged):
        if board.rows[k].generator is not None and view.judged.sum() > 2:
            rest = human.copy()
            rest[k] = np.nan
            yield _condition(board.rows[k].name, "without", view, *pearson(view.scores.values, rest))


def _pairs_without(board: Board, view: View, decided: Preferences) -> Iterator[Condition]:
    """WMT's Kendall on the pairs that a generator takes no part in, for each one that leaves any."""
    for k in np.unique((decided.better, decided.worse)).tolist():
        rest = decided.where((decided.better != k) & (decided.worse != k))
        if board.rows[k].generator is not None and len(rest):
            found = _agreement(view.scores.values, replace(view, pairs=rest))
            yield _condition(board.rows[k].name, "without", view, *found)


def _agreement(scores: Floats, view: View) -> tuple[Floats, NDArray[np.int64]]:
    """Pooled Pearson with people's scores, or WMT's Kendall over the pairs they compared, and what it rests on."""
    if view.pairs is None:
        return pearson(scores, view.judged_human)
    decided = view.pairs.decided
    said = decisions(scores, decided.better, decided.worse, decided.instance)
    found = preference_correlations(said, decided.instance, draws=0)
    return found.r, found.n


def _range(name: str, base: Condition, conditions: list[Condition]) -> RankRange:
    ranks = [rank for c in conditions if (rank := c.ranks[name]) is not None]
    if not ranks:
        return RankRange(name, None, None, None, False)
    return RankRange(name, base.ranks[name], min(ranks), max(ranks), min(ranks) != max(ranks))


def _pulls(base: Condition, without: list[Condition]) -> dict[str, float]:
    """Mean absolute change of the metrics' correlations without each generator, largest first."""
    pulls = {}
    for condition in without:
        pairs = [(base.values[name], condition.values[name]) for name in base.values]
        changes = [abs(a - b) for a, b in pairs if a is not None and b is not None]
        pulls[condition.name] = float(np.mean(changes)) if changes else 0.0
    return dict(sorted(pulls.items(), key=lambda item: -item[1]))


def _outliers(pulls: dict[str, float]) -> tuple[str, ...]:
    if len(pulls) < 4:
        return ()
    typical = float(np.median(list(pulls.values())))
    return tuple(name for name, pull in pulls.items() if pull > OUTLIER * typical and pull > 0.005)
