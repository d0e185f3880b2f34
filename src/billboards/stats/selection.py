"""Which instances tell generators or metrics apart: what a label of each is worth, and draws by that worth.

Scores are generators × instances, NaN where there is none; a worth is a number per instance, 0 or more, NaN where
nothing is known. The measures on metrics' scores (spread, difficulty, consistency) are those of Zouhar, Cui and Sachan
(2025); item information is that of a congeneric test (Mellenbergh 1994). A draw gives each instance a chance that is
known beforehand, so that means stay right on average; taking the worthiest ones does not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from billboards.errors import InvalidInput

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

#: What ranks of a metric's spread and difficulty are taken to say of people's spread before there are labels.
PRIOR = (0.2, 0.2)
#: As many labelled instances count as much as that.
PRIOR_INSTANCES = 10.0


def centred(scores: ArrayLike) -> Floats:
    """Scores less the mean of their instance over the generators that have one."""
    values = np.asarray(scores, float)
    return values - _mean(values, axis=-2)[..., np.newaxis, :]


def spread(scores: ArrayLike) -> Floats:
    """The standard deviation of an instance's scores over the generators; NaN from fewer than two."""
    values = centred(scores)
    counted = np.isfinite(values).sum(axis=-2)
    return np.where(counted > 1, np.sqrt(_mean(values**2, axis=-2)), np.nan)


def difficulty(scores: ArrayLike) -> Floats:
    """How far an instance's mean score lies below that of the easiest one."""
    means = _mean(np.asarray(scores, float), axis=-2)
    return np.asarray((np.nanmax(means) if np.isfinite(means).any() else np.nan) - means, float)


def consistency(scores: ArrayLike) -> Floats:
    """1 + Kendall's tau of an instance's scores with the generators' means: 2 where it ranks them as all do, 1 by luck.

    Pairs that are tied on either side count as neither agreeing nor disagreeing (tau-a).
    """
    values = np.asarray(scores, float)
    means = _mean(values, axis=-1)
    first, second = np.triu_indices(len(values), 1)
    with np.errstate(invalid="ignore"):
        agree = np.sign(values[first] - values[second]) * np.sign(means[first] - means[second])[:, np.newaxis]
    return 1.0 + _mean(agree, axis=0)


def disagreement(scores: ArrayLike) -> Floats:
    """How far metrics (metrics × generators × instances) differ about each output, each in its own spread."""
    values = centred(scores)
    size = np.sqrt(_mean(values.reshape(len(values), -1) ** 2, axis=1))
    standard = values / np.where(size > 0, size, np.nan)[:, np.newaxis, np.newaxis]
    of_metrics = _mean(standard, axis=0)
    counted = np.isfinite(standard).sum(axis=0) > 1
    return np.sqrt(np.where(counted, _mean((standard - of_metrics) ** 2, axis=0), np.nan))


@dataclass(frozen=True, kw_only=True)
class ItemResponses:
    """A test's items: how strongly scores follow ability, what is left beside it, and what an item says of ability."""

    ability: Floats
    discrimination: Floats
    residual: Floats
    information: Floats


def item_responses(scores: ArrayLike, *, rounds: int = 20, prior: float = 5.0) -> ItemResponses:
    """A congeneric model of scores: an instance's level, plus its discrimination times ability, plus what is left.

    Abilities and discriminations are found in turns by least squares, weighted by the instances' residual variances.
    These are drawn towards the average as if `prior` more generators of average residual had been seen. An item's
    information is discrimination² / residual variance.
    """
    values = centred(scores)
    seen = np.isfinite(values)
    filled = np.where(seen, values, 0.0)
    residual = np.ones(values.shape[1])
    ability = _scaled(filled.sum(axis=1) / np.maximum(seen.sum(axis=1), 1))
    discrimination = np.zeros(values.shape[1])
    for _ in range(rounds):
        squares = (seen * ability[:, np.newaxis] ** 2).sum(axis=0)
        discrimination = (filled * ability[:, np.newaxis]).sum(axis=0) / np.where(squares > 0, squares, 1.0)
        left = np.where(seen, filled - ability[:, np.newaxis] * discrimination, 0.0)
        free = np.maximum(seen.sum(axis=0) - 2, 0)
        average = (left**2).sum() / max(free.sum(), 1)
        residual = ((left**2).sum(axis=0) + prior * average) / np.maximum(free + prior, 1e-12)
        residual = np.maximum(residual, 1e-12)
        weighted = discrimination / residual
        below = (seen * discrimination * weighted).sum(axis=1)
        ability = _scaled((filled * weighted).sum(axis=1) / np.where(below > 0, below, 1.0))
    information = np.where(seen.sum(axis=0) > 1, discrimination**2 / residual, np.nan)
    return ItemResponses(
        ability=ability, discrimination=discrimination, residual=residual, information=np.asarray(information, float)
    )


def _scaled(ability: Floats) -> Floats:
    """Abilities with mean 0 and standard deviation 1, so that discriminations have a unit."""
    size = float(ability.std())
    return np.asarray((ability - ability.mean()) / (size if size > 0 else 1.0), float)


def expected_spread(scores: ArrayLike, labels: ArrayLike) -> Floats:
    """How far people's scores of an instance are expected to lie apart, relative to the average instance.

    Ranks of a metric's spread and of its difficulty foretell ranks of people's spread by a line. Its slopes are
    `PRIOR` before there are labels, and least squares on the labelled instances draws them elsewhere as those grow.
    """
    features = np.stack([_centred_ranks(spread(scores)), _centred_ranks(difficulty(scores))])
    people = spread(labels)
    seen = np.isfinite(people)
    slopes = np.array(PRIOR)
    if seen.any():
        x, y, n = features[:, seen], _centred_ranks(people[seen]), int(seen.sum())
        ridge = PRIOR_INSTANCES / n / 12 * np.eye(2)
        slopes = np.linalg.solve(x @ x.T / n + ridge, x @ y / n + ridge @ slopes)
    return np.exp(2 * slopes @ features)


def _centred_ranks(values: Floats) -> Floats:
    """Ranks from -0.5 to 0.5, those of ties by their order; 0 where there is no value."""
    seen = np.flatnonzero(np.isfinite(values))
    ranks = np.zeros(len(values))
    ranks[seen[np.argsort(values[seen], kind="stable")]] = (np.arange(len(seen)) + 0.5) / max(len(seen), 1) - 0.5
    return ranks


def combined_standing(labels: ArrayLike, scores: ArrayLike) -> Floats:
    """How far each generator stands above the average one over all instances, from some labels and a metric of all.

    On instances that all generators have labels of, the labels count. Elsewhere an output is expected to lie above its
    instance's mean by slope × the metric's own distance, plus the generator's offset × the instance's expected size of
    differences (0.2 + 0.8 × relative spread of the metric). Slope and offsets are fitted to the labelled instances; the
    offsets are drawn towards 0, that is towards the metric's ranking, by empirical Bayes: by as much as they are noise.
    """
    people, metric = np.asarray(labels, float), centred(scores)
    labelled = np.isfinite(people).all(axis=0)
    n = int(labelled.sum())
    metric = np.where(np.isfinite(metric), metric, 0.0)
    size = np.sqrt((metric**2).mean(axis=0))
    scale = 0.2 + 0.8 * size / size.mean() if size.any() else np.ones(len(size))
    judged = centred(people[:, labelled])
    y, x = judged / scale[labelled], metric[:, labelled] / scale[labelled]
    slope = _slope(x, y) if n > 1 else 0.0
    residual = y - slope * x
    offset = residual.mean(axis=1) if n else np.zeros(len(people))
    if n > 2 and len(people) > 1:
        noise = float(residual.var(axis=1, ddof=1).mean()) / n
        real = max(float(offset.var(ddof=1)) - noise, 0.0)
        offset = offset * (real / (real + noise) if real > 0 else 0.0)
    total = judged.sum(axis=1) + slope * metric[:, ~labelled].sum(axis=1) + offset * scale[~labelled].sum()
    return np.asarray(total / people.shape[1], float)


def _slope(x: Floats, y: Floats) -> float:
    """The slope within generators; none that says the metric is upside down."""
    dx, dy = x - x.mean(axis=1, keepdims=True), y - y.mean(axis=1, keepdims=True)
    squares = float((dx * dx).sum())
    return max(float((dx * dy).sum()) / squares, 0.0) if squares > 0 else 0.0


def chances_within(worth: ArrayLike, cost: ArrayLike, budget: float, *, least: float = 0.2) -> Floats:
    """Chances whose expected cost is the budget: in proportion to worth / √cost, none above 1 (Neyman with costs).

    A share `least` of the sizes is the same for all, so that no instance is out of reach. A worth that is missing is
    the average.
    """
    size, price = _sizes(worth, least), np.asarray(cost, float)
    if not (np.isfinite(price).all() and (price > 0).all()):
        raise InvalidInput("every instance needs a cost above 0")
    if not budget > 0:
        raise InvalidInput(f"a budget is above 0, not {budget:g}")
    if budget >= price.sum():
        return np.ones(len(price))
    size = size / np.sqrt(price)
    full = np.zeros(len(size), bool)
    while True:
        left = budget - price[full].sum()
        chances = np.where(full, 1.0, size * (left / (price * size)[~full].sum()))
        over = ~full & (chances > 1)
        if not over.any():
            return np.asarray(np.minimum(chances, 1.0), float)
        full |= over


def _sizes(worth: ArrayLike, least: float) -> Floats:
    values = np.asarray(worth, float)
    seen = np.isfinite(values)
    if (values[seen] < 0).any():
        raise InvalidInput("an instance's worth must be 0 or more")
    average = float(values[seen].mean()) if seen.any() else 0.0
    if average <= 0:
        return np.ones(len(values))
    return np.asarray(least + (1 - least) * np.where(seen, values, average) / average, float)


def draw_systematic(probabilities: ArrayLike, *, seed: int = 0) -> Ints:
    """Instances drawn with exactly these chances, in random order with a step of 1 along their sum (Madow 1949).

    As many are drawn as the sum says: the whole number below it or above it where it is none.
    """
    chances = np.asarray(probabilities, float)
    random = np.random.default_rng(seed)
    order = random.permutation(len(chances))
    sums = np.cumsum(chances[order])
    total = float(sums[-1]) if len(order) else 0.0
    if abs(total - round(total)) < 1e-9:
        total = float(round(total))
    ticks = np.arange(random.random(), total, 1.0)
    # A last tick must not fall behind the last sum by rounding.
    places = np.searchsorted(sums, np.minimum(ticks, total * (1 - 1e-12)), side="right")
    return np.sort(order[np.minimum(places, len(order) - 1)])


def take_worthiest(worth: ArrayLike, cost: ArrayLike, budget: float, *, seed: int = 0) -> Ints:
    """The instances of most worth per cost that fit the budget, best first; ties by the seed, a missing worth last."""
    values, price = np.asarray(worth, float), np.asarray(cost, float)
    seen = np.isfinite(values)
    ratio = np.where(seen, values, -1.0) / np.where(seen, price, 1.0)
    luck = np.random.default_rng(seed).permutation(len(values))
    order = np.lexsort((luck, -ratio))
    taken, spent = [], 0.0
    for k in order.tolist():
        if spent + price[k] <= budget * (1 + 1e-12):
            taken.append(k)
            spent += float(price[k])
    return np.array(taken, np.int64)


def _mean(values: Floats, axis: int) -> Floats:
    """The mean of what there is; NaN where there is nothing."""
    seen = np.isfinite(values)
    count = seen.sum(axis=axis)
    total = np.where(seen, values, 0.0).sum(axis=axis)
    return np.asarray(np.where(count > 0, total / np.maximum(count, 1), np.nan), float)
