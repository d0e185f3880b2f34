"""`billboards campaign`: from a template to results, and nothing paid for without a word."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_campaigns import by_reference, distinct_board

from billboards.board.coverage import Coverage
from billboards.board.writing import write_board
from billboards.cli.campaign_tables import effect_table
from billboards.cli.main import main
from billboards.show.terminal import tables_text
from billboards.site.campaigns.annotator_work import enter, next_item, submit_answer
from billboards.site.campaigns.lifecycle import SourceChange
from billboards.site.site import open_site


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A site with a small board, as its owner has it on the command line."""
    write_board(distinct_board(6, 2), tmp_path / "site" / "boards" / "ferry")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "site"


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["campaign", *words])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_templates_are_listed_shown_checked_and_previewed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, _ = run(capsys, "template", "list")
    assert code == 0
    assert "genie-summarisation" in out
    _, source, _ = run(capsys, "template", "show", "binary")
    mine = tmp_path / "mine.toml"
    mine.write_text(source.replace('kind = "scale"', 'kind = "scales"'))
    code, out, _ = run(capsys, "template", "check", str(mine))
    assert code == 1
    assert "dimension good: kind: must be one of best-worst, preference, scale, slider, spans, text; found" in out
    assert run(capsys, "template", "check", "binary")[0] == 0
    assert "Is the output good or bad?" in run(capsys, "template", "preview", "binary")[1]


@pytest.mark.long
def test_a_campaign_from_plan_to_results(capsys: pytest.CaptureFixture[str], data: Path) -> None:
    site = ("--data", str(data))
    code, out, err = run(
        capsys, "new", "ferry", "first", "--template", "genie-translation", "--instances", "3", "--pay", "0.5",
        "--seconds", "60", "--budget", "50", "--hours", "0-24", "--early", "0", "--annotators", "1", "--json", *site,
    )  # fmt: skip
    assert code == 0
    assert "nothing is asked before" in err
    quote = json.loads(out)["quote"]
    assert quote.pop("recall_random") < 0.2
    assert quote.pop("recall_half_random") < 0.1
    assert len(quote.pop("advice")) == 1
    assert quote == {
        "generators": 2, "instances": 3, "labels": 6, "test_answers": 1, "answers": 7, "cost": 3.5,
        "cost_per_generator": 1.75, "fees": 0.0, "currency": "USD", "worst_se": pytest.approx(0.2887, abs=1e-4),
        "hourly": 30.0, "annotators": 1, "answers_per_person": 7.0, "questions_per_person": 1.0, "warnings": [],
    }  # fmt: skip
    code, _, err = run(capsys, "open", "first", *site)
    assert code == 1
    assert "this may cost 3.50 USD; nothing was done" in err
    assert run(capsys, "open", "first", "--confirm", *site)[0] == 0
    _, out, _ = run(capsys, "invite", "first", "ann@example.org", "--json", *site)
    (link,) = json.loads(out)["links"]
    answer_all(data, link["link"].rpartition("/")[2])
    _, out, _ = run(capsys, "status", "first", "--json", *site)
    status = json.loads(out)
    assert (status["done"], status["wanted"], status["campaign"]["state"]) == (6, 6, "open")
    code, told, noted = run(capsys, "close", "first", *site)
    assert code == 1
    assert "nothing else ranks the board" in told
    assert "nothing was done: say --confirm to close first for good" in noted
    assert run(capsys, "close", "first", "--confirm", "--reason", "all done", *site)[0] == 0
    _, out, _ = run(capsys, "results", "first", "--csv", *site)
    assert "adequacy,g0,100.0" in out
    _, out, _ = run(capsys, "annotators", "first", "--json", *site)
    assert "ann@example.org" not in out, "pseudonyms only"
    _, out, _ = run(capsys, "list", *site)
    assert "closed" in out


def answer_all(data: Path, token: str) -> None:
    site = open_site(data)
    who = enter(site, token)
    for k in range(100):
        item = next_item(site, who).item
        if item is None:
            break
        given = {"adequacy": by_reference(item, None)}  # type: ignore[arg-type]
        submit_answer(site, who, item.assignment, f"a{k}", given, seconds=2.0)
    site.close()


def test_mistakes_are_one_line(capsys: pytest.CaptureFixture[str], data: Path) -> None:
    site = ("--data", str(data))
    for words, message in (
        (("new", "fery", "x", "--template", "binary"), "no board named 'fery'; did you mean ferry?"),
        (("quote", "none"), "no campaign named 'none'"),
        (("new", "ferry", "x", "--template", "binary", "--positive", "0.07"), "positive must be so many in 20"),
    ):
        code, _, err = run(capsys, *words, *site)
        assert code == 2
        assert err.startswith("billboards: ")
        assert message in err
        assert err.count("\n") == 1


def test_a_site_that_is_not_there_is_named_and_not_made(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = run(capsys, "status", "first")
    assert (code, "billboards-site: there is no such site; name its data folder" in err) == (2, True)
    assert main(["crowd", "settle", "first", "--reason", "paid", "--data", "elsewhere"]) == 2
    assert list(tmp_path.iterdir()) == []


def test_what_to_do_next_speaks_of_the_same_site(capsys: pytest.CaptureFixture[str], data: Path) -> None:
    _, _, err = run(capsys, "new", "ferry", "first", "--template", "binary", "--data", "site")
    assert "`billboards campaign open first --data site`" in err
    _, out, _ = run(capsys, "results", "first", "--data", "site")
    assert "No answer counts yet" in out


def test_the_effect_of_closing_says_what_ranks_before_and_after_and_what_the_campaign_covers() -> None:
    effect = SourceChange(
        campaign="spring",
        own=Coverage(source="spring", generators=3, outputs=30, judgments=90),
        before=Coverage(source=None, generators=0, outputs=0, judgments=0),
        after=Coverage(source="spring", generators=3, outputs=30, judgments=90),
        ranks=True,
        why="it is the only source",
    )
    table = effect_table(effect)
    assert table.title == "spring: what ranks the board"
    assert table.notes == ("it is the only source.",)
    shown = [[row[column.key] for column in table.columns] for row in table.rows]
    assert shown == [
        ["ranks now", "nothing", 0, 0, 0],
        ["ranks then", "spring", 3, 30, 90],
        ["this campaign", "spring", 3, 30, 90],
    ]
    assert "judgments of" in tables_text([table])
