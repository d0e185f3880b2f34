"""What a format of judgments is: a file in, a source of judgments out, and the way back, declared in one file.

    @judgment_format()
    def pairs(path: Path, board: Board, campaign: str) -> JudgmentSource:
        \"""Pairs of outputs as a tool of ours keeps them.\"""

    @pairs.writer
    def _write(board: Board, judgments: Iterable[Judgment]) -> str: ...

Readers name every mistake with its line and guess nothing; scales of known dimensions come from the board. Writers get
judgments in words, with pseudonyms for annotators already in place, beside the board whose texts they may quote. A
format without a writer can only be read.
"""

from __future__ import annotations

import csv
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from billboards.errors import ImportRefused, InvalidInput
from billboards.registry import first_line

if TYPE_CHECKING:
    from billboards.board import Board, Judgment
    from billboards.board.judgment_sources import JudgmentSource

    Reader = Callable[[Path, Board, str], JudgmentSource]
    Writer = Callable[[Board, Iterable[Judgment]], str]


@dataclass(kw_only=True)
class JudgmentFormat:
    """A declared format; `read` takes a file, a board and the campaign's name, `write` gives a file's text."""

    name: str
    read: Reader
    _write: Writer | None = None

    @property
    def summary(self) -> str:
        """What the files hold, in one line."""
        return first_line(inspect.getdoc(self.read) or "")

    @property
    def can_write(self) -> bool:
        return self._write is not None

    def writer(self, write: Writer) -> Writer:
        """Declare the way back."""
        self._write = write
        return write

    def write(self, board: Board, judgments: Iterable[Judgment]) -> str:
        """A file's text from judgments in words."""
        if self._write is None:
            raise InvalidInput(f"files of format {self.name} can be read but not written; write csv instead")
        return self._write(board, judgments)


def judgment_format(name: str | None = None) -> Callable[[Reader], JudgmentFormat]:
    """Declare a function that reads a file to be a format.

    name: what people ask for; the function's own name, with dashes for underscores, unless another is given

    Example:

        @judgment_format()
        def my_tool(path: Path, board: Board, campaign: str) -> JudgmentSource: ...
    """

    def declare(read: Reader) -> JudgmentFormat:
        return JudgmentFormat(name=name or read.__name__.replace("_", "-"), read=read)

    return declare


def read_delimited(path: Path, delimiter: str, needed: Sequence[str], what: str) -> list[tuple[int, dict[str, str]]]:
    """Rows of a delimited file by column name, with their lines.

    A file without one of the needed columns is no such thing as `what` names, and is refused; so is one without rows,
    or with a row of another width.

    path: the file
    delimiter: what parts its cells
    needed: columns that it must have
    what: what such a file is called

    Example:

        read_delimited(path, "\\t", ("system", "score"), "table of ratings")
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(
                file,
                delimiter=delimiter,
                quoting=csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL,
                strict=True,
            )
            rows = [(reader.line_num, row) for row in reader]
            columns = reader.fieldnames or ()
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ImportRefused(f"{path}: can't be read: {error}") from error
    missing = [name for name in needed if name not in columns]
    if missing:
        raise ImportRefused(f"{path}: no {what}: column {missing[0]!r} is missing; it needs {', '.join(needed)}")
    for line, row in rows:
        if None in row or None in row.values():
            raise ImportRefused(f"{path}:{line}: another number of columns than the header has")
    if not rows:
        raise ImportRefused(f"{path}: holds nothing below its first line")
    return rows


def write_delimited(columns: Sequence[str], rows: Iterable[Mapping[str, Any]], delimiter: str) -> str:
    """Rows as a delimited text; without quoting where tabs delimit, as the readers of such files expect.

    columns: in their order
    rows: cells by column
    delimiter: what parts cells

    Example:

        write_delimited(("id", "score"), [{"id": "1", "score": 3}], ",")
    """
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


def single_generator(judgment: Judgment, form: str) -> str:
    """The generator that a judgment speaks of, for formats that know no comparisons.

    judgment: of one output
    form: the name of the format

    Example:

        single_generator(judgment, "csv")
    """
    if len(judgment.outputs) != 1:
        raise ImportRefused(f"{form} can't hold judgments that compare outputs; write csv instead")
    return judgment.outputs[0]


def judged_text(board: Board, instance: str, row: str) -> str:
    """The output that was judged.

    board: the board
    instance: the id of the instance
    row: the name of the row that was judged

    Example:

        judged_text(board, judgment.instance, judgment.outputs[0])
    """
    return board.row(row).texts[board.position[instance]] or ""
