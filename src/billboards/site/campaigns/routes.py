"""Campaigns for programs of their owners: plan, open, invite, follow, decide, and read what was found.

What may spend money wants `confirm`, as the command line does. Annotators stand under their pseudonyms everywhere here;
their real names stay on the owners' page.
"""

from __future__ import annotations

from dataclasses import asdict
from datetime import date
from typing import Annotated, Any, Literal

from fastapi import Depends, Request, Response
from pydantic import BaseModel, BeforeValidator, Field

from billboards.analyses.arena import ArenaRanking
from billboards.analyses.ratings.days import DayStudy
from billboards.analyses.spans import ErrorStudy
from billboards.campaigns.plan import CampaignPlan, read_plan
from billboards.campaigns.preview import preview
from billboards.campaigns.quote import Quote
from billboards.campaigns.template_files import (
    LARGEST,
    SentTemplate,
    open_template,
    parse_template,
    sent_template,
    shipped,
)
from billboards.campaigns.templates import Template
from billboards.errors import InvalidInput, Refused
from billboards.site.accounts.access import Viewer
from billboards.site.accounts.permissions import Permission, site_of
from billboards.site.accounts.routes import Name, Strict
from billboards.site.campaigns import annotators
from billboards.site.campaigns import lifecycle as campaigns
from billboards.site.campaigns import results as campaign_results
from billboards.site.campaigns.annotator_records import Ruling
from billboards.site.campaigns.annotators import AnnotatorLine, TestCount
from billboards.site.campaigns.campaign import Campaign, get_campaign
from billboards.site.campaigns.campaign_records import Kind, State
from billboards.site.campaigns.comparisons import campaign_arena
from billboards.site.campaigns.decisions import CampaignWatch, watch_campaign
from billboards.site.campaigns.error_results import campaign_errors
from billboards.site.campaigns.lifecycle import SourceChange
from billboards.site.campaigns.repeating import MOST_DAYS, Who, campaign_days, plan_repetitions
from billboards.site.campaigns.results import AnswerLine, Estimated
from billboards.site.campaigns.rolling import Newcomer, admit_newcomers
from billboards.site.campaigns.status import campaign_status
from billboards.site.campaigns.surveys import PageLine, survey_lines
from billboards.site.campaigns.views import effect_words
from billboards.site.web.api import MOST, Cursor, Limit, Page, list_at, page_at, tagged_router
from billboards.stats.annotator_signs import AnnotatorEvidence

router = tagged_router("campaigns")
OWNERS = [Depends(Permission("administer"))]


class TemplateFacts(BaseModel):
    """A template: who it is, and what is asked."""

    name: str
    title: str
    signature: str = Field(description="name, version and digest")
    dimensions: list[str]


class TemplatePreview(TemplateFacts):
    preview: str = Field(description="in plain text, what annotators are told, shown and asked")


class OwnTemplate(Strict):
    """The text of a template file."""

    source: str = Field(max_length=LARGEST)


@router.get("/templates", dependencies=OWNERS)
def list_templates() -> list[TemplateFacts]:
    """The templates that come with the package."""
    return [TemplateFacts(**_template_facts(open_template(name))) for name in shipped()]


@router.post("/templates/preview", dependencies=OWNERS)
def preview_template(sent: OwnTemplate) -> TemplatePreview:
    """Your own template as annotators will meet it, or all that is wrong with it; nothing is kept."""
    source = own_template(sent.source)
    template = parse_template(source.text, source.name)
    return TemplatePreview(**_template_facts(template), preview=preview(template))


def own_template(source: str) -> SentTemplate:
    """A template that came as text; JSON may hold halves of a character, which no file can."""
    return sent_template(source.encode("utf-8", "surrogatepass"), "template_source")


def _template_facts(template: Template) -> dict[str, Any]:
    names = [question.name for question in template.dimensions]
    return {"name": template.name, "title": template.title, "signature": template.signature, "dimensions": names}


Owner = Annotated[Viewer, Depends(Permission("administer"))]
Words = Annotated[str, Field(max_length=1000)]


class CampaignFacts(BaseModel):
    """A campaign: what is asked about a board, and how much."""

    id: str
    board: str
    name: str
    kind: Kind
    state: State
    template: str = Field(description="name, version and digest of its template")
    plan: CampaignPlan
    generators: list[str]
    instances: int
    rolling: bool
    ranks: bool
    ranks_by_rule: bool = Field(
        False, description="whether the rule decides when it closes: what ranks stays, and it ranks where nothing does"
    )
    withdrawn: float | None = Field(None, description="since when its judgments are withdrawn from the board")
    reason: str | None
    created: float
    changed: float
    opened: float | None
    closed: float | None


class GeneratorProgress(BaseModel):
    generator: str
    done: int
    wanted: int


class StatusFacts(BaseModel):
    """How a campaign stands; money in the plan's currency, fees included."""

    campaign: CampaignFacts
    wanted: int
    done: int
    leased: int
    answers: int
    tests: int
    annotators: dict[str, int]
    spent: float
    committed: float
    left: float | None
    median_seconds: float | None
    hourly: float | None
    #: Labels that need not be given, since what they would tell is decided, and what they would cost.
    saved: int = 0
    saved_money: float = 0.0
    #: Generators that wait to join a rolling campaign, each with the price to be confirmed.
    waiting: list[Newcomer] = Field(default_factory=list)
    generators: list[GeneratorProgress]


def _checked_plan(sent: Any) -> Any:
    """A plan refused in its own words."""
    return read_plan(sent) if isinstance(sent, dict) else sent


class NewCampaign(Strict):
    """A campaign to plan; without generators, every machine on the board takes part."""

    name: Name
    template: str | None = Field(None, max_length=100, description="the name of a template that comes with the package")
    template_source: str | None = Field(
        None, max_length=LARGEST, description="instead of a name: the text of a template file of your own"
    )
    generators: list[str] | None = None
    plan: Annotated[CampaignPlan, BeforeValidator(_checked_plan)] = CampaignPlan()
    rolling: bool = False
    ranks: bool | None = Field(
        None, description="whether it ranks the board when it closes; by default only where nothing else does"
    )


class Change(Strict):
    """Why, and whether money may be spent or the board changed."""

    reason: Words | None = None
    confirm: bool = Field(False, description="yes, spend money; for close and withdraw: yes, change the board so")
    ranks: bool | None = Field(None, description="for close: whether the board is ranked by it from now on")


class Admitted(Strict):
    """Generators that wait outside a rolling campaign, and whether their prices are confirmed."""

    generators: list[str] = Field(min_length=1, max_length=1000)
    confirm: bool = Field(False, description="yes, spend what they cost")


class Reason(Strict):
    reason: Words


class Invited(Strict):
    """Names or e-mail addresses to make personal links for, or how many links without names."""

    names: list[str] = Field(default_factory=list, max_length=1000)
    count: int | None = Field(None, ge=1, le=1000)


class LinkFacts(BaseModel):
    """A personal link; its token is shown this once."""

    name: str
    annotator: str = Field(description="the pseudonym")
    token: str
    path: str


class AnnotatorFacts(BaseModel):
    """How an annotator stands, with what the annotator model makes of the test questions."""

    annotator: str = Field(description="the pseudonym")
    state: str
    answers: int
    median_seconds: float | None
    positive: TestCount
    negative: TestCount
    reason: str
    evidence: AnnotatorEvidence | None = Field(
        default=None, description="the e-value of each sign that the person does not read, and of all together"
    )


class ResultFacts(BaseModel):
    """Means on 0-100 by dimension and generator."""

    campaign: str
    with_excluded: bool
    estimates: list[Estimated]
    #: What stays valid while one watches, and what is decided; without excluded annotators.
    watch: CampaignWatch | None = None
    #: What marked errors say, without excluded annotators; None where none were marked.
    errors: ErrorStudy | None = None
    #: Of a campaign that was repeated: scatter between its days, drift, and intervals that hold on any day.
    days: DayStudy | None = None
    #: Generators by strength, where the template compares them: what `billboards arena` says.
    arena: ArenaRanking | None = None


class Repeating(Strict):
    """A campaign again on other days; `first` is the first of them, tomorrow by default."""

    days: int = Field(ge=1, le=MOST_DAYS)
    first: date | None = None
    every: int = Field(1, ge=1, le=366, description="days from one repetition to the next")
    annotators: Who = Field("any", description="any, fresh (nobody who judged before) or same (only those)")
    anchors: list[str] = Field(default_factory=list, description="judge only these generators again")
    instances: int | None = Field(None, ge=2)
    ranks: bool = False


@router.get("/boards/{board}/campaigns")
def list_campaigns(
    request: Request, response: Response, board: str, viewer: Owner, limit: Limit = MOST, cursor: Cursor = None
) -> list[CampaignFacts]:
    """A board's campaigns, the oldest first; the header Link leads on where there are more."""
    board_campaigns = campaigns.list_campaigns(site_of(request), viewer, board)
    return list_at(request, response, board_campaigns, limit, cursor, _facts)


@router.post("/boards/{board}/campaigns", status_code=201)
def create_campaign(request: Request, board: str, sent: NewCampaign, viewer: Owner) -> CampaignFacts:
    """Plan a campaign as a draft; nothing is asked before it is opened."""
    made = campaigns.create_campaign(
        site_of(request),
        viewer,
        board,
        sent.name,
        _template(sent),
        generators=sent.generators,
        plan=sent.plan,
        rolling=sent.rolling,
        ranks=sent.ranks,
    )
    return _facts(made)


def _template(sent: NewCampaign) -> str | SentTemplate:
    """A shipped template's name, or the text of one's own; a path would open any file of the server's."""
    if (sent.template is None) == (sent.template_source is None):
        raise InvalidInput("send the name of a template, or the text of your own as template_source; one of the two")
    if sent.template_source is not None:
        return own_template(sent.template_source)
    if sent.template not in shipped():
        raise InvalidInput(f"there is no template {sent.template!r}; choose one of {', '.join(shipped())}")
    return sent.template


@router.get("/campaigns/{campaign}")
def read_campaign(request: Request, campaign: str, viewer: Owner) -> StatusFacts:
    """How a campaign stands: labels, money, people."""
    status = campaign_status(site_of(request), viewer, _campaign(request, campaign).id)
    parts = [GeneratorProgress(generator=name, done=done, wanted=wanted) for name, done, wanted in status.by_generator]
    values = {
        word: getattr(status, word) for word in StatusFacts.model_fields if word not in ("campaign", "generators")
    }
    return StatusFacts(campaign=_facts(status.campaign), generators=parts, **values)


@router.get("/campaigns/{campaign}/quote")
def read_quote(request: Request, campaign: str, viewer: Owner) -> Quote:
    """What a campaign costs in all, and the standard error that buys."""
    return campaigns.quote_campaign(site_of(request), viewer, _campaign(request, campaign).id)


@router.post("/campaigns/{campaign}/annotators", status_code=201)
def invite(request: Request, campaign: str, sent: Invited, viewer: Owner) -> list[LinkFacts]:
    """Make personal links; each is shown this once."""
    if bool(sent.names) == (sent.count is not None):
        raise InvalidInput("send names, or how many links to make as count; one of the two")
    made = annotators.invite(site_of(request), viewer, _campaign(request, campaign).id, sent.names or sent.count or 0)
    return [
        LinkFacts(name=invitation.name, annotator=invitation.pseudonym, token=invitation.token, path=invitation.path)
        for invitation in made
    ]


@router.get("/campaigns/{campaign}/annotators")
def list_annotators(
    request: Request, response: Response, campaign: str, viewer: Owner, limit: Limit = MOST, cursor: Cursor = None
) -> list[AnnotatorFacts]:
    """How everybody in a campaign stands, by pseudonym; the header Link leads on where there are more."""
    lines = annotators.annotator_lines(site_of(request), viewer, _campaign(request, campaign).id)
    words = [word for word in AnnotatorFacts.model_fields if word != "annotator"]

    def facts(line: AnnotatorLine) -> AnnotatorFacts:
        return AnnotatorFacts(annotator=line.pseudonym, **{word: getattr(line, word) for word in words})

    return list_at(request, response, lines, limit, cursor, facts)


@router.post("/campaigns/{campaign}/annotators/{annotator}/{verdict}")
def rule(
    request: Request,
    campaign: str,
    annotator: str,
    verdict: Literal["exclude", "readmit"],
    sent: Reason,
    viewer: Owner,
) -> Ruling:
    """Leave an annotator out or let one in again, with a reason that stays on record."""
    verb = annotators.exclude if verdict == "exclude" else annotators.readmit
    return verb(site_of(request), viewer, _campaign(request, campaign).id, annotator, sent.reason)


@router.get("/campaigns/{campaign}/results")
def read_results(request: Request, campaign: str, viewer: Owner, with_excluded: bool = False) -> ResultFacts:
    """Means with intervals and worst-case standard errors, without excluded annotators or with them."""
    chosen = _campaign(request, campaign)
    results = campaign_results.campaign_results(site_of(request), viewer, chosen.id, with_excluded=with_excluded)
    arena = campaign_arena(site_of(request), viewer, chosen.id, with_excluded=with_excluded)
    return ResultFacts(
        campaign=chosen.id,
        with_excluded=with_excluded,
        estimates=list(results.estimates),
        watch=watch_campaign(site_of(request), viewer, chosen.id) if chosen.kind == "labels" else None,
        errors=campaign_errors(site_of(request), viewer, chosen.id) if chosen.kind == "labels" else None,
        days=campaign_days(site_of(request), viewer, chosen.id),
        arena=None if arena is None else arena.value,
    )


@router.get("/campaigns/{campaign}/answers")
def list_answers(
    request: Request, campaign: str, viewer: Owner, history: bool = False, limit: Limit = 100, cursor: Cursor = None
) -> Page[AnswerLine]:
    """Every answer in the order given; with `history`, drafts and what was taken back too."""
    lines = campaign_results.campaign_answers(
        site_of(request), viewer, _campaign(request, campaign).id, history=history
    )
    page: Page[AnswerLine] = page_at(list(lines), limit, cursor, lambda line: line)
    return page


@router.get("/campaigns/{campaign}/coverage")
def read_coverage(request: Request, campaign: str, viewer: Owner, ranks: bool | None = None) -> SourceChange:
    """What ranks the board before and after, and what each source covers: if it closed now, or was withdrawn."""
    chosen, site = _campaign(request, campaign), site_of(request)
    if chosen.state == "closed":
        return campaigns.withdrawing_effect(site, viewer, chosen.id)
    return campaigns.closing_effect(site, viewer, chosen.id, ranks=ranks)


@router.get("/campaigns/{campaign}/survey")
def list_surveys(
    request: Request, campaign: str, viewer: Owner, limit: Limit = 100, cursor: Cursor = None
) -> Page[PageLine]:
    """What annotators accepted and said of themselves, by pseudonym; never public."""
    lines = survey_lines(site_of(request), viewer, _campaign(request, campaign).id)
    page: Page[PageLine] = page_at(list(lines), limit, cursor, lambda line: line)
    return page


@router.post("/campaigns/{campaign}/repeat", status_code=201)
def repeat(request: Request, campaign: str, sent: Repeating, viewer: Owner) -> list[CampaignFacts]:
    """Plan a campaign again on other days, a draft for each."""
    planned = plan_repetitions(
        site_of(request),
        viewer,
        _campaign(request, campaign).id,
        sent.days,
        first=sent.first,
        every=sent.every,
        annotators=sent.annotators,
        anchors=sent.anchors,
        instances=sent.instances,
        ranks=sent.ranks,
    )
    return list(map(_facts, planned))


@router.post("/campaigns/{campaign}/admit")
def admit(request: Request, campaign: str, sent: Admitted, viewer: Owner) -> CampaignFacts:
    """Confirm the prices of generators that wait (`waiting` of `GET /campaigns/C`), and let them in."""
    chosen = _campaign(request, campaign)
    if chosen.plan.pay and not sent.confirm:
        raise Refused(f"campaign {chosen.name} spends money: look at what waits and its price, then send confirm")
    return _facts(admit_newcomers(site_of(request), viewer, chosen.id, sent.generators))


@router.post("/campaigns/{campaign}/{action}")
def change_campaign(
    request: Request,
    campaign: str,
    action: Literal["open", "pause", "resume", "close", "withdraw"],
    sent: Change,
    viewer: Owner,
) -> CampaignFacts:
    """Open, pause, resume, close or withdraw a campaign; what spends money or changes the board wants `confirm`.

    A campaign that was planned before version 0.2 closes without it, as its clients expect.
    """
    chosen, site = _campaign(request, campaign), site_of(request)
    if action in ("open", "resume") and chosen.plan.pay and not sent.confirm:
        raise Refused(f"campaign {chosen.name} spends money: look at its quote, then send confirm")
    if action == "close":
        if chosen.state != "draft" and "ranking" in chosen.details and not sent.confirm:
            effect = campaigns.closing_effect(site, viewer, chosen.id, ranks=sent.ranks)
            raise Refused(f"{effect_words(effect)}; send confirm to close campaign {chosen.name} for good")
        return _facts(campaigns.close_campaign(site, viewer, chosen.id, reason=sent.reason, ranks=sent.ranks))
    if action == "withdraw":
        if chosen.state == "closed" and not sent.confirm:
            effect = campaigns.withdrawing_effect(site, viewer, chosen.id)
            raise Refused(f"{effect_words(effect)}; send confirm to withdraw campaign {chosen.name}")
        return _facts(campaigns.withdraw_campaign(site, viewer, chosen.id, reason=sent.reason))
    verbs = {"open": campaigns.open_campaign, "pause": campaigns.pause_campaign, "resume": campaigns.resume_campaign}
    return _facts(verbs[action](site, viewer, chosen.id, reason=sent.reason))


def _campaign(request: Request, campaign: str) -> Campaign:
    return get_campaign(site_of(request), campaign)


def _facts(campaign: Campaign) -> CampaignFacts:
    words = [word for word in CampaignFacts.model_fields if word != "ranks_by_rule"]
    values: dict[str, Any] = {word: getattr(campaign, word) for word in words}
    values["ranks_by_rule"] = not campaign.is_chosen
    values |= {"template": campaign.template.signature, "instances": len(campaign.instances)}
    return CampaignFacts(**{**values, "generators": list(campaign.generators), "plan": asdict(campaign.plan)})
