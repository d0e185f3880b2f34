"""The ensemble on a board: which metrics may join, the fit under a signature, what each is worth, and using it again.

Statistics never join: they describe an output without judging it. A metric joins only when it has scored the judged
outputs; one that lacks many is left out by name, because keeping it would throw those outputs away for all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from billboards.analyses.ranking_results import Ablation, Ensemble, EnsembleStudy, Method
from billboards.board import Board, Scores
from billboards.errors import InvalidInput, NotEnoughData
from billboards.stats.correlation import between_metrics
from billboards.stats.ensemble import Blocks, EnsembleFit, Linear, apply_linear, fit_ensemble, gather_blocks
from billboards.stats.subsets import fit_best_subset

Floats = NDArray[np.float64]

#: The name under which the ensemble's scores stand beside the metrics'.
ENSEMBLE = "ensemble"
#: A metric that lacks more than this share of the judged outputs does not join.
MOST_MISSING = 0.1


@dataclass(frozen=True)
class Candidates:
    """The metrics that may join, by their columns' positions, and why the others may not."""

    columns: tuple[int, ...]
    left_out: Mapping[str, str]


def candidates(scores: Scores, human: Floats) -> Candidates:
    """Which metrics may join an ensemble on these judged rows."""
    judged = np.isfinite(human)
    if not judged.any():
        raise NotEnoughData("no output is judged")
    rows = judged.any(axis=1)
    columns, left_out = [], {}
    for k, column in enumerate(scores.columns):
        scored = np.isfinite(scores.values[k]) & judged
        if column.is_statistic:
            left_out[column.name] = "a statistic, not a metric"
        elif not scored[rows].any(axis=1).all():
            left_out[column.name] = (
                f"scores {int(scored[rows].any(axis=1).sum())} of {int(rows.sum())} judged generators"
            )
        elif scored.sum() < (1 - MOST_MISSING) * judged.sum():
            left_out[column.name] = f"scores {int(scored.sum())} of {int(judged.sum())} judged outputs"
        elif np.ptp(scores.values[k][scored]) == 0:
            left_out[column.name] = "has the same score for every judged output"
        else:
            columns.append(k)
    return Candidates(tuple(columns), left_out)


@dataclass(frozen=True)
class FittedEnsemble:
    """An ensemble with the sums it was fitted on, so that its study costs nothing more."""

    ensemble: Ensemble
    blocks: Blocks
    names: tuple[str, ...]


def fit_board_ensemble(
    board: Board,
    scores: Scores,
    human: Floats,
    *,
    aggregate: str,
    references: tuple[str, ...],
    part: str = "",
    k: int = 3,
    lam: float | None = None,
    method: Method = "lasso",
) -> FittedEnsemble:
    """Fit the ensemble of k metrics (or at a given lambda) on judged rows; `version` is still 0."""
    chosen = candidates(scores, human)
    if not chosen.columns:
        reasons = "; ".join(f"{name}: {why}" for name, why in chosen.left_out.items()) or "there are no scores"
        raise NotEnoughData(f"no metric can join an ensemble ({reasons})")
    if np.ptp(human[np.isfinite(human)]) == 0:
        raise NotEnoughData("every judgment is the same, so there is nothing to fit an ensemble to")
    blocks = gather_blocks([scores.values[column] for column in chosen.columns], human)
    fit = _fit(blocks, k, lam, method)
    names = tuple(scores.columns[column].name for column in chosen.columns)
    used = [n for n, weight in enumerate(fit.linear.weights) if weight != 0.0]
    ensemble = Ensemble(
        board.name,
        board.version,
        0,
        references,
        fit.lam,
        fit.lam_range,
        k,
        _by_weight({names[n]: float(fit.linear.weights[n]) for n in used}),
        {names[n]: float(fit.linear.centre[n]) for n in used},
        {names[n]: float(fit.linear.scale[n]) for n in used},
        {names[n]: scores.columns[chosen.columns[n]].signature for n in used},
        fit.linear.intercept,
        _defined(fit.correlation),
        fit.n,
        aggregate,
        names,
        chosen.left_out,
        part,
        method,
    )
    return FittedEnsemble(ensemble, blocks, names)


def _fit(blocks: Blocks, k: int, lam: float | None, method: Method) -> EnsembleFit:
    if method == "lasso":
        return fit_ensemble(blocks, k=k, lam=lam)
    if lam is not None:
        raise InvalidInput("lambda belongs to the lasso; the best subset shrinks nothing: give k alone")
    return fit_best_subset(blocks, k=k)


def study_ensemble(fitted: FittedEnsemble, scores: Scores, human: Floats) -> EnsembleStudy:
    """What each metric is worth: ablations of those selected, the gain from each candidate, and their correlations."""
    ensemble, names = fitted.ensemble, fitted.names
    without = {name: _without(fitted, name) for name in names}
    ablations = tuple(_ablation(name, without[name], names) for name in ensemble.weights)
    # Without a metric lambda is tuned anew, so the whole is too: a gain must not be a difference between two lambdas.
    tuned = _fit(fitted.blocks, ensemble.k, None, ensemble.method).correlation
    gains = {name: _gain(tuned, fit) for name, fit in without.items()}
    judged = np.where(np.isfinite(human), 1.0, np.nan)
    matrix = between_metrics(np.stack([scores.of(name) * judged for name in names]))
    correlations = tuple(tuple(_defined(r) for r in row) for row in matrix)
    return EnsembleStudy(ensemble, ablations, gains, names, correlations)


def _without(fitted: FittedEnsemble, name: str) -> EnsembleFit | None:
    try:
        rest = fitted.blocks.without_metrics([fitted.names.index(name)])
        return _fit(rest, fitted.ensemble.k, None, fitted.ensemble.method)
    except NotEnoughData:
        return None


def _ablation(removed: str, fit: EnsembleFit | None, names: tuple[str, ...]) -> Ablation:
    if fit is None:
        return Ablation(removed, None, {}, float("nan"))
    rest = [name for name in names if name != removed]
    weights = {name: float(weight) for name, weight in zip(rest, fit.linear.weights, strict=True) if weight}
    return Ablation(removed, _defined(fit.correlation), _by_weight(weights), fit.lam)


def _gain(whole: float, fit: EnsembleFit | None) -> float | None:
    return None if fit is None else _defined(whole - fit.correlation)


def ensemble_scores(ensemble: Ensemble, scores: Scores) -> Floats:
    """The ensemble's score of every output that all its metrics have scored (rows × instances)."""
    names = tuple(ensemble.weights)
    for name in names:
        column = scores.columns[scores.column(name)]
        if column.signature != ensemble.signatures[name]:
            raise InvalidInput(
                f"{ensemble.signature} was fitted with {name} as {ensemble.signatures[name]}, "
                f"but the scores at hand are {column.signature}; score with that version, or fit a new ensemble"
            )
    return combine(ensemble, {name: scores.of(name) for name in names})


def combine(ensemble: Ensemble, scores: Mapping[str, Floats]) -> Floats:
    """The ensemble's scores from its metrics' scores, by name."""
    names = tuple(ensemble.weights)
    linear = Linear(
        np.array([ensemble.weights[name] for name in names]),
        np.array([ensemble.centres[name] for name in names]),
        np.array([ensemble.scales[name] for name in names]),
        ensemble.intercept,
    )
    return apply_linear(linear, np.stack([scores[name] for name in names]))


def _by_weight(weights: Mapping[str, float]) -> dict[str, float]:
    return dict(sorted(weights.items(), key=lambda item: -abs(item[1])))


def _defined(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
