"""Publishing a board as files, as programs do it: ask for them, look how far they are, fetch the archive."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Body, Depends, Request
from pydantic import BaseModel, Field
from starlette.responses import FileResponse

from billboards.errors import Gone
from billboards.site.accounts.access import Viewer
from billboards.site.accounts.permissions import Permission, site_of
from billboards.site.organise.setting_fields import FilesChanges
from billboards.site.publishing import publications
from billboards.site.publishing.publication_records import Publication, State
from billboards.site.settings import FilesWanted
from billboards.site.web.api import tagged_router

router = tagged_router("owners")
Owner = Annotated[Viewer, Depends(Permission("administer"))]
ZIP = "application/zip"


class PublicationFacts(BaseModel):
    """The files of a board: how far they are, and for how long the archive is kept."""

    board: str
    state: State
    wanted: FilesWanted
    asked: float
    done: int = Field(description="pages that are written")
    total: int = Field(description="pages that are known so far; more may be found while they are written")
    seconds: float | None = Field(description="what it may still take")
    size: int = Field(description="bytes of the archive")
    expires: float | None = Field(description="when the archive is thrown away")
    reason: str | None = Field(description="why it could not be written")


def facts(publication: Publication) -> PublicationFacts:
    """A publication as it is answered."""
    return PublicationFacts(
        board=publication.board,
        state=publication.state,
        wanted=FilesWanted.model_validate(publication.wanted),
        asked=publication.asked,
        done=publication.done,
        total=publication.total,
        seconds=publication.seconds,
        size=publication.size,
        expires=publications.expires(publication),
        reason=publication.reason,
    )


@router.get("/boards/{board}/files")
def read_files(request: Request, board: str, viewer: Owner) -> PublicationFacts:
    """How far the files of a board are that were asked for last."""
    publication = publications.publication_of(site_of(request), viewer, board)
    if publication is None:
        raise Gone(f"there are no published files of board {board}; ask for them with POST")
    return facts(publication)


@router.post("/boards/{board}/files", status_code=202)
def ask_for_files(
    request: Request, board: str, viewer: Owner, sent: Annotated[FilesChanges | None, Body()] = None
) -> PublicationFacts:
    """Have a board written as files, as a visitor sees it; a worker does so, and takes the place of what was there."""
    wanted: dict[str, Any] = {} if sent is None else sent.root
    return facts(publications.ask_for_files(site_of(request), viewer, board, wanted))


@router.get("/boards/{board}/files/archive", response_class=FileResponse)
def send_archive(request: Request, board: str, viewer: Owner) -> FileResponse:
    """The files as one zip archive."""
    return archive_response(publications.ready_archive(site_of(request), viewer, board))


def archive_response(path: Any) -> FileResponse:
    """An archive as a download."""
    return FileResponse(path, media_type=ZIP, filename=path.name, headers={"cache-control": "private, no-store"})


@router.delete("/boards/{board}/files", status_code=204)
def discard_files(request: Request, board: str, viewer: Owner) -> None:
    """Throw the archive away, or stop writing it."""
    publications.discard_files(site_of(request), viewer, board)
