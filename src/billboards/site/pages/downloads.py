"""Downloads of everything a board shows."""

from __future__ import annotations

from fastapi import APIRouter

from billboards.errors import UnknownName
from billboards.site.boards.signatures import can_sign, site_keys
from billboards.site.pages.bundles import FILES, why_missing
from billboards.site.web.asking import Ask, reading
from billboards.site.web.rendering import Body

router = APIRouter()


def show_downloads(ask: Ask) -> Body:
    """What can be downloaded."""
    look = ask.look()
    files = [(name, words, why_missing(look, name)) for name, (words, _, _) in FILES.items()]
    return ask.board_page(
        "downloads",
        look,
        "downloads",
        heading="Downloads",
        files=files,
        licence=look.board.card.licence,
        key=site_keys(ask.site).current if can_sign(ask.site) else None,
    )


def send_download(ask: Ask) -> Body:
    """One file."""
    name = ask.params["file"]
    if name not in FILES:
        raise UnknownName("download", name, FILES)
    look = ask.look()
    _, kind, make = FILES[name]
    return Body(make(look), kind, headers=(("content-disposition", f'attachment; filename="{look.name}-{name}"'),))


router.add_route("/boards/{board}/downloads", reading(show_downloads), include_in_schema=False)
router.add_route("/boards/{board}/downloads/{file}", reading(send_download), include_in_schema=False)
