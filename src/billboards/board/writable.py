"""What a board in memory must be so that its folder can be opened again.

Boards made by importers and programs are checked by the same rules that reading applies to files, before a single file
is written. So whatever `write_board` writes, `open_board` reads, and reads as the same board.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice, pairwise

import numpy as np

from billboards.board.judgment_lines import DETAILS, detail_mistake
from billboards.board.model import Board, Outputs
from billboards.board.names import board_name_mistake, file_name_mistake, generator_name_mistake, name_mistake
from billboards.board.scores import ImportedColumn
from billboards.board.settings import dimension_mistake, levels_mistakes
from billboards.errors import InvalidInput
from billboards.reading import shown

_NAMED = 3


def refuse_unwritable(board: Board) -> None:
    """Raise, naming the first mistakes, where a board could not be read back from its folder."""
    mistakes = list(islice(_mistakes(board), _NAMED))
    if mistakes:
        raise InvalidInput(f"board {shown(board.name)} can't be written: {'; '.join(mistakes)}")


def _mistakes(board: Board) -> Iterator[str]:
    if wrong := board_name_mistake(board.name):
        yield f"its name {wrong}"
    yield from _instance_mistakes(board)
    yield from _row_mistakes(board)
    yield from _scale_mistakes(board)
    yield from _name_list_mistakes(board)
    yield from _judgment_mistakes(board)
    yield from _imported_mistakes(board)


def _instance_mistakes(board: Board) -> Iterator[str]:
    if not board.instances:
        yield "it has no instance"
    for instance in board.instances:
        if wrong := name_mistake(instance.id):
            yield f"instance id {shown(instance.id)} {wrong}"
        names = [reference.name for reference in instance.references]
        for name in _twice(names):
            yield f"two references of instance {shown(instance.id)} are named {shown(name)}"
        for name in names:
            if wrong := name_mistake(name):
                yield f"reference name {shown(name)} of instance {shown(instance.id)} {wrong}"
    for key in _twice(instance.id for instance in board.instances):
        yield f"two instances have the id {shown(key)}"


def _row_mistakes(board: Board) -> Iterator[str]:
    for name in _twice(row.name for row in board.rows):
        yield f"two rows are named {shown(name)}"
    for row in board.rows:
        if row.generator is not None and (wrong := generator_name_mistake(row.name)):
            yield f"generator name {shown(row.name)} {wrong}"
        if row.generator is not None and row.generator.name != row.name:
            yield f"row {shown(row.name)} belongs to generator {shown(row.generator.name)}; the names must agree"
        if len(row.texts) != len(board.instances):
            yield f"row {shown(row.name)} has {len(row.texts)} texts for {len(board.instances)} instances"
    yield from _loose_mistakes([row for row in board.rows if row.generator is None], len(board.instances))


def _loose_mistakes(rows: list[Outputs], count: int) -> Iterator[str]:
    """Outputs without a generator fill the rows #1, #2, … from the first on, each under an id of its own."""
    for k, row in enumerate(rows, 1):
        if row.name != f"#{k}":
            yield f"row {shown(row.name)} of outputs without a generator must be named #{k}"
        if len(row.ids) != count or [key is None for key in row.ids] != [text is None for text in row.texts]:
            yield f"row {row.name}: every output without a generator needs an id, and every id an output"
            return
        for key in row.ids:
            if key is not None and (wrong := name_mistake(key)):
                yield f"output id {shown(key)} {wrong}"
    for above, below in pairwise(rows):
        if any(a is None and b is not None for a, b in zip(above.ids, below.ids, strict=True)):
            yield f"row {below.name} has an output where row {above.name} has none; fill the rows from the first on"
    for key in _twice(key for row in rows for key in row.ids if key is not None):
        yield f"two outputs have the id {shown(key)}"


def _scale_mistakes(board: Board) -> Iterator[str]:
    for name, dimension in board.dimensions.items():
        if wrong := name_mistake(name):
            yield f"dimension name {shown(name)} {wrong}"
        if dimension.name != name:
            yield f"dimension {shown(dimension.name)} stands under the name {shown(name)}"
        if wrong := dimension_mistake(dimension):
            yield wrong
    yield from (wrong for _, wrong in levels_mistakes(board.dimensions))
    for name, aggregate in board.aggregates.items():
        if wrong := name_mistake(name):
            yield f"aggregate name {shown(name)} {wrong}"
        if aggregate.name != name:
            yield f"aggregate {shown(aggregate.name)} stands under the name {shown(name)}"
        if not aggregate.dimensions:
            yield f"aggregate {shown(name)} names no dimensions"
        for used in aggregate.dimensions:
            if used not in board.dimensions:
                yield f"aggregate {shown(name)} uses dimension {shown(used)}, which is not declared"
        if len({board.dimensions[used].kind for used in aggregate.dimensions if used in board.dimensions}) > 1:
            yield f"aggregate {shown(name)} mixes ratings and preferences"
    if board.ranks is not None and board.ranks not in {*board.aggregates, *board.dimensions}:
        yield f"ranks names {shown(board.ranks)}, which is no aggregate and no dimension"


def _name_list_mistakes(board: Board) -> Iterator[str]:
    lists = {"metrics": board.metrics, "references_used": board.references_used or ()}
    lists |= {f"dimensions of aggregate {name}": a.dimensions for name, a in board.aggregates.items()}
    lists |= {f"campaigns of aggregate {name}": a.campaigns or () for name, a in board.aggregates.items()}
    lists |= {f"references of scores {shown(c.source_name)}": c.references for c in board.imported}
    for what, names in lists.items():
        for name in _twice(names):
            yield f"{what} holds {shown(name)} twice"
    used = {"references_used": board.references_used or ()}
    used |= {f"scores {shown(c.source_name)}": c.references for c in board.imported}
    for what, names in used.items():
        for name in names:
            if name not in board.reference_names:
                yield f"{what} names reference {shown(name)}, which no instance has"


def _judgment_mistakes(board: Board) -> Iterator[str]:
    judgments = board.judgments
    for k, name in enumerate(judgments.dimensions):
        values = judgments.values[:, k][~np.isnan(judgments.values[:, k])]
        if name not in board.dimensions:
            if len(values):
                yield f"{len(values)} judgments are on dimension {shown(name)}, which is not declared"
            continue
        low, high = board.dimensions[name].range or (-np.inf, np.inf)
        outside = values[~np.isfinite(values) | (values < low) | (values > high)]
        if len(outside):
            yield f"{len(outside)} judgments on {shown(name)} lie outside its range [{low}, {high}], first {outside[0]}"
    for name in judgments.campaigns:
        if wrong := file_name_mistake(name):
            yield f"campaign name {shown(name)} {wrong}"
    for details in judgments.details.values():
        for key, value in details.items():
            if key != "others" and (wrong := _detail_mistake(key, value)):
                yield wrong


def _detail_mistake(key: str, value: object) -> str | None:
    if key not in DETAILS:
        return f"a judgment has the detail {shown(key)}; known: {', '.join(DETAILS)}"
    return None if value is None else detail_mistake(key, value)


def _imported_mistakes(board: Board) -> Iterator[str]:
    for name in _twice(column.source_name for column in board.imported):
        yield f"two columns of imported scores come from {shown(name)}"
    for column in board.imported:
        if wrong := file_name_mistake(column.source_name):
            yield f"scores {shown(column.source_name)}: the name {wrong}"
        if not column.name:
            yield f"scores {shown(column.source_name)} have no name"
        yield from (f"scores {shown(column.source_name)}: {wrong}" for wrong in _score_mistakes(board, column))


def _score_mistakes(board: Board, column: ImportedColumn) -> Iterator[str]:
    for row, values in column.values.items():
        if row not in board.row_position:
            yield f"{shown(row)} is no row of this board"
        elif np.shape(values) != (len(board.instances),):
            yield f"{shown(row)} has {np.shape(values)} scores for {len(board.instances)} instances"
        elif np.isinf(values).any():
            yield f"{shown(row)} has an infinite score; NaN stands for one that does not exist"


def _twice(names: Iterable[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]
