"""The process tree of a site: one supervisor, its workers, and whatever else it is given to keep alive.

A child that dies is started again, a little later each time it dies young. On SIGTERM or Ctrl-C all are asked to stop,
and after a while made to. SIGHUP is passed on to them: each opens its log file anew. Each child holds the reading end
of a pipe whose writing end only the supervisor has, so a supervisor that is killed takes its children with it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from billboards.site.admin.logs import append_to, on_hangup
from billboards.site.settings import read_site_settings

#: Seconds a child has to stop, the longest wait before one is started again, and how long it must live to start afresh.
GRACE, LONGEST_WAIT, GROWN = 10.0, 5.0, 2.0


@dataclass
class Child:
    """A process to keep alive."""

    name: str
    command: Sequence[str]
    #: Open files, such as a listening socket, that the process is given under the same numbers.
    files: tuple[int, ...] = ()
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    deaths: int = 0
    due: float = 0.0

    def start(self, now: float) -> None:
        # A session of its own: Ctrl-C reaches the supervisor alone, which then ends its children in order.
        with _hangups_kept():
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, start_new_session=True, pass_fds=self.files
            )
        self.started = now

    def look(self, now: float) -> None:
        """Start the process where it is due, and see whether it has died."""
        if self.process is None:
            if now >= self.due:
                self.start(now)
        elif self.process.poll() is not None:
            self.deaths = 0 if now - self.started > GROWN else self.deaths + 1
            self.due = now + min(LONGEST_WAIT, 0.1 * 2 ** min(self.deaths, 10))
            print(f"{self.name} ended with {self.process.returncode}; starting it again", file=sys.stderr, flush=True)
            self.close()

    def close(self) -> None:
        if self.process is not None and self.process.stdin is not None:
            self.process.stdin.close()
        self.process = None


@contextmanager
def _hangups_kept() -> Iterator[None]:
    """Let a process that is started meanwhile keep SIGHUP waiting until it knows what to do with it."""
    if not hasattr(signal, "SIGHUP"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGHUP])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def pass_on_hangup(children: Sequence[Child], log_file: Path | None) -> None:
    """On SIGHUP open the log file anew, here and in every child."""

    def act() -> None:
        if log_file is not None:
            append_to(log_file)
        for child in children:
            if child.process is not None and child.process.poll() is None:
                child.process.send_signal(signal.SIGHUP)

    on_hangup(act)


def worker_command(data: Path, name: str) -> list[str]:
    """How a worker is started."""
    return [sys.executable, "-m", "billboards.site.work.worker", str(data), "--name", name]


def supervise(children: Sequence[Child], stop: threading.Event, *, poll: float = 0.1) -> None:
    """Keep children alive until told to stop, then end them all."""
    try:
        while not stop.is_set():
            for child in children:
                child.look(time.monotonic())
            stop.wait(poll)
    finally:
        _end(children)


def _end(children: Sequence[Child]) -> None:
    running = [child.process for child in children if child.process is not None]
    for process in running:
        if process.poll() is None:
            process.terminate()
    deadline = time.monotonic() + GRACE
    for process in running:
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    for child in children:
        child.close()


def run(children: Sequence[Child], *, log_file: Path | None = None) -> None:
    """Supervise until SIGTERM or Ctrl-C, with what this process says in the site's log."""
    stop = threading.Event()
    if log_file is not None:
        append_to(log_file)
    pass_on_hangup(children, log_file)
    with stopping_on(signal.SIGTERM, signal.SIGINT, stop=stop):
        supervise(children, stop)


@contextmanager
def stopping_on(*numbers: int, stop: threading.Event) -> Iterator[None]:
    """Let signals set an event; afterwards they do what they did before."""

    def on_signal(_: int, __: FrameType | None) -> None:
        stop.set()

    before = {number: signal.signal(number, on_signal) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def add_arguments(parser: ArgumentParser) -> None:
    """What `python -m billboards.site.work.processes` takes."""
    parser.add_argument("data", type=Path)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)


def main(arguments: list[str] | None = None) -> int:
    """Workers without a server: `python -m billboards.site.work.processes DATA --workers N`."""
    parser = ArgumentParser("billboards workers")
    add_arguments(parser)
    parsed = parser.parse_args(arguments)
    names = [f"worker-{k + 1}" for k in range(parsed.workers)]
    log_file = read_site_settings(parsed.data).log_file
    children = [Child(name, worker_command(parsed.data, name)) for name in names]
    run(children, log_file=parsed.data / log_file if log_file else None)
    return 0


if __name__ == "__main__":
    sys.exit(main())
