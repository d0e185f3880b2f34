"""What importers share: finding and reading files, checking what they say, and putting a board together.

Most public sets are one file of outputs with what people said of them. Their importers read the file and say everything
by name; here names become rows and columns, in the order of a board folder, so that the board opens as it was imported.
Mistakes are collected in a `Problems` with file and line, and refused all at once.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from billboards.board import (
    Aggregate,
    Board,
    DataCard,
    Dimension,
    Generator,
    ImportedColumn,
    Instance,
    Judgment,
    Outputs,
    Reference,
    Texts,
    loose_rows,
    row_of,
)
from billboards.board.judgment_sources import judgment_columns
from billboards.board.names import board_name_mistake, file_name, folder_order, is_human, mistake_in
from billboards.errors import ImportRefused, InvalidInput
from billboards.reading import (
    Problems,
    json_lines,
    lacks_line_end,
    numbered_lines,
    read_number,
    read_source,
    read_table,
    refuse_errors,
    shown,
)

Floats = NDArray[np.float64]
Cells = Mapping[str, str]
#: What a new board computes by itself.
_OF_REFERENCES = ("BLEU", "chrF", "chrF++", "TER", "ROUGE-1", "ROUGE-2", "ROUGE-3", "ROUGE-L")
_OF_OUTPUTS = ("length", "repetition-3")
_OF_INPUTS = ("abstractness-2",)
_STATISTIC = re.compile(r"length|(repetition|abstractness)-\d+")
_UNENDED = ": the last line has no line end; make sure that the file is complete"


def find_file(root: Path, patterns: Sequence[str], what: str) -> Path:
    """The file itself, or the only one below a folder that matches the first pattern with any match.

    root: a file, or the folder to look in
    patterns: names with wildcards, the usual one first
    what: what is looked for, to say that it is missing

    Example:

        find_file(source, ("*.jsonl", "data/*.jsonl"), "summaries")
    """
    if root.is_file():
        return root
    if not root.exists():
        raise ImportRefused(f"{root}: no such file or folder; it should hold {what}")
    for pattern in patterns:
        # What lies where a clone has it comes first, and may be linked there; `rglob` doesn't follow links.
        matches = sorted(root.glob(pattern)) or sorted(root.rglob(pattern))
        if len(matches) > 1:
            names = ", ".join(str(path.relative_to(root)) for path in matches[:6])
            raise ImportRefused(f"{root}: holds several candidates for {what}: {names}; give one of them")
        if matches:
            return matches[0]
    raise ImportRefused(f"{root}: holds no {what} (looked for {', '.join(patterns)})")


def read_lines(path: Path, problems: Problems, notes: list[str]) -> Iterator[tuple[int, str]]:
    """The lines of a text file; one that ends without a line end is noted, unless it is published so.

    path: the file
    problems: where mistakes are collected
    notes: where remarks are collected

    Example:

        texts = [text for _, text in read_lines(path, problems, notes)]
    """
    raw = read_source(path)
    note_unended(path, raw, notes)
    yield from numbered_lines(raw, str(path), problems)


def note_unended(path: Path, raw: bytes, notes: list[str]) -> None:
    """Note a file that ends without a line end: it may be complete, or cut off within its last line."""
    if lacks_line_end(raw):
        others = notes.pop().removesuffix(_UNENDED) if notes and notes[-1].endswith(_UNENDED) else ""
        notes.append(f"{others}, {path.name}{_UNENDED}" if others else f"{path}{_UNENDED}")


def read_fields(path: Path, width: int, problems: Problems, notes: list[str]) -> Iterator[tuple[int, list[str]]]:
    """The lines of a file without a header, tabs between its fields.

    path: the file
    width: how many fields a line has
    problems: where mistakes are collected
    notes: where remarks are collected

    Example:

        for line, (system, score) in read_fields(path, 2, problems, notes): ...
    """
    for line, text in read_lines(path, problems, notes):
        cells = text.split("\t")
        if len(cells) == width:
            yield line, cells
        elif text.strip():
            problems.error(str(path), line, f"{len(cells)} fields where {width} are needed, tabs between")


def read_cells(path: Path, columns: Sequence[str], problems: Problems, notes: list[str]) -> Iterator[tuple[int, Cells]]:
    """The rows of a CSV or TSV file that must have these columns; it may have others.

    path: the file
    columns: those it must have
    problems: where mistakes are collected
    notes: where remarks are collected

    Example:

        for line, cells in read_cells(path, ("id", "score"), problems, notes): ...
    """
    table = read_table(path, problems, numbered=True)
    missing = [name for name in columns if name not in table.columns]
    if missing:
        names = ", ".join(table.columns[:12])
        problems.error(str(path), 1, f"has no column {shown(missing[0])}; the first line names {names}")
        refuse_errors(problems)
    notes.extend(table.notes)
    yield from table.rows


def read_json(path: Path) -> Any:
    """A file that is one JSON value; one that is none is refused with its line.

    path: the file

    Example:

        read_json(source / "annotations.json")
    """
    raw = read_source(path)
    try:
        return json.loads(raw.decode("utf-8-sig"), object_pairs_hook=_unique)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ImportRefused(f"{path}:{line}: not UTF-8; save the file as UTF-8") from error
    except json.JSONDecodeError as error:
        raise ImportRefused(f"{path}:{error.lineno}: not JSON: {error.msg}; fetch the file again") from error
    except (ValueError, RecursionError) as error:
        raise ImportRefused(f"{path}: not usable JSON: {error}; fetch the file again") from error


def read_objects(path: Path, key: str) -> Mapping[str, Mapping[str, Any]]:
    """Objects by id, from a file that is one JSON object, or JSON lines with the id under a key.

    path: the file
    key: what the id is called in JSON lines

    Example:

        read_objects(path, "doc_id")
    """
    if ".jsonl" in path.suffixes:
        problems = Problems()
        objects: dict[str, Mapping[str, Any]] = {}
        for line, item in json_lines(read_source(path), str(path), problems):
            name = str(item.get(key, ""))
            if not name or name in objects:
                what = "appears twice" if name else "is missing"
                problems.error(str(path), line, f'"{key}" {shown(name)} {what}')
            objects[name] = item
        if not objects and not problems.errors:
            problems.error(str(path), None, "holds nothing; fetch the file again")
        refuse_errors(problems)
        return objects
    value = read_json(path)
    if not isinstance(value, dict) or not value or not all(isinstance(item, dict) for item in value.values()):
        raise ImportRefused(f"{path}: must be a JSON object with an object for each id; found {shown(value)}")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) < len(pairs):
        raise ValueError("a key appears twice in one object")
    return unique


def check_name(kind: str, name: str, where: str, line: int | None, problems: Problems) -> None:
    """A name or id must be one that a board folder can hold.

    kind: what has the name, as "generator"
    name: the name or id
    where, line: the file and the line, for the mistake
    problems: where mistakes are collected

    Example:

        check_name("generator", row["system"], str(path), line, problems)
    """
    mistake = mistake_in(kind, name)
    if mistake:
        problems.error(where, line, f"{kind} {shown(name)} {mistake}")


def board_name(name: str) -> str:
    """A board's name, if it can be one.

    name: what the data are called

    Example:

        board_name("wmt20-zh-en")
    """
    mistake = board_name_mistake(name)
    if mistake:
        raise InvalidInput(f"the board's name {shown(name)} {mistake}")
    return name


def refuse_twice(seen: dict[Any, int], key: Any, what: str, where: str, line: int, problems: Problems) -> bool:
    """Whether something was there before, which then is a mistake that names both lines.

    seen: where each key was met first; it learns this one
    key: what must be there once
    what: what it is called in the mistake
    where, line: the file and the line, for the mistake
    problems: where mistakes are collected

    Example:

        if refuse_twice(seen, (system, instance), "output", str(path), line, problems):
            continue
    """
    if key in seen:
        problems.error(where, line, f"{what} appears twice, first on line {seen[key]}")
        return True
    seen[key] = line
    return False


def value_within(text: str, dimension: Dimension, where: str, line: int | None, problems: Problems) -> float:
    """A judgment's number, which must lie on the dimension's scale.

    text: what is written
    dimension: whose scale it must lie on
    where, line: the file and the line, for the mistake
    problems: where mistakes are collected

    Example:

        value_within(cells["score"], adequacy, str(path), line, problems)
    """
    value = read_number(text, dimension.name, where, line, problems)
    low, high = dimension.range or (-float("inf"), float("inf"))
    if not low <= value <= high:
        problems.error(where, line, f"{dimension.name} = {shown(text)} lies outside [{low:g}, {high:g}]")
    return value


def text_in(item: Mapping[str, Any], key: str, where: str, line: int | None, problems: Problems) -> str:
    """A text of a JSON object; anything else is a mistake.

    item: the object
    key: the text's name in it
    where, line: the file and the line, for the mistake
    problems: where mistakes are collected

    Example:

        text_in(item, "summary", str(path), line, problems)
    """
    value = item.get(key)
    if not isinstance(value, str):
        problems.error(where, line, f'"{key}" must be text; found {shown(value)}')
        return ""
    return value


def texts_in(item: Mapping[str, Any], key: str, where: str, line: int | None, problems: Problems) -> list[str]:
    """A list of texts of a JSON object; anything else is a mistake.

    item: the object
    key: the list's name in it
    where, line: the file and the line, for the mistake
    problems: where mistakes are collected

    Example:

        texts_in(item, "references", str(path), line, problems)
    """
    value = item.get(key)
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        problems.error(where, line, f'"{key}" must be a list of texts; found {shown(value)}')
        return []
    return value


def references(texts: Iterable[str], name: str = "ref") -> tuple[Reference, ...]:
    """References under numbered names, `ref1` and so on, without the empty ones.

    texts: in their order
    name: what their names begin with

    Example:

        references(["A first one.", "Another."])
    """
    return tuple(Reference(f"{name}{k}", text) for k, text in enumerate(texts, 1) if text.strip())


def rows_of_generators(
    instances: Sequence[Instance],
    texts: Mapping[str, Mapping[str, str]],
    generators: Mapping[str, Generator] | None = None,
) -> tuple[Outputs, ...]:
    """A row per generator from its texts by instance; one without an entry is a machine, or human by its name.

    instances: in the board's order
    texts: by generator and instance
    generators: what is known of them, by name

    Example:

        rows_of_generators(instances, {"A": {"1": "An output."}})
    """
    named = {name: Generator(name, kind="human" if is_human(name) else "machine") for name in texts} | dict(
        generators or {}
    )
    filled: dict[str, Texts] = {
        name: tuple(of_instance.get(instance.id) for instance in instances) for name, of_instance in texts.items()
    }
    return generator_rows(named, instances, filled)


def generator_rows(
    generators: Mapping[str, Generator], instances: Sequence[Instance], texts: Mapping[str, Texts]
) -> tuple[Outputs, ...]:
    """One row per generator, in the order of a board folder.

    generators: by name
    instances: in the board's order
    texts: the outputs of each generator

    Example:

        generator_rows({"A": Generator("A")}, instances, {"A": texts})
    """
    return tuple(row_of(generators[name], instances, texts[name]) for name in sorted(texts, key=folder_order))


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


def assemble(
    name: str,
    instances: Sequence[Instance],
    rows: Sequence[Outputs],
    judgments: Iterable[Judgment],
    *,
    dimensions: Sequence[Dimension],
    ranks: str | None,
    aggregates: Sequence[Aggregate] = (),
    input_language: str | None = None,
    output_language: str | None = None,
    card: DataCard | None = None,
    anonymous: Sequence[str] = (),
) -> Board:
    """The board of a public set.

    name: the board's name
    instances, rows: what was to be put out, and the outputs; see `rows_of_generators` and `LooseOutputs`
    judgments: what people said, naming instances and rows
    dimensions, aggregates: the scales of the judgments, and means over several of them
    ranks: the dimension or aggregate that ranks metrics; None where there are no judgments
    input_language, output_language: their codes, where all texts are in one language
    card: facts of this very board; what every board of an importer shares stands in its declaration
    anonymous: campaigns whose annotators are places in a list, not persons

    Example:

        assemble(name, instances, rows_of_generators(instances, texts), judgments, dimensions=scales, ranks="adequacy")
    """
    bare = Board(
        name=name,
        instances=tuple(instances),
        rows=tuple(rows),
        dimensions={dimension.name: dimension for dimension in dimensions},
        aggregates={aggregate.name: aggregate for aggregate in aggregates},
        ranks=ranks,
        metrics=default_metrics(instances),
        input_language=input_language,
        output_language=output_language,
        card=card or DataCard(),
        anonymous=tuple(anonymous),
    )
    return judgment_columns(bare, judgments)


def default_metrics(instances: Sequence[Instance]) -> tuple[str, ...]:
    """The metrics a new board computes: those for which it has references and input texts.

    instances: the board's

    Example:

        default_metrics(board.instances)
    """
    of_references = _OF_REFERENCES if any(instance.references for instance in instances) else ()
    of_inputs = _OF_INPUTS if any(instance.input is not None for instance in instances) else ()
    return (*of_references, *_OF_OUTPUTS, *of_inputs)


def counts(path: Path, board: Board) -> str:
    """How much was found, so that a file which ends too early doesn't go unnoticed.

    path: the file that was read
    board: what it gave

    Example:

        notes = (counts(path, board),)
    """
    outputs = sum(text is not None for row in board.rows for text in row.texts)
    return f"{path}: {len(board.instances)} instances, {outputs} outputs, {len(board.judgments)} judgments"


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
    """Scores that came with the data, under a signature derived from every one of them.

    source_name: what the source calls the metric
    values: by generator, a score for each instance
    name: what the board calls it; by default as the source does
    references: those it was computed with
    needs_references, needs_input: what the metric reads beside outputs
    is_ensemble, is_statistic: it combines metrics, or judges nothing

    Example:

        score_column("bleu", {"A": np.array([0.2, 0.4])}, references=["ref"])
    """
    total = hashlib.sha256(source_name.encode())
    ordered = {row: values[row] for row in sorted(values, key=folder_order)}
    for row, scores in ordered.items():
        total.update(b"\0" + row.encode() + b"\0" + np.ascontiguousarray(scores, "<f8").tobytes())
    return ImportedColumn(
        name=name or source_name,
        source_name=source_name,
        signature=f"imported:{total.hexdigest()[:16]}",
        values=ordered,
        references=tuple(references) if needs_references else (),
        needs_references=needs_references,
        needs_input=needs_input,
        is_ensemble=is_ensemble,
        is_statistic=is_statistic,
    )


def is_statistic(name: str) -> bool:
    """Whether scores of this name describe texts without judging them, where a source can't say so itself."""
    return _STATISTIC.fullmatch(name) is not None


def in_folder_order(columns: Iterable[ImportedColumn]) -> tuple[ImportedColumn, ...]:
    """Columns in the order a board folder lists their files.

    columns: imported ones

    Example:

        in_folder_order([score_column("bleu", values)])
    """
    return tuple(sorted(columns, key=lambda column: f"{file_name(column.source_name)}.tsv"))
