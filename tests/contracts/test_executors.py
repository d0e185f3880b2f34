"""The contract of every executor."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from billboards.errors import MetricFailed
from billboards.metrics.base import Batch, Floats, Metric, MetricCard
from billboards.metrics.bleu import BLEU
from billboards.metrics.executor import Executor, InProcess, Task
from billboards.run.dask import DaskExecutor
from billboards.run.dask_cluster import Cluster
from billboards.run.local import LocalPool, executor


@dataclass(frozen=True)
class Letters(Metric):
    """Counts letters; fails on request."""

    card: ClassVar[MetricCard] = MetricCard(name="letters", needs_references=False)

    def score_batch(self, batch: Batch) -> Floats:
        if "die" in batch.outputs:
            os._exit(9)
        if "raise" in batch.outputs:
            raise ValueError("as asked")
        if "nan" in batch.outputs:
            return np.full(len(batch), np.nan)
        return np.array([len(output) for output in batch.outputs], float)


def tasks(*outputs: str) -> Iterator[Task]:
    return (Task((k, 0), Letters(), Batch([output])) for k, output in enumerate(outputs))


EXECUTORS: dict[str, Executor] = {"in process": InProcess(), "pool": LocalPool(2)}


@pytest.fixture(params=[*EXECUTORS, "dask"])
def one(request: pytest.FixtureRequest) -> Iterator[Executor]:
    if request.param in EXECUTORS:
        yield EXECUTORS[request.param]
        return
    with Cluster(request.getfixturevalue("loopback_dask").address) as cluster:
        yield DaskExecutor(cluster)


@pytest.mark.long
def test_every_task_has_exactly_one_result(one: Executor) -> None:
    words = ["a" * k for k in range(1, 30)]
    results = {result.key: result.parts for result in one.run(tasks(*words))}
    assert {key: float(parts[""][0]) for key, parts in results.items() if parts} == {(k, 0): k + 1.0 for k in range(29)}


def test_a_failure_is_a_result_and_the_others_go_on(one: Executor) -> None:
    results = {result.key[0]: result for result in one.run(tasks("aa", "raise", "nan", "bbb"))}
    assert results[1].parts is None
    assert results[1].failure == "letters: ValueError: as asked"
    assert "finite" in (results[2].failure or "")
    assert results[3].failure is None


def test_counts_travel_with_the_scores(one: Executor) -> None:
    batch = Batch(["the cat sat on a mat", "a dog"], [["the cat sat on the mat"], ["a cat"]])
    results = {r.key[0]: r for r in one.run([Task((0, 0), BLEU(), batch), Task((1, 0), Letters(), Batch(["a"]))])}
    np.testing.assert_array_equal(results[0].counts, BLEU().counts(batch))
    assert results[1].counts is None


def test_no_tasks_no_results(one: Executor) -> None:
    assert list(one.run(tasks())) == []


def test_a_worker_that_dies_is_said_to_have_died() -> None:
    with pytest.raises(MetricFailed, match="worker process died"):
        list(LocalPool(2).run(tasks("aa", "die", "bbb")))


def test_one_job_means_this_process() -> None:
    assert isinstance(executor(1), InProcess)
    assert isinstance(executor(2), LocalPool)
