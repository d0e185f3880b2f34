"""One's own account: tokens and webhooks; for owners, everybody's accounts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter

from billboards.errors import InvalidInput
from billboards.site.accounts import access
from billboards.site.accounts import records as accounts
from billboards.site.accounts.access import may, require
from billboards.site.accounts.records import ROLES, Role
from billboards.site.admin import deliveries
from billboards.site.pages.paging import pager, read_page, stretch
from billboards.site.web.asking import Ask, changing, reading
from billboards.site.web.rendering import Body

router = APIRouter()
PAGE = "/account"
#: People on a page of everybody's accounts.
MOST_PEOPLE = 100


def show_account(ask: Ask) -> Body:
    """What one has, and what an owner may give."""
    return _page(ask)


def _page(ask: Ask, *, shown_once: Mapping[str, str] | None = None) -> Body:
    account = require(ask.viewer, "own-account")
    owner = may(ask.viewer, "administer")
    with ask.site.database.reading() as connection:
        tokens = [token for token in accounts.list_tokens(connection, account.id) if token.revoked is None]
        webhooks = deliveries.list_webhooks(connection, account.id)
        everybody = accounts.list_accounts(connection) if owner else ()
    shown = stretch(everybody, read_page(ask.query), MOST_PEOPLE)
    return ask.page(
        "own_account",
        account=account,
        tokens=tokens,
        webhooks=webhooks,
        everybody=shown.entries,
        pages=pager(shown.number, shown.last, PAGE, {}, at="#people"),
        roles=ROLES,
        shown_once=shown_once,
    )


def add_token(ask: Ask, sent: Mapping[str, Any]) -> Body:
    """Make a token for oneself, or as an owner for somebody, and show it once."""
    chosen = str(sent.get("account", ""))
    account = _number(chosen) if chosen else None
    token, text = access.add_token(ask.site, ask.viewer, str(sent.get("label", "")), account_id=account)
    return _page(ask, shown_once={"what": f"token {token.label}".strip(), "text": text})


def revoke_token(ask: Ask, sent: Mapping[str, Any]) -> str:
    access.revoke_token(ask.site, ask.viewer, _number(sent.get("token")))
    return PAGE


def add_webhook(ask: Ask, sent: Mapping[str, Any]) -> Body:
    """Let an address hear of one's submissions, and show its secret once."""
    board = str(sent.get("board", "")).strip() or None
    made = access.add_webhook(ask.site, ask.viewer, str(sent.get("url", "")).strip(), board=board)
    return _page(ask, shown_once={"what": f"secret of the webhook to {made.url}", "text": made.secret})


def remove_webhook(ask: Ask, sent: Mapping[str, Any]) -> str:
    access.remove_webhook(ask.site, ask.viewer, _number(sent.get("webhook")))
    return PAGE


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
    return PAGE


def change_account(ask: Ask, sent: Mapping[str, Any]) -> str:
    """An owner shuts somebody out, or lets them in again."""
    access.change_account(
        ask.site, ask.viewer, _number(sent.get("account")), disabled=str(sent.get("disabled", "")) == "yes"
    )
    return PAGE


def _role(text: object) -> Role:
    for role in ROLES:
        if role == text:
            return role
    raise InvalidInput(f"{text!r} is no role; choose one of {', '.join(ROLES)}")


def _number(text: object) -> int:
    written = str(text)
    if not written.isascii() or not written.isdecimal() or len(written) > 9:
        raise InvalidInput(f"{written[:20]!r} is no number of a list; load the page again")
    return int(written)


router.add_route(PAGE, reading(show_account, kept=False), methods=["GET"], include_in_schema=False)
for _path, _act in (
    ("tokens", add_token),
    ("tokens/revoke", revoke_token),
    ("webhooks", add_webhook),
    ("webhooks/remove", remove_webhook),
    ("accounts", add_account),
    ("accounts/change", change_account),
):
    router.add_route(f"{PAGE}/{_path}", changing(_act), methods=["POST"], include_in_schema=False)
