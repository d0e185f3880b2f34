"""An audit from scores that are there already: nothing is run, so a site can do it before every ranking.

The metric is optimised by reranking over the generators' outputs, and every reference-based column of the board, and
people, are asked about the result. What takes a program (scoring references, pseudo-references) is left to
`billboards audit`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from billboards.analyses.audit.bench import Bench
from billboards.analyses.audit.bias import human_places
from billboards.analyses.audit.concluding import Evidence, conclude
from billboards.analyses.audit.landing import Compared, Field, Judge, compare, compare_random, is_comparable
from billboards.analyses.audit.optimised import Optimised
from billboards.analyses.audit.outside_judges import field_of, judge_people
from billboards.analyses.audit.reranking import pool_words, scored_pool
from billboards.analyses.audit.results import MetricAudit
from billboards.analyses.audit.subject import Subject
from billboards.board import Board, Column, ImportedColumn, Scores
from billboards.board.cells import MemoryCells
from billboards.errors import NotEnoughData
from billboards.stats.system_level import instance_weights

#: Resamplings of instances; a verdict needs no third digit.
DRAWS = 300
PARTIAL = "from scores that were there: no reference was scored and no pseudo-reference tried"


def audit_columns(board: Board, scores: Scores, *, seed: int = 0) -> tuple[dict[str, MetricAudit], dict[str, str]]:
    """Every reference-free metric of a board audited on its matrix, and why some could not be."""
    audits, refused = {}, {}
    for column in scores.columns:
        if column.needs_references or column.is_statistic:
            continue
        try:
            audits[column.name] = audit_column(board, scores, column.name, seed=seed)
        except NotEnoughData as error:
            refused[column.name] = str(error)
    return audits, refused


def audit_column(board: Board, scores: Scores, name: str, *, seed: int = 0) -> MetricAudit:
    """One metric audited by reranking over what its column holds."""
    bench = Bench(board=board, store=MemoryCells())
    subject = _subject(scores, scores.columns[scores.column(name)])
    field = field_of(bench, subject)
    own = subject.scores(bench, field.rows)
    pool = scored_pool(board, field.rows, own)
    # No text is read: whatever is asked about an output was said of it where it was first written.
    optimised = Optimised(method="rerank", how=pool_words(pool), texts=(), pairs=0, pool=pool)
    compared = compare(field, optimised, Judge(subject.name, own, higher_is_better=subject.higher_is_better))
    if not is_comparable(compared):
        raise NotEnoughData(f"{name} scores too few outputs to compare a machine on")
    judged = [*_columns(scores, subject, field, optimised), *judge_people(board, field, optimised)]
    lines = (compare_random(field, optimised, other.judge) for other in (compared, *judged))
    evidence = Evidence(
        compared,
        judged,
        tuple(human_places(bench, subject, field)),
        notes=(PARTIAL,),
        random=tuple(line for line in lines if line is not None and is_comparable(line)),
    )
    weights = instance_weights(len(board.instances), draws=DRAWS, seed=seed)
    return conclude(board, subject, field, optimised, evidence, weights, pairs=0, seed=seed)


def _subject(scores: Scores, column: Column) -> Subject:
    """A column of the matrix as if it had come with the data."""
    values: Mapping[str, np.ndarray[tuple[int, ...], np.dtype[np.float64]]] = dict(
        zip(scores.rows, scores.of(column.name), strict=True)
    )
    imported = ImportedColumn(
        name=column.name,
        source_name=column.source_name or column.name,
        signature=column.signature,
        values=values,
        references=(),
        needs_references=column.needs_references,
    )
    return Subject(
        name=column.name,
        signature=column.signature,
        needs_references=column.needs_references,
        metric=None,
        column=imported,
        higher_is_better=column.higher_is_better,
    )


def _columns(scores: Scores, subject: Subject, field: Field, optimised: Optimised) -> Iterator[Compared]:
    for column in scores.columns:
        if column.needs_references and not column.is_statistic and column.name != subject.name:
            judge = Judge(
                column.name, scores.of(column.name)[list(field.rows)], higher_is_better=column.higher_is_better
            )
            compared = compare(field, optimised, judge)
            if is_comparable(compared):
                yield compared
