"""Scoring: the missing cells are the work list.

Which cells a board should have follows from its rows and metrics; which it has, the store knows. What is computed is
saved cell by cell, so an interrupt loses at most the cells in hand, and a second run finds nothing to do. Cells
that version 0.1 wrote lack counts: who asks for `counted` cells gets them computed again. A row whose
own text stands among the references is never scored against itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from billboards.board.cells import CellStore, ColumnKey
from billboards.board.model import Board, Outputs, ReferenceSet
from billboards.board.scores import Column, is_zero
from billboards.errors import InvalidInput
from billboards.metrics.base import Batch, Counts, Metric, MetricCard
from billboards.metrics.discovery import Spec, board_metric, metrics_named
from billboards.metrics.executor import Executor, Result, Task, run_groups
from billboards.metrics.parts import PartMetric, no_such_part

Floats = NDArray[np.float64]

#: A cell by what its numbers depend on: signature, context and row version.
CellId = tuple[str, str, str]

#: Outputs per task; a slow metric gets fewer, so that progress is seen and all workers end together.
CHUNK, SLOW_CHUNK = 2000, 20
#: Outputs scored in one call by a metric that takes generators together; an interrupt loses at most these.
TOGETHER = 50_000


class Declared(Protocol):
    """What a column's key depends on: a metric, or only what is known of one."""

    @property
    def name(self) -> str: ...

    @property
    def signature(self) -> str: ...

    @property
    def card(self) -> MetricCard: ...


M = TypeVar("M", bound=Declared)


@dataclass(frozen=True)
class Cell(Generic[M]):
    """One row's scores under one column, computed by a metric; who only lists cells may know no more than its card."""

    metric: M
    key: ColumnKey
    row: Outputs

    @property
    def id(self) -> CellId:
        return self.key.column.signature, self.key.context, self.row.version


@dataclass(frozen=True)
class Progress:
    """How far scoring has come, in outputs."""

    done: int
    total: int
    cell: str


@dataclass
class ScoringReport:
    """What scoring did: cells computed, cells that were there, and the reason for each that failed."""

    computed: int = 0
    present: int = 0
    failures: dict[str, str] = field(default_factory=dict)
    #: Metrics that gave 0 to every output they scored now; they may not know the language.
    zero: tuple[str, ...] = ()
    #: Of metrics that abstained: from how many outputs, of how many that they were asked to score now.
    abstained: dict[str, tuple[int, int]] = field(default_factory=dict)


def chosen_metrics(board: Board, specs: Spec | Sequence[Spec] | None) -> list[Metric]:
    """The metrics asked for, by name, file or function, else those the board names; each once."""
    if specs is None and (named := named_metrics(board)):
        return named
    if not specs:
        raise InvalidInput(
            f'board {board.name} names no metrics; add `metrics = ["BLEU"]` to board.toml or name some, as in '
            '--metric BLEU (in Python: metrics=["BLEU"])'
        )
    return metrics_named(specs, board.output_language)


def named_metrics(board: Board) -> list[Metric]:
    """The metrics that the board's file names, as its language asks for them; each once."""
    computing = (column.computed_by for column in board.imported if column.computed_by)
    specs = dict.fromkeys((*board.metrics, *computing))
    return metrics_named([board_metric(spec, board.output_language) for spec in specs])


def column_key(board: Board, metric: Declared, references: ReferenceSet) -> ColumnKey:
    """The column a metric fills on this board with these references."""
    card = metric.card
    seen = references if card.needs_references else ()
    context = board.context_version(references=seen, inputs=card.needs_input)
    column = Column(
        name=metric.name,
        signature=metric.signature,
        references=seen,
        origin="own",
        source_name=None,
        needs_references=card.needs_references,
        needs_input=card.needs_input,
        is_statistic=card.is_statistic,
    )
    return ColumnKey(column, context)


def missing_cells(
    board: Board,
    store: CellStore,
    metrics: Sequence[Metric],
    references: ReferenceSet,
    rows: Sequence[Outputs],
    *,
    counted: bool = False,
) -> tuple[list[Cell[Metric]], int]:
    """The cells that these metrics lack on these rows, `counted` also where counts lack; and how many they have.

    A part's cells are those of its metric.
    """
    missing, present = [], 0
    for metric in {metric.scored_as.signature: metric.scored_as for metric in metrics}.values():
        if metric.card.needs_references and not references:
            continue
        key = column_key(board, metric, references)
        stored = store.present(key)
        if counted and metric.corpus != "mean":
            stored &= store.counted(key)
        for row in rows:
            if board.is_reference(row, key.column.references):
                continue
            if row.version in stored:
                present += 1
            else:
                missing.append(Cell(metric, key, row))
    return missing, present


def score_board(
    board: Board,
    store: CellStore,
    metrics: Sequence[Metric],
    executor: Executor,
    *,
    references: ReferenceSet | None = None,
    rows: Sequence[Outputs] | None = None,
    counted: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
) -> ScoringReport:
    """Compute and save every missing cell of these metrics, `counted` also those without counts; say what was done."""
    used = board.references if references is None else references
    asked = board.rows if rows is None else rows
    cells, present = missing_cells(board, store, metrics, used, asked, counted=counted)
    report = compute_cells(board, store, cells, executor, present=present, on_progress=on_progress)
    report.failures |= _declare_parts(board, store, metrics, used)
    return report


def _declare_parts(
    board: Board, store: CellStore, metrics: Sequence[Metric], references: ReferenceSet
) -> dict[str, str]:
    """Columns for the parts among these metrics, whose cells are there now; why some have none."""
    failures = {}
    for metric in metrics:
        if isinstance(metric, PartMetric):
            key = column_key(board, metric, references)
            if parts := store.parts(key):
                if metric.part in parts:
                    store.declare(key)
                else:
                    failures[metric.name] = no_such_part(metric.whole.name, metric.part, parts)
    return failures


def compute_cells(
    board: Board,
    store: CellStore,
    cells: Sequence[Cell[Metric]],
    executor: Executor,
    *,
    present: int = 0,
    on_progress: Callable[[Progress], None] | None = None,
) -> ScoringReport:
    """Compute and save these cells, of whatever metrics and reference sets, in one go."""
    report = ScoringReport(present=present)
    _Scoring(board, store, cells, report, on_progress).run(executor)
    return report


class _Scoring:
    """Cells cut into tasks, results put together again, and each cell saved when its last part is in."""

    def __init__(
        self,
        board: Board,
        store: CellStore,
        cells: Sequence[Cell[Metric]],
        report: ScoringReport,
        on_progress: Callable[[Progress], None] | None,
    ) -> None:
        self.board, self.store, self.cells, self.report, self.on_progress = board, store, cells, report, on_progress
        self.open: dict[int, _OpenCell] = {}
        self.zero: dict[str, bool] = {}
        self.asked: dict[str, tuple[int, int]] = {}
        self.done, self.total = 0, len(cells) * len(board.instances)

    def run(self, executor: Executor) -> None:
        for result in run_groups(executor, self._joint_tasks()):
            self._take(result)
        for result in executor.run(self._tasks()):
            self._take(result)
        self.report.zero = tuple(name for name, zero in self.zero.items() if zero)
        self.report.abstained = {name: counts for name, counts in self.asked.items() if counts[0]}

    def _joint_tasks(self) -> Iterator[list[Task]]:
        """Whole cells of metrics that save work by seeing generators together, some cells of one column at a time."""
        numbers: dict[tuple[Metric, ColumnKey], list[int]] = {}
        for number, cell in enumerate(self.cells):
            if cell.metric.scores_together:
                numbers.setdefault((cell.metric, cell.key), []).append(number)
        step = max(1, TOGETHER // max(1, len(self.board.instances)))
        for (metric, _), column in numbers.items():
            for start in range(0, len(column), step):
                if metric.name not in self.report.failures:
                    yield [self._whole(number) for number in column[start : start + step]]

    def _whole(self, number: int) -> Task:
        """A cell as a single task."""
        batch, positions = cell_batch(self.board, self.cells[number])
        self.open[number] = _OpenCell(positions, [0], len(batch))
        return Task((number, 0), self.cells[number].metric, batch)

    def _tasks(self) -> Iterator[Task]:
        for number, cell in enumerate(self.cells):
            if cell.metric.scores_together:
                continue
            batch, positions = cell_batch(self.board, cell)
            size = len(batch) if cell.metric.needs_corpus else SLOW_CHUNK if cell.metric.card.slow else CHUNK
            starts = range(0, len(batch), max(size, 1)) or range(1)
            self.open[number] = _OpenCell(positions, list(starts), size)
            for part, start in enumerate(starts):
                if cell.metric.name not in self.report.failures:
                    yield Task((number, part), cell.metric, batch.part(start, start + size))

    def _take(self, result: Result) -> None:
        number, part = result.key
        cell, open_cell = self.cells[number], self.open[number]
        if result.failure is not None or result.parts is None:
            self.report.failures.setdefault(cell.metric.name, f"{cell.row.name}: {result.failure}")
            return
        open_cell.results[part] = result
        outputs = len(next(iter(result.parts.values())))
        self.done += outputs
        if len(open_cell.results) == len(open_cell.starts):
            self._finish(number)
        if self.on_progress is not None:
            self.on_progress(Progress(self.done, self.total, f"{cell.metric.name} · {cell.row.name}"))

    def _finish(self, number: int) -> None:
        cell, open_cell = self.cells[number], self.open.pop(number)
        whole = open_cell.whole(len(self.board.instances))
        parts = {name: _sign(cell.metric.card, name) * scores for name, scores in whole.items()}
        counts = open_cell.whole_counts(cell.metric, len(self.board.instances))
        self.store.save(cell.key, cell.row.version, parts, seconds=open_cell.seconds, counts=counts)
        card, name = cell.metric.card, cell.metric.name
        if card.higher_is_better and not card.is_statistic:
            self.zero[name] = self.zero.get(name, True) and is_zero([next(iter(parts.values()))])
        if cell.metric.may_abstain and cell.metric.corpus != "system":
            missing = int(np.isnan(next(iter(parts.values()))[open_cell.positions]).sum())
            before, outputs = self.asked.get(name, (0, 0))
            self.asked[name] = before + missing, outputs + len(open_cell.positions)
        self.report.computed += 1
        self.done += len(self.board.instances) - len(open_cell.positions)


def _sign(card: MetricCard, part: str) -> float:
    """What turns a part's scores so that higher is better."""
    return 1.0 if card.higher_is_better != (part in card.turned_parts) else -1.0


@dataclass
class _OpenCell:
    """A cell in the making."""

    positions: NDArray[np.intp]
    starts: list[int]
    size: int
    results: dict[int, Result] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        return sum(result.seconds for result in self.results.values())

    def whole(self, instances: int) -> dict[str, Floats]:
        """The parts over all instances, NaN where the metric was not asked."""
        first = self.results[0].parts or {}
        return {name: self._laid_out(name, instances) for name in first}

    def whole_counts(self, metric: Metric, instances: int) -> Counts | None:
        """The counts over all instances, 0 where the metric was not asked; of a system metric, its one row."""
        pieces = [self.results[k].counts for k in range(len(self.starts))]
        given = [piece for piece in pieces if piece is not None]
        if metric.corpus == "system":
            return given[0] if given else np.empty((0, 2))
        if metric.corpus == "mean" or len(given) < len(pieces):
            return None
        rows = np.concatenate(given)
        counts = np.zeros((instances, rows.shape[1]), rows.dtype)
        counts[self.positions] = rows
        return counts

    def _laid_out(self, name: str, instances: int) -> Floats:
        scores = np.full(instances, np.nan)
        pieces = [(self.results[k].parts or {})[name] for k in range(len(self.starts))]
        scores[self.positions] = np.concatenate(pieces)
        return scores


def cell_batch(board: Board, cell: Cell[Metric]) -> tuple[Batch, NDArray[np.intp]]:
    """What a metric is given for a cell, and the positions of those instances on the board.

    An instance takes part when the row has an output for it and the metric's needs are met there.
    """
    card = cell.metric.card
    texts = cell.row.texts
    references = board.reference_texts(cell.key.column.references) if card.needs_references else None
    inputs = [i.input if i.input is not None else i.image for i in board.instances] if card.needs_input else None
    positions = [
        k
        for k, text in enumerate(texts)
        if text is not None and (references is None or references[k]) and (inputs is None or inputs[k] is not None)
    ]
    batch = Batch(
        [texts[k] or "" for k in positions],
        [] if references is None else [references[k] for k in positions],
        [] if inputs is None else [inputs[k] or "" for k in positions],
        board.output_language,
    )
    return batch, np.array(positions, np.intp)
