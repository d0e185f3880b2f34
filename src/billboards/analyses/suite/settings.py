"""A suite's file: TOML that names boards, their dimensions and what counts as correctness, checked key by key.

    name = "my-suite"
    metrics = ["ROUGE-1", "BLEU", "length"]

    [families]
    n-gram = ["ROUGE-1", "BLEU"]

    [[boards]]
    folder = "summeval"
    correctness = "consistency"

Folders, and metrics that are Python files, are relative to the file. `docs/suites.md` explains every key.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from billboards.analyses.suite.results import PREFERENCES_IN, PreferencesIn, Suite, SuiteBoard
from billboards.board.names import board_name_mistake
from billboards.errors import BillboardsError, InvalidInput
from billboards.metrics.discovery import is_file
from billboards.reading import is_number, toml_document
from billboards.stats.preferences import TIES, Ties
from billboards.stats.yardsticks import Yardstick, preset, yardstick

_Choice = TypeVar("_Choice", bound=str)

#: Every key of the file, and of one of its boards; docs/suites.md explains each.
KEYS = ("name", "title", "metrics", "families", "boards", "preset", "statistics", "ties", "preferences")
BOARD_KEYS = (
    "folder", "correctness", "others", "label", "group", "task", "weight", "difficulty", "reference", "instead",
)  # fmt: skip


def read_suite(path: str | Path) -> Suite:
    """The suite in a file; a mistake is named with the key it stands under."""
    file = Path(path)
    try:
        document = toml_document(file.read_text("utf-8"))
    except OSError as error:
        raise InvalidInput(f"{file}: can't be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{file}: is not UTF-8: {error.reason}") from error
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{file}: is no TOML: {error}") from error
    top = _Keys(document, str(file), KEYS)
    boards = document.get("boards")
    if not isinstance(boards, list) or not boards:
        raise InvalidInput(f'{file}: names no board; add [[boards]] with folder = "…" and correctness = "DIMENSION"')
    name = top.text("name") or file.stem
    if wrong := board_name_mistake(name):
        raise InvalidInput(f"{file}: name {name!r} {wrong}")
    return Suite(
        name,
        tuple(_board(item, f"{file}: board {k}", file.parent) for k, item in enumerate(boards, 1)),
        tuple(_located(name, file.parent) for name in top.names("metrics") or ()),
        top.text("title"),
        {family: _listed(names, f"{file}: families.{family}") for family, names in top.table("families").items()},
        *_how(top, str(file)),
        path=file.absolute(),
    )


def _how(top: _Keys, where: str) -> tuple[tuple[Yardstick, ...], str | None, Ties, PreferencesIn]:
    """By what metrics are held against people."""
    named, listed = top.text("preset"), top.names("statistics")
    if named is not None and listed is not None:
        raise InvalidInput(f"{where}: say preset or statistics, not both")
    try:
        yardsticks = preset(named).yardsticks if named is not None else tuple(map(yardstick, listed or ()))
    except BillboardsError as error:
        raise InvalidInput(f"{where}: {error}") from error
    ties: Ties = top.choice("ties", TIES, "wrong")
    return yardsticks, named, ties, top.choice("preferences", PREFERENCES_IN, "apart")


def _board(item: object, where: str, beside: Path) -> SuiteBoard:
    if not isinstance(item, Mapping):
        raise InvalidInput(f"{where} must be a table, written [[boards]]")
    keys = _Keys(item, where, BOARD_KEYS)
    folder = keys.text("folder")
    if not folder:
        raise InvalidInput(f'{where} has no folder; add folder = "…", relative to the suite\'s file')
    instead = keys.table("instead")
    for metric, other in instead.items():
        if not isinstance(other, str):
            raise InvalidInput(f"{where}: instead.{metric} must be a metric in quotes; found {other!r}")
    return SuiteBoard(
        folder=(beside / folder).absolute(),
        correctness=keys.names("correctness"),
        others=keys.names("others"),
        label=keys.text("label"),
        group=keys.text("group"),
        task=keys.text("task"),
        weight=keys.positive("weight", 1.0),
        difficulty=keys.number("difficulty"),
        reference=keys.text("reference"),
        instead={str(metric): _located(str(other), beside) for metric, other in instead.items()},
    )


def _located(name: str, beside: Path) -> str:
    """A metric's name as it is; the path of a Python file or of a module is relative to the suite's file."""
    reader, colon, what = name.partition(":")
    if colon and what.startswith("./"):
        return f"{reader}:{beside.absolute()}/{what.removeprefix('./')}"
    return str((beside / name).absolute()) if is_file(name) else name


class _Keys:
    """A table's values by key, each of the kind it must be."""

    def __init__(self, values: Mapping[str, Any], where: str, allowed: Iterable[str]) -> None:
        self.values, self.where = values, where
        unknown = [key for key in values if key not in allowed]
        if unknown:
            raise InvalidInput(f"{where}: unknown key {unknown[0]!r}; known: {', '.join(allowed)}")

    def text(self, key: str) -> str | None:
        value = self.values.get(key)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            raise InvalidInput(f"{self.where}: {key} must be text in quotes; found {value!r}")
        return value

    def names(self, key: str) -> tuple[str, ...] | None:
        """One name or a list of them."""
        return None if key not in self.values else _listed(self.values[key], f"{self.where}: {key}")

    def choice(self, key: str, choices: tuple[_Choice, ...], default: _Choice) -> _Choice:
        value = self.values.get(key, default)
        for choice in choices:
            if choice == value:
                return choice
        raise InvalidInput(f"{self.where}: {key} must be one of {', '.join(choices)}; found {value!r}")

    def number(self, key: str) -> float | None:
        value = self.values.get(key)
        if value is None:
            return None
        if not is_number(value):
            raise InvalidInput(f"{self.where}: {key} must be a number; found {value!r}")
        return float(value)

    def positive(self, key: str, default: float) -> float:
        value = self.number(key)
        if value is not None and value <= 0:
            raise InvalidInput(f"{self.where}: {key} must be above 0; found {value:g}")
        return default if value is None else value

    def table(self, key: str) -> Mapping[str, Any]:
        value = self.values.get(key, {})
        if not isinstance(value, Mapping):
            raise InvalidInput(f"{self.where}: {key} must be a table; found {value!r}")
        return value


def _listed(value: object, where: str) -> tuple[str, ...]:
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
        raise InvalidInput(f"{where} must be a name in quotes, or a list of names; found {value!r}")
    return tuple(dict.fromkeys(names))
