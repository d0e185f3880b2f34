"""A board scored by judges through the command line, undisturbed and disturbed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from judge_server import JudgeServer, completion, judge, trouble
from small_boards import small_board

import billboards as bb
from billboards.cli.main import main

JUDGES = ["--metric", "judge-DA", "--metric", "judge-Likert(aspects=fluency)", "--metric", "BLEU"]


@pytest.fixture
def board(tmp_path: Path) -> str:
    bb.save(small_board(instances=6, generators=3), tmp_path / "small")
    return str(tmp_path / "small")


def test_a_board_is_scored_and_ranked_by_judges_and_nothing_is_asked_twice(
    board: str, server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["score", board, *JUDGES]) == 0
    questions = [json.dumps(received.body) for received in server.received]
    assert len(set(questions)) == len(questions) > 20
    assert {tuple(received.texts) for received in server.received} == {
        ("input", "references", "output"),
        ("input", "output"),
    }
    assert main(["score", board, *JUDGES]) == 0
    assert len(server.received) == len(questions)
    assert main(["rank", board]) == 0
    ranked = capsys.readouterr().out
    assert "judge-DA" in ranked
    assert "judge-Likert" in ranked


def test_a_judge_that_fails_fails_its_own_column_and_goes_on_later(
    board: str, server: JudgeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.script.append(trouble(429, Retry_After="0"))
    server.answer = lambda received: completion("I will not judge this.")
    assert main(["score", board, *JUDGES]) == 1
    said = capsys.readouterr()
    assert "'I will not judge this.'" in said.out + said.err
    server.answer = judge
    assert main(["score", board, *JUDGES]) == 0
    assert "8 cells computed, 3 were there already" in capsys.readouterr().err
