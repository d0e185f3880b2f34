"""A site for its own machine asks for its start token even while its database is away or slow."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import httpx
import pytest
from apart import run_apart
from api_sites import SmallSite, small_site
from fastapi import FastAPI
from fastapi.testclient import TestClient

from billboards.site.site import Site
from billboards.site.web import start_token
from billboards.site.web.app import create_app

TOKEN = "a-token-of-twenty-four-bytes"
OWNER = {"authorization": f"Bearer {TOKEN}"}


@pytest.fixture
def small(tmp_path: Path) -> SmallSite:
    one = small_site(tmp_path)
    one.site.login_required = False
    one.site.start_token = TOKEN
    return one


def take_database_away(site: Site) -> None:
    site.database.close()
    for path in site.data.glob("site.sqlite*"):
        path.unlink()
    (site.data / "site.sqlite").mkdir()


@pytest.mark.parametrize("accept", ["application/json", "text/html"])
def test_while_the_database_is_away_everybody_is_told_to_come_back(small: SmallSite, accept: str) -> None:
    client = TestClient(create_app(small.site), base_url="http://127.0.0.1", raise_server_exceptions=False)
    take_database_away(small.site)
    for headers in (OWNER, {}):
        answer = client.get("/boards/small", headers={**headers, "accept": accept})
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
        assert str(small.site.data) not in answer.text
    assert client.get("/health").status_code == 200


def test_while_the_database_is_slow_others_are_answered(small: SmallSite, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, answered = threading.Event(), threading.Event()
    in_time: list[bool] = []

    def look_slowly(_: Site) -> bool:
        asked.set()
        in_time.append(answered.wait(20))
        return False

    monkeypatch.setattr(start_token, "login_expected", look_slowly)
    assert run_apart(_ask_beside(create_app(small.site), asked, answered)) == (200, 200)
    assert in_time == [True]


async def _ask_beside(app: FastAPI, asked: threading.Event, answered: threading.Event) -> tuple[int, int]:
    """Ask for what needs the database, and meanwhile for what does not; says what was answered."""
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=60) as client:
        slow = asyncio.create_task(client.get("/api/v1/boards", headers=OWNER))
        while not asked.is_set():
            await asyncio.sleep(0.01)
        quick = await client.get("/login")
        answered.set()
        return (await slow).status_code, quick.status_code
