"""How a board looks by its owner's wish: a logo and an accent colour, each checked before it is kept.

A logo is a PNG, JPEG or WebP picture by its first bytes; SVG is refused, because it can hold programs. The colour
stands in the page as a stylesheet of its own, which the page's content policy allows by its hash and no other.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass

from markupsafe import Markup
from sqlalchemy import Connection, delete, insert, select

from billboards.errors import InvalidInput
from billboards.site.accounts.access import Viewer, require
from billboards.site.boards import registry
from billboards.site.boards.masked import Look
from billboards.site.colours import lightened, on_accent, wash
from billboards.site.database import trail
from billboards.site.database.schema import board_logos
from billboards.site.settings import AboutSettings
from billboards.site.site import Site
from billboards.site.web import addresses
from billboards.site.web.security import content_policy

#: Bytes of a logo.
LARGEST = 512 * 1024


@dataclass(frozen=True, kw_only=True)
class Dress:
    """What a board's pages have of their own: the logo's address, a stylesheet, and the headers that allow it."""

    logo: str | None = None
    style: Markup | None = None
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Logo:
    """A board's picture."""

    media_type: str
    digest: str
    content: bytes


def dress_of(look: Look) -> Dress:
    """What a board's pages have of their own."""
    with look.live.site.database.reading() as connection:
        digest = connection.execute(select(board_logos.c.digest).where(board_logos.c.board == look.name)).scalar()
    logo = None if digest is None else addresses.board(look.name, "logo", v=digest[:12])
    style = style_of(look.live.settings.about)
    if style is None:
        return Dress(logo=logo)
    allowed = f"sha256-{base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()}"
    return Dress(logo=logo, style=Markup(style), headers=(("content-security-policy", content_policy(allowed)),))


def style_of(about: AboutSettings) -> str | None:
    """The accent colour of both themes as a stylesheet; colours were checked, so nothing else can stand there."""
    light = about.accent
    dark = about.accent_dark or (None if light is None else lightened(light))
    if light is None or dark is None:
        return None
    pairs = {
        "accent": (light, dark),
        "on-accent": (on_accent(light), on_accent(dark)),
        "wash": (wash(light, dark=False), wash(dark, dark=True)),
    }
    return ":root{" + "".join(f"--{name}:light-dark({a},{b});" for name, (a, b) in pairs.items()) + "}"


def media_type_of(content: bytes) -> str:
    """What kind of picture this is; refused where it is none that can't hold a program."""
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if content.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    raise InvalidInput("the logo must be a PNG, JPEG or WebP picture; save it as one of these (SVG can hold programs)")


def set_logo(site: Site, viewer: Viewer, board: str, content: bytes | None) -> None:
    """An owner gives a board a logo, or takes it away."""
    require(viewer, "administer")
    if content is not None and len(content) > LARGEST:
        raise InvalidInput(f"the logo has {len(content):,} bytes; at most {LARGEST:,} are taken")
    kind, now = None if content is None else media_type_of(content), site.clock()
    digest = None if content is None else hashlib.sha256(content).hexdigest()
    with site.database.writing() as connection:
        registry.board(connection, board)
        connection.execute(delete(board_logos).where(board_logos.c.board == board))
        if content is not None:
            values = {"board": board, "media_type": kind, "digest": digest, "content": content, "changed": now}
            connection.execute(insert(board_logos).values(**values))
        detail = {"kind": kind, "digest": digest}
        trail.note(connection, viewer.name, "board.logo", board, now=now, board=board, detail=detail)
        trail.raise_generation(connection, board, now=now)


def logo_of(connection: Connection, board: str) -> Logo | None:
    """A board's logo, if it has one."""
    query = select(board_logos.c.media_type, board_logos.c.digest, board_logos.c.content)
    row = connection.execute(query.where(board_logos.c.board == board)).mappings().one_or_none()
    return None if row is None else Logo(**row)
