"""One question to an endpoint that speaks the chat-completions interface, over HTTP, until it is answered.

What may pass (too many requests, a server's fault, silence, a body that is no answer) is tried again after a while that
doubles, or after the time that the endpoint asks for. What will not pass (a wrong key, an unknown model) fails at once
with the endpoint's own words. Redirections are not followed: the key goes where the user said and nowhere else.

Servers differ in what they take. JSON is asked for (`response_format`: `json_object`, or `json_schema` where a server
refuses the first and names the second) until a server refuses it, and a bound is called `max_tokens` until a server
asks for `max_completion_tokens`; both are remembered for an endpoint's model, and neither is part of the question.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from billboards.errors import InvalidInput, MetricFailed, MissingPart
from billboards.metrics.judges.pace import Clock, Pace
from billboards.metrics.judges.responses import Answer, Trouble, read_response, refused_by_filter
from billboards.metrics.judges.settings import AZURE_KEY, KEY, OPENAI_KEY, URL, credentials_for
from billboards.reading import json_value

if TYPE_CHECKING:
    import httpx

#: How often a question is put, the seconds before the second time, and the longest wait an endpoint may ask for.
ATTEMPTS, FIRST_WAIT, LONGEST_WAIT = 6, 1.0, 600.0
#: Statuses that pass; those from 500 on do too.
PASSING = frozenset({408, 425, 429})
#: Statuses by which servers refuse a parameter that they don't know.
UNKNOWN_PARAMETER = frozenset({400, 415, 422})
FORMAT = {"type": "json_object"}
Request = Mapping[str, Any]


@dataclass
class Manners:
    """What a model at an endpoint takes, as far as it is known: None is not known yet."""

    takes_format: bool | None = None
    wants_schema: bool = False
    bounds_completion: bool = False

    def sent(self, request: Request, form: str | None) -> dict[str, Any]:
        """A request as this server takes it; `form` is an example of the JSON that is asked for, where it is."""
        sent = dict(request)
        if self.bounds_completion and "max_tokens" in sent:
            sent["max_completion_tokens"] = sent.pop("max_tokens")
        if form is not None and self.takes_format is not False:
            schema = schema_of(form) if self.wants_schema else None
            sent["response_format"] = FORMAT if schema is None else schema
        return sent

    def learn(self, sent: Request, status: int, text: str) -> bool:
        """Take note of a refusal; whether the same question may be taken in another form."""
        if status not in UNKNOWN_PARAMETER:
            return False
        if "max_tokens" in sent and "max_completion_tokens" in text:
            self.bounds_completion = True
            return True
        # Some servers refuse a request without saying which parameter they don't know.
        is_format = "response_format" in text or "json_object" in text or not self.takes_format
        if "response_format" in sent and is_format:
            if sent["response_format"] == FORMAT and "json_schema" in text and not self.wants_schema:
                self.wants_schema = True
            else:
                self.takes_format = False
            return True
        return False


def schema_of(form: str) -> dict[str, Any] | None:
    """The format that asks for JSON like an example; None where the example is none."""
    try:
        example = json_value(form)
    except ValueError:
        return None
    described = {"name": "answer", "strict": True, "schema": _schema(example)}
    return {"type": "json_schema", "json_schema": described} if isinstance(example, dict) else None


def _schema(example: object) -> dict[str, Any]:
    if isinstance(example, dict):
        members = {key: _schema(value) for key, value in example.items()}
        return {"type": "object", "properties": members, "required": list(members), "additionalProperties": False}
    if isinstance(example, list):
        return {"type": "array", "items": _schema(example[0]) if example else {}}
    return {"type": "string" if isinstance(example, str) else "number"}


@cache
def shared_manners(endpoint: str, model: str) -> Manners:  # noqa: ARG001 - it tells manners apart
    """What this process knows of a model at an endpoint."""
    return Manners()


@dataclass(frozen=True)
class Refusal:
    """A status that doesn't pass, with the endpoint's words."""

    status: int
    text: str


class Filtered(Exception):
    """Why an endpoint never answers one question; caught where the question is put."""


class Endpoint:
    """An address to ask at; close it after use."""

    def __init__(self, url: str, seconds: float, pace: Pace, clock: Clock, on_retry: Callable[[], None]) -> None:
        need_httpx()
        import httpx

        self.url, self.pace, self.clock, self.on_retry = url, pace, clock, on_retry
        credentials = credentials_for(url)
        self._key = credentials.key
        self._target = f"{url}/chat/completions{credentials.query}"
        try:
            httpx.URL(self._target)
        except httpx.InvalidURL as error:
            raise InvalidInput(f"{url!r} is no address of a judge: {error}") from error
        headers = {"user-agent": "billboards", "content-type": "application/json", **credentials.headers}
        self._http = httpx.Client(headers=headers, timeout=seconds, follow_redirects=False)

    def close(self) -> None:
        self._http.close()

    def ask(self, request: Request, *, form: str | None = None) -> Answer:
        """The model's answer, JSON like the form where there is one; trouble that may pass is waited out."""
        manners = shared_manners(self.url, str(request.get("model")))
        complaint, is_body = "", False
        for attempt in range(ATTEMPTS):
            self.pace.wait(self.clock)
            reply = self._try(request, manners, form)
            if isinstance(reply, Answer):
                return reply
            complaint, is_body = reply.complaint, reply.is_body
            if attempt + 1 < ATTEMPTS:
                self._wait(reply, FIRST_WAIT * 2**attempt)
        if is_body:
            raise Filtered(f"{ATTEMPTS} times {complaint}")
        raise MetricFailed(f"{self.url}: no answer after {ATTEMPTS} attempts, at last: {complaint}")

    def _try(self, request: Request, manners: Manners, form: str | None) -> Answer | Trouble:
        sent = manners.sent(request, form)
        reply = self._post(sent)
        while isinstance(reply, Refusal):
            complaint = f"status {reply.status}, saying {reply.text[:300]!r}"
            if reason := refused_by_filter(reply.text):
                raise Filtered(f"{reason}: {complaint}")
            if not manners.learn(sent, reply.status, reply.text):
                raise MetricFailed(f"{self.url}: {complaint}{self._hint(reply)}")
            sent = manners.sent(request, form)
            reply = self._post(sent)
        if isinstance(reply, Answer) and "response_format" in sent:
            manners.takes_format = True
        return reply

    def _post(self, sent: Request) -> Answer | Trouble | Refusal:
        import httpx

        try:
            # Plain ASCII carries every string that Python can hold, lone surrogates among them.
            response = self._http.post(self._target, content=json.dumps(sent).encode("ascii"))
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
        if response.status_code in PASSING or response.status_code >= 500:
            return Trouble(f"status {response.status_code}, saying {text[:300]!r}", asked_silence(response))
        return Refusal(response.status_code, text)

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

    def _hint(self, refusal: Refusal) -> str:
        """What to do about a refusal."""
        if refusal.status in (401, 403) and not self._key:
            return (
                f"; no key was sent: it is read from {KEY} and goes only to the site that {URL} names; {OPENAI_KEY} "
                f"and {AZURE_KEY} go only to their own"
            )
        if 300 <= refusal.status < 400:
            return "; it points elsewhere, which is not followed: name the address itself"
        if refusal.status in UNKNOWN_PARAMETER and "temperature" in refusal.text:
            return "; this model takes another temperature: name it, as in judge-DA(temperature=1)"
        if refusal.status in UNKNOWN_PARAMETER and "logprobs" in refusal.text:
            return "; this model gives no log-probabilities: sample instead, as in judge-GEval(samples=20)"
        return ""

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
