"""How many test questions each annotator answered right and wrong: a table with columns annotator, right and wrong.

A column `kind` parts them, such as positive and negative; without it all questions are of one kind. An annotator has
one line per kind. CSV, TSV, JSON lines and Parquet are read as everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from billboards.errors import ImportRefused
from billboards.reading import Problems, Row, read_table, refuse_errors, shown

COLUMNS = ("annotator", "right", "wrong")
ONE_KIND = "test"


@dataclass(frozen=True)
class AnnotatorCounts:
    """Annotators in the file's order, and for each kind of questions their right and wrong answers, 0 where none."""

    annotators: tuple[str, ...]
    kinds: dict[str, tuple[list[int], list[int]]]


def read_annotator_counts(path: Path) -> AnnotatorCounts:
    """The counts of a table; mistakes are refused with file and line."""
    problems = Problems(limit=3)
    table = read_table(path, problems)
    missing = [name for name in COLUMNS if name not in table.columns]
    if missing:
        raise ImportRefused(f"{path}: no column {missing[0]!r}; a table of counts has annotator, right, wrong [, kind]")
    found: dict[tuple[str, str], tuple[int, int]] = {}
    for row in table.rows:
        _note_row(row, found, str(path), problems)
    refuse_errors(problems)
    return _gathered(found)


def _note_row(row: Row, found: dict[tuple[str, str], tuple[int, int]], path: str, problems: Problems) -> None:
    line, cells = row
    annotator, kind = str(cells.get("annotator") or ""), str(cells.get("kind") or ONE_KIND)
    right, wrong = _count(cells.get("right")), _count(cells.get("wrong"))
    if not annotator:
        problems.error(path, line, "no annotator is named")
    elif right is None or wrong is None:
        problems.error(path, line, f"right and wrong must be whole numbers of 0 or more; found {shown(dict(cells))}")
    elif (annotator, kind) in found:
        problems.error(path, line, f"annotator {annotator!r} has a second line of {kind} questions; add the counts up")
    else:
        found[annotator, kind] = right, wrong


def _count(value: Any) -> int | None:
    """A count as tables hold it: 12, "12" or 12.0."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return int(number) if number >= 0 and number.is_integer() else None


def _gathered(found: dict[tuple[str, str], tuple[int, int]]) -> AnnotatorCounts:
    annotators = tuple(dict.fromkeys(annotator for annotator, _ in found))
    kinds = dict.fromkeys(kind for _, kind in found)
    counts = {kind: [found.get((annotator, kind), (0, 0)) for annotator in annotators] for kind in kinds}
    return AnnotatorCounts(
        annotators, {kind: ([r for r, _ in pairs], [w for _, w in pairs]) for kind, pairs in counts.items()}
    )
