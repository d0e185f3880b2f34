"""Mails to people: what each says, who gets it, how it is switched off, and what is never told."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from email.message import EmailMessage

import pytest
from doors import Door, MakeDoor, doors
from mail_boxes import words
from outbox import list_deliveries

from billboards.errors import InvalidInput
from billboards.site.accounts import messages, sign_up
from billboards.site.accounts.access import Viewer
from billboards.site.admin import deliveries
from billboards.site.admin.mail_kinds import KINDS
from billboards.site.admin.notices import send_due
from billboards.site.admin.reminders import remind
from billboards.site.settings import moment
from billboards.site.submissions.sending import change_settings, submit_generator
from billboards.site.work.worker import work_until_done

DAY = 86400.0
GOOD, BAD = b"one\ntwo\nthree\nfour\n", b"a\nb\nc\nd\n"


@pytest.fixture(scope="module")
def make_door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MakeDoor]:
    with doors(tmp_path_factory.mktemp("mail")) as make:
        yield make


@pytest.fixture
def door(make_door: MakeDoor) -> Door:
    made = make_door()
    made.box.letters.clear()
    made.box.refused.clear()
    change_settings(made.site, made.owner, "ferry", {"draws": 20, "by": "length"})
    return made


def stop_link(letter: EmailMessage) -> str:
    """The path of a letter's unsubscribe link, the same in its header and in its text."""
    header = str(letter["List-Unsubscribe"]).strip("<>").replace(" ", "").replace("\n", "")
    assert header in words(letter)
    return header.removeprefix("http://localhost")


def close_at(door: Door, seconds: float, **phase: object) -> None:
    closes = moment(door.clock() + seconds)
    change_settings(door.site, door.owner, "ferry", {"phases": [{"name": "test", "closes": closes, **phase}]})


def test_a_submitter_hears_of_receipt_score_and_rank(door: Door) -> None:
    ann, _ = door.person("ann")
    work_until_done(door.site)
    submit_generator(door.site, ann, "ferry", "tug", GOOD)
    work_until_done(door.site)
    door.send()
    assert door.box.subjects("ann@example.org") == [
        "[Harbour boards] ferry: tug was received",
        "[Harbour boards] ferry: tug is scored",
        "[Harbour boards] ferry: tug has rank 1 of 4 generators",
    ]
    last = words(door.box.to("ann@example.org")[-1])
    assert "generator tug, version 1, on board ferry has rank 1 of 4 generators." in last
    assert "Rank 1 of 4 by length" in last
    assert "http://localhost/submissions/" in last


def test_nothing_of_a_blind_phase_is_told_but_that_it_was_scored(door: Door) -> None:
    ann, _ = door.person("ann")
    work_until_done(door.site)
    close_at(door, 30 * DAY, blind=True)
    submit_generator(door.site, ann, "ferry", "tug", GOOD)
    work_until_done(door.site)
    door.send()
    assert door.box.subjects("ann@example.org") == [
        "[Harbour boards] ferry: tug was received",
        "[Harbour boards] ferry: tug is scored",
    ]
    assert not any("rank" in words(letter).split("-- ")[0] for letter in door.box.letters)


def test_the_name_of_a_blind_entry_is_not_told_by_refusing_it(door: Door) -> None:
    ann, _ = door.person("ann")
    _, other = door.person("ben")
    _, third = door.person("cat")
    close_at(door, 30 * DAY, blind=True)
    submit_generator(door.site, ann, "ferry", "tug", GOOD)
    sent = {"data": {"name": "tug"}, "files": {"file": ("o.txt", BAD)}}
    same = door.ask(other, "POST", "/api/v1/boards/ferry/generators", **sent)
    alike = door.ask(third, "POST", "/api/v1/boards/ferry/generators", **{**sent, "data": {"name": "Tug"}})
    assert (same.status_code, same.json()["version"]) == (201, 1)
    assert (alike.status_code, alike.json()["version"]) == (201, 1)
    change_settings(door.site, door.owner, "ferry", {"revealed": True})
    late = door.ask(third, "POST", "/api/v1/boards/ferry/generators", **{**sent, "data": {"name": "tug"}})
    assert (late.status_code, late.json()["detail"]) == (
        409,
        "the name tug is taken by another team; choose another",
    ), "what everybody sees may be told"


def test_a_kind_that_is_switched_off_is_not_mailed_even_where_it_waits_already(door: Door) -> None:
    ann, token = door.person("ann")
    submit_generator(door.site, ann, "ferry", "tug", GOOD)
    assert door.ask(token, "PUT", "/api/v1/account/mail", json={"off": ["receipt"]}).json()["off"] == ["receipt"]
    door.send()
    assert door.box.letters == []
    with door.site.database.reading() as connection:
        (notice,) = list_deliveries(connection)
    assert (notice.state, notice.reason) == ("given up", "the person has switched this kind of mail off")
    submit_generator(door.site, ann, "ferry", "raft", BAD, entry="contrastive")
    with door.site.database.reading() as connection:
        assert len(list_deliveries(connection)) == 1, "what is switched off is not even put down"


def test_an_unsubscribe_link_works_without_log_in_and_opening_it_stops_nothing(door: Door) -> None:
    ann, _ = door.person("ann")
    submit_generator(door.site, ann, "ferry", "tug", GOOD)
    door.send()
    (letter,) = door.box.letters
    assert letter["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    path = stop_link(letter)
    assert "A submission of yours was received" in door.browser().get(path).text
    account = door.now(ann).account
    assert account is not None
    assert not account.muted
    assert door.browser().post(path, data={"List-Unsubscribe": "One-Click"}).status_code == 200
    account = door.now(ann).account
    assert account is not None
    assert account.muted == ["receipt"]
    assert "Mails stopped" in door.browser().post(path, data={"all": "yes"}).text
    account = door.now(ann).account
    assert account is not None
    assert account.muted == sorted(KINDS)


def test_nobody_stops_anothers_mails(door: Door) -> None:
    ann, _ = door.person("ann")
    ben, _ = door.person("ben")
    submit_generator(door.site, ann, "ferry", "tug", GOOD)
    door.send()
    word = stop_link(door.box.letters[0]).rpartition("/")[2]
    body = base64.urlsafe_b64decode(word + "==").decode()
    assert ben.account is not None
    forged = f"{ben.account.id}.receipt.{body.rpartition('.')[2]}"
    for wrong in (base64.urlsafe_b64encode(forged.encode()).decode().rstrip("="), "x", "%C3%A4", word[:-4]):
        assert door.browser().post(f"/unsubscribe/{wrong}").status_code == 410, wrong
    untouched = door.now(ben).account
    assert untouched is not None
    assert not untouched.muted


def test_a_phases_end_is_reminded_of_a_week_and_a_day_before_once_each(door: Door) -> None:
    door.person("ann")
    door.person("eve", "annotator")
    close_at(door, 8 * DAY)
    counts = []
    for days in (0, 1.5, 0, 3, 3.2, 0, 0.5):
        door.clock.now += days * DAY
        counts.append(remind(door.site))
    assert counts == [0, 1, 0, 0, 1, 0, 0]
    door.send()
    assert door.box.subjects("ann@example.org") == [
        "[Harbour boards] ferry: phase test closes in 7 days",
        "[Harbour boards] ferry: phase test closes in 1 day",
    ]
    close_at(door, 6 * DAY)
    assert remind(door.site) == 1, "an end that was moved is reminded of again"


def test_who_has_nothing_left_of_a_quota_is_not_reminded(door: Door) -> None:
    ann, _ = door.person("ann")
    door.person("ben")
    change_settings(door.site, door.owner, "ferry", {"total": 1, "accepts": ["generator"]})
    submit_generator(door.site, ann, "ferry", "tug", GOOD)
    close_at(door, DAY / 2)
    assert remind(door.site) == 1
    door.send()
    assert [s for s in door.box.subjects("ann@example.org") if "closes" in s] == []
    assert len(door.box.subjects("ben@example.org")) == 1


def test_an_owner_writes_to_all_teams_of_a_board(door: Door) -> None:
    ann, token = door.person("ann", team="Pier")
    door.person("amy", team="Pier")
    door.person("ben")
    submit_generator(door.site, ann, "ferry", "tug", GOOD)
    sent = {"subject": "New data", "text": "Line 7 was wrong.\nPlease send again."}
    assert door.ask(token, "POST", "/api/v1/boards/ferry/messages", json=sent).status_code == 403
    assert door.ask(door.owner_token, "POST", "/api/v1/boards/ferry/messages", json=sent).json() == {"mails": 2}
    door.send()
    assert door.box.subjects("amy@example.org") == ["[Harbour boards] ferry: New data"]
    assert "Line 7 was wrong.\nPlease send again." in words(door.box.to("amy@example.org")[0])
    assert door.box.to("ben@example.org") == []
    page = door.ask(door.owner_token, "POST", "/boards/ferry/message", data={**sent, "to": "submitters"})
    assert "3 mails are on their way." in page.text
    with pytest.raises(InvalidInput, match="give the message a subject"):
        messages.send_message(door.site, door.owner, "ferry", " ", "x")
    assert door.ask(token, "GET", "/boards/ferry/message").status_code == 403


def test_one_bad_address_keeps_no_other_mail_back(door: Door) -> None:
    for name in ("ann", "bad", "cat"):
        viewer, _ = door.person(name)
        submit_generator(door.site, viewer, "ferry", f"of {name}", GOOD)
    door.box.refused.add("bad@example.org")
    with door.site.database.writing() as connection:
        deliveries.mail_address(connection, "board.message", {"nonsense": 1}, "x@example.org", now=door.clock())
        deliveries.mail_address(connection, "link.enter", {"link": 999}, "y@example.org", now=door.clock())
    assert send_due(door.site) == 2
    assert send_due(door.site) == 0
    assert {letter["To"] for letter in door.box.letters} == {"ann@example.org", "cat@example.org"}
    with door.site.database.reading() as connection:
        states = {notice.target: notice.state for notice in list_deliveries(connection)}
    assert [states[f"mailto:{who}@example.org"] for who in ("bad", "x", "y")] == ["given up"] * 3


def test_an_own_choice_of_mails_is_kept_and_a_kind_that_is_none_refused(door: Door) -> None:
    ann, token = door.person("ann")
    csrf_free = {"mail_result": "yes", "mail_rank": "yes"}
    assert door.ask(token, "POST", "/account/mail", data=csrf_free).status_code == 303
    account = door.now(ann).account
    assert account is not None
    assert account.muted == ["deadline", "message", "receipt"]
    with pytest.raises(InvalidInput, match="is no kind of mail"):
        sign_up.mute(door.site, ann, ["gossip"])


def test_a_visitor_is_told_to_log_in_before_the_form_and_comes_back(door: Door) -> None:
    for kind in ("generator", "metric", "scores"):
        page = door.browser().get(f"/boards/ferry/submit/{kind}").text
        assert "<textarea" not in page
        assert f'href="/login?next=/boards/ferry/submit/{kind}"' in page
        assert f'href="/sign-up?next=/boards/ferry/submit/{kind}"' in page
    _, annotator = door.person("eve", "annotator")
    assert "Your account may not submit" in door.ask(annotator, "GET", "/boards/ferry/submit/generator").text
    _, token = door.person("ann")
    assert "<textarea" in door.ask(token, "GET", "/boards/ferry/submit/generator").text


def test_owners_are_told_of_requests_unless_they_switched_that_off(door: Door) -> None:
    assert door.owner.account is not None
    change = {"email": "owner@example.org"}
    door.ask(door.owner_token, "PATCH", f"/api/v1/accounts/{door.owner.account.id}", json=change)
    assert isinstance(door.owner, Viewer)
    door.browser().post(door.link("new@example.org"), data={"name": "New"})
    door.send()
    assert len(door.box.to("owner@example.org")) == 1
    door.ask(door.owner_token, "PUT", "/api/v1/account/mail", json={"off": ["site"]})
    door.browser().post(door.link("two@example.org"), data={"name": "Two"})
    door.send()
    assert len(door.box.to("owner@example.org")) == 1
