"""Links that let somebody in once, requests for access, and invitations, as rows.

A link is put down without its text: that is drawn when its mail is sent and kept as a digest only, so neither the
database nor the outbox lets anybody in. A second mail makes the first one's link useless. Each works once, for a time,
and for a number of tries.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, Table, func, insert, select, update

from billboards.errors import UnknownName
from billboards.site.accounts.records import Role, digest
from billboards.site.database.schema import access_requests, account_invitations, accounts, entry_links

Purpose = Literal["enter", "welcome", "address"]
#: Seconds that a link works after its mail was sent.
LIFETIMES: dict[Purpose, float] = {"enter": 3600.0, "welcome": 7 * 86400.0, "address": 86400.0}
INVITED = 14 * 86400.0
#: Forms that may be sent with a link before it stops working: with many tries it would tell which names there are.
MOST_TRIES = 10

RequestState = Literal["waiting", "approved", "declined"]
InvitationState = Literal["accepted", "revoked", "expired", "sent", "waiting"]


@dataclass(frozen=True, kw_only=True)
class EntryLink:
    """A link that lets somebody in once."""

    id: int
    digest: str | None
    purpose: Purpose
    email: str
    account_id: int | None
    next: str
    client: str
    created: float
    expires: float | None
    used: float | None
    tries: int


@dataclass(frozen=True, kw_only=True)
class AccessRequest:
    """Somebody with a confirmed address asks for an account."""

    id: int
    email: str
    name: str
    team: str | None
    words: str
    state: RequestState
    created: float
    decided: float | None
    decided_by: str | None
    reason: str | None


@dataclass(frozen=True, kw_only=True)
class Invitation:
    """Somebody is asked to join a team."""

    id: int
    digest: str | None
    email: str
    name: str | None
    team: str
    role: Role
    lead: bool
    invited_by: int
    inviter: str
    created: float
    sent: float | None
    expires: float | None
    accepted: float | None
    revoked: float | None
    account_id: int | None
    tries: int

    def state(self, now: float) -> InvitationState:
        if self.accepted is not None:
            return "accepted"
        if self.revoked is not None:
            return "revoked"
        if self.expires is not None and self.expires <= now:
            return "expired"
        return "waiting" if self.sent is None else "sent"


def add_link(
    connection: Connection,
    purpose: Purpose,
    email: str,
    *,
    now: float,
    client: str = "",
    next: str = "/",
    account_id: int | None = None,
) -> int:
    """Put a link down whose text is drawn when its mail is sent."""
    values = {"purpose": purpose, "email": email, "client": client, "next": next, "account_id": account_id}
    return _added(connection, entry_links, {**values, "created": now, "tries": 0})


def count_links(connection: Connection, *, since: float, email: str | None = None, client: str | None = None) -> int:
    """How many links were asked for since a time, for an address or by a client."""
    query = select(func.count()).select_from(entry_links).where(entry_links.c.created > since)
    query = query.where(entry_links.c.purpose != "welcome")
    query = query if email is None else query.where(entry_links.c.email == email)
    query = query if client is None else query.where(entry_links.c.client == client)
    return connection.execute(query).scalar() or 0


def mint_link(connection: Connection, link_id: int, *, now: float) -> tuple[EntryLink, str]:
    """Draw a link's text, which is returned here and never again."""
    row = connection.execute(select(entry_links).where(entry_links.c.id == link_id)).mappings().one_or_none()
    if row is None or row["used"] is not None:
        raise UnknownName("link", str(link_id), ())
    text = secrets.token_urlsafe(32)
    values = {"digest": digest(text), "expires": now + LIFETIMES[row["purpose"]]}
    connection.execute(update(entry_links).where(entry_links.c.id == link_id).values(**values))
    return EntryLink(**{**row, **values}), text


def find_link(connection: Connection, text: str, *, now: float) -> EntryLink | None:
    """The link of a text, unless it is used, over, or was tried too often."""
    where = (entry_links.c.digest == digest(text), entry_links.c.used.is_(None), entry_links.c.expires > now)
    row = connection.execute(select(entry_links).where(*where)).mappings().one_or_none()
    return None if row is None or row["tries"] >= MOST_TRIES else EntryLink(**row)


def use_link(connection: Connection, link: EntryLink, *, now: float) -> bool:
    """Make a link useless; False where somebody else has just used it."""
    where = (entry_links.c.id == link.id, entry_links.c.used.is_(None), entry_links.c.digest == link.digest)
    return connection.execute(update(entry_links).where(*where).values(used=now)).rowcount == 1


def note_try(connection: Connection, text: str) -> None:
    """Count a form that was sent with a link or an invitation, and refused."""
    for table in (entry_links, account_invitations):
        connection.execute(update(table).where(table.c.digest == digest(text)).values(tries=table.c.tries + 1))


def add_request(
    connection: Connection, email: str, name: str, team: str | None, words: str, *, now: float
) -> AccessRequest:
    """Put a request for access down; one that waits already is replaced."""
    values = {"name": name, "team": team, "words": words, "created": now}
    waiting = waiting_request(connection, email)
    if waiting is not None:
        connection.execute(update(access_requests).where(access_requests.c.id == waiting.id).values(**values))
        return request(connection, waiting.id)
    return request(connection, _added(connection, access_requests, {**values, "email": email, "state": "waiting"}))


def request(connection: Connection, request_id: int) -> AccessRequest:
    """A request by its number."""
    query = select(access_requests).where(access_requests.c.id == request_id)
    row = connection.execute(query).mappings().one_or_none()
    if row is None:
        raise UnknownName("request for access", str(request_id), ())
    return AccessRequest(**row)


def waiting_request(connection: Connection, email: str) -> AccessRequest | None:
    """The request of an address that nobody has decided yet."""
    where = (func.lower(access_requests.c.email) == email.lower(), access_requests.c.state == "waiting")
    row = connection.execute(select(access_requests).where(*where)).mappings().first()
    return None if row is None else AccessRequest(**row)


def list_requests(connection: Connection, *, waiting: bool = False) -> tuple[AccessRequest, ...]:
    """Requests, those that wait longest first, then the decided ones, the latest first."""
    query = select(access_requests)
    query = query.where(access_requests.c.state == "waiting") if waiting else query
    rows = [AccessRequest(**row) for row in connection.execute(query.order_by(access_requests.c.id)).mappings()]
    decided = [each for each in reversed(rows) if each.state != "waiting"]
    return (*(each for each in rows if each.state == "waiting"), *decided)


def decide(
    connection: Connection, request_id: int, state: RequestState, *, actor: str, now: float, reason: str = ""
) -> bool:
    """Write down what was decided; False where it was decided already."""
    where = (access_requests.c.id == request_id, access_requests.c.state == "waiting")
    values = {"state": state, "decided": now, "decided_by": actor, "reason": reason or None}
    return connection.execute(update(access_requests).where(*where).values(**values)).rowcount == 1


def add_invitation(
    connection: Connection,
    email: str,
    team: str,
    *,
    role: Role,
    invited_by: int,
    now: float,
    name: str | None = None,
    lead: bool = False,
) -> Invitation:
    """Put an invitation down whose text is drawn when its mail is sent."""
    values = {"email": email, "team": team, "role": role, "invited_by": invited_by, "name": name, "lead": lead}
    made = _added(connection, account_invitations, {**values, "created": now, "tries": 0})
    return invitation(connection, made)


def invitation(connection: Connection, invitation_id: int) -> Invitation:
    """An invitation by its number."""
    rows = _invitations(connection, account_invitations.c.id == invitation_id)
    if not rows:
        raise UnknownName("invitation", str(invitation_id), ())
    return rows[0]


def list_invitations(connection: Connection, *, team: str | None = None) -> tuple[Invitation, ...]:
    """Invitations, the latest first, of all teams or of one."""
    return _invitations(connection, *(() if team is None else (account_invitations.c.team == team,)))


def _invitations(connection: Connection, *where: Any) -> tuple[Invitation, ...]:
    query = select(account_invitations, accounts.c.name.label("inviter"))
    query = query.join(accounts, accounts.c.id == account_invitations.c.invited_by).where(*where)
    rows = connection.execute(query.order_by(account_invitations.c.id.desc())).mappings()
    return tuple(Invitation(**row) for row in rows)


def mint_invitation(connection: Connection, invitation_id: int, *, now: float) -> tuple[Invitation, str]:
    """Draw an invitation's text, which is returned here and never again."""
    given = invitation(connection, invitation_id)
    if given.accepted is not None or given.revoked is not None:
        raise UnknownName("invitation", str(invitation_id), ())
    text = secrets.token_urlsafe(32)
    values = {"digest": digest(text), "sent": now, "expires": now + INVITED, "tries": 0}
    change_invitation(connection, invitation_id, **values)
    return invitation(connection, invitation_id), text


def find_invitation(connection: Connection, text: str, *, now: float) -> Invitation | None:
    """The invitation of a text, unless it was accepted, revoked, is over, or was tried too often."""
    rows = _invitations(connection, account_invitations.c.digest == digest(text))
    is_open = bool(rows) and rows[0].state(now) == "sent" and rows[0].tries < MOST_TRIES
    return rows[0] if is_open else None


def change_invitation(connection: Connection, invitation_id: int, **values: Any) -> None:
    """Write down what became of an invitation."""
    connection.execute(update(account_invitations).where(account_invitations.c.id == invitation_id).values(**values))


def _added(connection: Connection, table: Table, values: dict[str, Any]) -> int:
    made = connection.execute(insert(table).values(**values)).inserted_primary_key
    assert made is not None
    return int(made[0])
