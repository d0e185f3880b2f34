"""Kernels on all cores: a range of items is cut into parts that threads work off.

Kernels release the interpreter's lock, so threads are enough and nothing is copied. A worker process of a pool has one
core to itself and sets the limit to one, so that threads never multiply with processes.

An interrupt (Ctrl-C) reaches the main thread only while it runs Python. So it never runs a kernel itself, but waits for
threads, also for a single one. After an interrupt no other part is begun; a part under way ends by itself, or with the
process, which doesn't wait for it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from threading import Lock, Thread, current_thread, main_thread
from typing import Any

#: Parts per thread; items differ in cost, and a thread that ends early takes another part.
_PARTS = 8
#: Seconds after which the main thread looks for an interrupt. Where a library has asked for system calls to go on after
#: signals (as event loops do), a wait without an end would not see one.
_LOOK = 0.2
_lock = Lock()
_limit: int | None = None
#: How many callers want linear algebra on one core, and what puts it back when the last of them is through.
_wanting = 0
_before: Any = None


def cores() -> int:
    """How many threads kernels may use: the limit set, or every core this process may run on."""
    return _limit or len(os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1))


def limit_threads(count: int | None) -> None:
    """Let kernels of this process use at most so many threads; None lifts the limit."""
    global _limit  # noqa: PLW0603 - a property of the process, like its number of cores
    with _lock:
        _limit = count


@contextmanager
def algebra_on_one_core() -> Iterator[None]:
    """Keep numpy's linear algebra from starting threads of its own, for work on matrices of a few hundred rows.

    Such threads wait for each other by spinning. Beside threads of ours, or on a machine that has other work, that took
    thirteen times the processor time of one thread for the decomposition of 240 columns.
    """
    _ask_for_one_core(1)
    try:
        yield
    finally:
        _ask_for_one_core(-1)


def _ask_for_one_core(change: int) -> None:
    """Count who wants one core: the first sets the limit, which holds for the process, and the last lifts it."""
    from threadpoolctl import threadpool_limits

    global _wanting, _before  # noqa: PLW0603 - a property of the process, like its number of cores
    with _lock:
        _wanting += change
        if change == _wanting == 1:
            _before = threadpool_limits(1, user_api="blas")
        elif _wanting == 0:
            _before.restore_original_limits()


def in_parts(work: Callable[[int, int], object], count: int, *, smallest: int = 64) -> None:
    """Call `work(start, stop)` for consecutive ranges that cover `count` items, on all cores."""
    threads = min(cores(), max(1, count // smallest))
    if threads == 1 and current_thread() is not main_thread():
        work(0, count)
        return
    parts = threads * _PARTS if threads > 1 else 1
    crew = _Crew(work, pairwise(count * k // parts for k in range(parts + 1)))
    crew.run(threads)


class _Crew:
    """Threads that work off parts, until there are none left, one fails, or nobody waits for them any more."""

    def __init__(self, work: Callable[[int, int], object], parts: Iterator[tuple[int, int]]) -> None:
        self._work, self._parts, self._taking = work, parts, Lock()
        self._failed: BaseException | None = None
        self._is_over = False

    def run(self, threads: int) -> None:
        crew = [Thread(target=self._take_parts, daemon=True) for _ in range(threads)]
        try:
            for thread in crew:
                thread.start()
            for thread in crew:
                while thread.is_alive():
                    thread.join(_LOOK)
        finally:
            self._is_over = True
        if self._failed is not None:
            raise self._failed

    def _take_parts(self) -> None:
        while not self._is_over:
            with self._taking:
                part = next(self._parts, None)
            if part is None:
                return
            try:
                self._work(*part)
            except BaseException as error:  # noqa: BLE001 - whatever it is, it is raised where the parts are waited for
                self._failed, self._is_over = error, True
