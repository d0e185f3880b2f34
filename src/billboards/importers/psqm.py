"""Scalar quality ratings of translations from 0 to 6, in the context of the document (Freitag et al., 2021).

`psqm_*.tsv` of google/wmt-mqm-human-evaluation has a line per rating: `system doc doc_id seg_id rater source target
score`, tabs between, nothing quoted. Professional translators rated (pSQM); files of crowd workers (cSQM) have the same
columns without a header.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np

from billboards.board import DataCard, Dimension, Judgment
from billboards.board.judgment_sources import Imported
from billboards.board.mqm_ratings import SQM_COLUMNS, read_rated_lines
from billboards.importers._assembling import counts, find_file, refuse_twice, value_within
from billboards.importers._importer import importer
from billboards.importers._rated_segments import board_from, segments_of
from billboards.reading import Problems, refuse_errors

SQM = Dimension(
    "sqm",
    range=(0.0, 6.0),
    definition="How good is the translation, from 0 (nonsense) to 6 (perfect meaning and grammar)?",
)
CARD = DataCard(
    title="Scalar quality ratings of WMT systems",
    task="Translate, segment by segment",
    source="https://github.com/google/wmt-mqm-human-evaluation",
    licence="Apache-2.0",
    citation="Freitag et al. (2021): Experts, Errors, and Context: A Large-Scale Study of Human Evaluation for Machine "
    "Translation",
    protocol="Scalar quality metric (SQM): each segment is rated from 0 to 6 with its document around it",
    annotators="Professional translators, native speakers of the target language (psqm); crowd workers (csqm)",
)


@importer(card=CARD)
def psqm(
    source: Path,
    *,
    language_pair: Annotated[str | None, "such as en-de (default: as the file's name says)"] = None,
    name: Annotated[str | None, "the board's name (default: the file's)"] = None,
) -> Imported:
    """Scalar quality ratings (0-6) of WMT systems by professional translators, a rating a line."""
    path = find_file(source, ("psqm_*.tsv", "csqm_*.tsv", "*sqm*.tsv*"), "scalar quality ratings")
    read = read_rated_lines(path, SQM_COLUMNS)
    segments, problems = segments_of(read), Problems()
    seen: dict[object, int] = {}
    judgments = []
    for line, (segment, system) in zip(read.lines, segments.places, strict=True):
        rater = line["rater"].strip()
        what = f"{rater}'s rating of {system} on {segment}"
        refuse_twice(seen, (system, segment, rater), what, str(path), line.number, problems)
        score = value_within(line["score"], SQM, str(path), line.number, problems)
        if not np.isnan(score):
            judgments.append(
                Judgment(
                    instance=segment,
                    outputs=(system,),
                    values={SQM.name: score},
                    annotator=rater or None,
                    campaign=SQM.name,
                )
            )
    refuse_errors(problems)
    order = {instance.id: k for k, instance in enumerate(segments.instances)}
    judgments.sort(key=lambda judgment: (judgment.outputs, order[judgment.instance], judgment.annotator or ""))
    board = board_from(path, read, segments, judgments, SQM, name=name, language_pair=language_pair)
    return Imported(board, (counts(path, board), *read.notes, *segments.notes))
