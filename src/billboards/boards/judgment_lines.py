"""Judgments as they are written: one JSON object per line, each checked against the board it speaks of.

    {"instance": "17", "generator": "M", "values": {"adequacy": 4}, "annotator": "a1", "campaign": "experts"}

A judgment speaks of one output, or of several that were compared, and says a value, a preference, spans, or more than
one of these. The rules stand here once, for reading and for writing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from sys import float_info
from typing import Any

from billboards.boards.judgment_columns import JudgmentColumns
from billboards.boards.lines import Problems, shown
from billboards.boards.names import file_name_mistake
from billboards.boards.settings import FILE, is_number
from billboards.domain import Dimension, Outputs

DETAILS = ("prefers", "spans", "test", "time", "template")
_JUDGED = ("generator", "generators", "output", "outputs")
KEYS = ("instance", *_JUDGED, "values", "annotator", "campaign", *DETAILS)
_ORDINARY = frozenset({"instance", "generator", "values", "annotator", "campaign"})
_NUMBERS = (int, float)
_FINITE, _NONE = (-float_info.max, float_info.max), (1.0, 0.0)

_Say = Callable[[str], None]
_DEEPEST = 16
_WORDS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "prefers": ((str, list), "the name of an output judged, or a list of such names"),
    "spans": ((list,), "a list"),
    "test": ((str,), "the kind of test question in quotes"),
    "time": ((str, int, float), "a time in quotes or a number"),
    "template": ((str,), "the version of the template in quotes"),
}


def detail_mistake(key: str, value: object) -> str | None:
    """What is wrong with a judgment's detail, if anything."""
    kinds, expected = _WORDS[key]
    if isinstance(value, bool) or not isinstance(value, kinds):
        return f'"{key}" must be {expected}; found {shown(value)}'
    if not _plain(value, _DEEPEST):
        return f'"{key}" must be finite numbers, texts, lists and objects, at most {_DEEPEST} deep'
    return None


def _plain(value: object, depth: int) -> bool:
    """Whether a value is JSON that can be written again: finite, not deep, with texts as keys."""
    if isinstance(value, str | bool | None):
        return True
    if isinstance(value, int | float):
        return is_number(value)
    if isinstance(value, list | tuple):
        return depth > 0 and all(_plain(item, depth - 1) for item in value)
    if isinstance(value, dict):
        return depth > 0 and all(isinstance(key, str) and _plain(item, depth - 1) for key, item in value.items())
    return False


@dataclass(frozen=True)
class JudgmentReader:
    """Reads judgments line by line into columns.

    Where generators, loose outputs or dimensions could not be read, it is None, and a judgment that relies on it is
    neither added nor complained of.
    """

    columns: JudgmentColumns
    rows: Mapping[str, int] | None
    loose: Mapping[tuple[int, str], int] | None
    dimensions: Mapping[str, Dimension] | None
    problems: Problems

    def read(self, item: Mapping[str, Any], instance: int, name: str, line: int) -> None:
        """One judgment of an instance, added to the columns unless anything is wrong with it."""
        if self._read_ordinary(item, instance):
            return
        before = self.problems.errors_in(name)
        say = partial(self.problems.error, name, line)
        rows = self._judged(item, instance, say)
        values = self._values(item, say)
        details = self._details(item, say)
        self._check_preference(details.get("prefers"), item, say)
        if self.problems.errors_in(name) > before or self.dimensions is None or not rows:
            return
        if len(rows) > 1:
            details["others"] = rows[1:]
        who, campaign = item.get("annotator"), item.get("campaign")
        self.columns.add(instance, rows[0], values, annotator=who, campaign=campaign, details=details)

    def _read_ordinary(self, item: Mapping[str, Any], instance: int) -> bool:
        """Add a judgment of the usual kind, numbers for one generator's output; any other is left for a closer look.

        A board may have a million judgments, and this takes a fraction of the time that a closer look does.
        """
        generator: Any = item.get("generator")
        values: Any = item.get("values")
        annotator, campaign = item.get("annotator"), item.get("campaign")
        usual = type(generator) is str and type(values) is dict and item.keys() <= _ORDINARY
        usual &= annotator is None or type(annotator) is str
        usual &= campaign is None or (type(campaign) is str and self.columns.has_campaign(campaign))
        if not usual or self.rows is None or self.dimensions is None or generator not in self.rows:
            return False
        for dimension, value in values.items():
            low, high = self._limits.get(dimension, _NONE)
            if type(value) not in _NUMBERS or not low <= value <= high:
                return False
        self.columns.add(instance, self.rows[generator], values, annotator=annotator, campaign=campaign)
        return True

    @cached_property
    def _limits(self) -> Mapping[str, tuple[float, float]]:
        return {name: dimension.range or _FINITE for name, dimension in (self.dimensions or {}).items()}

    def _judged(self, item: Mapping[str, Any], instance: int, say: _Say) -> tuple[int, ...]:
        """The rows of the outputs that are judged."""
        said = [key for key in _JUDGED if key in item]
        if len(said) != 1:
            given = ", ".join(said) or "none of them"
            say(f"must say what is judged by one of {', '.join(_JUDGED)}; found {given}")
            return ()
        names = item[said[0]] if said[0].endswith("s") else [item[said[0]]]
        if not isinstance(names, list) or not names or not all(isinstance(one, str) for one in names):
            expected = "a list of names" if said[0].endswith("s") else "a name in quotes"
            say(f'"{said[0]}" must be {expected}; found {shown(item[said[0]])}')
            return ()
        if len(set(names)) < len(names):
            say(f'"{said[0]}" holds a name twice: {shown(names)}')
        found = [self._row(said[0], one, instance, item["instance"], say) for one in names]
        return tuple(row for row in found if row is not None) if None not in found else ()

    def _check_preference(self, prefers: object, item: Mapping[str, Any], say: _Say) -> None:
        names = [one for key in _JUDGED for one in _listed(item.get(key))]
        for one in _listed(prefers):
            if one not in names:
                say(f'"prefers" names {shown(one)}, which is not among the outputs judged')

    def _row(self, key: str, one: str, instance: int, instance_id: str, say: _Say) -> int | None:
        if key.startswith("generator"):
            row = None if self.rows is None else self.rows.get(one)
            if row is None and self.rows is not None:
                say(f"generator {shown(one)} has no file in generators/")
            return row
        row = None if self.loose is None else self.loose.get((instance, one))
        if row is None and self.loose is not None:
            message = f"output {shown(one)} is not an output of instance {shown(instance_id)} in outputs.jsonl"
            say(message)
        return row

    def _values(self, item: Mapping[str, Any], say: _Say) -> dict[str, float]:
        values = item.get("values", {})
        says_more = any(item.get(key) is not None for key in ("prefers", "spans"))
        if not isinstance(values, dict) or not ("values" in item or says_more):
            found = shown(item.get("values"))
            say(f'"values" must be numbers by dimension, as in {{"adequacy": 4}}; found {found}')
            return {}
        for dimension, value in values.items():
            if wrong := self._value_mistake(dimension, value):
                say(wrong)
        return values

    def _value_mistake(self, name: str, value: object) -> str | None:
        if self.dimensions is not None and name not in self.dimensions:
            return f"dimension {shown(name)} is not declared under [dimensions] in {FILE}"
        if not is_number(value):
            return f"{shown(name)} must be a number; found {shown(value)}"
        limits = self.dimensions[name].range if self.dimensions is not None else None
        if limits is not None and not limits[0] <= float(value) <= limits[1]:  # type: ignore[arg-type]
            return f"{name} = {shown(value)} lies outside its range {list(limits)}"
        return None

    def _details(self, item: Mapping[str, Any], say: _Say) -> dict[str, Any]:
        for key in ("annotator", "campaign"):
            if not isinstance(item.get(key), str | None):
                say(f'"{key}" must be text in quotes; found {shown(item[key])}')
        if isinstance(item.get("campaign"), str) and (wrong := file_name_mistake(item["campaign"])):
            say(f'"campaign" {shown(item["campaign"])} {wrong}')
        details = {key: item[key] for key in DETAILS if item.get(key) is not None}
        for key, value in details.items():
            if wrong := detail_mistake(key, value):
                say(wrong)
        return details


def _listed(value: object) -> list[object]:
    return [] if value is None else value if isinstance(value, list) else [value]


def loose_positions(rows: Sequence[Outputs]) -> dict[tuple[int, str], int]:
    """The row of every output that belongs to no generator, by its instance's position and its id."""
    return {(i, key): k for k, row in enumerate(rows) for i, key in enumerate(row.ids) if key is not None}
