"""A data card in every format says the same: what is stated, what was counted, what nobody stated."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from public_sets import make_okvqa_eval

import billboards as bb
from billboards.analyses.card import card_html, card_markdown, card_tables, measure_card
from billboards.board import Board, DataCard
from billboards.board.judgments import JudgmentColumns
from billboards.board.writing import write_board
from billboards.cli.main import main


@pytest.fixture
def answers(tmp_path: Path) -> Board:
    board = make_okvqa_eval(tmp_path / "in").load("okvqa-eval").board
    return replace(board, card=replace(board.card, title="Answers <*>", licence=None))


def test_markdown_says_what_is_stated_and_what_was_counted(answers: Board) -> None:
    said = card_markdown(measure_card(answers))
    assert said.startswith("# Answers \\<\\*\\>\n")
    assert "- **not stated**: licence" in said
    assert "- **references per instance**: 2 (ref1 and ref2)" in said
    assert "- **correctness** (0 to 2, lower is better): Is the answer factually correct?" in said
    assert "  - use of the scale: 0: 50%, 2: 50%" in said
    assert "  - Krippendorff's alpha (ordinal): -0.50" in said
    assert "| inputs | 2 | 0 | 3 (3 to 3) | 10 (10 to 10) |" in said


def test_html_is_one_page_that_escapes_what_others_wrote(answers: Board) -> None:
    page = card_html(measure_card(answers))
    assert "<h1>Answers &lt;*&gt;</h1>" in page
    assert "<script" not in page
    assert "<dt>not stated</dt><dd>licence</dd>" in page


def test_tables_hold_definitions_and_reasons(answers: Board) -> None:
    stated, counted, people, lengths = card_tables(measure_card(answers))
    assert [(column.key, column.kind) for column in stated.columns][:1] == [("fact", "name")]
    assert {"fact": "not stated", "text": "licence"} in stated.rows
    assert stated.rows[-1]["fact"] == "dimension obviousness"
    assert {"fact": "generators", "text": "none: outputs belong to no generator"} in counted.rows
    assert [row["name"] for row in people.rows] == ["correctness", "possibility", "obviousness"]
    assert [row["kind"] for row in lengths.rows] == ["inputs", "references", "outputs"]


def test_what_is_hidden_is_neither_counted_nor_shown(answers: Board) -> None:
    shown = replace(answers, judgments=JudgmentColumns(answers.judgments.dimensions).build())
    shown = replace(shown, instances=tuple(replace(one, references=()) for one in shown.instances))
    card = measure_card(shown, hidden=("references", "judgments"))
    said = card_markdown(card)
    assert "- **references per instance**: hidden" in said
    assert "- **judgments**: hidden" in said
    assert "alpha" not in said
    assert [column.key for column in card_tables(card)[2].columns] == ["name", "scale", "definition"]


def test_the_command_prints_each_format(answers: Board, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(write_board(answers, tmp_path / "board"))
    assert main(["card", folder]) == 0
    terminal = capsys.readouterr()
    assert "okvqa-eval: what people judged" in terminal.out
    assert "not stated: licence" in terminal.err
    assert main(["card", folder, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["kind"], document["missing"], document["instances"]) == ("data-card", ["licence"], 2)
    assert main(["card", folder, "--markdown"]) == 0
    assert "# Answers" in capsys.readouterr().out
    assert main(["card", folder, "--html"]) == 0
    assert capsys.readouterr().out.startswith("<!doctype html>")


def test_the_demo_board_and_a_new_board_have_whole_cards(tmp_path: Path) -> None:
    from billboards.demo import build_board

    assert measure_card(build_board()).missing == ()
    assert main(["new", str(tmp_path / "mine")]) == 0
    assert bb.card(bb.open(tmp_path / "mine")).value.missing == ()


def test_a_card_without_anything_is_still_a_card(answers: Board) -> None:
    bare = replace(answers, card=DataCard(), judgments=type(answers.judgments)(), dimensions={}, rows=())
    said = card_markdown(measure_card(bare))
    assert "- **not stated**: title, task, source, licence, citation" in said
