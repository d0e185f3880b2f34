"""The texts of a board with the file and line where each stands, for messages that a person can follow up.

A board in memory has no line numbers, so the files are read once more: instances for references and inputs,
generators and loose outputs for the texts to be checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from billboards.board.model import Board, Outputs
from billboards.board.output_lines import TextsFile, read_texts_and_lines
from billboards.board.parts import INSTANCES, OUTPUTS
from billboards.reading import Problems, json_lines


@dataclass(frozen=True, slots=True)
class Passage:
    """One text of an instance (by its position on the board) and the line it stands on."""

    instance: int
    text: str
    line: int | None


@dataclass(frozen=True)
class Passages:
    """Texts of one kind from one file; `row` is the generator's row where they are a generator's."""

    path: str
    what: str
    items: tuple[Passage, ...]
    row: Outputs | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.items)

    @cached_property
    def joined(self) -> str:
        """All texts in one, to look quickly for what is rarely there."""
        return "\n".join(item.text for item in self.items)

    @cached_property
    def by_instance(self) -> Mapping[int, Passage]:
        return {item.instance: item for item in self.items}


def instance_lines(root: Path) -> dict[str, int]:
    """The line on which each instance stands."""
    raw = (root / INSTANCES).read_bytes()
    return {item["id"]: line for line, item in reversed(list(json_lines(raw, INSTANCES, Problems()))) if "id" in item}


def references(board: Board, lines: Mapping[str, int]) -> Passages:
    found = (Passage(k, r.text, lines.get(i.id)) for k, i in enumerate(board.instances) for r in i.references)
    return Passages(INSTANCES, "references", tuple(found))


def inputs(board: Board, lines: Mapping[str, int]) -> Passages:
    found = (Passage(k, i.input, lines.get(i.id)) for k, i in enumerate(board.instances) if i.input is not None)
    return Passages(INSTANCES, "inputs", tuple(found))


def outputs(root: Path, board: Board, problems: Problems) -> list[Passages]:
    """The outputs of every generator whose file is sound, then those without a generator; mistakes are added."""
    found = []
    for row in board.rows:
        file = row.load
        if not isinstance(file, TextsFile) or problems.errors_in(file.name):
            continue
        texts, lines = read_texts_and_lines(file.path.read_bytes(), file.name, board.position, problems)
        if not problems.errors_in(file.name):
            items = tuple(Passage(k, text, lines[k]) for k, text in enumerate(texts) if text is not None)
            found.append(Passages(file.name, "outputs", items, row))
    return found if problems.errors_in(OUTPUTS) else found + _loose_outputs(root, board)


def _loose_outputs(root: Path, board: Board) -> list[Passages]:
    rows = [row for row in board.rows if row.generator is None]
    if not rows:
        return []
    raw = (root / OUTPUTS).read_bytes()
    lines = {item.get("id"): line for line, item in json_lines(raw, OUTPUTS, Problems())}
    items = [
        Passage(k, text, lines.get(key))
        for row in rows
        for k, (text, key) in enumerate(zip(row.texts, row.ids, strict=True))
        if text is not None
    ]
    return [Passages(OUTPUTS, "outputs", tuple(sorted(items, key=lambda item: item.line or 0)))]
