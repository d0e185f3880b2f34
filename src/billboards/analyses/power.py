"""Say how many instances, labels or generators it takes to tell two metrics, or two generators, apart.

What it takes to tell two entries of a board apart: instances, labels or generators.

Two generators are told apart by people or by a metric on more instances like these; people's preference on the very
instances of the board, by labelling some of them, with a metric's help or without. Two metrics are told apart by their
correlation with people, on more instances or on more generators; where people compared outputs, by WMT's Kendall on
more instances.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Gt, Lt
from numpy.typing import NDArray

from billboards.analyses._analysis import analysis
from billboards.analyses._entries import are_generators, best_metrics, judged_generators, two_entries
from billboards.analyses._view import JudgedMatrix, View, judged_matrix
from billboards.analyses.compare import people_of
from billboards.board import Board, Preferences, Slice
from billboards.board.cells import CellStore, with_parts
from billboards.board.matrix import column_named
from billboards.errors import NotEnoughData
from billboards.options import Named
from billboards.show.table import Table, TableColumn, reason_notes
from billboards.show.words import COMPARISONS_WON, part_note, value_text
from billboards.stats.power import (
    Needed,
    generator_means,
    labels_to_tell_generators_apart,
    tell_generators_apart,
    tell_metrics_apart,
    tell_preferences_apart,
)
from billboards.stats.preferences import decisions


@dataclass(frozen=True, kw_only=True, slots=True)
class PowerNeed:
    """What it takes to find a difference of the size seen here, by one score or in one unit.

    `units` are there and find it with the chance `power_here`; `needed` would find it with the chance asked for, None
    where there is no difference to find. `labels` is how many instances people must label to tell which of two
    generators they prefer on all of them, with this score as control variate (for people: alone).
    """

    name: str
    unit: Literal["instances", "generators"]
    difference: float
    units: int
    power_here: float
    needed: int | None
    labels: int | None = None


@dataclass(frozen=True, kw_only=True)
class PowerStudy:
    """What it takes to tell two metrics or two generators apart, and why some of it can't be said."""

    DOCUMENT: ClassVar[str] = "power"

    board: str
    first: str
    second: str
    entries: Literal["metrics", "generators"]
    aggregate: str
    part: str
    power: float
    level: float
    needs: tuple[PowerNeed, ...]
    missing: Mapping[str, str] = field(default_factory=dict)
    #: Whether people compared outputs: their scores are then shares of comparisons won.
    preferences: bool = False


Floats = NDArray[np.float64]
PEOPLE = "people"


def power_of_generators(
    board: Board,
    store: CellStore | None,
    first: str,
    second: str,
    *,
    aggregate: str | None = None,
    part: Slice | None = None,
    power: float = 0.8,
    level: float = 0.05,
) -> PowerStudy:
    """Instances and labels it takes to tell two generators apart, by people and by every metric."""
    rows = [board.row_position[board.generator(name).name] for name in (first, second)]
    view = judged_matrix(board, store, aggregate=aggregate, part=part)
    people = people_of(view, rows)
    columns = {PEOPLE: people} | {name: view.scores.of(name)[rows] for name in view.scores.names}
    needs, missing = [], {}
    for name, values in columns.items():
        try:
            requirement = tell_generators_apart(values[0], values[1], power=power, level=level)
        except NotEnoughData as error:
            missing[name] = str(error)
            continue
        control = np.zeros_like(people) if name == PEOPLE else values
        needs.append(_need(name, "instances", requirement, _labels(people, control, power, level)))
    if not needs:
        raise NotEnoughData(
            f"{first} and {second} have no scores on 2 common instances; more instances or scores are needed"
        )
    return _study(board, "generators", (first, second), view, needs, missing, power=power, level=level)


def _labels(people: Floats, control: Floats, power: float, level: float) -> int | None:
    """Labels it takes with this control variate; None where too few instances have both."""
    pairs = (people[0], people[1]), (control[0], control[1])
    try:
        return int(labels_to_tell_generators_apart(*pairs, power=power, level=level).with_metric)
    except NotEnoughData:
        return None


def power_of_metrics(
    board: Board,
    store: CellStore | None,
    first: str,
    second: str,
    *,
    aggregate: str | None = None,
    part: Slice | None = None,
    power: float = 0.8,
    level: float = 0.05,
) -> PowerStudy:
    """Instances, or generators, it takes to tell two metrics' correlations with people apart."""
    first, second = column_named(board, store, first), column_named(board, store, second)
    view = judged_matrix(board, with_parts(store, [first, second]), aggregate=aggregate, part=part)
    if view.pairs is not None:
        return _power_on_pairs(board, view, view.pairs, (first, second), power, level)
    scores = (view.scores.of(first), view.scores.of(second), view.judged_human)
    needs = [_need("pooled Pearson", "instances", tell_metrics_apart(*scores, power=power, level=level))]
    missing = {}
    generators = [k for k, row in enumerate(board.rows) if row.generator is not None]
    means = generator_means(*(values[generators] for values in scores))
    try:
        requirement = tell_metrics_apart(*means, power=power, level=level)
    except NotEnoughData as error:
        missing["Pearson of generators' means"] = str(error)
    else:
        needs.append(_need("Pearson of generators' means", "generators", requirement))
    return _study(board, "metrics", (first, second), view, needs, missing, power=power, level=level)


def _power_on_pairs(
    board: Board, view: JudgedMatrix, pairs: Preferences, names: tuple[str, str], power: float, level: float
) -> PowerStudy:
    """Instances it takes to tell apart how far two metrics agree with people's preferences."""
    scores, decided = np.stack([view.scores.of(name) for name in names]), pairs.decided
    choices = decisions(scores, decided.better, decided.worse, decided.instance)
    requirement = tell_preferences_apart(choices[0], choices[1], decided.instance, power=power, level=level)
    need = _need("WMT's Kendall", "instances", requirement)
    return _study(board, "metrics", names, view, [need], {}, power=power, level=level)


def _study(
    board: Board,
    entries: Literal["metrics", "generators"],
    names: tuple[str, str],
    view: JudgedMatrix,
    needs: list[PowerNeed],
    missing: Mapping[str, str],
    *,
    power: float,
    level: float,
) -> PowerStudy:
    """What two entries need, with what was asked."""
    return PowerStudy(
        board=board.name,
        first=names[0],
        second=names[1],
        entries=entries,
        aggregate=view.aggregate,
        part=str(view.part),
        power=power,
        level=level,
        needs=tuple(needs),
        missing=missing,
        preferences=view.pairs is not None,
    )


def _need(
    name: str, unit: Literal["instances", "generators"], requirement: Needed, labels: int | None = None
) -> PowerNeed:
    needed = int(requirement.needed) if math.isfinite(requirement.needed) else None
    return PowerNeed(
        name=name,
        unit=unit,
        difference=requirement.difference,
        units=requirement.units,
        power_here=requirement.power_here,
        needed=needed,
        labels=labels,
    )


def power_table(study: PowerStudy) -> Table:
    """What it takes to tell two entries apart, a row per score or unit."""
    columns = (
        TableColumn("name", "told apart by", "left"),
        TableColumn("difference", "difference", digits=4),
        TableColumn("unit", "unit", "left", priority=2),
        TableColumn("units", "there are"),
        TableColumn("power_here", "power here", digits=3),
        TableColumn("needed", f"needed for {study.power:.0%}"),
        TableColumn("labels", "labels for it", visible=study.entries == "generators"),
    )
    rows = tuple(
        {
            "name": need.name,
            "difference": need.difference,
            "unit": need.unit,
            "units": need.units,
            "power_here": need.power_here,
            "needed": need.needed,
            "labels": need.labels,
        }
        for need in study.needs
    )
    title = f"{study.board}: what it takes to tell {study.first} from {study.second}"
    return Table(title, columns, rows, (*_power_facts(study), *part_note(study.part)))


def _power_facts(study: PowerStudy) -> tuple[str, ...]:
    facts = [f"Two-sided tests at {value_text(study.level)}, if the true difference is the one seen here."]
    if study.entries == "generators":
        facts.append(
            "Labels: instances on which people must judge both, to tell which they prefer on all that are here; "
            "people's row alone, the others with that metric's help."
        )
        if study.preferences:
            facts.append(f"people: {COMPARISONS_WON}")
    if any(need.needed is None for need in study.needs):
        facts.append("Where there is no difference, no number is enough.")
    return (*facts, *reason_notes("Not said:", study.missing))


@analysis(group="people")
def power(
    view: View,
    first: Annotated[
        str | None,
        Named(metavar="A", positional=True, metrics="scored"),
        "a metric or a generator (default: the two best metrics)",
    ] = None,
    second: Annotated[
        str | None, Named(metavar="B", positional=True, metrics="scored"), "another of the same kind"
    ] = None,
    *,
    power: Annotated[float, Gt(0), Lt(1), Named(metavar="P"), "chance with which the difference should be found"] = 0.8,
    level: Annotated[float, Gt(0), Lt(1), Named(metavar="P"), "accepted chance of a false alarm"] = 0.05,
) -> PowerStudy:
    """Say how many instances, labels or generators it takes to tell two metrics, or two generators, apart."""
    first, second = two_entries(view, first, second)
    measure = power_of_generators if are_generators(view.board, first, second) else power_of_metrics
    return measure(
        view.counted, view.cells, first, second, aggregate=view.aggregate, part=view.part, power=power, level=level
    )


power.table(power_table)


@power.in_report
def _power_in_report(view: View) -> list[dict[str, str]]:
    """The two best metrics, and the two best judged generators."""
    asked = [dict(zip(("first", "second"), best_metrics(view)[:2], strict=False))]
    asked.append(dict(zip(("first", "second"), judged_generators(view)[:2], strict=False)))
    return [names for names in asked if len(names) == 2]
