"""Rolling campaigns: every generator that is accepted on the board gets its annotation by itself, within the budget.

There is no list of who is to be admitted: whoever is on the board, is a machine, and is not in the campaign yet joins
it, on the same instances as everybody else, if the budget has room for all of its labels. Otherwise it waits until the
campaign is topped up, and the audit trail says so once. Workers look whenever the board has changed.
"""

from __future__ import annotations

from sqlalchemy import Connection

from billboards.board import Board, Outputs
from billboards.campaigns.items import Item, entry_items, plan_items
from billboards.campaigns.quote import count_answers
from billboards.site.boards.live import live_board
from billboards.site.campaigns import answer_counts
from billboards.site.campaigns import campaign_records as campaigns
from billboards.site.campaigns.campaign import Campaign, campaign_of
from billboards.site.campaigns.lifecycle import item_document
from billboards.site.database import trail
from billboards.site.site import Site

ACTOR = "rolling"


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
        for row in live.rows:
            machine = row.generator is not None and row.generator.kind == "machine"
            if machine and row.name not in campaign.generators:
                instances = [instance for instance in campaign.instances if instance in live.position]
                items = joining_items(live, campaign, row, instances)
                admitted += [row.name] if _admit(site, campaign, row, items) else []
    return tuple(admitted)


def joining_items(board: Board, campaign: Campaign, row: Outputs, instances: list[str]) -> list[Item]:
    """What is asked about a newcomer: its outputs, or how they compare with those of everybody who is in already."""
    if campaign.template.compares == "generators":
        others = [board.row(name) for name in campaign.generators if name in board.row_position]
        return entry_items(board, campaign.plan, row, others, instances)
    return plan_items(board, campaign.template, campaign.plan, [row], instances)


def _admit(site: Site, campaign: Campaign, row: Outputs, items: list[Item]) -> bool:
    """Let one generator in, if it is still outside and the budget has room for it."""
    now = site.clock()
    with site.database.writing() as connection:
        current = campaigns.get(connection, campaign.id)
        if current.state != "open" or row.name in current.generators:
            return False
        if not _affordable(connection, campaign_of(current), items):
            _note_waiting(connection, campaign, row.name, now)
            return False
        campaigns.add_items(connection, campaign.id, map(item_document, items))
        campaigns.change(
            connection,
            campaign.id,
            "campaign.joined",
            actor=ACTOR,
            now=now,
            detail={"generator": row.name, "items": len(items)},
            generators=[*current.generators, row.name],
        )
    return True


def _affordable(connection: Connection, campaign: Campaign, items: list[Item]) -> bool:
    """Whether the budget covers everything asked already and these items too."""
    plan = campaign.plan
    if plan.budget is None or not plan.price:
        return True
    rows = answer_counts.labels_by_row(connection, campaign.id)
    left = sum(wanted - done for done, wanted in rows.values())
    answered = sum(answer_counts.answered(connection, campaign.id).values())
    _, coming = count_answers(left + sum(item.wanted for item in items), plan)
    return (answered + coming) * plan.price <= plan.budget + 1e-9


def _note_waiting(connection: Connection, campaign: Campaign, name: str, now: float) -> None:
    """Say once that a generator waits for money."""
    entries = trail.entries(connection, subject=campaign.id, limit=1000)
    if any(entry.action == "campaign.waits" and entry.detail.get("generator") == name for entry in entries):
        return
    detail = {"generator": name, "reason": "the budget does not cover another generator; top the campaign up"}
    trail.note(connection, ACTOR, "campaign.waits", campaign.id, now=now, board=campaign.board, detail=detail)
