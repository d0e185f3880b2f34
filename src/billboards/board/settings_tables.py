"""The tables of `board.toml`, read key by key: whatever is wrong is said with the line it stands on.

A value that can't be used is named and stood in for by its default, so that reading goes on to the next mistake.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from billboards.reading import Problems, is_number, shown, toml_document

FILE = "board.toml"


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
