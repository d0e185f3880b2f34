"""Say what is decided and what is not yet, by numbers that stay valid however often one looks.

A live board is looked at after each label. Means of generators and differences between them have confidence sequences,
which hold at all times at once; pairs of generators and of metrics are decided by e-values and e-BH, with the labels
that it took. The ordinary 95% interval stands beside, labelled "looked at once": it holds for who looks a single time,
at a number of labels that was fixed before.

The unit is the instance (or document): it comes in once all of its judgments have. Its place is that of its last
judgment, by time where every judgment has one, else by the order of the file. That order must say nothing about the
values; where it may, replay the labels in a random one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Gt, Lt
from numpy.typing import NDArray

from billboards.analyses._analysis import analysis
from billboards.analyses._preferences import check_values
from billboards.analyses._view import JudgedMatrix, View
from billboards.analyses.estimate import scale_ends
from billboards.analyses.ratings._ratings import seconds
from billboards.board import Board, judged_values
from billboards.errors import NotEnoughData
from billboards.options import Named
from billboards.show.table import Table, TableColumn
from billboards.show.words import value_text
from billboards.stats.bootstrap import Interval
from billboards.stats.correlation import instance_sums
from billboards.stats.sequences import asymptotic_sequence, confidence_sequence
from billboards.stats.watching import BURN_IN, Cells, Watched, cells_by_unit, watch_pairs
from billboards.stats.watching_metrics import watch_correlations
from billboards.stats.worst_case import bootstrap_mean

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Ends = tuple[float, float]
#: Intervals are for 95%, as everywhere; the level is that of decisions.
INTERVAL = 0.95
#: Larger e-values than this are told as this.
LARGEST = 1e15
#: With more pairs than this, only those of neighbours in the order of means have an interval of their difference.
MOST_INTERVALS = 200
#: So many generators, or metrics, are compared with one another at most.
MOST = 100
#: An order in which half of the units need more than this share of the labels does not go by instance.
LATE = 0.75
#: What the ordinary interval is called.
ONCE = "looked at once"


@dataclass(frozen=True, kw_only=True, slots=True)
class WatchedMean:
    """A generator's mean on 0-100 over `n` instances: `interval` holds however often one looks, `once` for one look."""

    generator: str
    n: int
    mean: float
    interval: Interval | None
    once: Interval


@dataclass(frozen=True, kw_only=True, slots=True)
class WatchedPair:
    """Two generators on the `n` instances of both: `difference` is the better one's mean less the other's.

    `e` is the e-value that `better` is better. Where that is decided, `labels` of the whole board and `instances` had
    come by then.
    """

    better: str
    other: str
    n: int
    difference: float
    interval: Interval | None
    once: Interval | None
    e: float
    decided: bool
    labels: int | None
    instances: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class WatchedMetric:
    """A metric's correlation with people and its asymptotic sequence; `beaten` metrics are decided to agree less."""

    metric: str
    correlation: float
    interval: Interval
    beaten: int
    beaten_by: int


@dataclass(frozen=True, kw_only=True, slots=True)
class WatchedMetrics:
    """Two metrics: by how much `better` correlates more with people than `other`, and whether that is decided."""

    better: str
    other: str
    difference: float
    interval: Interval
    e: float
    decided: bool
    instances: int | None


@dataclass(frozen=True, kw_only=True)
class WatchStudy:
    """What is decided on a board, and after how many labels; `instances` are the units that are complete.

    `order` is what the order of labels was taken from, `method` how intervals of means and e-values of pairs are made:
    by betting on bounded values, or asymptotically where the scale has no ends.
    """

    DOCUMENT: ClassVar[str] = "watch"

    board: str
    aggregate: str
    part: str
    unit: Literal["instance", "document"]
    order: Literal["time", "file", "random"]
    target: Literal["population", "instances"]
    method: Literal["betting", "asymptotic"]
    level: float
    labels: int
    instances: int
    draws: int
    seed: int
    means: tuple[WatchedMean, ...]
    pairs: tuple[WatchedPair, ...]
    metrics: tuple[WatchedMetric, ...] = ()
    metric_pairs: tuple[WatchedMetrics, ...] = ()
    #: Whether values are z-scores.
    standardised: bool = False
    #: The labels that had come when half of the instances were complete.
    half_labels: int = 0


@analysis(quick=False, group="people")
def watch(
    view: View,
    *,
    level: Annotated[float, Gt(0), Lt(1), Named(metavar="X"), "share of false ones among all that is decided"] = 0.05,
    unit: Annotated[Literal["instance", "document"], "what comes in as one: an instance, or a document"] = "instance",
    order: Annotated[
        Literal["given", "random"], "replay labels as they came, or instances in a random order"
    ] = "given",
    target: Annotated[
        Literal["population", "instances"],
        "means over what the instances are a sample of, or over these instances alone, drawn one by one",
    ] = "population",
    draws: Annotated[int, Ge(1), Named(metavar="N"), "bootstrap draws of the intervals for one look"] = 1000,
    seed: Annotated[int, Ge(0), Named(metavar="N"), "seed of draws and of the random order"] = 0,
) -> WatchStudy:
    """Say what is decided and what is not yet, by numbers that stay valid however often one looks."""
    board = view.counted
    check_values(board, view.aggregate, "there are no means to watch")
    matrix = view.matrix()
    rows = _rows(board, matrix)
    units = _units(board, list(board.select(matrix.part)), unit)
    arrived = _Arrivals(board, matrix, rows, units)
    values = arrived.values
    pool = values.shape[1] if target == "instances" else None
    if pool is not None and any(text is None for k in rows for text in board.rows[k].texts):
        raise NotEnoughData("means over these instances alone need an output of each generator for each instance")
    random_order = np.random.default_rng(seed).permutation(values.shape[1]) if order == "random" else None
    cells = arrived.cells() if random_order is None else cells_by_unit(values, arrived.counts, random_order.tolist())
    ends = scale_ends(board, board.aggregate(view.aggregate))
    names = [board.rows[k].name for k in rows]
    means, pairs, watched = watch_cells(
        names, cells, np.isfinite(values), ends=ends, level=level, pool=pool, draws=draws, seed=seed
    )
    by_unit = _unit_order(cells) if random_order is None else random_order
    metrics, metric_pairs = _watch_metrics(matrix, units, by_unit, level)
    return WatchStudy(
        board=board.name,
        aggregate=matrix.aggregate,
        part=str(matrix.part),
        unit=unit,
        order="random" if random_order is not None else "time" if arrived.timed else "file",
        target=target,
        method="asymptotic" if ends is None else "betting",
        level=level,
        labels=int(cells.labels.max(initial=0)),
        instances=watched.units,
        draws=draws,
        seed=seed,
        means=means,
        pairs=pairs,
        metrics=metrics,
        metric_pairs=metric_pairs,
        standardised=board.aggregate(view.aggregate).standardise is not None,
        half_labels=_half(cells),
    )


def _rows(board: Board, matrix: JudgedMatrix) -> list[int]:
    """The judged generators; rows that belong to none are laid out as it falls, and can't be watched."""
    rows = [k for k in np.flatnonzero(matrix.judged).tolist() if board.rows[k].generator is not None]
    if len(rows) < 2:
        raise NotEnoughData(f"board {board.name} needs two judged generators or more before anything can be decided")
    if len(rows) > MOST:
        raise NotEnoughData(f"board {board.name} has {len(rows)} judged generators; {MOST} can be compared at most")
    return rows


def _units(board: Board, keep: Sequence[int], unit: str) -> Ints:
    """The unit of each instance of the board as a number, -1 for those outside the part."""
    names = [
        (board.instances[k].document or f" {board.instances[k].id}") if unit == "document" else str(k) for k in keep
    ]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    units = np.full(len(board.instances), -1, np.int64)
    units[list(keep)] = [numbers[name] for name in names]
    return units


class _Arrivals:
    """What was judged, as generators × units: means, how many labels each has, and the place of the last of them."""

    def __init__(self, board: Board, matrix: JudgedMatrix, rows: Sequence[int], units: Ints) -> None:
        aggregate = board.aggregate(matrix.aggregate)
        judgments = board.judgments
        place = np.full(len(board.rows), -1, np.int64)
        place[list(rows)] = np.arange(len(rows))
        rated = np.isfinite(judged_values(judgments, aggregate, board.dimensions)).any(axis=1)
        used = judgments.counted(aggregate.campaigns) & rated
        used &= (place[judgments.row] >= 0) & (units[judgments.instance] >= 0)
        chosen = np.flatnonzero(used)
        times = np.array([seconds(judgments.details.get(k, {}).get("time")) for k in chosen.tolist()], np.float64)
        self.timed = bool(len(times)) and bool(np.isfinite(times).all())
        if self.timed:
            chosen = chosen[np.argsort(times, kind="stable")]
        generator, unit = place[judgments.row[chosen]], units[judgments.instance[chosen]]
        shape = (len(rows), int(units.max(initial=-1)) + 1)
        self.counts: Ints = np.zeros(shape, np.int64)
        np.add.at(self.counts, (generator, unit), 1)
        self._last: Ints = np.zeros(shape, np.int64)
        np.maximum.at(self._last, (generator, unit), np.arange(1, len(chosen) + 1))
        self.values = _unit_means(matrix.human[list(rows)], units[units >= 0], shape)

    def cells(self) -> Cells:
        """Judged units of generators in the order of their last labels."""
        generator, unit = (side.astype(np.int64) for side in np.nonzero(np.isfinite(self.values)))
        order = np.argsort(self._last[generator, unit], kind="stable")
        generator, unit = generator[order], unit[order]
        return Cells(
            generator=generator, unit=unit, value=self.values[generator, unit], labels=self._last[generator, unit]
        )


def _unit_means(human: Floats, units: Ints, shape: tuple[int, int]) -> Floats:
    """Means over the instances of each unit, NaN where none is judged."""
    total, count = np.zeros(shape), np.zeros(shape)
    for row, values in enumerate(human):
        judged = np.isfinite(values)
        total[row] = np.bincount(units[judged], values[judged], shape[1])
        count[row] = np.bincount(units[judged], minlength=shape[1])
    with np.errstate(invalid="ignore"):
        return np.where(count > 0, total / count, np.nan)


def _unit_order(cells: Cells) -> Ints:
    """Units in the order in which they were complete."""
    _, last = np.unique(cells.unit[::-1], return_index=True)
    return np.asarray(cells.unit[::-1][np.sort(last)][::-1], np.int64)


def _half(cells: Cells) -> int:
    """The labels given when half of the units were complete."""
    last = np.zeros(int(cells.unit.max()) + 1, np.int64)
    np.maximum.at(last, cells.unit, cells.labels)
    ends = np.sort(last[last > 0])
    return int(ends[(len(ends) - 1) // 2])


def watch_cells(
    names: Sequence[str],
    cells: Cells,
    asked: Bools,
    *,
    ends: Ends | None,
    level: float,
    drop: bool = False,
    pool: int | None = None,
    draws: int = 1000,
    seed: int = 0,
    most_intervals: int = MOST_INTERVALS,
) -> tuple[tuple[WatchedMean, ...], tuple[WatchedPair, ...], Watched]:
    """Generators' means and differences from judged outputs in their order, the best first; values on 0-100.

    `ends` are those of the scale; None makes everything asymptotic. With more pairs than `most_intervals`, only
    neighbours have an interval.
    """
    low, high = ends or (0.0, 1.0)
    on_unit = Cells(
        generator=cells.generator,
        unit=cells.unit,
        value=np.clip((cells.value - low) / (high - low), 0, 1) if ends is not None else cells.value,
        labels=cells.labels,
    )
    watched = watch_pairs(on_unit, asked, level=level, drop=drop, pool=pool, bounded=ends is not None)
    by_generator = [cells.value[cells.generator == k] for k in range(len(names))]
    means = [
        WatchedMean(
            generator=name,
            n=len(values),
            mean=float(values.mean()),
            interval=_sequence(values, ends, pool),
            once=_once(values, draws, seed),
        )
        for name, values in zip(names, by_generator, strict=True)
        if len(values)
    ]
    pairs = _pairs(names, cells, asked.shape, watched, ends, pool, draws, seed, most_intervals)
    return tuple(sorted(means, key=lambda mean: (-mean.mean, mean.generator))), pairs, watched


def _sequence(values: Floats, ends: Ends | None, pool: int | None) -> Interval | None:
    if ends is not None:
        clipped = np.clip(values, *ends)
        return confidence_sequence(clipped, low=ends[0], high=ends[1], level=INTERVAL, pool=pool)
    if len(values) < BURN_IN:
        return None
    low, high = asymptotic_sequence(values.mean(), values.std(), len(values), level=INTERVAL)
    return float(low), float(high)


def _once(values: Floats, draws: int, seed: int) -> Interval:
    _, low, high = bootstrap_mean(values, resamples=draws, seed=seed, level=INTERVAL)
    return low, high


def _pairs(
    names: Sequence[str],
    cells: Cells,
    shape: tuple[int, ...],
    watched: Watched,
    ends: Ends | None,
    pool: int | None,
    draws: int,
    seed: int,
    most_intervals: int,
) -> tuple[WatchedPair, ...]:
    values = np.full(shape, np.nan)
    values[cells.generator, cells.unit] = cells.value
    values = values[:, _unit_order(cells)]
    decisions = watched.decisions
    with_intervals = _with_intervals(values, watched, most_intervals)
    pairs = []
    for k, (first, second) in enumerate(zip(decisions.first.tolist(), decisions.second.tolist(), strict=True)):
        differences = values[first] - values[second]
        differences = differences[np.isfinite(differences)]
        if not len(differences):
            continue
        is_first = bool(decisions.first_is_better[k]) if decisions.decided[k] else differences.mean() >= 0
        better, other, gain = (first, second, differences) if is_first else (second, first, -differences)
        shown = with_intervals is None or k in with_intervals
        width = None if ends is None else (ends[0] - ends[1], ends[1] - ends[0])
        evidence = float(decisions.evidence[k, 0 if is_first else 1])
        pairs.append(
            WatchedPair(
                better=names[better],
                other=names[other],
                n=len(gain),
                difference=float(gain.mean()),
                interval=_sequence(gain, width, pool) if shown else None,
                once=_once(gain, draws, seed) if shown else None,
                e=float(np.exp(min(evidence, np.log(LARGEST)))),
                decided=bool(decisions.decided[k]),
                labels=int(watched.decided_labels[k]) or None,
                instances=int(decisions.decided_at[k]) or None,
            )
        )
    return tuple(sorted(pairs, key=lambda pair: (-pair.difference, pair.better, pair.other)))


def _with_intervals(values: Floats, watched: Watched, most: int) -> set[int] | None:
    """The pairs whose difference gets an interval: all (None), or neighbours in the order of means where many are."""
    decisions = watched.decisions
    if len(decisions.first) <= most:
        return None
    judged = np.isfinite(values)
    means = np.where(judged, values, 0.0).sum(axis=1) / np.maximum(judged.sum(axis=1), 1)
    rank = np.empty(len(means), np.int64)
    rank[np.argsort(-means, kind="stable")] = np.arange(len(means))
    return set(np.flatnonzero(np.abs(rank[decisions.first] - rank[decisions.second]) == 1).tolist())


def _watch_metrics(
    matrix: JudgedMatrix, units: Ints, order: Ints, level: float
) -> tuple[tuple[WatchedMetric, ...], tuple[WatchedMetrics, ...]]:
    """Metrics and their pairs after all units in this order; nothing where there are no scores or too few units."""
    names = matrix.scores.names
    if not 1 <= len(names) <= MOST or len(order) < BURN_IN:
        return (), ()
    sums = instance_sums(matrix.scores.values, matrix.judged_human)
    by_unit = np.zeros((int(units.max()) + 1, len(names), 6))
    np.add.at(by_unit, units[units >= 0], np.moveaxis(sums, 1, 0))
    watched = watch_correlations(np.moveaxis(by_unit[order], 0, 1), level=level, interval=INTERVAL)
    decisions = watched.decisions
    ahead = np.where(decisions.first_is_better, decisions.first, decisions.second)[decisions.decided]
    behind = np.where(decisions.first_is_better, decisions.second, decisions.first)[decisions.decided]
    metrics = [
        WatchedMetric(
            metric=name,
            correlation=float(watched.value[k]),
            interval=(float(watched.low[k]), float(watched.high[k])),
            beaten=int((ahead == k).sum()),
            beaten_by=int((behind == k).sum()),
        )
        for k, name in enumerate(names)
        if np.isfinite([watched.value[k], watched.low[k]]).all()
    ]
    pairs = []
    for k, (first, second) in enumerate(zip(decisions.first.tolist(), decisions.second.tolist(), strict=True)):
        ends = (float(watched.difference_low[k]), float(watched.difference_high[k]))
        if not np.isfinite(ends).all():
            continue
        is_first = bool(decisions.first_is_better[k]) if decisions.decided[k] else watched.difference[k] >= 0
        pairs.append(
            WatchedMetrics(
                better=names[first if is_first else second],
                other=names[second if is_first else first],
                difference=float(watched.difference[k]) * (1 if is_first else -1),
                interval=ends if is_first else (-ends[1], -ends[0]),
                e=float(np.exp(min(float(decisions.evidence[k, 0 if is_first else 1]), np.log(LARGEST)))),
                decided=bool(decisions.decided[k]),
                instances=int(decisions.decided_at[k]) or None,
            )
        )
    return (
        tuple(sorted(metrics, key=lambda metric: (-metric.correlation, metric.metric))),
        tuple(sorted(pairs, key=lambda pair: (-pair.difference, pair.better, pair.other))),
    )


@watch.table
def _tables(study: WatchStudy) -> tuple[Table, ...]:
    tables = (_means_table(study), _pairs_table(study))
    return (*tables, _metrics_table(study)) if study.metrics else tables


def _means_table(study: WatchStudy) -> Table:
    columns = (
        TableColumn("generator", "generator", "left", kind="name"),
        TableColumn("mean", "mean", digits=1),
        TableColumn("interval", "95%, valid while you watch", digits=1, kind="interval"),
        TableColumn("once", f"95%, {ONCE}", digits=1, kind="interval", priority=1),
        TableColumn("n", f"{study.unit}s", priority=2),
    )
    rows = tuple({column.key: getattr(mean, column.key) for column in columns} for mean in study.means)
    return Table(f"{study.board}: means while you watch ({study.aggregate})", columns, rows, tuple(_notes(study)))


def _pairs_table(study: WatchStudy) -> Table:
    columns = (
        TableColumn("better", "better", "left", kind="name"),
        TableColumn("other", "than", "left"),
        TableColumn("difference", "difference", digits=1),
        TableColumn("interval", "95%, valid while you watch", digits=1, kind="interval"),
        TableColumn("once", f"95%, {ONCE}", digits=1, kind="interval", priority=2),
        TableColumn("e", "e-value"),
        TableColumn("verdict", "decided", "left"),
        TableColumn("labels", "labels", visible=False),
        TableColumn("instances", "instances", visible=False),
    )
    rows = tuple(
        {
            **{column.key: getattr(pair, column.key, None) for column in columns},
            "verdict": verdict(pair.labels),
        }
        for pair in study.pairs
    )
    notes = (
        f"Decided: by e-BH over both directions of all pairs; at most {study.level:.0%} of what is decided is expected "
        "to be wrong, whenever one stops.",
    )
    return Table(f"{study.board}: pairs of generators", columns, rows, notes)


def verdict(labels: int | None) -> str:
    """Whether a pair is decided, in words."""
    return "not yet decided" if labels is None else f"decided after {labels:,} labels"


def _metrics_table(study: WatchStudy) -> Table:
    columns = (
        TableColumn("metric", "metric", "left", kind="name"),
        TableColumn("correlation", "Pearson", digits=3),
        TableColumn("interval", "95%, valid while you watch", digits=3, kind="interval"),
        TableColumn("beaten", "better than"),
        TableColumn("beaten_by", "worse than"),
    )
    rows = tuple({column.key: getattr(metric, column.key) for column in columns} for metric in study.metrics)
    notes = (
        "Better than and worse than: of how many metrics that is decided. Sequences of correlations are asymptotic, "
        f"over {study.unit}s, and begin after {BURN_IN}.",
    )
    return Table(f"{study.board}: metrics while you watch", columns, rows, notes)


def _notes(study: WatchStudy) -> Iterator[str]:
    orders = {
        "time": "by the time of their last judgment",
        "file": "by the place of their last judgment in the file",
        "random": f"in a random order (seed {study.seed})",
    }
    yield (
        f"{study.unit.capitalize()}s come in {orders[study.order]}; this order must say nothing about the values, and "
        f"one {study.unit} nothing about another."
    )
    if study.order != "random" and study.half_labels > LATE * study.labels:
        yield (
            f"Half of the {study.unit}s are complete only after {study.half_labels:,} of {study.labels:,} labels: this "
            "order goes by generator, not by instance. Say `order` random to see what instance by instance would need."
        )
    if study.target == "instances":
        yield "Means are those of these instances, drawn one by one without replacement in a random order."
    if study.method == "asymptotic":
        yield f"The scale has no ends, so sequences and e-values are asymptotic: none before {BURN_IN} {study.unit}s."
    if study.standardised:
        yield "Values are z-scores of all that an annotator ever rated, also later."


@watch.words
def _words(study: WatchStudy) -> list[str]:
    decided = [pair for pair in study.pairs if pair.labels is not None]
    if not decided:
        return [f"None of {len(study.pairs):,} pairs of generators is decided after {study.labels:,} labels."]
    last = max(pair.labels or 0 for pair in decided)
    sentences = [
        f"{len(decided):,} of {len(study.pairs):,} pairs of generators are decided, the last of them after {last:,} of "
        f"{study.labels:,} labels."
    ]
    if study.metrics and study.metrics[0].beaten:
        leader = study.metrics[0]
        sentences.append(
            f"{leader.metric} is decided to agree better with people than {leader.beaten} of "
            f"{len(study.metrics) - 1} other metrics (correlation {value_text(leader.correlation, 3)})."
        )
    return sentences
