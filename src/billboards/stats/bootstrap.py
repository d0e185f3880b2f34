"""How sure are we? Correlations over resampled instances, documents, generators, or instances and generators at once.

Which of these is right depends on the question: instances for "on other test examples", documents where the instances
of one document resemble each other, generators for "with other systems", both for a claim about the metric at large.
Every draw is a weighting of sums that are computed once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from billboards.errors import InvalidInput
from billboards.stats.correlation import cell_sums, pearson_of_sums, resampling_weights

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
    columns = [cell_sums(one[judged], human[judged]) for one in scores]
    rows, instances = int(judged.sum()), human.shape[1]
    random = np.random.default_rng(seed)
    drawn = np.empty((draws, len(scores)))
    for block in _blocks(draws, instances):
        weights = _weights(random, unit, documents, rows, instances, block.stop - block.start)
        for k, sums in enumerate(columns):
            drawn[block, k] = pearson_of_sums(_weighted(sums, *weights))
    return drawn


def _blocks(draws: int, instances: int) -> Iterator[slice]:
    size = max(1, 4_000_000 // max(instances, 1))
    return (slice(start, min(start + size, draws)) for start in range(0, draws, size))


def _weights(
    random: np.random.Generator, unit: Unit, documents: ArrayLike | None, rows: int, instances: int, draws: int
) -> tuple[Floats | None, Floats | None]:
    """How often each row and each instance counts in each draw; None where each counts once."""
    if unit == "documents":
        code = np.unique(np.asarray(documents), return_inverse=True)[1]
        return None, resampling_weights(random, int(code.max()) + 1, draws)[:, code]
    of_rows = resampling_weights(random, rows, draws) if unit in ("generators", "both") else None
    of_instances = resampling_weights(random, instances, draws) if unit in ("instances", "both") else None
    return of_rows, of_instances


def _weighted(sums: Floats, of_rows: Floats | None, of_instances: Floats | None) -> Floats:
    """The six sums of every draw from those of every cell (rows × instances × 6)."""
    rows, instances, _ = sums.shape
    if of_instances is None:
        by_row = np.broadcast_to(sums.sum(axis=1), (1, rows, 6))
    else:
        by_row = (of_instances @ sums.transpose(1, 0, 2).reshape(instances, -1)).reshape(-1, rows, 6)
    every_row = np.ones((1, rows)) if of_rows is None else of_rows
    return np.asarray((every_row[:, :, None] * by_row).sum(axis=1), np.float64)
