"""A NUL character, which PostgreSQL takes in no text, at every place of every request: no fault of the server's."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from api_sites import SmallSite, small_site
from postgres import PostgresServer

from billboards.site.accounts import records as accounts
from billboards.site.database.engine import UnfitValue
from billboards.site.settings import DATABASE

METHODS = ("get", "post", "patch", "put", "delete")
#: What ends what the others need.
LEFT_OUT = ("/sessions", "/freeze")


@pytest.fixture
def small(tmp_path: Path, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[SmallSite]:
    monkeypatch.setenv(DATABASE, postgres.new_database())
    small = small_site(tmp_path)
    yield small
    small.site.close()


def test_the_database_calls_it_a_mistake_of_the_value(small: SmallSite) -> None:
    with pytest.raises(UnfitValue, match="can't be kept"), small.site.database.reading() as connection:
        accounts.account_named(connection, "a\0b")


@pytest.mark.long
def test_no_null_in_a_request_brings_the_server_down(small: SmallSite) -> None:
    document = small.ask("owner", "GET", "/openapi.json").json()
    schemas = document["components"]["schemas"]
    wrong = []
    for path, ways in document["paths"].items():
        for method in METHODS:
            if method not in ways or path.endswith(LEFT_OUT):
                continue
            words = [given["name"] for given in ways[method].get("parameters", ()) if given["in"] == "query"]
            for place in {re.sub(r"{\w+}", "a%00b", path), re.sub(r"{board}", "small", path)}:
                sent = _sent(ways[method], schemas) | {"params": dict.fromkeys(words, "a\0b")}
                status = small.ask("owner", method.upper(), place, **sent).status_code
                wrong += [(status, method, place)] if status >= 500 else []
    pages = ("/boards/a%00b", "/boards/small/generators/a%00b", "/boards/small?domain=a%00b", "/submissions/a%00b")
    wrong += [
        (answer.status_code, "get", page) for page in pages if (answer := small.client.get(page)).status_code >= 500
    ]
    assert wrong == []


def _sent(way: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    """A body with a NUL in each text that it describes."""
    body = way.get("requestBody", {}).get("content", {})
    named = re.search(r'schemas/([^"]+)"', json.dumps(body))
    fields = {} if named is None else schemas[named[1]].get("properties", {})
    texts = {field: "a\0b@example.org" for field in fields if field != "file"}
    if "application/json" in body:
        return {"json": texts}
    return {"data": texts, "files": {"file": ("a\0b", b"a\0b\n")}} if body else {}
