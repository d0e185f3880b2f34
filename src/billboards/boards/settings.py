"""`board.toml`: what a board's owner decides, checked key by key with the line each mistake stands on."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from billboards.boards.lines import Problems
from billboards.domain import Aggregate, DataCard, Dimension, Generator

FILE = "board.toml"
SCHEMA = 1


@dataclass(frozen=True)
class ImportedSettings:
    """What `[scores.NAME]` says about a file of imported scores."""

    name: str
    references: tuple[str, ...] | None = None
    needs: tuple[str, ...] = ("references",)
    higher_is_better: bool = True
    is_ensemble: bool = False


@dataclass(frozen=True)
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


class _Reader:
    """One pass over a TOML document that names every key it doesn't know or can't use."""

    def __init__(self, text: str, problems: Problems) -> None:
        self.lines = text.split("\n")
        self.problems = problems

    def error(self, key: str, message: str) -> None:
        self.problems.error(FILE, self._line(key), message)

    def _line(self, key: str) -> int | None:
        last = re.escape(key.split(".")[-1].strip('"'))
        pattern = re.compile(rf'^\s*(\[.*\b{last}"?\s*\]|"?{last}"?\s*=)')
        return next((k for k, line in enumerate(self.lines, 1) if pattern.match(line)), None)

    def only(self, table: Mapping[str, Any], where: str, known: Iterable[str]) -> None:
        for key in set(table) - set(known):
            self.error(key, f"unknown key {key!r} in {where}; known: {', '.join(sorted(known))}")

    def table(self, source: Mapping[str, Any], key: str) -> dict[str, Any]:
        value = source.get(key, {})
        if isinstance(value, dict):
            return value
        self.error(key, f"{key} must be a table, written [{key}]")
        return {}

    def text(self, source: Mapping[str, Any], key: str) -> str | None:
        value = source.get(key)
        if value is None or isinstance(value, str):
            return value
        self.error(key, f"{key} must be text in quotes, not {value!r}")
        return None

    def texts(self, source: Mapping[str, Any], key: str) -> tuple[str, ...] | None:
        value = source.get(key)
        if value is None:
            return None
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
        self.error(key, f"{key} must be a list of texts, not {value!r}")
        return None

    def truth(self, source: Mapping[str, Any], key: str, default: bool) -> bool:
        value = source.get(key, default)
        if isinstance(value, bool):
            return value
        self.error(key, f"{key} must be true or false, not {value!r}")
        return default

    def pair(self, source: Mapping[str, Any], key: str, where: str) -> tuple[float, float] | None:
        value = source.get(key)
        if value is None:
            return None
        if isinstance(value, list) and len(value) == 2 and all(_is_number(v) for v in value):
            return float(value[0]), float(value[1])
        self.error(where, f"{key} of {where} must be two numbers, as in {key} = [1, 5]; found {value!r}")
        return None


def read_settings(text: str, problems: Problems) -> Settings:
    """Settings from the text of `board.toml`; mistakes are added to `problems` and read past."""
    try:
        document = tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        problems.error(FILE, int(line[1]) if line else None, f"not TOML: {error}")
        return Settings()
    reader = _Reader(text, problems)
    reader.only(document, FILE, _KNOWN)
    schema = document.get("schema", SCHEMA)
    if schema != SCHEMA:
        reader.error("schema", f"schema {schema!r} is not known to this version; it reads schema {SCHEMA}")
    name = reader.text(document, "name")
    if not name:
        reader.error("name", 'the board has no name; write name = "my-board"')
    elif not re.fullmatch(r"[\w.-]+", name):
        reader.error("name", f"the name {name!r} may hold letters, digits, dots, dashes and underscores only")
    lead = document.get("lead", "imported")
    if lead not in ("imported", "own"):
        reader.error("lead", f'lead must be "imported" or "own", not {lead!r}')
        lead = "imported"
    languages = reader.table(document, "languages")
    reader.only(languages, "[languages]", ("input", "output"))
    dimensions = _dimensions(reader, document)
    return Settings(
        name or "",
        reader.text(document, "ranks"),
        reader.texts(document, "metrics") or (),
        lead,
        reader.texts(document, "references"),
        reader.text(languages, "input"),
        reader.text(languages, "output"),
        dimensions,
        _aggregates(reader, document, dimensions),
        _generators(reader, document),
        _scores(reader, document),
        _card(reader, document),
    )


_KNOWN = ("schema", "name", "ranks", "metrics", "lead", "references", "languages", "dimensions", "aggregates",
          "generators", "scores", "card")  # fmt: skip


def _dimensions(reader: _Reader, document: Mapping[str, Any]) -> dict[str, Dimension]:
    found = {}
    for name, table in _named_tables(reader, document, "dimensions"):
        reader.only(table, f"[dimensions.{name}]", ("range", "higher_is_better", "to_100", "definition"))
        limits = reader.pair(table, "range", f"dimensions.{name}")
        if limits is not None and not limits[0] < limits[1]:
            reader.error(name, f"the range of dimension {name} must rise, as in [1, 5]; found {list(limits)}")
            limits = None
        mapping = reader.pair(table, "to_100", f"dimensions.{name}")
        if mapping is not None and mapping[0] == 0:
            reader.error(name, f"to_100 of dimension {name} has slope 0, which maps every judgment to one number")
            mapping = None
        higher = reader.truth(table, "higher_is_better", True)
        found[name] = Dimension(name, limits, higher, mapping, reader.text(table, "definition"))
    return found


def _aggregates(
    reader: _Reader, document: Mapping[str, Any], dimensions: Mapping[str, Dimension]
) -> dict[str, Aggregate]:
    found = {}
    for name, table in _named_tables(reader, document, "aggregates"):
        reader.only(table, f"[aggregates.{name}]", ("dimensions", "campaigns"))
        used = reader.texts(table, "dimensions")
        if not used:
            reader.error(name, f'aggregate {name} names no dimensions; write dimensions = ["…"]')
            continue
        for dimension in used:
            if dimension not in dimensions:
                reader.error(name, f"aggregate {name} uses dimension {dimension!r}, which [dimensions] doesn't declare")
        if all(dimension in dimensions for dimension in used):
            found[name] = Aggregate(name, used, reader.texts(table, "campaigns"))
    ranks = document.get("ranks")
    known = {*document.get("aggregates", {}), *dimensions}
    if isinstance(ranks, str) and ranks not in known:
        reader.error("ranks", f"ranks names {ranks!r}, which is no aggregate and no dimension")
    return found


def _generators(reader: _Reader, document: Mapping[str, Any]) -> dict[str, Generator]:
    found = {}
    for name, table in _named_tables(reader, document, "generators"):
        reader.only(table, f"[generators.{name}]", ("kind", "description", "paper", "url"))
        kind = table.get("kind", "machine")
        if kind not in ("machine", "human"):
            reader.error(name, f'kind of generator {name} must be "machine" or "human", not {kind!r}')
            kind = "machine"
        found[name] = Generator(
            name, kind, reader.text(table, "description"), reader.text(table, "paper"), reader.text(table, "url")
        )
    return found


def _scores(reader: _Reader, document: Mapping[str, Any]) -> dict[str, ImportedSettings]:
    found = {}
    for name, table in _named_tables(reader, document, "scores"):
        reader.only(table, f"[scores.{name}]", ("name", "references", "needs", "higher_is_better", "is_ensemble"))
        needs = reader.texts(table, "needs")
        for need in set(needs or ()) - {"references", "input"}:
            reader.error(name, f'needs of scores {name} may hold "references" and "input", not {need!r}')
        found[name] = ImportedSettings(
            reader.text(table, "name") or name,
            reader.texts(table, "references"),
            ("references",) if needs is None else needs,
            reader.truth(table, "higher_is_better", True),
            reader.truth(table, "is_ensemble", False),
        )
    return found


def _card(reader: _Reader, document: Mapping[str, Any]) -> DataCard:
    table = reader.table(document, "card")
    known = [f.name for f in fields(DataCard)]
    reader.only(table, "[card]", known)
    return DataCard(**{key: reader.text(table, key) for key in known})


def _named_tables(reader: _Reader, document: Mapping[str, Any], key: str) -> Iterable[tuple[str, Mapping[str, Any]]]:
    for name, table in reader.table(document, key).items():
        if isinstance(table, dict):
            yield name, table
        else:
            reader.error(name, f"{key}.{name} must be a table, written [{key}.{name}]")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
