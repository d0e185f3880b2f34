"""A visitor signs up by mail, is approved, joins a team, submits and reads the mails; every page is for everybody."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from time import sleep

import pytest
import uvicorn
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from browser_pages import OpenPage, watched_pages
from mail_boxes import Letters, mail_server, words
from playwright.sync_api import Browser, Page, expect
from small_sites import make_board

from billboards.board.writing import write_board
from billboards.site.accounts import access, invitations
from billboards.site.accounts.access import Viewer
from billboards.site.admin.notices import send_due
from billboards.site.site import Site, open_site
from billboards.site.submissions.sending import change_settings
from billboards.site.web.app import create_app
from billboards.site.work.worker import work_until_done


@dataclass
class Harbour:
    """A site that is served, with its mail server and its owner."""

    site: Site
    box: Letters
    address: str
    owner_token: str
    owner: Viewer

    def mail(self, address: str) -> str:
        """Send what waits; the whole address of the link in the last letter to somebody."""
        send_due(self.site)
        (link,) = re.findall(r"http://\S+/(?:enter|join)/\S+", words(self.box.to(address)[-1]))
        return str(link)


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Harbour]:
    """A small board on a site with mail, on a free port of this machine."""
    home = tmp_path_factory.mktemp("coming-in")
    listening = socket.create_server(("127.0.0.1", 0))
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    with mail_server() as box:
        write_board(make_board(4, 2, metrics=("length",)), home / "boards" / "ferry")
        (home / "site.toml").write_text(box.settings(base_url=address))
        site = open_site(home, login_required=True)
        token = access.new_owner_token(site, "owner")
        owner = access.viewer_of_token(site, token)
        assert owner is not None
        change_settings(site, owner, "ferry", {"draws": 20, "by": "length"})
        work_until_done(site)
        server = uvicorn.Server(uvicorn.Config(create_app(site), log_config=None, log_level="error", lifespan="off"))
        web = Thread(target=server.run, args=([listening],), daemon=True)
        web.start()
        while not server.started:
            sleep(0.02)
        yield Harbour(site, box, address, token, owner)
        server.should_exit = True
        web.join(20)
        site.close()


@pytest.fixture
def visit(chromium: Browser, harbour: Harbour) -> Iterator[OpenPage]:
    """Opens pages of this site, each call in a browser of its own."""
    with watched_pages(chromium, harbour.address, viewport={"width": 1280, "height": 900}) as make:
        yield make


def check_for_everybody(page: Page, name: str, pictures: Path | None) -> None:
    """Nothing keeps people out in light or dark, and nothing is wider than a phone."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        wrong = [each for each in Axe().run(page).response["violations"] if each["impact"] in ("serious", "critical")]
        assert [(name, scheme, each["id"], [n["html"][:150] for n in each["nodes"]]) for each in wrong] == []
        for width in (1440, 390) if pictures else (390,):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, name
            if pictures:
                page.screenshot(path=str(pictures / f"{name}-{scheme}-{width}.png"), full_page=True)
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1280, "height": 900})


@pytest.fixture
def pictures() -> Path | None:
    """A folder for pictures of every page, where BILLBOARDS_PICTURES names one."""
    named = os.environ.get("BILLBOARDS_PICTURES")
    return Path(named) if named else None


#: Pairs of fields and buttons that lie on one another.
COLLISIONS = """() => {
    const kinds = 'input:not([type=hidden]), select, button, textarea';
    const all = [...document.querySelectorAll(`main form :is(${kinds})`)];
    const boxes = all.map((each) => [each.outerHTML.slice(0, 80), each.getBoundingClientRect()]);
    const meet = (one, two) => one.left < two.right - 1 && two.left < one.right - 1
        && one.top < two.bottom - 1 && two.top < one.bottom - 1;
    return boxes.flatMap(([a, one], k) => boxes.slice(k + 1).filter(([, two]) => meet(one, two)).map(([b]) => [a, b]));
}"""
#: Labels that do not stand above their fields.
LABELS_BESIDE = """() => [...document.querySelectorAll('main .field > label')].filter((each) => {
    const input = document.getElementById(each.htmlFor);
    return input && input.getBoundingClientRect().top < each.getBoundingClientRect().bottom - 1;
}).map((each) => each.textContent)"""


def log_in_owner(page: Page, harbour: Harbour) -> None:
    page.goto(f"{harbour.address}/login")
    page.get_by_label("Token").fill(harbour.owner_token)
    page.get_by_role("button", name="Log in", exact=True).click()


@pytest.mark.long
def test_a_visitor_signs_up_is_approved_joins_a_team_submits_and_reads_the_mails(
    harbour: Harbour, visit: OpenPage, pictures: Path | None
) -> None:
    visitor, owner = visit("/boards/ferry/submit/generator"), visit("/")
    expect(visitor.locator("textarea")).to_have_count(0)
    check_for_everybody(visitor, "submit-first", pictures)
    visitor.locator("#first").get_by_role("link", name="Ask for an account").click()
    check_for_everybody(visitor, "sign-up", pictures)
    visitor.get_by_label("E-mail address").fill("ann@example.org")
    visitor.get_by_role("button", name="Send me a link").click()
    expect(visitor.get_by_role("heading", level=1)).to_have_text("Look into your mail")
    visitor.goto(harbour.mail("ann@example.org"))
    check_for_everybody(visitor, "ask", pictures)
    visitor.get_by_label("Your name").fill("Ann")
    visitor.get_by_label("What do you want to do here?").fill("We write timetables.")
    visitor.get_by_role("button", name="Send the request").click()
    expect(visitor.get_by_role("heading", level=1)).to_have_text("Your request was sent")

    log_in_owner(owner, harbour)
    owner.goto(f"{harbour.address}/people")
    expect(owner.get_by_text("We write timetables.")).to_be_visible()
    check_for_everybody(owner, "people-request", pictures)
    owner.get_by_role("button", name="Approve Ann").click()
    expect(owner.get_by_text("Nobody waits.")).to_be_visible()

    visitor.goto(harbour.mail("ann@example.org"))
    visitor.get_by_role("button", name="Log in as Ann").click()
    expect(visitor.get_by_role("link", name="Ann", exact=True)).to_be_visible()

    table = "team,email,role\nPier,ann@example.org,lead\nPier,bob@example.org,\n"
    owner.get_by_label("or paste it").fill(f"{table}Pier,x,\n")
    owner.get_by_role("button", name="Check the table").click()
    expect(owner.get_by_text("line 4: 'x' is no e-mail address")).to_be_visible()
    check_for_everybody(owner, "people-preview", pictures)
    owner.get_by_label("or paste it").fill(table)
    owner.get_by_role("button", name="Check the table").click()
    owner.get_by_role("button", name="Send 2 invitations").click()
    visitor.goto(harbour.mail("ann@example.org"))
    check_for_everybody(visitor, "join", pictures)
    visitor.get_by_role("button", name="Join as Ann").click()
    expect(visitor.get_by_role("heading", name="Team Pier")).to_be_visible()
    check_for_everybody(visitor, "account", pictures)

    visitor.goto(f"{harbour.address}/boards/ferry/submit/generator")
    visitor.get_by_label("Name", exact=True).fill("timetable")
    visitor.get_by_label("or paste a column").fill("one\ntwo\nthree\nfour")
    visitor.get_by_role("button", name="Submit the generator").click()
    expect(visitor.get_by_role("heading", level=1)).to_contain_text("timetable")
    work_until_done(harbour.site)
    while send_due(harbour.site):
        pass
    assert [subject.removeprefix("[Harbour boards] ") for subject in harbour.box.subjects("ann@example.org")] == [
        "Your link to log in",
        "Your request was approved",
        "Invitation to team Pier",
        "ferry: timetable was received",
        "ferry: timetable is scored",
        "ferry: timetable has rank 1 of 4 generators",
    ]
    stop = re.findall(r"Stop these mails: (\S+)", words(harbour.box.to("ann@example.org")[-1]))[0]
    stranger = visit("/")
    stranger.goto(stop)
    check_for_everybody(stranger, "unsubscribe", pictures)
    stranger.get_by_role("button", name="Stop these mails").click()
    expect(stranger.get_by_role("heading", level=1)).to_have_text("Mails stopped")
    visitor.goto(f"{harbour.address}/account")
    expect(visitor.get_by_label("A submission of yours has a rank")).not_to_be_checked()
    expect(visitor.get_by_label("A submission of yours was received")).to_be_checked()


@pytest.mark.long
def test_forms_of_the_account_page_stand_apart_and_work_by_keyboard(
    harbour: Harbour, visit: OpenPage, pictures: Path | None
) -> None:
    page = visit("/")
    log_in_owner(page, harbour)
    page.goto(f"{harbour.address}/account")
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(COLLISIONS) == []
        assert page.evaluate(LABELS_BESIDE) == [], "labels stand above their fields"
    page.set_viewport_size({"width": 1280, "height": 900})
    page.get_by_label("What the token is for").focus()
    page.keyboard.type("laptop")
    page.keyboard.press("Tab")
    page.keyboard.press("r")
    page.keyboard.press("Tab")
    page.keyboard.type("30")
    page.keyboard.press("Enter")
    expect(page.locator(".secret")).to_have_text(re.compile(r"^bb_"))
    expect(page.get_by_role("row", name=re.compile("laptop"))).to_contain_text("read")
    check_for_everybody(page, "account-owner", pictures)


@pytest.mark.long
def test_the_other_pages_are_for_everybody(harbour: Harbour, visit: OpenPage, pictures: Path | None) -> None:
    page = visit("/login")
    check_for_everybody(page, "login", pictures)
    invitations.invite_to_own_team(harbour.site, harbour.owner, "new@example.org")
    page.goto(harbour.mail("new@example.org"))
    check_for_everybody(page, "join-new", pictures)
    log_in_owner(page, harbour)
    page.goto(f"{harbour.address}/boards/ferry/message")
    check_for_everybody(page, "message", pictures)
    page.goto(f"{harbour.address}/people")
    check_for_everybody(page, "people", pictures)
