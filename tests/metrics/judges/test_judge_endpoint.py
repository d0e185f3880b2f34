"""Requests that leave, fail and are tried again, at a real server; time is a number that waiting moves on."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from judge_server import JudgeServer, Reply, completion, trouble

from billboards.errors import InvalidInput, MetricFailed
from billboards.metrics.judges import endpoint as module
from billboards.metrics.judges.endpoint import Endpoint
from billboards.metrics.judges.pace import Pace, shared_pace
from billboards.metrics.judges.responses import Answer
from billboards.metrics.judges.settings import Settings, checked_url

GOOD = completion('{"score": 1}')
REQUEST = {"model": "m", "messages": [{"role": "user", "content": "hello \ud800"}]}


class HandClock:
    """A clock that only waiting moves."""

    def __init__(self) -> None:
        self.time = 0.0
        self.slept: list[float] = []
        self._lock = threading.Lock()

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        with self._lock:
            self.time += seconds
            self.slept.append(seconds)


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@contextmanager
def opened(url: str, clock: HandClock, *, seconds: float = 20.0) -> Iterator[Endpoint]:
    with closing(Endpoint(url, seconds, Pace(None), clock, lambda: None)) as found:
        yield found


def ask(server: JudgeServer, clock: HandClock, *, seconds: float = 20.0) -> Answer:
    with opened(server.url, clock, seconds=seconds) as found:
        return found.ask(REQUEST)


@pytest.fixture(autouse=True)
def real_waits(server: JudgeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST_WAIT", 1.0)


def test_an_answer_comes_with_its_tokens(server: JudgeServer, clock: HandClock) -> None:
    server.script.append(GOOD)
    assert ask(server, clock) == Answer('{"score": 1}', False, 100, 7)
    assert clock.slept == []
    assert server.received[0].path == "/v1/chat/completions"
    assert server.received[0].body == REQUEST


def test_too_many_requests_are_waited_out_as_long_as_the_server_asks(server: JudgeServer, clock: HandClock) -> None:
    server.script.extend([trouble(429, Retry_After="17"), GOOD])
    assert ask(server, clock).text == '{"score": 1}'
    assert clock.slept == [17.0]


def test_retry_after_may_be_a_date(server: JudgeServer, clock: HandClock) -> None:
    then = format_datetime(datetime.now(UTC) + timedelta(seconds=500), usegmt=True)
    server.script.extend([trouble(503, Retry_After=then), GOOD])
    ask(server, clock)
    assert sum(clock.slept) == pytest.approx(500, abs=60)


@pytest.mark.parametrize("header", [{}, {"Retry_After": "soon"}, {"Retry_After": "-5"}])
def test_without_a_time_the_wait_doubles(header: dict[str, str], server: JudgeServer, clock: HandClock) -> None:
    server.script.extend([trouble(429, **header), trouble(500), trouble(529), GOOD])
    ask(server, clock)
    assert clock.slept == [1.0, 2.0, 4.0]


def test_all_are_silent_when_one_is_told_to_be(clock: HandClock) -> None:
    pace = Pace(None)
    pace.hush(30, clock)
    pace.hush(10, clock)
    pace.wait(clock)
    assert clock.time == 30


def test_requests_leave_no_faster_than_so_many_a_minute(clock: HandClock) -> None:
    pace = Pace(20)
    for _ in range(4):
        pace.wait(clock)
    assert clock.slept == [3.0, 3.0, 3.0]


def test_one_pace_holds_for_all_calls_to_an_endpoint() -> None:
    assert shared_pace("http://a/v1", 20.0) is shared_pace("http://a/v1", 20.0)
    assert shared_pace("http://a/v1", 20.0) is not shared_pace("http://b/v1", 20.0)


def test_a_day_of_silence_is_not_waited_for(server: JudgeServer, clock: HandClock) -> None:
    server.script.append(trouble(429, "quota spent", Retry_After="86400"))
    with pytest.raises(MetricFailed, match=r"asks to wait 86400 s .*quota spent.*score again later"):
        ask(server, clock)
    assert clock.slept == []


def test_a_server_that_never_recovers_fails_with_what_it_said_last(server: JudgeServer, clock: HandClock) -> None:
    server.script.extend([trouble(500)] * 5 + [trouble(502, "the last straw")])
    with pytest.raises(MetricFailed, match=r"no answer after 6 attempts, at last: status 502, saying .*the last straw"):
        ask(server, clock)
    assert len(server.received) == 6
    assert clock.slept == [1.0, 2.0, 4.0, 8.0, 16.0]


@pytest.mark.parametrize("status", [301, 400, 401, 404, 422])
def test_what_will_not_pass_fails_at_once(status: int, server: JudgeServer, clock: HandClock) -> None:
    server.script.append(trouble(status, "no such model", Location="http://127.0.0.1:9/elsewhere"))
    with pytest.raises(MetricFailed, match=rf"{server.url}: status {status}, saying .*no such model"):
        ask(server, clock)
    assert len(server.received) == 1


def test_a_slow_server_is_asked_again(server: JudgeServer, clock: HandClock) -> None:
    server.script.extend([Reply(GOOD.body, seconds=1.5), GOOD])
    assert ask(server, clock, seconds=0.3).text == '{"score": 1}'
    assert clock.slept == [1.0]


def test_a_server_that_is_not_there_is_said(server: JudgeServer, clock: HandClock) -> None:
    with (
        opened("http://127.0.0.1:9/v1", clock) as found,
        pytest.raises(MetricFailed, match=r"6 attempts.*ConnectError"),
    ):
        found.ask(REQUEST)


@pytest.mark.parametrize(
    "body",
    [
        b"<html>Bad gateway</html>",
        b'{"choices": [{"message": {"cont',
        b"[]",
        b"{}",
        b'{"choices": []}',
        b'{"choices": [{"message": null}]}',
        b'{"choices": [{"message": {"content": 5}}]}',
        b"\xff\xfe",
        b"",
    ],
)
def test_a_body_that_is_no_completion_is_asked_for_again(body: bytes, server: JudgeServer, clock: HandClock) -> None:
    server.script.extend([Reply(body), GOOD])
    assert ask(server, clock).text == '{"score": 1}'
    assert clock.slept == [1.0]


def test_a_refusal_is_an_answer(server: JudgeServer, clock: HandClock) -> None:
    server.script.append(completion(None, refusal="I can't judge this."))
    assert ask(server, clock).text == "I can't judge this."


@pytest.mark.parametrize(
    "usage", [None, {}, {"prompt_tokens": "many"}, {"prompt_tokens": -1, "completion_tokens": True}]
)
def test_tokens_that_are_not_counted_are_unknown_and_not_0(
    usage: object, server: JudgeServer, clock: HandClock
) -> None:
    server.script.append(completion("{}", usage=usage))
    assert ask(server, clock) == Answer("{}", False, None, None)


def test_the_key_goes_to_the_site_that_the_environment_names(
    server: JudgeServer, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BILLBOARDS_JUDGE_KEY", " sk-secret\n")
    ask_any = opened(f"{server.url}/other", clock)
    with ask_any as found:
        server.script.append(GOOD)
        found.ask(REQUEST)
    assert server.received[0].headers["authorization"] == "Bearer sk-secret"


def test_no_other_site_gets_the_key_and_its_refusal_says_so(
    server: JudgeServer, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BILLBOARDS_JUDGE_KEY", "sk-secret")
    monkeypatch.setenv("BILLBOARDS_JUDGE_URL", "https://judge.example.org/v1")
    server.script.append(trouble(401, "who are you?"))
    with pytest.raises(MetricFailed, match="no key was sent: it is read from BILLBOARDS_JUDGE_KEY and goes only to"):
        ask(server, clock)
    assert "authorization" not in server.received[0].headers


def test_a_server_that_repeats_the_key_does_not_make_it_seen(
    server: JudgeServer, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BILLBOARDS_JUDGE_KEY", "sk-secret")
    spelled = Reply(completion("your key is sk-secret").body.replace(b"sk-secret", rb"sk\u002dsecret"))
    server.script.extend([completion("your key is sk-secret"), spelled, trouble(401, "wrong key sk-secret")])
    assert ask(server, clock).text == "your key is (key)"
    assert ask(server, clock).text == "your key is (key)"
    with pytest.raises(MetricFailed, match=r"wrong key \(key\)") as caught:
        ask(server, clock)
    assert "sk-secret" not in str(caught.value)


@pytest.mark.parametrize("key", ["sk-se\ncret", "sk-sécret"])
def test_a_key_that_no_header_can_carry_is_refused_unseen(
    key: str, server: JudgeServer, clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BILLBOARDS_JUDGE_KEY", key)
    with pytest.raises(InvalidInput, match="BILLBOARDS_JUDGE_KEY holds characters") as caught:
        ask(server, clock)
    assert "cret" not in str(caught.value)
    assert server.received == []


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("judge.example.org/v1", "'judge.example.org/v1' is no address"),
        ("ftp://judge.example.org", "is no address"),
        ("https://", "is no address"),
        ("https://judge.example.org:port/v1", "is no address"),
        ("https://judge .example.org", "is no address"),
        ("https://me:sk-secret@judge.example.org/v1", "at judge.example.org holds a user"),
        ("https://judge.example.org/v1?key=sk-secret", "holds a user, a query or a fragment"),
        ("sk-secret@judge.example.org", "'judge.example.org' is no address"),
    ],
)
def test_an_address_that_is_wrong_or_holds_a_secret_is_refused_without_showing_it(url: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as caught:
        checked_url(url)
    assert "sk-secret" not in str(caught.value)


def test_an_address_is_taken_with_or_without_its_last_words() -> None:
    assert checked_url("https://x.org/v1/") == checked_url("https://x.org/v1/chat/completions") == "https://x.org/v1"


@pytest.mark.parametrize(
    ("variable", "value"),
    [("PER_MINUTE", "fast"), ("AT_ONCE", "0"), ("AT_ONCE", "1.5"), ("SECONDS", "-1"), ("SECONDS", "nan")],
)
def test_settings_that_make_no_sense_are_refused(variable: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"BILLBOARDS_JUDGE_{variable}", value)
    with pytest.raises(InvalidInput, match=f"BILLBOARDS_JUDGE_{variable}="):
        Settings.from_environment()
