"""What a board says now and has said: rankings, ensembles, and how places moved."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import Depends, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from billboards.analyses.ensemble import Ensemble
from billboards.analyses.overrating import OverratingReport
from billboards.analyses.rank import GeneratorStanding, Ranking
from billboards.errors import UnknownName
from billboards.show.documents import document_model, document_of, part_model
from billboards.signing import Statement
from billboards.site.accounts.access import Viewer
from billboards.site.accounts.permissions import Permission, look_of, site_of
from billboards.site.boards import snapshots
from billboards.site.boards.masked import Look
from billboards.site.boards.signatures import signed_ranking, site_keys
from billboards.site.boards.snapshots import Snapshot
from billboards.site.web.api import (
    MOST,
    Cursor,
    Limit,
    Page,
    list_of,
    page_at,
    page_of,
    read_cursor,
    tagged_router,
    write_cursor,
)
from billboards.site.work.waiting import board_progress

router = tagged_router("rankings")
Reader = Annotated[Viewer, Depends(Permission("read"))]

#: Moves of each ranking in a list; the ranking itself has all of them.
MOST_MOVES = 100

# What results are, for whoever reads the description. Kept documents of older versions may lack some of it, so answers
# are sent as they were kept and not read again.
RankingDocument: Any = document_model(Ranking)
OverratingDocument: Any = document_model(OverratingReport)
EnsembleDocument: Any = document_model(Ensemble)
StatementDocument: Any = document_model(Statement)
Standing: Any = part_model(GeneratorStanding)


class Move(BaseModel):
    """Who changed place; null where it was or is not ranked."""

    side: str
    name: str
    before: int | None
    after: int | None


class Changed(BaseModel):
    """Who came in, went, or sent a new version."""

    side: Literal["generator", "metric"]
    name: str
    submission: str | None = Field(description="what brought it; null where the board's folder did, or it is gone")


class JudgmentEvent(BaseModel):
    """What was decided about judgments: a campaign was closed or withdrawn, or the owner chose who ranks."""

    event: Literal["closed", "withdrawn", "chosen"]
    campaign: str | None = Field(None, description="null where everybody is kept from the judgments")
    source: str | None = Field(None, description="the judgments that were chosen; null for the usual ones")


class Cause(BaseModel):
    """Why there is a new ranking."""

    first: bool = False
    added: list[Changed] = []
    removed: list[Changed] = []
    changed: list[Changed] = []
    judgments: list[JudgmentEvent] = []


class RankingHead(BaseModel):
    """A kept ranking in a list."""

    id: str = Field(description="a digest of all it says; the same content has the same id")
    number: int
    created: float
    cause: Cause = Field(description="what came in or went since the one before")
    moves: list[Move] = Field(description=f"who changed place; in a list of rankings the first {MOST_MOVES} of them")
    moved: int = Field(description="how many changed place")
    ensemble: str | None = Field(description="the ensemble's signature")


class SignedFacts(BaseModel):
    """A statement about a ranking, and the site's signature over its canonical JSON."""

    statement: StatementDocument = Field(description="board, ranking, time, and the SHA-256 of each document")
    signature: str = Field(description="Ed25519, in hexadecimal digits")
    public_key: str = Field(description="the key that signed, in hexadecimal digits; /keys lists all")


class KeyFacts(BaseModel):
    """A public key of the site, and from when to when it signed."""

    id: str
    public_key: str = Field(description="Ed25519, in hexadecimal digits")
    created: str
    retired: str | None


class RankingFacts(RankingHead):
    """A kept ranking with everything it says."""

    ranking: RankingDocument
    overrating: OverratingDocument | None
    signed: SignedFacts | None = Field(description="the site's word that it shows everybody this ranking")


class PlaceFacts(BaseModel):
    """Where somebody stood in one ranking; `value` is a correlation, or a mean score."""

    number: int
    name: str
    rank: int | None
    value: float | None


class EnsembleFacts(BaseModel):
    """An ensemble that was fitted, complete enough to be applied."""

    signature: str
    created: float
    ensemble: EnsembleDocument


class ProgressOfBoard(BaseModel):
    """How far a board has come on its way to its next ranking."""

    done: int
    total: int
    failed: int
    now: list[str] = Field(description="what is being computed at this moment")
    seconds_left: float | None = Field(description="about how long the rest takes; null where that is not known")
    is_ranked: bool = Field(description="whether there is a ranking already")
    words: str


@router.get("/keys", dependencies=[Depends(Permission("read"))])
def list_keys(request: Request) -> list[KeyFacts]:
    """The public keys that rankings are or were signed with, the present one last."""
    return [KeyFacts(**asdict(key)) for key in site_keys(site_of(request)).keys]


@router.get("/boards/{board}/ranking", response_model=RankingFacts)
def read_ranking(request: Request, board: str, viewer: Reader) -> Response:
    """What the board says now."""
    look = look_of(request, board, viewer)
    snapshot, document = look.live.snapshot, look.live.document
    if snapshot is None or document is None:
        raise UnknownName(f"ranking of {board}", "latest", ())
    return _facts(look, snapshot, document)


@router.get("/boards/{board}/progress")
def read_progress(request: Request, board: str, viewer: Reader) -> ProgressOfBoard:
    """How many of the scores that the next ranking needs are computed, and what is computed now."""
    look = look_of(request, board, viewer)
    now = board_progress(site_of(request), look.name, look.live.audience)
    return ProgressOfBoard(
        done=now.done,
        total=now.total,
        failed=now.failed,
        now=list(now.now),
        seconds_left=now.seconds,
        is_ranked=look.live.snapshot is not None,
        words=now.words,
    )


@router.get("/boards/{board}/rankings", response_model_exclude_unset=True)
def list_rankings(
    request: Request, board: str, viewer: Reader, limit: Limit = 20, cursor: Cursor = None
) -> Page[RankingHead]:
    """Every ranking the board has had, the latest first."""
    look = look_of(request, board, viewer)
    place = read_cursor(cursor, int)
    with site_of(request).database.reading() as connection:
        kept = snapshots.list_snapshots(
            connection, look.name, look.past_audience, before=place[0] if place else None, limit=limit + 1
        )
    page: Page[RankingHead] = page_of(
        kept, limit, lambda snapshot: _head(snapshot, MOST_MOVES), lambda snapshot: write_cursor(snapshot.number)
    )
    return page


@router.get("/boards/{board}/rankings/{key}", response_model=RankingFacts)
def read_past_ranking(request: Request, board: str, key: str, viewer: Reader) -> Response:
    """A kept ranking, by its id or its number."""
    look = look_of(request, board, viewer)
    number = int(key) if key.isdecimal() and key.isascii() and len(key) < 10 else None
    with site_of(request).database.reading() as connection:
        kept = snapshots.snapshot(connection, look.name, key if number is None else number, look.past_audience)
        document = snapshots.document(connection, kept)
    return _facts(look, kept, document)


@router.get("/boards/{board}/ranking/generators", response_model=Page[Standing])
def list_standings(request: Request, board: str, viewer: Reader, limit: Limit = 100, cursor: Cursor = None) -> Response:
    """The generators of the latest ranking in their order, each as the ranking has it: for boards of many."""
    look = look_of(request, board, viewer)
    if look.ranking is None:
        raise UnknownName(f"ranking of {board}", "latest", ())
    page: Page[dict[str, Any]] = page_at(look.ranking.generators, limit, cursor, asdict)
    return JSONResponse(page.model_dump())


@router.get("/boards/{board}/history/{side}")
def read_history(
    request: Request,
    response: Response,
    board: str,
    side: Literal["metric", "generator"],
    viewer: Reader,
    name: str | None = None,
    limit: Limit = MOST,
    cursor: Cursor = None,
) -> list[PlaceFacts]:
    """Every place of every metric or generator (or of one), by name and ranking; the header Link leads on."""
    look = look_of(request, board, viewer)
    place = read_cursor(cursor, str, int)
    after = None if place is None else (place[0], place[1])
    with site_of(request).database.reading() as connection:
        places = snapshots.history(
            connection, look.name, side, name=name, audience=look.past_audience, after=after, limit=limit + 1
        )
    page: Page[PlaceFacts] = page_of(
        look.masked_places(places, side),
        limit,
        lambda p: PlaceFacts(number=p.number, name=p.name, rank=p.rank, value=p.value),
        lambda p: write_cursor(p.name, p.number),
    )
    return list_of(request, response, page)


@router.get("/boards/{board}/ensembles", response_model=list[EnsembleFacts])
def list_ensembles(
    request: Request, response: Response, board: str, viewer: Reader, limit: Limit = MOST, cursor: Cursor = None
) -> Response:
    """Every ensemble ever fitted on the board, the latest first; the header Link leads on where there are more."""
    look = look_of(request, board, viewer)
    place = read_cursor(cursor, float, str)
    before = None if place is None else (place[0], place[1])
    with site_of(request).database.reading() as connection:
        ensembles = snapshots.list_ensembles(
            connection, look.name, hidden=viewer.audience == "owners", before=before, limit=limit + 1
        )
    page: Page[dict[str, Any]] = page_of(
        ensembles,
        limit,
        lambda fitted: {
            "signature": fitted[0].signature,
            "created": fitted[1],
            "ensemble": document_of(look.masked_ensemble(fitted[0])),
        },
        lambda fitted: write_cursor(fitted[1], fitted[0].signature),
    )
    return JSONResponse(list_of(request, response, page), headers=dict(response.headers))


def _head(snapshot: Snapshot, most: int | None = None) -> RankingHead:
    return RankingHead(
        id=snapshot.id,
        number=snapshot.number,
        created=snapshot.created,
        cause=Cause(**snapshot.cause),
        moves=[Move(**{key: move[key] for key in Move.model_fields}) for move in snapshot.moves[:most]],
        moved=len(snapshot.moves),
        ensemble=snapshot.ensemble,
    )


def _facts(look: Look, snapshot: Snapshot, document: dict[str, Any]) -> Response:
    """A ranking with what this audience may not see taken out, and what its board's card lacks now."""
    ranking = look.ranking_document(document["ranking"])
    overrating = look.overrating_document(document.get("overrating"))
    signed = signed_ranking(look, snapshot, document)
    if look.board.is_draft:
        ranking = {**ranking, "draft": list(look.board.missing_facts)}
    return JSONResponse(
        {
            **_head(snapshot).model_dump(exclude_unset=True),
            "ranking": ranking,
            "overrating": overrating,
            "signed": None
            if signed is None
            else {
                "statement": dict(signed.document),
                "signature": signed.signature,
                "public_key": signed.public_key,
            },
        }
    )
