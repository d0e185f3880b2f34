"""Owners' texts as markup: Markdown in which nothing can be more than text, a list, a table or a link.

Markup of HTML is shown as it was written, links lead to web and mail addresses only, and pictures become links: a page
loads nothing from elsewhere. Headings begin below those of the page.
"""

from __future__ import annotations

import re
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from billboards.site.settings import AboutSettings

#: How much lower than in the text a heading stands on a page, and the lowest there is.
BELOW, LOWEST = 2, 6
SCHEMES = ("https://", "http://", "mailto:")


def prose(text: str) -> Markup:
    """A text with Markdown as markup that is safe to show."""
    reader = _reader()
    tokens = reader.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1:]) + BELOW, LOWEST)}"
        for inner in token.children or ():
            _make_harmless(inner)
    return Markup(reader.renderer.render(tokens, reader.options, {}))


def contact_prose(text: str) -> Markup:
    """Whom to ask, as prose in which bare addresses are links, of mail and of the web."""
    return prose(_ADDRESS.sub(r"<\g<0>>", text))


#: An address that stands alone, not in a link that was written as one.
_ADDRESS = re.compile(r"(?<![\w<(\[\".@/:+-])(?:https?://[^\s<>()\[\]]+[\w/]|[\w.+-]+@[\w-]+(?:\.[\w-]+)+)(?![\w>@\]])")


def described(about: AboutSettings) -> Markup | None:
    """The first paragraph of what a board's owner tells about it, if anything."""
    first = (about.description or "").replace("\r\n", "\n").strip().partition("\n\n")[0]
    return prose(first) if first else None


def _make_harmless(token: Token) -> None:
    if token.type != "link_open":
        return
    if not str(token.attrs.get("href", "")).startswith((*SCHEMES, "/", "#")):
        del token.attrs["href"]
    token.attrs["rel"] = "nofollow noopener"


@cache
def _reader() -> MarkdownIt:
    return MarkdownIt("js-default", {"html": False, "linkify": False, "typographer": False}).disable("image")
