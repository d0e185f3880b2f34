"""What judges have spent in this process, counted from nothing again for the next test."""

from __future__ import annotations

from billboards.metrics.judges import budget


def empty_purse() -> None:
    budget._PURSE.tokens_in = budget._PURSE.tokens_out = 0
