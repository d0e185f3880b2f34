"""Logging in with a token or elsewhere, and logging out."""

from __future__ import annotations

import json
from typing import Any

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from billboards.errors import NotAllowed, UnknownName
from billboards.site.accounts import oidc
from billboards.site.accounts.access import account_of_oidc, begin_session, log_in, log_out
from billboards.site.accounts.records import Account
from billboards.site.accounts.sign_up import inside
from billboards.site.settings import OidcSettings
from billboards.site.site import Site
from billboards.site.web.asking import SESSION, Ask, check_csrf, reading, viewer_of
from billboards.site.web.rendering import Body, respond
from billboards.site.web.start_token import is_start_token, set_start_cookie

router = APIRouter()

BEGUN = "billboards-oidc"
BEGUN_SECONDS = 600


def show_login(ask: Ask) -> Body:
    """The form for a token, and the way to log in elsewhere where there is one."""
    return _form(ask)


def _form(ask: Ask, *, problem: str | None = None, status: int = 200) -> Body:
    settings = ask.site.settings
    return ask.page(
        "login",
        status=status,
        problem=problem,
        next=inside(ask.query.get("next")),
        is_local=ask.site.start_token is not None,
        providers=[provider.name for provider in settings.oidc],
        sends_links=settings.sends_links,
        sign_up=settings.sign_up,
    )


async def take_token(request: Request) -> Response:
    """Log a browser in with a token; the session is new, whatever cookie it brought."""
    pages = request.app.state.pages
    viewer, csrf = request.state.asker = viewer_of(request, pages)
    form = await request.form(max_files=0, max_fields=5, max_part_size=10_000)
    text = str(form.get("token", "")).strip()
    if is_start_token(pages.site, text):
        response = RedirectResponse(inside(str(form.get("next", ""))), 303)
        set_start_cookie(pages.site, response)
        return response
    session = await run_in_threadpool(log_in, pages.site, text, request.headers.get("user-agent"))
    if session is None:
        ask = Ask(
            pages=pages,
            viewer=viewer,
            csrf=csrf,
            path=request.url.path,
            query=request.query_params,
            params=request.path_params,
        )
        body = _form(ask, problem="This token is unknown or revoked; ask the site's owner for another.", status=403)
        return respond(body, accepts=request.headers.get("accept-encoding", ""), etags="", fresh="no-store")
    await end_earlier(request)
    return logged_in(request, session[0], inside(str(form.get("next", ""))))


async def leave(request: Request) -> Response:
    """End the session and go to the first page."""
    pages = request.app.state.pages
    _, csrf = request.state.asker = viewer_of(request, pages)
    form = await request.form(max_files=0, max_fields=5, max_part_size=10_000)
    check_csrf(csrf, str(form.get("csrf", "")))
    await run_in_threadpool(log_out, pages.site, request.cookies.get(SESSION, ""))
    response = RedirectResponse("/", 303)
    response.delete_cookie(SESSION)
    return response


async def begin_elsewhere(request: Request) -> Response:
    """Send the browser to who vouches for people."""
    settings = _provider(request, request.query_params.get("provider"))
    began = await run_in_threadpool(oidc.begin, settings, _redirect(request))
    kept = {"state": began.state, "nonce": began.nonce, "verifier": began.verifier}
    kept["provider"] = settings.name
    kept["next"] = inside(request.query_params.get("next"))
    response = RedirectResponse(began.address, 303)
    _set_cookie(request, response, BEGUN, json.dumps(kept), BEGUN_SECONDS)
    return response


async def finish_elsewhere(request: Request) -> Response:
    """Take the browser back, and log it in as who it is."""
    site, kept = _site(request), _kept(request)
    settings = _provider(request, kept.get("provider"))
    began = oidc.Began("", kept["state"], kept["nonce"], kept["verifier"])
    identity = await run_in_threadpool(oidc.finish, settings, _redirect(request), began, str(request.url))

    def enter() -> str:
        account: Account = account_of_oidc(site, identity.subject, identity.name, identity.email, settings.role)
        return begin_session(site, account, agent=request.headers.get("user-agent"))[0]

    await end_earlier(request)
    response = logged_in(request, await run_in_threadpool(enter), inside(kept.get("next")))
    response.delete_cookie(BEGUN)
    return response


async def end_earlier(request: Request) -> None:
    """End the session that this browser had: whoever knows its cookie must not share the new one's account."""
    if SESSION in request.cookies:
        await run_in_threadpool(log_out, _site(request), request.cookies[SESSION])


def _kept(request: Request) -> dict[str, Any]:
    try:
        cookie = json.loads(request.cookies.get(BEGUN, ""))
    except (ValueError, RecursionError):
        cookie = None
    if not isinstance(cookie, dict) or not all(isinstance(cookie.get(k), str) for k in ("state", "nonce", "verifier")):
        raise NotAllowed("this log-in was not begun in this browser, or too long ago; begin again")
    return cookie


def logged_in(request: Request, cookie: str, page: str) -> Response:
    response = RedirectResponse(page, 303)
    _set_cookie(request, response, SESSION, cookie, int(_site(request).settings.session_seconds))
    return response


def _set_cookie(request: Request, response: Response, name: str, value: str, seconds: int) -> None:
    secure = request.url.scheme == "https" or _site(request).settings.base_url.startswith("https://")
    response.set_cookie(name, value, max_age=seconds, httponly=True, samesite="lax", secure=secure)


def _redirect(request: Request) -> str:
    base = _site(request).settings.base_url.rstrip("/")
    return f"{base or str(request.base_url).rstrip('/')}/login/elsewhere/back"


def _provider(request: Request, name: object) -> OidcSettings:
    """The provider of a name, or the first where none was named."""
    providers = _site(request).settings.oidc
    provider = next((each for each in providers if name in (None, "", each.name)), None)
    if provider is None:
        raise UnknownName("log-in service", str(name or "login/elsewhere"), (each.name for each in providers))
    return provider


def _site(request: Request) -> Site:
    site: Site = request.app.state.site
    return site


router.add_route("/login", reading(show_login, words=("next",)), methods=["GET"], include_in_schema=False)
router.add_route("/login", take_token, methods=["POST"], include_in_schema=False)
router.add_route("/logout", leave, methods=["POST"], include_in_schema=False)
router.add_route("/login/elsewhere", begin_elsewhere, methods=["GET"], include_in_schema=False)
router.add_route("/login/elsewhere/back", finish_elsewhere, methods=["GET"], include_in_schema=False)
