"""Metrics ranked without a board: plain arrays or data frames, a row per judged output.

Rows are laid out as a board's would be, outputs × instances, so that the same statistics serve both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from billboards.analyses._analysis import Result
from billboards.analyses.rank import MetricStanding, Ranking, metric_table
from billboards.analyses.rank import rank_metrics as _rank_columns
from billboards.board import Column
from billboards.errors import InvalidInput
from billboards.show.documents import document_of
from billboards.stats.correlation import pearson_with_intervals
from billboards.stats.significance import Sides, permute_correlations

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def rank_metrics(
    scores: Any,
    human: ArrayLike,
    *,
    instances: ArrayLike | None = None,
    draws: int = 1000,
    seed: int = 0,
    sides: Sides = "two",
) -> Result[tuple[MetricStanding, ...]]:
    """Metrics by correlation with human scores, for plain arrays or data frames: one row per judged output.

    scores: a data frame, a mapping of names to columns, or an array with a column per metric
    human: a score by people for each row
    instances: which rows belong to the same instance, so that the bootstrap keeps them together
    draws: bootstrap draws for intervals, and exchanges of tests
    seed: seed of what is random
    sides: tests ask whether two metrics differ, or with "one" whether the one ahead is better

    Example:

        bb.rank_metrics({"BLEU": [20.0, 31.0, 12.0], "chrF": [0.4, 0.6, 0.3]}, [70.0, 90.0, 60.0])
    """
    columns = _columns(scores)
    judged = np.asarray(human, np.float64).ravel()
    for name, values in columns.items():
        if len(values) != len(judged):
            raise InvalidInput(
                f"metric {name} has {len(values)} scores for {len(judged)} human ones; one each is needed"
            )
    matrix, people = _by_instance(np.array(list(columns.values())).reshape(-1, len(judged)), judged, instances)
    correlations = pearson_with_intervals(matrix, people, draws=draws, seed=seed)
    tests = permute_correlations(matrix, people, draws=draws, seed=seed, sides=sides).p if draws else None
    standings = _rank_columns([Column(name=name, signature="given") for name in columns], correlations, tests)
    ranking = Ranking(
        board="scores",
        board_version="",
        statistic="pearson",
        grouping="pooled",
        aggregate="human",
        part="whole board",
        references=(),
        seed=seed,
        draws=draws,
        metrics=standings,
        generators=(),
        ranked_by=None,
        ensemble=None,
        sides=sides,
    )
    return Result(value=standings, tables=(metric_table(ranking),), document=document_of(ranking))


def _columns(scores: Any) -> dict[str, Any]:
    if isinstance(scores, Mapping) or hasattr(scores, "columns"):
        names = list(scores.columns if hasattr(scores, "columns") else scores)
        return {str(name): np.asarray(scores[name], np.float64).ravel() for name in names}
    matrix = np.asarray(scores, np.float64)
    matrix = matrix[:, None] if matrix.ndim == 1 else matrix
    if matrix.ndim != 2:
        raise InvalidInput(f"scores must have one row per output and one column per metric; found shape {matrix.shape}")
    return {f"metric {k}": column for k, column in enumerate(matrix.T, 1)}


def _by_instance(matrix: Any, judged: Any, instances: ArrayLike | None) -> tuple[Any, Any]:
    """Rows laid out as (k-th output of an instance) × instances, NaN where an instance has fewer outputs."""
    if instances is None:
        return matrix[:, None, :], judged[None, :]
    group = np.asarray(instances).ravel()
    if len(group) != len(judged):
        raise InvalidInput(f"instances names {len(group)} rows where there are {len(judged)}")
    _, code = np.unique(group, return_inverse=True)
    order = np.argsort(code, kind="stable")
    starts = np.searchsorted(code[order], np.arange(code.max(initial=-1) + 1))
    place = np.empty(len(code), int)
    place[order] = np.arange(len(code)) - starts[code[order]]
    shape = (place.max(initial=0) + 1, code.max(initial=-1) + 1)
    laid, people = np.full((len(matrix), *shape), np.nan), np.full(shape, np.nan)
    laid[:, place, code] = matrix
    people[place, code] = judged
    return laid, people
