"""Coming in over the HTTP interface: links, requests, invitations, teams, mails and browsers that are logged in.

Every form of the pages has its route here, with the same function behind it. A program that uses a link gets a token
where a browser gets a cookie.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Path, Request, Response
from pydantic import BaseModel, Field

from billboards.run.addresses import network_of
from billboards.site.accounts import access, invitations, sign_up
from billboards.site.accounts import link_records as links
from billboards.site.accounts import records as accounts
from billboards.site.accounts.access import Viewer, require
from billboards.site.accounts.invitations import MOST_CHARACTERS
from billboards.site.accounts.link_records import AccessRequest, Invitation
from billboards.site.accounts.permissions import Permission, site_of
from billboards.site.accounts.records import SESSION_KEY, Account, Role
from billboards.site.accounts.routes import AccountFacts, Name, Number, Strict, account_facts
from billboards.site.accounts.sign_up import LONGEST_WORDS, Entered, inside
from billboards.site.admin.mail_kinds import KINDS, MailKind
from billboards.site.site import Site
from billboards.site.web.api import MOST, Cursor, Limit, list_at, tagged_router

router = tagged_router("accounts")
Holder = Annotated[Viewer, Depends(Permission("own-account"))]
Owner = Annotated[Viewer, Depends(Permission("administer"))]

Email = Annotated[str, Field(max_length=320)]
#: The text of a link, or the word of an unsubscribe link.
LinkText = Annotated[str, Field(min_length=1, max_length=500)]
Words = Annotated[str, Field(max_length=LONGEST_WORDS)]


class Told(BaseModel):
    """What the site says to who asked."""

    detail: str


class LinkWish(Strict):
    email: Email
    #: The page of this site to go on to.
    next: Annotated[str, Field(max_length=2000)] = "/"


class LinkUse(Strict):
    """A link's text, with what it asks for: a name and team to sign up, a sentence to ask for access."""

    token: LinkText
    account: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None
    name: Annotated[str, Field(max_length=100)] = ""
    team: Annotated[str, Field(max_length=100)] = ""
    words: Words = ""


class InvitationUse(Strict):
    token: LinkText
    account: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None
    name: Annotated[str, Field(max_length=100)] = ""


class EnteredFacts(BaseModel):
    """What came of a link: `entered` with a token for the account, `asked` where owners decide, or `confirmed`."""

    state: str
    account: AccountFacts | None
    token: str | None
    next: str


class MailChoice(Strict):
    """The kinds of mail that are switched off."""

    off: list[MailKind]


class MailFacts(BaseModel):
    """The account's address, every kind of mail with what it is, and those that are switched off."""

    email: str | None
    confirmed: float | None
    kinds: dict[str, str]
    off: list[str]


class AddressWish(Strict):
    email: Email


class Unsubscription(Strict):
    token: LinkText
    #: Whether all kinds of mail are switched off, not only the link's.
    all: bool = False


class SessionFacts(BaseModel):
    """A browser that is logged in."""

    key: str
    created: float
    expires: float
    last_used: float | None
    agent: str | None
    current: bool


class Ended(BaseModel):
    """How many browsers were logged out."""

    ended: int


class MemberFacts(BaseModel):
    id: int
    name: str
    lead: bool


class InvitationFacts(BaseModel):
    """An invitation, and whether it waits, was sent, accepted or revoked, or is over."""

    id: int
    email: str
    name: str | None
    team: str
    role: str
    lead: bool
    by: str
    state: str
    created: float
    sent: float | None
    expires: float | None


class TeamFacts(BaseModel):
    """One's team: its members, and for its leads who is invited."""

    team: str
    members: list[MemberFacts]
    invitations: list[InvitationFacts]


class MemberInvitation(Strict):
    email: Email
    name: Annotated[str, Field(max_length=100)] = ""


class MemberChange(Strict):
    lead: bool


class RequestFacts(BaseModel):
    """Somebody with a confirmed address who asks for an account."""

    id: int
    email: str
    name: str
    team: str | None
    words: str
    state: str
    created: float
    decided: float | None
    decided_by: str | None
    reason: str | None


class Approval(Strict):
    """The name, team and role of the new account; what is left out is as it was asked for."""

    name: Name | None = None
    team: Name | None = None
    role: Role = "submitter"


class Refusal(Strict):
    reason: Words = ""


class Table(Strict):
    """A table of teams as CSV text: a head with team, email, name, role, and a line for each person."""

    table: Annotated[str, Field(max_length=MOST_CHARACTERS)]


class LineFacts(BaseModel):
    line: int
    team: str
    email: str
    name: str | None
    role: str
    lead: bool
    note: str


class Mistake(BaseModel):
    line: int | None
    message: str


class PreviewFacts(BaseModel):
    """Who would be invited, and every mistake with its line."""

    people: list[LineFacts]
    problems: list[Mistake]


@router.post("/sign-up/links", status_code=202, dependencies=[Depends(Permission("read"))])
def ask_for_link(request: Request, sent: LinkWish) -> Told:
    """Mail a link that logs in or signs up; the answer is the same for every address."""
    client = network_of(request.client.host) if request.client else ""
    return Told(detail=sign_up.ask_for_link(site_of(request), sent.email, client=client, next=sent.next))


@router.post("/sign-up/enter", dependencies=[Depends(Permission("read"))])
def use_link(request: Request, sent: LinkUse) -> EnteredFacts:
    """Use a mailed link, once: log in, sign up, ask for access, or confirm an address."""
    site = site_of(request)
    entered = sign_up.enter(site, sent.token, account_id=sent.account, name=sent.name, team=sent.team, words=sent.words)
    return _entered(site, entered)


@router.post("/sign-up/join", dependencies=[Depends(Permission("read"))])
def use_invitation(request: Request, sent: InvitationUse) -> EnteredFacts:
    """Accept an invitation, once."""
    site = site_of(request)
    return _entered(site, invitations.accept(site, sent.token, name=sent.name, account_id=sent.account))


@router.post("/unsubscribe", dependencies=[Depends(Permission("read"))])
def unsubscribe(request: Request, sent: Unsubscription) -> Told:
    """Stop mails by the signed word of an unsubscribe link."""
    kind = sign_up.unsubscribe(site_of(request), sent.token, all_kinds=sent.all)
    return Told(detail="No more mails." if sent.all else f"No more mails of this kind: {KINDS[kind]}.")


@router.get("/account/mail")
def read_mail(request: Request, viewer: Holder) -> MailFacts:
    """One's address, and which kinds of mail are switched off."""
    with site_of(request).database.reading() as connection:
        return _mail(accounts.account(connection, require(viewer, "own-account").id))


@router.put("/account/mail")
def choose_mail(request: Request, sent: MailChoice, viewer: Holder) -> MailFacts:
    """Switch kinds of mail off, and all others on."""
    return _mail(sign_up.mute(site_of(request), viewer, sent.off))


@router.post("/account/address", status_code=202)
def ask_for_address(request: Request, sent: AddressWish, viewer: Holder) -> Told:
    """Mail a link to a new address, which is the account's once that was used."""
    own = require(viewer, "own-account")
    words = sign_up.ask_for_address(site_of(request), viewer, sent.email, client=f"account {own.id}")
    return Told(detail=words)


@router.get("/account/sessions")
def list_sessions(
    request: Request, response: Response, viewer: Holder, limit: Limit = MOST, cursor: Cursor = None
) -> list[SessionFacts]:
    """The browsers that are logged in as oneself; the header Link leads on where there are more."""
    site, own = site_of(request), require(viewer, "own-account")
    csrf = request.state.asker[1]
    with site.database.reading() as connection:
        sessions = accounts.list_sessions(connection, own.id, now=site.clock(), csrf=csrf)
    return list_at(request, response, sessions, limit, cursor, lambda session: SessionFacts(**vars(session)))


@router.delete("/account/sessions")
def end_other_sessions(request: Request, viewer: Holder) -> Ended:
    """Log out all browsers but the one that asks."""
    return Ended(ended=access.end_sessions(site_of(request), viewer, but=request.state.asker[1]))


@router.delete("/account/sessions/{session}", status_code=204)
def end_session(
    request: Request,
    session: Annotated[str, Path(min_length=SESSION_KEY, max_length=SESSION_KEY)],
    viewer: Holder,
) -> None:
    """Log one browser out."""
    access.end_sessions(site_of(request), viewer, key=session)


@router.get("/account/team")
def read_team(request: Request, viewer: Holder) -> TeamFacts:
    """Who is in one's team, and, for its leads, who is invited."""
    site = site_of(request)
    own = require(viewer, "own-account")
    members, invited = invitations.own_team_facts(site, viewer)
    return TeamFacts(
        team=own.team,
        members=[_member(person) for person in members],
        invitations=[_invitation(site, each) for each in invited],
    )


@router.post("/account/team/invitations", status_code=201)
def invite_member(request: Request, sent: MemberInvitation, viewer: Holder) -> InvitationFacts:
    """Invite somebody to the team that one leads."""
    site = site_of(request)
    return _invitation(site, invitations.invite_to_own_team(site, viewer, sent.email, name=sent.name))


@router.patch("/account/team/members/{account_id}")
def change_member(request: Request, account_id: Number, sent: MemberChange, viewer: Holder) -> MemberFacts:
    """Make a member of the team that one leads lead too, or no longer."""
    return _member(invitations.set_lead(site_of(request), viewer, account_id, sent.lead))


@router.delete("/account/team/members/{account_id}", status_code=204)
def remove_member(request: Request, account_id: Number, viewer: Holder) -> None:
    """Remove a member of the team that one leads, or leave one's own."""
    invitations.remove_member(site_of(request), viewer, account_id)


@router.get("/invitations", dependencies=[Depends(Permission("administer"))])
def list_invitations(
    request: Request, response: Response, limit: Limit = MOST, cursor: Cursor = None
) -> list[InvitationFacts]:
    """Every invitation, the latest first; the header Link leads on where there are more."""
    site = site_of(request)
    with site.database.reading() as connection:
        everything = links.list_invitations(connection)
    return list_at(request, response, everything, limit, cursor, lambda each: _invitation(site, each))


@router.post("/invitations/preview")
def preview_invitations(request: Request, sent: Table, viewer: Owner) -> PreviewFacts:
    """What a table of teams would send; nothing is sent."""
    preview = invitations.read_teams(site_of(request), viewer, sent.table)
    return PreviewFacts(
        people=[LineFacts(**vars(person)) for person in preview.people],
        problems=[Mistake(line=problem.line, message=problem.message) for problem in preview.problems],
    )


@router.post("/invitations", status_code=201)
def send_invitations(request: Request, sent: Table, viewer: Owner) -> list[InvitationFacts]:
    """Invite everybody in a table of teams, or nobody where it has mistakes."""
    site = site_of(request)
    return [_invitation(site, each) for each in invitations.invite_all(site, viewer, sent.table)]


@router.post("/invitations/{number}/resend")
def resend_invitation(request: Request, number: Number, viewer: Holder) -> InvitationFacts:
    """Send an invitation again with a new link; the earlier one no longer works. For owners, and leads of its team."""
    site = site_of(request)
    return _invitation(site, invitations.resend(site, viewer, number))


@router.delete("/invitations/{number}")
def revoke_invitation(request: Request, number: Number, viewer: Holder) -> InvitationFacts:
    """Make an invitation useless. For owners, and leads of its team."""
    site = site_of(request)
    return _invitation(site, invitations.revoke(site, viewer, number))


@router.get("/access-requests", dependencies=[Depends(Permission("administer"))])
def list_requests(
    request: Request, response: Response, limit: Limit = MOST, cursor: Cursor = None
) -> list[RequestFacts]:
    """Who asks for an account, those that wait first; the header Link leads on where there are more."""
    with site_of(request).database.reading() as connection:
        requests = links.list_requests(connection)
    return list_at(request, response, requests, limit, cursor, _request)


@router.post("/access-requests/{number}/approve")
def approve_request(request: Request, number: Number, sent: Approval, viewer: Owner) -> AccountFacts:
    """Let somebody in who asked; they get a link by mail."""
    made = sign_up.approve(site_of(request), viewer, number, name=sent.name, team=sent.team, role=sent.role)
    return account_facts(made)


@router.post("/access-requests/{number}/decline")
def decline_request(request: Request, number: Number, sent: Refusal, viewer: Owner) -> RequestFacts:
    """Do not let somebody in; they get a mail with the reason."""
    return _request(sign_up.decline(site_of(request), viewer, number, reason=sent.reason))


@router.delete("/accounts/{account_id}/sessions")
def end_sessions_of(request: Request, account_id: Number, viewer: Owner) -> Ended:
    """Log somebody out everywhere; their tokens stay."""
    return Ended(ended=access.end_sessions_of(site_of(request), viewer, account_id))


def _entered(site: Site, entered: Entered) -> EnteredFacts:
    account, text = entered.account, None
    if account is not None and entered.logs_in:
        with site.database.writing() as connection:
            now = site.clock()
            _, text = accounts.add_token(
                connection,
                account.id,
                "by link",
                actor=account.name,
                now=now,
                expires=now + site.settings.session_seconds,
            )
    state = "asked" if account is None else "entered" if entered.logs_in else "confirmed"
    shown = None if account is None else account_facts(account)
    return EnteredFacts(state=state, account=shown, token=text, next=inside(entered.next))


def _mail(account: Account) -> MailFacts:
    kinds = {str(kind): words for kind, words in KINDS.items()}
    return MailFacts(email=account.email, confirmed=account.confirmed, kinds=kinds, off=sorted(account.muted or ()))


def _member(person: Account) -> MemberFacts:
    return MemberFacts(id=person.id, name=person.name, lead=person.lead)


def _invitation(site: Site, given: Invitation) -> InvitationFacts:
    return InvitationFacts(
        id=given.id,
        email=given.email,
        name=given.name,
        team=given.team,
        role=given.role,
        lead=given.lead,
        by=given.inviter,
        state=given.state(site.clock()),
        created=given.created,
        sent=given.sent,
        expires=given.expires,
    )


def _request(asked: AccessRequest) -> RequestFacts:
    return RequestFacts(**vars(asked))
