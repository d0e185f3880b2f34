"""Metrics whose scores come from counts: one row of statistics per output, and a score for any sum of rows.

A sentence's score is the score of its row; a corpus's is the score of the sum of its rows (BLEU, chrF and TER are
defined so). So who keeps the rows has the score of any part of a corpus, and of any resampled one, without the texts.
Rows are computed by compiled kernels, a slice of the batch at a time, so that memory stays bounded
however many outputs there are; within a slice, what appears twice is computed once.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput
from billboards.metrics.base import Batch, CorpusKind, Counts, Floats, Metric
from billboards.metrics.kernels.items import Items, items_of

#: Outputs whose texts are laid out in memory at a time.
SLICE = 16_384

Rows = Counts


class SummedMetric(Metric):
    """A metric that is a function of summed statistics."""

    corpus: ClassVar[CorpusKind] = "counts"

    def items(self, batch: Batch) -> Items:
        """What is counted: outputs and the texts that they are compared with."""
        return items_of(batch)

    @abstractmethod
    def statistics(self, items: Items) -> Rows:
        """One row of counts for each item."""

    @abstractmethod
    def scores_of(self, rows: Rows) -> Floats:
        """The score of each row, or of each sum of rows."""

    def corpus_scores_of(self, rows: Rows) -> Floats:
        """The score of each corpus, from the sum of its rows."""
        return self.scores_of(rows)

    def counts(self, batch: Batch) -> Rows:
        """One row of statistics for each output."""
        rows = [rows[places] for rows, places in self._slices(batch)]
        return np.concatenate(rows) if rows else self.statistics(self.items(batch))

    def score_counted(self, batch: Batch) -> tuple[Floats, Rows | None]:
        if self.corpus != "counts":
            return self.score_batch(batch), None
        rows = self.counts(batch)
        return self.scores_of(rows), rows

    def score_batch(self, batch: Batch) -> Floats:
        parts = [self.scores_of(rows)[places] for rows, places in self._slices(batch)]
        return np.concatenate(parts) if parts else np.empty(0)

    def corpus_score(self, batch: Batch) -> float:
        """The score of all outputs together, from the sum of their statistics."""
        if not len(batch):
            raise InvalidInput(f"{self.name}: no output to score; give at least one")
        sums = [rows[places].sum(axis=0) for rows, places in self._slices(batch)]
        return float(self.corpus_scores_of(np.sum(sums, axis=0)[np.newaxis])[0])

    def _slices(self, batch: Batch) -> Iterator[tuple[Rows, NDArray[np.intp]]]:
        for start in range(0, len(batch), SLICE):
            items = self.items(batch.part(start, start + SLICE))
            yield self.statistics(items), items.places


def edit_rates(rows: Rows) -> Floats:
    """Edits per symbol, times 100, from rows of both; where there is no symbol, 100 for any edit at all."""
    edits, lengths = rows[:, 0], rows[:, 1]
    return 100 * np.divide(edits, lengths, out=(edits > 0).astype(np.float64), where=lengths > 0)
