"""How much of a board a source of judgments covers: generators, outputs and judgments that count.

Sources stand side by side, a publication's and each campaign's. Before another one ranks, its owner sees what both
cover: three generators judged by a campaign can't stand for the fourteen that experts judged.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from billboards.board.judgments import judged_values
from billboards.board.model import Board
from billboards.board.preferences import is_preference, preferred_pairs


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """What one source of judgments covers; `source` is its aggregate or dimension, None where nothing ranks."""

    source: str | None
    generators: int = 0
    outputs: int = 0
    judgments: int = 0


def coverage(board: Board, source: str | None = None) -> Coverage:
    """The generators, outputs and judgments behind an aggregate or dimension; without a name, what ranks the board.

    source: the name of an aggregate or dimension
    """
    if source is None and board.ranks is None:
        return Coverage(source=None)
    chosen = board.aggregate(source)
    if is_preference(board, chosen):
        pairs = preferred_pairs(board, chosen)
        rows, instances = np.concatenate((pairs.better, pairs.worse)), np.concatenate((pairs.instance, pairs.instance))
        judgments = len(pairs)
    else:
        values = judged_values(board.judgments, chosen, board.dimensions)
        used = board.judgments.counted(chosen.campaigns) & np.isfinite(values).any(axis=1)
        rows, instances = board.judgments.row[used], board.judgments.instance[used]
        judgments = int(used.sum())
    outputs = np.unique(rows.astype(np.int64) * max(1, len(board.instances)) + instances)
    generators = {int(row) for row in np.unique(rows) if board.rows[int(row)].generator is not None}
    return Coverage(source=chosen.name, generators=len(generators), outputs=len(outputs), judgments=judgments)
