"""Text files, numbers, JSON, TOML and tables as people write them, read alike at every border.

Python's own `int` and `float` take more than people mean: digits of other scripts, `1_000`, blanks, `nan` and `inf`;
and its `isdigit` says yes to "²", which `int` then refuses. Here a number is written in decimal digits and is finite,
text is UTF-8, and JSON that can't be followed is a mistake of its text like any other. Reading goes on after a mistake:
each is added to `Problems` with its file and line.

Tables have named columns and come as CSV, TSV, JSON lines or Parquet. CSV and TSV are read as Python's csv module
defines them: a cell that begins with a quotation mark ends with one, and may hold delimiters and line ends. A row that
is wider or narrower than the header is refused, never padded. A CSV file whose first line has semicolons and no comma
is separated by semicolons.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import math
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from reprlib import Repr
from typing import Any, TypeGuard

from billboards.errors import ImportRefused, InvalidInput, MissingPart, Problem, RestOfProblems, count_problems

#: Digits of the largest whole number that is read from a text: what fits into 64 bits.
MOST_DIGITS = 18
#: No number needs more characters; a longer one is a mistake, or meant to hurt.
LONGEST = 400
#: The most that a gzipped file may hold: a hundred times what the largest public set does.
MOST_UNPACKED = 1 << 32
#: Bytes of the largest TOML document, where its reader allows no fewer, and the most parts of a dotted key.
MOST_TOML, MOST_KEY_PARTS = 16 * 2**20, 20
#: Bits of the largest whole number of a TOML document, as its specification has it, and of one in a message.
TOML_BITS, MOST_BITS_SHOWN = 63, 4096
#: How much of a file is looked at to tell whether it is text, and the characters that tell it.
BINARY_START = 8192
#: What some programs write before a text in UTF-8.
BOM = b"\xef\xbb\xbf"
_CONTROLS = bytes(sorted({*range(32), 127} - set(b"\t\n\v\f\r\x1b")))
DELIMITERS = {".csv": ",", ".tsv": "\t"}
#: What spreadsheets write between the cells of a .csv file where the comma is in their numbers.
SEMICOLON = ";"
JSON_LINES = (".jsonl", ".ndjson")
PARQUET = (".parquet", ".pq")
SPREADSHEETS = (".xlsx", ".xls", ".xlsm", ".ods", ".numbers")
Row = tuple[int, Mapping[str, Any]]
#: Controls but tabs and line ends, controls of the writing direction, and halves of a character.
_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


class _Shortened(Repr):
    """As `reprlib` has it, and of whole numbers that Python would not write out only how large they are."""

    def repr_int(self, x: int, level: int) -> str:
        if x.bit_length() > MOST_BITS_SHOWN:
            return f"a whole number of {x.bit_length():,} bits"
        return super().repr_int(x, level)


_shortened = _Shortened()
_shortened.maxstring = _shortened.maxother = 80


def whole_number(text: str) -> int | None:
    """The number that decimal digits write; None where there are others, or more than any position or count has."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS else None


def signed_number(text: str) -> int | None:
    """A whole number that may have a sign before its digits."""
    sign, digits = (text[:1], text[1:]) if text[:1] in ("+", "-") else ("", text)
    number = whole_number(digits)
    return -number if number is not None and sign == "-" else number


def decimal_number(text: str) -> float | None:
    """The finite number that a text writes with a point or an exponent; None where it writes none."""
    if len(text) > LONGEST or _DECIMAL.fullmatch(text) is None:
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a value read from TOML or JSON is a finite number that a float can hold; true and false are not."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def shown(value: object) -> str:
    """A value as a message shows it: never longer than a line, however large or deep it is."""
    return _shortened.repr(value)


def unseen_sign(text: str) -> str | None:
    """The first sign of a text that nobody sees, such as `U+202E`, which turns what follows; line ends are none."""
    match = _UNSEEN.search(text)
    return f"U+{ord(match[0]):04X}" if match else None


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
        message = f"and {beyond} more mistakes in this file; mend those listed and check again"
        rest = RestOfProblems(path, None, message, mistakes=beyond)
        if path in self._rest:
            self[self._rest[path]] = rest
        else:
            self._rest[path] = len(self)
            self.append(rest)


def refuse_errors(problems: Problems) -> None:
    """Raise with the first mistakes of a source, if there are any.

    problems: what was collected while reading

    Example:

        refuse_errors(problems)
    """
    if not problems.errors:
        return
    first = "; ".join(str(problem).replace(": error:", ":") for problem in problems.errors[:3])
    more = count_problems(problems.errors) - 3
    raise ImportRefused(first + (f"; and {more} more mistakes like these" if more > 0 else ""))


def read_bytes(path: Path, *, most: int | None = None) -> bytes:
    """A file's bytes, unpacked when it is gzipped, as far as any data set goes, or as `most` allows."""
    if path.suffix != ".gz":
        return path.read_bytes()
    most = MOST_UNPACKED if most is None else most
    blocks, size = list[bytes](), 0
    with gzip.open(path) as file:
        while block := file.read(1 << 20):
            blocks.append(block)
            size += len(block)
            if size > most:
                raise OSError(f"unpacks to more than {most:,} bytes; unpack it yourself if it is meant to")
    return b"".join(blocks)


def read_source(path: Path, *, most: int | None = None) -> bytes:
    """A source file's bytes, unpacked when gzipped; an absent, unreadable or empty file is refused.

    path: the file
    most: the most bytes that it may have, unpacked; by default any number

    Example:

        read_source(source / "judgments.csv.gz")
    """
    try:
        raw = read_bytes(path, most=most)
    except FileNotFoundError as error:
        raise ImportRefused(f"{path}: no such file; is the path right?") from error
    except (OSError, EOFError, zlib.error) as error:
        raise ImportRefused(f"{path}: can't be read: {error}; fetch the file again") from error
    if not raw:
        raise ImportRefused(f"{path}: is empty; fetch the file again")
    return raw


def numbered_lines(raw: bytes, name: str, problems: Problems, *, first: int = 1) -> Iterator[tuple[int, str]]:
    """The lines of a file with their numbers, without BOM and line ends; undecodable lines become problems.

    A file may come piece by piece; `first` is the number of a piece's first line.
    """
    if first == 1 and (raw.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in raw[:4]):
        problems.error(name, 1, "looks like UTF-16 or UTF-32; save the file as UTF-8")
        return
    if first == 1 and is_binary(raw):
        problems.error(name, None, "is not a text file; was another one meant?")
        return
    # A file object finds one line after the other; `split` would hold all of them beside the file's bytes.
    for number, line in enumerate(io.BytesIO(raw.removeprefix(BOM) if first == 1 else raw), first):
        try:
            text = line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8")
        except UnicodeDecodeError as error:
            problems.error(name, number, f"not UTF-8 at byte {error.start + 1} of the line; save the file as UTF-8")
        else:
            yield number, text


def text_lines(path: Path, *, raw: bytes | None = None) -> list[str]:
    """The texts of a file with one on each line, read as sacreBLEU reads it: only a newline ends a line, and blanks at
    the end of a line (a carriage return, say) don't count; a byte-order mark is a character of the first line.

    raw: the file's bytes, where they were read already.
    """
    if raw is None:
        try:
            raw = read_bytes(path)
        except FileNotFoundError as error:
            raise InvalidInput(f"{path}: no such file") from error
        except (OSError, EOFError, zlib.error) as error:
            raise InvalidInput(f"{path}: can't be read: {getattr(error, 'strerror', None) or error}") from error
    problems = Problems()
    lines = [text.rstrip() for _, text in numbered_lines(raw, str(path), problems)]
    if problems.errors:
        first = problems.errors[0]
        where = f"{first.path}:{first.line}" if first.line else first.path
        raise InvalidInput(f"{where}: {first.message}")
    if not lines:
        raise InvalidInput(f"{path}: is empty; it needs one text on each line")
    if raw.startswith(BOM):
        lines[0] = f"\ufeff{lines[0]}".rstrip()
    return lines


def is_binary(raw: bytes) -> bool:
    """Whether bytes are no text in any encoding that extends ASCII: they begin with controls that no text holds."""
    start = raw[:BINARY_START]
    controls = len(start) - len(start.translate(None, _CONTROLS))
    # A single stray control is a mistake on its line.
    return start.count(b"\0") > 1 or controls > max(len(start) / 20, 2)


@cache
def published_digests() -> frozenset[str]:
    """Digests of files as their publishers have them, as the catalogue of public boards lists them."""
    from importlib import resources

    folder = resources.files("billboards") / "catalogue" / "digests"
    lists = (file.read_text(encoding="utf-8") for file in folder.iterdir() if file.name.endswith(".tsv"))
    return frozenset(line.split("\t")[1] for text in lists for line in text.splitlines() if line.count("\t") > 1)


def lacks_line_end(raw: bytes) -> bool:
    """Whether a text may be cut off: it ends without a line end, and is no published file, of which some end so."""
    if raw.endswith((b"\n", b"\r")):
        return False
    return hashlib.sha256(raw).hexdigest() not in published_digests()


def check_ended(raw: bytes, name: str, problems: Problems) -> None:
    """A last line without its end may be half a number or half a sentence, which nothing else would show."""
    if not raw.endswith(b"\n"):
        line = raw.count(b"\n") + 1
        problems.error(name, line, "the last line has no line end, so the file may be cut off; fetch it again")


def json_value(text: str | bytes) -> Any:
    """What a JSON text says; a `ValueError` where it says nothing that Python can follow."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def json_lines(
    raw: bytes, name: str, problems: Problems, *, nan: bool = False, first: int = 1, longest: int | None = None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSON-lines file with their line numbers; `nan` admits a bare NaN, as some data sets write.

    Of a line of more than `longest` characters nothing is read but its length.

    raw: the file's bytes
    name: what the file is called in mistakes
    problems: where mistakes are collected
    nan: admit a bare NaN
    first: the number of the first line
    longest: the most characters of a line that is read

    Example:

        for line, item in json_lines(read_source(path), str(path), problems): ...
    """
    decode = (_WITH_NAN if nan else _STRICT).decode
    for number, line in numbered_lines(raw, name, problems, first=first):
        if longest is not None and len(line) > longest:
            problems.error(name, number, f"has {len(line):,} characters; at most {longest:,} are read")
            continue
        if not line.strip():
            continue
        try:
            value = decode(line)
            if "\\u" in line:
                refuse_half_characters(value)
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


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    item = dict(pairs)
    if len(item) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the key {shown(twice)} appears twice in one object")
    return item


def _refuse_constant(text: str) -> float:
    raise ValueError(f"{text} is not a value; leave the field out where there is none")


_STRICT = json.JSONDecoder(object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)
_WITH_NAN = json.JSONDecoder(object_pairs_hook=_unique_keys)


def refuse_half_characters(value: object) -> None:
    """Raise `ValueError` where a value of JSON holds half of a character, which no file and no database takes."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = ord(error.object[error.start])
        raise ValueError(f"\\u{half:04x} is half of a character; write the pair or the character itself") from error


def _cut_off(error: json.JSONDecodeError, line: str) -> str:
    at_the_end = error.pos >= len(line.rstrip()) - 1 and error.msg != "Extra data"
    at_the_end |= error.msg.startswith("Unterminated string")
    return "; the line seems cut off" if at_the_end else ""


#: What a TOML document is made of, as far as keys go: comments, texts, bare words, the dots between parts of a key. A
#: text of several lines may have two quotation marks of its own before the three that end it. A quotation mark that
#: begins no text is where TOML itself stops.
_TOML_TOKENS = re.compile(
    r"""(?P<comment>\#[^\n]*+)
      | (?P<part>\"{3}(?:[^"\\]|\\.|"(?!""))*+\"{3,5}+ | '{3}(?:[^']|'(?!''))*+'{3,5}+
          | "(?!"")(?:[^"\\\n]|\\.)*+" | '(?!'')[^'\n]*+' | [A-Za-z0-9_+-]++)
      | (?P<dot>\.)
      | (?P<stop>["'])
      | (?P<other>[^.\ \t])""",
    re.VERBOSE | re.DOTALL,
)
#: A whole number as TOML writes it, with as many decimal digits as Python reads.
_WHOLE_NUMBER = re.compile(
    r"[+-]?[1-9](_?\d){,4000}|0x[\dA-Fa-f](_?[\dA-Fa-f])*|0o[0-7](_?[0-7])*|0b[01](_?[01])*", re.ASCII
)


def toml_document(text: str, *, most: int = MOST_TOML) -> dict[str, Any]:
    """A TOML document of at most so many bytes; what Python can't follow is a mistake of the text like any other.

    Size and keys are looked at before anything is read: the memory that a dotted key takes grows with the square of
    its parts, so that a few bytes could fill the machine.
    """
    import tomllib

    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    if size > most:
        raise tomllib.TOMLDecodeError(f"it has {size:,} bytes; at most {most:,} are read")
    if line := _line_of_long_key(text):
        raise tomllib.TOMLDecodeError(f"the key on line {line} has more than {MOST_KEY_PARTS} parts")
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError as error:
        raise tomllib.TOMLDecodeError("it is nested too deeply") from error
    except ValueError as error:
        raise tomllib.TOMLDecodeError(f"it holds a value that is none: {error}") from error
    # Python reads as many hexadecimal digits as there are, and can then not write the number out.
    if (bits := max(map(int.bit_length, _whole_numbers(document)), default=0)) > TOML_BITS:
        line = _line_of_large_number(text)
        place = "" if line is None else f" (at line {line})"
        raise tomllib.TOMLDecodeError(f"it holds a whole number of {bits:,} bits; at most {TOML_BITS} are read{place}")
    return document


def _whole_numbers(document: object) -> Iterator[int]:
    """All whole numbers of a document, however deep they lie."""
    left = [document]
    while left:
        value = left.pop()
        if isinstance(value, dict):
            left += value.values()
        elif isinstance(value, list):
            left += value
        elif isinstance(value, int):
            yield value


def _line_of_large_number(text: str) -> int | None:
    """The line of the first whole number of too many bits; a key that reads as one passes for it."""
    for token in _TOML_TOKENS.finditer(text):
        if _WHOLE_NUMBER.fullmatch(part := token["part"] or "") and int(part, 0).bit_length() > TOML_BITS:
            return text.count("\n", 0, token.start()) + 1
    return None


def _line_of_long_key(text: str) -> int | None:
    """The line of the first key of too many parts; up to the first mistake, parts are told as TOML tells them."""
    parts, dotted = 0, False
    for token in _TOML_TOKENS.finditer(text):
        match token.lastgroup:
            case "part":
                parts = parts + 1 if dotted else 1
                dotted = False
            case "dot":
                dotted = True
            case "stop":
                return None
            case _:
                parts, dotted = 0, False
        if parts > MOST_KEY_PARTS:
            return text.count("\n", 0, token.start()) + 1
    return None


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """A file's columns, and its rows to be read once; a row's number is its first line, or its place in Parquet."""

    path: str
    columns: tuple[str, ...]
    rows: Iterable[Row]
    notes: tuple[str, ...] = ()


def read_table(path: Path, problems: Problems, *, numbered: bool = False) -> Table:
    """The table in a file, whose format its name tells; mistakes in rows become problems as they are read.

    `numbered` admits a first column without a name, as R writes the numbers of rows.
    """
    suffix = (path.with_suffix("") if path.suffix == ".gz" else path).suffix.lower()
    if suffix in DELIMITERS:
        return _delimited(path, DELIMITERS[suffix], problems, numbered)
    if suffix in JSON_LINES:
        return _json_lines(path, problems)
    if suffix in PARQUET:
        return _parquet(path)
    if suffix in SPREADSHEETS:
        raise ImportRefused(
            f"{path}: is a spreadsheet; save the sheet as CSV in UTF-8, with commas, and give that file"
        )
    endings = ", ".join((*DELIMITERS, *JSON_LINES, *PARQUET))
    raise ImportRefused(
        f"{path}: a table's name must end in one of {endings}; plain text files are for `billboards import text`"
    )


def _delimited(path: Path, delimiter: str, problems: Problems, numbered: bool) -> Table:
    raw = read_source(path)
    _check_encoding(raw, path)
    records = _records(raw, delimiter, str(path), problems)
    _, header = next(records, (1, []))
    notes = list[str]()
    if lacks_line_end(raw):
        notes.append(f"{path}: the last line has no line end; make sure that the file is complete")
    if len(header) == 1 and SEMICOLON in header[0]:
        records = _records(raw, SEMICOLON, str(path), problems)
        _, header = next(records, (1, []))
        notes.append(f"{path}: its columns are separated by semicolons")
    else:
        _check_delimiter(header, delimiter, path)
    if len(set(header)) < len(header) or not header or not all(name.strip() for name in header[numbered:]):
        problems.error(str(path), 1, f"columns must have names, all different; found {shown(header)}")
    refuse_errors(problems)
    rows = _named_rows(records, header, str(path), problems)
    return Table(path=str(path), columns=tuple(header), rows=rows, notes=tuple(notes))


def _named_rows(
    records: Iterable[tuple[int, list[str]]], header: list[str], path: str, problems: Problems
) -> Iterator[Row]:
    for line, cells in records:
        if len(cells) == len(header):
            yield line, dict(zip(header, cells, strict=True))
        else:
            problems.error(path, line, f"{len(cells)} cells where the first line names {len(header)} columns")


def _check_delimiter(header: Sequence[str], delimiter: str, path: Path) -> None:
    """Refuse a single name with other delimiters in it: a table of tabs that is called .csv, or the other way round."""
    if len(header) != 1:
        return
    others = {"\t": "tabs", ",": "commas"}
    for other in sorted(others.keys() - {delimiter}):
        if other in header[0]:
            raise ImportRefused(
                f"{path}:1: the columns lie between {others[other]}, where {others[delimiter]} are read; save the file "
                "as .csv with commas and decimal points, or as .tsv with tabs"
            )


def _check_encoding(raw: bytes, path: Path) -> None:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ImportRefused(f"{path}:{line}: not UTF-8; save the file as UTF-8") from error


def _records(raw: bytes, delimiter: str, path: str, problems: Problems) -> Iterator[tuple[int, list[str]]]:
    csv.field_size_limit(2**31 - 1)
    # Decoded as it is read: a large table's text beside its bytes would take several times their memory.
    text = io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8-sig", newline="")
    reader = csv.reader(text, delimiter=delimiter, strict=True)
    line = 1
    try:
        for cells in reader:
            if cells:
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        problems.error(path, line, f"can't be read as a table: {error}; quotation marks inside a cell must be doubled")


def _json_lines(path: Path, problems: Problems) -> Table:
    """Lines are read twice, first for their keys, so that a long file never lies in memory as objects."""
    raw = read_source(path)
    columns = dict.fromkeys(key for _, item in json_lines(raw, str(path), problems, nan=True) for key in item)
    refuse_errors(problems)
    return Table(path=str(path), columns=tuple(columns), rows=json_lines(raw, str(path), problems, nan=True))


def _parquet(path: Path) -> Table:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise MissingPart(
            "reading Parquet needs pyarrow, which is not installed; install it with `pip install 'billboards[parquet]'`"
        ) from error
    try:
        table = parquet.read_table(io.BytesIO(read_source(path)))
        # Texts that are none would come out only when a row is read.
        table.validate(full=True)
    except (pyarrow.ArrowException, OSError) as error:
        raise ImportRefused(f"{path}: not a complete Parquet file: {error}") from error
    rows = (row for batch in table.to_batches(max_chunksize=10_000) for row in batch.to_pylist())
    return Table(path=str(path), columns=tuple(table.column_names), rows=enumerate(rows, 1))


def read_columns(path: Path, header: Sequence[str], problems: Problems) -> list[tuple[int, list[str]]]:
    """The lines below a header, cells separated by blanks; lines of another width become problems.

    path: the file
    header: the names that its first line must have
    problems: where mistakes are collected

    Example:

        rows = read_columns(path, ("SYS", "SCORE"), problems)
    """
    raw = read_source(path)
    lines = ((number, line.split()) for number, line in numbered_lines(raw, str(path), problems) if line.strip())
    _, columns = next(lines, (0, []))
    if columns != list(header):
        problems.error(str(path), 1, f"the first line must read {' '.join(header)!r}; found {shown(' '.join(columns))}")
        return []
    check_ended(raw, str(path), problems)
    rows = list(lines)
    if not rows:
        problems.error(str(path), 1, "holds nothing below its first line; fetch the file again")
    for number, cells in rows:
        if len(cells) != len(header):
            problems.error(str(path), number, f"{len(cells)} columns where {len(header)} are needed")
    return [(number, cells) for number, cells in rows if len(cells) == len(header)]


def read_number(text: str, what: str, where: str, line: int | None, problems: Problems) -> float:
    """A number from a file; NaN where the source says there is none.

    text: what is written
    what: what the number is, as "score"
    where, line: the file and the line, for the mistake
    problems: where mistakes are collected

    Example:

        read_number(cells["score"], "score", str(path), line, problems)
    """
    try:
        value = float(text)
    except ValueError:
        value = math.nan if text.strip().lower() in ("", "none") else math.inf
    if math.isinf(value) or "_" in text:  # Python would read 1_000
        hint = "; write a point where it has a comma" if _DECIMAL_COMMA.fullmatch(text.strip()) else ""
        problems.error(where, line, f"{what} {shown(text)} is not a finite number{hint}")
    return value


def some(names: Iterable[str], most: int = 5) -> str:
    """The first few names, and how many more there are."""
    every = list(names)
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more
