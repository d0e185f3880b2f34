"""The Ladder of each team on a board with hidden judgments, where its owner wants one (`stats.ladder`).

What was published of a metric's agreement stays with its submission, whatever becomes of that: a withdrawn metric still
counts as its team's best, so that withdrawing does not reset the Ladder. Other judgments are other hidden data: on
these every team begins anew.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from billboards.analyses._preferences import agreement_with_preferences
from billboards.analyses._probation import measured_on
from billboards.analyses._view import JudgedMatrix, judged_matrix
from billboards.board.matrix import board_scores
from billboards.site.boards.live import LiveBoard
from billboards.site.submissions import records as submissions
from billboards.site.submissions.records import Submission
from billboards.stats.correlation import Correlations, pearson_with_intervals
from billboards.stats.disclosure import supported_decimals
from billboards.stats.ladder import Rung, climb, paired_noise

Floats = NDArray[np.float64]
#: The word under which a submission keeps what was published of it.
WORD = "ladder"


@dataclass(frozen=True, kw_only=True)
class Climbed:
    """What is published of submitted metrics' agreement, by name, and a digest of the judgments that it rests on."""

    judgments: str = ""
    rungs: Mapping[str, Rung] = field(default_factory=dict)


def climb_board(live: LiveBoard) -> Climbed:
    """What is published of each submitted metric's agreement; nothing where the board has no Ladder."""
    if not (live.judgments_rest_hidden and live.settings.ladder and live.metrics):
        return Climbed()
    matrix = measured_on(live.board, judged_matrix(live.board, live.cells)).matrix
    judgments = _digest(matrix)
    with live.site.database.reading() as connection:
        sent = submissions.find(connection, board=live.name, kind="metric")
    rungs: dict[str, Rung] = {}
    for team in {metric.team_id for metric in live.metrics.values()}:
        rungs |= _climb_team(live, matrix, judgments, [metric for metric in sent if metric.team_id == team])
    return Climbed(judgments=judgments, rungs=rungs)


def _climb_team(live: LiveBoard, matrix: JudgedMatrix, judgments: str, sent: Sequence[Submission]) -> dict[str, Rung]:
    names = {metric.id: name for name, metric in live.metrics.items()}
    measured = _agreement(live, matrix)
    told = {metric.id: _kept(metric, judgments) for metric in sent}
    published = {metric.id: rung for metric in sent if (rung := told[metric.id]) is not None}
    best = max((m for m in sent if m.id in published), key=lambda m: published[m.id].value, default=None)
    value = None if best is None else published[best.id].value
    rungs = {names[key]: rung for key, rung in published.items() if key in names}
    for metric in sorted((m for m in sent if m.id in names and m.id not in published), key=lambda m: m.created):
        name = names[metric.id]
        if name not in matrix.scores.names or np.isnan(measured.r[matrix.scores.column(name)]):
            continue
        place = matrix.scores.column(name)
        r, n = float(measured.r[place]), int(measured.n[place])
        rungs[name] = rung = climb(r, value, _noise(live, matrix, name, best), unit=_unit(live, n))
        if rung.improves:
            value, best = rung.value, metric
    return rungs


def _agreement(live: LiveBoard, matrix: JudgedMatrix) -> Correlations:
    if matrix.pairs is None:
        return pearson_with_intervals(matrix.scores.values, matrix.judged_human, draws=0)
    return agreement_with_preferences(
        live.board,
        matrix.part,
        matrix.scores.values,
        matrix.pairs,
        resampled="instances",
        draws=0,
        seed=0,
        sides=live.settings.sides,
    )[0]


def _noise(live: LiveBoard, matrix: JudgedMatrix, name: str, best: Submission | None) -> float:
    """By how much a metric must beat its team's best: the owner's step, or the standard error of their difference."""
    step = live.settings.ladder
    if not isinstance(step, bool):
        return step
    return paired_noise(
        matrix.scores.of(name).ravel(),
        None if best is None else _scores_of(live, matrix, best),
        matrix.judged_human.ravel(),
    )


def _scores_of(live: LiveBoard, matrix: JudgedMatrix, metric: Submission) -> Floats | None:
    """A metric's scores, also of one that is no more on the board; None where they are gone."""
    for name, present in live.metrics.items():
        if present.id == metric.id and name in matrix.scores.names:
            return matrix.scores.of(name).ravel()
    signature = metric.settings.get("signature")
    if metric.way == "scores" or signature is None:
        return None
    scores = board_scores(live.board, live.site.cells(live.name).only([str(signature)]))
    columns = [k for k, column in enumerate(scores.columns) if column.signature == signature]
    return scores.values[columns[0]].ravel() if columns else None


def _unit(live: LiveBoard, n: int) -> float:
    """What values are published in multiples of: the owner's step, or the digits that they support."""
    step = live.settings.ladder
    return 10.0 ** -supported_decimals(n) if isinstance(step, bool) else step


def _digest(matrix: JudgedMatrix) -> str:
    """The judgments that agreement is measured on."""
    if matrix.pairs is not None:
        pairs = matrix.pairs
        return hashlib.sha256(
            b"".join(each.tobytes() for each in (pairs.better, pairs.worse, pairs.instance))
        ).hexdigest()[:16]
    human = matrix.judged_human
    return hashlib.sha256(human[np.isfinite(human)].tobytes()).hexdigest()[:16]


def _kept(metric: Submission, judgments: str) -> Rung | None:
    kept = metric.settings.get(WORD)
    if not isinstance(kept, Mapping) or kept.get("judgments") != judgments:
        return None
    return Rung(value=float(kept["value"]), improves=bool(kept["improves"]))


def keep_rungs(connection: Connection, live: LiveBoard, climbed: Climbed, *, now: float) -> None:
    """Write down what is published of each metric, with its submission."""
    for name, rung in climbed.rungs.items():
        metric = submissions.get(connection, live.metrics[name].id)
        if _kept(metric, climbed.judgments) is None:
            kept = {"judgments": climbed.judgments, "value": rung.value, "improves": rung.improves}
            settings = {**metric.settings, WORD: kept}
            submissions.change(connection, metric.id, "submission.ladder", actor="site", now=now, settings=settings)
