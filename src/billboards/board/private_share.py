"""The private share of a board's judgments: whole documents, by the owner's seed, that metrics are measured on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from billboards.board.judgments import Judgments
from billboards.board.model import Board
from billboards.stats.exposure import private_documents


def private_instances(board: Board) -> NDArray[np.bool_] | None:
    """Which instances have judgments that stay private; None where the owner keeps no share.

    All documents of the board are dealt, judged or not, so that judgments that come later change nothing.
    """
    share = board.trust.private_share
    return None if share is None else private_documents(board.documents, share, board.trust.private_seed)


def without_private(board: Board) -> Board:
    """A board as those may have it who must not see the private judgments: without them, and without the seed."""
    private = private_instances(board)
    if private is None:
        return board
    rules = replace(board.trust, private_share=None, private_seed=0)
    return replace(board, judgments=_kept(board.judgments, ~private[board.judgments.instance]), trust=rules)


def _kept(judgments: Judgments, keep: NDArray[np.bool_]) -> Judgments:
    places = np.flatnonzero(keep)
    new = {int(old): place for place, old in enumerate(places)}
    return replace(
        judgments,
        instance=judgments.instance[keep],
        row=judgments.row[keep],
        annotator=judgments.annotator[keep],
        campaign=judgments.campaign[keep],
        values=judgments.values[keep],
        details={new[k]: detail for k, detail in judgments.details.items() if k in new},
    )
