"""The token that a site for its own machine asks for: other users and programs of the machine are not its owner.

`billboards serve` prints a link with it. Whoever opens that link, or gives the token at the log-in, has a cookie from
then on and is the owner called `local`; a program sends it as a bearer token. Nothing else is answered without it but
what has a secret of its own: annotators' links. As soon as there is an account beside the owner's own, log-in is
switched on: then everybody may read what is public, as on any site, and the token stays the owner's.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import tempfile
from collections.abc import MutableMapping
from contextlib import suppress
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from billboards.errors import BillboardsError
from billboards.site.accounts.access import login_expected
from billboards.site.site import Site
from billboards.site.web.faults import answer, answer_error
from billboards.site.web.security import SAFE, App, Receive, Send

#: The word of an address that holds the token, and what its file is called in the data folder.
WORD, FILE = "token", "start.token"
#: Characters that a token has at least; one with fewer was written by a process that broke.
SHORTEST = 16
#: What is answered without it: the log-in, what its page needs, and what has a secret of its own.
OPEN = ("/login", "/static/", "/annotate/", "/api/v1/annotate/", "/enter/", "/join/", "/unsubscribe/")
REFUSED = "This site wants the token that it printed when it was started: open that link, or send it as a bearer token."


def read_start_token(site: Site) -> str:
    """The token of a data folder, made on first use; delete its file to have another one."""
    path = site.data / FILE
    if path.exists():
        text = path.read_text("utf-8").strip()
        if len(text) >= SHORTEST:
            return text
        # A full disk or a kill left less than a token, which anybody could guess.
        path.unlink(missing_ok=True)
    handle, beside = tempfile.mkstemp(prefix=f".{FILE}-", dir=site.data)
    try:
        with os.fdopen(handle, "w") as file:
            file.write(secrets.token_urlsafe(24))
            file.flush()
            os.fsync(file.fileno())
        # Whole from its first moment on, and the first one stays: processes that start together have the same.
        with suppress(FileExistsError):
            os.link(beside, path)
    finally:
        os.unlink(beside)  # noqa: PTH108 - as it was made
    return path.read_text("utf-8").strip()


def cookie_name(token: str) -> str:
    """The cookie of one site: browsers share cookies between all ports of a machine."""
    return f"billboards-start-{hashlib.sha256(token.encode()).hexdigest()[:12]}"


def holds_start_token(site: Site, headers: Headers) -> bool:
    """Whether a request shows the token that the site was started with."""
    if site.start_token is None:
        return False
    scheme, _, bearer = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and _is(site.start_token, bearer.strip()):
        return True
    try:
        cookies = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return False
    cookie = cookies.get(cookie_name(site.start_token))
    return cookie is not None and _is(site.start_token, cookie.value)


def is_start_token(site: Site, text: str) -> bool:
    """Whether a text is the token that the site was started with."""
    return site.start_token is not None and _is(site.start_token, text)


def set_start_cookie(site: Site, response: Response) -> None:
    """Let a browser show the token from now on."""
    assert site.start_token is not None
    seconds = int(site.settings.session_seconds)
    name = cookie_name(site.start_token)
    response.set_cookie(name, site.start_token, max_age=seconds, httponly=True, samesite="lax")


def _is(token: str, text: str) -> bool:
    return secrets.compare_digest(token.encode(), text.encode("utf-8", "surrogatepass"))


class StartToken:
    """Asks for the token on a site that has one, as long as nobody could log in."""

    def __init__(self, app: App, site: Site) -> None:
        self.app, self.site = app, site

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        refusal = None if scope["type"] != "http" else await self._refusal_or_fault(scope)
        await (self.app if refusal is None else refusal)(scope, receive, send)

    async def _refusal_or_fault(self, scope: MutableMapping[str, Any]) -> Response | None:
        """What is answered instead; the application turns its own errors into answers, but this stands before it."""
        try:
            return await self._refusal(scope)
        except BillboardsError as error:
            return await answer_error(Request(scope), error)

    async def _refusal(self, scope: MutableMapping[str, Any]) -> Response | None:
        pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if scope["method"] in SAFE and any(word == WORD and is_start_token(self.site, text) for word, text in pairs):
            rest = urlencode([(word, text) for word, text in pairs if word != WORD])
            # As it came, but for several slashes at its beginning, which would lead to another host.
            place = "/" + quote(scope["path"].lstrip("/\\"))
            response = RedirectResponse(f"{place}?{rest}" if rest else place, 303)
            set_start_cookie(self.site, response)
            return response
        if await self._is_let_in(scope):
            return None
        request = Request(scope)
        if scope["method"] in SAFE and "text/html" in request.headers.get("accept", ""):
            return RedirectResponse(f"/login?{urlencode({'next': scope['path']})}", 303)
        if scope["path"].startswith("/api/"):
            return answer(request, 401, REFUSED, [])
        return PlainTextResponse(REFUSED + "\n", 401)

    async def _is_let_in(self, scope: MutableMapping[str, Any]) -> bool:
        if self.site.login_required or scope["path"].startswith(OPEN):
            return True
        # In a thread: while the database is away or slow, nobody else has to wait for this answer.
        if await run_in_threadpool(login_expected, self.site):
            # Somebody was let in while the site ran: from now on it asks as it would after a new start.
            self.site.login_required = True
            return True
        return holds_start_token(self.site, Headers(scope=scope))
