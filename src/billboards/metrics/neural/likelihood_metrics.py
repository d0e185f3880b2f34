"""Metrics that ask a language model how likely a text is: Prism, BARTScore, perplexity.

Prism (Thompson and Post 2020) asks a translation model, BARTScore (Yuan et al. 2021) a summariser or whatever one
names, each for the output after the reference, the reference after the output, or the output after the input.
Perplexity asks a causal model for the output alone. No model comes with these metrics; the one named is in the
signature, by a digest of its weights.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from billboards.errors import InvalidInput, MissingPart
from billboards.metrics.base import Batch, Floats, Item, MetricCard
from billboards.metrics.neural.devices import find_devices
from billboards.metrics.neural.engine import Where
from billboards.metrics.neural.learned import Learned, TextsCut, checked_precision, split_rows
from billboards.metrics.neural.likelihood import (
    NO_LANGUAGE,
    ONE_LANGUAGE,
    Kind,
    LanguageModel,
    Languages,
    Likelihoods,
    Pair,
    language_model,
    log_likelihoods,
)
from billboards.metrics.neural.weights import Weights, fetch_command
from billboards.metrics.neural.writing import beam_search

PART = "torch, transformers and a model that lies on this machine; none comes with the metric"
OWN_MODEL = "none of its own; that of the model"
PRISM_MODEL = f"{OWN_MODEL}. The authors' was trained on parallel texts in 39 languages (Thompson and Post 2020)"
BART_MODEL = (
    f"{OWN_MODEL}. The authors' is BART tuned on CNN/DailyMail, which a board of such summaries flatters, and then on "
    "ParaBank 2 (Yuan et al. 2021)"
)
ENCODER_DECODER_FAILURES = (
    "A model prefers what it would have written itself: generators that resemble it, common words and names are "
    "favoured. Likelihoods of different models, or tokenizers, can't be compared: compare only equal signatures. Texts "
    "are cut where the model's input ends."
)


@dataclass(frozen=True)
class LikelihoodMetric(Learned):
    """A score made of log-likelihoods of pairs; the best reference counts."""

    model: str = ""
    kind: ClassVar[Kind] = "encoder-decoder"
    #: Whether tokens count that are no part of a text, such as the one a text begins with.
    marks: ClassVar[bool] = True
    #: A model that suits, for the message where none is named.
    example: ClassVar[str]

    def weights(self) -> Weights:
        if not self.model:
            raise MissingPart(
                f"{self.card.name} needs a model, and none comes with it: name a folder, or a model that was fetched "
                f"(`{fetch_command(self.example)}`), as in {self.card.name}(model={self.example})"
            )
        return super().weights()

    def score_rows(self, batches: Sequence[Batch]) -> list[Floats]:
        """Several generators at once; a pair that comes back is not asked again."""
        items = [self._alternatives(item) for batch in batches for item in batch.items()]
        pairs = (pair for alternatives in items for side in alternatives for pair in side)
        likelihoods = log_likelihoods(self._models(), pairs, normalised=self._normalised(), marks=self.marks)
        scores = [max(_mean(likelihoods, side) for side in alternatives) for alternatives in items]
        self._warn(likelihoods)
        return split_rows(self._scale(np.array(scores, np.float64)), batches)

    @abstractmethod
    def _alternatives(self, item: Item) -> list[list[Pair]]:
        """What could be the score, of which the best is: each the mean over some pairs."""

    def _normalised(self) -> bool:
        return True

    def _languages(self) -> Languages:
        """What is read and what is asked for, in the model's own codes."""
        return ONE_LANGUAGE

    def _scale(self, scores: Floats) -> Floats:
        return scores

    def _models(self) -> list[LanguageModel]:
        weights, precision = self.weights(), checked_precision(self, self.precision)
        devices = find_devices(Where.from_environment().devices)
        return [language_model(weights, self.kind, precision, device, self._languages()) for device in devices]

    def _warn(self, likelihoods: Likelihoods) -> None:
        if likelihoods.cut:
            warnings.warn(
                f"{self.name}: {likelihoods.cut} of {likelihoods.texts} texts were cut where the model's input ends; "
                "what follows there has no influence",
                TextsCut,
                stacklevel=3,
            )


def _mean(likelihoods: Likelihoods, pairs: Sequence[Pair]) -> float:
    return sum(likelihoods.of[pair] for pair in pairs) / len(pairs)


@dataclass(frozen=True)
class PrismRef(LikelihoodMetric):
    """The mean of both directions between output and reference: is each a paraphrase of the other?

    `language` is theirs, in the model's own code, where the model knows several.
    """

    language: str = NO_LANGUAGE
    # As in Prism: the token that names the language is read and not counted, the end of the text is counted.
    marks: ClassVar[bool] = False
    example: ClassVar[str] = "facebook/m2m100_418M"
    card: ClassVar[MetricCard] = MetricCard(
        making="learned",
        name="Prism-ref",
        summary="Log-likelihood per token of the output after the reference and of the reference after the output, "
        "averaged, by a translation model that is taken for a paraphraser",
        needs_part=PART,
        range=(None, 0.0),
        training_data=PRISM_MODEL,
        licence="Apache-2.0 (this code); the model has its own",
        paper="Thompson and Post 2020, Automatic Machine Translation Evaluation in Many Languages via Zero-Shot "
        "Paraphrasing, EMNLP",
        failures=ENCODER_DECODER_FAILURES + " The authors' own model is in the format of fairseq and must be converted "
        "first; with another model the numbers are not theirs.",
        slow=True,
    )

    def _alternatives(self, item: Item) -> list[list[Pair]]:
        return [[(reference, item.output), (item.output, reference)] for reference in item.references]

    def _languages(self) -> Languages:
        return self.language, self.language


class _AfterInput(LikelihoodMetric):
    """The output after the input, each in its language; the two are options, in each metric's own order."""

    source_language: str
    language: str

    def decode(self, inputs: Sequence[str], *, beams: int, longest: int) -> list[tuple[str, ...]]:
        """What the model would write after each input."""
        return beam_search(self._models()[0], inputs, beams=beams, longest=longest)

    def _alternatives(self, item: Item) -> list[list[Pair]]:
        assert item.input is not None
        return [[(item.input, item.output)]]

    def _languages(self) -> Languages:
        return self.source_language, self.language


@dataclass(frozen=True)
class PrismSrc(_AfterInput):
    """The output after the input: is it what the model would have translated?

    `source_language` and `language` are the input's and the output's, where the model knows several.
    """

    source_language: str = NO_LANGUAGE
    language: str = NO_LANGUAGE
    marks: ClassVar[bool] = False
    example: ClassVar[str] = "facebook/m2m100_418M"
    card: ClassVar[MetricCard] = MetricCard(
        making="learned",
        name="Prism-src",
        summary="Log-likelihood per token of the output after the input, by a translation model",
        needs_references=False,
        needs_input=True,
        needs_part=PART,
        range=(None, 0.0),
        training_data=PRISM_MODEL,
        licence="Apache-2.0 (this code); the model has its own",
        paper="Thompson and Post 2020, Automatic Machine Translation Evaluation in Many Languages via Zero-Shot "
        "Paraphrasing, EMNLP",
        failures=ENCODER_DECODER_FAILURES + " It ranks the model's own translations above better ones.",
        slow=True,
    )


@dataclass(frozen=True)
class BARTScore(LikelihoodMetric):
    """Output and reference: `direction` is precision (output after reference), recall (the other way) or F (the mean).

    Without `normalised` the log-likelihood is summed over tokens and not averaged.
    """

    direction: str = "F"
    normalised: bool = True
    language: str = NO_LANGUAGE
    example: ClassVar[str] = "facebook/bart-large-cnn"
    card: ClassVar[MetricCard] = MetricCard(
        making="learned",
        name="BARTScore",
        summary="Log-likelihood per token between output and reference by any encoder-decoder: precision, recall or F, "
        "which is here their arithmetic mean",
        needs_part=PART,
        range=(None, 0.0),
        training_data=BART_MODEL,
        licence="Apache-2.0 (this code); the model has its own",
        paper="Yuan, Neubig and Liu 2021, BARTScore: Evaluating Generated Text as Text Generation, NeurIPS",
        failures=ENCODER_DECODER_FAILURES,
        slow=True,
    )

    def _alternatives(self, item: Item) -> list[list[Pair]]:
        return [self._directed(item.output, reference) for reference in item.references]

    def _directed(self, output: str, reference: str) -> list[Pair]:
        precision, recall = (reference, output), (output, reference)
        directions = {"precision": [precision], "recall": [recall], "F": [precision, recall]}
        if self.direction not in directions:
            raise InvalidInput(f"{self.card.name}: direction {self.direction!r} is none of {', '.join(directions)}")
        return directions[self.direction]

    def _normalised(self) -> bool:
        return self.normalised

    def _languages(self) -> Languages:
        return self.language, self.language


@dataclass(frozen=True)
class BARTScoreSrc(_AfterInput):
    """The output after the input, which the paper calls faithfulness."""

    normalised: bool = True
    source_language: str = NO_LANGUAGE
    language: str = NO_LANGUAGE
    example: ClassVar[str] = "facebook/bart-large-cnn"
    card: ClassVar[MetricCard] = MetricCard(
        making="learned",
        name="BARTScore-src",
        summary="Log-likelihood per token of the output after the input by any encoder-decoder (faithfulness)",
        needs_references=False,
        needs_input=True,
        needs_part=PART,
        range=(None, 0.0),
        training_data=BART_MODEL,
        licence="Apache-2.0 (this code); the model has its own",
        paper="Yuan, Neubig and Liu 2021, BARTScore: Evaluating Generated Text as Text Generation, NeurIPS",
        failures=ENCODER_DECODER_FAILURES + " Outputs that copy the input score high.",
        slow=True,
    )

    def _normalised(self) -> bool:
        return self.normalised


@dataclass(frozen=True)
class Perplexity(LikelihoodMetric):
    """How much an output surprises a causal model: exp of the mean negative log-likelihood of its tokens.

    The first token is asked for after the token that begins a text.
    """

    kind: ClassVar[Kind] = "causal"
    example: ClassVar[str] = "gpt2"
    card: ClassVar[MetricCard] = MetricCard(
        making="learned",
        name="perplexity",
        summary="Perplexity of the output under any causal language model, such as GPT-2",
        needs_references=False,
        needs_part=PART,
        higher_is_better=False,
        range=(1.0, None),
        training_data=f"{OWN_MODEL}; of GPT-2, pages that Reddit linked to (Radford et al. 2019)",
        licence="Apache-2.0 (this code); the model has its own",
        paper="Scialom and Hill 2021, BEAMetrics: A Benchmark for Language Generation Evaluation Evaluation (GPT-2 as "
        "one of its statistics); Radford et al. 2019, Language Models are Unsupervised Multitask Learners",
        failures="Knows neither input nor reference, so what is fluent and wrong scores well. Longer texts, repetition "
        "and common words lower it. Perplexities of different tokenizers can't be compared. A few rare words dominate "
        "a mean over outputs. An empty output gets the perplexity of ending at once.",
        slow=True,
    )

    def decode(self, inputs: Sequence[str], *, beams: int, longest: int) -> list[tuple[str, ...]]:
        """What the model would write of its own accord, the same whatever the input."""
        return beam_search(self._models()[0], inputs, beams=beams, longest=longest)

    def _alternatives(self, item: Item) -> list[list[Pair]]:
        return [[("", item.output)]]

    def _scale(self, scores: Floats) -> Floats:
        return np.exp(-scores)


METRICS = {
    "Prism-ref": PrismRef,
    "Prism-src": PrismSrc,
    "BARTScore": BARTScore,
    "BARTScore-src": BARTScoreSrc,
    "perplexity": Perplexity,
}
