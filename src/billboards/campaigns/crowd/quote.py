"""What a study will cost and what it buys, before anything is published.

The worst-case standard error of a mean of n answers between 0 and 1 is sqrt(mu (1 - mu) / n), at most .5 / sqrt(n)
(GENIE, §3): known before a single answer is there. A wage below what the platform demands is refused; one below what
it advises is said.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from billboards.campaigns.crowd.base import Fees
from billboards.errors import InvalidInput


@dataclass(frozen=True, kw_only=True)
class StudyQuote:
    """A study's price: `answers` in `places` places, each with a reward for so many minutes."""

    platform: str
    answers: int
    items_per_place: int
    places: int
    minutes: int
    reward: int
    fees: Fees
    generators: int
    instances: int
    #: Test questions in a place, and the chance that they find somebody who answers all or half of it at random.
    questions: float | None = None
    recall_random: float | None = None
    recall_half_random: float | None = None

    @property
    def rewards(self) -> int:
        return self.places * self.reward

    @property
    def fee(self) -> int:
        return math.ceil(self.rewards * self.fees.share)

    @property
    def total(self) -> int:
        return self.rewards + self.fee

    @property
    def per_generator(self) -> int:
        return math.ceil(self.total / self.generators)

    @property
    def hourly(self) -> int:
        return self.reward * 60 // self.minutes

    @property
    def worst_standard_error(self) -> float:
        """Of one generator's mean with one label an instance, on a scale from 0 to 1."""
        return 0.5 / math.sqrt(self.instances)


def quote_study(
    platform: str,
    fees: Fees,
    *,
    answers: int,
    generators: int,
    instances: int,
    items_per_place: int = 20,
    seconds_per_item: float = 30.0,
    hourly: int,
    questions: float | None = None,
    recall_random: float | None = None,
    recall_half_random: float | None = None,
) -> StudyQuote:
    """The price of so many answers, test questions among them, on `instances` of each generator.

    `questions` are the test questions in a place; the recalls say how likely they find who answers at random.
    """
    for name, value in (("answers", answers), ("generators", generators), ("instances", instances)):
        if value < 1:
            raise InvalidInput(f"a quote needs at least one of {name}, not {value}")
    if items_per_place < 1 or seconds_per_item <= 0:
        raise InvalidInput("a quote needs at least one item a place, and more than 0 seconds for it")
    if hourly < fees.least_hourly:
        raise InvalidInput(
            f"{platform} demands at least {money(fees.least_hourly, fees.currency)} an hour, not "
            f"{money(hourly, fees.currency)}; raise the pay"
        )
    minutes = max(1, math.ceil(items_per_place * seconds_per_item / 60))
    reward = math.ceil(hourly * minutes / 60)
    places = math.ceil(answers / items_per_place)
    return StudyQuote(
        platform=platform,
        answers=answers,
        items_per_place=items_per_place,
        places=places,
        minutes=minutes,
        reward=reward,
        fees=fees,
        generators=generators,
        instances=instances,
        questions=questions,
        recall_random=recall_random,
        recall_half_random=recall_half_random,
    )


def quote_in_words(quote: StudyQuote) -> tuple[str, ...]:
    """The quote as lines to read before one says yes."""
    currency = quote.fees.currency
    lines = [
        f"{quote.answers:,} answers in {quote.places:,} places of {quote.items_per_place}, "
        f"{quote.minutes} minutes each",
        f"{money(quote.reward, currency)} a place: {money(quote.hourly, currency)} an hour",
        f"rewards {money(quote.rewards, currency)} + fees of {quote.fees.share:.1%} {money(quote.fee, currency)}"
        f" = {money(quote.total, currency)}, {money(quote.per_generator, currency)} a generator",
        f"worst-case standard error of a generator's mean: {quote.worst_standard_error:.4f}"
        f" (n = {quote.instances:,}, scale 0-1)",
    ]
    if quote.questions and quote.recall_random is not None and quote.recall_half_random is not None:
        lines.append(
            f"about {quote.questions:.0f} of {quote.items_per_place} answers in a place are to test questions: they "
            f"find {quote.recall_random:.0%} of those who answer at random, {quote.recall_half_random:.0%} of those "
            "who do so half of the time; larger places need fewer in all"
        )
    if quote.hourly < quote.fees.advised_hourly:
        lines.append(f"below the {money(quote.fees.advised_hourly, currency)} an hour that {quote.platform} advises")
    return tuple(lines)


def money(amount: int, currency: str) -> str:
    """An amount in the currency's smallest unit, written out."""
    return f"{amount / 100:,.2f} {currency}"
