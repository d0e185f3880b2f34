"""How much one asker may ask: a bound on what is sent, and on how often.

A body that is too large is refused while it comes in, before it fills memory or disk. How often somebody asks is
counted by address with a bucket that refills steadily: short bursts pass, a flood is told when to come back. A site
that only this machine can reach has no such count.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from starlette.datastructures import Headers
from starlette.requests import Request

from billboards.site.home import Site
from billboards.web.faults import answer
from billboards.web.security import SAFE, App, Message, Receive, Send

#: What a form may hold beside its file.
BESIDE = 2**20
#: Askers that are remembered; whoever asked longest ago is forgotten first.
REMEMBERED = 10_000


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


class Limits:
    """Refuses what is too large with 413 and what comes too often with 429."""

    def __init__(self, app: App, site: Site) -> None:
        self.app, self.clock = app, site.clock
        self.most = max(site.settings.generator_bytes, site.settings.metric_bytes) + BESIDE
        self.counted = site.login_required
        self.reads = Rate(site.settings.reads_per_minute)
        self.changes = Rate(site.settings.changes_per_minute)

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        seconds = self._too_early(scope)
        if seconds > 0:
            words = "Too many requests from this address; wait a moment and try again."
            response = answer(Request(scope), 429, words, [])
            response.headers["retry-after"] = str(math.ceil(seconds))
            await response(scope, receive, send)
            return
        body = _Body(receive, self.most)
        if body.stated(scope) > self.most:
            await self._refuse_size(scope, receive, send)
            return

        async def send_unless_over(message: Message) -> None:
            # Whoever reads the body may turn its end into an error of another kind; the reason is known here.
            if not body.over:
                await send(message)

        with suppress(_TooLarge):
            await self.app(scope, body.receive, send_unless_over)
        if body.over:
            await self._refuse_size(scope, receive, send)

    async def _refuse_size(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        words = f"What was sent is larger than the {self.most:,} bytes that are taken."
        await answer(Request(scope), 413, words, [])(scope, receive, send)

    def _too_early(self, scope: MutableMapping[str, Any]) -> float:
        if not self.counted:
            return 0.0
        client = scope.get("client")
        rate = self.reads if scope["method"] in SAFE else self.changes
        return rate.wait(client[0] if client else "", self.clock())


class _Body:
    """What comes in, counted."""

    def __init__(self, receive: Receive, most: int) -> None:
        self._receive, self.most, self.counted = receive, most, 0

    @property
    def over(self) -> bool:
        return self.counted > self.most

    @staticmethod
    def stated(scope: MutableMapping[str, Any]) -> int:
        """How long the body says it is."""
        text = Headers(scope=scope).get("content-length", "")
        return int(text) if text.isdecimal() and len(text) < 20 else 0

    async def receive(self) -> Message:
        message = await self._receive()
        self.counted += len(message.get("body", b""))
        if self.over:
            raise _TooLarge
        return message


class _TooLarge(Exception):
    """The body passed its bound."""
