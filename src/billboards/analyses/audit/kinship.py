"""Pseudo-references: is a metric the same as comparing with its own best output, and does it reward relatives (§5.3)?

All machines are scored by reference-based metrics with the optimised output as the only reference, and the system
scores correlated with the metric's. Where the optimised output was chosen from the machines' own, each machine meets
the choice among the others. Kinship asks the sharper question: at equal quality, does likeness to the optimised output
raise the metric?
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from billboards.analyses.audit.bench import Bench, text_row, with_reference
from billboards.analyses.audit.landing import Field, Judge
from billboards.analyses.audit.optimised import Optimised
from billboards.analyses.audit.reranking import pool_texts
from billboards.analyses.audit.results import Equivalence, PseudoPoint, Relative
from billboards.board import Outputs
from billboards.metrics.base import Metric
from billboards.stats.system_level import (
    correlations,
    partial_correlations,
    residuals,
    standardised,
    value_and_interval,
    weighted_means,
)

Floats = NDArray[np.float64]
Interval = tuple[float, float]


@dataclass(frozen=True)
class PseudoScores:
    """Machines × instances under a reference-based metric with the optimised output as the reference.

    `left_out` has each machine against the choice among the others; `with_own` is None where there is no difference.
    """

    judge: str
    left_out: Floats
    with_own: Floats | None = None


def pseudo_scores(bench: Bench, field: Field, optimised: Optimised, metric: Metric) -> PseudoScores:
    """What a reference-based metric says of the machines when the optimised output is the reference."""
    board, name = bench.board, f"optimised ({optimised.method})"
    machines = [board.rows[field.rows[k]] for k in field.machine_places]
    whole = bench.scores(metric, machines, board=with_reference(board, name, optimised.texts))
    if optimised.pool is None:
        return PseudoScores(metric.name, whole)
    places = [field.rows[k] for k in field.machine_places]
    left_out = np.stack(
        [_without(bench, optimised, metric, row, k, own) for row, k, own in zip(machines, places, whole, strict=True)]
    )
    return PseudoScores(metric.name, left_out, whole)


def _without(bench: Bench, optimised: Optimised, metric: Metric, row: Outputs, k: int, whole: Floats) -> Floats:
    """One machine against the choice among the others: only where it was the choice itself is there anything new."""
    pool, board = optimised.pool, bench.board
    assert pool is not None
    if k not in pool.rows:
        return whole
    texts = pool_texts(board, pool, pool.rows.index(k))
    same = [text == other for text, other in zip(texts, optimised.texts, strict=True)]
    other_board = with_reference(board, f"optimised without {row.name}", texts)
    if not metric.takes_best_reference and metric.needs_corpus:
        return np.asarray(bench.scores(metric, [row], board=other_board)[0])
    changed = text_row(board, row.name, tuple(None if s else text for s, text in zip(same, row.texts, strict=True)))
    if all(text is None for text in changed.texts):
        return whole
    return np.where(same, whole, bench.scores(metric, [changed], board=other_board)[0])


def equivalence(names: Sequence[str], own: Floats, pseudo: PseudoScores, weights: Floats) -> Equivalence:
    """The correlation of the metric's system scores (machines × instances) with those against its own output."""
    metric = weighted_means(own, weights)
    resampled = correlations(metric, weighted_means(pseudo.left_out, weights))
    value, interval = value_and_interval(resampled)
    with_own = None
    if pseudo.with_own is not None:
        with_own = value_and_interval(correlations(metric[:1], weighted_means(pseudo.with_own, weights[:1])))[0]
    systems = int((np.isfinite(metric[0])).sum())
    likeness = weighted_means(pseudo.left_out, weights[:1])[0]
    points = tuple(
        PseudoPoint(name, float(x), float(y))
        for name, x, y in zip(names, likeness, metric[0], strict=True)
        if np.isfinite(x) and np.isfinite(y)
    )
    return Equivalence(
        judge=pseudo.judge,
        correlation=value,
        interval=interval,
        systems=systems,
        leaving_out=pseudo.with_own is not None,
        with_own=with_own,
        points=points,
    )


@dataclass(frozen=True)
class Kinship:
    """What likeness to the optimised output earns at equal quality, and each machine's part in it."""

    value: float | None
    interval: Interval | None
    relatives: tuple[Relative, ...]


def kinship(
    names: Sequence[str], own: Floats, pseudo: Sequence[PseudoScores], quality: Sequence[Judge], weights: Floats
) -> Kinship:
    """The partial correlation of the metric and likeness given quality; all are means over instances, per machine."""
    if not pseudo or not quality:
        return Kinship(None, None, ())
    metric = weighted_means(own, weights)
    likeness = _mean_of([weighted_means(scores.left_out, weights) for scores in pseudo])
    good = _mean_of([weighted_means(judge.scores, weights) for judge in quality])
    measured = np.isfinite(metric[0]) & np.isfinite(likeness[0]) & np.isfinite(good[0])
    if measured.sum() < 5:
        return Kinship(None, None, ())
    value, interval = value_and_interval(
        partial_correlations(metric[:, measured], likeness[:, measured], good[:, measured])
    )
    left = residuals(metric[0, measured], good[0, measured])
    columns = (standardised(likeness[0, measured]), standardised(good[0, measured]), left)
    kept = [name for name, is_measured in zip(names, measured, strict=True) if is_measured]
    relatives = [Relative(name, *map(float, row)) for name, *row in zip(kept, *columns, strict=True)]
    return Kinship(value, interval, tuple(sorted(relatives, key=lambda relative: -relative.similarity)))


def _mean_of(columns: Sequence[Floats]) -> Floats:
    """Several judges' means (draws × machines) as one, each standardised first."""
    return np.asarray(np.mean([standardised(column) for column in columns], axis=0))
