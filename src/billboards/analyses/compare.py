"""Compare two metrics, or two generators: is the difference real, which outputs decide it? Or every two metrics.

Comparing two entries: is the difference real, how many instances would show it, and which outputs decide it.

Two metrics are compared on the outputs both have scored, by their correlation with people and, where people have judged
several outputs of an instance, by acc_eq; an output speaks for the metric whose standardised score goes further with
people's there. Two generators are compared by people's scores (where people compared outputs, by the share of
comparisons between the two that each won) and by every metric on the instances both have; an instance speaks for the
one that scores higher.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar, Literal, TypedDict

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from billboards.analyses._analysis import analysis
from billboards.analyses._entries import are_generators
from billboards.analyses._preferences import shares_between, units_of
from billboards.analyses._view import JudgedMatrix, View, judged_matrix
from billboards.analyses.rank import resampled_correlations, resampled_text
from billboards.board import Board, Preferences, Slice
from billboards.board.cells import CellStore, with_parts
from billboards.board.matrix import column_named
from billboards.board.scores import natural
from billboards.errors import InvalidInput, NotEnoughData, UnknownName, nearest
from billboards.options import Named
from billboards.show.table import Table, TableColumn
from billboards.show.words import COMPARISONS_WON, LOWER, clipped, interval_text, p_text, sided, value_text
from billboards.stats.bootstrap import Interval, Resampled
from billboards.stats.clusters import benjamini_hochberg, holm
from billboards.stats.correlation import pearson
from billboards.stats.grouped import Grouping
from billboards.stats.pairwise import AccuracyTests, acc_eq, permute_decisions
from billboards.stats.power import Needed, tell_generators_apart, tell_metrics_apart, tell_preferences_apart
from billboards.stats.preferences import Ties, decisions, exchange_decisions, preference_correlations
from billboards.stats.significance import PairTests, Sides, permute_correlations, permute_values, williams
from billboards.stats.yardsticks import Yardstick, compare_by, yardstick

#: What a permutation test exchanges together: single scores, or all of an instance or of a generator.
Unit = Literal["both", "instances", "generators"]
#: Pooled Pearson where people gave values, WMT's Kendall over pairs where they compared outputs.
Agreement = Literal["pearson", "kendall"]
#: What compares metrics unless somebody asks for another statistic.
PEARSON = Yardstick()


@dataclass(frozen=True, kw_only=True, slots=True)
class DecidingOutput:
    """One output that speaks for a side, with the texts to look at."""

    instance: str
    generator: str
    weight: float
    human: float | None
    first: float | None
    second: float | None
    output: str
    other: str = ""
    reference: str = ""
    #: Who wrote the other output, where people compared the two.
    other_generator: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class AccuracyComparison:
    """acc_eq of two metrics over the pairs of outputs that both decide, each at its best epsilon, and its p-values.

    `p_pairs` is the WMT metrics task's: decisions change sides pair by pair. `p_instances` lets all decisions about an
    instance change sides together, because they share outputs.
    """

    values: tuple[float, float]
    epsilons: tuple[float, float]
    difference: float
    p_pairs: float | None
    p_instances: float | None
    pairs: int
    instances: int


@dataclass(frozen=True, kw_only=True)
class MetricComparison:
    """Two metrics on the same judged outputs: does the first agree better with people?

    `unit` says what PERM-BOTH and its kin exchange. `accuracy` is None where no two outputs of an instance are judged.
    P-values have so many `sides`: two, that they differ; one, that the one ahead here is better, for those who said so
    beforehand. Where people compared outputs the `statistic` is WMT's Kendall over pairs, `n` counts these, and what
    needs values (`between`, `p_williams`, `accuracy`) is None.
    """

    DOCUMENT: ClassVar[str] = "comparison"

    board: str
    first: str
    second: str
    correlations: tuple[float | None, float | None]
    between: float | None
    difference: float | None
    interval: Interval | None
    p_permutation: float | None
    p_williams: float | None
    n: int
    draws: int
    seed: int
    needed: int | None
    for_first: tuple[DecidingOutput, ...]
    for_second: tuple[DecidingOutput, ...]
    accuracy: AccuracyComparison | None = None
    unit: Unit = "both"
    resampled: Resampled = "instances"
    statistic: Agreement = "pearson"
    sides: Sides = "one"


@dataclass(frozen=True, kw_only=True, slots=True)
class MetricPair:
    """Two of all metrics, the one ahead first: does it agree better with people?

    `p` is PERM-BOTH's, `holm` and `bh` are p corrected for all pairs: for the chance of any false finding
    (Holm), and for the share of false ones among the findings (Benjamini-Hochberg). `accuracy` is the difference in
    acc_eq and `p_accuracy` the pairs permutation's p.
    """

    first: str
    second: str
    difference: float | None
    p: float | None
    holm: float | None
    bh: float | None
    n: int
    accuracy: float | None
    p_accuracy: float | None
    pairs: int


@dataclass(frozen=True, kw_only=True)
class MetricPairs:
    """Every two metrics of a board compared, the surest difference first; no acc_eq where people compared outputs."""

    DOCUMENT: ClassVar[str] = "metric_pairs"

    board: str
    aggregate: str
    part: str
    unit: Unit
    draws: int
    seed: int
    compared: tuple[MetricPair, ...]
    #: "pearson" (pooled), "kendall" (over pairs that people compared), or another yardstick, as in "spearman/by-item".
    statistic: str = "pearson"
    sides: Sides = "two"
    ties: Ties = "wrong"


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoreDifference:
    """One score's difference between two generators on the instances both have."""

    name: str
    means: tuple[float, float]
    difference: float
    p: float
    wins: int
    ties: int
    losses: int
    n: int
    #: Which way the score is read; means and difference are as its users know them, wins and losses by what is better.
    higher_is_better: bool = True


@dataclass(frozen=True, kw_only=True)
class GeneratorComparison:
    """Two generators under people and every metric, with the instances that decide it under one of them.

    With `preferences`, people's scores are the shares of comparisons between the two that each won.
    """

    DOCUMENT: ClassVar[str] = "comparison"

    board: str
    first: str
    second: str
    scores: tuple[ScoreDifference, ...]
    decided_by: str
    needed: int | None
    draws: int
    seed: int
    for_first: tuple[DecidingOutput, ...]
    for_second: tuple[DecidingOutput, ...]
    missing: Mapping[str, str] = field(default_factory=dict)
    preferences: bool = False
    sides: Sides = "one"


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratorPair:
    """Two of several generators under one score; `holm` is p corrected for all pairs."""

    first: str
    second: str
    tested: ScoreDifference
    holm: float


@dataclass(frozen=True, kw_only=True)
class GeneratorPairs:
    """Every two of some generators compared under one score."""

    board: str
    decided_by: str
    draws: int
    seed: int
    sides: Sides
    compared: tuple[GeneratorPair, ...]


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
    view: JudgedMatrix,
    pairs: Preferences,
    names: tuple[str, str],
    *,
    resampled: Resampled,
    draws: int,
    seed: int,
    shown: int,
    sides: Sides,
) -> MetricComparison:
    """Does the first metric agree with more of people's preferences than the second?"""
    scores, decided = np.stack([view.scores.of(name) for name in names]), pairs.decided
    choices = decisions(scores, decided.better, decided.worse, decided.instance)
    both = np.isfinite(choices[0]) & np.isfinite(choices[1])
    if not both.any():
        raise NotEnoughData(f"{names[0]} and {names[1]} have both scored no pair of outputs that people compared")
    choices, decided = choices[:, both], decided.where(both)
    units = units_of(board, view.part, decided.instance, resampled)
    each = preference_correlations(choices, units, draws=0).r
    difference = preference_correlations((choices[0] - choices[1])[None], units, draws=draws, seed=seed)
    ahead = (0, 1) if each[0] >= each[1] else (1, 0)
    first, second = names
    for_first, for_second = _deciding_pairs(board, view, scores, decided, shown)
    return MetricComparison(
        board=board.name,
        first=first,
        second=second,
        correlations=(float(each[0]), float(each[1])),
        between=None,
        difference=float(difference.r[0]),
        interval=None if np.isnan(difference.low[0]) else (float(difference.low[0]), float(difference.high[0])),
        p_permutation=(
            float(exchange_decisions(choices, units, draws=draws, seed=seed, sides=sides)[ahead]) if draws else None
        ),
        p_williams=None,
        n=len(decided),
        draws=draws,
        seed=seed,
        needed=_needed(choices, decided.instance),
        for_first=for_first,
        for_second=for_second,
        unit="instances",
        resampled=resampled,
        statistic="kendall",
        sides=sides,
    )


def _needed(choices: Floats, instance: NDArray[np.int32]) -> int | None:
    try:
        needed = tell_preferences_apart(choices[0], choices[1], instance).needed
    except NotEnoughData:
        return None
    return int(needed) if math.isfinite(needed) else None


def _deciding_pairs(
    board: Board, view: JudgedMatrix, scores: Floats, decided: Preferences, shown: int
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
            instance=shown_instance.id,
            generator=good.name,
            weight=float(weight[k]),
            human=None,
            first=float(margins[0, k]),
            second=float(margins[1, k]),
            output=good.texts[place] or "",
            other=bad.texts[place] or "",
            reference=shown_instance.references[0].text if shown_instance.references else "",
            other_generator=bad.name,
        )

    def most(right: Floats, wrong: Floats, pulled: Floats) -> tuple[DecidingOutput, ...]:
        order = np.argsort(-pulled, kind="stable")
        return tuple(output(int(k)) for k in order[(right[order] > 0) & (wrong[order] <= 0)][:shown])

    return most(margins[0], margins[1], weight), most(margins[1], margins[0], -weight)


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
    sides: Sides = "two",
) -> MetricComparison:
    """Does the first metric agree better with people than the second?"""
    first, second = column_named(board, store, first), column_named(board, store, second)
    store = with_parts(store, [first, second])
    view = judged_matrix(board, store, aggregate=aggregate, part=part, beside=True)
    if view.pairs is not None:
        check_unit(board, unit)
        return compare_on_pairs(
            board,
            view,
            view.pairs,
            (first, second),
            resampled=resampled,
            draws=draws,
            seed=seed,
            shown=shown,
            sides=sides,
        )
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
    how = {"draws": draws, "seed": seed}
    tests = permute_correlations(pair, people, unit=unit, sides=sides, **how).p if draws else np.full((2, 2), np.nan)
    leads = 0 if not defined or r[0] >= r[1] else 1
    williams_p = williams(float(r[leads]), float(r[1 - leads]), between, int(n[0]), sides=sides) if defined else np.nan
    for_first, for_second = _deciding_outputs(board, view, (first, second), pair, people, shown)
    return MetricComparison(
        board=board.name,
        first=first,
        second=second,
        correlations=(_defined(r[0]), _defined(r[1])),
        between=_defined(between),
        difference=_defined(r[0] - r[1]),
        interval=None if drawn is None else (float(np.quantile(drawn, 0.025)), float(np.quantile(drawn, 0.975))),
        p_permutation=_defined(tests[leads, 1 - leads]),
        p_williams=_defined(williams_p),
        n=int(n[0]),
        draws=draws,
        seed=seed,
        needed=_whole(lambda: tell_metrics_apart(pair[0], pair[1], people)),
        for_first=for_first,
        for_second=for_second,
        accuracy=_compare_accuracy(pair, people, draws, seed, sides),
        unit=unit,
        resampled=resampled,
        sides=sides,
    )


def _compare_accuracy(pair: Floats, people: Floats, draws: int, seed: int, sides: Sides) -> AccuracyComparison | None:
    """acc_eq of both, and how sure the difference is; None where no instance has a pair of outputs."""
    judged = np.isfinite(people).any(axis=1)
    pair, people = pair[:, judged], people[judged]
    accuracy = acc_eq(pair, people, most=MOST_PAIRS, seed=seed)
    if not accuracy.instances[0]:
        return None
    first, second = accuracy.accuracy.tolist()
    ahead = (0, 1) if first >= second else (1, 0)

    def p_value(unit: Literal["pairs", "instances"]) -> float | None:
        if not draws:
            return None
        tests = permute_decisions(pair, people, unit=unit, draws=draws, seed=seed, most=MOST_PAIRS, sides=sides)
        return float(tests.p[ahead])

    return AccuracyComparison(
        values=(first, second),
        epsilons=(float(accuracy.epsilon[0]), float(accuracy.epsilon[1])),
        difference=first - second,
        p_pairs=p_value("pairs"),
        p_instances=p_value("instances"),
        pairs=int(accuracy.n[0]),
        instances=int(accuracy.instances[0]),
    )


def _difference_drawn(correlations: Floats | None) -> Floats | None:
    """Differences of the two correlations in the draws that have both, where at least two have."""
    if correlations is None:
        return None
    differences = correlations[:, 0] - correlations[:, 1]
    differences = differences[np.isfinite(differences)]
    return differences if len(differences) > 1 else None


def _deciding_outputs(
    board: Board, view: JudgedMatrix, names: tuple[str, str], pair: Floats, people: Floats, shown: int
) -> tuple[tuple[DecidingOutput, ...], tuple[DecidingOutput, ...]]:
    """The outputs that most raise the first correlation above the second, and the reverse."""
    z = np.stack([_standardised(values) for values in (*pair, people)])
    weight = z[2] * (z[0] - z[1])
    higher = [view.scores.columns[view.scores.column(name)].higher_is_better for name in names]
    values_there = [natural(values, higher_is_better=h) for values, h in zip(pair, higher, strict=True)]
    best, worst = _furthest(weight, shown)
    keep = board.select(view.part)

    def output(k: int) -> DecidingOutput:
        row, column = divmod(k, people.shape[1])
        instance = board.instances[keep[column]]
        return DecidingOutput(
            instance=instance.id,
            generator=board.rows[row].name,
            weight=float(weight[row, column]),
            human=_defined(people[row, column]),
            first=_defined(values_there[0][row, column]),
            second=_defined(values_there[1][row, column]),
            output=board.rows[row].texts[keep[column]] or "",
            other="",
            reference=instance.references[0].text if instance.references else "",
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
    sides: Sides = "two",
) -> GeneratorComparison:
    """How two generators differ under people and every metric."""
    by = None if by is None else column_named(board, store, by)
    view = judged_matrix(board, with_parts(store, [by]), aggregate=aggregate, part=part)
    rows = [board.row_position[board.generator(name).name] for name in (first, second)]
    columns = {"people": people_of(view, rows)} | {n: view.scores.of(n)[rows] for n in view.scores.names}
    lower = {column.name for column in view.scores.columns if not column.higher_is_better}
    differences, missing = [], {}
    for name, values in columns.items():
        if np.isfinite(values).all(axis=0).any():
            differences.append(_difference(name, values, draws, seed, sides, higher_is_better=name not in lower))
        else:
            missing[name] = f"no instance is scored for both {first} and {second}"
    if not differences:
        raise NotEnoughData(f"{first} and {second} have no scores on a common instance; score the board first")
    decided_by = by or differences[0].name
    if decided_by not in {difference.name for difference in differences}:
        raise InvalidInput(
            f"{decided_by} has no scores of both; choose one of {', '.join(o.name for o in differences)}"
        )
    for_first, for_second = _deciding_instances(board, view, rows, columns, decided_by, shown)
    return GeneratorComparison(
        board=board.name,
        first=first,
        second=second,
        scores=tuple(differences),
        decided_by=decided_by,
        needed=_whole(lambda: tell_generators_apart(*columns[decided_by])),
        draws=draws,
        seed=seed,
        for_first=for_first,
        for_second=for_second,
        missing=missing,
        preferences=view.pairs is not None,
        sides=sides,
    )


def compare_every_two(
    board: Board,
    store: CellStore | None,
    names: Sequence[str],
    *,
    by: str | None = None,
    draws: int = 1000,
    seed: int = 0,
    sides: Sides = "two",
) -> GeneratorPairs:
    """Every two of some generators under people or one metric, each pair tested as two generators alone are."""
    by = None if by is None or by == "people" else column_named(board, store, by)
    view = judged_matrix(board, with_parts(store, [by]))
    rows = [board.row_position[board.generator(name).name] for name in names]
    has_people = by is None and (view.pairs is not None or bool(np.isfinite(view.human[rows]).any()))
    decided_by = "people" if has_people else by or next(iter(view.scores.names), "")
    if not decided_by:
        raise NotEnoughData(f"board {board.name} has no scores yet; score it first")
    lower = {column.name for column in view.scores.columns if not column.higher_is_better}
    pairs = []
    for i, j in itertools.combinations(range(len(rows)), 2):
        pair = [rows[i], rows[j]]
        values = people_of(view, pair) if decided_by == "people" else view.scores.of(decided_by)[pair]
        if np.isfinite(values).all(axis=0).any():
            tested = _difference(decided_by, values, draws, seed, sides, higher_is_better=decided_by not in lower)
            pairs.append((names[i], names[j], tested))
    corrected = holm(np.array([tested.p for _, _, tested in pairs])) if pairs else ()
    return GeneratorPairs(
        board=board.name,
        decided_by=decided_by,
        draws=draws,
        seed=seed,
        sides=sides,
        compared=tuple(
            GeneratorPair(first=first, second=second, tested=tested, holm=float(p))
            for (first, second, tested), p in zip(pairs, corrected, strict=True)
        ),
    )


def people_of(view: JudgedMatrix, rows: list[int]) -> Floats:
    """What people say of two generators, instance by instance: their scores, or the comparisons that each won."""
    return view.human[rows] if view.pairs is None else shares_between(view.pairs, rows[0], rows[1], view.human.shape)


def _difference(
    name: str, values: Floats, draws: int, seed: int, sides: Sides, *, higher_is_better: bool
) -> ScoreDifference:
    both = values[:, np.isfinite(values).all(axis=0)]
    tests = permute_values(both, draws=draws, seed=seed, sides=sides).p if draws else np.full((2, 2), np.nan)
    means = both.mean(axis=1)
    leads = 0 if means[0] >= means[1] else 1
    first, second = map(float, natural(means, higher_is_better=higher_is_better))
    return ScoreDifference(
        name=name,
        means=(first, second),
        difference=first - second,
        p=float(tests[leads, 1 - leads]),
        wins=int((both[0] > both[1]).sum()),
        ties=int((both[0] == both[1]).sum()),
        losses=int((both[0] < both[1]).sum()),
        n=both.shape[1],
        higher_is_better=higher_is_better,
    )


def _whole(needed: Callable[[], Needed]) -> int | None:
    """A number of instances, where there is a difference to tell."""
    try:
        number = needed().needed
    except NotEnoughData:
        return None
    return math.ceil(number) if math.isfinite(number) else None


def _deciding_instances(
    board: Board, view: JudgedMatrix, rows: list[int], columns: dict[str, Floats], decided_by: str, shown: int
) -> tuple[tuple[DecidingOutput, ...], tuple[DecidingOutput, ...]]:
    """The instances where one generator is furthest above the other, with both texts."""
    weight = columns[decided_by][0] - columns[decided_by][1]
    keep = board.select(view.part)
    people = columns["people"]
    is_lower = any(column.name == decided_by and not column.higher_is_better for column in view.scores.columns)
    scale = natural(columns[decided_by], higher_is_better=not is_lower)

    def output(column: int, side: int) -> DecidingOutput:
        instance = board.instances[keep[column]]
        return DecidingOutput(
            instance=instance.id,
            generator=board.rows[rows[side]].name,
            weight=float(weight[column]),
            human=_defined(people[side, column]),
            first=_defined(scale[0, column]),
            second=_defined(scale[1, column]),
            output=board.rows[rows[0]].texts[keep[column]] or "",
            other=board.rows[rows[1]].texts[keep[column]] or "",
            reference=instance.references[0].text if instance.references else "",
        )

    best, worst = _furthest(weight, shown)
    return tuple(output(k, 0) for k in best), tuple(output(k, 1) for k in worst)


def _furthest(weight: Floats, shown: int) -> tuple[list[int], list[int]]:
    """The places, in a flat array, of what is furthest above zero and below it; the first comes first among equals."""
    flat = np.nan_to_num(weight.ravel(), nan=0.0)
    above, below = (np.argsort(values, kind="stable")[:shown] for values in (-flat, flat))
    return [int(k) for k in above if flat[k] > 0], [int(k) for k in below if flat[k] < 0]


def _standardised(values: Floats) -> Floats:
    spread = float(np.nanstd(values))
    return (values - np.nanmean(values)) / (spread if spread > 0 else 1.0)


def _defined(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def compare_all_metrics(
    board: Board,
    store: CellStore | None,
    *,
    aggregate: str | None = None,
    part: Slice | None = None,
    unit: Unit = "both",
    draws: int = 10_000,
    seed: int = 0,
    sides: Sides = "two",
    how: Yardstick = PEARSON,
    ties: Ties = "wrong",
    among: Sequence[str] = (),
) -> MetricPairs:
    """All pairs of metrics, or those among some, by pooled Pearson and acc_eq or another yardstick, surest first."""
    chosen = [column_named(board, store, name) for name in among]
    store = with_parts(store, chosen)
    view = judged_matrix(board, store, aggregate=aggregate, part=part, beside=bool(chosen))
    if chosen:
        positions = [view.scores.names.index(name) for name in chosen if name in view.scores.names]
        view = replace(view, scores=view.scores.select(positions))
    names = view.scores.names
    if len(names) < 2 or not (view.judged.any() or view.pairs):
        raise NotEnoughData(f"board {board.name} needs judged outputs and scores of two metrics before they compare")
    if draws < 1:
        raise InvalidInput(f"comparing all metrics is testing them, which needs at least 1 draw; got {draws}")
    if view.pairs is not None:
        check_unit(board, unit)
        if how not in (PEARSON, Yardstick(statistic="kendall-b")):
            raise InvalidInput(f"people compared outputs of {board.name}: there are no values for {how.words}")
        tests = _tests_on_pairs(view.scores.values, view.pairs.decided, draws, seed, sides, ties)
        compared = _compared(names, tests, None)
        return MetricPairs(
            board=board.name,
            aggregate=view.aggregate,
            part=str(view.part),
            unit="instances",
            draws=draws,
            seed=seed,
            compared=compared,
            statistic="kendall",
            sides=sides,
            ties=ties,
        )
    scores, human = view.scores.values[:, view.judged], view.human[view.judged]
    if how != PEARSON:
        tests = compare_by(scores, human, how, draws=draws, seed=seed, sides=sides, ties=ties)
        compared = _compared(names, tests, None)
        return MetricPairs(
            board=board.name,
            aggregate=view.aggregate,
            part=str(view.part),
            unit=unit,
            draws=draws,
            seed=seed,
            compared=compared,
            statistic=how.name,
            sides=sides,
            ties=ties,
        )
    tests = permute_correlations(scores, human, unit=unit, draws=draws, seed=seed, sides=sides)
    accuracy = permute_decisions(scores, human, draws=draws, seed=seed, most=MOST_PAIRS, sides=sides)
    compared = _compared(names, tests, accuracy)
    return MetricPairs(
        board=board.name,
        aggregate=view.aggregate,
        part=str(view.part),
        unit=unit,
        draws=draws,
        seed=seed,
        compared=compared,
        sides=sides,
    )


def _tests_on_pairs(scores: Floats, decided: Preferences, draws: int, seed: int, sides: Sides, ties: Ties) -> PairTests:
    """Every two metrics by WMT's Kendall on the pairs that both decide."""
    choices = decisions(scores, decided.better, decided.worse, decided.instance, ties)
    is_scored = np.isfinite(choices)
    n = is_scored.astype(np.int64) @ is_scored.T
    sums = np.where(is_scored, choices, 0.0) @ is_scored.T
    with np.errstate(invalid="ignore"):
        difference = (sums - sums.T) / n
    p = exchange_decisions(choices, decided.instance, draws=draws, seed=seed, sides=sides)
    return PairTests(difference, p, n)


def _compared(names: tuple[str, ...], tests: PairTests, accuracy: AccuracyTests | None) -> tuple[MetricPair, ...]:
    pairs = [(a, b) if _leads(tests, a, b) else (b, a) for a, b in itertools.combinations(range(len(names)), 2)]
    p = np.array([tests.p[a, b] for a, b in pairs])
    corrected = holm(p), benjamini_hochberg(p)
    compared = [
        MetricPair(
            first=names[a],
            second=names[b],
            difference=_defined(tests.difference[a, b]),
            p=_defined(p[k]),
            holm=_defined(corrected[0][k]),
            bh=_defined(corrected[1][k]),
            n=int(tests.n[a, b]),
            **(_no_accuracy() if accuracy is None else _in_accuracy(accuracy, a, b)),
        )
        for k, (a, b) in enumerate(pairs)
    ]
    return tuple(sorted(compared, key=_surest))


class _Accuracy(TypedDict):
    """What a pair of metrics says of pairs of outputs."""

    accuracy: float | None
    p_accuracy: float | None
    pairs: int


def _no_accuracy() -> _Accuracy:
    return {"accuracy": None, "p_accuracy": None, "pairs": 0}


def _in_accuracy(tests: AccuracyTests, a: int, b: int) -> _Accuracy:
    ahead = (a, b) if not tests.difference[a, b] < 0 else (b, a)
    return {
        "accuracy": _defined(tests.difference[a, b]),
        "p_accuracy": _defined(tests.p[ahead]),
        "pairs": int(tests.n[a, b]),
    }


def _leads(tests: PairTests, a: int, b: int) -> bool:
    return not tests.difference[a, b] < 0


def _surest(pair: MetricPair) -> tuple[float, float]:
    return (2.0 if pair.p is None else pair.p, -abs(pair.difference or 0.0))


#: The statistic that ranks metrics where people compared outputs.
WMT_KENDALL = "WMT's Kendall"
_PERMUTED = {"both": "PERM-BOTH", "instances": "PERM-INPUTS", "generators": "PERM-SYSTEMS"}


def metric_comparison_table(comparison: MetricComparison) -> Table:
    """Two metrics side by side."""
    if comparison.statistic == "kendall":
        return _preference_comparison_table(comparison)
    columns = (TableColumn("what", "", align="left"), TableColumn("value", "value", align="right"))
    first, second = comparison.correlations
    tested = sided(comparison.sides)
    rows: list[dict[str, object]] = [
        {"what": f"correlation of {comparison.first}", "value": value_text(first, 3)},
        {"what": f"correlation of {comparison.second}", "value": value_text(second, 3)},
        {"what": "difference", "value": value_text(comparison.difference, 3)},
        {
            "what": f"95% interval (bootstrap over {resampled_text(comparison.resampled)})",
            "value": interval_text(comparison.interval, 3),
        },
        {"what": f"p, {tested} ({_PERMUTED[comparison.unit]})", "value": p_text(comparison.p_permutation)},
        {"what": f"p, {tested} (Williams)", "value": p_text(comparison.p_williams)},
        {"what": "correlation between the two", "value": value_text(comparison.between, 3)},
        {"what": "judged outputs", "value": f"{comparison.n:,}"},
        {"what": "instances for 80% power", "value": "–" if comparison.needed is None else f"{comparison.needed:,}"},
        *_accuracy_rows(comparison),
    ]
    return Table(
        f"{comparison.board}: {comparison.first} against {comparison.second}",
        columns,
        tuple(rows),
        _accuracy_notes(comparison),
    )


def _preference_comparison_table(comparison: MetricComparison) -> Table:
    """Two metrics on the pairs that people compared."""
    columns = (TableColumn("what", "", align="left"), TableColumn("value", "value", align="right"))
    units = resampled_text(comparison.resampled)
    rows: tuple[dict[str, object], ...] = (
        {"what": f"{WMT_KENDALL} of {comparison.first}", "value": value_text(comparison.correlations[0], 3)},
        {"what": f"{WMT_KENDALL} of {comparison.second}", "value": value_text(comparison.correlations[1], 3)},
        {"what": "difference", "value": value_text(comparison.difference, 3)},
        {"what": f"95% interval (bootstrap over {units})", "value": interval_text(comparison.interval, 3)},
        {
            "what": f"p, {sided(comparison.sides)} (whole {units} exchanged)",
            "value": p_text(comparison.p_permutation),
        },
        {"what": "pairs of outputs that people compared", "value": f"{comparison.n:,}"},
        {"what": "instances for 80% power", "value": "–" if comparison.needed is None else f"{comparison.needed:,}"},
    )
    notes = (
        f"{WMT_KENDALL}: (C - D)/(C + D) over the pairs of which people found one better and that both metrics score; "
        "a metric that ties a pair has it wrong.",
        "In the lists of outputs, a metric's number is its score of the output that people preferred less that of the "
        "other: above 0, it agrees with them.",
    )
    return Table(f"{comparison.board}: {comparison.first} against {comparison.second}", columns, rows, notes)


def _accuracy_rows(comparison: MetricComparison) -> list[dict[str, object]]:
    """acc_eq of both and how sure its difference is, where instances have pairs of judged outputs."""
    accuracy = comparison.accuracy
    if accuracy is None:
        return []
    first, second = accuracy.values
    return [
        {"what": f"acc_eq of {comparison.first}", "value": value_text(first, 3)},
        {"what": f"acc_eq of {comparison.second}", "value": value_text(second, 3)},
        {"what": "difference in acc_eq", "value": value_text(accuracy.difference, 3)},
        {"what": f"p, {sided(comparison.sides)} (pairs permutation)", "value": p_text(accuracy.p_pairs)},
        {"what": f"p, {sided(comparison.sides)} (whole instances exchanged)", "value": p_text(accuracy.p_instances)},
        {"what": "pairs of outputs", "value": f"{accuracy.pairs:,}"},
    ]


def _accuracy_notes(comparison: MetricComparison) -> tuple[str, ...]:
    if comparison.accuracy is None:
        return ("acc_eq needs two judged outputs of one instance, and there are none.",)
    if not any(comparison.accuracy.epsilons):
        return ("acc_eq: only equal scores count as ties; no epsilon does better on these pairs.",)
    ties = " and ".join(f"{epsilon:.3g}" for epsilon in comparison.accuracy.epsilons)
    return (f"acc_eq: differences up to {ties} count as ties, each metric's best epsilon on these pairs.",)


def metric_pairs_table(study: MetricPairs) -> Table:
    """Every two metrics, with p-values corrected for all of them."""
    with_accuracy = study.statistic == "pearson"
    columns = (
        TableColumn("first", "ahead", "left"),
        TableColumn("second", "behind", "left"),
        TableColumn("difference", "difference", digits=3),
        # Names must stay whole; Holm's p says the most where only one has room.
        TableColumn("p", "p", kind="p", priority=1),
        TableColumn("holm", "Holm", kind="p"),
        TableColumn("bh", "BH", kind="p", priority=1),
        TableColumn("n", "n", priority=4),
        TableColumn("accuracy", "in acc_eq", digits=3, priority=2, visible=with_accuracy),
        TableColumn("p_accuracy", "p (pairs)", kind="p", priority=2, visible=with_accuracy),
        TableColumn("pairs", "pairs", priority=4, visible=with_accuracy),
    )
    rows = tuple({column.key: getattr(pair, column.key) for column in columns} for pair in study.compared)
    what = "pooled Pearson" if with_accuracy else f"{WMT_KENDALL} over the n pairs of outputs that people compared"
    permuted = _PERMUTED[study.unit] if with_accuracy else "whole instances exchanged"
    if study.statistic not in ("pearson", "kendall"):
        what, permuted = yardstick(study.statistic).words, "exchanged as docs/suites.md says"
    notes = [
        f"{sided(study.sides).capitalize()} p of the difference in {what} ({permuted}, {study.draws:,} draws); Holm "
        f"and Benjamini-Hochberg correct it for {len(rows):,} pairs of metrics."
        + (" p (pairs): the pairs permutation for acc_eq." if with_accuracy else ""),
    ]
    if len(rows) / (1 + study.draws) > 0.05:
        notes.append(f"{study.draws:,} draws are too few for any pair to pass Holm's at .05; take {20 * len(rows):,}.")
    return Table(f"{study.board}: every two metrics ({study.aggregate})", columns, rows, tuple(notes))


def generator_comparison_table(comparison: GeneratorComparison) -> Table:
    """Two generators under people and every metric."""
    columns = (
        TableColumn("name", "score", align="left", kind="name"),
        TableColumn("first", comparison.first, digits=3),
        TableColumn("second", comparison.second, digits=3),
        TableColumn("difference", "difference", digits=3),
        TableColumn("p", "p", kind="p"),
        TableColumn("wins", "wins", priority=2),
        TableColumn("ties", "ties", priority=3),
        TableColumn("losses", "losses", priority=2),
        TableColumn("n", "n", priority=4),
    )
    rows = tuple(
        {
            "name": s.name,
            "mark": "" if s.higher_is_better else LOWER,
            "first": s.means[0],
            "second": s.means[1],
            "difference": s.difference,
            "p": s.p,
            "wins": s.wins,
            "ties": s.ties,
            "losses": s.losses,
            "n": s.n,
        }
        for s in comparison.scores
    )
    asked = "the two differ" if comparison.sides == "two" else "the higher one is higher"
    notes = [f"p: {sided(comparison.sides)} paired permutation test that {asked}, {comparison.draws:,} draws."]
    if comparison.needed is not None:
        notes.append(f"By {comparison.decided_by}, {comparison.needed:,} instances like these give 80% power.")
    if comparison.preferences:
        notes.append(f"people: {COMPARISONS_WON}")
    notes += [f"Not compared: {name}: {reason}" for name, reason in comparison.missing.items()]
    return Table(f"{comparison.board}: {comparison.first} against {comparison.second}", columns, rows, tuple(notes))


#: Letters of a generator's name that stand over its texts.
_LONGEST_HEAD = 12


def deciding_table(title: str, outputs: Sequence[DecidingOutput], names: tuple[str, str]) -> Table:
    """The outputs that speak most for a side, with the texts to look at."""
    compared = any(o.other_generator for o in outputs)
    # Of two generators both texts stand here, the first one's first, whichever of them an instance speaks for.
    of_both = not compared and any(o.other for o in outputs)
    # Two texts leave no room for long names in heads, where they would be broken.
    short = not of_both or max(map(len, names)) <= _LONGEST_HEAD
    first, second = names if short else ("first", "second")
    columns = (
        TableColumn("instance", "instance", align="left"),
        TableColumn("generator", "generator", align="left", priority=2, visible=not of_both),
        TableColumn("other_generator", "preferred to", align="left", priority=2, visible=compared),
        TableColumn("human", "people", digits=1, visible=not compared),
        TableColumn("first", first, digits=3),
        TableColumn("second", second, digits=3),
        TableColumn("output", f"output of {first}" if of_both else "output", align="left"),
        TableColumn(
            "other",
            f"output of {second}" if of_both else "the other output",
            align="left",
            priority=0 if of_both else 3,
            visible=compared or of_both,
        ),
        TableColumn("reference", "reference", align="left", priority=4),
    )
    rows = tuple(
        {
            "instance": o.instance,
            "generator": o.generator,
            "other_generator": o.other_generator,
            "human": o.human,
            "first": o.first,
            "second": o.second,
            "output": clipped(o.output),
            "other": clipped(o.other),
            "reference": clipped(o.reference),
        }
        for o in outputs
    )
    return Table(title, columns, rows, () if short else (f"first: {names[0]}; second: {names[1]}",))


@analysis()
def compare(
    view: View,
    first: Annotated[
        str | None,
        Named(metavar="A", positional=True, metrics="scored"),
        "a metric or a generator (default: every two metrics)",
    ] = None,
    second: Annotated[
        str | None, Named(metavar="B", positional=True, metrics="scored"), "another of the same kind"
    ] = None,
    *,
    unit: Annotated[
        Unit, "what permutation tests of metrics exchange: single scores (PERM-BOTH), or whole units"
    ] = "both",
    by: Annotated[
        str | None,
        Named(metavar="SCORE", metrics="scored"),
        "what decides between generators (default: people, else a metric)",
    ] = None,
    shown: Annotated[int, Ge(1), Named(name="show", metavar="N"), "outputs to show"] = 5,
    draws: Annotated[int | None, Ge(1), Named(metavar="N"), "draws (default 1000; 10000 for every two metrics)"] = None,
    resampled: Annotated[
        Resampled,
        Named(name="resample"),
        "what the bootstrap draws anew for intervals: the result is to hold for others of these",
    ] = "instances",
    seed: Annotated[int, Ge(0), Named(metavar="N"), "seed of what is random"] = 0,
    sides: Annotated[Sides, "tests ask whether the two differ, or (one) whether the one ahead is better"] = "two",
    statistic: Annotated[
        str,
        Named(metavar="NAME"),
        "what compares metrics: pearson, spearman, kendall-b, kendall-c, kendall-wmt, acc-eq, pdp, accuracy or spa",
    ] = "pearson",
    grouping: Annotated[
        Grouping | None, "how outputs are grouped for the statistic: by default pooled, or as it needs"
    ] = None,
    ties: Annotated[Ties, "how to count pairs that people compared and that a metric scores alike"] = "wrong",
) -> MetricComparison | GeneratorComparison | MetricPairs:
    """Compare two metrics, or two generators: is the difference real, which outputs decide it? Or every two metrics."""
    how = yardstick(statistic, grouping)
    otherwise = how != PEARSON or ties != "wrong"
    if otherwise and view.judgments_hidden:
        raise InvalidInput(
            f"{view.board.name} keeps judgments hidden: metrics are compared by pooled Pearson alone, so that nobody "
            "can put what several statistics say together"
        )
    two_metrics = first is not None and second is not None and not are_generators(view.board, first, second)
    if first is None or (two_metrics and otherwise):
        return compare_all_metrics(
            view.counted,
            view.cells,
            aggregate=view.aggregate,
            part=view.part,
            unit=unit,
            draws=draws or (1000 if otherwise else 10_000),
            seed=seed,
            sides=sides,
            how=how,
            ties=ties,
            among=() if first is None or second is None else (first, second),
        )
    if second is None:
        raise InvalidInput(f"{first} must be compared with another: name two metrics or two generators")
    if are_generators(view.board, first, second):
        pair = compare_generators(
            view.counted,
            view.cells,
            first,
            second,
            by=by,
            aggregate=view.aggregate,
            part=view.part,
            draws=draws or 1000,
            seed=seed,
            shown=shown,
            sides=sides,
        )
        return _readable_pair(view, pair)
    try:
        comparison = compare_metrics(
            view.counted,
            view.cells,
            first,
            second,
            unit=unit,
            resampled=resampled,
            aggregate=view.aggregate,
            part=view.part,
            draws=draws or 1000,
            seed=seed,
            shown=shown,
            sides=sides,
        )
    except UnknownName:
        _refuse_misspelt(view.board, first, second)
        raise
    return _readable_comparison(view, comparison)


def _refuse_misspelt(board: Board, *names: str) -> None:
    """Two names that are no metrics may be meant as generators: then those are offered."""
    generators = [row.name for row in board.rows if row.generator is not None]
    for name in names:
        if name not in generators and nearest(name, generators, cutoff=0.8):
            raise UnknownName("generator", name, generators)


@compare.table
def _comparison_tables(result: MetricComparison | GeneratorComparison | MetricPairs) -> tuple[Table, ...]:
    if isinstance(result, MetricPairs):
        return (metric_pairs_table(result),)
    whole = (
        generator_comparison_table(result)
        if isinstance(result, GeneratorComparison)
        else metric_comparison_table(result)
    )
    names = (result.first, result.second)
    return (
        whole,
        deciding_table(f"Outputs that speak most for {result.first}", result.for_first, names),
        deciding_table(f"Outputs that speak most for {result.second}", result.for_second, names),
    )


def _readable_pair(view: View, pair: GeneratorComparison) -> GeneratorComparison:
    """Two generators, with the texts that may be read."""
    if view.board is view.counted:
        return pair

    def masked(outputs: tuple[DecidingOutput, ...]) -> tuple[DecidingOutput, ...]:
        return tuple(replace(o, **view.texts(o.instance, pair.first, pair.second)) for o in outputs)

    return replace(pair, for_first=masked(pair.for_first), for_second=masked(pair.for_second))


def _readable_comparison(view: View, comparison: MetricComparison) -> MetricComparison:
    """Two metrics, with the texts that may be read."""
    if view.board is view.counted:
        return comparison

    def masked(outputs: tuple[DecidingOutput, ...]) -> tuple[DecidingOutput, ...]:
        return tuple(replace(o, **view.texts(o.instance, o.generator, o.other_generator or None)) for o in outputs)

    return replace(comparison, for_first=masked(comparison.for_first), for_second=masked(comparison.for_second))
