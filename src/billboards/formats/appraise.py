"""Score files of Appraise, as its ESA, MQM and direct-assessment campaigns export them.

As judgments these are direct assessment, or ESA's scores with spans (Kocmi et al., 2024). A row gives an item's number,
not its text. It is taken for the place of an instance on the board, from 1, and its document must be that instance's,
where the board knows documents: numbers that count within a batch are refused so. Items that were spoiled on purpose to
test annotators have texts that the board lacks; they are left out, and counted.
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
from billboards.board.appraise_answers import (
    OWN,
    AppraiseAnswer,
    last_answers,
    read_appraise,
    span_details,
)
from billboards.board.judgment_sources import JudgmentSource, SourceJudgment
from billboards.formats._format import judgment_format, single_generator
from billboards.reading import Problems, refuse_errors, shown, whole_number

SCORE = Dimension("score", range=(0.0, 100.0), definition="The quality of the output as a whole, from 0 to 100.")


@judgment_format()
def appraise(path: Path, board: Board, campaign: str) -> JudgmentSource:
    """Score files of Appraise campaigns, ESA's error spans included.

    Scores with their spans, one for each row that judges a segment.
    """
    problems = Problems()
    rows = [answer for answer in last_answers(read_appraise(path)) if not answer.is_document]
    own = [answer for answer in rows if answer.kind in OWN]
    judgments = tuple(_judgment(path, answer, board, campaign, problems) for answer in own)
    refuse_errors(problems)
    left_out = len(rows) - len(own)
    notes = (f"{path}: left out {left_out} answers to items that test annotators",) if left_out else ()
    about = f"Campaign {campaign}: scores of an Appraise campaign."
    aggregate = Aggregate(campaign, (SCORE.name,), (campaign,))
    return JudgmentSource(
        path=str(path),
        dimensions=(SCORE,),
        aggregates=(aggregate,),
        judgments=judgments,
        about=about,
        complete=False,
        notes=notes,
    )


def _judgment(path: Path, answer: AppraiseAnswer, board: Board, campaign: str, problems: Problems) -> SourceJudgment:
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
    details: dict[str, Any] = {"spans": [span_details(span) for span in answer.spans]} if answer.spans else {}
    if not math.isnan(answer.ended):
        details["time"] = answer.ended
    return SourceJudgment(
        line=answer.line,
        system=answer.system,
        segment=segment,
        values={SCORE.name: answer.score},
        campaign=campaign,
        annotator=answer.annotator,
        details=details,
    )


@appraise.writer
def _write(board: Board, judgments: Iterable[Judgment]) -> str:
    """Rows as Appraise writes them; of several dimensions, the first is the score."""
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for judgment in judgments:
        if judgment.values:
            writer.writerow(_row(board, judgment))
    return out.getvalue()


def _row(board: Board, judgment: Judgment) -> tuple[Any, ...]:
    generator = single_generator(judgment, "appraise")
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
        judgment.annotator or "",
        generator,
        place + 1,
        judgment.details.get("test", "TGT"),
        *languages,
        score,
        f"{document}#{generator}",
        False,
        spans,
        ended,
        ended,
    )


def _written(span: dict[str, Any]) -> dict[str, Any]:
    is_missing = span.get("missing") or "start" not in span
    start, end = ("missing", "missing") if is_missing else (span["start"], span["end"])
    return {"start_i": start, "end_i": end, "severity": span["severity"], "error_type": span.get("category")}
