"""Tables as CSV, for spreadsheets and scripts: full precision, empty where a value is missing."""

from __future__ import annotations

import csv
import io

from billboards.reports.tables import Table, record_keys, records


def to_csv(table: Table) -> str:
    """A header of keys, then one line per row; every column of the table, shown or not."""
    text = io.StringIO()
    writer = csv.DictWriter(text, record_keys(table), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records(table))
    return text.getvalue()
