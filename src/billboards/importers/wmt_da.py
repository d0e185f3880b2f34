"""WMT direct assessment: crowd ratings of translations from 0 to 100, as segment means (WMT-Metrics-task's releases).

A file `metrics-ad-seg-scores-*.csv` has the columns `SYS SEGID RAW.SCR Z.SCR N SID`, blanks between: the mean raw
rating, the mean after standardising each annotator, and how many ratings went in. Not every output was rated.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Annotated

from billboards.board import Aggregate, Dimension
from billboards.board.folder import open_board
from billboards.board.judgment_sources import Imported, JudgmentSource, SourceJudgment, lay_judgments
from billboards.importers._assembling import find_file
from billboards.importers._importer import importer
from billboards.reading import Problems, read_columns, read_number, refuse_errors

CAMPAIGN = "da"
RAW = Dimension("da", range=(0.0, 100.0), definition="Mean crowd rating of how well the translation conveys the input.")
STANDARDISED = Dimension("da_z", definition="The same ratings after each annotator's were standardised.")
AGGREGATE = Aggregate("da", ("da",), (CAMPAIGN,))
ABOUT = (
    "Campaign da: WMT direct assessment by crowd workers and researchers, one value per output: the mean of its "
    "ratings (mostly one), raw (da) and standardised by annotator (da_z)."
)
HEADER = ("SYS", "SEGID", "RAW.SCR", "Z.SCR", "N", "SID")


@importer()
def wmt_da(source: Path, *, into: Annotated[Path, "the board folder whose outputs were judged"]) -> Imported:
    """WMT direct-assessment segment scores, added to a board.

    What ranks stays what it was.
    """
    board = open_board(into)
    pair = f"{board.input_language}-{board.output_language}"
    path = find_file(source, (f"metrics-ad-seg-scores-{pair}.csv", "metrics-ad-seg-scores-*.csv"), "segment scores")
    return lay_judgments(board, read_da(path), may_lack_systems=True)


def read_da(path: Path) -> JudgmentSource:
    """The segment scores in a file."""
    problems = Problems()
    numbers: dict[str, str] = {}
    rows = read_columns(path, HEADER, problems)
    judgments = tuple(_read_line(cells, numbers, str(path), number, problems) for number, cells in rows)
    refuse_errors(problems)
    return JudgmentSource(
        path=str(path),
        dimensions=(RAW, STANDARDISED),
        aggregates=(AGGREGATE,),
        judgments=judgments,
        about=ABOUT,
        complete=False,
    )


def _read_line(cells: list[str], numbers: dict[str, str], path: str, number: int, problems: Problems) -> SourceJudgment:
    system, segment, raw, standardised, count, sid = cells
    if numbers.setdefault(segment, sid) != sid:
        problems.error(path, number, f"SID {sid!r} of {segment!r} is {numbers[segment]!r} elsewhere in the file")
    if not re.fullmatch(r"[1-9]\d*", count):
        problems.error(path, number, f"N {count!r} must be the number of ratings")
    values = {
        RAW.name: read_number(raw, "RAW.SCR", path, number, problems),
        STANDARDISED.name: read_number(standardised, "Z.SCR", path, number, problems),
    }
    if values[RAW.name] < 0 or values[RAW.name] > 100:
        problems.error(path, number, f"RAW.SCR {raw} lies outside 0 to 100")
    present = {name: value for name, value in values.items() if not math.isnan(value)}
    return SourceJudgment(line=number, system=system, segment=segment, values=present, campaign=CAMPAIGN)
