"""Scoring a suite: what is missing on every board, as one piece of work that can be stopped and taken up again.

Each board keeps its own cells, so a suite has no state: a second run finds what the first has finished, on whichever
board it was, and a cell that two suites share is computed once. Only judged rows are scored, against all references and
against one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from billboards.analyses.suite.checked_boards import OpenBoard
from billboards.analyses.suite.chosen import Chosen
from billboards.board import ReferenceSet
from billboards.board.missing_cells import Cell, Progress, compute_cells, missing_cells
from billboards.metrics.base import Metric
from billboards.metrics.executor import Executor


@dataclass
class SuiteScoring:
    """What scoring did: cells computed, cells that were there, and why a metric failed, by metric and board."""

    computed: int = 0
    present: int = 0
    failures: dict[str, str] = field(default_factory=dict)


def score_suite(
    boards: Sequence[OpenBoard],
    chosen: Sequence[Chosen],
    executor: Executor,
    *,
    on_progress: Callable[[Progress], None] | None = None,
) -> SuiteScoring:
    """Compute and save every cell that the tables need and that is missing, board by board."""
    report, work = SuiteScoring(), []
    for member in boards:
        cells, present = _missing(member, chosen)
        report.present += present
        work.append((member, cells))
    total = sum(len(cells) * len(member.board.instances) for member, cells in work)
    before = 0
    for member, cells in work:
        board_progress = None if on_progress is None else _across(on_progress, member.label, before, total)
        done = compute_cells(member.board, member.home.cells, cells, executor, on_progress=board_progress)
        report.computed += done.computed
        report.failures |= {f"{metric} on {member.label}": reason for metric, reason in done.failures.items()}
        before += len(cells) * len(member.board.instances)
    return report


def _across(tell: Callable[[Progress], None], label: str, before: int, total: int) -> Callable[[Progress], None]:
    """Progress on one board as progress on all of them."""
    return lambda now: tell(Progress(before + now.done, total, f"{label} · {now.cell}"))


def _missing(member: OpenBoard, chosen: Sequence[Chosen]) -> tuple[list[Cell[Metric]], int]:
    """The cells of one board that are missing, in whichever block; a board with one reference has each once."""
    cells: list[Cell[Metric]] = []
    present = 0
    for references in _reference_sets(member):
        metrics = _needing(member, chosen, references)
        some, count = missing_cells(member.board, member.home.cells, metrics, references, member.judged_rows)
        cells += some
        present += count
    return cells, present


def _reference_sets(member: OpenBoard) -> tuple[ReferenceSet, ...]:
    """The reference sets of all blocks, each once."""
    return tuple(dict.fromkeys(member.references(block) for block in ("all", "one", "none")))


def _needing(member: OpenBoard, chosen: Sequence[Chosen], references: ReferenceSet) -> list[Metric]:
    """The metrics that are run against a reference set: those that need one, or those that need none."""
    here = {metric.signature: metric for row in chosen if (metric := row.on.get(member.key)) is not None}
    return [metric for metric in here.values() if metric.card.needs_references == bool(references)]
