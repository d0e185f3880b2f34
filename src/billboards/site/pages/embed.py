"""A board's table to stand on other sites' pages, in a frame.

It is the only page that another site may frame. Whoever looks is shown what a visitor sees, and there is nothing to be
clicked that changes anything: so a page around it can neither learn nor do more than anybody.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from billboards.analyses.rank import GeneratorStanding, Ranking
from billboards.errors import InvalidInput
from billboards.show.table import mean_digits
from billboards.show.words import interval_text, rank_texts, value_text
from billboards.site.accounts.access import VISITOR
from billboards.site.pages.citations import whole_address
from billboards.site.web import addresses
from billboards.site.web.asking import Ask, reading
from billboards.site.web.rendering import Body
from billboards.site.web.security import embedding_policy

router = APIRouter()

#: Rows that are shown where the address names no number, and at most.
ROWS, MOST_ROWS = 10, 100
SIDES, THEMES = ("generators", "metrics"), ("system", "light", "dark")


def show_embed(ask: Ask) -> Body:
    """The first generators or metrics of a board."""
    look = ask.pages.look(ask.board_name, VISITOR)
    rows, side, theme = _rows(ask.query.get("rows")), _one_of(ask, "side", SIDES), _one_of(ask, "theme", THEMES)
    ranking = look.ranking
    lines: list[dict[str, Any]] = []
    if ranking is not None:
        lines = _metrics(look.name, ranking) if side == "metrics" else _generators(look.name, ranking)
    body = ask.page(
        "embed",
        title=look.title,
        side=side,
        theme=theme,
        lines=lines[:rows],
        total=len(lines),
        lead=None if ranking is None else ranking.ranked_by,
        has_people=any(line.get("people") for line in lines),
        address=whole_address(look, addresses.board(look.name, *(("metrics",) if side == "metrics" else ()))),
    )
    headers = (("content-security-policy", embedding_policy()), ("cross-origin-resource-policy", "cross-origin"))
    return Body(body.content, headers=headers)


def _rows(text: str | None) -> int:
    if not text:
        return ROWS
    if not (text.isascii() and text.isdecimal() and 1 <= int(text) <= MOST_ROWS):
        raise InvalidInput(f"rows must be a whole number from 1 to {MOST_ROWS}; found {text[:40]!r}")
    return int(text)


def _one_of(ask: Ask, word: str, choices: tuple[str, ...]) -> str:
    text = ask.query.get(word) or choices[0]
    if text not in choices:
        raise InvalidInput(f"{word} must be one of {', '.join(choices)}; found {text[:40]!r}")
    return text


def _generators(board: str, ranking: Ranking) -> list[dict[str, Any]]:
    ranks = rank_texts([standing.rank for standing in ranking.generators])
    values = [_lead_value(ranking, standing) for standing in ranking.generators]
    digits = mean_digits(value for value in values if value is not None)
    return [
        {
            "rank": rank,
            "name": standing.name,
            "human": standing.kind == "human",
            "href": addresses.generator(board, standing.name),
            "value": value_text(value, digits),
            "people": "" if standing.human is None else value_text(standing.human, 1),
        }
        for standing, rank, value in zip(ranking.generators, ranks, values, strict=True)
    ]


def _lead_value(ranking: Ranking, standing: GeneratorStanding) -> float | None:
    lead = ranking.ranked_by
    if lead is None:
        return None
    return standing.human if lead == "people" else standing.scores.get(lead)


def _metrics(board: str, ranking: Ranking) -> list[dict[str, Any]]:
    ranks = rank_texts([metric.rank for metric in ranking.metrics])
    return [
        {
            "rank": rank,
            "name": metric.label,
            "human": False,
            "href": addresses.metric(board, metric.name),
            "value": value_text(metric.correlation, 3),
            "interval": "" if metric.interval is None else interval_text(metric.interval, 3),
        }
        for metric, rank in zip(ranking.metrics, ranks, strict=True)
    ]


router.add_route("/embed/boards/{board}", reading(show_embed, words=("rows", "side", "theme")), include_in_schema=False)
