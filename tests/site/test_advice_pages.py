"""Which metric should I use? The page over all boards of a site, its address, and the same for programs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from page_sites import ODD, PageSite, page_board, page_site

from billboards.analyses.suite.evidence import SCORES_ONLY
from billboards.analyses.suite.open import open_suite
from billboards.board.writing import write_board
from billboards.site.boards.advice import MOST, latest, site_evidence
from billboards.site.boards.registry import Registered
from billboards.site.site import open_site


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> PageSite:
    """Two boards, one on translation into German; a suite of both that was run, and one that was not."""
    home = tmp_path_factory.mktemp("advice")
    site = page_site(home)
    card = replace(site.board.card, title="Quay", task="Translate notices.")
    other = replace(page_board(10), name="quay", output_language="de", card=card)
    write_board(other, home / "quay")
    open_site(home / "data", boards=[home / "quay"]).close()
    site.work()
    suites = site.site.data / "suites"
    suites.mkdir()
    boards = "".join(f'[[boards]]\nfolder = "../../{name}"\n' for name in ("harbour", "quay"))
    (suites / "both.toml").write_text(f'metrics = ["chrF", "ROUGE-1"]\n{boards}')
    (suites / "new.toml").write_text(f'metrics = ["chrF"]\n{boards}')
    open_suite(suites / "both.toml").run(draws=30)
    return site


def test_the_page_answers_for_all_boards_and_keeps_the_question_in_its_address(asked: PageSite) -> None:
    page = asked.get("/advice?task=Translate+notices&language=de&references=yes&cost=instant")
    assert page.status_code == 200
    assert "<h1>Which metric should I use?</h1>" in page.text
    assert 'value="translation"' in page.text
    assert '<option value="instant" selected>' in page.text
    assert "This rests on 2 boards, 1 of them on translation, 1 in de." in page.text
    assert "which metric for translation, in de, with references, cost at most instant" in page.text
    assert "chrF" in page.text
    assert ">length<" not in page.text
    assert "/api/v1/advice?task=Translate+notices&amp;language=de&amp;references=yes&amp;cost=instant" in page.text
    assert '<a href="/advice">Which metric?</a>' in asked.get("/").text


def test_programs_get_the_same_answer(asked: PageSite) -> None:
    answer = asked.client.get("/api/v1/advice", params={"task": "translation", "language": "de", "cost": "instant"})
    document = answer.json()
    assert document["kind"] == "advice"
    assert document["question"] == {
        "task": "translation", "language": "de", "references": True, "cost": "instant", "board": None, "within": 0.02,
    }  # fmt: skip
    assert {entry["metric"] for entry in document["metrics"]} == {"chrF", "ROUGE-1"}
    assert all(entry["boards"] == 2 and entry["speed"] > 0 for entry in document["metrics"])
    assert sum(entry["best"] for entry in document["metrics"]) == pytest.approx(1)
    assert asked.client.get("/api/v1/advice", params={"references": "no"}).json()["metrics"] == []
    assert asked.client.get("/api/v1/advice", params={"cost": "free"}).status_code == 422


def test_words_that_mean_nothing_are_refused_and_names_are_escaped(asked: PageSite) -> None:
    for query in ("cost=free", "references=perhaps", f"task={'x' * 101}"):
        assert asked.get(f"/advice?{query}").status_code == 422
    odd = asked.client.get("/advice", params={"task": ODD}, headers={"accept": "text/html"})
    assert odd.status_code == 200
    assert ODD not in odd.text
    assert "No board is about &lt;b&gt;" in odd.text


def test_a_suite_has_the_same_page_once_it_was_run(asked: PageSite) -> None:
    page = asked.get("/suites/both/advice?language=de")
    assert "both: which metric for any task, in de, with references" in page.text
    assert "/suites/both/advice.json?language=de" in page.text
    document = asked.get("/suites/both/advice.json?language=de").json()
    assert (document["kind"], document["source"], document["same_language"]) == ("advice", "both", 1)
    assert '<a href="/suites/both/advice">' in asked.get("/suites/both").text
    assert asked.get("/suites/new/advice").status_code == 422
    assert "keeps no agreements yet" in asked.get("/suites/new/advice").text


def test_a_site_without_rankings_says_what_is_missing(tmp_path: Path) -> None:
    site = page_site(tmp_path)
    page = site.get("/advice")
    assert page.status_code == 200
    assert "no board has metrics whose agreement with people was measured" in page.text
    assert site.client.get("/api/v1/advice").status_code == 422


def test_what_speaks_against_a_metric_is_told(asked: PageSite) -> None:
    look = next(iter(asked.client.app.state.pages.looks.values()))[1]  # type: ignore[attr-defined]
    ranking = look.ranking
    assert ranking is not None
    doubted = tuple(
        replace(m, scores_only=m.name == "chrF", flags=("is too good",), counts=m.name != "ROUGE-1", interval=None)
        for m in ranking.metrics
    )
    look.__dict__["ranking"] = replace(ranking, metrics=doubted)
    evidence = site_evidence("here", [look], lambda _, signatures: dict.fromkeys(signatures, 4.0))
    facts = {facts.name: facts for facts in evidence.metrics}
    assert facts["chrF"].warnings == ("is too good", SCORES_ONLY)
    assert [facts[name].usable for name in ("chrF", "ROUGE-1")] == [False, False]
    assert facts["chrF"].speed == len(look.board.instances) / 4
    assert evidence.boards[0].errors == tuple(
        1 / max(m.n - 3, 1) ** 0.5 for m in ranking.metrics if m.correlation is not None and not m.is_statistic
    )
    look.__dict__["ranking"] = ranking


def test_of_many_boards_those_that_changed_last_are_asked() -> None:
    boards = [
        Registered(name=f"b{k:03}", folder="", fingerprint="", settings={}, generation=1, changed=float(k))
        for k in range(MOST + 5)
    ]
    assert latest(boards) == [f"b{k:03}" for k in range(5, MOST + 5)]
