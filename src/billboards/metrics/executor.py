"""The contract of an executor: tasks in, each one's result or failure out, in whatever order they finish.

A task is one metric on a part of one cell's outputs. An executor never raises for a task that failed; the failure is
its result, so that one bad metric doesn't stop the others.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from billboards.errors import MetricFailed
from billboards.metrics.base import Batch, Counts, Metric, score_counted_checked, score_rows_checked

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Task:
    """One metric on some outputs; `key` tells the caller which."""

    key: tuple[int, int]
    metric: Metric
    batch: Batch


@dataclass(frozen=True)
class Result:
    """What came of a task: parts, or the reason there are none."""

    key: tuple[int, int]
    parts: Mapping[str, Floats] | None
    seconds: float
    failure: str | None = None
    #: Whether the failure is that of the machines, not of the metric.
    platform: bool = False
    #: What corpus values are computed from, where the metric has such counts.
    counts: Counts | None = None


class Executor(Protocol):
    """Something that runs tasks."""

    def run(self, tasks: Iterable[Task]) -> Iterator[Result]:
        """Run all tasks and yield each one's result as it comes."""


@runtime_checkable
class RunsTogether(Protocol):
    """An executor that also runs whole groups of tasks, of metrics that score generators together, elsewhere."""

    def run_groups(self, groups: Iterable[Sequence[Task]]) -> Iterator[Result]:
        """Run each group in one call of its metric and yield results as they come."""


class InProcess:
    """One task after the other, in this process."""

    def run(self, tasks: Iterable[Task]) -> Iterator[Result]:
        for task in tasks:
            yield run_task(task)


def run_task(task: Task) -> Result:
    """Run one task here and now."""
    return _results([task], lambda: [score_counted_checked(task.metric, task.batch)])[0]


def run_together(tasks: Sequence[Task]) -> list[Result]:
    """Run several tasks of one metric here and now, in one call of the metric."""
    metric = tasks[0].metric
    batches = [task.batch for task in tasks]
    return _results(tasks, lambda: [(parts, None) for parts in score_rows_checked(metric, batches)])


def run_groups(executor: Executor, groups: Iterable[Sequence[Task]]) -> Iterator[Result]:
    """Run groups of tasks where the executor runs them, else here and now."""
    if isinstance(executor, RunsTogether):
        yield from executor.run_groups(groups)
    else:
        for group in groups:
            yield from run_together(group)


def _results(
    tasks: Sequence[Task], score: Callable[[], Sequence[tuple[Mapping[str, Floats], Counts | None]]]
) -> list[Result]:
    """What came of tasks that are scored in one go; all share the time evenly, or the failure."""
    start = time.perf_counter()
    try:
        scored = score()
    except MetricFailed as error:
        failure = str(error)
    except Exception as error:  # noqa: BLE001 - a metric is anybody's code and may raise anything; that is its result
        failure = f"{tasks[0].metric.name}: {type(error).__name__}: {error}"
    else:
        seconds = (time.perf_counter() - start) / len(tasks)
        return [
            Result(task.key, parts, seconds, counts=counts) for task, (parts, counts) in zip(tasks, scored, strict=True)
        ]
    return [Result(task.key, None, (time.perf_counter() - start) / len(tasks), failure) for task in tasks]
