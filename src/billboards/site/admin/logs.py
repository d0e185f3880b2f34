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
from types import MappingProxyType
from typing import Any, TextIO

_about: ContextVar[Mapping[str, Any]] = ContextVar("about", default=MappingProxyType({}))
#: Whose lines are written; a web server's own among them.
LOGGERS = ("billboards", "uvicorn")


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
