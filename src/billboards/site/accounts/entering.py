"""The pages of who comes in by a mailed link: asking for one, using it, joining a team, and stopping mails.

A page that a link opens shows what would happen and a button; only sending that form uses the link up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from billboards.errors import Gone, InvalidInput, Refused
from billboards.run.addresses import network_of
from billboards.site.accounts import invitations, sign_up
from billboards.site.accounts.access import begin_session
from billboards.site.accounts.login import end_earlier, logged_in
from billboards.site.accounts.sign_up import Entered, inside
from billboards.site.admin.mail_kinds import KINDS
from billboards.site.web.asking import Ask, Pages, changing, check_csrf, reading, viewer_of
from billboards.site.web.rendering import Body, respond

router = APIRouter()


def show_sign_up(ask: Ask) -> Body:
    """How one gets an account here."""
    settings = ask.site.settings
    return ask.page(
        "sign_up",
        next=inside(ask.query.get("next")),
        mode=settings.sign_up,
        domains=settings.accounts.domains,
        providers=[provider.name for provider in settings.oidc],
        problem=None,
        email="",
    )


async def ask_for_link(request: Request) -> Response:
    """Mail a link to an address, and say the same to everybody."""
    ask, sent = await _sent(request)
    client = network_of(request.client.host) if request.client else ""
    email, following = str(sent.get("email", "")), inside(str(sent.get("next", "")))

    def act() -> Body:
        try:
            words = sign_up.ask_for_link(ask.site, email, client=client, next=following)
        except (InvalidInput, Refused) as error:
            settings = ask.site.settings
            return ask.page(
                "sign_up",
                status=409 if isinstance(error, Refused) else 422,
                next=following,
                mode=settings.sign_up,
                domains=settings.accounts.domains,
                providers=[provider.name for provider in settings.oidc],
                problem=str(error),
                email=email,
            )
        return ask.page("told", title="Look into your mail", lines=[words, *_WAIT], link=None)

    return _answer(request, await run_in_threadpool(act))


_WAIT = ("It may take a minute. If nothing comes, look among unwanted mail, and check how you wrote the address.",)


def show_link(ask: Ask) -> Body:
    """What a link leads to, and the button that uses it."""
    return _link_page(ask, {}, None, 200)


def _link_page(ask: Ask, sent: Mapping[str, Any], problem: str | None, status: int) -> Body:
    opened = sign_up.open_link(ask.site, ask.params["token"])
    return ask.page("enter", status=status, opened=opened, sent=_texts(sent), problem=problem)


async def use_link(request: Request) -> Response:
    """Use a link; a browser that it logs in has a new session, whatever cookie it brought."""

    def act(ask: Ask, sent: Mapping[str, Any]) -> Entered:
        fields = {word: str(sent.get(word, "")) for word in ("name", "team", "words")}
        return sign_up.enter(ask.site, ask.params["token"], account_id=_chosen(sent), **fields)

    return await _used(request, act, _link_page)


def show_invitation(ask: Ask) -> Body:
    """What an invitation offers, and the button that accepts it."""
    return _invitation_page(ask, {}, None, 200)


def _invitation_page(ask: Ask, sent: Mapping[str, Any], problem: str | None, status: int) -> Body:
    offer = invitations.open_invitation(ask.site, ask.params["token"])
    return ask.page("join", status=status, offer=offer, sent=_texts(sent), problem=problem)


async def use_invitation(request: Request) -> Response:
    """Accept an invitation."""

    def act(ask: Ask, sent: Mapping[str, Any]) -> Entered:
        name = str(sent.get("name", ""))
        return invitations.accept(ask.site, ask.params["token"], name=name, account_id=_chosen(sent))

    return await _used(request, act, _invitation_page)


def _chosen(sent: Mapping[str, Any]) -> int | None:
    """The account that was chosen, where several have the address."""
    text = str(sent.get("account", ""))
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None


async def _used(
    request: Request,
    act: Callable[[Ask, Mapping[str, Any]], Entered],
    again: Callable[[Ask, Mapping[str, Any], str, int], Body],
) -> Response:
    """What follows a form that was sent with a link: a page, logged in, or the form again with what is wrong."""
    ask, sent = await _sent(request)

    def work() -> tuple[Entered, str] | Body:
        try:
            entered = act(ask, sent)
        except Gone:
            raise
        except (InvalidInput, Refused) as error:
            return again(ask, sent, str(error), 409 if isinstance(error, Refused) else 422)
        if entered.account is None or not entered.logs_in:
            return _told(ask, entered)
        return entered, begin_session(ask.site, entered.account, agent=request.headers.get("user-agent"))[0]

    result = await run_in_threadpool(work)
    if isinstance(result, Body):
        return _answer(request, result)
    entered, cookie = result
    await end_earlier(request)
    return logged_in(request, cookie, inside(entered.next))


def _told(ask: Ask, entered: Entered) -> Body:
    if entered.account is not None:
        lines = [f"The address of the account {entered.account.name} is confirmed."]
        return ask.page("told", title="Address confirmed", lines=lines, link=("/account", "Your account"))
    lines = ["The organisers were told. They decide, and you get a mail with a link, or with their reason."]
    return ask.page("told", title="Your request was sent", lines=lines, link=("/", "All boards"))


def show_unsubscribe(ask: Ask) -> Body:
    """Which mails a link stops, and the buttons that do it."""
    person, kind = sign_up.unsubscription(ask.site, ask.params["token"])
    return ask.page("unsubscribe", words=KINDS[kind], off=kind in (person.muted or ()))


def stop_mails(ask: Ask, sent: Mapping[str, Any]) -> Body:
    """Stop mails of a kind, or all; mail programs send this by themselves when asked to."""
    all_kinds = str(sent.get("all", "")) == "yes"
    kind = sign_up.unsubscribe(ask.site, ask.params["token"], all_kinds=all_kinds)
    words = "You get no more mails from this site, but those that you ask for." if all_kinds else None
    lines = [words or f"You get no more mails of this kind: {KINDS[kind]}."]
    lines.append("You can change this on your account page at any time.")
    return ask.page("told", title="Mails stopped", lines=lines, link=("/account", "Your account"))


async def _sent(request: Request) -> tuple[Ask, dict[str, Any]]:
    """Who sends a form, and what is in it."""
    pages: Pages = request.app.state.pages
    viewer, csrf = request.state.asker = viewer_of(request, pages)
    form = await request.form(max_files=0, max_fields=10, max_part_size=10_000)
    sent = {key: value for key, value in form.multi_items() if isinstance(value, str)}
    check_csrf(csrf, str(sent.get("csrf", "")))
    ask = Ask(
        pages=pages,
        viewer=viewer,
        csrf=csrf,
        path=request.scope["path"],
        query=request.query_params,
        params=request.path_params,
    )
    return ask, sent


def _answer(request: Request, body: Body) -> Response:
    return respond(body, accepts=request.headers.get("accept-encoding", ""), etags="", fresh="no-store")


def _texts(sent: Mapping[str, Any]) -> dict[str, str]:
    return {key: value for key, value in sent.items() if isinstance(value, str)}


router.add_route("/sign-up", reading(show_sign_up, words=("next",)), methods=["GET"], include_in_schema=False)
router.add_route("/login/link", ask_for_link, methods=["POST"], include_in_schema=False)
for _path, _show, _use in (("/enter/{token}", show_link, use_link), ("/join/{token}", show_invitation, use_invitation)):
    router.add_route(_path, reading(_show, kept=False), methods=["GET"], include_in_schema=False)
    router.add_route(_path, _use, methods=["POST"], include_in_schema=False)
_STOP = "/unsubscribe/{token}"
router.add_route(_STOP, reading(show_unsubscribe, kept=False), methods=["GET"], include_in_schema=False)
router.add_route(_STOP, changing(stop_mails), methods=["POST"], include_in_schema=False)
