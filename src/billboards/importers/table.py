"""Anyone's table as a board: one row per output, or per output and annotator, with the columns named by options.

Columns that no option names are looked for under usual names. Everything said of an instance or an output must be said
alike in each of its rows; rows may differ in annotator and judgments alone. Without a generator column outputs are
loose: they belong to no generator, and are judged but not ranked.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from sys import intern
from typing import Annotated, Any

import numpy as np

from billboards.board import (
    Aggregate,
    Board,
    DataCard,
    Dimension,
    Generator,
    Instance,
    Judgments,
    Outputs,
    Reference,
    Texts,
    loose_rows,
)
from billboards.board.judgment_sources import Imported
from billboards.board.judgments import JudgmentColumns
from billboards.board.names import is_human
from billboards.errors import ImportRefused, InvalidInput, UnknownName
from billboards.importers._assembling import (
    Floats,
    board_name,
    check_name,
    default_metrics,
    generator_rows,
    in_folder_order,
    score_column,
)
from billboards.importers._importer import importer
from billboards.importers._judgment_tables import JudgedTable, Wanted, judged_board, read_judgment_table
from billboards.reading import Problems, Table, decimal_number, read_number, read_table, refuse_errors, shown, some

#: Where a column is looked for when no option names it; the first that is there is taken.
USUAL: Mapping[str, tuple[str, ...]] = {
    "instance": ("instance", "instance_id", "seg_id", "segment_id", "id"),
    "generator": ("generator", "system", "model", "SYS"),
    "output": ("output", "hypothesis", "hyp", "text"),
    "output_id": ("output_id",),
    "input": ("input", "source", "src"),
    "image": ("image",),
    "document": ("document", "doc", "doc_id"),
    "domain": ("domain",),
    "tags": ("tags",),
    "annotator": ("annotator", "annotator_id", "rater"),
}
USUAL_REFERENCE = re.compile(r"[Rr]ef(erence)?s?([ _-]?([0-9]+|[A-Z]))?")
USUAL_JUDGMENT = ("judgment", "judgement", "rating", "human_score")
_FACTS = ("input", "image", "document", "domain")
#: What a number may be read from; true and false are none.
_NUMBERS = (str, float, int, type(None))


@importer()
def table(
    source: Path,
    *,
    instance: Annotated[str | None, "column of the instance's id"] = None,
    generator: Annotated[
        str | None, "column of the generator's name; without one, outputs belong to no generator"
    ] = None,
    output: Annotated[str | None, "column of the output text"] = None,
    output_id: Annotated[str | None, "column of the output's id, where there is no generator"] = None,
    input: Annotated[str | None, "column of the input text"] = None,
    image: Annotated[str | None, "column of the input image's path or URL"] = None,
    reference: Annotated[tuple[str, ...], "column of a reference; its name becomes the reference's"] = (),
    document: Annotated[str | None, "column of the document"] = None,
    domain: Annotated[str | None, "column of the domain"] = None,
    tags: Annotated[str | None, "column of tags, commas between"] = None,
    judgment: Annotated[tuple[str, ...], "column of human values; its name becomes a dimension"] = (),
    range: Annotated[tuple[str, ...], "scale of a dimension, as in adequacy=1:5"] = (),
    annotator: Annotated[str | None, "column of the annotator's name"] = None,
    judgments: Annotated[Path | None, "a table of judgments that lies apart; columns as named for this one"] = None,
    score: Annotated[tuple[str, ...], "column of a metric's scores, higher is better"] = (),
    name: Annotated[str | None, "the board's name (default: the file's)"] = None,
) -> Imported:
    """Any CSV, TSV, JSONL or Parquet file with one output per row."""
    problems = Problems()
    table = read_table(source, problems)
    named = {"instance": instance, "generator": generator, "output": output, "output_id": output_id, "input": input}
    named |= {"image": image, "document": document, "domain": domain, "tags": tags, "annotator": annotator}
    apart = judgments is not None
    columns = _columns(table, named, reference, () if apart else judgment, score, () if apart else range, apart=apart)
    content = TableContent(table, columns, problems)
    refuse_errors(problems)
    board = _board(board_name(name or _default_name(source)), source, content)
    notes = table.notes
    if judgments is not None:
        judged = _judged_apart(judgments, board, named, judgment, range)
        board, notes = judged_board(board, judged), (*notes, *judged.notes)
    return Imported(board, (*notes, *_notes(table, content, board)))


def _judged_apart(
    path: Path, board: Board, named: Mapping[str, str | None], judgment: tuple[str, ...], ranges: tuple[str, ...]
) -> JudgedTable:
    """The judgments of another table, whose columns are called as those of this one, or as usual."""
    if not board.generators:
        raise InvalidInput(f"{path}: judgments that lie apart need generators; name their column with --generator")
    header = read_table(path, Problems(), numbered=True).columns
    own = {what: column for what, column in named.items() if column in header}
    wanted = Wanted(
        system=own.get("generator"),
        segment=own.get("instance"),
        annotator=own.get("annotator"),
        judgment=judgment,
        range=ranges,
        by="id",
    )
    systems, instances = [row.name for row in board.rows], [instance.id for instance in board.instances]
    return read_judgment_table(path, wanted, systems=systems, instances=instances)


def _columns(
    table: Table,
    named: Mapping[str, str | None],
    references: Sequence[str],
    judgments: Sequence[str],
    scores: Sequence[str],
    ranges: Sequence[str],
    *,
    apart: bool,
) -> Columns:
    """Which column holds what; where judgments lie apart, a column of theirs may be named and missing here."""
    if apart:
        named = {what: column for what, column in named.items() if what != "annotator"}
    single = {what: column for what, column in named.items() if column is not None}
    taken = {*single.values(), *references, *judgments, *scores}
    for column in sorted(taken - set(table.columns)):
        raise UnknownName(f"column of {table.path}", column, table.columns)
    for what, usual in USUAL.items():
        free = (column for column in usual if column in table.columns and column not in taken)
        if what not in single and (column := next(free, "")):
            single[what] = column
            taken.add(column)
    for what in ("instance", "output"):
        if what not in single:
            every = some(table.columns, 12)
            raise ImportRefused(
                f"{table.path}: no column for the {what} among {every}; name it with --{what}. A table has a row for "
                "each output, with the generator's name in a column"
            )
    rest = [column for column in table.columns if column not in taken]
    references = references or [column for column in rest if USUAL_REFERENCE.fullmatch(column)]
    judgments = judgments or [column for column in rest if column in USUAL_JUDGMENT and not apart]
    return Columns(
        single=single,
        references=tuple(references),
        judgments=_dimensions(judgments, ranges),
        scores=tuple(scores),
    )


def _dimensions(judgments: Sequence[str], ranges: Sequence[str]) -> dict[str, Dimension]:
    dimensions = {name: Dimension(name) for name in judgments}
    for text in ranges:
        name, limits = _limits(text)
        if name not in dimensions:
            raise UnknownName("judgment column", name, dimensions)
        dimensions[name] = Dimension(name, range=limits)
    return dimensions


def _limits(text: str) -> tuple[str, tuple[float, float]]:
    """A dimension's scale from `adequacy=1:5`."""
    match = re.fullmatch(r"(.+)=([^:=]+):([^:=]+)", text)
    low, high = (decimal_number(match[2]), decimal_number(match[3])) if match else (None, None)
    if match is None or low is None or high is None or not low < high:
        raise InvalidInput(f"{text!r} is no scale; write --range DIMENSION=LOW:HIGH, as in adequacy=1:5")
    return match[1], (low, high)


def _board(name: str, source: Path, content: TableContent) -> Board:
    instances = content.instances()
    dimensions = content.columns.judgments
    overall = Aggregate("overall", tuple(dimensions))
    comparable = len(dimensions) > 1 and all(dimension.range for dimension in dimensions.values())
    rows = _generators(content, instances) if "generator" in content.columns.single else _loose(content, instances)
    place = _row_of_owner(content, rows)
    judgments = content.judgments
    references = tuple(dict.fromkeys(ref.name for instance in instances for ref in instance.references))
    return Board(
        name=name,
        instances=instances,
        rows=rows,
        judgments=replace(judgments, row=place[judgments.row]) if len(judgments) else judgments,
        dimensions=dimensions,
        aggregates={"overall": overall} if comparable else {},
        ranks="overall" if comparable else next(iter(dimensions), None),
        metrics=default_metrics(instances),
        imported=in_folder_order(
            score_column(column, values, references=references, needs_references=bool(references))
            for column, values in _scores(content, rows, place).items()
        ),
        card=DataCard(title=name, source=source.name),
    )


def _generators(content: TableContent, instances: Sequence[Instance]) -> tuple[Outputs, ...]:
    texts: dict[str, list[str | None]] = {owner: [None] * len(instances) for owner in content.owners}
    owners = list(content.owners)
    for (k, g), output in content.outputs.items():
        texts[owners[g]][k] = output.text
    generators = {owner: Generator(owner, kind="human" if is_human(owner) else "machine") for owner in owners}
    frozen: dict[str, Texts] = {owner: tuple(column) for owner, column in texts.items()}
    return generator_rows(generators, instances, frozen)


def _loose(content: TableContent, instances: Sequence[Instance]) -> tuple[Outputs, ...]:
    owners = list(content.owners)
    return loose_rows(
        instances, ((instances[k].id, owners[g], output.text) for (k, g), output in content.outputs.items())
    )


def _row_of_owner(content: TableContent, rows: Sequence[Outputs]) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    """The position of the row that each generator, or each loose output, stands in."""
    place = np.empty(len(content.owners), np.int32)
    for r, row in enumerate(rows):
        for owner in (row.name,) if row.generator is not None else filter(None, row.ids):
            place[content.owners[owner]] = r
    return place


def _scores(
    content: TableContent, rows: Sequence[Outputs], place: np.ndarray[tuple[int], np.dtype[np.int32]]
) -> dict[str, dict[str, Floats]]:
    instance, owner = np.array(list(content.outputs)).T
    matrices = {}
    for column, scores in zip(content.columns.scores, content.scores.T, strict=True):
        matrices[column] = np.full((len(rows), len(content.place)), np.nan)
        matrices[column][place[owner], instance] = scores
    return {
        column: {row.name: scores for row, scores in zip(rows, values, strict=True) if not np.isnan(scores).all()}
        for column, values in matrices.items()
    }


def _default_name(source: Path) -> str:
    stem = source.name.removesuffix(".gz").rpartition(".")[0]
    return re.sub(r"[^\w.-]+", "-", stem) or "board"


def _notes(table: Table, content: TableContent, board: Board) -> Iterator[str]:
    unused = [column for column in table.columns if column not in content.columns.used]
    used = content.columns
    many = {"reference": used.references, "judgments": used.judgments, "scores": used.scores}
    columns_used = [*used.single.items(), *((what, column) for what, columns in many.items() for column in columns)]
    roles = ", ".join(f"{what} from {column!r}" for what, column in columns_used)
    yield f"{table.path}: {roles}"
    yield f"{len(board.instances)} instances, {len(content.outputs)} outputs, {len(board.judgments)} judgments"
    if unused:
        yield f"columns that were not used: {some(unused, 12)}"
    if content.repeated:
        yield f"{content.repeated} rows judge an output again and name no annotator; each counts as one more judgment"
    if content.not_numbers:
        yield f"{content.not_numbers} cells say NaN; they stay missing"
    if board.imported:
        yield f"scores are taken as higher is better: {some([column.name for column in board.imported])}"
    if board.ranks is not None:
        yield f"{board.ranks} ranks metrics; choose another as `ranks` in board.toml"
    human = [generator.name for generator in board.generators if generator.kind == "human"]
    if human:
        yield f"taken for people by their names: {some(human)}"
    yield from _coverage(board)
    yield "say in board.toml which [languages] input and output are in"


def _coverage(board: Board) -> Iterator[str]:
    for row in board.rows:
        missing = sum(text is None for text in row.texts)
        if row.generator is not None and missing:
            yield f"{row.name} has no output for {missing} of {len(board.instances)} instances"


@dataclass(frozen=True, kw_only=True, slots=True)
class Columns:
    """Which column of a table holds what."""

    single: Mapping[str, str]
    references: tuple[str, ...]
    judgments: Mapping[str, Dimension]
    scores: tuple[str, ...]

    @property
    def used(self) -> set[str]:
        return {*self.single.values(), *self.references, *self.judgments, *self.scores}


@dataclass(slots=True)
class Output:
    """An output as first said, with the line that said it and its place among the outputs."""

    text: str
    line: int
    place: int


class TableContent:
    """One pass over a table's rows; every contradiction becomes a problem with the two lines.

    Content is kept in columns and small tuples, because a table may have a million rows. An owner is a generator's name
    or, for outputs without a generator, the output's own id; either way an instance has at most one output per owner.
    """

    def __init__(self, table: Table, columns: Columns, problems: Problems) -> None:
        self.table, self.columns, self.problems = table, columns, problems
        self.place: dict[str, int] = {}
        self.facts: list[dict[str, tuple[Any, int]]] = []
        self.owners: dict[str, int] = {}
        self.outputs: dict[tuple[int, int], Output] = {}
        self.not_numbers = 0
        self.repeated = 0
        self._loose_instance: dict[str, int] = {}
        self._loose_texts: dict[tuple[int, str], str] = {}
        self._loose_count: dict[int, int] = {}
        self._judged: dict[tuple[int, int, str], int] = {}
        self._scores, self._no_scores = array("d"), array("d", [math.nan] * len(columns.scores))
        self._judgments = JudgmentColumns(tuple(columns.judgments))
        for line, row in table.rows:
            self._read(line, row)
        if not self.outputs and not problems.errors:
            problems.error(table.path, None, "holds no rows")

    @property
    def judgments(self) -> Judgments:
        """Judgments whose rows are positions among `owners`."""
        return self._judgments.build()

    @property
    def scores(self) -> Floats:
        """Scores in the order of `outputs`, a column per metric, NaN where there is none."""
        return np.array(self._scores, np.float64).reshape(len(self.outputs), len(self.columns.scores))

    def instances(self) -> tuple[Instance, ...]:
        """The instances in order of first appearance."""
        return tuple(_instance(key, self.facts[k]) for key, k in self.place.items())

    def _error(self, line: int, message: str) -> None:
        self.problems.error(self.table.path, line, message)

    def _read(self, line: int, row: Mapping[str, Any]) -> None:
        key = self._name(row, "instance", line)
        text = self._text(row, "output", line)
        if key is None:
            return
        k = self.place.setdefault(key, len(self.place))
        if k == len(self.facts):
            self.facts.append({})
        self._read_facts(k, key, row, line)
        if text is None:
            self._error(line, f"instance {key!r} has no output in column {self.columns.single['output']!r}")
            return
        owner = self._owner(row, k, key, text, line)
        if owner is not None:
            self._read_output(k, owner, row, key, text, line)

    def _read_output(self, k: int, owner: str, row: Mapping[str, Any], key: str, text: str, line: int) -> None:
        g = self.owners.setdefault(owner, len(self.owners))
        output = self.outputs.get((k, g))
        if output is None:
            output = self.outputs[k, g] = Output(text, line, len(self.outputs))
            self._scores.extend(self._no_scores)
        elif output.text != text:
            self._error(line, f"{owner!r} has another output for {key!r} than on line {output.line}")
        elif output.line != line and not self.columns.judgments:
            self._error(line, f"{owner!r} on {key!r} appears twice, first on line {output.line}")
        self._read_scores(output, owner, key, row, line)
        self._read_judgment(k, g, owner, key, row, line)

    def _text(self, row: Mapping[str, Any], what: str, line: int) -> str | None:
        """A cell's text; a whole number is taken as it is written, because ids often are numbers."""
        column = self.columns.single.get(what)
        value = None if column is None else row.get(column)
        if type(value) is str:
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if value is not None:
            self._error(line, f"column {column!r} must hold text; found {shown(value)}")
        return None

    def _name(self, row: Mapping[str, Any], what: str, line: int) -> str | None:
        name = self._text(row, what, line) or ""
        if name in (self.place if what == "instance" else self.owners):
            return name
        before = len(self.problems)
        check_name(what, name, self.table.path, line, self.problems)
        return name if len(self.problems) == before else None

    def _owner(self, row: Mapping[str, Any], k: int, key: str, text: str, line: int) -> str | None:
        if "generator" in self.columns.single:
            return self._name(row, "generator", line)
        if "output_id" not in self.columns.single:
            return self._running_id(k, key, text)
        owner = self._name(row, "output_id", line)
        if owner is not None and self._loose_instance.setdefault(owner, k) != k:
            self._error(line, f"output {owner!r} of instance {key!r} is said to be another instance's before")
        return owner

    def _running_id(self, k: int, key: str, text: str) -> str:
        """An id for a loose output: the same text of the same instance is the same output."""
        if (k, text) not in self._loose_texts:
            self._loose_count[k] = self._loose_count.get(k, 0) + 1
            self._loose_texts[k, text] = f"{key}#{self._loose_count[k]}"
        return self._loose_texts[k, text]

    def _read_facts(self, k: int, key: str, row: Mapping[str, Any], line: int) -> None:
        facts: dict[str, Any] = {what: self._text(row, what, line) for what in _FACTS if what in self.columns.single}
        for column in self.columns.references:
            facts |= self._references(column, row.get(column), line)
        if "tags" in self.columns.single:
            facts["tags"] = self._tags(row, line)
        for what, value in facts.items():
            stated, first = self.facts[k].setdefault(what, (value, line)) if value else (value, line)
            if stated != value:
                self._error(line, f"{what} of instance {key!r} is another than on line {first}")

    def _references(self, column: str, value: Any, line: int) -> dict[str, str]:
        """A cell's reference under the column's name; the texts of a list are numbered."""
        texts = (
            {f"{column}{n}": text for n, text in enumerate(value, 1)} if isinstance(value, list) else {column: value}
        )
        for text in texts.values():
            if not isinstance(text, str | None):
                self._error(line, f"column {column!r} must hold texts; found {shown(text)}")
        return {f"reference {name}": text for name, text in texts.items() if isinstance(text, str)}

    def _tags(self, row: Mapping[str, Any], line: int) -> tuple[str, ...]:
        value = row.get(self.columns.single["tags"])
        items = value.split(",") if isinstance(value, str) else value or []
        if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
            self._error(line, f"tags must be text, commas between; found {shown(value)}")
            return ()
        return tuple(item.strip() for item in items if item.strip())

    def _read_scores(self, output: Output, owner: str, key: str, row: Mapping[str, Any], line: int) -> None:
        for n, column in enumerate(self.columns.scores, output.place * len(self.columns.scores)):
            value = self._number(row, column, line)
            if math.isnan(self._scores[n]):
                self._scores[n] = value
            elif not math.isnan(value) and value != self._scores[n]:
                where = f"{owner!r} on {key!r}"
                message = f"{column} of {where} is another than in an earlier row (output of line {output.line})"
                self._error(line, message)

    def _read_judgment(self, k: int, g: int, owner: str, key: str, row: Mapping[str, Any], line: int) -> None:
        values = {name: self._judged_value(row, name, line) for name in self.columns.judgments}
        present = {name: value for name, value in values.items() if not math.isnan(value)}
        annotator = intern(self._text(row, "annotator", line) or "") or None
        self.repeated += annotator is None and line != self.outputs[k, g].line
        if annotator is not None and (first := self._judged.setdefault((k, g, annotator), line)) != line:
            self._error(line, f"{owner!r} on {key!r} by {annotator!r} appears twice, first on line {first}")
        elif present:
            self._judgments.add(k, g, present, annotator=annotator)

    def _judged_value(self, row: Mapping[str, Any], name: str, line: int) -> float:
        value = self._number(row, name, line)
        limits = self.columns.judgments[name].range
        if limits is not None and not math.isnan(value) and not limits[0] <= value <= limits[1]:
            self._error(line, f"{name} = {value:g} lies outside its range {limits[0]:g} to {limits[1]:g}")
        return value + 0.0

    def _number(self, row: Mapping[str, Any], column: str, line: int) -> float:
        value = row.get(column)
        if type(value) not in _NUMBERS:
            self._error(line, f"column {column!r} must hold numbers; found {shown(value)}")
            return math.nan
        text = "" if value is None else str(value)
        number = read_number(text, f"{column}:", self.table.path, line, self.problems)
        self.not_numbers += math.isnan(number) and text.strip().lower() == "nan"
        return number


def _instance(key: str, facts: Mapping[str, tuple[Any, int]]) -> Instance:
    values = {what: value for what, (value, _) in facts.items()}
    references = {what.removeprefix("reference "): values[what] for what in values if what.startswith("reference ")}
    return Instance(
        key,
        references=tuple(Reference(name, text) for name, text in references.items()),
        input=values.get("input"),
        image=values.get("image"),
        document=values.get("document"),
        domain=values.get("domain"),
        tags=values.get("tags", ()),
    )
