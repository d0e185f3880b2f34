"""Which facts a data card needs, how they are given, and that a board without them is a draft, marked everywhere."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from public_sets import make_efficientqa

import billboards as bb
from billboards.board import Board, DataCard, Dimension
from billboards.board.card_facts import draft_note, keys_in_toml, read_facts, refuse_drafts, with_facts
from billboards.board.card_template import fill_card
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


LACKS = "Draft: the data card lacks task, licence, citation, protocol, annotators, output-language, definition.rating"


@pytest.fixture
def draft(table: Path, tmp_path: Path) -> Path:
    bb.save(bb.import_board("table", table), tmp_path / "draft")
    return tmp_path / "draft"


def test_an_import_without_facts_makes_a_draft_and_says_so(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    draft = tmp_path / "out"
    assert main(["import", "table", str(table), "-o", str(draft)]) == 0
    assert f"{LACKS}; `billboards card {draft} --template` writes what to fill in" in capsys.readouterr().err
    assert bb.open(draft).is_draft


def test_every_way_to_look_at_a_draft_marks_it(draft: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", str(draft), "--metric", "length"]) == 0
    capsys.readouterr()
    for arguments in (["rank"], ["rank", "--latex"], ["card"]):
        assert main([arguments[0], str(draft), *arguments[1:]]) == 0
        assert LACKS in " ".join(capsys.readouterr().out.split()), arguments
    assert main(["rank", str(draft), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["draft"] == list(bb.open(draft).missing_facts)
    assert main(["card", str(draft), "--markdown"]) == 0
    assert "**Draft**: nobody has stated task, licence" in capsys.readouterr().out
    assert main(["card", str(draft), "--html"]) == 0
    assert '<p class="draft">Draft: nobody has stated task, licence' in capsys.readouterr().out
    assert main(["report", str(draft), "--no-studies"]) == 0
    assert f'<p class="draft">{LACKS}; ' in (draft / "report.html").read_text()


def test_a_board_with_every_fact_is_not_marked(stated: Board) -> None:
    assert draft_note(stated) is None
    assert "draft" not in bb.card(stated).document


def test_a_template_says_what_is_counted_and_fills_the_board(
    draft: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "facts.toml"
    assert main(["card", str(draft), "--template", "-o", str(file)]) == 0
    template = file.read_text()
    assert "# Counted: 1 instances.\n# Counted: 2 generators (2 machine)." in template
    assert '# What the value means. Counted: 2 judgments from 2 to 4.\ndefinition = ""' in template
    assert main(["card", str(draft), "--template", "-o", str(file)]) == 2
    settings = (draft / "board.toml").read_text()
    (draft / "board.toml").write_text("# mine\n" + settings)
    for fact, text in FACTS.items():
        key = {"output-language": "output", "definition.rating": "definition"}.get(fact, fact)
        assert f'{key} = ""' in template
        template = template.replace(f'{key} = ""', f'{key} = "{text}"')
    file.write_text(template)
    assert main(["card", str(draft), "--fill", str(file)]) == 0
    assert "every fact is stated" in capsys.readouterr().err
    board = bb.open(draft)
    assert board.missing_facts == ()
    assert (board.card.task, board.output_language) == ("Answer", "en")
    assert board.dimensions["rating"].definition == "How good is it?"
    assert (draft / "board.toml").read_text().startswith("# mine\n")


def test_a_template_left_empty_fills_nothing(draft: Path, tmp_path: Path) -> None:
    before = (draft / "board.toml").read_bytes()
    assert main(["card", str(draft), "--template", "-o", str(tmp_path / "facts.toml")]) == 0
    assert main(["card", str(draft), "--fill", str(tmp_path / "facts.toml")]) == 0
    assert bb.open(draft).is_draft
    assert {line for line in before.splitlines() if line} == {
        line for line in (draft / "board.toml").read_bytes().splitlines() if line
    }


@pytest.mark.parametrize(
    "settings",
    [
        'name = "x"\r\n[card]\r\ntask = "old"\r\n',
        'name = "x"\n\n[card] # mine\ntask = """\nold\n[card]\n"""\ntitle = "t"\n',
        'name = "x"\n["card"]\n"task" = "old" # why\n',
        'name = "x"',
    ],
)
def test_facts_take_their_place_however_the_settings_are_written(settings: str, draft: Path) -> None:
    shutil.rmtree(draft / "judgments")
    (draft / "board.toml").write_text(settings, newline="")
    fill_card(draft, {"task": 'new "one"\nof two lines', "output-language": "en"})
    board = bb.open(draft)
    assert (board.card.task, board.output_language, board.name) == ('new "one"\nof two lines', "en", "x")


def test_settings_that_cannot_be_changed_safely_are_left_alone(draft: Path) -> None:
    settings = 'name = "x"\ncard = {task = "old"}\n'
    shutil.rmtree(draft / "judgments")
    (draft / "board.toml").write_text(settings)
    with pytest.raises(InvalidInput, match="write the facts there by hand"):
        fill_card(draft, {"task": "new"})
    assert (draft / "board.toml").read_text() == settings


def test_a_site_for_others_refuses_drafts_with_what_they_lack(
    draft: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = str(tmp_path / "site")
    assert main(["serve", site, "--board", str(draft), "--token", "ada"]) == 0
    for host in ("127.0.0.1", "0.0.0.0"):
        assert main(["serve", site, "--host", host, "--port", "0"]) == 2
        refusal = capsys.readouterr().err
        assert "drafts are not published" in refusal
        assert "board answers lacks task, licence, citation, protocol, annotators, output-language" in refusal
        assert f"billboards card {draft} --template -o facts.toml" in refusal


def test_facts_are_given_one_by_one_or_in_a_file(table: Path, tmp_path: Path) -> None:
    given = [f"--fact={fact}={text}" for fact, text in FACTS.items() if fact not in ("licence", "definition.rating")]
    card = tmp_path / "card.toml"
    card.write_text('[card]\nlicence = "CC0-1.0"\ntask = "Overruled"\n[dimensions.rating]\ndefinition = "How good?"\n')
    out = tmp_path / "out"
    assert main(["import", "table", str(table), *given, "--card", str(card), "-o", str(out)]) == 0
    board = bb.open(out)
    assert (board.card.task, board.card.licence, board.output_language) == ("Answer", "CC0-1.0", "en")
    assert board.dimensions["rating"].definition == "How good?"
    assert board.missing_facts == ()


def test_python_imports_drafts_too(table: Path) -> None:
    assert bb.import_board("table", table, facts=FACTS).missing_facts == ()
    assert bb.import_board("table", table).missing_facts == tuple(FACTS)


def test_a_board_without_judgments_needs_no_protocol(stated: Board) -> None:
    bare = replace(
        stated,
        card=DataCard(title="t", task="t", source="s", licence="l", citation="c"),
        judgments=type(stated.judgments)(),
        dimensions={},
    )
    assert bare.missing_facts == ()
    assert replace(bare, output_language=None).missing_facts == ("output-language",)
    assert replace(bare, output_language=None, card=replace(bare.card, languages="several")).missing_facts == ()


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
    refuse_drafts([stated])
    undefined = replace(stated, dimensions={**stated.dimensions, "level": Dimension("level", range=(0.0, 2.0))})
    with pytest.raises(InvalidInput, match=r"lacks definition\.level"):
        refuse_drafts([stated, undefined])
