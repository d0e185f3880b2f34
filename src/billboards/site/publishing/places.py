"""Which addresses of a site are published, and in which file each of them lies.

An address that says how a page is sorted, cut or filtered is a page of its own on a server. Of these the main ones are
written: the table by each column, each part of the board, pages of lists. Every other one leads to the page itself.
Files have plain names that any disk and any host can hold.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from billboards.site.web.addresses import asked

#: Parts of a board that are only for who sends in, judges or runs it.
NOT_FOR_READERS = frozenset({"submissions", "events", "matching", "changes", "settings", "campaigns"})
#: Pages of the whole site that readers have.
FOR_READERS = frozenset({"help", "advice", "suites", "static", "embed", "boards", "api"})
#: Scripts that wait for a server.
LIVE_SCRIPTS = frozenset({"annotate.js", "campaign.js", "changes.js", "live.js"})
#: Pages of the list of outputs that are written; the script searches all of them.
MOST_LISTED = 20
#: Words of a board's address that stand for one part of it.
PARTS = ("domain", "document", "tag", "aggregate", "references", "by")
_PLAIN = re.compile(r"[^A-Za-z0-9._+=-]")
_LONGEST = 80

Query = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Address:
    """An address of the site, taken apart."""

    parts: tuple[str, ...]
    query: Query = ()

    @property
    def board(self) -> str | None:
        """The board that the address belongs to."""
        return self.parts[1] if len(self.parts) > 1 and self.parts[0] == "boards" else None

    @property
    def rest(self) -> tuple[str, ...]:
        """What follows the board's name."""
        return self.parts[2:]

    def __str__(self) -> str:
        path = "/" + "/".join(quote(part, safe="") for part in self.parts)
        query: dict[str, list[str]] = {}
        for key, value in self.query:
            query.setdefault(key, []).append(value)
        return path + asked(query)


def read_address(text: str) -> Address | None:
    """An address of this site; None for one of another."""
    split = urlsplit(text)
    if split.scheme or split.netloc or not split.path.startswith("/"):
        return None
    parts = tuple(unquote(part) for part in split.path.strip("/").split("/") if part)
    return Address(parts, tuple(parse_qsl(split.query, keep_blank_values=False)))


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What of the boards is published: instances and pairs by board, and whether parts are ranked."""

    boards: Sequence[str]
    instances: Mapping[str, frozenset[str]]
    pairs: Mapping[str, frozenset[tuple[str, str]]] = field(default_factory=dict)
    parts: bool = True
    analyses: bool = True

    def published(self, address: Address) -> Address | None:
        """The address under which a page is published that a link leads to; None where it is not."""
        parts = address.parts
        if not parts:
            return Address((), _only(address, "page"))
        if parts[0] not in FOR_READERS or (parts[0] == "static" and parts[-1] in LIVE_SCRIPTS):
            return None
        if parts[0] == "suites":
            return None if "submit" in parts else Address(parts, _only(address, "theme"))
        if parts[0] == "embed":
            return Address(parts) if parts[2:3] and parts[2] in self.boards else None
        if parts[0] == "api":
            inner = Address(parts[2:])
            is_shown = parts[1:3] == ("v1", "boards") and inner.board in self.boards and len(inner.rest) == 2
            is_shown &= inner.rest[:1] in (("analyses",), ("rankings",)) and (self.analyses or "analyses" not in parts)
            return Address(parts) if is_shown else None
        if parts[0] != "boards":
            return Address(parts)
        return self._of_board(address) if address.board in self.boards else None

    def _of_board(self, address: Address) -> Address | None:
        parts, rest = address.parts, address.rest
        kind = rest[0] if rest else ""
        if kind in NOT_FOR_READERS and rest[-1] != "protocol":
            return None
        if kind == "analyses" and not self.analyses:
            return None
        if kind == "submit":
            return Address((*parts[:2], "submit"))
        if kind == "instances" and len(rest) > 1:
            return Address(parts) if "/".join(rest[1:]) in self.instances[parts[1]] else None
        if kind == "metrics" and "firm" in dict(address.query):
            return Address(parts, _only(address, "firm")) if self.parts else None
        if kind == "compare":
            if instance := dict(address.query).get("instance"):
                # The texts of one instance beside each other stand on its own page.
                return self._of_board(Address((*parts[:2], "instances", instance)))
            return Address(parts, self._pair(parts[1], address))
        return Address(parts, self._query(kind, address))

    def _query(self, kind: str, address: Address) -> Query:
        """The words of an address that make a published page; none where they make none."""
        words = dict(address.query)
        if not address.rest:
            return self._of_table(address.query)
        if kind == "instances":
            listed = int(words["page"]) <= MOST_LISTED if words.get("page", "").isdecimal() else False
            is_one = len(words) == 1 and (listed or words.keys() <= {"sort", "generator"})
            return address.query if is_one else ()
        if len(address.rest) == 1 and kind == "metrics":
            return address.query if words.keys() in ({"kind"}, {"page"}, {"sort", "direction"}) else ()
        if kind in ("rankings", "ensembles") and len(address.rest) == 1:
            return _only(address, "before")
        return _only(address, "theme")

    def _of_table(self, query: Query) -> Query:
        words = dict(query)
        if words.keys() == {"sort", "direction"}:
            is_text = words["sort"] in ("rank", "generator")
            return query if words["direction"] == ("ascending" if is_text else "descending") else ()
        if len(words) == 1 and words.keys() <= {"sort", "show", "order", "page"}:
            return query
        return query if self.parts and len(query) == 1 and query[0][0] in PARTS else ()

    def _pair(self, board: str, address: Address) -> Query:
        names = [value for word in ("of", "first", "second") for key, value in address.query if key == word]
        if len(names) != 2:
            return ()
        for first, second in (names, names[::-1]):
            if (first, second) in self.pairs.get(board, ()):
                return ("first", first), ("second", second)
        return ()


def _only(address: Address, *words: str) -> Query:
    return tuple((key, value) for key, value in address.query if key in words)


class Files:
    """The files of published addresses; two addresses never share one, on no disk."""

    def __init__(self) -> None:
        self._taken: dict[str, Address] = {}

    def of(self, address: Address, *, is_page: bool) -> str:
        """Where a page, or something that pages load or offer, lies relative to the folder."""
        name = _page_name(address) if is_page else _file_name(address)
        if self._taken.setdefault(name.casefold(), address) != address:
            stem, dot, end = name.rpartition(".")
            name = f"{stem}-{_digest(str(address))}{dot}{end}"
            self._taken[name.casefold()] = address
        return name


def _page_name(address: Address) -> str:
    parts = [plain_name(part) for part in address.parts]
    if not parts:
        return f"index{_state(address)}.html"
    if parts[0] == "boards" and len(parts) == 2:
        return f"boards/{parts[1]}/index{_state(address)}.html"
    return "/".join([*parts[:-1], f"{parts[-1]}{_state(address)}.html"])


def _file_name(address: Address) -> str:
    *folders, last = address.parts
    stem, dot, end = last.rpartition(".")
    if not dot or address.parts[0] == "api" or not end.isalnum():
        stem, end = last, "json"
    return "/".join([*map(plain_name, folders), f"{plain_name(stem)}{_state(address)}.{end}"])


def _state(address: Address) -> str:
    return "".join(f"-{plain_name(key)}-{plain_name(value)}" for key, value in address.query)


def plain_name(text: str) -> str:
    """A name that every disk and host can hold; one that had to be changed has a digest behind it."""
    plain = _PLAIN.sub("-", text)
    if plain == text and len(plain) <= _LONGEST and not plain.startswith(".") and plain:
        return plain
    return f"{plain[: _LONGEST - 9].strip('.-') or 'x'}-{_digest(text)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def neighbours(names: Sequence[str], most: int) -> Iterable[tuple[str, str]]:
    """Pairs of names: all of them, or where that is too many those next to each other and with the first."""
    every = [(first, second) for k, first in enumerate(names) for second in names[k + 1 :]]
    if len(every) <= most:
        return every
    near = [pair for gap in range(1, len(names)) for pair in zip(names, names[gap:], strict=False)]
    with_first = [(names[0], other) for other in names[1 : most // 2]]
    return list(dict.fromkeys([*with_first, *near]))[:most]
