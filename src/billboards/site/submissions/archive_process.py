"""Strangers' archives looked at in a process of their own: one that fills memory or never ends harms nobody else.

A server keeps one helper process. It is told a folder with the archive and what is asked of it, and given a pipe for
the answer; it forks a child for that one archive, with limits of memory and time, and is ready for the next at once.
A child that breaks leaves the pipe empty, and the archive is refused.
"""

from __future__ import annotations

import atexit
import json
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from billboards.errors import InvalidInput, InvalidSubmission, Problem, StoreAway
from billboards.site.submissions.archives import LONGEST, folder_manifest, unpack_metric, write_files

#: Bytes of memory that reading an archive may take beside twice its own size.
MEMORY = 2**30
#: Seconds that reading an archive may take, and bytes of it for each of which one more is allowed.
SECONDS, BYTES_PER_SECOND = 60, 4 * 2**20
ARCHIVE, ASKED, FILES = "archive", "asked.json", "files"
#: The longest answer: a hundred mistakes and their names.
LONGEST_ANSWER = 2**20


@dataclass(frozen=True, kw_only=True)
class Declared:
    """What a metric's manifest says that a submission needs to know."""

    name: str
    trained_on_this_board: bool
    gpu: bool


def declared_in(
    raw: bytes, *, file_name: str, manifest: Mapping[str, Any] | None, name: str | None, most: int
) -> Declared:
    """What a metric says of itself; an archive that would be refused later is refused at once.

    `manifest` and `name` are what was said beside an archive without a `metric.toml`; it may unpack to `most` bytes.
    """
    with tempfile.TemporaryDirectory() as work:
        asked = {"file_name": file_name, "manifest": None if manifest is None else dict(manifest), "name": name}
        answer = _asked(Path(work), raw, {**asked, "most": most})
    if answer is None:
        why = "takes more memory or time to read than any metric needs; pack it again as a plain zip"
        raise InvalidSubmission([Problem(file_name, None, why)])
    if "problems" in answer:
        raise InvalidSubmission([Problem(**problem) for problem in answer["problems"]])
    return Declared(**answer)


def files_in(raw: bytes, *, file_name: str, most: int, most_files: int) -> list[tuple[str, bytes]]:
    """The files of a zip archive with what it calls them: so many bytes and files at most."""
    with tempfile.TemporaryDirectory() as work:
        (Path(work) / FILES).mkdir()
        answer = _asked(Path(work), raw, {"file_name": file_name, "most": most, "most_files": most_files})
        if answer is None:
            why = "takes more memory or time to read than outputs need; pack it again as a plain zip"
            raise InvalidInput(f"{file_name}: {why}")
        if "problems" in answer:
            raise InvalidSubmission([Problem(**problem) for problem in answer["problems"]])
        if "refused" in answer:
            raise InvalidInput(answer["refused"])
        return [(name, (Path(work) / FILES / str(k)).read_bytes()) for k, name in enumerate(answer["names"])]


def _asked(work: Path, raw: bytes, asked: Mapping[str, Any]) -> dict[str, Any] | None:
    """What a child of the helper answers about an archive; None where it broke or took too long."""
    try:
        (work / ARCHIVE).write_bytes(raw)
        (work / ASKED).write_text(json.dumps(dict(asked)), "utf-8")
    except OSError as error:
        raise StoreAway(f"the archive can't be looked at: {error.strerror or error}; free some space") from error
    return _HELPER.ask(str(work), seconds=_seconds(len(raw)))


def _seconds(size: int) -> int:
    return SECONDS + size // BYTES_PER_SECOND


class _Helper:
    """The helper of this process, started when it is first needed, and again should it have ended."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._lock = Lock()

    def ask(self, work: str, *, seconds: float) -> dict[str, Any] | None:
        """The child's answer about a folder; None where it broke or took too long."""
        ours, theirs = os.pipe()
        try:
            try:
                self._send(work, theirs)
            finally:
                os.close(theirs)
            content = _read_all(ours, time.monotonic() + seconds + 5)
        finally:
            os.close(ours)
        answer: dict[str, Any] | None = json.loads(content) if content else None
        return answer

    def _send(self, work: str, answering: int) -> None:
        with self._lock:
            for _ in range(2):
                with suppress(BrokenPipeError, ConnectionError):
                    socket.send_fds(self._connected(), [os.fsencode(work)], [answering])
                    return
                self._end()
        raise StoreAway("the process that looks at archives can't be started; try again in a moment")

    def _connected(self) -> socket.socket:
        if self._socket is None:
            self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                self._process = subprocess.Popen([sys.executable, "-m", __name__], stdin=theirs.fileno())
        return self._socket

    def end(self) -> None:
        """End the helper with the process that it helps."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        if self._socket is not None:
            self._socket.close()
        if self._process is not None:
            self._process.wait(10)
        self._process = self._socket = None


_HELPER = _Helper()
atexit.register(_HELPER.end)


def _read_all(handle: int, deadline: float) -> bytes:
    content = b""
    while len(content) <= LONGEST_ANSWER:
        if not select.select([handle], [], [], max(0.0, deadline - time.monotonic()))[0]:
            return b""
        block = os.read(handle, 2**16)
        if not block:
            return content
        content += block
    return b""


def main() -> int:
    """Serve one parent until it goes away."""
    # Children are not waited for: what they leave behind is in their pipe.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with socket.socket(fileno=0) as asking:
        while True:
            work, answering, *_ = socket.recv_fds(asking, 2**16, 1)
            if not work:
                return 0
            if os.fork() == 0:
                asking.close()
                _answer(Path(os.fsdecode(work)), answering[0])
                os._exit(0)
            os.close(answering[0])


def _answer(work: Path, answering: int) -> None:
    _limit((work / ARCHIVE).stat().st_size)
    asked = json.loads((work / ASKED).read_text("utf-8"))
    with suppress(MemoryError), os.fdopen(answering, "wb") as file:
        read = _read_files if "most_files" in asked else _read
        file.write(json.dumps(read(work, **asked)).encode())


def _limit(size: int) -> None:
    seconds = _seconds(size)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY + 2 * size, MEMORY + 2 * size))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.alarm(seconds)


def _read(
    work: Path, *, file_name: str, manifest: Mapping[str, Any] | None, name: str | None, most: int
) -> dict[str, Any]:
    try:
        unpack_metric((work / ARCHIVE).read_bytes(), work / "metric", name=file_name, most=most)
        declared = folder_manifest(work / "metric", manifest, name, file_name)
    except InvalidSubmission as error:
        return _problems(error)
    return {"name": declared.card.name, "trained_on_this_board": declared.trained_on_this_board, "gpu": declared.gpu}


def _read_files(work: Path, *, file_name: str, most: int, most_files: int) -> dict[str, Any]:
    try:
        raw = (work / ARCHIVE).read_bytes()
        names = write_files(raw, work / FILES, most=most, most_files=most_files, name=file_name)
    except InvalidSubmission as error:
        return _problems(error)
    except InvalidInput as error:
        return {"refused": str(error)}
    return {"names": [name[-LONGEST:] for name in names]}


def _problems(error: InvalidSubmission) -> dict[str, Any]:
    fields = ("path", "line", "message", "severity")
    return {"problems": [{field: getattr(problem, field) for field in fields} for problem in error.problems]}


if __name__ == "__main__":
    sys.exit(main())
