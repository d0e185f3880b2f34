"""What one more reference is worth, on a board that can be checked by hand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
import pytest
from small_boards import Characters, Overlap, small_board

from billboards.analyses._view import judged_matrix
from billboards.analyses.references import reference_effect
from billboards.board import Board, Judgments, Reference
from billboards.board.cells import MemoryCells
from billboards.errors import NotEnoughData
from billboards.metrics.base import Batch, Floats, Metric, MetricCard
from billboards.metrics.executor import InProcess
from billboards.stats.correlation import pearson


@dataclass(frozen=True)
class OverlapAll(Metric):
    """Words shared with all references together: a definition of its own for several."""

    card: ClassVar[MetricCard] = MetricCard(name="overlap-all")
    multiple_references: ClassVar[Literal["own", "best"]] = "own"

    def score_batch(self, batch: Batch) -> Floats:
        pairs = zip(batch.outputs, batch.references, strict=True)
        return np.array([len(set(o.split()) & set(" ".join(r).split())) for o, r in pairs], float)


def three_references() -> Board:
    board = small_board(instances=15)
    third = [
        replace(i, references=(*i.references, Reference("C", i.references[0].text.split()[-1])))
        for i in board.instances
    ]
    return replace(board, instances=tuple(third))


def test_points_for_every_size_with_all_subsets() -> None:
    effect = reference_effect(three_references(), MemoryCells(), [Overlap(), OverlapAll(), Characters()], InProcess())
    assert set(effect.curves) == {"overlap", "overlap-all"}
    assert [(p.size, p.subsets) for p in effect.curves["overlap"]] == [(1, 3), (2, 3), (3, 1)]
    assert all(p.low <= p.correlation <= p.high for curve in effect.curves.values() for p in curve)


def test_the_mean_over_single_references_is_that_of_scoring_each_alone() -> None:
    board, store = three_references(), MemoryCells()
    effect = reference_effect(board, store, [OverlapAll()], InProcess())
    people = judged_matrix(board, store).human[:4]
    alone = []
    for name in range(3):
        words = [set(i.references[name].text.split()) for i in board.instances]
        texts = [row.texts for row in board.rows[:4]]
        scores = np.array(
            [[len(set((t or "").split()) & w) for t, w in zip(row, words, strict=True)] for row in texts], float
        )
        alone.append(pearson(scores[None], people)[0][0])
    assert effect.curves["overlap-all"][0].correlation == pytest.approx(np.nanmean(alone), abs=1e-12)


def test_fewer_subsets_on_request_and_the_seed_is_kept() -> None:
    effect = reference_effect(three_references(), MemoryCells(), [Overlap()], InProcess(), most=2, seed=5)
    assert [p.subsets for p in effect.curves["overlap"]] == [2, 2, 1]
    assert effect.seed == 5


def test_no_judgments_no_curve() -> None:
    board = replace(small_board(), judgments=Judgments(), ranks=None)
    with pytest.raises(NotEnoughData, match="no judged outputs"):
        reference_effect(board, MemoryCells(), [Overlap()], InProcess())
