"""The first page: every board of the site, with who leads it."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from billboards.analyses.rank import best_metric
from billboards.show.words import listed, value_text
from billboards.site.boards.masked import Look
from billboards.site.pages.board_view import fact_lines
from billboards.site.pages.paging import pager, read_page, stretch
from billboards.site.web import addresses
from billboards.site.web.asking import Ask, reading
from billboards.site.web.rendering import Body

router = APIRouter()

#: Boards on a page; each is opened to say who leads it.
PAGE = 48


def show_boards(ask: Ask) -> Body:
    """All boards, by name."""
    shown = stretch(ask.site.boards(), read_page(ask.query), PAGE)
    looks = [ask.pages.look(entry.name, ask.viewer) for entry in shown.entries]
    return ask.page("boards", boards=[_card(look) for look in looks], page=pager(shown.number, shown.last, "/", {}))


def _card(look: Look) -> dict[str, Any]:
    ranking = look.ranking
    first = [] if ranking is None else [g.name for g in ranking.generators if g.rank == 1]
    best = None if ranking is None else best_metric(ranking)
    ensemble = None if ranking is None else ranking.ensemble
    snapshot = look.live.snapshot
    return {
        "title": look.title,
        "href": addresses.board(look.name),
        "task": look.board.card.task,
        "facts": fact_lines(look.board, ranking)[:3],
        "leaders": listed(first),
        "best": None if best is None else (best.label, value_text(best.correlation, 3)),
        "ensemble": None if ensemble is None else value_text(ensemble.correlation, 3),
        "changed": None if snapshot is None else snapshot.created,
    }


router.add_route("/", reading(show_boards, words=("page",)), include_in_schema=False)
