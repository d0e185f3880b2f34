"""Ratings that a metric finds implausible, for a second look.

Ratings that a good metric finds implausible (Billboards, §2.4), listed for a second look by a person.

Each rating is held against what the metric makes one expect of that output. The ensemble that judges a generator's
ratings was fitted without them. A metric may be wrong where people are right: the list says where to look, not what to
find.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from billboards.analyses._analysis import analysis
from billboards.analyses._view import JudgedMatrix, View, judged_matrix
from billboards.analyses.ensemble import ENSEMBLE
from billboards.analyses.estimate import control_scores
from billboards.board import Aggregate, Board, Slice, judged_values
from billboards.board.cells import CellStore, with_parts
from billboards.board.matrix import column_named
from billboards.options import Named
from billboards.show.table import Table, TableColumn
from billboards.show.words import clipped
from billboards.stats.implausible import standardised_residuals
from billboards.stats.ratings import UNKNOWN


@dataclass(frozen=True, kw_only=True, slots=True)
class ImplausibleRating:
    """A rating that lies far from what a metric makes one expect; `residual` above 0: people were kinder."""

    instance: str
    generator: str
    annotator: str | None
    value: float
    expected: float
    residual: float
    output: str
    input: str = ""
    reference: str = ""


@dataclass(frozen=True, kw_only=True)
class ImplausibleStudy:
    """The ratings that a metric finds least plausible, for a second look by a person."""

    DOCUMENT: ClassVar[str] = "doubts"

    board: str
    aggregate: str
    metric: str
    part: str
    unit: Literal["rating", "output"]
    ratings: int
    beyond: int
    implausible: tuple[ImplausibleRating, ...]


Floats = NDArray[np.float64]
#: What a person can read through, and how many standard deviations count as far.
SHOWN, FAR = 25, 3.0


def find_implausible(
    board: Board,
    store: CellStore | None,
    *,
    aggregate: str | None = None,
    metric: str = ENSEMBLE,
    part: Slice | None = None,
    shown: int = SHOWN,
) -> ImplausibleStudy:
    """The single ratings that stray farthest from what a metric makes one expect, farthest first."""
    metric = column_named(board, store, metric)
    view = judged_matrix(board, with_parts(store, [metric]), aggregate=aggregate, part=part)
    chosen = board.aggregate(aggregate)
    keep = np.full(len(board.instances), -1)
    keep[list(board.select(view.part))] = np.arange(view.human.shape[1])
    value = _values(board, chosen)
    used = np.flatnonzero(np.isfinite(value) & (keep[board.judgments.instance] >= 0) & _taking_part(board, view))
    expected_by = _expected(board, view, metric)
    row, column = board.judgments.row[used], keep[board.judgments.instance[used]]
    expected, residual = standardised_residuals(expected_by[row, column], value[used])
    scored = np.isfinite(residual)
    order = np.argsort(np.where(scored, -np.abs(residual), 0.0), kind="stable")[: min(shown, int(scored.sum()))]
    return ImplausibleStudy(
        board=board.name,
        aggregate=chosen.name,
        metric=metric,
        part=str(view.part),
        unit="rating",
        ratings=int(scored.sum()),
        beyond=int((np.abs(residual[scored]) > FAR).sum()),
        implausible=tuple(
            _rating(board, int(used[k]), value[used[k]], expected[k], residual[k]) for k in order.tolist()
        ),
    )


def _values(board: Board, aggregate: Aggregate) -> Floats:
    """Each judgment's own mean over the aggregate's dimensions; NaN where it lacks one or doesn't count."""
    judgments = board.judgments
    total = judged_values(judgments, aggregate, board.dimensions).sum(axis=1)
    return np.where(judgments.counted(aggregate.campaigns), total / len(aggregate.dimensions), np.nan)


def _taking_part(board: Board, view: JudgedMatrix) -> NDArray[np.bool_]:
    return np.asarray(view.judged[board.judgments.row], bool)


def _expected(board: Board, view: JudgedMatrix, metric: str) -> Floats:
    """The control variate's score of every judged output; of each generator by one that doesn't know its labels."""
    scores = np.full(view.human.shape, np.nan)
    for row in np.flatnonzero(view.judged):
        scores[row] = control_scores(board, view, int(row), metric)[0][row]
    return scores


def _rating(board: Board, k: int, value: float, expected: float, residual: float) -> ImplausibleRating:
    judgments = board.judgments
    row, instance = board.rows[judgments.row[k]], board.instances[judgments.instance[k]]
    who = int(judgments.annotator[k])
    return ImplausibleRating(
        instance=instance.id,
        generator=row.name,
        annotator=None if who == UNKNOWN else judgments.annotators[who],
        value=float(value),
        expected=float(expected),
        residual=float(residual),
        output=row.texts[judgments.instance[k]] or "",
        input=instance.input or "",
        reference=instance.references[0].text if instance.references else "",
    )


def implausible_table(study: ImplausibleStudy) -> Table:
    """The ratings to look at again."""
    columns = (
        TableColumn("residual", "z", digits=2),
        TableColumn("value", "people", digits=1),
        TableColumn("expected", "expected", digits=1),
        TableColumn("instance", "instance", "left"),
        TableColumn("generator", "generator", "left", priority=1),
        TableColumn("annotator", "annotator", "left", priority=2),
        TableColumn("output", "output", "left"),
        TableColumn("reference", "reference", "left", priority=4),
        TableColumn("input", "input", "left", visible=False),
    )
    rows = tuple(
        {
            **asdict(rating),
            "output": clipped(rating.output),
            "reference": clipped(rating.reference),
            "input": clipped(rating.input),
        }
        for rating in study.implausible
    )
    notes = (
        f"{study.beyond:,} of {study.ratings:,} ratings lie more than 3 standard deviations from what {study.metric} "
        "makes one expect. People may be right and the metric wrong: look, then decide.",
        *(() if study.part in ("", "whole board") else (f"Only {study.part}.",)),
    )
    return Table(f"{study.board}: ratings worth a second look ({study.aggregate})", columns, rows, notes)


@analysis("ratings doubts", paper="Billboards, section 2.4")
def doubts(
    view: View,
    *,
    metric: Annotated[str, Named(metavar="NAME", metrics="scored"), "what judges the ratings"] = "ensemble",
    shown: Annotated[int, Ge(1), Named(name="show", metavar="N"), "ratings to show"] = 25,
) -> ImplausibleStudy:
    """Ratings that a metric finds implausible, for a second look."""
    study = find_implausible(
        view.counted, view.cells, aggregate=view.aggregate, part=view.part, metric=metric, shown=shown
    )
    if view.board is view.counted:
        return study
    masked = (replace(rating, **view.texts(rating.instance, rating.generator)) for rating in study.implausible)
    return replace(study, implausible=tuple(masked))


doubts.table(implausible_table)
