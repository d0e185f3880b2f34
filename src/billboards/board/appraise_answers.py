"""Answers of Appraise campaigns, from the score files that it exports (ESA, MQM, direct assessment).

A CSV file without a header, one answer a line: annotator, system, item, kind of item, source and target language,
score, document, whether the whole document is meant, error spans as JSON, and when the answer was begun and given. An
item may be answered again; every answer is kept, in the file's order, and `last_answers` picks the ones that count.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from billboards.errors import ImportRefused
from billboards.reading import Problems, read_source, refuse_errors, shown

#: Direct assessments have no spans, and in old files no times.
WIDTHS = (9, 11, 12)
_TRUTH = {"true": True, "false": False, "1": True, "0": False}
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
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ImportRefused(f"{name}:{line}: not UTF-8; export the scores again") from error
    reader = csv.reader(StringIO(text, newline=""), strict=True)
    try:
        for cells in filter(None, reader):
            if (answer := _answer(cells, reader.line_num, name, problems)) is not None:
                yield answer
    except csv.Error as error:
        raise ImportRefused(f"{name}:{reader.line_num}: not CSV: {error}; export the scores again") from error


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
    kind = marked.get("error_type")
    name = "/".join(map(str, kind)) if isinstance(kind, list) else kind
    return ErrorSpan(start=start, end=end, severity=str(marked["severity"]), error_type=name)


def span_details(span: ErrorSpan) -> dict[str, Any]:
    """A span as a judgment's details have it."""
    place = {"missing": True} if span.start is None else {"start": span.start, "end": span.end}
    return {**place, "severity": span.severity, **({"category": span.error_type} if span.error_type else {})}
