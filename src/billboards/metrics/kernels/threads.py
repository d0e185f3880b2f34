"""Kernels on all cores: a range of items is cut into parts that threads work off.

Kernels release the interpreter's lock, so threads are enough and nothing is copied. A worker process of a pool has one
core to itself and sets the limit to one, so that threads never multiply with processes.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

#: Parts per thread; items differ in cost, and a thread that ends early takes another part.
_PARTS = 8
_lock = Lock()
_limit: int | None = None


def cores() -> int:
    """How many threads kernels may use: the limit set, or every core this process may run on."""
    return _limit or len(os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1))


def limit_threads(count: int | None) -> None:
    """Let kernels of this process use at most so many threads; None lifts the limit."""
    global _limit  # noqa: PLW0603 - a property of the process, like its number of cores
    with _lock:
        _limit = count


def in_parts(work: Callable[[int, int], object], count: int, *, smallest: int = 64) -> None:
    """Call `work(start, stop)` for consecutive ranges that cover `count` items, on all cores."""
    threads = min(cores(), max(1, count // smallest))
    if threads == 1:
        work(0, count)
        return
    bounds = [count * k // (threads * _PARTS) for k in range(threads * _PARTS + 1)]
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, bounds[:-1], bounds[1:]))
