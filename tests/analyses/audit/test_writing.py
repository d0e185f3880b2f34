"""Outputs by a language model that is told to please the metric, from a server here that stands in for one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest
from judge_purse import empty_purse
from judge_server import JudgeServer, Received, Reply, completion
from small_audits import FILLER, INSTANCES, Cheating, audit_board

from billboards.analyses.audit.attacking import attack_metric
from billboards.analyses.audit.bench import Bench
from billboards.analyses.audit.choosing import Search, optimisers_for
from billboards.analyses.audit.subject import program
from billboards.analyses.audit.writing import Writing
from billboards.board.cells import MemoryCells
from billboards.errors import InvalidInput, MissingPart
from billboards.metrics.discovery import metric
from billboards.metrics.judges import endpoint
from billboards.metrics.judges.pace import shared_pace


@pytest.fixture
def writer(judge_environment: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    """A model that has seen through the metric: each attempt has one word of the house more."""
    monkeypatch.setattr(endpoint, "FIRST_WAIT", 0.001)
    shared_pace.cache_clear()
    endpoint.shared_manners.cache_clear()
    empty_purse()
    with JudgeServer() as server:
        monkeypatch.setenv("BILLBOARDS_JUDGE_URL", server.url)
        monkeypatch.setenv("BILLBOARDS_JUDGE_MODEL", "stand-in")
        server.answer = write
        yield server


def write(received: Received) -> Reply:
    attempt = int(received.texts["attempt"])
    return completion(json.dumps({"output": " ".join([FILLER[0]] * 10 * attempt)}))


def test_the_best_of_what_the_model_writes_is_judged(writer: JudgeServer) -> None:
    bench = Bench(board=audit_board(), store=MemoryCells())
    found = Writing(3).optimise(bench, Cheating())
    assert found.texts == (" ".join([FILLER[0]] * 30),) * INSTANCES
    assert len(writer.received) == 3 * INSTANCES
    assert found.pairs == 3 * INSTANCES
    assert found.how == "stand-in, told to please the metric, the best of 3 outputs"
    assert {len((text or "").split()) for text in found.random_texts} == {10, 20, 30}
    shown = writer.received[0].texts
    assert shown["metric"].startswith("cheating")
    asked_about = Counter(received.texts["input"] for received in writer.received)
    assert asked_about == {instance.input: 3 for instance in bench.board.instances}, "in any order: many at once"
    references = [ref.text for instance in bench.board.instances for ref in instance.references]
    asked = json.dumps([received.body for received in writer.received])
    assert not any(json.dumps(reference)[1:-1] in asked for reference in references), "no writer sees a reference"
    Writing(3).optimise(bench, Cheating())
    assert len(writer.received) == 3 * INSTANCES, "answers are kept"


def test_what_is_written_beats_every_machine_and_people_can_be_asked(writer: JudgeServer) -> None:
    board = replace(audit_board(), input_language="de")
    bench = Bench(board=board, store=MemoryCells())
    optimisers = optimisers_for(bench, program(Cheating()), Search(written=2))
    audit = attack_metric(bench, program(Cheating()), optimisers, [metric("chrF")], draws=50).audit
    assert [attack.method for attack in audit.attacks] == ["write", "rerank"]
    assert (audit.level, audit.own.rank, audit.optimised) == ("flagged", 1, "optimised.cheating.write")
    assert audit.judges[0].rank == 9


def test_an_answer_that_cannot_be_read_is_no_candidate(writer: JudgeServer) -> None:
    def sometimes(received: Received) -> Reply:
        return completion("I'd rather not") if received.texts["attempt"] == 2 else write(received)

    writer.answer = sometimes
    found = Writing(2).optimise(Bench(board=audit_board(), store=MemoryCells()), Cheating())
    assert found.texts == (" ".join([FILLER[0]] * 10),) * INSTANCES


def test_without_an_endpoint_nothing_is_asked(judge_environment: None) -> None:
    bench = Bench(board=audit_board(), store=MemoryCells())
    with pytest.raises(MissingPart, match="set BILLBOARDS_JUDGE_URL"):
        Writing(1).optimise(bench, Cheating())
    with pytest.raises(InvalidInput, match="chrF needs references"):
        Writing(1).optimise(bench, metric("chrF"))
