"""Putting a board together from what a public set of judged outputs says: instances, outputs, judgments, facts.

Most public sets are one file of outputs with what people said of them. Their importers read the file and say everything
by name; here names become rows and columns, in the order of a board folder, so that the board opens as it was imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from billboards.board import (
    Aggregate,
    Board,
    DataCard,
    Dimension,
    Generator,
    Instance,
    Judgment,
    Judgments,
    Outputs,
    Reference,
    Texts,
    loose_rows,
)
from billboards.importers.base import default_metrics, generator_rows, is_human
from billboards.importers.judgments import judgment_columns
from billboards.reading import Problems, numbered_lines, read_number, read_source, read_table, refuse_errors, shown

Cells = Mapping[str, str]

_UNENDED = ": the last line has no line end; make sure that the file is complete"


@dataclass(frozen=True)
class Facts:
    """What is known of a public set beside its files."""

    card: DataCard
    dimensions: tuple[Dimension, ...]
    ranks: str
    aggregates: tuple[Aggregate, ...] = ()
    input_language: str | None = None
    output_language: str | None = None


@dataclass
class LooseOutputs:
    """Outputs that belong to no generator, as they are found."""

    _depth: dict[str, int] = field(default_factory=dict)
    _outputs: list[tuple[str, str, str]] = field(default_factory=list)

    def add(self, instance: str, text: str, key: str | None = None) -> str:
        """One more output of an instance, under its id or else a number; the name of the row it will stand in."""
        self._depth[instance] = self._depth.get(instance, 0) + 1
        self._outputs.append((instance, key or f"{instance}.{self._depth[instance]}", text))
        return f"#{self._depth[instance]}"

    def __len__(self) -> int:
        return len(self._outputs)

    def rows(self, instances: Sequence[Instance]) -> tuple[Outputs, ...]:
        return loose_rows(instances, self._outputs)


def rows_of_generators(
    instances: Sequence[Instance],
    texts: Mapping[str, Mapping[str, str]],
    generators: Mapping[str, Generator] | None = None,
) -> tuple[Outputs, ...]:
    """A row per generator from its texts by instance; one without an entry is a machine, or human by its name."""
    known = {name: Generator(name, "human" if is_human(name) else "machine") for name in texts} | dict(generators or {})
    filled: dict[str, Texts] = {
        name: tuple(of_instance.get(instance.id) for instance in instances) for name, of_instance in texts.items()
    }
    return generator_rows(known, instances, filled)


def assemble(
    name: str, facts: Facts, instances: Sequence[Instance], rows: Sequence[Outputs], judgments: Iterable[Judgment]
) -> Board:
    """The board of a public set, with judgments that speak of rows by name."""
    bare = Board(
        name,
        tuple(instances),
        tuple(rows),
        Judgments(),
        {dimension.name: dimension for dimension in facts.dimensions},
        {aggregate.name: aggregate for aggregate in facts.aggregates},
        facts.ranks,
        default_metrics(instances),
        input_language=facts.input_language,
        output_language=facts.output_language,
        card=facts.card,
    )
    return judgment_columns(bare, judgments)


def counts(path: Path, board: Board) -> str:
    """How much was found, so that a file which ends too early doesn't go unnoticed."""
    outputs = sum(text is not None for row in board.rows for text in row.texts)
    return f"{path}: {len(board.instances)} instances, {outputs} outputs, {len(board.judgments)} judgments"


def references(texts: Iterable[str], name: str = "ref") -> tuple[Reference, ...]:
    """References under numbered names, `ref1` and so on, without the empty ones."""
    return tuple(Reference(f"{name}{k}", text) for k, text in enumerate(texts, 1) if text.strip())


def read_cells(path: Path, columns: Sequence[str], problems: Problems, notes: list[str]) -> Iterator[tuple[int, Cells]]:
    """The rows of a CSV or TSV file that must have these columns; it may have others."""
    table = read_table(path, problems, numbered=True)
    missing = [name for name in columns if name not in table.columns]
    if missing:
        found = ", ".join(table.columns[:12])
        problems.error(str(path), 1, f"has no column {shown(missing[0])}; the first line names {found}")
        refuse_errors(problems)
    notes.extend(table.notes)
    yield from table.rows


def read_fields(path: Path, width: int, problems: Problems, notes: list[str]) -> Iterator[tuple[int, list[str]]]:
    """The lines of a file without a header, tabs between its fields."""
    for line, text in read_lines(path, problems, notes):
        cells = text.split("\t")
        if len(cells) == width:
            yield line, cells
        elif text.strip():
            problems.error(str(path), line, f"{len(cells)} fields where {width} are needed, tabs between")


def read_lines(path: Path, problems: Problems, notes: list[str]) -> Iterator[tuple[int, str]]:
    """The lines of a text file; one that ends without a line end is noted, as some releases are published so."""
    raw = read_source(path)
    if not raw.endswith(b"\n"):
        others = notes.pop().removesuffix(_UNENDED) if notes and notes[-1].endswith(_UNENDED) else ""
        notes.append(f"{others}, {path.name}{_UNENDED}" if others else f"{path}{_UNENDED}")
    yield from numbered_lines(raw, str(path), problems)


def value_within(text: str, dimension: Dimension, where: str, line: int | None, problems: Problems) -> float:
    """A judgment's number, which must lie on the dimension's scale."""
    value = read_number(text, dimension.name, where, line, problems)
    low, high = dimension.range or (-float("inf"), float("inf"))
    if not low <= value <= high:
        problems.error(where, line, f"{dimension.name} = {shown(text)} lies outside [{low:g}, {high:g}]")
    return value


def text_in(item: Mapping[str, Any], key: str, where: str, line: int | None, problems: Problems) -> str:
    """A text of a JSON object; anything else is a mistake."""
    value = item.get(key)
    if not isinstance(value, str):
        problems.error(where, line, f'"{key}" must be text; found {shown(value)}')
        return ""
    return value


def texts_in(item: Mapping[str, Any], key: str, where: str, line: int | None, problems: Problems) -> list[str]:
    """A list of texts of a JSON object; anything else is a mistake."""
    value = item.get(key)
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        problems.error(where, line, f'"{key}" must be a list of texts; found {shown(value)}')
        return []
    return value


def refuse_twice(seen: dict[Any, int], key: Any, what: str, where: str, line: int, problems: Problems) -> bool:
    """Whether something was there before, which then is a mistake that names both lines."""
    if key in seen:
        problems.error(where, line, f"{what} appears twice, first on line {seen[key]}")
        return True
    seen[key] = line
    return False
