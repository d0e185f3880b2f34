"""Stands in for a language model's endpoint: a real HTTP server on this machine that speaks chat completions.

It answers in the form that the question shows, with numbers that depend only on the texts it is given. What is put into
`script` happens first, one entry a request; it keeps every request it got.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import log
from typing import Any, Self

SEVERITIES = ("minor", "major", "critical")


@dataclass(frozen=True)
class Reply:
    """What the server says to one request."""

    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0


@dataclass(frozen=True)
class Received:
    """A request as it came in."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def texts(self) -> dict[str, Any]:
        """The texts that are to be judged."""
        found: dict[str, Any] = json.loads(self.body["messages"][1]["content"])
        return found


def completion(content: str | None, finish: str = "stop", **more: Any) -> Reply:
    """An answer of the model; `refusal`, `usage` and `logprobs` may be given."""
    message = {"role": "assistant", "content": content, "refusal": more.get("refusal")}
    usage = more.get("usage", {"prompt_tokens": 100, "completion_tokens": 7})
    choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": more.get("logprobs")}
    return Reply(json.dumps({"choices": [choice], "usage": usage}).encode())


def token_logprobs(probabilities: dict[str, float]) -> dict[str, Any]:
    """The log-probabilities of an answer that is one token, the first of these."""
    listed = [{"token": token, "logprob": log(p), "bytes": None} for token, p in probabilities.items()]
    return {"content": [{**listed[0], "top_logprobs": listed}], "refusal": None}


def trouble(status: int, said: str = "trouble", **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(json.dumps({"error": {"message": said}}).encode(), status, named)


def judge(received: Received) -> Reply:
    """An answer of the form asked for, drawn from the texts."""
    system, *_, user = (message["content"] for message in received.body["messages"])
    drawn = sha256(user.encode("utf-8", "surrogatepass")).digest()
    last = system.splitlines()[-1]
    if not last.startswith("{"):
        if "number" not in system:
            return completion(json.dumps({"errors": _drawn_errors(drawn)}))
        return completion(str(drawn[0] % 5 + 1), logprobs=token_logprobs({str(drawn[0] % 5 + 1): 0.75, "2": 0.25}))
    form: dict[str, Any] = json.loads(last)
    if "errors" in form:
        return completion(json.dumps({"errors": _drawn_errors(drawn)}))
    if "better" in form:
        return completion(json.dumps({"better": ("first", "second", "tie")[drawn[0] % 3]}))
    if "score" in form:
        return completion(json.dumps({"score": drawn[0] * 100 / 255}))
    return completion(json.dumps({aspect: 1 + n % 5 for aspect, n in zip(form, drawn, strict=False)}))


def _drawn_errors(drawn: bytes) -> list[dict[str, str]]:
    return [{"span": "x", "category": "other", "severity": SEVERITIES[n % 3]} for n in drawn[: drawn[31] % 4]]


class JudgeServer:
    """The server; `url` is what a user would name."""

    def __init__(self) -> None:
        self.script: deque[Reply | Callable[[Received], Reply]] = deque()
        self.answer: Callable[[Received], Reply] = judge
        self.received: list[Received] = []
        self.most_at_once = self._at_once = 0
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})
        self.url = f"http://127.0.0.1:{self._http.server_port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def reply(self, received: Received) -> Reply:
        with self._lock:
            self.received.append(received)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            said = self.script.popleft() if self.script else self.answer
        found = said if isinstance(said, Reply) else said(received)
        time.sleep(found.seconds)
        with self._lock:
            self._at_once -= 1
        return found

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        answer = self.reply

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # Headers and body leave in one packet: two would wait for each other.
            wbufsize = -1

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                headers = {name.lower(): value for name, value in self.headers.items()}
                reply = answer(Received(self.path, headers, body))
                self.send_response(reply.status)
                for name, value in {"content-length": str(len(reply.body)), **reply.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(reply.body)

            def log_message(self, format: str, *args: object) -> None:
                """The server's own words are of no interest."""

        return Handler
