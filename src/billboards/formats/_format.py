"""The contract of a format: a file in, a source of judgments out, and the way back.

Readers name every mistake with its line and guess nothing. Writers get judgments in words, with pseudonyms for
annotators already in place, beside the board whose texts they may quote.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any, Protocol

from billboards.board import Board, Judgment
from billboards.board.judgment_sources import JudgmentSource
from billboards.errors import ImportRefused
from billboards.reading import Problems


class Reader(Protocol):
    """Reads a file's judgments under a campaign's name; scales of known dimensions come from the board."""

    def __call__(self, path: Path, board: Board, campaign: str) -> JudgmentSource: ...


class Writer(Protocol):
    """A file's text from judgments in words."""

    def __call__(self, board: Board, judgments: Iterable[Judgment]) -> str: ...


def read_delimited(path: Path, delimiter: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Rows of a delimited file by column name, with their line; a row of another width is refused."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            is_quoted = delimiter != "\t"
            reader = csv.DictReader(
                file, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if is_quoted else csv.QUOTE_NONE, strict=True
            )
            for row in reader:
                if None in row or None in row.values():
                    raise ImportRefused(f"{path}:{reader.line_num}: another number of columns than the header has")
                yield reader.line_num, row
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ImportRefused(f"{path}: can't be read: {error}") from error


def need_columns(path: Path, found: Iterable[str], needed: Sequence[str], what: str) -> None:
    """Refuse a file that lacks a column its format promises."""
    missing = [name for name in needed if name not in set(found)]
    if missing:
        raise ImportRefused(f"{path}: no {what}: column {missing[0]!r} is missing; it needs {', '.join(needed)}")


def write_delimited(columns: Sequence[str], rows: Iterable[Mapping[str, Any]], delimiter: str) -> str:
    """Rows as a delimited text; without quoting where tabs delimit, as the readers of such files expect."""
    out = StringIO()
    if delimiter != "\t":
        writer = csv.DictWriter(out, columns, delimiter=delimiter, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return out.getvalue()
    out.write("\t".join(columns) + "\n")
    for row in rows:
        out.write("\t".join(" ".join(str(row[name]).split()) for name in columns) + "\n")
    return out.getvalue()


def one_generator(judgment: Judgment, form: str) -> str:
    """The generator that a judgment speaks of, for formats that know no comparisons."""
    if len(judgment.outputs) != 1:
        raise ImportRefused(f"{form} can't hold judgments that compare outputs; write csv instead")
    return judgment.outputs[0]


def text_of(board: Board, instance: str, row: str) -> str:
    """The output that was judged."""
    return board.row(row).texts[board.position[instance]] or ""


def say(problems: Problems, path: Path, line: int, message: str) -> None:
    problems.error(str(path), line, message)
