"""A campaign's protocol, for everybody: what was asked and paid, of how many, who was left out and why, and agreement.

Whoever reads a number that people gave should see how it came about (GENIE, §7). The protocol names no annotator, and
no generator that its reader may not see. While a campaign runs nothing is told of what people answered; afterwards
their agreement is, on the judgments that this reader may see. Where a board hides its judgments, so are its protocols.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from statistics import median

from fastapi import APIRouter, Request
from sqlalchemy import Connection

from billboards.analyses.ratings._ratings import board_ratings
from billboards.analyses.ratings.agreement import study_annotators
from billboards.campaigns.preview import preview
from billboards.errors import NotEnoughData, UnknownName
from billboards.site.accounts.access import may
from billboards.site.accounts.permissions import look_of, site_of
from billboards.site.boards.masked import Look
from billboards.site.boards.routes import Reader
from billboards.site.campaigns import annotator_records as annotators
from billboards.site.campaigns import answer_counts, views
from billboards.site.campaigns import campaign_records as campaigns
from billboards.site.campaigns.campaign import Campaign, campaign_of, get_campaign
from billboards.site.campaigns.item_view import paragraphs, view_examples
from billboards.site.campaigns.judgments import dimension_names
from billboards.site.campaigns.views import preview_item
from billboards.site.web import addresses
from billboards.site.web.api import tagged_router
from billboards.site.web.asking import Ask, reading
from billboards.site.web.rendering import Body

router = APIRouter()
routes = tagged_router("campaigns")
#: Draws for the intervals of agreement.
RESAMPLES = 200


@dataclass(frozen=True, kw_only=True)
class DimensionAgreement:
    """Krippendorff's alpha on one question with its 95% interval; None where no output has two labels."""

    dimension: str
    labels: int
    shared: int
    alpha: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """How a campaign was held: times in seconds since 1970, money in `currency`.

    `people` took part; `excluded` of them are left out and `failed` the qualification test. `generators` are those that
    the reader may see. `exclusions` are reasons, each with how often it was given. `agreement` is empty until the
    campaign is closed.
    """

    campaign: str
    board: str
    state: str
    withdrawn: float | None
    title: str
    template: str
    shown: str
    created: float
    opened: float | None
    closed: float | None
    first_answer: float | None
    last_answer: float | None
    people: int
    excluded: int
    failed: int
    generators: tuple[str, ...]
    instances: int
    labels_per_output: int
    labels: int
    labels_wanted: int
    pay: float
    fee: float
    currency: str
    median_seconds: float | None
    hourly: float | None
    positive_tests: float
    negative_tests: float
    qualification: int
    pass_mark: float
    exclusion: str
    test_answers: int
    test_answers_right: int
    exclusions: dict[str, int]
    ranks: str | None
    agreement: tuple[DimensionAgreement, ...]


def list_protocols(look: Look) -> tuple[Campaign, ...]:
    """The campaigns of a board that have a protocol for this reader: those that have begun, the latest first."""
    if not look.judged:
        return ()
    with look.live.site.database.reading() as connection:
        rows = campaigns.find(connection, board=look.name, states=("open", "paused", "closed"))
    return tuple(campaign_of(row) for row in rows[::-1] if row.kind == "labels" and row.opened is not None)


def people_in_campaigns(look: Look) -> int:
    """How many people have answered in the campaigns that this reader may know of."""
    who: set[int] = set()
    with look.live.site.database.reading() as connection:
        for campaign in list_protocols(look):
            who |= {annotator for annotator, _ in _answering(connection, campaign.id)}
    return len(who)


def read_protocol(look: Look, campaign: Campaign) -> Protocol:
    """A campaign's protocol as this reader may know it; one that has none is unknown."""
    if campaign.id not in {listed.id for listed in list_protocols(look)}:
        raise UnknownName("campaign", campaign.id, ())
    plan = campaign.plan
    with look.live.site.database.reading() as connection:
        answering = _answering(connection, campaign.id)
        standing = Counter(
            str(participation.state)
            for participation in annotators.list_participations(connection, campaign.id)
            if participation.annotator_id in {annotator for annotator, _ in answering}
        )
        rows = {
            name: counts
            for name, counts in answer_counts.labels_by_row(connection, campaign.id).items()
            if name is None or name in look.board.row_position
        }
        times = answer_counts.times(connection, campaign.id)
        seconds = answer_counts.seconds_spent(connection, campaign.id)
        tests = answer_counts.counts_of_tests(connection, [campaign.id]).values()
        exclusions = _exclusions(connection, campaign)
    middle = median(seconds) if seconds else None
    return Protocol(
        campaign=campaign.name,
        board=campaign.board,
        state=campaign.state,
        withdrawn=campaign.withdrawn,
        title=campaign.template.title,
        template=campaign.template.signature,
        shown=preview(campaign.template),
        created=campaign.created,
        opened=campaign.opened,
        closed=campaign.closed,
        first_answer=min(times, default=None),
        last_answer=max(times, default=None),
        people=len({annotator for annotator, _ in answering}),
        excluded=standing.get("excluded", 0),
        failed=standing.get("failed", 0),
        generators=tuple(name for name in campaign.generators if name in look.board.row_position),
        instances=len(campaign.instances),
        labels_per_output=plan.labels,
        labels=sum(done for done, _ in rows.values()),
        labels_wanted=sum(wanted for _, wanted in rows.values()),
        pay=plan.pay,
        fee=plan.fee,
        currency=plan.currency,
        median_seconds=middle,
        hourly=plan.pay * 3600 / middle if middle and plan.pay else None,
        positive_tests=plan.positive,
        negative_tests=plan.negative,
        qualification=plan.qualification,
        pass_mark=plan.pass_mark,
        exclusion=plan.exclusion,
        test_answers=sum(right + wrong for right, wrong in tests),
        test_answers_right=sum(right for right, _ in tests),
        exclusions=exclusions,
        ranks=look.board.ranks if _is_ranking(look, campaign) else None,
        agreement=_agreement(look, campaign) if campaign.state == "closed" and campaign.withdrawn is None else (),
    )


def _answering(connection: Connection, campaign_id: str) -> list[tuple[int, str]]:
    """Who has an answer that was given, with its purpose."""
    return [(a.annotator_id, a.purpose) for a in answer_counts.current_answers(connection, campaign_id)]


def _exclusions(connection: Connection, campaign: Campaign) -> dict[str, int]:
    """Why annotators are left out now, each reason with how often; nobody's name or pseudonym stands in one."""
    people = annotators.in_campaign(connection, campaign.id)
    out = {
        people[participation.annotator_id].pseudonym
        for participation in annotators.list_participations(connection, campaign.id)
        if participation.state == "excluded" and participation.annotator_id in people
    }
    last: dict[str, str] = {}
    for ruling in annotators.list_rulings(connection, campaign.id):
        if ruling.subject == "annotator" and ruling.name in out and ruling.verdict == "excluded":
            last[ruling.name] = ruling.reason
    names = sorted(
        {name for person in people.values() for name in (person.name, person.pseudonym) if name},
        key=len,
        reverse=True,
    )
    pattern = re.compile("|".join(map(re.escape, names)), re.IGNORECASE) if names else None
    return dict(Counter(pattern.sub("the annotator", reason) if pattern else reason for reason in last.values()))


def _is_ranking(look: Look, campaign: Campaign) -> bool:
    board = look.live.board
    if board.ranks is None:
        return False
    counted = board.aggregate().campaigns
    return counted is not None and campaign.name in counted


def _agreement(look: Look, campaign: Campaign) -> tuple[DimensionAgreement, ...]:
    """How far people agree on what this reader may see of their judgments."""
    names = dimension_names(look.live.without_campaigns, campaign.template)
    agreements = []
    for question, name in names.items():
        try:
            ratings = board_ratings(look.board, name, campaigns=[campaign.name])
            (agreed,) = study_annotators([ratings], resamples=RESAMPLES).dimensions
        except (NotEnoughData, UnknownName):
            continue
        low, high = agreed.alpha_interval or (None, None)
        agreements.append(
            DimensionAgreement(
                dimension=question, labels=agreed.labels, shared=agreed.shared, alpha=agreed.alpha, low=low, high=high
            )
        )
    return tuple(agreements)


@routes.get("/campaigns/{campaign}/protocol")
def send_protocol(request: Request, campaign: str, viewer: Reader) -> Protocol:
    """How a campaign was held: what was shown, pay, tests, exclusions with reasons, agreement, dates; no identities."""
    chosen = get_campaign(site_of(request), campaign)
    return read_protocol(look_of(request, chosen.board, viewer), chosen)


def show_protocol(ask: Ask) -> Body:
    """The protocol as a page."""
    look = ask.look()
    campaign = get_campaign(ask.site, ask.params["campaign"])
    if campaign.board != look.name:
        raise UnknownName("campaign", ask.params["campaign"], ())
    template = campaign.template
    protocol = read_protocol(look, campaign)
    return ask.board_page(
        "campaign_protocol",
        look,
        "card",
        heading=f"Protocol of {campaign.name}",
        protocol=protocol,
        tags=views.TAGS,
        money=views.money,
        about=template,
        instructions=paragraphs(template.instructions),
        examples=view_examples(template),
        item=preview_item(template),
        steps=len(template.stages),
        previewed=True,
        home=addresses.board(campaign.board, "campaigns", campaign.id) if may(ask.viewer, "administer") else None,
        document=f"/api/v1/campaigns/{campaign.id}/protocol",
    )


router.add_route(
    "/boards/{board}/campaigns/{campaign}/protocol", reading(show_protocol, kept=False), include_in_schema=False
)
