"""SummaQA (Scialom et al. 2019): does an output answer questions about its input?

An entity of the input is replaced by a mask, which makes its sentence a question; a model answers it from the output.
The score is the F1 of that answer and the entity, averaged over all entities, beside the model's confidence. An empty
output answers nothing and scores 0; an input without any entity gives no score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from billboards.metrics.base import Floats, Item, MetricCard
from billboards.metrics.neural.qa_asking import Question
from billboards.metrics.neural.qa_metric import FAILURES, LICENCE, OWN_MODELS, PART, QuestionMetric, mean_or_missing
from billboards.metrics.neural.qa_overlap import overlap_f1
from billboards.metrics.neural.qa_selection import Candidate


@dataclass(frozen=True)
class SummaQA(QuestionMetric):
    """Cloze questions about the input's entities, answered from the output; `mask` stands for the entity."""

    mask: str = "MASKED"

    card: ClassVar[MetricCard] = MetricCard(
        name="SummaQA",
        summary="F1 of the answers that a model finds in the output to cloze questions about the input's entities, "
        "with the model's confidence as a second part",
        needs_references=False,
        needs_input=True,
        needs_part=PART,
        range=(0.0, 1.0),
        training_data=f"{OWN_MODELS}; the authors' model is a BERT trained on SQuAD",
        licence=LICENCE,
        paper="Scialom et al. 2019, Answers Unite! Unsupervised Metrics for Reinforced Summarization Models, EMNLP",
        failures=f"{FAILURES} Longer outputs and copied inputs answer more. Models that learned from real questions "
        "are put cloze ones. What the output adds is not judged. An input without entities gives no score.",
        slow=True,
    )

    def _judge(self, items: Sequence[Item]) -> dict[str, Floats]:
        chosen = self._select(item.input or "" for item in items)
        questions: dict[str, list[Question]] = {}
        for candidate in (candidate for candidates in chosen for candidate in candidates):
            questions.setdefault(candidate.text, []).append(self._cloze(candidate))
        asked = [questions.get(item.input or "", []) for item in items]
        pairs = [[(question.text, item.output) for question in own] for item, own in zip(items, asked, strict=True)]
        answers = self._read(pair for own in pairs for pair in own)
        rows = list(zip(asked, pairs, strict=True))
        f1 = [
            mean_or_missing([overlap_f1(answers[p].text, q.answer) for q, p in zip(own, given, strict=True)])
            for own, given in rows
        ]
        confidence = [mean_or_missing([answers[pair].confidence for pair in given]) for _, given in rows]
        return {"F1": np.array(f1, np.float64), "confidence": np.array(confidence, np.float64)}

    def _cloze(self, candidate: Candidate) -> Question:
        before, answer, after = candidate.context(whole=False)
        return Question(before + self.mask + after, answer)


METRICS = {"SummaQA": SummaQA}
