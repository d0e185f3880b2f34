"""What an analysis looks at: a board as an audience may see it, with its scores, and which part of it is meant.

A view is all that an analysis gets. On a site it is made for an audience: `board` holds only what that audience may
read, and numbers come from `matrix()`, which may rest on hidden references. Masking happens where a view is made, in
one place, before anything is computed. Every study of metrics starts from the matrix of a view: the scores of a slice
of the board and people's judgments of the same cells, of every judged row whose text is not among the references.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from billboards.analyses._preferences import pairs_in
from billboards.analyses._reference_lines import rows_ranked
from billboards.board import Board, Outputs, Preferences, ReferenceSet, Scores, Slice, human_scores, is_preference
from billboards.board.cells import CellStore
from billboards.board.matrix import BoardColumns, board_columns, board_scores

if TYPE_CHECKING:
    from billboards.analyses._archive import Archive
    from billboards.board.missing_cells import Progress
    from billboards.metrics.base import Metric
    from billboards.metrics.discovery import Spec

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Scoring:
    """How scores that are missing may be computed: in how many processes, and who watches."""

    jobs: int = 1
    on_progress: Callable[[Progress], None] | None = None


@dataclass(frozen=True, kw_only=True)
class View:
    """A board as somebody may look at it: what an analysis is given."""

    #: What may be read and shown.
    board: Board
    #: What numbers are computed on: the same board, or with references that stay hidden. Never show its texts.
    counted: Board
    cells: CellStore | None = None
    #: The aggregate or dimension of judgments that is meant; None is the one that ranks the board.
    aggregate: str | None = None
    part: Slice = field(default_factory=Slice)
    #: Rankings, ensembles and audits that were kept, where there is a folder for them.
    archive: Archive | None = None
    judgments_hidden: bool = False
    #: Ratings that come from elsewhere than the board, for studies of ratings.
    ratings: tuple[Any, ...] | None = None
    #: How missing scores may be computed; None where none may be.
    scoring: Scoring | None = None

    @property
    def hidden(self) -> tuple[str, ...]:
        """What this audience may not see: `references`, `judgments`, or neither."""
        parts = []
        if self.counted.references and not any(instance.references for instance in self.board.instances):
            parts.append("references")
        return (*parts, *(("judgments",) if self.judgments_hidden else ()))

    def texts(self, instance: str, row: str, other: str | None = None) -> dict[str, Any]:
        """The texts of an output that may be read, under the names that results have for them."""
        k = self.board.position[instance]
        references = self.board.instances[k].references
        texts: dict[str, Any] = {
            "output": self.board.row(row).texts[k] or "",
            "reference": references[0].text if references else "",
        }
        return texts if other is None else texts | {"other": self.board.row(other).texts[k] or ""}

    def choosing(self, **chosen: Any) -> View:
        """The same view of other judgments or of another part."""
        return replace(self, **{word: value for word, value in chosen.items() if value is not None})

    def matrix(self, *, aggregate: str | None = None, references: ReferenceSet | None = None) -> JudgedMatrix:
        """The scores that this view looks at, with people's beside them."""
        return judged_matrix(
            self.counted,
            self.cells,
            aggregate=aggregate or self.aggregate,
            references=references,
            part=self.part,
        )

    def metrics(self, named: Spec | Sequence[Spec] | None) -> list[Metric]:
        """The metrics named, or those that the board names."""
        from billboards.board.missing_cells import chosen_metrics

        return chosen_metrics(self.counted, named)

    def score(
        self,
        metrics: Sequence[Metric],
        *,
        references: ReferenceSet | None = None,
        rows: Sequence[Outputs] | None = None,
    ) -> dict[str, str]:
        """Compute what is missing of these scores, where that is allowed; the reasons for those that failed."""
        if self.scoring is None or self.cells is None:
            return {}
        from billboards.board.missing_cells import score_board
        from billboards.run.local import executor

        report = score_board(
            self.counted,
            self.cells,
            metrics,
            executor(self.scoring.jobs),
            references=references,
            rows=rows,
            on_progress=self.scoring.on_progress,
        )
        return report.failures


def look_at(
    board: Board, *, aggregate: str | None = None, part: Slice | None = None, scoring: Scoring | None = None
) -> View:
    """A board as its owner looks at it, with what is kept in its folder.

    board: the board, which may lie in a folder
    aggregate: the aggregate or dimension of judgments to look at; by default the one that ranks the board
    part: only these instances; by default all
    scoring: how missing cells are computed

    Example:

        look_at(bb.open("my-board"), aggregate="adequacy")
    """
    from billboards.analyses._archive import Archive
    from billboards.board.cells import SqliteCells

    home = board.home
    return View(
        board=board,
        counted=board,
        cells=None if home is None else SqliteCells(home),
        aggregate=aggregate,
        part=part or Slice(),
        archive=None if home is None else Archive(home),
        scoring=scoring,
    )


@dataclass(frozen=True, kw_only=True)
class JudgedMatrix:
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


@dataclass(frozen=True, kw_only=True)
class WholeMatrix:
    """A matrix whose scores are read when they are asked for, with people's, of all rows of the board."""

    scores: BoardColumns
    human: Floats
    judged: NDArray[np.bool_]
    aggregate: str
    references: ReferenceSet
    part: Slice
    pairs: Preferences | None = None

    @cached_property
    def measured_rows(self) -> list[int]:
        """Rows by which metrics are measured: those that people judged; all where they compared outputs."""
        if self.pairs is not None:
            return list(range(len(self.human)))
        judged = np.flatnonzero(np.isfinite(self.human).any(axis=1)).tolist()
        # Without a judgment nothing is measured, and any two rows show it.
        return judged or list(range(min(2, len(self.human))))

    def measured(self) -> JudgedMatrix:
        """The matrix of the rows by which metrics are measured, in memory."""
        rows = self.measured_rows
        return JudgedMatrix(
            scores=self.scores.dense(rows),
            human=self.human[rows],
            judged=self.judged[rows],
            aggregate=self.aggregate,
            references=self.references,
            part=self.part,
            pairs=self.pairs,
        )


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """What a slice of a board is asked about: its judgments, whatever the scores are read from."""

    human: Floats
    aggregate: str
    references: ReferenceSet
    ranked: NDArray[np.bool_]
    part: Slice
    pairs: Preferences | None
    #: The instances of the slice; None for all.
    keep: list[int] | None

    @property
    def judged(self) -> NDArray[np.bool_]:
        return np.isfinite(self.human).any(axis=1) & self.ranked


def _asked(board: Board, aggregate: str | None, references: ReferenceSet | None, part: Slice | None) -> _Asked:
    part = part or Slice()
    shape = (len(board.rows), len(board.instances))
    human = np.full(shape, np.nan)
    name, pairs = "", None
    used = board.references if references is None else references
    ranked = rows_ranked(board, used)
    if board.ranks is not None or aggregate is not None:
        chosen = board.aggregate(aggregate)
        human, name = human_scores(board.judgments, chosen, board.dimensions, shape), chosen.name
        pairs = pairs_in(board, chosen, part, ranked) if is_preference(board, chosen) else None
    keep = list(board.select(part)) if part else None
    return _Asked(
        human=human if keep is None else human[:, keep],
        aggregate=name,
        references=used,
        ranked=ranked,
        part=part,
        pairs=pairs,
        keep=keep,
    )


def whole_matrix(
    board: Board,
    store: CellStore | None,
    *,
    aggregate: str | None = None,
    references: ReferenceSet | None = None,
    part: Slice | None = None,
) -> WholeMatrix:
    """What `judged_matrix` has, with the columns that don't lead, read when it is asked for."""
    asked = _asked(board, aggregate, references, part)
    return WholeMatrix(
        scores=board_columns(board, store, references=references, instances=asked.keep),
        human=asked.human,
        judged=asked.judged,
        aggregate=asked.aggregate,
        references=asked.references,
        part=asked.part,
        pairs=asked.pairs,
    )


def judged_matrix(
    board: Board,
    store: CellStore | None,
    *,
    aggregate: str | None = None,
    references: ReferenceSet | None = None,
    part: Slice | None = None,
    beside: bool = False,
) -> JudgedMatrix:
    """The matrix and judgments of a slice of the board; `beside` adds the columns that don't lead under their name."""
    asked = _asked(board, aggregate, references, part)
    scores = board_scores(board, store, references=references)
    if not beside:
        scores = scores.leading()
    return JudgedMatrix(
        scores=scores if asked.keep is None else scores.select(instances=asked.keep),
        human=asked.human,
        judged=asked.judged,
        aggregate=asked.aggregate,
        references=asked.references,
        part=asked.part,
        pairs=asked.pairs,
    )
