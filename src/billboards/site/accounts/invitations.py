"""Teams by invitation: one address, or a table of teams, each with a link that makes an account in its team.

An owner's table is read whole: every mistake is named with its line, and nothing is sent while there is one. A lead
invites to the own team. An invitation can be sent again, which makes the earlier link useless, and revoked.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from billboards.board.names import look_alike
from billboards.errors import BillboardsError, Gone, InvalidInput, InvalidSubmission, NotAllowed, Problem, Refused
from billboards.site.accounts import link_records as links
from billboards.site.accounts import records as accounts
from billboards.site.accounts.access import Viewer, check_alike, check_word, require
from billboards.site.accounts.link_records import Invitation
from billboards.site.accounts.records import Account, Role
from billboards.site.accounts.sign_up import Entered, checked_address
from billboards.site.admin import deliveries
from billboards.site.database import trail
from billboards.site.site import Site

#: Lines of a table of teams, and characters of it.
MOST_LINES, MOST_CHARACTERS = 2000, 500_000
#: Invitations that a team's leads may send in a day.
PER_DAY = 20
DAY = 86400.0
COLUMNS = ("team", "email", "name", "role")
#: What may stand in the column `role`: the account's role, and whether it leads its team.
ROLE_WORDS: Mapping[str, tuple[Role, bool]] = {
    "": ("submitter", False),
    "member": ("submitter", False),
    "submitter": ("submitter", False),
    "lead": ("submitter", True),
    "annotator": ("annotator", False),
    "owner": ("owner", False),
}
OVER = "this invitation is not in use: it was accepted or revoked, or is too old; ask who invited you for another one"


@dataclass(frozen=True, kw_only=True)
class Invited:
    """A line of a table of teams."""

    line: int
    team: str
    email: str
    name: str | None = None
    role: Role = "submitter"
    lead: bool = False
    #: What an owner should know before it is sent.
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Preview:
    """A table of teams as it was read: who would be invited, and every mistake by its line."""

    people: tuple[Invited, ...]
    problems: tuple[Problem, ...]


def read_teams(site: Site, viewer: Viewer, text: str) -> Preview:
    """Read a table of teams (CSV with a head: team, email, and name and role where wanted)."""
    require(viewer, "administer")
    lines, problems = _lines(text)
    with site.database.reading() as connection:
        teams = accounts.team_names(connection)
        pending = {each.email.lower() for each in links.list_invitations(connection) if _is_open(each, site.clock())}
        people: list[Invited] = []
        seen: dict[str, int] = {}
        for number, row in lines:
            try:
                person = _invited(site, number, row)
                if (first := seen.setdefault(person.email.lower(), number)) != number:
                    raise InvalidInput(f"{person.email} stands on line {first} too; leave one of them out")
                if person.email.lower() in pending:
                    raise InvalidInput(f"{person.email} is invited already; send that invitation again instead")
                alike = next((team for team in teams if team != person.team and look_alike(team, person.team)), None)
                if alike is not None:
                    raise InvalidInput(f"team {person.team} looks like {alike}, which is there; write it the same way")
            except BillboardsError as error:
                problems.append(Problem("teams.csv", number, str(error)))
                continue
            people.append(_with_note(connection, person, teams))
    return Preview(people=tuple(people), problems=tuple(problems))


def _lines(text: str) -> tuple[list[tuple[int, dict[str, str]]], list[Problem]]:
    """The lines of a table by the names of its columns, with their numbers in the file."""
    if len(text) > MOST_CHARACTERS:
        raise InvalidInput(f"the table has {len(text):,} characters; at most {MOST_CHARACTERS:,} are taken")
    text = text.removeprefix("\ufeff")
    head = text.lstrip().partition("\n")[0]
    separator = max(",;\t", key=head.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    rows, problems = [], []
    columns: list[str] | None = None
    try:
        for cells in reader:
            values = [cell.strip() for cell in cells]
            if not any(values):
                continue
            if columns is None:
                columns = _columns(values)
            elif len(values) > len(columns):
                words = f"has {len(values)} values, the head {len(columns)}; put a value with a separator in quotes"
                problems.append(Problem("teams.csv", reader.line_num, words))
            else:
                rows.append((reader.line_num, dict(zip(columns, values, strict=False))))
    except csv.Error as error:
        problems.append(Problem("teams.csv", reader.line_num, f"can't be read: {error}; save the table as CSV again"))
    if len(rows) > MOST_LINES:
        raise InvalidInput(f"the table has {len(rows):,} lines; send at most {MOST_LINES:,} at a time")
    if columns is None or (not rows and not problems):
        raise InvalidInput("the table is empty; begin with team,email,name,role and write a line for each person")
    return rows, problems


def _columns(head: Sequence[str]) -> list[str]:
    names = [cell.casefold().replace("e-mail", "email").replace("mail address", "email") for cell in head]
    missing = [name for name in ("team", "email") if name not in names]
    if missing:
        raise InvalidInput(f"the first line has no column {' and '.join(missing)}; begin with team,email,name,role")
    wrong = next((cell for cell, name in zip(head, names, strict=True) if name not in COLUMNS), None)
    if wrong is not None:
        raise InvalidInput(f"{wrong[:40]!r} is no column of this table; there are {', '.join(COLUMNS)}")
    return names


def _invited(site: Site, line: int, row: Mapping[str, str]) -> Invited:
    word = row.get("role", "").casefold()
    if word not in ROLE_WORDS:
        raise InvalidInput(f"{row['role'][:40]!r} is no role; there are {', '.join(filter(None, ROLE_WORDS))}")
    if not row.get("email"):
        raise InvalidInput("has no e-mail address")
    check_word(row.get("team", ""), "team")
    name = row.get("name") or None
    if name is not None:
        check_word(name, "person")
    role, lead = ROLE_WORDS[word]
    email = checked_address(site, row["email"])
    return Invited(line=line, team=row["team"], email=email, name=name, role=role, lead=lead)


def _with_note(connection: Connection, person: Invited, teams: Sequence[str]) -> Invited:
    owners = accounts.accounts_of_email(connection, person.email)
    words = [f"{owners[0].name} has this address and would move from team {owners[0].team}"] if owners else []
    words += [] if person.team in teams else ["new team"]
    words += [f"as {person.role}"] if person.role != "submitter" else []
    return Invited(**{**vars(person), "note": "; ".join(words)})


def invite_all(site: Site, viewer: Viewer, text: str) -> tuple[Invitation, ...]:
    """Invite everybody in a table of teams, or nobody where it has mistakes."""
    own, preview = require(viewer, "administer"), read_teams(site, viewer, text)
    if preview.problems:
        raise InvalidSubmission(preview.problems)
    with site.database.writing() as connection:
        return tuple(_put(site, connection, own, person) for person in preview.people)


def invite_to_own_team(site: Site, viewer: Viewer, email: str, *, name: str = "") -> Invitation:
    """A lead invites somebody to the own team."""
    own = require_lead(viewer)
    email, now = checked_address(site, email), site.clock()
    if name.strip():
        check_word(name.strip(), "person")
    with site.database.writing() as connection:
        sent = links.list_invitations(connection, team=own.team)
        if sum(each.created > now - DAY for each in sent) >= PER_DAY:
            raise Refused(f"team {own.team} has sent its {PER_DAY} invitations of today; go on tomorrow")
        if any(each.email.lower() == email.lower() and _is_open(each, now) for each in sent):
            raise Refused(f"{email} is invited to team {own.team} already; send that invitation again instead")
        return _put(site, connection, own, Invited(line=0, team=own.team, email=email, name=name.strip() or None))


def require_lead(viewer: Viewer) -> Account:
    """The viewer's account, where it leads its team."""
    own = require(viewer, "own-account")
    if not own.lead:
        raise NotAllowed(f"{own.name} does not lead team {own.team}; ask one of its leads")
    return own


def _put(site: Site, connection: Connection, own: Account, person: Invited) -> Invitation:
    now = site.clock()
    made = links.add_invitation(
        connection,
        person.email,
        person.team,
        role=person.role,
        invited_by=own.id,
        now=now,
        name=person.name,
        lead=person.lead,
    )
    trail.note(connection, own.name, "account.invited", person.team, now=now, detail={"invitation": made.id})
    _mail(connection, own, made, now)
    return made


def _mail(connection: Connection, own: Account, invitation: Invitation, now: float) -> None:
    told = {"invitation": invitation.id, "from": own.name}
    deliveries.mail_address(connection, "account.invited", told, invitation.email, now=now)


def _is_open(invitation: Invitation, now: float) -> bool:
    return invitation.state(now) in ("waiting", "sent")


def resend(site: Site, viewer: Viewer, invitation_id: int) -> Invitation:
    """Send an invitation again, with a new link; the earlier one no longer works."""
    now = site.clock()
    with site.database.writing() as connection:
        own, given = _changed_by(connection, viewer, invitation_id)
        if given.accepted is not None or given.revoked is not None:
            raise Refused(f"the invitation of {given.email} is {given.state(now)}; invite them anew")
        links.change_invitation(connection, given.id, digest=None, sent=None, expires=None)
        _mail(connection, own, given, now)
        return links.invitation(connection, given.id)


def revoke(site: Site, viewer: Viewer, invitation_id: int) -> Invitation:
    """Make an invitation useless."""
    now = site.clock()
    with site.database.writing() as connection:
        own, given = _changed_by(connection, viewer, invitation_id)
        if given.accepted is not None:
            raise Refused(f"{given.email} has accepted already; remove them from the team instead")
        links.change_invitation(connection, given.id, revoked=now, digest=None)
        trail.note(connection, own.name, "account.uninvited", given.team, now=now, detail={"invitation": given.id})
        return links.invitation(connection, given.id)


def _changed_by(connection: Connection, viewer: Viewer, invitation_id: int) -> tuple[Account, Invitation]:
    """Who changes an invitation, and the invitation: an owner any, a lead one to the own team."""
    own = require(viewer, "own-account")
    given = links.invitation(connection, invitation_id)
    if own.role != "owner" and not (own.lead and given.team == own.team):
        raise NotAllowed(f"{own.name} may not change this invitation: that takes an owner, or a lead of its team")
    return own, given


@dataclass(frozen=True, kw_only=True)
class Offer:
    """What somebody sees who opens an invitation; `people` are accounts with its address, which would change teams."""

    invitation: Invitation
    people: tuple[Account, ...]


def open_invitation(site: Site, text: str) -> Offer:
    """What an invitation offers; nothing is used up by looking."""
    with site.database.reading() as connection:
        given = _given(site, connection, text)
        return Offer(invitation=given, people=accounts.accounts_of_email(connection, given.email))


def _given(site: Site, connection: Connection, text: str) -> Invitation:
    given = links.find_invitation(connection, text, now=site.clock())
    if given is None:
        raise Gone(OVER)
    return given


def accept(site: Site, text: str, *, name: str = "", account_id: int | None = None) -> Entered:
    """Join a team: with a new account under a name, or with the account that has the invitation's address."""
    now = site.clock()
    try:
        with site.database.writing() as connection:
            given = _given(site, connection, text)
            people = {person.id: person for person in accounts.accounts_of_email(connection, given.email)}
            if account_id is not None and account_id not in people:
                raise InvalidInput("this account does not have the invitation's address; open the link again")
            if people:
                person = _moved(connection, given, people, account_id, now)
            else:
                person = _made(connection, given, name.strip() or given.name or "", now)
            links.change_invitation(connection, given.id, accepted=now, account_id=person.id, digest=None)
            return Entered(account=person, next="/account#team")
    except (InvalidInput, Refused):
        with site.database.writing() as connection:
            links.note_try(connection, text)
        raise


def _moved(
    connection: Connection, given: Invitation, people: Mapping[int, Account], account_id: int | None, now: float
) -> Account:
    """An account that joins another team; what it sent in for the old one stays there."""
    if account_id is None and len(people) > 1:
        raise InvalidInput("several accounts have this address; choose one of them")
    person = people[next(iter(people)) if account_id is None else account_id]
    check_may_leave(connection, person)
    return accounts.change_account(
        connection, person.id, actor=person.name, now=now, team=given.team, lead=given.lead or None
    )


def _made(connection: Connection, given: Invitation, name: str, now: float) -> Account:
    check_word(name, "person")
    check_alike(connection, name)
    return accounts.add_account(
        connection,
        name,
        given.role,
        actor="invitation",
        now=now,
        team=given.team,
        email=given.email,
        confirmed=now,
        lead=given.lead,
    )


def check_may_leave(connection: Connection, person: Account) -> None:
    """A team with members keeps a lead."""
    others = [other for other in accounts.members(connection, person.team_id) if other.id != person.id]
    if person.lead and others and not any(other.lead for other in others):
        raise Refused(f"{person.name} is the only lead of team {person.team}; make another member lead first")


def own_team_facts(site: Site, viewer: Viewer) -> tuple[tuple[Account, ...], tuple[Invitation, ...]]:
    """Who is in the viewer's team, and, for its leads, who is invited."""
    own = require(viewer, "own-account")
    with site.database.reading() as connection:
        invited = links.list_invitations(connection, team=own.team) if own.lead else ()
        return accounts.members(connection, own.team_id), invited


def remove_member(site: Site, viewer: Viewer, account_id: int) -> Account:
    """A lead removes somebody from the team, or somebody leaves it: they go on in a team of their own."""
    own = require(viewer, "own-account")
    if account_id != own.id:
        require_lead(viewer)
    with site.database.writing() as connection:
        person = _member(connection, own, account_id)
        check_may_leave(connection, person)
        if len(accounts.members(connection, own.team_id)) == 1:
            raise Refused(f"{person.name} is alone in team {own.team}; there is nobody to part from")
        team = accounts.own_team(connection, person.name)
        return accounts.change_account(connection, person.id, actor=own.name, now=site.clock(), team=team)


def set_lead(site: Site, viewer: Viewer, account_id: int, lead: bool) -> Account:
    """A lead makes another member lead, or no longer lead; a team keeps one."""
    own = require_lead(viewer)
    with site.database.writing() as connection:
        person = _member(connection, own, account_id)
        if not lead and not any(m.lead and m.id != person.id for m in accounts.members(connection, own.team_id)):
            raise Refused(f"{person.name} is the only lead of team {own.team}; make another member lead first")
        return accounts.change_account(connection, person.id, actor=own.name, now=site.clock(), lead=lead)


def _member(connection: Connection, own: Account, account_id: int) -> Account:
    person = next((each for each in accounts.members(connection, own.team_id) if each.id == account_id), None)
    if person is None:
        raise InvalidInput(f"account {account_id} is not in team {own.team}; load the page again")
    return person
