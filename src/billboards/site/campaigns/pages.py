"""Campaigns as their owners watch them: progress and cost, annotators, agreement and doubts, results, answers.

A campaign has four pages, one for each question an owner asks; what changes while people annotate is kept fresh by a
stream. Annotators with accounts see which campaigns they may take part in and nothing else of them. Each form on these
pages is an action (`ACTIONS`); what is wrong with it is said on the page it stands on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from billboards.analyses.ratings.agreement import annotator_tables
from billboards.analyses.ratings.days import day_tables
from billboards.analyses.spans import error_tables
from billboards.analyses.watch import verdict
from billboards.errors import BillboardsError, InvalidInput, NotEnoughData, Refused, UnknownName
from billboards.reading import whole_number
from billboards.show.csv import csv_text
from billboards.site.accounts.access import may, require
from billboards.site.campaigns import annotators, meta_evaluation, views
from billboards.site.campaigns import lifecycle as campaigns
from billboards.site.campaigns.annotator_records import Ruling
from billboards.site.campaigns.annotators import Invitation, annotator_lines, rulings
from billboards.site.campaigns.campaign import Campaign, get_campaign
from billboards.site.campaigns.campaign_files import campaign_file, written_formats
from billboards.site.campaigns.comparisons import campaign_arena
from billboards.site.campaigns.decisions import watch_campaign, watch_words
from billboards.site.campaigns.error_results import campaign_errors
from billboards.site.campaigns.forms import sent_lines, sent_number
from billboards.site.campaigns.lifecycle import list_campaigns, quote_campaign
from billboards.site.campaigns.meta_evaluation import meta_results
from billboards.site.campaigns.repeating import WHO, campaign_days, day_of, family, plan_repetitions, repeated
from billboards.site.campaigns.results import (
    AnswerLine,
    Doubt,
    both_rankings,
    both_results,
    campaign_agreement,
    campaign_answers,
    disagreements,
    metric_estimates,
    second_look,
)
from billboards.site.campaigns.rolling import admit_newcomers, newcomer_words
from billboards.site.campaigns.status import campaign_status
from billboards.site.campaigns.surveys import consent_text, survey_lines
from billboards.site.campaigns.template_pages import preview_page
from billboards.site.pages.bundles import CSV, JSONL, jsonl_bytes
from billboards.site.pages.long_lists import Cut, cut, pager, read_page, stretch
from billboards.site.web import addresses
from billboards.site.web.asking import Ask, changing, reading, viewer_of
from billboards.site.web.rendering import Body
from billboards.site.web.streams import send_campaign
from billboards.stats.annotator_signs import ENOUGH, e_value_words

router = APIRouter()
HOME = "/boards/{board}/campaigns/{campaign}"
#: Campaigns on a page.
PAGE = 50
#: The pages of one campaign: the last part of the address, and the words that lead there.
SECTIONS = (("", "Progress"), ("annotators", "Annotators"), ("agreement", "Agreement"), ("results", "Results"))
#: Outputs on which annotators differ, and answers for a second look, that a page lists at first and at most.
LISTED, MOST_LISTED = 12, 1200
#: Disputes on the page; whatever was ruled stays on record.
LATEST = 200


def show_list(ask: Ask) -> Body:
    """A board's campaigns: all of them for owners, for annotators those they can take part in."""
    require(ask.viewer, "annotate")
    look = ask.look()
    all_campaigns = list_campaigns(ask.site, ask.viewer, look.name)
    owner = may(ask.viewer, "administer")
    taking = (
        all_campaigns if owner else [campaign for campaign in all_campaigns if campaign.state in ("open", "paused")]
    )
    shown = stretch(taking[::-1], read_page(ask.query), PAGE)
    states = {entry.id: campaign_status(ask.site, ask.viewer, entry.id) for entry in shown.entries} if owner else {}
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
        asks_people=bool(campaign.template.survey or consent_text(campaign)),
        most_rows=views.MOST_ROWS,
        **{"problem": None, "links": (), "base": ask.site.settings.base_url.rstrip("/"), **context},
    )


def show_progress(ask: Ask, **context: Any) -> Body:
    """How far a campaign has come, what it costs, and what can be done with it."""
    campaign = own_campaign(ask)
    status = campaign_status(ask.site, ask.viewer, campaign.id)
    quote = quote_campaign(ask.site, ask.viewer, campaign.id)
    effect = None
    if campaign.kind == "labels" and campaign.state != "draft" and campaign.withdrawn is None:
        telling = campaigns.withdrawing_effect if campaign.state == "closed" else campaigns.closing_effect
        effect = telling(ask.site, ask.viewer, campaign.id)
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
        effect=effect,
        newcomers=newcomer_words(campaign.plan) if campaign.rolling else None,
        repeats=repeated(campaign),
        who=WHO,
        members=_members(ask, campaign),
        money=views.money,
        **context,
    )


def _members(ask: Ask, campaign: Campaign) -> list[tuple[Campaign, str]]:
    """A campaign with its repetitions, each with its day; empty where it was never repeated."""
    with ask.site.database.reading() as connection:
        members = family(connection, campaign)
    return [(member, day_of(member)) for member in members] if len(members) > 1 else []


def show_annotators(ask: Ask, **context: Any) -> Body:
    """Who annotates, how they stand by their test questions, and what was decided about them."""
    campaign = own_campaign(ask)
    lines = annotator_lines(ask.site, ask.viewer, campaign.id)
    shown = stretch(lines, read_page(ask.query), views.MOST_ROWS)
    decided = [ruling for ruling in rulings(ask.site, ask.viewer, campaign.id) if ruling.subject == "annotator"]
    return campaign_page(
        ask,
        campaign,
        "annotators",
        lines=shown.entries,
        pages=pager(
            shown.number, shown.last, addresses.board(campaign.board, "campaigns", campaign.id, "annotators"), {}
        ),
        decided=cut(decided[::-1], views.MOST_ROWS),
        ruled={ruling.name for ruling in decided},
        words=views.test_words,
        sign_words=views.sign_words,
        e_words=e_value_words,
        enough=ENOUGH,
        **context,
    )


def show_results(ask: Ask, **context: Any) -> Body:
    """What was found: means with intervals, as they count and with the excluded; for a blind check, who is right."""
    campaign = own_campaign(ask)
    if campaign.kind == "meta":
        corners = meta_results(ask.site, ask.viewer, campaign.id)
        return campaign_page(
            ask,
            campaign,
            "results",
            corners=corners,
            rows=(),
            watch=None,
            helped=(),
            places=None,
            forms=(),
            days=(),
            **context,
        )
    rows = views.result_rows(*both_results(ask.site, ask.viewer, campaign.id))
    watch = watch_campaign(ask.site, ask.viewer, campaign.id)
    errors = campaign_errors(ask.site, ask.viewer, campaign.id)
    try:
        helped = metric_estimates(ask.site, ask.viewer, campaign.id)
    except (InvalidInput, Refused):
        helped = ()
    places = None
    if ask.query.get("places") == "yes":
        places = views.place_rows(*both_rankings(ask.site, ask.viewer, campaign.board))
    return campaign_page(
        ask,
        campaign,
        "results",
        corners=(),
        rows=rows,
        arena=campaign_arena(ask.site, ask.viewer, campaign.id),
        watch=watch,
        watched=watch_words(watch),
        verdict=verdict,
        errors=() if errors is None else error_tables(errors),
        forms=written_formats(),
        helped=helped,
        places=places,
        days=() if (study := campaign_days(ask.site, ask.viewer, campaign.id)) is None else day_tables(study),
        **context,
    )


def show_preview(ask: Ask) -> Body:
    """What this campaign's annotators are told, shown and asked."""
    campaign = own_campaign(ask)
    home = addresses.board(campaign.board, "campaigns", campaign.id)
    return preview_page(ask, campaign.template, back=(home, campaign.name))


def send_answers(kind: str) -> Callable[[Ask], Body]:
    """Every answer as a file; `?history=yes` has all that was ever kept, drafts and what was taken back too.

    CSV has a line for each output and question, as `billboards ratings` reads it; JSON lines have one for each answer.
    """

    def send(ask: Ask) -> Body:
        campaign = own_campaign(ask)
        history = ask.query.get("history") == "yes"
        lines = campaign_answers(ask.site, ask.viewer, campaign.id, history=history)
        head = (("content-disposition", f'attachment; filename="{campaign.board}-{campaign.name}-answers.{kind}"'),)
        if kind == "csv":
            text = csv_text(views.ANSWER_COLUMNS, views.answer_rows(lines))
            return Body(text.encode("utf-8", "replace"), CSV, headers=head)
        return Body(jsonl_bytes(views.answer_records(lines)), JSONL, headers=head)

    return send


def send_survey(kind: str) -> Callable[[Ask], Body]:
    """What annotators accepted and said of themselves, as a file for owners."""

    def send(ask: Ask) -> Body:
        campaign = own_campaign(ask)
        lines = survey_lines(ask.site, ask.viewer, campaign.id)
        head = (("content-disposition", f'attachment; filename="{campaign.board}-{campaign.name}-survey.{kind}"'),)
        if kind == "csv":
            names = [asked.question.name for asked in campaign.template.survey]
            columns = ["annotator", "page", "at", "digest", *names]
            text = csv_text(columns, views.survey_records(lines, flat=True))
            return Body(text.encode("utf-8", "replace"), CSV, headers=head)
        return Body(jsonl_bytes(views.survey_records(lines, flat=False)), JSONL, headers=head)

    return send


def send_judgments(ask: Ask) -> Body:
    """What counts, as a file of another tool."""
    campaign, form = own_campaign(ask), ask.params["form"]
    text = campaign_file(ask.site, ask.viewer, campaign.id, form)
    ending = {"mqm": "tsv", "label-studio": "json"}.get(form, "csv")
    head = (("content-disposition", f'attachment; filename="{campaign.board}-{campaign.name}-{form}.{ending}"'),)
    return Body(text.encode("utf-8", "replace"), CSV, headers=head)


def lead_on(request: Request) -> Response:
    """From a campaign's own address to its page: an owner's, or where one annotates."""
    viewer, _ = request.state.asker = viewer_of(request, request.app.state.pages)
    require(viewer, "annotate")
    campaign = get_campaign(request.app.state.site, request.path_params["campaign"])
    if not may(viewer, "administer"):
        return RedirectResponse(addresses.campaign(campaign.id, "annotate"), 303)
    return RedirectResponse(addresses.board(campaign.board, "campaigns", campaign.id), 303)


def status_of(error: BillboardsError) -> int:
    """The status of a page that says what was wrong with its form."""
    return 422 if isinstance(error, InvalidInput) else 409


@dataclass(frozen=True)
class Dispute:
    """An answer that was doubted or decided about: what it says, and everything that was ruled."""

    answer_id: str
    line: AnswerLine | None
    rulings: tuple[Ruling, ...]

    @property
    def decisions(self) -> tuple[str, ...]:
        """What can be decided now."""
        verdicts = [ruling.verdict for ruling in self.rulings if ruling.verdict in ("struck", "restored")]
        return ("restored",) if verdicts and verdicts[-1] == "struck" else ("upheld", "struck")


def show_agreement(ask: Ask, **context: Any) -> Body:
    """Do annotators agree, where do they differ, and which answers deserve a second look?"""
    campaign = own_campaign(ask)
    several_days = len(campaign_status(ask.site, ask.viewer, campaign.id).by_day) > 1
    try:
        study = campaign_agreement(ask.site, ask.viewer, campaign.id, by_day=several_days)
    except NotEnoughData:
        tables: tuple[Any, ...] = ()
    else:
        tables = annotator_tables(study, most=views.MOST_ROWS)
    listed = min(whole_number(ask.query.get("listed") or "") or LISTED, MOST_LISTED)
    doubts, unlooked = _second_look(ask, campaign, listed)
    return campaign_page(
        ask,
        campaign,
        "agreement",
        tables=tables,
        spreads=disagreements(ask.site, ask.viewer, campaign.id, limit=listed),
        listed=listed,
        doubts=doubts,
        unlooked=unlooked,
        disputes=_disputes(ask, campaign),
        **context,
    )


def _second_look(ask: Ask, campaign: Campaign, listed: int) -> tuple[tuple[Doubt, ...], str | None]:
    """Answers that a metric finds implausible, or why none can be named."""
    try:
        return second_look(ask.site, ask.viewer, campaign.id, limit=listed), None
    except (InvalidInput, Refused):
        return (), "no metric of this board can say yet which answers are implausible."


def _disputes(ask: Ask, campaign: Campaign) -> Cut[Dispute]:
    """The answers that something was ruled about, the latest first."""
    by_answer: dict[str, list[Ruling]] = {}
    for ruling in rulings(ask.site, ask.viewer, campaign.id)[::-1]:
        if ruling.subject == "answer":
            by_answer.setdefault(ruling.name, []).append(ruling)
    if not by_answer:
        return cut([], LATEST)
    lines = {line.answer_id: line for line in campaign_answers(ask.site, ask.viewer, campaign.id)}
    return cut([Dispute(name, lines.get(name), tuple(ruled[::-1])) for name, ruled in by_answer.items()], LATEST)


DECISIONS: tuple[meta_evaluation.Decision, ...] = ("upheld", "struck", "restored")
Sent = Mapping[str, Any]
#: A verb does what a form asks; one that makes links returns them.
Verb = Callable[[Ask, Campaign, Sent], Sequence[Invitation] | None]
#: The pages of a campaign, on which its forms stand.
PAGES: Mapping[str, Callable[..., Body]] = {
    "": show_progress,
    "annotators": show_annotators,
    "agreement": show_agreement,
    "results": show_results,
}


def act_on_campaign(ask: Ask, sent: Sent) -> Body | str:
    """Do what a button says."""
    action = ask.params["action"]
    if action not in ACTIONS:
        raise UnknownName("action", action, ACTIONS)
    campaign = own_campaign(ask)
    section, verb = ACTIONS[action]
    try:
        links = verb(ask, campaign, sent)
    except (InvalidInput, Refused) as error:
        return PAGES[section](ask, problem=str(error), status=status_of(error))
    if links is not None:
        return PAGES[section](ask, links=links)
    return addresses.board(campaign.board, "campaigns", campaign.id, *([section] if section else []))


def _open(ask: Ask, campaign: Campaign, sent: Sent) -> None:
    _check_price(campaign, sent)
    campaigns.open_campaign(ask.site, ask.viewer, campaign.id)


def _pause(ask: Ask, campaign: Campaign, sent: Sent) -> None:
    campaigns.pause_campaign(ask.site, ask.viewer, campaign.id, reason=_text(sent, "reason") or None)


def _resume(ask: Ask, campaign: Campaign, sent: Sent) -> None:
    _check_price(campaign, sent)
    campaigns.resume_campaign(ask.site, ask.viewer, campaign.id)


def _close(ask: Ask, campaign: Campaign, sent: Sent) -> None:
    if not sent.get("confirm"):
        raise InvalidInput("closing is for good: tick the box that says so, then close")
    ranks = {"yes": True, "no": False}.get(_text(sent, "ranks"))
    campaigns.close_campaign(ask.site, ask.viewer, campaign.id, reason=_text(sent, "reason") or None, ranks=ranks)


def _withdraw(ask: Ask, campaign: Campaign, sent: Sent) -> None:
    if not sent.get("confirm"):
        raise InvalidInput("this takes its judgments from the board: tick the box that says so, then withdraw")
    campaigns.withdraw_campaign(ask.site, ask.viewer, campaign.id, reason=_text(sent, "reason") or None)


def _top_up(ask: Ask, campaign: Campaign, sent: Sent) -> None:
    _check_price(campaign, sent)
    labels = sent_number(sent, "labels", "Labels per output")
    campaigns.top_up(
        ask.site,
        ask.viewer,
        campaign.id,
        sent_number(sent, "budget", "Budget") or 0.0,
        generators=sent_lines(sent, "generators"),
        labels=None if labels is None else int(labels),
    )


def _repeat(ask: Ask, campaign: Campaign, sent: Sent) -> None:
    days, every = (sent_number(sent, name, words) for name, words in (("days", "Days"), ("every", "Every")))
    instances = sent_number(sent, "instances", "Instances")
    word = next((word for word in WHO if word == _text(sent, "annotators")), None)
    if word is None:
        raise InvalidInput(f"choose who may judge: {', '.join(WHO)}")
    plan_repetitions(
        ask.site,
        ask.viewer,
        campaign.id,
        int(days or 0),
        first=_sent_date(sent, "first"),
        every=int(every or 1),
        annotators=word,
        anchors=sent_lines(sent, "anchors"),
        instances=None if instances is None else int(instances),
    )


def _sent_date(sent: Sent, name: str) -> date | None:
    text = _text(sent, name)
    try:
        return date.fromisoformat(text) if text else None
    except ValueError as error:
        raise InvalidInput(f"{text[:40]!r} is no day; write it as in 2026-05-01") from error


def _admit(ask: Ask, campaign: Campaign, sent: Sent) -> None:
    _check_price(campaign, sent)
    admit_newcomers(ask.site, ask.viewer, campaign.id, [_text(sent, "generator")])


def _check_price(campaign: Campaign, sent: Sent) -> None:
    if campaign.plan.pay and not sent.get("confirm"):
        raise InvalidInput("this spends money: tick the box beside the price, then go on")


def _invite(ask: Ask, campaign: Campaign, sent: Sent) -> Sequence[Invitation]:
    names, count = sent_lines(sent, "names"), sent_number(sent, "count", "Links without names")
    if bool(names) == bool(count):
        raise InvalidInput("name the annotators, one a line, or say how many links to make; one of the two")
    days = sent_number(sent, "days", "Days")
    expires = None if not days else ask.site.clock() + 86400 * days
    return annotators.invite(ask.site, ask.viewer, campaign.id, names or int(count or 0), expires=expires)


def _share(ask: Ask, campaign: Campaign, sent: Sent) -> Sequence[Invitation]:
    platform = _text(sent, "platform")
    token = annotators.shared_link(ask.site, ask.viewer, campaign.id, platform)
    return [Invitation(f"everybody from {platform}", "", f"{token}?external=ID")]


def _revoke(ask: Ask, campaign: Campaign, sent: Sent) -> None:
    annotators.revoke_link(ask.site, ask.viewer, campaign.id, _text(sent, "annotator"))


def _exclude(ask: Ask, campaign: Campaign, sent: Sent) -> None:
    annotators.exclude(ask.site, ask.viewer, campaign.id, _text(sent, "annotator"), _text(sent, "reason"))


def _readmit(ask: Ask, campaign: Campaign, sent: Sent) -> None:
    annotators.readmit(ask.site, ask.viewer, campaign.id, _text(sent, "annotator"), _text(sent, "reason"))


def _dispute(ask: Ask, campaign: Campaign, sent: Sent) -> None:
    meta_evaluation.dispute(ask.site, ask.viewer, campaign.id, _text(sent, "answer"), _text(sent, "reason"))


def _decide(ask: Ask, campaign: Campaign, sent: Sent) -> None:
    decision = next((word for word in DECISIONS if word == _text(sent, "decision")), None)
    if decision is None:
        raise InvalidInput(f"choose one of {', '.join(DECISIONS)}")
    meta_evaluation.decide(ask.site, ask.viewer, campaign.id, _text(sent, "answer"), decision, _text(sent, "reason"))


def _text(sent: Sent, name: str) -> str:
    return str(sent.get(name, "")).strip()


#: Every action: the page its form stands on, and what it does.
ACTIONS: Mapping[str, tuple[str, Verb]] = {
    "open": ("", _open),
    "pause": ("", _pause),
    "resume": ("", _resume),
    "close": ("", _close),
    "withdraw": ("", _withdraw),
    "top-up": ("", _top_up),
    "admit": ("", _admit),
    "repeat": ("", _repeat),
    "invite": ("annotators", _invite),
    "share": ("annotators", _share),
    "revoke": ("annotators", _revoke),
    "exclude": ("annotators", _exclude),
    "readmit": ("annotators", _readmit),
    "dispute": ("agreement", _dispute),
    "decide": ("agreement", _decide),
}

for _section, _show in PAGES.items():
    _path = f"{HOME}/{_section}" if _section else HOME
    router.add_route(_path, reading(_show, kept=False), methods=["GET"], include_in_schema=False)
router.add_route(f"{HOME}/{{action}}", changing(act_on_campaign), methods=["POST"], include_in_schema=False)
router.add_route("/boards/{board}/campaigns", reading(show_list, kept=False), include_in_schema=False)
router.add_route("/campaigns/{campaign}", lead_on, methods=["GET"], include_in_schema=False)
router.add_route(f"{HOME}/preview", reading(show_preview, kept=False), include_in_schema=False)
router.add_route(f"{HOME}/events", send_campaign, include_in_schema=False)
router.add_route(f"{HOME}/judgments/{{form}}", reading(send_judgments, kept=False), include_in_schema=False)
for _kind in ("csv", "jsonl"):
    router.add_route(f"{HOME}/answers.{_kind}", reading(send_answers(_kind), kept=False), include_in_schema=False)
    router.add_route(f"{HOME}/survey.{_kind}", reading(send_survey(_kind), kept=False), include_in_schema=False)
