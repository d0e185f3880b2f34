"""Planning a campaign by form: what is asked, of which generators, how much, when, and at what price.

What is asked is a shipped template, or a file of the owner's own, which can be looked at first as annotators will see
it. Nothing is asked or paid for a plan: what comes of the form is a draft with its quote.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fastapi import APIRouter

from billboards.board import Generator
from billboards.campaigns.plan import DAYS, PRESETS
from billboards.campaigns.template_files import (
    LARGEST,
    SentTemplate,
    open_template,
    parse_template,
    sent_template,
    shipped,
)
from billboards.errors import BillboardsError, InvalidInput, InvalidTemplate, Refused
from billboards.selectors import SELECTORS
from billboards.site.accounts.access import require
from billboards.site.campaigns.campaign import Campaign
from billboards.site.campaigns.forms import preset_fields, sent_lines, sent_number, sent_plan
from billboards.site.campaigns.lifecycle import create_campaign
from billboards.site.campaigns.meta_evaluation import create_meta_campaign
from billboards.site.campaigns.pages import status_of
from billboards.site.campaigns.template_pages import preview_page
from billboards.site.submissions.forms import problem_words, sent_content
from billboards.site.web import addresses
from billboards.site.web.asking import Ask, Upload, changing, reading
from billboards.site.web.rendering import Body

router = APIRouter()

#: What the form says for a template of one's own; no shipped one is called so.
OWN = "own"


def show_form(ask: Ask) -> Body:
    """The form, filled in as a preset has it."""
    preset = ask.query.get("preset") or "sentence"
    chosen = {"template": ask.query.get("template") or "genie-translation", "ranks": "", "preset": preset}
    return _form(ask, {**preset_fields(preset), **chosen}, (), 200)


def _form(ask: Ask, sent: Mapping[str, Any], problems: Sequence[str], status: int) -> Body:
    require(ask.viewer, "administer")
    look = ask.look()
    generators = look.live.board.generators
    return ask.board_page(
        "campaign_new",
        look,
        "campaigns",
        status=status,
        heading="New campaign",
        sent=_with_file_as_text(sent),
        problems=problems,
        templates=[open_template(name) for name in shipped()],
        own=OWN,
        machines=_names(generators, "machine"),
        people=_names(generators, "human"),
        optimised=_names(generators, "optimised"),
        instances=len(look.board.instances),
        presets=PRESETS,
        days=DAYS,
        selectors={name: SELECTORS.summary(name) for name in SELECTORS},
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
            _chosen_template(sent),
            generators=sent_lines(sent, "generators") or None,
            plan=sent_plan(sent),
            rolling=bool(sent.get("rolling")),
            ranks={"yes": True, "no": False}.get(str(sent.get("ranks") or "")),
        )
    except (InvalidInput, Refused) as error:
        return _form(ask, sent, _mistakes(error), status_of(error))
    return _page_of(made)


def show_chosen(ask: Ask, sent: Mapping[str, Any]) -> Body:
    """The template that the form has, as annotators will see it; nothing is kept of it."""
    require(ask.viewer, "administer")
    chosen = _chosen_template(sent)
    template = open_template(chosen) if isinstance(chosen, str) else parse_template(chosen.text, chosen.name)
    return preview_page(ask, template, back=(addresses.board(ask.look().name, "campaigns", "new"), "New campaign"))


def _chosen_template(sent: Mapping[str, Any]) -> str | SentTemplate:
    """A shipped template's name, or the owner's own one."""
    if sent.get("template") != OWN:
        if _has_own(sent):
            raise InvalidInput("a template of your own came along, but another is chosen: choose yours, or take it out")
        return _shipped_template(sent)
    raw, name = sent_content(sent, "template.toml", "your own template")
    return sent_template(raw, name)


def _has_own(sent: Mapping[str, Any]) -> bool:
    upload = sent.get("file")
    return bool((isinstance(upload, Upload) and upload.content) or str(sent.get("pasted") or "").strip())


def _with_file_as_text(sent: Mapping[str, Any]) -> dict[str, Any]:
    """What was sent, with a file as text to be mended: a browser does not choose the same file again by itself."""
    upload = sent.get("file")
    shown = {key: value for key, value in sent.items() if isinstance(value, str)}
    if isinstance(upload, Upload) and 0 < len(upload.content) <= LARGEST and not shown.get("pasted"):
        shown["pasted"] = upload.content.decode("utf-8", "replace")
    return shown


def _mistakes(error: BillboardsError) -> list[str]:
    return list(map(problem_words, error.problems)) if isinstance(error, InvalidTemplate) else [str(error)]


def _shipped_template(sent: Mapping[str, Any]) -> str:
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
    fitting = [template for template in map(open_template, shipped()) if template.compares == "none"]
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
            template=_shipped_template(sent),
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
CHOSEN = "/boards/{board}/campaigns/template"

router.add_route(NEW, reading(show_form, kept=False), methods=["GET"], include_in_schema=False)
router.add_route(NEW, changing(receive_form), methods=["POST"], include_in_schema=False)
router.add_route(CHOSEN, changing(show_chosen), methods=["POST"], include_in_schema=False)
router.add_route(BLIND, reading(show_blind_form, kept=False), methods=["GET"], include_in_schema=False)
router.add_route(BLIND, changing(receive_blind_form), methods=["POST"], include_in_schema=False)
