"""Judgments as they are written: one JSON object per line of `judgments/*.jsonl`, each checked against its board.

    {"instance": "17", "generator": "M", "values": {"adequacy": 4}, "annotator": "a1", "campaign": "experts"}

A judgment speaks of one output, or of several that were compared, and says a value, a preference, spans, or more than
one of these. The rules stand here once, for reading and for writing.

Files are read a piece at a time: a large board has more judgments than should lie in memory as text. Where they are
large, all judgments are kept as columns of numbers under a key of everything they depend on, and read again only when
that key changes. Rows are kept by name: one more generator moves the rows of others on the board but says nothing new
about what people said, so it must not cost reading a million judgments again. Where a generator that was judged is
gone, nothing kept fits any more.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from sys import float_info
from typing import Any

import numpy as np

from billboards.board._kept import FOLDER as KEPT
from billboards.board._kept import is_large, keep_numbers, kept_numbers, key_of
from billboards.board._parts import OUTPUTS, check_keys, instance_position, part_files
from billboards.board.judgments import Dimension, JudgmentColumns, Judgments
from billboards.board.model import Outputs, digest
from billboards.board.names import file_name_mistake
from billboards.board.settings import FILE, Settings
from billboards.reading import Problems, is_number, json_lines, shown

DETAILS = ("dimension", "prefers", "order", "votes", "spans", "test", "time", "template")
_JUDGED = ("generator", "generators", "output", "outputs")
KEYS = ("instance", *_JUDGED, "values", "annotator", "campaign", *DETAILS)
_ORDINARY = frozenset({"instance", "generator", "values", "annotator", "campaign"})
_NUMBERS = (int, float)
_FINITE, _NONE = (-float_info.max, float_info.max), (1.0, 0.0)
_DEEPEST = 16
_WORDS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "dimension": ((str,), "the dimension on which outputs were compared, in quotes"),
    "prefers": ((str, list), "the name of an output judged, or a list of such names"),
    "order": ((list,), "the names of the outputs judged, best first, equal ones in a list of their own"),
    "votes": ((dict,), 'how many votes each of the outputs judged had, as in {"A": 7, "B": 4}'),
    "spans": ((list,), "a list"),
    "test": ((str,), "the kind of test question in quotes"),
    "time": ((str, int, float), "a time in quotes or a number"),
    "template": ((str,), "the version of the template in quotes"),
}
#: Bytes of a file of judgments that are read at a time.
_PIECE = 4_000_000
#: The arrays under which judgments are kept.
_COLUMNS = ("instance", "row", "annotator", "campaign", "values")
_Say = Callable[[str], None]


def read_judgments(
    root: Path,
    settings: Settings,
    position: Mapping[str, int],
    rows: Sequence[Outputs],
    problems: Problems,
) -> Judgments:
    """All judgments; where their files are large, as they were kept when last read."""
    names = [f"judgments/{path.name}" for path in part_files(root, "judgments", ".jsonl", problems)]
    keeping = not problems.errors and is_large(sum(_size(root / name) for name in names))
    path = root / KEPT / "judgments"

    def key(digests: Iterable[str]) -> str:
        loose = [row.version for row in rows if row.generator is None]
        scales = [[name, dimension.range] for name, dimension in settings.dimensions.items()]
        return key_of(scales, digest(position), loose, list(zip(names, digests, strict=True)))

    if keeping and (kept := kept_judgments(path, key(_digest(root / name) for name in names), rows)) is not None:
        return kept
    columns = JudgmentColumns(tuple(settings.dimensions))
    reader = JudgmentReader(
        columns=columns,
        rows=None if problems.errors_in("generators") else {row.name: k for k, row in enumerate(rows) if row.generator},
        loose=None if problems.errors_in(OUTPUTS) else loose_positions(rows),
        dimensions=None if settings.lines is None else settings.dimensions,
        problems=problems,
    )
    before = len(problems)
    digests = [_read_judgment_file(root, name, position, reader, problems) for name in names]
    judgments = columns.build()
    if keeping and len(problems) == before:
        keep_judgments(path, key(digests), judgments, rows)
    return judgments


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _digest(path: Path) -> str:
    """The digest of a large file, which is not held whole; of one that can't be read, that of nothing."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def _read_judgment_file(
    root: Path, name: str, position: Mapping[str, int], reader: JudgmentReader, problems: Problems
) -> str:
    """Read the judgments of one file; the digest of what was read."""
    read, first = hashlib.sha256(), 1
    for piece in _pieces(root, name, problems):
        read.update(piece)
        for line, item in json_lines(piece, name, problems, first=first):
            check_keys(item, KEYS, name, line, problems)
            instance = instance_position(item, position, name, line, problems)
            if instance is not None:
                reader.read(item, instance, name, line)
        first += piece.count(b"\n")
    return read.hexdigest()


def _pieces(root: Path, name: str, problems: Problems) -> Iterator[bytes]:
    """A file's bytes some whole lines at a time; a file that can't be read is a mistake."""
    path = root / name
    try:
        if not path.is_file():
            problems.error(name, None, "can't be read: it must be a file")
            return
        with path.open("rb") as file:
            while piece := file.read(_PIECE):
                yield piece + file.readline()
    except OSError as error:
        problems.error(name, None, f"can't be read: {error.strerror or error}")


def loose_positions(rows: Sequence[Outputs]) -> dict[tuple[int, str], int]:
    """The row of every output that belongs to no generator, by its instance's position and its id."""
    return {(i, key): k for k, row in enumerate(rows) for i, key in enumerate(row.ids) if key is not None}


@dataclass(frozen=True, kw_only=True)
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
        dimensions = (self.dimensions or {}).items()
        return {name: _NONE if _unvalued(dimension) else dimension.range or _FINITE for name, dimension in dimensions}

    def _judged(self, item: Mapping[str, Any], instance: int, say: _Say) -> tuple[int, ...]:
        """The rows of the outputs that are judged."""
        keys = [key for key in _JUDGED if key in item]
        if len(keys) != 1:
            present = ", ".join(keys) or "none of them"
            say(f"must say what is judged by one of {', '.join(_JUDGED)}; found {present}")
            return ()
        key, several = keys[0], keys[0].endswith("s")
        names = item[key] if several else [item[key]]
        if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
            expected = "a list of names" if several else "a name in quotes"
            say(f'"{key}" must be {expected}; found {shown(item[key])}')
            return ()
        if len(set(names)) < len(names):
            say(f'"{key}" holds a name twice: {shown(names)}')
        rows = [self._row(key, name, instance, item["instance"], say) for name in names]
        return tuple(row for row in rows if row is not None) if None not in rows else ()

    def _check_preference(self, details: Mapping[str, Any], item: Mapping[str, Any], say: _Say) -> None:
        names = [output for key in _JUDGED for output in _listed(item.get(key))]
        for output in _listed(details.get("prefers")):
            if output not in names:
                say(f'"prefers" names {shown(output)}, which is not among the outputs judged')
        if wrong := comparison_mistake(details, names, self.dimensions):
            say(wrong)

    def _row(self, key: str, name: str, instance: int, instance_id: str, say: _Say) -> int | None:
        if key.startswith("generator"):
            row = None if self.rows is None else self.rows.get(name)
            if row is None and self.rows is not None:
                say(f"generator {shown(name)} has no file in generators/")
            return row
        row = None if self.loose is None else self.loose.get((instance, name))
        if row is None and self.loose is not None:
            message = f"output {shown(name)} is not an output of instance {shown(instance_id)} in outputs.jsonl"
            say(message)
        return row

    def _values(self, item: Mapping[str, Any], say: _Say) -> dict[str, float]:
        values = item.get("values", {})
        says_more = any(item.get(key) is not None for key in ("prefers", "order", "spans"))
        if not isinstance(values, dict) or not ("values" in item or says_more):
            written = shown(item.get("values"))
            say(f'"values" must be numbers by dimension, as in {{"adequacy": 4}}; found {written}')
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


def _unvalued(dimension: Dimension) -> str | None:
    """Why no judgment gives values on a dimension, if none does."""
    if dimension.kind == "preference":
        return f'{shown(dimension.name)} is judged by preference: write "prefers" or "order", not a value'
    if dimension.levels_of is not None:
        return f"{shown(dimension.name)} is read off the levels of {shown(dimension.levels_of)}; give that one's value"
    return None


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


def comparison_mistake(
    details: Mapping[str, Any], names: Sequence[object], dimensions: Mapping[str, Dimension] | None
) -> str | None:
    """What is wrong with how a judgment compares outputs, if anything."""
    compares = "order" in details or ("prefers" in details and "dimension" in details)
    if isinstance(details.get("order"), list):
        placed = [output for place in _listed(details["order"]) for output in _listed(place)]
        if sorted(map(repr, placed)) != sorted(map(repr, names)):
            return f'"order" must hold every output judged exactly once; found {shown(details["order"])}'
        if "prefers" in details:
            return '"order" and "prefers" say the same thing; write one of them'
    named = details.get("dimension")
    # What is no text is a mistake of its own.
    if not isinstance(named, str):
        return None
    if not compares or len(names) < 2:
        return '"dimension" is for judgments that compare outputs; values name their dimensions themselves'
    dimension = None if dimensions is None else dimensions.get(named)
    if dimensions is not None and (dimension is None or dimension.kind != "preference"):
        return f'"dimension" {shown(named)} is not declared under [dimensions] in {FILE} as a preference'
    return None


def _listed(value: object) -> list[object]:
    return [] if value is None else value if isinstance(value, list) else [value]


def keep_judgments(path: Path, key: str, judgments: Judgments, rows: Sequence[Outputs]) -> None:
    """Keep judgments that were read without a mistake."""
    judged = sorted({*np.unique(judgments.row).tolist(), *_others(judgments.details.values())})
    place = np.zeros(len(rows), np.int32)
    place[judged] = np.arange(len(judged))
    facts = {
        "dimensions": judgments.dimensions,
        "annotators": judgments.annotators,
        "campaigns": judgments.campaigns,
        "rows": [rows[k].name for k in judged],
        "details": [[k, _moved(detail, place)] for k, detail in judgments.details.items()],
    }
    columns = (judgments.instance, place[judgments.row], judgments.annotator, judgments.campaign, judgments.values)
    keep_numbers(path, key, facts, dict(zip(_COLUMNS, columns, strict=True)))


def kept_judgments(path: Path, key: str, rows: Sequence[Outputs]) -> Judgments | None:
    """The judgments kept under this key, on the board's rows as they stand now."""
    kept = kept_numbers(path, key, _COLUMNS)
    position = {row.name: k for k, row in enumerate(rows)}
    if kept is None or not position.keys() >= set(kept[0]["rows"]):
        return None
    facts, (instance, row, annotator, campaign, values) = kept
    place = np.array([position[name] for name in facts["rows"]], np.int32)
    return Judgments(
        dimensions=tuple(facts["dimensions"]),
        annotators=tuple(facts["annotators"]),
        campaigns=tuple(facts["campaigns"]),
        instance=instance,
        row=place[row],
        annotator=annotator,
        campaign=campaign,
        values=values,
        details={k: _moved(detail, place) for k, detail in facts["details"]},
    )


def _others(details: Any) -> list[int]:
    return [row for detail in details for row in detail.get("others", ())]


def _moved(detail: Mapping[str, Any], place: Any) -> dict[str, Any]:
    """A judgment's details with the rows of further outputs where they stand elsewhere."""
    if "others" not in detail:
        return dict(detail)
    return {**detail, "others": tuple(int(place[row]) for row in detail["others"])}
