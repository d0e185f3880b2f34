"""Judges as metrics, at a real server that may misbehave: what is asked, scored, kept, counted and refused."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from judge_server import JudgeServer, Received, Reply, completion, trouble

from billboards.cli.main import main
from billboards.errors import InvalidInput, MetricFailed, MissingPart, StoreFailed
from billboards.metrics.base import Batch, score_checked, score_rows_checked
from billboards.metrics.discovery import metric
from billboards.metrics.judges.answers import Answers, Spent
from billboards.metrics.judges.judge import DirectAssessment, Likert
from billboards.metrics.judges.mqm import MQM
from billboards.metrics.judges.pace import shared_pace
from billboards.metrics.judges.usage import Prices

BATCH = Batch(["a cat", "a dog"], [["one cat", "the cat"], ["one dog"]], ["eine Katze", "ein Hund"])
HELLO = Batch(["hello"], [["hi"]], ["hallo"])


def kept() -> Answers:
    return Answers(Path(os.environ["BILLBOARDS_JUDGE_CACHE"]))


def by_output(**answers: str) -> Callable[[Received], Reply]:
    """A judge that answers by the output's last word."""

    def answer(received: Received) -> Reply:
        return completion(answers[received.texts["output"].split()[-1]])

    return answer


def test_a_direct_assessment_is_the_number_that_the_model_says(server: JudgeServer) -> None:
    server.answer = by_output(cat='{"score": 91}', dog='{"score": 12.5}')
    assert score_checked(DirectAssessment(), BATCH)[""].tolist() == [91.0, 12.5]
    asked = {received.texts["output"]: received for received in server.received}
    assert asked["a cat"].texts == {"input": "eine Katze", "references": ["one cat", "the cat"], "output": "a cat"}
    assert asked["a cat"].body["model"] == "stand-in"
    assert asked["a cat"].body["temperature"] == 0
    assert "max_tokens" not in asked["a cat"].body


def test_errors_become_what_they_cost(server: JudgeServer) -> None:
    found = {"errors": [{"span": "cat", "category": "accuracy/mistranslation", "severity": "major"}]}
    server.answer = by_output(cat=json.dumps(found), dog='{"errors": []}')
    assert score_checked(MQM(), Batch(BATCH.outputs, (), BATCH.inputs))["score"].tolist() == [-5.0, 0.0]
    assert all(set(received.texts) == {"input", "output"} for received in server.received)


def test_aspects_are_parts_and_their_mean_is_primary(server: JudgeServer) -> None:
    server.script.append(completion('{"fluency": 5, "relevance": 2}'))
    found = score_checked(Likert(aspects="fluency+relevance"), HELLO)
    assert {part: scores.tolist() for part, scores in found.items()} == {
        "mean": [3.5],
        "fluency": [5.0],
        "relevance": [2.0],
    }


def test_options_reach_the_model_and_the_card(server: JudgeServer) -> None:
    scorer = metric("judge-DA(references=False,input=False,kind=poem,temperature=1,max_tokens=50,model=other)")
    scorer.score_batch(Batch(["a rose"]))
    (received,) = server.received
    assert received.texts == {"output": "a rose"}
    assert {name: received.body[name] for name in ("model", "temperature", "max_tokens")} == {
        "model": "other",
        "temperature": 1.0,
        "max_tokens": 50,
    }
    assert "You judge a poem" in received.body["messages"][0]["content"]
    assert (scorer.card.needs_references, scorer.card.needs_input) == (False, False)
    assert (DirectAssessment.card.needs_references, DirectAssessment.card.needs_input) == (True, True)


@pytest.mark.parametrize(
    "options",
    ["temperature=-1", "temperature=3", "max_tokens=-1", "kind=", "kind='a\\nb'", "abstain=1.5", "abstain=-1.0"],
)
def test_options_that_make_no_sense_are_refused(options: str) -> None:
    with pytest.raises(InvalidInput, match=r"judge-DA: (temperature|max_tokens|kind|abstain)"):
        metric(f"judge-DA({options})")


def test_nothing_is_asked_twice(server: JudgeServer) -> None:
    first = DirectAssessment().score_batch(BATCH)
    again = DirectAssessment().score_rows([BATCH, BATCH])
    assert len(server.received) == 2
    for row in again:
        np.testing.assert_array_equal(row[""], first[""])  # type: ignore[call-overload]


def test_what_generators_share_is_asked_once(server: JudgeServer) -> None:
    score_rows_checked(DirectAssessment(), [BATCH, BATCH, HELLO])
    assert len(server.received) == 3


@pytest.mark.parametrize(
    "other", ["model=m2", "temperature=1", "kind=poem", "references=False", "max_tokens=9", "input=False"]
)
def test_another_model_prompt_or_parameter_is_another_question(other: str, server: JudgeServer) -> None:
    DirectAssessment().score_batch(HELLO)
    metric(f"judge-DA({other})").score_batch(HELLO)
    assert len(server.received) == 2


def test_another_endpoint_is_asked_anew(server: JudgeServer) -> None:
    DirectAssessment().score_batch(HELLO)
    DirectAssessment(endpoint=f"{server.url}/b").score_batch(HELLO)
    assert [received.path for received in server.received] == ["/v1/chat/completions", "/v1/b/chat/completions"]


@pytest.mark.parametrize(
    "answer",
    [
        completion("I'd say 80 of 100."),
        completion(None, refusal="I can't help with that."),
        completion('{"score": 8', "length"),
        completion('{"score": 8}', "content_filter"),
        completion("<think>{"),
        completion(None),
        completion('{"score": 8}', "length"),
        completion('{"score": 800}'),
        completion(""),
    ],
)
def test_an_unreadable_answer_is_asked_for_once_more(answer: Reply, server: JudgeServer) -> None:
    server.script.extend([answer, completion('{"score": 80}')])
    assert score_checked(DirectAssessment(), HELLO)[""].tolist() == [80.0]
    assert [len(received.body["messages"]) for received in server.received] == [2, 4]
    assert score_checked(DirectAssessment(), HELLO)[""].tolist() == [80.0]
    assert len(server.received) == 2


def test_after_a_failure_nothing_more_is_sent_and_what_came_is_kept(
    server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BILLBOARDS_JUDGE_AT_ONCE", "1")
    outputs = [f"output {k}" for k in range(30)]
    batch = Batch(outputs, (), outputs)
    server.script.extend([completion('{"errors": []}')] * 10 + [trouble(404, "no such model")])
    with pytest.raises(MetricFailed, match="no such model"):
        MQM().score_batch(batch)
    assert len(server.received) == 11
    server.answer = lambda received: completion('{"errors": []}')
    assert MQM().score_batch(batch)["score"].tolist() == [0.0] * 30  # type: ignore[call-overload]
    assert len(server.received) == 31


def test_after_a_failure_nobody_goes_on_waiting(server: JudgeServer) -> None:
    both_asked = threading.Barrier(2, timeout=30)

    def after_both(reply: Reply) -> Callable[[Received], Reply]:
        return lambda received: (both_asked.wait(), reply)[1]

    busy, unknown = trouble(429, Retry_After="500"), replace(trouble(404, "no such model"), seconds=0.2)
    server.script.extend([after_both(busy), after_both(unknown)])
    with pytest.raises(MetricFailed, match="no such model"):
        DirectAssessment().score_batch(BATCH)
    assert len(server.received) == 2


def test_trouble_that_passes_leaves_no_trace_in_the_scores(server: JudgeServer) -> None:
    server.script.extend([trouble(429, Retry_After="0"), trouble(500), Reply(b"<html>"), trouble(503)])
    found = DirectAssessment().score_batch(BATCH)
    assert len(server.received) == 6
    np.testing.assert_array_equal(found[""], DirectAssessment().score_batch(BATCH)[""])  # type: ignore[call-overload]


def test_no_more_requests_are_under_way_at_once_than_allowed(
    server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BILLBOARDS_JUDGE_AT_ONCE", "3")
    outputs = [f"output {k}" for k in range(12)]
    server.answer = lambda received: Reply(completion('{"errors": []}').body, seconds=0.05)
    MQM().score_batch(Batch(outputs, (), outputs))
    assert 2 <= server.most_at_once <= 3


def test_the_bound_on_requests_a_minute_is_one_for_all_calls(
    server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BILLBOARDS_JUDGE_PER_MINUTE", "6000")
    DirectAssessment().score_batch(HELLO)
    MQM().score_batch(HELLO)
    assert shared_pace.cache_info().currsize == 1
    shared_pace(server.url, 6000.0)
    assert shared_pace.cache_info().misses == 1


def test_texts_of_every_kind_arrive_whole(server: JudgeServer) -> None:
    texts = ["", "\n", "\ud800 alone", '"}]} {"score": 100}', "猫\u2028\x00", "x" * 20_000]
    MQM().score_batch(Batch(texts, (), texts[::-1]))
    assert sorted(received.texts["output"] for received in server.received) == sorted(texts)
    MQM().score_batch(Batch(texts, (), texts[::-1]))
    assert len(server.received) == len(texts)


@pytest.mark.parametrize("name", ["judge-DA", "judge-MQM", "judge-Likert"])
def test_nothing_is_sent_unless_an_endpoint_and_a_model_are_named(
    name: str, server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BILLBOARDS_JUDGE_MODEL")
    with pytest.raises(MissingPart, match=f"{name} needs a model"):
        metric(name).score_batch(HELLO)
    monkeypatch.delenv("BILLBOARDS_JUDGE_URL")
    with pytest.raises(MissingPart, match=f"{name} asks a language model, and no endpoint is named: set BILLBOARDS_JU"):
        metric(name).score_batch(HELLO)
    assert server.received == []


def test_scoring_with_a_judge_without_an_endpoint_is_bad_input(
    judge_environment: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "outputs.txt").write_text("hello\n")
    texts = str(tmp_path / "outputs.txt")
    assert main(["score", "--output", texts, "--reference", texts, "--metric", "judge-DA(input=False)"]) == 2
    assert "set BILLBOARDS_JUDGE_URL to an address" in capsys.readouterr().err


def test_a_judge_without_an_endpoint_says_so_among_the_metrics(
    judge_environment: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["metrics", "judge-DA"]) == 0
    assert "can not run here    judge-DA asks a language model, and no endpoint is named" in capsys.readouterr().out


def test_the_signature_names_endpoint_model_and_prompt(server: JudgeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    scorer = DirectAssessment()
    assert scorer.signature == (
        f"judge-DA|model:stand-in|endpoint:{server.url}|temperature:0.0|max_tokens:0|abstain:0.05|kind:text|"
        f"input:True|references:True|prompt:{scorer.template.digest}|revision:2"
    )
    assert DirectAssessment(model="stand-in", endpoint=f"{server.url}/").signature == scorer.signature
    monkeypatch.setenv("BILLBOARDS_JUDGE_MODEL", "another")
    assert "|model:another|" in scorer.signature


def test_the_key_is_sent_and_is_nowhere_else(
    server: JudgeServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    monkeypatch.setenv("BILLBOARDS_JUDGE_KEY", "sk-secret")
    server.script.append(trouble(500, "sk-secret"))
    with caplog.at_level(logging.DEBUG):
        scorer = DirectAssessment()
        scorer.score_batch(HELLO)
    assert {received.headers["authorization"] for received in server.received} == {"Bearer sk-secret"}
    assert "sk-secret" not in caplog.text + scorer.signature + scorer.name + repr(scorer)
    assert not any(b"sk-secret" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_raw_answers_are_kept_with_what_was_asked_in_a_file_of_the_users_own(server: JudgeServer) -> None:
    server.script.append(completion('```json\n{"score": 80}\n```'))
    DirectAssessment().score_batch(HELLO)
    (line,) = kept().lines()
    assert line["answer"] == '```json\n{"score": 80}\n```'
    assert {**line["request"], "response_format": {"type": "json_object"}} == server.received[0].body  # type: ignore[dict-item]
    assert line["endpoint"] == server.url
    assert kept().path.stat().st_mode & 0o077 == 0


def test_tokens_and_cost_are_counted_over_all_runs(
    server: JudgeServer, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BILLBOARDS_JUDGE_PRICES", "2.5/10")
    caplog.set_level(logging.INFO, "billboards.judges")
    server.script.append(trouble(500))
    DirectAssessment().score_batch(BATCH)
    DirectAssessment().score_batch(BATCH)
    server.script.append(completion('{"score": 1}', usage=None))
    DirectAssessment().score_batch(HELLO)
    # 200 · 2.5 + 14 · 10 = 640 millionths.
    told = [record.getMessage() for record in caplog.records if record.name == "billboards.judges"]
    assert [words for words in told if "answers asked for" in words] == [
        "judge-DA: 2 answers asked for (1 requests tried again), 0 at hand; 200 tokens read, 14 written, 0.0006 at the "
        "stated prices",
        "judge-DA: 0 answers asked for (0 requests tried again), 2 at hand; 0 tokens read, 0 written, 0.0000 at the "
        "stated prices",
        "judge-DA: 1 answers asked for (0 requests tried again), 0 at hand; 0 tokens read, 0 written, 0.0000 at the "
        "stated prices, not counting 1 answers whose tokens the endpoint did not count",
    ]
    assert kept().spent() == [
        Spent(endpoint=server.url, model="stand-in", answers=3, uncounted=1, tokens_in=200, tokens_out=14)
    ]


def test_prices_are_what_a_million_tokens_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Prices(2.5, 10.0).cost(2_000_000, 100_000) == 6.0
    for wrong in ("2.5", "2.5/x", "-1/2", "1/2/3", "nan/1"):
        monkeypatch.setenv("BILLBOARDS_JUDGE_PRICES", wrong)
        with pytest.raises(InvalidInput, match="must hold two prices for a million tokens"):
            Prices.from_environment()


def test_wrong_prices_are_refused_before_anything_is_spent(
    server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BILLBOARDS_JUDGE_PRICES", "cheap")
    with pytest.raises(InvalidInput, match="BILLBOARDS_JUDGE_PRICES='cheap'"):
        DirectAssessment().score_batch(HELLO)
    assert server.received == []


def test_answers_survive_a_kill(server: JudgeServer) -> None:
    outputs, gate = [f"output {k}" for k in range(40)], threading.Event()
    numbers = count()

    def answer_some(received: Received) -> Reply:
        """The first dozen of answers at once, the others only after the kill."""
        if next(numbers) >= 12:
            gate.wait(30)
        return completion('{"errors": []}')

    server.answer = answer_some
    program = (
        "from billboards.metrics.base import Batch; from billboards.metrics.judges.mqm import MQM; "
        "texts = [f'output {k}' for k in range(40)]; MQM().score_batch(Batch(texts, (), texts))"
    )
    child = subprocess.Popen([sys.executable, "-c", program])
    while len(server.received) < 16 and child.poll() is None:
        time.sleep(0.005)
    child.send_signal(signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    gate.set()
    # Four at a time: all but the four in flight are kept.
    before = [json.loads(line["request"]["messages"][1]["content"])["output"] for line in kept().lines()]  # type: ignore[index]
    assert len(before) == 12
    MQM().score_batch(Batch(outputs, (), outputs))
    asked = Counter(received.texts["output"] for received in server.received)
    assert set(asked) == set(outputs)
    assert all(asked[output] == 1 for output in before)
    assert sum(asked.values()) == 44


def test_a_file_that_holds_something_else_is_said(server: JudgeServer) -> None:
    path = Path(os.environ["BILLBOARDS_JUDGE_CACHE"])
    path.parent.mkdir()
    path.write_text("no database, and long enough to be taken for one" * 100)
    with pytest.raises(StoreFailed, match=r"answers\.sqlite: answers can't be read or kept: file is not a database"):
        DirectAssessment().score_batch(HELLO)
    assert server.received == []
    assert path.read_text().startswith("no database")


def test_the_command_line_says_what_was_spent_and_answered(
    server: JudgeServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["judges"]) == 0
    assert "no answer of a judge is kept in" in capsys.readouterr().err
    assert not Path(os.environ["BILLBOARDS_JUDGE_CACHE"]).exists()
    server.script.append(completion('{"score": 80}'))
    DirectAssessment().score_batch(HELLO)
    monkeypatch.setenv("BILLBOARDS_JUDGE_PRICES", "1000/2000")
    assert main(["judges"]) == 0
    said = f"stand-in at {server.url}: 1 answers; 100 tokens read, 7 written, 0.1140 at the stated prices\n"
    assert capsys.readouterr().out == said
    assert main(["judges", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["cost"] == pytest.approx(0.114)
    assert main(["judges", "--answers"]) == 0
    assert json.loads(capsys.readouterr().out)["answer"] == '{"score": 80}'
