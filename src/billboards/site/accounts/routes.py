"""Accounts, tokens and webhooks: one's own, and for owners everybody's."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import Depends, Path, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from billboards.site.accounts import access
from billboards.site.accounts import records as accounts
from billboards.site.accounts.access import Viewer
from billboards.site.accounts.permissions import Permission, site_of
from billboards.site.accounts.records import Account, Role, Scope, Token
from billboards.site.admin import deliveries
from billboards.site.admin.deliveries import Webhook
from billboards.site.web.api import MOST, Cursor, Limit, list_at, tagged_router

router = tagged_router("accounts")
Visitor = Annotated[Viewer, Depends(Permission("read"))]
Holder = Annotated[Viewer, Depends(Permission("own-account"))]
Owner = Annotated[Viewer, Depends(Permission("administer"))]

#: What a database can hold as the number of a row.
Number = Annotated[int, Path(ge=1, le=2**31 - 1)]
Name = Annotated[str, Field(min_length=1, max_length=100)]


class Strict(BaseModel):
    """What is sent; a word that means nothing is refused."""

    model_config = ConfigDict(extra="forbid")


class AccountFacts(BaseModel):
    """Somebody with a role, in a team."""

    id: int
    name: str
    email: str | None
    team: str
    role: str
    created: float
    #: Since when the account opens nothing.
    disabled: float | None = None
    #: When the person showed that the address is theirs.
    confirmed: float | None = None
    #: Whether the account leads its team.
    lead: bool = False


class PersonFacts(AccountFacts):
    """Somebody as owners see them."""

    #: When the account was last used, by browser or token, as far as that is still kept.
    last_used: float | None = None


class ViewerFacts(BaseModel):
    """Who asks; a visitor has no account."""

    role: str
    account: AccountFacts | None


class NewAccount(Strict):
    name: Name
    role: Role = "submitter"
    team: Name | None = None
    email: Annotated[str, Field(max_length=320)] | None = None


class AccountChange(Strict):
    role: Role | None = None
    team: Name | None = None
    email: Annotated[str, Field(max_length=320)] | None = None
    disabled: bool | None = None
    lead: bool | None = None


class TokenFacts(BaseModel):
    """What is known of a token."""

    id: int
    label: str
    created: float
    last_used: float | None
    revoked: float | None
    scope: Scope = "everything"
    expires: float | None = None


class NewToken(Strict):
    label: Annotated[str, Field(max_length=200)] = ""
    #: What it is good for: `read`, `submit` (and read), or `everything` that the account may do.
    scope: Scope = "everything"
    #: Days until it ends; without them it lasts until it is revoked.
    days: Annotated[int, Field(ge=1, le=access.MOST_DAYS)] | None = None


class TokenText(TokenFacts):
    """A token with its text, which is shown this once."""

    token: str


class WebhookFacts(BaseModel):
    id: int
    url: str
    board: str | None
    created: float


class NewWebhook(Strict):
    url: Annotated[str, Field(max_length=2000)]
    board: str | None = None


class WebhookSecret(WebhookFacts):
    """A webhook with the secret that signs what it is sent, which is shown this once."""

    secret: str


@router.get("/account")
def read_account(viewer: Visitor) -> ViewerFacts:
    """Who the token or session belongs to."""
    return ViewerFacts(role=viewer.role, account=None if viewer.account is None else account_facts(viewer.account))


@router.get("/account/tokens")
def list_tokens(
    request: Request, response: Response, viewer: Holder, limit: Limit = MOST, cursor: Cursor = None
) -> list[TokenFacts]:
    """One's tokens, the latest first; the header Link leads on where there are more."""
    with site_of(request).database.reading() as connection:
        tokens = accounts.list_tokens(connection, _own(viewer).id)
    return list_at(request, response, tokens, limit, cursor, _token)


@router.post("/account/tokens", status_code=201)
def add_token(request: Request, sent: NewToken, viewer: Holder) -> TokenText:
    """Make a token for oneself."""
    token, text = access.add_token(site_of(request), viewer, sent.label, scope=sent.scope, days=sent.days)
    return TokenText(**_token(token).model_dump(), token=text)


@router.delete("/account/tokens/{token_id}", status_code=204)
def revoke_token(request: Request, token_id: Number, viewer: Holder) -> None:
    """Make one of one's tokens useless."""
    access.revoke_token(site_of(request), viewer, token_id)


@router.get("/account/webhooks")
def list_webhooks(
    request: Request, response: Response, viewer: Holder, limit: Limit = MOST, cursor: Cursor = None
) -> list[WebhookFacts]:
    """The addresses that hear of one's submissions; the header Link leads on where there are more."""
    with site_of(request).database.reading() as connection:
        webhooks = deliveries.list_webhooks(connection, _own(viewer).id)
    return list_at(request, response, webhooks, limit, cursor, _webhook)


@router.post("/account/webhooks", status_code=201)
def add_webhook(request: Request, sent: NewWebhook, viewer: Holder) -> WebhookSecret:
    """Let an address hear of one's submissions; an owner's hears of all."""
    made = access.add_webhook(site_of(request), viewer, sent.url, board=sent.board)
    return WebhookSecret(id=made.id, url=made.url, board=made.board, created=made.created, secret=made.secret)


@router.delete("/account/webhooks/{webhook_id}", status_code=204)
def remove_webhook(request: Request, webhook_id: Number, viewer: Holder) -> None:
    """Stop telling an address."""
    access.remove_webhook(site_of(request), viewer, webhook_id)


@router.get("/accounts", dependencies=[Depends(Permission("administer"))])
def list_accounts(
    request: Request, response: Response, limit: Limit = MOST, cursor: Cursor = None
) -> list[PersonFacts]:
    """Everybody, by name; the header Link leads on where there are more."""
    with site_of(request).database.reading() as connection:
        everybody, used = accounts.list_accounts(connection), accounts.last_uses(connection)

    def person(account: Account) -> PersonFacts:
        return PersonFacts(**account_facts(account).model_dump(), last_used=used.get(account.id))

    return list_at(request, response, everybody, limit, cursor, person)


@router.post("/accounts", status_code=201)
def add_account(request: Request, sent: NewAccount, viewer: Owner) -> AccountFacts:
    """Let somebody in; a token for them is made next."""
    made = access.add_account(site_of(request), viewer, sent.name, sent.role, team=sent.team, email=sent.email)
    return account_facts(made)


@router.patch("/accounts/{account_id}")
def change_account(request: Request, account_id: Number, sent: AccountChange, viewer: Owner) -> AccountFacts:
    """Give somebody another role, team or address; `disabled` shuts them out, or lets them in again."""
    changed = access.change_account(
        site_of(request),
        viewer,
        account_id,
        role=sent.role,
        team=sent.team,
        email=sent.email,
        disabled=sent.disabled,
        lead=sent.lead,
    )
    return account_facts(changed)


@router.post("/accounts/{account_id}/tokens", status_code=201)
def add_token_for(request: Request, account_id: Number, sent: NewToken, viewer: Owner) -> TokenText:
    """Make a token for somebody."""
    token, text = access.add_token(
        site_of(request), viewer, sent.label, account_id=account_id, scope=sent.scope, days=sent.days
    )
    return TokenText(**_token(token).model_dump(), token=text)


@router.delete("/accounts/{account_id}/tokens/{token_id}", status_code=204)
def revoke_token_of(request: Request, account_id: Number, token_id: Number, viewer: Owner) -> None:
    """Make somebody's token useless."""
    access.revoke_token(site_of(request), viewer, token_id, account_id=account_id)


def _own(viewer: Viewer) -> Account:
    return access.require(viewer, "own-account")


def account_facts(account: Account) -> AccountFacts:
    return AccountFacts(
        id=account.id,
        name=account.name,
        email=account.email,
        team=account.team,
        role=account.role,
        created=account.created,
        disabled=account.disabled,
        confirmed=account.confirmed,
        lead=account.lead,
    )


def _webhook(hook: Webhook) -> WebhookFacts:
    return WebhookFacts(id=hook.id, url=hook.url, board=hook.board, created=hook.created)


def _token(token: Token) -> TokenFacts:
    fields = asdict(token)
    return TokenFacts(**{word: fields[word] for word in TokenFacts.model_fields})
