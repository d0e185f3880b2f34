"""What a page says to whoever reads it: its text line by line, with where links lead and what pictures are called."""

from __future__ import annotations

import re
from html.parser import HTMLParser

#: Tags that begin a line, and those whose text nobody reads.
BLOCKS = frozenset((
    "address", "article", "aside", "blockquote", "br", "caption", "dd", "details", "div", "dl", "dt", "fieldset",
    "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "header", "hr", "legend", "li", "main", "nav",
    "ol", "option", "p", "section", "select", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "title", "tr",
    "ul",
))  # fmt: skip
UNREAD = frozenset(("script", "style", "svg"))
#: Attributes that a reader meets, or that decide what is sent.
TOLD = (
    "abbr", "action", "alt", "aria-current", "aria-describedby", "aria-label", "aria-sort", "checked", "colspan",
    "content", "datetime", "download", "for", "href", "id", "lang", "max", "maxlength", "media", "method", "min",
    "name", "open", "pattern", "placeholder", "rel", "required", "role", "rowspan", "scope", "selected", "src", "title",
    "type", "value",
)  # fmt: skip
#: Data within an address: told by its kind alone.
_DATA = re.compile(r"data:([\w/+.-]+)[^\s\"']*")


class _Lines(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = [""]
        self.unread = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in UNREAD:
            self.unread += 1
            return
        if tag in BLOCKS:
            self.lines.append("")
        told = [f"{name}={value}" if value else name for name, value in attrs if name in TOLD]
        told += [f".{name}" for key, value in attrs if key == "class" for name in (value or "").split()]
        if told or tag in ("td", "th", "li"):
            self.add(f"<{' '.join((tag, *told))}> ")

    def handle_endtag(self, tag: str) -> None:
        if tag in UNREAD:
            self.unread -= 1

    def handle_data(self, data: str) -> None:
        self.add(data)

    def add(self, text: str) -> None:
        if not self.unread:
            self.lines[-1] += _DATA.sub(r"data:\1", text)


def page_lines(page: str) -> list[str]:
    """A page's lines without those that are empty; cells of a table's row stand on lines of their own."""
    reader = _Lines()
    reader.feed(page)
    reader.close()
    return [line for line in (" ".join(line.split()) for line in reader.lines) if line]
