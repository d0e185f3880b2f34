"""Making boards as programs do it: begin a draft, look at it, state the facts of its data card, publish it."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, File, Form, Request, UploadFile
from pydantic import BaseModel, Field

from billboards.errors import InvalidInput
from billboards.site.accounts.access import Viewer
from billboards.site.accounts.permissions import Permission, site_of
from billboards.site.organise import drafts
from billboards.site.organise.draft_records import BoardDraft, Source, State
from billboards.site.organise.drafts import SEVERAL, Wanted
from billboards.site.web.api import tagged_router

router = tagged_router("owners")
Owner = Annotated[Viewer, Depends(Permission("administer"))]
Files = Annotated[list[UploadFile], File()]


class Finding(BaseModel):
    """A mistake or doubt, at its place in the board folder."""

    path: str
    line: int | None
    message: str
    severity: str


class DraftFacts(BaseModel):
    """A board that is being made."""

    name: str
    source: Source
    origin: str = Field(description="what it is made of")
    state: State
    progress: str = Field(description="how far fetching it is, in words")
    problems: list[str] = Field(description="why it could not be read")
    notes: list[str] = Field(description="what the importer had to decide")
    findings: list[Finding] = Field(description="what `billboards check` says")
    missing: list[str] = Field(description="facts that the data card lacks; a board is published without any")
    created: float


class CardFacts(BaseModel):
    """Facts for a draft's data card, by name: `task`, `output-language`, `definition.DIMENSION`."""

    facts: dict[str, Annotated[str, Field(max_length=10_000)]]


class Published(BaseModel):
    """A board that is on the site now."""

    board: str


def _facts(request: Request, draft: BoardDraft) -> DraftFacts:
    ready = draft.state == "ready"
    missing = list(drafts.draft_board(site_of(request), draft).missing_facts) if ready else []
    return DraftFacts(
        name=draft.name,
        source=draft.source,
        origin=draft.origin,
        state=draft.state,
        progress=draft.progress,
        problems=list(draft.problems),
        notes=list(draft.notes),
        findings=[Finding(**finding) for finding in draft.findings],
        missing=missing,
        created=draft.created,
    )


@router.get("/drafts")
def list_drafts(request: Request, viewer: Owner) -> list[DraftFacts]:
    """Boards that are being made, the latest first."""
    return [_facts(request, draft) for draft in drafts.list_drafts(site_of(request), viewer)]


@router.post("/drafts", status_code=201)
def begin_draft(
    request: Request,
    viewer: Owner,
    name: Annotated[str, Form(max_length=200, description="the board's name")],
    source: Annotated[Source, Form(description="what it is made of")],
    entry: Annotated[str, Form(max_length=200, description="of the catalogue: a name of `billboards get`")] = "",
    option: Annotated[
        list[str] | None, Form(description="of tables and texts: KEY=VALUE, as for `billboards import`")
    ] = None,
    file: Annotated[list[UploadFile] | None, File(description="the table, or an archive of a board folder")] = None,
    output: Annotated[list[UploadFile] | None, File(description="of texts: a system's outputs, one a line")] = None,
    reference: Annotated[list[UploadFile] | None, File(description="of texts: references, one a line")] = None,
    inputs: Annotated[list[UploadFile] | None, File(description="of texts: the inputs, one a line")] = None,
    judgments: Annotated[list[UploadFile] | None, File(description="a table of judgments")] = None,
) -> DraftFacts:
    """Begin a board; what takes long goes on in the background, and `state` says so."""
    given = {"file": file, "output": output, "reference": reference, "source": inputs, "judgments": judgments}
    most = site_of(request).settings.metric_bytes + 1
    files = {
        part: [(upload.filename or part, upload.file.read(most)) for upload in uploads]
        for part, uploads in given.items()
        if uploads
    }
    wanted = Wanted(name=name, source=source, entry=entry, options=_options(option or []), files=files)
    return _facts(request, drafts.begin_draft(site_of(request), viewer, wanted))


def _options(written: list[str]) -> dict[str, str | list[str]]:
    options: dict[str, str | list[str]] = {}
    for text in written:
        word, equals, value = text.partition("=")
        if not equals:
            raise InvalidInput(f"{text[:80]!r} is no option; write KEY=VALUE")
        if word in SEVERAL:
            options[word] = [*options.get(word, []), value]
        else:
            options[word] = value
    return options


@router.get("/drafts/{draft}")
def read_draft(request: Request, draft: str, viewer: Owner) -> DraftFacts:
    """A board that is being made."""
    return _facts(request, drafts.get_draft(site_of(request), viewer, draft))


@router.patch("/drafts/{draft}/card")
def state_facts(request: Request, draft: str, sent: CardFacts, viewer: Owner) -> DraftFacts:
    """State facts of its data card."""
    return _facts(request, drafts.state_facts(site_of(request), viewer, draft, sent.facts))


@router.post("/drafts/{draft}/publish")
def publish(request: Request, draft: str, viewer: Owner) -> Published:
    """Put the board on the site."""
    return Published(board=drafts.publish_draft(site_of(request), viewer, draft))


@router.delete("/drafts/{draft}", status_code=204)
def discard(request: Request, draft: str, viewer: Owner) -> None:
    """Throw it away."""
    drafts.discard_draft(site_of(request), viewer, draft)
