"""Boards as programs read them: instances, generators with their outputs, metrics, scores, judgments."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import numpy as np
from fastapi import Depends, Query, Request, Response
from pydantic import BaseModel, Field

from billboards.board import Instance, Judgment, Outputs
from billboards.errors import Refused, UnknownName
from billboards.site.accounts.access import Viewer
from billboards.site.accounts.permissions import Permission, look_of, site_of
from billboards.site.boards.live import live_board
from billboards.site.boards.masked import Look
from billboards.site.boards.registry import Registered
from billboards.site.pages.explorer import PEOPLE
from billboards.site.web.api import MOST, Cursor, Limit, Page, list_at, page_at, tagged_router

router = tagged_router("boards")
Reader = Annotated[Viewer, Depends(Permission("read"))]


class BoardHead(BaseModel):
    """A board in a list."""

    name: str
    generation: int = Field(description="rises with every change that can be seen")


class BoardFacts(BoardHead):
    """What a board is."""

    title: str
    version: str
    instances: int
    generators: int
    references: list[str]
    input_language: str | None
    output_language: str | None
    ranks: str | None = Field(description="the aggregate of judgments that ranks metrics")
    card: dict[str, str | None]
    draft: list[str] = Field(description="facts that the data card lacks; a board without any is no draft")
    settings: dict[str, Any] = Field(description="phases, quotas, and what stays hidden")
    unavailable: dict[str, str] = Field(description="metrics the board names that can't run here, and why")


class ReferenceText(BaseModel):
    name: str
    text: str


class InstanceFacts(BaseModel):
    """One instance; references are left out where they are hidden."""

    id: str
    input: str | None
    image: str | None
    references: list[ReferenceText]
    document: str | None
    domain: str | None
    tags: list[str]


class GeneratorFacts(BaseModel):
    """Who or what wrote a row of outputs."""

    name: str
    kind: str
    description: str | None
    paper: str | None
    url: str | None
    version: str = Field(description="a digest of the outputs")
    submission: str | None = Field(description="the submission it came with, if any")


class OutputText(BaseModel):
    """One output; no text where the generator has none, or where it may not be read."""

    instance: str
    text: str | None


class ColumnFacts(BaseModel):
    """A metric's column of scores."""

    name: str
    signature: str
    references: list[str]
    origin: str
    needs_references: bool
    needs_input: bool
    is_statistic: bool
    #: Which way its scores are read, here and wherever they are given.
    higher_is_better: bool
    submission: str | None
    trained_on_this_board: bool
    #: Whether its author sent scores alone: generators that come later stay without one until the author scores them.
    scores_only: bool


class GeneratorScores(BaseModel):
    """One score per instance, in the board's order; null where there is none."""

    generator: str
    scores: list[float | None]


class JudgmentFacts(BaseModel):
    """One judgment."""

    instance: str
    outputs: list[str]
    values: dict[str, float]
    annotator: str | None
    campaign: str | None
    details: dict[str, Any]


@router.get("/boards", dependencies=[Depends(Permission("read"))])
def list_boards(request: Request, response: Response, limit: Limit = MOST, cursor: Cursor = None) -> list[BoardHead]:
    """Every board of the site; the header Link leads on where there are more."""

    def head(registered: Registered) -> BoardHead:
        return BoardHead(name=registered.name, generation=registered.generation)

    return list_at(request, response, site_of(request).boards(), limit, cursor, head)


@router.get("/boards/{board}")
def read_board(request: Request, board: str, viewer: Reader) -> BoardFacts:
    """What a board is, and how it takes submissions."""
    live = live_board(site_of(request), board, audience=viewer.audience)
    shown = live.shown
    return BoardFacts(
        name=live.name,
        generation=live.generation,
        title=shown.card.title or shown.name,
        version=shown.version,
        instances=len(shown.instances),
        generators=len(shown.generators),
        references=list(shown.reference_names),
        input_language=shown.input_language,
        output_language=shown.output_language,
        ranks=shown.ranks,
        card=asdict(shown.card),
        draft=list(shown.missing_facts),
        settings=live.settings.document() if viewer.audience == "owners" else live.settings.public_document(),
        unavailable=dict(live.unavailable),
    )


@router.get("/boards/{board}/instances")
def list_instances(
    request: Request, board: str, viewer: Reader, limit: Limit = 100, cursor: Cursor = None
) -> Page[InstanceFacts]:
    """The instances in the board's order."""
    live = live_board(site_of(request), board, audience=viewer.audience)
    page: Page[InstanceFacts] = page_at(live.shown.instances, limit, cursor, _instance)
    return page


@router.get("/boards/{board}/generators")
def list_generators(
    request: Request, response: Response, board: str, viewer: Reader, limit: Limit = MOST, cursor: Cursor = None
) -> list[GeneratorFacts]:
    """The generators in the board's order, submitted ones among them; the header Link leads on where there are more."""
    live = live_board(site_of(request), board, audience=viewer.audience)

    def facts(row: Outputs) -> GeneratorFacts:
        submission = live.generators.get(row.name)
        assert row.generator is not None
        return GeneratorFacts(
            **asdict(row.generator), version=row.version, submission=None if submission is None else submission.id
        )

    rows = [row for row in live.shown.rows if row.generator is not None]
    return list_at(request, response, rows, limit, cursor, facts)


@router.get("/boards/{board}/generators/{generator}/outputs")
def list_outputs(
    request: Request, board: str, generator: str, viewer: Reader, limit: Limit = 100, cursor: Cursor = None
) -> Page[OutputText]:
    """A generator's outputs, instance by instance."""
    live = live_board(site_of(request), board, audience=viewer.audience)
    row = live.shown.row(generator)
    pairs = list(zip(live.shown.instances, row.texts, strict=True))
    page: Page[OutputText] = page_at(pairs, limit, cursor, lambda pair: OutputText(instance=pair[0].id, text=pair[1]))
    return page


@router.get("/boards/{board}/metrics")
def list_metrics(
    request: Request, response: Response, board: str, viewer: Reader, limit: Limit = MOST, cursor: Cursor = None
) -> list[ColumnFacts]:
    """The metrics that have scores, submitted ones among them; the header Link leads on where there are more."""
    look = look_of(request, board, viewer)
    numbers = range(len(look.matrix.view.scores.columns))
    return list_at(request, response, numbers, limit, cursor, lambda number: _column(look, number))


@router.get("/boards/{board}/metrics/{metric}/scores")
def list_scores(
    request: Request,
    board: str,
    metric: str,
    viewer: Reader,
    limit: Annotated[int, Query(ge=1, le=100, description="at most this many generators")] = 20,
    cursor: Cursor = None,
) -> Page[GeneratorScores]:
    """A metric's scores, or the ensemble's, generator by generator."""
    look = look_of(request, board, viewer)
    if metric == PEOPLE:
        raise UnknownName("metric", metric, look.matrix.names)
    scores = look.matrix.shown(metric)

    def of_row(number: int) -> GeneratorScores:
        values = [float(value) if np.isfinite(value) else None for value in scores[number]]
        return GeneratorScores(generator=look.board.rows[number].name, scores=values)

    page: Page[GeneratorScores] = page_at(range(len(scores)), limit, cursor, of_row)
    return page


@router.get("/boards/{board}/judgments")
def list_judgments(
    request: Request, board: str, viewer: Reader, limit: Limit = 100, cursor: Cursor = None
) -> Page[JudgmentFacts]:
    """What people said, in the order they said it; refused where judgments are hidden."""
    look = look_of(request, board, viewer)
    if not look.judged:
        raise Refused(f"board {board} keeps its judgments hidden")
    ids = tuple(instance.id for instance in look.board.instances)
    names = tuple(row.name for row in look.board.rows)
    page: Page[JudgmentFacts] = page_at(list(look.board.judgments.each(ids, names)), limit, cursor, _judgment)
    return page


def _instance(instance: Instance) -> InstanceFacts:
    return InstanceFacts(
        id=instance.id,
        input=instance.input,
        image=instance.image,
        references=[ReferenceText(name=ref.name, text=ref.text) for ref in instance.references],
        document=instance.document,
        domain=instance.domain,
        tags=list(instance.tags),
    )


def _column(look: Look, number: int) -> ColumnFacts:
    column = look.matrix.view.scores.columns[number]
    submission = look.live.metrics.get(column.name)
    return ColumnFacts(
        name=column.name,
        signature=column.signature,
        references=list(column.references) if look.referenced else [],
        origin=column.origin,
        needs_references=column.needs_references,
        needs_input=column.needs_input,
        is_statistic=column.is_statistic,
        higher_is_better=column.higher_is_better,
        submission=None if submission is None else submission.id,
        trained_on_this_board=bool(submission and submission.settings.get("trained_on_this_board")),
        scores_only=column.scores_only,
    )


def _judgment(judgment: Judgment) -> JudgmentFacts:
    return JudgmentFacts(
        instance=judgment.instance,
        outputs=list(judgment.outputs),
        values=dict(judgment.values),
        annotator=judgment.annotator,
        campaign=judgment.campaign,
        details=dict(judgment.details),
    )
