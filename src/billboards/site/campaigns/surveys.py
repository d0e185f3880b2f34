"""What annotators accept and say of themselves: a consent page, and survey pages before and after the items.

The consent is the plan's text, or the template's; who accepted which text is kept by its digest, with the time. Survey
questions are the template's. Both are kept apart from judgments, under the annotator, are exported to owners only, and
stand in nothing that is public; whoever is forgotten takes them along.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select

from billboards.board import digest
from billboards.campaigns.templates import SurveyQuestion
from billboards.errors import InvalidInput, UnknownName
from billboards.site.accounts.access import Viewer, require
from billboards.site.campaigns import annotator_records as annotators
from billboards.site.campaigns.campaign import Campaign, campaign_with_id
from billboards.site.campaigns.turns import PageName
from billboards.site.database.schema import annotator_pages
from billboards.site.site import Site


@dataclass(frozen=True, kw_only=True)
class PageLine:
    """What an annotator accepted or answered on one page, by pseudonym; `digest` names the text or the template."""

    annotator: str
    page: str
    at: float
    digest: str
    answers: Mapping[str, Any]
    #: The same answers as people read them.
    words: Mapping[str, str]


def consent_text(campaign: Campaign) -> str:
    """What annotators must accept before their first item; empty where nothing is asked of them."""
    return campaign.plan.consent.strip() or campaign.template.consent


def consent_digest(text: str) -> str:
    """A short name of a consent's text."""
    return digest((text,))


def next_page(
    connection: Connection, campaign: Campaign, annotator_id: int, among: Sequence[PageName]
) -> PageName | None:
    """The first of these pages that an annotator has still to fill in."""
    wanted = [page for page in among if _is_asked(campaign, page)]
    if not wanted:
        return None
    where = (annotator_pages.c.campaign_id == campaign.id, annotator_pages.c.annotator_id == annotator_id)
    filled = set(connection.execute(select(annotator_pages.c.page).where(*where)).scalars())
    return next((page for page in wanted if page not in filled), None)


def _is_asked(campaign: Campaign, page: PageName) -> bool:
    return bool(consent_text(campaign)) if page == "consent" else bool(campaign.template.asked_of_people(page))


def check_survey(asked: Sequence[SurveyQuestion], raw: Mapping[str, Any]) -> dict[str, Any]:
    """Answers to a survey page as they are kept; what is not asked, or no answer, is refused by name."""
    names = [survey.question.name for survey in asked]
    for name in raw:
        if name not in names:
            raise UnknownName("question of the survey", str(name), names)
    missing = [survey.question.question for survey in asked if survey.is_required and survey.question.name not in raw]
    if missing:
        raise InvalidInput(f"Not answered yet: {'; '.join(missing)}")
    return {
        survey.question.name: survey.question.check(raw[survey.question.name], ())
        for survey in asked
        if survey.question.name in raw
    }


def add_page(
    connection: Connection,
    campaign_id: str,
    annotator_id: int,
    page: PageName,
    page_digest: str,
    answers: Mapping[str, Any],
    *,
    now: float,
) -> None:
    """Keep a page once; what was sent again changes nothing."""
    columns = annotator_pages.c
    where = (columns.campaign_id == campaign_id, columns.annotator_id == annotator_id, columns.page == page)
    if connection.execute(select(columns.page).where(*where)).one_or_none() is None:
        values = {"campaign_id": campaign_id, "annotator_id": annotator_id, "page": page}
        values |= {"digest": page_digest, "answers": dict(answers), "at": now}
        connection.execute(insert(annotator_pages).values(**values))


def survey_lines(site: Site, viewer: Viewer, campaign_id: str) -> Iterator[PageLine]:
    """Everything that annotators of a campaign accepted or said of themselves, for its owners, the oldest first."""
    require(viewer, "administer")
    columns = annotator_pages.c
    with site.database.reading() as connection:
        template = campaign_with_id(connection, campaign_id).template
        people = annotators.in_campaign(connection, campaign_id)
        query = select(annotator_pages).where(columns.campaign_id == campaign_id)
        rows = list(connection.execute(query.order_by(columns.at, columns.annotator_id, columns.page)).mappings())
    asked = {survey.question.name: survey.question for survey in template.survey}
    for row in rows:
        words = {name: asked[name].in_words(answer, (), ()) for name, answer in row["answers"].items()}
        yield PageLine(
            annotator=people[row["annotator_id"]].pseudonym,
            page=row["page"],
            at=row["at"],
            digest=row["digest"],
            answers=row["answers"],
            words=words,
        )
