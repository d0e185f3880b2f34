"""How well a model finds annotators who are made noisy at a known rate, on the attention checks of real ones.

An annotator is right on a pair when the corrupted output scores below its original. Some annotators are picked in each
round, and each of their scores is replaced, with the chance of the rate, by one drawn from all their own scores: a
click without reading, on the scale as this annotator uses it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from billboards.errors import NotEnoughData
from billboards.stats.annotator_results import AnnotatorModel, CorruptionLevel
from billboards.stats.annotator_simulation import detection, mark, tally

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class CheckedScores:
    """One annotator's scores of corrupted outputs and of their originals, shape (pairs, 2), and all scores given."""

    pairs: Floats
    given: Floats

    def right(self) -> int:
        """How many corrupted outputs score below their originals; an equal score is a wrong answer."""
        return int((self.pairs[:, 0] < self.pairs[:, 1]).sum())

    def corrupted(self, rate: float, random: np.random.Generator) -> CheckedScores:
        """The same annotator, each score with this chance a random one of theirs."""
        struck = random.uniform(size=self.pairs.shape) < rate
        return CheckedScores(np.where(struck, random.choice(self.given, self.pairs.shape), self.pairs), self.given)


@dataclass(frozen=True)
class _Round:
    """Annotators found, marked and noisy, and the right and all answers of the noisy ones."""

    tally: Ints
    right: int
    questions: int


def detect_corruption(
    annotators: Sequence[CheckedScores],
    model: AnnotatorModel,
    *,
    rate: float,
    share: float,
    rounds: int,
    seed: int,
    progress: Callable[[int], None] | None = None,
) -> CorruptionLevel:
    """Precision and recall at one rate; in each round at least one annotator is made noisy, and one is not."""
    if len(annotators) < 2:
        raise NotEnoughData(f"{len(annotators)} annotators with attention checks; 2 or more are needed")
    picked = min(max(1, round(share * len(annotators))), len(annotators) - 1)
    random = np.random.default_rng(seed)
    drawn = []
    for done in range(rounds):
        drawn.append(_round(annotators, model, picked, rate, random))
        if progress is not None:
            progress(done + 1)
    right, questions = sum(one.right for one in drawn), sum(one.questions for one in drawn)
    found = detection(np.stack([one.tally for one in drawn]), seed)
    return CorruptionLevel(rate, right / questions if questions else None, found)


def _round(
    annotators: Sequence[CheckedScores], model: AnnotatorModel, picked: int, rate: float, random: np.random.Generator
) -> _Round:
    noisy = np.zeros(len(annotators), dtype=bool)
    noisy[random.choice(len(annotators), picked, replace=False)] = True
    answered = [one.corrupted(rate, random) if bad else one for one, bad in zip(annotators, noisy, strict=True)]
    questions = np.array([len(one.pairs) for one in answered])
    right = np.array([one.right() for one in answered])
    found = tally(mark([model], right, questions - right), noisy, np.ones((1, len(noisy)), dtype=bool))
    return _Round(found[0, 0], int(right[noisy].sum()), int(questions[noisy].sum()))
