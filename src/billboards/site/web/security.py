"""What every answer says to a browser, and what a browser must say before anything is changed.

The content policy allows the site's own scripts, pictures, font and stylesheets and nothing else, so that a text that
slipped through as markup would still do nothing. A request that changes something must come from a page of this site:
browsers say where a form was sent from, and one that was sent from elsewhere is refused whatever cookies it carries.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from functools import cache
from typing import Any
from urllib.parse import SplitResult, urlsplit

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse

from billboards.site.web.rendering import stylesheet_hashes

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

#: Headers that a proxy adds.
PROXIED = ("x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "forwarded", "x-real-ip", "via")
_PROXIED = frozenset(name.encode() for name in PROXIED)
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


@cache
def content_policy(*styles_beside: str) -> str:
    """What a page may load: this site's own files, the stylesheets that stand inside it, and others by their hashes."""
    styles = " ".join(f"'{name}'" for name in (*stylesheet_hashes(), *styles_beside))
    return (
        f"default-src 'none'; script-src 'self'; style-src {styles}; img-src 'self' data:; "
        "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )


@cache
def embedding_policy() -> str:
    """The policy of the one page that other sites may frame; it loads no scripts and sends no forms."""
    policy = content_policy().replace("frame-ancestors 'none'", "frame-ancestors *")
    return policy.replace("script-src 'self'", "script-src 'none'").replace("form-action 'self'", "form-action 'none'")


@cache
def _headers() -> list[tuple[bytes, bytes]]:
    stated = {
        "content-security-policy": content_policy(),
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
        "permissions-policy": "camera=(), microphone=(), geolocation=()",
    }
    return [(name.encode(), value.encode()) for name, value in stated.items()]


class Guard:
    """Adds the headers to every answer, and refuses changes that another site's page asks for.

    A `local` site, where everybody is the owner, answers only to this machine's own names: a page elsewhere can make
    its own name lead here, and would then be taken for a page of this site. What a proxy sends on is refused too: it
    comes from this machine, and may be anybody's.
    """

    def __init__(self, app: App, *, local: bool = False) -> None:
        self.app, self.local = app, local

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                names = {name for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *(h for h in _headers() if h[0] not in names)]
            await send(message)

        if self.local and not names_this_machine(Headers(scope=scope).get("host", "")):
            words = "This site is for its own machine; open it as http://127.0.0.1 with its port.\n"
            await PlainTextResponse(words, 421)(scope, receive, send_guarded)
            return
        # As they came: servers write names of headers in small letters.
        if self.local and not _PROXIED.isdisjoint(name for name, _ in scope["headers"]):
            words = "This site is for its own machine, and was asked through a proxy; serve it with accounts instead.\n"
            await PlainTextResponse(words, 421)(scope, receive, send_guarded)
            return
        if scope["method"] not in SAFE and not sent_from_here(Headers(scope=scope)):
            refusal = PlainTextResponse("This form was sent from another site; open it here and send it again.\n", 403)
            await refusal(scope, receive, send_guarded)
            return
        await self.app(scope, receive, send_guarded)


def sent_from_here(headers: Headers) -> bool:
    """Whether a change was asked for by a page of this site, or by a program, which has no cookies to be abused."""
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None and site not in ("same-origin", "none"):
        return False
    return origin is None or _parts(origin).netloc == headers.get("host", "")


def names_this_machine(host: str) -> bool:
    """Whether a Host header is a name that only this machine has."""
    return _parts(f"//{host}").hostname in ("localhost", "127.0.0.1", "::1")


def _parts(address: str) -> SplitResult:
    """An address taken apart; one that can't be (`http://[`) is nobody's."""
    try:
        return urlsplit(address)
    except ValueError:
        return urlsplit("//nobody.invalid")
