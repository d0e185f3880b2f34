"""Where an audit works: a board, its cells, who runs metrics, how much may be scored, and who watches.

Whole rows go through the cells of the board, so that what was scored once is never scored again. Single texts, of which
an optimiser tries thousands, are scored in one call, and only what was decided is kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from billboards.board import Board, Generator, Instance, Kind, Outputs, Reference, ReferenceSet, Texts, digest, row_of
from billboards.board.cells import CellStore
from billboards.board.missing_cells import Progress, column_key, compute_cells, missing_cells
from billboards.errors import InvalidInput, MetricFailed, StoreFailed
from billboards.metrics.base import Batch, Metric
from billboards.metrics.executor import Executor, InProcess, Task, run_task
from billboards.reading import json_value

Floats = NDArray[np.float64]


@dataclass
class Budget:
    """How many pairs of output and instance may be scored; without a limit, any number."""

    limit: int | None = None
    spent: int = 0

    def take(self, pairs: int) -> bool:
        """Whether so many more may be scored; those allowed are counted."""
        if self.limit is not None and self.spent + pairs > self.limit:
            return False
        self.spent += pairs
        return True

    def need(self, pairs: int, what: str) -> None:
        """Take what can't be done without."""
        if not self.take(pairs):
            raise InvalidInput(
                f"{what} takes {pairs:,} scored pairs and the budget of {self.limit:,} has "
                f"{(self.limit or 0) - self.spent:,} left; raise --budget"
            )


@dataclass(kw_only=True)
class Bench:
    """A board at hand, with what it takes to score on it."""

    board: Board
    store: CellStore
    executor: Executor = field(default_factory=InProcess)
    budget: Budget = field(default_factory=Budget)
    on_progress: Callable[[Progress], None] | None = None
    #: Of random choices.
    seed: int = 0

    def scores(
        self,
        metric: Metric,
        rows: Sequence[Outputs],
        *,
        references: ReferenceSet | None = None,
        board: Board | None = None,
    ) -> Floats:
        """A metric's scores of rows (rows × instances), computed where they are missing, on this board or another."""
        where = self.board if board is None else board
        used = where.references if references is None else references
        cells, present = missing_cells(where, self.store, [metric], used, rows)
        self.budget.need(len(cells) * len(where.instances), f"{metric.name} on {len(cells)} generators")
        done = compute_cells(where, self.store, cells, self.executor, present=present, on_progress=self.on_progress)
        for reason in done.failures.values():
            raise MetricFailed(f"{metric.name} failed: {reason}")
        stored = self.store.load(column_key(where, metric, used), (row.version for row in rows))
        empty = np.full(len(where.instances), np.nan)
        own = used if metric.card.needs_references else ()
        return np.stack([empty if where.is_reference(r, own) else stored.get(r.version, empty) for r in rows])

    def score_texts(self, metric: Metric, positions: Sequence[int], texts: Sequence[str]) -> Floats:
        """A metric's scores of texts for the instances at these positions, in one call; higher is better."""
        instances = self.board.instances
        references = self.board.reference_texts(self.board.references) if metric.card.needs_references else None
        batch = Batch(
            list(texts),
            [] if references is None else [references[k] for k in positions],
            [given_text(instances[k]) for k in positions] if metric.card.needs_input else [],
            self.board.output_language,
        )
        done = run_task(Task((0, 0), metric, batch))
        if done.parts is None:
            raise MetricFailed(f"{metric.name} failed: {done.failure}")
        scores = next(iter(done.parts.values()))
        return scores if metric.card.higher_is_better else -scores

    def show(self, done: int, total: int, what: str) -> None:
        if self.on_progress is not None:
            self.on_progress(Progress(done, total, what))

    def checkpoint(self, *key: str) -> Checkpoint:
        """Where the steps of a long search are kept, by everything they depend on."""
        name = digest(key)
        home = self.board.home
        return Checkpoint(None if home is None else home / ".billboards" / "audit" / f"{name}.json")


@dataclass(frozen=True)
class Checkpoint:
    """A small file with what a search has decided so far; a board without a folder keeps nothing."""

    path: Path | None

    def load(self) -> Mapping[str, Any]:
        """What was kept; nothing where there is nothing, or where it can't be read."""
        if self.path is None or not self.path.exists():
            return {}
        try:
            document = json_value(self.path.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return document if isinstance(document, dict) else {}

    def save(self, state: Mapping[str, Any]) -> None:
        if self.path is None:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            work = self.path.with_suffix(".part")
            work.write_text(json.dumps(state), "utf-8")
            work.replace(self.path)
        except OSError as error:
            raise StoreFailed(f"{self.path}: can't be written: {error.strerror or error}") from error


def given_text(instance: Instance) -> str:
    """What an instance gives to a metric: its input, or the name of its image."""
    return instance.input if instance.input is not None else instance.image or ""


def text_row(board: Board, name: str, texts: Texts, kind: Kind = "machine", by: str | None = None) -> Outputs:
    """Texts as a row that is not on the board."""
    return row_of(Generator(name, kind=kind, optimised_by=by), board.instances, texts)


def with_reference(board: Board, name: str, texts: Texts) -> Board:
    """The same board with these texts as its only references."""
    instances = tuple(
        replace(instance, references=() if text is None else (Reference(name, text),))
        for instance, text in zip(board.instances, texts, strict=True)
    )
    return replace(board, instances=instances, references_used=(name,))


def real_rows(board: Board) -> list[int]:
    """Positions of the rows of generators that were not made for a metric."""
    return [k for k, row in enumerate(board.rows) if row.generator is not None and not row.is_optimised]
