"""Annotators: who they are, the links they come in by, how they stand in a campaign, and what was ruled about them.

An annotator is known by a pseudonym, a keyed digest of the real name: the same person has the same pseudonym in every
campaign of a site, and nobody without the site's key can find out whose it is. Links are kept as digests only.
Rulings are only added to: every exclusion and readmission stays on record with who decided it and why.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, insert, select, update

from billboards.board.pseudonyms import pseudonym
from billboards.errors import Refused, UnknownName
from billboards.site.accounts.records import digest
from billboards.site.database.schema import annotators, invitations, keys, participations, rulings

Standing = Literal["qualifying", "active", "failed", "excluded"]
Subject = Literal["annotator", "answer"]
KEY = "pseudonyms"
#: What stands before the pseudonym where a real name was deleted.
NAMELESS = "deleted "


@dataclass(frozen=True)
class Annotator:
    """Somebody who annotates; `name` is for owners only."""

    id: int
    pseudonym: str
    name: str
    account_id: int | None
    created: float


@dataclass(frozen=True, kw_only=True)
class Link:
    """A way into a campaign: of one annotator, or shared by all who come from a platform."""

    id: int
    campaign_id: str
    annotator_id: int | None
    platform: str | None
    created: float
    expires: float | None
    revoked: float | None


@dataclass(frozen=True, kw_only=True)
class Participation:
    """How an annotator stands in a campaign; `reviewed` is the last answer the model has seen, -1 at first."""

    campaign_id: str
    annotator_id: int
    state: Standing
    reviewed: int
    joined: float
    changed: float


@dataclass(frozen=True, kw_only=True)
class Ruling:
    """A decision about an annotator or an answer, by the annotator model or a person."""

    id: int
    campaign_id: str
    at: float
    actor: str
    subject: Subject
    name: str
    verdict: str
    reason: str
    detail: Mapping[str, Any]


def annotator_of(connection: Connection, name: str, *, now: float, account_id: int | None = None) -> Annotator:
    """The annotator of a name, written down on first mention."""
    row = connection.execute(select(annotators).where(annotators.c.name == name)).mappings().one_or_none()
    if row is not None:
        return Annotator(**row)
    pseudonym = _pseudonym(connection, name)
    # Somebody whose name was deleted long after their last campaign, and who comes back.
    renaming = update(annotators).where(annotators.c.name == NAMELESS + pseudonym)
    if connection.execute(renaming.values(name=name)).rowcount == 0:
        made = {"pseudonym": pseudonym, "name": name, "account_id": account_id, "created": now}
        connection.execute(insert(annotators).values(**made))
    return annotator_of(connection, name, now=now)


def _pseudonym(connection: Connection, name: str) -> str:
    """A keyed digest of a name; the key is drawn once for the whole site."""
    key = connection.execute(select(keys.c.value).where(keys.c.name == KEY)).scalar()
    if key is None:
        key = secrets.token_hex(32)
        connection.execute(insert(keys).values(name=KEY, value=key))
    return pseudonym(name, bytes.fromhex(key))


def nameless(connection: Connection, names: Collection[str]) -> set[str]:
    """What stands in the place of these real names where they were deleted."""
    key = connection.execute(select(keys.c.value).where(keys.c.name == KEY)).scalar()
    return set() if key is None else {NAMELESS + pseudonym(name, bytes.fromhex(key)) for name in names}


def annotator(connection: Connection, annotator_id: int) -> Annotator:
    return Annotator(**connection.execute(select(annotators).where(annotators.c.id == annotator_id)).mappings().one())


def with_pseudonym(connection: Connection, campaign_id: str, pseudonym: str) -> Annotator:
    """An annotator of a campaign by the pseudonym."""
    for person in in_campaign(connection, campaign_id).values():
        if person.pseudonym == pseudonym:
            return person
    pseudonyms = (person.pseudonym for person in in_campaign(connection, campaign_id).values())
    raise UnknownName("annotator", pseudonym, pseudonyms)


def in_campaign(connection: Connection, campaign_id: str) -> dict[int, Annotator]:
    """Everybody who takes part in a campaign, by id."""
    query = select(annotators).join(participations, participations.c.annotator_id == annotators.c.id)
    query = query.where(participations.c.campaign_id == campaign_id).order_by(annotators.c.id)
    return {row["id"]: Annotator(**row) for row in connection.execute(query).mappings()}


def add_link(
    connection: Connection,
    campaign_id: str,
    *,
    now: float,
    annotator_id: int | None = None,
    platform: str | None = None,
    expires: float | None = None,
) -> str:
    """Make a link; its secret part is returned here and never again."""
    token = secrets.token_urlsafe(24)
    values = {"annotator_id": annotator_id, "platform": platform, "created": now, "expires": expires}
    connection.execute(insert(invitations).values(campaign_id=campaign_id, digest=digest(token), **values))
    return token


def link(connection: Connection, token: str, *, now: float) -> Link | None:
    """The link behind a token; None where it opens nothing, or nothing any more."""
    columns = [column for column in invitations.c if column.name != "digest"]
    query = select(*columns).where(invitations.c.digest == digest(token), invitations.c.revoked.is_(None))
    row = connection.execute(query).mappings().one_or_none()
    if row is None or (row["expires"] is not None and row["expires"] <= now):
        return None
    return Link(**row)


def revoke_links(connection: Connection, campaign_id: str, annotator_id: int, *, now: float) -> int:
    """Make an annotator's links into a campaign useless; returns how many there were."""
    where = (
        invitations.c.campaign_id == campaign_id,
        invitations.c.annotator_id == annotator_id,
        invitations.c.revoked.is_(None),
    )
    return connection.execute(update(invitations).where(*where).values(revoked=now)).rowcount


def participation(connection: Connection, campaign_id: str, annotator_id: int) -> Participation | None:
    """How an annotator stands in a campaign; None for one who has not come yet."""
    query = select(participations).where(
        participations.c.campaign_id == campaign_id, participations.c.annotator_id == annotator_id
    )
    row = connection.execute(query).mappings().one_or_none()
    return None if row is None else Participation(**row)


def list_participations(connection: Connection, campaign_id: str) -> tuple[Participation, ...]:
    query = select(participations).where(participations.c.campaign_id == campaign_id)
    rows = connection.execute(query.order_by(participations.c.joined, participations.c.annotator_id)).mappings()
    return tuple(Participation(**row) for row in rows)


def join(connection: Connection, campaign_id: str, annotator_id: int, state: Standing, *, now: float) -> Participation:
    """Let an annotator take part; who takes part already stays as they are."""
    standing = participation(connection, campaign_id, annotator_id)
    if standing is not None:
        return standing
    values = {"state": state, "reviewed": -1, "joined": now, "changed": now}
    connection.execute(insert(participations).values(campaign_id=campaign_id, annotator_id=annotator_id, **values))
    return Participation(
        campaign_id=campaign_id, annotator_id=annotator_id, state=state, reviewed=-1, joined=now, changed=now
    )


def set_standing(connection: Connection, campaign_id: str, annotator_id: int, state: Standing, *, now: float) -> None:
    """Change how an annotator stands in a campaign; the ruling that says why is written beside it."""
    where = (participations.c.campaign_id == campaign_id, participations.c.annotator_id == annotator_id)
    if connection.execute(update(participations).where(*where).values(state=state, changed=now)).rowcount != 1:
        raise Refused("this annotator does not take part in the campaign")


def set_reviewed(connection: Connection, campaign_id: str, last: Mapping[int, int]) -> None:
    """Note up to which answer the annotator model has looked at each annotator."""
    for annotator_id, answer in last.items():
        where = (participations.c.campaign_id == campaign_id, participations.c.annotator_id == annotator_id)
        connection.execute(update(participations).where(*where).values(reviewed=answer))


def rule(
    connection: Connection,
    campaign_id: str,
    subject: Subject,
    name: str,
    verdict: str,
    reason: str,
    *,
    actor: str,
    now: float,
    detail: Mapping[str, Any] | None = None,
) -> Ruling:
    """Put a decision on record."""
    values: dict[str, Any] = {"campaign_id": campaign_id, "at": now, "actor": actor, "subject": subject}
    values |= {"name": name, "verdict": verdict, "reason": reason, "detail": dict(detail or {})}
    made = connection.execute(insert(rulings).values(**values)).inserted_primary_key
    assert made is not None
    return Ruling(id=int(made[0]), **values)


def list_rulings(
    connection: Connection, campaign_id: str, *, subject: Subject | None = None, names: Collection[str] | None = None
) -> tuple[Ruling, ...]:
    """What was decided in a campaign, the oldest first."""
    query = select(rulings).where(rulings.c.campaign_id == campaign_id).order_by(rulings.c.id)
    query = query if subject is None else query.where(rulings.c.subject == subject)
    query = query if names is None else query.where(rulings.c.name.in_(list(names)))
    return tuple(Ruling(**row) for row in connection.execute(query).mappings())
