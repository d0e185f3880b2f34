"""Do annotators agree, where do they differ, and which answers deserve a second look? Disputes stand here on record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from billboards.analyses.ratings.agreement import annotator_tables
from billboards.errors import InvalidInput, NotEnoughData, Refused
from billboards.reading import whole_number
from billboards.site.campaigns.annotator_records import Ruling
from billboards.site.campaigns.annotators import rulings
from billboards.site.campaigns.boards import Doubt, campaign_agreement, second_look
from billboards.site.campaigns.campaign import Campaign
from billboards.site.campaigns.pages import campaign_page, own_campaign
from billboards.site.campaigns.results import AnswerLine, campaign_answers, disagreements
from billboards.site.campaigns.status import campaign_status
from billboards.site.pages.paging import Cut, cut
from billboards.site.web.asking import Ask
from billboards.site.web.rendering import Body

#: Outputs on which annotators differ, and answers for a second look, that a page lists at first and at most.
LISTED, MOST_LISTED = 12, 1200
#: Disputes on the page; whatever was ruled stays on record.
LATEST = 200


@dataclass(frozen=True)
class Dispute:
    """An answer that was doubted or decided about: what it says, and everything that was ruled."""

    answer_id: str
    line: AnswerLine | None
    rulings: tuple[Ruling, ...]

    @property
    def decisions(self) -> tuple[str, ...]:
        """What can be decided now."""
        verdicts = [one.verdict for one in self.rulings if one.verdict in ("struck", "restored")]
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
        tables = annotator_tables(study)
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
    for one in rulings(ask.site, ask.viewer, campaign.id)[::-1]:
        if one.subject == "answer":
            by_answer.setdefault(one.name, []).append(one)
    if not by_answer:
        return cut([], LATEST)
    lines = {one.answer_id: one for one in campaign_answers(ask.site, ask.viewer, campaign.id)}
    return cut([Dispute(name, lines.get(name), tuple(ruled[::-1])) for name, ruled in by_answer.items()], LATEST)
