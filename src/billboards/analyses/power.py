"""What it takes to tell two entries of a board apart: instances, labels or generators.

Two generators are told apart by people or by a metric on more instances like these; people's preference on the very
instances of the board, by labelling some of them, with a metric's help or without. Two metrics are told apart by their
correlation with people, on more instances or on more generators; where people compared outputs, by WMT's Kendall on
more instances.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from billboards.analyses.compare import people_of
from billboards.analyses.study_results import PowerNeed, PowerStudy
from billboards.analyses.view import View, view_board
from billboards.board import Board, Preferences, Slice
from billboards.board.cells import CellStore
from billboards.errors import NotEnoughData
from billboards.stats.power import (
    Needed,
    generator_means,
    labels_to_tell_generators_apart,
    tell_generators_apart,
    tell_metrics_apart,
    tell_preferences_apart,
)
from billboards.stats.preference_tests import decisions

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
    view = view_board(board, store, aggregate=aggregate, part=part)
    people = people_of(view, rows)
    columns = {PEOPLE: people} | {name: view.scores.of(name)[rows] for name in view.scores.names}
    needs, missing = [], {}
    for name, values in columns.items():
        try:
            found = tell_generators_apart(values[0], values[1], power=power, level=level)
        except NotEnoughData as error:
            missing[name] = str(error)
            continue
        control = np.zeros_like(people) if name == PEOPLE else values
        needs.append(_need(name, "instances", found, _labels(people, control, power, level)))
    if not needs:
        raise NotEnoughData(
            f"{first} and {second} have no scores on 2 common instances; more instances or scores are needed"
        )
    return PowerStudy(
        board.name,
        first,
        second,
        "generators",
        view.aggregate,
        str(view.part),
        power,
        level,
        tuple(needs),
        missing,
        view.pairs is not None,
    )


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
    view = view_board(board, store, aggregate=aggregate, part=part)
    if view.pairs is not None:
        return _power_on_pairs(board, view, view.pairs, (first, second), power, level)
    scores = (view.scores.of(first), view.scores.of(second), view.judged_human)
    needs = [_need("pooled Pearson", "instances", tell_metrics_apart(*scores, power=power, level=level))]
    missing = {}
    generators = [k for k, row in enumerate(board.rows) if row.generator is not None]
    means = generator_means(*(one[generators] for one in scores))
    try:
        found = tell_metrics_apart(*means, power=power, level=level)
    except NotEnoughData as error:
        missing["Pearson of generators' means"] = str(error)
    else:
        needs.append(_need("Pearson of generators' means", "generators", found))
    return PowerStudy(
        board.name, first, second, "metrics", view.aggregate, str(view.part), power, level, tuple(needs), missing
    )


def _power_on_pairs(
    board: Board, view: View, pairs: Preferences, names: tuple[str, str], power: float, level: float
) -> PowerStudy:
    """Instances it takes to tell apart how far two metrics agree with people's preferences."""
    scores, decided = np.stack([view.scores.of(name) for name in names]), pairs.decided
    said = decisions(scores, decided.better, decided.worse, decided.instance)
    found = tell_preferences_apart(said[0], said[1], decided.instance, power=power, level=level)
    need = _need("WMT's Kendall", "instances", found)
    return PowerStudy(
        board.name, *names, "metrics", view.aggregate, str(view.part), power, level, (need,), preferences=True
    )


def _need(name: str, unit: Literal["instances", "generators"], found: Needed, labels: int | None = None) -> PowerNeed:
    needed = int(found.needed) if math.isfinite(found.needed) else None
    return PowerNeed(name, unit, found.difference, found.units, found.power_here, needed, labels)
