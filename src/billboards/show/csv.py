"""Tables as CSV, for spreadsheets and scripts: full precision, empty where a value is missing.

Names come from strangers, and a spreadsheet takes a cell that begins with = + - or @ for a formula. Such a text gets an
apostrophe before it, which spreadsheets don't show; JSON lines and Parquet hold it as it is.
"""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from billboards.show.table import Table, record_keys, records

#: What a cell begins with that a spreadsheet would compute.
FORMULAS = ("=", "+", "-", "@", "\t", "\r")
END = "\r\n"


def to_csv(table: Table) -> str:
    """A header of keys, then one line per row; every column of the table, shown or not."""
    return csv_text(record_keys(table), records(table))


def csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows under a header, without any text that would be a formula."""
    lines = itertools.chain([columns], ([row.get(column) for column in columns] for row in rows))
    return "".join(_line([plain(cell) for cell in cells]) for cells in lines)


def _line(cells: Sequence[Any]) -> str:
    """One line; a carriage return in a cell is put in quotes only by a writer whose lines end with one."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator=END).writerow(cells)
    return f"{text.getvalue().removesuffix(END)}\n"


def plain(value: Any) -> Any:
    """A value that no spreadsheet computes; numbers stay numbers, also where they came as a text."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULAS) and not _is_number(value) else value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
