"""What is decided about a campaign before it opens: how much is asked, of whom, when, and at what price (GENIE, §6).

The defaults are GENIE's: one label per instance on a fixed random subsample, and one test question of each kind in
twenty; more of them come early, until it is plain whether somebody reads. `SENTENCE` and `LONG` are its presets of 800
and 300 instances. A plan is kept as a document, and every value in it is checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime, timedelta
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, get_args, get_type_hints
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import ConfigDict, Field, Strict, TypeAdapter, ValidationError

from billboards.errors import InvalidInput, UnknownName
from billboards.reading import shown
from billboards.selectors import SELECTORS

#: Test questions come so many in each block of so many items.
BLOCK = 20
#: What labels are for, where a selector chooses the instances.
AIMS = ("separate", "metrics", "means")
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
Share = Annotated[float, Field(strict=True, ge=0, le=1)]
Seconds = Annotated[float | None, Field(strict=True, ge=0, le=10**11)]
Hour = Annotated[float | None, Field(strict=True, ge=0, le=24)]
#: When no more is asked: once all is answered, or about a generator once it is told apart from all others.
Stop = Literal["never", "decided"]
#: What excludes annotators: all signs together, the annotator model, or evidence that they fall short of the pass mark.
Exclusion = Literal["signs", "model", "e-value"]
#: Who is compared with whom, where a template compares generators.
Schedule = Literal["random", "balanced", "adaptive"]


@dataclass(frozen=True, kw_only=True)
class CampaignPlan:
    """A campaign's settings. Money is in `currency`, times in seconds, shares from 0 to 1; None is no limit."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", allow_inf_nan=False)

    instances: Annotated[int, Field(strict=True, ge=1, le=10**6)] = 800
    labels: Annotated[int, Field(strict=True, ge=1, le=100)] = 1
    #: The share of items that get one label more, so that annotators can be compared on the same outputs.
    overlap: Share = 0.0
    positive: Annotated[float, Field(strict=True, ge=0, le=0.5)] = 0.05
    negative: Annotated[float, Field(strict=True, ge=0, le=0.5)] = 0.05
    qualification: Annotated[int, Field(strict=True, ge=0, le=200)] = 0
    pass_mark: Share = 0.8
    lease_seconds: Annotated[float, Field(strict=True, ge=10, le=7 * 86400)] = 1200.0
    pay: Annotated[float, Field(strict=True, ge=0, le=10**6)] = 0.0
    #: What a platform takes on top of what annotators get.
    fee: Annotated[float, Field(strict=True, ge=0, le=10)] = 0.0
    currency: Annotated[str, Field(strict=True, min_length=1, max_length=10)] = "USD"
    #: What an hour should be paid at least.
    hourly: Annotated[float, Field(strict=True, ge=0, le=10**6)] = 15.0
    budget: Annotated[float | None, Field(strict=True, ge=0, le=10**12)] = None
    #: What a generator that joins a rolling campaign later may cost, and all such together, without anybody being
    #: asked; where both are None, each waits until its price is confirmed.
    newcomer_each: Annotated[float | None, Field(strict=True, ge=0, le=10**12)] = None
    newcomers_total: Annotated[float | None, Field(strict=True, ge=0, le=10**12)] = None
    #: What one item is expected to take; the median of real answers replaces it.
    seconds_per_item: Annotated[float | None, Field(strict=True, ge=0.1, le=86400)] = None
    opens: Seconds = None
    closes: Seconds = None
    days: Annotated[tuple[str, ...], Strict(False)] = ()
    from_hour: Hour = None
    until_hour: Hour = None
    zone: Annotated[str, Field(strict=True)] = "UTC"
    seed: Annotated[int, Field(strict=True, ge=0, le=2**63)] = 0
    #: Who chooses the instances, and what their labels are for; without a selector they are a random subsample.
    selector: Annotated[str | None, Field(strict=True)] = None
    aim: Annotated[str, Field(strict=True)] = "separate"
    stop: Stop = "never"
    #: The share of false ones among all decisions between generators.
    stop_level: Annotated[float, Field(strict=True, ge=0.0001, le=0.5)] = 0.05
    exclusion: Exclusion = "signs"
    schedule: Schedule = "random"
    #: Test questions that show a text and, later, the same with a small fault put in.
    attention: Annotated[float, Field(strict=True, ge=0, le=0.5)] = 0.0
    #: Test questions in each twenty of a person's items while it is open whether the person reads; 0: as many as later.
    early: Annotated[int, Field(strict=True, ge=0, le=18)] = 12
    #: The most answers that one person gives, test questions among them.
    most_answers: Annotated[int | None, Field(strict=True, ge=1, le=10**6)] = None
    #: How many people are expected; the quote divides the work among them.
    annotators: Annotated[int | None, Field(strict=True, ge=1, le=10**5)] = None
    #: What annotators must accept before their first item, in place of the template's own text.
    consent: Annotated[str, Field(strict=True, max_length=20_000)] = ""

    @property
    def price(self) -> float:
        """What one answer costs, the platform's fee in it."""
        return self.pay * (1 + self.fee)

    @property
    def block_tests(self) -> tuple[int, int, int]:
        """How many positive, negative and attention questions each block has."""
        return round(self.positive * BLOCK), round(self.negative * BLOCK), round(self.attention * BLOCK)

    @property
    def early_tests(self) -> int:
        """How many test questions a block has while it is open whether somebody reads."""
        return max(self.early, sum(self.block_tests)) if sum(self.block_tests) else 0

    def document(self) -> dict[str, Any]:
        """The plan as it is kept and sent."""
        return {**asdict(self), "days": list(self.days)}


SENTENCE = CampaignPlan(instances=800)
LONG = CampaignPlan(instances=300)
PRESETS: Mapping[str, CampaignPlan] = {"sentence": SENTENCE, "long": LONG}


def read_plan(document: Mapping[str, Any]) -> CampaignPlan:
    """A plan from a document; a key that is absent has its default, and every value is checked."""
    try:
        plan = _checker().validate_python(dict(document))
    except ValidationError as error:
        detail = error.errors(include_url=False)[0]
        raise _mistake(str((detail["loc"] or ("a name",))[0]), detail["type"], document) from error
    check_plan(plan)
    return plan


def check_plan(plan: CampaignPlan) -> None:
    """Refuse a plan whose settings don't go together."""
    _check_tests(plan)
    _check_window(plan)
    if plan.exclusion == "e-value" and not 0 < plan.pass_mark < 1:
        raise InvalidInput("excluding by e-value needs a pass mark between 0 and 1: the accuracy that is asked for")
    if not plan.currency.strip():
        raise InvalidInput(f"currency must be a short text, as in USD; found {plan.currency!r}")
    if plan.selector is not None and plan.selector not in SELECTORS:
        raise UnknownName("selector", plan.selector, SELECTORS)
    if plan.selector is not None and plan.stop == "decided":
        raise InvalidInput("stopping when decided needs instances in random order; leave the selector out, or `stop`")
    if plan.aim not in AIMS:
        raise UnknownName("aim", plan.aim, AIMS)


@cache
def _checker() -> TypeAdapter[CampaignPlan]:
    return TypeAdapter(CampaignPlan)


def _mistake(key: str, kind: str, document: Mapping[str, Any]) -> InvalidInput:
    """What is wrong with one setting, in words."""
    hints = get_type_hints(CampaignPlan, include_extras=True)
    names = [field.name for field in fields(CampaignPlan)]
    if kind == "unexpected_keyword_argument":
        return UnknownName("setting of a campaign", key, names)
    value = document[key]
    if key == "consent":
        return InvalidInput(f"consent must be a text of at most 20,000 characters; found {shown(value)}")
    if key == "currency":
        return InvalidInput(f"currency must be a short text, as in USD; found {shown(value)}")
    if key == "days":
        return InvalidInput(f"days must be a list of {', '.join(DAYS)}; found {shown(value)}")
    if key in ("selector", "aim"):
        return InvalidInput(f"{key} must be a name, as `billboards next` takes it; found {shown(value)}")
    if key == "zone":
        return InvalidInput(f"{shown(value)} is no time zone; write it as in America/Los_Angeles")
    if key in ("stop", "exclusion", "schedule"):
        return InvalidInput(f"{key} must be {' or '.join(get_args(hints[key]))}; found {shown(value)}")
    limits = hints[key].__metadata__[0].metadata
    low, high = (next(getattr(limit, end) for limit in limits if hasattr(limit, end)) for end in ("ge", "le"))
    number = "a whole number" if hints[key].__origin__ is int else "a number"
    return InvalidInput(f"{key} must be {number} from {low:g} to {high:g}; found {shown(value)}")


def _check_tests(plan: CampaignPlan) -> None:
    for key in ("positive", "negative", "attention"):
        share = getattr(plan, key)
        if abs(share * BLOCK - round(share * BLOCK)) > 1e-9:
            raise InvalidInput(
                f"{key} must be so many in {BLOCK}: 0, 0.05, 0.1, …; found {share:g} (test questions come in blocks)"
            )
    if sum(plan.block_tests) >= BLOCK:
        raise InvalidInput("test questions leave no room for anything else; ask fewer")
    if plan.attention and not plan.positive:
        raise InvalidInput("attention questions follow positive ones, whose text they spoil; ask positive ones too")


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


def is_over(plan: CampaignPlan, now: float) -> bool:
    """Whether the plan's last moment has passed."""
    return plan.closes is not None and now >= plan.closes


def seconds_until_open(plan: CampaignPlan, now: float) -> float:
    """How long until annotators may work; 0 while they may."""
    start = max(now, plan.opens or now)
    return _next_open(plan, start) - now


def _next_open(plan: CampaignPlan, start: float) -> float:
    """The first moment from `start` on that lies on a day and within the hours of the plan."""
    if not plan.days and plan.from_hour is None:
        return start
    zone = ZoneInfo(plan.zone)
    first = datetime.fromtimestamp(start, zone)
    midnight = first.replace(hour=0, minute=0, second=0, microsecond=0)
    for ahead in range(9):
        day = midnight + timedelta(days=ahead)
        if plan.days and DAYS[day.weekday()] not in plan.days:
            continue
        opens = _at(day, plan.from_hour or 0.0).timestamp()
        closes = _at(day, 24.0 if plan.until_hour is None else plan.until_hour).timestamp()
        if start < closes:
            return max(start, opens)
    raise AssertionError("a week has every weekday")


def _at(midnight: datetime, hour: float) -> datetime:
    """A clock's hour on a day, by the wall clock: also on days that are an hour longer or shorter."""
    if hour >= 24:
        return midnight + timedelta(days=1)
    return midnight.replace(hour=int(hour), minute=int(hour % 1 * 60))
