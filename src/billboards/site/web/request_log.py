"""Every request counted, timed and, where logs are JSON, written down under an id that its answer carries too.

A proxy's or client's `X-Request-Id` is kept if it is plain and short, else one is drawn. Lines name the route's
pattern, not the path: a path may hold a link that lets an annotator in.
"""

from __future__ import annotations

import logging
import re
import secrets
import time
from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any

from fastapi import APIRouter
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.routing import Route

from billboards.site.admin.logs import about
from billboards.site.web.measures import Measures
from billboards.site.web.security import App, Message, Receive, Send

log = logging.getLogger("billboards.requests")

#: Where a request's id stands in its scope.
REQUEST_ID = "billboards.request_id"
PLAIN = re.compile(r"[A-Za-z0-9._:-]{1,64}")
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class RequestLog:
    """Counts and logs what is asked and answered."""

    def __init__(self, app: App, measures: Measures, patterns: Mapping[object, str]) -> None:
        self.app, self.measures, self.patterns = app, measures, patterns

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status, made = time.perf_counter(), 500, request_id(scope)
        scope[REQUEST_ID] = made

        async def send_named(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", made.encode())]
            await send(message)

        with about(request_id=made):
            try:
                await self.app(scope, receive, send_named)
            finally:
                seconds = time.perf_counter() - began
                method = scope["method"] if scope["method"] in METHODS else "other"
                route = route_of(scope, self.patterns)
                self.measures.count(route, method, status, seconds)
                fields = {"method": method, "route": route, "status": status, "seconds": round(seconds, 6)}
                log.info("%s %s %s", method, route, status, extra={"fields": fields})


def request_id(scope: MutableMapping[str, Any]) -> str:
    """The id that came with a request, or a new one."""
    text = Headers(scope=scope).get("x-request-id", "")
    return text if PLAIN.fullmatch(text) else secrets.token_hex(8)


def id_of(request: Request) -> str:
    """The id of a request that is being answered."""
    return str(request.scope.get(REQUEST_ID, "unknown"))


def route_of(scope: MutableMapping[str, Any], patterns: Mapping[object, str]) -> str:
    """The pattern of a request's path; `kept` for a page that was at hand, `none` where nothing is behind it."""
    if "route_path" in scope:
        return str(scope["route_path"])
    return patterns.get(scope.get("endpoint"), "none")


def patterns_of(routers: Iterable[APIRouter]) -> dict[object, str]:
    """The paths' patterns by what answers there."""
    routes = (route for router in routers for route in router.routes if isinstance(route, Route))
    return {route.endpoint: route.path for route in routes}
