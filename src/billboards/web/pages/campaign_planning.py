"""Planning a campaign by form: what is asked, of which generators, how much, when, and at what price.

Nothing is asked or paid for a plan: what comes of the form is a draft with its quote.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fastapi import APIRouter

from billboards.domain import Generator
from billboards.errors import InvalidInput, Refused
from billboards.human.campaign_plan import DAYS, PRESETS
from billboards.human.template_files import open_template, shipped
from billboards.site.access import require
from billboards.site.campaign_records import Campaign
from billboards.site.campaigns import create_campaign
from billboards.site.meta_evaluation import create_meta_campaign
from billboards.web import addresses
from billboards.web.asking import Ask, changing, reading
from billboards.web.pages.campaign_forms import preset_fields, sent_lines, sent_number, sent_plan
from billboards.web.pages.campaigns import status_of
from billboards.web.rendering import Body

router = APIRouter()


def show_form(ask: Ask) -> Body:
    """The form, filled in as a preset has it."""
    preset = ask.query.get("preset") or "sentence"
    chosen = {"template": ask.query.get("template") or "genie-translation", "ranks": "yes", "preset": preset}
    return _form(ask, {**preset_fields(preset), **chosen}, None, 200)


def _form(ask: Ask, sent: Mapping[str, Any], problem: str | None, status: int) -> Body:
    require(ask.viewer, "administer")
    look = ask.look()
    generators = look.live.board.generators
    return ask.board_page(
        "campaign_new",
        look,
        "campaigns",
        status=status,
        heading="New campaign",
        sent=sent,
        problem=problem,
        templates=[open_template(name) for name in shipped()],
        machines=_names(generators, "machine"),
        people=_names(generators, "human"),
        optimised=_names(generators, "optimised"),
        instances=len(look.board.instances),
        presets=PRESETS,
        days=DAYS,
    )


def _names(generators: Iterable[Generator], kind: str) -> list[str]:
    return [generator.name for generator in generators if generator.kind == kind]


def receive_form(ask: Ask, sent: Mapping[str, Any]) -> Body | str:
    """Plan the campaign as a draft, or say what is wrong with the plan."""
    require(ask.viewer, "administer")
    try:
        made = create_campaign(
            ask.site,
            ask.viewer,
            ask.board_name,
            str(sent.get("name", "")).strip(),
            sent_template(sent),
            generators=sent_lines(sent, "generators") or None,
            plan=sent_plan(sent),
            rolling=bool(sent.get("rolling")),
            ranks=bool(sent.get("ranks")),
        )
    except (InvalidInput, Refused) as error:
        return _form(ask, sent, str(error), status_of(error))
    return _page_of(made)


def sent_template(sent: Mapping[str, Any]) -> str:
    """A shipped template's name; a path would open any file of the server's."""
    name = str(sent.get("template", ""))
    if name not in shipped():
        raise InvalidInput(f"there is no template {name[:80]!r}; choose one of {', '.join(shipped())}")
    return name


def show_blind_form(ask: Ask) -> Body:
    """The form for a blind check of where two sources of judgments disagree."""
    return _blind_form(ask, {"per_corner": "25", "template": "binary"}, None, 200)


def _blind_form(ask: Ask, sent: Mapping[str, Any], problem: str | None, status: int) -> Body:
    require(ask.viewer, "administer")
    look = ask.look()
    sources = [*look.board.aggregates, *look.board.dimensions]
    fitting = [one for one in map(open_template, shipped()) if one.compares == "none"]
    return ask.board_page(
        "campaign_blind",
        look,
        "campaigns",
        status=status,
        heading="New blind check",
        sent=sent,
        problem=problem,
        sources=list(dict.fromkeys(sources)),
        templates=fitting,
    )


def receive_blind_form(ask: Ask, sent: Mapping[str, Any]) -> Body | str:
    """Plan a blind check, or say what is wrong."""
    require(ask.viewer, "administer")
    try:
        made = create_meta_campaign(
            ask.site,
            ask.viewer,
            ask.board_name,
            str(sent.get("name", "")).strip(),
            str(sent.get("first", "")),
            str(sent.get("second", "")),
            per_corner=_per_corner(sent),
            template=sent_template(sent),
        )
    except (InvalidInput, Refused) as error:
        return _blind_form(ask, sent, str(error), status_of(error))
    return _page_of(made)


def _per_corner(sent: Mapping[str, Any]) -> int:
    wanted = sent_number(sent, "per_corner", "Outputs of each kind") or 0
    if not 1 <= wanted <= 1000 or wanted != int(wanted):
        raise InvalidInput("Outputs of each kind: give a whole number from 1 to 1,000")
    return int(wanted)


def _page_of(campaign: Campaign) -> str:
    return addresses.board(campaign.board, "campaigns", campaign.id)


NEW, BLIND = "/boards/{board}/campaigns/new", "/boards/{board}/campaigns/blind-check"

router.add_route(NEW, reading(show_form, kept=False), methods=["GET"], include_in_schema=False)
router.add_route(NEW, changing(receive_form), methods=["POST"], include_in_schema=False)
router.add_route(BLIND, reading(show_blind_form, kept=False), methods=["GET"], include_in_schema=False)
router.add_route(BLIND, changing(receive_blind_form), methods=["POST"], include_in_schema=False)
