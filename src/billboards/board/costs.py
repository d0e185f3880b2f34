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


COSTS: Mapping[CostName, Cost] = {
    "latency": Cost(title="latency", unit="seconds per output"),
    "price": Cost(title="price", unit="US dollars per 1,000 outputs"),
    "energy": Cost(title="energy", unit="watt-hours per output"),
    "parameters": Cost(title="parameters", unit="number of trained parameters"),
    "training_tokens": Cost(title="training data", unit="tokens of training data"),
}
