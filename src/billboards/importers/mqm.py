"""MQM ratings of WMT systems by professional translators (google/wmt-mqm-human-evaluation; Freitag et al., 2021).

The repository has, for each test set and language pair, the raw ratings (`mqm_newstest2020_zhen.tsv`), a line for every
error that a rater marked, and averages (`mqm_newstest2020_zhen.avg_seg_scores.tsv`). Raw ratings hold all texts, so
they make a board of their own: outputs, sources, documents, and one judgment for each rater and output, with the spans.
The weights are those of Google's scoring, and where averages lie beside the ratings they are held against them; see
`billboards.board.mqm_ratings`.

Averages are `system mqm_avg_score seg_id`, blanks between, where seg_id counts the test set's segments from 1 and None
says that nobody judged; they are added to a board that has the texts. Scores are mapped to 0-100 as the Billboards
paper does, -25 to 0.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

from billboards.board import Aggregate, Board, DataCard, Judgment
from billboards.board.folder import open_board
from billboards.board.judgment_sources import MQM, Imported, JudgmentSource, SourceJudgment, lay_judgments
from billboards.board.mqm_ratings import (
    COLUMNS,
    AttentionChecks,
    RatedLine,
    RatedLines,
    RatedOutputs,
    is_raw,
    mqm_scale,
    on_scale,
    read_rated_lines,
)
from billboards.errors import ImportRefused
from billboards.importers._assembling import counts, find_file
from billboards.importers._importer import importer
from billboards.importers._rated_segments import Segments, board_from, segments_of
from billboards.reading import Problems, read_columns, read_number, refuse_errors, shown, some

CAMPAIGN = "mqm"
AGGREGATE = Aggregate("mqm", (MQM.name,), (CAMPAIGN,))
ABOUT = (
    "Campaign mqm: MQM error annotation by professional translators with document context; averages over annotators."
)
RAW_ABOUT = "Campaign mqm: MQM error annotation by professional translators with document context, one score a rater."
HEADER = ("system", "mqm_avg_score", "seg_id")
AVERAGES = ".avg_seg_scores.tsv"
CARD = DataCard(
    title="MQM ratings of WMT systems",
    task="Translate, segment by segment",
    source="https://github.com/google/wmt-mqm-human-evaluation",
    licence="Apache-2.0",
    citation="Freitag et al. (2021): Experts, Errors, and Context: A Large-Scale Study of Human Evaluation for Machine "
    "Translation",
    protocol="MQM: raters mark errors in the context of the document, each with a category and a severity. Major "
    "errors count 5 (a non-translation 25), minor ones 1 (punctuation 0.1), neutral ones 0",
    annotators="Professional translators, native speakers of the target language",
    comments="Systems written by people (Human-A, ref, refB) are rows and, under the same name, references.",
)


@importer(card=CARD)
def mqm(
    source: Path,
    *,
    into: Annotated[Path | None, "the board folder whose outputs were judged; averages need it"] = None,
    language_pair: Annotated[str | None, "such as en-de (default: as the file's name says)"] = None,
    name: Annotated[str | None, "the board's name (default: the file's)"] = None,
) -> Imported:
    """MQM ratings of WMT systems: raw ones with spans as a board, or added to one; averages added to a board.

    With --into, segment n is the n-th instance of the board.
    """
    if into is None:
        return _own_board(find_raw(source), language_pair, name)
    board = open_board(into)
    numbers = {str(k): instance.id for k, instance in enumerate(board.instances, 1)}
    imported = lay_judgments(board, read_mqm(find_mqm(source, board.name), numbers), may_lack_systems=True)
    note = f"MQM numbers its segments: number n was taken for the n-th instance of {into}"
    return Imported(imported.board, (*imported.notes, note))


def find_mqm(source: Path, board: str) -> Path:
    """The file for a board such as wmt20-zh-en, in a clone of the repository or below: averages before raw ratings."""
    public = re.fullmatch(r"wmt(\d\d)-(\w+)-(\w+)", board)
    name = f"mqm_newstest20{public[1]}_{public[2]}{public[3]}" if public else "mqm*"
    averages = f"{name}{AVERAGES}" if public else f"*{AVERAGES}"
    return find_file(source, (averages, f"{name}.tsv", f"{name}.tsv.gz"), "MQM averages or ratings")


def find_raw(source: Path) -> Path:
    """The only file of raw ratings in a folder, or the file itself; averages alone make no board."""
    if not source.is_dir():
        path = find_file(source, (), "MQM ratings")
        if not is_raw(path):
            raise ImportRefused(
                f"{path}: holds averages, or no MQM ratings; averages need a board with the texts: add --into BOARD"
            )
        return path
    others = (AVERAGES, ".source-errors.tsv")
    files = sorted(
        path
        for pattern in ("mqm*.tsv", "mqm*.tsv.gz")
        for path in source.rglob(pattern)
        if not path.name.removesuffix(".gz").endswith(others)
    )
    if not files:
        raise ImportRefused(f"{source}: holds no raw MQM ratings (looked for mqm_*.tsv); averages need --into BOARD")
    if len(files) > 1:
        names = some([str(path.relative_to(source)) for path in files])
        raise ImportRefused(f"{source}: holds several files of MQM ratings, {names}; give one of them")
    return files[0]


def read_mqm(path: Path, segments: Mapping[str, str]) -> JudgmentSource:
    """The averages or raw ratings in a file, given the instance id of each segment number."""
    return _read_raw(path, segments) if is_raw(path) else _read_averages(path, segments)


def _own_board(path: Path, language_pair: str | None, name: str | None) -> Imported:
    problems, checks = Problems(), AttentionChecks()
    # The text of an attention check has an error in it that the system didn't make.
    read = checks.without(read_rated_lines(path, COLUMNS))
    segments = segments_of(read)
    outputs = RatedOutputs()
    for line, (segment, system) in zip(read.lines, segments.places, strict=True):
        outputs.add(system, segment, line)
    order = {instance.id: k for k, instance in enumerate(segments.instances)}
    rated = sorted(outputs.ratings(str(path), problems), key=lambda rated: (rated[0], order[rated[1]], rated[2]))
    refuse_errors(problems)
    scale = mqm_scale(rating.score for *_, rating in rated)
    judgments = [
        Judgment(
            instance=segment,
            outputs=(system,),
            values={MQM.name: rating.score},
            annotator=rater.strip() or None,
            campaign=CAMPAIGN,
            details={"spans": list(rating.spans)} if rating.spans else {},
        )
        for system, segment, rater, rating in rated
    ]
    board = board_from(path, read, segments, judgments, scale, name=name, language_pair=language_pair)
    notes = [counts(path, board), *read.notes, *segments.notes, *checks.notes(str(path))]
    marked = [rating for *_, rating in rated]
    notes.append(f"{path}: {sum(len(r.spans) for r in marked):,} errors by {len(board.judgments.annotators)} raters")
    if unplaced := sum(rating.unplaced for rating in marked):
        notes.append(f"{path}: {unplaced:,} errors have no place in the text, or one that can't be told")
    if scale.range is None:
        lowest = min(rating.score for rating in marked)
        notes.append(f"{path}: the lowest score is {lowest:g}; the scale is open below -25")
    notes += _against_averages(path, board, segments)
    return Imported(board, tuple(notes))


def _against_averages(path: Path, board: Board, segments: Segments) -> Iterator[str]:
    """How the means over raters agree with the released averages, where these lie beside the ratings."""
    averages = path.with_name(path.name.removesuffix(".gz").removesuffix(".tsv") + AVERAGES)
    if not averages.is_file() or not segments.numbers:
        return
    try:
        released = _read_averages(averages, segments.numbers, strict=False)
    except ImportRefused:
        yield f"{averages}: not compared: another layout"
        return
    means = board.judgments.means(MQM.name, (len(board.rows), len(board.instances)))
    both = [
        (judgment.values[MQM.name], float(means[board.row_position[system], board.position[judgment.segment]]))
        for judgment in released.judgments
        if judgment.values and (system := judgment.system.removeprefix("hyp.")) in board.row_position
    ]
    compared = [(given, own) for given, own in both if not math.isnan(own)]
    equal = sum(abs(given - own) < 1e-4 for given, own in compared)
    yield f"{averages}: {equal} of {len(compared)} released averages equal the means over raters"


def _read_raw(path: Path, segments: Mapping[str, str]) -> JudgmentSource:
    """Raw ratings by segment number; the numbers tell the segment, so texts that a marking tool changed do no harm."""
    problems, checks, outputs = Problems(), AttentionChecks(), RatedOutputs()
    read = checks.without(read_rated_lines(path, COLUMNS))
    for line in read.lines:
        outputs.add(line["system"].removeprefix("hyp."), _segment(line, segments, read, problems), line)
    rated = list(outputs.ratings(str(path), problems))
    refuse_errors(problems)
    judgments = tuple(
        SourceJudgment(
            line=rating.line,
            system=system,
            segment=segment,
            values={MQM.name: on_scale(rating.score, MQM)},
            campaign=CAMPAIGN,
            annotator=rater.strip() or None,
            details={"spans": list(rating.spans)} if rating.spans else {},
        )
        for system, segment, rater, rating in rated
    )
    return JudgmentSource(
        path=str(path),
        dimensions=(MQM,),
        aggregates=(AGGREGATE,),
        judgments=judgments,
        about=RAW_ABOUT,
        complete=False,
        notes=(*read.notes, *checks.notes(str(path))),
    )


def _segment(line: RatedLine, segments: Mapping[str, str], read: RatedLines, problems: Problems) -> str:
    number = line["seg_id"].strip()
    if number not in segments:
        what = f"seg_id {shown(number)} is no segment of the board, which has {len(segments)}"
        problems.error(read.path, line.number, what)
    return segments.get(number, number)


def _read_averages(path: Path, segments: Mapping[str, str], *, strict: bool = True) -> JudgmentSource:
    """Averages; `strict` refuses segments that the board lacks."""
    problems = Problems()
    rows = read_columns(path, HEADER, problems)
    averages = [
        _read_line(cells, segments, str(path), number, problems)
        for number, cells in rows
        if strict or cells[2] in segments
    ]
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
