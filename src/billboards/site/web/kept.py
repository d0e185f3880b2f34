"""The shortest way to a page that is kept: from the request's path to bytes, past routing and templates.

Most requests are visitors' for a page that somebody has asked for before. They carry no cookie and no token, so who
asks is known, and what they get is what the page's own endpoint has kept for them under the same key. Whatever is not
that simple goes on to the endpoint.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from billboards.errors import StoreFailed
from billboards.site.web.asking import FRESH, Pages
from billboards.site.web.rendering import Body
from billboards.site.web.security import App, Receive, Send

#: Headers that tell who asks; with one of these it takes a look at the accounts.
_CREDENTIALS = frozenset({b"cookie", b"authorization"})


class Kept:
    """Answers with kept bodies, and hands on what it has none for."""

    def __init__(self, app: App, pages: Pages) -> None:
        self.app, self.pages = app, pages

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"]) if scope["type"] == "http" and scope["method"] == "GET" else None
        body = None if headers is None or not _CREDENTIALS.isdisjoint(headers) else self._find(scope)
        if headers is None or body is None:
            await self.app(scope, receive, send)
            return
        scope["route_path"] = "kept"
        if body.etag.encode() in headers.get(b"if-none-match", b""):
            await send({"type": "http.response.start", "status": 304, "headers": body.raw_headers(FRESH, "none")})
            await send({"type": "http.response.body", "body": b""})
            return
        squeezed = body.squeezed if b"gzip" in headers.get(b"accept-encoding", b"") else None
        head = body.raw_headers(FRESH, "plain" if squeezed is None else "gzip")
        await send({"type": "http.response.start", "status": 200, "headers": head})
        await send({"type": "http.response.body", "body": body.content if squeezed is None else squeezed})

    def _find(self, scope: MutableMapping[str, Any]) -> Body | None:
        path: str = scope["path"]
        board = path.split("/", 3)[2] if path.startswith("/boards/") else None
        try:
            return self.pages.kept(path, scope["query_string"].decode("latin-1"), self.pages.nobody(), "", board)
        except StoreFailed:
            return None
