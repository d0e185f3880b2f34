"""A process that has loaded what all tests load, and forks one run of pytest after another.

Most of a short run of tests is spent on loading pytest's plugins and large packages. This process loads them once, but
neither the package under test nor its tests; each run is a fork of it, with an environment and a folder of its own, so
no run sees what another loaded or changed. It is for systems that can fork.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

#: Loaded once, where they are installed; nothing that starts a thread when it is imported.
MODULES = (
    "pytest",
    "_pytest.assertion.rewrite",
    "coverage",
    "hypothesis.strategies",
    "schemathesis.pytest.plugin",
    "schemathesis.openapi",
    "schemathesis.graphql",
    "numpy.testing",
    "scipy.stats",
    "scipy.optimize",
    "scipy.sparse.linalg",
    "pandas",
    "pydantic",
    "fastapi.testclient",
    "sqlalchemy.dialects.sqlite",
    "alembic.command",
    "jinja2",
    "altair",
    "vl_convert",
    "sacrebleu",
    "dask",
    "requests",
)
#: Plugins that are loaded already can't have their assertions rewritten, which matters to none of them.
QUIET = ("-W", "ignore::pytest.PytestAssertRewriteWarning")
#: pytest's exit code for what is its own fault.
INTERNAL_ERROR = 3
#: The same for numeric libraries in every run, as one run may load them for the next.
ENVIRONMENT = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class ForkedRun:
    """A run that was forked: like `subprocess.Popen`, as far as runs need it."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self.ended = threading.Event()

    def poll(self) -> int | None:
        return self.returncode

    def wait(self) -> int:
        self.ended.wait()
        assert self.returncode is not None
        return self.returncode


class WarmPytest:
    """The process from which runs are forked."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **ENVIRONMENT},
            start_new_session=True,
        )
        self._started: list[ForkedRun] = []
        self._waiting = threading.Semaphore(0)
        self._lock = threading.Lock()
        threading.Thread(target=self._read, daemon=True).start()

    def start(
        self, arguments: Sequence[str], *, folder: Path, environment: Mapping[str, str], output: Path
    ) -> ForkedRun:
        """Fork a run of pytest in a folder."""
        request = {
            "arguments": list(arguments),
            "folder": str(folder),
            "environment": dict(environment),
            "output": str(output),
        }
        assert self._process.stdin is not None
        with self._lock:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            self._waiting.acquire()
            return self._started[-1]

    def __enter__(self) -> WarmPytest:
        return self

    def __exit__(self, *_: object) -> None:
        """End the process; runs that go on are for their starters to end."""
        self._process.kill()
        self._process.wait()

    def _read(self) -> None:
        """Take what the process tells: that a run was started, or how it ended."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            told = json.loads(line)
            if "code" not in told:
                self._started.append(ForkedRun(told["pid"]))
                self._waiting.release()
                continue
            run = next(run for run in self._started if run.pid == told["pid"])
            run.returncode = told["code"]
            run.ended.set()


def serve() -> None:
    """Load what tests share, then fork a run for each line that comes in."""
    for module in MODULES:
        with suppress(ImportError):
            importlib.import_module(module)
    os.set_blocking(sys.stdin.fileno(), True)
    for line in sys.stdin:
        request = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _run(request)
        _tell({"pid": pid})
        threading.Thread(target=_wait, args=(pid,), daemon=True).start()


def _run(request: Mapping[str, object]) -> None:
    """What a fork does: it becomes what `python -m pytest` would be, and never returns."""
    os.setsid()
    output = os.open(str(request["output"]), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    environment, folder, arguments = request["environment"], str(request["folder"]), request["arguments"]
    assert isinstance(environment, dict)
    assert isinstance(arguments, list)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    here = str(Path(__file__).parent)
    sys.path[:] = [
        folder,
        *environment.get("PYTHONPATH", "").split(os.pathsep),
        *(entry for entry in sys.path if entry != here),
    ]
    sys.argv = ["pytest", *arguments]
    # The folder for temporary files is this run's, whatever was asked for before.
    tempfile.tempdir = None
    import pytest

    # Whatever happens, this process must not go on as the one that it was forked from.
    sys.excepthook = lambda *_: (traceback.print_exception(*_), os._exit(INTERNAL_ERROR))
    code = int(pytest.main([*QUIET, *arguments]))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _wait(pid: int) -> None:
    _, status = os.waitpid(pid, 0)
    _tell({"pid": pid, "code": os.waitstatus_to_exitcode(status)})


def _tell(words: Mapping[str, int]) -> None:
    sys.stdout.write(json.dumps(words) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    serve()
