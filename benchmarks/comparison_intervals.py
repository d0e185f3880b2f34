"""How often intervals of strengths hold the truth where annotators have tastes of their own.

Made-up campaigns: four generators, comparisons spread evenly over annotators and at random over instances, ties by
Davidson's model. An annotator's own strengths scatter around the common ones. The truth is what infinitely many such
annotators would give: the fit to the expected shares of wins and ties.

    python benchmarks/comparison_intervals.py [--campaigns 500] [--comparisons 600]
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray

from billboards.analyses._comparisons import Compared
from billboards.analyses.arena import Certainty, rank_compared
from billboards.stats.bradley_terry import Outcomes, PairCounts, fit_strengths

Floats = NDArray[np.float64]
THETA = np.array([0.8, 0.2, -0.3, -0.7])
NAMES = tuple("ABCD")
INSTANCES = 100
LOG_NU = -0.6
HOW: tuple[Certainty, ...] = ("clustered", "information")


def chances(difference: Floats) -> tuple[Floats, Floats]:
    """Chances of a win and a tie by Davidson's model."""
    total = np.exp(difference / 2) + np.exp(-difference / 2) + np.exp(LOG_NU)
    return np.exp(difference / 2) / total, np.exp(LOG_NU) / total


def truth(spread: float) -> Floats:
    """The strengths that fit the expected outcomes best, over all annotators."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    weights = weights / weights.sum()
    first, second = np.triu_indices(4, 1)
    difference = (THETA[first] - THETA[second])[:, None] + np.sqrt(2) * spread * nodes
    won, tied = (shares @ weights for shares in chances(difference))
    counts = PairCounts(
        entries=4, first=first, second=second, won=1e4 * won, tied=1e4 * tied, lost=1e4 * (1 - won - tied)
    )
    return fit_strengths(counts).theta


def campaign(annotators: int, spread: float, comparisons: int, seed: int) -> Compared:
    """One made-up campaign."""
    random = np.random.default_rng(seed)
    who = np.arange(comparisons) % annotators
    first = random.integers(0, 4, comparisons)
    second = (first + random.integers(1, 4, comparisons)) % 4
    tastes = THETA + random.normal(0, spread, (annotators, 4))
    won, tied = chances(tastes[who, first] - tastes[who, second])
    drawn = random.random(comparisons)
    result = np.where(drawn < won, 1, np.where(drawn < won + tied, 0, -1)).astype(np.int64)
    outcomes = Outcomes(first=first, second=second, result=result)
    instance = random.integers(0, INSTANCES, comparisons)
    return Compared(names=NAMES, outcomes=outcomes, instance=instance, annotator=who.astype(np.int64))


def coverage(annotators: int, spread: float, comparisons: int, campaigns: int) -> dict[str, float]:
    """The share of intervals that hold the truth, by how they are made."""
    ratings = 1000 + 400 / np.log(10) * truth(spread)
    inside: dict[str, list[bool]] = {how: [] for how in HOW}
    for seed in range(campaigns):
        compared = campaign(annotators, spread, comparisons, seed)
        for how in HOW:
            ranked = rank_compared(compared, board="made-up", aggregate="better", kinds={}, certainty=how)
            for entrant in ranked.generators:
                low, high = entrant.interval or (np.nan, np.nan)
                inside[how].append(low < ratings[NAMES.index(entrant.name)] < high)
    return {how: float(np.mean(held)) for how, held in inside.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--campaigns", type=int, default=500, metavar="N", help="made-up campaigns (default 500)")
    parser.add_argument("--comparisons", type=int, default=600, metavar="N", help="comparisons in each (default 600)")
    arguments = parser.parse_args()
    print("| annotators | sd of tastes | instances and annotators as clusters | as if independent |")
    print("| --- | --- | --- | --- |")
    for spread in (0.0, 0.5):
        for annotators in (3, 5, 10, 20):
            held = coverage(annotators, spread, arguments.comparisons, arguments.campaigns)
            print(f"| {annotators} | {spread:g} | " + " | ".join(f"{held[how]:.0%}" for how in HOW) + " |", flush=True)


if __name__ == "__main__":
    main()
