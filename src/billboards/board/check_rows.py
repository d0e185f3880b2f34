"""What rows are, beside one another, the references and the judgments: gaps, copies, and people taken for machines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from billboards.board.model import Board, Kind, Outputs
from billboards.board.names import folded
from billboards.board.parts import part_files, read_part
from billboards.board.passages import Passages
from billboards.errors import Problem
from billboards.reading import Problems, json_lines, shown

#: A machine's outputs that equal a reference are worth a word from this share on; below, they are chance.
COPIED = 0.1


def coverage(board: Board, passages: Passages) -> Iterator[Problem]:
    have = passages.by_instance
    missing = [instance.id for k, instance in enumerate(board.instances) if k not in have]
    if passages.row is not None and missing:
        message = (
            f"outputs for {len(have)} of {len(board.instances)} instances, first missing {shown(missing[0])}; "
            "generators are ranked only where they cover the board"
        )
        yield _warning(passages.path, None, message)


def copied_references(board: Board, passages: Passages) -> Iterator[Problem]:
    """A machine's outputs that are references, and a person's row that is a reference throughout."""
    kind = _kind(passages.row)
    for name in board.reference_names if kind else ():
        texts = {k: r.text for k, i in enumerate(board.instances) for r in i.references if r.name == name}
        both = [item for item in passages.items if item.instance in texts]
        equal = [item for item in both if item.text == texts[item.instance]]
        where = equal[0].line if equal else None
        same = f"{len(equal)} of {len(both)} outputs equal reference {shown(name)}"
        if kind == "machine" and len(equal) >= 2 and len(equal) >= COPIED * len(both):
            message = f'{same}; take them out, or declare the generator as kind = "human" if a person wrote them'
            yield _warning(passages.path, where, message)
        elif kind == "human" and both and len(equal) == len(both):
            message = f"{same}: it takes no part where that reference is used, which is right if the two are one text"
            yield _warning(passages.path, where, message)
        elif kind == "human" and passages.row is not None and passages.row.name == name and both:
            message = f"{same} of its own name; it counts as that reference all the same, so rename one if they differ"
            yield _warning(passages.path, where, message)


def twins(rows: Sequence[Passages]) -> Iterator[Problem]:
    """Generators whose outputs are the same throughout."""
    first: dict[tuple[tuple[int, str], ...], Passages] = {}
    for passages in rows:
        texts = tuple((item.instance, item.text) for item in passages.items)
        other = first.setdefault(texts, passages)
        if other is not passages and texts:
            message = f"all {len(texts)} outputs equal those in {other.path}; keep one of the two"
            yield _warning(passages.path, passages.items[0].line, message)


def people_as_machines(passages: Passages) -> Iterator[Problem]:
    row = passages.row
    if row is not None and _kind(row) == "machine" and folded(row.name).startswith(("human", "reference")):
        message = f'counts as a machine; write kind = "human" under [generators.{row.name}] if a person wrote it'
        yield _warning(passages.path, None, message)


def absent_outputs(root: Path, board: Board, rows: Sequence[Passages]) -> Iterator[Problem]:
    """Judgments of outputs that are not there."""
    present = np.ones((len(board.rows), len(board.instances)), bool)
    for passages in rows:
        if passages.row is not None:
            k = board.row_position[passages.row.name]
            present[k] = False
            present[k, list(passages.by_instance)] = True
    judged = _judged_cells(board)
    absent = judged[~present[judged[:, 0], judged[:, 1]]] if len(judged) else judged
    if len(absent):
        row, instance = board.rows[absent[0, 0]].name, board.instances[absent[0, 1]].id
        path, line = _judgment_line(root, row, instance)
        message = (
            f"{len(absent)} of {len(judged)} judgments are of outputs that are not there, first generator {shown(row)} "
            f"on instance {shown(instance)}; add the outputs or take the judgments out"
        )
        yield _warning(path, line, message)


def silent_judgments(board: Board) -> Iterator[Problem]:
    """Judgments without a value, a preference or a span."""
    says_more = {k for k, detail in board.judgments.details.items() if detail.keys() & {"prefers", "order", "spans"}}
    silent = set(np.flatnonzero(np.isnan(board.judgments.values).all(axis=1)).tolist()) - says_more
    if silent:
        row, instance = (names[min(silent)] for names in (board.judgments.row, board.judgments.instance))
        message = (
            f"{len(silent)} of {len(board.judgments)} judgments say nothing, first one on instance "
            f"{shown(board.instances[instance].id)} in row {shown(board.rows[row].name)}; take them out"
        )
        yield _warning("judgments", None, message)


def _judged_cells(board: Board) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Row and instance of everything that was judged, in order."""
    judgments = board.judgments
    cells = np.column_stack([judgments.row, judgments.instance]).astype(np.int64)
    others = [(row, judgments.instance[k]) for k, d in judgments.details.items() for row in d.get("others", ())]
    return np.concatenate([cells, np.array(others, np.int64).reshape(-1, 2)])


def _judgment_line(root: Path, row: str, instance: str) -> tuple[str, int | None]:
    for path in part_files(root, "judgments", ".jsonl", Problems()):
        name = f"judgments/{path.name}"
        for line, item in json_lines(read_part(root, name, Problems()) or b"", name, Problems()):
            said = item.get("generators", [item.get("generator")])
            if item.get("instance") == instance and isinstance(said, list) and row in said:
                return name, line
    return "judgments", None


def _kind(row: Outputs | None) -> Kind | None:
    return row.generator.kind if row is not None and row.generator is not None else None


def _warning(path: str, line: int | None, message: str) -> Problem:
    return Problem(path, line, message, "warning")
