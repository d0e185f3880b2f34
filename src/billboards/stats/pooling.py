"""Partial pooling of metrics' agreement over boards: what a metric may reach on a board that nobody has judged.

The agreement of a metric on a board, as Fisher's z, is a sum of normal effects, each with a standard deviation of its
own, and an error:

    z = mean + task + language + collection + board
        + metric + metric × task + metric × language + metric × collection + rest + error

Errors have the covariance that resampling gives them, metrics of one board together. Boards share the effects of task
and language as far as these are alike, 1 where they are the same; those of one collection share people, texts or
generators, so that eight boards of one campaign don't count as eight. Standard deviations have weak priors (Rayleigh's,
of `SCALES`), so that a design that says nothing about one of them gives back the prior: few boards widen what is
predicted. Their posterior is taken as Student's t around its mode, corrected by importance weights, and predictions
are averaged over draws from it. With many boards this is restricted maximum likelihood, as lme4 fits
`z ~ (1 | task) + (1 | language) + (1 | collection) + (1 | board) + (1 | metric) + (1 | metric:task) + …`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from billboards.errors import NotEnoughData

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

#: What an agreement is made of, beside the mean and the error of measuring.
EFFECTS = (
    "task", "language", "collection", "board",
    "metric", "metric × task", "metric × language", "metric × collection", "rest",
)  # fmt: skip
#: The mode of each standard deviation before any board is seen, in units of z.
SCALES: Floats = np.array([0.2, 0.2, 0.2, 0.2, 0.2, 0.1, 0.1, 0.1, 0.1])
#: The standard deviation of the mean: anything between no agreement and a perfect one.
MEAN = 1.0
#: Draws from the posterior of the standard deviations, and the degrees of freedom of the t that they come from.
DRAWS = 32
_FREEDOM = 6.0
#: Standard deviations are estimated from at most this many agreements; the rest still predicts.
MOST = 1500
#: Added to each variance, so that two metrics that are the same can be told apart by the computer.
_HAIR = 1e-8
_LOWEST, _HIGHEST = math.log(1e-4), math.log(3.0)


@dataclass(frozen=True, kw_only=True)
class Agreements:
    """Agreements as Fisher's z, with the board and the metric of each and the covariance of their errors.

    `task`, `language` and `collection` say how alike those of every two boards are, from 0 to 1; each board is like
    itself.
    """

    z: Floats
    board: Ints
    metric: Ints
    noise: Floats
    task: Floats
    language: Floats
    collection: Floats

    def of(self, chosen: NDArray[np.bool_]) -> Agreements:
        """Some of the agreements."""
        return replace(
            self,
            z=self.z[chosen],
            board=self.board[chosen],
            metric=self.metric[chosen],
            noise=self.noise[np.ix_(chosen, chosen)],
        )


@dataclass(frozen=True, kw_only=True)
class Pooling:
    """The standard deviations of `EFFECTS`: the posterior's mode, and draws from it with their weights."""

    sds: Floats
    drawn: Floats
    weights: Floats


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What is asked for: metrics on one board, new or among the boards, and how alike it is to each of the boards."""

    metric: Ints
    task: Floats
    language: Floats
    collection: Floats
    board: int | None = None


@dataclass(frozen=True, kw_only=True)
class Predicted:
    """What several metrics reach on one board, as a mixture of normals: draws × metrics, and draws × both."""

    means: Floats
    covariances: Floats
    weights: Floats

    @property
    def mean(self) -> Floats:
        mean: Floats = self.weights @ self.means
        return mean

    @property
    def sd(self) -> Floats:
        within = np.einsum("d,dkk->k", self.weights, self.covariances)
        sd: Floats = np.sqrt(within + self.weights @ (self.means - self.mean) ** 2)
        return sd

    def draw(self, draws: int, seed: int) -> Floats:
        """Joint draws of the metrics' z, as draws × metrics."""
        random = np.random.default_rng(seed)
        # Systematic: each part of the mixture has the draws that it deserves, within one.
        places = (np.arange(draws) + random.random()) / draws
        part = np.minimum(np.searchsorted(np.cumsum(self.weights), places), len(self.weights) - 1)
        normal = random.standard_normal((draws, self.means.shape[1]))
        drawn = np.empty_like(normal)
        for k in np.unique(part):
            values, vectors = np.linalg.eigh(self.covariances[k])
            root = vectors * np.sqrt(np.maximum(values, 0.0))
            drawn[part == k] = self.means[k] + normal[part == k] @ root.T
        return drawn


def fit_pooling(agreements: Agreements, *, draws: int = DRAWS, seed: int = 0) -> Pooling:
    """The standard deviations of the effects, with what is not known about them."""
    from scipy.optimize import minimize

    if not len(agreements.z):
        raise NotEnoughData("there is no agreement of any metric on any board to pool")
    posterior = _Posterior(_part(agreements))

    def loss(logs: Floats) -> tuple[float, Floats]:
        value, slope = posterior.value_and_slope(logs)
        return -value, -slope

    bounds = [(_LOWEST, _HIGHEST)] * len(EFFECTS)
    fitted = minimize(loss, np.log(SCALES), jac=True, method="L-BFGS-B", bounds=bounds)
    mode = np.asarray(fitted.x, np.float64)
    draws = max(1, min(draws, int(draws * (MOST / len(agreements.z)) ** 3)))
    drawn, weights = _importance_draws(posterior, mode, draws, seed)
    return Pooling(sds=np.exp(mode), drawn=np.exp(drawn), weights=weights)


def thinned(pooling: Pooling, draws: int) -> Pooling:
    """The same posterior in fewer draws, each with the same weight."""
    places = (np.arange(draws) + 0.5) / draws
    picked = np.minimum(np.searchsorted(np.cumsum(pooling.weights), places), len(pooling.weights) - 1)
    return replace(pooling, drawn=pooling.drawn[picked], weights=np.full(draws, 1 / draws))


def predict(pooling: Pooling, agreements: Agreements, asked: Asked) -> Predicted:
    """What metrics reach on the board that is asked for; a metric below 0 is one that no board has seen."""
    kernels, among = _asked_kernels(agreements, asked), _own_kernels(asked.metric)
    parts = _kernels(agreements)
    means, covariances = [], []
    for sds in pooling.drawn:
        factor = _factor(_total(sds, parts) + agreements.noise)
        shared = _total(sds, kernels, hair=False)
        means.append(shared @ _solve(factor, agreements.z))
        covariances.append(_total(sds, among, hair=False) - shared @ _solve(factor, shared.T))
    return Predicted(means=np.array(means), covariances=np.array(covariances), weights=pooling.weights)


def leave_boards_out(pooling: Pooling, agreements: Agreements, groups: Sequence[Iterable[int]]) -> list[Predicted]:
    """What would be measured on each group of boards, predicted from all others; errors of measuring are included.

    The standard deviations stay those of all boards: with them, V⁻¹ holds every answer at once. The agreements of a
    group are in the order that they have there.
    """
    parts = _kernels(agreements)
    inside = [np.flatnonzero(np.isin(agreements.board, list(group))) for group in groups]
    means: list[list[Floats]] = [[] for _ in inside]
    covariances: list[list[Floats]] = [[] for _ in inside]
    for sds in pooling.drawn:
        factor = _factor(_total(sds, parts) + agreements.noise)
        inverse = _solve(factor, np.eye(len(agreements.z)))
        pulled = inverse @ agreements.z
        for k, rows in enumerate(inside):
            covariance = np.linalg.inv(inverse[np.ix_(rows, rows)])
            means[k].append(agreements.z[rows] - covariance @ pulled[rows])
            covariances[k].append((covariance + covariance.T) / 2)
    return [
        Predicted(means=np.array(m), covariances=np.array(c), weights=pooling.weights)
        for m, c in zip(means, covariances, strict=True)
    ]


class _Posterior:
    """The log density of the logarithms of the standard deviations, given agreements."""

    def __init__(self, agreements: Agreements) -> None:
        self.agreements, self.kernels = agreements, _kernels(agreements)

    def value(self, logs: Floats) -> float:
        return self._value(logs, *self._factored(logs))

    def value_and_slope(self, logs: Floats) -> tuple[float, Floats]:
        factor, pulled = self._factored(logs)
        inverse = _solve(factor, np.eye(len(pulled)))
        explained = np.einsum("i,kij,j->k", pulled, self.kernels, pulled, optimize=True)
        expected = self.kernels.reshape(len(EFFECTS), -1) @ inverse.ravel()
        variances = np.exp(2 * logs)
        return self._value(logs, factor, pulled), variances * (explained - expected) + 2 - variances / SCALES**2

    def precision(self, logs: Floats) -> Floats:
        """The curvature at the mode, the average of the observed and the expected one: always positive definite."""
        factor, pulled = self._factored(logs)
        moved = np.einsum("kij,j->ki", self.kernels, pulled) * np.exp(2 * logs)[:, None]
        curved: Floats = 4 * np.eye(len(logs)) + 2 * moved @ _solve(factor, moved.T)
        return (curved + curved.T) / 2

    def _factored(self, logs: Floats) -> tuple[Floats, Floats]:
        factor = _factor(_total(np.exp(logs), self.kernels) + self.agreements.noise)
        return factor, _solve(factor, self.agreements.z)

    def _value(self, logs: Floats, factor: Floats, pulled: Floats) -> float:
        likelihood = -0.5 * float(self.agreements.z @ pulled) - float(np.log(np.diag(factor)).sum())
        return likelihood + float((2 * logs - np.exp(2 * logs) / (2 * SCALES**2)).sum())


def _importance_draws(posterior: _Posterior, mode: Floats, draws: int, seed: int) -> tuple[Floats, Floats]:
    """Logarithms of standard deviations, draws × effects, and how much each counts; a single draw is the mode."""
    if draws == 1:
        return mode[None], np.ones(1)
    root = np.linalg.cholesky(posterior.precision(mode))
    random = np.random.default_rng(seed)
    normal = random.standard_normal((draws, len(mode)))
    steps = normal * np.sqrt(_FREEDOM / random.chisquare(_FREEDOM, draws))[:, None]
    drawn = np.clip(mode + np.linalg.solve(root.T, steps.T).T, _LOWEST, _HIGHEST)
    proposed = -(_FREEDOM + len(mode)) / 2 * np.log1p((steps**2).sum(axis=1) / _FREEDOM)
    weights = np.array([posterior.value(logs) for logs in drawn]) - proposed
    weights = np.exp(weights - weights.max())
    return drawn, weights / weights.sum()


def _part(agreements: Agreements) -> Agreements:
    """The agreements that standard deviations are estimated from: of boards that lie evenly among all."""
    if len(agreements.z) <= MOST:
        return agreements
    boards = np.unique(agreements.board)
    step = math.ceil(len(agreements.z) / MOST)
    part = agreements.of(np.isin(agreements.board, boards[::step]))
    return part.of(np.arange(len(part.z)) < MOST)


def _kernels(agreements: Agreements) -> Floats:
    """How far two agreements share each effect, as effects × agreements × agreements."""
    board, metric = agreements.board, agreements.metric
    alike = (agreements.task, agreements.language, agreements.collection)
    shared = [among[np.ix_(board, board)] for among in alike]
    return _effects([*shared, board[:, None] == board], metric[:, None] == metric)


def _asked_kernels(agreements: Agreements, asked: Asked) -> Floats:
    """How far what is asked for shares each effect with the agreements, as effects × metrics × agreements."""
    shape = len(asked.metric), len(agreements.z)
    alike = (asked.task, asked.language, asked.collection)
    shared = [np.broadcast_to(among[agreements.board], shape) for among in alike]
    board = np.broadcast_to(agreements.board == (-1 if asked.board is None else asked.board), shape)
    return _effects([*shared, board], asked.metric[:, None] == agreements.metric)


def _own_kernels(metric: Ints) -> Floats:
    """The same among metrics on one board."""
    whole = np.ones((len(metric), len(metric)))
    return _effects([whole] * 4, np.eye(len(metric)))


def _effects(boards: Sequence[NDArray[np.generic]], metric: NDArray[np.generic]) -> Floats:
    """What is shared by task, language, collection and board, for all metrics, and for the same one."""
    levels, same = np.array(boards, np.float64), np.asarray(metric, np.float64)
    return np.concatenate([levels, same[None], same * levels])


def _total(sds: Floats, kernels: Floats, *, hair: bool = True) -> Floats:
    """The covariance that the effects and the mean make."""
    total: Floats = MEAN**2 + np.tensordot(sds**2, kernels, axes=1)
    if hair:
        total[np.diag_indices(len(total))] += _HAIR
    return total


def _factor(matrix: Floats) -> Floats:
    return np.asarray(np.linalg.cholesky(matrix), np.float64)


def _solve(factor: Floats, right: Floats) -> Floats:
    from scipy.linalg import cho_solve

    solved: Floats = cho_solve((factor, True), right, check_finite=False)
    return solved
