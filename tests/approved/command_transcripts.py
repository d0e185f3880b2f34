"""What commands print, write and end with, in a folder of their own, as plain values to be compared."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from billboards.cli.main import main

#: Most lines that are kept of a stream or a file.
LINES = 100
#: What hangs on the machine, on the hour or on what else is installed, and the word for it.
CHANGING = (
    (re.compile(r"(\b(?:seconds|elapsed|took)\"?:? )\d[\d.e+-]*"), r"\1SOME"),
    (re.compile(r"\b\d+(\.\d+)? (s|ms|seconds)\b"), "SOME seconds"),
    (re.compile(r"\d[\d,.]*( texts?| outputs?)?( in)? (per|a|/) ?(second|s)\b"), r"SOME\1 per second"),
    (re.compile(r"\b[a-z2-7]{26}\b"), "IDENTITY"),
    # A ranking is named by its content and its hour; such a name may be of digits alone.
    (re.compile(r"(\branking |known: )[0-9a-f]{8,64}\b"), r"\1IDENTITY"),
    # Widths of columns hang on how fast it was, so blanks before and after go, too.
    (re.compile(r" *\b\d+(?=  while scoring)"), "  SOME"),
    (re.compile(r"(?<=instant) +\d+$", re.MULTILINE), "  SOME"),
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:PORT"),
    (re.compile(r"(version\"?[:=] ?\"?)\d+\.\d+[\w.+-]*"), r"\1VERSION"),
    (re.compile(r"\|(version|nltk|java|torch|transformers|numpy):[^|\s\"]+"), r"|\1:VERSION"),
)


#: Numbers with more digits than every processor agrees on.
LONG = re.compile(r"-?\d+\.\d{7,}(e[+-]\d+)?")


def plain_lines(text: str) -> list[str]:
    """Lines without what changes from run to run; of very many those at both ends."""
    text = LONG.sub(lambda number: f"{float(number[0]):.6g}", text)
    for pattern, word in CHANGING:
        text = pattern.sub(word, text)
    lines = [line.rstrip() for line in text.splitlines()]
    if len(lines) <= LINES:
        return lines
    return [*lines[: LINES - 20], f"… {len(lines) - LINES} lines …", *lines[-20:]]


def ran(capsys: pytest.CaptureFixture[str], command: str) -> dict[str, Any]:
    """One command as a shell would cut it: what it printed on both streams, and how it ended."""
    capsys.readouterr()
    try:
        code: Any = main(shlex.split(command))
    except SystemExit as ended:
        code = ended.code
    printed = capsys.readouterr()
    told: dict[str, Any] = {} if code == 0 else {"code": code}
    if printed.out.strip():
        told["out"] = printed_document(printed.out)
    if printed.err.strip():
        told["err"] = plain_lines(printed.err)
    return told


def printed_document(text: str) -> Any:
    """JSON as its values, anything else as its lines."""
    if text.lstrip().startswith(("{", "[")):
        try:
            return steady(json.loads(text))
        except ValueError:
            return plain_lines(text)
    return plain_lines(text)


def steady(value: Any) -> Any:
    """A document without what changes from run to run."""
    if isinstance(value, dict):
        return {
            key: "SOME" if key in MEASURED and part is not None and not holds_others(part) else steady(part)
            for key, part in value.items()
        }
    if isinstance(value, list | tuple):
        return [steady(part) for part in value]
    if isinstance(value, str):
        return "\n".join(plain_lines(value)) if "\n" not in value else plain_lines(value)
    return value


def holds_others(value: Any) -> bool:
    """Whether a value is more than a number, a text, or a few numbers."""
    return isinstance(value, dict) or (isinstance(value, list) and not all(isinstance(part, float) for part in value))


#: Keys of documents whose values are measured on this machine, or say when.
MEASURED = frozenset(
    {
        "created",
        "id",
        "changed",
        "opened",
        "closed",
        "withdrawn",
        "began",
        "ended",
        "answered_at",
        "expires",
        "first_at",
        "last_at",
        "joined",
    }
    | {"seconds", "elapsed", "per_second", "speed", "memory", "billboards_version", "python", "estimate"}
)


def all_ran(capsys: pytest.CaptureFixture[str], commands: str) -> dict[str, Any]:
    """Commands one after the other, a line each."""
    return {command: ran(capsys, command) for command in filter(None, map(str.strip, commands.splitlines()))}


def files_below(folder: Path, *, texts: Iterable[str] = ()) -> dict[str, Any]:
    """Every file of a folder by its path, with its lines where its ending is among `texts`."""
    told: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and ".billboards/" not in f"{name}/":
            told[name] = plain_lines(path.read_text("utf-8")) if path.suffix in tuple(texts) else "a file"
    return told
