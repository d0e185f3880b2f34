"""Notices that wait to be sent: an outbox, written in the same transaction as what it speaks of.

A change announces itself to the submitter's e-mail address and to webhooks: an owner's hear of every submission, other
people's of their own team's. Sending happens elsewhere and later; a notice stays here until it was taken or given up.
A mail to a person says to which account and of which kind it is: what somebody switched off is not put here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, insert, or_, select, update

from billboards.site.admin.mail_kinds import MailKind, kind_of
from billboards.site.database.schema import accounts, deliveries, webhooks

#: The word of a payload under which a mail says for whom and of which kind it is.
MAIL = "mail"


@dataclass(frozen=True, kw_only=True)
class Webhook:
    """An address that wants to hear of submissions; its secret signs what is sent."""

    id: int
    account_id: int
    board: str | None
    url: str
    secret: str
    created: float


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """One notice to one address; `secret` is the webhook's."""

    id: int
    event: str
    target: str
    webhook_id: int | None
    payload: Mapping[str, Any]
    state: str
    attempts: int
    next_at: float
    reason: str | None
    created: float
    secret: str | None = None

    @property
    def is_mail(self) -> bool:
        return self.target.startswith("mailto:")


def announce(
    connection: Connection, event: str, payload: Mapping[str, Any], team_id: int, account_id: int, *, now: float
) -> None:
    """Put a notice into the outbox for everybody who wants to hear of it."""
    targets: list[tuple[str, int | None]] = [(hook.url, hook.id) for hook in _listening(connection, payload, team_id)]
    _put(connection, event, payload, targets, now=now)
    mail_account(connection, event, payload, account_id, now=now)


def announce_to_owners(connection: Connection, event: str, payload: Mapping[str, Any], *, now: float) -> None:
    """Put a notice into the outbox for the site's owners: their e-mail addresses and webhooks."""
    targets: list[tuple[str, int | None]] = [(hook.url, hook.id) for hook in _listening(connection, payload, None)]
    _put(connection, event, payload, targets, now=now)
    mail_owners(connection, event, payload, now=now)


def mail_owners(connection: Connection, event: str, payload: Mapping[str, Any], *, now: float) -> None:
    """Put a mail to each of the site's owners into the outbox."""
    owners = connection.execute(select(accounts.c.id).where(accounts.c.role == "owner").order_by(accounts.c.id))
    for account_id in owners.scalars().all():
        mail_account(connection, event, payload, account_id, now=now)


def mail_account(
    connection: Connection,
    event: str,
    payload: Mapping[str, Any],
    account_id: int,
    *,
    now: float,
    kind: MailKind | None = None,
) -> bool:
    """Put a mail to somebody into the outbox; False where they have no address or have switched this kind off."""
    kind = kind or kind_of(event)
    query = select(accounts.c.email, accounts.c.muted).where(accounts.c.id == account_id, accounts.c.disabled.is_(None))
    row = connection.execute(query).one_or_none()
    if row is None or not row.email or kind in (row.muted or ()):
        return False
    told = {**payload, MAIL: {"kind": kind, "account": account_id}}
    _put(connection, event, told, [(f"mailto:{row.email}", None)], now=now)
    return True


def mail_address(
    connection: Connection, event: str, payload: Mapping[str, Any], email: str, *, now: float, unsent: str | None = None
) -> None:
    """Put a mail that somebody asked for into the outbox; with a reason why not, it is written down and never sent."""
    _put(connection, event, payload, [(f"mailto:{email}", None)], now=now, unsent=unsent)


def _put(
    connection: Connection,
    event: str,
    payload: Mapping[str, Any],
    targets: Iterable[tuple[str, int | None]],
    *,
    now: float,
    unsent: str | None = None,
) -> None:
    state = "waiting" if unsent is None else "given up"
    common = {"event": event, "payload": dict(payload), "state": state, "attempts": 0, "reason": unsent}
    for target, webhook_id in targets:
        values = {"target": target, "webhook_id": webhook_id, "next_at": now, "created": now}
        connection.execute(insert(deliveries).values(**common, **values))


def _listening(connection: Connection, payload: Mapping[str, Any], team_id: int | None) -> list[Any]:
    """Webhooks of owners, and of a team where one is given."""
    query = select(webhooks.c.id, webhooks.c.url).join(accounts, accounts.c.id == webhooks.c.account_id)
    query = query.where(or_(webhooks.c.board.is_(None), webhooks.c.board == payload["board"]))
    query = query.where(or_(accounts.c.role == "owner", accounts.c.team_id == team_id), accounts.c.disabled.is_(None))
    return list(connection.execute(query.order_by(webhooks.c.id)))


def due(connection: Connection, *, now: float, limit: int = 20) -> tuple[Delivery, ...]:
    """Notices whose time has come, the oldest first."""
    query = select(deliveries, webhooks.c.secret).join(webhooks, webhooks.c.id == deliveries.c.webhook_id, isouter=True)
    query = query.where(deliveries.c.state == "waiting", deliveries.c.next_at <= now).order_by(deliveries.c.id)
    return tuple(Delivery(**row) for row in connection.execute(query.limit(limit)).mappings())


def claim(connection: Connection, delivery: Delivery, *, until: float) -> bool:
    """Take a notice for sending, so that no other process sends it before `until`."""
    where = (deliveries.c.id == delivery.id, deliveries.c.next_at == delivery.next_at, deliveries.c.state == "waiting")
    values = {"next_at": until, "attempts": deliveries.c.attempts + 1}
    return connection.execute(update(deliveries).where(*where).values(**values)).rowcount == 1


def settle(connection: Connection, delivery_id: int, state: str, *, reason: str | None = None) -> None:
    """Say what became of a notice: sent, or given up with a reason."""
    values = {"state": state, "reason": reason}
    connection.execute(update(deliveries).where(deliveries.c.id == delivery_id).values(**values))


def postpone(connection: Connection, delivery_id: int, *, until: float, reason: str) -> None:
    """Try a notice again later."""
    values = {"next_at": until, "reason": reason}
    connection.execute(update(deliveries).where(deliveries.c.id == delivery_id).values(**values))


def add_webhook(
    connection: Connection, account_id: int, url: str, secret: str, *, board: str | None, now: float
) -> Webhook:
    """Let an address hear of submissions."""
    values = {"account_id": account_id, "url": url, "secret": secret, "board": board, "created": now}
    made = connection.execute(insert(webhooks).values(**values)).inserted_primary_key
    assert made is not None
    return Webhook(id=int(made[0]), account_id=account_id, board=board, url=url, secret=secret, created=now)


def list_webhooks(connection: Connection, account_id: int) -> tuple[Webhook, ...]:
    """An account's webhooks."""
    query = select(webhooks).where(webhooks.c.account_id == account_id).order_by(webhooks.c.id)
    return tuple(Webhook(**row) for row in connection.execute(query).mappings())


def remove_webhook(connection: Connection, webhook_id: int, account_id: int) -> bool:
    """Forget one of an account's webhooks; False where there is none of that id."""
    where = (webhooks.c.id == webhook_id, webhooks.c.account_id == account_id)
    return connection.execute(delete(webhooks).where(*where)).rowcount == 1
