"""Teams by invitation: a table that is read whole, links that work once, and teams that their leads keep."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from doors import Door, MakeDoor, doors

from billboards.errors import Gone, InvalidInput, InvalidSubmission, NotAllowed, Refused
from billboards.site.accounts import access, invitations
from billboards.site.accounts import link_records as links
from billboards.site.accounts.access import Viewer
from billboards.site.database.schema import account_invitations, deliveries

TABLE = """team,e-mail,name,role
Pier,ann@example.org,Ann,lead
Pier,bob@example.org,,
Quay,cat@example.org,Cat,annotator
"""


@pytest.fixture(scope="module")
def make_door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MakeDoor]:
    with doors(tmp_path_factory.mktemp("doors")) as make:
        yield make


@pytest.fixture
def door(make_door: MakeDoor, tmp_path: Path) -> Door:
    made = make_door('sign_up = "closed"')
    made.box.letters.clear()
    return made


def test_a_table_is_shown_before_it_is_sent_and_each_line_gets_a_link(door: Door) -> None:
    owner = {"authorization": f"Bearer {door.owner_token}"}
    shown = door.browser().post("/people/invite", data={"table": TABLE, "do": "preview"}, headers=owner)
    assert shown.status_code == 200
    assert "3 would be invited" in shown.text
    assert "Send 3 invitations" in shown.text
    assert door.rows(account_invitations) == []
    sent = door.browser().post("/people/invite", data={"table": TABLE, "do": "send"}, headers=owner)
    assert (sent.status_code, sent.headers["location"]) == (303, "/people#invitations")
    assert door.send() == 3
    assert door.box.subjects("ann@example.org") == ["[Harbour boards] Invitation to team Pier"]
    browser = door.browser()
    path = door.box.link("ann@example.org")
    assert 'value="Ann"' in browser.get(path).text
    assert browser.post(path, data={"name": "Ann"}).headers["location"] == "/account#team"
    assert "Submitter in team Pier" in browser.get("/account").text
    assert door.browser().post(path, data={"name": "Eve"}).status_code == 410, "a link works once"
    listed = door.ask(door.owner_token, "GET", "/api/v1/invitations").json()
    assert {each["email"]: each["state"] for each in listed} == {
        "ann@example.org": "accepted",
        "bob@example.org": "sent",
        "cat@example.org": "sent",
    }


def test_every_mistake_of_a_table_is_named_with_its_line_and_nothing_is_sent(door: Door) -> None:
    wrong = "team;email;role\nPier;ann@example.org;king\nPier;nobody\n;bob@example.org\n"
    wrong += "Pier;cat@example.org\n\nPier;cat@example.org\n"
    preview = invitations.read_teams(door.site, door.owner, wrong)
    assert [person.email for person in preview.people] == ["cat@example.org"]
    assert [(problem.line, problem.message.split(";")[0]) for problem in preview.problems] == [
        (2, "'king' is no role"),
        (3, "'nobody' is no e-mail address"),
        (4, "'' can't be the name of a team"),
        (7, "cat@example.org stands on line 5 too"),
    ]
    with pytest.raises(InvalidSubmission):
        invitations.invite_all(door.site, door.owner, wrong)
    answer = door.ask(door.owner_token, "POST", "/api/v1/invitations", json={"table": wrong})
    assert answer.status_code == 422
    assert len(answer.json()["problems"]) == 4
    assert door.rows(account_invitations) == []


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("", "the table is empty"),
        ("team,email\n", "the table is empty"),
        ("name,email\nAnn,ann@example.org\n", "no column team"),
        ("team,email,phone\nPier,ann@example.org,1\n", "'phone' is no column"),
    ],
)
def test_a_table_without_the_right_head_is_refused_in_words(door: Door, table: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        invitations.read_teams(door.site, door.owner, table)


def test_sending_again_makes_the_first_link_useless_and_revoking_both(door: Door) -> None:
    invitations.invite_all(door.site, door.owner, "team,email\nPier,ann@example.org\n")
    door.send()
    first, (row,) = door.box.link("ann@example.org"), door.rows(account_invitations)
    assert first.rpartition("/")[2] not in str([row, *door.rows(deliveries)]), "kept as a digest only"
    invitations.resend(door.site, door.owner, row["id"])
    door.send()
    second = door.box.link("ann@example.org")
    assert [door.browser().get(path).status_code for path in (first, second)] == [410, 200]
    invitations.revoke(door.site, door.owner, row["id"])
    assert door.browser().post(second, data={"name": "Ann"}).status_code == 410
    with pytest.raises(Refused, match="is revoked; invite them anew"):
        invitations.resend(door.site, door.owner, row["id"])


def test_an_invitation_ends_after_two_weeks(door: Door) -> None:
    invitations.invite_all(door.site, door.owner, "team,email\nPier,ann@example.org\n")
    door.send()
    door.clock.now += links.INVITED + 1
    assert door.browser().get(door.box.link("ann@example.org")).status_code == 410
    with door.site.database.reading() as connection:
        (given,) = links.list_invitations(connection)
    assert given.state(door.clock()) == "expired"


def test_an_account_with_the_address_moves_and_keeps_its_role(door: Door) -> None:
    ben, _ = door.person("ben", "annotator", team="Old")
    preview = invitations.read_teams(door.site, door.owner, "team,email\nPier,ben@example.org\n")
    assert preview.people[0].note == "ben has this address and would move from team Old; new team"
    invitations.invite_all(door.site, door.owner, "team,email\nPier,ben@example.org\n")
    door.send()
    path, browser = door.box.link("ben@example.org"), door.browser()
    assert "Join as ben, now in team Old" in browser.get(path).text
    assert browser.post(path, data={}).status_code == 303
    after = door.now(ben).account
    assert after is not None
    assert (after.team, after.role, after.lead) == ("Pier", "annotator", True)


def test_who_led_one_team_does_not_lead_the_next_unless_invited_as_its_lead(door: Door) -> None:
    door.person("lia", team="Pier")
    ann, _ = door.person("ann", team="Old")
    bob, _ = door.person("bob", team="Elder")
    for who, role in ((ann, ""), (bob, "lead")):
        assert who.account is not None
        assert who.account.lead
        invitations.invite_all(door.site, door.owner, f"team,email,role\nPier,{who.account.email},{role}\n")
        door.send()
        assert door.browser().post(door.box.link(str(who.account.email)), data={}).status_code == 303
    moved = [door.now(who).account for who in (ann, bob)]
    assert [(person.team, person.lead) for person in moved if person] == [("Pier", False), ("Pier", True)]


def test_an_invitation_moves_no_account_of_another_address_and_no_only_lead_of_others(door: Door) -> None:
    ann, _ = door.person("ann", team="Old")
    member, _ = door.person("max", team="Old")
    eve, _ = door.person("eve", team="Elder")
    invitations.invite_all(door.site, door.owner, "team,email\nPier,ann@example.org\n")
    door.send()
    path = door.box.link("ann@example.org").rpartition("/")[2]
    assert ann.account is not None
    assert eve.account is not None
    assert member.account is not None
    with pytest.raises(InvalidInput, match="this account does not have the invitation's address"):
        invitations.accept(door.site, path, account_id=eve.account.id)
    with pytest.raises(Refused, match="ann is the only lead of team Old; make another member lead first"):
        invitations.accept(door.site, path)
    assert [who.account.team for who in map(door.now, (ann, eve)) if who.account] == ["Old", "Elder"]
    invitations.set_lead(door.site, ann, member.account.id, lead=True)
    joined = invitations.accept(door.site, path, account_id=ann.account.id).account
    assert joined is not None
    assert (joined.name, joined.team) == ("ann", "Pier")
    with pytest.raises(Gone, match="it was accepted or revoked"):
        invitations.accept(door.site, path)


def test_leads_invite_to_their_own_team_members_do_not_and_twenty_a_day_are_enough(door: Door) -> None:
    lead, token = door.person("lia", team="Pier")
    member, _ = door.person("max", team="Pier")
    made = door.ask(token, "POST", "/api/v1/account/team/invitations", json={"email": "new@example.org"})
    assert (made.status_code, made.json()["team"], made.json()["role"]) == (201, "Pier", "submitter")
    with pytest.raises(NotAllowed, match="max does not lead team Pier"):
        invitations.invite_to_own_team(door.site, member, "other@example.org")
    with pytest.raises(Refused, match="is invited to team Pier already"):
        invitations.invite_to_own_team(door.site, lead, "New@example.org")
    for k in range(19):
        invitations.invite_to_own_team(door.site, lead, f"n{k}@example.org")
    with pytest.raises(Refused, match="has sent its 20 invitations of today"):
        invitations.invite_to_own_team(door.site, lead, "late@example.org")


def test_a_lead_of_another_team_changes_no_invitation(door: Door) -> None:
    lia, _ = door.person("lia", team="Pier")
    _, other = door.person("oto", team="Quay")
    made = invitations.invite_to_own_team(door.site, lia, "new@example.org")
    assert door.ask(other, "DELETE", f"/api/v1/invitations/{made.id}").status_code == 403
    assert door.ask(other, "POST", f"/api/v1/invitations/{made.id}/resend").status_code == 403
    assert door.ask(other, "GET", "/api/v1/invitations").status_code == 403


def test_a_member_that_is_removed_goes_on_alone_and_a_team_keeps_a_lead(door: Door) -> None:
    lia, token = door.person("lia", team="Pier")
    mia, _ = door.person("mia", team="Pier")
    assert lia.account is not None
    assert mia.account is not None
    with pytest.raises(Refused, match="the only lead of team Pier"):
        invitations.remove_member(door.site, lia, lia.account.id)
    with pytest.raises(Refused, match="the only lead of team Pier"):
        invitations.set_lead(door.site, lia, lia.account.id, lead=False)
    members = door.ask(token, "GET", "/api/v1/account/team").json()["members"]
    assert [(person["name"], person["lead"]) for person in members] == [("lia", True), ("mia", False)]
    assert door.ask(token, "DELETE", f"/api/v1/account/team/members/{mia.account.id}").status_code == 204
    alone = door.now(mia).account
    assert alone is not None
    assert (alone.team, alone.lead) == ("mia", True)
    with pytest.raises(InvalidInput, match="is not in team Pier"):
        invitations.remove_member(door.site, lia, mia.account.id)


def test_a_member_leaves_and_removes_nobody_else(door: Door) -> None:
    lia, _ = door.person("lia", team="Pier")
    mia, _ = door.person("mia", team="Pier")
    assert lia.account is not None
    assert mia.account is not None
    with pytest.raises(NotAllowed, match="mia does not lead team Pier"):
        invitations.remove_member(door.site, mia, lia.account.id)
    assert invitations.remove_member(door.site, mia, mia.account.id).team == "mia"


def test_the_first_of_a_team_leads_it_and_an_owner_may_change_that(door: Door) -> None:
    lia, _ = door.person("lia", team="Pier")
    mia, _ = door.person("mia", team="Pier")
    assert (lia.account and lia.account.lead, mia.account and mia.account.lead) == (True, False)
    assert mia.account is not None
    path = f"/api/v1/accounts/{mia.account.id}"
    assert door.ask(door.owner_token, "PATCH", path, json={"lead": True}).json()["lead"] is True


def test_owners_see_when_an_account_was_last_used(door: Door) -> None:
    _, token = door.person("lia")
    door.clock.now += 1000
    door.ask(token, "GET", "/api/v1/account")
    people = {each["name"]: each for each in door.ask(door.owner_token, "GET", "/api/v1/accounts").json()}
    assert people["lia"]["last_used"] == door.clock()


def test_without_mail_nobody_is_invited(tmp_path: Path) -> None:
    from billboards.site.site import open_site

    site = open_site(tmp_path, login_required=True)
    owner = access.viewer_of_token(site, access.new_owner_token(site, "owner"))
    assert isinstance(owner, Viewer)
    with pytest.raises(Refused, match="this site sends no mail"):
        invitations.invite_to_own_team(site, owner, "ann@example.org")
    site.close()
