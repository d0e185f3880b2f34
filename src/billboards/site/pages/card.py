"""A board's data card: what its owner states, and what can be counted of the parts that this audience may see."""

from __future__ import annotations

from fastapi import APIRouter

from billboards.analyses.card import (
    card_markdown,
    counted_facts,
    definitions,
    dimension_table,
    length_table,
    measure_card,
    stated_facts,
)
from billboards.board import MeasuredCard
from billboards.show.documents import document_of, dumps
from billboards.site.boards.masked import Look
from billboards.site.web.asking import Ask, reading
from billboards.site.web.rendering import Body

router = APIRouter()


def measured(look: Look) -> MeasuredCard:
    """The card of the board as this audience may read it: what is hidden is not there to be measured."""
    hidden = [part for part, is_shown in (("references", look.referenced), ("judgments", look.judged)) if not is_shown]
    return measure_card(look.board, hidden=hidden)


def show_card(ask: Ask) -> Body:
    """The card as a page."""
    look = ask.look()
    card = measured(look)
    shown = [("What people judged", dimension_table(card)), ("How long the texts are", length_table(card))]
    return ask.board_page(
        "card",
        look,
        "card",
        heading="Data card",
        stated=[(name, text) for name, text in (*stated_facts(card), *definitions(card)) if name != "not stated"],
        counted=counted_facts(card),
        missing=card.missing,
        headings=[heading for heading, table in shown if table.rows],
        tables=[table for _, table in shown if table.rows],
    )


def send_markdown(ask: Ask) -> Body:
    return Body(card_markdown(measured(ask.look())).encode("utf-8", "replace"), "text/markdown; charset=utf-8")


def send_json(ask: Ask) -> Body:
    return Body(dumps(document_of(measured(ask.look()))).encode(), "application/json")


router.add_route("/boards/{board}/card", reading(show_card), include_in_schema=False)
router.add_route("/boards/{board}/card.md", reading(send_markdown), include_in_schema=False)
router.add_route("/boards/{board}/card.json", reading(send_json), include_in_schema=False)
