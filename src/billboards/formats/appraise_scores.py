"""Score files of Appraise campaigns as judgments: direct assessment, or ESA's scores with spans (Kocmi et al., 2024).

A row gives an item's number, not its text. It is taken for the place of an instance on the board, from 1, and its
document must be that instance's, where the board knows documents: numbers that count within a batch are refused so.
Items that were spoiled on purpose to test annotators have texts that the board lacks; they are left out, and counted.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable
from io import StringIO
from pathlib import Path
from typing import Any

from billboards.board import Aggregate, Board, Dimension, Judgment
from billboards.formats.appraise import AppraiseAnswer, ErrorSpan, last_answers, read_appraise
from billboards.formats.base import one_generator
from billboards.importers.judgments import Given, JudgmentSource
from billboards.reading import Problems, refuse_errors, shown, whole_number

SCORE = Dimension("score", range=(0.0, 100.0), definition="The quality of the output as a whole, from 0 to 100.")
#: Kinds of items that stand for the system's own output.
OWN = frozenset({"TGT", "REF"})


def read(path: Path, board: Board, campaign: str) -> JudgmentSource:
    """Scores with their spans, one for each row that judges a segment."""
    problems = Problems()
    rows = [answer for answer in last_answers(read_appraise(path)) if not answer.is_document]
    own = [answer for answer in rows if answer.kind in OWN]
    given = tuple(_given(path, answer, board, campaign, problems) for answer in own)
    refuse_errors(problems)
    left_out = len(rows) - len(own)
    notes = (f"{path}: left out {left_out} answers to items that test annotators",) if left_out else ()
    about = f"Campaign {campaign}: scores of an Appraise campaign."
    aggregate = Aggregate(campaign, (SCORE.name,), (campaign,))
    return JudgmentSource(str(path), (SCORE,), (aggregate,), given, about, complete=False, notes=notes)


def _given(path: Path, answer: AppraiseAnswer, board: Board, campaign: str, problems: Problems) -> Given:
    number = whole_number(answer.item) or 0
    segment = answer.item
    if 1 <= number <= len(board.instances):
        instance = board.instances[number - 1]
        segment, document = instance.id, answer.document.partition("#")[0]
        if instance.document is not None and document != instance.document:
            problems.error(
                str(path),
                answer.line,
                f"item {number} is of document {shown(document)}, but instance {number} of the board of "
                f"{shown(instance.document)}; item numbers must count the board's instances",
            )
    details: dict[str, Any] = {"spans": [_span(span) for span in answer.spans]} if answer.spans else {}
    if not math.isnan(answer.ended):
        details["time"] = answer.ended
    return Given(
        answer.line, answer.system, segment, {SCORE.name: answer.score}, campaign, answer.annotator, details=details
    )


def _span(span: ErrorSpan) -> dict[str, Any]:
    place = {"missing": True} if span.start is None else {"start": span.start, "end": span.end}
    return {**place, "severity": span.severity, **({"category": span.error_type} if span.error_type else {})}


def write(board: Board, judgments: Iterable[Judgment]) -> str:
    """Rows as Appraise writes them; of several dimensions, the first is the score."""
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for judgment in judgments:
        if judgment.values:
            writer.writerow(_row(board, judgment))
    return out.getvalue()


def _row(board: Board, judgment: Judgment) -> tuple[Any, ...]:
    generator = one_generator(judgment, "appraise")
    place = board.position[judgment.instance]
    name, value = next(iter(judgment.values.items()))
    slope, intercept = board.dimensions[name].affine()
    score = slope * value + intercept
    document = board.instances[place].document or board.name
    time = judgment.details.get("time")
    ended = time if isinstance(time, int | float) else math.nan
    spans = json.dumps([_written(span) for span in judgment.details.get("spans", ())])
    languages = (board.input_language or "und", board.output_language or "und")
    return (
        judgment.annotator or "", generator, place + 1, judgment.details.get("test", "TGT"), *languages, score,
        f"{document}#{generator}", False, spans, ended, ended,
    )  # fmt: skip


def _written(span: dict[str, Any]) -> dict[str, Any]:
    is_missing = span.get("missing") or "start" not in span
    start, end = ("missing", "missing") if is_missing else (span["start"], span["end"])
    return {"start_i": start, "end_i": end, "severity": span["severity"], "error_type": span.get("category")}
