"""When a request may leave: so many a minute, evenly, and none while the endpoint asks for silence.

All threads of a process share one pace for an endpoint, so that one that says "too many" to one of them is left alone
by all, and a bound holds over all calls of all judges.
"""

from __future__ import annotations

import threading
import time
from functools import cache
from typing import Protocol

from billboards.errors import MetricFailed


class Clock(Protocol):
    """What time it is, and how to let it pass."""

    def now(self) -> float: ...

    def sleep(self, seconds: float) -> None: ...


class SystemClock:
    """The machine's clock, which never goes back; who sleeps by it is woken when there is nothing to wait for."""

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop

    def now(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        if self._stop.wait(seconds):
            raise MetricFailed("a judge's answer is no longer waited for, because asking has ended")


class Pace:
    """The moments at which requests leave."""

    def __init__(self, per_minute: float | None) -> None:
        self._interval = 60 / per_minute if per_minute else 0.0
        self._lock = threading.Lock()
        self._next = self._silent_until = 0.0

    def wait(self, clock: Clock) -> None:
        """Let time pass until the caller's request may leave."""
        with self._lock:
            now = clock.now()
            start = max(now, self._next)
            self._next = start + self._interval
        if start > now:
            clock.sleep(start - now)
        while (left := self._silent_until - clock.now()) > 0:
            clock.sleep(left)

    def hush(self, seconds: float, clock: Clock) -> None:
        """Let no request leave for some time."""
        with self._lock:
            self._silent_until = max(self._silent_until, clock.now() + seconds)


@cache
def shared_pace(endpoint: str, per_minute: float | None) -> Pace:  # noqa: ARG001 - it tells paces apart
    """The one pace at which this process asks an endpoint, however often it is called."""
    return Pace(per_minute)
