"""The contract every importer keeps: files of a public data set in, a complete board out, or a refusal that says why.

An importer reads its source as it lies on disk, checks what the format promises, and returns a `Board` in memory with
notes on what a reader should know. It never guesses: a missing segment, a duplicate, a wrong column is named and
refused. Writing the folder is not its business.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from billboards.board import Board, Generator, ImportedColumn, Instance, Outputs, Texts, row_of
from billboards.board.names import board_name_mistake, file_name, mistake_in
from billboards.errors import ImportRefused, InvalidInput
from billboards.reading import Problems, shown

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
