"""A Dask cluster of the tests' own: a real scheduler and real workers, processes on loopback, gone at the end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Self

#: So often a task may lose its worker before the scheduler gives it up.
ALLOWED_FAILURES = 1


class LoopbackDask:
    """A scheduler, and one process that keeps some workers alive."""

    def __init__(self, workers: int = 2) -> None:
        self._workers = workers
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="bb-dask-")
        self._path = Path(self._folder.name)
        self._file = self._path / "scheduler.json"
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", self._file)
        if self._workers:
            self.start_workers(self._workers)
        self.address = self._address()
        return self

    def __exit__(self, *_: object) -> None:
        for process in reversed(self._processes):
            self.stop(process)
        self._folder.cleanup()

    def start_workers(
        self, count: int = 1, *, resources: str = "", path: Sequence[Path] = (), nanny: bool = True
    ) -> subprocess.Popen[bytes]:
        """Start workers with one thread each; modules in `path` are found before others."""
        words = ["--scheduler-file", self._file, "--local-directory", self._path, "--nthreads", "1", "--no-dashboard"]
        words += ["--nworkers", str(count), "--nanny" if nanny else "--no-nanny", "--memory-limit", "0"]
        return self._start("worker", *words, *(["--resources", resources] if resources else []), path=path)

    def stop(self, process: subprocess.Popen[bytes]) -> None:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _start(self, role: str, *words: object, path: Sequence[Path] = ()) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", role, *map(str, words)]
        command += ["--no-dashboard"] if role == "scheduler" else []
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([*map(str, path), *sys.path]),
            "DASK_CONFIG": str(self._path),
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": str(ALLOWED_FAILURES),
        }
        with (self._path / f"{role}.log").open("ab") as log:
            process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=self._path)
        self._processes.append(process)
        return process

    def _address(self) -> str:
        for _ in range(1200):
            try:
                return str(json.loads(self._file.read_text())["address"])
            except (OSError, ValueError):
                time.sleep(0.05)
        raise RuntimeError((self._path / "scheduler.log").read_text())
