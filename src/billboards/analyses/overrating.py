"""Overrating on a board (§2.3): one person takes part, and that person's text is kept out of the references."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from billboards.analyses.ensemble import ENSEMBLE, ensemble_scores
from billboards.analyses.preferences import check_values
from billboards.analyses.ranking import fit_view
from billboards.analyses.ranking_results import Method, OverratingEstimate, OverratingReport
from billboards.analyses.view import view_board
from billboards.board import Board, Outputs, ReferenceSet, Scores, human_scores
from billboards.board.cells import CellStore
from billboards.board.matrix import board_scores
from billboards.errors import InvalidInput, NotEnoughData
from billboards.stats.overrating import overrating_all, overrating_crossed

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: What overrating can't say where people only compared outputs.
NO_EQUAL_QUALITY = "machines and people can't be compared at equal quality"


def human_generators(board: Board) -> tuple[str, ...]:
    """The people whose texts are judged, so that machines can be compared with them."""
    human = _people(board, None)
    return tuple(
        row.name
        for k, row in enumerate(board.rows)
        if row.generator is not None and row.generator.kind == "human" and np.isfinite(human[k]).any()
    )


def references_without(board: Board, human: str, references: ReferenceSet | None) -> ReferenceSet:
    """The references to score with: those asked for, or all but the person's own; never the person's own text."""
    row = board.row(human)
    if row.generator is None or row.generator.kind != "human":
        people = ", ".join(human_generators(board)) or "none"
        raise InvalidInput(f"{human} is not a human generator; judged ones on this board: {people}")
    own = [name for name in board.reference_names if board.is_reference(row, (name,))]
    if references is None:
        return tuple(name for name in board.references if name not in own)
    for name in references:
        if name in own:
            raise InvalidInput(f"reference {name} is {human}'s own text; leave it out of --references")
    return board.check_references(references)


def rows_compared(board: Board, human: str, aggregate: str | None = None) -> list[Outputs]:
    """The rows that take part: the person, and every judged machine."""
    people = _people(board, aggregate)
    return [row for row, takes_part in zip(board.rows, _takes_part(board, human, people), strict=True) if takes_part]


def _people(board: Board, aggregate: str | None) -> Floats:
    shape = (len(board.rows), len(board.instances))
    return human_scores(board.judgments, board.aggregate(aggregate), board.dimensions, shape)


def _takes_part(board: Board, human: str, people: Floats) -> NDArray[np.bool_]:
    return np.array(
        [
            row.name == human
            or (row.generator is not None and row.generator.kind == "machine" and np.isfinite(people[k]).any())
            for k, row in enumerate(board.rows)
        ],
        bool,
    )


def measure_overrating(
    board: Board,
    store: CellStore | None,
    human: str,
    *,
    references: ReferenceSet | None = None,
    aggregate: str | None = None,
    k: int = 3,
    lam: float | None = None,
    method: Method = "lasso",
    crossed: bool = False,
) -> OverratingReport:
    """Overrating of every metric and of the ensemble, or the reason why not; with generators as a sample if crossed."""
    check_values(board, aggregate, NO_EQUAL_QUALITY)
    used = references_without(board, human, references)
    chosen = board.aggregate(aggregate)
    people = _people(board, aggregate)
    if not np.isfinite(people[board.row_position[human]]).any():
        raise InvalidInput(f"{human} has no judgments under {chosen.name}; overrating compares with judged people")
    rows = _takes_part(board, human, people)
    machine = np.array([row.name != human for row in board.rows], bool)
    scores = board_scores(board, store, references=used)
    found, missing = [], _unscored(board, store, scores, used)
    columns = [(c.name, c.signature, scores.values[n]) for n, c in enumerate(scores.columns) if not c.is_statistic]
    columns += _ensemble_column(board, store, scores, aggregate, missing, k=k, lam=lam, method=method)
    matrix = np.array([values[rows] for _, _, values in columns]).reshape(-1, *people[rows].shape)
    measured = overrating_all(matrix, people[rows], machine[rows])
    for column, (name, signature, values) in enumerate(columns):
        try:
            result = measured.of(column)
            estimate = OverratingEstimate(
                name, signature, result.beta0, result.se, result.interval90, result.n, result.instances
            )
            found.append(_crossed(estimate, matrix[column], people[rows], machine[rows]) if crossed else estimate)
        except NotEnoughData as error:
            unscored = not np.isfinite(values[board.row_position[human]]).any()
            missing[name] = f"has no scores of {human}" if unscored else str(error)
    found.sort(key=lambda estimate: estimate.beta0)
    return OverratingReport(board.name, human, used, chosen.name, tuple(found), missing, crossed)


def _crossed(estimate: OverratingEstimate, scores: Floats, people: Floats, machine: Bools) -> OverratingEstimate:
    """The same metric where generators, too, are a sample."""
    found = overrating_crossed(scores, people, machine)
    components = {
        "instances": found.fit.instance_variance,
        "generators": found.fit.generator_variance,
        "residual": found.fit.residual_variance,
    }
    total = sum(components.values()) or 1.0
    shares = {name: value / total for name, value in components.items()}
    return replace(estimate, beta0=found.beta0, se=found.se, interval90=found.interval90, p=found.p, components=shares)


def _unscored(board: Board, store: CellStore | None, scores: Scores, used: ReferenceSet) -> dict[str, str]:
    """Metrics on the board that have no column against these references, and why."""
    reasons = {}
    there = set(scores.names)
    for column in board_scores(board, store).columns:
        if column.name not in there:
            source = "its released scores used" if column.origin == "imported" else "it was scored with"
            names = ", ".join(column.references)
            reasons[column.name] = f"{source} references {names}; scores with {', '.join(used)} alone are needed"
    return reasons


def _ensemble_column(
    board: Board,
    store: CellStore | None,
    scores: Scores,
    aggregate: str | None,
    missing: dict[str, str],
    *,
    k: int,
    lam: float | None,
    method: Method,
) -> list[tuple[str, str, Floats]]:
    """The board's ensemble on these scores: its weights are the board's, its metrics see these references."""
    try:
        fitted = fit_view(board, view_board(board, store, aggregate=aggregate), k=k, lam=lam, method=method)
    except NotEnoughData as error:
        missing[ENSEMBLE] = str(error)
        return []
    lacking = [name for name in fitted.ensemble.weights if name not in scores.names]
    if lacking:
        missing[ENSEMBLE] = f"its metrics {', '.join(lacking)} have no scores with these references"
        return []
    return [(ENSEMBLE, fitted.ensemble.signature, ensemble_scores(fitted.ensemble, scores))]
