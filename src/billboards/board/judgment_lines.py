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

from billboards.board.judgment_columns import JudgmentColumns
from billboards.board.judgments import Dimension
from billboards.board.model import Outputs
from billboards.board.names import file_name_mistake
from billboards.board.settings_tables import FILE
from billboards.reading import Problems, is_number, shown

DETAILS = ("dimension", "prefers", "order", "spans", "test", "time", "template")
_JUDGED = ("generator", "generators", "output", "outputs")
KEYS = ("instance", *_JUDGED, "values", "annotator", "campaign", *DETAILS)
_ORDINARY = frozenset({"instance", "generator", "values", "annotator", "campaign"})
_NUMBERS = (int, float)
_FINITE, _NONE = (-float_info.max, float_info.max), (1.0, 0.0)

_Say = Callable[[str], None]
_DEEPEST = 16
_WORDS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "dimension": ((str,), "the dimension on which outputs were compared, in quotes"),
    "prefers": ((str, list), "the name of an output judged, or a list of such names"),
    "order": ((list,), "the names of the outputs judged, best first, equal ones in a list of their own"),
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
        self._check_preference(details, item, say)
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
        known = (self.dimensions or {}).items()
        return {name: _NONE if _unvalued(dimension) else dimension.range or _FINITE for name, dimension in known}

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

    def _check_preference(self, details: Mapping[str, Any], item: Mapping[str, Any], say: _Say) -> None:
        names = [one for key in _JUDGED for one in _listed(item.get(key))]
        for one in _listed(details.get("prefers")):
            if one not in names:
                say(f'"prefers" names {shown(one)}, which is not among the outputs judged')
        if wrong := comparison_mistake(details, names, self.dimensions):
            say(wrong)

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
        says_more = any(item.get(key) is not None for key in ("prefers", "order", "spans"))
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
        if self.dimensions is not None and (wrong := _unvalued(self.dimensions[name])):
            return wrong
        if not is_number(value):
            return f"{shown(name)} must be a number; found {shown(value)}"
        limits = self.dimensions[name].range if self.dimensions is not None else None
        if limits is not None and not limits[0] <= float(value) <= limits[1]:
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


def comparison_mistake(
    details: Mapping[str, Any], names: Sequence[object], dimensions: Mapping[str, Dimension] | None
) -> str | None:
    """What is wrong with how a judgment compares outputs, if anything."""
    compares = "order" in details or ("prefers" in details and "dimension" in details)
    if isinstance(details.get("order"), list):
        placed = [one for place in _listed(details["order"]) for one in _listed(place)]
        if sorted(map(repr, placed)) != sorted(map(repr, names)):
            return f'"order" must hold every output judged exactly once; found {shown(details["order"])}'
        if "prefers" in details:
            return '"order" and "prefers" say the same thing; write one of them'
    if "dimension" not in details:
        return None
    if not compares or len(names) < 2:
        return '"dimension" is for judgments that compare outputs; values name their dimensions themselves'
    found = None if dimensions is None else dimensions.get(details["dimension"])
    if dimensions is not None and (found is None or found.kind != "preference"):
        return f'"dimension" {shown(details["dimension"])} is not declared under [dimensions] in {FILE} as a preference'
    return None


def _unvalued(dimension: Dimension) -> str | None:
    """Why no judgment gives values on a dimension, if none does."""
    if dimension.kind == "preference":
        return f'{shown(dimension.name)} is judged by preference: write "prefers" or "order", not a value'
    if dimension.levels_of is not None:
        return f"{shown(dimension.name)} is read off the levels of {shown(dimension.levels_of)}; give that one's value"
    return None


def _listed(value: object) -> list[object]:
    return [] if value is None else value if isinstance(value, list) else [value]


def loose_positions(rows: Sequence[Outputs]) -> dict[tuple[int, str], int]:
    """The row of every output that belongs to no generator, by its instance's position and its id."""
    return {(i, key): k for k, row in enumerate(rows) for i, key in enumerate(row.ids) if key is not None}
