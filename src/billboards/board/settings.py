"""`board.toml`: what a board's owner decides, checked key by key with the line each mistake stands on.

A value that can't be used is named and stood in for by its default, so that reading goes on to the next mistake.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from billboards.board.card import DataCard
from billboards.board.judgments import Aggregate, Dimension
from billboards.board.model import Generator, Kind, ReferenceFree
from billboards.board.names import board_name_mistake, file_name_mistake, generator_name_mistake, name_mistake
from billboards.reading import Problems, is_number, shown, toml_document

FILE = "board.toml"
SCHEMA = 1
#: Every key that may stand in `board.toml`, by its table; docs/board-folder.md explains each.
KEYS: Mapping[str, tuple[str, ...]] = {
    "": ("schema", "name", "ranks", "metrics", "lead", "references", "reference_free", "languages", "dimensions",
         "aggregates", "generators", "scores", "card"),
    "languages": ("input", "output"),
    "dimensions.NAME": ("range", "higher_is_better", "to_100", "definition", "kind", "levels_of", "at_least"),
    "aggregates.NAME": ("dimensions", "campaigns"),
    "generators.NAME": ("kind", "description", "paper", "url", "optimised_by"),
    "scores.NAME": ("name", "needs", "references", "higher_is_better", "is_ensemble", "is_statistic"),
    "card": tuple(f.name for f in fields(DataCard)),
}  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """Everything in `board.toml`."""

    name: str = ""
    ranks: str | None = None
    metrics: tuple[str, ...] = ()
    lead: Literal["imported", "own"] = "imported"
    references: tuple[str, ...] | None = None
    input_language: str | None = None
    output_language: str | None = None
    dimensions: Mapping[str, Dimension] = field(default_factory=dict)
    aggregates: Mapping[str, Aggregate] = field(default_factory=dict)
    generators: Mapping[str, Generator] = field(default_factory=dict)
    scores: Mapping[str, ImportedSettings] = field(default_factory=dict)
    card: DataCard = field(default_factory=DataCard)
    reference_free: ReferenceFree = "diagnostic"
    #: The line each key stands on; None where the file could not be read at all.
    lines: Mapping[tuple[str, ...], int] | None = field(default=None, compare=False, repr=False)

    def line(self, *path: str) -> int | None:
        """The line a key stands on, or that of the nearest table around it."""
        return nearest_line(self.lines or {}, path)


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportedSettings:
    """What `[scores.NAME]` says about a file of imported scores."""

    name: str
    references: tuple[str, ...] | None = None
    needs: tuple[str, ...] = ("references",)
    higher_is_better: bool = True
    is_ensemble: bool = False
    is_statistic: bool = False


def read_settings(text: str, problems: Problems) -> Settings:
    """Settings from the text of `board.toml`; mistakes are added to `problems` and read past."""
    text = text.removeprefix("\ufeff")
    try:
        document = toml_document(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        problems.error(FILE, int(line[1]) if line else None, f"not TOML: {error}")
        return Settings()
    lines = key_lines(text)
    return _settings(SettingsTable(document, (), lines, problems), lines)


def _settings(top: SettingsTable, lines: Mapping[tuple[str, ...], int]) -> Settings:
    top.only(KEYS[""])
    schema = top.values.get("schema", SCHEMA)
    if type(schema) is not int or schema != SCHEMA:
        top.error(f"schema {shown(schema)} is not known to this version; it reads schema {SCHEMA}", "schema")
    languages = top.table("languages")
    languages.only(KEYS["languages"])
    dimensions = {name: _dimension(name, table) for name, table in top.tables("dimensions", name_mistake)}
    for name, wrong in levels_mistakes(dimensions):
        top.error(wrong, "dimensions", name, "levels_of")
    return Settings(
        name=_board_name(top),
        ranks=_ranks(top),
        metrics=top.names("metrics") or (),
        lead="own" if top.choice("lead", ("imported", "own")) == "own" else "imported",
        references=top.names("references"),
        input_language=languages.text("input"),
        output_language=languages.text("output"),
        dimensions=dimensions,
        aggregates=_aggregates(top, dimensions),
        generators={name: _generator(name, table) for name, table in top.tables("generators", generator_name_mistake)},
        scores={name: _scores(name, table) for name, table in top.tables("scores", file_name_mistake)},
        card=_card(top.table("card")),
        reference_free="ranks" if top.choice("reference_free", ("diagnostic", "ranks")) == "ranks" else "diagnostic",
        lines=lines,
    )


def _board_name(top: SettingsTable) -> str:
    name = top.text("name") or ""
    if not name:
        top.error('the board has no name; write name = "my-board"', "name")
    elif wrong := board_name_mistake(name):
        top.error(f"the name {shown(name)} {wrong}", "name")
    return name


def _ranks(top: SettingsTable) -> str | None:
    ranks = top.text("ranks")
    declared = [top.values.get(key) for key in ("aggregates", "dimensions")]
    if ranks is not None and not any(isinstance(table, dict) and ranks in table for table in declared):
        top.error(f"ranks names {shown(ranks)}, which is no aggregate and no dimension", "ranks")
        return None
    return ranks


def _dimension(name: str, table: SettingsTable) -> Dimension:
    table.only(KEYS["dimensions.NAME"])
    dimension = Dimension(
        name,
        range=table.pair("range"),
        higher_is_better=table.truth("higher_is_better", True),
        to_100=table.pair("to_100"),
        definition=table.text("definition"),
        kind="preference" if table.choice("kind", ("rating", "preference")) == "preference" else "rating",
        levels_of=table.text("levels_of"),
        at_least=table.number("at_least"),
    )
    wrong = dimension_mistake(dimension)
    if wrong is None:
        return dimension
    table.error(wrong, next((key for key in KEYS["dimensions.NAME"] if wrong.startswith(key)), "range"))
    return Dimension(
        name, range=None, higher_is_better=dimension.higher_is_better, to_100=None, definition=dimension.definition
    )


def dimension_mistake(dimension: Dimension) -> str | None:
    """What is wrong with a dimension's scale, if anything."""
    name, limits, mapping = dimension.name, dimension.range, dimension.to_100
    if (dimension.levels_of is None) != (dimension.at_least is None):
        return f"levels_of and at_least of dimension {name} belong together: the levels' dimension, and which count"
    if dimension.kind == "preference" and (limits or mapping or dimension.levels_of):
        return f"kind of dimension {name} is preference, so it has no range, no to_100 and no levels"
    if dimension.levels_of is not None and limits is not None:
        return f"range of dimension {name} can't be stated: it is 1 where {dimension.levels_of} is high enough, else 0"
    if limits is not None and not limits[0] < limits[1]:
        return f"range of dimension {name} must rise, as in [1, 5]; found {list(limits)}"
    slope, intercept = dimension.affine()
    if slope == 0 or not (math.isfinite(slope) and math.isfinite(intercept)):
        if mapping is not None:
            return f"to_100 of dimension {name} must be a slope other than 0 and an intercept; found {list(mapping)}"
        return f"range of dimension {name} can't be stretched to 0-100; found {list(limits or ())}"
    if (slope > 0) != dimension.higher_is_better:
        better = "higher" if dimension.higher_is_better else "lower"
        return (
            f"to_100 of dimension {name} has slope {slope:g} although {better} is better; "
            "give the slope the other sign or change higher_is_better"
        )
    return None


def levels_mistakes(dimensions: Mapping[str, Dimension]) -> Iterator[tuple[str, str]]:
    """Dimensions that are read off levels which nobody declared, each with what is wrong."""
    for name, dimension in dimensions.items():
        levels = dimensions.get(dimension.levels_of or name)
        if levels is None or (dimension.levels_of is not None and levels.derivation()):
            yield name, f"levels_of dimension {name} must name a declared rating; found {shown(dimension.levels_of)}"


def _aggregates(top: SettingsTable, dimensions: Mapping[str, Dimension]) -> dict[str, Aggregate]:
    found = {}
    for name, table in top.tables("aggregates", name_mistake):
        table.only(KEYS["aggregates.NAME"])
        used = table.names("dimensions")
        if not used:
            table.error(f'aggregate {name} names no dimensions; write dimensions = ["…"]', "dimensions")
            continue
        for dimension in used:
            if dimension not in dimensions:
                table.error(
                    f"aggregate {name} uses dimension {shown(dimension)}, which [dimensions] doesn't declare",
                    "dimensions",
                )
        if len({dimensions[dimension].kind for dimension in used if dimension in dimensions}) > 1:
            table.error(f"aggregate {name} mixes ratings and preferences; make an aggregate of each", "dimensions")
        elif all(dimension in dimensions for dimension in used):
            found[name] = Aggregate(name, used, table.names("campaigns"))
    return found


def _generator(name: str, table: SettingsTable) -> Generator:
    table.only(KEYS["generators.NAME"])
    said = table.choice("kind", ("machine", "human", "optimised"))
    kind: Kind = "human" if said == "human" else "optimised" if said == "optimised" else "machine"
    metric = table.text("optimised_by")
    if (metric is not None) != (kind == "optimised"):
        table.error(f'generator {name}: kind = "optimised" and optimised_by = "METRIC" belong together', "optimised_by")
    return Generator(
        name,
        kind=kind,
        description=table.text("description"),
        paper=table.text("paper"),
        url=table.text("url"),
        optimised_by=metric,
    )


def _scores(name: str, table: SettingsTable) -> ImportedSettings:
    table.only(KEYS["scores.NAME"])
    needs = table.names("needs")
    for need in needs or ():
        if need not in ("references", "input"):
            table.error(f'needs of scores {name} may hold "references" and "input", not {shown(need)}', "needs")
    return ImportedSettings(
        name=table.text("name") or name,
        references=table.names("references"),
        needs=("references",) if needs is None else needs,
        higher_is_better=table.truth("higher_is_better", True),
        is_ensemble=table.truth("is_ensemble", False),
        is_statistic=table.truth("is_statistic", False),
    )


def _card(table: SettingsTable) -> DataCard:
    table.only(KEYS["card"])
    return DataCard(**{key: table.text(key) for key in KEYS["card"]})


class SettingsTable:
    """One table of the document, which names every key it doesn't know or can't use."""

    def __init__(
        self, values: Mapping[str, Any], path: tuple[str, ...], lines: Mapping[tuple[str, ...], int], problems: Problems
    ) -> None:
        self.values, self.path, self._lines, self._problems = values, path, lines, problems

    def __str__(self) -> str:
        return f"[{'.'.join(self.path)}]" if self.path else FILE

    def error(self, message: str, *key: str) -> None:
        self._problems.error(FILE, nearest_line(self._lines, (*self.path, *key)), message)

    def only(self, known: Iterable[str]) -> None:
        known = tuple(known)
        for key in self.values:
            if key not in known:
                self.error(f"unknown key {shown(key)} in {self}; known: {', '.join(known)}", key)

    def table(self, key: str) -> SettingsTable:
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            self.error(f"{key} must be a table, written [{'.'.join((*self.path, key))}]", key)
            value = {}
        return SettingsTable(value, (*self.path, key), self._lines, self._problems)

    def tables(self, key: str, mistake: Callable[[str], str | None]) -> list[tuple[str, SettingsTable]]:
        """The tables `[key.NAME]` with their names, each a name that can be one."""
        outer = self.table(key)
        for name in outer.values:
            if wrong := mistake(name):
                outer.error(f"the name {shown(name)} in [{key}] {wrong}", name)
        return [(name, outer.table(name)) for name in outer.values]

    def text(self, key: str) -> str | None:
        value = self.values.get(key)
        if value is None or isinstance(value, str):
            return value
        self.error(f"{key} in {self} must be text in quotes, not {shown(value)}", key)
        return None

    def names(self, key: str) -> tuple[str, ...] | None:
        """A list of different names."""
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self.error(f"{key} in {self} must be a list of texts, not {shown(value)}", key)
            return None
        if len(set(value)) < len(value):
            self.error(f"{key} in {self} holds a name twice: {shown(value)}", key)
        return tuple(dict.fromkeys(value))

    def truth(self, key: str, default: bool) -> bool:
        value = self.values.get(key, default)
        if isinstance(value, bool):
            return value
        self.error(f"{key} in {self} must be true or false, not {shown(value)}", key)
        return default

    def choice(self, key: str, allowed: tuple[str, ...]) -> str:
        """One of a few words, the first of them by default."""
        value = self.values.get(key, allowed[0])
        if isinstance(value, str) and value in allowed:
            return value
        self.error(f"{key} in {self} must be {' or '.join(map(repr, allowed))}, not {shown(value)}", key)
        return allowed[0]

    def number(self, key: str) -> float | None:
        value = self.values.get(key)
        if value is None or is_number(value):
            return None if value is None else float(value)
        self.error(f"{key} in {self} must be a finite number; found {shown(value)}", key)
        return None

    def pair(self, key: str) -> tuple[float, float] | None:
        value = self.values.get(key)
        if value is None:
            return None
        if isinstance(value, list) and len(value) == 2 and all(map(is_number, value)):
            return float(value[0]), float(value[1])
        self.error(f"{key} in {self} must be two finite numbers, as in {key} = [1, 5]; found {shown(value)}", key)
        return None


_HEADER = re.compile(r"\s*(\[[^\[].*?\])\s*(?:#.*)?$")
_KEY = re.compile(r"""\s*((?:"(?:[^"\\]|\\.)*"|'[^']*'|[\w-]+)(?:\s*\.\s*(?:"(?:[^"\\]|\\.)*"|'[^']*'|[\w-]+))*)\s*=""")


def key_lines(text: str) -> dict[tuple[str, ...], int]:
    """The line on which each key and table of a TOML document stands, by its path.

    The TOML reader doesn't keep line numbers, so headers and keys are found line by line and read by it one by one.
    What looks like a key inside a text of several lines is taken for one, which at worst misplaces a message.
    """
    found: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.split("\n"), 1):
        if header := _HEADER.match(line):
            table = _path(header[1])
            found.setdefault(table, number)
        elif key := _KEY.match(line):
            found.setdefault((*table, *_path(f"{key[1]} = 0")), number)
    return found


def nearest_line(lines: Mapping[tuple[str, ...], int], path: tuple[str, ...]) -> int | None:
    """The line of a path, else that of the nearest table around it."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path)


def _path(line: str) -> tuple[str, ...]:
    try:
        inner: object = toml_document(line)
    except tomllib.TOMLDecodeError:
        return ()
    path = []
    while isinstance(inner, dict) and inner:
        name, inner = next(iter(inner.items()))
        path.append(name)
    return tuple(path)
