"""When a study is published: on a weekday at ten in the morning where its annotators live.

GENIE published its tasks so, because who works on a platform differs with the hour and the day (GENIE, §4). Arithmetic
is in local time, so that ten o'clock stays ten o'clock when clocks change.
"""

from __future__ import annotations

from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from billboards.errors import InvalidInput

#: The hour at which tasks are published.
TEN = time(10)


def next_weekday_at_ten(now: datetime, zone: str) -> datetime:
    """The first ten o'clock of a Monday to Friday after `now`, in a time zone such as `America/New_York`."""
    local = now.astimezone(_zone(zone))
    day = local.date() if local.time() < TEN else local.date() + timedelta(days=1)
    while day.weekday() >= 5:
        day += timedelta(days=1)
    return datetime.combine(day, TEN, tzinfo=local.tzinfo)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise InvalidInput(f"{name!r} is no time zone known here; name one such as Europe/London") from error
