"""Three addresses for whatever watches over a site: does it live, may it be sent requests, how much does it do.

    /health     200 as long as the process answers; looks at nothing else
    /ready      200 when the database can be reached and is current, submitted files are there and the disk has room,
                else 503 with Retry-After
    /metrics    counts in Prometheus' text format, for this machine or whoever has the token

They are answered before anything else looks at the database, so a server whose database is away still says so.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterable, MutableMapping
from importlib.metadata import version
from ipaddress import ip_address
from typing import Any

from sqlalchemy.pool import QueuePool
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from billboards.errors import StoreFailed
from billboards.site.admin.operations import FileStoreWatch, Operations, free_bytes, look_at, memory
from billboards.site.database.schema import REVISION
from billboards.site.site import Site
from billboards.site.web.measures import Measures, family
from billboards.site.web.security import PROXIED, SAFE, App, Receive, Send

log = logging.getLogger("billboards.site.web")

#: Seconds after which a server that is not ready may be asked again.
RETRY = "5"
CONTENT = "text/plain; version=0.0.4; charset=utf-8"
#: What a proxy adds: the request came from elsewhere, although the connection did not.


class Health:
    """Answers the three addresses, and hands on everything else."""

    def __init__(self, app: App, site: Site, measures: Measures) -> None:
        self.app, self.site, self.measures = app, site, measures
        self.files = FileStoreWatch(site)
        self.answers = {"/health": self.health, "/ready": self.ready, "/metrics": self.metrics}

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        answer = self.answers.get(scope["path"]) if scope["type"] == "http" and scope["method"] in SAFE else None
        if answer is None:
            await self.app(scope, receive, send)
            return
        scope["route_path"] = scope["path"]
        response = await answer(Request(scope))
        response.headers["cache-control"] = "no-store"
        await response(scope, receive, send)

    async def health(self, _: Request) -> Response:
        return JSONResponse({"status": "alive"})

    async def ready(self, _: Request) -> Response:
        reasons = await run_in_threadpool(obstacles, self.site, self.files)
        if reasons:
            return JSONResponse({"status": "not ready", "obstacles": reasons}, 503, {"retry-after": RETRY})
        return JSONResponse({"status": "ready"})

    async def metrics(self, request: Request) -> Response:
        if not self._may_measure(request):
            return PlainTextResponse("metrics are for this machine, or whoever has BILLBOARDS_METRICS_TOKEN\n", 403)
        lines = [*self.measures.lines(), *await run_in_threadpool(self._work_lines)]
        return PlainTextResponse("\n".join(lines) + "\n", media_type=CONTENT)

    def _may_measure(self, request: Request) -> bool:
        token = self.site.settings.metrics_token
        if token and secrets.compare_digest(
            request.headers.get("authorization", "").encode(), f"Bearer {token}".encode()
        ):
            return True
        return is_here(request)

    def _work_lines(self) -> list[str]:
        lines = list(self._machine_lines())
        try:
            files_up = 0 if self.files.problem() else 1
            lines += family("billboards_files_up", "gauge", "Whether submitted files are there.", [({}, files_up)])
            lines += work_lines(look_at(self.site))
        except StoreFailed:
            lines += family("billboards_database_up", "gauge", "Whether the database answers.", [({}, 0)])
        return lines

    def _machine_lines(self) -> Iterable[str]:
        """What this machine has, and what the program is."""
        yield from family("billboards_info", "gauge", "The program.", [({"version": version("billboards")}, 1)])
        sizes = [({"process": process}, size) for process, size in memory().items()]
        yield from family("billboards_memory_bytes", "gauge", "Resident memory of web server and workers.", sizes)
        free = free_bytes(self.site)
        if free is not None:
            words = "Space left on the data folder's disk."
            yield from family("billboards_disk_free_bytes", "gauge", words, [({}, free)])
        pool = self.site.database.engine.pool
        if isinstance(pool, QueuePool):
            words = "Connections to the database that are in use."
            yield from family("billboards_database_connections", "gauge", words, [({}, pool.checkedout())])


def is_here(request: Request) -> bool:
    """Whether a request was made on this machine, and not by a proxy for somebody else."""
    if request.client is None or any(name in request.headers for name in PROXIED):
        return False
    try:
        return ip_address(request.client.host).is_loopback
    except ValueError:
        return False


def work_lines(work: Operations) -> Iterable[str]:
    """The site's work in Prometheus' text format."""
    yield from family("billboards_database_up", "gauge", "Whether the database answers.", [({}, 1)])
    states = [({"kind": kind, "state": state}, n) for (kind, state), n in sorted(work.submissions.items())]
    yield from family("billboards_submissions", "gauge", "Submissions by kind and state.", states)
    yield from family("billboards_submissions_waiting", "gauge", "Submissions not through yet.", [({}, work.waiting)])
    jobs = [({"kind": kind}, n) for kind, n in sorted(work.jobs.items())]
    yield from family("billboards_jobs_running", "gauge", "Jobs somebody is working on.", jobs)
    yield from family("billboards_workers", "gauge", "Workers that are there.", [({}, work.workers)])
    failed = [({"fault": "platform" if platform else "metric"}, n) for platform, n in work.failed_cells.items()]
    yield from family("billboards_cells_failed", "gauge", "Cells that failed, by whose fault it was.", failed)
    notices = [({"state": state}, n) for state, n in sorted(work.notices.items())]
    yield from family("billboards_notices", "gauge", "Mails and webhooks by state.", notices)
    gauges: list[tuple[str, str, float | None]] = [
        ("oldest_waiting_seconds", "Time since the submission that waits longest last changed.", work.oldest_waiting),
        ("unranked_seconds", "Time since a submission was scored that its board's ranking lacks.", work.unranked),
        ("time_to_rank_seconds", "Time from the last scored submission to the last ranking.", work.time_to_rank),
        ("oldest_notice_seconds", "Time that the oldest notice has waited.", work.oldest_notice),
        ("last_backup_timestamp_seconds", "When the last backup was taken; 0 for never.", work.last_backup),
        ("boards", "Boards of the site.", work.boards),
        ("boards_unreadable", "Boards whose folder can't be read.", work.unreadable_boards),
    ]
    for name, words, value in gauges:
        if value is not None:
            yield from family(f"billboards_{name}", "gauge", words, [({}, value)])


def obstacles(site: Site, files: FileStoreWatch | None = None) -> tuple[str, ...]:
    """What keeps the site from taking and keeping things now; empty where nothing does."""
    reasons = []
    try:
        revision = site.database.revision()
        if revision != REVISION:
            reasons.append(f"the database is at migration {revision}, this program at {REVISION}")
        elif files is not None and (problem := files.problem()):
            reasons.append(problem)
    except StoreFailed as error:
        # The message names the server and its user, which is for the log and not for whoever asks.
        log.error("not ready: %s", error)
        reasons.append("the database can't be reached")
    free = free_bytes(site)
    if free is None:
        reasons.append("the data folder can't be reached")
    elif free < site.settings.free_bytes:
        reasons.append(f"the disk has {free:,} bytes left, fewer than {site.settings.free_bytes:,}")
    return tuple(reasons)
