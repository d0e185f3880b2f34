"""What a generator or a metric costs: the five facts that may be stated of one, each with its unit.

All of them are optional, and what nobody stated is missing, never zero. They take part in no ranking; `billboards
efficiency` sets quality against them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

CostName = Literal["latency", "price", "energy", "parameters", "training_tokens"]


@dataclass(frozen=True, kw_only=True)
class Cost:
    """One kind of cost: what stands above its column, and what its number counts."""

    title: str
    unit: str
    #: Title and unit as short as a column's head must be.
    head: str


COSTS: Mapping[CostName, Cost] = {
    "latency": Cost(title="latency", unit="seconds per output", head="latency (s)"),
    "price": Cost(title="price", unit="US dollars per 1,000 outputs", head="price ($/1,000)"),
    "energy": Cost(title="energy", unit="watt-hours per output", head="energy (Wh)"),
    "parameters": Cost(title="parameters", unit="number of trained parameters", head="parameters"),
    "training_tokens": Cost(title="training data", unit="tokens of training data", head="training tokens"),
}


def amount_text(value: float) -> str:
    """A cost in few characters: parameters and tokens are counted in millions and more."""
    for size, letter in ((1e12, "T"), (1e9, "B"), (1e6, "M")):
        if value >= size:
            return _three_digits(value / size) + letter
    return _three_digits(value)


def _three_digits(value: float) -> str:
    # From 999.5 on, three digits would be written with an exponent.
    return f"{value:.3g}" if value < 999.5 else f"{value:,.0f}"
