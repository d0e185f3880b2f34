"""What judging takes: requests, tokens, and money at the prices that the user states.

Prices are given, never known: BILLBOARDS_JUDGE_PRICES holds what a million tokens read and a million written cost, as
in `2.50/10`. Without them tokens are counted and no amount is claimed; tokens that an endpoint doesn't count are said
to be uncounted, not taken for 0.
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, field
from typing import Self

from billboards.errors import InvalidInput
from billboards.metrics.judges.responses import Answer
from billboards.metrics.judges.settings import PRICES

MILLION = 1_000_000


@dataclass(frozen=True)
class Prices:
    """What a million tokens cost, read and written, in the user's currency."""

    read: float
    written: float

    @classmethod
    def from_environment(cls) -> Self | None:
        stated = os.environ.get(PRICES)
        if not stated:
            return None
        try:
            read, written = map(float, stated.split("/"))
        except ValueError:
            read = written = float("nan")
        if not (0 <= read < float("inf") and 0 <= written < float("inf")):
            raise InvalidInput(f"{PRICES}={stated!r} must hold two prices for a million tokens, as in {PRICES}=2.50/10")
        return cls(read, written)

    def cost(self, tokens_in: int, tokens_out: int) -> float:
        return (tokens_in * self.read + tokens_out * self.written) / MILLION


@dataclass(kw_only=True)
class Tally:
    """What one call of a judge took; several threads add to it."""

    prices: Prices | None = None
    asked: int = 0
    kept: int = 0
    abstained: int = 0
    retried: int = 0
    uncounted: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def add_answer(self, answer: Answer) -> None:
        with self._lock:
            self.asked += 1
            self.uncounted += answer.tokens_in is None or answer.tokens_out is None
            self.tokens_in += answer.tokens_in or 0
            self.tokens_out += answer.tokens_out or 0

    def add_kept(self) -> None:
        with self._lock:
            self.kept += 1

    def add_retry(self) -> None:
        with self._lock:
            self.retried += 1

    def __str__(self) -> str:
        words = f"{self.asked} answers asked for ({self.retried} requests tried again), {self.kept} at hand"
        words += f", {self.abstained} outputs abstained from" if self.abstained else ""
        return f"{words}; {tokens_in_words(self.tokens_in, self.tokens_out, self.uncounted, self.prices)}"


def tokens_in_words(tokens_in: int, tokens_out: int, uncounted: int, prices: Prices | None) -> str:
    """Tokens, and what they cost where prices are stated."""
    words = f"{tokens_in:,} tokens read, {tokens_out:,} written"
    if prices is not None:
        words += f", {prices.cost(tokens_in, tokens_out):.4f} at the stated prices"
    return f"{words}, not counting {uncounted} answers whose tokens the endpoint did not count" if uncounted else words
