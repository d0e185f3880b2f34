"""Reading text files as people really write them: BOM, CRLF, blank lines, and a line number for every mistake.

Lines end at `\\n` alone; the other characters that Python's `splitlines` takes for line ends occur inside real texts.
JSON is read more strictly than Python does by itself: a key that appears twice, a bare NaN and half a surrogate pair
are mistakes, because each of them would be lost or changed when the file is written again.
"""

from __future__ import annotations

import gzip
import io
import json
import tomllib
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from billboards.errors import Problem
from billboards.reading.values import shown, whole_number

__all__ = [
    "Problems",
    "json_lines",
    "numbered_lines",
    "read_bytes",
    "shown",
    "text_lines",
    "toml_document",
    "whole_number",
]

#: The most that a gzipped file may hold: a hundred times what the largest public set does.
MOST_UNPACKED = 1 << 32


class Problems(list[Problem]):
    """The mistakes found so far; with a `limit`, those of one file beyond it are counted, not listed."""

    def __init__(self, limit: int | None = None) -> None:
        super().__init__()
        self.limit = limit
        self._errors: Counter[str] = Counter()
        self._rest: dict[str, int] = {}

    def error(self, path: str, line: int | None, message: str) -> None:
        self._errors[path] += 1
        if self.limit is None or self._errors[path] <= self.limit:
            self.append(Problem(path, line, message))
        else:
            self._count_on(path, self._errors[path] - self.limit)

    def warn(self, path: str, line: int | None, message: str) -> None:
        self.append(Problem(path, line, message, "warning"))

    @property
    def errors(self) -> list[Problem]:
        return [problem for problem in self if problem.severity == "error"]

    def errors_in(self, path: str) -> int:
        """How many errors were found in one file, listed or not."""
        return self._errors[path]

    def _count_on(self, path: str, beyond: int) -> None:
        """Keep the one entry that stands for all of a file's errors beyond the limit."""
        rest = Problem(path, None, f"and {beyond} more mistakes in this file; mend those listed and check again")
        if path in self._rest:
            self[self._rest[path]] = rest
        else:
            self._rest[path] = len(self)
            self.append(rest)


def read_bytes(path: Path) -> bytes:
    """A file's bytes, unpacked when it is gzipped, as far as any data set goes."""
    if path.suffix != ".gz":
        return path.read_bytes()
    blocks, size = list[bytes](), 0
    with gzip.open(path) as file:
        while block := file.read(1 << 20):
            blocks.append(block)
            size += len(block)
            if size > MOST_UNPACKED:
                raise OSError(f"unpacks to more than {MOST_UNPACKED:,} bytes; unpack it yourself if it is meant to")
    return b"".join(blocks)


def numbered_lines(raw: bytes, name: str, problems: Problems, *, first: int = 1) -> Iterator[tuple[int, str]]:
    """The lines of a file with their numbers, without BOM and line ends; undecodable lines become problems.

    A file may come piece by piece; `first` is the number of a piece's first line.
    """
    if first == 1 and (raw.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in raw[:4]):
        problems.error(name, 1, "looks like UTF-16 or UTF-32; save the file as UTF-8")
        return
    # A file object finds one line after the other; `split` would hold all of them beside the file's bytes.
    for number, line in enumerate(io.BytesIO(raw.removeprefix(b"\xef\xbb\xbf") if first == 1 else raw), first):
        try:
            text = line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8")
        except UnicodeDecodeError as error:
            problems.error(name, number, f"not UTF-8 at byte {error.start + 1} of the line; save the file as UTF-8")
        else:
            yield number, text


def text_lines(path: Path, name: str, problems: Problems) -> list[str]:
    """All lines of a text file, one per instance; an unreadable file becomes a problem."""
    try:
        return [line for _, line in numbered_lines(read_bytes(path), name, problems)]
    except (OSError, EOFError, zlib.error) as error:
        problems.error(name, None, f"can't be read: {error}")
        return []


def json_lines(
    raw: bytes, name: str, problems: Problems, *, nan: bool = False, first: int = 1
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSON-lines file with their line numbers; `nan` admits a bare NaN, as some data sets write."""
    decode = (_WITH_NAN if nan else _STRICT).decode
    for number, line in numbered_lines(raw, name, problems, first=first):
        if not line.strip():
            continue
        try:
            value = decode(line)
            if "\\u" in line:
                _refuse_surrogates(value)
        except json.JSONDecodeError as error:
            problems.error(name, number, f"not JSON: {error.msg} at column {error.colno}{_cut_off(error, line)}")
        except RecursionError:
            problems.error(name, number, "not usable JSON: it is nested too deeply")
        except ValueError as error:
            problems.error(name, number, f"not usable JSON: {error}")
        else:
            if isinstance(value, dict):
                yield number, value
            else:
                problems.error(name, number, f"expected a JSON object, found {type(value).__name__}")


def toml_document(text: str) -> dict[str, Any]:
    """A TOML document; nesting and numbers that Python can't follow are mistakes of the text like any other."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError as error:
        raise tomllib.TOMLDecodeError("it is nested too deeply") from error
    except ValueError as error:
        raise tomllib.TOMLDecodeError(f"it holds a value that is none: {error}") from error


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the key {shown(twice)} appears twice in one object")
    return found


def _refuse_constant(text: str) -> float:
    raise ValueError(f"{text} is not a value; leave the field out where there is none")


def _refuse_surrogates(value: object) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = ord(error.object[error.start])
        raise ValueError(f"\\u{half:04x} is half of a character; write the pair or the character itself") from error


_STRICT = json.JSONDecoder(object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)
_WITH_NAN = json.JSONDecoder(object_pairs_hook=_unique_keys)


def _cut_off(error: json.JSONDecodeError, line: str) -> str:
    at_the_end = error.pos >= len(line.rstrip()) - 1 and error.msg != "Extra data"
    at_the_end |= error.msg.startswith("Unterminated string")
    return "; the line seems cut off" if at_the_end else ""
