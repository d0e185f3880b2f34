"""A server of files on this machine that can be told to misbehave, and counts what it sends."""

from __future__ import annotations

import re
import threading
from collections import Counter, defaultdict
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType

#: Answers one request; False leaves it to the usual answer.
Trick = Callable[["Handler"], bool]


class Handler(BaseHTTPRequestHandler):
    """Answers with a file or a part of it, unless a trick is due."""

    protocol_version = "HTTP/1.1"
    server: FileServer

    def do_GET(self) -> None:
        self.server.requests.append((self.path, dict(self.headers)))
        tricks = self.server.tricks[self.path]
        if tricks and tricks.pop(0)(self):
            return
        data = self.server.files.get(self.path)
        if data is None:
            self.send_error(404)
            return
        start = self._start(len(data))
        if start is not None and start >= len(data):
            self.answer(416, {"Content-Range": f"bytes */{len(data)}"}, b"")
        elif start is not None:
            headers = {"Content-Range": f"bytes {start}-{len(data) - 1}/{len(data)}"}
            self.answer(206, headers, data[start:])
        else:
            self.answer(200, {}, data)

    def _start(self, size: int) -> int | None:
        """Where the asked part begins, if one is asked for and the file is still the same."""
        match = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        same = self.headers.get("If-Range") in (None, self.server.tag)
        return int(match[1]) if match and same and self.server.takes_ranges else None

    def answer(self, status: int, headers: dict[str, str], body: bytes, *, length: int | None = None) -> None:
        self.send_response(status)
        if self.server.tag:
            self.send_header("ETag", self.server.tag)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.send(body)

    def send(self, body: bytes) -> None:
        # Counted first: who has read all of it may ask at once how much was sent.
        self.server.sent[self.path] += len(body)
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is logged."""


class FileServer(ThreadingHTTPServer):
    """Serves `files` by path; `tricks` are played one after the other, each for one request."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.tricks: dict[str, list[Trick]] = defaultdict(list)
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.sent: Counter[str] = Counter()
        self.tag = '"1"'
        self.takes_ranges = True
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def __enter__(self) -> FileServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.shutdown()
        self.server_close()
        self._thread.join()


def cut(after: int) -> Trick:
    """Promise all of the file, or of the asked part, and send so many bytes of it."""

    def play(handler: Handler) -> bool:
        data = handler.server.files[handler.path]
        start = handler._start(len(data)) or 0
        headers = {"Content-Range": f"bytes {start}-{len(data) - 1}/{len(data)}"} if start else {}
        handler.answer(206 if start else 200, headers, data[start : start + after], length=len(data) - start)
        handler.close_connection = True
        return True

    return play


def status(code: int, **headers: str) -> Trick:
    """Answer with a status and headers, whose names have underscores for dashes."""

    def play(handler: Handler) -> bool:
        handler.answer(code, {name.replace("_", "-"): value for name, value in headers.items()}, b"")
        return True

    return play


def hang(after: int, release: threading.Event) -> Trick:
    """Promise all of the file, send so many bytes, and the rest only when released."""

    def play(handler: Handler) -> bool:
        data = handler.server.files[handler.path]
        handler.answer(200, {}, data[:after], length=len(data))
        release.wait(30)
        try:
            handler.send(data[after:])
        except OSError:
            handler.close_connection = True
        return True

    return play
