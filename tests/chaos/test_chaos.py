"""Generators, metrics and judgments come in over HTTP while everything below them is killed, cut off or full.

A seeded driver sends in what it has, again and again until it is acknowledged, as clients do. Meanwhile servers,
workers and their supervisor are killed, the disk is filled, and the database is locked, cut off or started again. In
the end nothing that was acknowledged is lost or there twice, nothing is stuck, and cells and rankings equal those of
an undisturbed site on SQLite bit for bit. `BILLBOARDS_CHAOS` sets how many operations there are.
"""

from __future__ import annotations

import json
import os
import random
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import Queue
from typing import Any
from uuid import UUID

import httpx
import pytest
from disturbed_site import DisturbedSite, small_disk
from postgres import PostgresServer
from small_sites import DECLARED, Clock, Harbour, all_cells, make_board

from billboards.board.writing import write_board
from billboards.campaigns.plan import CampaignPlan
from billboards.site.accounts.access import local_viewer
from billboards.site.boards import snapshots
from billboards.site.boards.live import live_board
from billboards.site.boards.refresh import is_due
from billboards.site.campaigns.annotator_work import enter, next_item, submit_answer
from billboards.site.campaigns.annotators import invite
from billboards.site.campaigns.lifecycle import close_campaign, create_campaign, open_campaign
from billboards.site.campaigns.results import campaign_answers
from billboards.site.settings import DATABASE
from billboards.site.site import open_site
from billboards.site.submissions import records as submissions
from billboards.site.submissions import sending as submitting
from billboards.site.work.worker import work_until_done

OPERATIONS = int(os.environ.get("BILLBOARDS_CHAOS", "25"))
SEED = 11
#: Operations between two disturbances, and clients that send them at once.
BETWEEN, CLIENTS = 5, 3
GENERATORS = 4
INSTANCES = max(4, OPERATIONS // 20)
LABELS = 1 if OPERATIONS < 200 else 3
ANSWERS = GENERATORS * INSTANCES * LABELS
METRICS = max(1, OPERATIONS // 250)
#: Seconds for which one request may stay without an answer, and all of them without anything that comes of them. How
#: long the whole takes is the machine's affair.
PATIENCE = 240
SETTINGS = "lease_seconds = 1.0\npoll_seconds = 0.05\nattempts = 100000\nchanges_per_minute = 100000\nfree_bytes = 0\n"
METRIC = "def score(outputs, references, inputs):\n    return [len(set(text.split())) ** {power} for text in outputs]\n"

#: What a client does not take for an answer: the site is busy or starts, or its disk has no room just now.
NOT_NOW = (503, 507)
#: Characters of the site's log that a failure shows.
SHOWN = 4000

#: Scores by signature, context, row version and part.
Cells = dict[tuple[str, str, str, str], bytes]


@dataclass(frozen=True)
class Operation:
    """One thing to send: a generator or a metric with its content, one more answer, or the end of the campaign."""

    kind: str
    name: str = ""
    content: bytes = b""


@dataclass
class Laid:
    """A site with a campaign that waits for answers."""

    harbour: Harbour
    campaign: str
    tokens: tuple[str, ...]


def operations(harbour: Harbour) -> list[Operation]:
    """The same operations in the same order for each seed."""
    count = OPERATIONS - ANSWERS - METRICS
    found = [Operation("generator", f"boat {k:04}", harbour.outputs(seed=k)) for k in range(count)]
    found += [Operation("metric", f"words {k}", METRIC.format(power=k + 1).encode()) for k in range(METRICS)]
    found += [Operation("answer")] * ANSWERS
    random.Random(SEED).shuffle(found)
    return found


@contextmanager
def laid_out(data: Path) -> Iterator[Laid]:
    """A ranked board, and an open campaign with as many labels as there will be answers."""
    board = make_board(INSTANCES + 4, GENERATORS)
    write_board(board, data / "boards" / board.name)
    (data / "site.toml").write_text(SETTINGS)
    site = open_site(data)
    owner = local_viewer(site)
    submitting.change_settings(site, owner, "ferry", {"draws": 50})
    plan = CampaignPlan(instances=INSTANCES, labels=LABELS, positive=0.0, negative=0.0)
    names = tuple(f"g{k}" for k in range(GENERATORS))
    made = create_campaign(site, owner, "ferry", "votes", "binary", generators=names, plan=plan)
    open_campaign(site, owner, made.id)
    links = invite(site, owner, made.id, [f"person {k}" for k in range(CLIENTS + LABELS)])
    try:
        yield Laid(Harbour(site, Clock(), owner, board), made.id, tuple(link.token for link in links))
    finally:
        site.close()


def said_of(output: str) -> int:
    """What everybody answers: the same about the same output, whoever is asked and when."""
    return int("wrong" not in output)


@dataclass(frozen=True)
class Undisturbed:
    """What a site says that nothing happened to."""

    said: str
    cells: Cells


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    with laid_out(tmp_path_factory.mktemp("calm")) as calm:
        _live_undisturbed(calm)
        return Undisturbed(_said(calm.harbour), all_cells(calm.harbour.site))


@pytest.mark.long
def test_whatever_happens_what_was_acknowledged_is_there_once_and_ranked_as_if_nothing_had(
    tmp_path: Path, undisturbed: Undisturbed
) -> None:
    _compare(tmp_path, None, undisturbed)


@pytest.mark.study
def test_the_same_holds_on_postgresql(
    tmp_path: Path, postgres: PostgresServer, undisturbed: Undisturbed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(DATABASE, postgres.new_database())
    _compare(tmp_path, postgres, undisturbed)


def _compare(tmp_path: Path, server: PostgresServer | None, undisturbed: Undisturbed) -> None:
    with small_disk(tmp_path / "storm", 64 + OPERATIONS) as own_disk, laid_out(tmp_path / "storm") as laid:
        log = tmp_path / "site.log"
        site = DisturbedSite(laid.harbour.site.data, log, own_disk, server, random.Random(SEED))
        driver = Driver(laid, site)
        try:
            driver.rage()
        except AssertionError as error:
            error.add_note(f"the site's log ends with:\n{log.read_text()[-SHOWN:]}")
            raise
        _check_kept(driver)
        _check_cells(all_cells(laid.harbour.site), undisturbed.cells)
        assert _said(laid.harbour) == undisturbed.said


def _check_cells(found: Cells, wanted: Cells) -> None:
    """The same numbers in the same cells; beyond them only what overrating needed before the campaign counted.

    The undisturbed site does its work when the campaign is closed. The other works all the while, and until then
    compares machines with the person whom the board's own judgments are about, under references without that person.
    """
    assert {cell: scores for cell, scores in found.items() if cell in wanted} == wanted
    contexts, rows = {context for _, context, _, _ in wanted}, {row for _, _, row, _ in wanted}
    assert all(context not in contexts and row in rows for _, context, row, _ in found.keys() - wanted.keys())


def _live_undisturbed(laid: Laid) -> None:
    site, owner = laid.harbour.site, laid.harbour.owner
    for one in operations(laid.harbour):
        if one.kind == "generator":
            submitting.submit_generator(site, owner, "ferry", one.name, one.content)
        elif one.kind == "metric":
            submitting.submit_metric(site, owner, "ferry", one.content, name=one.name, manifest=DECLARED)
    for token in laid.tokens:
        who = enter(site, token)
        while (item := next_item(site, who).item) is not None:
            submit_answer(site, who, item.assignment, item.assignment, {"good": said_of(item.outputs[0])}, seconds=1.0)
    close_campaign(site, owner, laid.campaign)
    work_until_done(site)


def _said(harbour: Harbour) -> str:
    """The last ranking without what names its way there: annotators' pseudonyms, and how many ensembles came before."""
    with harbour.site.database.reading() as connection:
        last = snapshots.latest(connection, "ferry")
        assert last is not None
        document = snapshots.document(connection, last)
    ranking = document["ranking"]
    # Who is asked about what is chance; what all of them say together is not.
    ranking["lines"] = [line for line in ranking.get("lines", []) if line["kind"] != "annotator"]
    said = json.dumps(_without_doubts(document), sort_keys=True)
    return re.sub(r'"board_version": "\w+"|"version": \d+|\+version\.\d+', "", said)


def _without_doubts(document: Any) -> Any:
    """A document without doubts: outputs are compared with earlier ones, and of several clients any may be first."""
    if isinstance(document, dict):
        return {name: _without_doubts(value) for name, value in document.items() if name != "doubts"}
    return [_without_doubts(value) for value in document] if isinstance(document, list) else document


def _check_kept(driver: Driver) -> None:
    laid = driver.laid
    site = laid.harbour.site
    with site.database.reading() as connection:
        found = submissions.find(connection, board="ferry")
    kept = Counter((one.kind, one.name, one.version, one.id) for one in found)
    wanted = Counter((kind, name, 1, one) for (kind, name), one in driver.acknowledged.items())
    assert kept == wanted, "lost, or there twice"
    assert len(found) == OPERATIONS - ANSWERS
    assert {one.state for one in found} == {"scored"}, [one.reason for one in found if one.state != "scored"]
    answers = Counter(one.answer_id for one in campaign_answers(site, laid.harbour.owner, laid.campaign, history=True))
    assert answers == Counter(driver.answers)
    assert len(driver.answers) == ANSWERS
    assert set(driver.site.done) == set(driver.site.kinds), "something was never done to it"


@dataclass
class Driver:
    """Clients that send what there is until it is acknowledged, and somebody who disturbs them."""

    laid: Laid
    site: DisturbedSite
    acknowledged: dict[tuple[str, str], str] = field(default_factory=dict)
    answers: list[str] = field(default_factory=list)
    waiting: Queue[Operation | None] = field(default_factory=Queue)
    mistakes: list[BaseException] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)
    #: Submissions that were finished when it was last looked.
    finished: int = 0

    def __post_init__(self) -> None:
        self.progress, self.deadline = 0, time.monotonic() + PATIENCE
        self.ids = random.Random(SEED)
        self.hands = {token: threading.Lock() for token in self.laid.tokens}

    def rage(self) -> None:
        clients = [threading.Thread(target=self._send_all, daemon=True) for _ in range(CLIENTS)]
        try:
            self.site.start()
            for client in clients:
                client.start()
            self._disturb()
            self._wait(lambda: self._came_in() == OPERATIONS)
            for one in (Operation("close"), *([None] * CLIENTS)):
                self.waiting.put(one)
            # The last disturbance may have been the supervisor's end: the site is kept alive until all are gone.
            self._wait(lambda: not any(client.is_alive() for client in clients))
            self._wait(self._is_done)
        finally:
            self.over.set()
            self.site.end()

    def _disturb(self) -> None:
        """A few operations at a time, and one disturbance amid them: each kind once, then each again."""
        sent, kinds = operations(self.laid.harbour), list(self.site.kinds)
        for k in range(max(len(kinds), -(-len(sent) // BETWEEN))):
            if k % len(kinds) == 0:
                self.site.chance.shuffle(kinds)
            for one in sent[k * BETWEEN : (k + 1) * BETWEEN]:
                self.waiting.put(one)
            time.sleep(self.site.chance.uniform(0.0, 0.3))
            self.site.disturb(kinds[k % len(kinds)])
            self._wait(self.waiting.empty)

    def _wait(self, is_over: Callable[[], bool]) -> None:
        """Keep the site alive until something is so; what a client found wrong ends it all at once."""
        while not is_over() and not self.mistakes:
            self.site.start()
            self._expect_progress()
            time.sleep(0.05)
        assert not self.mistakes, self.mistakes

    def _came_in(self) -> int:
        return len(self.acknowledged) + len(self.answers)

    def _expect_progress(self) -> None:
        """Something more was acknowledged or finished than a while ago."""
        if (progress := self._came_in() + self.finished) > self.progress:
            self.progress, self.deadline = progress, time.monotonic() + PATIENCE
        assert time.monotonic() < self.deadline, "stuck"

    def _send_all(self) -> None:
        try:
            while (one := self.waiting.get()) is not None:
                if one.kind == "answer":
                    self._answer()
                elif one.kind == "close":
                    self._ask("POST", f"/campaigns/{self.laid.campaign}/close", json={"confirm": True})
                else:
                    self._submit(one)
        except BaseException as error:  # noqa: BLE001 - it is raised where the clients are waited for
            self.mistakes.append(error)

    def _submit(self, one: Operation) -> None:
        said = {"name": one.name} | ({"manifest": json.dumps(DECLARED)} if one.kind == "metric" else {})
        file = {"file": ("metric.py" if one.kind == "metric" else "outputs.txt", one.content)}
        answer = self._ask("POST", f"/boards/ferry/{one.kind}s", data=said, files=file)
        self.acknowledged[one.kind, one.name] = answer["id"]

    def _answer(self) -> None:
        """Somebody who has something left to judge judges it."""
        while True:
            for token, hands in self.hands.items():
                with hands:
                    item = self._ask("POST", f"/annotate/{token}/next")["item"]
                    if item is None:
                        continue
                    one = str(UUID(int=self.ids.getrandbits(128)))
                    said = {"good": said_of(item["outputs"][0])}
                    sent = {"assignment": item["assignment"], "answer_id": one, "answers": said, "seconds": 1.0}
                    self._ask("POST", f"/annotate/{token}/submit", json=sent)
                    self.answers.append(one)
                    return

    def _ask(self, method: str, path: str, **content: Any) -> Any:
        """Ask, word for word again, until there is an answer; only a server that is away may have none."""
        deadline = time.monotonic() + PATIENCE
        while not self.over.is_set():
            assert time.monotonic() < deadline, f"{path} is never answered"
            headers = self.site.headers
            try:
                answer = httpx.request(
                    method, self.site.url + path, headers=headers, trust_env=False, timeout=30, **content
                )
            except httpx.HTTPError:
                time.sleep(0.1)
                continue
            # Who asks while the site starts for the first time can't know its token yet.
            if answer.status_code not in NOT_NOW and (headers or answer.status_code != 401):
                assert answer.is_success, f"{path}: {answer.status_code} {answer.text}"
                return answer.json()
            time.sleep(0.1)
        raise ConnectionAbortedError(f"{path}: the site was ended")

    def _is_done(self) -> bool:
        site = self.laid.harbour.site
        with site.database.reading() as connection:
            found = submissions.find(connection, board="ferry")
        self.finished = sum(one.is_terminal for one in found)
        return self.finished == len(found) and not is_due(live_board(site, "ferry"))
