"""The contract every importer keeps: files of a public data set in, a complete board out, or a refusal that says why.

An importer reads its source as it lies on disk, checks what the format promises, and returns a `Board` in memory with
notes on what a reader should know. It never guesses: a missing segment, a duplicate, a wrong column is named and
refused. Writing the folder is not its business.
"""

from __future__ import annotations

import hashlib
import math
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from billboards.board import Board, Generator, ImportedColumn, Instance, Outputs, Texts, row_of
from billboards.board.names import board_name_mistake, file_name, mistake_in
from billboards.errors import ImportRefused, InvalidInput
from billboards.reading.lines import Problems, numbered_lines, read_bytes, shown

Floats = NDArray[np.float64]

#: What a new board computes by itself.
_OF_REFERENCES = ("BLEU", "chrF", "chrF++", "TER", "ROUGE-1", "ROUGE-2", "ROUGE-3", "ROUGE-L")
_OF_OUTPUTS = ("length", "repetition-3")
_OF_INPUTS = ("abstractness-2",)
_STATISTIC = re.compile(r"length|(repetition|abstractness)-\d+")


@dataclass(frozen=True)
class Imported:
    """A board from elsewhere, and what its reader should know."""

    board: Board
    notes: tuple[str, ...] = ()


def refuse_errors(problems: Problems) -> None:
    """Raise with the first mistakes of a source, if there are any."""
    if not problems.errors:
        return
    first = "; ".join(str(problem).replace(": error:", ":") for problem in problems.errors[:3])
    more = len(problems.errors) - 3
    raise ImportRefused(first + (f"; and {more} more mistakes like these" if more > 0 else ""))


def read_source(path: Path) -> bytes:
    """A source file's bytes, unpacked when gzipped; an absent, unreadable or empty file is refused."""
    try:
        raw = read_bytes(path)
    except FileNotFoundError as error:
        raise ImportRefused(f"{path}: no such file; give the folder or file the importer's help describes") from error
    except (OSError, EOFError, zlib.error) as error:
        raise ImportRefused(f"{path}: can't be read: {error}; fetch the file again") from error
    if not raw:
        raise ImportRefused(f"{path}: is empty; fetch the file again")
    return raw


def check_ended(raw: bytes, name: str, problems: Problems) -> None:
    """A last line without its end may be half a number or half a sentence, which nothing else would show."""
    if not raw.endswith(b"\n"):
        line = raw.count(b"\n") + 1
        problems.error(name, line, "the last line has no line end, so the file may be cut off; fetch it again")


def check_name(kind: str, name: str, where: str, line: int | None, problems: Problems) -> None:
    """A name or id must be one that a board folder can hold."""
    mistake = mistake_in(kind, name)
    if mistake:
        problems.error(where, line, f"{kind} {shown(name)} {mistake}")


def board_name(name: str) -> str:
    """A board's name, if it can be one."""
    mistake = board_name_mistake(name)
    if mistake:
        raise InvalidInput(f"the board's name {shown(name)} {mistake}")
    return name


def read_number(text: str, what: str, where: str, line: int | None, problems: Problems) -> float:
    """A number from a file; NaN where the source says there is none."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan if text.strip().lower() in ("", "none") else math.inf
    if math.isinf(value) or "_" in text:  # Python would read 1_000
        problems.error(where, line, f"{what} {shown(text)} is not a finite number")
    return value


def read_columns(path: Path, header: Sequence[str], problems: Problems) -> list[tuple[int, list[str]]]:
    """The lines below a header, cells separated by blanks; lines of another width become problems."""
    raw = read_source(path)
    lines = ((number, line.split()) for number, line in numbered_lines(raw, str(path), problems) if line.strip())
    _, found = next(lines, (0, []))
    if found != list(header):
        problems.error(str(path), 1, f"the first line must read {' '.join(header)!r}; found {shown(' '.join(found))}")
        return []
    check_ended(raw, str(path), problems)
    rows = list(lines)
    if not rows:
        problems.error(str(path), 1, "holds nothing below its first line; fetch the file again")
    for number, cells in rows:
        if len(cells) != len(header):
            problems.error(str(path), number, f"{len(cells)} columns where {len(header)} are needed")
    return [(number, cells) for number, cells in rows if len(cells) == len(header)]


def find_file(root: Path, patterns: Sequence[str], what: str) -> Path:
    """The file itself, or the only one below a folder that matches the first pattern with any match."""
    if root.is_file():
        return root
    if not root.exists():
        raise ImportRefused(f"{root}: no such file or folder; it should hold {what}")
    for pattern in patterns:
        found = sorted(root.rglob(pattern))
        if len(found) > 1:
            names = ", ".join(str(path.relative_to(root)) for path in found[:6])
            raise ImportRefused(f"{root}: holds several candidates for {what}: {names}; give one of them")
        if found:
            return found[0]
    raise ImportRefused(f"{root}: holds no {what} (looked for {', '.join(patterns)})")


def some(names: Iterable[str], most: int = 5) -> str:
    """The first few names, and how many more there are."""
    every = list(names)
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more


def folder_order(name: str) -> str:
    """Sorts names as a board folder lists their files, so that a board opens as it was imported."""
    return f"{file_name(name)}.jsonl"


def is_human(name: str) -> bool:
    """Whether a system's name says that people wrote its outputs, as Human, Human-A and Human-A.0 do."""
    return re.fullmatch(r"Human(-.+)?", name) is not None


def plain_name(name: str) -> str:
    """A system's name without the submission number that WMT appends: `Human-A.0` is `Human-A`."""
    return re.sub(r"\.\d+$", "", name)


def default_metrics(instances: Sequence[Instance]) -> tuple[str, ...]:
    """The metrics a new board computes: those for which it has references and input texts."""
    of_references = _OF_REFERENCES if any(instance.references for instance in instances) else ()
    of_inputs = _OF_INPUTS if any(instance.input is not None for instance in instances) else ()
    return (*of_references, *_OF_OUTPUTS, *of_inputs)


def generator_rows(
    generators: Mapping[str, Generator], instances: Sequence[Instance], texts: Mapping[str, Texts]
) -> tuple[Outputs, ...]:
    """One row per generator, in the order of a board folder."""
    return tuple(row_of(generators[name], instances, texts[name]) for name in sorted(texts, key=folder_order))


def score_column(
    source_name: str,
    values: Mapping[str, Floats],
    *,
    name: str | None = None,
    references: Sequence[str] = (),
    needs_references: bool = True,
    needs_input: bool = False,
    is_ensemble: bool = False,
    is_statistic: bool = False,
) -> ImportedColumn:
    """Scores that came with the data, under a signature derived from every one of them."""
    total = hashlib.sha256(source_name.encode())
    ordered = {row: values[row] for row in sorted(values, key=folder_order)}
    for row, scores in ordered.items():
        total.update(b"\0" + row.encode() + b"\0" + np.ascontiguousarray(scores, "<f8").tobytes())
    return ImportedColumn(
        name or source_name,
        source_name,
        f"imported:{total.hexdigest()[:16]}",
        ordered,
        tuple(references) if needs_references else (),
        needs_references,
        needs_input,
        is_ensemble,
        is_statistic,
    )


def is_statistic(name: str) -> bool:
    """Whether scores of this name describe texts without judging them, where a source can't say so itself."""
    return _STATISTIC.fullmatch(name) is not None


def in_folder_order(columns: Iterable[ImportedColumn]) -> tuple[ImportedColumn, ...]:
    """Columns in the order a board folder lists their files."""
    return tuple(sorted(columns, key=lambda column: f"{file_name(column.source_name)}.tsv"))
