"""What the metrics that ask questions have in common: which models they need, and what those are asked.

A board's texts are asked about once, all together: answers are selected, questions made, and each distinct question
answered from each text it is put to. An output about which nothing can be asked has no score: it is missing, not bad.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from billboards.errors import InvalidInput, MissingPart
from billboards.metrics.base import Batch, Floats, Item, Metric
from billboards.metrics.neural.devices import ONE_GPU, find_devices
from billboards.metrics.neural.encoder import Precision
from billboards.metrics.neural.engine import Where
from billboards.metrics.neural.installed import installed_version, need
from billboards.metrics.neural.learned import checked_precision, split_rows, warn_of_cut_texts
from billboards.metrics.neural.likelihood import LanguageModel, language_model
from billboards.metrics.neural.qa_asking import Asking, Questions, ask
from billboards.metrics.neural.qa_reading import Answer, Reach, span_reader
from billboards.metrics.neural.qa_selection import RULE, Candidate, select_by_rule
from billboards.metrics.neural.qa_tagging import tagger
from billboards.metrics.neural.qa_windows import Pair
from billboards.metrics.neural.weights import Weights, digest_files, locate

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
    def signature(self) -> str:
        self.check()
        models, said = self.models(), dict[str, object]()
        for option in self._options():
            value, weights = getattr(self, option.name), models.get(option.name)
            said[option.name] = value if weights is None else weights.label
            if weights is not None:
                said[f"{option.name}-weights"] = _digest(weights)
        return "|".join((self.card.name, *(f"{key}:{value}" for key, value in {**said, **self.versions()}.items())))

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

    def score(self, batch: Batch) -> Mapping[str, Floats]:
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
        found = tagger(self.models()["entities"], self._precision(), _device())
        chosen, sentences, cut = found.select(distinct, frozenset(filter(None, self.labels.split("+"))))
        warn_of_cut_texts(self, cut, sentences, found.limit)
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
        fetching = ", ".join(f"`billboards bertscore fetch {example}`" for _, example in self.needed.values())
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
