"""The annotators page: its blocks run, its example is what the command says, its numbers are those of the data."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from billboards.analyses._annotators import assumed_questions, check_annotators
from billboards.cli.main import main
from billboards.stats.annotators import AnnotatorModel

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "annotators.md").read_text("utf-8")


def test_the_blocks_run_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    for block in re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        exec(compile(block, "annotators.md", "exec"), names)
    said = capsys.readouterr().out
    assert said.count("frozenset({'bob'})") == 2
    assert "ann kept: 19 of 20 positive questions right" in said


def test_the_first_example_says_what_the_page_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = re.search(r"^    (annotator,right,wrong,kind\n(?:    .+\n)+)", PAGE, re.MULTILINE)
    reason = re.search(r"says of `bob`: \*(.+?)\*", PAGE, re.DOTALL)
    assert table is not None
    assert reason is not None
    (tmp_path / "counts.csv").write_text(re.sub(r"^ +", "", table[1], flags=re.MULTILINE))
    assert main(["annotators", "fit", str(tmp_path / "counts.csv"), "--csv"]) == 0
    assert " ".join(reason[1].split()) in capsys.readouterr().out


def test_the_assumed_questions_are_those_the_page_names() -> None:
    questions = assumed_questions()
    assert f"{len(questions)} annotators" in PAGE
    assert f"({sum(questions):,} together)" in PAGE
    assert (min(questions), max(questions)) == (1, 100)


def test_what_the_page_says_of_the_esa_campaign(shared_data: Path) -> None:
    path = shared_data / "esa_campaign" / "240315rc5ESA.scores.csv"
    standings = [one.standings[0] for one in check_annotators(path, AnnotatorModel()).report.verdicts]
    right, wrong = sum(one.right for one in standings), sum(one.wrong for one in standings)
    likeliest = max(standings, key=lambda one: one.p_noisy)
    assert f"{len(standings)} annotators, {right + wrong} BAD items): {right} items" in " ".join(PAGE.split())
    said = f"{likeliest.right} of {likeliest.right + likeliest.wrong} right and P(noisy) = {likeliest.p_noisy:.3f}"
    assert said.replace("= 0.", "= .") in " ".join(PAGE.split())
    assert not any(one.noisy for one in standings)
