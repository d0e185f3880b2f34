"""What organisers do in the browser, asked without one: settings, About, logo, audit trail, and the view of others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from page_sites import PageSite, page_site

from billboards.site.database import trail
from billboards.site.organise.prose import contact_prose, prose
from billboards.site.organise.setting_fields import board_fields, shown_values
from billboards.site.settings import TrustSettings, read_board_settings

BOARD = "/boards/harbour"
ORGANISE = f"{BOARD}/organise"
PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 40
#: Every page and form for organisers: who is not an owner gets nothing of them.
PAGES = [
    "/organise",
    "/organise/new",
    "/organise/new/demo",
    "/organise/drafts/nothing",
    "/organise/audit",
    ORGANISE,
    f"{ORGANISE}/settings",
    f"{ORGANISE}/about",
    f"{ORGANISE}/audit",
]
FORMS = [
    "/organise/new/demo",
    "/organise/drafts/nothing/card",
    "/organise/drafts/nothing/publish",
    "/organise/drafts/nothing/discard",
    f"{ORGANISE}/act",
    f"{ORGANISE}/settings",
    f"{ORGANISE}/about",
    "/see-as",
]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageSite]:
    made = page_site(tmp_path_factory.mktemp("organised"))
    made.work()
    yield made
    made.site.close()


def settings_of(small: PageSite) -> Any:
    (board,) = small.site.boards()
    return read_board_settings(board.settings)


def typed(small: PageSite, **changed: str) -> dict[str, str]:
    """What the form of settings sends where some fields are changed."""
    document = settings_of(small).document()
    document["trust"] = document["trust"] or TrustSettings().model_dump(mode="json")
    return {**shown_values(tuple(board_fields().values()), document), **changed}


@pytest.mark.parametrize("asker", [None, "team", "stranger"])
def test_nobody_but_owners_has_the_organisers_pages(small: PageSite, asker: str | None) -> None:
    refused = 401 if asker is None else 403
    assert {page: small.get(page, asker).status_code for page in PAGES} == dict.fromkeys(PAGES, refused)
    sent = {form: small.post(form, asker, data={"act": "freeze", "audience": "team"}).status_code for form in FORMS}
    assert sent == dict.fromkeys(FORMS, refused)
    assert ">Organise<" not in small.get(BOARD, asker).text
    assert "New board" not in small.get("/", asker).text


def test_owners_find_the_tab_and_the_way_to_a_new_board(small: PageSite) -> None:
    assert f'<a href="{ORGANISE}">Organise</a>' in small.get(BOARD, "owner").text
    assert '<a class="button" href="/organise/new">New board</a>' in small.get("/", "owner").text
    assert small.get("/organise/drafts/nothing", "owner").status_code == 404
    assert small.get("/organise/new/nothing", "owner").status_code == 404


def test_the_form_changes_settings_and_the_trail_says_from_what_to_what(small: PageSite) -> None:
    sent = typed(small, per_day="4", k="2", **{"phases.0.name": "dev", "phases.0.closes": "2099-05-01T12:00"})
    answer = small.post(f"{ORGANISE}/settings", "owner", data=sent)
    assert (answer.status_code, answer.headers["location"]) == (303, f"{ORGANISE}/settings?saved=yes")
    settings = settings_of(small)
    assert (settings.per_day, settings.k, settings.phases[0].name, settings.trust) == (4, 2, "dev", None)
    with small.site.database.reading() as connection:
        (entry,) = trail.entries(connection, board="harbour", action="board.settings", limit=1)
    assert entry.actor == "owner"
    assert entry.detail["changes"]["per_day"] == [None, 4]
    assert entry.detail["changes"]["k"] == [3, 2]
    assert set(entry.detail["changes"]) == {"per_day", "k", "phases"}
    page = unescape(small.get(f"{ORGANISE}/audit?action=board.settings", "owner").text)
    assert re.search(r'<span class="faint">k</span> 3 → <strong>2</strong>', page)
    small.post(f"{ORGANISE}/settings", "owner", data=typed(small, per_day="", **{"phases.0.remove": "yes"}))
    assert (settings_of(small).per_day, settings_of(small).phases) == (None, ())


def test_all_mistakes_stand_at_their_fields_and_nothing_typed_is_lost(small: PageSite) -> None:
    before = settings_of(small)
    wrong = {
        "k": "lots",
        "draws": "-5",
        "by": "nonsense",
        "phases.1.opens": "2030-01-01T00:00",
        "metrics": "chrF\nNope",
    }
    answer = small.post(f"{ORGANISE}/settings", "owner", data=typed(small, seed="77", **wrong))
    assert answer.status_code == 422
    page = unescape(answer.text)
    assert "Nothing was saved: 4 things are wrong." in page
    for name, words in (
        ("k", "Metrics in the ensemble (k) must be a whole number; found 'lots'"),
        ("draws", "Draws must be 0 or more; found -5"),
        ("by", "Generators are ranked by must be a metric of the board"),
        ("phases.1.name", "Phases 1: Name must not be empty"),
    ):
        assert re.search(rf'id="{re.escape(name)}-mistake">{re.escape(words)}', page), name
    assert 'value="lots"' in page
    assert 'name="seed" value="77"' in page
    assert 'value="2030-01-01T00:00"' in page
    assert settings_of(small) == before
    alone = small.post(f"{ORGANISE}/settings", "owner", data=typed(small, metrics="chrF\nNope"))
    assert 'id="metrics-mistake"' in alone.text
    ladder = small.post(f"{ORGANISE}/settings", "owner", data=typed(small, ladder="maybe"))
    assert "Ladder must be true or false or a number; found 'maybe'" in unescape(ladder.text)


def test_rules_that_would_not_be_saved_are_refused(small: PageSite) -> None:
    before = settings_of(small)
    shown = {"trust.bars_from": "0.5", "trust.flagged": "out", "trust.bars.copies references": "yes"}
    answer = small.post(f"{ORGANISE}/settings", "owner", data=typed(small, **shown, **{"trust.barred": "BLEU = odd"}))
    assert answer.status_code == 422
    assert "tick “The rules below hold” so that they count" in answer.text
    assert small.post(f"{ORGANISE}/settings", "owner", data=typed(small, **shown)).status_code == 303
    assert settings_of(small) == before


def test_metrics_that_the_owner_chooses_run_instead_of_the_folders(small: PageSite) -> None:
    small.post(f"{ORGANISE}/settings", "owner", data=typed(small, metrics="chrF\nBLEU"))
    small.work()
    names = [metric["name"] for metric in small.get("/api/v1/boards/harbour/metrics").json()]
    assert sorted(names) == ["BLEU", "chrF"]
    small.post(f"{ORGANISE}/settings", "owner", data=typed(small, metrics=""))
    names = [metric["name"] for metric in small.get("/api/v1/boards/harbour/metrics").json()]
    assert sorted(names) == ["ROUGE-1", "chrF", "length"]


def test_one_button_freezes_and_unfreezes_reveals_and_hides(small: PageSite) -> None:
    states = []
    for act in ("freeze", "unfreeze", "reveal", "hide"):
        assert small.post(f"{ORGANISE}/act", "owner", data={"act": act}).status_code == 303
        states.append((settings_of(small).frozen is not None, settings_of(small).revealed))
    assert states == [(True, False), (False, False), (False, True), (False, False)]
    assert small.post(f"{ORGANISE}/act", "owner", data={"act": "explode"}).status_code == 404


def about(small: PageSite, files: Any = None, **sent: str) -> Any:
    words = {f"about.{key.replace('__', '.')}": value for key, value in sent.items()}
    return small.post(f"{ORGANISE}/about", "owner", data=words, files=files or {"logo": ("", b"")})


def test_readers_see_what_the_organisers_tell_and_markup_does_nothing(small: PageSite) -> None:
    answer = about(
        small,
        {"logo": ("logo.png", PNG)},
        title="Ferries & piers",
        description="# Welcome\n\nA **task** <script>alert(1)</script> [bad](javascript:alert(1)) ![pixel](https://x.org/p.png)",
        rules="- one\n- two",
        contact="<ferries@example.org>",
        timeline__0__at="2027-01-02T00:00",
        timeline__0__words="Workshop",
        accent="#0f766e",
    )
    assert answer.status_code == 303
    page = small.get(f"{BOARD}/about")
    text = page.text
    assert "<h3>Welcome</h3>" in text
    assert "<strong>task</strong>" in text
    assert "<script>alert" not in text
    assert 'href="javascript' not in text
    assert '<img src="https://x.org' not in text
    assert "<li>one</li>" in text
    assert 'href="mailto:ferries@example.org"' in text
    assert "2027-01-02 00:00 UTC</time>: Workshop" in text
    assert "Ferries &amp; piers" in small.get(BOARD).text
    assert "<h3>Welcome</h3>" in small.get(BOARD).text
    assert "More about this board" in small.get(BOARD).text
    style = re.findall(r"<style>(:root\{.*?)</style>", text)
    assert len(style) == 1
    assert "--accent:light-dark(#0f766e,#" in style[0]
    assert page.headers["content-security-policy"].count("sha256-") == 3
    assert small.get("/help").headers["content-security-policy"].count("sha256-") == 2
    (logo,) = set(re.findall(r'<img class="logo" src="([^"]+)"', text))
    assert (small.get(logo).content, small.get(logo).headers["content-type"]) == (PNG, "image/png")
    about(small)
    assert "Harbour &amp; pier" in small.get(BOARD).text
    small.post(f"{ORGANISE}/about", "owner", data={"no_logo": "yes"}, files={"logo": ("", b"")})
    assert small.get(f"{BOARD}/logo").status_code == 404


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>", "must be a PNG, JPEG or WebP picture"),
        (PNG + b"0" * 600_000, "at most 524,288 are taken"),
    ],
)
def test_a_logo_that_could_do_harm_is_refused(small: PageSite, content: bytes, words: str) -> None:
    answer = about(small, {"logo": ("logo.png", content)}, rules="Stay")
    assert answer.status_code == 422
    assert words in answer.text
    assert ">Stay</textarea>" in answer.text
    assert small.get(f"{BOARD}/logo").status_code == 404


def test_links_lead_to_the_web_and_mail_only() -> None:
    assert "href" not in prose("[a](data:text/html,x) [b](vbscript:x)").split("<p>")[1].replace('href="https', "")
    assert prose("[a](https://x.org)") == '<p><a href="https://x.org" rel="nofollow noopener">a</a></p>\n'
    assert prose("<b onclick=x>") == "<p>&lt;b onclick=x&gt;</p>\n"


@pytest.mark.long
def test_an_owner_sees_the_board_as_a_visitor_and_comes_back(tmp_path: Path) -> None:
    small = page_site(tmp_path)
    small.work()
    small.settle(phases=[{"name": "blind", "blind": True, "closes": "2100-01-01T00:00Z"}], hidden_references=True)
    small.submit("secretive")
    small.work()
    small.client.post("/login", data={"token": small.tokens["owner"]})
    page = small.get(ORGANISE).text
    (csrf,) = set(re.findall(r'name="csrf" value="([^"]+)"', page))
    assert "secretive" in small.get(BOARD).text
    refused = small.post("/see-as", data={"audience": "visitor", "back": BOARD})
    assert refused.status_code == 403
    for audience in ("visitor", "team", "annotator"):
        answer = small.post("/see-as", data={"audience": audience, "back": BOARD, "csrf": csrf})
        assert (answer.status_code, answer.headers["location"]) == (303, BOARD)
        seen = small.get(BOARD).text
        assert f"You see this site as <strong>{'an' if audience == 'annotator' else 'a'} {audience}</strong>" in seen
        assert "secretive" not in seen
        assert ">Organise<" not in seen
        assert (">Campaigns<" in seen) == (audience == "annotator")
        assert "zyxwvut" not in small.get(f"{BOARD}/instances/i%2F0").text
        assert small.get(f"{BOARD}/submissions").status_code == 200
        assert small.get(f"{ORGANISE}/settings").status_code == (401 if audience == "visitor" else 403)
        assert small.post(f"{ORGANISE}/act", data={"act": "reveal", "csrf": csrf}).status_code in (401, 403)
        changes = small.client.patch("/api/v1/boards/harbour/settings", json={"k": 1}, headers={"x-csrf-token": csrf})
        assert changes.status_code in (401, 403)
        assert "go back to your own view" in changes.json()["detail"]
    back = small.post("/see-as", data={"audience": "owner", "back": "//evil.org", "csrf": csrf})
    assert back.headers["location"] == "/"
    assert "secretive" in small.get(BOARD).text
    small.client.cookies.clear()
    small.client.cookies.set("billboards-as", "team")
    assert "You see this site as" not in small.get(BOARD).text
    small.site.close()


def test_the_trail_is_paged_and_filtered_by_action(small: PageSite) -> None:
    for number in range(60):
        small.settle(seed=number)
    first = small.get(f"{ORGANISE}/audit?action=board.settings", "owner").text
    assert first.count("<tr><td") == 50
    (older,) = re.findall(r'href="([^"]+)" rel="next"', first)
    second = small.get(unescape(older), "owner").text
    assert 10 <= second.count("<tr><td") < 50
    assert "ranking.kept" not in re.sub("<select.*?</select>", "", first)
    site = small.get("/organise/audit?action=account", "owner").text
    assert "account." in site
    assert small.get("/organise/audit?before=x", "owner").status_code == 422
    listed = small.get("/api/v1/audit?action=board.settings&limit=2", "owner").json()
    assert [entry["detail"]["changes"]["seed"] for entry in listed["items"]] == [[58, 59], [57, 58]]


def test_a_board_on_the_first_page_says_until_when_it_takes_submissions(small: PageSite) -> None:
    small.settle(phases=[{"name": "over", "closes": "2001-01-01"}, {"name": "test", "closes": "2099-05-01T12:00"}])
    page = small.get("/").text
    assert "<strong>test</strong>: submissions until" in page
    assert "over" not in re.findall(r"<strong>([^<]*)</strong>: submissions", page)
    small.settle(phases=[])
    assert ": submissions" not in small.get("/").text


def test_whom_to_ask_is_a_link_where_it_is_an_address() -> None:
    words = str(contact_prose("Ann, ann@example.org, or https://example.org/help."))
    assert 'href="mailto:ann@example.org"' in words
    assert 'href="https://example.org/help"' in words
    assert str(contact_prose("[us](mailto:us@example.org)")).count("<a ") == 1
    assert "<a" not in str(contact_prose("Ann at the harbour"))
