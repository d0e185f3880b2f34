"""Anyone's table as a board: one row per output, or per output and annotator, with the columns named by options.

Columns that no option names are looked for under usual names. Everything said of an instance or an output must be said
alike in each of its rows; rows may differ in annotator and judgments alone. Without a generator column outputs are
loose: they belong to no generator, and are judged but not ranked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from billboards.board import Aggregate, Board, DataCard, Dimension, Generator, Instance, Outputs, Texts, loose_rows
from billboards.errors import ImportRefused, InvalidInput, UnknownName
from billboards.importers.base import (
    Floats,
    Imported,
    board_name,
    default_metrics,
    generator_rows,
    in_folder_order,
    is_human,
    score_column,
    some,
)
from billboards.importers.table_content import Columns, TableContent
from billboards.reading import Problems, Table, decimal_number, read_table, refuse_errors

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


def import_board(
    source: Path,
    *,
    instance: str | None = None,
    generator: str | None = None,
    output: str | None = None,
    output_id: str | None = None,
    input: str | None = None,
    image: str | None = None,
    reference: Sequence[str] = (),
    document: str | None = None,
    domain: str | None = None,
    tags: str | None = None,
    judgment: Sequence[str] = (),
    range: Sequence[str] = (),
    annotator: str | None = None,
    score: Sequence[str] = (),
    name: str | None = None,
) -> Imported:
    """The board in a table."""
    problems = Problems()
    table = read_table(source, problems)
    named = {"instance": instance, "generator": generator, "output": output, "output_id": output_id, "input": input}
    named |= {"image": image, "document": document, "domain": domain, "tags": tags, "annotator": annotator}
    columns = _columns(table, named, reference, judgment, score, range)
    content = TableContent(table, columns, problems)
    refuse_errors(problems)
    board = _board(board_name(name or _default_name(source)), source, content)
    return Imported(board, (*table.notes, *_notes(table, content, board)))


def _columns(
    table: Table,
    named: Mapping[str, str | None],
    references: Sequence[str],
    judgments: Sequence[str],
    scores: Sequence[str],
    ranges: Sequence[str],
) -> Columns:
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
            raise ImportRefused(f"{table.path}: no column for the {what} among {every}; name it with --{what}")
    rest = [column for column in table.columns if column not in taken]
    references = references or [column for column in rest if USUAL_REFERENCE.fullmatch(column)]
    judgments = judgments or [column for column in rest if column in USUAL_JUDGMENT]
    return Columns(single, tuple(references), _dimensions(judgments, ranges), tuple(scores))


def _dimensions(judgments: Sequence[str], ranges: Sequence[str]) -> dict[str, Dimension]:
    found = {name: Dimension(name) for name in judgments}
    for text in ranges:
        name, limits = _limits(text)
        if name not in found:
            raise UnknownName("judgment column", name, found)
        found[name] = Dimension(name, limits)
    return found


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
        name,
        instances,
        rows,
        replace(judgments, row=place[judgments.row]) if len(judgments) else judgments,
        dimensions,
        {"overall": overall} if comparable else {},
        "overall" if comparable else next(iter(dimensions), None),
        default_metrics(instances),
        in_folder_order(
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
    generators = {owner: Generator(owner, "human" if is_human(owner) else "machine") for owner in owners}
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
    found = {}
    for column, scores in zip(content.columns.scores, content.scores.T, strict=True):
        found[column] = np.full((len(rows), len(content.place)), np.nan)
        found[column][place[owner], instance] = scores
    return {
        column: {row.name: scores for row, scores in zip(rows, values, strict=True) if not np.isnan(scores).all()}
        for column, values in found.items()
    }


def _default_name(source: Path) -> str:
    stem = source.name.removesuffix(".gz").rpartition(".")[0]
    return re.sub(r"[^\w.-]+", "-", stem) or "board"


def _notes(table: Table, content: TableContent, board: Board) -> Iterator[str]:
    unused = [column for column in table.columns if column not in content.columns.used]
    roles = ", ".join(f"{what} from {column!r}" for what, column in content.columns.single.items())
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
