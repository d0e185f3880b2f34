"""What is decided about a campaign before it opens: how much is asked, of whom, when, and at what price (GENIE, §6).

The defaults are GENIE's: one label per instance on a fixed random subsample, and one test question of each kind in
twenty. `SENTENCE` and `LONG` are its presets of 800 and 300 instances. A plan is kept as a document, and every value
in it is checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from math import isfinite
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from billboards.errors import InvalidInput, UnknownName

#: Test questions come so many in each block of so many items.
BLOCK = 20
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


@dataclass(frozen=True)
class CampaignPlan:
    """A campaign's settings. Money is in `currency`, times in seconds, shares from 0 to 1; None is no limit."""

    instances: int = 800
    labels: int = 1
    #: The share of items that get one label more, so that annotators can be compared on the same outputs.
    overlap: float = 0.0
    positive: float = 0.05
    negative: float = 0.05
    qualification: int = 0
    pass_mark: float = 0.8
    lease_seconds: float = 1200.0
    pay: float = 0.0
    #: What a platform takes on top of what annotators get.
    fee: float = 0.0
    currency: str = "USD"
    #: What an hour should be paid at least.
    hourly: float = 15.0
    budget: float | None = None
    #: What one item is expected to take; the median of real answers replaces it.
    seconds_per_item: float | None = None
    opens: float | None = None
    closes: float | None = None
    days: tuple[str, ...] = ()
    from_hour: float | None = None
    until_hour: float | None = None
    zone: str = "UTC"
    seed: int = 0

    @property
    def price(self) -> float:
        """What one answer costs, the platform's fee in it."""
        return self.pay * (1 + self.fee)

    @property
    def block_tests(self) -> tuple[int, int]:
        """How many positive and negative test questions each block has."""
        return round(self.positive * BLOCK), round(self.negative * BLOCK)

    def document(self) -> dict[str, Any]:
        """The plan as it is kept and sent."""
        return {**asdict(self), "days": list(self.days)}


SENTENCE = CampaignPlan(instances=800)
LONG = CampaignPlan(instances=300)
PRESETS: Mapping[str, CampaignPlan] = {"sentence": SENTENCE, "long": LONG}

#: The least and the most that a number may be.
_LIMITS: Mapping[str, tuple[float, float]] = {
    "instances": (1, 10**6),
    "labels": (1, 100),
    "overlap": (0, 1),
    "positive": (0, 0.5),
    "negative": (0, 0.5),
    "qualification": (0, 200),
    "pass_mark": (0, 1),
    "lease_seconds": (10, 7 * 86400),
    "pay": (0, 10**6),
    "fee": (0, 10),
    "hourly": (0, 10**6),
    "budget": (0, 10**12),
    "seconds_per_item": (0.1, 86400),
    "opens": (0, 10**11),
    "closes": (0, 10**11),
    "from_hour": (0, 24),
    "until_hour": (0, 24),
    "seed": (0, 2**63),
}
_OPTIONAL = ("budget", "seconds_per_item", "opens", "closes", "from_hour", "until_hour")
_WHOLE = ("instances", "labels", "qualification", "seed")


def read_plan(document: Mapping[str, Any]) -> CampaignPlan:
    """A plan from a document; a key that is absent has its default, and every value is checked."""
    known = [f.name for f in fields(CampaignPlan)]
    for key in document:
        if key not in known:
            raise UnknownName("setting of a campaign", str(key), known)
    for key, value in document.items():
        if key in _LIMITS:
            _check_number(key, value)
    values = {**document, "days": tuple(document.get("days", ()))}
    plan = CampaignPlan(**values)
    _check_tests(plan)
    _check_window(plan)
    if not isinstance(plan.currency, str) or not plan.currency.strip() or len(plan.currency) > 10:
        raise InvalidInput(f"currency must be a short text, as in USD; found {plan.currency!r}")
    return plan


def _check_number(key: str, value: Any) -> None:
    if value is None and key in _OPTIONAL:
        return
    low, high = _LIMITS[key]
    wanted = int if key in _WHOLE else (int, float)
    if isinstance(value, bool) or not isinstance(value, wanted) or not isfinite(value) or not low <= value <= high:
        kind = "a whole number" if key in _WHOLE else "a number"
        raise InvalidInput(f"{key} must be {kind} from {low:g} to {high:g}; found {value!r}")


def _check_tests(plan: CampaignPlan) -> None:
    for key in ("positive", "negative"):
        share = getattr(plan, key)
        if abs(share * BLOCK - round(share * BLOCK)) > 1e-9:
            raise InvalidInput(
                f"{key} must be so many in {BLOCK}: 0, 0.05, 0.1, …; found {share:g} (test questions come in blocks)"
            )
    if sum(plan.block_tests) >= BLOCK:
        raise InvalidInput("positive and negative test questions leave no room for anything else; ask fewer")


def _check_window(plan: CampaignPlan) -> None:
    if plan.opens is not None and plan.closes is not None and plan.closes <= plan.opens:
        raise InvalidInput("the campaign closes before it opens; exchange the two times")
    for day in plan.days:
        if day not in DAYS:
            raise UnknownName("day", str(day), DAYS)
    if (plan.from_hour is None) != (plan.until_hour is None):
        raise InvalidInput("from_hour and until_hour go together; give both or none")
    if plan.from_hour is not None and plan.until_hour is not None and plan.until_hour <= plan.from_hour:
        raise InvalidInput(
            f"until_hour must be later than from_hour ({plan.from_hour:g}); use several days for a night"
        )
    try:
        ZoneInfo(plan.zone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise InvalidInput(f"{plan.zone!r} is no time zone; write it as in America/Los_Angeles") from error
