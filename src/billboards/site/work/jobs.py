"""Doing a job: check a submission, try a metric, compute a cell, rank a board, fetch a draft, write a board's files.

The result is written on the condition that the worker still holds the lease. A cell is computed here, a submitted
program with its log and a way to stop it, or by an engine somewhere else. A fault of the platform is told from a fault
of the submission: it is tried again, and in the end costs no quota.
"""

from __future__ import annotations

import errno
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from billboards.board.cells import ColumnKey, Floats
from billboards.board.missing_cells import Cell, cell_batch, column_key, compute_cells
from billboards.errors import (
    BillboardsError,
    InvalidBoard,
    InvalidInput,
    MissingPart,
    Refused,
    StoreAway,
    StoreFailed,
)
from billboards.metrics.base import Batch, Counts, Metric
from billboards.metrics.executor import Executor, Result, Task, run_groups, run_task, run_together
from billboards.metrics.judges.budget import allowed
from billboards.run.program import ProgramMetric
from billboards.run.program_metrics import WatchedMetric
from billboards.run.shuffled_outputs import keyed
from billboards.run.trial import InProcessRuns, Trial, try_program
from billboards.site.boards import budgets, suite_rankings
from billboards.site.boards.live import BlobTexts, live_board
from billboards.site.boards.live_suites import live_suite, live_suites
from billboards.site.boards.refresh import refresh
from billboards.site.boards.snapshots import Audience
from billboards.site.cache import Shelf
from billboards.site.database import trail
from billboards.site.site import Site
from billboards.site.submissions import records as submissions
from billboards.site.submissions.addressed_metrics import described, open_address
from billboards.site.submissions.doubts import DOUBTS, doubt_words, find_doubts
from billboards.site.submissions.given import hidden_since
from billboards.site.submissions.metric_folders import column_name, open_submitted
from billboards.site.submissions.records import Submission
from billboards.site.submissions.sent_scores import kept_scores, scores_signature
from billboards.site.work import leases
from billboards.site.work.cells import write_cell, write_failure
from billboards.site.work.mixed_scoring import MixedProgram, Mixing, mixed
from billboards.site.work.order_secret import order_secret
from billboards.site.work.worklist import (
    BACKOFF,
    LONGEST_REASON,
    SUITES_DONE,
    UNRANKABLE,
    Job,
    Kind,
    Plan,
    Scorer,
    needs_gpu,
    plan_board,
    suite_basis,
    suite_standings,
    suite_state,
)

log = logging.getLogger("billboards.worker")

#: Says whether a job is unwanted by now.
Cancelled = Callable[[], bool]
#: Where cells are computed, until somebody says that they are unwanted.
Engine = Callable[[Cancelled], Executor]
#: Seconds until a ranking is tried again that the platform could not make.
PUT_OFF = 600.0
#: Submitted metrics that are open, by signature.
_PROGRAMS = Shelf[str, Metric]()
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
    doing = {
        "check": _check,
        "trial": _try,
        "cell": score,
        "refresh": _refresh,
        "suite": _rank_suite,
        "draft": _fetch_draft,
        "publish": _publish,
    }
    try:
        if job.kind in ("trial", "cell") and needs_gpu(job.submission):
            _on_cards(site, job, cancelled, doing[job.kind])
        else:
            doing[job.kind](site, job, cancelled)
    except (StoreFailed, MissingPart, OSError) as error:
        log.error("%s: %s: %s", job, type(error).__name__, error)
        passes = isinstance(error, StoreAway) or (isinstance(error, OSError) and error.errno in FULL)
        (_try_again if passes else _give_up)(site, job, _public_reason(error))


def _on_cards(site: Site, job: Job, cancelled: Cancelled, do: Callable[[Site, Job, Cancelled], None]) -> None:
    """Run a program for graphics cards as long as the board's budget lasts; what it takes is counted as it runs."""
    purse = budgets.purse_of(site, job.board, plan_board(site, job.board).settings, budgets.CARDS)
    meter = budgets.Meter(purse, cancelled)
    if purse.left() > 0.0:
        do(site, job, meter)
        meter.count()
    if purse.left() <= 0.0:
        # What was finished before is finished; a job that lost its lease by that is nobody's to give up.
        _give_up(site, job, f"ended, because it would pass {purse.words}", times=site.settings.attempts)


def _public_reason(error: StoreFailed | MissingPart | OSError) -> str:
    """Why the platform could not do a job, as its team and readers of the audit trail may know it."""
    if isinstance(error, MissingPart):
        return f"MissingPart: {error}"
    if isinstance(error, StoreFailed):
        return f"the platform failed: {error.public_words}"
    return f"the platform failed: {error.strerror or type(error).__name__}; the worker's log says more"


def _check(site: Site, job: Job, cancelled: Cancelled) -> None:
    assert job.submission is not None
    if job.submission.kind == "generator":
        _check_generator(site, job, job.submission)
    elif job.submission.way == "scores":
        _check_scores(site, job, job.submission)
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
        doubts = find_doubts(site, submission)
        words = doubt_words(replace(submission, settings={DOUBTS: doubts}), live_board(site, job.board))
        log = "\n".join((f"checked: {len(board.instances)} outputs", *(f"doubt: {doubt}" for doubt in words)))
        _finish(site, job, "scoring", log=log, settings={**submission.settings, DOUBTS: doubts} if doubts else None)


def _check_scores(site: Site, job: Job, submission: Submission) -> None:
    """Read what was kept once more: the board may have changed since it came in."""
    board = live_board(site, job.board, audience="owners").board
    sent = kept_scores(site, submission)
    versions = {row.version for row in board.rows}
    scored = [row for row in sent.rows if row.version in versions]
    if not scored or not set(sent.instances) & board.position.keys():
        reason = "the board's outputs have changed since: none of those that were scored is there any more"
        _finish(site, job, "rejected", reason=reason)
        return
    settings = {**submission.settings, "column": column_name(submission)}
    settings["signature"] = scores_signature(settings, submission.blob)
    log = f"checked: {len(scored)} generators, {sum(int(np.isfinite(row.scores).sum()) for row in scored)} scores"
    _finish(site, job, "scoring", log=log, settings=settings)


def _check_metric(site: Site, job: Job, submission: Submission, cancelled: Cancelled) -> None:
    try:
        program, log = _open(site, submission, cancelled)
    except (InvalidInput, Refused) as error:
        problems = getattr(error, "problems", ())
        text = "\n".join(map(str, problems)) or str(error)
        _finish(site, job, "rejected", reason=str(error), log=text)
        return
    if cancelled():
        return
    loads = isinstance(program, WatchedMetric) and program.loads
    whole = not isinstance(program, WatchedMetric) or program.contract.whole_generators
    settings = {
        **submission.settings,
        **described(program.card),
        "signature": program.signature,
        "loads": loads,
        "needs_corpus": whole,
    }
    _finish(site, job, "trial", log=f"checked: {program.signature}\n{log}".strip(), settings=settings)


def _try(site: Site, job: Job, cancelled: Cancelled) -> None:
    assert job.submission is not None
    plan = plan_board(site, job.board)
    try:
        program, _ = _open(site, job.submission, cancelled)
    except Refused as error:
        _finish(site, job, "rejected", reason=str(error))
        return
    batch = _trial_batch(plan, program)
    if batch is None:
        _finish(site, job, "rejected", reason="no output of this board has all that the metric needs to be tried on")
        return
    trial = try_program(
        program if isinstance(program, WatchedMetric) else InProcessRuns(program.card, program),
        batch,
        rows=len(plan.rows),
        listen=Listener(site, job),
        cancelled=cancelled,
        quoting=(quoting := _may_quote(site, plan, job.submission)),
        seed=keyed(order_secret(site.data), "trial", program.signature, job.subject),
    )
    if not cancelled():
        _judge_trial(site, job, trial, quoting=quoting)


def _may_quote(site: Site, plan: Plan, submission: Submission | None) -> bool:
    """Whether a program's words may be repeated to its team: not where it was given what the team may not read."""
    if submission is None:
        return not (plan.settings.hidden_references or plan.settings.withholds_inputs(site.clock()))
    with site.database.reading() as connection:
        return hidden_since(connection, plan.settings, submission, now=site.clock()) is None


def _open(site: Site, submission: Submission, cancelled: Cancelled) -> tuple[Metric, str]:
    """A submitted metric ready to score, however it came in, and the log of making it so."""
    if submission.way == "program":
        return open_submitted(site, submission, cancelled=cancelled)
    settings = plan_board(site, submission.board).settings
    return open_address(site, submission, settings, column_name(submission), cancelled)


def _trial_batch(plan: Plan, program: Metric) -> Batch | None:
    """What the metric is given of the first row that has something for it to score."""
    key = column_key(plan.board, program, plan.board.references)
    for row in plan.rows:
        if not plan.board.is_reference(row, key.column.references):
            batch, _ = cell_batch(plan.board, Cell(program, key, row))
            if len(batch):
                return batch
    return None


def _judge_trial(site: Site, job: Job, trial: Trial, *, quoting: bool) -> None:
    if trial.problem is None:
        scores = ", ".join(f"{score:.4g}" for score in trial.scores)
        log = f"trial passed: {scores}; {trial.time_words}"
        _finish(site, job, "scoring", log=log if quoting else f"trial passed: {len(trial.scores)} scores")
    elif trial.platform:
        _give_up(site, job, trial.problem)
    else:
        _finish(site, job, "rejected", reason=trial.problem, log=f"trial failed: {trial.problem}")


def _score(site: Site, job: Job, cancelled: Cancelled, *, engine: Engine | None) -> None:
    cell = job.cell
    assert cell is not None
    plan = plan_board(site, job.board)
    if column_key(plan.board, cell.metric, cell.key.column.references) != cell.key:
        # The owner changed the board since: these scores would stand under what the metric no longer sees.
        return
    try:
        metric = _opened(site, cell.metric, cancelled)
    except Refused as error:
        _fail_cell(site, job, f"{cell.metric.name}: {error}", platform=False)
        return
    except InvalidInput as error:
        raise StoreFailed(f"{cell.metric.name} can't be opened any more: {error}") from error
    rows = [cell.row, *(other.cell.row for other in job.companions if other.cell is not None)]
    cells = [Cell(mixed(metric), cell.key, row) for row in rows]
    running: Running | Elsewhere
    if engine is None:
        mixing = Mixing(site, job, plan, cells)
        running = Running(site, job, cancelled, mixing, quoting=_may_quote(site, plan, job.submission))
    else:
        running = Elsewhere(engine(cancelled))
    purse = budgets.purse_of(site, job.board, plan.settings, budgets.JUDGES) if metric.card.making == "judge" else None
    try:
        with allowed(purse):
            report = compute_cells(plan.board, LeasedCells(site, job), cells, running)
    except InvalidInput as error:
        _fail_cell(site, job, f"{cell.row.name} can't be scored: {error}", platform=False)
        return
    for failure in report.failures.values():
        if not cancelled():
            _fail_cell(site, job, failure, platform=running.platform)


def _opened(site: Site, scorer: Scorer, cancelled: Cancelled) -> Metric:
    """A metric that can score: a submitted one is opened, and stays open in this process."""
    if isinstance(scorer, Metric):
        return scorer
    program = site.cache.get(_PROGRAMS, scorer.signature)
    gone = isinstance(program, ProgramMetric) and not program.folder.exists()
    if program is None or gone or scorer.submission.way == "endpoint":
        # An endpoint is opened anew each time: what it may be sent is the owner's to change.
        program, _ = _open(site, scorer.submission, cancelled)
        if program.signature != scorer.signature:
            raise StoreFailed(
                f"{program.name} is {program.signature} here, but was checked as {scorer.signature}; "
                "send it in again, or run all workers with the same Python"
            )
        site.cache.put(_PROGRAMS, scorer.signature, program)
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
        with site.database.writing(boards=[job.board]) as connection:
            leases.release(connection, job.lease)
            detail = {"reason": str(error), "audience": audience}
            trail.note(
                connection, "site", "ranking.failed", job.board, now=site.clock(), board=job.board, detail=detail
            )


def _rank_suite(site: Site, job: Job, _: Cancelled) -> None:
    """Rank a suite and keep what it says; what can't be ranked is tried again when something has changed."""
    word, name = job.subject.split(":", 1)
    audience: Audience = "owners" if word == "owners" else "public"
    suite = live_suites(site).get(name)
    now = [] if suite is None else suite_standings(site, suite)
    problem = kept = basis = None
    try:
        opened = None if suite is None else live_suite(site, suite, audience).opened
        basis = None if suite is None else suite_basis(site, suite, audience, now)
        kept = None if opened is None else suite_rankings.measured(opened)
    except StoreAway:
        raise
    except BillboardsError as error:
        problem = str(error)
    with site.database.writing() as connection:
        if not leases.holds(connection, job.lease):
            return
        leases.release(connection, job.lease)
        if kept is not None and basis is not None:
            suite_rankings.keep(connection, name, audience, kept, basis=basis, board=job.board, now=site.clock())
        elif problem is not None:
            detail = {"reason": problem, "audience": audience, "suite": name}
            trail.note(connection, "site", "suite.failed", job.board, now=site.clock(), board=job.board, detail=detail)
    if problem is not None:
        site.cache.put(SUITES_DONE, (name, audience), suite_state(now))


def _fetch_draft(site: Site, job: Job, cancelled: Cancelled) -> None:
    """Fetch a board of the catalogue that an owner is making."""
    from billboards.site.organise.drafts import fetch_draft

    fetch_draft(site, job.subject, cancelled)


def _publish(site: Site, job: Job, cancelled: Cancelled) -> None:
    """Write a board's files."""
    from billboards.site.publishing.publications import write_files

    write_files(site, job.board, cancelled)


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
    with site.database.writing(boards=[job.board]) as connection:
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
    assert job.cell is not None
    now = site.clock()
    with site.database.writing(boards=[job.board]) as connection:
        if not leases.holds(connection, job.lease):
            return
        leases.release(connection, job.lease)
        cell, short = job.cell, reason[:LONGEST_REASON]
        attempts = write_failure(connection, job.board, cell.id, reason=short, platform=platform, now=now, times=times)
        detail = {"metric": cell.metric.name, "row": cell.row.name, "reason": short, "attempts": attempts}
        trail.note(connection, "site", "cell.failed", job.board, now=now, board=job.board, detail=detail)
        if job.submission is not None:
            trail.write_log(connection, job.submission.id, reason, now=now)


def _try_again(site: Site, job: Job, reason: str) -> None:
    """Put a job off that the database's absence or a full disk spoiled; as often as a job may kill its workers."""
    if job.lease.taken >= site.settings.attempts:
        _give_up(site, job, reason)
        return
    with site.database.writing(boards=[job.board]) as connection:
        leases.put_off(connection, job.lease, until=site.clock() + BACKOFF * job.lease.taken, anew=False)


def _give_up(site: Site, job: Job, reason: str, *, times: int = 1) -> None:
    """A fault of the platform: a cell is tried again a few times, a check or trial fails, refunded, a ranking waits."""
    if job.kind == "cell":
        _fail_cell(site, job, reason, platform=True, times=times)
    elif job.submission is not None:
        _finish(site, job, "failed", reason=reason, log=reason, platform=True)
    elif job.kind == "publish":
        from billboards.site.publishing.publications import fail_files

        fail_files(site, job.board, reason)
    elif job.kind == "draft":
        from billboards.site.organise.drafts import fail_draft

        fail_draft(site, job.subject, reason)
    else:
        now = site.clock()
        with site.database.writing(boards=[job.board]) as connection:
            leases.put_off(connection, job.lease, until=now + PUT_OFF)
            detail = {"reason": reason}
            trail.note(connection, "site", f"{job.kind}.put-off", job.board, now=now, board=job.board, detail=detail)


class LeasedCells:
    """Where a job's cells go: each kept if its lease still holds, in one transaction with giving the lease back."""

    def __init__(self, site: Site, job: Job) -> None:
        self.site, self.job = site, job
        self.leases = {other.cell.row.version: other.lease for other in (*job.companions, job) if other.cell}

    def columns(self) -> tuple[ColumnKey, ...]:
        return ()

    def present(self, key: ColumnKey) -> frozenset[str]:  # noqa: ARG002 - the contract's
        return frozenset()

    def load(self, key: ColumnKey, versions: Iterable[str]) -> Mapping[str, Floats]:  # noqa: ARG002 - the contract's
        return {}

    def parts(self, key: ColumnKey) -> tuple[str, ...]:  # noqa: ARG002 - the contract's
        return ()

    def declare(self, key: ColumnKey) -> None:
        """Nothing is asked of a job but its cell."""

    def counted(self, key: ColumnKey) -> frozenset[str]:  # noqa: ARG002 - the contract's
        return frozenset()

    def load_counts(self, key: ColumnKey, versions: Iterable[str]) -> Mapping[str, Counts]:  # noqa: ARG002 - the contract's
        return {}

    def save(
        self,
        key: ColumnKey,
        version: str,
        parts: Mapping[str, Floats],
        *,
        seconds: float,
        counts: Counts | None = None,
    ) -> None:
        board, now = self.job.board, self.site.clock()
        with self.site.database.writing(boards=[board]) as connection:
            if leases.holds(connection, self.leases[version]):
                write_cell(connection, board, key, version, parts, seconds=seconds, now=now, counts=counts)
                leases.release(connection, self.leases[version])


class Running:
    """Runs a cell's tasks here, a program with its log and a way to stop it."""

    def __init__(self, site: Site, job: Job, cancelled: Cancelled, mixing: Mixing, *, quoting: bool) -> None:
        self.site, self.job, self.cancelled, self.mixing = site, job, cancelled, mixing
        self.quoting, self.platform = quoting, False

    def run(self, tasks: Iterable[Task]) -> Iterator[Result]:
        for task in tasks:
            if self.cancelled():
                return
            yield run_task(task)

    def run_groups(self, groups: Iterable[Sequence[Task]]) -> Iterator[Result]:
        """Groups of a submitted program; where one fails, nobody knows for whom, so the first row is scored again."""
        for group in groups:
            if self.cancelled():
                return
            metric = group[0].metric
            if not isinstance(metric, MixedProgram):
                yield from run_together(group)
                continue
            results = self._run_programs(group, metric.program)
            if len(group) > 1 and results[0].failure is not None and not self.cancelled():
                self.platform, results = False, self._run_programs(group[:1], metric.program)
            yield from results

    def _run_programs(self, tasks: Sequence[Task], program: WatchedMetric) -> list[Result]:
        empty = [Result(task.key, {"": np.empty(0)}, 0.0) for task in tasks if not len(task.batch)]
        asked = [task for task in tasks if len(task.batch)]
        if not asked:
            return empty
        run = partial(program.run, listen=Listener(self.site, self.job), cancelled=self.cancelled, quoting=self.quoting)
        scored = self.mixing.score(asked, program, run)
        self.platform |= scored.platform
        return [*scored.results, *empty]


class Elsewhere:
    """Runs a cell's tasks where an engine runs them."""

    def __init__(self, executor: Executor) -> None:
        self.executor, self.platform = executor, False

    def run(self, tasks: Iterable[Task]) -> Iterator[Result]:
        return self._watched(self.executor.run(tasks))

    def run_groups(self, groups: Iterable[Sequence[Task]]) -> Iterator[Result]:
        return self._watched(run_groups(self.executor, groups))

    def _watched(self, results: Iterator[Result]) -> Iterator[Result]:
        for result in results:
            self.platform |= result.platform
            yield result


class Listener:
    """Puts what a program writes into its submission's log, until that is finished."""

    def __init__(self, site: Site, job: Job) -> None:
        self.site, self.job = site, job

    def __call__(self, stream: str, text: str) -> None:  # noqa: ARG002 - one log for both
        if self.job.submission is not None and not self.job.submission.is_terminal and text.strip():
            with self.site.database.writing(boards=[self.job.board]) as connection:
                now = self.site.clock()
                trail.write_log(connection, self.job.submission.id, text, now=now, stream="program")
