"""`billboards demo` does what a newcomer would type, one command after the other."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from pathlib import Path

import pytest

from billboards import demo
from billboards.cli import report
from billboards.cli.main import command_parser, main
from billboards.demo import build_board


@pytest.mark.long
def test_the_demo_scores_ranks_and_writes_its_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The report's studies take long and have tests of their own: here it is asked for without them."""
    run = report.run
    monkeypatch.setattr(report, "run", lambda asked: run(Namespace(**{**vars(asked), "no_studies": True})))
    monkeypatch.setattr(demo, "build_board", lambda: replace(build_board(), metrics=("ROUGE-1", "length")))
    folder = tmp_path / "demo-board"
    assert main(["demo", "-o", str(folder), "--no-site", "--no-open", "--jobs", "1"]) == 0
    printed = capsys.readouterr().out
    assert "demo-summeval: generators by ROUGE-1" in printed
    assert "demo-summeval: crowd against expert" in printed
    assert "Outputs that" not in printed
    assert "SummEval: summaries of news" in (folder / "report.html").read_text("utf-8")


def test_the_site_comes_last_and_is_opened_unless_one_says_no() -> None:
    from billboards.cli.demo import _commands

    asked = command_parser("demo").parse_args(["--port", "0", "--jobs", "2"])
    *before, site = _commands(asked)
    assert [command[0] for command in before] == ["score", "rank", "agreement", "report"]
    assert site == ["serve", "demo-site", "--board", "demo-board", "--port", "0", "--open"]
    asked.no_open = True
    assert "--open" not in _commands(asked)[-1]
