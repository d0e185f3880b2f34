"""Suites over HTTP: which there are, what they say in any view, what they said, and submissions to all their boards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import Depends, File, Form, Path, Query, Request, UploadFile
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.responses import Response

from billboards.analyses.suite.results import SuiteRanking, SuiteResult
from billboards.errors import NotEnoughData
from billboards.show.documents import document_model, document_of
from billboards.site.accounts.access import Viewer
from billboards.site.accounts.permissions import Permission, site_of
from billboards.site.boards.live_suites import live_suite, live_suites
from billboards.site.boards.suite_rankings import SuiteSnapshot
from billboards.site.boards.suite_views import (
    SuiteAnswer,
    SuiteQuery,
    ask_suite,
    history_of,
    suite_entries,
    suite_of_site,
)
from billboards.site.boards.suites import site_suites
from billboards.site.submissions.metric_folders import most_bytes_sent
from billboards.site.submissions.routes import SubmissionFacts, Words, read_manifest_text, received_facts, sent_bytes
from billboards.site.submissions.sending import Received
from billboards.site.submissions.suite_sending import submit_generator_to_suite, submit_metric_to_suite
from billboards.site.web.api import Cursor, Limit, Page, page_of, read_cursor, tagged_router, write_cursor

router = tagged_router("suites")
Reader = Annotated[Viewer, Depends(Permission("read"))]
Submitter = Annotated[Viewer, Depends(Permission("submit"))]
Asked = Annotated[SuiteQuery, Query()]
#: The number of a kept ranking; no database holds a larger one.
Number = Annotated[int, Path(ge=1, lt=2**31)]


class SuiteHead(BaseModel):
    """A suite of the site."""

    name: str
    title: str | None
    live: bool = Field(
        description="whether all its boards are on the site, which then measures it and takes submissions"
    )
    boards: int


class SuiteBoardFacts(BaseModel):
    """A board of a suite."""

    label: str
    board: str = Field(description="its name on the site")
    left_out: str | None = Field(description="why it takes no part for who asks")


class EntryFacts(BaseModel):
    """What a team sent in to boards of a suite."""

    name: str
    kind: str
    team: str
    scored: int = Field(description="on so many boards it is scored")
    boards: int = Field(description="so many boards the suite has")
    states: dict[str, str] = Field(description="its state on each board where it is, by the board's name")


class SuiteFacts(SuiteHead):
    """A suite, its boards, what it can be narrowed to, and what was sent in."""

    members: list[SuiteBoardFacts]
    tasks: list[str]
    languages: list[str]
    dimensions: list[str]
    missing: int = Field(description="cells that suites ask for and that are not computed yet on its boards")
    ranked_anew: bool = Field(description="whether a newer ranking is on its way")
    notes: list[str]
    entries: list[EntryFacts]


class PlaceFacts(BaseModel):
    """A metric's place in a kept ranking."""

    metric: str
    rank: int | None
    value: float | None


class SuiteRankingHead(BaseModel):
    """A kept ranking of a suite."""

    number: int
    id: str
    created: float
    boards: list[str] = Field(description="labels of the boards that took part")
    places: list[PlaceFacts]


class SuiteReceipt(BaseModel):
    """What all boards of a suite have taken."""

    suite: str
    submissions: list[SubmissionFacts]


@router.get("/suites")
def list_suites(request: Request, viewer: Reader) -> list[SuiteHead]:
    """The suites of the site."""
    site = site_of(request)
    live = live_suites(site)
    return [
        SuiteHead(name=name, title=suite.title, live=name in live, boards=len(suite.boards))
        for name, suite in site_suites(site, viewer).items()
    ]


@router.get("/suites/{suite}")
def read_suite(request: Request, suite: str, viewer: Reader) -> SuiteFacts:
    """A suite of boards of this site: its boards, its views, and how far everything is that was sent in."""
    site = site_of(request)
    asked = suite_of_site(site, suite, viewer)
    answer = ask_suite(site, asked, viewer, SuiteQuery.model_validate({}))
    entries = suite_entries(site, asked, viewer)
    return SuiteFacts(
        name=asked.name,
        title=asked.title,
        live=True,
        boards=len(asked.boards),
        members=[
            SuiteBoardFacts(label=label, board=live.name, left_out=answer.live.left_out.get(label))
            for label, live in answer.live.boards.items()
        ],
        tasks=list(answer.views.tasks),
        languages=list(answer.views.languages),
        dimensions=list(answer.views.dimensions),
        missing=answer.missing,
        ranked_anew=answer.is_behind,
        notes=list(answer.live.notes),
        entries=[
            EntryFacts(
                name=entry.name,
                kind=entry.kind,
                team=entry.team,
                scored=entry.scored,
                boards=entry.boards,
                states={board: state for board, (_, state) in entry.states.items()},
            )
            for entry in entries
        ],
    )


@router.get("/suites/{suite}/ranking", response_model=document_model(SuiteRanking))
def read_suite_ranking(request: Request, suite: str, viewer: Reader, asked: Asked) -> Response:
    """One ranking of metrics over the boards of a suite, in any view of it."""
    ranking = _answer(request, suite, viewer, asked).ranking
    if ranking is None:
        raise NotEnoughData(f"suite {suite} has no ranking there: no metric has scores on every board that counts")
    return JSONResponse(document_of(ranking))


@router.get("/suites/{suite}/tables", response_model=document_model(SuiteResult))
def read_suite_tables(request: Request, suite: str, viewer: Reader, asked: Asked) -> Response:
    """Agreement with people, board by board, in any view of a suite."""
    kept = _answer(request, suite, viewer, asked).kept
    if kept is None:
        raise NotEnoughData(f"suite {suite} says nothing there yet; its page tells how far it is")
    return JSONResponse(document_of(kept.result))


@router.get("/suites/{suite}/rankings")
def list_suite_rankings(
    request: Request, suite: str, viewer: Reader, limit: Limit = 50, cursor: Cursor = None
) -> Page[SuiteRankingHead]:
    """What a suite said, the latest first: the order of its metrics over time."""
    place = read_cursor(cursor, int)
    site = site_of(request)
    live = live_suite(site, suite_of_site(site, suite, viewer), viewer.audience)
    kept = history_of(site, live, before=place[0] if place else None, limit=limit + 1)
    page: Page[SuiteRankingHead] = page_of(kept, limit, _head, lambda snapshot: write_cursor(snapshot.number))
    return page


@router.get("/suites/{suite}/rankings/{number}", response_model=document_model(SuiteRanking))
def read_kept_ranking(request: Request, suite: str, number: Number, viewer: Reader) -> Response:
    """A ranking of a suite as it was kept."""
    site = site_of(request)
    asked = suite_of_site(site, suite, viewer)
    answer = ask_suite(site, asked, viewer, SuiteQuery.model_validate({}), number)
    if answer.ranking is None:
        raise NotEnoughData(
            f"ranking {number} of suite {suite} ranks nobody, or rests on judgments that are hidden now"
        )
    return JSONResponse(document_of(answer.ranking))


@router.post("/suites/{suite}/metrics", status_code=201)
def submit_metric(
    request: Request,
    suite: str,
    viewer: Submitter,
    file: Annotated[UploadFile, File(description="a zip archive with run.sh, or a Python file with `score`")],
    name: Annotated[str | None, Form(max_length=200)] = None,
    manifest: Annotated[str | None, Form(max_length=20_000, description="metric.toml's values as JSON")] = None,
    description: Words = None,
    paper: Words = None,
    url: Words = None,
    anonymous: Annotated[bool, Form()] = False,
    entry: Annotated[Literal["primary", "contrastive"], Form()] = "primary",
    trusted: Annotated[bool, Form(description="an owner vouches for it")] = False,
) -> SuiteReceipt:
    """Send in a metric to every board of a suite: all of them take it, or none does and every reason is told."""
    site = site_of(request)
    received = submit_metric_to_suite(
        site,
        viewer,
        suite,
        sent_bytes(file, most_bytes_sent(site, viewer.name)),
        name=name,
        file_name=file.filename or "metric",
        manifest=read_manifest_text(manifest),
        anonymous=anonymous,
        entry=entry,
        about={"description": description, "paper": paper, "url": url},
        trusted=trusted,
    )
    return _receipt(suite, received)


@router.post("/suites/{suite}/generators", status_code=201)
def submit_generator(
    request: Request,
    suite: str,
    viewer: Submitter,
    file: Annotated[UploadFile, File(description="a zip archive with a file of outputs for each board: BOARD.jsonl")],
    name: Annotated[str, Form(max_length=200)],
    description: Words = None,
    paper: Words = None,
    url: Words = None,
    human: Annotated[bool, Form(description="written by people")] = False,
    anonymous: Annotated[bool, Form(description="shown under a pseudonym until revealed")] = False,
    entry: Annotated[Literal["primary", "contrastive"], Form()] = "primary",
) -> SuiteReceipt:
    """Send in a generator to every board of a suite, one file of outputs each; every mistake is named at once."""
    site = site_of(request)
    received = submit_generator_to_suite(
        site,
        viewer,
        suite,
        name,
        sent_bytes(file, site.settings.generator_bytes),
        file_name=file.filename or "outputs.zip",
        anonymous=anonymous,
        entry=entry,
        about={"description": description, "paper": paper, "url": url, "human": human},
    )
    return _receipt(suite, received)


def _answer(request: Request, suite: str, viewer: Viewer, asked: SuiteQuery) -> SuiteAnswer:
    site = site_of(request)
    answer = ask_suite(site, suite_of_site(site, suite, viewer), viewer, asked)
    if answer.problem is not None:
        raise NotEnoughData(answer.problem)
    return answer


def _receipt(suite: str, received: Sequence[Received]) -> SuiteReceipt:
    return SuiteReceipt(suite=suite, submissions=[received_facts(each) for each in received])


def _head(snapshot: SuiteSnapshot) -> SuiteRankingHead:
    places: list[Any] = [
        PlaceFacts(metric=metric, rank=rank, value=value) for metric, (rank, value) in snapshot.places.items()
    ]
    return SuiteRankingHead(
        number=snapshot.number, id=snapshot.id, created=snapshot.created, boards=list(snapshot.boards), places=places
    )
