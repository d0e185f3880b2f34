"""How a job's tasks are run and where their scores go.

A cell is computed here, a submitted program with its log and a way to stop it, or by an engine somewhere else; either
remembers whether a failure was the platform's fault. The scores are kept only by a worker that still holds the lease.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from billboards.board.cells import ColumnKey, Floats
from billboards.errors import MetricFailed
from billboards.metrics.executor import Executor, Result, Task, run_groups, run_task
from billboards.run.program import ProgramMetric, run_program
from billboards.site.database import trail
from billboards.site.site import Site
from billboards.site.work import leases
from billboards.site.work.jobs import Job
from billboards.site.work.sql_cells import write_cell

Cancelled = Callable[[], bool]


class LeasedCells:
    """Where a job's cell goes: kept if the lease still holds, in one transaction with giving the lease back."""

    def __init__(self, site: Site, job: Job) -> None:
        self.site, self.job = site, job

    def columns(self) -> tuple[ColumnKey, ...]:
        return ()

    def present(self, key: ColumnKey) -> frozenset[str]:  # noqa: ARG002 - the contract's
        return frozenset()

    def load(self, key: ColumnKey, versions: Iterable[str]) -> Mapping[str, Floats]:  # noqa: ARG002 - the contract's
        return {}

    def save(self, key: ColumnKey, version: str, parts: Mapping[str, Floats], *, seconds: float) -> None:
        with self.site.database.writing() as connection:
            if leases.holds(connection, self.job.lease):
                write_cell(connection, self.job.board, key, version, parts, seconds=seconds, now=self.site.clock())
                leases.release(connection, self.job.lease)


class Running:
    """Runs a cell's tasks here, a program with its log and a way to stop it."""

    def __init__(self, site: Site, job: Job, cancelled: Cancelled, *, quoting: bool) -> None:
        self.site, self.job, self.cancelled, self.quoting, self.platform = site, job, cancelled, quoting, False

    def run(self, tasks: Iterable[Task]) -> Iterator[Result]:
        for task in tasks:
            if self.cancelled():
                return
            yield self._run_program(task, task.metric) if isinstance(task.metric, ProgramMetric) else run_task(task)

    def _run_program(self, task: Task, program: ProgramMetric) -> Result:
        if not len(task.batch):
            return Result(task.key, {"": np.empty(0)}, 0.0)
        try:
            done = run_program(
                program,
                task.batch,
                listen=Listener(self.site, self.job),
                cancelled=self.cancelled,
                quoting=self.quoting,
            )
        except MetricFailed as error:
            return Result(task.key, None, 0.0, str(error))
        self.platform |= done.outcome.platform
        parts = None if done.scores is None else {"": done.scores}
        return Result(task.key, parts, done.outcome.seconds, done.problem)


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
            with self.site.database.writing() as connection:
                now = self.site.clock()
                trail.write_log(connection, self.job.submission.id, text, now=now, stream="program")
