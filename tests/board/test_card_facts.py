"""Which facts a data card needs, how they are given, and that an import fails without them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from public_sets import make_efficientqa

import billboards as bb
from billboards.board import Board, DataCard, Dimension
from billboards.board.card_facts import keys_in_toml, missing_facts, read_facts, require_card, with_facts
from billboards.cli.main import main
from billboards.errors import InvalidInput, UnknownName

FACTS = {
    "task": "Answer",
    "licence": "CC0-1.0",
    "citation": "None",
    "protocol": "One rating",
    "annotators": "One person",
    "output-language": "en",
    "definition.rating": "How good is it?",
}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "answers.csv"
    path.write_text("id,system,output,rating\n1,a,Yes.,4\n1,b,No.,2\n")
    return path


@pytest.fixture
def stated(tmp_path: Path) -> Board:
    return make_efficientqa(tmp_path / "in").load("efficientqa").board


def test_an_import_without_facts_fails_and_says_which(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", "table", str(table), "-o", str(tmp_path / "out")]) == 2
    shown = capsys.readouterr().err
    assert (
        "its data card lacks task, licence, citation, protocol, annotators, output-language, definition.rating" in shown
    )
    assert '--fact task="…"' in shown
    assert not (tmp_path / "out").exists()


def test_facts_are_given_one_by_one_or_in_a_file(table: Path, tmp_path: Path) -> None:
    given = [f"--fact={fact}={text}" for fact, text in FACTS.items() if fact not in ("licence", "definition.rating")]
    card = tmp_path / "card.toml"
    card.write_text('[card]\nlicence = "CC0-1.0"\ntask = "Overruled"\n[dimensions.rating]\ndefinition = "How good?"\n')
    out = tmp_path / "out"
    assert main(["import", "table", str(table), *given, "--card", str(card), "-o", str(out)]) == 0
    board = bb.open(out)
    assert (board.card.task, board.card.licence, board.output_language) == ("Answer", "CC0-1.0", "en")
    assert board.dimensions["rating"].definition == "How good?"
    assert missing_facts(board) == ()


def test_python_asks_for_the_same_facts(table: Path) -> None:
    assert bb.import_board("table", table, facts=FACTS).card.task == "Answer"
    with pytest.raises(InvalidInput, match="data card lacks task"):
        bb.import_board("table", table)


def test_a_board_without_judgments_needs_no_protocol(stated: Board) -> None:
    bare = replace(
        stated,
        card=DataCard(title="t", task="t", source="s", licence="l", citation="c"),
        judgments=type(stated.judgments)(),
        dimensions={},
    )
    assert missing_facts(bare) == ()
    assert missing_facts(replace(bare, output_language=None)) == ("output-language",)
    assert missing_facts(replace(bare, output_language=None, card=replace(bare.card, languages="several"))) == ()


def test_an_unknown_or_empty_fact_is_refused(stated: Board) -> None:
    with pytest.raises(UnknownName, match="no fact of a data card named 'licens'; did you mean licence"):
        with_facts(stated, {"licens": "x"})
    with pytest.raises(UnknownName, match=r"'definition\.levl'; did you mean definition\.level"):
        with_facts(stated, {"definition.levl": "x"})
    with pytest.raises(InvalidInput, match="the fact task is empty"):
        with_facts(stated, {"task": " "})


def test_what_is_no_fact_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="'task' is no fact; write --fact KEY=TEXT"):
        read_facts(["task"], None)
    with pytest.raises(InvalidInput, match="can't be read"):
        read_facts([], tmp_path / "absent.toml")
    (tmp_path / "a.toml").write_text("task = 3\n")
    with pytest.raises(InvalidInput, match="task must be text in quotes; found 3"):
        read_facts([], tmp_path / "a.toml")
    (tmp_path / "a.toml").write_text("task = \n")
    with pytest.raises(InvalidInput, match="not TOML"):
        read_facts([], tmp_path / "a.toml")


def test_absent_facts_are_named_by_their_keys(stated: Board) -> None:
    assert keys_in_toml(("task", "source", "output-language", "definition.x")) == (
        "task, source under [card]; output under [languages]; definition under [dimensions.x]"
    )
    assert require_card(stated) is stated
    undefined = replace(stated, dimensions={**stated.dimensions, "level": Dimension("level", range=(0.0, 2.0))})
    with pytest.raises(InvalidInput, match=r"lacks definition\.level"):
        require_card(undefined)
