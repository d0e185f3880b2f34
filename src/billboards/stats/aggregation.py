"""Several ratings of a unit as one: mean, majority, or a model of who can be trusted (Dawid-Skene, MACE).

All four take the same columns and give a value per unit, so that a campaign changes its aggregation by a word. The two
models learn each annotator's reliability from agreement with the others, through crowd-kit; they need several ratings
of a unit and known annotators, and treat values as mere categories.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput, MissingPart, NotEnoughData
from billboards.stats.ratings import Ratings

if TYPE_CHECKING:
    import pandas

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Method = Literal["mean", "majority", "dawid-skene", "mace"]

METHODS: tuple[Method, ...] = get_args(Method)

#: Iterations of EM. Dawid-Skene stops earlier once nothing changes; MACE doesn't.
_ITERATIONS, _MACE_ITERATIONS = 200, 50

#: Random starts of MACE.
_MACE_STARTS = 2


@dataclass(frozen=True)
class Consensus:
    """One value per unit; `confidence` is the share of votes or the posterior behind it, NaN for a mean.

    `skill` is each annotator's chance of saying what is right: the mean of the diagonal of their confusion matrix under
    Dawid-Skene, the chance of not guessing under MACE, NaN where the method doesn't ask.
    """

    method: Method
    value: Floats
    confidence: Floats
    skill: Floats


def aggregate_ratings(ratings: Ratings, method: Method = "mean", *, seed: int = 0) -> Consensus:
    """One value per unit of the ratings; the seed matters to MACE's random starts only."""
    if method not in METHODS:
        raise InvalidInput(f"ratings are aggregated by one of {', '.join(METHODS)}, not {method!r}")
    if not len(ratings):
        raise NotEnoughData("there are no ratings to aggregate")
    if method in _BY_COUNTING:
        value, confidence = _BY_COUNTING[method](ratings)
        return Consensus(method, value, confidence, np.full(ratings.annotator.max() + 1, np.nan))
    if not ratings.known:
        raise NotEnoughData(f"{method} learns whom to trust, so it must know whose each rating is; take the majority")
    return _modelled(ratings, method, seed)


def _mean(ratings: Ratings) -> tuple[Floats, Floats]:
    count = np.bincount(ratings.unit)
    mean = np.asarray(np.bincount(ratings.unit, ratings.value) / count, float)
    return mean, np.full(len(count), np.nan)


def _majority(ratings: Ratings) -> tuple[Floats, Floats]:
    """The value given most often; where several are, their mean, which favours none of them."""
    values, code = np.unique(ratings.value, return_inverse=True)
    keys, votes = np.unique(ratings.unit * len(values) + code, return_counts=True)
    unit, value = keys // len(values), values[keys % len(values)]
    most = np.zeros(ratings.unit.max() + 1)
    np.maximum.at(most, unit, votes)
    winners = votes == most[unit]
    winner = np.bincount(unit[winners], value[winners]) / np.bincount(unit[winners])
    return np.asarray(winner, float), most / np.bincount(ratings.unit)


_BY_COUNTING: Mapping[str, Callable[[Ratings], tuple[Floats, Floats]]] = {"mean": _mean, "majority": _majority}


def _modelled(ratings: Ratings, method: Method, seed: int) -> Consensus:
    """A model of crowd-kit, on numbers by first appearance: its MACE mixes up annotators in any other order."""
    aggregation = _crowd_kit()
    import pandas

    columns = (ratings.unit, ratings.annotator, ratings.value)
    (task, units), (worker, annotators), (label, values) = map(pandas.factorize, columns)
    frame = pandas.DataFrame({"task": task, "worker": worker, "label": label})
    with warnings.catch_warnings():
        # Deprecations inside crowd-kit are not the user's to mend.
        warnings.simplefilter("ignore")
        fitted = _fit_mace(aggregation, frame, seed) if method == "mace" else _fit_dawid_skene(aggregation, frame)
    posterior, certainty = fitted
    best = posterior.argmax(axis=1)
    value, confidence = np.empty(len(best)), np.empty(len(best))
    value[units], confidence[units] = values[best], posterior.max(axis=1)
    skill = np.full(ratings.annotator.max() + 1, np.nan)
    skill[annotators] = certainty
    return Consensus(method, value, confidence, skill)


def _fit_dawid_skene(aggregation: Any, frame: pandas.DataFrame) -> tuple[Floats, Floats]:
    """Posteriors (units × values), and each annotator's mean chance to say a value when it is the right one."""
    model = aggregation.DawidSkene(n_iter=_ITERATIONS).fit(frame)
    values = range(int(frame["label"].max()) + 1)
    posterior = model.probas_.reindex(columns=values, fill_value=0.0).sort_index().to_numpy(float)
    workers = range(int(frame["worker"].max()) + 1)
    right = [[model.errors_[k].get((worker, k), 0.0) for k in values] for worker in workers]
    # A value that was never right says nothing about anybody.
    return posterior, np.average(right, axis=1, weights=posterior.sum(axis=0))


def _fit_mace(aggregation: Any, frame: pandas.DataFrame, seed: int) -> tuple[Floats, Floats]:
    """Posteriors and each annotator's chance not to guess, from the likeliest of several starts.

    crowd-kit's own restarts all begin at the same point, so each start here is a fit with a seed of its own.
    """
    models = [
        aggregation.MACE(n_restarts=1, n_iter=_MACE_ITERATIONS, random_state=seed + k).fit(frame)
        for k in range(_MACE_STARTS)
    ]
    columns = tuple(frame[name].to_numpy() for name in ("task", "worker", "label"))
    best = max(models, key=lambda model: _mace_likelihood(model.spamming_, model.thetas_, *columns))
    posterior = best.probas_.sort_index().sort_index(axis=1).to_numpy(float)
    return posterior, best.spamming_[:, 1] / best.spamming_.sum(axis=1)


def _mace_likelihood(spamming: Floats, strategy: Floats, task: Ints, worker: Ints, label: Ints) -> float:
    """The log likelihood of the ratings: a guess by one's strategy, or the right value."""
    guessed = spamming[worker, 0] * strategy[worker, label]
    truths = np.arange(strategy.shape[1])
    likelihood = np.log(guessed[:, None] + spamming[worker, 1][:, None] * (label[:, None] == truths))
    by_task = np.stack([np.bincount(task, likelihood[:, k]) for k in truths], axis=1)
    return float(np.logaddexp.reduce(by_task, axis=1).sum())


def _crowd_kit() -> Any:
    try:
        from crowdkit import aggregation
    except ImportError as error:
        raise MissingPart(
            "Dawid-Skene and MACE need crowd-kit; install it with `pip install 'billboards[crowd]'`"
        ) from error
    return aggregation
