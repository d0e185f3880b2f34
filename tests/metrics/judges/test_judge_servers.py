"""What servers take, which key they get, and what may be spent on them."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from judge_purse import empty_purse
from judge_server import JudgeServer, Received, Reply, completion, judge, trouble
from small_boards import small_board

import billboards as bb
from billboards.cli.main import main
from billboards.errors import InvalidInput, MetricFailed
from billboards.metrics.base import Batch
from billboards.metrics.judges.answers import Answers
from billboards.metrics.judges.budget import Attendant, attended, estimated_tokens
from billboards.metrics.judges.endpoint import schema_of
from billboards.metrics.judges.judge import DirectAssessment
from billboards.metrics.judges.settings import Credentials, credentials_for

HELLO = Batch(["hello"], [["hi"]], ["hallo"])
#: As a server says it that knows schemas and no plain objects.
WORDS_OF_SCHEMAS = "'response_format.type' must be 'json_schema' or 'text'"
TEXTS = [f"output {k}" for k in range(20)]
MANY = Batch(TEXTS, [[text] for text in TEXTS], TEXTS)


def refusing(parameter: str, words: str, status: int = 400) -> object:
    """A server that doesn't take a parameter."""

    def answer(received: Received) -> Reply:
        return trouble(status, words) if parameter in received.body else judge(received)

    return answer


def test_json_is_asked_for_where_the_server_takes_it(server: JudgeServer) -> None:
    DirectAssessment().score_batch(HELLO)
    assert server.received[0].body["response_format"] == {"type": "json_object"}


@pytest.mark.parametrize(
    ("status", "words"),
    [(400, "Unknown parameter: 'response_format'"), (422, "Extra inputs are not permitted"), (400, "Bad request")],
)
def test_a_server_that_refuses_the_format_is_asked_without_it_and_remembered(
    status: int, words: str, server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BILLBOARDS_JUDGE_AT_ONCE", "1")
    server.answer = refusing("response_format", words, status)  # type: ignore[assignment]
    DirectAssessment().score_batch(MANY)
    assert len(server.received) == 21
    assert ["response_format" in received.body for received in server.received] == [True, *[False] * 20]
    # It is no part of the question: another server that takes it, or not, has the same answers.
    assert not any("response_format" in str(line["request"]) for line in kept().lines())


def test_a_server_that_knows_schemas_alone_is_given_one(server: JudgeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BILLBOARDS_JUDGE_AT_ONCE", "1")

    def answer(received: Received) -> Reply:
        kind = received.body.get("response_format", {}).get("type")
        return judge(received) if kind == "json_schema" else trouble(400, WORDS_OF_SCHEMAS)

    server.answer = answer
    DirectAssessment().score_batch(MANY)
    kinds = [received.body["response_format"]["type"] for received in server.received]
    assert kinds == ["json_object", *["json_schema"] * 20]
    described = server.received[-1].body["response_format"]["json_schema"]
    assert described["strict"] is True
    assert described["schema"] == {
        "type": "object",
        "properties": {"score": {"type": "number"}},
        "required": ["score"],
        "additionalProperties": False,
    }


def test_a_server_that_takes_neither_format_is_asked_without(
    server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BILLBOARDS_JUDGE_AT_ONCE", "1")
    server.answer = refusing("response_format", WORDS_OF_SCHEMAS)  # type: ignore[assignment]
    DirectAssessment().score_batch(MANY)
    kinds = [received.body.get("response_format", {}).get("type") for received in server.received]
    assert kinds == ["json_object", "json_schema", *[None] * 20]


@pytest.mark.parametrize(
    ("form", "members"),
    [
        ('{"errors": [{"span": "a", "severity": "b"}]}', {"errors": "array"}),
        ('{"better": "first"}', {"better": "string"}),
        ('{"fluency": 4, "truth": 5}', {"fluency": "number", "truth": "number"}),
    ],
)
def test_a_schema_follows_from_the_form_of_an_answer(form: str, members: dict[str, str]) -> None:
    described = schema_of(form)
    assert described is not None
    schema = described["json_schema"]["schema"]
    assert {name: member["type"] for name, member in schema["properties"].items()} == members
    assert schema_of("a number") is None
    assert schema_of("[1]") is None


def test_a_server_may_call_the_bound_by_its_other_name(server: JudgeServer) -> None:
    words = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    server.answer = refusing("max_tokens", words)  # type: ignore[assignment]
    DirectAssessment(max_tokens=9).score_batch(HELLO)
    assert [received.body.get("max_completion_tokens") for received in server.received] == [None, 9]


def test_a_temperature_that_is_refused_is_said_with_what_to_do(server: JudgeServer) -> None:
    words = "Unsupported value: 'temperature' does not support 0.0 with this model. Only the default (1) is supported."
    server.answer = lambda received: trouble(400, words) if received.body["temperature"] != 1 else judge(received)
    with pytest.raises(MetricFailed, match=r"name it, as in judge-DA\(temperature=1\)"):
        DirectAssessment().score_batch(HELLO)
    DirectAssessment(temperature=1.0).score_batch(HELLO)


def test_a_redirection_is_not_followed_and_said(server: JudgeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BILLBOARDS_JUDGE_KEY", "sk-secret")
    server.script.append(trouble(307, Location=f"{server.url}/elsewhere/chat/completions"))
    with pytest.raises(MetricFailed, match="it points elsewhere, which is not followed"):
        DirectAssessment().score_batch(HELLO)
    assert len(server.received) == 1


AZURE = "https://mine.openai.azure.com/openai/deployments/gpt"


@pytest.mark.parametrize(
    ("environment", "url", "headers"),
    [
        ({"OPENAI_API_KEY": "o"}, "https://api.openai.com/v1", {"authorization": "Bearer o"}),
        ({"OPENAI_API_KEY": "o"}, "https://api.openai.com.evil.org/v1", {}),
        ({"OPENAI_API_KEY": "o"}, "http://api.openai.com/v1", {}),
        ({"OPENAI_API_KEY": "o"}, "https://judge.example.org/v1", {}),
        (
            {"OPENAI_API_KEY": "o", "OPENAI_BASE_URL": "http://localhost:1/v1"},
            "http://localhost:1/v1",
            {"authorization": "Bearer o"},
        ),
        ({"OPENAI_API_KEY": "o", "OPENAI_BASE_URL": "http://localhost:1/v1"}, "https://api.openai.com/v1", {}),
        ({"OPENAI_API_KEY": "o", "OPENAI_BASE_URL": "no address"}, "https://api.openai.com/v1", {}),
        (
            {"OPENAI_API_KEY": "o", "BILLBOARDS_JUDGE_KEY": "b", "BILLBOARDS_JUDGE_URL": "https://api.openai.com/v1"},
            "https://api.openai.com/v1",
            {"authorization": "Bearer b"},
        ),
        (
            {"AZURE_OPENAI_API_KEY": "a", "AZURE_OPENAI_ENDPOINT": "https://mine.openai.azure.com/"},
            AZURE,
            {"api-key": "a"},
        ),
        ({"AZURE_OPENAI_API_KEY": "a"}, AZURE, {}),
        (
            {"AZURE_OPENAI_API_KEY": "a", "AZURE_OPENAI_ENDPOINT": "https://mine.openai.azure.com"},
            "https://other.openai.azure.com/openai/v1",
            {},
        ),
    ],
)
def test_a_key_goes_to_the_site_that_is_named_for_it_and_nowhere_else(
    environment: dict[str, str],
    url: str,
    headers: dict[str, str],
    judge_environment: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert credentials_for(url).headers == headers


def test_azure_gets_its_header_and_its_version(server: JudgeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", server.url.removesuffix("/v1"))
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "az-secret")
    monkeypatch.setenv("AZURE_OPENAI_API_VERSION", "2024-10-21")
    DirectAssessment(endpoint=f"{server.url}/openai/deployments/gpt").score_batch(HELLO)
    (received,) = server.received
    assert received.path == "/v1/openai/deployments/gpt/chat/completions?api-version=2024-10-21"
    assert received.headers["api-key"] == "az-secret"
    assert "authorization" not in received.headers
    monkeypatch.setenv("AZURE_OPENAI_API_VERSION", "1&key=x")
    with pytest.raises(InvalidInput, match=r"^AZURE_OPENAI_API_VERSION='1&key=x' must be a version"):
        credentials_for(server.url)
    monkeypatch.delenv("AZURE_OPENAI_API_VERSION")
    monkeypatch.setenv("OPENAI_API_VERSION", "2?")
    with pytest.raises(InvalidInput, match=r"^OPENAI_API_VERSION='2\?' must be a version"):
        credentials_for(server.url)


def test_a_version_goes_to_azure_only(judge_environment: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
    assert credentials_for("https://api.openai.com/v1") == Credentials()


def kept() -> Answers:
    return Answers(Path(os.environ["BILLBOARDS_JUDGE_CACHE"]))


def test_what_asking_will_take_is_told_before_it_is_asked(server: JudgeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BILLBOARDS_JUDGE_PRICES", "1000/2000")
    told: list[str] = []

    def tell(words: str) -> None:
        told.append(f"{len(server.received)} asked: {words}")

    with attended(Attendant(tell, lambda question: False)):
        DirectAssessment().score_batch(MANY)
        DirectAssessment().score_batch(MANY)
    assert len(told) == 1
    told_words = re.fullmatch(
        r"0 asked: judge-DA: 20 questions to ask, about ([\d,]+) tokens to read and 400 to write, about ([\d.]+)",
        told[0],
    )
    assert told_words is not None
    tokens = int(told_words[1].replace(",", ""))
    assert float(told_words[2]) == pytest.approx((tokens * 1000 + 400 * 2000) / 1e6)
    spoken = server.received[0].body["messages"]
    assert tokens == pytest.approx(20 * sum(estimated_tokens(message["content"]) + 4 for message in spoken), rel=0.02)


def test_a_cap_is_not_passed_without_leave(server: JudgeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BILLBOARDS_JUDGE_TOKENS", "1000")
    with pytest.raises(MetricFailed, match=r"nothing was asked. To allow it: `BILLBOARDS_JUDGE_TOKENS=\d+`") as refused:
        DirectAssessment().score_batch(MANY)
    assert server.received == []
    needed = str(refused.value).rpartition("=")[2].rstrip("`")
    monkeypatch.setenv("BILLBOARDS_JUDGE_TOKENS", needed)
    DirectAssessment().score_batch(MANY)
    assert len(server.received) == 20


def test_a_cap_in_money_needs_prices_and_holds(server: JudgeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BILLBOARDS_JUDGE_BUDGET", "0.5")
    with pytest.raises(InvalidInput, match=r"no prices are stated; state them, as in BILLBOARDS_JUDGE_PRICES=2.50/10"):
        DirectAssessment().score_batch(HELLO)
    monkeypatch.setenv("BILLBOARDS_JUDGE_PRICES", "1000/1000")
    DirectAssessment().score_batch(HELLO)
    # 107 tokens of the stand-in were .107; 20 more questions would be far too much.
    with pytest.raises(MetricFailed, match=r"passes BILLBOARDS_JUDGE_BUDGET=0.5 \(107 tokens so far in this process\)"):
        DirectAssessment().score_batch(MANY)
    assert len(server.received) == 1


def test_asking_ends_before_the_cap_where_the_estimate_was_too_low_and_keeps_what_came(
    server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BILLBOARDS_JUDGE_AT_ONCE", "2")
    monkeypatch.setenv("BILLBOARDS_JUDGE_TOKENS", "12000")
    usage = {"prompt_tokens": 300, "completion_tokens": 1700}
    server.answer = lambda received: completion('{"score": 50}', usage=usage)
    with pytest.raises(MetricFailed, match=r"the next question would pass BILLBOARDS_JUDGE_TOKENS=12000 \("):
        DirectAssessment().score_batch(MANY)
    assert 4 <= len(server.received) <= 6
    assert len(list(kept().lines())) == len(server.received)
    monkeypatch.delenv("BILLBOARDS_JUDGE_TOKENS")
    DirectAssessment().score_batch(MANY)
    assert len(server.received) == 20


def test_somebody_may_allow_it(server: JudgeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BILLBOARDS_JUDGE_TOKENS", "1000")
    asked: list[str] = []

    def allow(question: str) -> bool:
        asked.append(question)
        return True

    with attended(Attendant(asked.append, allow)):
        DirectAssessment().score_batch(MANY)
    assert len(server.received) == 20
    assert asked[1].endswith("passes BILLBOARDS_JUDGE_TOKENS=1000 (0 tokens so far in this process). Ask all the same?")


def test_the_command_line_refuses_with_the_command_that_allows_it(
    tmp_path: Path, server: JudgeServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bb.save(small_board(instances=6, generators=3), tmp_path / "small")
    command = ["score", str(tmp_path / "small"), "--metric", "judge-DA"]
    monkeypatch.setattr(sys, "argv", ["billboards", *command])
    monkeypatch.setenv("BILLBOARDS_JUDGE_TOKENS", "100")
    assert main(command) == 1
    noted = capsys.readouterr().err
    assert "judge-DA: 18 questions to ask, about " in noted
    assert re.search(
        rf"To allow it: `BILLBOARDS_JUDGE_TOKENS=\d+ billboards score {command[1]} --metric judge-DA`", noted
    )
    assert server.received == []
    empty_purse()


def test_somebody_who_said_yes_is_not_asked(
    tmp_path: Path, server: JudgeServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bb.save(small_board(instances=6, generators=3), tmp_path / "small")
    monkeypatch.setenv("BILLBOARDS_JUDGE_TOKENS", "100")
    assert main(["score", str(tmp_path / "small"), "--metric", "judge-DA", "--yes"]) == 0
    assert "judge-DA: 18 questions to ask, about " in capsys.readouterr().err
    assert len(server.received) == 18
    empty_purse()


@pytest.mark.parametrize(("reply", "asked"), [("n", 0), ("y", 18)])
def test_on_a_terminal_a_person_is_asked(reply: str, asked: int, tmp_path: Path, server: JudgeServer) -> None:
    bb.save(small_board(instances=6, generators=3), tmp_path / "small")
    here, there = pty.openpty()
    command = [sys.executable, "-m", "billboards", "score", str(tmp_path / "small"), "--metric", "judge-DA"]
    environment = {**os.environ, "BILLBOARDS_JUDGE_TOKENS": "100", "TERM": "xterm"}
    child = subprocess.Popen(command, stdin=there, stdout=there, stderr=there, env=environment)
    os.close(there)
    shown = b""
    while b"[y/N]" not in shown:
        shown += os.read(here, 4096)
    os.write(here, f"{reply}\n".encode())
    try:
        while more := os.read(here, 4096):
            shown += more
    except OSError:
        pass  # the other end is closed
    os.close(here)
    assert child.wait() == (0 if asked else 1)
    assert len(server.received) == asked
    assert b"Ask all the same? [y/N]" in b" ".join(shown.split())
