"""No odd answer kills a column: what can be read is read, the rest is missing, counted and shown."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from judge_server import JudgeServer, Received, Reply, completion, judge
from judge_vendors import (
    VENDORS,
    azure_filter,
    hostile_reply,
    odd_text,
    openai,
    vllm_too_long,
    without_text,
)
from small_boards import small_board

import billboards as bb
from billboards.cli.main import main
from billboards.errors import MetricFailed
from billboards.metrics.base import Batch, score_checked
from billboards.metrics.judges.answers import Answers, Spent, question_key
from billboards.metrics.judges.asking import allowance
from billboards.metrics.judges.judge import DirectAssessment, Likert
from billboards.metrics.judges.mqm import MQM
from billboards.metrics.judges.parsing import Unreadable, read_assessment
from billboards.metrics.judges.responses import Answer, read_response

HELLO = Batch(["hello"], [["hi"]], ["hallo"])


def outputs(count: int) -> Batch:
    texts = [f"output {k}" for k in range(count)]
    return Batch(texts, [[text] for text in texts], texts)


def scored(batch: Batch, abstain: float = 0.05) -> list[float]:
    return list(map(float, score_checked(DirectAssessment(abstain=abstain), batch)[""]))


def refusing(*refused: str) -> Callable[[Received], Reply]:
    """A judge who never answers about some outputs."""

    def answer(received: Received) -> Reply:
        return completion("I will not." if received.texts["output"] in refused else '{"score": 50}')

    return answer


def kept() -> Answers:
    return Answers(Path(os.environ["BILLBOARDS_JUDGE_CACHE"]))


@pytest.mark.parametrize("vendor", VENDORS)
def test_the_answers_of_every_vendor_are_read(vendor: str, server: JudgeServer) -> None:
    server.script.append(VENDORS[vendor]('{"score": 80}'))
    assert scored(HELLO) == [80.0]
    (spent,) = kept().spent()
    assert (spent.tokens_in, spent.tokens_out > 0, spent.uncounted) == (211, True, 0)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (without_text("content_filter"), "a content filter or a refusal ended it"),
        (without_text("content_filter", content='{"score": 80}'), "a content filter or a refusal ended it"),
        (without_text("stop", refusal="No."), "it is a refusal"),
        (without_text("tool_calls", tool_calls=[{"id": "x"}]), "it called a tool instead of answering"),
        (without_text("length", content='{"score": 80}'), "it was cut short at the number of tokens it may have"),
    ],
)
def test_an_answer_with_nothing_to_read_is_asked_for_once_more_with_the_reason(
    reply: Reply, reason: str, server: JudgeServer
) -> None:
    server.script.extend([reply, openai('{"score": 80}')])
    assert scored(HELLO) == [80.0]
    assert reason in server.received[1].body["messages"][3]["content"]


@pytest.mark.parametrize("reply", [azure_filter(), vllm_too_long()])
def test_a_question_that_the_endpoint_refuses_is_abstained_from_and_asked_once(
    reply: Reply, server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BILLBOARDS_JUDGE_AT_ONCE", "1")
    server.script.append(reply)
    server.answer = refusing()
    np.testing.assert_array_equal(scored(outputs(20)), [np.nan, *[50.0] * 19])
    np.testing.assert_array_equal(scored(outputs(20)), [np.nan, *[50.0] * 19])
    assert len(server.received) == 20


def test_a_body_that_never_is_a_completion_is_abstained_from(server: JudgeServer) -> None:
    server.answer = lambda received: (
        Reply(b'{"choices": []}') if received.texts["output"] == "output 3" else completion('{"score": 50}')
    )
    assert np.flatnonzero(np.isnan(scored(outputs(20)))).tolist() == [3]
    assert len(server.received) == 19 + 6


def test_an_abstention_is_a_missing_score_and_never_0(server: JudgeServer) -> None:
    server.answer = refusing("output 3")
    found = scored(outputs(20))
    assert np.flatnonzero(np.isnan(found)).tolist() == [3]
    assert set(found) - {found[3]} == {50.0}
    assert len(server.received) == 21
    assert [line["answer"] for line in kept().lines()].count("I will not.") == 2
    assert kept().spent() == [
        Spent(
            endpoint=server.url,
            model="stand-in",
            answers=21,
            uncounted=0,
            tokens_in=2100,
            tokens_out=147,
            abstained=1,
        )
    ]


def test_every_part_is_missing_where_a_judge_abstains(server: JudgeServer) -> None:
    server.answer = lambda received: (
        completion("?") if received.texts["output"] == "output 1" else completion('{"errors": []}')
    )
    batch = outputs(3)
    found = score_checked(MQM(), Batch(batch.outputs, (), batch.inputs))
    assert [part for part, scores in found.items() if not np.isnan(scores[1])] == []
    assert list(found) == ["score", "critical", "major", "minor"]


def test_what_was_abstained_from_is_not_asked_again(server: JudgeServer) -> None:
    server.answer = refusing("output 3")
    first = scored(outputs(20))
    np.testing.assert_array_equal(scored(outputs(20)), first)
    assert len(server.received) == 21


@pytest.mark.parametrize(
    ("share", "count", "allowed"),
    [
        (0.05, 1, 0),
        (0.05, 2, 1),
        (0.05, 39, 1),
        (0.05, 40, 2),
        (0.29, 100, 29),
        (0.0, 1000, 0),
        (1.0, 7, 7),
        (0.9, 2, 1),
        (0.05, 0, 0),
    ],
)
def test_a_stated_share_may_be_missing_one_in_any_case_and_never_all(share: float, count: int, allowed: int) -> None:
    assert allowance(share, count) == allowed


def test_more_abstentions_than_stated_fail_with_counts_reasons_and_raw_answers(
    server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BILLBOARDS_JUDGE_AT_ONCE", "1")
    server.answer = refusing("output 3", "output 7")
    with pytest.raises(MetricFailed) as failed:
        scored(outputs(20))
    assert str(failed.value).startswith(
        "stand-in abstained from 2 of 8 outputs so far, where at most 1 of 20 may have no score; about 'output 3': its "
        "answer can't be read (it holds no JSON object with score), saying 'I will not.'; about 'output 7': "
    )
    assert "abstain=0.2" in str(failed.value)
    # Nothing more is sent; what came is kept, and a larger share needs only the rest.
    assert len(server.received) == 10
    assert np.isnan(scored(outputs(20), abstain=0.1)).sum() == 2
    assert len(server.received) == 22


def test_after_a_failure_what_was_abstained_from_is_asked_once_more(server: JudgeServer) -> None:
    server.script.extend([completion("80"), completion("Eighty, I said!")])
    with pytest.raises(MetricFailed, match=r"1 of 1 outputs.*'hello'.*'Eighty, I said!'"):
        scored(HELLO)
    assert [line["answer"] for line in kept().lines()] == ["80", "Eighty, I said!"]
    assert kept().spent()[0].abstained == 1
    server.script.append(completion('{"score": 80}'))
    assert scored(HELLO) == [80.0]
    assert len(server.received) == 3
    assert kept().spent()[0].abstained == 0


@pytest.mark.long
def test_a_column_survives_a_thousand_hostile_answers(server: JudgeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every question is met by a hostile answer first; every 25th judge never gets better."""
    monkeypatch.setenv("BILLBOARDS_JUDGE_AT_ONCE", "8")
    asked: dict[str, int] = {}

    def answer(received: Received) -> Reply:
        name = received.texts["output"]
        number, times = int(name.split()[-1]), asked.get(name, 0)
        asked[name] = times + 1
        if times == 0 and number % 25:
            # Hostile in a way that can be overcome by asking once more.
            return completion("{" * (number % 50) + "I won't." + "<think>" * (number % 3))
        if number % 25 == 0:
            return hostile_reply(number)
        return list(VENDORS.values())[number % len(VENDORS)](odd_text(number % 101, number))

    server.answer = answer
    found = np.array(scored(outputs(1000)))
    lost = np.flatnonzero(np.isnan(found))
    assert lost.tolist() == list(range(0, 1000, 25))
    kept_places = np.setdiff1d(np.arange(1000), lost)
    np.testing.assert_array_equal(found[kept_places], kept_places % 101)
    assert kept().spent()[0].abstained == 40
    np.testing.assert_array_equal(scored(outputs(1000)), found)
    assert sum(asked.values()) == len(server.received)


def test_a_thousand_hostile_answers_say_nothing_that_could_be_taken_for_a_score() -> None:
    for seed in range(1000):
        answer = read_response(hostile_reply(seed).body.decode())
        if isinstance(answer, Answer) and not answer.unusable and not answer.is_cut:
            with pytest.raises(Unreadable):
                read_assessment(answer.text)


def test_odd_ways_to_say_a_score_are_all_read() -> None:
    for seed in range(1000):
        assert read_assessment(odd_text(seed % 101, seed)) == {"": seed % 101}, odd_text(seed % 101, seed)


def test_score_and_judges_say_how_many_were_abstained_from(
    tmp_path: Path, server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    bb.save(small_board(instances=6, generators=3), tmp_path / "small")
    board = bb.open(tmp_path / "small")
    never = board.rows[0].texts[0]
    server.answer = lambda received: completion("No.") if received.texts["output"] == never else judge(received)
    assert main(["score", str(tmp_path / "small"), "--metric", "judge-DA"]) == 0
    noted = capsys.readouterr().err
    assert "judge-DA: no score for 1 of 18 outputs, from which the metric abstained" in noted
    assert main(["judges"]) == 0
    assert "answers, 1 questions abstained from; " in capsys.readouterr().out
    assert main(["judges", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["abstained"] == 1
    assert main(["rank", str(tmp_path / "small")]) == 0
    assert "fewer instances than the others" in capsys.readouterr().out


def test_a_file_of_version_0_1_opens_and_its_answers_are_used(server: JudgeServer) -> None:
    path = Path(os.environ["BILLBOARDS_JUDGE_CACHE"])
    path.parent.mkdir()
    scorer = Likert(aspects="fluency")
    asked = scorer._question(scorer.template, next(Batch(["hello"], (), ["hallo"]).items()))
    request = {"model": "stand-in", "temperature": 0.0, "messages": asked.messages}
    with sqlite3.connect(path) as database:
        database.execute(
            "CREATE TABLE answers (number INTEGER PRIMARY KEY, question TEXT NOT NULL, endpoint TEXT NOT NULL, "
            "model TEXT NOT NULL, request TEXT NOT NULL, answer TEXT NOT NULL, is_cut INTEGER NOT NULL, "
            "tokens_in INTEGER, tokens_out INTEGER, answered_at TEXT NOT NULL)"
        )
        row = (question_key(server.url, request), server.url, "stand-in", json.dumps(request))
        for said in ('<think>?</think>{"fluency": "4", "why": "x"}', "no"):
            database.execute(
                "INSERT INTO answers (question, endpoint, model, request, answer, is_cut, tokens_in, tokens_out, "
                "answered_at) VALUES (?, ?, ?, ?, ?, 0, 5, 2, '2025-01-01T00:00:00+00:00')",
                (*row, json.dumps(said)),
            )
    database.close()
    assert score_checked(scorer, Batch(["hello"], (), ["hallo"]))["mean"].tolist() == [4.0]
    assert server.received == []
    assert len(list(kept().lines())) == 2
