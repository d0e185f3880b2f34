"""Runs of pytest on a copy of the source, each with a folder for its own temporary files and a time limit.

The copy stands before the installed package on Python's path. Whatever a run leaves behind is removed: files, and, on
Linux, processes, which are recognised by a variable of their environment.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mutation import plugin
from mutation.warm import ForkedRun, WarmPytest

TOOLS = Path(__file__).resolve().parents[1]
#: Marks the processes of a run.
RUN = "MUTATION_RUN"
#: Seconds for Python to start, and to import the tests' files.
COLLECTION_LIMIT = 600.0
#: An exit code that pytest doesn't have.
TIMED_OUT = 124
#: Set when the program is to end: runs end, and none begins.
STOPPED = threading.Event()


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How a run ended: pytest's exit code, or TIMED_OUT, and a record for each test that was run."""

    code: int
    records: list[dict[str, Any]]
    output: str
    #: The test that ran last, and for how many seconds where it was ended.
    running: str | None = None
    running_seconds: float = 0.0

    @property
    def failed(self) -> str | None:
        """The first test that failed."""
        return next((record["test"] for record in self.records if record["outcome"] == "failed"), None)


def copy_source(source: Path, folder: Path) -> Path:
    """A copy of the source in a folder, with what Python has compiled of it."""
    target = folder / "src"
    shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns("*.egg-info"))
    return target


def run_pytest(
    *,
    root: Path,
    source: Path,
    folder: Path,
    arguments: Sequence[str],
    selected: Sequence[str] | None = None,
    limit: float | None = None,
    variables: Mapping[str, str] | None = None,
    warm: WarmPytest | None = None,
) -> Ended:
    """Run tests of a checkout on a copy of its source; `limit` is in seconds from when the first test begins.

    `warm` is a process to fork the run from; without it a new one is started.
    """
    if STOPPED.is_set():
        raise InterruptedError("the program is to end")
    records, temporary = folder / "records", folder / "t"
    for path in (records, temporary):
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True, exist_ok=True)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("COV_", "COVERAGE_", "PYTEST_"))},
        "PYTHONPATH": os.pathsep.join([str(source), str(TOOLS), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep),
        "TMPDIR": str(temporary),
        "HYPOTHESIS_STORAGE_DIRECTORY": str(folder / "hypothesis"),
        plugin.RECORDS: str(records),
        plugin.CONTEXT: "",
        RUN: str(folder),
        **(variables or {}),
    }
    environment.pop(plugin.SELECTED, None)
    if selected is not None:
        (folder / "selected.json").write_text(json.dumps(list(selected)), "utf-8")
        environment[plugin.SELECTED] = str(folder / "selected.json")
    words = ["-p", plugin.__name__, "-p", "no:cacheprovider", f"--basetemp={temporary / 'p'}", *arguments]
    output = folder / "output.txt"
    process = (
        _start(words, root=root, environment=environment, output=output)
        if warm is None
        else warm.start(words, folder=root, environment=environment, output=output)
    )
    try:
        code = _wait(process, records / plugin.BEGUN, limit)
    finally:
        _end(process, str(folder))
        _unmount(temporary)
    shutil.rmtree(temporary, ignore_errors=True)
    text = output.read_text("utf-8", "replace")
    running, seconds = _running(records / plugin.RUNNING)
    return Ended(code=code, records=list(_read(records)), output=text, running=running, running_seconds=seconds)


def _unmount(folder: Path) -> None:
    """Small disks that a test mounted, and was ended before it could take away."""
    mounts = Path("/proc/self/mounts")
    if not mounts.exists():
        return
    for line in mounts.read_text("utf-8").splitlines():
        place = Path(line.split()[1])
        if place.is_relative_to(folder.resolve()):
            subprocess.run(["umount", "--lazy", str(place)], capture_output=True, check=False)


def _start(
    words: Sequence[str], *, root: Path, environment: Mapping[str, str], output: Path
) -> subprocess.Popen[bytes]:
    """A new process with pytest."""
    with output.open("wb") as file:
        return subprocess.Popen(
            [sys.executable, "-m", "pytest", *words],
            cwd=root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )


def _wait(process: subprocess.Popen[bytes] | ForkedRun, begun: Path, limit: float | None) -> int:
    """The exit code, or TIMED_OUT."""
    if limit is None:
        return int(process.wait())
    deadline, running = time.monotonic() + COLLECTION_LIMIT, False
    while process.poll() is None:
        if not running and begun.exists():
            deadline, running = time.monotonic() + limit, True
        if STOPPED.is_set():
            raise InterruptedError("the program is to end")
        if time.monotonic() > deadline:
            return TIMED_OUT
        time.sleep(0.05)
    assert process.returncode is not None
    return process.returncode


def _end(process: subprocess.Popen[bytes] | ForkedRun, run: str) -> None:
    """End the process, its group and, where the system shows them, all processes of the run."""
    if process.poll() is None:
        # A fork has no group of its own at once.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
        process.wait()
    mark = f"{RUN}={run}".encode()
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark in path.read_bytes().split(b"\0"):
                os.kill(int(path.parent.name), signal.SIGKILL)
        except OSError:
            continue


def _running(path: Path) -> tuple[str | None, float]:
    """The test that began last, and the seconds since then."""
    if not path.exists():
        return None, 0.0
    return path.read_text("utf-8"), max(0.0, time.time() - path.stat().st_mtime)


def _read(records: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(records.glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            yield json.loads(line)
