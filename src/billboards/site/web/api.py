"""What all routes of the HTTP interface share: one prefix, texts that are texts, tagged answers, long lists in pages.

An answer that a program has already is not sent again: each carries a digest of its bytes as its ETag. Of a long list
at most `limit` items are sent, with a cursor that leads to the next ones. A cursor says where the last page ended, not
how many items were before it: what comes in meanwhile neither repeats nor hides anything. Some lists are answered as
plain lists, as they were before they could be long: there the header `Link` leads to the next page, and who asks for no
limit gets a thousand items at once.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Coroutine, Sequence
from typing import Annotated, Any, Generic, TypeVar
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Query, Request, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field

from billboards.errors import InvalidInput
from billboards.reading import json_value, refuse_half_characters

PREFIX = "/api/v1"


def tagged_router(about: str) -> APIRouter:
    """A router for one kind of thing."""
    return APIRouter(prefix=PREFIX, route_class=TaggedRoute, tags=[about])


class TaggedRoute(APIRoute):
    """A route whose answers to GET have an ETag, and are 304 for who names it in If-None-Match.

    A JSON document with half of a character anywhere is refused before it is looked at.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        answer = super().get_route_handler()

        async def tagged(request: Request) -> Response:
            if "json" in request.headers.get("content-type", ""):
                check_characters(await request.body())
            response = await answer(request)
            body = getattr(response, "body", None)
            if request.method != "GET" or response.status_code != 200 or body is None:
                return response
            # A list that has grown beyond its first page is another answer, though that page is the same.
            link = response.headers.get("link", "")
            tag = f'"{hashlib.sha256(body + link.encode()).hexdigest()[:20]}"'
            response.headers["etag"] = tag
            response.headers["cache-control"] = "private, no-cache"
            if tag in request.headers.get("if-none-match", ""):
                kept = {
                    name: response.headers[name]
                    for name in ("etag", "cache-control", "link")
                    if name in response.headers
                }
                return Response(status_code=304, headers=kept)
            return response

        return tagged


def check_characters(raw: bytes) -> None:
    """Refuse JSON that holds half of a character; what is no JSON at all is for its reader to refuse."""
    # All others are plain, which costs one look at the bytes.
    if raw.isascii() and b"\\u" not in raw:
        return
    try:
        value = json_value(raw)
    except ValueError:
        return
    try:
        refuse_half_characters(value)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"the document can't be used: {error}") from error


Item = TypeVar("Item")
Record = TypeVar("Record")
Limit = Annotated[int, Query(ge=1, le=1000, description="at most this many items")]
#: Of plain lists: what a client gets that asks for nothing.
MOST = 1000
Cursor = Annotated[str | None, Query(max_length=500, description="`next` of the page before")]


class Page(BaseModel, Generic[Item]):
    """Some of the items, and where the others begin."""

    items: list[Item]
    next: str | None = Field(None, description="give it as `cursor` to get the next page; null on the last one")


def write_cursor(*place: Any) -> str:
    """A place in a list as a word."""
    return base64.urlsafe_b64encode(json.dumps(place).encode()).decode().rstrip("=")


def read_cursor(cursor: str | None, *kinds: type) -> tuple[Any, ...] | None:
    """The place a cursor names; None for the beginning."""
    if not cursor:
        return None
    try:
        place = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, RecursionError):
        place = None
    fits = isinstance(place, list) and len(place) == len(kinds)
    # A number that no database holds is no place either.
    if not fits or not all(type(value) is kind and _is_held(value) for value, kind in zip(place, kinds, strict=True)):
        raise InvalidInput(f"{cursor!r} is no cursor of this list; begin without one")
    return tuple(place)


def _is_held(place: object) -> bool:
    return not isinstance(place, int) or abs(place) < 2**63


def page_of(
    records: Sequence[Record], limit: int, shown: Callable[[Record], Item], place: Callable[[Record], str]
) -> Any:
    """A page from one item more than it holds: the one too many says that there is a next page."""
    some = records[:limit]
    following = place(some[-1]) if len(records) > limit else None
    return Page(items=[shown(record) for record in some], next=following)


def page_at(records: Sequence[Record], limit: int, cursor: str | None, shown: Callable[[Record], Item]) -> Any:
    """A page of a list that stands still, by position."""
    place = read_cursor(cursor, int)
    start = max(place[0], 0) if place else 0
    some = records[start : start + limit]
    following = write_cursor(start + limit) if start + limit < len(records) else None
    return Page(items=[shown(record) for record in some], next=following)


def list_at(
    request: Request,
    response: Response,
    records: Sequence[Record],
    limit: int,
    cursor: str | None,
    shown: Callable[[Record], Item],
) -> list[Item]:
    """A page of a list that stands still, as a plain list."""
    page: Page[Item] = page_at(records, limit, cursor, shown)
    return list_of(request, response, page)


def list_of(request: Request, response: Response, page: Page[Item]) -> list[Item]:
    """A page as a plain list; where there is a next one, the header Link has its address."""
    if page.next is not None:
        asked = [(key, value) for key, value in request.query_params.multi_items() if key != "cursor"]
        address = f"{quote(request.scope['path'])}?{urlencode([*asked, ('cursor', page.next)])}"
        response.headers["link"] = f'<{address}>; rel="next"'
    return page.items
