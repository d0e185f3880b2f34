"""How long submissions and boards still take: who is before them, and what past work like theirs took.

Nothing is guessed. A cell is expected to take what the cells of the same metric took on this board on average, shared
out among the workers that are there, and a ranking what the last one took. Where a part was never measured, the whole
is not known, and pages say so.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, select

from billboards.board import digest
from billboards.board.missing_cells import CellId
from billboards.site.boards.snapshots import Audience
from billboards.site.database import trail
from billboards.site.database.schema import leases as lease_rows
from billboards.site.site import Site
from billboards.site.submissions.records import Submission
from billboards.site.work import leases
from billboards.site.work.worklist import Standing, ids_of, is_run_here, standing


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """A submission's place among those that wait: how many are before it, and the seconds until it is ranked."""

    before: int
    #: None where something on the way was never measured.
    seconds: float | None

    @property
    def words(self) -> str:
        """The same for people, as in "about 3 minutes, 2 submissions before yours"."""
        count = "no submission" if not self.before else f"{self.before} submission{'s' if self.before > 1 else ''}"
        return f"{time_words(self.seconds)}, {count} before yours"


@dataclass(frozen=True, kw_only=True)
class BoardProgress:
    """How far a board has come on its way to its next ranking."""

    done: int
    total: int
    failed: int
    #: What is being computed at this moment, as in "BLEU of system-A".
    now: tuple[str, ...]
    seconds: float | None
    #: Whether all scores are there, so that the ranking itself is being made.
    ranking: bool
    #: Whether the ranking was tried in vain.
    stuck: bool = False

    @property
    def words(self) -> str:
        """The same for people."""
        if not self.total:
            return "This board has no metric that can run here, so there is nothing to rank yet."
        if self.stuck:
            return (
                f"All {self.total:,} scores are computed, but the board could not be ranked. "
                "Its owners can read why in the audit trail."
            )
        if self.ranking:
            return f"All {self.total:,} scores are computed. The ranking is being made."
        failed = f", {self.failed:,} failed" if self.failed else ""
        busy = f" Now: {', '.join(self.now)}." if self.now else " No worker is computing at this moment."
        left = "" if self.seconds is None else f" {time_words(self.seconds).capitalize()} left."
        return f"{self.done:,} of {self.total:,} scores are computed{failed}.{busy}{left}"


def time_words(seconds: float | None) -> str:
    """A time that is only known roughly."""
    if seconds is None:
        return "time not known yet"
    if seconds < 50:
        return "less than a minute"
    if seconds < 5400:
        minutes = max(1, round(seconds / 60))
        return f"about {minutes} minute{'s' if minutes > 1 else ''}"
    hours = round(seconds / 3600)
    return f"about {hours} hours" if hours < 48 else f"about {round(hours / 24)} days"


def waiting(site: Site, submission: Submission) -> Waiting:
    """Who is before a submission that is on its way, and how long it may take until it is ranked."""
    now = standing(site, submission.board)
    before = [other for other in now.plan.active if _turn(other) < _turn(submission)]
    missing = set(filter(now.is_missing, ids_of(now.plan.shown["owners"])))
    seconds = _seconds_of(site, submission.board, [signature for signature, _, _ in missing])
    for other in (*before, submission):
        left = _left(site, now, other)
        seconds = None if seconds is None or left is None else seconds + left
    with site.database.reading() as connection:
        ranking = last_ranking_seconds(connection, submission.board)
        workers = max(1, leases.count_workers(connection, now=site.clock()))
    if seconds is None or ranking is None:
        return Waiting(before=len(before), seconds=None)
    return Waiting(before=len(before), seconds=seconds / workers + ranking + now.plan.settings.quiet)


def _turn(submission: Submission) -> tuple[bool, float, str]:
    """When a submission's turn comes: generators before metrics, which may take hours, then the oldest."""
    return submission.kind == "metric", submission.created, submission.id


def _left(site: Site, now: Standing, submission: Submission) -> float | None:
    """What the cells of one submission still take; None where one of them was never measured."""
    if submission.state == "scoring":
        waits = ids_of(now.plan.waits.get(submission.id, ()))
        missing = [cell_id for cell_id in waits if now.is_missing(cell_id) and not now.is_over(cell_id)]
        return _seconds_of(site, submission.board, [signature for signature, _, _ in missing])
    if submission.kind == "generator":
        # Not checked yet: it will have a cell under each of the board's metrics.
        return _seconds_of(site, submission.board, {block.column[0] for block in now.plan.shown["owners"]})
    return None if is_run_here(submission) else 0.0


def _seconds_of(site: Site, board: str, signatures: Iterable[str]) -> float | None:
    """What cells of these metrics take together."""
    wanted = list(signatures)
    measured = site.cells(board).seconds_per_cell(set(wanted)) if wanted else {}
    return sum(measured[signature] for signature in wanted) if measured.keys() >= set(wanted) else None


def last_ranking_seconds(connection: Connection, board: str) -> float | None:
    """How long the last ranking of a board took; None where it was not measured."""
    line = trail.latest(connection, board, "ranking.kept")
    seconds = None if line is None else line.detail.get("seconds")
    return None if seconds is None else float(seconds)


def board_progress(site: Site, name: str, audience: Audience = "public") -> BoardProgress:
    """How many of a board's cells are there, which of them is computed now, and how long the others take."""
    now = standing(site, name)
    wanted = ids_of(now.plan.shown[audience])
    missing = set(filter(now.is_missing, wanted))
    failed = sum(map(now.is_over, missing))
    left = [signature for signature, _, _ in (cell_id for cell_id in missing if not now.is_over(cell_id))]
    seconds = _seconds_of(site, name, left) if len(left) < len(wanted) else None
    with site.database.reading() as connection:
        workers = max(1, leases.count_workers(connection, now=site.clock()))
        subjects = _subjects(connection, name, now=site.clock())
        in_vain = trail.latest(connection, name, "ranking.failed")
    return BoardProgress(
        done=len(wanted) - len(missing),
        total=len(wanted),
        failed=failed,
        now=_names(now, missing, subjects) if len(left) else (),
        seconds=None if seconds is None or not left else seconds / workers,
        ranking=bool(wanted) and not left,
        stuck=not left and in_vain is not None and in_vain.at >= now.plan.registered.changed,
    )


def _subjects(connection: Connection, board: str, *, now: float) -> frozenset[str]:
    """The cells of a board that workers are computing, as leases name them."""
    query = select(lease_rows.c.subject).where(
        lease_rows.c.board == board,
        lease_rows.c.kind == "cell",
        lease_rows.c.expires > now,
        lease_rows.c.worker != leases.NOBODY,
    )
    return frozenset(connection.execute(query).scalars())


#: Cells in the making that are named.
MOST_NAMED = 3


def _names(now: Standing, missing: set[CellId], subjects: frozenset[str]) -> tuple[str, ...]:
    """The cells in the making by metric and generator, as far as they are on this audience's board."""
    names = []
    for block in now.plan.blocks:
        for version, row in block.rows.by_version.items():
            signature, context = block.column
            if (signature, context, version) in missing and f"{digest((signature,))}:{context}:{version}" in subjects:
                names.append(f"{block.metric.name} of {row.name}")
    return tuple(dict.fromkeys(names))[:MOST_NAMED]
