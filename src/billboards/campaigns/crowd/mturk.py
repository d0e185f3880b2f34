"""Results of Mechanical Turk batches, as its requester's page gave them: one CSV file a batch.

The platform closed in 2026, so there is nothing to publish to; files of past campaigns remain. A row is one
assignment: who did it, when, for how long, and a column `Answer.NAME` for every field of the form beside a column
`Input.NAME` for every field of the task.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

from billboards.errors import ImportRefused

#: Columns without which a file is no batch.
NEEDED = ("HITId", "AssignmentId", "WorkerId", "AssignmentStatus")
#: The abbreviations that its times ended with.
ZONES = {"UTC": timedelta(0), "GMT": timedelta(0), "PST": timedelta(hours=-8), "PDT": timedelta(hours=-7)}


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """One person's answers to one task; what was not answered is absent."""

    task: str
    id: str
    worker: str
    status: str
    submitted: datetime | None
    seconds: float | None
    inputs: Mapping[str, str]
    answers: Mapping[str, str]


def read_batch(path: Path) -> tuple[Assignment, ...]:
    """All assignments of a batch's file, in its order."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            missing = [name for name in NEEDED if name not in (reader.fieldnames or ())]
            if missing:
                raise ImportRefused(f"{path}: no results of a batch: column {missing[0]!r} is missing")
            return tuple(_assignments(path, reader))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ImportRefused(f"{path}: can't be read as a batch's results: {error}") from error


def _assignments(path: Path, reader: csv.DictReader[str]) -> Iterator[Assignment]:
    for row in reader:
        if None in row or None in row.values():
            raise ImportRefused(f"{path}:{reader.line_num}: the row has another number of columns than the header")
        if not row["WorkerId"] or not row["AssignmentId"]:
            raise ImportRefused(f"{path}:{reader.line_num}: an assignment without its worker or its id")
        yield Assignment(
            task=row["HITId"],
            id=row["AssignmentId"],
            worker=row["WorkerId"],
            status=row["AssignmentStatus"],
            submitted=_moment(path, reader.line_num, row.get("SubmitTime", "")),
            seconds=_seconds(path, reader.line_num, row.get("WorkTimeInSeconds", "")),
            inputs=_named(row, "Input."),
            answers=_named(row, "Answer."),
        )


def _named(row: Mapping[str, str], prefix: str) -> dict[str, str]:
    return {name.removeprefix(prefix): value for name, value in row.items() if name.startswith(prefix) and value}


def _seconds(path: Path, line: int, written: str) -> float | None:
    try:
        return float(written) if written else None
    except ValueError as error:
        raise ImportRefused(f"{path}:{line}: WorkTimeInSeconds is {written!r}, no number") from error


def _moment(path: Path, line: int, written: str) -> datetime | None:
    """A time such as `Sat Nov 14 09:30:00 PST 2020`."""
    if not written:
        return None
    words = written.split()
    try:
        offset = ZONES[words.pop(4)]
        local = datetime.strptime(" ".join(words), "%a %b %d %H:%M:%S %Y")
    except (ValueError, IndexError, KeyError) as error:
        raise ImportRefused(f"{path}:{line}: SubmitTime is {written!r}, no time as the platform wrote them") from error
    return local.replace(tzinfo=timezone(offset)).astimezone(UTC)
