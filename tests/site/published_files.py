"""A published folder as a reader's browser goes through it: every link followed as a file."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Links(HTMLParser):
    """The addresses of a page and the places in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.places.add(values.get("id", ""))
        self.links += [values[name] for name in ("href", "src", "action") if name in values and tag != "meta"]
        self.links += [values["srcset"].split()[0]] if "srcset" in values else []


def broken_links(folder: Path) -> Iterator[str]:
    """What in the pages of a folder leads nowhere, or to a server."""
    pages = {path: _Links(path.read_text("utf-8")) for path in sorted(folder.rglob("*.html"))}
    for path, page in pages.items():
        for link in page.links:
            split = urlsplit(link)
            if split.scheme in ("https", "http", "data", "mailto"):
                continue
            target = (path.parent / unquote(split.path)).resolve() if split.path else path
            where = f"{path.relative_to(folder)}: {link}"
            if link.startswith("/") or not target.is_file() or folder.resolve() not in target.parents:
                yield where
            elif split.fragment and target in pages and split.fragment not in pages[target].places:
                yield f"{where} (no such place)"


def count_links(folder: Path) -> int:
    """How many links the pages of a folder have, all together."""
    return sum(len(_Links(path.read_text("utf-8")).links) for path in folder.rglob("*.html"))
