"""What a web server counts of itself, and Prometheus' text format for it.

Few families, so that a year of them is small: requests by route and status, their durations, and time spent in the
database. A route is the pattern of its path, never the path itself: paths hold names and links that open something.
"""

from __future__ import annotations

import math
import time
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from threading import Lock
from typing import Any

from sqlalchemy import Engine, event

#: Upper ends of the durations' buckets, in seconds.
BUCKETS = (0.005, 0.02, 0.1, 0.5, 2.0, 10.0, math.inf)

Labels = Mapping[str, str]


@dataclass(kw_only=True)
class Measures:
    """Counts since the process began."""

    requests: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    durations: dict[str, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0] * len(BUCKETS)))
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    statements: int = 0
    database_seconds: float = 0.0
    _lock: Lock = field(default_factory=Lock, repr=False)

    def count(self, route: str, method: str, status: int, seconds: float) -> None:
        self.requests[route, method, status] += 1
        self.durations[route][bisect_left(BUCKETS, seconds)] += 1
        self.seconds[route] += seconds

    def watch(self, engine: Engine) -> None:
        """Count what a database is asked, from any thread."""
        mark = ("began", id(self))

        def begin(connection: Any, *_: object) -> None:
            connection.info[mark] = time.perf_counter()

        def end(connection: Any, *_: object) -> None:
            seconds = time.perf_counter() - connection.info.pop(mark)
            with self._lock:
                self.statements += 1
                self.database_seconds += seconds

        event.listen(engine, "before_cursor_execute", begin)
        event.listen(engine, "after_cursor_execute", end)

    def lines(self) -> Iterable[str]:
        """The counts in Prometheus' text format."""
        counted = (
            ({"route": route, "method": method, "status": str(status)}, count)
            for (route, method, status), count in sorted(self.requests.items())
        )
        yield from family("billboards_requests_total", "counter", "Requests answered.", counted)
        yield from self._histogram("billboards_request_seconds")
        spent, asked = self.database_seconds, self.statements
        yield from family("billboards_database_seconds_total", "counter", "Time spent in the database.", [({}, spent)])
        yield from family("billboards_database_statements_total", "counter", "Statements sent to it.", [({}, asked)])

    def _histogram(self, name: str) -> Iterable[str]:
        yield from heading(name, "histogram", "Time until a request was answered.")
        for route, counts in sorted(self.durations.items()):
            for end, count in zip(BUCKETS, accumulate(counts), strict=True):
                le = "+Inf" if math.isinf(end) else repr(end)
                yield sample(f"{name}_bucket", {"route": route, "le": le}, count)
            yield sample(f"{name}_sum", {"route": route}, self.seconds[route])
            yield sample(f"{name}_count", {"route": route}, sum(counts))


def family(name: str, kind: str, words: str, samples: Iterable[tuple[Labels, float]]) -> Iterable[str]:
    """A metric with its explanation and values."""
    yield from heading(name, kind, words)
    for labels, value in samples:
        yield sample(name, labels, value)


def heading(name: str, kind: str, words: str) -> Iterable[str]:
    yield f"# HELP {name} {words}"
    yield f"# TYPE {name} {kind}"


def sample(name: str, labels: Labels, value: float) -> str:
    """One value; what would end a label's text is escaped."""
    escaped = (f'{key}="{_escaped(text)}"' for key, text in labels.items())
    return f"{name}{{{','.join(escaped)}}} {value}" if labels else f"{name} {value}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
