"""The threat model of docs/security.md: a test for each line that no other test holds, and that none is missing."""

from __future__ import annotations

import csv
import inspect
import io
import logging
import re
from pathlib import Path
from typing import Any

import pytest
from api_sites import SmallSite, small_site
from fastapi.testclient import TestClient
from page_sites import PageSite, page_site

from billboards.campaigns.plan import CampaignPlan
from billboards.show.csv import FORMULAS, csv_text, plain
from billboards.site.admin.backup import back_up
from billboards.site.campaigns.annotators import invite
from billboards.site.campaigns.lifecycle import create_campaign, open_campaign
from billboards.site.web import asking, faults
from billboards.site.web.app import create_app

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "security.md").read_text("utf-8")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> PageSite:
    found = page_site(tmp_path_factory.mktemp("threats"))
    found.submit("mine")
    found.work()
    return found


@pytest.fixture(scope="module")
def link(pages: PageSite) -> str:
    """An annotator's link."""
    plan = CampaignPlan(instances=4, positive=0, negative=0)
    made = create_campaign(pages.site, pages.owner, "harbour", "first", "genie-translation", plan=plan)
    open_campaign(pages.site, pages.owner, made.id)
    return invite(pages.site, pages.owner, made.id, ["ann"])[0].path


def log_in(pages: PageSite, asker: str = "team", **cookies: str) -> Any:
    client = TestClient(create_app(pages.site), "http://localhost", follow_redirects=False, cookies=cookies)
    return client.post("/login", data={"token": pages.tokens[asker]})


def test_threat_a_page_has_no_script_of_its_own(pages: PageSite, link: str) -> None:
    paths = ("/", "/boards/harbour", "/boards/harbour/instances", "/boards/harbour/submit/metric", "/account", link)
    for path in paths:
        answered = pages.get(path, None if path == link else "owner")
        assert answered.status_code == 200, path
        assert re.findall(r"<script(?![^>]*\bsrc=)", answered.text) == []
        assert re.findall(r"<[^>]+\son\w+\s*=", answered.text) == []
        assert "'unsafe" not in answered.headers["content-security-policy"]
        assert "script-src 'self';" in answered.headers["content-security-policy"]


def test_threat_a_session_is_new_at_every_log_in_and_the_old_one_ends(pages: PageSite) -> None:
    chosen = log_in(pages, billboards="a-cookie-that-somebody-else-knows")
    first = chosen.cookies["billboards"]
    assert first != "a-cookie-that-somebody-else-knows"
    second = log_in(pages, billboards=first).cookies["billboards"]
    assert second != first
    client = TestClient(create_app(pages.site), "http://localhost", cookies={"billboards": first})
    assert "Log in" in client.get("/").text
    client = TestClient(create_app(pages.site), "http://localhost", cookies={"billboards": second})
    assert "/logout" in client.get("/").text


def test_threat_the_cookie_is_for_this_site_and_no_script(pages: PageSite) -> None:
    cookie = log_in(pages).headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert "secure" not in cookie
    client = TestClient(create_app(pages.site), "https://localhost", follow_redirects=False)
    answered = client.post("/login", data={"token": pages.tokens["team"]})
    assert "secure" in answered.headers["set-cookie"].lower()


def test_threat_secrets_are_compared_in_constant_time() -> None:
    assert "secrets.compare_digest(expected, sent)" in inspect.getsource(asking.check_csrf)
    from billboards.site.web import health

    assert "compare_digest" in inspect.getsource(health)


def test_threat_a_stolen_database_or_backup_lets_nobody_in(pages: PageSite, link: str, tmp_path: Path) -> None:
    cookie = log_in(pages).cookies["billboards"]
    back_up(pages.site, tmp_path / "backup")
    files = [tmp_path / "backup", *pages.site.data.rglob("*.sqlite*")]
    for secret in (*pages.tokens.values(), cookie, link.rpartition("/")[2]):
        for file in files:
            assert secret.encode() not in file.read_bytes(), file.name
    with pages.site.database.reading() as connection:
        kept = "\n".join(connection.connection.iterdump())
    assert [secret for secret in (*pages.tokens.values(), cookie, link.rpartition("/")[2]) if secret in kept] == []


def test_threat_an_annotators_link_is_kept_by_no_browser_and_told_to_no_other_site(pages: PageSite, link: str) -> None:
    answered = pages.get(link)
    assert answered.status_code == 200
    assert answered.headers["cache-control"] == "no-store"
    assert answered.headers["referrer-policy"] == "same-origin"
    assert answered.headers["x-robots-tag"] == "noindex"


def test_threat_no_log_holds_a_link_or_a_line_that_a_stranger_wrote(
    pages: PageSite, link: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("unforeseen")

    monkeypatch.setattr("billboards.site.campaigns.annotating_pages.next_item", fail)
    with caplog.at_level(logging.INFO):
        assert pages.get(link).status_code == 500
    ours = [record.getMessage() for record in caplog.records if record.name.startswith("billboards")]
    assert [line for line in ours if re.fullmatch(r"GET /annotate/…, request [0-9a-f]{16}", line)]
    assert link.rpartition("/")[2] not in "".join(ours)
    assert faults._one_line("/boards/a\nERROR: all is lost\x1b[31m") == "/boards/a\\nERROR: all is lost\\x1b[31m"


@pytest.mark.parametrize("begins", FORMULAS)
def test_threat_no_cell_of_a_download_is_a_formula(begins: str) -> None:
    name = f'{begins}HYPERLINK("http://evil.example")'
    rows = list(csv.reader(io.StringIO(csv_text(["name", begins], [{"name": name, begins: -1.5}]), newline="")))
    assert rows == [["name", f"'{begins}"], [f"'{name}", "-1.5"]]
    assert [plain(value) for value in ("-0.5", "+3", "a=b", None, -2)] == ["-0.5", "+3", "a=b", None, -2]


def test_threat_ids_can_not_be_counted_up_or_guessed(tmp_path: Path) -> None:
    small = small_site(tmp_path)
    ids = [small.submit(name=f"n{k}").json()["id"] for k in range(3)]
    assert all(re.fullmatch(r"[a-z2-7]{26}", one) for one in ids)
    assert len({one[:8] for one in ids}) == 3
    assert small.ask("stranger", "GET", f"/submissions/{ids[0]}").status_code == 403
    assert small.ask("stranger", "GET", "/submissions").json()["items"] == []


def test_threat_tokens_can_not_be_tried_out(tmp_path: Path) -> None:
    small = small_site(tmp_path)
    assert all(len(token) >= 43 for token in small.tokens.values())
    (small.site.data / "site.toml").write_text("changes_per_minute = 5\n")
    slow = SmallSite(_again(small), small.tokens)
    found = [slow.client.post("/login", data={"token": f"bb_{k}"}).status_code for k in range(6)]
    assert found == [403, 403, 403, 403, 403, 429]


def _again(small: SmallSite) -> Any:
    from billboards.site.site import open_site

    return open_site(small.site.data, login_required=True)


def test_every_line_of_the_threat_model_names_a_test_that_is_there() -> None:
    section = PAGE.split("## Threats", 1)[1].split("\n## ", 1)[0]
    rows = [line for line in section.splitlines() if line.startswith("| ") and not line.startswith(("| who", "| ---"))]
    assert len(rows) >= 25
    for row in rows:
        named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", row)
        assert named, f"no test: {row}"
        for path, test in named:
            assert f"def {test}(" in (ROOT / path).read_text("utf-8"), f"{path} has no {test}"


def test_every_test_of_a_threat_is_in_the_threat_model() -> None:
    found = re.findall(r"^def (test_threat_\w+)\(", Path(__file__).read_text("utf-8"), re.MULTILINE)
    assert [test for test in found if f"::{test}`" not in PAGE] == []
