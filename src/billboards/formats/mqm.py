"""MQM error annotations as the WMT publishes them: a line for every error that a rater marked (Freitag et al., 2021).

    system  doc  doc_id  seg_id  rater  source  target  category  severity

The error stands between <v> and </v> in the target, or in the source where something was left out. A segment without
errors has one line of severity no-error. A rater's score is minus the sum of the weights: 25 for a non-translation, 5
for a major error, 1 for a minor one (punctuation 0.1), never below -25.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from billboards.board import Aggregate, Board, Judgment
from billboards.board.judgment_sources import MQM, JudgmentSource, SourceJudgment
from billboards.formats._format import judged_text, judgment_format, read_delimited, single_generator, write_delimited
from billboards.reading import Problems, refuse_errors, shown, whole_number

COLUMNS = ("system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity")
SEVERITIES = ("no-error", "neutral", "minor", "major", "critical")
LEAST = -25.0
_MARK = re.compile(r"</?v>")


def weight_of(category: str, severity: str) -> float:
    """What an error takes off."""
    if severity in ("no-error", "neutral"):
        return 0.0
    if category.lower().startswith("non-translation"):
        return 25.0
    if severity == "minor":
        return 0.1 if category.lower() == "fluency/punctuation" else 1.0
    return 5.0


@judgment_format()
def mqm(path: Path, board: Board, campaign: str) -> JudgmentSource:
    """MQM error annotations as the WMT publishes them, a line for each error.

    A score with its spans for every rater's segment; `seg_id` is an instance's id, or its place from 1.
    """
    problems = Problems()
    errors: dict[tuple[str, str, str], list[tuple[int, dict[str, str]]]] = {}
    for line, row in read_delimited(path, "\t", COLUMNS, "file of MQM ratings"):
        errors.setdefault((row["system"], _instance(board, row["seg_id"]), row["rater"]), []).append((line, row))
    judgments = tuple(_judgment(path, key, lines, campaign, problems) for key, lines in errors.items())
    refuse_errors(problems)
    aggregate = Aggregate(MQM.name, (MQM.name,), (campaign,))
    about = f"Campaign {campaign}: MQM error annotations, one score a rater."
    return JudgmentSource(
        path=str(path), dimensions=(MQM,), aggregates=(aggregate,), judgments=judgments, about=about, complete=False
    )


def _instance(board: Board, written: str) -> str:
    if written in board.position or not 1 <= (whole_number(written) or 0) <= len(board.instances):
        return written
    return board.instances[int(written) - 1].id


def _judgment(
    path: Path, key: tuple[str, str, str], rows: list[tuple[int, dict[str, str]]], campaign: str, problems: Problems
) -> SourceJudgment:
    system, instance, rater = key
    total, spans = 0.0, []
    for line, row in rows:
        severity = row["severity"].strip().lower()
        if severity not in SEVERITIES:
            problems.error(str(path), line, f"severity {shown(row['severity'])} is none of {', '.join(SEVERITIES)}")
        total += weight_of(row["category"], severity)
        if severity != "no-error":
            spans.append(_span(row, severity))
    values = {MQM.name: max(LEAST, -total) + 0.0}
    text = _MARK.sub("", rows[0][1]["target"])
    return SourceJudgment(
        line=rows[0][0],
        system=system,
        segment=instance,
        values=values,
        campaign=campaign,
        annotator=rater or None,
        text=text,
        details={"spans": spans} if spans else {},
    )


def _span(row: Mapping[str, str], severity: str) -> dict[str, Any]:
    """An error's place in the text; what was left out is marked in the source."""
    named = {"category": row["category"], "severity": severity}
    for side in ("target", "source"):
        start, end = row[side].find("<v>"), row[side].find("</v>")
        if 0 <= start < end:
            place: dict[str, Any] = {"start": start, "end": end - len("<v>")}
            return {**place, **named} if side == "target" else {**place, **named, "missing": True}
    return named


@mqm.writer
def _write(board: Board, judgments: Iterable[Judgment]) -> str:
    """A line for every error, and one for each output without."""
    return write_delimited(COLUMNS, (row for judgment in judgments for row in _rows(board, judgment)), "\t")


def _rows(board: Board, judgment: Judgment) -> Iterator[dict[str, Any]]:
    generator = single_generator(judgment, "mqm")
    instance = board.instances[board.position[judgment.instance]]
    source, target = instance.input or "", judged_text(board, judgment.instance, generator)
    common = {
        "system": generator,
        "doc": instance.document or "",
        "doc_id": instance.document or "",
        "seg_id": judgment.instance,
        "rater": judgment.annotator or "",
    }
    for span in judgment.details.get("spans") or ({"severity": "no-error", "category": "No-error"},):
        is_in_source = bool(span.get("missing"))
        yield {
            **common,
            "source": _marked(source, span if is_in_source else {}),
            "target": _marked(target, {} if is_in_source else span),
            "category": span.get("category") or "Other",
            "severity": span["severity"],
        }


def _marked(text: str, span: Mapping[str, Any]) -> str:
    if not {"start", "end"} <= span.keys():
        return text
    start, end = span["start"], span["end"]
    return f"{text[:start]}<v>{text[start:end]}</v>{text[end:]}"
