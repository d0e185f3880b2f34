"""Where metrics and generators stand: in which order, with which rank, and why some have none.

What has no value has no rank; what permutation tests can't tell apart shares one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from billboards.analyses.ensemble import ENSEMBLE, ensemble_scores
from billboards.analyses.ranking_results import Ensemble, GeneratorStanding, MetricStanding
from billboards.analyses.view import Floats, View
from billboards.board import Board, Column
from billboards.stats.clusters import significance_clusters
from billboards.stats.correlation import Correlations
from billboards.stats.significance import permute_values

_Standing = TypeVar("_Standing", bound=MetricStanding | GeneratorStanding)


def rank_metrics(
    columns: Sequence[Column], found: Correlations, tests: Floats | None = None
) -> tuple[MetricStanding, ...]:
    """Metrics in order of correlation; those without one last, unranked, with the reason.

    `tests` holds the p-value that one metric is better than another; without it, only equal correlations share a rank.
    """
    order, ranks, clusters = places(found.r, tests)
    standings = [
        MetricStanding(
            column.name,
            column.signature,
            ranks[k],
            None if np.isnan(found.r[k]) else float(found.r[k]),
            int(found.n[k]),
            None if np.isnan(found.low[k]) else (float(found.low[k]), float(found.high[k])),
            column.references,
            column.origin,
            column.source_name,
            column.reference_free,
            column.is_statistic,
            clusters.get(k),
            _why_undefined(found, k),
        )
        for k, column in enumerate(columns)
    ]
    return _in_order(standings, order)


def rank_generators(
    board: Board, view: View, ensemble: Ensemble | None, ranked_by: str | None, draws: int, seed: int
) -> tuple[GeneratorStanding, ...]:
    """Generators by their mean under what ranks them; who was scored on less than others has no rank."""
    columns = dict(zip(view.scores.names, view.scores.values, strict=True))
    if ensemble is not None:
        columns[ENSEMBLE] = ensemble_scores(ensemble, view.scores)
    rows = [k for k, row in enumerate(board.rows) if row.generator is not None]
    full = {
        name: max((_count(values[k]) for k in rows if not board.rows[k].is_optimised), default=0)
        for name, values in columns.items()
    }
    means, tests = np.full(len(rows), np.nan), None
    if ranked_by is not None and rows:
        leading = columns[ranked_by][rows]
        covered = np.isfinite(leading).sum(axis=1)
        real = np.array([not board.rows[k].is_optimised for k in rows], bool)
        complete = (covered > 0) & (covered == full[ranked_by]) & real
        means[complete] = [one[np.isfinite(one)].mean() for one in leading[complete]]
        tests = _tests_between(leading, complete, draws, seed) if draws else None
    order, ranks, clusters = places(means, tests)
    standings = [
        _generator_standing(board, view, columns, full, ranked_by, k, ranks[place], clusters.get(place))
        for place, k in enumerate(rows)
    ]
    return _in_order(standings, order)


def places(values: Floats, tests: Floats | None) -> tuple[list[int], list[int | None], dict[int, int]]:
    """The order of what has a value, best first; ranks; and clusters where there are tests.

    Entries of one cluster share the rank of its first; without tests, entries of equal value share one.
    """
    order = [int(k) for k in np.argsort(-values, kind="stable") if not np.isnan(values[k])]
    clusters = significance_clusters(order, tests) if tests is not None else {}
    ranks: list[int | None] = [None] * len(values)
    for place, k in enumerate(order):
        before = order[place - 1] if place else None
        together = before is not None and (
            clusters[k] == clusters[before]
            if clusters
            else bool(np.isclose(values[k], values[before], rtol=1e-12, atol=1e-15))
        )
        ranks[k] = ranks[before] if together and before is not None else place + 1
    return order, ranks, clusters


def _why_undefined(found: Correlations, k: int) -> str | None:
    if not np.isnan(found.r[k]):
        return None
    if found.n[k] == 0:
        return "no judged output has a score"
    if found.n[k] == 1:
        return "only one judged output has a score"
    return "the scores or the judgments don't vary"


def _tests_between(values: Floats, complete: NDArray[np.bool_], draws: int, seed: int) -> Floats:
    """P-values between the rows that get a place; the others have gaps of their own and would be tested two by two."""
    if complete.all():
        return permute_values(values, draws=draws, seed=seed).p
    found = permute_values(values[complete], draws=draws, seed=seed).p
    tests = np.full((len(values), len(values)), np.nan)
    tests[np.ix_(complete, complete)] = found
    return tests


def _generator_standing(
    board: Board,
    view: View,
    columns: dict[str, Floats],
    full: dict[str, int],
    ranked_by: str | None,
    k: int,
    rank: int | None,
    cluster: int | None,
) -> GeneratorStanding:
    row = board.rows[k]
    covered = {name: _count(values[k]) for name, values in columns.items()}
    reason = None
    if row.generator is not None and row.is_optimised:
        reason = f"optimised by {row.generator.optimised_by}: shown, never ranked among the others"
    elif rank is None and ranked_by is not None:
        is_reference = board.is_reference(row, view.references)
        reason = (
            "the text is among the references"
            if is_reference
            else f"{ranked_by} scores {covered[ranked_by]} of {full[ranked_by]} instances"
        )
    return GeneratorStanding(
        row.name,
        "machine" if row.generator is None else row.generator.kind,
        rank,
        {name: _mean(values[k]) for name, values in columns.items()},
        covered,
        _mean(view.human[k]),
        _count(view.human[k]),
        reason,
        cluster,
    )


def _count(values: Floats) -> int:
    return int(np.isfinite(values).sum())


def _mean(values: Floats) -> float | None:
    there = np.isfinite(values)
    return float(values[there].mean()) if there.any() else None


def _in_order(standings: Sequence[_Standing], order: Sequence[int]) -> tuple[_Standing, ...]:
    """The ranked ones best first, then the others by name."""
    ranked = [standings[k] for k in order]
    rest = [standing for standing in standings if standing.rank is None]
    return (*ranked, *sorted(rest, key=lambda standing: standing.name))
