"""Cells from a Dask cluster: those of this machine bit for bit, whatever dies; a sentence where there can be none."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from loopback_dask import LoopbackDask

import billboards as bb
from billboards.board import Board, Generator, Instance, Reference, row_of
from billboards.board.cells import MemoryCells
from billboards.board.judgments import JudgmentColumns
from billboards.board.missing_cells import Progress, score_board
from billboards.errors import ClusterFailed, InvalidInput
from billboards.metrics.base import Batch, Floats, Metric, MetricCard
from billboards.metrics.executor import Executor, InProcess, Task
from billboards.metrics.neural.bertscore import BERTScore
from billboards.run import dask_cluster
from billboards.run.cluster_task import context_of, pack_texts
from billboards.run.dask import DaskExecutor
from billboards.run.dask_cluster import Cluster
from billboards.run.local import LocalPool

loads: list[int] = []


@dataclass(frozen=True)
class Heavy(Metric):
    """Loads something once per object; scores are the number of loads in the process."""

    card: ClassVar[MetricCard] = MetricCard(name="heavy", needs_references=False)

    @cached_property
    def model(self) -> int:
        loads.append(os.getpid())
        return len(loads)

    def score_batch(self, batch: Batch) -> Floats:
        return np.full(len(batch), float(self.model))


@dataclass(frozen=True)
class Slow(Metric):
    """Counts letters, in no hurry; ends its process on request."""

    card: ClassVar[MetricCard] = MetricCard(name="slow", slow=True)
    seconds: float = 0.05

    def score_batch(self, batch: Batch) -> Floats:
        if "die" in batch.outputs:
            os._exit(9)
        time.sleep(self.seconds)
        pairs = zip(batch.outputs, batch.references, strict=True)
        return np.array([len(output) / len(references[0]) for output, references in pairs])


@dataclass(frozen=True)
class Together(Metric):
    """An output's length beside the mean over all generators, so that it tells who was scored together."""

    card: ClassVar[MetricCard] = MetricCard(name="together")
    scores_together: ClassVar[bool] = True

    def score_batch(self, batch: Batch) -> Floats:
        return self.score_rows([batch])[0]

    def score_rows(self, batches: Sequence[Batch]) -> list[Floats]:
        mean = np.mean([len(output) for batch in batches for output in batch.outputs])
        lengths = [np.array([len(output) for output in batch.outputs], float) for batch in batches]
        return [length / mean for length in lengths]


@dataclass(frozen=True)
class Asking(Slow):
    """Asks for something that no worker offers."""

    resources: ClassVar[Mapping[str, float]] = {"ABACUS": 1}


@dataclass(frozen=True)
class Staying(Metric):
    """Says in which process it runs."""

    card: ClassVar[MetricCard] = MetricCard(name="staying", needs_references=False)
    travels: ClassVar[bool] = False

    def score_batch(self, batch: Batch) -> Floats:
        return np.full(len(batch), float(os.getpid()))


@dataclass(frozen=True)
class Elsewhere(Metric):
    """A metric whose version depends on the process."""

    card: ClassVar[MetricCard] = MetricCard(name="elsewhere", needs_references=False)

    def versions(self) -> Mapping[str, str]:
        return {"process": str(os.getpid())}

    def score_batch(self, batch: Batch) -> Floats:
        return np.zeros(len(batch))


@pytest.fixture(scope="module")
def cluster(loopback_dask: LoopbackDask) -> Iterator[Cluster]:
    with Cluster(loopback_dask.address) as cluster:
        yield cluster


def small_board(*, deadly: bool = False) -> Board:
    """Four generators with 60 outputs each, some of them missing; one kills whoever scores its last output."""
    random = np.random.default_rng(7)
    words = ["pier", "noon", "ferry", "island", "back", "harbour", "old", "two"]

    def text() -> str:
        return " ".join(str(word) for word in random.choice(words, int(random.integers(3, 9))))

    instances = tuple(Instance(f"i{k}", references=(Reference("A", text()), Reference("B", text()))) for k in range(60))
    rows = []
    for g in range(4):
        texts = [text() if (k + g) % 17 else None for k in range(60)]
        texts[-1] = "die" if deadly and g == 2 else texts[-1]
        rows.append(row_of(Generator(f"g{g}"), instances, tuple(texts)))
    judgments = JudgmentColumns(("adequacy",)).build()
    return Board(
        name="ferry",
        instances=instances,
        rows=tuple(rows),
        judgments=judgments,
        output_language="en",
    )


def cells_of(
    board: Board, metrics: list[Metric], executor: Executor, on_progress: Callable[[Progress], None] | None = None
) -> dict[str, bytes]:
    store = MemoryCells()
    report = score_board(board, store, metrics, executor, on_progress=on_progress)
    assert report.failures == {}
    loaded = {key: store.load(key, store.present(key)) for key in store.columns()}
    return {
        f"{key.column.signature} {version}": scores.tobytes()
        for key, found in loaded.items()
        for version, scores in found.items()
    }


def worker_pids(cluster: Cluster) -> list[int]:
    return sorted(cluster.connect().run(os.getpid).values())


@pytest.mark.long
def test_a_metric_is_made_once_in_a_worker_process(cluster: Cluster) -> None:
    tasks = [Task((k, 0), Heavy(), Batch([f"output {k}"])) for k in range(20)]
    assert {float((result.parts or {})[""][0]) for result in DaskExecutor(cluster).run(tasks)} == {1.0}


def test_what_scores_generators_together_is_sent_and_equals_what_is_computed_here(cluster: Cluster) -> None:
    assert cells_of(small_board(), [Together()], DaskExecutor(cluster)) == cells_of(
        small_board(), [Together()], InProcess()
    )


def test_metrics_on_a_neural_network_ask_for_a_gpu_unless_told_otherwise() -> None:
    unit = dask_cluster.Unit([Task((0, 0), BERTScore(), Batch(["a"], [["b"]]))], together=True)
    assert Cluster("tcp://127.0.0.1:1").asked(unit) == {"GPU": 1.0}
    assert Cluster("tcp://127.0.0.1:1", resources={"GPU": 0.5}).asked(unit) == {"GPU": 0.5}
    assert Cluster("tcp://127.0.0.1:1", resources={"GPU": 0}).asked(unit) == {}


def test_what_no_worker_offers_fails_and_says_how_to_offer_it(
    loopback_dask: LoopbackDask,
) -> None:
    tasks = [Task((0, 0), Asking(), Batch(["a"], [["b"]])), Task((1, 0), Slow(), Batch(["a"], [["b"]]))]
    with Cluster(loopback_dask.address, patience=0.1) as cluster:
        # Workers start after their scheduler; without any, the answer is another.
        cluster.connect().wait_for_workers(1, timeout=60)
        results = {result.key[0]: result for result in DaskExecutor(cluster).run(tasks)}
    assert "slow: no worker offers ABACUS=1; start some with `dask worker --resources ABACUS=1`" in str(results[0])
    assert results[0].platform
    assert results[1].failure is None


def test_what_does_not_travel_runs_here(cluster: Cluster) -> None:
    (result,) = DaskExecutor(cluster).run([Task((0, 0), Staying(), Batch(["a"]))])
    assert (result.parts or {})[""].tolist() == [float(os.getpid())]


def test_a_metric_that_is_another_on_the_worker_is_refused(cluster: Cluster) -> None:
    (result,) = DaskExecutor(cluster).run([Task((0, 0), Elsewhere(), Batch(["a"]))])
    assert f"not elsewhere|process:{os.getpid()}; install the same packages and models there" in str(result.failure)
    assert result.platform


def test_a_worker_with_another_version_is_refused_by_name(loopback_dask: LoopbackDask, tmp_path: Path) -> None:
    other = tmp_path / "billboards-9.9.9.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: billboards\nVersion: 9.9.9\n")
    process = loopback_dask.start_workers(resources="ABACUS=1", path=[tmp_path], nanny=False)
    try:
        with (
            Cluster(loopback_dask.address) as cluster,
            pytest.raises(ClusterFailed, match=r"worker tcp://127.0.0.1:\d+ runs billboards 9.9.9 and this is"),
        ):
            list(DaskExecutor(cluster).run([Task((0, 0), Asking(), Batch(["a"], [["b"]]))]))
    finally:
        loopback_dask.stop(process)


@pytest.mark.long
def test_a_scheduler_without_workers_and_one_that_dies_are_errors_not_waits() -> None:
    tasks = [Task((0, 0), Slow(), Batch(["a"], [["b"]]))]
    with LoopbackDask(workers=0) as empty, Cluster(empty.address, patience=0.2) as cluster:
        with pytest.raises(ClusterFailed, match=r"no worker for 0.2 s; start some with `dask worker tcp://"):
            list(DaskExecutor(cluster).run(tasks))
        cluster.patience = 60.0
        threading.Timer(0.3, empty.scheduler.kill).start()
        with pytest.raises(ClusterFailed, match="went away while work was under way"):
            list(DaskExecutor(cluster).run(tasks))
        with pytest.raises(ClusterFailed, match="no scheduler answers at"):
            list(DaskExecutor(cluster).run(tasks))


@pytest.mark.long
def test_a_scheduler_that_is_stopped_is_an_error_and_is_used_again_once_it_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tasks = [Task((k, 0), Slow(), Batch(["a"], [["b"]])) for k in range(6)]
    with LoopbackDask(workers=1) as stopped, Cluster(stopped.address) as cluster:
        results = DaskExecutor(cluster).run(tasks)
        assert next(results).parts is not None
        monkeypatch.setattr(dask_cluster, "REACH", 0.5)
        monkeypatch.setattr(dask_cluster, "COUNT", 0.0)
        stopped.scheduler.send_signal(signal.SIGSTOP)
        with pytest.raises(ClusterFailed, match=r"went away while work was under way \(TimeoutError\)"):
            list(results)
        with pytest.raises(ClusterFailed, match=r"no scheduler answers at .* \(timed out\)"):
            list(DaskExecutor(cluster).run(tasks))
        stopped.scheduler.send_signal(signal.SIGCONT)
        monkeypatch.setattr(dask_cluster, "REACH", 10.0)
        assert [result.failure for result in DaskExecutor(cluster).run(tasks)] == [None] * 6


def test_who_asks_after_somebody_waited_in_vain_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "REACH", 0.2)
    monkeypatch.setattr(dask_cluster, "COUNT", 600.0)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        cluster = Cluster(f"tcp://127.0.0.1:{mute.getsockname()[1]}")
        for _ in range(3):
            with pytest.raises(ClusterFailed, match=r"no scheduler answers .* \(timed out\)"):
                cluster.connect()
        mute.setblocking(False)
        mute.accept()[0].close()
        with pytest.raises(BlockingIOError):
            mute.accept()


def test_where_no_scheduler_listens_the_error_says_what_to_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_cluster, "REACH", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        address = f"tcp://127.0.0.1:{mute.getsockname()[1]}"
        with pytest.raises(ClusterFailed, match=r"no scheduler answers .* start one with `dask scheduler`"):
            Cluster(address).connect()
    for wrong in ("here", "tcp://here", "http://here:80", "tcp://here:99999"):
        with pytest.raises(InvalidInput, match="write it as in tcp://HOST:8786"):
            Cluster(wrong).connect()


def test_a_run_that_is_cancelled_ends_without_its_results(cluster: Cluster) -> None:
    stop = threading.Event()
    tasks = (Task((k, 0), Slow(), Batch(["a"], [["b"]])) for k in range(1000))
    taken = 0
    for _ in DaskExecutor(cluster, stop.is_set).run(tasks):
        taken += 1
        stop.set()
    assert 1 <= taken < 1000


def test_what_is_sent_holds_each_text_once_and_comes_back_the_same() -> None:
    lists = [["a", "b"], [], ["b", "b", "lone \ud800"]]
    packed = pack_texts(lists)
    assert packed.distinct == ("a", "b", "lone \ud800")
    assert [list(texts) for texts in packed] == lists


def test_equal_references_are_sent_once_for_all_generators(cluster: Cluster) -> None:
    batches = [Batch([f"output {k}"], [["the reference"]]) for k in range(3)]
    assert len({context_of(batch).digest for batch in batches}) == 1
    assert context_of(Batch(["a"], [["b"]])).digest != context_of(Batch(["a"], [], ["b"])).digest
    tasks = [Task((k, 0), Slow(0.0), batch) for k, batch in enumerate(batches)]
    before = len(cluster._contexts)
    assert [bool(result.parts) for result in DaskExecutor(cluster).run(tasks)] == [True] * 3
    assert len(cluster._contexts) == before + 1


@pytest.mark.long
def test_all_cells_equal_the_pools_bit_for_bit_though_a_worker_is_killed_in_the_middle(cluster: Cluster) -> None:
    metrics = [Slow(), bb.metric("BLEU"), bb.metric("CIDEr"), bb.metric("ROUGE-L")]
    victims = worker_pids(cluster)[:1]
    killed = []

    def kill(progress: Progress) -> None:
        while victims and progress.done < progress.total:
            killed.append(victims.pop())
            os.kill(killed[0], signal.SIGKILL)

    found = cells_of(small_board(), metrics, DaskExecutor(cluster), kill)
    assert len(killed) == 1
    assert killed[0] not in worker_pids(cluster)
    assert len(found) == 4 * 4
    assert found == cells_of(small_board(), metrics, LocalPool(2))


@pytest.mark.long
def test_a_metric_that_kills_its_workers_fails_by_metric_and_row_and_the_others_are_scored(cluster: Cluster) -> None:
    store = MemoryCells()
    report = score_board(small_board(deadly=True), store, [Slow(0.0), bb.metric("BLEU")], DaskExecutor(cluster))
    assert list(report.failures) == ["slow(seconds=0.0)"]
    assert report.failures["slow(seconds=0.0)"].startswith("g2: slow(seconds=0.0): 2 workers died at it")
    assert report.computed == 3 + 4
