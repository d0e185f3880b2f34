"""Metrics on many machines: the executor over a Dask cluster.

A task whose worker dies is run again on another, as often as the scheduler allows. A dying worker also takes down what
waits beside the culprit; so whatever fails that way is run once more with nothing beside it, and only what kills its
workers even then has failed. What is lost with the scheduler is an error, never a wait without end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from billboards.errors import ClusterFailed
from billboards.metrics.executor import Result, Task
from billboards.run.cluster_task import OtherVersion, own_version
from billboards.run.dask_cluster import Cluster, Unit

if TYPE_CHECKING:
    from distributed import Future

#: Seconds between looks at what waits, and the longest that fetching a result may take.
LOOK, FETCH = 0.5, 30.0


class DaskExecutor:
    """Runs tasks on a cluster; ends early, without the results that lack, once `cancelled` says so.

    Metrics that don't travel run in this process. May be used from several threads.
    """

    def __init__(self, cluster: Cluster, cancelled: Callable[[], bool] = lambda: False) -> None:
        self.cluster, self.cancelled = cluster, cancelled

    def run(self, tasks: Iterable[Task]) -> Iterator[Result]:
        return _Run(self.cluster, self.cancelled).results(Unit([task]) for task in tasks)

    def run_groups(self, groups: Iterable[Sequence[Task]]) -> Iterator[Result]:
        return _Run(self.cluster, self.cancelled).results(Unit(group, together=True) for group in groups)


class _Run:
    """What is under way of one list of units."""

    def __init__(self, cluster: Cluster, cancelled: Callable[[], bool]) -> None:
        self.cluster, self.cancelled = cluster, cancelled
        self.running: dict[Future, Unit] = {}
        #: Units whose workers died too often while others ran beside them.
        self.doubtful: list[Unit] = []
        #: Since when no worker offers what was asked for.
        self.lacking: dict[frozenset[tuple[str, float]], float] = {}

    def results(self, units: Iterator[Unit]) -> Iterator[Result]:
        try:
            yield from self._work_off(units, alone=False)
            for unit in self.doubtful:
                yield from self._work_off(iter([unit]), alone=True)
        finally:
            for future in self.running:
                future.release()

    def _work_off(self, units: Iterator[Unit], *, alone: bool) -> Iterator[Result]:
        while not self.cancelled():
            sent = yield from self._send(units)
            if self.running:
                yield from self._take(alone=alone)
            elif not sent:
                return

    def _send(self, units: Iterator[Unit]) -> Generator[Result, None, int]:
        """Hand over as many units as there is room for, so that a long list is never held in memory twice."""
        threads = sum(threads for threads, _ in self.cluster.workers())
        sent = 0
        for unit in islice(units, max(0, max(2, 2 * threads) - len(self.running))):
            sent += 1
            if unit.tasks[0].metric.travels:
                self.running[self.cluster.submit(unit)] = unit
            else:
                yield from unit.run_here()
        return sent

    def _take(self, *, alone: bool) -> Iterator[Result]:
        """What has come of units that are done; what can never be done is given up."""
        done = self._done()
        for future in done:
            try:
                results = self._outcome(future, alone=alone)
            except TimeoutError:
                # Its worker died with the result, which is being worked out again.
                continue
            del self.running[future]
            yield from results
        if not done:
            yield from self._give_up()

    def _done(self) -> set[Future]:
        from concurrent.futures import CancelledError

        from distributed import wait

        try:
            with self.cluster.connect().as_current():
                return set(wait(list(self.running), timeout=LOOK, return_when="FIRST_COMPLETED").done)
        except TimeoutError:
            return set()
        except CancelledError as error:
            raise self.cluster.lost(error) from error

    def _outcome(self, future: Future, *, alone: bool) -> list[Result]:
        from concurrent.futures import CancelledError

        unit = self.running[future]
        try:
            if future.status == "error":
                return self._error(unit, future.exception(timeout=FETCH), alone=alone)
            results = future.result(timeout=FETCH)
        except CancelledError as error:
            raise self.cluster.lost(error) from error
        if isinstance(results, OtherVersion):
            raise ClusterFailed(
                f"worker {results.worker} runs billboards {results.version} and this is {own_version()}; "
                f"install `billboards=={own_version()}` there, or here what they run"
            )
        return list(results)

    def _error(self, unit: Unit, error: BaseException, *, alone: bool) -> list[Result]:
        from distributed.scheduler import KilledWorker

        if not isinstance(error, KilledWorker):
            raise ClusterFailed(
                f"{unit.name}: a worker can't do what it is sent ({type(error).__name__}: {error}); "
                f"install `billboards[dask]=={own_version()}` on all of them"
            ) from error
        if not alone:
            self.doubtful.append(unit)
            return []
        return unit.failed(
            f"{error.allowed_failures + 1} workers died at it one after the other, with nothing else to do; it may "
            f"need more memory than they have; the last was {error.last_worker.address}, whose log may say more"
        )

    def _give_up(self) -> Iterator[Result]:
        """Fail what no worker has been able to do for too long."""
        workers, now = self.cluster.workers(), time.monotonic()
        for future, unit in list(self.running.items()):
            asked = self.cluster.asked(unit)
            kind = frozenset(asked.items())
            if any(all(offered.get(name, 0) >= asked[name] for name in asked) for _, offered in workers):
                self.lacking.pop(kind, None)
            elif now - self.lacking.setdefault(kind, now) >= self.cluster.patience:
                if not workers:
                    raise self.cluster.empty()
                del self.running[future]
                future.release()
                yield from unit.failed(_lacking(asked))


def _lacking(asked: dict[str, float]) -> str:
    wanted = ",".join(f"{name}={amount:g}" for name, amount in asked.items())
    none = ",".join(f"{name}=0" for name in asked)
    return (
        f"no worker offers {wanted}; start some with `dask worker --resources {wanted}`, "
        f"or let any worker do it with --resources {none}"
    )
