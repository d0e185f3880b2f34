"""Kill -9 at random moments, of workers, of their supervisor and of whoever takes submissions.

Nothing that was acknowledged may be lost, nothing may be stuck, no cell may stand in a wrong place: in the end the
board equals that of an undisturbed run bit for bit. `BILLBOARDS_KILLS` sets how many kills there are.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from small_sites import DECLARED, SHARED_WORDS, Harbour, MakeHarbour, all_cells

from billboards.site.boards import snapshots
from billboards.site.boards.live import live_board
from billboards.site.boards.refresh import is_due
from billboards.site.database import trail
from billboards.site.site import Site, open_site
from billboards.site.submissions import records as submissions
from billboards.site.submissions import sending as submitting
from billboards.site.work.worker import work_until_done
from billboards.site.work.worklist import standing

KILLS = int(os.environ.get("BILLBOARDS_KILLS", "10"))
SEED = 20
GENERATORS = max(10, KILLS // 3)
#: The longest time between kills in times that a process takes to start: some are hit starting, most at work.
LONGEST = 2.0
SETTINGS = "lease_seconds = 1.0\npoll_seconds = 0.05\nattempts = 100000\n"

SUBMITTER = """
import json, sys
from billboards.site.accounts.access import local_viewer
from billboards.site.site import open_site
from billboards.site.submissions.sending import submit_generator
site = open_site(sys.argv[1])
viewer = local_viewer(site)
print("ready", flush=True)
for line in sys.stdin:
    name, text = json.loads(line)
    print(json.dumps([name, submit_generator(site, viewer, "ferry", name, text.encode()).submission.id]), flush=True)
"""


@pytest.mark.long
def test_the_board_is_the_same_bit_for_bit_after_any_number_of_kills(make_harbour: MakeHarbour) -> None:
    calm = make_harbour(name="calm")
    work_until_done(calm.site)
    for name, text in outputs(calm).items():
        submitting.submit_generator(calm.site, calm.owner, "ferry", name, text.encode())
    submit_metric(calm)
    work_until_done(calm.site)

    harbour = make_harbour(name="storm", settings=SETTINGS)
    work_until_done(harbour.site)
    storm = Storm(open_site(harbour.site.data), harbour, outputs(harbour))
    try:
        metric = submit_metric(harbour)
        storm.rage()
        storm.calm_down()
    finally:
        storm.end()
    site = storm.site
    assert sorted(storm.acknowledged) == sorted(storm.outputs)
    with site.database.reading() as connection:
        found = {one.id: one for one in submissions.find(connection, board="ferry")}
        assert set(storm.acknowledged.values()) | {metric} == set(found), "lost, or there twice"
        assert {one.state for one in found.values()} == {"scored"}, [one.reason for one in found.values()]
        assert all(trail.read_log(connection, one) for one in found)
    assert all_cells(site) == all_cells(calm.site)
    assert last_document(site) == last_document(calm.site)
    site.close()


def outputs(harbour: Harbour) -> dict[str, str]:
    return {f"boat {k:03}": harbour.outputs(seed=k).decode() for k in range(GENERATORS)}


def submit_metric(harbour: Harbour) -> str:
    return submitting.submit_metric(
        harbour.site, harbour.owner, "ferry", SHARED_WORDS.encode(), name="words", manifest=DECLARED
    ).submission.id


def last_document(site: Site) -> str:
    with site.database.reading() as connection:
        last = snapshots.latest(connection, "ferry")
        assert last is not None
        return snapshots.document_text(connection, last)


@dataclass
class Storm:
    """The processes of a site, and what is done to them."""

    site: Site
    harbour: Harbour
    outputs: dict[str, str]
    acknowledged: dict[str, str] = field(default_factory=dict)
    tree: subprocess.Popen[bytes] | None = None
    submitter: subprocess.Popen[str] | None = None
    kills: dict[str, int] = field(default_factory=lambda: {"worker": 0, "supervisor": 0, "submitter": 0})

    def rage(self) -> None:
        """Kill something, again and again; what is dead by then is started anew."""
        chance = random.Random(SEED)
        begin = time.monotonic()
        subprocess.run([sys.executable, "-c", "import billboards.site.work.worker"], check=True)
        longest = LONGEST * (time.monotonic() - begin)
        while (done := sum(self.kills.values())) < KILLS:
            self._start()
            deadline = time.monotonic() + chance.uniform(0.05, longest)
            # Spread over all kills, so that there is something to lose at each.
            self._submit_some(max(0, len(self.outputs) * (done + 1) // KILLS - len(self.acknowledged)))
            time.sleep(max(0.0, deadline - time.monotonic()))
            self._kill(chance)

    def calm_down(self) -> None:
        """Let everything come in and be finished."""
        self._start()
        while len(self.acknowledged) < len(self.outputs):
            self._submit_some(1)
        deadline = time.monotonic() + 300
        while not self._is_done():
            assert time.monotonic() < deadline, "stuck"
            time.sleep(0.1)

    def end(self) -> None:
        for process in (self.submitter, self.tree):
            if process is not None and process.poll() is None:
                process.terminate()
                process.wait(60)
            for pipe in () if process is None else (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()

    def _start(self) -> None:
        data = str(self.site.data)
        if self.tree is None or self.tree.poll() is not None:
            command = [sys.executable, "-m", "billboards.site.work.processes", data, "--workers", "2"]
            self.tree = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        if self.submitter is None or self.submitter.poll() is not None:
            pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
            self.submitter = subprocess.Popen([sys.executable, "-c", SUBMITTER, data], **pipes)

    def _submit_some(self, count: int) -> None:
        """Send the next outputs that nobody has acknowledged, and note who was acknowledged."""
        assert self.submitter is not None
        assert self.submitter.stdin is not None
        assert self.submitter.stdout is not None
        waiting = [name for name in self.outputs if name not in self.acknowledged][:count]
        for name in waiting:
            self.submitter.stdin.write(json.dumps([name, self.outputs[name]]) + "\n")
            self.submitter.stdin.flush()
        for _ in waiting:
            line = self.submitter.stdout.readline()
            while line.strip() == "ready":
                line = self.submitter.stdout.readline()
            name, one = json.loads(line)
            self.acknowledged[name] = one

    def _kill(self, chance: random.Random) -> None:
        assert self.tree is not None
        assert self.submitter is not None
        workers = children(self.tree.pid)
        victim = chance.choice(["worker"] * 5 + ["supervisor", "submitter"])
        if victim == "worker" and workers:
            os.kill(chance.choice(sorted(workers)), signal.SIGKILL)
        elif victim == "supervisor":
            self.tree.kill()
            self.tree.wait()
        else:
            victim = "submitter"
            self._kill_submitter()
        self.kills[victim] += 1

    def _kill_submitter(self) -> None:
        """Kill it in the middle of taking something: what it has not acknowledged is sent again."""
        assert self.submitter is not None
        assert self.submitter.stdin is not None
        assert self.submitter.stdout is not None
        waiting = [name for name in self.outputs if name not in self.acknowledged][:1]
        for name in waiting:
            self.submitter.stdin.write(json.dumps([name, self.outputs[name]]) + "\n")
            self.submitter.stdin.flush()
        time.sleep(0.01)
        self.submitter.kill()
        self.submitter.wait()
        for line in self.submitter.stdout:
            if line.endswith("\n") and line.strip() != "ready":
                name, one = json.loads(line)
                self.acknowledged[name] = one
        self.submitter.stdin.close()
        self.submitter.stdout.close()

    def _is_done(self) -> bool:
        now = standing(self.site, "ferry")
        if now.plan.active or now.open:
            return False
        return not is_due(live_board(self.site, "ferry"))


def children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []
