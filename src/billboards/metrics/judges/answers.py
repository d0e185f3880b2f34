"""Every answer a judge gave, kept word for word in one SQLite file, so that nothing is asked twice.

An answer is found by a digest of the endpoint and the whole question: model, prompt and parameters. It is on disk
before it is used, so that a kill loses only what is in flight. Answers that can't be read are kept too, for people to
see; they don't count as given. The key is no part of a question and is never in the file.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path

from billboards.errors import StoreFailed
from billboards.metrics.judges.endpoint import Answer, Request
from billboards.reading import json_value

TABLE = """
CREATE TABLE IF NOT EXISTS answers (
    number INTEGER PRIMARY KEY,
    question TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    model TEXT NOT NULL,
    request TEXT NOT NULL,
    answer TEXT NOT NULL,
    is_cut INTEGER NOT NULL,
    tokens_in INTEGER,
    tokens_out INTEGER,
    answered_at TEXT NOT NULL
)
"""


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What the answers of one model at one endpoint took, over all runs; `uncounted` came without counts."""

    endpoint: str
    model: str
    answers: int
    uncounted: int
    tokens_in: int
    tokens_out: int


def question_key(endpoint: str, request: Request) -> str:
    """What a question is found by."""
    asked = json.dumps([endpoint, request], sort_keys=True)
    return hashlib.sha256(asked.encode("ascii")).hexdigest()


class Answers:
    """The answers in one file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Prompts hold a board's texts, which may be private.
            path.touch(mode=0o600)
        except OSError as error:
            raise StoreFailed(f"{path}: no answers can be kept here: {error}") from error
        with self._open() as database:
            database.execute(TABLE)
            database.execute("CREATE INDEX IF NOT EXISTS by_question ON answers (question, number)")

    def find(self, key: str) -> Answer | None:
        """The last answer to a question."""
        query = "SELECT answer, is_cut, tokens_in, tokens_out FROM answers WHERE question = ? ORDER BY number DESC"
        with self._open() as database:
            row = database.execute(f"{query} LIMIT 1", (key,)).fetchone()
            return Answer(json_value(row[0]), bool(row[1]), *row[2:]) if row else None

    def keep(self, key: str, endpoint: str, request: Request, answer: Answer) -> None:
        """Write an answer down; returns when it is on disk."""
        # Texts are JSON strings in ASCII, because SQLite takes no lone surrogates.
        texts = (json.dumps(request), json.dumps(answer.text))
        row = (key, endpoint, request["model"], *texts, answer.is_cut, answer.tokens_in, answer.tokens_out)
        with self._open() as database:
            database.execute(
                "INSERT INTO answers (question, endpoint, model, request, answer, is_cut, tokens_in, tokens_out, "
                "answered_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*row, datetime.now(UTC).isoformat(timespec="seconds")),
            )

    def spent(self) -> list[Spent]:
        """What was spent on each model, over all runs."""
        query = (
            "SELECT endpoint, model, count(*), sum(tokens_in IS NULL OR tokens_out IS NULL), "
            "coalesce(sum(tokens_in), 0), coalesce(sum(tokens_out), 0) FROM answers GROUP BY 1, 2 ORDER BY 1, 2"
        )
        with self._open() as database:
            names = [field.name for field in fields(Spent)]
            return [Spent(**dict(zip(names, row, strict=True))) for row in database.execute(query)]

    def lines(self) -> Iterator[dict[str, object]]:
        """Every question and its raw answer, oldest first."""
        query = (
            "SELECT endpoint, request, answer, is_cut, tokens_in, tokens_out, answered_at FROM answers ORDER BY number"
        )
        names = ("endpoint", "request", "answer", "is_cut", "tokens_in", "tokens_out", "answered_at")
        with self._open() as database:
            for row in database.execute(query):
                record = dict(zip(names, row, strict=True))
                yield {**record, "request": json_value(record["request"]), "answer": json_value(record["answer"])}

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """A connection of the calling thread's own, committed at the end."""
        try:
            with closing(sqlite3.connect(self.path, timeout=60)) as database, database:
                database.execute("PRAGMA journal_mode=WAL")
                yield database
        except (sqlite3.Error, ValueError, TypeError) as error:
            raise StoreFailed(f"{self.path}: answers can't be read or kept: {error}") from error
