"""Compare two sources of judgments, such as crowd and experts: how far do they agree, and where do they differ?

Two sources of judgments on one board, such as crowd against experts (§2.5, Fig. 2): how far they agree, and where.

A source is an aggregate or a single dimension of judgments. Everyone takes part whom both have judged, references
among them: who wrote a text doesn't matter where no metric looks at it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from billboards.analyses._analysis import analysis
from billboards.analyses._view import View
from billboards.board import Board, Slice, human_scores
from billboards.errors import NotEnoughData
from billboards.options import Named
from billboards.show.table import Table, TableColumn
from billboards.show.words import clipped, one_line, part_note, value_text
from billboards.stats.agreement import Association, Corner, disagreement_corners, measure_agreement


@dataclass(frozen=True, slots=True)
class AgreementLevel:
    """Correlations of two sources of judgments over single outputs, or over generators' means."""

    level: Literal["outputs", "generators"]
    pearson: float | None
    spearman: float | None
    kendall: float | None
    n: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Disagreement:
    """One output that two sources judge differently; `difference` is that of their z-scores, first - second."""

    instance: str
    generator: str
    difference: float
    first: float
    second: float
    output: str
    input: str = ""
    reference: str = ""


@dataclass(frozen=True, kw_only=True)
class AgreementStudy:
    """Two sources of judgments on the outputs that both judged, and the outputs on which they differ most.

    `bias` is the mean of first - second and `distance` the mean of |first - second| on the scale of 0-100, or of
    z-scores where both are standardised, NaN where one of them is; `standardised_distance` is that of z-scores, None
    where a source doesn't vary: then there are no corners either.
    """

    DOCUMENT: ClassVar[str] = "agreement"

    board: str
    first: str
    second: str
    part: str
    levels: tuple[AgreementLevel, ...]
    bias: float
    distance: float
    standardised_distance: float | None
    first_above: tuple[Disagreement, ...]
    second_above: tuple[Disagreement, ...]


Floats = NDArray[np.float64]
#: What a person can read through.
SHOWN = 10


def study_agreement(
    board: Board, first: str, second: str, *, part: Slice | None = None, shown: int = SHOWN
) -> AgreementStudy:
    """How two aggregates or dimensions of judgments agree on the outputs that both have judged."""
    part = part or Slice()
    keep = list(board.select(part))
    shape = (len(board.rows), len(board.instances))
    first_scores, second_scores = (
        human_scores(board.judgments, board.aggregate(name), board.dimensions, shape)[:, keep]
        for name in (first, second)
    )
    if not (np.isfinite(first_scores) & np.isfinite(second_scores)).any():
        raise NotEnoughData(f"no output has both {first} and {second}, so they can't be compared")
    measured = measure_agreement(first_scores, second_scores)
    differ = not np.isnan(measured.standardised_distance)
    one_scale = len({board.aggregate(name).standardise for name in (first, second)}) == 1
    above, below = disagreement_corners(first_scores, second_scores, k=shown) if differ else (None, None)
    return AgreementStudy(
        board=board.name,
        first=first,
        second=second,
        part=str(part),
        levels=(_level("outputs", measured.outputs), *_generators(board, first_scores, second_scores)),
        bias=measured.bias if one_scale else np.nan,
        distance=measured.distance if one_scale else np.nan,
        standardised_distance=measured.standardised_distance if differ else None,
        first_above=_disagreements(board, keep, first_scores, second_scores, above),
        second_above=_disagreements(board, keep, first_scores, second_scores, below),
    )


def _generators(board: Board, first_scores: Floats, second_scores: Floats) -> tuple[AgreementLevel, ...]:
    """Agreement over generators' means; outputs of unknown generators have no place in it."""
    rows = [k for k, row in enumerate(board.rows) if row.generator is not None]
    if not (np.isfinite(first_scores[rows]) & np.isfinite(second_scores[rows])).any():
        return ()
    return (_level("generators", measure_agreement(first_scores[rows], second_scores[rows]).generators),)


def _level(level: Literal["outputs", "generators"], association: Association) -> AgreementLevel:
    pearson, spearman, kendall = (
        None if np.isnan(r) else r for r in (association.pearson, association.spearman, association.kendall)
    )
    return AgreementLevel(level, pearson, spearman, kendall, association.n)


def _disagreements(
    board: Board, keep: list[int], first_scores: Floats, second_scores: Floats, corner: Corner | None
) -> tuple[Disagreement, ...]:
    if corner is None:
        return ()

    def output(row: int, column: int, difference: float) -> Disagreement:
        instance = board.instances[keep[column]]
        return Disagreement(
            instance=instance.id,
            generator=board.rows[row].name,
            difference=difference,
            first=float(first_scores[row, column]),
            second=float(second_scores[row, column]),
            output=board.rows[row].texts[keep[column]] or "",
            input=instance.input or "",
            reference=instance.references[0].text if instance.references else "",
        )

    return tuple(map(output, corner.row.tolist(), corner.instance.tolist(), corner.difference.tolist()))


def agreement_table(study: AgreementStudy) -> Table:
    """Correlations of two sources over outputs and over generators."""
    columns = (
        TableColumn("level", "over", "left"),
        TableColumn("pearson", "Pearson", digits=3),
        TableColumn("spearman", "Spearman", digits=3),
        TableColumn("kendall", "Kendall", digits=3),
        TableColumn("n", "n"),
    )
    rows = tuple(
        {
            "level": level.level,
            "pearson": level.pearson,
            "spearman": level.spearman,
            "kendall": level.kendall,
            "n": level.n,
        }
        for level in study.levels
    )
    notes = (_distance(study), *part_note(study.part))
    return Table(f"{study.board}: {study.first} against {study.second}", columns, rows, notes)


def _distance(study: AgreementStudy) -> str:
    apart = f"{value_text(study.standardised_distance, 2)} standard deviations"
    if np.isnan(study.distance):
        return f"{study.first} and {study.second} are on different scales; they are {apart} apart."
    return (
        f"{study.first} is {abs(study.bias):.2f} {'above' if study.bias >= 0 else 'below'} {study.second} on average; "
        f"they are {study.distance:.2f} apart, {apart}."
    )


def corner_tables(study: AgreementStudy) -> tuple[Table, Table]:
    """The outputs that one source puts high and the other low, with their texts; both corners."""
    names = (study.first, study.second)
    return (
        _corner(f"Outputs that {study.first} puts highest above {study.second}", study.first_above, names),
        _corner(f"Outputs that {study.second} puts highest above {study.first}", study.second_above, names),
    )


def _corner(title: str, outputs: Sequence[Disagreement], names: tuple[str, str]) -> Table:
    columns = (
        TableColumn("instance", "instance", "left"),
        TableColumn("generator", "generator", "left", priority=2),
        TableColumn("first", names[0], digits=1),
        TableColumn("second", names[1], digits=1),
        TableColumn("difference", "z", digits=2, priority=5),
        TableColumn("output", "output", "left"),
        TableColumn("reference", "reference", "left", priority=4),
        TableColumn("input", "input", "left", visible=False),
    )
    rows = tuple(
        {
            "instance": output.instance,
            "generator": output.generator,
            "first": output.first,
            "second": output.second,
            "difference": output.difference,
            "output": clipped(output.output),
            "reference": clipped(output.reference),
            "input": clipped(output.input),
        }
        for output in outputs
    )
    return Table(title, columns, rows)


@analysis(view=("part",), group="how good are the metrics?", paper="Billboards, section 2.5 and Figure 2")
def agreement(
    view: View,
    first: Annotated[
        str | None,
        Named(metavar="FIRST", positional=True),
        "an aggregate or dimension of judgments (default: a second source)",
    ] = None,
    second: Annotated[
        str | None, Named(metavar="SECOND", positional=True), "another one (default: the one that ranks the board)"
    ] = None,
    *,
    shown: Annotated[int, Ge(1), Named(name="show", metavar="N"), "outputs to show of each corner"] = 5,
) -> AgreementStudy:
    """Compare two sources of judgments, such as crowd and experts: how far do they agree, and where do they differ?"""
    second = second or view.board.ranks
    first = first or (None if second is None else other_source(view.counted, second))
    if first is None or second is None:
        raise NotEnoughData(f"board {view.board.name} has no two sources of judgments to hold against each other")
    return readable(view, study_agreement(view.counted, first, second, part=view.part, shown=shown))


@agreement.words
def agreement_words(study: AgreementStudy) -> tuple[str, ...]:
    """How far two sources agree, in a sentence."""
    measured = [
        f"by {value_text(level.pearson, 3)} over {value_text(level.n)} {level.level}"
        for level in study.levels
        if level.pearson is not None
    ]
    if not measured:
        return ()
    names = f"{one_line(study.first)} and {one_line(study.second)}"
    return (f"The judgments {names} correlate {' and '.join(measured)} (Pearson).",)


@agreement.table
def _agreement_tables(study: AgreementStudy) -> tuple[Table, ...]:
    return (agreement_table(study), *corner_tables(study))


def other_source(board: Board, aggregate: str) -> str | None:
    """Another aggregate, or a dimension that is no part of this one: a source of judgments to hold against it."""
    own = board.aggregate(aggregate)
    aggregates = [name for name in board.aggregates if name != aggregate]
    dimensions = [name for name in board.dimensions if name not in own.dimensions and name != aggregate]
    return next(iter((*aggregates, *dimensions)), None)


def readable(view: View, study: AgreementStudy) -> AgreementStudy:
    """The study with the texts that may be read."""
    if view.board is view.counted:
        return study

    def masked(outputs: tuple[Disagreement, ...]) -> tuple[Disagreement, ...]:
        return tuple(replace(output, **view.texts(output.instance, output.generator)) for output in outputs)

    return replace(study, first_above=masked(study.first_above), second_above=masked(study.second_above))
