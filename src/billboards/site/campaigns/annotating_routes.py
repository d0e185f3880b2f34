"""Annotating by program: the same verbs as the annotators' pages, by the token of a magic link.

The token in the path is the identity, so no account is asked for; a shared link needs `external`, the platform's id of
whoever annotates. Of a staged template only what the stage at hand shows is told: keep the answers of a stage, and the
next one opens. Nothing here tells a test question from any other item.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Depends, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from billboards.campaigns.templates import Stage, When
from billboards.site.accounts.permissions import Permission, site_of
from billboards.site.accounts.routes import Strict
from billboards.site.campaigns.annotator_work import (
    Participant,
    Saved,
    accept_consent,
    answer_survey,
    enter,
    first_page,
    give_back,
    next_item,
    progress,
    save_answer,
    submit_answer,
    undo,
)
from billboards.site.campaigns.shown_items import Shown
from billboards.site.campaigns.surveys import consent_digest, consent_text
from billboards.site.campaigns.turns import PageName, Progress, Segment, Turn, TurnState
from billboards.site.web.api import tagged_router

router = tagged_router("annotating")
External = Annotated[str | None, Query(max_length=200, description="who annotates, where the link is shared")]


def annotator(request: Request, token: str, external: External = None) -> Participant:
    """Who comes by a link's token."""
    return enter(site_of(request), token, external=external)


Who = Annotated[Participant, Depends(annotator)]
#: Everybody may knock; the token decides.
OPEN = [Depends(Permission("read"))]


class QuestionFacts(BaseModel):
    """One question: what all have, and beside it the keys of its kind."""

    model_config = ConfigDict(extra="allow")

    name: str
    kind: str
    question: str
    help: str
    range: tuple[float, float]
    higher_is_better: bool


class SurveyFacts(QuestionFacts):
    """A question about the annotator."""

    when: When
    required: bool


class TaskFacts(BaseModel):
    """What is asked in a campaign, and how far one has come."""

    campaign: str
    state: str = Field(description="qualifying, active, failed or excluded")
    template: str
    title: str
    instructions: str
    stages: list[Stage]
    questions: list[QuestionFacts]
    progress: Progress
    due: PageName | None = Field(None, description="what must come before the first item: consent, or before")
    consent: str = Field("", description="the text to accept; send its digest to /consent")
    consent_digest: str = ""
    survey: list[SurveyFacts] = Field(default_factory=list)


class ItemFacts(BaseModel):
    """What is to be judged, as far as the stage at hand shows it."""

    assignment: str = Field(description="send it with the answer")
    stage: int
    stages: int
    asked: list[str] = Field(description="the dimensions to answer by now")
    input: str | None
    image: str | None
    context: list[str]
    references: list[str]
    outputs: list[str] = Field(description="in the order shown; answers speak of these positions")
    answers: dict[str, Any] = Field(description="what was kept so far")
    seconds: float
    expires: float
    segment: int | None = Field(description="its place in a document that is judged as a whole, from 1; else none")
    segments: int | None


class TurnFacts(BaseModel):
    """An item, or why there is none and after how many seconds to look again."""

    state: TurnState
    message: str
    again: float | None
    progress: Progress
    item: ItemFacts | None
    page: PageName | None = Field(None, description="what to send to /consent or /survey now: consent, before, after")


class Answered(Strict):
    """Answers by dimension. `answer_id` is yours to make: the same one again is kept once."""

    assignment: Annotated[str, Field(max_length=100)]
    answer_id: Annotated[str, Field(min_length=1, max_length=64)]
    answers: dict[str, Any]
    seconds: Annotated[float, Field(ge=0)] = 0.0


class Undone(Strict):
    answer_id: Annotated[str, Field(min_length=1, max_length=64)]


class Consented(Strict):
    """Yes to the text with this digest."""

    digest: Annotated[str, Field(max_length=64)]


class Surveyed(Strict):
    """Answers about oneself, by the questions' names."""

    page: When
    answers: dict[str, Any]


class Skipped(Strict):
    assignment: Annotated[str, Field(max_length=100)]


@router.get("/annotate/{token}", dependencies=OPEN)
def read_task(request: Request, who: Who) -> TaskFacts:
    """What is asked, and how far one has come."""
    template = who.campaign.template
    consent = consent_text(who.campaign)
    return TaskFacts(
        due=first_page(site_of(request), who),
        consent=consent,
        consent_digest=consent_digest(consent) if consent else "",
        survey=[SurveyFacts(**asked.document()) for asked in template.survey],
        campaign=who.campaign.name,
        state=who.state,
        template=template.signature,
        title=template.title,
        instructions=template.instructions,
        stages=list(template.stages),
        questions=[QuestionFacts(**question.document()) for question in template.dimensions],
        progress=progress(site_of(request), who),
    )


@router.post("/annotate/{token}/next", dependencies=OPEN)
def take_next(request: Request, who: Who) -> TurnFacts:
    """The item one holds, or the next one, or why there is none."""
    return _turn(next_item(site_of(request), who))


@router.post("/annotate/{token}/consent", dependencies=OPEN, status_code=204)
def consent(request: Request, sent: Consented, who: Who) -> None:
    """Accept the consent's text; which one and when is kept."""
    accept_consent(site_of(request), who, sent.digest)


@router.post("/annotate/{token}/survey", dependencies=OPEN, status_code=204)
def survey(request: Request, sent: Surveyed, who: Who) -> None:
    """Answer a survey page; it is kept apart from judgments, once."""
    answer_survey(site_of(request), who, sent.page, sent.answers)


@router.post("/annotate/{token}/save", dependencies=OPEN)
def save(request: Request, sent: Answered, who: Who) -> Saved:
    """Keep some answers, and the item for longer."""
    return save_answer(site_of(request), who, sent.assignment, sent.answer_id, sent.answers, seconds=sent.seconds)


@router.post("/annotate/{token}/submit", dependencies=OPEN)
def submit(request: Request, sent: Answered, who: Who) -> Saved:
    """Give a complete answer; it is on disk when this returns."""
    return submit_answer(site_of(request), who, sent.assignment, sent.answer_id, sent.answers, seconds=sent.seconds)


@router.post("/annotate/{token}/undo", dependencies=OPEN)
def take_back(request: Request, sent: Undone, who: Who) -> TurnFacts:
    """Open one's last answer again."""
    return _turn(undo(site_of(request), who, sent.answer_id))


@router.post("/annotate/{token}/skip", dependencies=OPEN, status_code=204)
def skip(request: Request, sent: Skipped, who: Who) -> None:
    """Leave an item to others."""
    give_back(site_of(request), who, sent.assignment)


def _turn(turn: Turn) -> TurnFacts:
    return TurnFacts(
        state=turn.state,
        message=turn.message,
        again=turn.again,
        progress=turn.progress,
        item=None if turn.item is None else _item(turn.item, turn.segments),
        page=turn.page,
    )


def _item(shown: Shown, document: Sequence[Segment]) -> ItemFacts:
    """An item without what later stages show."""
    own = [segment.shown.assignment for segment in document if segment.state != "context"]
    stage = shown.stage
    visible = shown.visible(stage)
    return ItemFacts(
        assignment=shown.assignment,
        stage=stage,
        stages=len(shown.stages),
        asked=[name for step in shown.stages[: stage + 1] for name in step.dimensions],
        input=shown.input if "input" in visible else None,
        image=shown.image if "image" in visible else None,
        context=list(shown.context) if "context" in visible else [],
        references=list(shown.references) if "reference" in visible else [],
        outputs=list(shown.outputs) if "outputs" in visible else [],
        answers=dict(shown.answers),
        seconds=shown.seconds,
        expires=shown.expires,
        segment=own.index(shown.assignment) + 1 if own else None,
        segments=len(own) or None,
    )
