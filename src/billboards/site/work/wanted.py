"""What a board should have: metrics on rows, from which single cells are made only when somebody asks for them.

A board of a thousand generators and fifty metrics is fifty blocks that share their rows, not fifty thousand cells. The
same cell may be wanted in several of them: for either audience's board, and by submissions on their way.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain

from billboards.board import Board, Outputs, digest
from billboards.board.cells import ColumnKey
from billboards.metrics.base import Metric, MetricCard
from billboards.site.boards import registry
from billboards.site.boards.snapshots import Audience
from billboards.site.settings import BoardSettings
from billboards.site.submissions.records import Submission
from billboards.site.work.sql_cells import CellKey, ColumnId


@dataclass(frozen=True)
class Scorer:
    """A metric that scores a board: an installed one, or what is known of a submitted one without opening it."""

    name: str
    signature: str
    card: MetricCard
    metric: Metric | None = None
    submission: Submission | None = None


@dataclass(frozen=True)
class Wanted:
    """A cell that should be there."""

    scorer: Scorer
    key: ColumnKey
    row: Outputs

    @property
    def cell(self) -> CellKey:
        return self.key.column.signature, self.key.context, self.row.version

    @property
    def subject(self) -> str:
        """The cell as a lease names it."""
        return f"{digest((self.key.column.signature,))}:{self.key.context}:{self.row.version}"


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows that metrics may score which see the same references, by version: of two with the same texts the last.

    All those metrics share one such object, so that a thousand rows are compared with others once and not per metric.
    """

    by_version: Mapping[str, Outputs]

    @cached_property
    def versions(self) -> frozenset[str]:
        return frozenset(self.by_version)


@dataclass(frozen=True)
class Block:
    """A metric on some rows."""

    scorer: Scorer
    key: ColumnKey
    rows: Rows

    @property
    def column(self) -> ColumnId:
        return self.key.column.signature, self.key.context


@dataclass(frozen=True)
class Plan:
    """All cells that a board should have at one generation."""

    known: registry.Registered
    settings: BoardSettings
    #: The board as its owner wrote it; a cell brings its own row.
    board: Board
    #: Its rows and those of finished generators.
    rows: tuple[Outputs, ...]
    #: What each audience's board is ranked on.
    shown: Mapping[Audience, tuple[Block, ...]]
    #: What each submission on its way waits for, by its id.
    waits: Mapping[str, tuple[Block, ...]]
    #: Submissions that are not finished, the oldest first.
    active: tuple[Submission, ...]
    #: Whether owners see more than everybody.
    has_hidden: bool

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Everything that should be there, what is wanted first before the rest; a cell may be in several."""
        shown = self.shown["owners"] + (self.shown["public"] if self.has_hidden else ())
        return (*shown, *chain.from_iterable(self.waits.values()))

    @cached_property
    def versions(self) -> Mapping[ColumnId, frozenset[str]]:
        """The versions of the rows that each column should have."""
        union, found = cache(frozenset[str].union), dict[ColumnId, frozenset[str]]()
        for block in self.blocks:
            found[block.column] = union(found.get(block.column, frozenset()), block.rows.versions)
        return found

    @property
    def wanted(self) -> Iterator[Wanted]:
        """Every cell, in the order in which they are wanted."""
        return map(self.make, self.among(self.versions))

    def among(self, some: Mapping[ColumnId, Collection[str]]) -> Iterator[CellKey]:
        """The cells of some rows of some columns, in the order in which they are wanted."""
        given = set[CellKey]()
        for block in self.blocks:
            versions = some.get(block.column)
            if versions and not block.rows.versions.isdisjoint(versions):
                cells = ((*block.column, version) for version in block.rows.by_version if version in versions)
                for cell in cells:
                    if cell not in given:
                        given.add(cell)
                        yield cell

    def make(self, cell: CellKey) -> Wanted:
        """A cell as a job needs it; where several submissions want it, as the last of them does."""
        signature, context, version = cell
        block = next(one for one in self._last_first[signature, context] if version in one.rows.versions)
        return Wanted(block.scorer, block.key, block.rows.by_version[version])

    @cached_property
    def _last_first(self) -> Mapping[ColumnId, list[Block]]:
        found = dict[ColumnId, list[Block]]()
        for block in reversed(self.blocks):
            found.setdefault(block.column, []).append(block)
        return found


def cells_of(blocks: Iterable[Block]) -> frozenset[CellKey]:
    """Every cell of some blocks."""
    return frozenset((*block.column, version) for block in blocks for version in block.rows.versions)
