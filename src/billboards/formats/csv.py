"""Judgments as one plain table: a row for each value that a person gave.

    instance,generator,annotator,campaign,dimension,value,prefers,test,time,template,spans

Columns after `value` may be absent or empty. It is what a spreadsheet or a data frame wants, and it holds everything
that a board holds, comparisons too: several generators stand with a bar between them, the preferred ones as well.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from billboards.board import Aggregate, Board, Dimension, Judgment
from billboards.board.judgment_sources import Given, JudgmentSource
from billboards.formats._format import need_columns, read_delimited, say, write_delimited
from billboards.reading import Problems, read_number, refuse_errors

NEEDED = ("instance", "generator", "dimension", "value")
COLUMNS = (
    "instance",
    "generator",
    "annotator",
    "campaign",
    "dimension",
    "value",
    "prefers",
    "test",
    "time",
    "template",
    "spans",
)
BETWEEN = " | "


def read(path: Path, board: Board, campaign: str) -> JudgmentSource:
    """The values in a table; dimensions that the board does not declare are taken as they are."""
    problems = Problems()
    rows = list(read_delimited(path, ","))
    need_columns(path, rows[0][1] if rows else (), NEEDED, "table of judgments")
    given = tuple(one for line, row in rows if (one := _given(path, line, row, campaign, problems)) is not None)
    refuse_errors(problems)
    names = dict.fromkeys(name for one in given for name in one.values)
    dimensions = tuple(board.dimensions.get(name, Dimension(name)) for name in names)
    aggregate = Aggregate(campaign, tuple(names), (campaign,))
    about = f"Campaign {campaign}: read from a table of judgments."
    return JudgmentSource(str(path), dimensions, (aggregate,), _joined(given), about, complete=False)


def _given(path: Path, line: int, row: dict[str, str], campaign: str, problems: Problems) -> Given | None:
    if BETWEEN.strip() in row["generator"]:
        say(problems, path, line, "compares outputs, which a table can't bring to a board; use a board folder's lines")
        return None
    value = read_number(row["value"], row["dimension"], str(path), line, problems)
    details: dict[str, Any] = {key: row[key] for key in ("test", "template") if row.get(key)}
    if row.get("time"):
        details["time"] = read_number(row["time"], "time", str(path), line, problems)
    if row.get("spans"):
        details["spans"] = _spans(path, line, row["spans"], problems)
    values = {} if math.isnan(value) else {row["dimension"]: value}
    annotator = row.get("annotator") or None
    return Given(line, row["generator"], row["instance"], values, campaign, annotator, details=details)


def _spans(path: Path, line: int, written: str, problems: Problems) -> list[Any]:
    try:
        found = json.loads(written)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list):
        say(problems, path, line, "spans must be a JSON list")
        return []
    return found


def _joined(given: Iterable[Given]) -> tuple[Given, ...]:
    """One judgment for all dimensions that an annotator gave an output at one time."""
    joined: dict[tuple[Any, ...], Given] = {}
    for one in given:
        key = (one.system, one.segment, one.annotator, json.dumps(one.details, sort_keys=True))
        first = joined.get(key)
        if first is None or one.values.keys() & first.values.keys():
            # A second value on the same dimension stays a judgment of its own; laying it names it as given twice.
            joined[(*key, one.line) if first else key] = one
        else:
            joined[key] = Given(
                first.line, one.system, one.segment, {**first.values, **one.values}, one.campaign, one.annotator,
                details=one.details,
            )  # fmt: skip
    return tuple(joined.values())


def write(board: Board, judgments: Iterable[Judgment]) -> str:  # noqa: ARG001 - the contract's; a table quotes no text
    """A row for every value, or one without value where only a preference or spans were given."""
    return write_delimited(COLUMNS, (row for one in judgments for row in _rows(one)), ",")


def _rows(judgment: Judgment) -> Iterator[dict[str, Any]]:
    details = judgment.details
    prefers = details.get("prefers")
    common = {
        "instance": judgment.instance,
        "generator": BETWEEN.join(judgment.outputs),
        "annotator": judgment.annotator or "",
        "campaign": judgment.campaign or "",
        "prefers": BETWEEN.join([prefers] if isinstance(prefers, str) else prefers or ()),
        **{key: details.get(key, "") for key in ("test", "time", "template")},
        "spans": json.dumps(details["spans"]) if "spans" in details else "",
    }
    for dimension, value in judgment.values.items() or (("", ""),):
        yield {**common, "dimension": dimension, "value": value}
