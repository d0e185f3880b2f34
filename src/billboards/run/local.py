"""Metrics on this machine, in a pool of worker processes."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice

from billboards.errors import MetricFailed
from billboards.metrics.executor import InProcess, Result, Task, run_task
from billboards.metrics.kernels.threads import limit_threads


class LocalPool:
    """Several tasks at a time, in processes of their own.

    Tasks are handed over a few at a time, so that a long list of them is never held in memory twice. On Ctrl-C the
    running tasks end, the others are dropped, and whoever asked sees the interrupt.
    """

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs

    def run(self, tasks: Iterable[Task]) -> Iterator[Result]:
        waiting = iter(tasks)
        context = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(self.jobs, mp_context=context, initializer=_begin_work)
        running: dict[Future[Result], Task] = {}
        try:
            while True:
                for task in islice(waiting, 2 * self.jobs - len(running)):
                    running[pool.submit(run_task, task)] = task
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    yield _outcome(future, running.pop(future))
        except BrokenProcessPool as error:
            raise MetricFailed(
                "a worker process died (out of memory, or killed from outside); what was computed before is kept, "
                "run the same command again, with fewer --jobs if memory is short"
            ) from error
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _outcome(future: Future[Result], task: Task) -> Result:
    try:
        return future.result()
    except MetricFailed as error:
        # A metric that can't be handed to another process says so.
        return Result(task.key, None, 0.0, str(error))


def _begin_work() -> None:
    """A worker leaves interrupts to the process that asked, and keeps to one core: other cores have their workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    limit_threads(1)


def executor(jobs: int) -> InProcess | LocalPool:
    """The executor for a number of processes; one means this one."""
    return InProcess() if jobs <= 1 else LocalPool(jobs)
