"""Intraclass correlations: how much of the variance of ratings lies between units (Shrout & Fleiss 1979).

Three models, by who rates: ICC(1), others for every unit; ICC(2), annotators drawn from a population, whose severity
counts as error; ICC(3), these very annotators, whose severity doesn't matter. Each is given for a single rating and,
by the Spearman-Brown formula, for the mean of k. A full table takes the analysis of variance. With missing
ratings ICC(1) takes that of unequal groups, the others the REML variances of units and annotators, which are the same
thing where nothing is missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from billboards.errors import InvalidInput, NotEnoughData
from billboards.stats.crossed import fit_crossed
from billboards.stats.ratings import Ratings, ratings_in_table
from billboards.stats.reliability import Reliability, percentile_interval, resampled_units

Floats = NDArray[np.float64]
Model = Literal["ICC(1)", "ICC(2)", "ICC(3)"]

MODELS: tuple[Model, ...] = get_args(Model)

#: Variances of units and annotators with gaps need a system of the size of the smaller factor.
MOST_ANNOTATORS = 300


@dataclass(frozen=True)
class Intraclass:
    """An intraclass correlation of single ratings, and of the mean of `k` ratings of a unit.

    `k` is the number of ratings per unit (where it varies, what the analysis of variance takes for it).
    """

    model: Model
    single: Reliability
    average: float
    k: float


def intraclass_correlation(
    ratings: Ratings | ArrayLike, model: Model = "ICC(1)", *, resamples: int = 0, seed: int = 0
) -> Intraclass:
    """ICC of ratings (units × annotators with NaN where missing; or columns), with a 95% interval if asked to resample.

    Annotators must be known for ICC(2) and ICC(3). NaN where ratings don't vary.
    """
    if model not in MODELS:
        raise InvalidInput(f"an intraclass correlation is one of {', '.join(MODELS)}, not {model!r}")
    shared = (ratings if isinstance(ratings, Ratings) else ratings_in_table(ratings)).pairable()
    if len(shared) == 0 or shared.unit.max() < 1:
        raise NotEnoughData("an intraclass correlation needs two units or more that two annotators have rated")
    return _one_way(shared, resamples, seed) if model == "ICC(1)" else _two_way(shared, model, resamples, seed)


def spearman_brown(single: float, k: float) -> float:
    """The reliability of the mean of k ratings from that of one."""
    bottom = 1 + (k - 1) * single
    return k * single / bottom if bottom > 0 else float("nan")


def _one_way(ratings: Ratings, resamples: int, seed: int) -> Intraclass:
    size = np.bincount(ratings.unit).astype(float)
    centred = ratings.value - ratings.value.mean()
    mean = np.bincount(ratings.unit, centred) / size
    within = np.bincount(ratings.unit, (centred - mean[ratings.unit]) ** 2)

    def measure(weights: Floats) -> tuple[float, float]:
        """ICC(1) and the size of a unit, where each unit counts `weights` times."""
        n, units = weights @ size, weights.sum()
        around = mean - weights @ (size * mean) / n
        between = weights @ (size * around**2) / (units - 1)
        error = weights @ within / (n - units)
        k = (n - weights @ size**2 / n) / (units - 1)
        total = between + (k - 1) * error
        return float((between - error) / total) if total > 0 else float("nan"), float(k)

    value, k = measure(np.ones(len(size)))
    draws = resampled_units(lambda weights: measure(weights)[0], len(size), resamples, seed)
    single = Reliability(value, *percentile_interval(draws), len(size), len(ratings))
    return Intraclass("ICC(1)", single, spearman_brown(value, k), k)


def _two_way(ratings: Ratings, model: Model, resamples: int, seed: int) -> Intraclass:
    if not ratings.known:
        raise NotEnoughData(f"{model} needs to know whose each rating is; ICC(1) doesn't")
    table = ratings.table()
    full = not np.isnan(table).any()
    if not full and min(table.shape) > MOST_ANNOTATORS:
        raise NotEnoughData(
            f"{model} with gaps can take {MOST_ANNOTATORS} annotators, and there are {table.shape[1]:,}; take ICC(1), "
            "or those annotators who rated most"
        )
    measure = _from_full if full else _from_variances
    value = measure(table, model)
    random = np.random.default_rng(seed)
    draws = np.array([measure(table[random.integers(len(table), size=len(table))], model) for _ in range(resamples)])
    single = Reliability(value, *percentile_interval(draws), len(table), len(ratings))
    k = len(ratings) / len(table)
    return Intraclass(model, single, spearman_brown(value, k), k)


def _from_full(table: Floats, model: Model) -> float:
    """By the mean squares of units, of annotators and of what is left."""
    n, k = table.shape
    table = table - table.mean()
    units, annotators = table.mean(axis=1), table.mean(axis=0)
    rest = table - units[:, None] - annotators
    of_units, of_annotators = k * (units**2).sum() / (n - 1), n * (annotators**2).sum() / (k - 1)
    error = (rest**2).sum() / ((n - 1) * (k - 1))
    severity = k * (of_annotators - error) / n if model == "ICC(2)" else 0.0
    total = of_units + (k - 1) * error + severity
    return float((of_units - error) / total) if total > 0 else float("nan")


def _from_variances(table: Floats, model: Model) -> float:
    """By the REML variances of units and annotators, for a table with gaps; NaN where they can't be told apart."""
    try:
        fit = fit_crossed(table.T, np.ones((1, *table.T.shape)))
    except NotEnoughData:
        return float("nan")
    severity = fit.generator_variance if model == "ICC(2)" else 0.0
    total = fit.instance_variance + fit.residual_variance + severity
    return fit.instance_variance / total if total > 0 else float("nan")
