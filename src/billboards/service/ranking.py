"""Ranking a board: metrics by how well they agree with people, generators by the metric that agrees best (§2.1).

Every judged row takes part whose text is not among the references. The best metric, or the ensemble where it agrees
better, ranks the generators; statistics and reference-free metrics are shown but don't decide alone where there are
references, because a metric without references rewards outputs like those of its own model. What has no value has no
rank; what permutation tests can't tell apart shares one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from billboards.domain import (
    Board,
    Column,
    Ensemble,
    GeneratorStanding,
    Method,
    MetricStanding,
    Preferences,
    Ranking,
    ReferenceSet,
    Resampled,
    Scores,
    Slice,
    human_scores,
    is_preference,
)
from billboards.errors import NotEnoughData, UnknownName
from billboards.service.ensembles import FittedEnsemble, ensemble_scores, fit_board_ensemble
from billboards.service.lines import reference_lines, rows_ranked
from billboards.service.matrix import board_scores
from billboards.service.preferences import GROUPING, STATISTIC, agreement_with_preferences, pairs_in
from billboards.service.resampling import correlations_with_intervals
from billboards.stats.clusters import significance_clusters
from billboards.stats.correlation import Correlations
from billboards.stats.significance import permute_correlations, permute_values
from billboards.store.base import CellStore

Floats = NDArray[np.float64]

ENSEMBLE = "ensemble"
DRAWS = 1000


@dataclass(frozen=True)
class View:
    """What a ranking looks at: the matrix, people's scores on the same cells, and which rows are judged.

    Where people compared outputs there are `pairs` and no scores: what a fit or a correlation needs is missing.
    """

    scores: Scores
    human: Floats
    judged: NDArray[np.bool_]
    aggregate: str
    references: ReferenceSet
    part: Slice
    pairs: Preferences | None = None

    @cached_property
    def judged_human(self) -> Floats:
        """People's scores with NaN on rows that don't take part."""
        return only_rows(self.human, self.judged)


def only_rows(human: Floats, rows: NDArray[np.bool_]) -> Floats:
    """People's scores with NaN outside these rows; a copy only where there is anything to take out."""
    return np.where(rows[:, None], human, np.nan) if np.isfinite(human[~rows]).any() else human


def view_board(
    board: Board,
    store: CellStore | None,
    *,
    aggregate: str | None = None,
    references: ReferenceSet | None = None,
    part: Slice | None = None,
) -> View:
    """The matrix and judgments of a slice of the board."""
    part = part or Slice()
    shape = (len(board.rows), len(board.instances))
    human = np.full(shape, np.nan)
    name = ""
    if board.ranks is not None or aggregate is not None:
        chosen = board.aggregate(aggregate)
        human, name = human_scores(board.judgments, chosen, board.dimensions, shape), chosen.name
    scores = board_scores(board, store, references=references)
    used = board.references if references is None else references
    ranked = rows_ranked(board, used)
    compared = name != "" and is_preference(board, board.aggregate(aggregate))
    pairs = pairs_in(board, board.aggregate(aggregate), part, ranked) if compared else None
    if part:
        keep = list(board.select(part))
        scores = Scores(scores.columns, scores.rows, scores.values[:, :, keep])
        human = human[:, keep]
    return View(scores, human, np.isfinite(human).any(axis=1) & ranked, name, used, part, pairs)


def rank_board(
    board: Board,
    store: CellStore | None,
    *,
    aggregate: str | None = None,
    references: ReferenceSet | None = None,
    part: Slice | None = None,
    k: int = 3,
    lam: float | None = None,
    by: str | None = None,
    method: Method = "lasso",
    resampled: Resampled = "instances",
    draws: int = DRAWS,
    seed: int = 0,
    barred: Mapping[str, str] | None = None,
) -> Ranking:
    """Everything a board says: metrics, ensemble and generators, ranked, and lines to read the metrics against.

    `barred` metrics may not rank the generators alone, each for the reason given, unless asked for by name.
    """
    judged = board.ranks is not None or aggregate is not None
    # Before the matrix is there: on a large board each of the two needs much memory for a while.
    lines = reference_lines(board, part or Slice(), aggregate, references, seed=seed) if judged else ()
    view = view_board(board, store, aggregate=aggregate, references=references, part=part)
    notes: list[str] = []
    ensemble = _try_ensemble(board, view, k, lam, method, notes)
    other: Method = "lasso" if method == "best-subset" else "best-subset"
    alternative = _try_ensemble(board, view, k, None, other, [])
    found, tests = _agreement(board, view, resampled, draws, seed)
    metrics = rank_metrics(view.scores.columns, found, tests)
    ranked_by = _leader(board, metrics, ensemble, by, notes, barred or {})
    return Ranking(
        board.name,
        board.version,
        "pearson" if view.pairs is None else STATISTIC,
        "pooled" if view.pairs is None else GROUPING,
        view.aggregate,
        str(view.part),
        view.references,
        seed,
        draws,
        metrics,
        _rank_generators(board, _with_shares(view), ensemble, ranked_by, draws, seed),
        ranked_by,
        ensemble,
        tuple(notes),
        alternative,
        lines,
        resampled,
    )


def _agreement(
    board: Board, view: View, resampled: Resampled, draws: int, seed: int
) -> tuple[Correlations, Floats | None]:
    """How far each metric agrees with people, by the statistic that fits what they gave, and tests between metrics."""
    scores = view.scores.values
    if view.pairs is not None:
        return agreement_with_preferences(
            board, view.part, scores, view.pairs, resampled=resampled, draws=draws, seed=seed
        )
    human = view.judged_human
    found = correlations_with_intervals(board, view.part, scores, human, resampled=resampled, draws=draws, seed=seed)
    return found, permute_correlations(scores, human, draws=draws, seed=seed).p if draws else None


def _with_shares(view: View) -> View:
    """A view that shows, where people compared outputs, the share of its comparisons that each output won."""
    return view if view.pairs is None else replace(view, human=view.pairs.share_won(view.human.shape))


def fit_view(
    board: Board, view: View, *, k: int = 3, lam: float | None = None, method: Method = "lasso"
) -> FittedEnsemble:
    """The ensemble on what a view looks at; only generators take part, since one of them is held out at a time."""
    if view.pairs is not None:
        raise NotEnoughData(f"people compared outputs on {view.aggregate} and gave no values to fit")
    generators = np.array([row.generator is not None for row in board.rows], bool)
    human = only_rows(view.judged_human, generators)
    return fit_board_ensemble(
        board,
        view.scores,
        human,
        aggregate=view.aggregate,
        references=view.references,
        part=str(view.part) if view.part else "",
        k=k,
        lam=lam,
        method=method,
    )


def _try_ensemble(
    board: Board, view: View, k: int, lam: float | None, method: Method, notes: list[str]
) -> Ensemble | None:
    try:
        return fit_view(board, view, k=k, lam=lam, method=method).ensemble
    except NotEnoughData as error:
        notes.append(f"no ensemble: {error}")
        return None


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


def _why_undefined(found: Correlations, k: int) -> str | None:
    if not np.isnan(found.r[k]):
        return None
    if found.n[k] == 0:
        return "no judged output has a score"
    if found.n[k] == 1:
        return "only one judged output has a score"
    return "the scores or the judgments don't vary"


def _leader(
    board: Board,
    metrics: Sequence[MetricStanding],
    ensemble: Ensemble | None,
    by: str | None,
    notes: list[str],
    barred: Mapping[str, str],
) -> str | None:
    """The name of what ranks the generators."""
    if by is not None:
        if by == ENSEMBLE and ensemble is not None:
            return by
        chosen = next((m.name for m in metrics if by in (m.name, m.source_name)), None)
        if chosen is None:
            raise UnknownName("metric", by, [m.name for m in metrics])
        return chosen
    ranked = [m for m in metrics if m.correlation is not None and not m.is_statistic]
    able = [m for m in ranked if m.name not in barred and (board.free_may_rank or not m.reference_free)]
    for metric in ranked:
        if able and metric not in able and (metric.correlation or 0) > (able[0].correlation or 0):
            why = barred.get(metric.name, "uses no reference")
            notes.append(f"{metric.name} {why}: it correlates best but does not rank generators alone")
            break
    best = able[0] if able else None
    best_r = -np.inf if best is None or best.correlation is None else best.correlation
    if ensemble is not None and ensemble.correlation is not None and ensemble.correlation > best_r:
        return ENSEMBLE
    if best is not None and best.reference_free:
        notes.append(f"{best.name} uses no reference and ranks the generators: {_why_free(board)}")
    if best is None:
        notes.append("generators are not ranked: no metric has a correlation with judgments; choose one with --by")
        return None
    return best.name


def _why_free(board: Board) -> str:
    return "the board has none" if not board.references else "the board's owner allows it"


def _rank_generators(
    board: Board, view: View, ensemble: Ensemble | None, ranked_by: str | None, draws: int, seed: int
) -> tuple[GeneratorStanding, ...]:
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


_Standing = TypeVar("_Standing", bound=MetricStanding | GeneratorStanding)


def _in_order(standings: Sequence[_Standing], order: Sequence[int]) -> tuple[_Standing, ...]:
    """The ranked ones best first, then the others by name."""
    ranked = [standings[k] for k in order]
    rest = [standing for standing in standings if standing.rank is None]
    return (*ranked, *sorted(rest, key=lambda standing: standing.name))


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
