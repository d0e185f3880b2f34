"""What ensembles look at: metrics' scores, means over the other generators of the instance, leads over them, length.

Scores that are missing are filled in with what the present ones let expect (the conditional mean of a normal
distribution with the training outputs' means and covariances), so that a generator without one metric is judged by
the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: Share of an input's variance that is added so that inputs that say the same can be told apart.
JITTER = 1e-6


@dataclass(frozen=True, kw_only=True)
class Cells:
    """What is known of every output of a board: own values and means over other generators (inputs × rows × instances).

    The last of the own values is the text's length, as a logarithm; the others are metrics' scores.
    """

    own: Floats
    around: Floats

    @property
    def metrics(self) -> int:
        return len(self.own) - 1

    def at(self, rows: NDArray[np.intp], instances: NDArray[np.intp]) -> Floats:
        """Own values and means of some outputs, side by side (outputs × 2·inputs), with gaps."""
        return np.concatenate([self.own[:, rows, instances], self.around[:, rows, instances]]).T


def lengths(texts: Sequence[Sequence[str | None]]) -> Floats:
    """The logarithm of the number of characters of each text (rows × instances)."""
    counts = [[np.nan if text is None else float(len(text)) for text in row] for row in texts]
    return np.log1p(np.array(counts, np.float64).reshape(len(texts), -1))


def make_cells(scores: Sequence[Floats], length: Floats, among: Bools) -> Cells:
    """Cells of a board; means are over the rows in `among`, each row's own value left out."""
    own = np.stack([*scores, length])
    others = np.where(among[None, :, None], own, np.nan)
    present = np.isfinite(others)
    total = np.where(present, others, 0.0).sum(axis=1, keepdims=True)
    count = present.sum(axis=1, keepdims=True)
    rest = count - present
    sums = total - np.where(present, others, 0.0)
    around = np.where(rest > 0, sums / np.maximum(rest, 1), np.nan)
    return Cells(own=own, around=around)


def expanded(table: Floats, *, items: bool) -> Floats:
    """Inputs of models: own values, then with `items` means over the other generators and leads over them."""
    half = table.shape[1] // 2
    own, around = table[:, :half], table[:, half:]
    return np.ascontiguousarray(np.concatenate([own, around, own - around], axis=1) if items else own[:, :-1])


def input_directions(metrics: int, *, items: bool) -> NDArray[np.int32]:
    """Which inputs may only help: scores and leads in them; length and what others got may do anything."""
    helping, free = np.ones(metrics, np.int32), np.zeros(1, np.int32)
    if not items:
        return helping
    return np.concatenate([helping, free, 0 * helping, free, helping, free]).astype(np.int32)


@dataclass(frozen=True, kw_only=True)
class Filling:
    """How gaps are filled: means and covariances of what is known of training outputs."""

    mean: Floats
    covariance: Floats

    def fill(self, table: Floats) -> Floats:
        """The table with every gap replaced by what the rest of its row lets expect."""
        gaps = ~np.isfinite(table)
        if not gaps.any():
            return table
        filled = table.copy()
        patterns, place = np.unique(gaps, axis=0, return_inverse=True)
        place = place.ravel()
        for number, pattern in enumerate(patterns):
            rows = place == number
            if not pattern.any():
                continue
            present = ~pattern
            if not present.any():
                filled[rows] = self.mean
                continue
            inner = self.covariance[np.ix_(present, present)]
            slopes = np.linalg.solve(inner, self.covariance[np.ix_(present, pattern)])
            filled[np.ix_(rows, pattern)] = (
                self.mean[pattern] + (table[np.ix_(rows, present)] - self.mean[present]) @ slopes
            )
        return filled

    def document(self) -> dict[str, Any]:
        return {"mean": self.mean.tolist(), "covariance": self.covariance.tolist()}


def read_filling(document: Mapping[str, Any], count: int) -> Filling:
    """A filling from its document."""
    try:
        mean = np.array(document["mean"], np.float64)
        covariance = np.array(document["covariance"], np.float64)
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput(f"an ensemble's means are damaged ({error}); get it anew") from error
    if mean.shape != (count,) or covariance.shape != (count, count) or not np.isfinite(covariance).all():
        raise InvalidInput("an ensemble's means and covariances are of other inputs; get it anew")
    return Filling(mean=mean, covariance=covariance)


def learn_filling(table: Floats) -> Filling:
    """Means and covariances of a table with gaps: each pair of columns by the rows that have both."""
    present = np.isfinite(table)
    values = np.where(present, table, 0.0)
    counts = np.maximum(present.sum(axis=0), 1)
    mean = values.sum(axis=0) / counts
    centred = np.where(present, table - mean, 0.0)
    pairs = np.maximum(present.T.astype(float) @ present, 1.0)
    covariance = centred.T @ centred / pairs
    if not present.all():
        # Pairs by different rows may contradict each other: what is negative is left out.
        values, vectors = np.linalg.eigh(covariance)
        covariance = (vectors * np.maximum(values, 0.0)) @ vectors.T
    spread = np.diag(covariance)
    covariance = covariance + np.diag(JITTER * np.where(spread > 0, spread, 1.0))
    return Filling(mean=mean, covariance=covariance)
