"""Two sources of judgments on one board, such as crowd against experts (§2.5, Fig. 2): how far they agree, and where.

A source is an aggregate or a single dimension of judgments. Everyone takes part whom both have judged, references
among them: who wrote a text doesn't matter where no metric looks at it.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from billboards.analyses.study_results import AgreementLevel, AgreementStudy, Disagreement
from billboards.board import Board, Slice, human_scores
from billboards.errors import NotEnoughData
from billboards.stats.agreement import Association, Corner, disagreement_corners, measure_agreement

Floats = NDArray[np.float64]

#: What a person can read through.
SHOWN = 10


def study_agreement(
    board: Board, first: str, second: str, *, part: Slice | None = None, shown: int = SHOWN
) -> AgreementStudy:
    """How two aggregates or dimensions of judgments agree on the outputs that both have judged."""
    part = part or Slice()
    keep = list(board.select(part))
    shape = (len(board.rows), len(board.instances))
    one, other = (
        human_scores(board.judgments, board.aggregate(name), board.dimensions, shape)[:, keep]
        for name in (first, second)
    )
    if not (np.isfinite(one) & np.isfinite(other)).any():
        raise NotEnoughData(f"no output has both {first} and {second}, so they can't be compared")
    found = measure_agreement(one, other)
    differ = not np.isnan(found.standardised_distance)
    above, below = disagreement_corners(one, other, k=shown) if differ else (None, None)
    return AgreementStudy(
        board.name,
        first,
        second,
        str(part),
        (_level("outputs", found.outputs), *_generators(board, one, other)),
        found.bias,
        found.distance,
        found.standardised_distance if differ else None,
        _disagreements(board, keep, one, other, above),
        _disagreements(board, keep, one, other, below),
    )


def _generators(board: Board, one: Floats, other: Floats) -> tuple[AgreementLevel, ...]:
    """Agreement over generators' means; outputs of unknown generators have no place in it."""
    rows = [k for k, row in enumerate(board.rows) if row.generator is not None]
    if not (np.isfinite(one[rows]) & np.isfinite(other[rows])).any():
        return ()
    return (_level("generators", measure_agreement(one[rows], other[rows]).generators),)


def _level(level: Literal["outputs", "generators"], found: Association) -> AgreementLevel:
    pearson, spearman, kendall = (None if np.isnan(r) else r for r in (found.pearson, found.spearman, found.kendall))
    return AgreementLevel(level, pearson, spearman, kendall, found.n)


def _disagreements(
    board: Board, keep: list[int], one: Floats, other: Floats, corner: Corner | None
) -> tuple[Disagreement, ...]:
    if corner is None:
        return ()

    def output(row: int, column: int, difference: float) -> Disagreement:
        instance = board.instances[keep[column]]
        return Disagreement(
            instance.id,
            board.rows[row].name,
            difference,
            float(one[row, column]),
            float(other[row, column]),
            board.rows[row].texts[keep[column]] or "",
            instance.input or "",
            instance.references[0].text if instance.references else "",
        )

    return tuple(map(output, corner.row.tolist(), corner.instance.tolist(), corner.difference.tolist()))
