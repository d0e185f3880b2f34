"""Long lists on pages: so many entries at a time, in an address that says which.

What was asked for stays in every link, so that a page of a list can be shared and gone on from. A page beyond the last
is the last: lists shrink, and an address of yesterday should still lead somewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from starlette.datastructures import QueryParams

from billboards.errors import InvalidInput
from billboards.reading import whole_number
from billboards.site.web import addresses

Entry = TypeVar("Entry")


@dataclass(frozen=True, slots=True)
class Stretch(Generic[Entry]):
    """The entries of one page, and where they stand among all."""

    entries: Sequence[Entry]
    number: int
    last: int
    size: int
    total: int

    @property
    def start(self) -> int:
        """The place of the first entry, counted from 1."""
        return (self.number - 1) * self.size + 1

    @property
    def end(self) -> int:
        return self.start + len(self.entries) - 1


@dataclass(frozen=True, slots=True)
class Cut(Generic[Entry]):
    """The beginning of a list that nobody reads to its end, and how many entries are left out."""

    entries: Sequence[Entry]
    rest: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Pager:
    """The links of a list: to its first page, the one before, the next and the last, as far as there are any."""

    number: int
    last: int
    first_page: str | None
    before: str | None
    after: str | None
    last_page: str | None


def read_page(query: QueryParams) -> int:
    """Which page is asked for; the first where none is."""
    text = (query.get("page") or "1").strip()
    number = whole_number(text) if text.isascii() else None
    if number is None:
        raise InvalidInput(f"page must be a whole number from 1; found {text[:40]!r}")
    return max(number, 1)


def read_before(query: QueryParams) -> tuple[float, str] | None:
    """Where a list goes on whose latest entries come first: when the last one shown was made, and its name."""
    created, _, name = (query.get("before") or "").partition("~")
    try:
        return (float(created), name) if name else None
    except ValueError:
        return None


def write_before(created: float, name: str) -> str:
    """A place in such a list, as its link to older entries says it."""
    return f"{created!r}~{name}"


def stretch(entries: Sequence[Entry], number: int, size: int) -> Stretch[Entry]:
    """One page of a list."""
    last = max(1, -(-len(entries) // size))
    number = min(max(number, 1), last)
    return Stretch(entries[(number - 1) * size : number * size], number, last, size, len(entries))


def cut(entries: Sequence[Entry], most: int) -> Cut[Entry]:
    """The first entries of a list."""
    return Cut(entries[:most], max(len(entries) - most, 0))


def few(names: Sequence[str], most: int = 20) -> str:
    """Names one after the other; of very many the first ones, the others counted."""
    return ", ".join(names) if len(names) <= most else f"{', '.join(names[:most])} and {len(names) - most:,} more"


def pager(number: int, last: int, address: str, kept: Mapping[str, object], *, at: str = "") -> Pager:
    """The links around page `number` of `last`; `at` is the part of the page that they lead to."""

    def leading_to(wanted: int) -> str | None:
        if not 1 <= wanted <= last or wanted == number:
            return None
        page = None if wanted == 1 else wanted
        return address + addresses.asked({**kept, "page": page}) + at

    return Pager(
        number=number,
        last=last,
        first_page=leading_to(1),
        before=leading_to(number - 1),
        after=leading_to(number + 1),
        last_page=leading_to(last),
    )
