"""One question to an endpoint that speaks the chat-completions interface, over HTTP, until it is answered.

What may pass (too many requests, a server's fault, silence, a body that is no answer) is tried again after a while that
doubles, or after the time that the endpoint asks for. What will not pass (a wrong key, an unknown model) fails at once
with the endpoint's own words. Redirections are not followed: the key goes where the user said and nowhere else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from billboards.errors import InvalidInput, MetricFailed, MissingPart
from billboards.metrics.judges.pace import Clock, Pace
from billboards.metrics.judges.responses import Answer, Trouble, read_response, refused_by_filter
from billboards.metrics.judges.settings import KEY, URL, key_for

if TYPE_CHECKING:
    import httpx

#: How often a question is put, the seconds before the second time, and the longest wait an endpoint may ask for.
ATTEMPTS, FIRST_WAIT, LONGEST_WAIT = 6, 1.0, 600.0
#: Statuses that pass; those from 500 on do too.
PASSING = frozenset({408, 425, 429})
Request = Mapping[str, Any]


class Filtered(Exception):
    """Why an endpoint never answers one question; caught where the question is put."""


class Endpoint:
    """An address to ask at; close it after use."""

    def __init__(self, url: str, seconds: float, pace: Pace, clock: Clock, on_retry: Callable[[], None]) -> None:
        need_httpx()
        import httpx

        self.url, self.pace, self.clock, self.on_retry = url, pace, clock, on_retry
        self._key = key_for(url)
        self._target = f"{url}/chat/completions"
        try:
            httpx.URL(self._target)
        except httpx.InvalidURL as error:
            raise InvalidInput(f"{url!r} is no address of a judge: {error}") from error
        headers = {"user-agent": "billboards", "content-type": "application/json"}
        if self._key:
            headers["authorization"] = f"Bearer {self._key}"
        self._http = httpx.Client(headers=headers, timeout=seconds, follow_redirects=False)

    def close(self) -> None:
        self._http.close()

    def ask(self, request: Request) -> Answer:
        """The model's answer; trouble that may pass is waited out."""
        # Plain ASCII carries every string that Python can hold, lone surrogates among them.
        body = json.dumps(request).encode("ascii")
        complaint, is_body = "", False
        for attempt in range(ATTEMPTS):
            self.pace.wait(self.clock)
            reply = self._try(body)
            if isinstance(reply, Answer):
                return reply
            complaint, is_body = reply.complaint, reply.is_body
            if attempt + 1 < ATTEMPTS:
                self._wait(reply, FIRST_WAIT * 2**attempt)
        if is_body:
            raise Filtered(f"{ATTEMPTS} times {complaint}")
        raise MetricFailed(f"{self.url}: no answer after {ATTEMPTS} attempts, at last: {complaint}")

    def _try(self, body: bytes) -> Answer | Trouble:
        import httpx

        try:
            response = self._http.post(self._target, content=body)
        except httpx.TimeoutException:
            return Trouble("it did not answer in time")
        except httpx.RequestError as error:
            return Trouble(self._without_key(f"{type(error).__name__}: {error}"))
        text = self._without_key(response.text)
        if response.status_code == 200:
            reply = read_response(text)
            if isinstance(reply, Trouble) and (reason := refused_by_filter(text)):
                raise Filtered(f"{reason}: {reply.complaint}")
            # Once more: JSON may have spelled the key in another way.
            return replace(reply, text=self._without_key(reply.text)) if isinstance(reply, Answer) else reply
        complaint = f"status {response.status_code}, saying {text[:300]!r}"
        if response.status_code in PASSING or response.status_code >= 500:
            return Trouble(complaint, asked_silence(response))
        if reason := refused_by_filter(text):
            raise Filtered(f"{reason}: {complaint}")
        raise MetricFailed(f"{self.url}: {complaint}{self._hint(response.status_code)}")

    def _wait(self, trouble: Trouble, otherwise: float) -> None:
        self.on_retry()
        if trouble.silence is None:
            self.clock.sleep(otherwise)
        elif trouble.silence <= LONGEST_WAIT:
            self.pace.hush(trouble.silence, self.clock)
        else:
            raise MetricFailed(
                f"{self.url}: asks to wait {trouble.silence:.0f} s ({trouble.complaint}); answers so far are kept, "
                "so score again later"
            )

    def _hint(self, status: int) -> str:
        if status not in (401, 403) or self._key:
            return ""
        return f"; no key was sent: it is read from {KEY} and goes only to the site that {URL} names"

    def _without_key(self, text: str) -> str:
        """What an endpoint says, safe to show and to keep; some repeat the key that they refuse."""
        return text.replace(self._key, "(key)") if self._key else text


def need_httpx() -> None:
    if find_spec("httpx") is None:
        raise MissingPart("judges need httpx; install it with `pip install 'billboards[judges]'`")


def asked_silence(response: httpx.Response) -> float | None:
    """The seconds of `Retry-After`, which may also name a date."""
    written = response.headers.get("retry-after", "").strip()
    if written.isdecimal():
        return float(written)
    try:
        return max(0.0, (parsedate_to_datetime(written) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None
