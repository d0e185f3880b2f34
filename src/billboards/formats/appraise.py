"""Score files of Appraise, as its ESA, MQM and direct-assessment campaigns export them.

A CSV file without a header, one answer a line: annotator, system, item, kind of item, source and target language,
score, document, whether the whole document is meant, error spans as JSON, and when the answer was begun and given. An
item may be answered again; every answer is kept, in the file's order, and `last_answers` picks the ones that count.

As judgments these are direct assessment, or ESA's scores with spans (Kocmi et al., 2024). A row gives an item's number,
not its text. It is taken for the place of an instance on the board, from 1, and its document must be that instance's,
where the board knows documents: numbers that count within a batch are refused so. Items that were spoiled on purpose to
test annotators have texts that the board lacks; they are left out, and counted.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from billboards.board import Aggregate, Board, Dimension, Judgment
from billboards.board.judgment_sources import JudgmentSource, SourceJudgment
from billboards.errors import ImportRefused
from billboards.formats._format import judgment_format, single_generator
from billboards.reading import Problems, read_source, refuse_errors, shown, whole_number

#: Direct assessments have no spans, and in old files no times.
WIDTHS = (9, 11, 12)
_TRUTH = {"true": True, "false": False, "1": True, "0": False}
SCORE = Dimension("score", range=(0.0, 100.0), definition="The quality of the output as a whole, from 0 to 100.")
#: Kinds of items that stand for the system's own output.
OWN = frozenset({"TGT", "REF"})


@dataclass(frozen=True, kw_only=True, slots=True)
class ErrorSpan:
    """Characters of an output that are wrong, from `start` to before `end`; None where something is missing there."""

    start: int | None
    end: int | None
    severity: str
    error_type: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class AppraiseAnswer:
    """One line: who scored what; times are seconds since 1970, NaN where the file has none."""

    line: int
    annotator: str
    system: str
    item: str
    kind: str
    source_language: str
    target_language: str
    score: float
    document: str
    is_document: bool
    spans: tuple[ErrorSpan, ...]
    started: float
    ended: float


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
    details: dict[str, Any] = {"spans": [_span_details(span) for span in answer.spans]} if answer.spans else {}
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


def _span_details(span: ErrorSpan) -> dict[str, Any]:
    place = {"missing": True} if span.start is None else {"start": span.start, "end": span.end}
    return {**place, "severity": span.severity, **({"category": span.error_type} if span.error_type else {})}


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


def read_appraise(path: Path) -> tuple[AppraiseAnswer, ...]:
    """Every answer of a score file, in its order; mistakes are refused with file and line."""
    problems = Problems(limit=3)
    answers = tuple(_answers(read_source(path), str(path), problems))
    refuse_errors(problems)
    return answers


def last_answers(answers: Sequence[AppraiseAnswer]) -> tuple[AppraiseAnswer, ...]:
    """The latest answer of each annotator to each item; the later line where times are equal or absent."""
    latest: dict[tuple[str, str, str, bool], AppraiseAnswer] = {}
    for answer in answers:
        key = answer.annotator, answer.document, answer.item, answer.is_document
        if key not in latest or not answer.ended < latest[key].ended:
            latest[key] = answer
    return tuple(latest.values())


def _answers(raw: bytes, name: str, problems: Problems) -> Iterator[AppraiseAnswer]:
    try:
        reader = csv.reader(StringIO(raw.decode("utf-8-sig"), newline=""), strict=True)
        for cells in filter(None, reader):
            if (answer := _answer(cells, reader.line_num, name, problems)) is not None:
                yield answer
    except (UnicodeDecodeError, csv.Error) as error:
        raise ImportRefused(f"{name}: not a CSV file in UTF-8: {error}; export the scores again") from error


def _answer(cells: list[str], line: int, name: str, problems: Problems) -> AppraiseAnswer | None:
    if len(cells) not in WIDTHS:
        problems.error(name, line, f"{len(cells)} cells where a score file of Appraise has 9, 11 or 12")
        return None
    annotator, system, item, kind, source, target, score, document, is_document = cells[:9]
    spans = cells[9] if len(cells) == 12 else "[]"
    started, ended = cells[-2:] if len(cells) > 9 else ("", "")
    try:
        return AppraiseAnswer(
            line=line,
            annotator=annotator,
            system=system,
            item=item,
            kind=kind,
            source_language=source,
            target_language=target,
            score=_score(score),
            document=document,
            is_document=_truth(is_document),
            spans=tuple(map(_span, json.loads(spans))),
            started=float(started or "nan"),
            ended=float(ended or "nan"),
        )
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        problems.error(name, line, f"not an answer of Appraise ({error}): {shown(cells)}")
        return None


def _score(text: str) -> float:
    score = float(text)
    if not math.isfinite(score):
        raise ValueError(f"score {text!r}")
    return score


def _truth(text: str) -> bool:
    if text.lower() not in _TRUTH:
        raise ValueError(f"{text!r} is neither True nor False")
    return _TRUTH[text.lower()]


def _span(marked: dict[str, Any]) -> ErrorSpan:
    start, end = (None if marked[key] == "missing" else int(marked[key]) for key in ("start_i", "end_i"))
    return ErrorSpan(start=start, end=end, severity=str(marked["severity"]), error_type=marked.get("error_type"))
