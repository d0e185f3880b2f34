"""The routes of the interface: all under one prefix, their answers tagged.

An answer that a program has already is not sent again: each carries a digest of its bytes as its ETag.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute

PREFIX = "/api/v1"


def tagged_router(about: str) -> APIRouter:
    """A router for one kind of thing."""
    return APIRouter(prefix=PREFIX, route_class=TaggedRoute, tags=[about])


class TaggedRoute(APIRoute):
    """A route whose answers to GET have an ETag, and are 304 for who names it in If-None-Match."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        answer = super().get_route_handler()

        async def tagged(request: Request) -> Response:
            response = await answer(request)
            body = getattr(response, "body", None)
            if request.method != "GET" or response.status_code != 200 or body is None:
                return response
            # A list that has grown beyond its first page is another answer, though that page is the same.
            link = response.headers.get("link", "")
            tag = f'"{hashlib.sha256(body + link.encode()).hexdigest()[:20]}"'
            response.headers["etag"] = tag
            response.headers["cache-control"] = "private, no-cache"
            if tag in request.headers.get("if-none-match", ""):
                kept = {
                    name: response.headers[name]
                    for name in ("etag", "cache-control", "link")
                    if name in response.headers
                }
                return Response(status_code=304, headers=kept)
            return response

        return tagged
