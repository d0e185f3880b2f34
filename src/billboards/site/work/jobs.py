"""The next thing to do: found among what is missing, and leased to the worker that asks.

A worker asks for a job, does it (`site.work`), and what it leaves undone, because it was stopped, killed or cut off, is
found again by whoever asks next. A submission whose cells are all done or given up is settled on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from billboards.errors import InvalidBoard, InvalidInput
from billboards.site.boards.live import live_board
from billboards.site.boards.refresh import is_due
from billboards.site.boards.snapshots import Audience
from billboards.site.cache import Shelf
from billboards.site.campaigns.rolling import admit_generators
from billboards.site.site import Site
from billboards.site.submissions import records as submissions
from billboards.site.submissions.records import Submission
from billboards.site.work import leases
from billboards.site.work.cell_state import is_present
from billboards.site.work.leases import Lease
from billboards.site.work.wanted import Wanted, cells_of
from billboards.site.work.worklist import Standing, standing

Kind = Literal["check", "trial", "cell", "refresh"]
#: Which jobs a worker takes, by kind and, for a cell, what is wanted.
Takes = Callable[[Kind, Wanted | None], bool]

#: The generation at which a board had nothing to do, and at which it could not be ranked for an audience.
IDLE, UNRANKABLE = Shelf[str, int](), Shelf[tuple[str, Audience], int]()

#: A cell's failure in the submission's log is cut to this length.
LONGEST_REASON = 4_000


@dataclass(frozen=True)
class Job:
    """One thing to do, leased to one worker."""

    kind: Kind
    board: str
    subject: str
    lease: Lease
    submission: Submission | None = None
    wanted: Wanted | None = None

    def __str__(self) -> str:
        what = self.submission.name if self.submission else self.subject
        if self.wanted is not None:
            what = f"{self.wanted.scorer.name} · {self.wanted.row.name}"
        return f"{self.kind} {what} on {self.board}"


@dataclass(frozen=True)
class _Candidate:
    kind: Kind
    subject: str
    submission: Submission | None = None
    wanted: Wanted | None = None


def anything(_: Kind, __: Wanted | None) -> bool:
    return True


def next_job(site: Site, worker: str, takes: Takes = anything) -> Job | None:
    """The next thing to do on any board, leased to this worker; None where there is nothing for it."""
    for known in site.boards():
        if site.cache.get(IDLE, known.name) == known.generation:
            continue
        try:
            job = _next_of(site, known.name, worker, takes)
        except (InvalidBoard, InvalidInput):
            # The owner is editing the folder; the board stays as it was until it can be read again.
            continue
        if job is not None:
            return job
    return None


def _next_of(site: Site, name: str, worker: str, takes: Takes) -> Job | None:
    now = standing(site, name)
    while settle(site, now) or admit_generators(site, name):
        now = standing(site, name)
    with site.database.reading() as connection:
        held = leases.held(connection, name, now=site.clock())
    waits = False
    for candidate in _candidates(site, now):
        waits = True
        if (candidate.kind, candidate.subject) not in held and takes(candidate.kind, candidate.wanted):
            job = _take(site, name, candidate, worker)
            if job is not None:
                return job
    if not waits and not now.open and not now.plan.settings.quiet:
        site.cache.put(IDLE, name, now.plan.known.generation)
    return None


def _candidates(site: Site, now: Standing) -> Iterator[_Candidate]:
    plan = now.plan
    for one in plan.active:
        if one.state in ("received", "checking"):
            yield _Candidate("check", one.id, one)
        elif one.state == "trial":
            yield _Candidate("trial", one.id, one)
    audiences: tuple[Audience, ...] = ("public", "owners") if plan.has_hidden else ("public",)
    for audience in audiences:
        if _should_refresh(site, now, audience):
            yield _Candidate("refresh", audience)
    for wanted in map(plan.make, now.due()):
        yield _Candidate("cell", wanted.subject, wanted.scorer.submission, wanted)


def _should_refresh(site: Site, now: Standing, audience: Audience) -> bool:
    """Whether a board's cells are complete, it has been quiet long enough, and what it last said is out of date."""
    plan = now.plan
    if not now.is_complete(plan.shown[audience]) or now.now - plan.known.changed < plan.settings.quiet:
        return False
    live = live_board(site, plan.known.name, audience=audience)
    unrankable = site.cache.get(UNRANKABLE, (live.name, audience)) == live.generation
    return live.generation == plan.known.generation and is_due(live) and not unrankable


def _take(site: Site, board: str, candidate: _Candidate, worker: str) -> Job | None:
    now = site.clock()
    submission = candidate.submission
    # A submission's state changes with its lease, and only writers may change it.
    changes = candidate.kind in ("check", "trial")
    with site.database.writing() if changes else site.database.claiming() as connection:
        lease = leases.acquire(
            connection, board, candidate.kind, candidate.subject, worker, now=now, seconds=site.settings.lease_seconds
        )
        if lease is None:
            return None
        if submission is not None and changes:
            submission = submissions.get(connection, submission.id)
            if submission.state == "received":
                submission = submissions.advance(connection, submission.id, "checking", actor=worker, now=now)
            if submission.state != ("checking" if candidate.kind == "check" else "trial"):
                leases.release(connection, lease)
                return None
        # A cell may have been computed between the look at the list and the lease.
        if candidate.wanted is not None and is_present(connection, board, candidate.wanted.cell):
            leases.release(connection, lease)
            return None
    return Job(candidate.kind, board, candidate.subject, lease, submission, candidate.wanted)


def hand_back(site: Site, job: Job) -> None:
    """Give a job that was begun and not finished to whoever asks next, at once."""
    with site.database.reading() as connection:
        if not leases.holds(connection, job.lease):
            return
    with site.database.writing() as connection:
        leases.release(connection, job.lease)


def settle(site: Site, now: Standing) -> bool:
    """Finish every submission whose cells are all done or given up; says whether there was one."""
    done = False
    for one in now.plan.active:
        if one.state == "scoring" and now.is_complete(now.plan.waits[one.id]):
            done |= _settle_one(site, one, now)
    return done


def _settle_one(site: Site, submission: Submission, now: Standing) -> bool:
    """A metric is finished when it has scored every generator; a generator, when some metric has scored it."""
    waits = cells_of(now.plan.waits[submission.id])
    failed = {cell: now.failed[cell] for cell in sorted(filter(now.is_missing, waits))}
    platform = any(failure.platform for failure in failed.values())
    reasons = list(dict.fromkeys(failure.reason for failure in failed.values()))
    fails = bool(failed) and (submission.kind == "metric" or platform or len(failed) == len(waits))
    with site.database.writing() as connection:
        if submissions.get(connection, submission.id).state != "scoring":
            return True
        moment = site.clock()
        if fails:
            log = "\n".join(reasons)
            submissions.advance(
                connection,
                submission.id,
                "failed",
                actor="site",
                now=moment,
                reason=reasons[0][:LONGEST_REASON],
                platform=platform,
                log=log,
            )
        else:
            log = f"scored: {len(waits) - len(failed)} of {len(waits)} cells"
            log = "\n".join((log, *(f"not scored: {reason}" for reason in reasons)))
            submissions.advance(connection, submission.id, "scored", actor="site", now=moment, log=log)
    return True
