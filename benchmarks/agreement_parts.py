"""A study: do agreement within items and the parts of pooled agreement find a simulated truth, and intervals hold it?

Boards are drawn from known effects of items and outputs; the generators and their effects stay the same, as intervals
over instances say. Printed are the mean error, the share of 95% intervals that hold the truth, and what the plain share
of items' means in people's variance would have said instead. From 200 items on, 92 to 97% of the intervals must hold
it; percentile intervals of fewer items are too narrow, and are printed as found.

    python benchmarks/agreement_parts.py [boards]
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from billboards.stats.agreement_parts import PARTS, agreement_parts
from billboards.stats.within_items import within_items

Floats = NDArray[np.float64]

DRAWS = 400
PROMISED = (0.92, 0.97)
PROMISED_FROM = 200
#: Covariances of a metric and people: of items' effects, and of single outputs'.
ITEMS = np.array([[1.0, 0.7], [0.7, 1.0]])
OUTPUTS = np.array([[1.0, 0.3], [0.3, 1.5]])


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A kind of board: its generators and items, and the share of outputs that people judge."""

    generators: int
    items: int
    judged: float


SHAPES = (
    Shape(generators=8, items=100, judged=1.0),
    Shape(generators=12, items=300, judged=0.35),
    Shape(generators=4, items=60, judged=0.8),
)


def main() -> None:
    boards = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    kept = [study(shape, boards) for shape in SHAPES]
    sys.exit(0 if all(kept) else "an interval holds the truth too seldom or too often")


def study(shape: Shape, boards: int) -> bool:
    """Draw boards of a shape, print what was found, and say whether every interval keeps its promise."""
    random = np.random.default_rng(1)
    effects = random.normal(size=(2, shape.generators)) * np.array([[0.5], [0.6]])
    effects[1] += 0.7 * effects[0]
    truth = true_values(effects)
    names = ["within items", *PARTS, *(f"people's {part}" for part in PARTS)]
    values, inside, plain = [], [], []
    start = time.process_time()
    for board in range(boards):
        scores, human = drawn_board(random, shape, effects)
        within = within_items(scores[None], human, draws=DRAWS, seed=board)
        taken = agreement_parts(scores[None], human, draws=DRAWS, seed=board)
        bounds = taken.intervals[:, 0]
        low = np.array([within.low[0], *bounds[0, 0], *bounds[0, 2]])
        high = np.array([within.high[0], *bounds[1, 0], *bounds[1, 2]])
        values.append([within.r[0], *taken.parts[0], *taken.people[0]])
        inside.append((low <= truth) & (truth <= high))
        plain.append(share_of_item_means(human))
    seconds = (time.process_time() - start) / boards
    print(f"{shape.generators} generators, {shape.items} items, {shape.judged:.0%} judged: {seconds:.3f} s a board")
    error, coverage = np.mean(values, axis=0) - truth, np.mean(inside, axis=0)
    for name, true, off, share in zip(names, truth, error, coverage, strict=True):
        print(f"  {name:22} true {true:.3f}  mean error {off:+.4f}  intervals hold it {share:.1%}")
    print(f"  plain share of items' means {np.mean(plain):.3f}, true {truth[4]:.3f}")
    return shape.items < PROMISED_FROM or bool(((coverage >= PROMISED[0]) & (coverage <= PROMISED[1])).all())


def drawn_board(random: np.random.Generator, shape: Shape, effects: Floats) -> tuple[Floats, Floats]:
    """A metric's scores and people's, rows × instances, people's with gaps."""
    rows, items = shape.generators, shape.items
    of_items = np.linalg.cholesky(ITEMS) @ random.normal(size=(2, items))
    of_outputs = (np.linalg.cholesky(OUTPUTS) @ random.normal(size=(2, rows * items))).reshape(2, rows, items)
    scores, human = of_items[:, None] + effects[:, :, None] + of_outputs
    human[random.random(human.shape) >= shape.judged] = np.nan
    return scores, human


def true_values(effects: Floats) -> Floats:
    """PDP, the three parts of r, and people's shares of variance, where these generators stay."""
    of_generators = np.cov(effects, ddof=0)
    components = np.stack((ITEMS, of_generators, OUTPUTS))
    total = components.sum(axis=0)
    inside = np.cov(effects, ddof=1) + OUTPUTS
    within = inside[0, 1] / np.sqrt(inside[0, 0] * inside[1, 1])
    parts = components[:, 0, 1] / np.sqrt(total[0, 0] * total[1, 1])
    return np.array([within, *parts, *(components[:, 1, 1] / total[1, 1])])


def share_of_item_means(human: Floats) -> float:
    """What means of items explain of people's variance, the chance of their outputs included."""
    used = np.isfinite(human)
    counts, mean = used.sum(axis=0), human[used].mean()
    means = np.where(used, human, 0.0).sum(axis=0) / np.maximum(counts, 1)
    return float((counts * (means - mean) ** 2).sum() / ((human[used] - mean) ** 2).sum())


if __name__ == "__main__":
    main()
