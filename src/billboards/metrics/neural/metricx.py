"""MetricX-23 and MetricX-24 (Juraska et al. 2023, 2024): an mT5 that was taught to write MQM's error score of a
translation as a number, and is read at one word of its vocabulary.

What it is given, what is read off it and how far it reads are those of the authors' programs (google-research/metricx,
predict.py and models.py of each generation): the token that ends a text is taken away, the decoder makes one step, and
the logit of the word <extra_id_10> is cut to 0..25. An error score: lower is better. MetricX-24 is one model for both
uses, with a reference and without; of MetricX-23 there is a model for each.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from billboards.errors import InvalidInput, MissingPart
from billboards.metrics.base import Batch, Floats, Item, MetricCard
from billboards.metrics.neural.devices import find_devices
from billboards.metrics.neural.engine import Where
from billboards.metrics.neural.first_step import (
    FirstStep,
    Reading,
    WithTokenizer,
    ask_first,
    first_step,
    with_tokenizer,
)
from billboards.metrics.neural.learned import Learned, checked_precision, split_rows, warn_of_cut_texts

#: The word of mT5's vocabulary whose logit is the score, <extra_id_10>.
RATING = 250089
LOWEST, HIGHEST = 0.0, 25.0
#: The tokens that each generation was trained to read.
LONGEST: Mapping[str, int] = {"23": 1024, "24": 1536}
PART = (
    "torch, transformers and a checkpoint of Google's that lies on this machine, with mT5's tokenizer (google/mt5-xl, "
    "which also serves the other sizes)"
)
TRAINING = (
    "direct assessments of WMT and then MQM ratings, with made-up bad translations among them: MetricX-24 WMT15 to "
    "WMT22, MetricX-23 up to WMT21 (as the authors say). A board made of the same ratings flatters it"
)
FAILURES = (
    "Hardly tells good translations apart: their scores crowd near 0. fp16 may leave mT5's range; use bf16. Scores of "
    "different checkpoints have different scales: compare only equal signatures. The released checkpoints are not "
    "those of the shared tasks: scores are cut to 0..25 and training differs. Texts are cut where training ended "
    "(1,024 tokens, MetricX-24 1,536)."
)


@dataclass(frozen=True)
class _MetricX(Learned):
    """What both metrics do; `model` is a checkpoint's folder or a hub model fetched before.

    `generation` is 23 or 24, by default as the model's name says; `tokenizer` is where mT5's tokenizer lies, if not
    beside the model.
    """

    model: str = ""
    generation: str = ""
    tokenizer: str = "google/mt5-xl"

    places: ClassVar[frozenset[str]] = frozenset({"model", "revision", "tokenizer"})
    #: A model that suits, for the message where none is named.
    example: ClassVar[str] = "google/metricx-24-hybrid-large-v2p6"

    def weights(self) -> WithTokenizer:
        if not self.model:
            raise self._no_model()
        self._checked_generation()
        return with_tokenizer(super().weights(), self.tokenizer)

    def score_rows(self, batches: Sequence[Batch]) -> list[Floats]:
        """Several generators at once; what is equal is read once."""
        generation, models = self._checked_generation(), self._models()
        items = [self._given(item, generation) for batch in batches for item in batch.items()]
        reading = Reading(limit=LONGEST[generation], keeps_end=False)
        answers = ask_first(models, (text for texts in items for text in texts), [RATING], reading)
        warn_of_cut_texts(self, answers.cut, len(answers.of), reading.limit)
        # The best reference is that of the lowest error.
        best = [min((answers.of[text][0] for text in texts), default=np.nan) for texts in items]
        return split_rows(np.clip(np.array(best, np.float64), LOWEST, HIGHEST), batches)

    def _given(self, item: Item, generation: str) -> list[str]:
        """What the model reads for an output, once for each reference."""
        output, source = item.output, item.input
        if not self.card.needs_references:
            qe = (
                f"candidate: {output} source: {source}"
                if generation == "23"
                else f"source: {source} candidate: {output}"
            )
            return [qe]
        before = f"candidate: {output}" if generation == "23" else f"source: {source} candidate: {output}"
        return [f"{before} reference: {reference}" for reference in item.references]

    def _models(self) -> list[FirstStep]:
        weights, precision = self.weights(), checked_precision(self, self.precision)
        devices = find_devices(Where.from_environment().devices)
        models = [first_step(weights, precision, device) for device in devices]
        words = len(models[0].model.output)
        if words <= RATING:
            raise InvalidInput(
                f"{self.model} has {words} words, and a score is read at word {RATING}; it is no checkpoint of MetricX"
            )
        return models

    def _no_model(self) -> MissingPart:
        return MissingPart(
            f"{self.card.name} needs a checkpoint of Google's: name its folder, or a hub model that was fetched "
            f"before, as in {self.card.name}(model={self.example})"
        )

    def _generation(self) -> str:
        """The generation that was named, or that the model's name tells; empty where neither does."""
        told = re.search(r"metricx-?(2\d)", self.model.lower())
        return self.generation or (told[1] if told else "")

    def _checked_generation(self) -> str:
        generation = self._generation()
        if not generation and not self.model:
            raise self._no_model()
        if not generation:
            raise InvalidInput(
                f"{self.card.name}: the name {self.model} doesn't tell which generation it is; say generation=23 or "
                "generation=24"
            )
        if generation not in LONGEST:
            raise InvalidInput(f"{self.card.name}: generation {generation!r} is none of {', '.join(LONGEST)}")
        free = re.search(r"metricx-23-qe", self.model.lower())
        if re.search(r"metricx-23", self.model.lower()) and bool(free) == self.card.needs_references:
            other = "MetricX-QE" if free else "MetricX"
            raise InvalidInput(f"{self.model} is made {'without' if free else 'for'} references; use {other}")
        return generation


@dataclass(frozen=True)
class MetricX(_MetricX):
    """MetricX with a reference: output and reference, and of MetricX-24 the input."""

    card: ClassVar[MetricCard] = MetricCard(
        making="learned",
        name="MetricX",
        summary="Error score of a translation as an mT5 predicts it from input, output and reference (MetricX-23: from "
        "output and reference)",
        needs_input=True,
        needs_part=PART,
        higher_is_better=False,
        range=(LOWEST, HIGHEST),
        training_data=TRAINING,
        licence="Apache-2.0 (this code and Google's checkpoints)",
        paper="Juraska et al. 2024, MetricX-24: The Google Submission to the WMT 2024 Metrics Shared Task, WMT; "
        "Juraska et al. 2023, MetricX-23: The Google Submission to the WMT 2023 Metrics Shared Task, WMT",
        failures=FAILURES,
        slow=True,
    )

    def __post_init__(self) -> None:
        # Scoring gives a metric only what its card asks for.
        if self._generation() == "23":
            object.__setattr__(self, "card", replace(type(self).card, needs_input=False))


@dataclass(frozen=True)
class MetricXQE(_MetricX):
    """MetricX-QE: input and output."""

    card: ClassVar[MetricCard] = MetricCard(
        making="learned",
        name="MetricX-QE",
        summary="Error score of a translation as an mT5 predicts it from input and output, without a reference",
        needs_references=False,
        needs_input=True,
        needs_part=PART,
        higher_is_better=False,
        range=(LOWEST, HIGHEST),
        training_data=TRAINING,
        licence=MetricX.card.licence,
        paper=MetricX.card.paper,
        failures=f"{FAILURES} Without a reference it agrees less with people on whole systems.",
        slow=True,
    )


METRICS = {"MetricX": MetricX, "MetricX-QE": MetricXQE}
