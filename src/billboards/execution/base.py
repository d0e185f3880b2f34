"""The contract of an executor: tasks in, each one's result or failure out, in whatever order they finish.

A task is one metric on a part of one cell's outputs. An executor never raises for a task that failed; the failure is
its result, so that one bad metric doesn't stop the others.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from billboards.errors import MetricFailed
from billboards.metrics.base import Batch, Metric, score_checked

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


class Executor(Protocol):
    """Something that runs tasks."""

    def run(self, tasks: Iterable[Task]) -> Iterator[Result]:
        """Run all tasks and yield each one's result as it comes."""


def run_task(task: Task) -> Result:
    """Run one task here and now."""
    start = time.perf_counter()
    try:
        parts = score_checked(task.metric, task.batch)
    except MetricFailed as error:
        return Result(task.key, None, time.perf_counter() - start, str(error))
    except Exception as error:  # noqa: BLE001 - a metric is anybody's code and may raise anything; that is its result
        return Result(
            task.key, None, time.perf_counter() - start, f"{task.metric.name}: {type(error).__name__}: {error}"
        )
    return Result(task.key, parts, time.perf_counter() - start)
