"""An annotator's pages: one item at a time, kept at every answer, found again after a crash.

The link is the identity, so no address here is shared, kept by a browser or passed on to another site; who has an
account comes by the campaign's own address instead. Everything works as plain forms, one page load per stage; the
script adds keys, saving at every answer, the time that was really spent, and marking of errors, which needs it.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from billboards.campaigns.templates import When
from billboards.errors import InvalidInput, Refused
from billboards.reading import decimal_number, whole_number
from billboards.site.accounts.access import VISITOR
from billboards.site.campaigns.annotator_work import (
    Participant,
    Saved,
    accept_consent,
    answer_survey,
    enter,
    enter_account,
    give_back,
    next_item,
    save_answer,
    submit_answer,
    undo,
)
from billboards.site.campaigns.annotators import PATH
from billboards.site.campaigns.item_view import (
    answers_of,
    paragraphs,
    sent_answers,
    view_document,
    view_examples,
    view_item,
    view_page,
)
from billboards.site.campaigns.turns import Turn
from billboards.site.campaigns.words import ASKED, COOKIE, LANGUAGES, Words, chosen_words, words_of
from billboards.site.site import Site
from billboards.site.web import addresses
from billboards.site.web.asking import Endpoint, check_csrf, viewer_of
from billboards.site.web.rendering import Body, render, respond

router = APIRouter()

#: Names by which platforms say who comes, in the order they are looked for.
EXTERNAL = ("PROLIFIC_PID", "external", "workerId")
#: An address is a secret: no search engine may list it. To other sites no page of this one tells where it was.
HEAD = (("x-robots-tag", "noindex"),)
#: What one answer may take, in bytes: 500 spans and some.
MOST_BYTES = 256 * 1024

Act = Callable[[Site, Participant, Mapping[str, str]], str | None]


def external_of(query: Mapping[str, str]) -> str | None:
    """Who a platform says has come."""
    return next((query[name] for name in EXTERNAL if query.get(name)), None)


async def show(request: Request) -> Response:
    """The item at hand, or why there is none."""
    return await run_in_threadpool(_page, request, None, 200)


def _page(request: Request, problem: str | None, status: int) -> Response:
    site, participant = _who(request)
    turn = next_item(site, participant)
    campaign = participant.campaign
    item = None if turn.item is None else view_item(turn.item, reopened=_stage(request))
    has_begun = turn.progress.done > 0 or (turn.progress.qualified or (0, 0))[0] > 0
    context: dict[str, Any] = {
        "campaign": campaign.name,
        "template": campaign.template,
        "instructions": paragraphs(campaign.template.instructions),
        "examples": view_examples(campaign.template),
        "turn": turn,
        "item": item,
        "document": view_document(turn.segments),
        "problem": problem,
        "t": chosen_words(
            request.query_params.get(ASKED), request.cookies.get(COOKIE), request.headers.get("accept-language", "")
        ),
        "languages": _languages(request),
        "csrf": request.state.asker[1],
        "address": _address(request),
        "query": request.url.query,
        "answer_id": secrets.token_hex(16),
        "new_id": lambda: secrets.token_hex(16),
        "opened": site.clock(),
        # Instructions are open until something was answered: a later stage goes straight to its question.
        "is_first": not has_begun and (turn.item is None or not turn.item.answers) and not _stage(request),
        "completion": None if turn.page == "after" else _completion(site, participant, turn),
        "page": None if turn.page is None else view_page(campaign, turn.page, _sent_before(request)),
    }
    body = Body(render("annotate", context), status=status, headers=(*HEAD, *_remembering(request)))
    return respond(body, accepts=request.headers.get("accept-encoding", ""), etags="", fresh="no-store")


def _completion(site: Site, participant: Participant, turn: Turn) -> Any:
    """What to tell a crowd platform when one's part is done."""
    from billboards.site.campaigns.crowd import completion

    return completion(site, participant, is_over=turn.item is None)


def _languages(request: Request) -> list[tuple[Words, str]]:
    """Every language, and the address of the same page in it."""
    query = [pair for pair in request.query_params.multi_items() if pair[0] != ASKED]
    return [(words_of(code), f"{_address(request)}?{urlencode([*query, (ASKED, code)])}") for code in LANGUAGES]


def _remembering(request: Request) -> tuple[tuple[str, str], ...]:
    """Remember a language that was asked for, so that the link opens in it next time."""
    code = request.query_params.get(ASKED)
    if code not in LANGUAGES or request.cookies.get(COOKIE) == code:
        return ()
    return (("set-cookie", f"{COOKIE}={code}; Path=/; Max-Age=31536000; SameSite=Lax; HttpOnly"),)


def _sent_before(request: Request) -> Mapping[str, str]:
    """What a form had in it that could not be taken, so that it stands there again."""
    sent: Mapping[str, str] = getattr(request.state, "sent", {})
    return sent


def _stage(request: Request) -> int | None:
    return whole_number(request.query_params.get("stage", ""))


def _address(request: Request) -> str:
    places = request.path_params
    return f"{PATH}{places['token']}" if "token" in places else addresses.campaign(places["campaign"], "annotate")


def _who(request: Request, word: str | None = None) -> tuple[Site, Participant]:
    """Who comes: by the link alone, or with an account, whose changes must bring the session's word."""
    site: Site = request.app.state.site
    if "token" in request.path_params:
        request.state.asker = (VISITOR, "")
        return site, enter(site, request.path_params["token"], external=external_of(request.query_params))
    viewer, csrf = request.state.asker = viewer_of(request, request.app.state.pages)
    if word is not None:
        check_csrf(csrf, word)
    return site, enter_account(site, viewer, request.path_params["campaign"])


def acting(act: Act) -> Endpoint:
    """An endpoint for one of the page's forms; what is wrong is said on the page, with what was answered kept."""

    async def endpoint(request: Request) -> Response:
        async with request.form(max_files=0, max_fields=200, max_part_size=MOST_BYTES) as form:
            sent = {key: value for key, value in form.multi_items() if isinstance(value, str)}

        def run() -> Response:
            site, participant = _who(request, sent.get("csrf", ""))
            try:
                act(site, participant, sent)
            except (InvalidInput, Refused) as error:
                request.state.sent = sent
                return _page(request, str(error), 422 if isinstance(error, InvalidInput) else 409)
            query = "&".join(part for part in request.url.query.split("&") if part and not part.startswith("stage="))
            return RedirectResponse(f"{_address(request)}{'?' if query else ''}{query}", 303, headers=dict(HEAD))

        return await run_in_threadpool(run)

    return endpoint


def take_answer(site: Site, participant: Participant, sent: Mapping[str, str]) -> None:
    """Keep the answers of a stage; those of the last one are given for good."""
    raw = answers_of(participant.campaign.template, sent)
    stages = participant.campaign.template.stages
    stage = len(stages) - 1 if (named := whole_number(sent.get("stage", ""))) is None else named
    asked = [name for step in stages[: stage + 1] for name in step.dimensions]
    if missing := [name for name in asked if name not in raw]:
        save_answer(site, participant, *_identity(sent), raw, seconds=_seconds(site, sent))
        raise InvalidInput(f"Not answered yet: {', '.join(missing)}")
    keep = submit_answer if stage >= len(stages) - 1 else save_answer
    keep(site, participant, *_identity(sent), raw, seconds=_seconds(site, sent))


def take_back(site: Site, participant: Participant, sent: Mapping[str, str]) -> None:
    """Open one's last answer again."""
    undo(site, participant, sent.get("answer_id", ""))


def pass_on(site: Site, participant: Participant, sent: Mapping[str, str]) -> None:
    """Leave an item to others."""
    give_back(site, participant, sent.get("assignment", ""))


def accept(site: Site, participant: Participant, sent: Mapping[str, str]) -> None:
    """Agree to what the consent page says."""
    if not sent.get("agree"):
        raise InvalidInput("Tick the box if you agree; without it nothing can be asked of you.")
    accept_consent(site, participant, sent.get("digest", ""))


def take_survey(site: Site, participant: Participant, sent: Mapping[str, str]) -> None:
    """Keep what somebody says of themselves."""
    when: When = "after" if sent.get("page") == "after" else "before"
    questions = [asked.question for asked in participant.campaign.template.asked_of_people(when)]
    answer_survey(site, participant, when, sent_answers(questions, sent))


def _identity(sent: Mapping[str, str]) -> tuple[str, str]:
    return sent.get("assignment", ""), sent.get("answer_id", "")


def _seconds(site: Site, sent: Mapping[str, str]) -> float:
    """The time that was spent: counted by the page while it was in sight, else since the page was opened."""
    for name, since in (("seconds", 0.0), ("opened", site.clock())):
        if (value := decimal_number(sent.get(name, ""))) is not None:
            return max(0.0, value if not since else since - value)
    return 0.0


class Draft(BaseModel):
    """What the page's script sends at every answer; whether the answers are any is checked by their questions."""

    model_config = ConfigDict(strict=True)

    assignment: str = ""
    answer_id: str = ""
    answers: dict[str, Any]
    seconds: float = Field(default=0.0, ge=0)


def keeping(keep: Callable[..., Saved]) -> Endpoint:
    """An endpoint for the page's script, which sends what it has so far, or a whole answer, in JSON."""

    async def endpoint(request: Request) -> Response:
        raw = await request.body()
        if len(raw) > MOST_BYTES:
            raise InvalidInput(f"an answer takes at most {MOST_BYTES:,} bytes")
        return await run_in_threadpool(_keep, request, raw, keep)

    return endpoint


def _keep(request: Request, raw: bytes, keep: Callable[..., Saved]) -> Response:
    site, participant = _who(request, request.headers.get("x-csrf-token", ""))
    try:
        document = json.loads(raw)
        # Half a character is no text, and no database takes it.
        json.dumps(document, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"this is no JSON: {error}") from error
    try:
        draft = Draft.model_validate(document)
    except ValidationError as error:
        raise InvalidInput('send {"assignment": …, "answer_id": …, "answers": {…}, "seconds": …}') from error
    saved = keep(site, participant, draft.assignment, draft.answer_id, draft.answers, seconds=draft.seconds)
    return JSONResponse({"kept": saved.answer_id, "at": saved.at, "expires": saved.expires}, headers=dict(HEAD))


PAGES = (f"{PATH}{{token}}", "/campaigns/{campaign}/annotate")
_FORMS: Mapping[str, Act] = {"answer": take_answer, "undo": take_back, "skip": pass_on}
_FORMS = {**_FORMS, "consent": accept, "survey": take_survey}

for _page_path in PAGES:
    router.add_route(_page_path, show, methods=["GET"], include_in_schema=False)
    for _name, _act in _FORMS.items():
        _endpoint: Callable[[Request], Awaitable[Response]] = acting(_act)
        router.add_route(f"{_page_path}/{_name}", _endpoint, methods=["POST"], include_in_schema=False)
    for _name, _verb in (("draft", save_answer), ("submit", submit_answer)):
        router.add_route(f"{_page_path}/{_name}", keeping(_verb), methods=["POST"], include_in_schema=False)
