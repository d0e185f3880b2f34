"""What whoever runs a site must know before its users tell them: what waits, what failed, what is lost, what runs out.

Everything is read in one look at the database, from what is written anyway; nothing is counted along the way that a
crash could lose. `web.health` shows it as metrics, `deploy/alerts.yml` says when somebody must be told, and
`docs/runbook.md` what to do then.
"""

from __future__ import annotations

import logging
import os
import shutil
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotInTime
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import Connection, and_, func, select

from billboards.errors import FileLost, StoreFailed
from billboards.site.boards import registry
from billboards.site.database import trail
from billboards.site.database.retention import OVER
from billboards.site.database.schema import audit, cell_failures, deliveries, rankings, submissions
from billboards.site.site import Site, mistakes_in
from billboards.site.submissions.blobs import BlobStore
from billboards.site.submissions.records import TERMINAL, count_states
from billboards.site.work import leases

log = logging.getLogger("billboards.site")

#: What the audit trail says of a backup, and what it is about.
BACKED_UP, WHOLE_SITE = "site.backed-up", "the whole site"
#: Kinds of jobs, so that one of which nobody works on any is counted as none.
JOBS = ("check", "trial", "cell", "refresh", "tidying")
#: States that notices can be in.
NOTICES = ("waiting", "sent", "given up")
#: Seconds that a file store has to answer, and for which its answer is believed.
ANSWER, BELIEVED = 5.0, 10.0
#: Submitted files that are looked for: if none of the newest is there, the store is not the site's.
LOOKED_FOR = 3


@dataclass(frozen=True, kw_only=True)
class Operations:
    """A site's work and troubles at one moment; times are in seconds."""

    #: Submissions by kind and state.
    submissions: Mapping[tuple[str, str], int]
    #: Jobs that somebody is working on, by kind.
    jobs: Mapping[str, int]
    workers: int
    #: How long the submission that has waited longest has been in its state; 0 where none waits.
    oldest_waiting: float
    #: How long the longest-waiting scored submission has not been in a ranking of its board; 0 where all are.
    unranked: float
    #: How long the last ranking came after the last submission before it was scored; None before the first.
    time_to_rank: float | None
    #: Cells that failed, by whether the platform was at fault.
    failed_cells: Mapping[bool, int]
    #: Notices by state.
    notices: Mapping[str, int]
    #: How long the oldest notice has waited to be sent; 0 where none waits.
    oldest_notice: float
    #: When the last backup was taken, in seconds since 1970; 0 where there was none.
    last_backup: float
    boards: int
    #: Boards whose folders can't be read, so that their last good state is shown.
    unreadable_boards: int

    @property
    def waiting(self) -> int:
        """Submissions that are not through yet."""
        return sum(n for (_, state), n in self.submissions.items() if state not in TERMINAL)


def look_at(site: Site) -> Operations:
    """What a site has to do and what is wrong with it now."""
    now = site.clock()
    with site.database.reading() as connection:
        folders = registry.folder_states(connection)
        oldest_notice = select(func.min(deliveries.c.created)).where(deliveries.c.state == "waiting")
        waiting = select(func.min(submissions.c.changed)).where(submissions.c.state.not_in(TERMINAL))
        backed_up = select(func.max(audit.c.at)).where(audit.c.subject == WHOLE_SITE, audit.c.action == BACKED_UP)
        failed = select(cell_failures.c.platform, func.count()).group_by(cell_failures.c.platform)
        notices = select(deliveries.c.state, func.count()).group_by(deliveries.c.state)
        running = leases.count_held(connection, now=now)
        return Operations(
            submissions=count_states(connection),
            jobs={**dict.fromkeys(JOBS, 0), **running},
            workers=leases.count_workers(connection, now=now),
            oldest_waiting=_age(connection.execute(waiting).scalar(), now),
            unranked=_age(_unranked_since(connection), now),
            time_to_rank=_time_to_rank(connection),
            failed_cells={
                False: 0,
                True: 0,
                **{bool(platform): int(count) for platform, count in connection.execute(failed)},
            },
            notices={
                **dict.fromkeys(NOTICES, 0),
                **{str(state): int(count) for state, count in connection.execute(notices)},
            },
            oldest_notice=_age(connection.execute(oldest_notice).scalar(), now),
            last_backup=float(connection.execute(backed_up).scalar() or 0.0),
            boards=len(registry.list_boards(connection)),
            unreadable_boards=sum(entry.action == registry.UNREADABLE for entry in folders.values()),
        )


def note_backup(site: Site, rows: int) -> None:
    """Write down that a backup was taken, for who watches that there are any."""
    with site.database.writing() as connection:
        trail.note(connection, "site", BACKED_UP, WHOLE_SITE, now=site.clock(), detail={"rows": rows})


def _age(since: float | None, now: float) -> float:
    return 0.0 if since is None else max(0.0, now - since)


def _unranked_since(connection: Connection) -> float | None:
    """When the first submission was scored that no ranking of its board has seen; boards without any are passed over.

    A board that can't be ranked (nobody has judged it) has no ranking, and would be waited for without end.
    """
    last = select(rankings.c.board, func.max(rankings.c.created).label("at")).group_by(rankings.c.board).subquery()
    scored = and_(audit.c.subject == submissions.c.id, audit.c.action == "submission.scored", audit.c.at > last.c.at)
    query = select(func.min(audit.c.at)).select_from(submissions)
    query = query.join(last, last.c.board == submissions.c.board).join(audit, scored)
    return connection.execute(query.where(submissions.c.state == "scored", submissions.c.changed > last.c.at)).scalar()


def _time_to_rank(connection: Connection) -> float | None:
    last = select(rankings.c.board, rankings.c.created).order_by(rankings.c.created.desc()).limit(1)
    ranked = connection.execute(last).one_or_none()
    if ranked is None:
        return None
    query = select(func.max(submissions.c.changed)).where(
        submissions.c.board == ranked.board, submissions.c.state == "scored", submissions.c.changed <= ranked.created
    )
    scored = connection.execute(query).scalar()
    return None if scored is None else float(ranked.created - scored)


@dataclass
class FileStoreWatch:
    """Whether the place of submitted files is there and holds them, asked at most once in a few seconds.

    A store that is away may take minutes to say so: it is asked in a thread of its own, and what does not answer in
    time is down.
    """

    site: Site
    _pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "file store"), repr=False)
    _asked: float = float("-inf")
    _problem: str | None = None
    _waiting: Future[str | None] | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def problem(self) -> str | None:
        """What is wrong, in words that name no place; None where nothing is."""
        with self._lock:
            if time.monotonic() - self._asked >= BELIEVED:
                if self._waiting is None:
                    self._waiting = self._pool.submit(_store_problem, self.site)
                try:
                    self._problem = self._waiting.result(ANSWER)
                    self._waiting = None
                except NotInTime:
                    self._problem = "the store of submitted files does not answer"
                self._asked = time.monotonic()
            return self._problem


def _store_problem(site: Site) -> str | None:
    try:
        if not site.blobs.is_up():
            log.error("the store of submitted files can't be reached: %s", site.settings.blobs or site.data / "blobs")
            return "the store of submitted files can't be reached"
        newest = _newest_files(site)
        if newest and not any(map(site.blobs.size, newest)):
            log.error("none of the newest submitted files is in the store: %s", ", ".join(newest))
            return "submitted files are missing"
    except StoreFailed as error:
        log.error("the store of submitted files: %s", error)
        return "the store of submitted files can't be reached"
    return None


def _newest_files(site: Site) -> list[str]:
    query = select(submissions.c.blob).where(submissions.c.blob != "", submissions.c.state.not_in(OVER))
    with site.database.reading() as connection:
        return list(connection.execute(query.order_by(submissions.c.created.desc()).limit(LOOKED_FOR)).scalars())


@dataclass(frozen=True)
class LostFile:
    """A submitted file, or a board's folder, that is not what it was."""

    #: The file's digest, or the folder.
    file: str
    #: missing, damaged or unreadable.
    state: str
    #: What needs it: submissions with kind, name, version and board, or the board.
    needed_by: str


@dataclass(frozen=True)
class Verified:
    """What a look at every file of a site found."""

    files: int
    boards: int
    lost: tuple[LostFile, ...]


def verify_files(site: Site) -> Verified:
    """Read every file that a submission names, and every board's folder; what is lost is in the log too."""
    named: dict[str, list[str]] = {}
    query = select(submissions).where(submissions.c.blob != "").order_by(submissions.c.created)
    with site.database.reading() as connection:
        for row in connection.execute(query).mappings():
            needs = f"{row['kind']} {row['name']}, version {row['version']}, on board {row['board']} ({row['id']})"
            named.setdefault(row["blob"], []).append(needs)
    states = ((blob, _file_state(site.blobs, blob)) for blob in named)
    lost = [LostFile(blob, state, "; ".join(named[blob])) for blob, state in states if state is not None]
    boards = site.boards()
    for board in boards:
        if mistakes := mistakes_in(Path(board.folder)):
            state = "unreadable" if Path(board.folder).is_dir() else "missing"
            lost.append(LostFile(board.folder, state, f"board {board.name}: {mistakes[0]}"))
    for file in lost:
        log.error("%s is %s; needed by %s", file.file, file.state, file.needed_by)
    return Verified(len(named), len(boards), tuple(lost))


def _file_state(store: BlobStore, blob: str) -> str | None:
    try:
        store.read(blob)
    except FileLost as error:
        return error.state
    except StoreFailed:
        return "unreadable"
    return None


def free_bytes(site: Site) -> int | None:
    """What the data folder's disk has left; None where it can't be asked."""
    try:
        return shutil.disk_usage(site.data).free
    except OSError:
        return None


def memory() -> dict[str, int]:
    """Resident bytes of this process and of the workers that the same supervisor started; empty where none is told."""
    own = _status(os.getpid())
    if own is None:
        return {}
    sizes = {"web": own[1], "workers": 0}
    for path in Path("/proc").glob("[0-9]*"):
        status = _status(int(path.name))
        if status is not None and status[0] == own[0] and _is_worker(path):
            sizes["workers"] += status[1]
    return sizes


def _status(pid: int) -> tuple[int, int] | None:
    """A process's parent, and its resident bytes."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text("ascii", "replace").splitlines()
    except OSError:
        return None
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    return int(fields["PPid"]), int(fields.get("VmRSS", "0 kB").split()[0]) * 1024


def _is_worker(process: Path) -> bool:
    try:
        return b"billboards.site.work.worker" in (process / "cmdline").read_bytes()
    except OSError:
        return False
