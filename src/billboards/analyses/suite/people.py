"""Generators of a suite's boards by what people said, dimension by dimension.

Boards have generators of their own, and people rate on scales of their own, so there is no mean over boards: each
board's ranking stands for itself, on the dimensions that take part in the suite.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from billboards.analyses._people import PeopleColumn, rank_by_people
from billboards.analyses.suite.checked_boards import OpenBoard
from billboards.analyses.suite.results import Suite
from billboards.board import Slice
from billboards.errors import NotEnoughData
from billboards.show.table import HUMAN, MarkNotes, Table, TableColumn, finite
from billboards.show.words import one_line
from billboards.stats.significance import Sides


@dataclass(frozen=True, kw_only=True)
class BoardPeople:
    """What people said of one board's generators, on each of its dimensions."""

    board: str
    label: str
    columns: tuple[PeopleColumn, ...]


@dataclass(frozen=True, kw_only=True)
class SuitePeople:
    """What people said of the generators of every board."""

    DOCUMENT: ClassVar[str] = "suite-people"

    suite: str
    boards: tuple[BoardPeople, ...]
    draws: int
    seed: int
    sides: Sides


def rank_suite_by_people(
    suite: Suite, boards: Sequence[OpenBoard], *, draws: int, seed: int, sides: Sides
) -> SuitePeople:
    """Each board's generators by people; boards without generators, or where nobody judged any, are left out."""
    standings = tuple(
        BoardPeople(board=member.key, label=member.label, columns=columns)
        for member in boards
        if (columns := _columns(member, draws, seed, sides))
    )
    if not standings:
        raise NotEnoughData(f"suite {suite.name}: nobody judged a generator on any board, so people can't rank them")
    return SuitePeople(suite=suite.name, boards=standings, draws=draws, seed=seed, sides=sides)


def _columns(member: OpenBoard, draws: int, seed: int, sides: Sides) -> tuple[PeopleColumn, ...]:
    rankings = (
        rank_by_people(member.board, aggregate=name, part=Slice(), draws=draws, seed=seed, sides=sides)
        for name, _ in member.dimensions
    )
    return tuple(people.overall for people in rankings if people is not None)


def suite_people_table(result: SuitePeople) -> Table:
    """A row for each generator on each dimension of each board, best first."""
    marks = MarkNotes()
    rows = tuple(
        {
            "board": board.label,
            "dimension": column.name,
            "rank": standing.rank,
            "name": standing.name,
            "mark": marks.mark(HUMAN if standing.kind == "human" else ""),
            "mean": finite(standing.mean),
            "interval": standing.interval,
            "judgments": standing.judgments,
            "annotators": standing.annotators,
            "cluster": standing.cluster,
        }
        for board in result.boards
        for column in board.columns
        for standing in column.generators
    )
    columns = (
        TableColumn("board", "board", "left"),
        TableColumn("dimension", "dimension", "left"),
        TableColumn("rank", "#", kind="rank"),
        TableColumn("name", "generator", "left", kind="name"),
        TableColumn("mean", "people", digits=2),
        TableColumn("interval", "95% interval", digits=2, kind="interval", priority=1),
        TableColumn("judgments", "judgments", priority=2),
        TableColumn("annotators", "annotators", priority=3),
        TableColumn("cluster", "cluster", priority=4),
    )
    notes = (
        "People: mean judgment, higher is better, or the share of comparisons won. Intervals are over instances, and "
        "over annotators where they are known.",
        *marks.texts(),
    )
    return Table(f"{one_line(result.suite)}: generators ranked by people", columns, rows, notes)
