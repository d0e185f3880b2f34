"""From a request to a page: who asks, what for, and the body that answers, kept where it can be.

A page is a plain function from `Ask` to `Body`; it runs in a thread, because it may compute. What it shows depends on
the address, the viewer and how often the board has changed, so its body is kept under these three. Asking for a kept
body costs one look at the generation, through a prepared statement on a connection that stays open (`web.prepared`). So
many pages are computed at the same time, and the next ones wait.

Most requests are for a page that the same viewer has asked for before. Who asks is known at once where there is no
cookie and no token, and for a session after one look, so `Kept` answers past routing and templates with what the
page's own endpoint has kept for them under the same key. Whatever is not that simple goes on to the endpoint.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Collection, Hashable, Mapping, MutableMapping
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from typing import Any
from urllib.parse import quote

from anyio import CapacityLimiter, to_thread
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import QueryParams
from starlette.requests import Request, cookie_parser
from starlette.responses import RedirectResponse, Response

from billboards.errors import NotAllowed, StoreFailed
from billboards.show.words import listed
from billboards.site.accounts.access import (
    AUDIENCES,
    VISITOR,
    Viewer,
    local_viewer,
    may,
    named_viewer,
    nobody,
    seen_as,
    session_of,
    viewer_of_token,
)
from billboards.site.boards.live import live_board
from billboards.site.boards.masked import Look
from billboards.site.boards.suites import suite_files
from billboards.site.organise.dress import dress_of
from billboards.site.organise.prose import described
from billboards.site.pages.citations import preview_words
from billboards.site.pages.matching_view import Matcher
from billboards.site.settings import said_moment
from billboards.site.site import Site
from billboards.site.web import addresses
from billboards.site.web.prepared import Prepared
from billboards.site.web.rendering import Bodies, Body, render, respond
from billboards.site.web.security import App, Receive, Send

SESSION = "billboards"
#: A browser may show its copy while it asks whether there is a newer one, and never shares it between accounts.
FRESH = "private, no-cache"
FOR_EVER = "public, max-age=31536000, immutable"
Endpoint = Callable[[Request], Awaitable[Response]]
TABS = (
    ("", "Generators"),
    ("metrics", "Metrics"),
    ("instances", "Instances"),
    ("compare", "Compare"),
    ("analyses", "Analyses"),
    ("ensembles", "Ensembles"),
    ("rankings", "History"),
    ("submissions", "Submissions"),
    ("downloads", "Downloads"),
    ("submit", "Submit"),
)
#: What a link to a page of no board is described as.
DESCRIPTION = "Leaderboards that rank text generators and the metrics that judge them, hand in hand."
#: For who runs campaigns or annotates in them.
CAMPAIGNS = ("campaigns", "Campaigns")
#: Where the owner tells something of the board, and for who owns it.
ABOUT, ORGANISE = ("about", "About"), ("organise", "Organise")


@dataclass
class Pages:
    """What the pages of one process share."""

    site: Site
    bodies: Bodies = field(default_factory=Bodies)
    #: Looks and rankings of parts, which pages share; each is valid for one generation of one audience.
    looks: dict[tuple[str, str], tuple[int, Look]] = field(default_factory=dict)
    matcher: Matcher = field(default_factory=Matcher)
    _local: Viewer | None = None
    _owner_here: Viewer | None = None
    _lock: Lock = field(default_factory=Lock)
    _making: dict[Hashable, asyncio.Task[Body]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.prepared = Prepared(self.site.database)
        # Pages that compute have threads of their own, so that many readers keep no submission or answer waiting.
        self.computing = CapacityLimiter(self.site.settings.pages_at_once)
        # So have analyses: anybody may ask for many that nobody has asked for, and other pages don't wait for them.
        self.analysing = CapacityLimiter(max(1, self.site.settings.pages_at_once // 2))

    def nobody(self) -> Viewer:
        """Who comes without a session; asked for once, because neither a visitor nor the local owner ever changes."""
        if self._local is None:
            self._local = nobody(self.site)
        return self._local

    def owner_here(self) -> Viewer:
        """The owner of a site for its own machine, who shows the token that it was started with."""
        if self._owner_here is None:
            self._owner_here = local_viewer(self.site)
        return self._owner_here

    def look(self, board: str, viewer: Viewer) -> Look:
        """The board as a viewer may see it."""
        live = live_board(self.site, board, audience=viewer.audience)
        key = (board, viewer.audience)
        with self._lock:
            kept = self.looks.get(key)
            if kept is None or kept[0] != live.generation:
                kept = self.looks[key] = (live.generation, Look(live))
            return kept[1]

    def key(self, path: str, query: str, viewer: Viewer, csrf: str, board: str | None) -> Hashable:
        """Everything that a body depends on; a page of no board depends on all of them."""
        who = viewer.audience, viewer.name, viewer.role, viewer.scope, viewer.seen_as, csrf
        return path, query, who, self.generation(board)

    def kept(self, path: str, query: str, viewer: Viewer, csrf: str, board: str | None) -> Body | None:
        """The body that was kept for this viewer, if nothing has changed since."""
        return self.bodies.get(self.key(path, query, viewer, csrf, board))

    async def made_once(self, key: Hashable, make: Callable[[], Awaitable[Body]]) -> Body:
        """A body to keep. When a board has changed many ask for it at once: it is made once, and all wait for it."""
        making = self._making.get(key)
        if making is None:
            making = self._making[key] = asyncio.ensure_future(self._make(key, make))
        # One who goes away meanwhile must not take it from the others.
        return await asyncio.shield(making)

    async def _make(self, key: Hashable, make: Callable[[], Awaitable[Body]]) -> Body:
        try:
            body = await make()
            if body.status == 200 and body.is_kept:
                self.bodies.keep(key, body)
            return body
        finally:
            del self._making[key]

    def generation(self, board: str | None) -> int | None:
        """How often a board, or any board, has changed."""
        return self.prepared.generations() if board is None else self.prepared.generation(board)


@dataclass(frozen=True, kw_only=True)
class Ask:
    """A request for a page."""

    pages: Pages
    viewer: Viewer
    csrf: str
    path: str
    query: QueryParams
    params: Mapping[str, str]

    @property
    def site(self) -> Site:
        return self.pages.site

    @property
    def board_name(self) -> str:
        return self.params["board"]

    def look(self) -> Look:
        """The board that the address names."""
        return self.pages.look(self.board_name, self.viewer)

    def page(self, template: str, *, status: int = 200, **context: Any) -> Body:
        """A page of the site as a whole."""
        return Body(render(template, {**self.common(), **context}), status=status)

    def board_page(self, template: str, look: Look, active: str, *, heading: str | None = None, **context: Any) -> Body:
        """A page of a board, under its title and tabs."""
        tabs = [*TABS, CAMPAIGNS] if may(self.viewer, "annotate") else [*TABS]
        tabs += [ABOUT] if look.live.settings.about.has_page else []
        tabs += [ORGANISE] if may(self.viewer, "administer") else []
        if self.site.published is not None:
            tabs = [(tab, words) for tab, words in tabs if tab not in ("submissions", "organise")]
        dressed = dress_of(look)
        about: dict[str, Any] = {"name": look.name, "title": look.title, "tabs": tabs}
        about |= {"notices": notices(look, self.viewer), "logo": dressed.logo, "style": dressed.style}
        about["description"] = None if active else described(look.live.settings.about)
        preview = {
            "description": preview_words(self.pages.look(look.name, VISITOR)),
            "image": addresses.board(look.name, "preview.png"),
        }
        heading = heading or look.title
        body = self.page(template, board=about, active=active, heading=heading, link_preview=preview, **context)
        return replace(body, headers=(*body.headers, *dressed.headers))

    def common(self) -> dict[str, Any]:
        """What every page knows."""
        return {
            "viewer": self.viewer,
            "csrf": self.csrf,
            "login_required": self.site.login_required,
            "may_submit": may(self.viewer, "submit"),
            "site_title": self.site.settings.title,
            "sign_up": self.site.settings.sign_up,
            "has_suites": bool(suite_files(self.site)),
            "base_url": self.site.settings.base_url.rstrip("/"),
            "path": quote(self.path),
            "link_preview": {"description": DESCRIPTION, "image": None},
            "published": self.site.published is not None,
            "seen_as": AUDIENCES.get(self.viewer.seen_as or ""),
        }


Show = Callable[[Ask], Body]


#: The words of an address that a page reads, or what tells them from the rest of the address.
Words = Collection[str] | Callable[[Mapping[str, str]], Collection[str]]


class AskedWords(QueryParams):
    """What an address asks for, in the words that its page reads; all others are as if they were not there.

    So an address with a word that means nothing is the same page, which is kept once.
    """

    def __init__(self, query: QueryParams, words: Collection[str]) -> None:
        super().__init__([(word, value) for word in words for value in query.getlist(word)])
        self.words = frozenset(words)

    def get(self, key: Any, default: Any = None) -> Any:
        assert key in self.words, f"the page reads {key!r}, which its route does not name"
        return super().get(key, default)

    def getlist(self, key: Any) -> list[str]:
        assert key in self.words, f"the page reads {key!r}, which its route does not name"
        return super().getlist(key)


def reading(show: Show, *, kept: bool = True, words: Words = (), analyses: bool = False) -> Endpoint:
    """An endpoint for a page that only shows; its body is kept until a board changes, if boards are all it shows.

    `words` are those of the address that a kept page reads; pages of `analyses` wait for one another alone.
    """

    async def endpoint(request: Request) -> Response:
        pages: Pages = request.app.state.pages
        viewer, csrf = request.state.asker = viewer_of(request, pages)
        board = request.path_params.get("board")
        # As they came: put together as an address and taken apart again, a name with # or ? in it would lose its end.
        path, query = request.scope["path"], request.query_params
        if kept:
            query = AskedWords(query, words(request.path_params) if callable(words) else words)
        key = pages.key(path, str(query), viewer, csrf, board)
        body = pages.bodies.get(key) if kept else None
        if body is None:
            ask = Ask(pages=pages, viewer=viewer, csrf=csrf, path=path, query=query, params=request.path_params)
            limiter = pages.analysing if analyses else pages.computing
            make = partial(to_thread.run_sync, show, ask, limiter=limiter)
            body = await (pages.made_once(key, make) if kept else make())
        headers = request.headers
        return respond(
            body, accepts=headers.get("accept-encoding", ""), etags=headers.get("if-none-match", ""), fresh=FRESH
        )

    return endpoint


def changing(
    act: Callable[[Ask, Mapping[str, Any]], Body | str], *, files: int = 4, fields: int = 60, many: Collection[str] = ()
) -> Endpoint:
    """An endpoint for a form: it does what was asked and leads on, or shows the form again with what is wrong.

    So many files and fields are taken; of the names in `many` there may be several, which come as a list.
    """

    async def endpoint(request: Request) -> Response:
        pages: Pages = request.app.state.pages
        viewer, csrf = request.state.asker = viewer_of(request, pages)
        most = pages.site.settings.generator_bytes
        async with request.form(max_files=files, max_fields=fields, max_part_size=most) as form:
            sent: dict[str, Any] = {name: [] for name in many}
            for key, value in form.multi_items():
                part = value if isinstance(value, str) else Upload(value.filename or "", await value.read())
                if key in many:
                    sent[key].append(part)
                else:
                    sent[key] = part
        check_csrf(csrf, str(sent.get("csrf", "")))
        ask = Ask(
            pages=pages,
            viewer=viewer,
            csrf=csrf,
            path=request.scope["path"],
            query=request.query_params,
            params=request.path_params,
        )
        result = await run_in_threadpool(act, ask, sent)
        if isinstance(result, str):
            return RedirectResponse(result, 303)
        return respond(result, accepts=request.headers.get("accept-encoding", ""), etags="", fresh="no-store")

    return endpoint


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that came with a form."""

    name: str
    content: bytes


#: The cookie by which an owner looks at the site as somebody else, and where it does not count.
SEEN_AS = "billboards-as"
OWN_PLACES = ("/account", "/login", "/logout", "/see-as", "/oidc")


def viewer_of(request: Request, pages: Pages) -> tuple[Viewer, str]:
    """Who asks, and the text that their forms send along; an owner may be asking as somebody else, who only reads."""
    viewer, csrf = own_viewer_of(request, pages)
    wanted = request.cookies.get(SEEN_AS)
    if wanted is None or request.scope["path"].startswith(OWN_PLACES):
        return viewer, csrf
    seen = seen_as(viewer, wanted)
    if seen.seen_as is not None and request.method not in ("GET", "HEAD"):
        request.state.asker = seen, csrf
        raise NotAllowed(f"you look at this site as {AUDIENCES[wanted]}; go back to your own view to change something")
    return seen, csrf


def own_viewer_of(request: Request, pages: Pages) -> tuple[Viewer, str]:
    """Who asks, and the text that this viewer's forms send along (empty where there is no session to abuse)."""
    cookie = request.cookies.get(SESSION)
    if cookie:
        session = session_of(pages.site, cookie)
        if session is not None:
            return Viewer(session.account, session.scope), session.csrf
    if _is_owner_here(request, pages):
        return pages.owner_here(), ""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return viewer_of_token(pages.site, token.strip()) or VISITOR, ""
    return pages.nobody(), ""


def _is_owner_here(request: Request, pages: Pages) -> bool:
    from billboards.site.web.start_token import holds_start_token

    return holds_start_token(pages.site, request.headers)


def check_csrf(expected: str, sent: str) -> None:
    """Refuse a form that was not written by this site for this session."""
    if expected and not secrets.compare_digest(expected, sent):
        raise NotAllowed("this form is out of date; open the page again and send it from there")


#: What is said of numbers where judgments are hidden.
HIDDEN_NUMBERS = "Numbers that rest on hidden judgments are rounded to the digits that their intervals support."
LADDER = (
    " A metric's agreement is told only where it beats its team's best by more than noise; else the best is told again."
)


def notices(look: Look, viewer: Viewer) -> list[str]:
    """What a reader must know about a board before reading on."""
    settings = look.live.settings
    lines = []
    if look.live.is_copy:
        owner = viewer.audience == "owners"
        more = " `billboards check` on its folder lists the mistakes." if owner else " Its owners have been told."
        lines.append(f"The files of this board can't be read now; you see it as it was before.{more}")
    if look.board.is_draft:
        lines.append(f"This board is a draft: its data card lacks {', '.join(look.board.missing_facts)}.")
    if settings.frozen is not None:
        lines.append(f"This board is frozen since {said_moment(settings.frozen)}: its ranking no longer changes.")
    blind = [phase.name for phase in settings.phases if settings.hides(phase.name)]
    if blind:
        whose = "; you see them because you own this site" if viewer.audience == "owners" else ""
        lines.append(f"Results of phase {', '.join(blind)} stay hidden until the organisers reveal them{whose}.")
    hidden = [word for word, is_so in _hidden(look) if is_so]
    if hidden:
        whose = " for everybody else" if viewer.audience == "owners" else ""
        opens = settings.inputs_open if look.live.inputs_hidden else None
        until = "" if opens is None else f" Inputs can be read from {said_moment(opens)} on."
        lines.append(f"The {listed(hidden)} of this board are hidden{whose}.{until}")
    if look.live.judgments_rest_hidden:
        lines.append(HIDDEN_NUMBERS + (LADDER if settings.ladder else ""))
    if look.withheld:
        lines.append(look.withheld_words)
    for spec, why in look.live.unavailable.items():
        lines.append(f"Metric {spec} can't run here: {why}")
    return lines


def _hidden(look: Look) -> list[tuple[str, bool]]:
    settings = look.live.settings
    return [
        ("inputs", look.live.inputs_hidden),
        ("references", settings.hidden_references),
        ("judgments", settings.hidden_judgments),
    ]


class Kept:
    """Answers with kept bodies, and hands on what it has none for."""

    def __init__(self, app: App, pages: Pages) -> None:
        self.app, self.pages = app, pages

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"]) if scope["type"] == "http" and scope["method"] == "GET" else None
        body = None if headers is None else self._find(scope, headers)
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

    def _find(self, scope: MutableMapping[str, Any], headers: Mapping[bytes, bytes]) -> Body | None:
        path: str = scope["path"]
        board = path.split("/", 3)[2] if path.startswith("/boards/") else None
        try:
            asker = self._asker(scope, headers)
            if asker is None:
                return None
            return self.pages.kept(path, scope["query_string"].decode("latin-1"), *asker, board)
        except StoreFailed:
            return None

    def _asker(self, scope: MutableMapping[str, Any], headers: Collection[bytes]) -> tuple[Viewer, str] | None:
        """Who asks and what their forms send along, as `viewer_of` says; None where that takes more than one look."""
        if b"authorization" in headers:
            return None
        if b"cookie" not in headers:
            return self.pages.nobody(), ""
        cookies = cookie_parser(
            ";".join(text.decode("latin-1") for name, text in scope["headers"] if name == b"cookie")
        )
        if SEEN_AS in cookies or self.pages.site.start_token is not None:
            return None
        if not cookies.get(SESSION):
            return self.pages.nobody(), ""
        now = self.pages.site.clock()
        session = self.pages.prepared.session(cookies[SESSION], now)
        if session is None or not session.is_noted(now):
            return None
        return named_viewer(session.account, session.role, session.scope or "everything"), session.csrf
