"""Does a judge favour its own relatives? Where it and people place generators that are its kin.

Both rank the generators by their means over the same outputs. `places` says how much higher the judge places its kin
than people do, on average. Few generators have few places, so `excess` says it more finely: how far the judge's means
of its kin lie above the line that its means of all other generators follow over people's, in standard deviations of the
judge's means. Resampled documents give the intervals: a sentence's neighbours are no independent witnesses.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from billboards.stats.correlation import resampling_weights

Floats = NDArray[np.float64]
Interval = tuple[float, float]
#: Generators that a line is drawn through, at least.
FEWEST = 3


@dataclass(frozen=True, kw_only=True)
class Kinship:
    """How a judge treats its kin: places above those that people give them, and the excess over its own line."""

    places: float
    places_interval: Interval | None
    excess: float | None
    excess_interval: Interval | None


def kinship(
    scores: Floats,
    people: Floats,
    kin: NDArray[np.bool_],
    units: NDArray[np.intp],
    *,
    draws: int = 1000,
    seed: int = 0,
) -> Kinship | None:
    """How much a judge favours its kin; None where kin and others are not both scored and judged.

    scores, people: generators × instances, NaN where there is none; higher is better
    kin: which generators are the judge's kin
    units: the document of each instance, as a number from 0
    """
    both = np.isfinite(scores) & np.isfinite(people)
    rows = both.any(axis=1)
    kin = np.asarray(kin, bool)[rows]
    if not kin.any() or kin.all():
        return None
    sums = [_by_unit(np.where(both, values, 0.0)[rows], units) for values in (scores, people, both.astype(float))]
    seen = sums[2].sum(axis=0) > 0
    of_scores, of_people, counts = (table[:, seen] for table in sums)
    documents = int(seen.sum())
    once = np.ones((1, documents))
    judge, human = _means(once, of_scores, counts), _means(once, of_people, counts)
    spread = float(judge.std())
    places, excess = _places(judge, human, kin)[0], _excess(judge, human, kin, spread)[0]
    drawn_places = drawn_excess = None
    if documents > 1 and draws:
        weights = resampling_weights(np.random.default_rng(seed), documents, draws)
        judge, human = _means(weights, of_scores, counts), _means(weights, of_people, counts)
        whole = np.isfinite(judge).all(axis=1)
        drawn_places = _interval(_places(judge[whole], human[whole], kin))
        drawn_excess = _interval(_excess(judge[whole], human[whole], kin, spread))
    return Kinship(
        places=float(places),
        places_interval=drawn_places,
        excess=float(excess) if np.isfinite(excess) else None,
        excess_interval=drawn_excess,
    )


def _by_unit(values: Floats, units: NDArray[np.intp]) -> Floats:
    """Sums of generators' values over each document, as generators × documents."""
    documents = int(units.max(initial=-1)) + 1
    return np.array([np.bincount(units, weights=row, minlength=documents) for row in values])


def _means(weights: Floats, sums: Floats, counts: Floats) -> Floats:
    """Generators' means in each draw, as draws × generators; NaN where a generator was not drawn."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((weights @ sums.T) / (weights @ counts.T))


def _places(judge: Floats, people: Floats, kin: NDArray[np.bool_]) -> Floats:
    from scipy.stats import rankdata

    higher = rankdata(-people, axis=1) - rankdata(-judge, axis=1)
    return np.asarray(higher[:, kin].mean(axis=1))


def _excess(judge: Floats, people: Floats, kin: NDArray[np.bool_], spread: float) -> Floats:
    """The distance of kin above the line through the others; NaN where there is no line."""
    if (~kin).sum() < FEWEST or not spread > 0:
        return np.full(len(judge), np.nan)
    x, y = people[:, ~kin], judge[:, ~kin]
    centre_x, centre_y = x.mean(axis=1, keepdims=True), y.mean(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        slope = ((x - centre_x) * (y - centre_y)).sum(axis=1, keepdims=True) / ((x - centre_x) ** 2).sum(
            axis=1, keepdims=True
        )
        expected = centre_y + slope * (people[:, kin] - centre_x)
        return np.asarray((judge[:, kin] - expected).mean(axis=1) / spread)


def _interval(drawn: Floats) -> Interval | None:
    finite = drawn[np.isfinite(drawn)]
    if len(finite) < 2:
        return None
    low, high = np.quantile(finite, (0.025, 0.975))
    return float(low), float(high)
