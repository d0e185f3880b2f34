"""BEAMetrics' cells computed again: its sets laid out as the paper had them, and its metrics by options of ours.

A row of data is a judged output. An absent reference counts as an empty one, in the mean over references; the text of a
reference takes no part; of EfficientQA only the first answer counts. Where people compared outputs, both of a pair are
rows labelled 1 and 0 (WMT), or metric and people each say which is better, a tie being half right (Pascal-50S).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from billboards.analyses.published import PublishedCell, Values, folder_of
from billboards.board import Board, human_scores, preferred_pairs
from billboards.board.folder import open_board
from billboards.board.judgments import Judgments
from billboards.errors import BillboardsError
from billboards.importers import IMPORTERS
from billboards.metrics.base import Batch, score_checked
from billboards.metrics.discovery import metric
from billboards.stats.yardsticks import agreements, yardstick

Floats = NDArray[np.float64]
#: Rows that need a model.
LEARNED = ("BERTScore P", "BERTScore R", "BERTScore F1", "BLEURT", "Nubia", "-GPT2 Perpl.")


@dataclass(frozen=True, kw_only=True)
class Judged:
    """Judged outputs of one set: a row each, references at their places, what people gave by column."""

    outputs: Sequence[str]
    references: Sequence[Sequence[str]]
    inputs: Sequence[str | None]
    people: Mapping[str, Floats]
    #: Whether two rows that follow one another are a pair, of which people prefer the first.
    paired: bool = False


def values(
    publication: Mapping[str, Any], cells: Sequence[PublishedCell], data: Path, notes: list[str], *, learned: bool
) -> Values:
    """Ours for each cell, and why it differs or is missing."""
    by_cell: dict[tuple[str, str, str, str], tuple[float | None, str | None]] = {}
    statistics = {table["name"]: table["statistic"] for table in publication["tables"]}
    for judged_set in publication["sets"]:
        own = [cell for cell in cells if cell.column in judged_set["columns"]]
        if own:
            by_cell |= _of_set(publication, judged_set, own, data, statistics, notes, learned=learned)
    average = "an average over rows that are not all at hand"
    return [by_cell.get((c.table, c.block, c.row, c.column), (None, average)) for c in cells]


def _of_set(
    publication: Mapping[str, Any],
    judged_set: Mapping[str, Any],
    cells: Sequence[PublishedCell],
    data: Path,
    statistics: Mapping[str, str],
    notes: list[str],
    *,
    learned: bool,
) -> dict[tuple[str, str, str, str], tuple[float | None, str | None]]:
    where = folder_of(data, judged_set["folders"])
    if where is None:
        absent = f"{judged_set['name']} is not at hand: no folder {' or '.join(judged_set['folders'])}"
        return {_key(cell): (None, absent) for cell in cells}
    boards = list(_boards(judged_set, where))
    parts = [part for board in boards for part in _laid_out(judged_set, board)]
    count = len(parts) if judged_set.get("option") else len(parts[0].outputs) // (2 if parts[0].paired else 1)
    lacking = judged_set.get("whole")
    if lacking is not None and count < lacking:
        notes.append(f"{judged_set['name']}: {judged_set['lacking'].format(count=count)}.")
    by_cell: dict[tuple[str, str, str, str], tuple[float | None, str | None]] = {}
    for row in dict.fromkeys(cell.row for cell in cells):
        of_row = [cell for cell in cells if cell.row == row]
        specs = publication["rows"].get(row)
        if specs is None or (row in LEARNED and not learned):
            by_cell |= {_key(cell): (None, f"{row} is a learned metric; its model is not run here") for cell in of_row}
            continue
        for block in dict.fromkeys(cell.block for cell in of_row):
            try:
                scores = [_scores(specs, block, part, judged_set) for part in parts]
            except BillboardsError as error:
                by_cell |= {_key(cell): (None, str(error)) for cell in of_row if cell.block == block}
                continue
            for cell in (cell for cell in of_row if cell.block == block):
                agreed = [
                    _agreement(statistics[cell.table], s, p, cell.column) for s, p in zip(scores, parts, strict=True)
                ]
                reason = _reason(judged_set, row, count)
                by_cell[_key(cell)] = 100 * float(np.mean(agreed)), reason
    return by_cell


def _key(cell: PublishedCell) -> tuple[str, str, str, str]:
    return cell.table, cell.block, cell.row, cell.column


def _reason(judged_set: Mapping[str, Any], row: str, count: int) -> str | None:
    """Why cells of a row differ where they do."""
    if "whole" in judged_set and count < judged_set["whole"]:
        return str(judged_set["lacking"]).format(count=count)
    reason: str | None = judged_set.get("reasons", {}).get(row)
    return reason


def _boards(judged_set: Mapping[str, Any], where: Path) -> Iterator[Board]:
    """The boards of a set: a folder that is one, or what its importer reads, for each value of an option."""
    if (where / "board.toml").exists():
        yield open_board(where)
        return
    read = IMPORTERS.load(judged_set["importer"])
    option = judged_set.get("option")
    if option is None:
        yield read(where).board
        return
    for value in judged_set["values"]:
        if any(path.name.startswith(value) for path in where.iterdir()):
            yield read(where, **{option: value}).board


def _laid_out(judged_set: Mapping[str, Any], board: Board) -> Iterator[Judged]:
    given = judged_set.get("given", "values")
    if given != "values":
        (column,) = judged_set["columns"]
        yield _pairs(board, column, paired=given == "pairs")
        return
    if judged_set.get("standardised") == "over-variance":
        board = replace(board, judgments=_over_variance(board.judgments))
    shape = len(board.rows), len(board.instances)
    people = {
        column: human_scores(board.judgments, board.aggregate(dimension or None), board.dimensions, shape)
        for column, dimension in judged_set["columns"].items()
    }
    rows, instances = np.nonzero(np.isfinite(next(iter(people.values()))))
    keep = [not board.is_reference(board.rows[r], board.references) for r in rows]
    rows, instances = rows[keep], instances[keep]
    yield Judged(
        outputs=[board.rows[r].texts[i] or "" for r, i in zip(rows, instances, strict=True)],
        references=[_padded(board, int(i)) for i in instances],
        inputs=[board.instances[i].input for i in instances],
        people={column: given_values[rows, instances] for column, given_values in people.items()},
    )


def _pairs(board: Board, column: str, *, paired: bool) -> Judged:
    """Both outputs of every pair that people decided, the better one first."""
    pairs = preferred_pairs(board, board.aggregate()).decided
    rows, instances = np.stack([pairs.better, pairs.worse], 1).ravel(), np.repeat(pairs.instance, 2)
    return Judged(
        outputs=[board.rows[r].texts[i] or "" for r, i in zip(rows, instances, strict=True)],
        references=[_padded(board, int(i)) for i in instances],
        inputs=[board.instances[i].input for i in instances],
        people={column: np.tile([1.0, 0.0], len(pairs))},
        paired=paired,
    )


def _padded(board: Board, instance: int) -> list[str]:
    """The references at their places, an absent one as an empty text."""
    own = {reference.name: reference.text for reference in board.instances[instance].references}
    return [own.get(name, "") for name in board.reference_names]


def _over_variance(judgments: Judgments) -> Judgments:
    """Ratings less the worker's mean over the worker's variance, as the paper's code has it."""
    ratings = judgments.values.copy()
    for code in np.unique(judgments.annotator):
        own = judgments.annotator == code
        ratings[own] = (ratings[own] - np.nanmean(ratings[own])) / np.nanvar(ratings[own])
    return replace(judgments, values=ratings)


def _scores(specs: Sequence[str], block: str, judged: Judged, judged_set: Mapping[str, Any]) -> Floats:
    """A row's scores: with all references, with the first, or with none."""
    every = block == "Max" and not judged_set.get("first_reference")
    spec = specs[0] if block != "1" or len(specs) == 1 else specs[1]
    if block == "0":
        return _scored(spec, judged, None)
    if block == "Max" and not every:
        spec = specs[0]
    return _scored(spec, judged, None if every else 1)


def _scored(spec: str, judged: Judged, most: int | None) -> Floats:
    made = _made(spec)
    references: list[list[str]] = (
        [list(texts) if most is None else list(texts[:most]) for texts in judged.references]
        if made.card.needs_references
        else []
    )
    references = [texts or [""] for texts in references]
    if "references=mean" not in spec and made.card.needs_references:
        # Only a mean counts empty references; a metric with a way of its own for several sees those that are there.
        references = [[text for text in texts if text] or [""] for texts in references]
    inputs = [text or "" for text in judged.inputs] if made.card.needs_input else []
    batch = Batch(list(judged.outputs), references, inputs)
    return next(iter(score_checked(made, batch).values()))


_made = cache(metric)


def _agreement(statistic: str, scores: Floats, judged: Judged, column: str) -> float:
    if judged.paired:
        return float(np.sign(scores[0::2] - scores[1::2]).mean())
    agreed = agreements(scores[None, :, None], judged.people[column][:, None], yardstick(statistic))
    return float(agreed.value[0])
