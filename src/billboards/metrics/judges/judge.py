"""LLM judges: a model behind any endpoint that speaks the chat-completions interface scores outputs as it is told to.

Nothing is sent unless the user names an endpoint and a model, by option or environment. The signature names both, every
option and a digest of the prompt. Each distinct question is asked once, ever: raw answers are kept in a file. Where no
answer can be read the judge abstains: the score is missing, never 0.
"""

from __future__ import annotations

import logging
import math
import os
import threading
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

from billboards.errors import InvalidInput, MissingSetting
from billboards.metrics.base import Batch, Floats, Item, Metric, MetricCard
from billboards.metrics.judges import templates
from billboards.metrics.judges.answers import Answers
from billboards.metrics.judges.asking import Abstained, Asking, Parts, Question
from billboards.metrics.judges.budget import Budget, Estimate
from billboards.metrics.judges.endpoint import Endpoint, need_httpx
from billboards.metrics.judges.pace import SystemClock, shared_pace
from billboards.metrics.judges.parsing import HIGHEST, LOWEST
from billboards.metrics.judges.settings import MODEL, URL, Settings, checked_url
from billboards.metrics.judges.templates import Template
from billboards.metrics.judges.usage import Prices, Tally

#: Raised when a change here changes scores and no prompt.
REVISION = "2"
NEEDS = f"an endpoint and a model, where {URL} and {MODEL} or the options say"
TRAINING = "that of the model; it may have read public test sets, their references and judgments among them"
LICENCE = "Apache-2.0 (this code); the model's and its provider's terms"
FAILURES = (
    "Judges prefer long, fluent texts and those of their own family, may be talked into a score by the text they "
    "judge, and change when their provider changes them under the same name. Even at temperature 0 a second asking may "
    "differ. "
    "Texts leave the machine for the endpoint, and answers cost time and money. Outputs about which no answer can be "
    "read have no score."
)
#: What the cards of all judges say alike.
COMMON = MetricCard(
    name="judge",
    making="judge",
    summary="",
    needs_input=True,
    needs_part=NEEDS,
    deterministic=False,
    training_data=TRAINING,
    licence=LICENCE,
    failures=FAILURES,
    slow=True,
)
log = logging.getLogger("billboards.judges")


@dataclass(frozen=True)
class Judge(Metric):
    """What all judges share.

    `max_tokens` bounds an answer, 0 leaves that to the endpoint; `abstain` is the share of outputs that may have no
    score because no answer about them can be read.
    """

    model: str = ""
    endpoint: str = ""
    temperature: float = 0.0
    max_tokens: int = 0
    abstain: float = 0.05

    multiple_references: ClassVar[Literal["own", "best"]] = "own"
    # In one process, so that all generators share one pace and equal questions are asked once.
    scores_together: ClassVar[bool] = True
    may_abstain: ClassVar[bool] = True
    # The key and the answers that are kept lie here.
    travels: ClassVar[bool] = False
    #: How many questions follow one another about an output, and the tokens that an answer usually has.
    steps: ClassVar[int] = 1
    usual_tokens: ClassVar[int] = 20

    def __post_init__(self) -> None:
        if not 0 <= self.temperature <= 2:
            raise InvalidInput(f"{self.card.name}: temperature must lie from 0 to 2, found {self.temperature}")
        if self.max_tokens < 0:
            raise InvalidInput(f"{self.card.name}: max_tokens must be 0 (no bound) or more, found {self.max_tokens}")
        if not 0 <= self.abstain <= 1:
            raise InvalidInput(f"{self.card.name}: abstain must be a share from 0 to 1, found {self.abstain}")

    @property
    @abstractmethod
    def digest(self) -> str:
        """A digest of every word that is asked."""

    @property
    def used_model(self) -> str:
        model = self.model or os.environ.get(MODEL, "")
        if not model:
            raise MissingSetting(
                f"{self.card.name} needs a model: name one, as in {self.card.name}(model=…) or {MODEL}"
            )
        return model

    @property
    def used_endpoint(self) -> str:
        endpoint = self.endpoint or os.environ.get(URL, "")
        if not endpoint:
            raise MissingSetting(
                f"{self.card.name} asks a language model, and no endpoint is named: set {URL} to an address that "
                "speaks the chat-completions interface, such as https://judge.example.org/v1"
            )
        return checked_url(endpoint)

    @property
    def signature(self) -> str:
        need_httpx()
        parts = {f.name: getattr(self, f.name) for f in self._options()}
        used = {"endpoint": self.used_endpoint, "model": self.used_model}
        parts |= used | {"prompt": self.digest, "revision": REVISION}
        return "|".join((self.card.name, *(f"{key}:{value}" for key, value in parts.items())))

    def score_batch(self, batch: Batch) -> Floats | Mapping[str, Floats]:
        return self.score_rows([batch])[0]

    def score_rows(self, batches: Sequence[Batch]) -> list[Floats | Mapping[str, Floats]]:
        """Several generators at once; what they share is asked once."""
        rows = [[self._texts(item) for item in batch.items()] for batch in batches]
        answers = self._ask({item: None for row in rows for item in row})
        return [self._laid_out([answers[item] for item in row]) for row in rows]

    @abstractmethod
    def _judge(self, item: Item, asking: Asking) -> Parts:
        """The scores of one output, by as many questions as the judge needs."""

    @abstractmethod
    def _openings(self, item: Item) -> Sequence[Question[Any]]:
        """The questions about an output that don't depend on answers, from which costs are estimated."""

    def _parts(self) -> tuple[str, ...]:
        """The names of the scores that an answer holds."""
        return self.parts or ("",)

    def _texts(self, item: Item) -> Item:
        """What the judge is shown of an output, and nothing else."""
        card = self.card
        return Item(
            item.output, item.references if card.needs_references else (), item.input if card.needs_input else None
        )

    def _ask(self, items: Mapping[Item, None]) -> dict[Item, Parts | Abstained]:
        settings, tally = Settings.from_environment(), Tally(prices=Prices.from_environment())
        budget, answers_file = Budget.from_environment(), Answers(settings.cache)
        stop, url = threading.Event(), self.used_endpoint
        pace, clock = shared_pace(url, settings.per_minute), SystemClock(stop)
        with closing(Endpoint(url, settings.seconds, pace, clock, tally.add_retry)) as endpoint:
            asking = Asking(
                endpoint=endpoint,
                parameters=self._parameters(),
                answers=answers_file,
                tally=tally,
                stop=stop,
                budget=budget,
                tokens_out=self._tokens_out(answers_file, url),
            )
            budget.check(self.name, self._estimate(items, asking), log)
            tasks = [partial(self._judge, item, asking) for item in items]
            try:
                answers = asking.ask_all(tasks, at_once=settings.at_once, share=self.abstain)
            finally:
                log.info("%s: %s", self.name, tally)
        return dict(zip(items, answers, strict=True))

    def _estimate(self, items: Iterable[Item], asking: Asking) -> Estimate:
        """What is still to be asked, about; later steps of a judge are taken to cost as much as the first."""
        first = asking.estimate(question for item in items for question in self._openings(item))
        return Estimate(
            questions=first.questions * self.steps,
            tokens_in=first.tokens_in * self.steps,
            tokens_out=first.tokens_out * self.steps,
        )

    def _tokens_out(self, answers: Answers, url: str) -> int:
        """The tokens that an answer may take, as far as one knows."""
        return self.max_tokens or max(self.usual_tokens, round(answers.usual_tokens(url, self.used_model)))

    def _parameters(self) -> dict[str, Any]:
        bound = {"max_tokens": self.max_tokens} if self.max_tokens else {}
        return {"model": self.used_model, "temperature": self.temperature, **bound}

    def _laid_out(self, scores: Sequence[Parts | Abstained]) -> Floats | dict[str, Floats]:
        nothing = dict.fromkeys(self._parts(), math.nan)
        rows = [nothing if isinstance(score, Abstained) else score for score in scores]
        return {part: np.array([row[part] for row in rows], np.float64) for part in self._parts()}


@dataclass(frozen=True)
class TemplateJudge(Judge):
    """A judge that is asked by a template of this package.

    `kind` says in words what outputs are (`translation into English`); `input` and `references` whether the judge is
    shown them.
    """

    kind: str = "text"
    input: bool = True
    references: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        templates.checked_kind(self.card.name, self.kind)
        # What is needed depends on the options, and scoring gives a metric only what its card asks for.
        card = replace(type(self).card, needs_input=self.input, needs_references=self.references)
        object.__setattr__(self, "card", card)

    @property
    def template(self) -> Template:
        """The question, as these options put it."""
        return self._template(self.kind, references=self.references, source=self.input)

    @property
    def digest(self) -> str:
        return self.template.digest

    @abstractmethod
    def _template(self, kind: str, *, references: bool, source: bool) -> Template: ...

    def _judge(self, item: Item, asking: Asking) -> Parts:
        return asking.ask(self._question(self.template, item))

    def _openings(self, item: Item) -> Sequence[Question[Any]]:
        return [self._question(self.template, item)]

    def _question(self, template: Template, item: Item) -> Question[Parts]:
        shown = templates.shown(item, references=self.references, source=self.input)
        return Question(
            about=item.output,
            messages=template.messages(shown),
            form=template.form,
            read=lambda answer: template.read(answer.text, quotable(item)),
        )


def quotable(item: Item) -> tuple[str, ...]:
    """The texts that a judge was shown, and which say nothing by being repeated."""
    return tuple(filter(None, (item.output, item.input, *item.references)))


@dataclass(frozen=True)
class DirectAssessment(TemplateJudge):
    """A score from 0 to 100."""

    card: ClassVar[MetricCard] = replace(
        COMMON,
        name="judge-DA",
        summary="A language model's direct assessment of an output from 0 to 100, beside input and references",
        range=(0.0, 100.0),
        paper="Kocmi and Federmann 2023, Large Language Models Are State-of-the-Art Evaluators of Translation Quality, "
        "EAMT (GEMBA-DA); the prompt is our own",
        failures=f"{FAILURES} Scores crowd on a few round numbers.",
    )

    def _template(self, kind: str, *, references: bool, source: bool) -> Template:
        return templates.assessment(kind, references=references, source=source)


@dataclass(frozen=True)
class Likert(TemplateJudge):
    """Aspects from 1 to 5; their mean ranks, each is kept beside it."""

    references: bool = False
    aspects: str = "coherence+consistency+fluency+relevance"

    card: ClassVar[MetricCard] = replace(
        COMMON,
        name="judge-Likert",
        summary="Mean of the aspects that a language model rates from 1 to 5, each of which is kept too",
        needs_references=False,
        range=(float(LOWEST), float(HIGHEST)),
        paper="Liu et al. 2023, G-Eval: NLG Evaluation using GPT-4 with Better Human Alignment, EMNLP; aspects of "
        "Fabbri et al. 2021, SummEval, TACL; the prompt is our own, and answers are not weighed by their probability",
        failures=f"{FAILURES} Five steps leave many ties; aspects that are asked for together influence one another.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        templates.checked_aspects(self.aspects)

    def _template(self, kind: str, *, references: bool, source: bool) -> Template:
        aspects = templates.checked_aspects(self.aspects)
        return templates.likert(kind, aspects, references=references, source=source)

    @property
    def parts(self) -> tuple[str, ...]:
        return ("mean", *templates.checked_aspects(self.aspects))


METRICS = {"judge-DA": DirectAssessment, "judge-Likert": Likert}
