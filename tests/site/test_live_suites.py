"""Suites of a site's own boards: the numbers of the command line, views, history, and one submission to all boards."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from api_sites import SmallSite
from small_suites import SUITE
from suite_sites import BOARDS, OVERLAP, outputs_of, send_generator, send_metric, suite_site

from billboards.analyses.suite.open import open_suite
from billboards.cli.main import main
from billboards.show.documents import document_of
from billboards.site.boards.live_suites import live_suites
from billboards.site.site import open_site
from billboards.site.submissions.sending import change_settings
from billboards.site.work.worklist import plan_board, standing


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("suites")


@pytest.fixture(scope="module")
def small(home: Path) -> SmallSite:
    """The suite ranked before and after a metric came in."""
    made = suite_site(home)
    made.work()
    sent = send_metric(made)
    assert sent.status_code == 201, sent.text
    made.work()
    return made


@pytest.fixture(scope="module")
def by_command(home: Path, small: SmallSite) -> Path:
    """The same suite in files, with the same metric, run once."""
    assert small.site is not None
    metric = home / "overlap.py"
    metric.write_text(OVERLAP)
    suite = home / "ports.toml"
    open_suite(suite).run(add=[metric], draws=50)
    return suite


def asked(small: SmallSite, path: str, asker: str = "visitor") -> Any:
    answer = small.ask(asker, "GET", path)
    assert answer.status_code == 200, answer.text
    return answer.json()


def page(small: SmallSite, path: str, asker: str = "visitor") -> str:
    headers = {"accept": "text/html"}
    if asker != "visitor":
        headers["authorization"] = f"Bearer {small.tokens[asker]}"
    return str(small.client.get(path, headers=headers).text)


def without_versions(document: dict[str, Any]) -> dict[str, Any]:
    """A table's document without what names a program: a file and a submission are signed otherwise."""
    cells = [{**cell, "signatures": [], "reason": None} for cell in document["cells"]]
    left: dict[str, Any] = {
        "boards": {},
        "missing": {},
        "substitutes": {},
        "title": None,
        "cells": [c for c in cells if c["measures"]],
    }
    return {**document, **left}


#: Views of the page, and the same for the command line.
VIEWS = {
    "": {},
    "?block=one": {"block": "one"},
    "?task=letters": {"task": "letters"},
    "?language=en": {"language": "en"},
    "?dimension=style": {"dimension": "style"},
    "?statistic=spearman&grouping=by-item": {"statistics": "spearman", "grouping": "by-item"},
    "?preset=beametrics&ties=half": {"preset": "beametrics", "ties": "half"},
    "?preferences=mixed": {"preferences": "mixed"},
}


@pytest.mark.long
@pytest.mark.parametrize("view", VIEWS)
def test_the_site_says_of_a_suite_what_the_command_line_says_on_the_same_boards(
    small: SmallSite, by_command: Path, home: Path, view: str
) -> None:
    asked_for: dict[str, Any] = dict(VIEWS[view])
    chosen = {key: asked_for.pop(key) for key in ("task", "language", "dimension") if key in asked_for}
    block = asked_for.pop("block", "all")
    suite = open_suite(by_command).judging(add=[home / "overlap.py"]).measured(**asked_for).only(**chosen)
    ranking = asked(small, f"/suites/ports/ranking{view}")
    assert json.dumps(ranking) == json.dumps(document_of(suite.rank(block=block).value))
    tables = asked(small, f"/suites/ports/tables{view}")
    expected = json.loads(json.dumps(document_of(suite.tables().value)))
    assert without_versions(tables) == without_versions(expected)
    assert {standing["metric"] for standing in ranking["standings"]} == {"ROUGE-1", "chrF", "length", "overlap"}


def test_the_page_shows_these_numbers_and_sends_them_as_files(small: SmallSite, by_command: Path) -> None:
    assert by_command.exists()
    ranking = asked(small, "/suites/ports/ranking")
    text = page(small, "/suites/ports")
    for place in ranking["standings"]:
        assert re.search(rf"<t[dh][^>]*>(<strong>)?{100 * place['value']:.1f}(</strong>)?</td>", text)
    sent = page(small, "/suites/ports/files/ranking-correctness-all.csv")
    rows = {row["name"]: row for row in csv.DictReader(io.StringIO(sent))}
    assert {s["metric"]: 100 * s["value"] for s in ranking["standings"]} == {
        name: pytest.approx(float(row["value"])) for name, row in rows.items()
    }
    latex = page(small, "/suites/ports/files/correctness.tex?digits=3&rows=overlap,chrF")
    assert latex.count(r"\\") > 2
    assert "overlap" in latex
    assert "ROUGE-1 &" not in latex
    markdown = page(small, "/suites/ports/files/correctness.md?columns=name,average")
    assert "| metric | average |" in markdown


def test_average_and_ranking_of_a_page_are_over_the_same_boards_in_one_order(small: SmallSite) -> None:
    ranking, tables = asked(small, "/suites/ports/ranking"), asked(small, "/suites/ports/tables")
    over = {tuple(a["columns"]) for a in tables["averages"] if a["statistic"] == "pearson"}
    assert over == {tuple(column["key"] for column in ranking["columns"])}
    averages = {
        a["metric"]: a["value"] for a in tables["averages"] if a["statistic"] == "pearson" and a["block"] != "one"
    }
    assert averages == {s["metric"]: pytest.approx(s["value"]) for s in ranking["standings"]}
    sent = page(small, "/suites/ports/files/correctness.csv")
    names = [row["name"] for row in csv.DictReader(io.StringIO(sent)) if row["block"] == "all"]
    assert names == [s["metric"] for s in ranking["standings"] if not s["reference_free"]]


def test_the_history_has_every_order_and_each_can_be_read_again(small: SmallSite) -> None:
    latest, first = (
        asked(small, "/suites/ports/rankings")["items"][0],
        asked(small, "/suites/ports/rankings")["items"][-1],
    )
    assert (latest["number"], first["number"]) == (2, 1)
    assert {place["metric"] for place in latest["places"]} - {place["metric"] for place in first["places"]} == {
        "overlap"
    }
    past = asked(small, "/suites/ports/rankings/1")
    assert {s["metric"] for s in past["standings"]} == {"ROUGE-1", "chrF", "length"}
    text = page(small, "/suites/ports?ranking=1")
    assert "This is what the suite said in ranking 1" in text
    assert '<td class="left">overlap' not in text
    (only,) = asked(small, "/suites/ports/rankings?limit=1")["items"]
    assert only == latest


def test_a_view_that_nothing_fits_says_what_there_is(small: SmallSite) -> None:
    refused = small.ask("visitor", "GET", "/suites/ports/ranking?task=poems")
    assert refused.status_code == 404
    assert "no task of suite ports named 'poems'" in refused.json()["detail"]
    together = small.ask("visitor", "GET", "/suites/ports/ranking?task=letters&language=en")
    assert (together.status_code, "of that task, language and dimension" in together.text) == (422, True)
    assert small.ask("visitor", "GET", "/suites/ports/ranking?statistic=luck").status_code == 422
    assert small.client.get("/suites/ports?digits=99", headers={"accept": "text/html"}).status_code == 422
    assert "no row of the table" in page(small, "/suites/ports?rows=nothing")


def test_a_metric_has_a_rank_once_it_is_scored_on_every_board(tmp_path: Path) -> None:
    small = suite_site(tmp_path)
    small.work()
    data = {"name": "alone", "manifest": json.dumps({"higher_is_better": True, "needs": [], "training_data": "none"})}
    program = "def score(outputs, references, inputs):\n    return [float(len(output)) for output in outputs]\n"
    files = {"file": ("alone.py", program)}
    sent = small.ask("owner", "POST", "/boards/one/metrics", data={**data, "trusted": "true"}, files=files)
    assert sent.status_code == 201
    small.work()
    (place,) = [s for s in asked(small, "/suites/ports/ranking")["standings"] if s["metric"] == "alone"]
    assert (place["rank"], place["reason"]) == (None, "no scores on Two")
    (entry,) = asked(small, "/suites/ports")["entries"]
    assert (entry["scored"], entry["boards"], entry["states"]) == (1, 3, {"one": "scored"})
    assert "1 of 3 boards" in page(small, "/suites/ports")
    assert "No rank for alone: no scores on Two" in page(small, "/suites/ports")


def test_a_metric_reaches_all_boards_or_none(tmp_path: Path) -> None:
    small = suite_site(tmp_path)
    viewer = _owner(small)
    change_settings(small.site, viewer, "two", {"accepts": ["generator"]})
    change_settings(small.site, viewer, "pairs", {"total": 0})
    refused = send_metric(small)
    assert refused.status_code == 409
    assert "board two: board two takes no metrics" in refused.json()["detail"]
    assert "board pairs: team owner has sent all of its 0 metrics" in refused.json()["detail"]
    assert asked(small, "/submissions", "owner")["items"] == []
    change_settings(small.site, viewer, "two", {"accepts": ["generator", "metric"]})
    change_settings(small.site, viewer, "pairs", {"total": None})
    taken = send_metric(small).json()["submissions"]
    assert [one["board"] for one in taken] == list(BOARDS)
    assert {one["settings"]["suite"] for one in taken} == {"ports"}
    assert [one["id"] for one in send_metric(small).json()["submissions"]] == [one["id"] for one in taken]


def test_the_last_of_a_quota_is_not_spent_where_another_board_refuses_while_it_is_written(tmp_path: Path) -> None:
    small = suite_site(tmp_path)
    change_settings(small.site, _owner(small), "pairs", {"phases": [{"name": "over", "closes": "2001-01-01T00:00Z"}]})
    assert send_metric(small).status_code == 409
    assert send_generator(small, {f"{b}.jsonl": outputs_of(tmp_path, b) for b in BOARDS}).status_code == 409
    assert asked(small, "/submissions", "owner")["items"] == []


def test_a_mistake_in_a_program_is_told_once_for_all_boards(tmp_path: Path) -> None:
    small = suite_site(tmp_path)
    refused = send_metric(small, manifest="{}")
    assert refused.status_code == 422
    assert {problem.partition(":")[0] for problem in refused.json()["problems"]} == {"every board"}


@pytest.mark.long
def test_an_anonymous_metric_has_one_pseudonym_in_the_suite(tmp_path: Path) -> None:
    small = suite_site(tmp_path)
    taken = send_metric(small, anonymous="true").json()["submissions"]
    small.work()
    pseudonym = f"anonymous-{taken[0]['settings']['sent'][:6]}"
    ranks = {s["metric"]: s["rank"] for s in asked(small, "/suites/ports/ranking")["standings"]}
    assert ranks[pseudonym] is not None
    assert "overlap" not in ranks
    text = page(small, "/suites/ports")
    assert "overlap" not in text
    assert pseudonym in text
    assert "overlap" in page(small, "/suites/ports", "owner")


def test_a_generator_comes_as_one_archive_with_a_file_for_every_board(tmp_path: Path) -> None:
    small = suite_site(tmp_path)
    files = {f"{board}.jsonl": outputs_of(tmp_path, board) for board in BOARDS}
    # By the label in the suite, in a folder, and beside what systems leave there.
    files["my/Two.jsonl"] = files.pop("two.jsonl")
    files["__MACOSX/._one.jsonl"] = "x"
    taken = send_generator(small, files)
    assert taken.status_code == 201, taken.text
    assert {one["board"] for one in taken.json()["submissions"]} == set(BOARDS)
    small.work()
    entries = asked(small, "/suites/ports")["entries"]
    assert [(entry["name"], entry["kind"], entry["scored"]) for entry in entries] == [("mine", "generator", 3)]
    assert "Generators on several boards" in page(small, "/suites/ports")


def test_all_that_is_wrong_with_an_archive_is_told_and_nothing_is_kept(tmp_path: Path) -> None:
    small = suite_site(tmp_path)
    one = outputs_of(tmp_path, "one")
    short = "\n".join(outputs_of(tmp_path, "two").splitlines()[:-1])
    refused = send_generator(small, {"one.jsonl": one, "One.txt": one, "four.jsonl": one})
    assert refused.status_code == 422
    told = " ".join(refused.json()["problems"])
    assert "One.txt: error: is a second file for board one" in told
    assert "four.jsonl: error: is named like no board of the suite" in told
    assert "has no outputs for board two" in told
    assert "has no outputs for board pairs" in told
    wrong = send_generator(small, {"one.jsonl": one, "two.jsonl": short, "pairs.jsonl": "{"})
    assert {problem.partition(":")[0] for problem in wrong.json()["problems"]} == {"two", "pairs"}
    broken = {"file": ("outputs.zip", b"PK no archive")}
    answer = small.ask("team", "POST", "/suites/ports/generators", data={"name": "mine"}, files=broken)
    assert (answer.status_code, "is no zip archive" in answer.json()["detail"]) == (422, True)
    assert asked(small, "/submissions", "owner")["items"] == []


def test_an_archive_larger_than_a_site_takes_is_refused_whatever_it_says_of_its_size(tmp_path: Path) -> None:
    small = suite_site(tmp_path)
    small.site.settings = small.site.settings.model_copy(update={"generator_bytes": 5000})
    files = {f"{board}.txt": "a" * 4000 for board in BOARDS}
    refused = send_generator(small, files)
    assert refused.status_code == 422
    assert "holds more than 5,000 bytes of outputs" in refused.json()["detail"]
    plain = {"file": ("outputs.zip", b"x" * 6000)}
    answer = small.ask("team", "POST", "/suites/ports/generators", data={"name": "mine"}, files=plain)
    assert (answer.status_code, "more than the 5,000 bytes that are taken" in answer.text) == (413, True)


def test_a_form_sends_to_all_boards_and_shows_how_far_it_is(tmp_path: Path) -> None:
    small = suite_site(tmp_path)
    headers = {"authorization": f"Bearer {small.tokens['owner']}", "accept": "text/html"}
    sent = {"name": "overlap", "pasted": OVERLAP, "training_data": "none", "needs_references": "yes", "trusted": "yes"}
    answer = small.client.post("/suites/ports/submit/metric", data=sent, headers=headers, follow_redirects=False)
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/suites/ports?sent=")
    followed = small.client.get(answer.headers["location"], headers=headers).text
    assert "overlap was taken by 3 of 3 boards" in followed
    refused = small.client.post("/suites/ports/submit/metric", data={**sent, "pasted": ""}, headers=headers)
    assert (refused.status_code, "nothing was sent" in refused.text) == (422, True)
    nobody = small.client.post("/suites/ports/submit/metric", data=sent, headers={"accept": "text/html"})
    assert nobody.status_code == 401


def test_a_board_whose_judgments_are_hidden_takes_no_part_and_what_was_said_of_it_is_withdrawn(tmp_path: Path) -> None:
    small = suite_site(tmp_path)
    small.work()
    assert asked(small, "/suites/ports/rankings/1")["columns"][0]["label"] == "One"
    change_settings(small.site, _owner(small), "one", {"hidden_judgments": True})
    assert small.ask("visitor", "GET", "/suites/ports/ranking").status_code == 422
    assert small.ask("visitor", "GET", "/suites/ports/rankings/1").status_code == 422
    assert asked(small, "/suites/ports/rankings")["items"] == []
    small.work()
    columns = [column["label"] for column in asked(small, "/suites/ports/ranking")["columns"]]
    assert columns == ["Two"]
    assert "One takes no part here: its judgments are hidden" in page(small, "/suites/ports")
    own = [column["label"] for column in asked(small, "/suites/ports/ranking", "owner")["columns"]]
    assert own == ["One", "Two"]
    assert asked(small, "/suites/ports")["members"][0]["left_out"] == "its judgments are hidden"


def test_what_a_suite_asks_for_never_delays_a_board(small: SmallSite) -> None:
    plan = plan_board(small.site, "one")
    assert {block.metric.name for block in plan.suites} == {"ROUGE-1", "chrF", "length", "overlap"}
    assert {block.key.column.references for block in plan.suites} == {("ref0", "ref1"), ("ref0",), ()}
    assert plan.blocks[-len(plan.suites) :] == plan.suites
    assert standing(small.site, "one").missing_of_suites == 0


def test_a_suite_whose_file_changes_is_ranked_anew(tmp_path: Path) -> None:
    small = suite_site(tmp_path)
    small.work()
    file = small.site.data / "suites" / "ports.toml"
    file.write_text(file.read_text().replace('"ROUGE-1", "chrF"', '"ROUGE-L", "chrF"'))
    small.work()
    assert {s["metric"] for s in asked(small, "/suites/ports/ranking")["standings"]} == {"ROUGE-L", "chrF", "length"}
    assert len(asked(small, "/suites/ports/rankings")["items"]) == 2


def test_a_suite_with_a_board_elsewhere_takes_nothing_and_shows_what_was_run(tmp_path: Path) -> None:
    small = suite_site(tmp_path, SUITE.replace('folder = "two"', 'folder = "elsewhere"'))
    assert live_suites(small.site) == {}
    refused = send_metric(small)
    assert (refused.status_code, "elsewhere is not on this site" in refused.json()["detail"]) == (409, True)
    assert asked(small, "/suites") == [{"name": "ports", "title": "Ports of call", "live": False, "boards": 3}]
    assert "was not run yet" in page(small, "/suites/ports")
    assert small.ask("visitor", "GET", "/suites/ports").status_code == 409


def test_a_file_beside_a_suite_is_not_run_by_a_site(tmp_path: Path) -> None:
    small = suite_site(tmp_path, SUITE.replace('"length"]', '"mine.py"]'))
    (small.site.data / "suites" / "mine.py").write_text("raise SystemExit\n")
    small.work()
    (reason,) = [s["reason"] for s in asked(small, "/suites/ports/ranking")["standings"] if s["metric"] == "mine"]
    assert reason == "no scores on One, Two"
    assert "sent in as a metric" in asked(small, "/suites/ports/tables")["missing"]["mine"]


def test_boards_that_moved_with_a_site_are_found_by_their_folders_names(tmp_path: Path) -> None:
    small = suite_site(tmp_path)
    file = small.site.data / "suites" / "ports.toml"
    file.write_text(file.read_text().replace("../../", "../../gone/"))
    assert set(live_suites(open_site(small.site.data))) == {"ports"}


def test_the_command_line_narrows_a_suite_too(by_command: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["suite", "rank", str(by_command), "--task", "letters", "--draws", "50", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [column["label"] for column in told["columns"]] == ["Two"]
    assert main(["suite", "tables", str(by_command), "--language", "fr", "--draws", "50"]) != 0
    assert "known: de, en" in capsys.readouterr().err


def _owner(small: SmallSite) -> Any:
    from billboards.site.accounts import access

    return access.viewer_of_token(small.site, small.tokens["owner"])
