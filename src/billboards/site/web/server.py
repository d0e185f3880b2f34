"""The web server's connections: how long each may take, how many there may be, and how much they may fill the log.

Whoever begins a request and never ends its head, sends a body drop by drop, or never reads the answer holds a place
that others need. A head has to be whole within a time, an answer has to be taken, a body that nobody reads any more has
to end, and an address that is no trusted proxy has a number of connections. All connections together leave files free
for the database and for submissions; what comes beyond that is told to come back, and nothing of it fills the log.
"""

from __future__ import annotations

import asyncio
import resource
from collections import Counter
from typing import Any, ClassVar

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from billboards.run.addresses import network_of
from billboards.site.settings import SiteSettings
from billboards.site.site import Site
from billboards.site.web.app import create_app
from billboards.site.web.limits import SILENCE

#: Files that are not for connections: the database, submitted files, logs, pipes.
OTHER_FILES = 96
#: As many connections there are at least, whatever the process may open, and as many files are asked for at most.
FEWEST, MOST_FILES = 16, 65_536
#: How many connections may wait to be taken.
BACKLOG = 256
#: How many times as long as for a head a request that has been answered may go on sending its body.
REST = 6
FULL = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\nretry-after: 2\r\n\r\n"
LATE = b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


def web_server(site: Site, **options: Any) -> uvicorn.Server:
    """The server of a site; `options` are uvicorn's."""
    settings = {"log_level": "warning", "access_log": False, "server_header": False, "timeout_graceful_shutdown": 5}
    protocol = bounded_protocol(site.settings, files=allow_files())
    config = uvicorn.Config(create_app(site), **{**settings, "http": protocol, "backlog": BACKLOG, **options})
    return uvicorn.Server(config)


def allow_files() -> int:
    """Let this process open as many files as it may; returns how many these are."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        return wanted
    return MOST_FILES if soft == resource.RLIM_INFINITY else soft


def bounded_protocol(settings: SiteSettings, *, files: int = MOST_FILES) -> type[H11Protocol]:
    """What speaks HTTP on the connections of one server, in a process that may open so many files."""

    class Bounded(_Bounded):
        most = max(FEWEST, min(settings.connections, files - OTHER_FILES))
        each = settings.connections_each
        head_seconds = settings.head_seconds
        taken: ClassVar[Counter[str]] = Counter()

    return Bounded


class _Bounded(H11Protocol):
    """A connection that is given up when it stands still."""

    most: ClassVar[int]
    each: ClassVar[int]
    head_seconds: ClassVar[float]
    taken: ClassVar[Counter[str]]

    _asker: str | None = None
    #: Until when the rest of a body is thrown away whose request has been answered.
    _rest: float | None = None
    _waiting: asyncio.TimerHandle | None = None
    _stalling: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        peer = transport.get_extra_info("peername")
        host = str(peer[0]) if isinstance(peer, tuple) else ""
        asker = network_of(host)
        if self.taken.total() >= self.most or (not self._is_proxy(host, asker) and self.taken[asker] >= self.each):
            transport.write(FULL)
            transport.close()
            return
        self._asker = asker
        self.taken[asker] += 1
        super().connection_made(transport)
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._asker is None:
            return
        self.taken[self._asker] -= 1
        if not self.taken[self._asker]:
            del self.taken[self._asker]
        self._stop_waiting()
        self._stop_stalling()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._asker is None:
            return
        super().data_received(data)
        if self._is_answered_early():
            self._wait_for_rest()
        elif self.conn.their_state is not h11.IDLE:
            self._stop_waiting()
            self._rest = None
        elif self._waiting is None or self._rest is not None:
            # The next request on the same connection has begun, or may begin.
            self._stop_waiting()
            self._wait_for_head()

    def eof_received(self) -> None:
        if self._asker is not None:
            super().eof_received()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stalling = self.loop.call_later(SILENCE, self.transport.abort)

    def resume_writing(self) -> None:
        self._stop_stalling()
        super().resume_writing()

    def on_response_complete(self) -> None:
        self._stop_waiting()
        super().on_response_complete()
        if self._is_answered_early() and not self.transport.is_closing():
            self._wait_for_rest()

    def _is_answered_early(self) -> bool:
        return self.conn.our_state is h11.DONE and self.conn.their_state is h11.SEND_BODY

    def _wait_for_rest(self) -> None:
        """The rest of a body is read for a while, because a connection that is closed at once may lose the answer."""
        now = self.loop.time()
        if self._rest is None:
            self._rest = now + REST * self.head_seconds
        self._stop_waiting()
        self._waiting = self.loop.call_later(max(0.0, min(self.head_seconds, self._rest - now)), self.transport.close)

    def _is_proxy(self, host: str, network: str) -> bool:
        trusted = self.config.forwarded_allow_ips
        names = trusted.split(",") if isinstance(trusted, str) else list(trusted or ())
        return not {"*", host, network}.isdisjoint(name.strip() for name in names)

    def _wait_for_head(self) -> None:
        self._rest = None
        self._waiting = self.loop.call_later(self.head_seconds, self._give_up)

    def _give_up(self) -> None:
        self._waiting = None
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self.transport.write(LATE)
            self.transport.close()

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _stop_stalling(self) -> None:
        if self._stalling is not None:
            self._stalling.cancel()
            self._stalling = None
