"""What a site shows of a suite of its boards: pages, files, documents, in every view, to each reader, and over time."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from api_sites import SmallSite
from approving import approve
from read_sites import BEGIN, DAY, fix_seconds, fixed_identities
from small_sites import Clock
from suite_sites import outputs_of, send_generator, send_metric, suite_site
from told_pages import compact, told, unlike, without

from billboards.analyses.suite.open import open_suite
from billboards.site.accounts import access
from billboards.site.accounts.access import Viewer
from billboards.site.submissions.sending import change_settings

SUITE = "/suites/ports"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("suites")


@pytest.fixture(scope="module")
def small(home: Path) -> SmallSite:
    """The suite before it was run, and after a metric and a generator came in."""
    with fixed_identities():
        made = suite_site(home)
        made.site.clock = clock = Clock(BEGIN)
        made.work()
        clock.now += DAY
        with patch("billboards.site.submissions.suite_sending.new_id", lambda: "a" * 26):
            assert send_metric(made).status_code == 201
            made.work()
            clock.now += DAY
            sent = send_generator(
                made, {f"{board}.jsonl": outputs_of(home, board) for board in ("one", "two", "pairs")}
            )
            assert sent.status_code == 201, sent.text
            made.work()
    fix_seconds(made.site)
    return made


def asked(small: SmallSite, path: str, asker: str = "visitor", accept: str = "text/html") -> Any:
    headers = {"accept": accept}
    if asker != "visitor":
        headers["authorization"] = f"Bearer {small.tokens[asker]}"
    answer = small.client.get(path, headers=headers, follow_redirects=False)
    return compact(without(told(answer), ("signatures", "seconds", "version", "versions")))


def lines(small: SmallSite, path: str, asker: str = "visitor") -> list[str]:
    answer: dict[str, Any] = asked(small, path, asker)

    content = answer["content"]
    shown: list[str] = json.loads(content) if isinstance(content, str) else content
    return shown if answer["status"] == 200 else [str(answer["status"]), *shown]


VIEWS = (
    "task=notes",
    "task=nothing",
    "language=de",
    "dimension=style",
    "dimension=nothing",
    "block=one",
    "block=none&show=p",
    "block=odd",
    "preset=odd",
    "statistic=kendall-b",
    "statistic=spearman&grouping=by-item",
    "grouping=odd",
    "ties=half&task=songs",
    "preferences=mixed",
    "languages=columns",
    "show=intervals",
    "show=nothing",
    "ranking=1",
    "ranking=99",
    "ranking=x",
    "digits=1&columns=One&rows=chrF",
    "digits=99",
    "rows=nothing",
    "sent=aaaa",
)


def test_a_suite_is_shown_as_approved_in_every_view(small: SmallSite) -> None:
    usual = lines(small, SUITE)
    seen: dict[str, Any] = {"usual": usual, "all suites": lines(small, "/suites")}
    for view in VIEWS:
        shown = lines(small, f"{SUITE}?{view}")
        seen[view] = shown if shown[0].isdecimal() else unlike(usual, shown)
    for asker in ("team", "stranger", "annotator", "owner"):
        seen[asker] = unlike(usual, lines(small, SUITE, asker))
    for path in ("run", "results.json", "advice", "advice.json", "submit/metric", "submit/generator"):
        seen[path] = asked(small, f"{SUITE}/{path}")
    for path in ("submit/metric", "submit/generator"):
        seen[f"{path}, team"] = lines(small, f"{SUITE}/{path}", "team")
    approve("suites/site-pages", seen)


def answers(small: SmallSite, ends: Iterable[str], asker: str = "visitor") -> dict[str, Any]:
    return {f"{end} {asker}": asked(small, f"/api/v1/suites/ports{end}", asker, "application/json") for end in ends}


def test_a_suite_is_answered_to_programs_as_approved(small: SmallSite) -> None:
    ends = (
        "",
        "/ranking",
        "/ranking?task=letters&statistic=kendall-b",
        "/ranking?block=odd&statistic=nothing",
        f"/ranking?task={'x' * 201}",
        "/ranking?task=nothing",
        "/rankings",
        "/rankings?limit=1",
        "/rankings?limit=0",
        "/rankings/1",
        "/rankings/99",
        "/rankings/x",
        "/tables?block=one&task=notes",
        "/tables?dimension=nothing",
    )
    said = answers(small, ends) | answers(small, ("", "/rankings"), "owner") | answers(small, ("",), "team")
    said["all"] = asked(small, "/api/v1/suites", accept="application/json")
    approve("suites/site-answers", said)


def test_files_of_a_suite_are_as_approved(small: SmallSite) -> None:
    usual = "\n".join(lines(small, SUITE))
    files = sorted({part.split('"')[0] for part in usual.split(f'href="{SUITE}/files/')[1:]})
    said: dict[str, Any] = {file: asked(small, f"{SUITE}/files/{file}") for file in files if not file.endswith(".md")}
    said["nothing"] = asked(small, f"{SUITE}/files/nothing.csv")
    said["odd"] = asked(small, f"{SUITE}/files/1.txt")
    said["other suite"] = asked(small, "/suites/none/files/1.csv")
    said["no chart"] = asked(small, f"{SUITE}/charts/nothing.svg")
    said["one digit"] = asked(small, f"{SUITE}/files/{files[0]}?digits=1")
    approve("suites/site-files", said)


def test_a_suite_of_which_a_board_hides_and_that_was_run_is_as_approved(home: Path, small: SmallSite) -> None:
    path = small.site.data / "suites" / "ports.toml"
    open_suite(path).run(draws=20)
    seen: dict[str, Any] = {"run": lines(small, f"{SUITE}/run"), "advice": lines(small, f"{SUITE}/advice")}
    for query in ("task=notes&language=en&references=no", "cost=instant", "cost=odd"):
        shown = lines(small, f"{SUITE}/advice?{query}")
        seen[query] = shown if shown[0].isdecimal() else unlike(seen["advice"], shown)
    results = asked(small, f"{SUITE}/results.json")["content"]
    seen["results"] = sorted(results)
    seen["advice.json"] = asked(small, f"{SUITE}/advice.json?task=notes")["status"]
    usual = lines(small, SUITE)
    owner = owner_of(small)
    change_settings(small.site, owner, "two", {"hidden_judgments": True})
    small.work()
    seen["hidden"] = unlike(usual, lines(small, SUITE))
    seen["hidden, owner"] = unlike(usual, lines(small, SUITE, "owner"))
    seen["hidden, run"] = unlike(seen["run"], lines(small, f"{SUITE}/run"))
    approve("suites/site-run", seen)


def owner_of(small: SmallSite) -> Viewer:
    """Who owns the site."""

    found = access.viewer_of_token(small.site, small.tokens["owner"])
    assert found is not None
    return found
