"""Metrics on probation: what speaks against taking a metric's agreement with people at its word.

Agreement above what people reach among themselves is an alarm. A good metric may be above a single annotator; what is
above perfect knowledge of all that people have in common has seen their very answers. Where the owner keeps a private
share of the judgments, metrics are measured on that; a metric that agrees clearly better with the public rest has seen
it, too. Owners may add reasons of their own. A metric that anything speaks against is marked, and stays out of
leadership and ensembles unless the owner lets it count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from billboards.analyses._reference_lines import PeoplesAgreement, peoples_agreement
from billboards.analyses._view import JudgedMatrix
from billboards.board import Board
from billboards.board.private_share import private_instances
from billboards.errors import NotEnoughData
from billboards.show.words import value_text
from billboards.stats.correlation import Correlations, pearson_with_intervals
from billboards.stats.exposure import Exposure, compare_shares

Bools = NDArray[np.bool_]
#: The private and public agreement of a metric differ when this is unlikelier for one that has seen neither.
EXPOSED = 0.01


@dataclass(frozen=True, kw_only=True, slots=True)
class PrivateShare:
    """How the judgments are shared out: metrics are measured on the private ones, and the public ones stand beside."""

    #: The share of instances that the owner asked for.
    share: float
    #: Judged instances of either side.
    private: int
    public: int


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What metrics are measured on: all judgments, or the private ones with how the public ones compare."""

    #: The matrix with the judgments that count.
    matrix: JudgedMatrix
    share: PrivateShare | None = None
    #: The matrix with the public judgments alone.
    public: JudgedMatrix | None = None
    #: Why a share that the owner asked for is not used.
    note: str | None = None


def measured_on(board: Board, matrix: JudgedMatrix) -> Measured:
    """The judgments that metrics are measured on: the private share where there is one, else all."""
    private = private_instances(board)
    if private is None:
        return Measured(matrix=matrix)
    if matrix.part:
        private = private[list(board.select(matrix.part))]
    judged = _judged_instances(matrix)
    inside, outside = int((judged & private).sum()), int((judged & ~private).sum())
    if not inside or not outside:
        side = "private" if not inside else "public"
        note = f"the private share of the judgments is not used: no {side} instance is judged here"
        return Measured(matrix=matrix, note=note)
    share = PrivateShare(share=board.trust.private_share or 0.0, private=inside, public=outside)
    return Measured(matrix=_only(matrix, private), share=share, public=_only(matrix, ~private))


def _judged_instances(matrix: JudgedMatrix) -> Bools:
    if matrix.pairs is None:
        return np.asarray(np.isfinite(matrix.judged_human).any(axis=0), bool)
    judged = np.zeros(matrix.human.shape[1], bool)
    judged[matrix.pairs.instance] = True
    return judged


def _only(matrix: JudgedMatrix, instances: Bools) -> JudgedMatrix:
    """A matrix with the judgments of some instances; all scores stay."""
    human = np.where(instances, matrix.human, np.nan)
    pairs = None if matrix.pairs is None else matrix.pairs.where(instances[matrix.pairs.instance])
    judged = matrix.judged if pairs is not None else matrix.judged & np.isfinite(human).any(axis=1)
    return replace(matrix, human=human, judged=judged, pairs=pairs)


def exposure(board: Board, matrix: JudgedMatrix, *, seed: int) -> Exposure | None:
    """Agreement on both shares with tests, where people gave values and there are documents enough."""
    private = private_instances(board)
    if private is None or matrix.pairs is not None or not matrix.scores.columns:
        return None
    documents: Sequence[str] = board.documents
    if matrix.part:
        keep = list(board.select(matrix.part))
        private, documents = private[keep], [documents[k] for k in keep]
    try:
        return compare_shares(matrix.scores.values, matrix.judged_human, documents, private, seed=seed)
    except NotEnoughData:
        return None


def trusted_matrix(board: Board, matrix: JudgedMatrix, *, draws: int = 1000, seed: int = 0) -> JudgedMatrix:
    """The judgments that metrics are measured on, and the columns that nothing speaks against.

    What a site finds beside (audits, scores that depend on company) is known to its ranking alone.
    """
    measured = measured_on(board, matrix).matrix
    if not matrix.aggregate or not matrix.scores.columns:
        return measured
    people = peoples_agreement(board, matrix.part, matrix.aggregate, matrix.references)
    values, human = measured.scores.values, measured.judged_human
    above = alarms(pearson_with_intervals(values, human, draws=draws, seed=seed), people).flags if people else {}
    shares, rules = exposure(board, matrix, seed=seed), board.trust
    keep = [
        k
        for k, column in enumerate(matrix.scores.columns)
        if rules.counts(column.name, filter(None, [above.get(k), exposed(shares, k)]))
    ]
    if len(keep) == len(matrix.scores.columns):
        return measured
    return replace(measured, scores=measured.scores.select(keep))


@dataclass(frozen=True, kw_only=True)
class Alarms:
    """Metrics that agree better with people than people among themselves, by position.

    `flags` are those that agree better than even perfect knowledge of what people have in common would; `marks` those
    that are above the best annotator, which a good metric may be.
    """

    flags: Mapping[int, str] = field(default_factory=dict)
    marks: Mapping[int, str] = field(default_factory=dict)
    #: What to say instead where most metrics are above: then it is the annotators who agree too little.
    note: str | None = None


def alarms(correlations: Correlations, people: PeoplesAgreement | None) -> Alarms:
    """Who is above people's own agreement by more than luck."""
    defined = [k for k in range(len(correlations.r)) if np.isfinite(correlations.r[k])]
    if people is None or not defined:
        return Alarms()
    low = np.where(np.isfinite(correlations.low), correlations.low, correlations.r)
    above = [k for k in defined if low[k] > people.best]
    best = value_text(people.best, 3)
    if 2 * len(above) > len(defined) and len(defined) > 2:
        return Alarms(
            note="most metrics agree better with people's mean than any annotator with the others' "
            f"({best}): the annotators agree too little for the judgments to tell metrics apart by"
        )
    most = value_text(people.ceiling, 3)
    flag = f"agrees better with people than even a perfect judge would ({most} at most): has it seen the judgments?"
    mark = f"agrees better with people than they do among themselves ({best} at best)"
    flagged = {k: flag for k in above if low[k] > people.ceiling}
    return Alarms(flags=flagged, marks={k: mark for k in above if k not in flagged})


def exposed(shares: Exposure | None, k: int) -> str | None:
    """What to say of a metric that agrees clearly better with the judgments that could be seen."""
    if shares is None or not shares.corrected[k] <= EXPOSED or not shares.excess[k] > 0:
        return None
    public, private = (value_text(float(side[k]), 3) for side in (shares.public, shares.private))
    return (
        f"agrees better with the public judgments ({public}) than with the private ones ({private}), "
        "which other metrics don't: has it seen the public ones?"
    )
