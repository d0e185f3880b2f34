"""Minimum Bayes risk: an output for a reference-based metric, made without a reference.

Of the generators' outputs of an instance, the one that scores best on average with each of the others as the reference
(Kumar and Byrne 2004). So "optimised for the metric" can be asked of any metric. A generator that is left out is
neither chosen nor a reference.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from billboards.analyses.audit.bench import Bench, with_reference
from billboards.analyses.audit.optimised import Optimised, Pool
from billboards.analyses.audit.reranking import pool_rows, pool_texts
from billboards.analyses.audit.results import OptimisationMethod
from billboards.errors import InvalidInput, NotEnoughData
from billboards.metrics.base import Metric

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class MinimumRisk:
    """The output that is closest to all others."""

    method: OptimisationMethod = "risk"

    def optimise(self, bench: Bench, metric: Metric) -> Optimised:
        if not metric.card.needs_references:
            raise InvalidInput(f"{metric.name} uses no references, so it has no risk over a pool; use --method rerank")
        rows, spent = pool_rows(bench.board), bench.budget.spent
        if len(rows) < 3:
            raise NotEnoughData(
                f"board {bench.board.name}: risk needs the outputs of 3 generators; {len(rows)} are there"
            )
        utility = _utility(bench, metric, rows)
        pool = Pool(tuple(rows), _expected(utility), np.stack([_expected(utility, g) for g in range(len(rows))]))
        how = f"minimum Bayes risk over the outputs of {len(rows)} generators"
        return Optimised(
            method="risk", how=how, texts=pool_texts(bench.board, pool), pairs=bench.budget.spent - spent, pool=pool
        )


def _utility(bench: Bench, metric: Metric, rows: list[int]) -> Floats:
    """Scores of every generator with every other as the reference: outputs × references × instances."""
    board = bench.board
    own = [board.rows[k] for k in rows]
    by_reference = []
    for done, row in enumerate(own):
        # Named as the row is, so that nobody is compared with itself.
        by_reference.append(bench.scores(metric, own, board=with_reference(board, row.name, row.texts)))
        bench.show(done + 1, len(own), f"{metric.name} · every output against {row.name}")
    return np.stack(by_reference, axis=1)


def _expected(utility: Floats, without: int | None = None) -> Floats:
    """The mean over references, where there is one; a generator left out is no reference."""
    used = np.isfinite(utility)
    if without is not None:
        used[:, without] = False
    count = used.sum(axis=1)
    total = np.where(used, utility, 0.0).sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
