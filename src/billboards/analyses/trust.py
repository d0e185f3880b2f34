"""Say what besides quality moves each metric: length, order, chance, its model's own family, missing answers.

What makes a judge trustworthy is measured, not believed. Agreement is Pearson's r with people over all judged outputs.
Length bias is the partial correlation of scores with the outputs' length, people's scores held fixed: above 0 the
metric rewards length that people don't. A pairwise judge keeps how often the text that was shown first wins (.5 is no
position bias) and how often both orders agree; a sampled one how far its answers spread. Missing are outputs that the
metric abstained from. Kin are generators of the judge's own model or family: by how many places it ranks them higher
than people do, and how far above the line that it follows for all others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from billboards.analyses._analysis import analysis
from billboards.analyses._kin import kin_of, named_kin
from billboards.analyses._view import JudgedMatrix, View, judged_matrix
from billboards.board import Board, Slice
from billboards.board.cells import CellStore, with_parts
from billboards.errors import NotEnoughData
from billboards.options import Named
from billboards.show.table import Table, TableColumn
from billboards.stats.correlation import instance_sums, pearson_of_sums, resampled_pearson
from billboards.stats.kinship import Kinship, kinship

Floats = NDArray[np.float64]
Interval = tuple[float, float]
#: Parts in which judges keep what they are like, beside what they say of outputs.
FIRST, AGREED, SPREAD = "first", "agreed", "spread"
#: A bias is said in words where its interval leaves this much of nothing out.
CLEAR = 0.05


@dataclass(frozen=True, kw_only=True, slots=True)
class MetricTrust:
    """What moves one metric.

    `n` judged outputs with a score; `agreement` with people and `length`, the partial correlation with length, over
    them; `first` and `agreed` of a pairwise judge, `spread` of a sampled one; `missing` of `outputs` have no score.
    `kin` are generators of its own family: it ranks them `kin_places` higher than people do, `kin_excess` standard
    deviations above what its scores of the others let expect.
    """

    metric: str
    n: int
    agreement: float | None
    length: float | None
    length_interval: Interval | None
    first: float | None
    agreed: float | None
    spread: float | None
    missing: int
    outputs: int
    kin: tuple[str, ...] = ()
    kin_places: float | None = None
    kin_places_interval: Interval | None = None
    kin_excess: float | None = None
    kin_excess_interval: Interval | None = None


@dataclass(frozen=True, kw_only=True)
class TrustStudy:
    """What moves each metric of a board beside quality."""

    DOCUMENT: ClassVar[str] = "trust"

    board: str
    aggregate: str
    part: str
    draws: int
    seed: int
    metrics: tuple[MetricTrust, ...]


@analysis(quick=False, group="how good are the metrics?")
def trust(
    view: View,
    *,
    draws: Annotated[int, Ge(1), Named(metavar="N"), "resampled sets of instances behind the intervals"] = 1000,
    seed: Annotated[int, Ge(0), Named(metavar="N"), "seed of those draws"] = 0,
    kin: Annotated[
        tuple[str, ...],
        Named(metavar="GENERATOR"),
        "a generator of the judges' own family (default: those that share a name with a judge's model)",
    ] = (),
) -> TrustStudy:
    """Say what besides quality moves each metric: length, order, chance, its model's own family, missing answers."""
    board = view.counted
    named = named_kin(board, kin)
    matrix = judged_matrix(board, view.cells, aggregate=view.aggregate, part=view.part)
    if not len(matrix.scores.columns):
        raise NotEnoughData(f"board {board.name} has no scores yet; compute some with `billboards score`")
    parts = _kept_parts(view, matrix)
    lengths, documents = _lengths(board, matrix.part), _documents(board, matrix.part)
    metrics = tuple(
        _with_kin(
            _measured(column.name, matrix.scores.of(column.name), matrix, lengths, parts, draws, seed),
            matrix,
            documents,
            named or kin_of(board, column.signature),
            draws,
            seed,
        )
        for column in matrix.scores.columns
        if column.name not in parts
    )
    return TrustStudy(
        board=board.name,
        aggregate=matrix.aggregate,
        part=str(matrix.part),
        draws=draws,
        seed=seed,
        metrics=tuple(sorted(metrics, key=lambda m: (-2.0 if m.agreement is None else -m.agreement, m.metric))),
    )


def _kept_parts(view: View, matrix: JudgedMatrix) -> dict[str, float]:
    """The means of the parts in which judges keep what they are like, by their names."""
    names = list(_part_names(view.cells, set(matrix.scores.names)))
    if not names:
        return {}
    parted = judged_matrix(view.counted, with_parts(view.cells, names), aggregate=view.aggregate, part=view.part).scores
    return {name: float(np.nanmean(np.abs(parted.of(name)))) for name in names if name in parted.names}


def _part_names(cells: CellStore | None, shown: set[str]) -> Iterator[str]:
    if cells is None:
        return
    for key in cells.columns():
        name = key.column.name
        if name in shown:
            yield from (f"{name}[{part}]" for part in (FIRST, AGREED, SPREAD) if part in cells.parts(key))


def _lengths(board: Board, part: Slice) -> Floats:
    """The lengths of a part's outputs in characters, NaN where there is none."""
    asked = board.select(part)
    texts = ([row.texts[k] for k in asked] for row in board.rows)
    return np.array([[np.nan if text is None else len(text) for text in row] for row in texts], np.float64)


def _measured(
    name: str, scores: Floats, matrix: JudgedMatrix, lengths: Floats, parts: dict[str, float], draws: int, seed: int
) -> MetricTrust:
    people = matrix.judged_human
    both = np.isfinite(scores) & np.isfinite(people) & np.isfinite(lengths)
    of_scores, of_people, of_lengths = (np.where(both, values, np.nan) for values in (scores, people, lengths))
    pairs = (
        instance_sums(of_scores[np.newaxis], of_people),
        instance_sums(of_scores[np.newaxis], of_lengths),
        instance_sums(of_people[np.newaxis], of_lengths),
    )
    agreement, *_ = values = [pearson_of_sums(sums.sum(axis=1)) for sums in pairs]
    # One seed draws the same instances for all three.
    drawn = _partial(*(resampled_pearson(sums, draws=draws, seed=seed) for sums in pairs))
    asked = np.isfinite(lengths) & np.isfinite(scores).any(axis=1, keepdims=True) & _looked_at(matrix)
    return MetricTrust(
        metric=name,
        n=int(both.sum()),
        agreement=_number(agreement),
        length=_number(_partial(*values)),
        length_interval=_interval(drawn[:, 0]) if both.any(axis=0).sum() > 1 else None,
        first=parts.get(f"{name}[{FIRST}]"),
        agreed=parts.get(f"{name}[{AGREED}]"),
        spread=parts.get(f"{name}[{SPREAD}]"),
        missing=int((asked & ~np.isfinite(scores)).sum()),
        outputs=int(asked.sum()),
    )


def _with_kin(
    metric: MetricTrust,
    matrix: JudgedMatrix,
    documents: NDArray[np.intp],
    kin: frozenset[str],
    draws: int,
    seed: int,
) -> MetricTrust:
    """What a metric is like, with how it treats its kin where it has some that people judged."""
    is_kin = np.array([row in kin for row in matrix.scores.rows], bool)
    if not is_kin.any():
        return metric
    scores, people = matrix.scores.of(metric.metric), matrix.judged_human
    favour = kinship(scores, people, is_kin, documents, draws=draws, seed=seed)
    if favour is None:
        return metric
    names = tuple(row for k, row in enumerate(matrix.scores.rows) if is_kin[k] and np.isfinite(people[k]).any())
    return replace(metric, kin=names, **_told(favour))


def _told(favour: Kinship) -> dict[str, Any]:
    return {f"kin_{field.name}": getattr(favour, field.name) for field in fields(favour)}


def _documents(board: Board, part: Slice) -> NDArray[np.intp]:
    """The document of each instance of a part as a number; an instance without one is a document of its own."""
    asked = (board.instances[k] for k in board.select(part))
    names = [instance.document or f" {instance.id}" for instance in asked]
    return np.asarray(np.unique(names, return_inverse=True)[1], np.intp)


def _looked_at(matrix: JudgedMatrix) -> NDArray[np.bool_]:
    """The instances of the part that is looked at: those on which anything has a score."""
    return np.asarray(np.isfinite(matrix.scores.values).any(axis=(0, 1)))


def _partial(score_people: Floats, score_length: Floats, people_length: Floats) -> Floats:
    """The correlation of scores with length, people's held fixed; NaN where nothing is left of one."""
    with np.errstate(invalid="ignore", divide="ignore"):
        left = (1 - score_people**2) * (1 - people_length**2)
        partial = (score_length - score_people * people_length) / np.sqrt(left)
    return np.where(left > 1e-9, np.clip(partial, -1.0, 1.0), np.nan)


def _interval(drawn: Floats) -> Interval | None:
    if not np.isfinite(drawn).any():
        return None
    low, high = np.nanquantile(drawn, (0.025, 0.975))
    return float(low), float(high)


def _number(value: Floats) -> float | None:
    return float(value[0]) if np.isfinite(value[0]) else None


@trust.table
def _table(study: TrustStudy) -> Table:
    columns: tuple[TableColumn, ...] = (
        TableColumn("metric", "metric", "left", kind="name"),
        TableColumn("agreement", "agreement", digits=3),
        TableColumn("n", "outputs", priority=2),
        TableColumn("length", "length", digits=3),
        TableColumn("length_interval", "95% interval", digits=3, kind="interval", priority=1),
        TableColumn("first", "first wins", digits=3),
        TableColumn("agreed", "orders agree", digits=3, priority=1),
        TableColumn("spread", "spread", digits=3),
        TableColumn("missing", "missing"),
    )
    if any(metric.kin for metric in study.metrics):
        columns += (
            TableColumn("kin_places", "kin: places", digits=1),
            TableColumn("kin_places_interval", "95% interval", digits=1, kind="interval", priority=1),
            TableColumn("kin_excess", "kin: excess", digits=2),
            TableColumn("kin_excess_interval", "95% interval", digits=2, kind="interval", priority=1),
        )
    keys = [column.key for column in columns]
    rows = tuple({key: getattr(metric, key) for key in keys} for metric in study.metrics)
    notes = (
        "length: partial correlation with the outputs' length, people's scores held fixed; above 0 rewards length.",
        "first wins: of a pairwise judge, .5 is no position bias. spread: standard deviation of sampled answers.",
        *_kin_notes(study),
    )
    return Table(f"What moves the metrics of {study.board}", columns, rows, notes)


def _kin_notes(study: TrustStudy) -> Iterator[str]:
    by_kin = dict.fromkeys(metric.kin for metric in study.metrics if metric.kin)
    for kin in by_kin:
        judges = ", ".join(metric.metric for metric in study.metrics if metric.kin == kin)
        yield (
            f"kin of {judges}: {', '.join(kin)}; places higher than people rank them, and standard deviations above "
            "what the other generators let expect."
        )


@trust.words
def _words(study: TrustStudy) -> list[str]:
    return [sentence for metric in study.metrics for sentence in _sentences(metric)]


def _sentences(metric: MetricTrust) -> Iterator[str]:
    low, high = metric.length_interval or (0.0, 0.0)
    if low > CLEAR or high < -CLEAR:
        what = "longer" if low > 0 else "shorter"
        yield f"{metric.metric} favours {what} outputs than people do (partial correlation {metric.length:.2f})."
    if metric.first is not None and abs(metric.first - 0.5) > CLEAR:
        place = "first" if metric.first > 0.5 else "second"
        yield f"{metric.metric} prefers the text that is shown {place} (the first wins {metric.first:.0%})."
    if metric.kin_excess is not None and metric.kin_excess_interval is not None:
        low, high = metric.kin_excess_interval
        if low > CLEAR or high < -CLEAR:
            what = "favours" if low > 0 else "disfavours"
            places = abs(metric.kin_places or 0.0)
            yield (
                f"{metric.metric} {what} its kin ({', '.join(metric.kin)}): {places:.1f} places "
                f"{'above' if (metric.kin_places or 0.0) >= 0 else 'below'} where people rank them, "
                f"{metric.kin_excess:+.2f} standard deviations off its own line."
            )
    if metric.missing:
        yield f"{metric.metric} has no score for {metric.missing:,} of {metric.outputs:,} outputs."
