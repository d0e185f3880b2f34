"""Rows of a table with named columns, from CSV, TSV, JSON lines or Parquet, each with the place it came from.

CSV and TSV are read as Python's csv module defines them: a cell that begins with a quotation mark ends with one, and
may hold delimiters and line ends. A row that is wider or narrower than the header is refused, never padded.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from billboards.errors import ImportRefused, MissingPart
from billboards.reading import Problems, json_lines, read_source, refuse_errors, shown

DELIMITERS = {".csv": ",", ".tsv": "\t"}
JSON_LINES = (".jsonl", ".ndjson")
PARQUET = (".parquet", ".pq")
Row = tuple[int, Mapping[str, Any]]


@dataclass(frozen=True)
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
    known = ", ".join((*DELIMITERS, *JSON_LINES, *PARQUET))
    raise ImportRefused(f"{path}: a table's name must end in one of {known}")


def _delimited(path: Path, delimiter: str, problems: Problems, numbered: bool) -> Table:
    raw = read_source(path)
    _check_encoding(raw, path)
    records = _records(raw, delimiter, str(path), problems)
    _, header = next(records, (1, []))
    if len(set(header)) < len(header) or not header or not all(name.strip() for name in header[numbered:]):
        problems.error(str(path), 1, f"columns must have names, all different; found {shown(header)}")
    refuse_errors(problems)
    ended = raw.endswith((b"\n", b"\r"))
    note = f"{path}: the last line has no line end; make sure that the file is complete"
    rows = _named_rows(records, header, str(path), problems)
    return Table(str(path), tuple(header), rows, () if ended else (note,))


def _named_rows(
    records: Iterable[tuple[int, list[str]]], header: list[str], path: str, problems: Problems
) -> Iterator[Row]:
    for line, cells in records:
        if len(cells) == len(header):
            yield line, dict(zip(header, cells, strict=True))
        else:
            problems.error(path, line, f"{len(cells)} cells where the first line names {len(header)} columns")


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
    return Table(str(path), tuple(columns), json_lines(raw, str(path), problems, nan=True))


def _parquet(path: Path) -> Table:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise MissingPart("reading Parquet needs pyarrow: pip install billboards[parquet]") from error
    try:
        table = parquet.read_table(io.BytesIO(read_source(path)))
        # Texts that are none would come out only when a row is read.
        table.validate(full=True)
    except (pyarrow.ArrowException, OSError) as error:
        raise ImportRefused(f"{path}: not a complete Parquet file: {error}") from error
    rows = (row for batch in table.to_batches(max_chunksize=10_000) for row in batch.to_pylist())
    return Table(str(path), tuple(table.column_names), enumerate(rows, 1))
