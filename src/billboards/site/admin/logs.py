"""Logs as lines of JSON, where a site's settings ask for them: one object a line, with what the line is about.

What it is about (a request's id, a job's board and cell) is set once where the work begins and stands in every line
that is written meanwhile, whoever writes it. Without the setting, warnings and errors are written as plain text.

All processes of a site may write to one file. It takes the place of standard error, so that what libraries and the
interpreter write is in it too; on SIGHUP it is opened anew, so that a file that was moved away can be kept or deleted.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from types import FrameType, MappingProxyType
from typing import Any, TextIO

from billboards.errors import StoreFailed

_about: ContextVar[Mapping[str, Any]] = ContextVar("about", default=MappingProxyType({}))
#: Whose lines are written; a web server's own among them.
LOGGERS = ("billboards", "uvicorn")
#: Kinds of lines that are counted.
REMEMBERED = 1000


class JsonLines(logging.Formatter):
    """A record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line = {"at": at, "level": record.levelname.lower(), "logger": record.name, "message": record.getMessage()}
        line |= {**_about.get(), **getattr(record, "fields", {})}
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


@contextmanager
def about(**fields: Any) -> Iterator[None]:
    """Say what everything that is logged meanwhile is about; what is None is left out."""
    context = {name: value for name, value in fields.items() if value is not None}
    token = _about.set({**_about.get(), **context})
    try:
        yield
    finally:
        _about.reset(token)


class Rate(logging.Filter):
    """Lets a line be written `most` times a minute; of what comes more often, how many there were is told once."""

    def __init__(self, most: int = 30) -> None:
        super().__init__()
        self.most = most
        self._minute: dict[tuple[str, str], tuple[float, int]] = {}
        self._lock = Lock()

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno < logging.WARNING:
            return True
        # What differs from line to line, as files and addresses do, comes after the words.
        key = (record.name, str(record.msg)[:40])
        with self._lock:
            began, count = self._minute.get(key, (record.created, 0))
            if record.created - began >= 60:
                if count > self.most:
                    record.msg = f"{record.msg} (and {count - self.most} more like it within a minute)"
                began, count = record.created, 0
            if len(self._minute) >= REMEMBERED:
                self._minute.clear()
            self._minute[key] = (began, count + 1)
        return count < self.most


def limit_logs() -> None:
    """Bound what one kind of trouble writes into this process's log, however often it happens."""
    rate = Rate()
    loggers = (logging.getLogger(name) for name in (None, "asyncio", "uvicorn.error", *LOGGERS))
    handlers = {handler for logger in loggers for handler in logger.handlers}
    for handler in (*handlers, *([logging.lastResort] if logging.lastResort is not None else [])):
        handler.addFilter(rate)


def write_logs(form: str, stream: TextIO | None = None, *, file: Path | None = None) -> None:
    """Write this process's log as a site's settings say."""
    if file is not None:
        append_to(file)
    if form != "json":
        return
    handler = logging.StreamHandler(sys.stderr if stream is None else stream)
    handler.setFormatter(JsonLines())
    for name in LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO)


def append_to(file: Path) -> None:
    """Let standard error be a file from now on: lines are added at its end, also by several processes at once."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        opened = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o640)
    except OSError as error:
        raise StoreFailed(f"{file}: the log can't be written: {error.strerror or error}; change log_file") from error
    try:
        os.dup2(opened, 2)
    finally:
        os.close(opened)


def reopen_on_hangup(file: Path | None) -> None:
    """Open the log file anew on SIGHUP; without one, SIGHUP does nothing, instead of ending the process."""
    on_hangup(lambda: None if file is None else append_to(file))


def on_hangup(act: Callable[[], None]) -> None:
    """Do something on SIGHUP, which would end the process otherwise; one that came while it began is not lost.

    Only the main thread of a process can do so; elsewhere nothing changes.
    """
    if not hasattr(signal, "SIGHUP") or threading.current_thread() is not threading.main_thread():
        return

    def answer(_: int, __: FrameType | None) -> None:
        try:
            act()
        except StoreFailed as error:
            # The old file is open still, and says so.
            logging.getLogger("billboards.site").error("%s", error)

    signal.signal(signal.SIGHUP, answer)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGHUP])
