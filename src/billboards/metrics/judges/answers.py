"""Every answer a judge gave, kept word for word in one SQLite file, so that nothing is asked twice.

An answer is found by a digest of the endpoint and the whole question: model, prompt and parameters; of a question that
is put several times on purpose, its number too. It is on disk before it is used, so that a kill loses only what is in
flight. Answers that can't be read are kept too, for people to see, and so is that a judge abstained. The key is no part
of a question and is never in the file. A file of version 0.1 is given what it lacks when it is opened.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from billboards.errors import StoreFailed
from billboards.metrics.judges.responses import Answer
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
    answered_at TEXT NOT NULL,
    unusable TEXT,
    numbers TEXT
)
"""
#: Columns that files of version 0.1 lack.
LATER = ("unusable", "numbers")
ABSTENTIONS = """
CREATE TABLE IF NOT EXISTS abstentions (
    question TEXT PRIMARY KEY,
    endpoint TEXT NOT NULL,
    model TEXT NOT NULL,
    reason TEXT NOT NULL,
    answer TEXT NOT NULL,
    abstained_at TEXT NOT NULL
)
"""
Request = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What the answers of one model at one endpoint took, over all runs.

    `uncounted` came without counts of tokens; `abstained` is the number of questions that have no readable answer.
    """

    endpoint: str
    model: str
    answers: int
    uncounted: int
    tokens_in: int
    tokens_out: int
    abstained: int = 0


@dataclass(frozen=True, kw_only=True)
class Abstention:
    """Why a judge has no say about a question, and what it said last."""

    reason: str
    answer: str


def question_key(endpoint: str, request: Request, number: int = 0) -> str:
    """What a question is found by; `number` tells apart those that are put several times on purpose."""
    asked = json.dumps([endpoint, request, *([number] if number else [])], sort_keys=True)
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
            database.execute("BEGIN IMMEDIATE")
            database.execute(TABLE)
            database.execute(ABSTENTIONS)
            columns = {row[1] for row in database.execute("PRAGMA table_info(answers)")}
            for column in LATER:
                if column not in columns:
                    database.execute(f"ALTER TABLE answers ADD COLUMN {column} TEXT")
            database.execute("CREATE INDEX IF NOT EXISTS by_question ON answers (question, number)")

    def find(self, key: str) -> list[Answer]:
        """Every answer to a question, the last one first."""
        query = (
            "SELECT answer, is_cut, tokens_in, tokens_out, unusable, numbers FROM answers WHERE question = ? "
            "ORDER BY number DESC"
        )
        with self._open() as database:
            return [_answer(*row) for row in database.execute(query, (key,))]

    def keep(self, key: str, endpoint: str, request: Request, answer: Answer) -> None:
        """Write an answer down; returns when it is on disk."""
        # Texts are JSON strings in ASCII, because SQLite takes no lone surrogates.
        texts = (json.dumps(request), json.dumps(answer.text))
        numbers = None if answer.numbers is None else json.dumps(answer.numbers)
        row = (key, endpoint, request["model"], *texts, answer.is_cut, answer.tokens_in, answer.tokens_out)
        with self._open() as database:
            database.execute(
                "INSERT INTO answers (question, endpoint, model, request, answer, is_cut, tokens_in, tokens_out, "
                "answered_at, unusable, numbers) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*row, _now(), answer.unusable, numbers),
            )

    def answered(self, keys: Sequence[str]) -> set[str]:
        """Those of some questions that were answered, or abstained from."""
        marks = ", ".join("?" * len(keys))
        tables = (f"SELECT question FROM {table} WHERE question IN ({marks})" for table in ("answers", "abstentions"))
        with self._open() as database:
            return {question for query in tables for (question,) in database.execute(query, list(keys))}

    def usual_tokens(self, endpoint: str, model: str) -> float:
        """The tokens that a model's answers have had so far, on average; 0 where nobody knows."""
        query = "SELECT coalesce(avg(tokens_out), 0) FROM answers WHERE endpoint = ? AND model = ?"
        with self._open() as database:
            return float(database.execute(query, (endpoint, model)).fetchone()[0])

    def abstention(self, key: str) -> Abstention | None:
        """That a judge abstained from a question, where it did."""
        with self._open() as database:
            row = database.execute("SELECT reason, answer FROM abstentions WHERE question = ?", (key,)).fetchone()
            return Abstention(reason=json_value(row[0]), answer=json_value(row[1])) if row else None

    def keep_abstention(self, key: str, endpoint: str, model: str, abstention: Abstention) -> None:
        """Write down that a judge has no say about a question."""
        told = (json.dumps(abstention.reason), json.dumps(abstention.answer))
        with self._open() as database:
            database.execute(
                "INSERT OR REPLACE INTO abstentions (question, endpoint, model, reason, answer, abstained_at) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (key, endpoint, model, *told, _now()),
            )

    def forget_abstention(self, key: str) -> None:
        """A question that was once abstained from has an answer now."""
        with self._open() as database:
            database.execute("DELETE FROM abstentions WHERE question = ?", (key,))

    def spent(self) -> list[Spent]:
        """What was spent on each model, over all runs."""
        query = (
            "SELECT endpoint, model, sum(answers), sum(uncounted), sum(tokens_in), sum(tokens_out), sum(abstained) "
            "FROM (SELECT endpoint, model, 1 AS answers, tokens_in IS NULL OR tokens_out IS NULL AS uncounted, "
            "coalesce(tokens_in, 0) AS tokens_in, coalesce(tokens_out, 0) AS tokens_out, 0 AS abstained FROM answers "
            "UNION ALL SELECT endpoint, model, 0, 0, 0, 0, 1 FROM abstentions) GROUP BY 1, 2 ORDER BY 1, 2"
        )
        with self._open() as database:
            names = [field.name for field in fields(Spent)]
            return [Spent(**dict(zip(names, row, strict=True))) for row in database.execute(query)]

    def lines(self) -> Iterator[dict[str, object]]:
        """Every question and its raw answer, oldest first."""
        query = (
            "SELECT endpoint, request, answer, is_cut, tokens_in, tokens_out, answered_at, unusable FROM answers "
            "ORDER BY number"
        )
        names = ("endpoint", "request", "answer", "is_cut", "tokens_in", "tokens_out", "answered_at", "unusable")
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


def _answer(
    text: str, is_cut: int, tokens_in: int | None, tokens_out: int | None, unusable: str | None, numbers: str | None
) -> Answer:
    listed = None if numbers is None else tuple(json_value(numbers))
    return Answer(
        text=json_value(text),
        is_cut=bool(is_cut),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        unusable=unusable,
        numbers=listed,
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
