"""Errors that a judge marked come back span by span, with their places, and nothing is asked for them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from judge_server import JudgeServer, Received, Reply, completion
from small_boards import small_board

import billboards as bb
from billboards.cli.main import main
from billboards.errors import InvalidInput
from billboards.metrics.base import Batch
from billboards.metrics.judges.esa import ESA
from billboards.metrics.judges.mqm import MQM
from billboards.metrics.judges.own_prompt import OwnPrompt
from billboards.metrics.judges.spans import JudgedSpan, MarksErrors, placed

OUTPUTS = ["the cat sat on the cat", "a dog"]
BATCH = Batch(OUTPUTS, (), ["die Katze", "ein Hund"])
ERRORS = [
    {"span": "cat", "category": "accuracy", "severity": "major"},
    {"span": "cat", "category": "fluency", "severity": "minor"},
    {"span": "mat", "category": "omission", "severity": "critical"},
]


def marking(received: Received) -> Reply:
    """Errors about the first output, none about the other; a score where one is asked for."""
    said = json.dumps(received.body["messages"], ensure_ascii=False)
    if '\\"score\\":' in said:
        return completion('{"score": 40}')
    return completion(json.dumps({"errors": ERRORS if "sat on" in said else []}))


@pytest.mark.parametrize("judge", [MQM(), ESA(), OwnPrompt(prompt="automqm")])
def test_what_was_marked_is_kept_with_its_place(judge: MarksErrors, server: JudgeServer) -> None:
    server.answer = marking
    assert judge.error_spans(BATCH) == [None, None]
    assert server.received == []
    scored = judge.score_batch(BATCH)
    assert isinstance(scored, dict)
    assert {part: scored[part].tolist() for part in ("critical", "major", "minor")} == {
        "critical": [1.0, 0.0],
        "major": [1.0, 0.0],
        "minor": [1.0, 0.0],
    }
    asked = len(server.received)
    first, second = judge.error_spans(BATCH)
    assert first == (
        JudgedSpan(start=4, end=7, text="cat", severity="major", category="accuracy"),
        JudgedSpan(start=19, end=22, text="cat", severity="minor", category="fluency"),
        JudgedSpan(start=None, end=None, text="mat", severity="critical", category="omission"),
    )
    assert second == ()
    assert len(server.received) == asked


def test_a_span_marked_more_often_than_it_stands_there_has_its_first_place() -> None:
    errors = [{"span": "cat", "category": "", "severity": "minor"}] * 2
    assert [span.start for span in placed("a cat", errors)] == [2, 2]
    assert placed("a cat", [{"span": "", "category": "", "severity": "minor"}])[0].start is None


def test_a_prompt_without_errors_has_no_spans(server: JudgeServer) -> None:
    with pytest.raises(InvalidInput, match="marks no errors"):
        OwnPrompt().error_spans(BATCH)


def test_the_command_prints_them_for_a_board(
    tmp_path: Path, server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    bb.save(small_board(instances=4, generators=2), tmp_path / "small")
    folder = str(tmp_path / "small")
    server.answer = lambda received: completion(
        json.dumps({"errors": [{"span": received.texts["output"], "category": "style", "severity": "minor"}]})
    )
    assert main(["judges", "--spans", folder, "judge-MQM"]) == 0
    assert "has no say about 16 outputs" in capsys.readouterr().err
    assert main(["score", folder, "--metric", "judge-MQM"]) == 0
    asked = len(server.received)
    capsys.readouterr()
    assert main(["judges", "--spans", folder, "judge-MQM"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(lines) == 16
    assert all(line["errors"][0]["start"] == 0 and line["errors"][0]["severity"] == "minor" for line in lines)
    assert len(server.received) == asked
    assert main(["judges", "--spans", folder, "judge-DA"]) == 2
