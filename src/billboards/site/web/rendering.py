"""Pages as bytes: templates become bodies that are compressed once and sent many times.

A body is kept in the process under everything it depends on: path, query, class of viewer, and the generation of what
it shows. So a page costs one look at the generation until something changes, and a browser that has it already is told
so by its ETag. The stylesheet stands inside each page and is allowed by its hash: the first view then needs no second
round trip, at a cost of 5 kB compressed, and no page may carry a style that is not one of the site's own.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, cached_property
from importlib import metadata, resources
from importlib.resources.abc import Traversable
from threading import Lock
from typing import Any, Literal

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.responses import Response

from billboards.campaigns.questions import question_file, question_styles
from billboards.show.table import head_lines, shown
from billboards.show.words import clipped, interval_text, linear_combination, value_text
from billboards.site.campaigns.words import LANGUAGES, words_of
from billboards.site.pages.long_lists import few
from billboards.site.settings import said_moment
from billboards.site.web import addresses

HTML = "text/html; charset=utf-8"
#: What all kept bodies of a process may take together; one of them at most half of it, so that downloads are kept too.
MOST_BYTES = 128 * 2**20
#: Below this, compressing costs more than it saves.
WORTH_SQUEEZING = 512
SQUEEZABLE = ("text/", "image/svg", "application/json", "application/x-ndjson")

VARY = "accept-encoding, cookie, authorization"
#: The start of a message that begins with a word, not with a name such as `a.csv`, `chrF` or `row_1`.
_PLAIN_WORD = re.compile(r"[^\W\d_A-Z]+(?:['’][a-z]+)?(?=[\s,;:?!)]|\.?$)")

Head = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Body:
    """What is sent: the bytes, plain and compressed, under a name that changes when they do."""

    content: bytes
    media_type: str = HTML
    status: int = 200
    headers: Head = ()
    #: Whether it stays as it is until the board changes; what shows work in progress does not.
    is_kept: bool = True

    @cached_property
    def etag(self) -> str:
        return f'"{hashlib.sha256(self.content).hexdigest()[:20]}"'

    @cached_property
    def squeezed(self) -> bytes | None:
        """The compressed bytes, where they are worth it; without a time stamp, so that they are always the same."""
        if len(self.content) < WORTH_SQUEEZING or not self.media_type.startswith(SQUEEZABLE):
            return None
        small = gzip.compress(self.content, 6, mtime=0)
        return small if len(small) < len(self.content) else None

    def raw_headers(self, fresh: str, form: Literal["plain", "gzip", "none"]) -> list[tuple[bytes, bytes]]:
        """The head of an answer as it is sent: for the bytes as they are, compressed, or already known."""
        if form not in self._heads:
            headers = {"content-type": self.media_type, "etag": self.etag, "cache-control": fresh, "vary": VARY}
            headers |= dict(self.headers)
            if form == "gzip":
                headers["content-encoding"] = "gzip"
            if form != "none":
                headers["content-length"] = str(len(self.squeezed or b"" if form == "gzip" else self.content))
            self._heads[form] = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
        return self._heads[form]

    @cached_property
    def _heads(self) -> dict[str, list[tuple[bytes, bytes]]]:
        return {}

    @property
    def size(self) -> int:
        return len(self.content) + len(self.squeezed or b"")


def respond(body: Body, *, accepts: str, etags: str, fresh: str) -> Response:
    """A body as this browser wants it: not at all where it has it already, compressed where it can read that."""
    headers = {"etag": body.etag, "cache-control": fresh, "vary": VARY, **dict(body.headers)}
    if body.status == 200 and body.etag in etags:
        return Response(status_code=304, headers=headers)
    if body.squeezed is not None and "gzip" in accepts:
        headers["content-encoding"] = "gzip"
        return Response(body.squeezed, body.status, headers, body.media_type)
    return Response(body.content, body.status, headers, body.media_type)


@dataclass
class Bodies:
    """Bodies kept by what they depend on; the ones unused for longest go first."""

    most: int = MOST_BYTES
    _kept: OrderedDict[Hashable, Body] = field(default_factory=OrderedDict)
    _bytes: int = 0
    _lock: Lock = field(default_factory=Lock)

    def get(self, key: Hashable) -> Body | None:
        with self._lock:
            body = self._kept.get(key)
            if body is not None:
                self._kept.move_to_end(key)
            return body

    def keep(self, key: Hashable, body: Body) -> None:
        if body.size > self.most // 2:
            return
        with self._lock:
            before = self._kept.pop(key, None)
            self._bytes += body.size - (before.size if before else 0)
            self._kept[key] = body
            while self._bytes > self.most:
                _, gone = self._kept.popitem(last=False)
                self._bytes -= gone.size


def render(template: str, context: Mapping[str, Any]) -> bytes:
    """A page from its template; half a character, as JSON can smuggle in, is replaced because UTF-8 can't hold it."""
    return environment().get_template(f"{template}.html.j2").render(context).encode("utf-8", "replace")


@cache
def environment() -> Environment:
    """Templates that escape every text and fail on a name that is not there."""
    made = Environment(
        loader=FunctionLoader(template_text),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= {
        "number": value_text,
        "interval": interval_text,
        "combination": linear_combination,
        "shown": shown,
        "head_lines": head_lines,
        "clip": clipped,
        "linked": linked,
        "capitalize_first": capitalize_first,
        "moment": said_moment,
        "stamp": stamp,
        "few": few,
    }
    made.globals |= {
        "stylesheet": Markup(stylesheet("site.css")),
        "annotate_stylesheet": Markup(stylesheet("annotate.css")),
        "static": static_address,
        "release": metadata.version("billboards"),
        "to": addresses,
        # Annotators' pages bring their own language.
        "t": words_of(LANGUAGES[0]),
    }
    return made


def capitalize_first(text: str) -> str:
    """A message as a sentence: with a capital, unless it begins with a name, such as a file's or a metric's."""
    return text[:1].upper() + text[1:] if _PLAIN_WORD.match(text) else text


def linked(text: str) -> Markup:
    """A text that is a link where it is a web address; anything else, a script's address too, stays text."""
    if not text.startswith(("https://", "http://")):
        return Markup(escape(text))
    return Markup('<a href="{0}" rel="nofollow noopener">{0}</a>').format(text)


def stamp(seconds: float) -> str:
    """A time as programs read it."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


#: What pages are set in.
FONT = "inter.woff2"
#: Styles that may stand inside pages: what all have, and what annotators' have beside it.
STYLESHEETS = ("site.css", "annotate.css")


@cache
def stylesheet(name: str) -> str:
    """One of the site's stylesheets, as it stands inside pages; annotators' have what each kind of question needs."""
    text = static_file(name).decode().replace(f"url({FONT})", f"url({static_address(FONT)})")
    return text + (question_styles() if name == "annotate.css" else "")


@cache
def stylesheet_hashes() -> tuple[str, ...]:
    """The names by which the content policy allows the stylesheets and no others."""
    digests = (hashlib.sha256(stylesheet(name).encode()).digest() for name in STYLESHEETS)
    return tuple(f"sha256-{base64.b64encode(digest).decode()}" for digest in digests)


@cache
def static_file(name: str) -> bytes:
    """A file of the site's own: a script, a picture."""
    return _place(name).read_bytes()


def template_text(name: str) -> str | None:
    """A template, wherever it lies beside its page."""
    try:
        return _place(name).read_text(encoding="utf-8")
    except FileNotFoundError:
        return None


#: Rooms of the site with templates, scripts and styles beside their pages; a name stands in one of them only. What a
#: kind of question has lies with the kind.
ROOMS = ("web", "pages", "accounts", "submissions", "campaigns", "organise", "publishing")


def _place(name: str) -> Traversable:
    places = (resources.files("billboards.site") / room / name for room in ROOMS)
    place = next((place for place in places if place.is_file()), None) or question_file(name)
    if place is None:
        raise FileNotFoundError(name)
    return place


@cache
def static_address(name: str) -> str:
    """Where a static file is fetched: its address changes with its content, so that it may be kept for ever."""
    return f"/static/{hashlib.sha256(static_file(name)).hexdigest()[:12]}/{name}"
