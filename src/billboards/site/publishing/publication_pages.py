"""The organisers' page that publishes a board as files: a form, a bar while a worker writes, the archive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from billboards.errors import InvalidSettings, UnknownName
from billboards.site.accounts.access import require
from billboards.site.organise.pages import mistakes_at, organise_page, refused
from billboards.site.organise.setting_fields import files_fields, shown_values, typed_document
from billboards.site.publishing import publications
from billboards.site.publishing.publication_records import OPEN
from billboards.site.publishing.publication_routes import archive_response
from billboards.site.settings import FilesWanted
from billboards.site.web import addresses
from billboards.site.web.asking import Ask, changing, reading, viewer_of
from billboards.site.web.rendering import Body
from billboards.site.work import leases

router = APIRouter()


def show_files(ask: Ask) -> Body:
    """How the last files stand, and the form for new ones."""
    require(ask.viewer, "administer")
    publication = publications.publication_of(ask.site, ask.viewer, ask.look().name)
    wanted = FilesWanted().model_dump(mode="json") if publication is None else dict(publication.wanted)
    return _page(ask, shown_values(files_fields(), wanted), {})


def _page(
    ask: Ask, values: Mapping[str, Any], mistakes: Mapping[str, Sequence[str]], problems: Sequence[str] = ()
) -> Body:
    look = ask.look()
    publication = publications.publication_of(ask.site, ask.viewer, look.name)
    with ask.site.database.reading() as connection:
        workers = leases.count_workers(connection, now=ask.site.clock())
    return organise_page(
        ask,
        "organise_files",
        look,
        "files",
        publication=publication,
        is_open=publication is not None and publication.state in OPEN,
        expires=None if publication is None else publications.expires(publication),
        workers=workers,
        fields=files_fields(),
        values=values,
        mistakes=mistakes,
        problems=problems,
    )


def ask_for_files(ask: Ask, sent: Mapping[str, Any]) -> Body | str:
    """Ask for files or throw them away, or show the form again with every mistake at its field."""
    require(ask.viewer, "administer")
    home, wanted = addresses.board(ask.board_name, "organise", "files"), str(sent.get("act", ""))
    if wanted == "discard":
        publications.discard_files(ask.site, ask.viewer, ask.board_name)
        return home
    if wanted != "publish":
        raise UnknownName("thing to do", wanted, ("publish", "discard"))
    try:
        publications.ask_for_files(ask.site, ask.viewer, ask.board_name, typed_document(files_fields(), sent))
    except InvalidSettings as error:
        return refused(_page(ask, dict(sent), mistakes_at(error, sent), error.problems))
    return home


async def send_archive(request: Request) -> Response:
    """The archive as a download; a file of any size is sent as it lies there."""
    pages = request.app.state.pages
    viewer, _ = request.state.asker = await run_in_threadpool(viewer_of, request, pages)
    board = request.path_params["board"]
    return archive_response(await run_in_threadpool(publications.ready_archive, pages.site, viewer, board))


router.add_route("/boards/{board}/organise/files", reading(show_files, kept=False), include_in_schema=False)
router.add_route("/boards/{board}/organise/files", changing(ask_for_files), methods=["POST"], include_in_schema=False)
router.add_route("/boards/{board}/organise/files/archive", send_archive, include_in_schema=False)
