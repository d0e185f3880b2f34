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
from billboards.show.words import listed
from billboards.site.boards.masked import Look
from billboards.site.campaigns.protocol import list_protocols, people_in_campaigns
from billboards.site.web import addresses
from billboards.site.web.asking import Ask, reading
from billboards.site.web.rendering import Body

router = APIRouter()


def measured(look: Look) -> MeasuredCard:
    """The card of the board as this audience may read it: what is hidden is not there to be measured."""
    parts = (("inputs", look.shows_inputs), ("references", look.referenced), ("judgments", look.judged))
    hidden = [part for part, is_shown in parts if not is_shown]
    return measure_card(look.board, hidden=hidden)


def people_fact(look: Look) -> list[tuple[str, str]]:
    """How many people took part in the campaigns that this audience may know of, where there are any."""
    held = list_protocols(look)
    if not held:
        return []
    people = people_in_campaigns(look)
    names = listed([campaign.name for campaign in held])
    word = "campaign" if len(held) == 1 else "campaigns"
    return [("people who took part", f"{people:,} in {word} {names}")]


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
        counted=[*counted_facts(card), *people_fact(look)],
        protocols=[
            (campaign.name, addresses.board(look.name, "campaigns", campaign.id, "protocol"))
            for campaign in list_protocols(look)
        ],
        missing=card.missing,
        headings=[heading for heading, table in shown if table.rows],
        tables=[table for _, table in shown if table.rows],
    )


def send_markdown(ask: Ask) -> Body:
    look = ask.look()
    text = card_markdown(measured(look))
    text += "".join(f"\n**{name.capitalize()}**: {words}\n" for name, words in people_fact(look))
    return Body(text.encode("utf-8", "replace"), "text/markdown; charset=utf-8")


def send_json(ask: Ask) -> Body:
    look = ask.look()
    held = list_protocols(look)
    protocols = {campaign.name: f"/api/v1/campaigns/{campaign.id}/protocol" for campaign in held}
    took_part = {"took_part": people_in_campaigns(look), "protocols": protocols} if held else {}
    return Body(dumps(document_of(measured(look)) | took_part).encode(), "application/json")


router.add_route("/boards/{board}/card", reading(show_card), include_in_schema=False)
router.add_route("/boards/{board}/card.md", reading(send_markdown), include_in_schema=False)
router.add_route("/boards/{board}/card.json", reading(send_json), include_in_schema=False)
