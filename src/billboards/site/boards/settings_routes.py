"""What owners decide about a board, and what happened on it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, File, Form, Query, Request, UploadFile
from pydantic import BaseModel

from billboards.board.added_scores import NewColumn, read_needs
from billboards.errors import InvalidInput, Problem, TooLarge
from billboards.site.accounts.access import Viewer
from billboards.site.accounts.permissions import Permission, site_of
from billboards.site.boards import added_scores as attached
from billboards.site.boards import registry
from billboards.site.database import trail
from billboards.site.database.trail import Entry
from billboards.site.organise.setting_fields import SettingsChanges, SettingsFacts
from billboards.site.settings import read_board_settings
from billboards.site.submissions import sending as submitting
from billboards.site.web.api import Cursor, Limit, Page, page_of, read_cursor, tagged_router, write_cursor

router = tagged_router("owners")
Owner = Annotated[Viewer, Depends(Permission("administer"))]
ActionWord = Annotated[
    str | None, Query(max_length=100, description="an action such as board.settings, or the first word of several")
]


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


class AddedFacts(BaseModel):
    """What became of a column: how many scores came, were replaced, and were there already, by generator."""

    metric: str
    new: bool
    added: dict[str, int]
    replaced: dict[str, int]
    same: int


class AddedScores(BaseModel):
    """What became of every column that scores were added to."""

    columns: list[AddedFacts]


@router.get("/boards/{board}/settings", response_model=SettingsFacts, dependencies=[Depends(Permission("administer"))])
def read_settings(request: Request, board: str) -> dict[str, Any]:
    """Everything that owners decide about a board."""
    with site_of(request).database.reading() as connection:
        return read_board_settings(registry.board(connection, board).settings).document()


@router.patch("/boards/{board}/settings", response_model=SettingsFacts)
def change_settings(request: Request, board: str, sent: SettingsChanges, viewer: Owner) -> dict[str, Any]:
    """Change phases, quotas, what is hidden, how the board is ranked, what it tells; what is not named stays."""
    return submitting.change_settings(site_of(request), viewer, board, sent.root).document()


@router.post("/boards/{board}/freeze", response_model=SettingsFacts)
def freeze(request: Request, board: str, viewer: Owner) -> dict[str, Any]:
    """Let nothing more come in or go."""
    return submitting.freeze(site_of(request), viewer, board).document()


@router.post("/boards/{board}/unfreeze", response_model=SettingsFacts)
def unfreeze(request: Request, board: str, viewer: Owner) -> dict[str, Any]:
    """Let a board change again."""
    return submitting.unfreeze(site_of(request), viewer, board).document()


@router.post("/boards/{board}/reveal", response_model=SettingsFacts)
def reveal(request: Request, board: str, viewer: Owner) -> dict[str, Any]:
    """Show everybody the results of blind phases."""
    return submitting.reveal_results(site_of(request), viewer, board).document()


@router.post("/boards/{board}/retry")
def retry_cells(request: Request, board: str, viewer: Owner) -> Retried:
    """Compute again what failed."""
    return Retried(cells=submitting.retry_cells(site_of(request), viewer, board))


@router.post("/boards/{board}/scores")
def add_scores(
    request: Request,
    board: str,
    viewer: Owner,
    file: Annotated[UploadFile, File(description="CSV, TSV, JSON lines or Parquet, as its name tells")],
    metric: Annotated[str | None, Form(max_length=200, description="where the file names none")] = None,
    generator: Annotated[str | None, Form(max_length=200, description="where the file names none")] = None,
    replace: Annotated[bool, Form(description="write over scores that differ")] = False,
    new: Annotated[bool, Form(description="add a column where there is none of the metric's name")] = False,
    lower_is_better: Annotated[bool, Form(description="of a new column")] = False,
    needs: Annotated[
        str, Form(max_length=40, description="of a new column: references, input, nothing")
    ] = "references",
    dry_run: Annotated[bool, Form(description="only say what would be added")] = False,
) -> AddedScores:
    """Add scores that were computed elsewhere, for generators that a column does not know, or as a new column."""
    site = site_of(request)
    raw = file.file.read(site.settings.generator_bytes + 1)
    if len(raw) > site.settings.generator_bytes:
        words = f"has more than the {site.settings.generator_bytes:,} bytes that are taken; send it in parts"
        raise TooLarge([Problem(file.filename or "the file", None, words)])
    column = NewColumn(higher_is_better=not lower_is_better, needs=read_needs(needs))
    with tempfile.TemporaryDirectory() as work:
        path = Path(work) / f"scores{''.join(Path(file.filename or 'scores.tsv').suffixes[-2:])}"
        path.write_bytes(raw)
        with told_of_sent_files(path, file.filename):
            plans = attached.add_scores(
                site,
                viewer,
                board,
                path,
                metric=metric,
                generator=generator,
                new=column if new else None,
                replace_values=replace,
                dry_run=dry_run,
            )
    columns = [
        AddedFacts(metric=p.source_name, new=p.is_new, added=dict(p.added), replaced=dict(p.replaced), same=p.same)
        for p in plans
    ]
    return AddedScores(columns=columns)


#: What the command line calls the fields of a form.
_FLAGS = {"--metric": "metric", "--generator": "generator", "--new": "new=true", "--replace": "replace=true"}


@contextmanager
def told_of_sent_files(path: Path, name: str | None) -> Iterator[None]:
    """Mistakes in a file that was sent, in its sender's words: the file's own name, and the form's fields."""
    try:
        yield
    except InvalidInput as error:
        if type(error) is not InvalidInput:
            raise
        words = str(error).replace(str(path), name or "the file")
        for flag, field in _FLAGS.items():
            words = words.replace(flag, field)
        raise InvalidInput(words) from error


@router.get("/boards/{board}/audit", dependencies=[Depends(Permission("administer"))])
def list_entries(
    request: Request, board: str, action: ActionWord = None, limit: Limit = 100, cursor: Cursor = None
) -> Page[EntryFacts]:
    """Everything that happened on a board, the latest first."""
    return _entries(request, board, action, limit, cursor)


@router.get("/audit", dependencies=[Depends(Permission("administer"))])
def list_all_entries(
    request: Request, action: ActionWord = None, limit: Limit = 100, cursor: Cursor = None
) -> Page[EntryFacts]:
    """Everything that happened on the site, the latest first."""
    return _entries(request, None, action, limit, cursor)


def _entries(
    request: Request, board: str | None, action: str | None, limit: int, cursor: str | None
) -> Page[EntryFacts]:
    place = read_cursor(cursor, int)
    with site_of(request).database.reading() as connection:
        if board is not None:
            registry.board(connection, board)
        before = place[0] if place else None
        entries = trail.entries(connection, board=board, action=action, before=before, limit=limit + 1)
    page: Page[EntryFacts] = page_of(entries, limit, _entry, lambda entry: write_cursor(entry.id))
    return page


def _entry(entry: Entry) -> EntryFacts:
    return EntryFacts(**asdict(entry))
