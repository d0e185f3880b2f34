"""Logs as lines of JSON, where a site's settings ask for them: one object a line, with what the line is about.

What it is about (a request's id, a job's board and cell) is set once where the work begins and stands in every line
that is written meanwhile, whoever writes it. Without the setting, warnings and errors are written as plain text.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from threading import Lock
from types import MappingProxyType
from typing import Any, TextIO

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


def write_logs(form: str, stream: TextIO | None = None) -> None:
    """Write this process's log as a site's settings say."""
    if form != "json":
        return
    handler = logging.StreamHandler(sys.stderr if stream is None else stream)
    handler.setFormatter(JsonLines())
    for name in LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO)
