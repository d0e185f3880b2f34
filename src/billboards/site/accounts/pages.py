"""One's own account: address and mails, team, tokens, browsers that are logged in, and webhooks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fastapi import APIRouter

from billboards.errors import InvalidInput, Refused
from billboards.show.words import clipped
from billboards.site.accounts import access, invitations, sign_up
from billboards.site.accounts import link_records as links
from billboards.site.accounts import records as accounts
from billboards.site.accounts.access import may, require
from billboards.site.accounts.records import SCOPES, Scope
from billboards.site.admin import deliveries
from billboards.site.admin.mail_kinds import KINDS
from billboards.site.web.asking import Ask, changing, reading
from billboards.site.web.rendering import Body

router = APIRouter()
PAGE, PEOPLE = "/account", "/people"
#: What each scope of a token means, in the words of the page.
SCOPE_WORDS: Mapping[Scope, str] = {
    "read": "read what I may see",
    "submit": "read and submit",
    "everything": "everything that I may do",
}


def show_account(ask: Ask) -> Body:
    """What one has, and may change."""
    return account_page(ask)


def account_page(
    ask: Ask,
    *,
    shown_once: Mapping[str, str] | None = None,
    problem: str | None = None,
    done: str | None = None,
    status: int = 200,
) -> Body:
    """The account page, with what was just made, done, or is wrong."""
    account = require(ask.viewer, "own-account")
    owner = may(ask.viewer, "administer")
    with ask.site.database.reading() as connection:
        account, now = accounts.account(connection, account.id), ask.site.clock()
        tokens = [token for token in accounts.list_tokens(connection, account.id) if token.revoked is None]
        webhooks = deliveries.list_webhooks(connection, account.id)
        sessions = accounts.list_sessions(connection, account.id, now=now, csrf=ask.csrf)
        members = accounts.members(connection, account.team_id)
        invited = links.list_invitations(connection, team=account.team) if account.lead else ()
        waiting = len(links.list_requests(connection, waiting=True)) if owner else 0
    return ask.page(
        "own_account",
        status=status,
        account=account,
        tokens=tokens,
        webhooks=webhooks,
        sessions=[(session, browser_words(session.agent)) for session in sessions],
        members=members,
        invited=[(each, each.state(now)) for each in invited if each.accepted is None and each.revoked is None],
        is_owner=owner,
        waiting=waiting,
        kinds=[(kind, words) for kind, words in KINDS.items() if owner or kind != "site"],
        muted=account.muted or (),
        sends_links=ask.site.settings.sends_links,
        scopes=SCOPE_WORDS,
        now=now,
        shown_once=shown_once,
        problem=problem,
        done=done,
    )


#: What a browser's own word on itself holds, and what people call that; the first that fits is right.
BROWSERS = (("Firefox/", "Firefox"), ("Edg/", "Edge"), ("OPR/", "Opera"), ("Chrome/", "Chrome"), ("Safari/", "Safari"))
SYSTEMS = (("Windows", "Windows"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("Mac OS", "Mac"))


def browser_words(agent: str | None) -> str:
    """A browser as its owner would call it; one that is not known by its own word."""
    browser, system = (
        next((name for part, name in parts if part in (agent or "")), None)
        for parts in (BROWSERS, (*SYSTEMS, ("Linux", "Linux")))
    )
    if browser is None:
        return clipped(agent or "unknown browser", 60)
    return browser if system is None else f"{browser} on {system}"


Act = Callable[[Ask, Mapping[str, Any]], Body | str]


def _named(act: Act) -> Act:
    """A form of this page: where it is refused, the page says why."""

    def do(ask: Ask, sent: Mapping[str, Any]) -> Body | str:
        try:
            return act(ask, sent)
        except (InvalidInput, Refused) as error:
            return account_page(ask, problem=str(error), status=409 if isinstance(error, Refused) else 422)

    return do


def ask_for_address(ask: Ask, sent: Mapping[str, Any]) -> Body:
    """Mail a link to a new address."""
    own = require(ask.viewer, "own-account")
    email = str(sent.get("email", ""))
    return account_page(ask, done=sign_up.ask_for_address(ask.site, ask.viewer, email, client=f"account {own.id}"))


def choose_mails(ask: Ask, sent: Mapping[str, Any]) -> str:
    """Switch on the kinds of mail that are ticked, and off all others that the page shows."""
    owner = may(ask.viewer, "administer")
    sign_up.mute(
        ask.site, ask.viewer, [kind for kind in KINDS if (owner or kind != "site") and not sent.get(f"mail_{kind}")]
    )
    return f"{PAGE}#mail"


def add_token(ask: Ask, sent: Mapping[str, Any]) -> Body:
    """Make a token for oneself, or as an owner for somebody, and show it once."""
    chosen, days = str(sent.get("account", "")), str(sent.get("days", "")).strip()
    account = number_in(chosen) if chosen else None
    scope = next((scope for scope in SCOPES if scope == (sent.get("scope") or "everything")), None)
    if scope is None:
        raise InvalidInput(f"{sent['scope']!r} is no scope of a token; choose one of {', '.join(SCOPES)}")
    token, text = access.add_token(
        ask.site,
        ask.viewer,
        str(sent.get("label", "")),
        account_id=account,
        scope=scope,
        days=number_in(days) if days else None,
    )
    return account_page(ask, shown_once={"what": f"token {token.label}".strip(), "text": text})


def revoke_token(ask: Ask, sent: Mapping[str, Any]) -> str:
    access.revoke_token(ask.site, ask.viewer, number_in(sent.get("token")))
    return f"{PAGE}#tokens"


def add_webhook(ask: Ask, sent: Mapping[str, Any]) -> Body:
    """Let an address hear of one's submissions, and show its secret once."""
    board = str(sent.get("board", "")).strip() or None
    made = access.add_webhook(ask.site, ask.viewer, str(sent.get("url", "")).strip(), board=board)
    return account_page(ask, shown_once={"what": f"secret of the webhook to {made.url}", "text": made.secret})


def remove_webhook(ask: Ask, sent: Mapping[str, Any]) -> str:
    access.remove_webhook(ask.site, ask.viewer, number_in(sent.get("webhook")))
    return f"{PAGE}#webhooks"


def end_session(ask: Ask, sent: Mapping[str, Any]) -> str:
    """Log one browser out, or all but this one."""
    key = str(sent.get("session", ""))
    access.end_sessions(ask.site, ask.viewer, key=key or None, but="" if key else ask.csrf)
    return f"{PAGE}#browsers"


def invite_member(ask: Ask, sent: Mapping[str, Any]) -> str:
    """A lead invites somebody to the team."""
    name = str(sent.get("name", ""))
    invitations.invite_to_own_team(ask.site, ask.viewer, str(sent.get("email", "")), name=name)
    return f"{PAGE}#team"


def change_invitation(ask: Ask, sent: Mapping[str, Any]) -> str:
    """Send an invitation to the team again, or revoke it."""
    act = invitations.revoke if sent.get("do") == "revoke" else invitations.resend
    act(ask.site, ask.viewer, number_in(sent.get("invitation")))
    return f"{PAGE}#team"


def change_member(ask: Ask, sent: Mapping[str, Any]) -> str:
    """A lead makes a member lead or not, or removes them; everybody may leave."""
    account = number_in(sent.get("account"))
    if sent.get("do") == "remove":
        invitations.remove_member(ask.site, ask.viewer, account)
    else:
        invitations.set_lead(ask.site, ask.viewer, account, sent.get("do") == "lead")
    return f"{PAGE}#team"


def number_in(text: object) -> int:
    """A number that a form sent."""
    written = str(text)
    if not written.isascii() or not written.isdecimal() or len(written) > 9:
        raise InvalidInput(f"{written[:20]!r} is no number of a list; load the page again")
    return int(written)


router.add_route(PAGE, reading(show_account, kept=False), methods=["GET"], include_in_schema=False)
for _path, _act in (
    ("address", ask_for_address),
    ("mail", choose_mails),
    ("tokens", add_token),
    ("tokens/revoke", revoke_token),
    ("webhooks", add_webhook),
    ("webhooks/remove", remove_webhook),
    ("sessions/end", end_session),
    ("team/invite", invite_member),
    ("team/invitations", change_invitation),
    ("team/members", change_member),
):
    router.add_route(f"{PAGE}/{_path}", changing(_named(_act)), methods=["POST"], include_in_schema=False)
