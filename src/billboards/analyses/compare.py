"""Comparing two entries: is the difference real, how many instances would show it, and which outputs decide it.

Two metrics are compared on the outputs both have scored, by their correlation with people and, where people have judged
several outputs of an instance, by acc_eq; an output speaks for the metric whose standardised score goes further with
people's there. Two generators are compared by people's scores (where people compared outputs, by the share of
comparisons between the two that each won) and by every metric on the instances both have; an instance speaks for the
one that scores higher.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from billboards.analyses.compare_preferences import check_unit, compare_on_pairs
from billboards.analyses.comparison_results import (
    AccuracyComparison,
    DecidingOutput,
    GeneratorComparison,
    MetricComparison,
    ScoreDifference,
    Unit,
)
from billboards.analyses.preferences import shares_between
from billboards.analyses.ranking_results import Resampled
from billboards.analyses.resampling import resampled_correlations
from billboards.analyses.view import View, view_board
from billboards.board import Board, Slice
from billboards.board.cells import CellStore
from billboards.errors import InvalidInput, NotEnoughData
from billboards.stats.correlation import pearson
from billboards.stats.pairs_permutation import permute_decisions
from billboards.stats.pairwise import acc_eq
from billboards.stats.power import Needed, tell_generators_apart, tell_metrics_apart
from billboards.stats.significance import permute_correlations, permute_values, williams

Floats = NDArray[np.float64]

#: What a person can read through; the paper looks at 20 or 25 of each kind.
SHOWN = 10
#: Pairs of generators looked at per instance on boards with hundreds of them.
MOST_PAIRS = 2000


def compare_metrics(
    board: Board,
    store: CellStore | None,
    first: str,
    second: str,
    *,
    aggregate: str | None = None,
    part: Slice | None = None,
    unit: Unit = "both",
    resampled: Resampled = "instances",
    draws: int = 1000,
    seed: int = 0,
    shown: int = SHOWN,
) -> MetricComparison:
    """Does the first metric agree better with people than the second?"""
    view = view_board(board, store, aggregate=aggregate, part=part)
    if view.pairs is not None:
        check_unit(board, unit)
        how = {"draws": draws, "seed": seed, "shown": shown}
        return compare_on_pairs(board, view, view.pairs, (first, second), resampled=resampled, **how)
    a, b = view.scores.of(first), view.scores.of(second)
    human = view.judged_human
    used = np.isfinite(a) & np.isfinite(b) & np.isfinite(human)
    if used.sum() < 4:
        raise NotEnoughData(f"{first} and {second} share {int(used.sum())} judged outputs; comparing them needs 4")
    pair = np.where(used, np.stack((a, b)), np.nan)
    people = np.where(used, human, np.nan)
    r, n = pearson(pair, people)
    between = float(pearson(pair[:1], pair[1])[0][0])
    drawn = _difference_drawn(
        resampled_correlations(board, view.part, pair, people, resampled=resampled, draws=draws, seed=seed)
    )
    defined = not np.isnan(r).any()
    tests = (
        permute_correlations(pair, people, unit=unit, draws=draws, seed=seed).p if draws else np.full((2, 2), np.nan)
    )
    leads = 0 if not defined or r[0] >= r[1] else 1
    return MetricComparison(
        board.name,
        first,
        second,
        (_defined(r[0]), _defined(r[1])),
        _defined(between),
        _defined(r[0] - r[1]),
        None if drawn is None else (float(np.quantile(drawn, 0.025)), float(np.quantile(drawn, 0.975))),
        _defined(tests[leads, 1 - leads]),
        _defined(williams(float(r[leads]), float(r[1 - leads]), between, int(n[0]))) if defined else None,
        int(n[0]),
        draws,
        seed,
        _whole(lambda: tell_metrics_apart(pair[0], pair[1], people)),
        *_deciding_outputs(board, view, pair, people, shown),
        _compare_accuracy(pair, people, draws, seed),
        unit,
        resampled,
    )


def _compare_accuracy(pair: Floats, people: Floats, draws: int, seed: int) -> AccuracyComparison | None:
    """acc_eq of both, and how sure the difference is; None where no instance has a pair of outputs."""
    judged = np.isfinite(people).any(axis=1)
    pair, people = pair[:, judged], people[judged]
    found = acc_eq(pair, people, most=MOST_PAIRS, seed=seed)
    if not found.instances[0]:
        return None
    first, second = found.accuracy.tolist()
    ahead = (0, 1) if first >= second else (1, 0)

    def p_value(unit: Literal["pairs", "instances"]) -> float | None:
        if not draws:
            return None
        tests = permute_decisions(pair, people, unit=unit, draws=draws, seed=seed, most=MOST_PAIRS)
        return float(tests.p[ahead])

    return AccuracyComparison(
        (first, second),
        (float(found.epsilon[0]), float(found.epsilon[1])),
        first - second,
        p_value("pairs"),
        p_value("instances"),
        int(found.n[0]),
        int(found.instances[0]),
    )


def _difference_drawn(found: Floats | None) -> Floats | None:
    """Differences of the two correlations in the draws that have both, where at least two have."""
    if found is None:
        return None
    there = found[:, 0] - found[:, 1]
    there = there[np.isfinite(there)]
    return there if len(there) > 1 else None


def _deciding_outputs(
    board: Board, view: View, pair: Floats, people: Floats, shown: int
) -> tuple[tuple[DecidingOutput, ...], tuple[DecidingOutput, ...]]:
    """The outputs that most raise the first correlation above the second, and the reverse."""
    z = np.stack([_standardised(one) for one in (*pair, people)])
    weight = z[2] * (z[0] - z[1])
    order = np.argsort(np.where(np.isnan(weight), 0.0, weight), axis=None)
    best = [int(k) for k in order[::-1][:shown] if weight.flat[k] > 0]
    worst = [int(k) for k in order[:shown] if weight.flat[k] < 0]
    keep = board.select(view.part)

    def output(k: int) -> DecidingOutput:
        row, column = divmod(k, people.shape[1])
        instance = board.instances[keep[column]]
        return DecidingOutput(
            instance.id,
            board.rows[row].name,
            float(weight[row, column]),
            _defined(people[row, column]),
            _defined(pair[0, row, column]),
            _defined(pair[1, row, column]),
            board.rows[row].texts[keep[column]] or "",
            "",
            instance.references[0].text if instance.references else "",
        )

    return tuple(map(output, best)), tuple(map(output, worst))


def compare_generators(
    board: Board,
    store: CellStore | None,
    first: str,
    second: str,
    *,
    aggregate: str | None = None,
    part: Slice | None = None,
    by: str | None = None,
    draws: int = 1000,
    seed: int = 0,
    shown: int = SHOWN,
) -> GeneratorComparison:
    """How two generators differ under people and every metric."""
    view = view_board(board, store, aggregate=aggregate, part=part)
    rows = [board.row_position[board.generator(name).name] for name in (first, second)]
    columns = {"people": people_of(view, rows)} | {n: view.scores.of(n)[rows] for n in view.scores.names}
    found, missing = [], {}
    for name, values in columns.items():
        if np.isfinite(values).all(axis=0).any():
            found.append(_difference(name, values, draws, seed))
        else:
            missing[name] = f"no instance is scored for both {first} and {second}"
    if not found:
        raise NotEnoughData(f"{first} and {second} have no scores on a common instance; score the board first")
    decided_by = by or found[0].name
    if decided_by not in {one.name for one in found}:
        raise InvalidInput(f"{decided_by} has no scores of both; choose one of {', '.join(o.name for o in found)}")
    return GeneratorComparison(
        board.name,
        first,
        second,
        tuple(found),
        decided_by,
        _whole(lambda: tell_generators_apart(*columns[decided_by])),
        draws,
        seed,
        *_deciding_instances(board, view, rows, columns, decided_by, shown),
        missing,
        view.pairs is not None,
    )


def people_of(view: View, rows: list[int]) -> Floats:
    """What people say of two generators, instance by instance: their scores, or the comparisons that each won."""
    return view.human[rows] if view.pairs is None else shares_between(view.pairs, rows[0], rows[1], view.human.shape)


def _difference(name: str, values: Floats, draws: int, seed: int) -> ScoreDifference:
    both = values[:, np.isfinite(values).all(axis=0)]
    tests = permute_values(both, draws=draws, seed=seed).p if draws else np.full((2, 2), np.nan)
    means = both.mean(axis=1)
    leads = 0 if means[0] >= means[1] else 1
    return ScoreDifference(
        name,
        (float(means[0]), float(means[1])),
        float(means[0] - means[1]),
        float(tests[leads, 1 - leads]),
        int((both[0] > both[1]).sum()),
        int((both[0] == both[1]).sum()),
        int((both[0] < both[1]).sum()),
        both.shape[1],
    )


def _whole(needed: Callable[[], Needed]) -> int | None:
    """A number of instances, where there is a difference to tell."""
    try:
        found = needed().needed
    except NotEnoughData:
        return None
    return math.ceil(found) if math.isfinite(found) else None


def _deciding_instances(
    board: Board, view: View, rows: list[int], columns: dict[str, Floats], decided_by: str, shown: int
) -> tuple[tuple[DecidingOutput, ...], tuple[DecidingOutput, ...]]:
    """The instances where one generator is furthest above the other, with both texts."""
    weight = columns[decided_by][0] - columns[decided_by][1]
    order = np.argsort(np.where(np.isnan(weight), 0.0, weight))
    keep = board.select(view.part)
    people = columns["people"]

    def output(column: int, side: int) -> DecidingOutput:
        instance = board.instances[keep[column]]
        return DecidingOutput(
            instance.id,
            board.rows[rows[side]].name,
            float(weight[column]),
            _defined(people[side, column]),
            _defined(columns[decided_by][0, column]),
            _defined(columns[decided_by][1, column]),
            board.rows[rows[0]].texts[keep[column]] or "",
            board.rows[rows[1]].texts[keep[column]] or "",
            instance.references[0].text if instance.references else "",
        )

    best = [int(k) for k in order[::-1][:shown] if weight[k] > 0]
    worst = [int(k) for k in order[:shown] if weight[k] < 0]
    return tuple(output(k, 0) for k in best), tuple(output(k, 1) for k in worst)


def _standardised(values: Floats) -> Floats:
    spread = float(np.nanstd(values))
    return (values - np.nanmean(values)) / (spread if spread > 0 else 1.0)


def _defined(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
