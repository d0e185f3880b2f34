"""The forms by which a campaign is planned: fields become a plan, and every value that can't be one is named.

A field that is left empty has the plan's default. Shares are asked in percent, times in UTC, as people say them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

from billboards.campaigns.plan import DAYS, PRESETS, CampaignPlan, read_plan
from billboards.errors import InvalidInput
from billboards.reading import decimal_number, signed_number

#: What each field is called on the form.
NAMES = {
    "instances": "Instances",
    "labels": "Labels per output",
    "overlap": "Overlap",
    "positive": "Positive test questions",
    "negative": "Negative test questions",
    "attention": "Texts shown again with a small fault",
    "early": "Test questions in twenty at first",
    "most_answers": "Most answers of one person",
    "annotators": "People expected",
    "qualification": "Questions of the qualification test",
    "pass_mark": "Pass mark",
    "lease_seconds": "Minutes to keep an item",
    "pay": "Pay",
    "fee": "Platform's fee",
    "hourly": "Least wage of an hour",
    "budget": "Budget",
    "newcomer_each": "Each later generator",
    "newcomers_total": "All later generators",
    "seconds_per_item": "Seconds an item takes",
    "opens": "Not before",
    "closes": "Not after",
    "from_hour": "From hour",
    "until_hour": "Until hour",
    "seed": "Seed",
    "stop_level": "False decisions",
}
_WHOLE = ("instances", "labels", "early", "most_answers", "annotators", "qualification", "seed")
_PERCENT = ("overlap", "positive", "negative", "attention", "pass_mark", "fee", "stop_level")
_TIMES = ("opens", "closes")


def plan_fields(plan: CampaignPlan) -> dict[str, str]:
    """A plan as the form shows it."""
    shown = {field.name: _written(field.name, getattr(plan, field.name)) for field in fields(plan)}
    return shown | {f"day-{day}": "yes" for day in plan.days}


def preset_fields(preset: str) -> dict[str, str]:
    """The form as a preset fills it in."""
    return plan_fields(PRESETS.get(preset, CampaignPlan()))


def _written(name: str, value: Any) -> str:
    if value is None or name == "days":
        return ""
    if name in _PERCENT:
        return f"{100 * value:g}"
    if name == "lease_seconds":
        return f"{value / 60:g}"
    if name in _TIMES:
        return datetime.fromtimestamp(value, UTC).strftime("%Y-%m-%dT%H:%M")
    return f"{value:g}" if isinstance(value, float) else str(value)


def sent_plan(sent: Mapping[str, Any]) -> CampaignPlan:
    """The plan that a form asks for."""
    document: dict[str, Any] = {}
    for name in NAMES:
        text = str(sent.get(name, "")).strip()
        if text:
            document[name] = _read(name, text)
    for name in ("currency", "zone", "selector", "aim", "stop", "exclusion", "schedule", "consent"):
        if text := str(sent.get(name, "")).strip():
            document[name] = text
    document["days"] = [day for day in DAYS if sent.get(f"day-{day}")]
    return read_plan(document)


def _read(name: str, text: str) -> float | int:
    kinds: tuple[tuple[tuple[str, ...], Callable[[str], float | int], str], ...] = (
        (_WHOLE, _whole, "a whole number"),
        (_PERCENT, lambda text: round(_number(text) / 100, 9), "a percentage"),
        (_TIMES, _moment, "a time"),
        (("lease_seconds",), lambda text: 60 * _number(text), "a number"),
    )
    read, what = next(((read, what) for names, read, what in kinds if name in names), (_number, "a number"))
    try:
        return read(text)
    except (ValueError, OverflowError) as error:
        raise InvalidInput(f"{NAMES[name]}: {text[:40]!r} is not {what}") from error


def _whole(text: str) -> int:
    if (number := signed_number(text)) is None:
        raise ValueError(text)
    return number


def _number(text: str) -> float:
    if (number := decimal_number(text)) is None:
        raise ValueError(text)
    return number


def _moment(text: str) -> float:
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def sent_lines(sent: Mapping[str, Any], name: str) -> list[str]:
    """What was written one per line, without empty ones."""
    return [line.strip() for line in str(sent.get(name, "")).splitlines() if line.strip()]


def sent_number(sent: Mapping[str, Any], name: str, what: str) -> float | None:
    """A number, or None where the field was left empty."""
    text = str(sent.get(name, "")).strip()
    try:
        return _number(text) if text else None
    except ValueError as error:
        raise InvalidInput(f"{what}: {text[:40]!r} is not a number") from error
