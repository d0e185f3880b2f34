"""MQM averages of WMT systems by professional translators (google/wmt-mqm-human-evaluation; Freitag et al., 2021).

The files hold `system mqm_avg_score seg_id`, blanks between, where seg_id counts the test set's segments from 1 and
None says that nobody judged. Scores run from -25 (worst) to 0 and are mapped to 0-100 as the Billboards paper does.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from billboards.board import Aggregate
from billboards.board.folder import open_board
from billboards.board.judgment_sources import MQM, Imported, JudgmentSource, SourceJudgment, lay_judgments
from billboards.importers._assembling import find_file
from billboards.importers._importer import importer
from billboards.reading import Problems, read_columns, read_number, refuse_errors, shown

CAMPAIGN = "mqm"
AGGREGATE = Aggregate("mqm", (MQM.name,), (CAMPAIGN,))
ABOUT = (
    "Campaign mqm: MQM error annotation by professional translators with document context; averages over annotators."
)
HEADER = ("system", "mqm_avg_score", "seg_id")


@importer()
def mqm(source: Path, *, into: Annotated[Path, "the board folder whose outputs were judged"]) -> Imported:
    """MQM averages of WMT systems, added to a board.

    Segment n is the n-th instance of the board.
    """
    board = open_board(into)
    numbers = {str(k): instance.id for k, instance in enumerate(board.instances, 1)}
    imported = lay_judgments(board, read_mqm(find_mqm(source, board.name), numbers), may_lack_systems=True)
    note = f"MQM numbers its segments: number n was taken for the n-th instance of {into}"
    return Imported(imported.board, (*imported.notes, note))


def find_mqm(source: Path, board: str) -> Path:
    """The file of averages for a board such as wmt20-zh-en, in a clone of the repository or below."""
    public = re.fullmatch(r"wmt(\d\d)-(\w+)-(\w+)", board)
    name = f"mqm_newstest20{public[1]}_{public[2]}{public[3]}" if public else "*"
    return find_file(source, (f"{name}.avg_seg_scores.tsv",), "MQM averages")


def read_mqm(path: Path, segments: Mapping[str, str]) -> JudgmentSource:
    """The averages in a file, given the instance id of each segment number."""
    problems = Problems()
    rows = read_columns(path, HEADER, problems)
    averages = [_read_line(cells, segments, str(path), number, problems) for number, cells in rows]
    refuse_errors(problems)
    return JudgmentSource(
        path=str(path),
        dimensions=(MQM,),
        aggregates=(AGGREGATE,),
        judgments=tuple(average for average in averages if average),
        about=ABOUT,
    )


def _read_line(
    cells: list[str], segments: Mapping[str, str], path: str, number: int, problems: Problems
) -> SourceJudgment | None:
    system, score, segment = cells
    value = read_number(score, "mqm_avg_score", path, number, problems)
    if not math.isnan(value) and not -25 <= value <= 0:
        problems.error(path, number, f"mqm_avg_score {score} lies outside -25 to 0")
    if segment not in segments:
        problems.error(path, number, f"seg_id {shown(segment)} is no segment of the board, which has {len(segments)}")
        return None
    values = {} if math.isnan(value) else {MQM.name: value}
    return SourceJudgment(line=number, system=system, segment=segments[segment], values=values, campaign=CAMPAIGN)
