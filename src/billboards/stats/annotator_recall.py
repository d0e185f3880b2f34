"""How many test questions people get, and how likely a careless one is found, before anybody has answered.

Test questions are dealt densely as long as it is open whether somebody reads, and thinly once their answers have made
it plain: that puts them early, and asks attentive people few. `is_open` says which, from the right and wrong answers
alone, by the likelihood that half of them are random over that of an attentive annotator. What a plan finds is worked
out by dealing to many made-up people, with attentive people's accuracy known; further signs come on top.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from billboards.stats.annotator_signs import ENOUGH, CountSign, count_evidence

Floats = NDArray[np.float64]
#: What attentive people are taken to have right (GENIE draws .95 to 1), and who answers half or all at random.
ATTENTIVE, HALF_RANDOM, RANDOM = 0.97, 0.735, 0.5
#: Whoever is so much likelier attentive than half random has shown it.
PLAIN = 1 / 20
#: Made-up people of each sort, and the most answers they give; wrong answers and questions beyond these change nothing.
PEOPLE, MOST_ANSWERS, MOST_WRONG, MOST_QUESTIONS = 2_000, 400, 25, 120


def is_open(right: int, wrong: int) -> bool:
    """Whether it is still open, by the test questions so far, that somebody answers half of them at random."""
    return bool(_doubt(np.array([right]), np.array([wrong]))[0])


def _doubt(right: NDArray[np.int64], wrong: NDArray[np.int64]) -> NDArray[np.bool_]:
    for_random = right * math.log(HALF_RANDOM / ATTENTIVE) + wrong * math.log((1 - HALF_RANDOM) / (1 - ATTENTIVE))
    return np.asarray(for_random > math.log(PLAIN))


@dataclass(frozen=True, kw_only=True, slots=True)
class ExpectedRecall:
    """What test questions find among a person's first answers.

    `questions` are those that an attentive person gets. Shares of people who are found: `random` of those who answer
    everything at random, `half_random` of those who answer every second item so, `attentive` of the others, wrongly.
    """

    answers: int
    questions: float
    random: float
    half_random: float
    attentive: float


def expected_recall(answers: float, *, early: int, later: int, block: int = 20) -> ExpectedRecall:
    """How many test questions a person meets in so many answers, and who is found by them.

    answers: how many answers each person gives
    early: test questions in a block while it is open whether somebody reads
    later: test questions in a block from then on
    block: how many answers a block has
    """
    steps = min(round(answers), MOST_ANSWERS)
    curves = [_curves(accuracy, early, later, block) for accuracy in (ATTENTIVE, RANDOM, HALF_RANDOM)]
    attentive, at_random, half_random = (float(curve[steps]) for _, curve in curves)
    if early <= later:
        questions = answers * later / block
    else:
        questions = float(curves[0][0][steps]) + max(0.0, answers - steps) * later / block
    return ExpectedRecall(
        answers=round(answers),
        questions=questions,
        random=at_random,
        half_random=half_random,
        attentive=attentive,
    )


def answers_for(labels: float, *, early: int, later: int, block: int = 20) -> float:
    """How many answers a person gives, test questions among them, until there are so many labels.

    labels: labels that the person gives
    early: test questions in a block while it is open whether somebody reads
    later: test questions in a block from then on
    block: how many answers a block has
    """
    if early <= later:
        return labels * block / (block - later)
    answers = np.arange(MOST_ANSWERS + 1)
    given = answers - _curves(ATTENTIVE, early, later, block)[0]
    if labels <= given[-1]:
        return float(np.interp(labels, given, answers))
    return MOST_ANSWERS + (labels - float(given[-1])) * block / (block - later)


@cache
def _curves(accuracy: float, early: int, later: int, block: int) -> tuple[Floats, Floats]:
    """After each answer, the mean number of questions of people with this accuracy, and the share that was found."""
    random = np.random.default_rng(0)
    right, wrong = np.zeros(PEOPLE, np.int64), np.zeros(PEOPLE, np.int64)
    excluded = np.zeros(PEOPLE, bool)
    evidence = _evidence_table()
    questions, shares = np.zeros(MOST_ANSWERS + 1), np.zeros(MOST_ANSWERS + 1)
    for step in range(1, MOST_ANSWERS + 1):
        share = np.where(_doubt(right, wrong), max(early, later), later) / block
        asked = (random.random(PEOPLE) < share) & ~excluded
        is_right = random.random(PEOPLE) < accuracy
        right += asked & is_right
        wrong += asked & ~is_right
        excluded |= evidence[np.minimum(right, MOST_QUESTIONS), np.minimum(wrong, MOST_WRONG)] >= math.log(ENOUGH)
        questions[step], shares[step] = (right + wrong).mean(), excluded.mean()
    return questions, shares


@cache
def _evidence_table() -> Floats:
    """The logarithm of the evidence after so many right (rows) and wrong (columns) answers."""
    right, wrong = np.meshgrid(np.arange(MOST_QUESTIONS + 1), np.arange(MOST_WRONG + 1), indexing="ij")
    prior = (200 * ATTENTIVE, 200 * (1 - ATTENTIVE))
    sign = CountSign(usual=right.ravel(), unusual=wrong.ravel(), known=prior)
    return count_evidence(sign, learning=False).reshape(right.shape)
