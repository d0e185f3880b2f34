"""Metrics that ask questions: SummaQA, QAEval and QuestEval.

A board's texts are asked about once, all together: answers are selected, questions made, and each distinct question
answered from each text it is put to. An output about which nothing can be asked has no score: it is missing, not bad.

SummaQA (Scialom et al. 2019): does an output answer questions about its input? An entity of the input is replaced by a
mask, which makes its sentence a question; a model answers it from the output. The score is the F1 of that answer and
the entity, averaged over all entities, beside the model's confidence. An empty output answers nothing and scores 0.

QAEval (Deutsch et al. 2021): does an output hold the information of a reference? Questions are written about a
reference's answers and answered from the output by a model that may find that there is no answer. An answer scores
exact match and F1 by SQuAD's rules, a question without one 0; scores average over the questions of a reference and then
over references. A reference without any question is left out.

QuestEval (Scialom et al. 2021): an output and another text ask each other. Precision puts the output's questions to the
other text, recall the other text's questions to the output, weighed by how much they matter; the score is their
harmonic mean. The other text is the input, each reference, or each of them all, and both parts average over these. The
model that answers may point at answers or write them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, isnan
from typing import ClassVar, Literal

import numpy as np

from billboards.errors import InvalidInput, MissingPart
from billboards.metrics.base import Batch, Floats, Item, Metric, MetricCard
from billboards.metrics.neural.bertscore import BERTScore
from billboards.metrics.neural.devices import ONE_GPU, find_devices
from billboards.metrics.neural.encoder import Precision
from billboards.metrics.neural.engine import Where
from billboards.metrics.neural.installed import installed_version, need
from billboards.metrics.neural.learned import checked_precision, split_rows, warn_of_cut_texts
from billboards.metrics.neural.likelihood import LanguageModel, language_model, log_likelihoods
from billboards.metrics.neural.qa_answers import (
    Answer,
    Answering,
    Pair,
    Reach,
    exact_match,
    overlap_f1,
    read_by_writing,
    span_reader,
    writes_answers,
)
from billboards.metrics.neural.qa_questions import (
    RULE,
    Asking,
    Candidate,
    Question,
    Questions,
    ask,
    check_template,
    select_by_rule,
    tagger,
)
from billboards.metrics.neural.weights import Weights, digest_files, fetch_command, locate

ANSWERING = ("answers questions", "deepset/roberta-base-squad2")
ASKING = ("asks questions", "ThomasNLG/t5-qg_squad1-en")
PART = "torch, transformers and models that lie on this machine; none comes with the metric"
OWN_MODELS = "none of its own; that of the named models"
LICENCE = "Apache-2.0 (this code); the models have their own"
FAILURES = (
    "Asks about names and numbers (by rule) or what the entity model marks, so mistakes elsewhere go unseen. Wrong "
    "answers of the models count as faults of the output, and another wording of a right answer costs F1. Scores of "
    "different models can't be compared: compare only equal signatures. The rule is made for English."
)


@dataclass(frozen=True)
class QuestionMetric(Metric):
    """A score made of questions and answers.

    `qa` is the model that answers; `entities` the one that marks what is asked for, or `rule`; `labels` its labels
    that count, joined by `+` (all, where none is named). Texts are read in windows of `window` tokens that share
    `overlap`; an answer has at most `longest_answer` tokens.
    """

    qa: str = ""
    entities: str = RULE
    labels: str = ""
    window: int = 384
    overlap: int = 128
    longest_answer: int = 30
    precision: str = "fp32"

    multiple_references: ClassVar[Literal["own", "best"]] = "own"
    # Sums over a batch of other texts may differ in their last digits.
    needs_corpus: ClassVar[bool] = True
    scores_together: ClassVar[bool] = True
    resources: ClassVar[Mapping[str, float]] = ONE_GPU
    may_abstain: ClassVar[bool] = True
    #: The models without which there is no score: what each does, and one that does it.
    needed: ClassVar[Mapping[str, tuple[str, str]]] = {"qa": ANSWERING}
    #: Raised when a change of the metric changes scores.
    revision: ClassVar[str] = "1"

    @property
    def needs_all_outputs(self) -> bool:
        return False

    @property
    def signature(self) -> str:
        self.check()
        models, parts = self.models(), dict[str, object]()
        for option in self._options():
            value, weights = getattr(self, option.name), models.get(option.name)
            parts[option.name] = value if weights is None else weights.label
            if weights is not None:
                parts[f"{option.name}-weights"] = _digest(weights)
        return "|".join((self.card.name, *(f"{key}:{value}" for key, value in {**parts, **self.versions()}.items())))

    def versions(self) -> Mapping[str, str]:
        return {"transformers": installed_version("transformers"), "revision": self.revision}

    def check(self) -> None:
        """Refuse options that contradict one another before anything is computed."""
        need(self.card.name, "torch", "transformers")
        checked_precision(self, self.precision)
        self._reach()
        if self.labels and self.entities == RULE:
            raise InvalidInput(f"{self.card.name}: labels={self.labels} are those of a model; name one (entities=…)")

    def models(self) -> dict[str, Weights]:
        """Where the models lie that are named, by option."""
        if not all(getattr(self, option) for option in self.needed):
            raise MissingPart(self._how_to_name_models())
        named = {option: locate(getattr(self, option)) for option in self.needed}
        return named if self.entities == RULE else {**named, "entities": locate(self.entities)}

    def score_batch(self, batch: Batch) -> Mapping[str, Floats]:
        return self.score_rows([batch])[0]

    def score_rows(self, batches: Sequence[Batch]) -> list[Mapping[str, Floats]]:
        """Several generators at once: what they share is asked, and answered, once."""
        self.check()
        items = [item for batch in batches for item in batch.items()]
        parts = {part: split_rows(scores, batches) for part, scores in self._judge(items).items()}
        return [{part: rows[k] for part, rows in parts.items()} for k in range(len(batches))]

    @abstractmethod
    def _judge(self, items: Sequence[Item]) -> dict[str, Floats]:
        """The parts of the score of each output."""

    def _select(self, texts: Iterable[str]) -> list[list[Candidate]]:
        """The answers to ask for in each distinct text."""
        distinct = list(dict.fromkeys(texts))
        if self.entities == RULE:
            return [select_by_rule(text) for text in distinct]
        reader = tagger(self.models()["entities"], self._precision(), _device())
        chosen, sentences, cut = reader.select(distinct, frozenset(filter(None, self.labels.split("+"))))
        warn_of_cut_texts(self, cut, sentences, reader.limit)
        return chosen

    def _read(self, pairs: Iterable[Pair]) -> Mapping[Pair, Answer]:
        """The answer to each question from each text it is put to."""
        reader = span_reader(self.models()["qa"], self._precision(), _device(), self._reach())
        answers = reader.read(pairs)
        warn_of_cut_texts(self, answers.cut, len(answers.of), reader.limit // 2)
        return answers.of

    def _language_model(self, option: str) -> LanguageModel:
        """A model that writes, by the option that names it."""
        return language_model(self.models()[option], "encoder-decoder", self._precision(), _device())

    def _reach(self) -> Reach:
        return Reach(self.window, self.overlap, self.longest_answer)

    def _precision(self) -> Precision:
        return checked_precision(self, self.precision)

    def _how_to_name_models(self) -> str:
        name = self.card.name
        wanted = " and ".join(f"one that {does} ({option})" for option, (does, _) in self.needed.items())
        fetching = ", ".join(f"`{fetch_command(example)}`" for _, example in self.needed.values())
        options = ",".join(f"{option}={example}" for option, (_, example) in self.needed.items())
        return (
            f"{name} needs models, and none comes with it: {wanted}. Name folders, or models that were fetched "
            f"({fetching}), as in `billboards score BOARD --metric '{name}({options})'`"
        )


@dataclass(frozen=True)
class GeneratedQuestions(QuestionMetric):
    """A metric whose questions a model writes.

    `qg` is that model; `template` what it is given, of {answer}, {context}, {before} and {after}; `scope` whether the
    context is the answer's `sentence` or the whole `text`. It writes with `beams`, at most `longest_question` tokens.
    """

    qg: str = ""
    template: str = "sv1 </s> {answer} </s> {context}"
    scope: str = "sentence"
    beams: int = 4
    longest_question: int = 64

    needed: ClassVar[Mapping[str, tuple[str, str]]] = {"qg": ASKING, "qa": ANSWERING}

    def check(self) -> None:
        super().check()
        self._asking()

    def _ask(self, texts: Iterable[str]) -> Questions:
        """The questions about each distinct text."""
        model = self._language_model("qg")
        chosen = self._select(texts)
        questions, cut = ask(model, self._asking(), chosen)
        warn_of_cut_texts(self, cut, sum(map(len, chosen)), model.limit)
        return questions

    def _asking(self) -> Asking:
        return Asking(self.template, self.scope, self.beams, self.longest_question)


def mean_or_missing(values: Sequence[float]) -> float:
    """The mean, or NaN where there is nothing to average."""
    return float(np.mean(values)) if values else float("nan")


def _device() -> str:
    return find_devices(Where.from_environment().devices)[0]


def _digest(weights: Weights) -> str:
    """A digest of the weights, and of the settings by which a model that writes begins and ends a text."""
    settings = weights.folder / "generation_config.json"
    return f"{weights.digest}.{digest_files([settings])}" if settings.is_file() else weights.digest


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
        return mean_or_missing([alike[pair] for pair in self.compared(output, other)])

    def recall(self, output: str, other: str, matters: Matters) -> float:
        asked = self.questions.get(other, ())
        total = sum(matters[other, question] for question in asked)
        answered = sum(matters[other, q] * (1 - self.answers[q.text, output].no_answer) for q in asked)
        return answered / total if total else float("nan")


def asked_pairs(questions: Questions, pairs: Sequence[tuple[str, str]]) -> Iterator[Pair]:
    """Every question of one text of a pair with the other text."""
    for first, two in pairs:
        for asks, asked in ((first, two), (two, first)):
            yield from ((question.text, asked) for question in questions.get(asks, ()))


def mean_of_numbers(values: Sequence[float]) -> float:
    """The mean of the values that there are."""
    return mean_or_missing([value for value in values if not isnan(value)])


def harmonic_mean(precision: float, recall: float) -> float:
    """The harmonic mean; 0 where either is 0, whatever the other would have been."""
    if 0 in (precision, recall):
        return 0.0
    return 2 * precision * recall / (precision + recall)


@dataclass(frozen=True)
class SummaQA(QuestionMetric):
    """Cloze questions about the input's entities, answered from the output; `mask` stands for the entity."""

    mask: str = "MASKED"

    card: ClassVar[MetricCard] = MetricCard(
        making="learned",
        name="SummaQA",
        summary="F1 of the answers that a model finds in the output to cloze questions about the input's entities, "
        "with the model's confidence as a second part",
        needs_references=False,
        needs_input=True,
        needs_part=PART,
        range=(0.0, 1.0),
        parts=("F1", "confidence"),
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
        making="learned",
        name="QAEval",
        summary="F1 of the answers that a model finds in the output to questions that another wrote about the "
        "references, with exact match and the share of answered questions beside it",
        needs_part=PART,
        range=(0.0, 1.0),
        parts=tuple(WORTH),
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
            compared = ((answers[question.text, item.output], question.answer) for question in asked)
            scores = [worth(given.text, right) if given.is_given else 0.0 for given, right in compared]
            of_references += [mean_or_missing(scores)] if scores else []
        return mean_or_missing(of_references)


UNIFORM = "none"
F1, EMBEDDINGS = "F1", "BERTScore"
QUESTEVAL_PAPER = "Scialom et al. 2021, QuestEval: Summarization Asks for Fact-based Evaluation, EMNLP"
QUESTEVAL_TRAINING = (
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
        alike = self._compare(compared for pair in pairs for compared in exchange.compared(*pair))
        matters = self._weigh(questions, [other for _, other in pairs])
        p = [mean_of_numbers([exchange.precision(*pair, alike) for pair in own]) for own in held]
        r = [mean_of_numbers([exchange.recall(*pair, matters) for pair in own]) for own in held]
        parts = {"F": [harmonic_mean(*compared) for compared in zip(p, r, strict=True)], "P": p, "R": r}
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
        given = [
            template.format(answer=text_given.answer, question=text_given.text, context=text)
            for text, text_given in asked
        ]
        likelihoods = log_likelihoods([model], ((text_given, self.used) for text_given in given), normalised=False)
        warn_of_cut_texts(self, likelihoods.cut, likelihoods.texts, model.limit)
        return {key: exp(likelihoods.of[text_given, self.used]) for key, text_given in zip(asked, given, strict=True)}

    def _compare(self, wanted: Iterable[Compared]) -> Mapping[Compared, float]:
        """How alike each answer and the right one are; where there is none, not at all."""
        distinct = dict.fromkeys(wanted, 0.0)
        given = [(answer, right) for answer, right in distinct if answer.is_given]
        if self.similarity == F1:
            return distinct | {pair: overlap_f1(pair[0].text, pair[1]) for pair in given}
        batch = Batch([answer.text for answer, _ in given], [[right] for _, right in given])
        scores = BERTScore(precision=self.precision).score_batch(batch)["F1"] if given else np.empty(0)
        return distinct | dict(zip(given, np.clip(scores, 0, 1).tolist(), strict=True))

    def _answering(self) -> Answering:
        return Answering(self.qa_template, self.no_answer, self.longest_answer)


#: What the cards of all three say alike.
QUESTEVAL = MetricCard(
    making="learned",
    name="QuestEval",
    summary="Harmonic mean of precision and recall of answers",
    needs_part=PART,
    range=(0.0, 1.0),
    parts=("F", "P", "R"),
    training_data=QUESTEVAL_TRAINING,
    licence=LICENCE,
    paper=QUESTEVAL_PAPER,
    failures=QUESTEVAL_FAILURES,
    slow=True,
)


@dataclass(frozen=True)
class QuestEval(QuestEvalFamily):
    """Output and input ask each other; no reference is needed."""

    card: ClassVar[MetricCard] = replace(
        QUESTEVAL,
        name="QuestEval",
        summary="Harmonic mean of precision (the input answers the output's questions alike) and recall (the output "
        "answers the input's)",
        needs_references=False,
        needs_input=True,
    )


@dataclass(frozen=True)
class QuestEvalRef(QuestEvalFamily):
    """Output and references ask each other."""

    card: ClassVar[MetricCard] = replace(
        QUESTEVAL,
        name="QuestEval-ref",
        summary="Harmonic mean of precision (the references answer the output's questions alike) and recall (the "
        "output answers the references')",
    )


@dataclass(frozen=True)
class QuestEvalBoth(QuestEvalFamily):
    """Output, input and references: the mean over all texts that the output is held against."""

    card: ClassVar[MetricCard] = replace(
        QUESTEVAL,
        name="QuestEval-both",
        summary="Harmonic mean of precision (input and references answer the output's questions alike) and recall "
        "(the output answers theirs), each averaged over these texts",
        needs_input=True,
    )


METRICS = {
    "SummaQA": SummaQA,
    "QAEval": QAEval,
    "QuestEval": QuestEval,
    "QuestEval-ref": QuestEvalRef,
    "QuestEval-both": QuestEvalBoth,
}
