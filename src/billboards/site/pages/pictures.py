"""Badges and the site's own files: pictures and scripts that pages and READMEs load."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from billboards.campaigns.questions import question_file
from billboards.errors import UnknownName
from billboards.site.boards import snapshots
from billboards.site.pages import badges
from billboards.site.pages.board import find_snapshot
from billboards.site.web.asking import FOR_EVER, Ask, reading
from billboards.site.web.rendering import Body, respond, static_address, static_file

router = APIRouter()

SVG = "image/svg+xml"
KINDS = {".js": "text/javascript; charset=utf-8", ".svg": SVG, ".woff2": "font/woff2"}
FILES = (
    *("annotate.js", "board.js", "board_progress.js", "campaign.js", "changes.js", "charts.js", "draft.js"),
    *("explorer.js", "files.js", "inter.woff2", "live.js", "mark.svg", "theme.js"),
    *("vega.min.js", "vega-lite.min.js", "vega-interpreter.js"),
)
#: A badge stands on other sites' pages, whose copies should be a few minutes old at most.
HEAD = (("cache-control", "public, max-age=300"), ("cross-origin-resource-policy", "cross-origin"))


def show_metric_badge(ask: Ask) -> Body:
    """The leading metric of a board."""
    look = ask.look()
    words = "none yet" if look.ranking is None else badges.metric_words(look.ranking)
    return _badge(f"{look.name} metric", words)


def show_generator_badge(ask: Ask) -> Body:
    """The place of a generator."""
    look, name = ask.look(), ask.params["name"].removesuffix(".svg")
    if look.ranking is None:
        look.board.generator(name)
        return _badge(look.name, "not ranked")
    return _badge(look.name, badges.generator_words(look.ranking, name))


def show_own_metric_badge(ask: Ask) -> Body:
    """The place of a metric."""
    look, name = ask.look(), ask.params["name"].removesuffix(".svg")
    if look.ranking is None:
        raise UnknownName("metric", name, ())
    return _badge(name, badges.own_metric_words(look.ranking, name))


def show_ranking_badge(ask: Ask) -> Body:
    """A ranking, and who leads it."""
    look = ask.look()
    with ask.site.database.reading() as connection:
        snapshot = find_snapshot(connection, look, ask.params["ranking"].removesuffix(".svg"))
        ranking = look.masked(snapshots.ranking(connection, snapshot))
    return _badge(look.name, badges.ranking_words(ranking, snapshot.number))


def _badge(left: str, right: str) -> Body:
    return Body(badges.badge(left, right).encode(), SVG, headers=HEAD)


async def send_static(request: Request) -> Response:
    """A file of the site's own, under the address of this version of it."""
    name = request.path_params["name"]
    script = question_file(name) if name.endswith(".js") else None
    if (name not in FILES and script is None) or static_address(name) != request.url.path:
        raise UnknownName("file", name, FILES)
    body = Body(static_file(name), KINDS[name[name.rindex(".") :]])
    headers = request.headers
    return respond(
        body, accepts=headers.get("accept-encoding", ""), etags=headers.get("if-none-match", ""), fresh=FOR_EVER
    )


router.add_route("/static/{digest}/{name}", send_static, include_in_schema=False)
router.add_route("/boards/{board}/badges/metric.svg", reading(show_metric_badge), include_in_schema=False)
router.add_route("/boards/{board}/badges/metrics/{name:path}", reading(show_own_metric_badge), include_in_schema=False)
router.add_route("/boards/{board}/badges/rankings/{ranking}", reading(show_ranking_badge), include_in_schema=False)
router.add_route(
    "/boards/{board}/badges/generators/{name:path}", reading(show_generator_badge), include_in_schema=False
)
