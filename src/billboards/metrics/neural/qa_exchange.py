"""Two texts that ask each other (Scialom et al. 2021, §3): what each asks, and what the other answers.

The questions and answers of a whole board come in; out come the two halves of QuestEval for a pair of texts. Precision
asks how alike the answers are that another text gives to an output's questions, recall how probably an output answers
another text's, weighed by how much they matter. Where nothing is asked, there is no number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan

from billboards.metrics.neural.qa_asking import Question, Questions
from billboards.metrics.neural.qa_metric import mean_or_missing
from billboards.metrics.neural.qa_reading import Answer
from billboards.metrics.neural.qa_windows import Pair

#: An answer, and the one that was right.
Compared = tuple[Answer, str]
#: How much a question about a text matters.
Matters = Mapping[tuple[str, Question], float]


@dataclass(frozen=True)
class Exchange:
    """The questions about every text, and the answers of every text that they are put to."""

    questions: Questions
    answers: Mapping[Pair, Answer]

    def compared(self, output: str, other: str) -> list[Compared]:
        """What the other text answers to the output's questions, each beside the output's own answer."""
        return [(self.answers[asked.text, other], asked.answer) for asked in self.questions.get(output, ())]

    def precision(self, output: str, other: str, alike: Mapping[Compared, float]) -> float:
        return mean_or_missing([alike[one] for one in self.compared(output, other)])

    def recall(self, output: str, other: str, matters: Matters) -> float:
        asked = self.questions.get(other, ())
        total = sum(matters[other, question] for question in asked)
        answered = sum(matters[other, q] * (1 - self.answers[q.text, output].no_answer) for q in asked)
        return answered / total if total else float("nan")


def asked_pairs(questions: Questions, pairs: Sequence[tuple[str, str]]) -> Iterator[Pair]:
    """Every question of one text of a pair with the other text."""
    for one, two in pairs:
        for asks, asked in ((one, two), (two, one)):
            yield from ((question.text, asked) for question in questions.get(asks, ()))


def mean_of_known(values: Sequence[float]) -> float:
    """The mean of the values that there are."""
    return mean_or_missing([value for value in values if not isnan(value)])


def harmonic_mean(precision: float, recall: float) -> float:
    """The harmonic mean; 0 where either is 0, whatever the other would have been."""
    if 0 in (precision, recall):
        return 0.0
    return 2 * precision * recall / (precision + recall)
