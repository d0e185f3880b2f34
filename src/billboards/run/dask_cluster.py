"""A Dask cluster behind the address of its scheduler: what it holds, what it offers, what it is sent.

SLURM, Kubernetes, SSH or anything else has started it. The texts that a board's outputs are scored by are sent once and
lie there for every later task; the scheduler has a copy, so they come back when the worker that held them is gone.
"""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from uuid import uuid4

from billboards.errors import ClusterFailed, InvalidInput, MissingPart
from billboards.metrics.base import Metric
from billboards.metrics.executor import Result, Task, run_task, run_together
from billboards.run.cluster_task import Context, carry_out, context_of, keep, order_of

if TYPE_CHECKING:
    from distributed import Client, Future

Resources = Mapping[str, float]

#: Seconds within which a scheduler must answer, and between counts of its workers or attempts to reach it.
REACH, COUNT = 10.0, 2.0
#: Contexts that the cluster holds for later tasks; the one that was not asked for the longest goes first.
CONTEXTS = 256
#: How a scheduler may be spoken to.
SCHEMES = ("tcp", "tls", "ws", "wss")


@dataclass(frozen=True)
class Unit:
    """What one worker does in one go: a task, or tasks of a metric that scores generators together."""

    tasks: Sequence[Task]
    together: bool = False

    @property
    def name(self) -> str:
        return self.tasks[0].metric.name

    def run_here(self) -> list[Result]:
        return run_together(self.tasks) if self.together else [run_task(task) for task in self.tasks]

    def failed(self, why: str) -> list[Result]:
        return [Result(task.key, None, 0.0, f"{self.name}: {why}", platform=True) for task in self.tasks]


class Cluster:
    """A Dask cluster behind the address of its scheduler, connected when first used and again after it was away.

    `resources` replaces what metrics ask of a worker, name by name; 0 asks for nothing. `patience` is how many seconds
    may pass without any worker that could do what waits. May be used from several threads.
    """

    def __init__(self, address: str, *, resources: Resources | None = None, patience: float = 60.0) -> None:
        self.address, self.resources, self.patience = address, dict(resources or {}), patience
        self._client: Client | None = None
        self._contexts: OrderedDict[str, Future] = OrderedDict()
        self._counted, self._workers = float("-inf"), list[tuple[int, Resources]]()
        self._in_vain = float("-inf"), ""
        self._lock = threading.RLock()

    def __enter__(self) -> Cluster:
        self.connect()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def connect(self) -> Client:
        """The connection, made anew where there is none."""
        with self._lock:
            if self._client is None or self._client.status != "running":
                self.close()
                self._client = self._begin()
            return self._client

    def _begin(self) -> Client:
        """A new connection; who asks just after somebody waited in vain is told at once."""
        tried, why = self._in_vain
        if time.monotonic() - tried < COUNT:
            raise ClusterFailed(why)
        try:
            return _connect(self.address)
        except ClusterFailed as error:
            self._in_vain = time.monotonic(), str(error)
            raise

    def close(self) -> None:
        with self._lock:
            self._contexts.clear()
            if self._client is not None:
                self._client.close()
                self._client = None

    def submit(self, unit: Unit) -> Future:
        """Send a unit to the cluster; contexts that lie there already are only named."""
        from distributed.client import ClosedClientError

        packed = [context_of(task.batch) for task in unit.tasks]
        digests = [context.digest for context in packed]
        needed = dict(zip(digests, packed, strict=True))
        numbers = [list(needed).index(digest) for digest in digests]
        order = order_of(unit.tasks, numbers, together=unit.together)
        key = f"{unit.tasks[0].metric.card.name}-{uuid4().hex}"
        resources = self.asked(unit) or None
        with self._lock:
            # One connection for all of it: what was sent through another that is gone can't be named.
            client = self.connect()
            try:
                contexts = [self._context(client, digest, context) for digest, context in needed.items()]
                return client.submit(carry_out, order, contexts, key=key, pure=False, resources=resources)
            except ClosedClientError as error:
                raise self.lost(error) from error

    def _context(self, client: Client, digest: str, context: Context) -> Future:
        future = self._contexts.pop(digest, None)
        # One that was lost with its workers too often is sent again.
        if future is None or future.status not in ("pending", "finished"):
            future = client.submit(keep, context, key=f"texts-{uuid4().hex}", pure=False)
        self._contexts[digest] = future
        while len(self._contexts) > CONTEXTS:
            self._contexts.popitem(last=False)
        return future

    def asked(self, unit: Unit) -> dict[str, float]:
        """What a worker must offer for a unit."""
        return self.needs(unit.tasks[0].metric)

    def workers(self) -> list[tuple[int, Resources]]:
        """Threads and resources of every worker that is there."""
        with self._lock:
            if time.monotonic() - self._counted >= COUNT:
                workers = self._ask()["workers"].values()
                self._workers = [(int(worker["nthreads"]), worker.get("resources") or {}) for worker in workers]
                self._counted = time.monotonic()
            return self._workers

    def room(self, asked: Resources | None = None) -> int:
        """How many tasks the cluster can take at a time: two for each thread of workers that offer what is asked."""
        needed = dict(asked or {})
        fitting = (
            threads
            for threads, offered in self.workers()
            if all(offered.get(name, 0) >= amount for name, amount in needed.items())
        )
        return 2 * sum(fitting)

    def needs(self, metric: Metric) -> dict[str, float]:
        """What a worker must offer for a metric."""
        asked = {name: float(self.resources.get(name, amount)) for name, amount in metric.resources.items()}
        return {name: amount for name, amount in asked.items() if amount}

    def _ask(self) -> Mapping[str, Any]:
        """What the scheduler says of itself; one that doesn't answer is left, so that the next who asks begins anew."""
        client = self.connect()
        try:
            # `scheduler_info` does the same, but for a scheduler that was stopped it waits without end.
            identity: Mapping[str, Any] = client.sync(client.scheduler.identity, n_workers=-1, callback_timeout=REACH)
        except (OSError, TimeoutError) as error:
            self.close()
            raise self.lost(error) from error
        return identity

    def empty(self) -> ClusterFailed:
        return ClusterFailed(
            f"the scheduler at {self.address} has had no worker for {self.patience:g} s; start some with "
            f"`dask worker {self.address}`; what was finished is kept"
        )

    def lost(self, error: BaseException) -> ClusterFailed:
        return ClusterFailed(
            f"the scheduler at {self.address} went away while work was under way ({type(error).__name__}); what was "
            "finished is kept: see that it runs, and run the same command again"
        )


def _connect(address: str) -> Client:
    """A connection to a scheduler, or what to do about there being none."""
    try:
        import dask
        from distributed import Client
    except ImportError as error:
        raise MissingPart(
            "a cluster needs distributed, not installed; install it with `pip install 'billboards[dask]'`"
        ) from error
    # Its words for a lost connection are pages of traceback; ours are one line.
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    # Whole boards are sent on purpose, each text once.
    dask.config.set({"distributed.admin.large-graph-warning-threshold": "4 GiB"})
    try:
        _knock(address)
        return Client(address, timeout=REACH, set_as_default=False, name="billboards")
    except OSError as error:
        raise ClusterFailed(
            f"no scheduler answers at {address} ({error}); start one with `dask scheduler`, which prints its address, "
            "and see that this machine can reach it"
        ) from error


def _knock(address: str) -> None:
    """Find out at once, not when patience ends, whether anybody listens."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or not port or parts.scheme not in SCHEMES:
        raise InvalidInput(f"{address!r} is not the address of a scheduler; write it as in tcp://HOST:8786")
    with socket.create_connection((host, port), REACH) as knocking:
        # A scheduler speaks first; Dask would wait without end for something else that doesn't.
        if parts.scheme == "tcp" and not knocking.recv(1):
            raise ConnectionError("something else listens there")
