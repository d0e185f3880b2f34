"""Judgments as one plain table: a row for each value that a person gave.

    instance,generator,annotator,campaign,dimension,value,prefers,test,time,template,spans

Columns after `value` may be absent or empty. It is what a spreadsheet or a data frame wants, and it holds everything
that a board holds, comparisons too: several generators stand with a bar between them, the preferred ones as well.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from billboards.board import Board, Judgment
from billboards.board.judgment_sources import JudgmentSource, SourceJudgment
from billboards.formats._format import judgment_format, read_delimited, write_delimited
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


@judgment_format()
def csv(path: Path, board: Board, campaign: str) -> JudgmentSource:
    """A plain table, a row for each value; holds everything.

    The values in a table; dimensions that the board does not declare are taken as they are.
    """
    problems = Problems()
    rows = read_delimited(path, ",", NEEDED, "table of judgments")
    judgments = tuple(
        judgment for line, row in rows if (judgment := _judgment(path, line, row, campaign, problems)) is not None
    )
    refuse_errors(problems)
    about = f"Campaign {campaign}: read from a table of judgments."
    return JudgmentSource.of_campaign(path, board, campaign, _joined(judgments), about)


def _judgment(path: Path, line: int, row: dict[str, str], campaign: str, problems: Problems) -> SourceJudgment | None:
    if BETWEEN.strip() in row["generator"]:
        problems.error(
            str(path), line, "compares outputs, which a table can't bring to a board; use a board folder's lines"
        )
        return None
    value = read_number(row["value"], row["dimension"], str(path), line, problems)
    details: dict[str, Any] = {key: row[key] for key in ("test", "template") if row.get(key)}
    if row.get("time"):
        details["time"] = read_number(row["time"], "time", str(path), line, problems)
    if row.get("spans"):
        details["spans"] = _spans(path, line, row["spans"], problems)
    values = {} if math.isnan(value) else {row["dimension"]: value}
    annotator = row.get("annotator") or None
    return SourceJudgment(
        line=line,
        system=row["generator"],
        segment=row["instance"],
        values=values,
        campaign=campaign,
        annotator=annotator,
        details=details,
    )


def _spans(path: Path, line: int, written: str, problems: Problems) -> list[Any]:
    try:
        spans = json.loads(written)
    except (ValueError, RecursionError):
        spans = None
    if not isinstance(spans, list):
        problems.error(str(path), line, "spans must be a JSON list")
        return []
    return spans


def _joined(judgments: Iterable[SourceJudgment]) -> tuple[SourceJudgment, ...]:
    """One judgment for all dimensions that an annotator gave an output at one time."""
    joined: dict[tuple[Any, ...], SourceJudgment] = {}
    for judgment in judgments:
        key = (judgment.system, judgment.segment, judgment.annotator, json.dumps(judgment.details, sort_keys=True))
        first = joined.get(key)
        if first is None or judgment.values.keys() & first.values.keys():
            # A second value on the same dimension stays a judgment of its own; laying it names it as given twice.
            joined[(*key, judgment.line) if first else key] = judgment
        else:
            joined[key] = replace(first, values={**first.values, **judgment.values})
    return tuple(joined.values())


@csv.writer
def _write(board: Board, judgments: Iterable[Judgment]) -> str:  # noqa: ARG001 - the contract's; a table quotes no text
    """A row for every value, or one without value where only a preference or spans were given."""
    return write_delimited(COLUMNS, (row for judgment in judgments for row in _rows(judgment)), ",")


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
