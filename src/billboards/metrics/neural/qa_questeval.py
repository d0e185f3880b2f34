"""QuestEval (Scialom et al. 2021): an output and another text ask each other.

Precision puts the output's questions to the other text, recall the other text's questions to the output; the score is
their harmonic mean (qa_exchange.py). The other text is the input, each reference, or each of them all, and both parts
average over these. The model that answers may point at answers or write them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp
from typing import ClassVar

import numpy as np

from billboards.errors import InvalidInput
from billboards.metrics.base import Batch, Floats, Item, MetricCard
from billboards.metrics.neural.bertscore import BERTScore
from billboards.metrics.neural.learned import warn_of_cut_texts
from billboards.metrics.neural.likelihood_pairs import log_likelihoods
from billboards.metrics.neural.qa_asking import Questions, check_template
from billboards.metrics.neural.qa_exchange import (
    Compared,
    Exchange,
    Matters,
    asked_pairs,
    harmonic_mean,
    mean_of_known,
)
from billboards.metrics.neural.qa_metric import (
    ANSWERING,
    ASKING,
    FAILURES,
    LICENCE,
    OWN_MODELS,
    PART,
    GeneratedQuestions,
)
from billboards.metrics.neural.qa_overlap import overlap_f1
from billboards.metrics.neural.qa_reading import Answer
from billboards.metrics.neural.qa_windows import Pair
from billboards.metrics.neural.qa_written import Answering, read_by_writing, writes_answers
from billboards.metrics.neural.weights import Weights, locate

UNIFORM = "none"
F1, EMBEDDINGS = "F1", "BERTScore"
PAPER = "Scialom et al. 2021, QuestEval: Summarization Asks for Fact-based Evaluation, EMNLP"
TRAINING = (
    f"{OWN_MODELS}; the authors' are T5s that ask (SQuAD), answer (SQuAD 2.0) and weigh (answers in summaries of "
    "CNN/DailyMail)"
)
QUESTEVAL_FAILURES = (
    f"{FAILURES} An output without names or numbers asks nothing and has no precision, hence no score unless its "
    "recall is 0. Copied sentences score high. The authors' program averages F1 and answerability in both directions "
    "and asks for noun phrases, too: its numbers differ."
)


@dataclass(frozen=True)
class QuestEvalFamily(GeneratedQuestions):
    """What the three do; they differ in what they ask, and are asked by.

    A `qa` model that writes answers is given `qa_template`, and says `no_answer` where there is none; one that points
    at answers needs neither. `weighter` is a model that says `used` of a question that matters, given
    `weighter_template`; without one all count alike. `similarity` of answers is F1, or BERTScore with its default.
    """

    beams: int = 1
    qa_template: str = "{question} </s> {context}"
    no_answer: str = "unanswerable"
    weighter: str = UNIFORM
    weighter_template: str = "{answer} </s> {question} </s> {context}"
    used: str = "true"
    similarity: str = F1

    needed: ClassVar[Mapping[str, tuple[str, str]]] = {
        "qg": ASKING,
        "qa": (ANSWERING[0], "ThomasNLG/t5-qa_squad2neg-en"),
    }

    def check(self) -> None:
        super().check()
        fields = ("answer", "question", "context")
        check_template("weighter_template", self.weighter_template, fields, needed=fields)
        self._answering()
        if self.similarity not in (F1, EMBEDDINGS):
            raise InvalidInput(f"{self.card.name}: similarity {self.similarity!r} is none of {F1}, {EMBEDDINGS}")

    def models(self) -> dict[str, Weights]:
        named = super().models()
        return named if self.weighter == UNIFORM else {**named, "weighter": locate(self.weighter)}

    def versions(self) -> Mapping[str, str]:
        embedding = {"embeddings": locate(BERTScore().model).digest} if self.similarity == EMBEDDINGS else {}
        return {**embedding, **super().versions()}

    def _judge(self, items: Sequence[Item]) -> dict[str, Floats]:
        held = [[(item.output, other) for other in self._others(item)] for item in items]
        pairs = list(dict.fromkeys(pair for own in held for pair in own))
        questions = self._ask(text for pair in pairs for text in pair)
        exchange = Exchange(questions, self._read(asked_pairs(questions, pairs)))
        alike = self._compare(one for pair in pairs for one in exchange.compared(*pair))
        matters = self._weigh(questions, [other for _, other in pairs])
        p = [mean_of_known([exchange.precision(*pair, alike) for pair in own]) for own in held]
        r = [mean_of_known([exchange.recall(*pair, matters) for pair in own]) for own in held]
        parts = {"F": [harmonic_mean(*one) for one in zip(p, r, strict=True)], "P": p, "R": r}
        return {part: np.array(scores, np.float64) for part, scores in parts.items()}

    def _others(self, item: Item) -> tuple[str, ...]:
        """The texts that an output is held against."""
        inputs = (item.input or "",) if self.card.needs_input else ()
        return inputs + (item.references if self.card.needs_references else ())

    def _read(self, pairs: Iterable[Pair]) -> Mapping[Pair, Answer]:
        if not writes_answers(self.models()["qa"]):
            return super()._read(pairs)
        model = self._language_model("qa")
        answers = read_by_writing(model, self._answering(), pairs)
        warn_of_cut_texts(self, answers.cut, len(answers.of), model.limit)
        return answers.of

    def _weigh(self, questions: Questions, texts: Iterable[str]) -> Matters:
        """How much each question about these texts matters: how likely the weighter says that it does."""
        asked = [(text, question) for text in dict.fromkeys(texts) for question in questions.get(text, ())]
        if self.weighter == UNIFORM:
            return dict.fromkeys(asked, 1.0)
        model, template = self._language_model("weighter"), self.weighter_template
        given = [template.format(answer=one.answer, question=one.text, context=text) for text, one in asked]
        found = log_likelihoods([model], ((one, self.used) for one in given), normalised=False)
        warn_of_cut_texts(self, found.cut, found.texts, model.limit)
        return {key: exp(found.of[one, self.used]) for key, one in zip(asked, given, strict=True)}

    def _compare(self, wanted: Iterable[Compared]) -> Mapping[Compared, float]:
        """How alike each answer and the right one are; where there is none, not at all."""
        distinct = dict.fromkeys(wanted, 0.0)
        given = [(answer, right) for answer, right in distinct if answer.is_given]
        if self.similarity == F1:
            return distinct | {one: overlap_f1(one[0].text, one[1]) for one in given}
        batch = Batch([answer.text for answer, _ in given], [[right] for _, right in given])
        scores = BERTScore(precision=self.precision).score(batch)["F1"] if given else np.empty(0)
        return distinct | dict(zip(given, np.clip(scores, 0, 1).tolist(), strict=True))

    def _answering(self) -> Answering:
        return Answering(self.qa_template, self.no_answer, self.longest_answer)


@dataclass(frozen=True)
class QuestEval(QuestEvalFamily):
    """Output and input ask each other; no reference is needed."""

    card: ClassVar[MetricCard] = MetricCard(
        name="QuestEval",
        summary="Harmonic mean of precision (the input answers the output's questions alike) and recall (the output "
        "answers the input's)",
        needs_references=False,
        needs_input=True,
        needs_part=PART,
        range=(0.0, 1.0),
        training_data=TRAINING,
        licence=LICENCE,
        paper=PAPER,
        failures=QUESTEVAL_FAILURES,
        slow=True,
    )


@dataclass(frozen=True)
class QuestEvalRef(QuestEvalFamily):
    """Output and references ask each other."""

    card: ClassVar[MetricCard] = MetricCard(
        name="QuestEval-ref",
        summary="Harmonic mean of precision (the references answer the output's questions alike) and recall (the "
        "output answers the references')",
        needs_part=PART,
        range=(0.0, 1.0),
        training_data=TRAINING,
        licence=LICENCE,
        paper=PAPER,
        failures=QUESTEVAL_FAILURES,
        slow=True,
    )


@dataclass(frozen=True)
class QuestEvalBoth(QuestEvalFamily):
    """Output, input and references: the mean over all texts that the output is held against."""

    card: ClassVar[MetricCard] = MetricCard(
        name="QuestEval-both",
        summary="Harmonic mean of precision (input and references answer the output's questions alike) and recall "
        "(the output answers theirs), each averaged over these texts",
        needs_input=True,
        needs_part=PART,
        range=(0.0, 1.0),
        training_data=TRAINING,
        licence=LICENCE,
        paper=PAPER,
        failures=QUESTEVAL_FAILURES,
        slow=True,
    )


METRICS = {"QuestEval": QuestEval, "QuestEval-ref": QuestEvalRef, "QuestEval-both": QuestEvalBoth}
