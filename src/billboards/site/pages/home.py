"""The first page: every board of the site, with who leads it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter

from billboards.analyses.rank import best_metric
from billboards.errors import InvalidInput, OtherSchema, StoreAway, StoreFailed
from billboards.show.words import listed, value_text
from billboards.site.accounts.access import may
from billboards.site.boards.masked import Look
from billboards.site.pages.board_view import chart_list, fact_lines
from billboards.site.pages.long_lists import pager, read_page, stretch
from billboards.site.settings import Phase
from billboards.site.web import addresses
from billboards.site.web.asking import Ask, reading
from billboards.site.web.rendering import Body

log = logging.getLogger("billboards.site.web")

router = APIRouter()

#: Boards on a page; each is opened to say who leads it.
PAGE = 48


#: What the card of a board that can't be read does not say.
UNKNOWN: dict[str, Any] = {
    "task": None,
    "facts": (),
    "leaders": None,
    "best": None,
    "ensemble": None,
    "changed": None,
    "ranked": False,
    "phase": None,
    "unreadable": False,
}


def show_boards(ask: Ask) -> Body:
    """All boards, by name."""
    shown = stretch(ask.site.boards(), read_page(ask.query), PAGE)
    cards = [_card_of(ask, entry.name) for entry in shown.entries]
    readable = [look for look, _ in cards if look is not None]
    return ask.page(
        "boards",
        boards=[card for _, card in cards],
        organises=may(ask.viewer, "administer"),
        lively=_liveliest(readable) if shown.number == 1 else None,
        page=pager(shown.number, shown.last, "/", {}),
    )


def _card_of(ask: Ask, name: str) -> tuple[Look | None, dict[str, Any]]:
    """A board and its card; of one that can't be read, its name and that."""
    try:
        look = ask.pages.look(name, ask.viewer)
        return look, _card(look)
    except (StoreAway, OtherSchema):
        raise
    except (InvalidInput, StoreFailed) as error:
        log.error("board %s can't be shown: %s", name, error)
        return None, {**UNKNOWN, "title": name, "href": addresses.board(name), "unreadable": True}


def _liveliest(looks: Sequence[Look]) -> dict[str, str] | None:
    """The board that was ranked last of those on which people's places can be drawn beside a metric's."""
    drawn = [
        (look.live.snapshot.created, look.name, chart, look)
        for look in looks
        if look.ranking is not None and look.live.snapshot is not None
        for chart in chart_list(look.ranking, None)[:1]
        if chart[0] == "people"
    ]
    if not drawn:
        return None
    _, name, chart, look = max(drawn, key=lambda entry: entry[:2])
    return {
        "board": look.title,
        "href": addresses.board(name),
        "submit": addresses.board(name, "submit"),
        "title": chart[1],
        "description": chart[2],
        "chart": addresses.chart(name, "people.svg"),
    }


def _card(look: Look) -> dict[str, Any]:
    ranking = look.ranking
    first = [] if ranking is None else [g.name for g in ranking.generators if g.rank == 1]
    best = None if ranking is None else best_metric(ranking)
    ensemble = None if ranking is None else ranking.ensemble
    snapshot = look.live.snapshot
    return {
        **UNKNOWN,
        "title": look.title,
        "href": addresses.board(look.name),
        "task": look.board.card.task,
        "facts": fact_lines(look.board, ranking)[:3],
        "leaders": listed(first),
        "best": None if best is None else (best.label, value_text(best.correlation, 3)),
        "ensemble": None if ensemble is None else value_text(ensemble.correlation, 3),
        "changed": None if snapshot is None else snapshot.created,
        "ranked": ranking is not None
        and (ranking.ranked_by is not None or best is not None or bool(ranking.aggregate)),
        "phase": _next_phase(look),
    }


def _next_phase(look: Look) -> Phase | None:
    """The phase that takes submissions, or will next; it is told by its times, which stay true when they pass."""
    settings, now = look.live.settings, look.live.site.clock()
    if settings.frozen is not None and now >= settings.frozen:
        return None
    return next((phase for phase in settings.phases if phase.closes is None or now < phase.closes), None)


router.add_route("/", reading(show_boards, words=("page",)), include_in_schema=False)
