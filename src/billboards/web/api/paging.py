"""Long lists in pages: at most `limit` items, and a cursor that leads to the next ones.

A cursor says where the last page ended, not how many items were before it: what comes in meanwhile neither repeats nor
hides anything.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Generic, TypeVar

from fastapi import Query
from pydantic import BaseModel, Field

from billboards.errors import InvalidInput

Item = TypeVar("Item")
Found = TypeVar("Found")

Limit = Annotated[int, Query(ge=1, le=1000, description="at most this many items")]
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
    if not fits or not all(type(one) is kind for one, kind in zip(place, kinds, strict=True)):
        raise InvalidInput(f"{cursor!r} is no cursor of this list; begin without one")
    return tuple(place)


def page_of(found: Sequence[Found], limit: int, shown: Callable[[Found], Item], place: Callable[[Found], str]) -> Any:
    """A page from one item more than it holds: the one too many says that there is a next page."""
    some = found[:limit]
    following = place(some[-1]) if len(found) > limit else None
    return Page(items=[shown(one) for one in some], next=following)


def page_at(found: Sequence[Found], limit: int, cursor: str | None, shown: Callable[[Found], Item]) -> Any:
    """A page of a list that stands still, by position."""
    place = read_cursor(cursor, int)
    start = max(place[0], 0) if place else 0
    some = found[start : start + limit]
    following = write_cursor(start + limit) if start + limit < len(found) else None
    return Page(items=[shown(one) for one in some], next=following)
