"""Rolling campaigns: every generator that is accepted on the board gets its annotation, once its price is confirmed.

There is no list of who is to be admitted: whoever is on the board, is a machine, and is not in the campaign yet may
join it, on the same instances as everybody else. Where answers are paid, its price must be confirmed first: by the
plan, which may say what a newcomer (`newcomer_each`) or all of them (`newcomers_total`) may cost unasked, or by an
owner, one by one. Who waits is kept with the campaign, with the price and the reason; the audit trail and a notice say
so once. Workers look whenever the board has changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from sqlalchemy import Connection

from billboards.board import Board, Outputs
from billboards.campaigns.items import Item, entry_items, plan_items
from billboards.campaigns.plan import CampaignPlan
from billboards.campaigns.quote import count_answers
from billboards.errors import InvalidInput, Refused, UnknownName
from billboards.site.accounts.access import Viewer, require
from billboards.site.boards.live import live_board
from billboards.site.campaigns import answer_counts
from billboards.site.campaigns import campaign_records as campaigns
from billboards.site.campaigns.campaign import Campaign, campaign_of, campaign_with_id
from billboards.site.campaigns.campaign_records import CampaignRow
from billboards.site.campaigns.lifecycle import item_document
from billboards.site.database import trail
from billboards.site.site import Site

ACTOR = "rolling"
#: What a newcomer waits for: a yes to its price, or money.
Lack = Literal["price", "budget"]
REASONS: Mapping[Lack, str] = {
    "price": "its price is not confirmed; admit it, or leave it waiting",
    "budget": "the budget does not cover another generator; top the campaign up",
}


@dataclass(frozen=True, kw_only=True)
class Newcomer:
    """A generator that waits outside a rolling campaign: what its labels would cost, and what it waits for."""

    generator: str
    labels: int
    price: float
    waits_for: Lack
    since: float

    @property
    def reason(self) -> str:
        return REASONS[self.waits_for]


def waiting_generators(campaign: Campaign) -> tuple[Newcomer, ...]:
    """Who waits to join a rolling campaign, the first to come first."""
    if not campaign.rolling or campaign.state == "closed":
        return ()
    waiting = campaign.details.get("waiting", {})
    newcomers = [
        Newcomer(generator=name, **facts) for name, facts in waiting.items() if name not in campaign.generators
    ]
    return tuple(sorted(newcomers, key=lambda newcomer: (newcomer.since, newcomer.generator)))


def newcomer_words(plan: CampaignPlan) -> str:
    """What happens to generators that come after a rolling campaign was opened, as its owner confirms it."""
    if not plan.price:
        return "generators that are accepted later join by themselves"
    if plan.newcomer_each is None and plan.newcomers_total is None:
        return "a generator that is accepted later waits until you confirm its price"
    limits = []
    if plan.newcomer_each is not None:
        limits.append(f"up to {plan.newcomer_each:,.2f} {plan.currency} each")
    if plan.newcomers_total is not None:
        limits.append(f"up to {plan.newcomers_total:,.2f} {plan.currency} in all")
    return f"generators that are accepted later join unasked, {' and '.join(limits)}; beyond that each waits for you"


def note_finished(connection: Connection, campaign: Campaign, row: str | None, *, now: float) -> None:
    """Tell the board when everything asked about a generator is answered: its judgments stand there from now on."""
    if row is None:
        return
    done, wanted = answer_counts.labels_by_row(connection, campaign.id, row=row)[row]
    if done >= wanted:
        trail.raise_generation(connection, campaign.board, now=now)


def admit_generators(site: Site, board: str) -> tuple[str, ...]:
    """Let new generators of a board into its rolling campaigns; returns the names of those let in."""
    with site.database.reading() as connection:
        rolling = [campaign_of(row) for row in campaigns.find(connection, board=board, states=("open",)) if row.rolling]
    admitted: list[str] = []
    for campaign in rolling:
        live = live_board(site, board, audience="owners").board
        outside = [row for row in live.rows if _is_newcomer(campaign, row)]
        _forget_waiting(site, campaign, [row.name for row in outside])
        for row in outside:
            admitted += [row.name] if _admit(site, campaign, row.name, _items(live, campaign, [row])) else []
    return tuple(admitted)


def _is_newcomer(campaign: Campaign, row: Outputs) -> bool:
    is_machine = row.generator is not None and row.generator.kind == "machine"
    return is_machine and row.name not in campaign.generators


def _items(board: Board, campaign: Campaign, rows: Sequence[Outputs]) -> list[Item]:
    """What would be asked about newcomers, on the same instances as of everybody.

    Their outputs, or how these compare with those of everybody who is in already.
    """
    instances = [instance for instance in campaign.instances if instance in board.position]
    if campaign.template.compares == "generators":
        others = [board.row(name) for name in campaign.generators if name in board.row_position]
        return [item for row in rows for item in entry_items(board, campaign.plan, row, others, instances)]
    return plan_items(board, campaign.template, campaign.plan, rows, instances)


def price_of(plan: CampaignPlan, items: Sequence[Item]) -> float:
    """What all labels of some items cost, with the test questions that go with them."""
    return count_answers(sum(item.wanted for item in items), plan)[1] * plan.price


def _admit(site: Site, campaign: Campaign, name: str, items: list[Item]) -> bool:
    """Let one generator in, if it is still outside, its price is confirmed and the budget has room for it."""
    now = site.clock()
    with site.database.writing() as connection:
        row = campaigns.get(connection, campaign.id)
        if row.state != "open" or name in row.generators:
            return False
        current = campaign_of(row)
        price = price_of(current.plan, items)
        unasked = float(current.details.get("unasked", 0.0))
        lack = _lack(connection, current, items, price, unasked)
        if lack is not None:
            _keep_waiting(connection, row, name, items, price, lack, now)
            return False
        details = {"unasked": unasked + price} if price else {}
        _let_in(connection, row, {name: items}, ACTOR, {name: price}, details, now)
    return True


def _lack(connection: Connection, campaign: Campaign, items: list[Item], price: float, unasked: float) -> Lack | None:
    """What a newcomer waits for; None where it may join unasked."""
    plan = campaign.plan
    if not plan.price:
        return None
    each, total = plan.newcomer_each, plan.newcomers_total
    if each is None and total is None:
        return "price"
    if (each is not None and price > each + 1e-9) or (total is not None and unasked + price > total + 1e-9):
        return "price"
    return None if _affordable(connection, campaign, items) else "budget"


def _let_in(
    connection: Connection,
    row: CampaignRow,
    items: Mapping[str, list[Item]],
    actor: str,
    prices: Mapping[str, float],
    details: Mapping[str, Any],
    now: float,
) -> CampaignRow:
    """Give newcomers their items, with a line of the audit trail each."""
    for name, own in items.items():
        campaigns.add_items(connection, row.id, map(item_document, own))
        waiting = {other: facts for other, facts in row.details.get("waiting", {}).items() if other != name}
        detail = {"generator": name, "items": len(own), "price": prices[name]}
        row = campaigns.change(
            connection,
            row.id,
            "campaign.joined",
            actor=actor,
            now=now,
            detail=detail,
            generators=[*row.generators, name],
            details={**row.details, "waiting": waiting, **details},
        )
    return row


def admit_newcomers(site: Site, viewer: Viewer, campaign_id: str, generators: Sequence[str]) -> Campaign:
    """Confirm the prices of generators that wait outside a rolling campaign, and let them in."""
    require(viewer, "administer")
    if not generators or len(set(generators)) != len(generators):
        raise InvalidInput("name the generators to admit, each once")
    with site.database.reading() as connection:
        campaign = campaign_with_id(connection, campaign_id)
    names = [newcomer.generator for newcomer in waiting_generators(campaign)]
    for name in generators:
        if name not in names:
            raise UnknownName("waiting generator", name, names)
    board = live_board(site, campaign.board, audience="owners").board
    items = {name: _items(board, campaign, [board.row(name)]) for name in generators}
    now = site.clock()
    with site.database.writing() as connection:
        row = campaigns.get(connection, campaign_id)
        if row.state != "open":
            raise Refused(f"campaign {row.name} is {row.state}; generators join while it is open")
        if already := sorted(set(generators) & set(row.generators)):
            raise Refused(f"{', '.join(already)} takes part already")
        current = campaign_of(row)
        if not _affordable(connection, current, [item for own in items.values() for item in own]):
            raise Refused(f"the budget of campaign {row.name} does not cover {', '.join(generators)}; top it up first")
        prices = {name: price_of(current.plan, own) for name, own in items.items()}
        return campaign_of(_let_in(connection, row, items, viewer.name, prices, {}, now))


def _affordable(connection: Connection, campaign: Campaign, items: Sequence[Item]) -> bool:
    """Whether the budget covers everything asked already and these items too."""
    plan = campaign.plan
    if plan.budget is None or not plan.price:
        return True
    rows = answer_counts.labels_by_row(connection, campaign.id)
    left = sum(wanted - done for done, wanted in rows.values())
    answered = sum(answer_counts.answered(connection, campaign.id).values())
    _, coming = count_answers(left + sum(item.wanted for item in items), plan)
    return (answered + coming) * plan.price <= plan.budget + 1e-9


def _keep_waiting(
    connection: Connection, row: CampaignRow, name: str, items: Sequence[Item], price: float, lack: Lack, now: float
) -> None:
    """Keep who waits, for how much and for what; whoever waits for something new is told of once."""
    waiting = dict(row.details.get("waiting", {}))
    before = waiting.get(name)
    labels = sum(item.wanted for item in items)
    newcomer = Newcomer(
        generator=name, labels=labels, price=price, waits_for=lack, since=now if before is None else before["since"]
    )
    facts = {key: value for key, value in asdict(newcomer).items() if key != "generator"}
    if facts == before:
        return
    campaigns.keep_details(connection, row.id, {**row.details, "waiting": {**waiting, name: facts}})
    if before is not None and before["waits_for"] == lack:
        return
    detail = {"generator": name, "price": price, "reason": newcomer.reason}
    trail.note(connection, ACTOR, "campaign.waits", row.id, now=now, board=row.board, detail=detail)
    currency = campaign_of(row).plan.currency
    reason = f"{name} waits, {labels:,} labels for {price:,.2f} {currency}: {newcomer.reason}"
    campaigns.announce(connection, "campaign.waits", row, now=now, reason=reason)


def _forget_waiting(site: Site, campaign: Campaign, outside: Sequence[str]) -> None:
    """Whoever has left the board, or takes part by now, waits no more."""
    if set(campaign.details.get("waiting", {})) <= set(outside):
        return
    with site.database.writing() as connection:
        row = campaigns.get(connection, campaign.id)
        waiting = {name: facts for name, facts in row.details.get("waiting", {}).items() if name in outside}
        campaigns.keep_details(connection, row.id, {**row.details, "waiting": waiting})
