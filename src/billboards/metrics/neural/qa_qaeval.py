"""QAEval (Deutsch et al. 2021): does an output hold the information of a reference?

Questions are written about a reference's answers and answered from the output by a model that may find that there is
no answer. An answer scores exact match and F1 by SQuAD's rules, a question without one 0; scores average over the
questions of a reference and then over references. A reference without any question is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from billboards.metrics.base import Floats, Item, MetricCard
from billboards.metrics.neural.qa_asking import Questions
from billboards.metrics.neural.qa_metric import (
    FAILURES,
    LICENCE,
    OWN_MODELS,
    PART,
    GeneratedQuestions,
    mean_or_missing,
)
from billboards.metrics.neural.qa_overlap import exact_match, overlap_f1
from billboards.metrics.neural.qa_reading import Answer
from billboards.metrics.neural.qa_windows import Pair

#: What an answer that was given is worth, beside the right one.
WORTH: Mapping[str, Callable[[str, str], float]] = {
    "F1": overlap_f1,
    "EM": exact_match,
    "answered": lambda *_: 1.0,
}


@dataclass(frozen=True)
class QAEval(GeneratedQuestions):
    """Questions about the references, answered from the output."""

    card: ClassVar[MetricCard] = MetricCard(
        name="QAEval",
        summary="F1 of the answers that a model finds in the output to questions that another wrote about the "
        "references, with exact match and the share of answered questions beside it",
        needs_part=PART,
        range=(0.0, 1.0),
        training_data=f"{OWN_MODELS}; the authors' are a BART trained on question-answer pairs as statements, and an "
        "ELECTRA trained on SQuAD 2.0",
        licence=LICENCE,
        paper="Deutsch, Bedrax-Weiss and Roth 2021, Towards Question-Answering as an Automatic Metric for Evaluating "
        "the Content Quality of a Summary, TACL",
        failures=f"{FAILURES} What the output says beyond the references is not judged. The authors ask for noun "
        "phrases, of which names and numbers are few; references without any give no score.",
        slow=True,
    )

    def _judge(self, items: Sequence[Item]) -> dict[str, Floats]:
        questions = self._ask(text for item in items for text in item.references)
        answers = self._read(
            (question.text, item.output)
            for item in items
            for text in item.references
            for question in questions.get(text, ())
        )
        return {
            part: np.array([self._score(item, questions, answers, worth) for item in items], np.float64)
            for part, worth in WORTH.items()
        }

    def _score(
        self,
        item: Item,
        questions: Questions,
        answers: Mapping[Pair, Answer],
        worth: Callable[[str, str], float],
    ) -> float:
        of_references = []
        for asked in (questions.get(text, ()) for text in item.references):
            found = ((answers[question.text, item.output], question.answer) for question in asked)
            scores = [worth(given.text, right) if given.is_given else 0.0 for given, right in found]
            of_references += [mean_or_missing(scores)] if scores else []
        return mean_or_missing(of_references)


METRICS = {"QAEval": QAEval}
