"""What can be tidied on a site, kind by kind: each can be looked at, and done in small steps.

A step is one short transaction that finds out anew what may go. So nobody who writes waits long, two may do the same
chore at once, and whoever is killed at it leaves nothing half done: what is left is found again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from billboards.site.admin import unused_files
from billboards.site.database import retention, trail
from billboards.site.database.retention import DAY, Amount, OldRanking, OldRows
from billboards.site.site import Site

#: Rows that go in one step; of rankings, each of which may say as much as thousands of rows, one does.
ROWS = 500


class Chore(Protocol):
    """One kind of thing that goes, by which setting and after how many days; None is never, or a kind without one."""

    @property
    def what(self) -> str: ...
    @property
    def setting(self) -> str | None: ...
    @property
    def days(self) -> int | None: ...

    def look(self) -> Amount:
        """How much there is to do."""

    def do(self) -> Iterator[Amount]:
        """Do it, step by step; tells what went with each."""


@dataclass(frozen=True)
class RowChore:
    """Rows of one table."""

    site: Site
    what: str
    setting: str | None
    days: int | None
    old: OldRows

    def look(self) -> Amount:
        with self.site.database.reading() as connection:
            return retention.measure(connection, self.old)

    def do(self) -> Iterator[Amount]:
        while (went := self._step()).count:
            yield went

    def _step(self) -> Amount:
        with self.site.database.writing() as connection:
            return retention.delete_some(connection, self.old, ROWS)


@dataclass(frozen=True)
class RankingChore:
    """Rankings but the last of each day."""

    site: Site
    what: str
    setting: str | None
    days: int | None
    before: float

    def look(self) -> Amount:
        old = self._find()
        with self.site.database.reading() as connection:
            return retention.measure_rankings(connection, old)

    def do(self) -> Iterator[Amount]:
        old = self._find()
        last = {one.board: one for one in old}
        for one in old:
            yield self._step(one, last=one is last[one.board])

    def _find(self) -> list[OldRanking]:
        with self.site.database.reading() as connection:
            return retention.old_rankings(connection, self.before, self.site.settings.retention.cited)

    def _step(self, old: OldRanking, *, last: bool) -> Amount:
        with self.site.database.writing() as connection:
            if last:
                # Once for all of a board: every page that lists rankings is made anew then.
                trail.raise_generation(connection, old.board, now=self.site.clock())
            return retention.thin(connection, old)


@dataclass(frozen=True)
class OneByOne:
    """Names, files or folders: `find` has them with their sizes, `remove` deletes one unless it is needed after all."""

    what: str
    setting: str | None
    days: int | None
    find: Callable[[], Mapping[Any, int]]
    remove: Callable[[Any, int], Amount]

    def look(self) -> Amount:
        found = self.find()
        return Amount(len(found), sum(found.values()))

    def do(self) -> Iterator[Amount]:
        for one, size in self.find().items():
            yield self.remove(one, size)


def list_chores(site: Site) -> tuple[Chore, ...]:
    """Everything that can go, in the order in which it does: what is in the database first."""
    said, now = site.settings.retention, site.clock()
    rows, thinned = partial(RowChore, site), "rankings, but the last of each day"
    return (
        rows("expired log-ins", None, None, retention.sessions_over(now)),
        rows("expired leases", None, None, retention.leases_over(now)),
        rows("log lines", "log_days", said.log_days, retention.log_lines(_before(now, said.log_days))),
        rows("audit entries", "trail_days", said.trail_days, retention.trail_entries(_before(now, said.trail_days))),
        rows("notices", "notice_days", said.notice_days, retention.notices(_before(now, said.notice_days))),
        _names(site),
        RankingChore(site, thinned, "ranking_days", said.ranking_days, _before(now, said.ranking_days)),
        _withdrawn(site),
        *_orphans(site),
    )


def _names(site: Site) -> Chore:
    days = site.settings.retention.annotator_days
    before = _before(site.clock(), days)

    def find() -> Mapping[int, int]:
        with site.database.reading() as connection:
            return retention.annotators_over(connection, before)

    def remove(annotator: int, size: int) -> Amount:
        with site.database.writing() as connection:
            return Amount(1, size) if retention.part_from_name(connection, annotator, before) else Amount()

    return OneByOne("annotators' names", "annotator_days", days, find, remove)


def _withdrawn(site: Site) -> Chore:
    days = site.settings.retention.withdrawn_days
    over, sent = _before(site.clock(), days), time.time() - DAY
    return OneByOne(
        "files of withdrawn and rejected submissions",
        "withdrawn_days",
        days,
        partial(unused_files.files_of_withdrawn, site, over, sent),
        partial(unused_files.remove_withdrawn, site, over=over, sent=sent),
    )


def _orphans(site: Site) -> Iterator[Chore]:
    days = site.settings.retention.orphan_days
    before = _before(time.time(), days)
    chore = partial(OneByOne, setting="orphan_days", days=days)
    yield chore(
        "files that no submission names",
        find=partial(unused_files.unnamed_files, site, before),
        remove=partial(unused_files.remove_unnamed, site, before=before),
    )
    yield chore(
        "unused folders of metrics and environments",
        find=partial(unused_files.unused_folders, site, before),
        remove=partial(unused_files.remove_folder, site, looked=site.clock()),
    )
    yield chore(
        "files left half made",
        find=partial(unused_files.unfinished, site, before),
        remove=unused_files.remove_unfinished,
    )


def _before(now: float, days: int | None) -> float:
    """The time before which things are too old; where they are kept for ever, nothing is."""
    return float("-inf") if days is None else now - days * DAY
