"""What intervals are about: resampling a board's instances, documents, generators, or instances and generators.

Which is right depends on the claim: other test examples, other documents, other systems, or all of it. One unit drawn
again and again is no sample, so an interval needs two of what is drawn.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from billboards.analyses.ranking_results import Resampled
from billboards.board import Board, Slice
from billboards.stats.bootstrap import bootstrap_pearson
from billboards.stats.correlation import Correlations, pearson_with_intervals

Floats = NDArray[np.float64]


def correlations_with_intervals(
    board: Board, part: Slice, scores: Floats, human: Floats, *, resampled: Resampled, draws: int, seed: int
) -> Correlations:
    """Pooled Pearson of each metric on a part of the board, with 95% intervals over what is resampled."""
    if resampled == "instances" or not draws:
        return pearson_with_intervals(scores, human, draws=draws, seed=seed)
    found = pearson_with_intervals(scores, human, draws=0)
    drawn = resampled_correlations(board, part, scores, human, resampled=resampled, draws=draws, seed=seed)
    defined = np.zeros(len(found.r), bool) if drawn is None else np.isfinite(drawn).any(axis=0)
    if drawn is None or not defined.any():
        return found
    low, high = np.full((2, len(found.r)), np.nan)
    low[defined], high[defined] = np.nanquantile(drawn[:, defined], (0.025, 0.975), axis=0)
    return replace(found, low=low, high=high)


def resampled_correlations(
    board: Board, part: Slice, scores: Floats, human: Floats, *, resampled: Resampled, draws: int, seed: int
) -> Floats | None:
    """Pooled Pearson of each metric in every draw; None where there are not two units to draw from."""
    documents = _documents(board, part)
    judged = np.isfinite(human)
    generators, instances = int(judged.any(axis=1).sum()), np.flatnonzero(judged.any(axis=0))
    units = {
        "instances": len(instances),
        "documents": len({documents[k] for k in instances}),
        "generators": generators,
        "both": min(generators, len(instances)),
    }
    if not draws or units[resampled] < 2:
        return None
    return bootstrap_pearson(scores, human, unit=resampled, documents=documents, draws=draws, seed=seed)


def _documents(board: Board, part: Slice) -> list[str]:
    """The document of every instance of a part; an instance without one is its own."""
    instances = (board.instances[k] for k in board.select(part))
    return [f"document {one.document}" if one.document else f"instance {one.id}" for one in instances]
