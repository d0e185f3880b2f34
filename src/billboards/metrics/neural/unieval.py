"""UniEval (Zhong et al. 2022): a T5 is asked whether a text is fluent, coherent, consistent …, and may say Yes or No.

Each dimension is a question that stands before the texts it is about. Its score is the share of Yes in Yes and No at
the decoder's first step. Some dimensions are asked of each sentence and averaged (consistency, fluency of summaries) or
summed (engagingness of responses). The score is the mean of all dimensions, which are its parts.

Questions decide the numbers, so they are the authors' own, as data: github.com/maszhongming/UniEval (MIT), utils.py;
which of them are asked of sentences is said in metric/evaluator.py there, and how Yes and No are read in
metric/scorer.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import ClassVar, Literal

import numpy as np

from billboards.errors import InvalidInput, MissingPart
from billboards.metrics.base import Batch, Floats, Item, MetricCard
from billboards.metrics.neural.devices import find_devices
from billboards.metrics.neural.engine import Where
from billboards.metrics.neural.first_step import Answers, Reading, ask_first, first_step
from billboards.metrics.neural.learned import ModelMetric, checked_precision, split_rows, warn_of_cut_texts
from billboards.metrics.neural.weights import Weights, locate
from billboards.metrics.nltk_words import NO_PARAMETERS, nltk_sentences, punkt_version

OVERALL = "overall"
#: Tokens that are read of a question with its texts, the one that ends them included.
LONGEST = 1024
#: In a dialogue's input the history ends with an empty line; the fact that the response may use follows.
AFTER_HISTORY = "\n\n"


@dataclass(frozen=True)
class Question:
    """What is asked, with places for the texts; and whether of each sentence, by their mean or their sum."""

    text: str
    sentences: Literal["whole", "mean", "sum"] = "whole"


@dataclass(frozen=True)
class Task:
    """The authors' checkpoint for a task, and a question for each dimension."""

    model: str
    questions: Mapping[str, Question]


_CONSISTENCY = Question(
    "question: Is this claim consistent with the document? </s> claim: {output} </s> document: {source}", "mean"
)
TASKS: Mapping[str, Task] = MappingProxyType(
    {
        "summarization": Task(
            "MingZhong/unieval-sum",
            {
                "coherence": Question(
                    "question: Is this a coherent summary to the document? </s> summary: {output} "
                    "</s> document: {source}"
                ),
                "consistency": _CONSISTENCY,
                "fluency": Question("question: Is this a fluent paragraph? </s> paragraph: {output}", "mean"),
                "relevance": Question(
                    "question: Is this summary relevant to the reference? </s> summary: {output} "
                    "</s> reference: {reference}"
                ),
            },
        ),
        "dialogue": Task(
            "MingZhong/unieval-dialog",
            {
                "naturalness": Question(
                    "question: Is this a natural response in the dialogue? </s> response: {output}"
                ),
                "coherence": Question(
                    "question: Is this a coherent response given the dialogue history? </s> response: {output} "
                    "</s> dialogue history: {source}"
                ),
                "engagingness": Question(
                    "question: Is this an engaging and informative response according to the dialogue history and "
                    "fact? </s> response: {output} </s> dialogue history: {source} </s> fact: {fact}",
                    "sum",
                ),
                "groundedness": Question(
                    "question: Is this response consistent with knowledge in the fact? </s> response: {output} "
                    "</s> fact: {fact}"
                ),
                "understandability": Question(
                    "question: Is this an understandable response in the dialogue? </s> response: {output}"
                ),
            },
        ),
        "data2text": Task(
            "MingZhong/unieval-sum",
            {
                "naturalness": Question("question: Is this a fluent utterance? </s> utterance: {output}"),
                "informativeness": Question(
                    "question: Is this sentence informative according to the reference? </s> sentence: {output} "
                    "</s> reference: {reference}"
                ),
            },
        ),
        "fact": Task("MingZhong/unieval-fact", {"consistency": _CONSISTENCY}),
    }
)


#: What is asked about an output: alternatives of which the best counts (references), each of several texts (sentences).
Asked = list[list[str]]


@dataclass(frozen=True)
class UniEval(ModelMetric):
    """The mean over a task's dimensions, each the share of Yes to its question.

    `model` is a checkpoint's folder or a hub model fetched before, by default the authors' for the task;
    `task` is summarization, dialogue, data2text or fact; `dimensions` are those that are asked for, joined by `+` (all
    of the task, where none is named). A dialogue's input is its history, an empty line, and the fact to be used.
    """

    model: str = ""
    task: str = "summarization"
    dimensions: str = ""

    card: ClassVar[MetricCard] = MetricCard(
        making="learned",
        name="UniEval",
        summary="Share of Yes that a T5 gives to questions about an output, one for each dimension of its quality, "
        "with the dimensions as parts",
        needs_input=True,
        needs_part="torch, transformers, a checkpoint of the authors' that lies on this machine, and nltk's Punkt data "
        "(punkt_tab) for dimensions that are asked of each sentence",
        range=(0.0, 1.0),
        languages=("en",),
        parts=(OVERALL, *TASKS["summarization"].questions),
        training_data="question answering, inference and other tasks, then pairs that were made by rule: for summaries "
        "from CNN/DailyMail, for responses from Topical-Chat, whose boards it knows well (Zhong et al. 2022)",
        licence="Apache-2.0 (this code), MIT (questions); each checkpoint has its own",
        paper="Zhong et al. 2022, Towards a Unified Multi-Dimensional Evaluator for Text Generation, EMNLP",
        failures="Its dimensions are much alike, and all reward what is copied from the input. Engagingness is a sum "
        "over sentences: longer responses score higher, beyond 1. Long inputs are cut at 1,024 tokens, so what stands "
        "late in a document supports nothing. With several references the best counts for relevance. An empty output "
        "is asked about as if it were one empty sentence.",
        slow=True,
    )

    def __post_init__(self) -> None:
        chosen = self._chosen()
        asked = "".join(question.text for question in chosen.values())
        summed = any(question.sentences == "sum" for question in chosen.values())
        # Scoring gives a metric only what its card asks for.
        card = replace(
            type(self).card,
            needs_input="{source}" in asked or "{fact}" in asked,
            needs_references="{reference}" in asked,
            range=(0.0, None if summed else 1.0),
            parts=(OVERALL, *chosen) if len(chosen) > 1 else tuple(chosen),
        )
        object.__setattr__(self, "card", card)

    def weights(self) -> Weights:
        if self.model:
            return super().weights()
        try:
            return locate(TASKS[self.task].model, self.revision)
        except MissingPart as error:
            raise MissingPart(f"UniEval(task={self.task}) needs the authors' model: {error}") from error

    def versions(self) -> Mapping[str, str]:
        by_sentence = any(question.sentences != "whole" for question in self._chosen().values())
        return {**super().versions(), **({"punkt": punkt_version()} if by_sentence else {})}

    def score_batch(self, batch: Batch) -> Mapping[str, Floats]:
        return self.score_rows([batch])[0]

    def score_rows(self, batches: Sequence[Batch]) -> list[Mapping[str, Floats]]:
        """Several generators at once; what is equal is asked once."""
        chosen = self._chosen()
        self._check_sentences()
        items = [item for batch in batches for item in batch.items()]
        asked = {name: [self._asked(question, item) for item in items] for name, question in chosen.items()}
        texts = (text for rows in asked.values() for row in rows for alternative in row for text in alternative)
        answers, yes = self._answers(texts)
        parts = {name: _scores(chosen[name], rows, yes) for name, rows in asked.items()}
        if len(parts) > 1:
            parts = {OVERALL: np.mean(list(parts.values()), axis=0), **parts}
        warn_of_cut_texts(self, answers.cut, len(answers.of), LONGEST)
        split = {name: split_rows(scores, batches) for name, scores in parts.items()}
        return [{name: rows[k] for name, rows in split.items()} for k in range(len(batches))]

    def _answers(self, texts: Iterable[str]) -> tuple[Answers, Mapping[str, float]]:
        """What the model says to each question, and the share of Yes in it."""
        weights, precision = self.weights(), checked_precision(self, self.precision)
        models = [first_step(weights, precision, device) for device in find_devices(Where.from_environment().devices)]
        words = [models[0].first_token(word) for word in ("Yes", "No")]
        answers = ask_first(models, texts, words, Reading(limit=LONGEST, keeps_end=True))
        return answers, {text: float(1 / (1 + np.exp(no - yes))) for text, (yes, no) in answers.of.items()}

    def _asked(self, question: Question, item: Item) -> Asked:
        """The question with an output's texts in their places."""
        source, fact = item.input or "", ""
        if self.task == "dialogue" and AFTER_HISTORY in source:
            history, _, fact = source.partition(AFTER_HISTORY)
            source = history + AFTER_HISTORY
        if "{fact}" in question.text and not fact:
            raise InvalidInput(
                "UniEval reads a dialogue's history and the fact to be used from the input, with an empty line between "
                f"them; there is none in {source[:60]!r}. Name dimensions that need no fact, as in "
                "dimensions=naturalness+coherence+understandability"
            )
        outputs = [item.output] if question.sentences == "whole" else nltk_sentences(item.output) or [item.output]
        references = item.references if "{reference}" in question.text else ("",)
        texts = {"source": source, "fact": fact}
        return [
            [question.text.format(output=output, reference=reference, **texts) for output in outputs]
            for reference in references
        ]

    def _chosen(self) -> Mapping[str, Question]:
        """The questions that are asked, by dimension."""
        if self.task not in TASKS:
            raise InvalidInput(f"UniEval: task {self.task!r} is none of {', '.join(TASKS)}")
        questions = TASKS[self.task].questions
        named = [name.strip() for name in self.dimensions.split("+") if name.strip()] or list(questions)
        unknown = next((name for name in named if name not in questions), None)
        if unknown is not None:
            raise InvalidInput(f"UniEval: dimension {unknown!r} is none of {', '.join(questions)} ({self.task})")
        return {name: questions[name] for name in questions if name in named}

    def _check_sentences(self) -> None:
        by_sentence = [name for name, question in self._chosen().items() if question.sentences != "whole"]
        if by_sentence and punkt_version() == NO_PARAMETERS:
            raise MissingPart(
                f"UniEval asks about {' and '.join(by_sentence)} sentence by sentence, as nltk's Punkt cuts them, and "
                f"its data are not on this machine: python -m nltk.downloader punkt_tab, or name other dimensions"
            )


def _scores(question: Question, rows: Sequence[Asked], yes: Mapping[str, float]) -> Floats:
    total = np.sum if question.sentences == "sum" else np.mean
    best = [max(float(total([yes[text] for text in texts])) for texts in alternatives) for alternatives in rows]
    return np.array(best, np.float64)


METRICS = {"UniEval": UniEval}
