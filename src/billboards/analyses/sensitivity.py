"""Rank the metrics under every statistic, grouping and dimension, and without each generator in turn.

Sensitivity: would the metric ranking stand if one had chosen otherwise?

The same metrics are ranked under every statistic and grouping, by every dimension of judgments, and without each
generator in turn. A metric whose place changes is marked; so is a generator that pulls the correlations far more than
the others do, as the zero-shot system does on cnndm in the paper (footnote 10). Where people compared outputs there is
one statistic, WMT's Kendall over pairs, and all else is as before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from billboards.analyses._analysis import analysis
from billboards.analyses._view import JudgedMatrix, View, judged_matrix
from billboards.analyses.compare import WMT_KENDALL
from billboards.board import Board, Preferences, ReferenceSet, Slice
from billboards.board.cells import CellStore
from billboards.errors import NotEnoughData
from billboards.options import Named
from billboards.show.table import Table, TableColumn
from billboards.stats.correlation import pearson
from billboards.stats.grouped import GROUPINGS, STATISTICS, Grouping, correlation
from billboards.stats.pairwise import acc_eq, held_out_acc_eq, pairwise_difference_pearson
from billboards.stats.preferences import area_under_curve, decisions, preference_correlations, relative_ranking
from billboards.stats.system_pairs import soft_pairwise_accuracy, system_pairwise_accuracy


@dataclass(frozen=True, kw_only=True)
class Condition:
    """One way to rank the same metrics: another statistic, dimension, or without one generator.

    `n` counts what a value rests on: outputs, generators at system level, or pairs of either. `p` is two-sided, that
    there is no association, for correlations that have such a test.
    """

    name: str
    kind: Literal["statistic", "dimension", "without"]
    values: Mapping[str, float | None]
    ranks: Mapping[str, int | None]
    n: Mapping[str, int] = field(default_factory=dict)
    p: Mapping[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RankRange:
    """Where a metric stands by default, and the best and worst place it takes under any condition."""

    name: str
    rank: int | None
    best: int | None
    worst: int | None
    moves: bool


@dataclass(frozen=True, kw_only=True)
class Sensitivity:
    """The same ranking under every statistic, grouping and dimension, and without each generator in turn.

    `pulls` says, for each generator, by how much the metrics' correlations change without it (mean absolute change);
    `outliers` are those whose pull stands far above the others'.
    """

    DOCUMENT: ClassVar[str] = "sensitivity"

    board: str
    aggregate: str
    conditions: tuple[Condition, ...]
    metrics: tuple[RankRange, ...]
    pulls: Mapping[str, float]
    outliers: tuple[str, ...]
    #: Whether its tables are of every statistic's value instead of ranks.
    shows_values: bool = False


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
    view = judged_matrix(board, store, aggregate=aggregate, references=references, part=part)
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
        board=board.name,
        aggregate=view.aggregate,
        conditions=tuple(conditions),
        metrics=tuple(
            _range(name, base, conditions) for name in sorted(base.ranks, key=lambda n: (base.ranks[n] or 999, n))
        ),
        pulls=pulls,
        outliers=_outliers(pulls),
    )


def _condition(
    name: str, kind: Kind, view: JudgedMatrix, values: Floats, n: NDArray[np.int64], p: Floats | None = None
) -> Condition:
    named = _named(view, values)
    # Values that differ by rounding alone share a rank.
    rounded = {metric: None if v is None else round(v, 12) for metric, v in named.items()}
    order = sorted((v for v in rounded.values() if v is not None), reverse=True)
    ranks = {metric: None if v is None else 1 + order.index(v) for metric, v in rounded.items()}
    counts = dict(zip(view.scores.names, n.tolist(), strict=True))
    return Condition(name=name, kind=kind, values=named, ranks=ranks, n=counts, p={} if p is None else _named(view, p))


def _named(view: JudgedMatrix, values: Floats) -> dict[str, float | None]:
    return {name: None if np.isnan(v) else float(v) for name, v in zip(view.scores.names, values, strict=True)}


def _statistics(board: Board, view: JudgedMatrix, draws: int, seed: int) -> Iterator[Condition]:
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
            correlations = correlation(scores[:, rows], human[rows], statistic=statistic, grouping=grouping)
            yield _condition(
                f"{statistic}, {_words(grouping)}",
                "statistic",
                view,
                correlations.value,
                correlations.n,
                correlations.p,
            )
    if len(np.unique(human[np.isfinite(human)])) == 2:
        auc = area_under_curve(scores, human)
        yield _condition("AUC", "statistic", view, auc.value, auc.positives + auc.negatives)
    if len(human) > 1:
        yield from _pairs_of_outputs(view, scores, human, seed)
    if generators.sum() > 1:
        yield from _pairs_of_generators(view, scores[:, generators], human[generators], draws, seed)


def _pairs_of_outputs(view: JudgedMatrix, scores: Floats, human: Floats, seed: int) -> Iterator[Condition]:
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


def _pairs_of_generators(
    view: JudgedMatrix, scores: Floats, human: Floats, draws: int, seed: int
) -> Iterator[Condition]:
    """Agreement on pairs of generators."""
    spa = soft_pairwise_accuracy(scores, human, draws=max(draws, 1), seed=seed)
    yield _condition("SPA", "statistic", view, spa.value, spa.n)
    accuracy = system_pairwise_accuracy(scores, human)
    yield _condition("pairwise system accuracy", "statistic", view, accuracy.value, accuracy.n)


def _words(grouping: Grouping) -> str:
    return grouping.replace("-", " ")


def _dimensions(
    board: Board, store: CellStore | None, view: JudgedMatrix, references: ReferenceSet | None
) -> Iterator[Condition]:
    """Agreement with every other dimension and aggregate that has judgments, by the statistic that fits them."""
    for name in (*board.aggregates, *board.dimensions):
        if name == view.aggregate or board.aggregate(view.aggregate).dimensions == (name,):
            continue
        other = judged_matrix(board, store, aggregate=name, references=references, part=view.part)
        if other.judged.any() or other.pairs:
            yield _condition(name, "dimension", view, *_agreement(view.scores.values, other))


def _without(board: Board, view: JudgedMatrix) -> Iterator[Condition]:
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


def _pairs_without(board: Board, view: JudgedMatrix, decided: Preferences) -> Iterator[Condition]:
    """WMT's Kendall on the pairs that a generator takes no part in, for each one that leaves any."""
    for k in np.unique((decided.better, decided.worse)).tolist():
        rest = decided.where((decided.better != k) & (decided.worse != k))
        if board.rows[k].generator is not None and len(rest):
            agreement = _agreement(view.scores.values, replace(view, pairs=rest))
            yield _condition(board.rows[k].name, "without", view, *agreement)


def _agreement(scores: Floats, view: JudgedMatrix) -> tuple[Floats, NDArray[np.int64]]:
    """Pooled Pearson with people's scores, or WMT's Kendall over the pairs they compared, and what it rests on."""
    if view.pairs is None:
        return pearson(scores, view.judged_human)
    decided = view.pairs.decided
    choices = decisions(scores, decided.better, decided.worse, decided.instance)
    correlations = preference_correlations(choices, decided.instance, draws=0)
    return correlations.r, correlations.n


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


def sensitivity_table(report: Sensitivity) -> Table:
    """Every metric's place by default and the best and worst place it takes under any condition."""
    columns = (
        TableColumn("rank", "#", align="right"),
        TableColumn("name", "metric", align="left"),
        TableColumn("best", "best"),
        TableColumn("worst", "worst"),
        TableColumn("moves", "", align="left"),
    )
    rows = tuple(
        {"rank": m.rank, "name": m.name, "best": m.best, "worst": m.worst, "moves": "moves" if m.moves else "stays"}
        for m in report.metrics
    )
    return Table(
        f"{report.board}: ranks of metrics under {len(report.conditions)} conditions", columns, rows, _notes(report)
    )


def _notes(report: Sensitivity) -> tuple[str, ...]:
    pull = next(iter(report.pulls.items()), None)
    notes = [] if pull is None else [f"Correlations depend most on {pull[0]}: without it they change by {pull[1]:.3f}."]
    if report.outliers:
        notes.append(f"Outlier: {', '.join(report.outliers)} pulls far more than any other generator.")
    return tuple(notes)


def conditions_table(report: Sensitivity) -> Table:
    """Every metric's rank under every condition, a row per condition."""
    names = [metric.name for metric in report.metrics]
    columns = (
        TableColumn("kind", "kind", align="left", priority=2),
        TableColumn("condition", "condition", align="left"),
        *(TableColumn(f"rank of {name}", name, priority=3 + place) for place, name in enumerate(names)),
    )
    rows = tuple(
        {
            "kind": condition.kind,
            "condition": f"without {condition.name}" if condition.kind == "without" else condition.name,
            **{f"rank of {name}": condition.ranks[name] for name in names},
        }
        for condition in report.conditions
    )
    return Table(f"{report.board}: the rank of every metric under every condition", columns, rows)


def values_table(report: Sensitivity) -> Table:
    """Every metric under every statistic: its value, its p-value where there is a test, and on how much it rests."""
    columns = (
        TableColumn("statistic", "statistic", "left"),
        TableColumn("name", "metric", "left"),
        TableColumn("value", "value", digits=3),
        TableColumn("p", "p", kind="p"),
        TableColumn("n", "n"),
    )
    rows = tuple(
        {"statistic": c.name, "name": name, "value": c.values[name], "p": c.p.get(name), "n": c.n.get(name)}
        for c in report.conditions
        if c.kind == "statistic"
        for name in (metric.name for metric in report.metrics)
    )
    return Table(
        f"{report.board}: every metric under every statistic ({report.aggregate})", columns, rows, _value_notes(report)
    )


def _value_notes(report: Sensitivity) -> tuple[str, ...]:
    if report.conditions[0].name == WMT_KENDALL:
        return (f"{WMT_KENDALL}: (C - D)/(C + D) over the pairs of which people found one better. n: these pairs.",)
    return (
        "p: two-sided, of no association. n: outputs; generators at system level; pairs of outputs or of generators "
        "where pairs are compared. By system there is no p, because generators share their instances.",
        f"{WMT_KENDALL}: (C - D)/(C + D) over the pairs that people put 25 of 100 points apart or more.",
    )


@analysis(group="how good are the metrics?")
def sensitivity(
    view: View,
    *,
    values: Annotated[bool, "show every statistic's value, p and n instead of ranks"] = False,
    draws: Annotated[int, Ge(1), Named(metavar="N"), "draws of tests between metrics"] = 1000,
    seed: Annotated[int, Ge(0), Named(metavar="N"), "seed of what is random"] = 0,
) -> Sensitivity:
    """Rank the metrics under every statistic, grouping and dimension, and without each generator in turn."""
    study = measure_sensitivity(
        view.counted, view.cells, aggregate=view.aggregate, part=view.part, draws=draws, seed=seed
    )
    return replace(study, shows_values=values)


@sensitivity.table
def _sensitivity_tables(study: Sensitivity) -> tuple[Table, ...]:
    if study.shows_values:
        return (values_table(study),)
    return sensitivity_table(study), conditions_table(study)
