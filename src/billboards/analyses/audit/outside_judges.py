"""Who is asked about an optimised output: reference-based metrics, and people where they have judged.

A metric with its program scores the output itself. Where the output was chosen from the generators' own, whatever is
known of those is known of it, people's judgments included; else people must have judged the optimised row on the board.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from billboards.analyses.audit.bench import Bench
from billboards.analyses.audit.landing import Compared, Field, Judge, compare, is_comparable
from billboards.analyses.audit.optimised import Optimised
from billboards.analyses.audit.reranking import pool_rows
from billboards.analyses.audit.results import PEOPLE
from billboards.analyses.audit.subject import Subject
from billboards.board import Board, Outputs, human_scores
from billboards.errors import NotEnoughData
from billboards.metrics.base import Metric

Floats = NDArray[np.float64]
#: Machines with people's scores from which on people decide what quality is.
ENOUGH_JUDGED = 5


def field_of(bench: Bench, subject: Subject) -> Field:
    """The generators that an optimised output is compared with: those that the metric has scored."""
    board = bench.board
    rows = pool_rows(board)
    scores = subject.scores(bench, rows) if rows else ()
    kept = [k for k, own in zip(rows, scores, strict=True) if np.isfinite(own).any()]
    kinds = [generator.kind for k in kept if (generator := board.rows[k].generator) is not None]
    machines = np.array([kind == "machine" for kind in kinds], bool)
    if machines.sum() < 3:
        raise NotEnoughData(
            f"board {board.name}: an audit compares with 3 machines or more; {subject.name} has scored {machines.sum()}"
        )
    return Field(tuple(kept), tuple(board.rows[k].name for k in kept), machines)


def judge_metrics(
    bench: Bench, field: Field, optimised: Optimised, row: Outputs, programs: Sequence[Metric]
) -> list[Compared]:
    """The optimised output under every reference-based metric that can say something."""
    if not bench.board.references:
        return []
    rows = [bench.board.rows[k] for k in field.rows]
    comparisons = []
    for metric in programs:
        alone = None if optimised.pool is not None else bench.scores(metric, [row])[0]
        judge = Judge(
            metric.name, bench.scores(metric, rows), metric, alone, higher_is_better=metric.card.higher_is_better
        )
        comparisons.append(compare(field, optimised, judge))
    return [comparison for comparison in comparisons if is_comparable(comparison)]


def judge_people(board: Board, field: Field, optimised: Optimised, row: Outputs | None = None) -> list[Compared]:
    """The optimised output under people: one judge, or none where they have not seen these outputs."""
    human = _people(board)
    if human is None:
        return []
    alone = None
    if optimised.pool is None:
        place = None if row is None else board.row_position.get(row.name)
        if place is None or row is None or board.rows[place].version != row.version:
            return []
        alone = human[place]
    compared = compare(field, optimised, Judge(PEOPLE, human[list(field.rows)], None, alone))
    return [compared] if is_comparable(compared) else []


def quality_of(board: Board, field: Field, metrics: Sequence[Compared]) -> list[Judge]:
    """Who says what quality is, machines only: people where enough machines are judged, else the other metrics."""
    human = _people(board)
    if human is not None:
        machines = human[list(field.rows)][field.machines]
        if np.isfinite(machines).any(axis=1).sum() >= ENOUGH_JUDGED:
            return [Judge(PEOPLE, machines)]
    return [Judge(comparison.judge.name, comparison.judge.scores[field.machines]) for comparison in metrics]


def _people(board: Board) -> Floats | None:
    if board.ranks is None:
        return None
    return human_scores(board.judgments, board.aggregate(), board.dimensions, (len(board.rows), len(board.instances)))
