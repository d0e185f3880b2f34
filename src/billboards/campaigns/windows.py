"""When annotators may work: from a day to a day, on some weekdays, within some hours of a time zone.

GENIE publishes on weekdays at 10 in the morning, so that results of different submissions come from the same times.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from billboards.campaigns.plan import DAYS, CampaignPlan


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
