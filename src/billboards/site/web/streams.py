"""Live status by server-sent events: a submission's state, progress and log, a campaign's figures, as they change.

The stream looks at the database about once a second and sends what is new; a browser that reconnects says which log
line it saw last and gets the rest. A stream ends with the submission, with the reader, or after a while, when the
browser comes back by itself: no connection is held for ever.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial

import anyio
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from billboards.errors import UnknownName
from billboards.site.accounts.access import Viewer, may, require
from billboards.site.boards.live import live_board
from billboards.site.campaigns.status import campaign_status
from billboards.site.campaigns.views import live_document
from billboards.site.site import Site
from billboards.site.submissions.outcome import awaits_ranking
from billboards.site.submissions.records import Submission
from billboards.site.submissions.sending import get_submission, read_log
from billboards.site.web.asking import Pages, viewer_of
from billboards.site.work.waiting import BoardProgress, board_progress, waiting
from billboards.site.work.worklist import progress, unmet_need

#: Seconds between looks, and for how long one connection is held.
PAUSE, LONGEST = 1.0, 600.0
#: A stream is not kept, and a proxy before the site must not gather it up.
HEAD = {"cache-control": "no-store", "x-accel-buffering": "no"}


@dataclass(frozen=True, slots=True)
class Status:
    """Where a submission stands, in figures and in words."""

    state: str
    done: int
    total: int
    words: str
    ended: bool


def status_of(site: Site, submission: Submission) -> Status:
    """How far a submission has come and how long it may still take."""
    if awaits_ranking(submission, live_board(site, submission.board)):
        return Status(submission.state, 0, 0, "the ranking with it is being made", ended=False)
    if submission.is_terminal:
        return Status(submission.state, 0, 0, ended_words(site, submission), ended=True)
    counts = progress(site, submission)
    words = f"{waiting_words(submission.state)}; {waiting(site, submission).words}"
    if unmet := unmet_need(site, submission):
        return Status(submission.state, counts.done, counts.total, unmet, ended=False)
    if submission.state == "scoring":
        failed = f", {counts.failed} failed" if counts.failed else ""
        words = f"{counts.done} of {counts.total} cells scored{failed}; {waiting(site, submission).words}"
    return Status(submission.state, counts.done, counts.total, words, ended=False)


def waiting_words(state: str) -> str:
    """What happens in a state that is not the last."""
    return {
        "received": "waiting for a worker",
        "checking": "being checked",
        "trial": "being tried on a few instances, twice",
        "scoring": "being scored",
    }.get(state, state)


def ended_words(site: Site, submission: Submission) -> str:
    """How a submission ended; one of a blind phase is on no board that its team can see."""
    if submission.state == "scored" and live_board(site, submission.board).settings.hides(submission.phase):
        return f"results stay hidden until the organisers reveal the phase {submission.phase}"
    return submission.reason or {"scored": "on the board", "withdrawn": "taken off the board"}.get(
        submission.state, submission.state
    )


async def send_generations(request: Request) -> Response:
    """How often a board has changed, told each time it does; a number, which every reader may know."""
    pages: Pages = request.app.state.pages
    board = request.path_params["board"]
    if await run_in_threadpool(pages.generation, board) is None:
        raise UnknownName("board", board, (registered.name for registered in pages.site.boards()))
    return StreamingResponse(_generations(pages, board), media_type="text/event-stream", headers=HEAD)


async def _generations(pages: Pages, board: str) -> AsyncIterator[str]:
    last: int | None = None
    with anyio.move_on_after(LONGEST):
        while True:
            generation = await run_in_threadpool(pages.generation, board)
            yield ": still here\n\n" if generation == last else f"event: generation\ndata: {generation}\n\n"
            last = generation
            await anyio.sleep(PAUSE)


async def send_progress(request: Request) -> Response:
    """How far a board has come on its way to its first ranking, told each time that changes."""
    pages: Pages = request.app.state.pages
    viewer, _ = request.state.asker = viewer_of(request, pages)
    board = request.path_params["board"]
    await run_in_threadpool(pages.look, board, viewer)
    stream = _progress_events(pages, viewer, board)
    return StreamingResponse(stream, media_type="text/event-stream", headers=HEAD)


async def _progress_events(pages: Pages, viewer: Viewer, board: str) -> AsyncIterator[str]:
    last: BoardProgress | None = None
    with anyio.move_on_after(LONGEST):
        while True:
            look = await run_in_threadpool(pages.look, board, viewer)
            if look.live.snapshot is not None:
                yield "event: ranked\ndata: {}\n\n"
                return
            now = await run_in_threadpool(board_progress, pages.site, board, viewer.audience)
            document = {"done": now.done, "total": now.total, "words": now.words}
            yield ": still here\n\n" if now == last else f"event: progress\ndata: {json.dumps(document)}\n\n"
            last = now
            await anyio.sleep(PAUSE)


async def send_events(request: Request) -> Response:
    """The stream of one submission, for those who may see it."""
    pages: Pages = request.app.state.pages
    viewer, _ = request.state.asker = viewer_of(request, pages)
    name = request.path_params["submission"]
    submission = await run_in_threadpool(get_submission, pages.site, viewer, name)
    seen = request.headers.get("last-event-id") or request.query_params.get("after") or "0"
    after = int(seen) if seen.isdecimal() and len(seen) < 16 else 0
    stream = _events(pages.site, viewer, submission.id, after)
    return StreamingResponse(stream, media_type="text/event-stream", headers=HEAD)


async def _events(site: Site, viewer: Viewer, name: str, after: int) -> AsyncIterator[str]:
    last: Status | None = None
    with anyio.move_on_after(LONGEST):
        while True:
            submission = await run_in_threadpool(get_submission, site, viewer, name)
            if may(viewer, "see-submission", submission):
                for line in await run_in_threadpool(partial(read_log, site, viewer, name, after=after)):
                    after = line.id
                    yield f"id: {line.id}\nevent: log\ndata: {json.dumps(line.text)}\n\n"
            status = await run_in_threadpool(status_of, site, submission)
            if status != last:
                last = status
                yield f"event: status\ndata: {json.dumps(_document(status))}\n\n"
            else:
                yield ": still here\n\n"
            if status.ended:
                return
            await anyio.sleep(PAUSE)


async def send_campaign(request: Request) -> Response:
    """The stream of one campaign, for owners."""
    pages: Pages = request.app.state.pages
    viewer, _ = request.state.asker = viewer_of(request, pages)
    require(viewer, "administer")
    campaign = request.path_params["campaign"]
    await run_in_threadpool(campaign_status, pages.site, viewer, campaign)
    stream = _campaign_events(pages.site, viewer, campaign)
    return StreamingResponse(stream, media_type="text/event-stream", headers=HEAD)


async def _campaign_events(site: Site, viewer: Viewer, campaign: str) -> AsyncIterator[str]:
    """How a campaign stands, told each time that changes, until it is closed."""
    last: dict[str, object] = {}
    with anyio.move_on_after(LONGEST):
        while last.get("state") != "closed":
            status = live_document(await run_in_threadpool(campaign_status, site, viewer, campaign))
            yield ": still here\n\n" if status == last else f"event: status\ndata: {json.dumps(status)}\n\n"
            last = status
            await anyio.sleep(PAUSE)


def _document(status: Status) -> dict[str, object]:
    return {
        "state": status.state,
        "done": status.done,
        "total": status.total,
        "words": status.words,
        "ended": status.ended,
    }
