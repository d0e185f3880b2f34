"""Reading text files as people really write them: BOM, CRLF, blank lines, and a line number for every mistake.

Lines end at `\\n` alone; the other characters that Python's `splitlines` takes for line ends occur inside real texts.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from billboards.errors import Problem


class Problems(list[Problem]):
    """The mistakes found so far."""

    def error(self, path: str, line: int | None, message: str) -> None:
        self.append(Problem(path, line, message))

    def warn(self, path: str, line: int | None, message: str) -> None:
        self.append(Problem(path, line, message, "warning"))

    @property
    def errors(self) -> list[Problem]:
        return [problem for problem in self if problem.severity == "error"]


def read_bytes(path: Path) -> bytes:
    """A file's bytes, unpacked when it is gzipped."""
    raw = path.read_bytes()
    return gzip.decompress(raw) if path.suffix == ".gz" else raw


def numbered_lines(raw: bytes, name: str, problems: Problems) -> Iterator[tuple[int, str]]:
    """The lines of a file with their numbers, without BOM and line ends; undecodable lines become problems."""
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    lines = raw.split(b"\n")
    if lines and not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines, 1):
        try:
            yield number, line.removesuffix(b"\r").decode("utf-8")
        except UnicodeDecodeError as error:
            problems.error(name, number, f"not UTF-8 at byte {error.start + 1} of the line; save the file as UTF-8")


def text_lines(path: Path, name: str, problems: Problems) -> list[str]:
    """All lines of a text file, one per instance; an unreadable file becomes a problem."""
    try:
        return [line for _, line in numbered_lines(read_bytes(path), name, problems)]
    except (OSError, EOFError, zlib.error) as error:
        problems.error(name, None, f"can't be read: {error}")
        return []


def json_lines(raw: bytes, name: str, problems: Problems, *, nan: bool = False) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSON-lines file with their line numbers; `nan` admits a bare NaN, as some data sets write."""
    for number, line in numbered_lines(raw, name, problems):
        if not line.strip():
            continue
        try:
            value = json.loads(line, parse_constant=None if nan else _refuse_constant)
        except json.JSONDecodeError as error:
            problems.error(name, number, f"not JSON: {error.msg} at column {error.colno}{_cut_off(error, line)}")
        except (ValueError, RecursionError) as error:
            problems.error(name, number, f"not usable JSON: {error}")
        else:
            if isinstance(value, dict):
                yield number, value
            else:
                problems.error(name, number, f"expected a JSON object, found {type(value).__name__}")


def _refuse_constant(text: str) -> float:
    raise ValueError(f"{text} is not a value; leave the field out where there is none")


def _cut_off(error: json.JSONDecodeError, line: str) -> str:
    return "; the line seems cut off" if error.pos >= len(line.rstrip()) - 1 else ""
