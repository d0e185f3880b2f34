"""What a site shows, answers, mails and stores while people act on it, written down step by step.

Of a page stand all texts, links, fields and labels; a page like one before it is kept as what differs from that one.
Times are told from the site's first second on, ids are numbered as they come.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import secrets
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from html.parser import HTMLParser
from typing import Any

import pytest
from sqlalchemy import LargeBinary, select

from billboards.site.database.schema import metadata
from billboards.site.site import Site

#: The first second of these sites, on a Wednesday in May 2033, so that no time of the machine looks like one of theirs.
START = 2_000_000_000.0
#: What is left out of pages: how they look, and what machines read.
_SKIPPED = {"script", "style", "svg", "template", "noscript"}
_UNSAID = {"class", "style", "width", "height", "rel", "method", "enctype", "autocomplete", "scope", "csrf"}
_BLOCKS = """p div li ul ol dl dt dd tr table thead tbody caption h1 h2 h3 h4 section nav header footer main form
    fieldset legend details summary option select textarea pre br hr article aside figure""".split()  # noqa: SIM905
_ID = re.compile(r"(?<![a-z0-9])aa[a-z2-7]{24}(?![a-z0-9])")
_DRAWN = re.compile(r"(?<!\w)(?:00[0-9a-f]{30}u?|00[0-9A-F]{8})(?!\w)")
_DAY = re.compile(r"(20[3-9]\d)-(\d\d)-(\d\d)")
_NUMBER = re.compile(r"(?<![\w.])(1[6-9]\d{8}|2\d{9})(\.\d+)?(?![\w.])")
_VERSION = re.compile(r"billboards \d+\.\d+\.\d+\S*(?<![.,])")
#: Headers that tell something to who asks.
HEADERS = (
    "location",
    "content-type",
    "content-disposition",
    "cache-control",
    "link",
    "www-authenticate",
    "retry-after",
)


@dataclass
class Clock:
    """A time that stands still until a test turns it."""

    now: float = START

    def __call__(self) -> float:
        return self.now


class _Reader(HTMLParser):
    """The lines of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._line = ""
        self._skipped = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._skipped:
            return
        if tag in _SKIPPED or ("aria-label", "Board") in attrs:
            # The tabs of a board are those of its other pages.
            self._skipped = tag
            return
        if tag in _BLOCKS:
            self._end()
        told = dict(attrs)
        if told.get("name") == "csrf":
            return
        said = [f"{name}={value}" if value else name for name, value in told.items() if name not in _UNSAID]
        if said or tag in ("input", "button", "h1", "h2", "h3", "th", "option"):
            self._line += f" <{' '.join([tag, *said])}>"
        elif tag in ("td", "dd"):
            self._line += " |"

    def handle_endtag(self, tag: str) -> None:
        if self._skipped:
            self._skipped = "" if tag == self._skipped else self._skipped
        elif tag in _BLOCKS:
            self._end()
        else:
            self._line += " "

    def handle_data(self, data: str) -> None:
        if not self._skipped:
            self._line += data

    def _end(self) -> None:
        if line := " ".join(self._line.split()):
            self.lines.append(line)
        self._line = ""

    def close(self) -> None:
        super().close()
        self._end()


def page_lines(page: str, *, whole: bool = False) -> list[str]:
    """What stands in the main part of a page, or on all of it."""
    title = re.search(r"<title>(.*?)</title>", page, re.DOTALL)
    main = re.search(r"<main.*</main>", page, re.DOTALL)
    reader = _Reader()
    reader.feed(page if whole or main is None else main[0])
    reader.close()
    return [*([title[1]] if title is not None else []), *reader.lines]


def shortened(lines: list[Any], most: int = 150) -> list[Any]:
    """A long list's first and last parts, and how much lies between them."""
    if len(lines) <= most:
        return lines
    return [*lines[: most // 2], f"and {len(lines) - most} more", *lines[-(most - most // 2) :]]


def _with_short_lists(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_short_lists(item) for key, item in value.items()}
    return shortened([_with_short_lists(item) for item in value], 12) if isinstance(value, list) else value


@dataclass
class Diary:
    """Everything that is told, in the order in which it was."""

    entries: dict[str, Any] = field(default_factory=dict)
    _pages: list[list[str]] = field(default_factory=list)
    _ids: dict[str, str] = field(default_factory=dict)

    def note(self, name: str, value: Any) -> None:
        """Something plain, under a name of its own."""
        assert name not in self.entries, name
        self.entries[name] = self.plain(value)

    def hear(self, name: str, answer: Any, *, whole: bool = False) -> Any:
        """An answer of the site: its status, its headers and what it says; returns the answer."""
        told: dict[str, Any] = {"status": answer.status_code}
        told |= {header: answer.headers[header] for header in HEADERS if header in answer.headers}
        if cookies := answer.headers.get_list("set-cookie"):
            told["set-cookie"] = [
                re.sub(r"expires=[^;]*", "expires", cookie, flags=re.IGNORECASE) for cookie in cookies
            ]
        kind = told.pop("content-type", "").partition(";")[0]
        if kind == "text/html":
            told["page"] = self._page(shortened(page_lines(answer.text, whole=whole)))
        elif kind in ("application/json", "application/problem+json") and answer.content:
            told["json"] = _with_short_lists(answer.json())
        elif answer.content:
            told[kind or "text"] = shortened([line[:500] for line in answer.text.splitlines()], 24)
        self.note(name, told)
        return answer

    def _page(self, lines: list[str]) -> Any:
        """A page, or what differs from the page before it that is most like it."""
        lines = self.plain(lines)
        best = max(self._pages[:-20:-1], key=lambda other: _likeness(other, lines), default=[])
        self._pages.append(lines)
        changed = []
        for kind, a, b, c, d in SequenceMatcher(None, best, lines, autojunk=False).get_opcodes():
            if kind != "equal":
                changed += [f"- {line}" for line in best[a:b]] + [f"+ {line}" for line in lines[c:d]]
        return {f"like page {self._pages.index(best) + 1}": changed} if len(changed) < 0.6 * len(lines) else lines

    def plain(self, value: Any) -> Any:
        """A value with numbered ids and times from the first second on."""
        if isinstance(value, Mapping):
            return {self.plain(str(key)): self.plain(_unmeasured(key, item)) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.plain(item) for item in value]
        if isinstance(value, bool) or value is None:
            return value
        if isinstance(value, int | float):
            return _moment(float(value)) if 1.6e9 <= value < 3e9 else value
        if isinstance(value, str):
            for name in _ID.findall(value):
                value = value.replace(name, self._ids.setdefault(name, f"id-{len(self._ids) + 1}"))
            value = _NUMBER.sub(lambda match: _moment(float(match[0])), value)
            value = _DRAWN.sub("drawn", re.sub(r"\?after=\d+", "?after=N", value))
            value = _VERSION.sub("billboards VERSION", value)
            return _DAY.sub(r"\1/\2/\3", value)
        return self.plain(str(value))

    def letters(self, name: str, box: Any) -> None:
        """All letters that came since this was last asked."""
        told = []
        for letter in box.letters:
            heads = [f"{key}: {value}" for key, value in letter.items() if key.lower() not in _UNSURE]
            told.append([*heads, *str(letter.get_content()).replace("\r\n", "\n").splitlines()])
        box.letters.clear()
        self.note(name, told)

    def rows(self, name: str, site: Site, tables: Sequence[str] = (), *, but: Sequence[str] = ()) -> None:
        """What the database holds: of each table the names of its columns, and its rows in their order."""
        told: dict[str, Any] = {}
        with site.database.reading() as connection:
            for table in metadata.sorted_tables:
                if (tables and table.name not in tables) or table.name in but:
                    continue
                columns = [column for column in table.columns if column.name not in _MEASURED]
                keys = list(table.primary_key.columns)
                order = [column for column in (table.columns.get("created"), *keys) if column is not None]
                found = connection.execute(select(*columns).order_by(*order)).all()
                if found:
                    binary = [isinstance(column.type, LargeBinary) for column in columns]
                    lines = [[_cell(value, kind) for value, kind in zip(row, binary, strict=True)] for row in found]
                    told[table.name] = [[column.name for column in columns], *shortened(lines, 40)]
        self.note(name, told)


_UNSURE = ("date", "message-id", "mime-version", "content-type", "content-transfer-encoding")
#: Columns whose values were measured.
_MEASURED = {"seconds_per_item"}


def _unmeasured(key: object, value: Any) -> Any:
    """A value without the seconds that were measured."""
    if key in ("waiting", "progress") and isinstance(value, Mapping):
        return {name: item for name, item in value.items() if name not in ("seconds", "seconds_left")}
    return value


def _likeness(first: Sequence[str], second: Sequence[str]) -> float:
    lines = set(first) & set(second)
    return 2 * len(lines) / (len(set(first)) + len(set(second)) or 1)


def _moment(value: float) -> str:
    if value < START - 5e7:
        return "some time"
    return f"start{round(value - START, 3):+.15g}s"


def _cell(value: Any, binary: bool) -> Any:
    if binary and value is not None:
        return "bytes"
    return json.loads(value) if isinstance(value, str) and value[:1] in "[{" and _is_json(value) else value


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


@pytest.fixture
def no_chance() -> Iterator[None]:
    """Keys, links and ids that are the same in every run, and that sort as they were made."""
    with pytest.MonkeyPatch.context() as patch:
        counts = Counter[str]()

        def token_bytes(size: int | None = None) -> bytes:
            # Each module has a count of its own: no other one's calls, nor a library's, change what it draws.
            asking = next(name for name in _callers() if name not in ("secrets", __name__))
            counts[asking] += 1
            rest = hashlib.sha512(f"{asking} {counts[asking]}".encode()).digest()
            return (counts[asking].to_bytes(3, "big") + rest)[: size or 32]

        patch.setattr(secrets, "token_bytes", token_bytes)
        patch.setattr(secrets, "token_hex", lambda size=None: token_bytes(size).hex())
        patch.setattr(secrets, "token_urlsafe", lambda size=None: _text(token_bytes(size)))
        patch.setattr(secrets, "randbits", lambda bits: int.from_bytes(token_bytes(8), "big") % 2**bits)
        yield


def _callers() -> Iterator[str]:
    """The modules of who calls, the nearest first."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        frame = frame.f_back
        yield frame.f_globals.get("__name__", "")


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
