"""What balanced and adaptive schedules of pairs buy: made-up arenas, answered one comparison at a time.

Generators whose strengths lie unevenly, some close together, some far apart. Random pairs, a balanced
schedule, and one that is adapted after each batch of 20 answers, as campaigns do it. Reported after several numbers of
comparisons: the share of pairs of generators that stand in the right order, of neighbours that do, and how many
neighbours are told apart significantly and rightly.

    python benchmarks/comparison_schedules.py [--arenas 60] [--generators 16] [--spread 1.5]
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from billboards.campaigns.schedules import Coming, Pair, adapt_pairs, balanced_pairs
from billboards.stats.bradley_terry import Outcomes, count_pairs, difference_z, fit_strengths

Floats = NDArray[np.float64]
BATCH = 20
STEPS = (200, 400, 800)
LOG_NU = -0.6


def result_of(theta: Floats, pair: Pair, luck: random.Random) -> int:
    """A win, a tie or a defeat by Davidson's model."""
    d = theta[pair[0]] - theta[pair[1]]
    win, lose, tie = np.exp(d / 2), np.exp(-d / 2), np.exp(LOG_NU)
    drawn = luck.random() * (win + lose + tie)
    return 1 if drawn < win else 0 if drawn < win + tie else -1


def outcomes_of(answers: Sequence[tuple[int, int, int]]) -> Outcomes:
    first, second, result = np.array(answers, np.int64).T
    return Outcomes(first=first, second=second, result=result)


def random_pairs(theta: Floats, seed: int) -> list[tuple[int, int, int]]:
    """Every round pairs everybody at random."""
    luck, n = random.Random(seed), len(theta)
    answers: list[tuple[int, int, int]] = []
    while len(answers) < STEPS[-1]:
        drawn = luck.sample(range(n), n)
        answers += [(a, b, result_of(theta, (a, b), luck)) for a, b in zip(drawn[::2], drawn[1::2], strict=True)]
    return answers


def balanced(theta: Floats, seed: int) -> list[tuple[int, int, int]]:
    luck = random.Random(seed)
    rounds = balanced_pairs(len(theta), 2 * STEPS[-1] // len(theta) + 1, luck)
    return [(a, b, result_of(theta, (a, b), luck)) for pairs in rounds for a, b in pairs]


def adaptive(theta: Floats, seed: int) -> list[tuple[int, int, int]]:
    """The balanced schedule, of which the next batch is planned anew after each batch."""
    luck, n = random.Random(seed), len(theta)
    planned = [pair for pairs in balanced_pairs(n, 2 * STEPS[-1] // n + 10, luck) for pair in pairs]
    every = frozenset(combinations(range(n), 2))
    answers: list[tuple[int, int, int]] = []
    while len(answers) < STEPS[-1]:
        pairs = [(min(pair), max(pair)) for pair in planned[len(answers) : len(answers) + BATCH]]
        if answers:
            fitted = fit_strengths(count_pairs(outcomes_of(answers), n), prior=1.0)
            coming = [Coming(instance=str(k), planned=pair, possible=every) for k, pair in enumerate(pairs)]
            pairs = adapt_pairs(fitted.theta, fitted.covariance, coming, luck)
        answers += [(a, b, result_of(theta, (a, b), luck)) for a, b in pairs]
    return answers


def judged(theta: Floats, answers: Sequence[tuple[int, int, int]]) -> tuple[float, float, float, float]:
    """Shares of pairs and of neighbours in the right order, and of neighbours told apart rightly, and wrongly."""
    fitted = fit_strengths(count_pairs(outcomes_of(answers), len(theta)), prior=1.0)
    first, second = np.triu_indices(len(theta), 1)
    right = np.sign(fitted.theta[first] - fitted.theta[second]) == np.sign(theta[first] - theta[second])
    order = np.argsort(-theta)
    z = difference_z(fitted.theta, fitted.covariance)[order[:-1], order[1:]]
    return float(right.mean()), float((z > 0).mean()), float((z > 1.96).mean()), float((z < -1.96).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arenas", type=int, default=60, metavar="N", help="made-up arenas (default 60)")
    parser.add_argument("--generators", type=int, default=16, metavar="N", help="an even number (default 16)")
    parser.add_argument("--spread", type=float, default=1.5, metavar="X", help="sd of the strengths (default 1.5)")
    arguments = parser.parse_args()
    schedules = {"random": random_pairs, "balanced": balanced, "adaptive": adaptive}
    found: dict[tuple[str, int], list[tuple[float, float, float, float]]] = {}
    for seed in range(arguments.arenas):
        theta = np.random.default_rng(seed).normal(0, arguments.spread, arguments.generators)
        for name, schedule in schedules.items():
            answers = schedule(theta, seed)
            for step in STEPS:
                found.setdefault((name, step), []).append(judged(theta, answers[:step]))
    print("| comparisons | schedule | pairs in order | neighbours in order | told apart rightly | wrongly |")
    print("| --- | --- | --- | --- | --- | --- |")
    for step in STEPS:
        for name in schedules:
            means = np.mean(found[name, step], axis=0)
            print(f"| {step} | {name} | " + " | ".join(f"{100 * value:.1f}%" for value in means) + " |")


if __name__ == "__main__":
    main()
