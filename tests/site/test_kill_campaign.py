"""Kill -9 at random moments of whatever takes answers, under twenty annotators who are at work all the time.

No answer that was acknowledged may be lost, none may be there twice, and no item may get more labels than it wants.
`BILLBOARDS_KILLS` sets how many kills there are.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, Queue
from threading import Thread
from typing import Any
from uuid import UUID

import pytest
from small_campaigns import distinct_board, small_campaign
from small_sites import Harbour, MakeHarbour

from billboards.campaigns.items import read_slot
from billboards.site.campaigns import campaign_records as campaigns
from billboards.site.campaigns.annotators import invite, rulings
from billboards.site.campaigns.results import campaign_answers
from billboards.site.campaigns.status import campaign_status
from billboards.site.site import open_site

KILLS = int(os.environ.get("BILLBOARDS_KILLS", "4"))
ANNOTATORS = 20
SEED = 7

SERVER = """
import json, sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from threading import Lock
from billboards.errors import Refused
from billboards.site.campaigns.annotator_work import enter, next_item, save_answer, submit_answer, undo
from billboards.site.site import open_site
site = open_site(sys.argv[1])
writing = Lock()
def say(found):
    with writing:
        print(json.dumps(found), flush=True)
def turn(found):
    item = found.item
    shown = None if item is None else {"id": item.assignment, "outputs": item.outputs, "references": item.references}
    return {"state": found.state, "item": shown}
def serve(line):
    asked = json.loads(line)
    who = enter(site, asked["token"])
    try:
        if asked["verb"] == "next":
            told = turn(next_item(site, who))
        elif asked["verb"] == "undo":
            told = turn(undo(site, who, asked["id"]))
        else:
            keep = {"save": save_answer, "submit": submit_answer}[asked["verb"]]
            told = asdict(keep(site, who, asked["item"], asked["id"], asked["answers"], seconds=1.0))
    except Refused as error:
        told = {"refused": str(error)}
    say({"who": asked["who"], "number": asked["number"], "told": told})
with ThreadPoolExecutor(20) as pool:
    say({"ready": True})
    for line in sys.stdin:
        pool.submit(serve, line)
"""


@dataclass
class Client:
    """An annotator's page: it asks one thing at a time, and asks again, word for word, until it is told."""

    who: int
    token: str
    chance: random.Random
    sent: dict[str, dict[str, Any]] = field(default_factory=dict)
    acknowledged: set[str] = field(default_factory=set)
    number: int = 0
    pending: dict[str, Any] | None = None
    is_done: bool = False

    def begin(self) -> None:
        self._ask({"verb": "next"})

    def hear(self, told: dict[str, Any]) -> None:
        """Go on with what was told: a draft, the answer, now and then an undo, and the next item."""
        assert self.pending is not None
        if "id" in self.pending and "refused" not in told:
            self.acknowledged.add(self.pending["id"])
        verb = self.pending["verb"]
        item = told.get("item")
        if isinstance(item, dict):
            draft = {"adequacy": self.chance.randrange(5)}
            self._keep("save", item["id"], draft)
        elif verb == "save" and "refused" not in told:
            self._keep("submit", told["assignment"], {"adequacy": self.chance.randrange(5)})
        elif verb == "submit" and "refused" not in told and self.chance.random() < 0.1:
            self._ask({"verb": "undo", "id": self._new_id()})
        elif verb == "next" and told["state"] in ("done", "waiting"):
            self.is_done = told["state"] == "done"
            self.pending = None
        else:
            self._ask({"verb": "next"})

    def _keep(self, verb: str, item: str, answers: dict[str, Any]) -> None:
        self._ask({"verb": verb, "item": item, "id": self._new_id(), "answers": answers})

    def _ask(self, asked: dict[str, Any]) -> None:
        self.number += 1
        self.pending = {"who": self.who, "number": self.number, "token": self.token, **asked}
        if "id" in asked:
            self.sent[asked["id"]] = asked

    def _new_id(self) -> str:
        return str(UUID(int=self.chance.getrandbits(128)))


@dataclass
class Storm:
    """A server that is killed again and again, and the clients that go on with the next one."""

    harbour: Harbour
    clients: list[Client]
    kills: int = 0
    server: subprocess.Popen[str] | None = None
    lines: Queue[str] = field(default_factory=Queue)
    reader: Thread = field(default_factory=Thread)
    chance: random.Random = field(default_factory=lambda: random.Random(SEED))

    def rage(self) -> None:
        for client in self.clients:
            client.begin()
        deadline = time.monotonic() + 60 + 20 * KILLS
        while self.kills < KILLS or not all(client.is_done for client in self.clients):
            assert time.monotonic() < deadline, "stuck"
            if self.server is None:
                self._start()
            self._serve(until=time.monotonic() + self.chance.uniform(0.0, 0.8))
            if self.kills < KILLS:
                self._kill()

    def end(self) -> None:
        if self.server is not None:
            self._kill()

    def _start(self) -> None:
        pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
        self.server = subprocess.Popen([sys.executable, "-c", SERVER, str(self.harbour.site.data)], **pipes)
        self.reader = Thread(target=self._read, args=(self.server, self.lines), daemon=True)
        self.reader.start()
        if self.kills < KILLS and self.chance.random() < 0.15:
            return
        assert json.loads(self.lines.get(timeout=60)) == {"ready": True}
        for client in self.clients:
            if client.pending is None and not client.is_done:
                client.begin()
            self._send(client)

    def _serve(self, until: float) -> None:
        """Pass answers and questions on for a while."""
        while (left := until - time.monotonic()) > 0:
            waiting = [client for client in self.clients if client.pending is None and not client.is_done]
            for client in waiting[:1]:
                client.begin()
                self._send(client)
            with suppress(Empty):
                self._hear(self.lines.get(timeout=min(left, 0.05)), answer=True)

    @staticmethod
    def _read(server: subprocess.Popen[str], lines: Queue[str]) -> None:
        assert server.stdout is not None
        for line in server.stdout:
            lines.put(line)

    def _hear(self, line: str, *, answer: bool) -> None:
        found = json.loads(line) if line.endswith("\n") else {}
        if "who" not in found:
            return
        client = self.clients[found["who"]]
        if client.pending is not None and client.number == found["number"]:
            client.hear(found["told"])
            if answer:
                self._send(client)

    def _send(self, client: Client) -> None:
        assert self.server is not None
        assert self.server.stdin is not None
        if client.pending is not None:
            self.server.stdin.write(json.dumps(client.pending) + "\n")

    def _kill(self) -> None:
        """Kill the server; what it said with its last breath was said."""
        assert self.server is not None
        assert self.server.stdin is not None
        assert self.server.stdout is not None
        self.server.kill()
        self.server.wait()
        self.reader.join()
        while not self.lines.empty():
            self._hear(self.lines.get(), answer=False)
        self.server.stdout.close()
        with suppress(BrokenPipeError):
            self.server.stdin.close()
        self.server = None
        self.kills += 1


@pytest.mark.long
def test_no_acknowledged_answer_is_lost_or_there_twice_after_any_number_of_kills(make_harbour: MakeHarbour) -> None:
    harbour = make_harbour(distinct_board(10 + 4 * KILLS, 2))
    harbour.site.clock = time.time
    # A second label on some items, so that annotators compete for them. Their answers are random: nobody is excluded
    # where there are no test questions.
    campaign = small_campaign(harbour, instances=10**6, overlap=0.2, lease_seconds=30.0, positive=0.0, negative=0.0)
    links = invite(harbour.site, harbour.owner, campaign.id, ANNOTATORS)
    clients = [Client(k, link.token, random.Random(SEED + k)) for k, link in enumerate(links)]
    storm = Storm(harbour, clients)
    try:
        storm.rage()
    finally:
        storm.end()
    site = open_site(harbour.site.data)
    history = {one.answer_id: one for one in campaign_answers(site, harbour.owner, campaign.id, history=True)}
    count = Counter(one.answer_id for one in campaign_answers(site, harbour.owner, campaign.id, history=True))
    assert set(count.values()) == {1}, "there twice"
    kinds = {"save": "draft", "submit": "submitted", "undo": "undone"}
    for client in clients:
        lost = client.acknowledged - history.keys()
        assert not lost, "acknowledged and lost"
        for one in client.acknowledged:
            asked, kept = client.sent[one], history[one]
            assert kept.kind == kinds[asked["verb"]]
            assert kept.answers == asked.get("answers", kept.answers)
    assert history.keys() <= {one for client in clients for one in client.sent}, "nothing that nobody sent"
    status = campaign_status(site, harbour.owner, campaign.id)
    with site.database.reading() as connection:
        items = campaigns.list_items(connection, campaign.id, "label")
    valid = Counter(one.item for one in history.values() if one.state == "valid")
    assert valid == {item.id: item.wanted for item in items}, "each item has the labels it wants, and no more"
    assert status.done == status.wanted == sum(valid.values())
    assert all(read_slot(item.slots[0]).text for item in items)
    assert rulings(site, harbour.owner, campaign.id) == ()
    site.close()
