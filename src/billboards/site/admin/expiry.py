"""What a site keeps no longer than its owner says, deleted on demand and once a day.

What `[retention]` in site.toml does not name is kept for ever; log-ins and leases that have expired go anyway. The
scores, ensembles and last ranking that a board stands on never go. Of all workers of a site one tidies, by a lease:
should it die, another goes on.
"""

from __future__ import annotations

import logging
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from sqlalchemy import Connection

from billboards.errors import BillboardsError, InvalidInput, Refused
from billboards.run.environments import file_sizes, made_environments
from billboards.site.database import retention, trail
from billboards.site.database.retention import DAY, Amount, OldRanking, OldRows
from billboards.site.organise.drafts import DRAFTS
from billboards.site.publishing.publications import FOLDER, KEPT, find_old, remove_old
from billboards.site.site import Site
from billboards.site.submissions import records as submissions
from billboards.site.submissions.blobs import is_name
from billboards.site.submissions.metric_folders import requirements_of
from billboards.site.submissions.records import Submission
from billboards.site.work import leases
from billboards.site.work.leases import Lease

log = logging.getLogger("billboards.tidying")
#: The lease that lets one worker of all tidy.
KIND = "tidying"
#: Seconds after its start until a worker looks whether it is time to tidy, and from then on.
FIRST_LOOK, LOOK = 20.0, 600.0
#: Rows that go in one step; of rankings, each of which may say as much as thousands of rows, one does.
ROWS = 500
#: What a folder is called between being taken away and being deleted.
TAKEN = ".taken-"


@dataclass(frozen=True)
class Tidied:
    """What went, or would go, chore by chore; None is what is kept for ever or was left alone, as a note says."""

    chores: tuple[Chore, ...]
    amounts: Mapping[str, Amount | None]
    notes: tuple[str, ...]
    done: bool


def plan_tidying(site: Site) -> Tidied:
    """What would go now; nothing is changed."""
    return _through(site, lambda chore: chore.look(), done=False)


def tidy(site: Site, *, actor: str, go_on: Callable[[], bool] = lambda: True) -> Tidied:
    """Delete what is kept too long, until told to stop; the audit trail says how much."""
    tidied = _through(site, lambda chore: _do(chore, go_on), done=True)
    went = {what: amount.count for what, amount in tidied.amounts.items() if amount is not None and amount.count}
    if went:
        with site.database.writing() as connection:
            trail.note(connection, actor, "site.tidied", "site", now=site.clock(), detail=went)
    return tidied


def _do(chore: Chore, go_on: Callable[[], bool]) -> Amount:
    total, steps = Amount(), chore.do()
    while go_on() and (step := next(steps, None)) is not None:
        total += step
    return total


def _through(site: Site, visit: Callable[[Chore], Amount], *, done: bool) -> Tidied:
    chores, amounts, notes = list_chores(site), dict[str, Amount | None](), []
    for chore in chores:
        amounts[chore.what] = None
        if chore.setting is None or chore.days is not None:
            try:
                amounts[chore.what] = visit(chore)
            except Refused as error:
                notes.append(str(error))
    return Tidied(chores, amounts, tuple(notes), done)


def tidy_if_due(site: Site, worker: str, stop: threading.Event | None = None) -> Tidied | None:
    """Tidy, unless somebody has within a day or is at it."""
    seconds = site.settings.lease_seconds
    with site.database.claiming() as connection:
        lease = leases.acquire(connection, "", KIND, "site", worker, now=site.clock(), seconds=seconds)
    if lease is None:
        return None
    turn = _Turn(site, lease, stop or threading.Event())
    tidied = tidy(site, actor="site", go_on=turn)
    if turn():
        with site.database.claiming() as connection:
            leases.put_off(connection, lease, until=site.clock() + DAY)
    return tidied


class _Turn:
    """Whether to go on: nobody said stop, and nobody else has the lease, which is renewed now and then."""

    def __init__(self, site: Site, lease: Lease, stop: threading.Event) -> None:
        self.site, self.lease, self.stop = site, lease, stop
        self._renewed = site.clock()

    def __call__(self) -> bool:
        now, seconds = self.site.clock(), self.site.settings.lease_seconds
        if self.stop.is_set() or now - self._renewed < seconds / 3:
            return not self.stop.is_set()
        self._renewed = now
        with self.site.database.claiming() as connection:
            return leases.renew(connection, self.lease, now=now, seconds=seconds)


def tidy_daily(site: Site, worker: str, stop: threading.Event) -> None:
    """Look again and again whether it is time to tidy, until told to stop."""
    pause = FIRST_LOOK
    while not stop.wait(pause):
        pause = LOOK
        try:
            tidied = tidy_if_due(site, worker, stop)
            for note in () if tidied is None else tidied.notes:
                log.warning("tidying: %s", note)
        except BillboardsError as error:
            log.error("tidying: %s", error)


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
        last = {ranking.board: ranking for ranking in old}
        for ranking in old:
            yield self._step(ranking, last=ranking is last[ranking.board])

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
        sizes = self.find()
        return Amount(len(sizes), sum(sizes.values()))

    def do(self) -> Iterator[Amount]:
        for thing, size in self.find().items():
            yield self.remove(thing, size)


def list_chores(site: Site) -> tuple[Chore, ...]:
    """Everything that can go, in the order in which it does: what is in the database first."""
    kept, now = site.settings.retention, site.clock()
    rows, thinned = partial(RowChore, site), "rankings, but the last of each day"
    return (
        rows("expired log-ins", None, None, retention.sessions_over(now)),
        rows("links that are over", None, None, retention.links_over(now)),
        rows("requests decided a month ago", None, None, retention.requests_over(now)),
        rows("invitations that are over", None, None, retention.invitations_over(now)),
        rows("expired leases", None, None, retention.leases_over(now)),
        rows("log lines", "log_days", kept.log_days, retention.log_lines(_before(now, kept.log_days))),
        rows("audit entries", "trail_days", kept.trail_days, retention.trail_entries(_before(now, kept.trail_days))),
        rows("notices", "notice_days", kept.notice_days, retention.notices(_before(now, kept.notice_days))),
        _names(site),
        RankingChore(site, thinned, "ranking_days", kept.ranking_days, _before(now, kept.ranking_days)),
        _withdrawn(site),
        _published(site),
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
        partial(files_of_withdrawn, site, over, sent),
        partial(remove_withdrawn, site, over=over, sent=sent),
    )


def _published(site: Site) -> Chore:
    before = site.clock() - KEPT
    return OneByOne(
        "archives of published files, after a week",
        None,
        None,
        partial(find_old, site, before),
        lambda board, size: Amount(1, size) if remove_old(site, board, before) else Amount(),
    )


def _orphans(site: Site) -> Iterator[Chore]:
    days = site.settings.retention.orphan_days
    before = _before(time.time(), days)
    chore = partial(OneByOne, setting="orphan_days", days=days)
    yield chore(
        "files that no submission names",
        find=partial(unnamed_files, site, before),
        remove=partial(remove_unnamed, site, before=before),
    )
    yield chore(
        "unused folders of metrics and environments",
        find=partial(unused_folders, site, before),
        remove=partial(remove_folder, site, looked=site.clock()),
    )
    yield chore(
        "files left half made",
        find=partial(unfinished, site, before),
        remove=remove_unfinished,
    )


def _before(now: float, days: int | None) -> float:
    """The time before which things are too old; where they are kept for ever, nothing is."""
    return float("-inf") if days is None else now - days * DAY


def remove_file(site: Site, blob: str, *, before: float, release: Callable[[Connection, str], bool]) -> bool:
    """Delete a submitted file and what was unpacked from it, if `release` lets it go and nobody sent it since."""
    if site.blobs.touched(blob) >= before:
        return False
    with site.database.writing() as connection:
        if not release(connection, blob):
            return False
        site.blobs.remove(blob)
        taken = _take_away(site.data / "metrics" / blob)
    _delete(taken)
    return True


def is_unnamed(connection: Connection, blob: str) -> bool:
    """Whether no submission names a file."""
    return bool(retention.unreferenced(connection, [blob]))


def files_of_withdrawn(site: Site, over: float, sent: float) -> dict[str, int]:
    """Files, with their sizes, last sent before `sent`, that only submissions name which ended before `over`."""
    with site.database.reading() as connection:
        names = retention.files_over(connection, over)
    return {name: site.blobs.size(name) for name in names if site.blobs.touched(name) < sent}


def remove_withdrawn(site: Site, blob: str, size: int, *, over: float, sent: float) -> Amount:
    """Delete the file of withdrawn or rejected submissions, unless it was sent again; their rows then name none."""

    def release(connection: Connection, name: str) -> bool:
        released = bool(retention.files_over(connection, over, [name]))
        if released:
            retention.part_from_file(connection, name)
        return released

    return Amount(1, size) if remove_file(site, blob, before=sent, release=release) else Amount()


def unnamed_files(site: Site, before: float) -> dict[str, int]:
    """Submitted files, with their sizes, that no submission names and nobody sent since a time."""
    kept = dict(site.blobs.listed())
    with site.database.reading() as connection:
        named = retention.named_files(connection)
    if kept and not kept.keys() & named:
        raise Refused(
            f"the database names none of the {len(kept)} submitted files there are; they stay, "
            "in case it is not the database that they belong to"
        )
    unnamed = {name: size for name, size in kept.items() if name not in named}
    return {name: size for name, size in unnamed.items() if site.blobs.touched(name) < before}


def remove_unnamed(site: Site, blob: str, size: int, *, before: float) -> Amount:
    """Delete a file that nobody names."""
    return Amount(1, size) if remove_file(site, blob, before=before, release=is_unnamed) else Amount()


def unused_folders(site: Site, before: float) -> dict[Path, int]:
    """Unpacked metrics that no submission names, and environments that no metric asks for, with their sizes."""
    with site.database.reading() as connection:
        named = retention.named_files(connection)
    unpacked = (path for path in _entries(site.data / "metrics") if is_name(path.name[:2], path.name))
    unnamed = [path for path in unpacked if path.name not in named]
    return {path: sum(file_sizes(path)) for path in (*unnamed, *_unasked(site)) if _changed(path) < before}


def _unasked(site: Site) -> list[Path]:
    """Environments that no metric asks for; one that does not say what it was made for stays."""
    made = dict(made_environments(site.data / "environments"))
    if not any(made.values()):
        return []
    asked = set()
    for submission in _metrics(site):
        # A metric that asks for what can't be understood has no environment.
        with suppress(InvalidInput):
            asked.add(requirements_of(site, submission))
    return [path for path, needs in made.items() if needs is not None and needs not in asked]


def remove_folder(site: Site, folder: Path, size: int, *, looked: float) -> Amount:
    """Delete a folder, unless a submission may have begun to need it since `looked`, when it was found unused."""
    with site.database.writing() as connection:
        if folder.parent.name == "metrics":
            unused = is_unnamed(connection, folder.name)
        else:
            # Which environment a new metric asks for is not known before it was unpacked.
            newest = submissions.find(connection, kind="metric", limit=1)
            unused = not newest or newest[0].created < looked
        taken = _take_away(folder) if unused else None
    return Amount(1, size) if _delete(taken) else Amount()


def _metrics(site: Site) -> list[Submission]:
    """Metrics whose file is there and that are, or may be, run again."""
    with site.database.reading() as connection:
        sent = submissions.find(connection, kind="metric")
    programs = (submission for submission in sent if submission.way == "program")
    return [submission for submission in programs if submission.blob and submission.state not in retention.OVER]


def unfinished(site: Site, before: float) -> dict[Path, int]:
    """What killed processes left half made, with sizes."""
    own = ("metrics", "environments", FOLDER, DRAFTS)
    places = [*(site.data / folder for folder in own), *_entries(site.data / "blobs")]
    hidden = [path for place in places for path in _entries(place) if path.name.startswith(".")]
    return {path: _size(path) for path in hidden if _changed(path) < before}


def remove_unfinished(path: Path, size: int) -> Amount:
    """Delete what was left half made."""
    if not path.exists():
        return Amount()
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
    return Amount(1, size)


def _entries(folder: Path) -> Iterator[Path]:
    return iter(sorted(folder.iterdir()) if folder.is_dir() else ())


def _size(path: Path) -> int:
    return sum(file_sizes(path)) if path.is_dir() else path.stat().st_size


def _changed(path: Path) -> float:
    """When something was last put into or taken out of a folder; what is gone meanwhile is as new as can be."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return float("inf")


def _take_away(folder: Path) -> Path | None:
    """Move a folder out of sight, at once; None where there is none, or somebody else took it."""
    if not folder.is_dir():
        return None
    taken = Path(tempfile.mkdtemp(prefix=TAKEN, dir=folder.parent))
    try:
        return folder.rename(taken / folder.name)
    except FileNotFoundError:
        taken.rmdir()
        return None


def _delete(taken: Path | None) -> bool:
    if taken is not None:
        shutil.rmtree(taken.parent, ignore_errors=True)
    return taken is not None
