"""How much one asker may ask: bounds on what is sent, on how often, and on how much at the same time.

A body that is too large is refused while it comes in, before it fills memory or disk, and one that stops coming is
given up. How often somebody asks is counted by address with a bucket that refills steadily: short bursts pass, a flood
is told when to come back. Requests, large uploads and open streams each have a number of places; who finds none is told
to come back, before anything was begun, so nothing that was acknowledged is lost. A site that only this machine can
reach does not count by address.
"""

from __future__ import annotations

import math
import re
import shutil
from collections import Counter, OrderedDict
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import anyio
from starlette.datastructures import Headers
from starlette.requests import Request

from billboards.run.addresses import network_of
from billboards.site.site import Site
from billboards.site.web.faults import answer
from billboards.site.web.security import SAFE, App, Message, Receive, Send

#: Askers that are remembered; whoever asked longest ago is forgotten first.
REMEMBERED = 10_000
#: The longest address with its query, in bytes.
LONGEST_ADDRESS = 8 * 1024
#: Seconds for which a body may stop coming.
SILENCE = 60.0
#: Bytes a second that a body must have brought once it has taken longer than that.
SLOWEST = 1024
#: Seconds after which who found no place may come back.
BACK = 2

#: Where files are sent to; everywhere else a body is a form or a JSON document.
_UPLOADS = re.compile(
    r"/(boards|suites)/[^/]+/submit/(generator|metric|scores)"
    r"|/api/v1/(boards|suites)/[^/]+/(generators|metrics|metrics/scores|scores)"
    r"|/organise/new/[a-z]+|/api/v1/drafts"
)


@dataclass
class Bucket:
    """Tokens left, and when they were counted."""

    left: float
    at: float


@dataclass
class Rate:
    """At most `per_minute` requests a minute from one asker, and as many at once after a pause."""

    per_minute: int
    _buckets: OrderedDict[str, Bucket] = field(default_factory=OrderedDict)

    def wait(self, asker: str, now: float) -> float:
        """Count a request; returns how many seconds it is too early."""
        most, speed = float(self.per_minute), self.per_minute / 60
        bucket = self._buckets.pop(asker, None) or Bucket(most, now)
        bucket.left = min(most, bucket.left + max(now - bucket.at, 0.0) * speed)
        bucket.at = now
        self._buckets[asker] = bucket
        while len(self._buckets) > REMEMBERED:
            self._buckets.popitem(last=False)
        if bucket.left >= 1:
            bucket.left -= 1
            return 0.0
        return (1 - bucket.left) / speed


@dataclass
class Room:
    """Places that are taken at the same time: `most` in all, and `each` by one asker where askers are told apart."""

    what: str
    most: int
    each: int | None
    taken: Counter[str] = field(default_factory=Counter)

    @contextmanager
    def place(self, asker: str) -> Iterator[None]:
        """A place for as long as it is needed."""
        if self.taken.total() >= self.most:
            raise _NotNow(503, f"The server is full: it has {self.most} {self.what}; come back in a moment.", BACK)
        if self.each is not None and self.taken[asker] >= self.each:
            raise _NotNow(429, f"Too many from your address: it has {self.each} {self.what}; finish some first.", BACK)
        self.taken[asker] += 1
        try:
            yield
        finally:
            self.taken[asker] -= 1
            if not self.taken[asker]:
                del self.taken[asker]


class Limits:
    """Answers 413 to what is too large, 429 to too many requests from one address, and 503 when the server is full."""

    def __init__(self, app: App, site: Site) -> None:
        settings = site.settings
        self.app, self.clock = app, site.clock
        self.form_bytes = settings.form_bytes
        gpu = settings.workers.gpu
        largest = 0 if gpu is None or not gpu.accounts else gpu.metric_bytes
        self.upload_bytes = max(settings.generator_bytes, settings.metric_bytes, largest) + settings.form_bytes
        self.data, self.free_bytes = site.data, settings.free_bytes
        self.counted = site.login_required
        self.reads, self.changes = Rate(settings.reads_per_minute), Rate(settings.changes_per_minute)
        self.requests = self._room("requests at once", settings.requests, settings.requests_each)
        self.uploads = self._room("large uploads at once", settings.uploads, settings.uploads_each)
        self.streams = self._room("open streams", settings.streams, settings.streams_each)

    def _room(self, what: str, most: int, each: int) -> Room:
        return Room(what, most, each if self.counted else None)

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        asker = network_of(scope["client"][0]) if scope.get("client") else ""
        try:
            self._check_begin(scope, asker)
            with self._place(scope, asker):
                # Most requests are for a page and bring nothing that must be counted.
                await (self._hand_on if _brings_body(scope) else self.app)(scope, receive, send)
        except _NotNow as refusal:
            response = answer(Request(scope), refusal.status, str(refusal), [])
            if refusal.closes:
                response.headers["connection"] = "close"
            if refusal.seconds is not None:
                response.headers["retry-after"] = str(math.ceil(refusal.seconds))
            await response(scope, receive, send)

    def _check_begin(self, scope: MutableMapping[str, Any], asker: str) -> None:
        """What can be refused before anything is read."""
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > LONGEST_ADDRESS:
            raise _NotNow(414, f"The address is longer than the {LONGEST_ADDRESS:,} bytes that are taken.")
        if self.counted:
            rate = self.reads if scope["method"] in SAFE else self.changes
            seconds = rate.wait(asker, self.clock())
            if seconds > 0:
                raise _NotNow(429, "Too many requests from this address; wait a moment and try again.", seconds)
        if {name for name, _ in scope["headers"]} >= _BODY:
            # Of a request that says its length in two ways, a proxy may have read less or more than this server.
            raise _NotNow(400, "A request has a length or comes in chunks, not both.", closes=True)
        if _brings_body(scope) and _stated(scope) > self._most(scope):
            raise self._too_large(scope)
        if scope["method"] not in SAFE and _UPLOADS.fullmatch(scope["path"]) and not self._has_room(_stated(scope)):
            raise _NotNow(507, "The server's disk is nearly full; nothing more is taken until its owner has made room.")

    @contextmanager
    def _place(self, scope: MutableMapping[str, Any], asker: str) -> Iterator[None]:
        """A stream has a place of its own kind; a large upload has one beside that of its request."""
        if scope["path"].endswith("/events"):
            with self.streams.place(asker):
                yield
            return
        with self.requests.place(asker):
            if _brings_body(scope) and self._is_large(scope):
                with self.uploads.place(asker):
                    yield
            else:
                yield

    async def _hand_on(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        body = _Body(receive, self._most(scope))

        async def send_unless_over(message: Message) -> None:
            # Whoever reads the body may turn its end into an error of another kind; the reason is known here.
            if body.problem is None:
                await send(message)

        with suppress(_Ended):
            await self.app(scope, body.receive, send_unless_over)
        if body.problem == "large":
            raise self._too_large(scope)
        if body.problem == "silent":
            raise _NotNow(408, f"Nothing, or next to nothing, came for {SILENCE:.0f} seconds; send it again.")

    def _has_room(self, size: int) -> bool:
        """Whether the disk takes a file and what is made of it, and still has what it keeps free."""
        try:
            return shutil.disk_usage(self.data).free - 2 * size >= self.free_bytes
        except OSError:
            return False

    def _most(self, scope: MutableMapping[str, Any]) -> int:
        return self.upload_bytes if _UPLOADS.fullmatch(scope["path"]) else self.form_bytes

    def _is_large(self, scope: MutableMapping[str, Any]) -> bool:
        """Whether a body may fill more memory than a form does; one that doesn't say how long it is may."""
        chunked = "transfer-encoding" in Headers(scope=scope)
        return self._most(scope) > self.form_bytes and (chunked or _stated(scope) > self.form_bytes)

    def _too_large(self, scope: MutableMapping[str, Any]) -> _NotNow:
        return _NotNow(413, f"What was sent is larger than the {self._most(scope):,} bytes that are taken here.")


_BODY = frozenset({b"content-length", b"transfer-encoding"})


def _brings_body(scope: MutableMapping[str, Any]) -> bool:
    """Whether a body follows the head: without one of these two headers HTTP has none."""
    return not _BODY.isdisjoint(name for name, _ in scope["headers"])


def _stated(scope: MutableMapping[str, Any]) -> int:
    """How long the body says it is."""
    text = Headers(scope=scope).get("content-length", "")
    return int(text) if text.isdecimal() and len(text) < 20 else 0


class _Body:
    """What comes in, counted; `problem` says why no more of it is taken."""

    def __init__(self, receive: Receive, most: int) -> None:
        self._receive, self.most, self.counted = receive, most, 0
        self._began = anyio.current_time()
        self.complete = False
        self.problem: str | None = None

    async def receive(self) -> Message:
        if self.complete:
            # What comes after the body is the reader's going away, for which a stream waits as long as it lasts.
            return await self._receive()
        # Drop by drop a body could come for ever.
        left = self._began + SILENCE + self.counted / SLOWEST - anyio.current_time()
        with anyio.move_on_after(min(SILENCE, left)) as patience:
            message = await self._receive()
        if patience.cancelled_caught:
            self.problem = "silent"
            raise _Ended
        self.complete = not message.get("more_body", False)
        self.counted += len(message.get("body", b""))
        if self.counted > self.most:
            self.problem = "large"
            raise _Ended
        return message


class _Ended(Exception):
    """No more of the body is taken."""


class _NotNow(Exception):
    """A request that is refused here, after how many seconds it may come back, and whether its connection ends."""

    def __init__(self, status: int, words: str, seconds: float | None = None, *, closes: bool = False) -> None:
        super().__init__(words)
        self.status, self.seconds, self.closes = status, seconds, closes
