"""What owners decide about a board, and what happened on it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import Depends, Request
from pydantic import BaseModel

from billboards.site.accounts.access import Viewer
from billboards.site.accounts.permissions import Permission, site_of
from billboards.site.boards import registry
from billboards.site.database import trail
from billboards.site.database.trail import Entry
from billboards.site.submissions import sending as submitting
from billboards.site.web.api import Cursor, Limit, Page, page_of, read_cursor, tagged_router, write_cursor

router = tagged_router("owners")
Owner = Annotated[Viewer, Depends(Permission("administer"))]


class EntryFacts(BaseModel):
    """One line of the audit trail."""

    id: int
    at: float
    actor: str
    action: str
    board: str | None
    subject: str
    detail: dict[str, Any]


class Retried(BaseModel):
    """How many cells will be computed again."""

    cells: int


@router.patch("/boards/{board}/settings")
def change_settings(request: Request, board: str, sent: dict[str, Any], viewer: Owner) -> dict[str, Any]:
    """Change phases, quotas, what is hidden, and how the board is ranked; what is not named stays."""
    return submitting.change_settings(site_of(request), viewer, board, sent).document()


@router.post("/boards/{board}/freeze")
def freeze(request: Request, board: str, viewer: Owner) -> dict[str, Any]:
    """Let nothing more come in or go."""
    return submitting.freeze(site_of(request), viewer, board).document()


@router.post("/boards/{board}/reveal")
def reveal(request: Request, board: str, viewer: Owner) -> dict[str, Any]:
    """Show everybody the results of blind phases."""
    return submitting.reveal_results(site_of(request), viewer, board).document()


@router.post("/boards/{board}/retry")
def retry_cells(request: Request, board: str, viewer: Owner) -> Retried:
    """Compute again what failed."""
    return Retried(cells=submitting.retry_cells(site_of(request), viewer, board))


@router.get("/boards/{board}/audit", dependencies=[Depends(Permission("administer"))])
def list_entries(request: Request, board: str, limit: Limit = 100, cursor: Cursor = None) -> Page[EntryFacts]:
    """Everything that happened on a board, the latest first."""
    place = read_cursor(cursor, int)
    with site_of(request).database.reading() as connection:
        registry.board(connection, board)
        entries = trail.entries(connection, board=board, before=place[0] if place else None, limit=limit + 1)
    page: Page[EntryFacts] = page_of(entries, limit, _entry, lambda entry: write_cursor(entry.id))
    return page


def _entry(entry: Entry) -> EntryFacts:
    return EntryFacts(**asdict(entry))
