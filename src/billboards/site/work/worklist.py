"""What a board still needs: the cells that should be there, minus those that are.

Which there should be, the board's plan says; which are there, the database. A cell that is there never goes, so nobody
asks for it twice: a process keeps what was missing when it last looked, adds what a new plan wants beyond the last, and
asks for those. There is no queue that could lose anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property

from billboards.site.cache import Shelf
from billboards.site.site import Site
from billboards.site.submissions.records import Submission
from billboards.site.work.cell_state import CellFailure, cells_there, failed_cells
from billboards.site.work.planning import plan_board
from billboards.site.work.sql_cells import CellKey, ColumnId
from billboards.site.work.wanted import Block, Plan, cells_of

#: Seconds to wait before a cell is tried again that the platform spoiled, for each time it was.
BACKOFF = 5.0

#: Cells by column: the versions of their rows.
ByColumn = Mapping[ColumnId, frozenset[str]]


@dataclass(frozen=True)
class Progress:
    """How far the cells have come that a submission waits for; `seconds` is what they may still take."""

    done: int
    failed: int
    total: int
    seconds: float | None


@dataclass(frozen=True)
class Standing:
    """What is missing of a board's cells at one moment."""

    plan: Plan
    missing: ByColumn
    #: Why cells that are missing could not be computed.
    failed: Mapping[CellKey, CellFailure]
    attempts: int
    now: float

    def is_missing(self, cell: CellKey) -> bool:
        signature, context, version = cell
        return version in self.missing.get((signature, context), ())

    def is_over(self, cell: CellKey) -> bool:
        """Whether a cell needs no more work: it is there, or was given up."""
        return not self.is_missing(cell) or (cell in self.failed and self.is_final(self.failed[cell]))

    def is_final(self, failure: CellFailure) -> bool:
        """A metric's own failure is final; the platform's is after a few attempts."""
        return not failure.platform or failure.attempts >= self.attempts

    def due(self) -> Iterator[CellKey]:
        """The cells to compute now, in the order in which they are wanted."""
        for cell in self.plan.among(self.open):
            failure = self.failed.get(cell)
            if failure is None or self.now >= failure.created + BACKOFF * failure.attempts:
                yield cell

    @cached_property
    def open(self) -> ByColumn:
        """The cells that are neither there nor given up."""
        over = dict[ColumnId, set[str]]()
        for (signature, context, version), failure in self.failed.items():
            if self.is_final(failure):
                over.setdefault((signature, context), set()).add(version)
        return _without(self.missing, over)

    def is_complete(self, blocks: Iterable[Block]) -> bool:
        """Whether every cell of these is there or given up."""
        return all(block.rows.versions.isdisjoint(self.open.get(block.column, ())) for block in blocks)


#: What was missing of a board at the last look.
_STANDINGS = Shelf[str, Standing]()


def standing(site: Site, name: str) -> Standing:
    """Which cells of a board are missing, and which of them have failed."""
    plan = plan_board(site, name)
    last = site.cache.get(_STANDINGS, name)
    asked = plan.versions if last is None else _unseen(plan, last)
    missing, failed = asked, dict[CellKey, CellFailure]()
    if asked:
        with site.database.reading() as connection:
            missing = _without(asked, cells_there(connection, name, asked))
            failed = failed_cells(connection, name, missing)
    return site.cache.put(_STANDINGS, name, Standing(plan, missing, failed, site.settings.attempts, site.clock()))


def _unseen(plan: Plan, last: Standing) -> ByColumn:
    """What a plan wants that was not there at the last look: what was missing then, and what nobody wanted yet."""
    if plan is last.plan:
        return last.missing
    # Columns share their rows: a thousand are compared once, not under every metric.
    new, found = cache(frozenset[str].difference), dict[ColumnId, frozenset[str]]()
    for column, versions in plan.versions.items():
        unseen = new(versions, last.plan.versions.get(column, frozenset()))
        found[column] = unseen | (versions & last.missing.get(column, frozenset()))
    return _without(found, {})


def _without(cells: ByColumn, others: Mapping[ColumnId, Iterable[str]]) -> ByColumn:
    """Some cells without others, and no column that has none left."""
    left = {column: versions.difference(others.get(column, ())) for column, versions in cells.items()}
    return {column: versions for column, versions in left.items() if versions}


def progress(site: Site, submission: Submission) -> Progress:
    """How far a submission's cells have come."""
    now = standing(site, submission.board)
    waits = cells_of(now.plan.waits.get(submission.id, ()))
    missing = set(filter(now.is_missing, waits))
    failed = sum(map(now.is_over, missing))
    seconds = site.cells(submission.board).seconds_per_cell({signature for signature, _, _ in waits})
    left = sum(seconds.get(signature, 0.0) for signature, _, _ in missing)
    return Progress(len(waits) - len(missing), failed, len(waits), left if seconds else None)
