"""How sure are we? Correlations over resampled instances, documents, generators, or instances and generators at once.

Which of these is right depends on the question: instances for "on other test examples", documents where the instances
of one document resemble each other, generators for "with other systems", both for a claim about the metric at large.
Every draw is a weighting of sums that are computed once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from billboards.errors import InvalidInput
from billboards.stats.correlation import (
    cell_sums,
    instance_sums,
    pearson_of_sums,
    resampled_pearson,
    resampling_weights,
)

Interval = tuple[float, float]
#: What a bootstrap draws again and again: which others a claim is about.
Resampled = Literal["instances", "documents", "generators", "both"]
Floats = NDArray[np.float64]
Unit = Literal["instances", "documents", "generators", "both"]
UNITS: tuple[Unit, ...] = ("instances", "documents", "generators", "both")


def bootstrap_pearson(
    scores: Floats,
    human: Floats,
    *,
    unit: Unit = "instances",
    documents: ArrayLike | None = None,
    draws: int = 1000,
    seed: int = 0,
) -> Floats:
    """Pooled Pearson of each metric in every draw, as draws × metrics; the same draws serve all metrics.

    Metrics are compared draw by draw: the difference of two columns is a bootstrap of their difference.
    """
    if unit not in UNITS:
        raise InvalidInput(f"a bootstrap resamples one of {', '.join(UNITS)}, not {unit!r}")
    if unit == "documents" and (documents is None or len(np.asarray(documents)) != human.shape[1]):
        raise InvalidInput("a bootstrap over documents needs the document of every instance")
    judged = np.isfinite(human).any(axis=1)
    if unit == "both":
        return _over_both([cell_sums(metric[judged], human[judged]) for metric in scores], draws, seed)
    if unit == "generators":
        sums = np.array([cell_sums(metric[judged], human[judged]).sum(axis=1) for metric in scores])
        return resampled_pearson(sums.reshape(len(scores), -1, 6), draws=draws, seed=seed)
    sums = instance_sums(scores, human)
    return resampled_pearson(sums if unit == "instances" else sums_by_document(sums, documents), draws=draws, seed=seed)


def sums_by_document(sums: Floats, documents: ArrayLike | None) -> Floats:
    """The sums of whole documents (metrics × documents × 6) from those of their instances."""
    names = np.asarray(documents)
    order = np.argsort(names, kind="stable")
    starts = np.unique(names[order], return_index=True)[1]
    return np.add.reduceat(sums[:, order], starts, axis=1)


def _over_both(columns: Sequence[Floats], draws: int, seed: int) -> Floats:
    """Draws of generators and instances at once, from the terms of every cell (rows × instances × 6) of each metric."""
    random = np.random.default_rng(seed)
    drawn = np.empty((draws, len(columns)))
    rows, instances = columns[0].shape[:2] if columns else (0, 0)
    for block in _blocks(draws, instances):
        of_rows, of_instances = (resampling_weights(random, n, block.stop - block.start) for n in (rows, instances))
        for k, sums in enumerate(columns):
            by_row = (of_instances @ sums.transpose(1, 0, 2).reshape(instances, -1)).reshape(-1, rows, 6)
            drawn[block, k] = pearson_of_sums((of_rows[:, :, None] * by_row).sum(axis=1))
    return drawn


def _blocks(draws: int, instances: int) -> Iterator[slice]:
    size = max(1, 4_000_000 // max(instances, 1))
    return (slice(start, min(start + size, draws)) for start in range(0, draws, size))
