"""Campaigns as their owners watch them: progress and cost, annotators, agreement and doubts, results, answers.

A campaign has four pages, one for each question an owner asks; what changes while people annotate is kept fresh by a
stream. Annotators with accounts see which campaigns they may take part in and nothing else of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from billboards.errors import BillboardsError, InvalidInput, Refused, UnknownName
from billboards.site.accounts.access import may, require
from billboards.site.campaigns import views
from billboards.site.campaigns.annotators import annotator_lines, rulings
from billboards.site.campaigns.boards import metric_estimates
from billboards.site.campaigns.campaign import Campaign, get_campaign
from billboards.site.campaigns.meta_evaluation import meta_results
from billboards.site.campaigns.owning import list_campaigns, quote_campaign
from billboards.site.campaigns.results import AnswerLine, both_rankings, both_results, campaign_answers
from billboards.site.campaigns.status import campaign_status
from billboards.site.campaigns.template_pages import preview_page
from billboards.site.pages.bundles import CSV, JSONL, csv_bytes, jsonl_bytes
from billboards.site.pages.paging import cut, pager, read_page, stretch
from billboards.site.web import addresses
from billboards.site.web.asking import Ask, reading, viewer_of
from billboards.site.web.rendering import Body
from billboards.site.web.streams import send_campaign

router = APIRouter()

#: Campaigns on a page.
PAGE = 50
#: The pages of one campaign: the last part of the address, and the words that lead there.
SECTIONS = (("", "Progress"), ("annotators", "Annotators"), ("agreement", "Agreement"), ("results", "Results"))


def show_list(ask: Ask) -> Body:
    """A board's campaigns: all of them for owners, for annotators those they can take part in."""
    require(ask.viewer, "annotate")
    look = ask.look()
    found = list_campaigns(ask.site, ask.viewer, look.name)
    owner = may(ask.viewer, "administer")
    taking = found if owner else [one for one in found if one.state in ("open", "paused")]
    shown = stretch(taking[::-1], read_page(ask.query), PAGE)
    states = {one.id: campaign_status(ask.site, ask.viewer, one.id) for one in shown.entries} if owner else {}
    return ask.board_page(
        "campaigns",
        look,
        "campaigns",
        heading="Campaigns",
        campaigns=shown.entries,
        page=pager(shown.number, shown.last, addresses.board(look.name, "campaigns"), {}),
        states=states,
        owner=owner,
        tags=views.TAGS,
    )


def own_campaign(ask: Ask) -> Campaign:
    """The campaign that an address names, for its owners."""
    require(ask.viewer, "administer")
    campaign = get_campaign(ask.site, ask.params["campaign"])
    if campaign.board != ask.board_name:
        raise UnknownName("campaign", ask.params["campaign"], ())
    return campaign


def campaign_page(ask: Ask, campaign: Campaign, section: str, *, status: int = 200, **context: Any) -> Body:
    """One of the pages of a campaign."""
    return ask.board_page(
        f"campaign_{section or 'progress'}",
        ask.look(),
        "campaigns",
        status=status,
        heading=campaign.name,
        campaign=campaign,
        section=section,
        sections=SECTIONS,
        tags=views.TAGS,
        home=addresses.board(campaign.board, "campaigns", campaign.id),
        most_rows=views.MOST_ROWS,
        **{"problem": None, "links": (), "base": ask.site.settings.base_url.rstrip("/"), **context},
    )


def show_progress(ask: Ask, **context: Any) -> Body:
    """How far a campaign has come, what it costs, and what can be done with it."""
    campaign = own_campaign(ask)
    status = campaign_status(ask.site, ask.viewer, campaign.id)
    quote = quote_campaign(ask.site, ask.viewer, campaign.id)
    most = quote.cost if campaign.plan.budget is None else min(quote.cost, campaign.plan.budget)
    return campaign_page(
        ask,
        campaign,
        "",
        now=status,
        facts=views.status_facts(status),
        quote=quote,
        quoted=views.quote_facts(quote),
        most=views.money(most, quote.currency),
        **context,
    )


def show_annotators(ask: Ask, **context: Any) -> Body:
    """Who annotates, how they stand by their test questions, and what was decided about them."""
    campaign = own_campaign(ask)
    lines = annotator_lines(ask.site, ask.viewer, campaign.id)
    shown = stretch(lines, read_page(ask.query), views.MOST_ROWS)
    decided = [one for one in rulings(ask.site, ask.viewer, campaign.id) if one.subject == "annotator"]
    return campaign_page(
        ask,
        campaign,
        "annotators",
        lines=shown.entries,
        pages=pager(
            shown.number, shown.last, addresses.board(campaign.board, "campaigns", campaign.id, "annotators"), {}
        ),
        decided=cut(decided[::-1], views.MOST_ROWS),
        ruled={one.name for one in decided},
        words=views.test_words,
        **context,
    )


def show_results(ask: Ask, **context: Any) -> Body:
    """What was found: means with intervals, as they count and with the excluded; for a blind check, who is right."""
    campaign = own_campaign(ask)
    if campaign.kind == "meta":
        corners = meta_results(ask.site, ask.viewer, campaign.id)
        return campaign_page(ask, campaign, "results", corners=corners, rows=(), helped=(), places=None, **context)
    rows = views.result_rows(*both_results(ask.site, ask.viewer, campaign.id))
    try:
        helped = metric_estimates(ask.site, ask.viewer, campaign.id)
    except (InvalidInput, Refused):
        helped = ()
    places = None
    if ask.query.get("places") == "yes":
        places = views.place_rows(*both_rankings(ask.site, ask.viewer, campaign.board))
    return campaign_page(ask, campaign, "results", corners=(), rows=rows, helped=helped, places=places, **context)


def show_preview(ask: Ask) -> Body:
    """What this campaign's annotators are told, shown and asked."""
    campaign = own_campaign(ask)
    home = addresses.board(campaign.board, "campaigns", campaign.id)
    return preview_page(ask, campaign.template, back=(home, campaign.name))


def send_answers(kind: str) -> Callable[[Ask], Body]:
    """Every answer as a file; `?history=yes` has all that was ever kept, drafts and what was taken back too."""

    def send(ask: Ask) -> Body:
        campaign = own_campaign(ask)
        history = ask.query.get("history") == "yes"
        lines = campaign_answers(ask.site, ask.viewer, campaign.id, history=history)
        head = (("content-disposition", f'attachment; filename="{campaign.board}-{campaign.name}-answers.{kind}"'),)
        if kind == "csv":
            columns = [field.name for field in fields(AnswerLine)]
            return Body(csv_bytes(views.answer_records(lines, flat=True), columns), CSV, headers=head)
        return Body(jsonl_bytes(views.answer_records(lines, flat=False)), JSONL, headers=head)

    return send


def lead_on(request: Request) -> Response:
    """From a campaign's own address to its page: an owner's, or where one annotates."""
    viewer, _ = request.state.asker = viewer_of(request, request.app.state.pages)
    require(viewer, "annotate")
    campaign = get_campaign(request.app.state.site, request.path_params["campaign"])
    if not may(viewer, "administer"):
        return RedirectResponse(addresses.campaign(campaign.id, "annotate"), 303)
    return RedirectResponse(addresses.board(campaign.board, "campaigns", campaign.id), 303)


HOME = "/boards/{board}/campaigns/{campaign}"


def status_of(error: BillboardsError) -> int:
    """The status of a page that says what was wrong with its form."""
    return 422 if isinstance(error, InvalidInput) else 409


router.add_route("/boards/{board}/campaigns", reading(show_list, kept=False), include_in_schema=False)
router.add_route("/campaigns/{campaign}", lead_on, methods=["GET"], include_in_schema=False)
router.add_route(f"{HOME}/preview", reading(show_preview, kept=False), include_in_schema=False)
router.add_route(f"{HOME}/events", send_campaign, include_in_schema=False)
for _kind in ("csv", "jsonl"):
    router.add_route(f"{HOME}/answers.{_kind}", reading(send_answers(_kind), kept=False), include_in_schema=False)
