"""Running a submitted program so that it can do no harm, whatever it does.

The program runs behind the walls of `confinement`, watched from outside; its output is drained and mostly dropped, so
that a flood costs neither memory nor disk. All that can happen to it is an `Outcome` with one sentence for the
submitter; an exception means that the platform, not the program, is at fault.
"""

from __future__ import annotations

import codecs
import os
import re
import selectors
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Event, Thread
from typing import Literal

from billboards.errors import MissingPart
from billboards.run.confinement import PRIVATE, Places, Started, Work, start_confined, start_unconfined
from billboards.run.limits import MOST_LOCKS, Limits
from billboards.run.tally import FirstProcess, ProcessView, Tally
from billboards.run.verdicts import Ending, Outcome, Report, Verdict, outcome_of, read_report

__all__ = ["Availability", "Limits", "Outcome", "Places", "Work", "run", "sandbox_available"]

Stream = Literal["stdout", "stderr"]
Listener = Callable[[Stream, str], None]
#: How often the watch looks, and the caller is asked whether to go on, in seconds.
PAUSE = 0.05
#: Seconds of the watch from one look that counts what is slow to count to the next.
SELDOM = 1.0
#: How long the walls may take to stand, what is left in pipes to come, and a killed sandbox to be gone, in seconds.
START, LEFTOVERS, GONE = 30.0, 5.0, 10.0
BLOCK = 1 << 18
HEADER_BYTES = 1 << 12


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether programs can be confined here; if not, the reason and what to do."""

    reason: str | None = None

    def __bool__(self) -> bool:
        return self.reason is None


@cache
def sandbox_available() -> Availability:
    """Whether programs can be confined here, found out by confining one."""
    try:
        outcome = _confine_something()
    except MissingPart as error:
        return Availability(str(error))
    if outcome.result == b"works\n":
        return Availability()
    return Availability(
        f"bubblewrap is installed but can't build a sandbox here ({outcome.problem}); allow user namespaces to the "
        "server's user (in a container: run it with the right to create them), or mark programs as trusted"
    )


def _confine_something() -> Outcome:
    with tempfile.TemporaryDirectory(prefix="billboards-") as folder:
        # The folder of a program must be readable by the user it becomes.
        Path(folder).chmod(0o755)
        work = Work(Path(folder), lambda places: ("/bin/sh", "-c", f"echo works > {places.result}"))
        return _run(work, Limits(wall_seconds=20, cpu_seconds=20), None, None, confined=True)


def run(
    work: Work,
    *,
    limits: Limits | None = None,
    trusted: bool = False,
    listen: Listener | None = None,
    cancelled: Callable[[], bool] | None = None,
    quoting: bool = True,
) -> Outcome:
    """Run a program to its end, confined; where no sandbox can be built only a trusted one runs, unconfined.

    `listen` hears what the program writes, up to the limit; `cancelled` is asked all the time and ends the program.
    Without `quoting` the outcome's sentence holds nothing that the program wrote, which may be what it was given.
    """
    available = sandbox_available()
    if not available and not trusted:
        raise MissingPart(str(available.reason))
    return _run(work, limits or Limits(), listen, cancelled, confined=bool(available), quoting=quoting)


def _run(
    work: Work,
    limits: Limits,
    listen: Listener | None,
    cancelled: Callable[[], bool] | None,
    *,
    confined: bool,
    quoting: bool = True,
) -> Outcome:
    with ExitStack() as stack:
        started = _start(work, limits, stack, confined=confined)
        attendant = stack.enter_context(_attending(started, limits))
        attendant.attend(listen, cancelled)
        return outcome_of(attendant.ending(), limits, Path(work.result).name, quoting=quoting)


def _start(work: Work, limits: Limits, stack: ExitStack, *, confined: bool) -> Started:
    try:
        if confined:
            return start_confined(work, limits, stack)
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="billboards-"))
        return start_unconfined(work, limits, stack, Path(folder))
    except OSError as error:
        raise MissingPart(f"the server has no room to start a program: {error}; try again later") from error


class _Tail:
    """The end of what a stream carried, and how much that was; the listener hears its beginning."""

    def __init__(self, name: Stream, kept: int, listen: Listener | None) -> None:
        self.name, self.kept, self.listen = name, kept, listen
        self.total = 0
        self._end = bytearray()
        # A letter may be cut in two by the end of a block.
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def add(self, block: bytes) -> None:
        if self.listen is not None and self.total < self.kept:
            self.listen(self.name, _shown(self._decoder.decode(block[: self.kept - self.total])))
        self.total += len(block)
        self._end += block[-self.kept :]
        del self._end[: -self.kept]

    @property
    def text(self) -> str:
        dropped = self.total - len(self._end)
        before = f"[{dropped} earlier bytes left out]\n" if dropped else ""
        return before + _shown(self._end.decode("utf-8", "replace"))


class _Watch(Thread):
    """Ends a program that uses more than it may, and remembers of what."""

    def __init__(self, limits: Limits, view: ProcessView | None, started: Started, end: Callable[[], None]) -> None:
        super().__init__(name="sandbox-watch", daemon=True)
        self.limits, self.view, self.end = limits, view, end
        self.own_processes, self.group = started.own_processes, started.group
        self.verdict: Verdict | None = None
        self.peak = self.cpu_seconds = 0.0
        self.over = Event()
        self._began = self._counted = time.monotonic()

    def run(self) -> None:
        try:
            while self.verdict is None and not self.over.wait(PAUSE):
                self.verdict = self._excess()
        except OSError:
            # Nothing runs unwatched.
            self.verdict = "broken"
        if self.verdict is not None:
            self.end()

    def _excess(self) -> Verdict | None:
        used = Tally() if self.view is None else self.view.tally()
        self.peak = max(self.peak, used.memory)
        counted = 0.0 if self.group is None else self.group.cpu_seconds
        self.cpu_seconds = max(self.cpu_seconds, used.cpu_seconds, counted)
        if time.monotonic() - self._began > self.limits.wall_seconds:
            return "wall time"
        if self.cpu_seconds > self.limits.cpu_seconds:
            return "cpu time"
        if used.threads - self.own_processes > self.limits.processes:
            return "processes"
        if used.files > self.limits.tmp_files:
            return "files"
        if self._too_many_locks():
            return "locks"
        return "memory" if self._too_much_memory(used) else None

    def _too_many_locks(self) -> bool:
        # By the clock, not by looks: those are few and far between on a machine that has much to do.
        if self.view is None or time.monotonic() - self._counted < SELDOM:
            return False
        self.view.count_mappings()
        self._counted = time.monotonic()
        return self.view.locks() > MOST_LOCKS

    def _too_much_memory(self, used: Tally) -> bool:
        limit = self.limits.memory_bytes
        return self.view is not None and used.memory + used.buffers > limit and self.view.exact_memory() > limit


class _Attendant:
    """Drains what a program writes until it has ended, and ends it when told to."""

    def __init__(self, started: Started, limits: Limits) -> None:
        self.started, self.limits, self.process = started, limits, started.process
        self.confined = started.info is not None
        self.report = bytearray()
        self.watch: _Watch | None = None
        self.first: FirstProcess | None = None
        self.cancelled = self.ended_by_us = self.lives_on = False
        self.seconds = 0.0
        self._began = time.monotonic()
        self._stack = ExitStack()

    def attend(self, listen: Listener | None, cancelled: Callable[[], bool] | None) -> None:
        kept = self.limits.output_bytes
        self.tails = _Tail("stdout", kept, listen), _Tail("stderr", kept, listen)
        with selectors.DefaultSelector() as selector:
            assert self.process.stdout is not None
            assert self.process.stderr is not None
            selector.register(self.process.stdout, selectors.EVENT_READ, self.tails[0].add)
            selector.register(self.process.stderr, selectors.EVENT_READ, self.tails[1].add)
            selector.register(self.started.pipe, selectors.EVENT_READ, self._hear)
            for _ in self._ticks(selector):
                if cancelled is not None and not self.cancelled and cancelled():
                    self.cancelled = True
                    self.end()
                if self.watch is None and time.monotonic() - self._began > START:
                    self.end()
        self.process.wait()
        self._end_inside()
        self.seconds = time.monotonic() - self._began

    def end(self) -> None:
        """Kill it: in a sandbox the outermost process and the first inside, with which everything inside dies."""
        self.ended_by_us = True
        if self.confined:
            self._kill_inside()
            self.process.kill()
        elif self.process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)

    def close(self) -> None:
        """Leave nothing behind, also when the caller's own code raised."""
        if self.watch is not None:
            self.watch.over.set()
            self.watch.join()
        if self.process.poll() is None:
            self.end()
            self.process.wait()
        self._end_inside()
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()
        self._stack.close()

    def _kill_inside(self) -> None:
        self._meet_first()
        if self.first is not None:
            self.first.end()
        if self.started.group is not None:
            self.started.group.end()

    def _end_inside(self) -> None:
        """See to it that nothing lives on inside, whatever the program did to the sandbox's own processes."""
        self._kill_inside()
        if self.first is not None and not self.first.has_ended(GONE):
            self.lives_on = True

    def _meet_first(self) -> None:
        """Get hold of the first process inside, which bubblewrap named before the launcher began."""
        if self.first is not None or self.started.info is None or (pid := _first_process(self.started.info)) is None:
            return
        with suppress(ProcessLookupError):
            self.first = FirstProcess(pid)
            self._stack.callback(self.first.close)

    def ending(self) -> Ending:
        ready, report = self._reported()
        return Ending(
            ready=ready,
            report=report,
            stopped="cancelled" if self.cancelled else self._stopped(),
            killed_from_outside=self.process.returncode == -signal.SIGKILL and not self.ended_by_us,
            lives_on=self.lives_on,
            stdout=self.tails[0].text,
            stderr=self.tails[1].text,
            seconds=self.seconds,
            cpu_seconds=0.0 if self.watch is None else self.watch.cpu_seconds,
            peak_memory=0 if self.watch is None else int(self.watch.peak),
        )

    def _stopped(self) -> Verdict | None:
        if self.started.group is not None and self.started.group.memory_ran_out:
            return "memory"
        return None if self.watch is None else self.watch.verdict

    def _ticks(self, selector: selectors.BaseSelector) -> Iterator[None]:
        """Read whatever comes; now and then, and at least as often as the watch looks, let the caller act."""
        tick, ended = time.monotonic(), None
        while selector.get_map():
            for key, _ in selector.select(PAUSE):
                block = os.read(key.fd, BLOCK)
                key.data(block) if block else selector.unregister(key.fileobj)
            now = time.monotonic()
            if now - tick >= PAUSE:
                tick = now
                yield
                if ended is None and self.process.poll() is not None:
                    ended = now
                    self._kill_inside()
            # A trusted program may leave others behind that hold the pipes; in a sandbox nobody is left.
            if ended is not None and now - ended > LEFTOVERS:
                return

    def _hear(self, block: bytes) -> None:
        """The launcher's words, of which there may be no more than a result and its header."""
        self.report += block[: self.limits.result_bytes + HEADER_BYTES - len(self.report)]
        if self.watch is None and self.report.startswith(b"ready\n"):
            self.watch = _Watch(self.limits, self._view(), self.started, self.end)
            self.watch.start()

    def _view(self) -> ProcessView | None:
        self._meet_first()
        if self.first is None:
            # A trusted program without a sandbox, or one that has ended already.
            return None
        try:
            return self._stack.enter_context(ProcessView(self.first.pid, PRIVATE))
        except (FileNotFoundError, ProcessLookupError):
            # It has ended already.
            return None
        except PermissionError as error:
            # The kernel says the same of a process that is about to end, and has no memory any more.
            if self.first.is_ending():
                return None
            raise MissingPart(f"the server may not look into its sandboxes, so it can't watch them: {error}") from error

    def _reported(self) -> tuple[bool, Report | None]:
        ready, _, rest = bytes(self.report).partition(b"\n")
        return ready == b"ready", read_report(rest)


@contextmanager
def _attending(started: Started, limits: Limits) -> Iterator[_Attendant]:
    attendant = _Attendant(started, limits)
    try:
        yield attendant
    finally:
        attendant.close()


def _first_process(info: int) -> int | None:
    """The process that bubblewrap named as the first inside; None as long as it named none, or if it has ended."""
    os.set_blocking(info, False)
    with suppress(BlockingIOError, FileNotFoundError, ProcessLookupError):
        match = re.search(rb'"child-pid":\s*(\d+)', os.read(info, HEADER_BYTES))
        # Its number could be another's by now, who is no first process of a world of its own.
        if match is not None and re.search(r"^NSpid:.*\s1$", _status(int(match[1])), re.MULTILINE):
            return int(match[1])
    return None


def _status(pid: int) -> str:
    return Path(f"/proc/{pid}/status").read_text("utf-8", "replace")


def _shown(text: str) -> str:
    """Text that any log can store."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")
