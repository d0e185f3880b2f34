"""Doing a job: check a submission, try a metric, compute a cell, rank a board.

The result is written on the condition that the worker still holds the lease. A fault of the platform is told from a
fault of the submission: it is tried again, and in the end costs no quota.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping
from functools import partial

from billboards.board import Board, Outputs
from billboards.board.cells import ColumnKey
from billboards.board.scoring import MissingCell, cell_batch, column_key, compute_cells
from billboards.errors import BillboardsError, InvalidBoard, InvalidInput, MissingPart, StoreAway, StoreFailed
from billboards.metrics.base import Metric
from billboards.metrics.executor import Executor
from billboards.run.program import ProgramMetric
from billboards.run.trial import Trial, try_program
from billboards.site.boards.live import BlobTexts, live_board
from billboards.site.boards.refresh import refresh
from billboards.site.boards.snapshots import Audience
from billboards.site.cache import Shelf
from billboards.site.database import trail
from billboards.site.site import Site
from billboards.site.submissions import records as submissions
from billboards.site.submissions.records import Submission
from billboards.site.work import leases
from billboards.site.work.jobs import LONGEST_REASON, UNRANKABLE, Job, Kind
from billboards.site.work.planning import plan_board
from billboards.site.work.programs import open_submitted
from billboards.site.work.running import Cancelled, Elsewhere, LeasedCells, Listener, Running
from billboards.site.work.sql_cells import write_failure
from billboards.site.work.wanted import Plan, Wanted
from billboards.site.work.worklist import BACKOFF

#: Where cells are computed, until somebody says that they are unwanted.
Engine = Callable[[Cancelled], Executor]

#: Seconds until a ranking is tried again that the platform could not make.
PUT_OFF = 600.0
#: Submitted metrics that are open, by signature.
_PROGRAMS = Shelf[str, ProgramMetric]()
#: What the system says of a disk without room.
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def run_job(site: Site, job: Job, *, cancelled: Cancelled = lambda: False, engine: Engine | None = None) -> None:
    """Do a job, a cell by the engine given; its result, good or bad, is written down if the lease still holds."""
    if job.lease.taken > site.settings.attempts:
        died = job.lease.taken - 1
        _give_up(site, job, f"{died} workers died at this; the platform gives up", times=died)
        return
    score = partial(_score, engine=engine)
    doing: Mapping[Kind, Callable[[Site, Job, Cancelled], None]]
    doing = {"check": _check, "trial": _try, "cell": score, "refresh": _refresh}
    try:
        doing[job.kind](site, job, cancelled)
    except (StoreFailed, MissingPart, OSError) as error:
        passes = isinstance(error, StoreAway) or (isinstance(error, OSError) and error.errno in FULL)
        (_try_again if passes else _give_up)(site, job, f"{type(error).__name__}: {error}")


def _check(site: Site, job: Job, cancelled: Cancelled) -> None:
    assert job.submission is not None
    if job.submission.kind == "generator":
        _check_generator(site, job, job.submission)
    else:
        _check_metric(site, job, job.submission, cancelled)


def _check_generator(site: Site, job: Job, submission: Submission) -> None:
    """Read what was kept once more: the board may have changed since it came in."""
    board = plan_board(site, job.board).board
    try:
        texts = BlobTexts(site.blobs, submission.blob, board.position)()
        missing = sum(text is None for text in texts)
        problem = f"no output for {missing} of {len(texts)} instances; send it in again" if missing else None
    except InvalidBoard as error:
        problem = f"the board's instances have changed since: {error}"
    if problem is not None:
        _finish(site, job, "rejected", reason=problem)
    else:
        _finish(site, job, "scoring", log=f"checked: {len(board.instances)} outputs")


def _check_metric(site: Site, job: Job, submission: Submission, cancelled: Cancelled) -> None:
    try:
        program, log = open_submitted(site, submission, cancelled=cancelled)
    except InvalidInput as error:
        problems = getattr(error, "problems", ())
        text = "\n".join(map(str, problems)) or str(error)
        _finish(site, job, "rejected", reason=str(error), log=text)
        return
    if cancelled():
        return
    card = program.card
    settings = {
        **submission.settings,
        "column": card.name,
        "signature": program.signature,
        "needs_references": card.needs_references,
        "needs_input": card.needs_input,
        "higher_is_better": card.higher_is_better,
        "training_data": card.training_data,
        "deterministic": card.deterministic,
        "summary": card.summary,
    }
    _finish(site, job, "trial", log=f"checked: {program.signature}\n{log}".strip(), settings=settings)


def _try(site: Site, job: Job, cancelled: Cancelled) -> None:
    assert job.submission is not None
    plan = plan_board(site, job.board)
    program, _ = open_submitted(site, job.submission, cancelled=cancelled)
    row = _trial_row(plan, program)
    if row is None:
        _finish(site, job, "rejected", reason="no output of this board has all that the metric needs to be tried on")
        return
    batch, _ = cell_batch(plan.board, MissingCell(program, _key(plan.board, program), row))
    found = try_program(
        program,
        batch,
        rows=len(plan.rows),
        listen=Listener(site, job),
        cancelled=cancelled,
        quoting=not plan.settings.hidden_references,
    )
    if not cancelled():
        _judge_trial(site, job, found, quoting=not plan.settings.hidden_references)


def _judge_trial(site: Site, job: Job, found: Trial, *, quoting: bool) -> None:
    if found.problem is None:
        low, high = found.estimate
        scores = ", ".join(f"{score:.4g}" for score in found.scores) if quoting else f"{len(found.scores)} scores"
        log = f"trial passed: {scores}; the whole board may take {low:.0f} to {high:.0f} seconds"
        _finish(site, job, "scoring", log=log)
    elif found.platform:
        _give_up(site, job, found.problem)
    else:
        _finish(site, job, "rejected", reason=found.problem, log=f"trial failed: {found.problem}")


def _key(board: Board, metric: Metric) -> ColumnKey:
    return column_key(board, metric, board.references)


def _trial_row(plan: Plan, program: ProgramMetric) -> Outputs | None:
    """The first row with something for the metric to score."""
    key = _key(plan.board, program)
    for row in plan.rows:
        if not plan.board.is_reference(row, key.column.references):
            batch, _ = cell_batch(plan.board, MissingCell(program, key, row))
            if len(batch):
                return row
    return None


def _score(site: Site, job: Job, cancelled: Cancelled, *, engine: Engine | None) -> None:
    wanted = job.wanted
    assert wanted is not None
    plan = plan_board(site, job.board)
    if column_key(plan.board, wanted.scorer, wanted.key.column.references) != wanted.key:
        # The owner changed the board since: these scores would stand under what the metric no longer sees.
        return
    try:
        metric = _metric(site, wanted, cancelled)
    except InvalidInput as error:
        raise StoreFailed(f"{wanted.scorer.name} can't be opened any more: {error}") from error
    running: Running | Elsewhere
    if engine is None:
        running = Running(site, job, cancelled, quoting=not plan.settings.hidden_references)
    else:
        running = Elsewhere(engine(cancelled))
    cells = [MissingCell(metric, wanted.key, wanted.row)]
    try:
        report = compute_cells(plan.board, LeasedCells(site, job), cells, running)
    except InvalidInput as error:
        _fail_cell(site, job, f"{wanted.row.name} can't be scored: {error}", platform=False)
        return
    for failure in report.failures.values():
        if not cancelled():
            _fail_cell(site, job, failure, platform=running.platform)


def _metric(site: Site, wanted: Wanted, cancelled: Cancelled) -> Metric:
    if wanted.scorer.metric is not None:
        return wanted.scorer.metric
    assert wanted.scorer.submission is not None
    program = site.cache.get(_PROGRAMS, wanted.scorer.signature)
    if program is None or not program.folder.exists():
        program, _ = open_submitted(site, wanted.scorer.submission, cancelled=cancelled)
        if program.signature != wanted.scorer.signature:
            raise StoreFailed(
                f"{program.name} is {program.signature} here, but was checked as {wanted.scorer.signature}; "
                "send it in again, or run all workers with the same Python"
            )
        site.cache.put(_PROGRAMS, wanted.scorer.signature, program)
    return program


def _refresh(site: Site, job: Job, _: Cancelled) -> None:
    audience: Audience = "owners" if job.subject == "owners" else "public"
    live = live_board(site, job.board, audience=audience)
    try:
        refresh(site, job.board, audience, job.lease)
    except StoreAway:
        # Nothing is wrong with the board: it is ranked when the database is back.
        raise
    except BillboardsError as error:
        site.cache.put(UNRANKABLE, (live.name, audience), live.generation)
        with site.database.writing() as connection:
            leases.release(connection, job.lease)
            detail = {"reason": str(error), "audience": audience}
            trail.note(
                connection, "site", "ranking.failed", job.board, now=site.clock(), board=job.board, detail=detail
            )


def _finish(
    site: Site,
    job: Job,
    to: str,
    *,
    reason: str | None = None,
    log: str | None = None,
    platform: bool = False,
    settings: Mapping[str, object] | None = None,
) -> None:
    """Bring a job's submission into its next state, if the lease holds and nobody has cancelled it meanwhile."""
    assert job.submission is not None
    now = site.clock()
    with site.database.writing() as connection:
        if not leases.holds(connection, job.lease):
            return
        leases.release(connection, job.lease)
        if submissions.get(connection, job.submission.id).state != job.submission.state:
            return
        if settings is not None:
            submissions.change(
                connection, job.submission.id, "submission.checked", actor="site", now=now, settings=dict(settings)
            )
        submissions.advance(
            connection, job.submission.id, to, actor="site", now=now, reason=reason, log=log, platform=platform
        )


def _fail_cell(site: Site, job: Job, reason: str, *, platform: bool, times: int = 1) -> None:
    assert job.wanted is not None
    now = site.clock()
    with site.database.writing() as connection:
        if not leases.holds(connection, job.lease):
            return
        leases.release(connection, job.lease)
        cell, short = job.wanted.cell, reason[:LONGEST_REASON]
        attempts = write_failure(connection, job.board, cell, reason=short, platform=platform, now=now, times=times)
        detail = {"metric": job.wanted.scorer.name, "row": job.wanted.row.name, "reason": short, "attempts": attempts}
        trail.note(connection, "site", "cell.failed", job.board, now=now, board=job.board, detail=detail)
        if job.submission is not None:
            trail.write_log(connection, job.submission.id, reason, now=now)


def _try_again(site: Site, job: Job, reason: str) -> None:
    """Put a job off that the database's absence or a full disk spoiled; as often as a job may kill its workers."""
    if job.lease.taken >= site.settings.attempts:
        _give_up(site, job, reason)
        return
    with site.database.writing() as connection:
        leases.put_off(connection, job.lease, until=site.clock() + BACKOFF * job.lease.taken, anew=False)


def _give_up(site: Site, job: Job, reason: str, *, times: int = 1) -> None:
    """A fault of the platform: a cell is tried again a few times, a check or trial fails, refunded, a ranking waits."""
    if job.kind == "cell":
        _fail_cell(site, job, reason, platform=True, times=times)
    elif job.submission is not None:
        _finish(site, job, "failed", reason=reason, log=reason, platform=True)
    else:
        now = site.clock()
        with site.database.writing() as connection:
            leases.put_off(connection, job.lease, until=now + PUT_OFF)
            detail = {"reason": reason}
            trail.note(connection, "site", f"{job.kind}.put-off", job.board, now=now, board=job.board, detail=detail)
