"""Files as they may be spoilt, one thing at a time: gone, cut, doubled, a column or key away, a value that is none."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

Spoilt = Iterator[tuple[str, bytes | None]]

#: What a cell of a table may hold instead.
CELLS = ("", "x", "-1", "101", "nan", "1,5")
#: What a value of JSON may be instead; the last stands for its being away.
AWAY = object()
VALUES: tuple[Any, ...] = ("", "x", -1, 101.5, None, True, [], {}, AWAY)
#: Deepest place in an object that is spoilt.
DEEPEST = 6
#: Endings of files that are no lines of cells.
NOT_LINES = (".toml", ".pkl", ".gz", ".eval", ".mat")


def spoilt(path: Path) -> Spoilt:
    """The contents that a file may have instead of its own, each with words for it; None where it is gone."""
    raw = path.read_bytes()
    yield from _whole(raw)
    if path.suffix in (".jsonl", ".json") and raw.startswith(b"{") and raw.count(b"\n{"):
        yield from _json_lines(raw)
    elif path.suffix == ".json":
        yield from _json(raw)
    elif path.suffix == ".jsonl":
        yield from _json_lines(raw)
    elif path.suffix in (".csv", ".tsv"):
        yield from _table(raw, _separator(raw))
    elif path.suffix not in NOT_LINES:
        yield from _lines(raw)


def _whole(raw: bytes) -> Spoilt:
    lines = raw.splitlines(keepends=True)
    yield "gone", None
    yield "cut", raw[:-5]
    yield "last line twice", raw + lines[-1]
    yield "empty", b""
    yield "without the last line end", raw.removesuffix(b"\n")
    yield "not UTF-8", raw[: len(raw) // 2] + b"\xff" + raw[len(raw) // 2 :]
    yield "last line gone", b"".join(lines[:-1])
    yield "a line of nothing", b"".join([*lines[:1], b"\n", *lines[1:]])


def _separator(raw: bytes) -> str:
    head = raw.split(b"\n", 1)[0]
    return max("\t, ", key=lambda mark: head.count(mark.encode()))


def _table(raw: bytes, separator: str) -> Spoilt:
    rows = list(csv.reader(io.StringIO(raw.decode()), delimiter=separator))
    if len(rows) < 2:
        return
    for place, name in enumerate(rows[0]):
        yield f"without {name or place}", _rows([[*row[:place], *row[place + 1 :]] for row in rows], separator)
        renamed = [[*rows[0][:place], "other", *rows[0][place + 1 :]], *rows[1:]]
        yield f"{name or place} is called other", _rows(renamed, separator)
        for value in CELLS:
            changed = [*rows[1][:place], value, *rows[1][place + 1 :]]
            yield f"{name or place} is {value!r}", _rows([rows[0], changed, *rows[2:]], separator)
    yield "a cell too many", _rows([rows[0], [*rows[1], "more"], *rows[2:]], separator)
    yield "a column twice", _rows([[*rows[0], rows[0][0]], *([*row, row[0]] for row in rows[1:])], separator)


def _rows(rows: Sequence[Sequence[str]], separator: str) -> bytes:
    written = io.StringIO()
    csv.writer(written, delimiter=separator, lineterminator="\n").writerows(rows)
    return written.getvalue().encode()


def _lines(raw: bytes) -> Spoilt:
    lines = raw.decode("utf-8", "replace").splitlines()
    separator = next((mark for mark in "\t, " if mark in lines[0]), None) if lines else None
    if separator is None:
        return
    cells = lines[-1].split(separator)
    for place in range(len(cells)):
        for value in CELLS:
            changed = separator.join([*cells[:place], value, *cells[place + 1 :]])
            yield f"{place} is {value!r}", "".join(f"{line}\n" for line in [*lines[:-1], changed]).encode()
    shorter = separator.join(cells[:-1])
    yield "a cell too few", "".join(f"{line}\n" for line in [*lines[:-1], shorter]).encode()


def _json_lines(raw: bytes) -> Spoilt:
    lines = raw.decode().splitlines()
    if not lines:
        return
    for words, value in _values(json.loads(lines[0])):
        changed = json.dumps(value, ensure_ascii=False)
        yield words, "".join(f"{line}\n" for line in [changed, *lines[1:]]).encode()
    yield "a list", "".join(f"{line}\n" for line in ["[1]", *lines[1:]]).encode()


def _json(raw: bytes) -> Spoilt:
    for words, value in _values(json.loads(raw)):
        yield words, json.dumps(value, ensure_ascii=False, indent=1).encode() + b"\n"


def _values(value: Any) -> Iterator[tuple[str, Any]]:
    for words, change in places(value):
        for other in VALUES:
            yield f"{words} is {'away' if other is AWAY else json.dumps(other)}", change(other)
    if isinstance(value, dict):
        yield "a key too many", {**value, "surplus": 1}


def places(value: Any, words: str = "", depth: int = 0) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    """Every place in plain values, the first of each list and all keys of each object, and how it is changed."""
    if depth > DEEPEST:
        return
    items: list[tuple[Any, Any]] = []
    if isinstance(value, Mapping):
        items = list(value.items())
    elif isinstance(value, list) and value:
        items = [(0, value[0])]
    for key, inner in items:
        name = f"{words}.{key}" if words else str(key)
        yield name, _exchange(value, key)
        for deeper, change in places(inner, name, depth + 1):
            yield deeper, _inside(value, key, change)


def _exchange(value: Any, key: Any) -> Callable[[Any], Any]:
    def change(other: Any) -> Any:
        if isinstance(value, list):
            return value[1:] if other is AWAY else [other, *value[1:]]
        rest = {name: inner for name, inner in value.items() if name != key or other is not AWAY}
        return rest if other is AWAY else {**rest, key: other}

    return change


def _inside(value: Any, key: Any, change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def changed(other: Any) -> Any:
        if isinstance(value, list):
            return [change(other), *value[1:]]
        return {**value, key: change(other)}

    return changed


def outcomes(
    path: Path, ask: Callable[[], str], *, most: int = 400, whole: int = 8, left: tuple[str, ...] = ()
) -> dict[str, list[str]]:
    """What is said of a file as it is spoilt in each way, with the ways that lead to it; the file is mended then.

    most: about as many places inside it are spoilt
    whole: so many ways in which the file as a whole is spoilt
    left: ways that begin so are left out
    """
    raw, answers = path.read_bytes(), dict[str, list[str]]()
    ways = [(words, content) for words, content in spoilt(path) if not words.startswith(left)]
    step = max(1, -(-len(ways) // most))
    try:
        for words, content in [*ways[:whole], *ways[8::step]]:
            if content is None:
                path.unlink()
            else:
                path.write_bytes(content)
            answers.setdefault(ask(), []).append(words)
            path.write_bytes(raw)
    finally:
        path.write_bytes(raw)
    return answers
