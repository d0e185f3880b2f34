"""A suite's boards, opened and checked against what the suite says of them.

A dimension that a board doesn't have, a reference that it doesn't name, two boards of one label: all of it is said at
once and before anything is scored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from billboards.analyses._archive import Home, open_home
from billboards.analyses._reference_lines import rows_ranked
from billboards.analyses.suite.results import Block, Given, Role, Suite, SuiteBoard
from billboards.board import Board, ImportedColumn, Outputs, Preferences, ReferenceSet, is_preference, preferred_pairs
from billboards.board.cells import CellStore
from billboards.errors import InvalidInput, UnknownName

Bools = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class OpenBoard:
    """A board of a suite with its store, the dimensions that take part, and the references of each block."""

    entry: SuiteBoard
    home: Home
    label: str
    correctness: tuple[str, ...]
    others: tuple[str, ...]
    #: What the board is known by in the suite: its name, or its label where two boards bear one name.
    key: str
    #: Where its scores are, if not in its folder.
    scores: CellStore | None = None
    #: Columns beside those of the board, of metrics that are run elsewhere.
    beside: tuple[ImportedColumn, ...] = ()

    @property
    def board(self) -> Board:
        return self.home.board

    @property
    def cells(self) -> CellStore:
        """Where its scores are."""
        return self.home.cells if self.scores is None else self.scores

    @property
    def columns(self) -> tuple[ImportedColumn, ...]:
        """The columns that nobody runs here: those that came with the board, and those beside it."""
        return (*self.board.imported, *self.beside)

    @property
    def dimensions(self) -> tuple[tuple[str, Role], ...]:
        """Every dimension that takes part, with its role."""
        return (*((d, "correctness") for d in self.correctness), *((d, "other") for d in self.others))

    def given(self, dimension: str) -> Given:
        """Whether people gave values or preferences on a dimension."""
        return "preferences" if is_preference(self.board, self.board.aggregate(dimension)) else "values"

    def pairs(self, dimension: str) -> Preferences:
        """The pairs of outputs that people put in order on a dimension; ties make none, as in WMT."""
        if dimension not in self._pairs:
            self._pairs[dimension] = preferred_pairs(self.board, self.board.aggregate(dimension)).decided
        return self._pairs[dimension]

    @cached_property
    def _pairs(self) -> dict[str, Preferences]:
        return {}

    def references(self, block: Block) -> ReferenceSet:
        """The references that a metric may see in a block."""
        every = self.board.references
        if block == "none" or not every:
            return ()
        return every if block == "all" else (self.entry.reference or every[0],)

    def rows(self, block: Block) -> Bools:
        """The rows that take part in a block: judged, and not among the references there."""
        return self._judged & rows_ranked(self.board, self.references(block))

    @cached_property
    def judged_rows(self) -> tuple[Outputs, ...]:
        """The rows that anybody judged: nothing else needs scores."""
        return tuple(row for row, judged in zip(self.board.rows, self._judged, strict=True) if judged)

    @cached_property
    def _judged(self) -> Bools:
        judged = np.zeros(len(self.board.rows), bool)
        judged[self.board.judgments.row] = True
        for detail in self.board.judgments.details.values():
            judged[list(detail.get("others", ()))] = True
        return judged


def open_boards(suite: Suite) -> tuple[OpenBoard, ...]:
    """Every board of a suite; raises with what is wrong with the first that doesn't fit."""
    return told_apart(suite, tuple(member_of(entry, open_home(entry.folder)) for entry in suite.boards))


def told_apart(suite: Suite, members: Sequence[OpenBoard]) -> tuple[OpenBoard, ...]:
    """Boards under labels that tell them apart; raises where two have the same."""
    opened = _labelled(tuple(members))
    twice = [label for label, count in Counter(member.label for member in opened).items() if count > 1]
    if twice:
        raise InvalidInput(f"suite {suite.name}: two boards are labelled {twice[0]!r}; give each a label of its own")
    return opened


def _labelled(opened: tuple[OpenBoard, ...]) -> tuple[OpenBoard, ...]:
    """Boards of one name are known by their labels, by default the names of their folders."""
    count = Counter(member.board.name for member in opened)
    return tuple(
        member
        if count[member.board.name] == 1
        else replace(member, label=(label := member.entry.label or member.entry.folder.name), key=label)
        for member in opened
    )


def member_of(entry: SuiteBoard, home: Home, *, scores: CellStore | None = None) -> OpenBoard:
    """A board as a suite has it; `scores` says where its scores are, if not in its folder."""
    board = home.board
    if entry.reference is not None and entry.reference not in board.references:
        raise UnknownName(f"reference of board {board.name}", entry.reference, board.references)
    correctness = (board.aggregate().name,) if entry.correctness is None else entry.correctness
    others = tuple(other_dimensions(board, correctness)) if entry.others is None else entry.others
    for name in (*correctness, *others):
        board.aggregate(name)
    if not correctness and not others:
        raise InvalidInput(f'board {board.name}: the suite names none of its dimensions; add correctness = "…"')
    return OpenBoard(
        entry=entry,
        home=home,
        label=entry.label or board.name,
        correctness=correctness,
        others=others,
        key=board.name,
        scores=scores,
    )


def other_dimensions(board: Board, correctness: tuple[str, ...]) -> Iterator[str]:
    """Dimensions that are judged and are not, nor lie behind, those of correctness."""
    used = {d for name in correctness for d in board.aggregate(name).dimensions}
    used |= {d.levels_of for d in board.dimensions.values() if d.levels_of is not None}
    for name, dimension in board.dimensions.items():
        if name not in used and (dimension.kind == "preference" or np.isfinite(board.judgments.on(dimension)).any()):
            yield name
