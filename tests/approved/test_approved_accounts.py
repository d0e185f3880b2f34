"""Coming in, what one has, and who else is here: pages, answers, letters and rows as they were approved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from mail_boxes import Letters, mail_server
from people_diaries import no_chance, page_lines
from people_gates import Gate, make_gate, problems
from small_sites import make_board

from billboards.site.accounts import access, invitations, link_records, messages, oidc, permissions, records, sign_up
from billboards.site.accounts.access import Viewer
from billboards.site.accounts.pages import browser_words, number_in
from billboards.site.admin.mail_kinds import KINDS, kind_of
from billboards.site.admin.notices import send_due
from billboards.site.site import Site

__all__ = ["no_chance"]
pytestmark = pytest.mark.usefixtures("no_chance")
ROWS = ("accounts", "teams", "tokens", "sessions", "webhooks", "entry_links", "account_invitations", "access_requests")
TABLE = """team,e-mail,name,role
Pier,ann@example.org,Ann,lead
Pier,bob@example.org,,
Quay,cat@example.org,Cat,annotator
"""


@pytest.fixture
def box() -> Iterator[Letters]:
    with mail_server() as server:
        yield server


def mailing_gate(home: Path, box: Letters, accounts_table: str) -> Gate:
    """A site with two boards and a mail server."""
    ferry = make_board(3, 2, metrics=("length",))
    settings = box.settings(more=f"[accounts]\n{accounts_table}\n")
    return make_gate(home, ferry, replace(ferry, name="pier"), settings=settings, box=box)


def test_coming_in_on_an_open_site_says_what_was_approved(tmp_path: Path, box: Letters) -> None:
    gate = mailing_gate(tmp_path, box, 'sign_up = "open"\ndomains = ["example.org"]')
    diary, browser = gate.diary, gate.browser()
    for name, path in {
        "log-in": "/login?next=/boards/ferry",
        "log-in elsewhere": "/login?next=//evil.example",
        "sign-up": "/sign-up?next=/boards/pier",
        "account of a visitor": "/account",
        "people of a visitor": "/people",
        "no link": "/enter/nothing",
        "no invitation": "/join/nothing",
        "no mails to stop": "/unsubscribe/nothing",
        "another log-in service": "/login/elsewhere?provider=nobody",
        "not begun": "/login/elsewhere/back",
    }.items():
        diary.hear(name, browser.get(path, headers={"accept": "text/html"}), whole=name == "log-in")
    for email in ("ann@example.org", "Ann@Sub.Example.org", "eve@elsewhere.test", "nobody", "", "a b@example.org"):
        diary.hear(f"link for {email!r}", browser.post("/login/link", data={"email": email, "next": "/boards/ferry"}))
        told = browser.post("/api/v1/sign-up/links", json={"email": email})
        diary.hear(f"link for {email!r} by a program", told)
    path = gate.link("ann@example.org")
    diary.hear("opened", browser.get(path))
    access.add_account(gate.site, gate.owner, "ben", "submitter", team="Pier")
    wrong: dict[str, dict[str, str]] = {
        "no name": {"name": ""},
        "a long name": {"name": "x" * 101},
        "a name with a break": {"name": "a\nb"},
        "a taken name": {"name": "ben"},
        "a taken team": {"name": "Ann", "team": "Pier"},
        "a slash": {"name": "a/b", "team": "x" * 101},
    }
    for name, form in wrong.items():
        diary.hear(f"entering with {name}", browser.post(path, data=form))
    diary.hear("entered", browser.post(path, data={"name": "Ann", "team": "Mole"}))
    diary.hear("entered again", gate.browser().post(path, data={"name": "Ann"}))
    diary.hear("account", browser.get("/account"), whole=True)
    diary.hear("no word of the session", browser.post("/account/tokens", data={}))
    diary.hear("log-in as somebody", browser.get("/login"))
    csrf = browser.get("/account").text.split('name="csrf" value="')[1].split('"')[0]
    diary.hear("left", browser.post("/logout", data={"csrf": csrf}))
    diary.hear("after", browser.get("/account", headers={"accept": "text/html"}))
    for name, token in {"nothing": "", "a wrong one": "bb_wrong", "the owner's": gate.tokens["owner"]}.items():
        sent = {"token": token, "next": "/submissions"}
        diary.hear(f"log-in with {name}", gate.browser().post("/login", data=sent))
    gate.clock.now += 3601
    late = gate.link("ann@example.org") if box.letters else path
    diary.hear("late", browser.get(late))
    for name, text in {"nothing": "nothing", "a used one": path.rpartition("/")[2]}.items():
        diary.hear(f"used by a program: {name}", browser.post("/api/v1/sign-up/enter", json={"token": text}))
    diary.hear("joined by a program", browser.post("/api/v1/sign-up/join", json={"token": "nothing"}))
    diary.hear("half a wish", browser.post("/api/v1/sign-up/enter", json={"word": "x", "account": 0}))
    for k in range(31):
        answer = browser.post("/login/link", data={"email": f"a{k}@example.org"})
        if answer.status_code != 200 or k in (21, 30):
            diary.hear(f"link {k} from here", answer)
    gate.finish("open", (*ROWS, "audit", "deliveries"))


def test_asking_for_access_and_being_answered_says_what_was_approved(tmp_path: Path, box: Letters) -> None:
    gate = mailing_gate(tmp_path, box, 'sign_up = "request"')
    diary = gate.diary
    gate.person("chief", "owner")
    diary.hear("sign-up", gate.browser().get("/sign-up"))
    for name, words in {
        "ann": "We have a ferry timetable.",
        "bob": "",
        "cat": "x" * 2001,
        "dan": "two\r\nlines",
    }.items():
        gate.browser().post("/login/link", data={"email": f"{name}@example.org"})
        path = gate.link(f"{name}@example.org")
        if name == "ann":
            diary.hear("opened", gate.browser().get(path))
        sent = gate.browser().post(path, data={"name": name, "team": "Pier" if name != "dan" else "", "words": words})
        diary.hear(f"{name} asks", sent)
    gate.browser().post("/login/link", data={"email": "ann@example.org"})
    diary.hear("ann waits", gate.browser().get(gate.link("ann@example.org")))
    diary.hear("ann asks again", gate.browser().post(gate.link("ann@example.org"), data={"name": "ann"}))
    diary.letters("letters of requests", box)
    gate.ask("people", "owner", "GET", "/people")
    gate.ask("requests", "owner", "GET", "/api/v1/access-requests")
    for name, form in {
        "no number": {"request": "first", "do": "approve"},
        "nobody": {"request": "99", "do": "approve", "role": "submitter"},
        "no role": {"request": "1", "do": "approve", "role": "king"},
        "ann": {"request": "1", "do": "approve", "name": "Ann", "team": "Pier", "role": "submitter"},
        "ann again": {"request": "1", "do": "approve", "role": "submitter"},
        "bob": {"request": "2", "do": "decline", "reason": "Full."},
        "bob again": {"request": "2", "do": "decline"},
    }.items():
        gate.ask(f"decides of {name}", "owner", "POST", "/people/requests", data=form)
    gate.ask("approves by a program", "owner", "POST", "/api/v1/access-requests/3/approve", json={"role": "annotator"})
    gate.ask("declines nobody", "owner", "POST", "/api/v1/access-requests/77/decline", json={"reason": "x"})
    gate.ask("decided", "owner", "GET", "/people")
    gate.ask("a page beyond", "owner", "GET", "/api/v1/access-requests?limit=1")
    gate.finish("requests", (*ROWS, "audit", "deliveries"))


def test_invitations_and_teams_say_what_was_approved(tmp_path: Path, box: Letters) -> None:
    gate = mailing_gate(tmp_path, box, 'sign_up = "closed"')
    diary = gate.diary
    gate.person("ben", "annotator", team="Old")
    gate.person("lia", team="Pier")
    wrong = (
        "team;email;role;name\nPier;ann@example.org;king;\nPier;nobody\n;bob@example.org\n"
        "Pier;cat@example.org;;lia\n\nPier;cat@example.org\nPier;d@example.org;lead;x/y;more\n"
        + "x" * 101
        + ";e@example.org\n"
    )
    tables = {
        "nothing": "",
        "a head alone": "team,email\n",
        "no team": "name,email\nAnn,ann@example.org\n",
        "another column": "team,email,phone\nPier,ann@example.org,1\n",
        "twice a column": "team,email,email\nPier,ann@example.org,b@example.org\n",
        "mistakes": wrong,
        "tabs": "team\temail\tname\nPier\tben@example.org\tBen\n",
        "good": TABLE,
    }
    for name, table in tables.items():
        gate.ask(f"preview of {name}", "owner", "POST", "/people/invite", data={"table": table, "do": "preview"})
        gate.ask(
            f"API's preview of {name}", "owner", "POST", "/api/v1/invitations/preview", json={"table": table[:3000]}
        )
    for count in (1000, 1001):
        table = "team,email\n" + "".join(f"T{k},p{k}@example.org\n" for k in range(count))
        page = gate.send("owner", "POST", "/people/invite", data={"table": table, "do": "preview"})
        diary.note(f"{count} people", [page.status_code, page_lines(page.text)[:12]])
    gate.ask("mistakes sent", "owner", "POST", "/people/invite", data={"table": wrong, "do": "send"})
    gate.ask("mistakes sent by a program", "owner", "POST", "/api/v1/invitations", json={"table": wrong})
    gate.ask(
        "latin",
        "owner",
        "POST",
        "/people/invite",
        files={"file": ("t.csv", "team,email\nÄ,a@example.org\n".encode("latin-1"))},
    )
    gate.ask("sent", "owner", "POST", "/people/invite", data={"table": TABLE, "do": "send"})
    gate.ask("listed", "owner", "GET", "/api/v1/invitations")
    gate.ask("people", "owner", "GET", "/people")
    path, browser = gate.link("ann@example.org"), gate.browser("curl/8")
    diary.hear("invitation", browser.get(path))
    diary.hear("a taken name", browser.post(path, data={"name": "lia"}))
    diary.hear("no name", browser.post(path, data={"name": " "}))
    diary.hear("joined", browser.post(path, data={"name": "Ann"}))
    diary.hear("joined again", gate.browser().post(path, data={"name": "Eve"}))
    diary.hear("ann's account", browser.get("/account"))
    bob = gate.link("bob@example.org")
    diary.hear(
        "bob by a program",
        gate.browser().post("/api/v1/sign-up/join", json={"token": bob.rpartition("/")[2], "name": "Bob"}),
    )
    for form in (
        {"invitation": "3", "do": "resend"},
        {"invitation": "3", "do": "revoke"},
        {"invitation": "3"},
        {"invitation": "1"},
        {"invitation": "44", "do": "revoke"},
        {"invitation": "x"},
    ):
        gate.ask(f"invitation {form}", "owner", "POST", "/people/invitations", data=form)
    diary.hear("revoked", gate.browser().get(gate.link("cat@example.org")))
    ann = next(row for row in records_of(gate) if row.name == "Ann")
    gate.tokens["Ann"] = access.add_token(gate.site, gate.owner, "test", account_id=ann.id)[1]
    gate.ask("team", "Ann", "GET", "/api/v1/account/team")
    for name, sent in {
        "no address": {"email": "x"},
        "a person": {"email": "dan@example.org", "name": "Dan"},
        "the same": {"email": "dan@example.org"},
        "one of the team": {"email": "lia@example.org"},
        "of another team": {"email": "ben@example.org"},
    }.items():
        gate.ask(f"Ann invites {name}", "Ann", "POST", "/account/team/invite", data=sent)
        gate.ask(f"lia invites {name}", "lia", "POST", "/api/v1/account/team/invitations", json=sent)
    ben = gate.link("ben@example.org")
    diary.hear("ben is asked", gate.browser().get(ben))
    diary.hear("ben moves", gate.browser().post(ben, data={}))
    everybody = {row.name: row.id for row in records_of(gate)}
    for name, form in {
        "lia leads": {"account": str(everybody["lia"]), "do": "lead"},
        "lia leads no more": {"account": str(everybody["lia"]), "do": "unlead"},
        "the last lead": {"account": str(everybody["Ann"]), "do": "unlead"},
        "bob goes": {"account": str(everybody["Bob"]), "do": "remove"},
        "nobody goes": {"account": "99", "do": "remove"},
        "owner goes": {"account": str(everybody["owner"]), "do": "remove"},
        "revokes": {"invitation": "4", "do": "revoke"},
    }.items():
        where = "invitations" if name == "revokes" else "members"
        gate.ask(f"Ann says {name}", "Ann", "POST", f"/account/team/{where}", data=form)
    gate.ask("lia removes Ann", "lia", "DELETE", f"/api/v1/account/team/members/{everybody['Ann']}")
    gate.ask(
        "lia makes herself lead",
        "lia",
        "PATCH",
        f"/api/v1/account/team/members/{everybody['lia']}",
        json={"lead": True},
    )
    gate.ask("Ann's account after", "Ann", "GET", "/account")
    gate.clock.now += link_records.INVITED
    gate.ask("old invitations", "owner", "GET", "/api/v1/invitations")
    gate.clock.now += 1
    gate.ask("older invitations", "owner", "GET", "/api/v1/invitations")
    gate.finish("teams", (*ROWS, "audit", "deliveries"))


def records_of(gate: Gate) -> tuple[records.Account, ...]:
    with gate.site.database.reading() as connection:
        return records.list_accounts(connection)


def test_ones_own_account_says_what_was_approved(tmp_path: Path, box: Letters) -> None:
    gate = mailing_gate(tmp_path, box, 'sign_up = "closed"')
    diary = gate.diary
    for name, role in (("ann", "submitter"), ("nan", "annotator"), ("chief", "owner")):
        gate.person(name, role)  # type: ignore[arg-type]
    for name in ("ann", "nan", "chief"):
        gate.ask(f"account of {name}", name, "GET", "/account")
        gate.ask(f"API's account of {name}", name, "GET", "/api/v1/account")
        gate.ask(f"people as {name}", name, "GET", "/people")
        gate.ask(f"accounts as {name}", name, "GET", "/api/v1/accounts")
    for sent in (
        {"label": "laptop", "scope": "read", "days": "2"},
        {"label": "server", "scope": "submit"},
        {"label": "x" * 201},
        {"scope": "all"},
        {"days": "0"},
        {"days": "3650"},
        {"days": "3651"},
        {"days": "many"},
        {"account": "1"},
        {},
    ):
        gate.ask(f"token {str(sent)[:60]}", "ann", "POST", "/account/tokens", data=sent)
        programs = {key: int(value) if value.isdecimal() else value for key, value in sent.items()}
        gate.ask(f"API's token {str(sent)[:60]}", "ann", "POST", "/api/v1/account/tokens", json=programs)
    for where in (
        "https://hooks.example/x",
        "http://hooks.example",
        "ftp://x",
        "https://localhost/x",
        "",
        "https://10.0.0.1/",
    ):
        gate.ask(f"webhook {where!r}", "ann", "POST", "/account/webhooks", data={"url": where, "board": "ferry"})
        gate.ask(f"API's webhook {where!r}", "ann", "POST", "/api/v1/account/webhooks", json={"url": where})
    gate.ask(
        "webhook of no board", "ann", "POST", "/account/webhooks", data={"url": "https://a.example", "board": "none"}
    )
    gate.ask("tokens", "ann", "GET", "/api/v1/account/tokens")
    gate.ask("webhooks", "ann", "GET", "/api/v1/account/webhooks")
    for number in ("6", "1", "99", "x", "-1"):
        gate.ask(f"revokes {number}", "ann", "POST", "/account/tokens/revoke", data={"token": number})
        gate.ask(f"removes {number}", "ann", "POST", "/account/webhooks/remove", data={"webhook": number})
        gate.ask(f"API revokes {number}", "ann", "DELETE", f"/api/v1/account/tokens/{number}")
        gate.ask(f"API removes {number}", "ann", "DELETE", f"/api/v1/account/webhooks/{number}")
    for kinds in (["receipt", "result"], list(KINDS)):
        gate.ask(f"mails {kinds}", "ann", "POST", "/account/mail", data={f"mail_{kind}": "yes" for kind in kinds})
        gate.ask(f"API's mails {kinds}", "chief", "PUT", "/api/v1/account/mail", json={"off": kinds})
    gate.ask("mails off nothing", "ann", "PUT", "/api/v1/account/mail", json={"off": ["nonsense"]})
    gate.ask("mails", "ann", "GET", "/api/v1/account/mail")
    for email in ("new@example.org", "chief@example.org", "nothing", "", "ann@example.org"):
        gate.ask(f"address {email!r}", "ann", "POST", "/account/address", data={"email": email})
        gate.ask(f"API's address {email!r}", "nan", "POST", "/api/v1/account/address", json={"email": email})
    path = gate.link("new@example.org")
    diary.hear("new address", gate.browser().get(path))
    diary.hear("new address confirmed", gate.browser().post(path, data={}))
    agents = ("Mozilla/5.0 (Windows NT 10.0) Chrome/140.0 Edg/140.0", "Opera (iPhone) OPR/1", "z" * 70)
    browsers = [gate.browser(agent) for agent in agents]
    for browser in browsers:
        browser.post("/login", data={"token": gate.tokens["ann"]})
        gate.clock.now += 60
    diary.hear("browsers", browsers[0].get("/account"))
    diary.hear("browsers by a program", browsers[1].get("/api/v1/account/sessions"))
    csrf = browsers[0].get("/account").text.split('name="csrf" value="')[1].split('"')[0]
    keys = [each["key"] for each in browsers[0].get("/api/v1/account/sessions").json()]
    diary.hear("one ended", browsers[0].post("/account/sessions/end", data={"csrf": csrf, "session": keys[0]}))
    gate.ask("none ended", "ann", "DELETE", "/api/v1/account/sessions/0000000000000000")
    gate.ask("all ended", "ann", "DELETE", "/api/v1/account/sessions")
    diary.note(
        "browsers' words",
        [browser_words(agent) for agent in (*agents, None, "", "Safari/1 (iPad)", "Chrome/1 Android")],
    )
    diary.note(
        "numbers",
        [problems(partial(number_in, text)) for text in ("7", "0", "123456789", "1234567890", "²", "", None)],
    )
    diary.note(
        "kinds",
        {
            event: kind_of(event)
            for event in (
                "submission.received",
                "submission.ranked",
                "submission.failed",
                "board.unreadable",
                "access.asked",
                "campaign.open",
            )
        },
    )
    gate.finish("own", (*ROWS, "audit", "deliveries"))


def test_what_owners_do_with_accounts_says_what_was_approved(tmp_path: Path, box: Letters) -> None:
    gate = mailing_gate(tmp_path, box, 'sign_up = "closed"')
    diary = gate.diary
    ann, _ = gate.person("ann", team="Pier"), gate.person("bob", "annotator", team="Pier", email=None)
    assert ann.account is not None
    for sent in (
        {"name": "cat", "role": "submitter", "team": "Quay", "email": "cat@example.org"},
        {"name": "cat", "role": "submitter"},
        {"name": "", "role": "submitter"},
        {"name": "dan", "role": "king"},
        {"name": "dan", "role": "owner", "email": "wrong"},
        {"name": "eve", "role": "annotator", "email": "ann@example.org"},
        {"name": "a,b", "role": "submitter", "team": "\u202e"},
        {"name": "Ann ", "role": "submitter"},
    ):
        gate.ask(f"adds {sent}", "owner", "POST", "/account/accounts", data=sent)
        gate.ask(f"API adds {sent}", "owner", "POST", "/api/v1/accounts", json={**sent, "name": sent["name"] + "2"})
    number = str(ann.account.id)
    for form in (
        {"account": number, "do": "change", "role": "annotator", "team": "Mole", "lead": "yes"},
        {"account": number, "do": "change", "role": "king"},
        {"account": number, "disabled": "yes"},
        {"account": number, "disabled": "no"},
        {"account": number, "do": "log-out"},
        {"account": "1", "disabled": "yes"},
        {"account": "1", "do": "change", "role": "submitter"},
        {"account": "99", "disabled": "yes"},
        {"account": "none"},
    ):
        gate.ask(f"changes {form}", "owner", "POST", "/account/accounts/change", data=form)
    for change in (
        {"email": "other@example.org"},
        {"email": "wrong"},
        {"team": "Pier", "lead": True},
        {"disabled": True},
        {"role": "owner"},
        {},
        {"role": "king"},
    ):
        gate.ask(f"API changes {change}", "owner", "PATCH", f"/api/v1/accounts/{number}", json=change)
    gate.ask("somebody disabled", "ann", "GET", "/api/v1/account")
    gate.ask("token for bob", "owner", "POST", "/people/tokens", data={"account": "3"})
    gate.ask("token for nobody", "owner", "POST", "/people/tokens", data={"account": "77"})
    gate.ask(
        "API's token",
        "owner",
        "POST",
        "/api/v1/accounts/3/tokens",
        json={"label": "by owner", "scope": "read", "days": 1},
    )
    gate.ask("API takes it", "owner", "DELETE", "/api/v1/accounts/3/tokens/4")
    gate.ask("API takes another", "owner", "DELETE", "/api/v1/accounts/3/tokens/1")
    gate.ask("API ends browsers", "owner", "DELETE", "/api/v1/accounts/3/sessions")
    for k in range(100):
        access.add_account(gate.site, gate.owner, f"crew {k:03d}", "submitter", team="Crew")
    gate.ask("people", "owner", "GET", "/people")
    gate.ask("people 2", "owner", "GET", "/people?page=2")
    gate.ask("accounts", "owner", "GET", "/api/v1/accounts?limit=3")
    gate.ask("message: form", "owner", "GET", "/boards/ferry/message")
    for name, sent in {
        "nothing": {"subject": "", "text": ""},
        "a subject alone": {"subject": "News", "text": " "},
        "a break": {"subject": "a\nb", "text": "x"},
        "long": {"subject": "x" * 201, "text": "y"},
        "teams": {"subject": "News", "text": "Dear all,\r\n\r\nthe ferry is late."},
        "submitters": {"subject": "News", "text": "The ferry is late.", "to": "submitters"},
    }.items():
        gate.ask(f"message: {name}", "owner", "POST", "/boards/ferry/message", data=sent)
        gate.ask(f"API's message: {name}", "owner", "POST", "/api/v1/boards/ferry/messages", json=sent)
    gate.ask("message of another", "bob", "POST", "/boards/ferry/message", data={"subject": "a", "text": "b"})
    diary.note("counts", messages.count_people(gate.site, "ferry"))
    gate.box.letters.clear()
    while send_due(gate.site):
        pass
    stop = next(str(letter["List-Unsubscribe"]) for letter in box.letters if letter["List-Unsubscribe"])
    word = stop.strip("<>").rpartition("/unsubscribe/")[2].partition(">")[0]
    diary.note("how many letters", len(box.letters))
    del box.letters[3:]
    for verb, sent in (("GET", {}), ("POST", {}), ("GET", {}), ("POST", {"all": "yes"})):
        gate.ask(
            f"stops {len(diary.entries)}",
            None,
            verb,
            f"/unsubscribe/{word}",
            **({"data": sent} if verb == "POST" else {}),
        )
    gate.ask("stops by a program", None, "POST", "/api/v1/unsubscribe", json={"token": word, "all": True})
    gate.ask("stops wrongly", None, "POST", "/api/v1/unsubscribe", json={"token": word + "x"})
    for table in (ROWS, ("audit",)):
        diary.rows(f"rows {len(table)}", gate.site, table)
    diary.letters("letters", box)
    gate.keep("owners")


def test_a_name_a_link_and_a_permission_are_refused_as_was_approved(tmp_path: Path, box: Letters) -> None:
    gate = mailing_gate(tmp_path, box, 'sign_up = "open"')
    ann, nan = gate.person("ann"), gate.person("nan", "annotator")
    viewers = {"visitor": access.VISITOR, "ann": ann, "nan": nan, "owner": gate.owner}
    told: dict[str, Any] = {
        "rights": {
            name: {right: access.may(viewer, right) for right in access.RIGHTS} for name, viewer in viewers.items()
        }
        if hasattr(access, "RIGHTS")
        else {},
        "inside": {
            where: sign_up.inside(where)
            for where in (
                "/",
                "/a?b#c",
                "//x",
                "https://x",
                "/\\x",
                "",
                None,
                "/a b",
                "/ä",
                "/\n",
                "x",
                "/" + "a" * 2001,
            )
        },
    }
    for name, viewer in viewers.items():
        told[name] = refusals(gate.site, viewer)
    assert permissions is not None
    assert oidc is not None
    for name, value in told.items():
        gate.diary.note(name, value)
    gate.keep("refused")


def refusals(site: Site, viewer: Viewer) -> dict[str, str]:
    """What somebody is told who does what owners, or people with an account, may do."""
    return {
        "owner's token": problems(lambda: access.add_token(site, viewer, "x", account_id=1)[0].label),
        "own token": problems(lambda: access.add_token(site, viewer, "x")[0].scope),
        "account": problems(lambda: access.add_account(site, viewer, f"by {viewer.name}", "submitter").team),
        "webhook": problems(lambda: access.add_webhook(site, viewer, "https://a.example").url),
        "invites": problems(lambda: invitations.read_teams(site, viewer, TABLE).people),
        "own team": problems(lambda: invitations.invite_to_own_team(site, viewer, "z@example.org").email),
        "mute": problems(lambda: sign_up.mute(site, viewer, ["rank"])),
        "approve": problems(lambda: sign_up.approve(site, viewer, 1)),
        "message": problems(lambda: messages.send_message(site, viewer, "ferry", "a", "b")),
        "message to no board": problems(lambda: messages.send_message(site, viewer, "fery", "a", "b")),
    }
