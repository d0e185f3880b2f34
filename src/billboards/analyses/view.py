"""What a ranking looks at: the matrix of a slice of the board, and people's judgments of the same cells.

Every judged row takes part whose text is not among the references. Every study of metrics starts from such a view.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from billboards.analyses.preferences import pairs_in
from billboards.analyses.reference_lines import rows_ranked
from billboards.board import Board, Preferences, ReferenceSet, Scores, Slice, human_scores, is_preference
from billboards.board.cells import CellStore
from billboards.board.matrix import board_scores

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class View:
    """What a ranking looks at: the matrix, people's scores on the same cells, and which rows are judged.

    Where people compared outputs there are `pairs` and no scores: what a fit or a correlation needs is missing.
    """

    scores: Scores
    human: Floats
    judged: NDArray[np.bool_]
    aggregate: str
    references: ReferenceSet
    part: Slice
    pairs: Preferences | None = None

    @cached_property
    def judged_human(self) -> Floats:
        """People's scores with NaN on rows that don't take part."""
        return only_rows(self.human, self.judged)


def only_rows(human: Floats, rows: NDArray[np.bool_]) -> Floats:
    """People's scores with NaN outside these rows; a copy only where there is anything to take out."""
    return np.where(rows[:, None], human, np.nan) if np.isfinite(human[~rows]).any() else human


def view_board(
    board: Board,
    store: CellStore | None,
    *,
    aggregate: str | None = None,
    references: ReferenceSet | None = None,
    part: Slice | None = None,
) -> View:
    """The matrix and judgments of a slice of the board."""
    part = part or Slice()
    shape = (len(board.rows), len(board.instances))
    human = np.full(shape, np.nan)
    name = ""
    if board.ranks is not None or aggregate is not None:
        chosen = board.aggregate(aggregate)
        human, name = human_scores(board.judgments, chosen, board.dimensions, shape), chosen.name
    scores = board_scores(board, store, references=references)
    used = board.references if references is None else references
    ranked = rows_ranked(board, used)
    compared = name != "" and is_preference(board, board.aggregate(aggregate))
    pairs = pairs_in(board, board.aggregate(aggregate), part, ranked) if compared else None
    if part:
        keep = list(board.select(part))
        scores = Scores(columns=scores.columns, rows=scores.rows, values=scores.values[:, :, keep])
        human = human[:, keep]
    return View(scores, human, np.isfinite(human).any(axis=1) & ranked, name, used, part, pairs)
