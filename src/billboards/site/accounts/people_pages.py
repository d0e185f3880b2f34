"""Everybody with an account, for owners: requests, invitations by a table of teams, roles, and who was here when."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fastapi import APIRouter

from billboards.errors import InvalidInput, InvalidSubmission, Refused
from billboards.site.accounts import access, invitations, sign_up
from billboards.site.accounts import link_records as links
from billboards.site.accounts import records as accounts
from billboards.site.accounts.access import require
from billboards.site.accounts.invitations import Preview
from billboards.site.accounts.pages import PEOPLE, number_in
from billboards.site.accounts.records import ROLES, Role
from billboards.site.pages.long_lists import pager, read_page, stretch
from billboards.site.web.asking import Ask, Upload, changing, reading
from billboards.site.web.rendering import Body

router = APIRouter()
#: People on a page, and decided requests and invitations that it lists.
MOST_PEOPLE, MOST_LISTED = 100, 200


def show_people(ask: Ask) -> Body:
    """Who asks for access, who is invited, and who is here."""
    return people_page(ask)


def people_page(
    ask: Ask,
    *,
    shown_once: Mapping[str, str] | None = None,
    problems: tuple[str, ...] = (),
    preview: Preview | None = None,
    table: str = "",
    status: int = 200,
) -> Body:
    """The owner's page of people, with what was just made, is wrong, or would be sent."""
    require(ask.viewer, "administer")
    site, now = ask.site, ask.site.clock()
    with site.database.reading() as connection:
        everybody, used = accounts.list_accounts(connection), accounts.last_uses(connection)
        requests, invited = links.list_requests(connection), links.list_invitations(connection)
        teams = set(accounts.team_names(connection))
    shown = stretch(everybody, read_page(ask.query), MOST_PEOPLE)
    return ask.page(
        "people",
        status=status,
        everybody=[(person, used.get(person.id)) for person in shown.entries],
        pages=pager(shown.number, shown.last, PEOPLE, {}, at="#people"),
        requests=[each for each in requests if each.state == "waiting"],
        decided=[each for each in requests if each.state != "waiting"][:20],
        teams=teams,
        invited=[(each, each.state(now)) for each in invited[:MOST_LISTED]],
        more_invited=max(len(invited) - MOST_LISTED, 0),
        roles=ROLES,
        boards=[board.name for board in site.boards()],
        sign_up=site.settings.sign_up,
        sends_links=site.settings.sends_links,
        shown_once=shown_once,
        problems=problems,
        preview=preview,
        table=table,
    )


Act = Callable[[Ask, Mapping[str, Any]], Body | str]


def _named(act: Act) -> Act:
    """A form of this page: where it is refused, the page says why."""

    def do(ask: Ask, sent: Mapping[str, Any]) -> Body | str:
        try:
            return act(ask, sent)
        except InvalidSubmission as error:
            return people_page(ask, problems=tuple(map(str, error.problems)), table=_table(sent), status=422)
        except (InvalidInput, Refused) as error:
            status = 409 if isinstance(error, Refused) else 422
            return people_page(ask, problems=(str(error),), table=_table(sent), status=status)

    return do


def decide_request(ask: Ask, sent: Mapping[str, Any]) -> str:
    """Approve or decline a request for access."""
    number = number_in(sent.get("request"))
    if sent.get("do") == "approve":
        name, team = (str(sent.get(word, "")).strip() or None for word in ("name", "team"))
        sign_up.approve(ask.site, ask.viewer, number, name=name, team=team, role=_role(sent.get("role")))
    else:
        sign_up.decline(ask.site, ask.viewer, number, reason=str(sent.get("reason", "")))
    return f"{PEOPLE}#requests"


def invite(ask: Ask, sent: Mapping[str, Any]) -> Body | str:
    """Show what a table of teams would send, or send it."""
    table = _table(sent)
    if sent.get("do") == "send":
        invitations.invite_all(ask.site, ask.viewer, table)
        return f"{PEOPLE}#invitations"
    preview = invitations.read_teams(ask.site, ask.viewer, table)
    return people_page(ask, preview=preview, table=table, status=422 if preview.problems else 200)


def _table(sent: Mapping[str, Any]) -> str:
    """The table that was sent, as a file or as text."""
    upload = sent.get("file")
    if isinstance(upload, Upload) and upload.content:
        try:
            return upload.content.decode("utf-8-sig")
        except UnicodeDecodeError:
            return upload.content.decode("latin-1")
    return str(sent.get("table", ""))


def change_invitation(ask: Ask, sent: Mapping[str, Any]) -> str:
    """Send an invitation again, or revoke it."""
    act = invitations.revoke if sent.get("do") == "revoke" else invitations.resend
    act(ask.site, ask.viewer, number_in(sent.get("invitation")))
    return f"{PEOPLE}#invitations"


def add_account(ask: Ask, sent: Mapping[str, Any]) -> str:
    """An owner lets somebody in."""
    fields = {word: str(sent.get(word, "")).strip() for word in ("name", "team", "email")}
    access.add_account(
        ask.site,
        ask.viewer,
        fields["name"],
        _role(sent.get("role")),
        team=fields["team"] or None,
        email=fields["email"] or None,
    )
    return f"{PEOPLE}#people"


def change_account(ask: Ask, sent: Mapping[str, Any]) -> str:
    """An owner shuts somebody out or lets them in again, logs them out, or gives them another role or team."""
    account = number_in(sent.get("account"))
    if sent.get("do") == "log-out":
        access.end_sessions_of(ask.site, ask.viewer, account)
    elif sent.get("do") == "change":
        team = str(sent.get("team", "")).strip() or None
        access.change_account(
            ask.site, ask.viewer, account, role=_role(sent.get("role")), team=team, lead=bool(sent.get("lead"))
        )
    else:
        access.change_account(ask.site, ask.viewer, account, disabled=str(sent.get("disabled", "")) == "yes")
    return f"{PEOPLE}#people"


def add_token(ask: Ask, sent: Mapping[str, Any]) -> Body:
    """Make a token for somebody, and show it once."""
    account = number_in(sent.get("account"))
    _, text = access.add_token(ask.site, ask.viewer, f"from {ask.viewer.name}", account_id=account)
    with ask.site.database.reading() as connection:
        name = accounts.account(connection, account).name
    return people_page(ask, shown_once={"what": f"token for {name}", "text": text})


def _role(text: object) -> Role:
    for role in ROLES:
        if role == text:
            return role
    raise InvalidInput(f"{text!r} is no role; choose one of {', '.join(ROLES)}")


router.add_route(PEOPLE, reading(show_people, kept=False), methods=["GET"], include_in_schema=False)
for _path, _act in (
    ("/people/requests", decide_request),
    ("/people/invite", invite),
    ("/people/invitations", change_invitation),
    ("/people/tokens", add_token),
    ("/account/accounts", add_account),
    ("/account/accounts/change", change_account),
):
    router.add_route(_path, changing(_named(_act)), methods=["POST"], include_in_schema=False)
