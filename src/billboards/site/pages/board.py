"""The board page, as it is now, for a part of the board, or as a past ranking had it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fastapi import APIRouter
from sqlalchemy import Connection

from billboards.analyses.agreement import agreement_table, agreement_words
from billboards.analyses.overrating import OverratingReport
from billboards.analyses.rank import Ranking
from billboards.show.documents import result_of
from billboards.show.words import listed
from billboards.site.accounts.access import may
from billboards.site.boards import registry, snapshots
from billboards.site.boards.masked import Look
from billboards.site.boards.refresh import basis
from billboards.site.boards.snapshots import Snapshot
from billboards.site.campaigns.protocol import list_protocols
from billboards.site.database import trail
from billboards.site.pages import badges
from billboards.site.pages.board_view import (
    TABLE_WORDS,
    card_lines,
    chart_list,
    fact_lines,
    filter_selects,
    read_filter,
    standing_lines,
    table_context,
)
from billboards.site.pages.changes import Move, changes_between
from billboards.site.pages.citations import quote_ranking, whole_address
from billboards.site.pages.columns import own_columns
from billboards.site.pages.figures import board_figure, living_files
from billboards.site.submissions import records as submissions
from billboards.site.web import addresses
from billboards.site.web.asking import Ask, reading
from billboards.site.web.rendering import Body
from billboards.site.work.waiting import BoardProgress, board_progress

router = APIRouter()

#: Moves that the board page names; the rest is counted.
MOST_MOVES = 6
#: Submissions on their way that are counted one by one.
MOST_RUNNING = 100
#: Generators and metrics of each side that the comparison with another ranking lists.
MOST_CHANGES = 100


def show_board(ask: Ask) -> Body:
    """What the board says now."""
    look = ask.look()
    ranking, overrating = look.ranking, look.overrating
    chosen = read_filter(look.board, ask.query)
    if chosen and ranking is not None:
        ranking, overrating = look.filtered(chosen), None
    context: dict[str, Any] = {
        "card": look.board.card,
        "facts": fact_lines(look.board, ranking),
        "card_lines": card_lines(look.board),
        "protocols": [
            (campaign.name, addresses.board(look.name, "campaigns", campaign.id, "protocol"))
            for campaign in list_protocols(look)
        ],
        "pending": _pending(ask, look),
        "moved": None if chosen else _moved(look),
        "filters": filter_selects(look.board, chosen, look.ranking) if look.judged else [],
        "filtered": chosen.words,
        "past": None,
        "charts": [],
        "generation": look.live.generation,
        "ranking": ranking,
    }
    if ranking is not None:
        own = own_columns(look.board)
        context |= table_context(ranking, overrating, ask.query, addresses.board(look.name), look.recomputed, own)
        context["standing"] = standing_lines(ranking, look.board)
        context |= _around(look, ranking, overrating, look.live.snapshot, filtered=bool(chosen))
        sources = None if chosen else look.sources
        if sources is not None:
            context["findings"] = (*context["findings"], *agreement_words(sources))
            context["sources"] = agreement_table(sources)
    body = ask.board_page("board", look, "", progress=board_progress_of(look), **context)
    # Whether the ranking that is being made comes about is no change of the board.
    being_made = any(notice["text"] == BEING_MADE for notice in context["pending"])
    return body if ranking is not None and not being_made else replace(body, is_kept=False)


def board_progress_of(look: Look) -> BoardProgress | None:
    """How far a board has come that has no ranking yet; None of any other."""
    live = look.live
    return None if live.snapshot is not None else board_progress(live.site, live.name, live.audience)


def _around(
    look: Look, ranking: Ranking, overrating: OverratingReport | None, snapshot: Snapshot | None, *, filtered: bool
) -> dict[str, Any]:
    """What stands beside the table; charts and badges are of the whole board, so a part has none."""
    return {
        "charts": [] if filtered else [board_figure(look, *chart) for chart in chart_list(ranking, overrating)],
        "living": living_files(),
        "badges": [] if filtered else _badges(look, ranking),
        "permalink": None if snapshot is None or filtered else addresses.board(look.name, "rankings", snapshot.id),
        "number": None if snapshot is None else snapshot.number,
        "quote": None if snapshot is None else quote_ranking(look, ranking, snapshot),
        "embed": None if filtered else whole_address(look, f"/embed{addresses.board(look.name)}"),
        "sources": None,
    }


def _badges(look: Look, ranking: Ranking) -> list[dict[str, str]]:
    """The badge of the leading metric and of the first generator, each with what a README writes."""
    base = look.live.site.settings.base_url.rstrip("/")
    entries = [("leading metric", badges.metric_words(ranking), addresses.board(look.name, "badges", "metric.svg"))]
    first = next((standing.name for standing in ranking.generators if standing.rank is not None), None)
    if first is not None:
        address = addresses.board(look.name, "badges", "generators", f"{first}.svg")
        entries.append((first, badges.generator_words(ranking, first), address))
    return [
        {"words": f"{what}: {words}", "address": address, "markdown": f"![{what}: {words}]({base}{address})"}
        for what, words, address in entries
    ]


#: What a board says that is ranked, and not yet with its last change.
BEING_MADE = "The board has changed: a new ranking is being made."


def _pending(ask: Ask, look: Look) -> list[dict[str, str]]:
    """What is on its way to the board, as far as this viewer may know."""
    with ask.site.database.reading() as connection:
        states = ("received", "checking", "trial", "scoring")
        running = submissions.find(connection, board=look.name, states=states, limit=MOST_RUNNING + 1)
        in_vain = trail.latest(connection, look.name, "ranking.failed")
        changed = registry.board(connection, look.name).changed
    if running:
        many = f"More than {MOST_RUNNING}" if len(running) > MOST_RUNNING else str(len(running))
        words = "One submission is" if len(running) == 1 else f"{many} submissions are"
        href = addresses.board(look.name, "submissions")
        return [{"text": f"{words} on the way.", "href": href, "link": "See what is running"}]
    if look.live.snapshot is not None and look.live.snapshot.basis != basis(look.live):
        if in_vain is not None and in_vain.at >= changed:
            words = "The board could not be ranked after its last change. What stands here is the ranking before it."
            href = addresses.board(look.name, "organise", "audit") if may(ask.viewer, "administer") else ""
            return [{"text": words, "href": href, "link": "Read why"}]
        return [{"text": BEING_MADE, "href": "", "link": ""}]
    return []


def _moved(look: Look) -> dict[str, Any] | None:
    """Whose places changed with the latest ranking."""
    snapshot = look.live.snapshot
    if snapshot is None or snapshot.number == 1 or not snapshot.moves:
        return None
    moves = [
        Move(
            name=move["name"],
            before=move["before"],
            after=move["after"],
            new=move["change"] == "new",
            gone=move["change"] == "gone",
            among=tuple(move["among"]) if "among" in move else None,
        )
        for move in snapshot.moves
    ]
    return {
        "time": snapshot.created,
        "cause": cause_words(snapshot),
        "shown": moves[:MOST_MOVES],
        "rest": max(0, len(moves) - MOST_MOVES),
        "href": addresses.board(look.name, "rankings", snapshot.id),
    }


def source_words(event: Mapping[str, Any]) -> str:
    """What was decided about a board's judgments, in a few words."""
    if event["event"] == "chosen":
        source = event["source"]
        return "the owner chose what ranks by the rule" if source is None else f"the owner chose {source} to rank"
    campaign = "a campaign" if event["campaign"] is None else f"campaign {event['campaign']}"
    return f"{campaign} closed" if event["event"] == "closed" else f"{campaign} was withdrawn"


def cause_words(snapshot: Snapshot) -> str:
    """Why a ranking was made, in a few words."""
    words = {"added": "came in", "removed": "went", "changed": "sent a new version"}
    cause = snapshot.cause
    causes = [
        f"{listed([entry['name'] for entry in cause[key]])} {verb}" for key, verb in words.items() if cause.get(key)
    ]
    causes += [source_words(event) for event in cause.get("judgments", ())]
    return "; ".join(causes) or ("the first ranking" if cause.get("first") else "the board or its settings changed")


def show_ranking(ask: Ask) -> Body:
    """A past ranking, as it was, and how it differs from the one before or from another."""
    look = ask.look()
    with ask.site.database.reading() as connection:
        snapshot = find_snapshot(connection, look, ask.params["ranking"])
        document = snapshots.document(connection, snapshot)
        before = _compared_with(connection, look, snapshot, ask.query.get("since") or "")
        earlier = None if before is None else look.masked(snapshots.ranking(connection, before))
    ranking = look.masked(result_of(Ranking, document["ranking"]))
    stored = document.get("overrating")
    overrating = None if stored is None else look.masked_overrating(result_of(OverratingReport, stored))
    address = addresses.board(look.name, "rankings", snapshot.id)
    latest = look.live.snapshot
    context = {
        "card": look.board.card,
        "facts": [],
        "card_lines": [],
        "protocols": [],
        "pending": [],
        "moved": None,
        "filters": [],
        "filtered": "",
        "generation": None,
        "past": {
            "snapshot": snapshot,
            "cause": cause_words(snapshot),
            "before": before,
            "changes": None if earlier is None else changes_between(earlier, ranking),
            "most": MOST_CHANGES,
            "whole": f"/api/v1{address}",
            "is_latest": latest is not None and latest.number == snapshot.number,
        },
        **table_context(ranking, overrating, ask.query, address),
        "standing": standing_lines(ranking, look.board),
        **_around(look, ranking, overrating, snapshot, filtered=True),
        "permalink": address,
    }
    return ask.board_page("board", look, "rankings", progress=None, heading=f"Ranking {snapshot.number}", **context)


def find_snapshot(connection: Connection, look: Look, key: str) -> Snapshot:
    """A ranking by its id, or by its number."""
    named = int(key) if key.isdecimal() and len(key) < 9 else key
    return snapshots.snapshot(connection, look.name, named, look.past_audience)


def _compared_with(connection: Connection, look: Look, snapshot: Snapshot, since: str) -> Snapshot | None:
    """The ranking that this one is compared with: the one asked for, else the one before."""
    if since:
        return find_snapshot(connection, look, since)
    earlier = snapshots.list_snapshots(connection, look.name, look.past_audience, before=snapshot.number, limit=1)
    return earlier[0] if earlier else None


router.add_route("/boards/{board}", reading(show_board, words=TABLE_WORDS), include_in_schema=False)
router.add_route(
    "/boards/{board}/rankings/{ranking}", reading(show_ranking, words=TABLE_WORDS), include_in_schema=False
)
