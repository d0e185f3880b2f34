"""What asking will take, told before it begins, and a cap that asking stays below.

Tokens are estimated from the length of the questions and from what the model wrote before. Where the estimate passes
the cap, nothing is sent until somebody allows it; where the estimate was too low, asking ends before the cap is passed,
and what came is kept. The cap holds for one process, whatever judges it asks. Beside it an allowance may hold, such as
a board's on a site, which many processes share and nobody who watches can pass.
"""

from __future__ import annotations

import logging
import math
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol, Self

from billboards.errors import InvalidInput, MetricFailed
from billboards.metrics.judges.settings import BUDGET, PRICES, TOKENS, number
from billboards.metrics.judges.usage import Prices

#: Bytes of a question that make a token: fewer than in English prose, so that estimates are rather too high.
BYTES_A_TOKEN = 3.0
#: How much more than an estimate is asked for when somebody is to allow it.
MARGIN = 1.25


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What questions will take, about."""

    questions: int
    tokens_in: int
    tokens_out: int

    def words(self, prices: Prices | None) -> str:
        told = f"{self.questions:,} questions to ask, about {self.tokens_in:,} tokens to read and {self.tokens_out:,}"
        told += " to write"
        return told if prices is None else f"{told}, about {prices.cost(self.tokens_in, self.tokens_out):.4f}"


@dataclass(frozen=True)
class Attendant:
    """Who is told what asking will take, and asked whether a cap may be passed; nobody, where nobody watches."""

    tell: Callable[[str], None]
    allow: Callable[[str], bool]
    #: What a person types to do the same again.
    command: str = ""


_attendant: ContextVar[Attendant | None] = ContextVar("attendant", default=None)


@contextmanager
def attended(attendant: Attendant) -> Iterator[None]:
    """Have somebody watch what is asked for as long as this lasts."""
    token = _attendant.set(attendant)
    try:
        yield
    finally:
        _attendant.reset(token)


class Allowance(Protocol):
    """Tokens that somebody else counts, over many processes."""

    def left(self) -> float:
        """How many tokens may still be taken."""

    def take(self, tokens: int) -> bool:
        """Take tokens for a request; False, and none are taken, where there are not so many."""

    def give_back(self, tokens: int) -> None:
        """Give back what a request did not need; below 0, take what it needed more."""

    @property
    def words(self) -> str:
        """Whose it is, how large, and what to do when it is used up."""


_allowance: ContextVar[Allowance | None] = ContextVar("allowance", default=None)


@contextmanager
def allowed(allowance: Allowance | None) -> Iterator[None]:
    """Have an allowance hold for what is asked as long as this lasts."""
    token = _allowance.set(allowance)
    try:
        yield
    finally:
        _allowance.reset(token)


@dataclass(kw_only=True)
class Budget:
    """What may be spent in one process, in money at the stated prices or in tokens; None is no bound."""

    prices: Prices | None = None
    money: float | None = None
    tokens: float | None = None
    attendant: Attendant | None = None
    allowance: Allowance | None = None

    @classmethod
    def from_environment(cls) -> Self:
        prices = Prices.from_environment()
        money, tokens = (number(name, 0.0) if os.environ.get(name) else None for name in (BUDGET, TOKENS))
        if money is not None and prices is None:
            raise InvalidInput(f"{BUDGET} is money, and no prices are stated; state them, as in {PRICES}=2.50/10")
        # Threads that ask have no context of their own, so that whoever watches is looked up here.
        return cls(prices=prices, money=money, tokens=tokens, attendant=_attendant.get(), allowance=_allowance.get())

    def check(self, name: str, estimate: Estimate, logger: logging.Logger) -> None:
        """Tell what asking will take; where it passes the cap, ask for leave or refuse."""
        words = f"{name}: {estimate.words(self.prices)}"
        if estimate.questions:
            logger.info(words)
            if self.attendant is not None:
                self.attendant.tell(words)
        needed = estimate.tokens_in + estimate.tokens_out
        if self.allowance is not None and needed > self.allowance.left():
            raise MetricFailed(f"{words}; nothing was asked, because that passes {self.allowance.words}")
        if not self._passes(estimate.tokens_in, estimate.tokens_out):
            return
        passes = f"{words}, which passes {self._bounds()}"
        if self.attendant is not None and self.attendant.allow(f"{passes}. Ask all the same?"):
            self._raise(estimate)
            return
        raise MetricFailed(f"{passes}; nothing was asked. To allow it: {self._way_out(estimate)}")

    def reserve(self, tokens_in: int, tokens_out: int) -> None:
        """Take what a request may cost from what is left; a request that would pass the cap is not sent."""
        with _PURSE.lock:
            if self._passes(tokens_in, tokens_out):
                next_question = Estimate(questions=1, tokens_in=tokens_in, tokens_out=tokens_out)
                raise MetricFailed(
                    f"asking ended, because the next question would pass {self._bounds()}; the answers so far are "
                    f"kept. To go on: {self._way_out(next_question)}"
                )
            _PURSE.tokens_in += tokens_in
            _PURSE.tokens_out += tokens_out
        if self.allowance is not None and not self.allowance.take(tokens_in + tokens_out):
            self._count(-tokens_in, -tokens_out)
            raise MetricFailed(
                f"asking ended, because the next question would pass {self.allowance.words}; "
                "the answers so far are kept"
            )

    def settle(self, reserved: tuple[int, int], spent: tuple[int, int]) -> None:
        """Count what a request really took in the place of what was reserved for it."""
        self._count(spent[0] - reserved[0], spent[1] - reserved[1])
        if self.allowance is not None:
            self.allowance.give_back(sum(reserved) - sum(spent))

    def _count(self, tokens_in: int, tokens_out: int) -> None:
        with _PURSE.lock:
            _PURSE.tokens_in += tokens_in
            _PURSE.tokens_out += tokens_out

    def _passes(self, tokens_in: int, tokens_out: int) -> bool:
        read, written = _PURSE.tokens_in + tokens_in, _PURSE.tokens_out + tokens_out
        costs = self.money is not None and self.prices is not None and self.prices.cost(read, written) > self.money
        return costs or (self.tokens is not None and read + written > self.tokens)

    def _raise(self, estimate: Estimate) -> None:
        money, tokens = self._needed(estimate)
        self.money = None if self.money is None else max(self.money, money)
        self.tokens = None if self.tokens is None else max(self.tokens, tokens)

    def _needed(self, estimate: Estimate) -> tuple[float, float]:
        """Bounds that the process may keep with these questions asked."""
        read = _PURSE.tokens_in + estimate.tokens_in * MARGIN
        written = _PURSE.tokens_out + estimate.tokens_out * MARGIN
        return self.prices.cost(math.ceil(read), math.ceil(written)) if self.prices else 0.0, math.ceil(read + written)

    def _bounds(self) -> str:
        bounds = [f"{BUDGET}={self.money:g}"] if self.money is not None else []
        bounds += [f"{TOKENS}={self.tokens:.0f}"] if self.tokens is not None else []
        return f"{' and '.join(bounds)} ({_PURSE.tokens_in + _PURSE.tokens_out:,} tokens so far in this process)"

    def _way_out(self, estimate: Estimate) -> str:
        money, tokens = self._needed(estimate)
        bounds = [f"{BUDGET}={max(money, self.money):.4g}"] if self.money is not None else []
        bounds += [f"{TOKENS}={max(tokens, self.tokens):.0f}"] if self.tokens is not None else []
        command = "" if self.attendant is None else self.attendant.command
        return f"`{' '.join((*bounds, command)).strip()}`"


class _Purse:
    """What this process has spent so far, and what is reserved for requests under way."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.tokens_in = self.tokens_out = 0


_PURSE = _Purse()


def estimated_tokens(text: str) -> int:
    """How many tokens a text has, about."""
    return math.ceil(len(text.encode("utf-8", "surrogatepass")) / BYTES_A_TOKEN)
