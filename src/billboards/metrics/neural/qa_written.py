"""Answers to questions, written by an encoder-decoder that reads question and text as one.

Such a model says in words that there is no answer; how likely it finds those words is the probability that there is
none. The confidence in an answer is that of writing anything else. What is longer than the model reads is cut there,
and counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import exp
from typing import Any

from billboards.metrics.neural.likelihood import LanguageModel
from billboards.metrics.neural.likelihood_pairs import log_likelihoods
from billboards.metrics.neural.qa_asking import check_template
from billboards.metrics.neural.qa_overlap import exact_match
from billboards.metrics.neural.qa_reading import NO_ANSWER, Answer, Answers
from billboards.metrics.neural.qa_windows import Pair
from billboards.metrics.neural.weights import Weights
from billboards.metrics.neural.writing import write


@dataclass(frozen=True)
class Answering:
    """How answers are asked for: what the model is given, its words for no answer, and how many tokens it may write."""

    template: str
    no_answer: str
    longest: int

    def __post_init__(self) -> None:
        check_template("qa_template", self.template, ("question", "context"), needed=("question", "context"))

    def given(self, pair: Pair) -> str:
        return self.template.format(question=pair[0], context=pair[1])


def writes_answers(weights: Weights) -> bool:
    """Whether a model writes its answers rather than pointing at them."""
    from transformers import AutoConfig

    config: Any = AutoConfig.from_pretrained(weights.folder, local_files_only=True)
    points = any(name.endswith("ForQuestionAnswering") for name in config.architectures or ())
    return bool(config.is_encoder_decoder) and not points


def read_by_writing(model: LanguageModel, answering: Answering, pairs: Iterable[Pair]) -> Answers:
    """The answer to each distinct pair; a blank text holds none."""
    distinct = list(dict.fromkeys(pairs))
    given = {pair: answering.given(pair) for pair in distinct if pair[1].strip()}
    written = write(model, given.values(), beams=1, longest=answering.longest)
    asked = ((text, answering.no_answer) for text in given.values())
    none = {text: exp(found) for (text, _), found in log_likelihoods([model], asked, normalised=False).of.items()}
    found = dict.fromkeys(distinct, NO_ANSWER)
    for pair, text in given.items():
        said = written.of[text]
        is_given = bool(said) and not exact_match(said, answering.no_answer)
        found[pair] = Answer(said if is_given else "", 1 - none[text], none[text], is_given)
    return Answers(found, written.cut)
