"""A metric of one's own on a board: a small class, scored and ranked beside the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import billboards as bb
from billboards.demo import build_board
from billboards.metrics.base import Floats, score_each


@dataclass(frozen=True)
class WordRecall(bb.Metric):
    """The share of a reference's words that the output holds; of several references, the best."""

    lowercase: bool = True
    card: ClassVar[bb.MetricCard] = bb.MetricCard(name="word-recall", range=(0.0, 1.0))

    def score_batch(self, batch: bb.Batch) -> Floats:
        return score_each(batch, lambda item: max(self._recall(item.output, text) for text in item.references))

    def _recall(self, output: str, reference: str) -> float:
        held, wanted = (set((text.lower() if self.lowercase else text).split()) for text in (output, reference))
        return len(held & wanted) / max(len(wanted), 1)


board = bb.save(build_board(), "demo-board")
bb.score(board, ["BLEU", WordRecall(), WordRecall(lowercase=False)])
for standing in bb.rank(board).value.metrics:
    print(standing.rank, f"{standing.correlation:.3f}", standing.signature)
