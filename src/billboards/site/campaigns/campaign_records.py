"""Campaigns and their items, and the one way a campaign's state changes.

    draft → open ⇄ paused → closed       (closed from any state, and for good)

As with submissions, every change goes through `advance` or `change`: the new state, a line of the audit trail, the
board's new generation and the notices that are due are one transaction.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, insert, select, update

from billboards.errors import Refused, UnknownName
from billboards.site.admin import deliveries
from billboards.site.database import trail
from billboards.site.database.ids import new_id
from billboards.site.database.schema import accounts, campaigns, items

Kind = Literal["labels", "meta"]
State = Literal["draft", "open", "paused", "closed"]

#: From which state to which; what is not here does not happen.
TRANSITIONS: Mapping[str, frozenset[str]] = {
    "draft": frozenset({"open", "closed"}),
    "open": frozenset({"paused", "closed"}),
    "paused": frozenset({"open", "closed"}),
    "closed": frozenset(),
}


@dataclass(frozen=True, kw_only=True)
class CampaignRow:
    """A campaign as it is kept; `template` is the text of its template file, `plan` its settings as a document."""

    id: str
    board: str
    name: str
    kind: Kind
    state: State
    template: str
    plan: Mapping[str, Any]
    generators: list[str]
    instances: list[str]
    rolling: bool
    ranks: bool
    joins: Mapping[str, str]
    details: Mapping[str, Any]
    reason: str | None
    account_id: int
    created: float
    changed: float
    opened: float | None
    closed: float | None


@dataclass(frozen=True, kw_only=True)
class ItemRow:
    """An item as it is kept."""

    id: int
    campaign_id: str
    instance: str
    row: str | None
    purpose: str
    test: str | None
    wanted: int
    part: str | None
    batch: str | None
    shown_order: list[int]
    slots: list[dict[str, Any]]


def create(connection: Connection, values: Mapping[str, Any], *, actor: str, now: float) -> CampaignRow:
    """Write a campaign down as a draft; its name is its own on the board."""
    where = (campaigns.c.board == values["board"], campaigns.c.name == values["name"])
    if connection.execute(select(campaigns.c.id).where(*where)).one_or_none() is not None:
        raise Refused(f"there is a campaign {values['name']} on board {values['board']} already; choose another name")
    made = new_id()
    times = {"created": now, "changed": now, "opened": None, "closed": None}
    connection.execute(insert(campaigns).values(id=made, state="draft", reason=None, **times, **values))
    _note(connection, made, "campaign.created", actor, now, {"name": values["name"], "plan": values["plan"]})
    return get(connection, made)


def add_items(connection: Connection, campaign_id: str, rows: Iterable[Mapping[str, Any]]) -> int:
    """Add items in the order given; returns how many."""
    item_rows = [{"campaign_id": campaign_id, **row} for row in rows]
    if item_rows:
        connection.execute(insert(items), item_rows)
    return len(item_rows)


def raise_wanted(connection: Connection, campaign_id: str, more: int) -> None:
    """Ask for more labels of every item."""
    where = (items.c.campaign_id == campaign_id, items.c.purpose == "label")
    connection.execute(update(items).where(*where).values(wanted=items.c.wanted + more))


def advance(
    connection: Connection, campaign_id: str, to: State, *, actor: str, now: float, reason: str | None = None
) -> CampaignRow:
    """Bring a campaign into another state, with everything that belongs to it; needs a writing transaction."""
    before = get(connection, campaign_id)
    if to not in TRANSITIONS[before.state]:
        raise Refused(f"campaign {before.name} is {before.state}: it can't become {to}")
    values: dict[str, Any] = {"state": to, "reason": reason, "changed": now}
    if to == "open" and before.opened is None:
        values["opened"] = now
    if to == "closed":
        values["closed"] = now
    connection.execute(update(campaigns).where(campaigns.c.id == campaign_id).values(**values))
    detail = {"from": before.state, "to": to, "reason": reason}
    _note(connection, campaign_id, f"campaign.{to}", actor, now, detail)
    after = get(connection, campaign_id)
    _announce(connection, after, now)
    return after


def change(
    connection: Connection, campaign_id: str, action: str, *, actor: str, now: float, detail: Any = None, **values: Any
) -> CampaignRow:
    """Change what is decided about a campaign, with a line of the audit trail."""
    connection.execute(update(campaigns).where(campaigns.c.id == campaign_id).values(**values, changed=now))
    _note(connection, campaign_id, action, actor, now, values if detail is None else detail)
    return get(connection, campaign_id)


def decide(connection: Connection, campaign_id: str, *, ranks: bool, details: Mapping[str, Any]) -> None:
    """Keep whether a campaign that has closed ranks its board, and what was told of that; part of its closing."""
    values = {"ranks": ranks, "details": dict(details)}
    connection.execute(update(campaigns).where(campaigns.c.id == campaign_id).values(**values))


def keep_details(connection: Connection, campaign_id: str, details: Mapping[str, Any]) -> None:
    """Keep what a campaign knows of itself, where nothing of the board changes by it."""
    connection.execute(update(campaigns).where(campaigns.c.id == campaign_id).values(details=dict(details)))


def announce(connection: Connection, event: str, campaign: CampaignRow, *, now: float, **beside: Any) -> None:
    """Tell who made the campaign, and owners' webhooks, of something that waits for them."""
    _announce(connection, campaign, now, event=event, **beside)


def get(connection: Connection, campaign_id: str) -> CampaignRow:
    """A campaign by its id."""
    row = connection.execute(select(campaigns).where(campaigns.c.id == campaign_id)).mappings().one_or_none()
    if row is None:
        raise UnknownName("campaign", campaign_id, ())
    return CampaignRow(**row)


def named(connection: Connection, name: str, board: str | None = None) -> CampaignRow:
    """A campaign by its id, or by its name where only one board has one of that name."""
    query = select(campaigns).where((campaigns.c.id == name) | (campaigns.c.name == name))
    query = query if board is None else query.where(campaigns.c.board == board)
    rows = list(connection.execute(query).mappings())
    if not rows:
        raise UnknownName("campaign", name, connection.execute(select(campaigns.c.name)).scalars())
    if len(rows) > 1:
        boards = ", ".join(str(row["board"]) for row in rows)
        raise Refused(f"several boards have a campaign {name} ({boards}); name it by its id")
    return CampaignRow(**rows[0])


def find(
    connection: Connection, *, board: str | None = None, states: Collection[str] | None = None
) -> tuple[CampaignRow, ...]:
    """Campaigns, the oldest first."""
    query = select(campaigns).order_by(campaigns.c.created, campaigns.c.name)
    if board is not None:
        query = query.where(campaigns.c.board == board)
    if states is not None:
        query = query.where(campaigns.c.state.in_(list(states)))
    return tuple(CampaignRow(**row) for row in connection.execute(query).mappings())


def item(connection: Connection, item_id: int) -> ItemRow:
    """An item with its texts."""
    return ItemRow(**connection.execute(select(items).where(items.c.id == item_id)).mappings().one())


def list_items(connection: Connection, campaign_id: str, purpose: str | None = None) -> tuple[ItemRow, ...]:
    """A campaign's items in their planned order."""
    query = select(items).where(items.c.campaign_id == campaign_id).order_by(items.c.id)
    query = query if purpose is None else query.where(items.c.purpose == purpose)
    return tuple(ItemRow(**row) for row in connection.execute(query).mappings())


def items_of_batch(connection: Connection, campaign_id: str, batch: str) -> tuple[ItemRow, ...]:
    """The items that are dealt together, in their order."""
    query = select(items).where(items.c.campaign_id == campaign_id, items.c.batch == batch).order_by(items.c.id)
    return tuple(ItemRow(**row) for row in connection.execute(query).mappings())


def _note(
    connection: Connection, campaign_id: str, action: str, actor: str, now: float, detail: Mapping[str, Any]
) -> None:
    board = get(connection, campaign_id).board
    trail.note(connection, actor, action, campaign_id, now=now, board=board, detail=detail)
    trail.raise_generation(connection, board, now=now)


def _announce(
    connection: Connection, campaign: CampaignRow, now: float, event: str | None = None, **beside: Any
) -> None:
    """Tell who made the campaign, and owners' webhooks."""
    payload = {
        word: getattr(campaign, word) for word in ("id", "board", "name", "state", "reason", "created", "changed")
    }
    payload |= {"kind": "campaign", "version": 1, "platform": False, "path": f"/campaigns/{campaign.id}", **beside}
    team = connection.execute(select(accounts.c.team_id).where(accounts.c.id == campaign.account_id)).scalar_one()
    deliveries.announce(connection, event or f"campaign.{campaign.state}", payload, team, campaign.account_id, now=now)
