"""What every verb returns: the result itself, with the tables that show it and the document that keeps it.

It prints as in a terminal, shows as HTML in a notebook, and becomes a data frame of pandas or polars.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from billboards.show.frames import table_html, to_pandas, to_polars
from billboards.show.table import Table

Value = TypeVar("Value")


@dataclass(frozen=True)
class Result(Generic[Value]):
    """A result that prints as tables, shows as HTML in a notebook, and turns into frames or a JSON document."""

    value: Value
    tables: tuple[Table, ...]
    document: Mapping[str, Any]

    def to_pandas(self, table: int = 0) -> Any:
        """One of the tables as a pandas data frame."""
        return to_pandas(self.tables[table])

    def to_polars(self, table: int = 0) -> Any:
        """One of the tables as a polars data frame."""
        return to_polars(self.tables[table])

    def _repr_html_(self) -> str:
        return "\n".join(map(table_html, self.tables))

    def __str__(self) -> str:
        import io

        from rich.console import Console

        from billboards.show.terminal import print_table

        text = io.StringIO()
        for table in self.tables:
            print_table(table, Console(file=text, width=120))
        return text.getvalue().rstrip()

    __repr__ = __str__
