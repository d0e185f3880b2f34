"""What became of a program, and the one sentence that tells its author.

A sentence says what happened, names the limit where it was one, and what to do about it. Only when the sandbox itself
did not work is the platform at fault; whatever a program does to its sandbox is the program's doing.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from billboards.run.launcher import KINDS, UNKNOWN, UNREADABLE
from billboards.run.limits import MOST_LOCKS, Limits

Verdict = Literal[
    "finished",
    "exit code",
    "signal",
    "wall time",
    "cpu time",
    "memory",
    "processes",
    "files",
    "locks",
    "file size",
    "cancelled",
    "broken",
]


@dataclass(frozen=True, slots=True)
class Report:
    """What the launcher said: how the program ended, and what stands where its result should."""

    status: int
    state: str
    size: int
    content: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Ending:
    """All that was seen of a program from outside."""

    ready: bool
    report: Report | None
    stopped: Verdict | None
    killed_from_outside: bool
    #: Whether something of it was left that could not be ended.
    lives_on: bool = False
    stdout: str
    stderr: str
    seconds: float
    cpu_seconds: float
    peak_memory: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What became of a program.

    `problem` is None when it ended well and left its result; `platform` says that the problem is not its fault.
    `stdout` and `stderr` are the ends of what it wrote.
    """

    verdict: Verdict
    exit_code: int | None
    stdout: str
    stderr: str
    seconds: float
    cpu_seconds: float
    peak_memory: int
    result: bytes | None
    problem: str | None
    platform: bool = False


#: Why a program's author is told no more.
WITHHELD = "more is withheld, because it was given texts that its author may not read"
#: What may stand where a result should.
STATES = ("missing", "too large", *KINDS, UNREADABLE, UNKNOWN)
#: What a program was refused, by the words the system has for it.
HINTS: Mapping[str, Callable[[Limits], str]] = {
    "MemoryError": lambda limits: f"it may use {_size(limits.memory_bytes)} of memory (memory_bytes)",
    "Cannot allocate memory": lambda limits: f"it may use {_size(limits.memory_bytes)} of memory (memory_bytes)",
    "bad_alloc": lambda limits: f"it may use {_size(limits.memory_bytes)} of memory (memory_bytes)",
    "No space left on device": lambda limits: (
        f"its /tmp holds {_size(limits.tmp_bytes)} (tmp_bytes), "
        f"the folder of its scores {_size(limits.result_bytes)} (result_bytes)"
    ),
    "File too large": lambda limits: f"a file may have {_size(limits.file_bytes)} (file_bytes)",
    "Too many open files": lambda limits: f"it may have {limits.open_files} files open (open_files)",
    "Resource temporarily unavailable": lambda limits: f"it may have {limits.processes} processes (processes)",
    "Cannot fork": lambda limits: f"it may have {limits.processes} processes (processes)",
    "can't start new thread": lambda limits: f"it may have {limits.processes} threads (processes)",
    "Read-only file system": lambda _: "only $TMPDIR and the folder of the scores file can be written",
    "Network is unreachable": lambda _: "there is no network; ship what it needs with the metric",
    "Temporary failure in name resolution": lambda _: "there is no network; ship what it needs with the metric",
    "Name or service not known": lambda _: "there is no network; ship what it needs with the metric",
    "flock": lambda _: "whole files can't be locked; lock a range (fcntl), or use a lock file",
    "No module named": lambda _: "name every package in requirements.txt",
}


def read_report(line: bytes) -> Report | None:
    """The launcher's report; None when there is none, or none that makes sense."""
    header, _, content = line.partition(b"\n")
    try:
        fields = json.loads(header)
        report = Report(int(fields["status"]), str(fields["found"]), int(fields["size"]), content)
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None
    return report if report.state in STATES and _has_ended(report.status) else None


def _has_ended(status: int) -> bool:
    return 0 <= status <= 0xFFFF and (os.WIFEXITED(status) or os.WIFSIGNALED(status))


def outcome_of(ending: Ending, limits: Limits, result: str, *, quoting: bool = True) -> Outcome:
    """Judge what was seen; `quoting` lets the sentence hold what the program chose: its last words, codes and sizes."""
    verdict = _verdict(ending)
    report = ending.report
    problem = _sentence(verdict, ending, limits, quoting=quoting)
    if problem is None and report is not None:
        problem = _result_problem(report, limits, result, quoting=quoting)
    code = os.waitstatus_to_exitcode(report.status) if report is not None and verdict == "exit code" else None
    return Outcome(
        verdict=verdict,
        exit_code=0 if verdict == "finished" else code,
        stdout=ending.stdout,
        stderr=ending.stderr,
        seconds=ending.seconds,
        cpu_seconds=ending.cpu_seconds,
        peak_memory=ending.peak_memory,
        result=None if problem is not None or report is None else report.content,
        problem=problem,
        platform=verdict == "broken",
    )


def _verdict(ending: Ending) -> Verdict:
    if ending.lives_on:
        return "broken"
    if ending.stopped is not None:
        return ending.stopped
    if not ending.ready or ending.killed_from_outside:
        return "broken"
    if ending.report is None:
        return "signal"
    status = ending.report.status
    if os.WIFSIGNALED(status):
        limits: dict[int, Verdict] = {signal.SIGXCPU: "cpu time", signal.SIGXFSZ: "file size"}
        return limits.get(os.WTERMSIG(status), "signal")
    return "exit code" if os.WEXITSTATUS(status) else "finished"


def _sentence(verdict: Verdict, ending: Ending, limits: Limits, *, quoting: bool) -> str | None:
    ask = "or ask the board's owner for a higher"
    sentences: dict[Verdict, str | None] = {
        "finished": None,
        "wall time": f"ran longer than {limits.wall_seconds:g} s and was ended; make it faster, {ask} wall_seconds",
        "cpu time": f"used more than {limits.cpu_seconds:g} s of processor time; make it faster, {ask} cpu_seconds",
        "memory": f"used more than {_size(limits.memory_bytes)} of memory; use less, {ask} memory_bytes",
        "processes": f"started more than {limits.processes} processes or threads; start fewer, {ask} processes",
        "files": f"made more than {limits.tmp_files} files; make fewer, {ask} tmp_files",
        "locks": f"held more than {MOST_LOCKS} locks on files; hold fewer at a time",
        "file size": f"wrote a file of more than {_size(limits.file_bytes)}; write less, {ask} file_bytes",
        "cancelled": "was cancelled while it ran",
    }
    if verdict == "wall time":
        # What it was refused earlier may be why it never came to an end.
        return f"{sentences[verdict]}{_hint(ending, limits) if quoting else ''}"
    if verdict in sentences:
        return sentences[verdict]
    if verdict == "broken":
        return _broken(ending, quoting=quoting)
    if not quoting and ending.report is not None:
        return f"ended with an exit code that is not 0, or by a signal; {WITHHELD}"
    return f"{_death(ending)}{_hint(ending, limits)}{_last_words(ending)}" if quoting else _death(ending)


def _broken(ending: Ending, *, quoting: bool) -> str:
    if ending.lives_on:
        return "its sandbox could not be ended; the server's operator should look for processes that are left"
    if ending.killed_from_outside:
        return "its sandbox was ended from outside; this is no fault of the program, and it may be run again"
    words = _last_words(ending) if quoting else ""
    return f"its sandbox could not be built or watched, which is no fault of the program{words}"


def _death(ending: Ending) -> str:
    if ending.report is None:
        return "ended its own sandbox by a signal; signal only processes that it started"
    code = os.waitstatus_to_exitcode(ending.report.status)
    if code < 0:
        return f"was ended by the signal {_signal_name(-code)}"
    return f"ended with exit code {code}; 0 is needed"


def _hint(ending: Ending, limits: Limits) -> str:
    last = ending.stderr[-4096:]
    hints = (hint(limits) for words, hint in HINTS.items() if words in last)
    return "".join(f"; {hint}" for hint in dict.fromkeys(hints))


def _last_words(ending: Ending) -> str:
    lines = [line.strip() for line in ending.stderr.splitlines() if line.strip()]
    return f"; its last words: {lines[-1][-200:]}" if lines else ""


def _result_problem(report: Report, limits: Limits, name: str, *, quoting: bool) -> str | None:
    if report.state == "file":
        return None if len(report.content) == report.size else f"changed {name} after it had ended; write it once"
    if report.state == "missing":
        return f"ended without writing {name}; write one score per line to the path in the fourth argument"
    if not quoting:
        return f"left no plain file {name} of at most {_size(limits.result_bytes)} (result_bytes); {WITHHELD}"
    if report.state == "too large":
        return f"wrote {_size(report.size)} into {name}, which may have {_size(limits.result_bytes)} (result_bytes)"
    return f"left {name} as a {report.state}; write a plain file"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def _size(count: int) -> str:
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{count / size:.4g} {unit}"
    return f"{count} bytes"
