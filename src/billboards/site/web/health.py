"""Three addresses for whatever watches over a site: does it live, may it be sent requests, how much does it do.

    /health     200 as long as the process answers; looks at nothing else
    /ready      200 when the database can be reached and is current and the disk has room, else 503 with Retry-After
    /metrics    counts in Prometheus' text format, for this machine or whoever has the token

They are answered before anything else looks at the database, so a server whose database is away still says so.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterable, Mapping, MutableMapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from billboards.errors import StoreFailed
from billboards.site.database.schema import REVISION
from billboards.site.site import Site
from billboards.site.submissions import records as submissions
from billboards.site.web.measures import Measures, family
from billboards.site.web.security import PROXIED, SAFE, App, Receive, Send
from billboards.site.work import leases

#: Seconds after which a server that is not ready may be asked again.
RETRY = "5"
CONTENT = "text/plain; version=0.0.4; charset=utf-8"
#: What a proxy adds: the request came from elsewhere, although the connection did not.


class Health:
    """Answers the three addresses, and hands on everything else."""

    def __init__(self, app: App, site: Site, measures: Measures) -> None:
        self.app, self.site, self.measures = app, site, measures
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
        reasons = await run_in_threadpool(obstacles, self.site)
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
        try:
            return list(work_lines(count_work(self.site)))
        except StoreFailed:
            return list(family("billboards_database_up", "gauge", "Whether the database answers.", [({}, 0)]))


def is_here(request: Request) -> bool:
    """Whether a request was made on this machine, and not by a proxy for somebody else."""
    if request.client is None or any(name in request.headers for name in PROXIED):
        return False
    try:
        return ip_address(request.client.host).is_loopback
    except ValueError:
        return False


def work_lines(work: Work) -> Iterable[str]:
    """The site's work in Prometheus' text format."""
    yield from family("billboards_database_up", "gauge", "Whether the database answers.", [({}, 1)])
    states = [({"kind": kind, "state": state}, n) for (kind, state), n in sorted(work.submissions.items())]
    yield from family("billboards_submissions", "gauge", "Submissions by kind and state.", states)
    yield from family("billboards_submissions_waiting", "gauge", "Submissions not through yet.", [({}, work.waiting)])
    jobs = [({"kind": kind}, n) for kind, n in sorted(work.jobs.items())]
    yield from family("billboards_jobs_running", "gauge", "Jobs somebody is working on.", jobs)
    yield from family("billboards_workers", "gauge", "Workers that are there.", [({}, work.workers)])


@dataclass(frozen=True)
class Work:
    """Submissions by kind and state, jobs that somebody is working on by kind, and workers that are there."""

    submissions: Mapping[tuple[str, str], int]
    jobs: Mapping[str, int]
    workers: int

    @property
    def waiting(self) -> int:
        """Submissions that are not through yet."""
        return sum(n for (_, state), n in self.submissions.items() if state not in submissions.TERMINAL)


def obstacles(site: Site) -> tuple[str, ...]:
    """What keeps the site from taking and keeping things now; empty where nothing does."""
    reasons = []
    try:
        revision = site.database.revision()
        if revision != REVISION:
            reasons.append(f"the database is at migration {revision}, this program at {REVISION}")
    except StoreFailed:
        # The message names the server and its user, which is for the log and not for whoever asks.
        reasons.append("the database can't be reached")
    try:
        free = shutil.disk_usage(site.data).free
        if free < site.settings.free_bytes:
            reasons.append(f"the disk has {free:,} bytes left, fewer than {site.settings.free_bytes:,}")
    except OSError:
        reasons.append("the data folder can't be reached")
    return tuple(reasons)


def count_work(site: Site) -> Work:
    """How much there is to do, and who does it."""
    with site.database.reading() as connection:
        return Work(
            submissions.count_states(connection),
            leases.count_held(connection, now=site.clock()),
            leases.count_workers(connection, now=site.clock()),
        )
