"""Hybrid systems of a board: which metric orders thousands of mixtures as people do, and which picks their best.

The generators that are mixed are the judged ones whose text is not among the references, as in a ranking. A hybrid
needs every metric's score, so only metrics that score (nearly) everything take part; the others are named with the
reason, by the rule that also decides who may join an ensemble.
"""

from __future__ import annotations

import numpy as np

from billboards.analyses.ensemble import candidates
from billboards.analyses.preferences import check_values
from billboards.analyses.standings import places
from billboards.analyses.study_results import HybridStanding, HybridStudy
from billboards.analyses.view import view_board
from billboards.board import Board, Slice
from billboards.board.cells import CellStore
from billboards.errors import InvalidInput, NotEnoughData
from billboards.stats.hybrid import HybridCorrelations, ModelSelection, correlate_hybrids, mix_hybrids, select_models

#: Williams' test compares two correlations over more than three systems.
FEWEST = 4


def study_hybrids(
    board: Board,
    store: CellStore | None,
    *,
    aggregate: str | None = None,
    part: Slice | None = None,
    mixtures: int = 10_000,
    parents: int | None = 2,
    sample: int = 100,
    seed: int = 0,
) -> HybridStudy:
    """Metrics by their correlation with people over random mixtures, and what choosing by each would cost."""
    _check(mixtures, sample)
    check_values(board, aggregate, "a mixture of outputs has no mean to order it by")
    view = view_board(board, store, aggregate=aggregate, part=part)
    mixed = view.judged & np.array([row.generator is not None for row in board.rows], bool)
    if not mixed.any():
        raise NotEnoughData(f"board {board.name} has no judged generator to mix; hybrids need judgments")
    human = np.where(mixed[:, None], view.human, np.nan)
    chosen = candidates(view.scores, human)
    if not chosen.columns:
        reasons = "; ".join(f"{name}: {why}" for name, why in chosen.left_out.items()) or "there are no scores"
        raise NotEnoughData(f"board {board.name} has no metric to judge hybrids by ({reasons}); score it first")
    if np.ptp(human[np.isfinite(human)]) == 0:
        raise NotEnoughData(f"board {board.name}: every judgment is the same, so no hybrid is better than another")
    hybrids = mix_hybrids(view.scores.values[list(chosen.columns)], human, count=mixtures, parents=parents, seed=seed)
    names = [view.scores.names[k] for k in chosen.columns]
    found, selected = correlate_hybrids(hybrids), select_models(hybrids, sample=sample, seed=seed)
    return HybridStudy(
        board.name,
        view.aggregate,
        str(view.part),
        mixtures,
        parents,
        sample,
        seed,
        hybrids.instances,
        tuple(row.name for row, taken in zip(board.rows, mixed, strict=True) if taken),
        _standings(names, found, selected),
        chosen.left_out,
    )


def _check(mixtures: int, sample: int) -> None:
    if mixtures < FEWEST:
        raise InvalidInput(f"{mixtures} mixtures can't be tested; ask for {FEWEST} or more")
    if not 1 <= sample <= mixtures:
        raise InvalidInput(f"a sample of {sample} can't be drawn from {mixtures} mixtures; choose 1 to {mixtures}")


def _standings(names: list[str], found: HybridCorrelations, selected: ModelSelection) -> tuple[HybridStanding, ...]:
    """Metrics best first; those whose correlation is undefined last."""
    order, ranks, clusters = places(found.pearson, found.p)
    best = order[0] if order else None

    def standing(k: int) -> HybridStanding:
        return HybridStanding(
            names[k],
            ranks[k],
            clusters.get(k),
            _defined(found.pearson[k]),
            _defined(found.kendall[k]),
            None if best is None or k == best else _defined(found.p[best, k]),
            _defined(selected.hits[k]),
            _defined(selected.mrr[k]),
            _defined(selected.difference[k]),
        )

    return tuple(map(standing, (*order, *(k for k in range(len(names)) if ranks[k] is None))))


def _defined(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
