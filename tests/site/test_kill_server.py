"""Kill -9 of the real server while submissions come in over HTTP: what it has acknowledged is scored in the end.

A whole `billboards serve` runs; its web process is killed in the middle of requests, its workers and supervisor at
random moments. Whoever got no answer sends again, and no submission is there twice. `BILLBOARDS_KILLS` sets how many
kills there are, a quarter of them here.
"""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field

import httpx
import pytest
from processes import children
from small_sites import Harbour, MakeHarbour

from billboards.site.boards import snapshots
from billboards.site.boards.live import live_board
from billboards.site.boards.refresh import is_due
from billboards.site.site import open_site
from billboards.site.submissions import records as submissions
from billboards.site.submissions import sending as submitting
from billboards.site.work.worker import work_until_done

KILLS = max(6, int(os.environ.get("BILLBOARDS_KILLS", "20")) // 4)
SEED = 4
SETTINGS = "lease_seconds = 1.0\npoll_seconds = 0.05\nattempts = 100000\nchanges_per_minute = 100000\n"


@pytest.mark.long
def test_what_the_server_acknowledged_is_scored_once_whatever_is_killed(make_harbour: MakeHarbour) -> None:
    calm = make_harbour(name="calm")
    work_until_done(calm.site)
    harbour = make_harbour(name="storm", settings=SETTINGS)
    work_until_done(harbour.site)
    sent = {f"boat {k:03}": harbour.outputs(seed=k) for k in range(KILLS + 2)}
    for name, raw in sent.items():
        submitting.submit_generator(calm.site, calm.owner, "ferry", name, raw)
    work_until_done(calm.site)
    server = Server(harbour, sent)
    try:
        server.rage()
        server.calm_down()
    finally:
        server.end()
    site = open_site(harbour.site.data)
    with site.database.reading() as connection:
        found = submissions.find(connection, board="ferry")
        last = snapshots.latest(connection, "ferry")
        assert last is not None
        document = snapshots.document_text(connection, last)
    assert sorted((one.name, one.version, one.id) for one in found) == sorted(
        (name, 1, one) for name, one in server.acknowledged.items()
    )
    assert {one.state for one in found} == {"scored"}
    with calm.site.database.reading() as connection:
        other = snapshots.latest(connection, "ferry")
        assert other is not None
        assert snapshots.document_text(connection, other) == document
    site.close()


@dataclass
class Server:
    """A served site, and what is done to it."""

    harbour: Harbour
    sent: dict[str, bytes]
    acknowledged: dict[str, str] = field(default_factory=dict)
    tree: subprocess.Popen[bytes] | None = None
    port: int = 0

    def __post_init__(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]

    def rage(self) -> None:
        chance = random.Random(SEED)
        for kill in range(KILLS):
            self._until_it_answers()
            posting = threading.Thread(target=self._post_next)
            posting.start()
            time.sleep(chance.uniform(0.0, 0.1))
            self._kill(["web", "web", "worker", "supervisor"][kill % 4], chance)
            posting.join()

    def calm_down(self) -> None:
        deadline = time.monotonic() + 300
        while len(self.acknowledged) < len(self.sent):
            self._until_it_answers()
            self._post_next()
            assert time.monotonic() < deadline, "it takes nothing more"
        while not self._is_done():
            assert time.monotonic() < deadline, "stuck"
            time.sleep(0.1)

    def end(self) -> None:
        if self.tree is not None and self.tree.poll() is None:
            self.tree.terminate()
            self.tree.wait(60)

    def _until_it_answers(self) -> None:
        """Wait for the server; where it has ended (its port may still be held by a dying child), start it again."""
        deadline = time.monotonic() + 120
        while True:
            if self.tree is None or self.tree.poll() is not None:
                command = [sys.executable, "-m", "billboards.cli.main", "serve", str(self.harbour.site.data)]
                self.tree = subprocess.Popen([*command, "--port", str(self.port)], stderr=subprocess.DEVNULL)
            try:
                if (
                    httpx.get(f"{self._url}/boards", headers=self._headers, trust_env=False, timeout=20).status_code
                    == 200
                ):
                    return
            except httpx.HTTPError:
                assert time.monotonic() < deadline, "it never came"
                time.sleep(0.1)

    @property
    def _headers(self) -> dict[str, str]:
        """What the owner shows; the token is the data folder's."""
        token = self.harbour.site.data / "start.token"
        return {"authorization": f"Bearer {token.read_text()}"} if token.exists() else {}

    @property
    def _url(self) -> str:
        return f"http://127.0.0.1:{self.port}/api/v1"

    def _post_next(self) -> None:
        """Send the next outputs that were not acknowledged; a dead server leaves them so."""
        name = next((name for name in self.sent if name not in self.acknowledged), None)
        if name is None:
            return
        try:
            answer = httpx.post(
                f"{self._url}/boards/ferry/generators",
                data={"name": name},
                files={"file": ("outputs.txt", self.sent[name])},
                headers=self._headers,
                trust_env=False,
                timeout=60,
            )
        except httpx.HTTPError:
            return
        assert answer.status_code == 201, answer.text
        self.acknowledged[name] = answer.json()["id"]

    def _kill(self, victim: str, chance: random.Random) -> None:
        assert self.tree is not None
        if victim == "supervisor":
            self.tree.kill()
            self.tree.wait()
            return
        wanted = {"web": "web_process", "worker": "site.worker"}[victim]
        found = [pid for pid, command in children(self.tree.pid).items() if wanted in command]
        if found:
            os.kill(chance.choice(sorted(found)), signal.SIGKILL)

    def _is_done(self) -> bool:
        site = self.harbour.site
        with site.database.reading() as connection:
            waiting = [one for one in submissions.find(connection, board="ferry") if not one.is_terminal]
        return not waiting and not is_due(live_board(site, "ferry"))
