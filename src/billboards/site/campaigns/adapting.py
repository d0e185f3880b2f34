"""Adaptive schedules: after every batch of answers, the comparisons to come go where they tell most.

Strengths are fitted to the answers that count, and the next items that nobody has been given yet are planned anew
(`campaigns.schedules`): their instances and their number stay, so that price and progress stay, too. Only who is
compared changes, and in a rolling campaign only with whom. It is one transaction, which says in the audit trail what it
rests on: killed, it has happened or it has not. The same answers and the same seed give the same plan.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from sqlalchemy import Connection, select, update

from billboards.board import Board
from billboards.campaigns.items import chance, output_slot, slot_document
from billboards.campaigns.schedules import Coming, Pair, adapt_pairs
from billboards.errors import NotEnoughData
from billboards.site.boards.live import live_board
from billboards.site.campaigns import answer_counts
from billboards.site.campaigns import campaign_records as campaigns
from billboards.site.campaigns.campaign import Campaign, campaign_of, campaign_with_id
from billboards.site.campaigns.campaign_records import ItemRow
from billboards.site.campaigns.comparisons import compared_labels
from billboards.site.campaigns.judgments import labels_of
from billboards.site.database.schema import assignments, items
from billboards.site.site import Site
from billboards.stats.bradley_terry import Outcomes, Strengths, count_pairs, fit_strengths

ACTOR = "schedule"
#: Answers between two plans; a campaign of many generators waits for as many as it has.
BATCH = 20
#: How many of the items to come are planned anew.
AHEAD = 100
#: Imaginary comparisons behind the strengths: early answers fix none.
PRIOR = 1.0


@dataclass(frozen=True, kw_only=True)
class Adapted:
    """How far a schedule has come: plans made, and the answers the last one rests on."""

    round: int = 0
    answers: int = 0


def adapt_schedule(site: Site, campaign_id: str) -> bool:
    """Plan the next comparisons anew if enough answers have come; whether it did."""
    with site.database.reading() as connection:
        campaign = campaign_with_id(connection, campaign_id)
        if not _is_due(connection, campaign):
            return False
    board = live_board(site, campaign.board, audience="owners").board
    now = site.clock()
    with site.database.writing() as connection:
        # Another process may have done it meanwhile.
        campaign = campaign_of(campaigns.get(connection, campaign_id))
        if not _is_due(connection, campaign):
            return False
        before, count = adapted(campaign), _answers(connection, campaign)
        changed = _plan_anew(connection, campaign, board, before.round)
        state = {"round": before.round + 1, "answers": count}
        campaigns.change(
            connection,
            campaign.id,
            "campaign.adapted",
            actor=ACTOR,
            now=now,
            detail={**state, "items": changed},
            details={**campaign.details, "schedule": state},
        )
    return True


def adapted(campaign: Campaign) -> Adapted:
    """How far an adaptive schedule has come."""
    return Adapted(**campaign.details.get("schedule", {}))


def _is_due(connection: Connection, campaign: Campaign) -> bool:
    if campaign.plan.schedule != "adaptive" or campaign.state != "open":
        return False
    wait = max(BATCH, len(campaign.generators))
    return _answers(connection, campaign) - adapted(campaign).answers >= wait


def _answers(connection: Connection, campaign: Campaign) -> int:
    return answer_counts.answered(connection, campaign.id).get("label", 0)


def _plan_anew(connection: Connection, campaign: Campaign, board: Board, number: int) -> int:
    """Plan the next items that nobody was given yet; returns how many of them changed."""
    names = [name for name in campaign.generators if name in board.row_position]
    strengths = _strengths(connection, campaign, names)
    if strengths is None:
        return 0
    every = campaigns.list_items(connection, campaign.id, "label")
    given = select(assignments.c.item_id).where(assignments.c.campaign_id == campaign.id)
    touched = set(connection.execute(given).scalars())
    place = {name: k for k, name in enumerate(names)}
    pairs = {item.id: pair for item in every if (pair := _pair(item, place)) is not None}
    to_come = [item for item in every if item.id in pairs and item.id not in touched][:AHEAD]
    # A pair is asked about once on an instance, by items that stay or by those planned here.
    planned_here = {item.id for item in to_come}
    stays = [item for item in every if item.id in pairs and item.id not in planned_here]
    asked: dict[str, set[Pair]] = {}
    for item in stays:
        asked.setdefault(item.instance, set()).add(_sorted(pairs[item.id]))
    coming = [
        Coming(
            instance=item.instance,
            planned=_sorted(pairs[item.id]),
            possible=_possible(board, campaign, names, item, asked.get(item.instance, set())),
        )
        for item in to_come
    ]
    draw = chance(campaign.plan.seed, "adaptive", number)
    chosen = adapt_pairs(strengths.theta, strengths.covariance, coming, draw, level=campaign.plan.stop_level)
    changes = [(item, pair) for item, plan, pair in zip(to_come, coming, chosen, strict=True) if pair != plan.planned]
    changed = {item.id for item, _ in changes}
    unchanged = [*stays, *(item for item in to_come if item.id not in changed)]
    shown = Counter((pairs[item.id][item.shown_order[0]], pairs[item.id][item.shown_order[1]]) for item in unchanged)
    for item, pair in changes:
        _write(connection, campaign, board, names, item, pair, shown)
    return len(changes)


def _sorted(pair: Pair) -> Pair:
    return min(pair), max(pair)


def _strengths(connection: Connection, campaign: Campaign, names: Sequence[str]) -> Strengths | None:
    """Strengths of everybody in the campaign; None where nothing is decided yet."""
    compared = compared_labels(campaign.template, labels_of(connection, campaign))
    place = {name: k for k, name in enumerate(names)}
    places = np.array([place.get(name, -1) for name in compared.names], np.int64)
    first, second = places[compared.outcomes.first], places[compared.outcomes.second]
    here = (first >= 0) & (second >= 0)
    outcomes = Outcomes(first=first[here], second=second[here], result=compared.outcomes.result[here])
    try:
        return fit_strengths(count_pairs(outcomes, len(names)), prior=PRIOR)
    except NotEnoughData:
        return None


def _pair(item: ItemRow, place: dict[str, int]) -> Pair | None:
    """The generators of an item's two slots by their places."""
    names = [str(slot["name"]) for slot in item.slots]
    return (place[names[0]], place[names[1]]) if all(name in place for name in names) else None


def _possible(
    board: Board, campaign: Campaign, names: Sequence[str], item: ItemRow, taken: set[Pair]
) -> frozenset[Pair]:
    """Pairs that have outputs for an item's instance and are not asked about there; a newcomer's stay its own."""
    if item.instance not in board.position:
        return frozenset()
    here = [k for k, name in enumerate(names) if output_slot(board, board.row(name), item.instance) is not None]
    pairs = (pair for pair in combinations(here, 2) if pair not in taken)
    if campaign.rolling:
        return frozenset(pair for pair in pairs if item.row in (names[pair[0]], names[pair[1]]))
    return frozenset(pairs)


def _write(
    connection: Connection,
    campaign: Campaign,
    board: Board,
    names: Sequence[str],
    item: ItemRow,
    pair: Pair,
    shown: Counter[Pair],
) -> None:
    """Ask about another pair in an item; the order is the one in which the two were shown less often."""
    first, second = pair if shown[pair] <= shown[pair[::-1]] else pair[::-1]
    shown[first, second] += 1
    own = campaign.rolling and names[second] == item.row
    slots = (second, first) if own else (first, second)
    texts = [output_slot(board, board.row(names[k]), item.instance) for k in slots]
    documents = [slot_document(slot) for slot in texts if slot is not None]
    order = [1, 0] if own else [0, 1]
    values = {"row": names[slots[0]], "slots": documents, "shown_order": order}
    connection.execute(update(items).where(items.c.id == item.id).values(**values))
