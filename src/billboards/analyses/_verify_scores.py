"""Scores that a folder holds, computed again and compared bit for bit, one generator under one metric at a time.

What a stranger packed is not believed: a metric is the installed one of that name, and only if it is the very version
that the scores name; no program of the folder is run unless somebody allows it. Columns are gone through one after the
other, some generators at a time, so that a large board takes no more memory than a small one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from billboards.board import Board, ImportedColumn, Outputs
from billboards.board.cells import CellStore, ColumnKey, MemoryCells, part_key, stored_as
from billboards.board.missing_cells import Cell, Progress, cell_batch, column_key, compute_cells
from billboards.board.names import file_name
from billboards.errors import BillboardsError, InvalidInput, MissingPart, UnknownName
from billboards.metrics.base import Batch, Metric, score_checked
from billboards.metrics.discovery import installed_metric
from billboards.metrics.executor import Executor
from billboards.run.manifest import read_manifest
from billboards.run.program import open_program

Floats = NDArray[np.float64]
#: Bit for bit the same, the same within the tolerance asked for, different, or nothing to compare with.
Outcome = Literal["equal", "close", "differs", "not computed"]
#: Outputs that are computed and compared at a time.
AT_ONCE = 200_000
#: The folder of submitted metrics' programs in a download.
PROGRAMS = "programs"


@dataclass(frozen=True, kw_only=True, slots=True)
class CellVerdict:
    """One generator's scores under one metric."""

    generator: str
    outcome: Outcome
    #: Scores that were compared, and how many of them aren't bit for bit the same.
    compared: int = 0
    different: int = 0
    #: The largest difference, and the first instance that has one; None where one of two scores is missing.
    largest: float | None = None
    instance: str | None = None
    reason: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ColumnVerdict:
    """One metric's scores; `reason` is why they can't be computed here, where none of them can."""

    metric: str
    signature: str
    references: tuple[str, ...]
    origin: Literal["own", "imported"]
    outcome: Outcome
    reason: str | None = None
    cells: tuple[CellVerdict, ...] = ()

    def count(self, outcome: Outcome) -> int:
        """How many generators came out so."""
        return sum(cell.outcome == outcome for cell in self.cells)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """How scores are compared: those of which metrics, on how many instances, and how exactly."""

    metrics: tuple[str, ...] | None = None
    #: Instances of each generator, for metrics that score outputs one by one; None is all of them.
    sample: int | None = None
    seed: int = 0
    #: Relative differences up to this are told apart from others, and no failure.
    tolerance: float = 0.0
    #: Whether programs in the folder may be run.
    programs: bool = False


def verify_scores(
    board: Board,
    store: CellStore,
    executor: Executor,
    how: Comparison,
    *,
    on_progress: Callable[[Progress], None] | None = None,
) -> tuple[ColumnVerdict, ...]:
    """A verdict on every column of a board, computed ones first."""
    columns = [_Column(board, store, key, how) for key in store.columns() if not stored_as(key)[1]]
    chosen = [column for column in columns if _is_chosen(column.key.column.name, how)]
    imported = [column for column in board.imported if _is_chosen(column.name, how)]
    if how.metrics is not None:
        _refuse_unknown(how.metrics, [*(c.key.column.name for c in columns), *(c.name for c in board.imported)])
    total, done = sum(len(column.rows) for column in chosen if column.metric) * len(board.instances), 0
    verdicts = []
    for column in chosen:

        def tell(progress: Progress, begun: int = done) -> None:
            if on_progress is not None:
                on_progress(Progress(begun + progress.done, total, progress.cell))

        verdicts.append(column.verdict(executor, tell))
        done += len(column.rows) * len(board.instances) if column.metric else 0
    return (*verdicts, *(_imported_verdict(board, column) for column in imported))


def _is_chosen(name: str, how: Comparison) -> bool:
    return how.metrics is None or name.casefold() in {metric.casefold() for metric in how.metrics}


def _refuse_unknown(asked: Sequence[str], names: Sequence[str]) -> None:
    folded = {name.casefold() for name in names}
    for name in asked:
        if name.casefold() not in folded:
            raise UnknownName("metric with scores", name, dict.fromkeys(names))


class _Column:
    """A column of computed scores, and what computes it here."""

    def __init__(self, board: Board, store: CellStore, key: ColumnKey, how: Comparison) -> None:
        self.board, self.store, self.key, self.how = board, store, key, how
        present = store.present(key)
        self.rows = [row for row in board.rows if row.version in present]
        self.metric, self.reason = computing_metric(board, key, programs=how.programs)

    def verdict(self, executor: Executor, tell: Callable[[Progress], None]) -> ColumnVerdict:
        """What became of all generators' scores."""
        cells = tuple(self._cells(executor, tell)) if self.metric else tuple(self._without_metric())
        outcome = worst(cell.outcome for cell in cells)
        reasons = {cell.reason for cell in cells if cell.outcome == "not computed"}
        column = self.key.column
        return ColumnVerdict(
            metric=column.name,
            signature=column.signature,
            references=column.references,
            origin="own",
            outcome=outcome,
            reason=self.reason or (reasons.pop() if outcome == "not computed" and len(reasons) == 1 else None),
            cells=cells,
        )

    def _without_metric(self) -> Iterator[CellVerdict]:
        for row in self.rows:
            yield CellVerdict(generator=row.name, outcome="not computed", reason=self.reason)

    def _cells(self, executor: Executor, tell: Callable[[Progress], None]) -> Iterator[CellVerdict]:
        assert self.metric is not None
        sampled = self.how.sample is not None and not self.metric.needs_corpus
        step = max(1, AT_ONCE // max(1, len(self.board.instances)))
        for start in range(0, len(self.rows), step):
            rows = self.rows[start : start + step]
            begun = start * len(self.board.instances)

            def tell_on(progress: Progress, begun: int = begun) -> None:
                tell(replace(progress, done=begun + progress.done))

            yield from self._sampled(rows, tell_on) if sampled else self._computed(rows, executor, tell_on)

    def _computed(
        self, rows: Sequence[Outputs], executor: Executor, tell: Callable[[Progress], None]
    ) -> Iterator[CellVerdict]:
        """Some generators scored as `billboards score` does, parts and counts included."""
        assert self.metric is not None
        own = MemoryCells()
        # A copy of a reference has no score by this metric; where a folder holds one nobody uses it.
        able = [row for row in rows if not self.board.is_reference(row, self.key.column.references)]
        report = compute_cells(
            self.board, own, [Cell(self.metric, self.key, row) for row in able], executor, on_progress=tell
        )
        failure = next(iter(report.failures.values()), None)
        computed = own.present(self.key)
        pairs = self._pairs(own, [row.version for row in able if row.version in computed])
        for row in able:
            if row.version in computed:
                yield self._compared(row, pairs[row.version])
            else:
                words = f"its metric fails here: {failure}"
                yield CellVerdict(generator=row.name, outcome="not computed", reason=words)

    def _pairs(self, own: MemoryCells, versions: Sequence[str]) -> dict[str, list[tuple[Floats, Floats]]]:
        """Stored and own scores of some rows: primary ones, parts that both have, and counts."""
        kept = self.store.parts(self.key)
        shared = [part_key(self.key, part) for part in own.parts(self.key)[1:] if part in kept]
        pairs: dict[str, list[tuple[Floats, Floats]]] = {version: [] for version in versions}
        for key in (self.key, *shared):
            stored, computed = self.store.load(key, versions), own.load(key, versions)
            for version in computed if key is self.key else stored:
                # A cell without primary scores holds none of the numbers it should; parts came with later versions.
                pairs[version].append((stored.get(version, np.empty(0)), computed[version]))
        stored_counts, own_counts = (cells.load_counts(self.key, versions) for cells in (self.store, own))
        # Version 0.1 kept no counts, and neither does a download of a board that hides its references.
        for version in stored_counts.keys() & own_counts.keys():
            stored_row, own_row = (np.asarray(counts[version], np.float64) for counts in (stored_counts, own_counts))
            pairs[version].append((stored_row, own_row))
        return pairs

    def _sampled(self, rows: Sequence[Outputs], tell: Callable[[Progress], None]) -> Iterator[CellVerdict]:
        """Some generators scored on a seeded sample of the instances, the same for all of them."""
        assert self.metric is not None
        order = np.random.default_rng(self.how.seed).permutation(len(self.board.instances))
        chosen = np.sort(order[: self.how.sample])
        sign = 1.0 if self.metric.card.higher_is_better else -1.0
        kept = self.store.load(self.key, [row.version for row in rows])
        for number, row in enumerate(rows, 1):
            if self.board.is_reference(row, self.key.column.references):
                continue
            batch, positions = cell_batch(self.board, Cell(self.metric, self.key, row))
            where = np.flatnonzero(np.isin(positions, chosen))
            try:
                own = sign * next(iter(score_checked(self.metric, _part(batch, where)).values()))
            except BillboardsError as error:
                words = f"its metric fails here: {error}"
                yield CellVerdict(generator=row.name, outcome="not computed", reason=words)
                continue
            stored = kept.get(row.version, np.empty(0))
            at = positions[where]
            if len(stored) != len(self.board.instances):
                yield self._compared(row, [(stored, np.empty(len(self.board.instances)))])
            else:
                yield self._compared(row, [(stored[at], own)], at)
            tell(Progress(number * len(self.board.instances), 0, f"{self.metric.name} · {row.name}"))

    def _compared(
        self, row: Outputs, pairs: Sequence[tuple[Floats, Floats]], at: NDArray[np.intp] | None = None
    ) -> CellVerdict:
        """A verdict on scores, parts and counts of one generator; `at` are the instances they belong to."""
        compared = different = 0
        largest: float | None = 0.0
        first: int | None = None
        close = True
        for stored, own in pairs:
            if stored.shape != own.shape:
                words = f"holds {len(stored):,} numbers where there are {len(own):,}"
                return CellVerdict(generator=row.name, outcome="differs", largest=None, reason=words)
            unequal = ~same_bits(stored, own)
            compared += len(stored)
            different += int(unequal.reshape(len(stored), -1).any(axis=1).sum())
            if unequal.any():
                gaps = np.abs(stored[unequal] - own[unequal])
                largest = None if largest is None or np.isnan(gaps).any() else max(largest, float(gaps.max()))
                scale = np.maximum(np.maximum(np.abs(stored[unequal]), np.abs(own[unequal])), 1.0)
                close = close and bool((gaps <= self.how.tolerance * scale).all())
                if first is None:
                    first = int(np.flatnonzero(unequal.reshape(len(stored), -1).any(axis=1))[0])
        if first is None:
            return CellVerdict(generator=row.name, outcome="equal", compared=compared)
        place = first if at is None else int(at[first])
        return CellVerdict(
            generator=row.name,
            outcome="close" if close and largest is not None else "differs",
            compared=compared,
            different=different,
            largest=largest,
            instance=self.board.instances[place].id if place < len(self.board.instances) else None,
        )


def same_bits(first: Floats, second: Floats) -> NDArray[np.bool_]:
    """Where two arrays hold the same number to the last bit, or both hold none."""
    bits, others = (np.ascontiguousarray(array, np.float64).view(np.uint64) for array in (first, second))
    same: NDArray[np.bool_] = (bits == others) | (np.isnan(first) & np.isnan(second))
    return same


def worst(outcomes: Iterator[Outcome]) -> Outcome:
    """What is said of several together: one that differs counts for all."""
    every = set(outcomes)
    order: tuple[Outcome, ...] = ("differs", "close", "equal")
    return next((outcome for outcome in order if outcome in every), "not computed")


def computing_metric(board: Board, key: ColumnKey, *, programs: bool) -> tuple[Metric | None, str | None]:
    """The metric that computes a column here, or why none does."""
    column = key.column
    if key.context != board.context_version(references=column.references, inputs=column.needs_input):
        return None, "the references or inputs that it saw are not in this folder"
    try:
        metric, reason = _metric_named(board, column.name, programs=programs)
        if metric is None:
            return None, reason
        if not metric.card.deterministic:
            return None, "it asks a model elsewhere, whose answers may change"
        here = metric.signature
    except MissingPart as error:
        return None, f"what it needs is not here: {error}"
    except InvalidInput as error:
        return None, f"it can't be opened here: {error}"
    if here != column.signature:
        return None, f"another version of the metric is here: {here}"
    if column_key(board, metric, column.references).context != key.context:
        return None, "it was given other texts than it is given here"
    return metric, None


def _metric_named(board: Board, name: str, *, programs: bool) -> tuple[Metric | None, str | None]:
    folder = None if board.home is None else board.home / PROGRAMS / file_name(name)
    if folder is not None and folder.is_dir():
        if not programs:
            return None, "a submitted program, which is run only where --programs allows it"
        return _program(folder, name)
    try:
        return installed_metric(name).for_language(board.output_language), None
    except UnknownName:
        return None, "no metric of this name is installed here, and its program is not in this folder"


def _program(folder: Path, name: str) -> tuple[Metric | None, str | None]:
    """A submitted program under its column's name; one that needs packages or a graphics card is not built here."""
    manifest = read_manifest(folder)
    if manifest.requirements.strip() or manifest.gpu:
        return None, "a submitted program that needs packages or a graphics card of its own"
    return open_program(folder, manifest=replace(manifest, card=replace(manifest.card, name=name))), None


def _part(batch: Batch, where: NDArray[np.intp]) -> Batch:
    return Batch(
        [batch.outputs[k] for k in where],
        [batch.references[k] for k in where] if batch.references else [],
        [batch.inputs[k] for k in where] if batch.inputs else [],
        batch.language,
    )


def _imported_verdict(board: Board, column: ImportedColumn) -> ColumnVerdict:
    reason = "imported: computed elsewhere"
    if column.needs_references and not board.references:
        reason = "the references that it saw are not in this folder"
    elif column.scores_only:
        reason = "sent in as scores, without what computes them"
    cells = tuple(CellVerdict(generator=name, outcome="not computed", reason=reason) for name in column.values)
    return ColumnVerdict(
        metric=column.name,
        signature=column.signature,
        references=column.references,
        origin="imported",
        outcome="not computed",
        reason=reason,
        cells=cells,
    )


def counted(verdicts: Sequence[ColumnVerdict]) -> Mapping[Outcome, int]:
    """How many generators' scores under metrics came out in which way."""
    order: tuple[Outcome, ...] = ("equal", "close", "differs", "not computed")
    return {outcome: sum(column.count(outcome) for column in verdicts) for outcome in order}
