"""Coming in by a mailed link: what it lets in, what it tells nobody, and how often it works."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from doors import MakeDoor, doors
from fastapi.testclient import TestClient
from mail_boxes import words

from billboards.errors import InvalidSettings, Refused
from billboards.site.accounts import access, sign_up
from billboards.site.accounts import records as accounts
from billboards.site.accounts.access import Viewer
from billboards.site.accounts.pages import browser_words
from billboards.site.admin.notices import send_due
from billboards.site.database.schema import deliveries, entry_links, sessions, tokens
from billboards.site.settings import SiteSettings, read_site_settings
from billboards.site.site import open_site
from billboards.site.web.app import create_app


@pytest.fixture
def make_door(tmp_path: Path) -> Iterator[MakeDoor]:
    with doors(tmp_path) as make:
        yield make


def enter(browser: TestClient, path: str, **form: str) -> Any:
    return browser.post(path, data=form)


def test_an_open_site_lets_in_who_opens_the_link_and_sends_its_form(make_door: MakeDoor) -> None:
    door = make_door('sign_up = "open"')
    path, browser = door.link("ann@example.org", next="/boards/ferry/submit"), door.browser()
    assert "Choose a name and a team" in browser.get(path).text
    entered = enter(browser, path, name="Ann", team="Pier")
    assert (entered.status_code, entered.headers["location"]) == (303, "/boards/ferry/submit")
    assert "HttpOnly" in entered.headers["set-cookie"]
    page = browser.get("/account").text
    assert "Submitter in team Pier, told by e-mail at ann@example.org." in page
    assert "confirmed" in page


def test_looking_at_a_link_does_not_use_it_up_and_sending_its_form_does_once(
    make_door: MakeDoor,
) -> None:
    door = make_door('sign_up = "open"')
    path = door.link("ann@example.org")
    assert [door.browser().get(path).status_code for _ in range(3)] == [200, 200, 200]
    assert enter(door.browser(), path, name="Ann").status_code == 303
    assert enter(door.browser(), path, name="Eve").status_code == 410
    assert door.browser().get(path).status_code == 410


def test_who_has_an_account_logs_in_again_by_link_under_a_new_session(make_door: MakeDoor) -> None:
    door = make_door('sign_up = "closed"')
    access.add_account(door.site, door.owner, "ben", "submitter", email="Ben@example.org")
    assert door.browser().post("/login/link", data={"email": "ben@EXAMPLE.org"}).status_code == 200
    send_due(door.site)
    path, browser = door.box.link("Ben@example.org"), door.browser()
    assert "Log in as ben" in browser.get(path).text
    assert enter(browser, path).headers["location"] == "/"
    first = browser.cookies["billboards"]
    csrf = browser.get("/account").text.split('name="csrf" value="')[1].split('"')[0]
    door.browser().post("/login/link", data={"email": "ben@example.org"})
    send_due(door.site)
    again = door.box.link("Ben@example.org")
    assert enter(browser, again).status_code == 403, "a form of this session's without its word"
    assert enter(browser, again, csrf=csrf).status_code == 303
    assert browser.cookies["billboards"] != first
    stolen = door.browser()
    stolen.cookies.set("billboards", first)
    assert stolen.get("/account").status_code == 401


def test_a_link_logs_in_to_the_chosen_account_of_its_address_and_to_nobody_elses(make_door: MakeDoor) -> None:
    door = make_door('sign_up = "closed"')
    addresses = {
        "ann": "ann@example.org",
        "ann-2": "ANN@example.org",
        "gone": "ann@example.org",
        "eve": "eve@example.org",
    }
    made = {
        name: access.add_account(door.site, door.owner, name, "submitter", email=email)
        for name, email in addresses.items()
    }
    access.change_account(door.site, door.owner, made["gone"].id, disabled=True)
    path = door.link("ann@example.org")
    page = door.browser().get(path).text
    assert [f'value="{made[name].id}"' in page for name in made] == [True, True, False, False]
    refusals = {
        "": "several accounts have this address; choose one of them",
        str(made["eve"].id): "this account does not have the link&#39;s address",
        str(made["gone"].id): "this account does not have the link&#39;s address",
    }
    for chosen, said in refusals.items():
        refused = enter(door.browser(), path, account=chosen)
        assert (refused.status_code, "set-cookie" in refused.headers) == (422, False), chosen
        assert said.casefold() in refused.text.casefold(), refused.text
    browser = door.browser()
    assert enter(browser, path, account=str(made["ann-2"].id)).status_code == 303
    assert browser.get("/api/v1/account").json()["account"]["name"] == "ann-2"


def test_who_was_shut_out_does_not_sign_up_anew(make_door: MakeDoor) -> None:
    door = make_door('sign_up = "open"')
    before = door.link("ann@example.org")
    gone = access.add_account(door.site, door.owner, "gone", "submitter", email="Ann@example.org")
    access.change_account(door.site, door.owner, gone.id, disabled=True)
    refused = enter(door.browser(), before, name="ann again", team="dockers")
    assert refused.status_code == 409
    assert "no account that is open" in refused.text
    assert door.link("ann@example.org") == before, "no other link was mailed"
    access.change_account(door.site, door.owner, gone.id, disabled=False)
    assert enter(door.browser(), door.link("ann@example.org"), account=str(gone.id)).status_code == 303


def test_a_link_works_for_an_hour_and_a_newer_mail_does_not_bring_an_old_one_back(make_door: MakeDoor) -> None:
    door = make_door('sign_up = "open"')
    path = door.link("ann@example.org")
    door.clock.now += 3599
    assert door.browser().get(path).status_code == 200
    door.clock.now += 2
    assert enter(door.browser(), path, name="Ann").status_code == 410


def test_everybody_gets_the_same_answer_and_only_the_mailbox_tells(make_door: MakeDoor) -> None:
    door = make_door('sign_up = "closed"')
    access.add_account(door.site, door.owner, "ben", "submitter", email="ben@example.org")
    answers = [door.browser().post("/login/link", data={"email": f"{who}@example.org"}) for who in ("ben", "nobody")]
    assert answers[0].content == answers[1].content
    told = [
        door.browser().post("/api/v1/sign-up/links", json={"email": f"{who}@example.org"}) for who in ("ben", "nobody")
    ]
    assert [answer.status_code for answer in told] == [202, 202]
    assert told[0].json() == told[1].json() == {"detail": sign_up.ASKED}
    send_due(door.site)
    assert [letter["To"] for letter in door.box.letters] == ["ben@example.org", "ben@example.org"]


def test_neither_database_nor_outbox_holds_a_link_that_works(make_door: MakeDoor) -> None:
    door = make_door('sign_up = "open"')
    secret = door.link("ann@example.org").rpartition("/")[2]
    kept = str([*door.rows(entry_links), *door.rows(deliveries)])
    assert secret not in kept
    assert accounts.digest(secret) in kept


def test_an_address_gets_five_links_an_hour_and_a_client_asks_for_thirty(make_door: MakeDoor) -> None:
    door = make_door('sign_up = "open"')
    browser = door.browser()
    for _ in range(7):
        assert browser.post("/login/link", data={"email": "ann@example.org"}).status_code == 200
    send_due(door.site)
    assert len(door.box.letters) == 5
    for k in range(23):
        assert browser.post("/login/link", data={"email": f"a{k}@example.org"}).status_code == 200
    refused = browser.post("/login/link", data={"email": "last@example.org"})
    assert refused.status_code == 409
    assert "try again in an hour" in refused.text
    door.clock.now += 3601
    assert browser.post("/login/link", data={"email": "last@example.org"}).status_code == 200


def test_what_is_kept_of_who_asks_is_not_their_network_address(make_door: MakeDoor) -> None:
    door = make_door('sign_up = "open"')
    door.link("ann@example.org")
    (row,) = door.rows(entry_links)
    assert len(row["client"]) == 32
    assert "testclient" not in str(row)


@pytest.mark.parametrize(
    "elsewhere", ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:x", "/%0d\n"]
)
def test_a_link_leads_nowhere_but_to_this_site(make_door: MakeDoor, elsewhere: str) -> None:
    door = make_door('sign_up = "open"')
    path = door.link("ann@example.org", next=elsewhere)
    assert enter(door.browser(), path, name="Ann").headers["location"] == "/"


def test_nobody_walks_into_a_team_that_is_there_and_ten_tries_end_a_link(make_door: MakeDoor) -> None:
    door = make_door('sign_up = "open"')
    access.add_account(door.site, door.owner, "ben", "submitter", team="Pier")
    path = door.link("ann@example.org")
    refused = enter(door.browser(), path, name="Ann", team="Pier")
    assert refused.status_code == 409
    assert "There is a team Pier already; ask one of its leads for an invitation" in refused.text
    assert 'value="Ann"' in refused.text, "what was written stays"
    assert {enter(door.browser(), path, name="ben").status_code for _ in range(8)} == {409}
    assert enter(door.browser(), path, name="ben").status_code == 410, "the tenth"
    assert enter(door.browser(), path, name="Ann").status_code == 410


def test_addresses_of_other_domains_get_no_link_where_domains_are_named(make_door: MakeDoor) -> None:
    door = make_door('sign_up = "open"\ndomains = ["uni.example"]')
    for who in ("a@uni.example", "b@cs.uni.example", "c@notuni.example", "d@example.org"):
        door.browser().post("/login/link", data={"email": who})
    send_due(door.site)
    assert [letter["To"] for letter in door.box.letters] == ["a@uni.example", "b@cs.uni.example"]


def test_a_request_waits_for_an_owner_who_approves_and_the_person_gets_a_link(make_door: MakeDoor) -> None:
    door = make_door()
    with door.site.database.writing() as connection:
        assert door.owner.account is not None
        accounts.change_account(connection, door.owner.account.id, actor="test", now=1.0, email="owner@example.org")
    path = door.link("ann@example.org")
    sent = enter(door.browser(), path, name="Ann", team="Pier", words="We have a ferry timetable.")
    assert (sent.status_code, "set-cookie" in sent.headers) == (200, False)
    assert "The organisers were told" in sent.text
    send_due(door.site)
    assert door.box.subjects("owner@example.org") == ["[Harbour boards] Ann asks for an account"]
    assert "We have a ferry timetable." in words(door.box.to("owner@example.org")[0])
    owner = {"authorization": f"Bearer {door.owner_token}"}
    page = door.browser().get("/people", headers=owner).text
    assert "We have a ferry timetable." in page
    asked = door.browser().get("/api/v1/access-requests", headers=owner).json()
    assert [(each["name"], each["team"], each["state"]) for each in asked] == [("Ann", "Pier", "waiting")]
    form = {"request": "1", "do": "approve", "name": "Ann", "team": "Pier", "role": "submitter"}
    assert door.browser().post("/people/requests", data=form, headers=owner).status_code == 303
    assert door.browser().post("/people/requests", data=form, headers=owner).status_code == 409, "decided already"
    send_due(door.site)
    assert door.box.subjects("ann@example.org")[-1] == "[Harbour boards] Your request was approved"
    browser = door.browser()
    assert enter(browser, door.box.link("ann@example.org")).status_code == 303
    assert "Submitter in team Pier" in browser.get("/account").text


def test_who_is_declined_gets_the_reason_and_may_ask_again(make_door: MakeDoor) -> None:
    door = make_door()
    enter(door.browser(), door.link("ann@example.org"), name="Ann")
    waits = door.link("ann@example.org")
    assert "You get a mail when they have decided." in door.browser().get(waits).text
    owner = {"authorization": f"Bearer {door.owner_token}"}
    answer = door.browser().post("/api/v1/access-requests/1/decline", json={"reason": "Full."}, headers=owner)
    assert answer.json()["state"] == "declined"
    send_due(door.site)
    assert "Their reason: Full." in words(door.box.to("ann@example.org")[-1])
    assert "Say who you are" in door.browser().get(waits).text


def test_a_program_that_uses_a_link_gets_a_token_where_a_browser_gets_a_cookie(make_door: MakeDoor) -> None:
    door = make_door('sign_up = "open"')
    secret = door.link("ann@example.org").rpartition("/")[2]
    entered = door.browser().post("/api/v1/sign-up/enter", json={"token": secret, "name": "Ann"}).json()
    assert (entered["state"], entered["account"]["team"], entered["account"]["lead"]) == ("entered", "Ann", True)
    bearer = {"authorization": f"Bearer {entered['token']}"}
    assert door.browser().get("/api/v1/account", headers=bearer).json()["account"]["name"] == "Ann"


def test_an_own_address_changes_when_its_link_is_used(make_door: MakeDoor) -> None:
    door = make_door('sign_up = "closed"')
    made = access.add_account(door.site, door.owner, "ben", "submitter", email="old@example.org")
    viewer = Viewer(made)
    sign_up.ask_for_address(door.site, viewer, "new@example.org", client="x")
    send_due(door.site)
    with door.site.database.reading() as connection:
        assert accounts.account(connection, made.id).email == "old@example.org"
    confirmed = enter(door.browser(), door.box.link("new@example.org"))
    assert "set-cookie" not in confirmed.headers, "confirming logs nobody in"
    with door.site.database.reading() as connection:
        after = accounts.account(connection, made.id)
    assert (after.email, after.confirmed) == ("new@example.org", door.clock())


def test_a_new_address_of_ones_own_is_mailed_as_seldom_as_a_link(make_door: MakeDoor) -> None:
    door = make_door('sign_up = "closed"')
    viewer = Viewer(access.add_account(door.site, door.owner, "ben", "submitter", email="old@example.org"))
    for _ in range(5):
        sign_up.ask_for_address(door.site, viewer, "new@example.org", client="x")
    with pytest.raises(Refused, match="too many links were asked for with this address; try again in an hour"):
        sign_up.ask_for_address(door.site, viewer, "New@example.org", client="x")
    for k in range(25):
        sign_up.ask_for_address(door.site, viewer, f"n{k}@example.org", client="x")
    with pytest.raises(Refused, match="too many links were asked for from here; try again in an hour"):
        sign_up.ask_for_address(door.site, viewer, "last@example.org", client="x")
    sign_up.ask_for_address(door.site, viewer, "last@example.org", client="y")
    door.clock.now += 3601
    sign_up.ask_for_address(door.site, viewer, "new@example.org", client="x")


def test_sign_up_is_by_request_with_mail_closed_without_and_needs_both_mail_and_address(tmp_path: Path) -> None:
    mail = {"host": "h", "sender": "s"}
    assert SiteSettings().sign_up == "closed"
    assert SiteSettings.model_validate({"mail": mail}).sign_up == "closed"
    assert SiteSettings.model_validate({"mail": mail, "base_url": "https://b.example"}).sign_up == "request"
    (tmp_path / "site.toml").write_text('[accounts]\nsign_up = "open"\n')
    with pytest.raises(InvalidSettings, match=r"needs \[mail\] and base_url"):
        read_site_settings(tmp_path)


def test_several_log_in_services_stand_side_by_side_and_one_table_still_works(tmp_path: Path) -> None:
    one = '[oidc]\nissuer = "https://a.example"\nclient_id = "x"\nname = "A"\n'
    (tmp_path / "site.toml").write_text(one)
    assert [provider.name for provider in read_site_settings(tmp_path).oidc] == ["A"]
    two = one.replace("[oidc]", "[[oidc]]")
    (tmp_path / "site.toml").write_text(two + two.replace('"A"', '"B"') + 'secret_from = "B_SECRET"\n')
    assert [provider.name for provider in read_site_settings(tmp_path).oidc] == ["A", "B"]
    site = open_site(tmp_path, login_required=True)
    page = TestClient(create_app(site)).get("/login").text
    assert page.count("Log in with A") == page.count("Log in with B") == 1
    site.close()
    (tmp_path / "site.toml").write_text(two + two)
    with pytest.raises(InvalidSettings, match="must have a name each"):
        read_site_settings(tmp_path)


def test_a_read_token_reads_a_submit_token_submits_and_neither_makes_another(make_door: MakeDoor) -> None:
    door = make_door('sign_up = "closed"')
    made = access.add_account(door.site, door.owner, "ben", "submitter")
    viewer = Viewer(made)
    texts = {
        scope: access.add_token(door.site, viewer, scope, scope=scope)[1] for scope in ("read", "submit", "everything")
    }
    statuses: dict[str, tuple[int, ...]] = {}
    for scope, text in texts.items():
        sent: dict[str, Any] = {"data": {"name": f"g-{scope}"}, "files": {"file": ("o.txt", b"a\nb\nc\nd\n")}}
        if scope == "everything":
            sent["data"]["entry"] = "contrastive"
        submitted = door.ask(text, "POST", "/api/v1/boards/ferry/generators", **sent)
        another = door.ask(text, "POST", "/api/v1/account/tokens", json={})
        session = door.browser()
        session.post("/login", data={"token": text})
        in_browser = session.get("/account")
        statuses[scope] = (submitted.status_code, another.status_code, in_browser.status_code)
    assert statuses == {"read": (403, 403, 403), "submit": (201, 403, 403), "everything": (201, 201, 200)}


def test_a_token_ends_on_its_day_and_the_session_it_began_with_it(make_door: MakeDoor) -> None:
    door = make_door('sign_up = "closed"')
    made = access.add_account(door.site, door.owner, "ben", "submitter")
    _, text = access.add_token(door.site, Viewer(made), "short", days=2)
    browser = door.browser()
    browser.post("/login", data={"token": text})
    door.clock.now += 2 * 86400 - 1
    assert access.viewer_of_token(door.site, text) is not None
    assert browser.get("/account").status_code == 200
    door.clock.now += 1
    assert access.viewer_of_token(door.site, text) is None
    assert browser.get("/account").status_code == 401


def test_browsers_are_listed_and_ended_one_by_one_or_all_others(make_door: MakeDoor) -> None:
    door = make_door('sign_up = "closed"')
    made = access.add_account(door.site, door.owner, "ben", "submitter")
    _, text = access.add_token(door.site, Viewer(made), "t")
    browsers = [door.browser() for _ in range(3)]
    for k, browser in enumerate(browsers):
        browser.post("/login", data={"token": text}, headers={"user-agent": f"Browser {k}"})
    page = browsers[0].get("/account").text
    assert [f"Browser {k}" in page for k in range(3)] == [True, True, True]
    assert page.count("this one") == 1
    csrf = page.split('name="csrf" value="')[1].split('"')[0]
    key = next(row["id"] for row in door.rows(sessions) if row["agent"] == "Browser 1")[:16]
    assert browsers[0].post("/account/sessions/end", data={"csrf": csrf, "session": key}).status_code == 303
    assert [browser.get("/account").status_code for browser in browsers] == [200, 401, 200]
    browsers[0].post("/account/sessions/end", data={"csrf": csrf})
    assert [browser.get("/account").status_code for browser in browsers] == [200, 401, 401]
    assert access.end_sessions_of(door.site, door.owner, made.id) == 1
    assert browsers[0].get("/account").status_code == 401
    assert len(door.rows(tokens)) == 2, "tokens stay"


@pytest.mark.parametrize(
    ("agent", "called"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15) AppleWebKit/605 Version/18 Safari/605", "Safari on Mac"),
        ("Mozilla/5.0 (Linux; Android 15) AppleWebKit/537 Chrome/140.0 Mobile Safari/537", "Chrome on Android"),
        ("curl/8", "curl/8"),
        (None, "unknown browser"),
    ],
)
def test_a_browser_is_called_what_people_call_it(agent: str | None, called: str) -> None:
    assert browser_words(agent) == called
