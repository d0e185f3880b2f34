"""What travels to a worker of a cluster, and what the worker does with it.

A task goes as its metric and its outputs; what outputs are scored by (references, inputs) goes apart, because every
generator of a board is scored by the same. A text that stands in several places is sent once. A worker keeps each
metric it has met, by signature, so that a model is loaded once in a process; a metric whose signature is another there
is refused, since its scores would stand under a name that isn't theirs.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from itertools import pairwise
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from billboards.errors import BillboardsError, MetricFailed
from billboards.metrics.base import Batch, Metric
from billboards.metrics.executor import Result, Task, run_task, run_together
from billboards.metrics.kernels.threads import limit_threads

Key = tuple[int, int]

#: A metric need not stand several threads: a worker process does one order at a time, kernels use all its threads.
_one_at_a_time = Lock()
_met: dict[str, Metric] = {}


@dataclass(frozen=True)
class PackedTexts:
    """Lists of texts, each distinct text once; `ends` says where each list ends."""

    distinct: tuple[str, ...]
    numbers: NDArray[np.int32]
    ends: NDArray[np.int64]

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        for start, end in pairwise([0, *self.ends.tolist()]):
            yield tuple(self.distinct[k] for k in self.numbers[start:end].tolist())


def pack_texts(lists: Iterable[Sequence[str]]) -> PackedTexts:
    number_of: dict[str, int] = {}
    numbers: list[int] = []
    ends: list[int] = []
    for texts in lists:
        numbers += [number_of.setdefault(text, len(number_of)) for text in texts]
        ends.append(len(numbers))
    return PackedTexts(tuple(number_of), np.array(numbers, np.int32), np.array(ends, np.int64))


@dataclass(frozen=True)
class Context:
    """What outputs are scored by: references for each, inputs (one list of all, or none), and the language."""

    references: PackedTexts
    inputs: PackedTexts
    language: str | None

    @property
    def digest(self) -> str:
        """What tells this context from others."""
        whole = hashlib.blake2b(repr(self.language).encode(), digest_size=16)
        for packed in (self.references, self.inputs):
            for text in packed.distinct:
                raw = text.encode("utf-8", "surrogatepass")
                whole.update(len(raw).to_bytes(8, "little") + raw)
            whole.update(b"|" + packed.numbers.tobytes() + b"|" + packed.ends.tobytes() + b"|")
        return whole.hexdigest()


def context_of(batch: Batch) -> Context:
    return Context(pack_texts(batch.references), pack_texts([batch.inputs] if batch.inputs else []), batch.language)


@dataclass(frozen=True, kw_only=True)
class Order:
    """Tasks of one metric for a worker; `contexts` says by which of the contexts beside it each is scored."""

    version: str
    signature: str
    metric: bytes
    together: bool
    keys: tuple[Key, ...]
    outputs: PackedTexts
    contexts: tuple[int, ...]


@dataclass(frozen=True)
class OtherVersion:
    """Why a worker took no order: it runs another version of this package."""

    worker: str
    version: str


def own_version() -> str:
    return version("billboards")


def order_of(tasks: Sequence[Task], contexts: Sequence[int], *, together: bool) -> Order:
    metric = tasks[0].metric
    outputs = pack_texts(task.batch.outputs for task in tasks)
    keys = tuple(task.key for task in tasks)
    return Order(
        version=own_version(),
        signature=metric.signature,
        metric=pickle.dumps(metric),
        together=together,
        keys=keys,
        outputs=outputs,
        contexts=tuple(contexts),
    )


def keep(context: Context) -> Context:
    """Hold a context on a worker, for every order that names it."""
    return context


def carry_out(order: Order, contexts: Sequence[Context]) -> list[Result] | OtherVersion:
    """Do an order on a worker of a cluster."""
    worker, threads = _whereabouts()
    if order.version != own_version():
        return OtherVersion(worker, own_version())
    with _one_at_a_time:
        limit_threads(threads)
        try:
            metric = _metric(order, worker)
        except BillboardsError as error:
            return [Result(key, None, 0.0, str(error), platform=True) for key in order.keys]
        tasks = list(_tasks(order, metric, contexts))
        return run_together(tasks) if order.together else [run_task(task) for task in tasks]


def _whereabouts() -> tuple[str, int]:
    """The address of the worker that runs this, and its threads."""
    from distributed import get_worker

    worker = get_worker()
    return str(worker.address), int(worker.state.nthreads)


def _metric(order: Order, worker: str) -> Metric:
    """The metric of an order, met before or made now and found to be the same as where the order comes from."""
    if order.signature not in _met:
        try:
            metric: Metric = pickle.loads(order.metric)
        except (ImportError, AttributeError) as error:
            raise MetricFailed(f"{order.signature}: not installed on worker {worker}: {error}") from error
        try:
            signature = metric.signature
        except BillboardsError as error:
            raise MetricFailed(f"{metric.name}: on worker {worker}: {error}") from error
        if signature != order.signature:
            raise MetricFailed(
                f"{metric.name}: on worker {worker} it is {signature}, not {order.signature}; "
                "install the same packages and models there"
            )
        _met[order.signature] = metric
    return _met[order.signature]


def _tasks(order: Order, metric: Metric, contexts: Sequence[Context]) -> Iterator[Task]:
    opened = [_opened(context) for context in contexts]
    for key, outputs, number in zip(order.keys, order.outputs, order.contexts, strict=True):
        yield Task(key, metric, replace(opened[number], outputs=list(outputs)))


def _opened(context: Context) -> Batch:
    """A batch that lacks nothing but outputs."""
    references = list(context.references)
    inputs = list(next(iter(context.inputs), ()))
    return Batch([""] * max(len(references), len(inputs)), references, inputs, context.language)
