"""Requests to a crowd platform: what may pass is tried again, what moves money is sent once.

A request that only reads or that may be repeated is tried again when the platform is busy or silent. One that pays is
sent once; if no answer comes, it is unknown whether it was paid, and the error says so, for a person to look.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from billboards.errors import MissingPart, PlatformFailed, Refused
from billboards.reading import json_value

if TYPE_CHECKING:
    import httpx

#: How often a repeatable request is sent, and the seconds before the second time; they double.
ATTEMPTS, FIRST_WAIT = 4, 0.5


class Caller:
    """One platform's address with its credential; close it after use."""

    def __init__(self, address: str, authorization: str, *, seconds: float = 30.0) -> None:
        if find_spec("httpx") is None:
            raise MissingPart("crowd platforms need httpx; install it with `pip install 'billboards[site]'`")
        import httpx

        self.address = address
        headers = {"authorization": authorization, "user-agent": "billboards"}
        self._http = httpx.Client(headers=headers, timeout=seconds, follow_redirects=False)

    def close(self) -> None:
        self._http.close()

    def get(self, path: str, **query: str | int) -> dict[str, Any]:
        return self._repeat("GET", path, query=query)

    def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        # A draft that was made twice costs nothing; transitions and patches say where to go, not how far.
        return self._repeat("POST", path, body=body)

    def patch(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        return self._repeat("PATCH", path, body=body)

    def post_once(self, path: str) -> dict[str, Any]:
        """Send what must not be sent twice."""
        import httpx

        try:
            response = self._http.post(self.address + path)
        except httpx.RequestError as error:
            raise PlatformFailed(
                f"{self.address}{path}: {error or type(error).__name__}; it is unknown whether this was done: "
                "look on the platform before you try again"
            ) from error
        return self._read(response, path)

    def _repeat(
        self, method: str, path: str, *, body: Mapping[str, Any] | None = None, query: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        import httpx

        failure = ""
        for attempt in range(ATTEMPTS):
            if attempt:
                time.sleep(FIRST_WAIT * 2 ** (attempt - 1))
            try:
                response = self._http.request(method, self.address + path, json=body, params=query)
            except httpx.RequestError as error:
                failure = str(error) or type(error).__name__
                continue
            if response.status_code != 429 and response.status_code < 500:
                return self._read(response, path)
            failure = f"status {response.status_code}"
        raise PlatformFailed(f"{self.address}{path}: no answer after {ATTEMPTS} attempts, at last: {failure}")

    def _read(self, response: httpx.Response, path: str) -> dict[str, Any]:
        if response.status_code in (401, 403):
            raise PlatformFailed(f"{self.address} refuses the key; make a new one and set it again")
        if response.status_code >= 400:
            raise Refused(f"{self.address}{path} refused: {response.text[:500]}")
        if not response.content:
            return {}
        try:
            document = json_value(response.content)
        except ValueError as error:
            raise PlatformFailed(f"{self.address}{path}: an answer that is no JSON") from error
        return document if isinstance(document, dict) else {"results": document}
