"""MQM error annotations as the WMT publishes them: a line for every error that a rater marked (Freitag et al., 2021).

    system  doc  doc_id  seg_id  rater  source  target  category  severity

Columns, weights and oddities of the files of every year: see `billboards.board.mqm_ratings`. On a board whose scale of
MQM ends at -25 a score below is -25. What is written comes back as it was, comments and spans of the source among it;
only an error without a category comes back as `Other`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from billboards.board import Aggregate, Board, Judgment
from billboards.board.judgment_sources import MQM, JudgmentSource, SourceJudgment
from billboards.board.mqm_ratings import (
    COLUMNS,
    AttentionChecks,
    RatedLine,
    RatedOutputs,
    mqm_scale,
    on_scale,
    read_rated_lines,
)
from billboards.errors import ImportRefused
from billboards.formats._format import judged_text, judgment_format, single_generator
from billboards.reading import Problems, refuse_errors, whole_number


@judgment_format()
def mqm(path: Path, board: Board, campaign: str) -> JudgmentSource:
    """MQM error annotations as the WMT publishes them, a line for each error.

    A score with its spans for every rater's segment; `seg_id` is an instance's id, or its place from 1.
    """
    problems, checks, outputs = Problems(), AttentionChecks(), RatedOutputs()
    read = checks.without(read_rated_lines(path, COLUMNS))
    for line in read.lines:
        outputs.add(line["system"], _instance(board, line), line)
    rated = list(outputs.ratings(str(path), problems))
    refuse_errors(problems)
    scale = mqm_scale((rating.score for *_, rating in rated), board.dimensions.get(MQM.name))
    judgments = tuple(
        SourceJudgment(
            line=rating.line,
            system=system,
            segment=instance,
            values={MQM.name: on_scale(rating.score, scale)},
            campaign=campaign,
            annotator=rater or None,
            text=rating.text,
            details={"spans": list(rating.spans)} if rating.spans else {},
        )
        for system, instance, rater, rating in rated
    )
    return JudgmentSource(
        path=str(path),
        dimensions=(scale,),
        aggregates=(Aggregate(MQM.name, (MQM.name,), (campaign,)),),
        judgments=judgments,
        about=f"Campaign {campaign}: MQM error annotations, one score a rater.",
        complete=False,
        notes=(*read.notes, *checks.notes(str(path))),
    )


def _instance(board: Board, line: RatedLine) -> str:
    """The instance of a line: by its segment's id, by document and place in it, or by its place on the board."""
    written, in_document = line["seg_id"], f"{line['doc']}::{line['doc_id']}"
    if written in board.position:
        return written
    if in_document in board.position:
        return in_document
    if not 1 <= (whole_number(written) or 0) <= len(board.instances):
        return written
    return board.instances[int(written) - 1].id


@mqm.writer
def _write(board: Board, judgments: Iterable[Judgment]) -> str:
    """A line for every error, and one for each output without; a tenth column where an error has a comment."""
    judged = list(judgments)
    if not any("spans" in judgment.details for judgment in judged):
        raise ImportRefused(f"no judgment of board {board.name} marks errors; write csv instead")
    rows = [row for judgment in judged for row in _rows(board, judgment)]
    columns = (*COLUMNS, "metadata") if any(row["metadata"] for row in rows) else COLUMNS
    lines = ("\t".join(_cell(row[name]) for name in columns) for row in rows)
    return "\n".join(("\t".join(columns), *lines, ""))


def _cell(text: str) -> str:
    """A cell on one line; every character keeps its place, since spans are counted in characters."""
    return re.sub(r"[\t\n\r\v\f\x1c-\x1e\x85\u2028\u2029]", " ", text)


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
        # What is missing is marked in the source; without any extent, it is missing at a place of the output.
        is_in_source = bool(span.get("missing")) and span.get("start") != span.get("end")
        comment = span.get("comment")
        yield {
            **common,
            "source": _marked(source, span if is_in_source else {}),
            "target": _marked(target, {} if is_in_source else span),
            "category": span.get("category") or "Other",
            "severity": span["severity"],
            "metadata": json.dumps({"note": comment}, ensure_ascii=False) if comment else "",
        }


def _marked(text: str, span: Mapping[str, Any]) -> str:
    """A text with what a span marks between <v> and </v>, in each of its parts where it has several."""
    if not {"start", "end"} <= span.keys():
        return text
    marked, end = "", 0
    for start, stop in sorted(span.get("parts") or [(span["start"], span["end"])]):
        marked += f"{text[end:start]}<v>{text[start:stop]}</v>"
        end = stop
    return marked + text[end:]
