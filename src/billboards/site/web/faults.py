"""The one place where errors become answers: a status, and words that say what to do next.

Programs that ask for JSON, and everything under /api/, get a problem document; people get a page. What is the server's
own fault is answered without its details, which may name paths, addresses and buckets: they go to the log, and the
answer names the request's id, by which whoever runs the site finds them.
"""

from __future__ import annotations

import logging
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from billboards.errors import (
    BillboardsError,
    Gone,
    InvalidBoard,
    InvalidInput,
    InvalidSettings,
    InvalidSubmission,
    InvalidTemplate,
    MissingPart,
    NotAllowed,
    Refused,
    StoreFailed,
    TooLarge,
    UnknownName,
    count_problems,
)
from billboards.site.accounts.access import VISITOR, Viewer
from billboards.site.web.asking import Ask
from billboards.site.web.rendering import respond
from billboards.site.web.request_log import id_of

log = logging.getLogger("billboards.site.web")

#: Errors that hold every mistake there is.
WITH_PROBLEMS = (InvalidBoard, InvalidSettings, InvalidSubmission, InvalidTemplate)
#: How many mistakes of one request are named, and the characters of the longest place of one.
LISTED, LONGEST = 100, 500
#: What is said of the server's own mistakes.
MISTAKE = "The server made a mistake. Try again in a moment."
#: Seconds after which a disk or database that refused may be asked again.
RETRY = "5"
#: The first kind that an error is decides; the rest of the tree is the server's own fault.
STATUSES: tuple[tuple[type[BillboardsError], int], ...] = (
    (UnknownName, 404),
    (Gone, 410),
    (TooLarge, 413),
    (InvalidInput, 422),
    (Refused, 409),
    (NotAllowed, 403),
    (MissingPart, 503),
    (StoreFailed, 503),
)
TITLES = {
    400: "That can’t be right",
    401: "Log in first",
    403: "Not allowed",
    404: "Not found",
    405: "Not possible here",
    408: "Too slow",
    409: "Not now",
    410: "No longer kept",
    413: "Too large",
    414: "Address too long",
    422: "That can’t be right",
    429: "Too many requests",
    503: "Not available now",
    507: "No room",
}


def status_of(error: BillboardsError, *, visitor: bool) -> int:
    """The status that says what went wrong; a visitor who may not do something may have to log in."""
    status = next((code for kind, code in STATUSES if isinstance(error, kind)), 500)
    return 401 if status == 403 and visitor else status


def mistakes_of(error: BillboardsError) -> int | None:
    """How many mistakes there are, with those of a long file that are only counted; None where none is listed."""
    if isinstance(error, InvalidSettings):
        return error.mistakes
    if isinstance(error, InvalidBoard | InvalidSubmission | InvalidTemplate):
        return count_problems(error.problems)
    return None


def problems_of(error: BillboardsError) -> list[str]:
    """Every mistake of a board, submission, template or setting, each in one line."""
    return [str(problem) for problem in error.problems] if isinstance(error, WITH_PROBLEMS) else []


async def answer_error(request: Request, error: Exception) -> Response:
    """What went wrong in billboards' own words."""
    assert isinstance(error, BillboardsError)
    viewer, _ = _asker(request)
    status = status_of(error, visitor=viewer.account is None)
    if status >= 500:
        log.error("%s %s, request %s: %s", request.method, _place(request), id_of(request), _one_line(str(error)))
    response = answer(
        request, status, public_words(request, error, status), problems_of(error), mistakes=mistakes_of(error)
    )
    if isinstance(error, StoreFailed) and status >= 500:
        response.headers["retry-after"] = RETRY
    return response


def public_words(request: Request, error: BillboardsError, status: int) -> str:
    """What an error says to everybody; of the server's own faults, only what to do."""
    if status < 500 or isinstance(error, MissingPart):
        return str(error)
    words = error.public_words if isinstance(error, StoreFailed) else MISTAKE
    return f"{words} {_where_more(request)}"


def _where_more(request: Request) -> str:
    return f"The server's log says more under request id {id_of(request)}."


async def answer_http(request: Request, error: Exception) -> Response:
    """What the framework refused: a page that is not there, a method that is not known."""
    assert isinstance(error, HTTPException)
    words = "There is no such page; the boards are on the first one." if error.status_code == 404 else error.detail
    response = answer(request, error.status_code, words, [])
    response.headers.update(error.headers or {})
    return response


async def answer_validation(request: Request, error: Exception) -> Response:
    """What was sent to the API does not fit its description; every place is named."""
    assert isinstance(error, RequestValidationError)
    mistakes = error.errors()
    problems = [f"{'.'.join(map(str, mistake['loc']))[:LONGEST]}: {mistake['msg']}" for mistake in mistakes[:LISTED]]
    words = "the request does not fit the API's description"
    return answer(request, 422, words, problems, mistakes=len(mistakes))


async def answer_unforeseen(request: Request, error: Exception) -> Response:
    """What nobody foresaw; its details are for the log."""
    log.error("%s %s, request %s", request.method, _place(request), id_of(request), exc_info=error)
    response = answer(request, 500, f"{MISTAKE} {_where_more(request)}", [])
    # What this is raised through is over by now, and with it what names other answers.
    response.headers["x-request-id"] = id_of(request)
    return response


def answer(request: Request, status: int, words: str, problems: list[str], *, mistakes: int | None = None) -> Response:
    """A fault as the asker reads it; half a character that was sent is told as its code, which can be sent back."""
    words, *problems = (text.encode("utf-8", "backslashreplace").decode() for text in (words, *problems))
    if request.url.path.startswith("/api/") or _wants_json(request):
        content: dict[str, Any] = {"status": status, "title": TITLES.get(status, "Server error"), "detail": words}
        count = len(problems) if mistakes is None else mistakes
        content |= {"problems": problems, "mistakes": count} if problems else {}
        return JSONResponse(content, status, media_type="application/problem+json")
    viewer, csrf = _asker(request)
    ask = Ask(
        pages=request.app.state.pages,
        viewer=viewer,
        csrf=csrf,
        path=request.url.path,
        query=request.query_params,
        params={},
    )
    body = ask.page(
        "fault", status=status, title=TITLES.get(status, "Server error"), words=words, problems=problems, code=status
    )
    return respond(body, accepts=request.headers.get("accept-encoding", ""), etags="", fresh="no-store")


def _place(request: Request) -> str:
    """The path as a log may hold it: on one line, and without the token that lets an annotator in."""
    path, token = request.scope["path"], request.path_params.get("token")
    return _one_line(path.replace(token, "…") if token else path)[:200]


def _one_line(text: str) -> str:
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


def _asker(request: Request) -> tuple[Viewer, str]:
    """Who asked, as far as that was found out before things went wrong; a fault never looks at the database."""
    return getattr(request.state, "asker", (VISITOR, ""))


def _wants_json(request: Request) -> bool:
    accepted = request.headers.get("accept", "")
    return "json" in accepted and "text/html" not in accepted
