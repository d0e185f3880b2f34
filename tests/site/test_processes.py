"""The process tree: children are kept alive, ended in order, and never outlive a killed supervisor."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from small_sites import MakeHarbour

from billboards.site.submissions import records as submissions
from billboards.site.submissions import sending as submitting
from billboards.site.work.processes import Child, supervise

PARENT = """
import sys, threading
from billboards.site.work.processes import Child, supervise
code = "import os, sys; open(sys.argv[1], 'a').write(f'{os.getpid()}\\\\n'); sys.stdin.read()"
supervise([Child("child", [sys.executable, "-c", code, sys.argv[1]])], threading.Event())
"""


def until(true: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.02)


def is_alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


def test_a_child_that_dies_is_started_again_and_all_end_at_the_end(tmp_path: Path) -> None:
    notes = tmp_path / "pids"
    code = "import os, sys; open(sys.argv[1], 'a').write(f'{os.getpid()}\\n'); sys.stdin.read()"
    stop = threading.Event()
    children = [Child("child", [sys.executable, "-c", code, str(notes)])]
    thread = threading.Thread(target=supervise, args=(children, stop))
    thread.start()

    def pids() -> list[int]:
        return [int(line) for line in notes.read_text().split()] if notes.exists() else []

    until(lambda: len(pids()) == 1)
    os.kill(pids()[0], signal.SIGKILL)
    until(lambda: len(pids()) == 2)
    stop.set()
    thread.join(30)
    assert not thread.is_alive()
    assert [is_alive(pid) for pid in pids()] == [False, False]


@pytest.mark.long
def test_a_killed_supervisor_takes_its_children_with_it(tmp_path: Path) -> None:
    notes = tmp_path / "pids"
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(notes)])
    until(lambda: notes.exists() and bool(notes.read_text().endswith("\n")))
    child = int(notes.read_text())
    assert is_alive(child)
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait(30)
    until(lambda: not is_alive(child))


@pytest.mark.long
def test_workers_score_what_comes_in_and_end_on_sigterm(make_harbour: MakeHarbour) -> None:
    harbour = make_harbour(settings="poll_seconds = 0.05")
    command = [sys.executable, "-m", "billboards.site.work.processes", str(harbour.site.data), "--workers", "2"]
    tree = subprocess.Popen(command)
    try:
        one = submitting.submit_generator(harbour.site, harbour.owner, "ferry", "tug", harbour.outputs()).submission
        until(lambda: harbour.now(one).state == "scored")
    finally:
        tree.terminate()
        assert tree.wait(30) == 0
    with harbour.site.database.reading() as connection:
        assert submissions.get(connection, one.id).state == "scored"
