"""SummaC-ZS and SummaC-Conv (Laban et al. 2022): is each sentence of a summary entailed by a sentence of its document?

A model of natural language inference reads every sentence of the input with every sentence of the output; what it
says is an image of probabilities (§3.1). SummaC-ZS takes, for each sentence of the output, the highest entailment less
the highest contradiction, and their mean (§3.2.1). SummaC-Conv counts how the entailments of a sentence spread over
bins, and a trained layer makes a number of these counts (§3.2.2).

Operators, granularity, bins and labels are options, with the names and defaults of the authors' README. Sentences of
ten characters or fewer are passed over, as there, and so is what follows the hundredth of an input.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from billboards.errors import InvalidInput, MissingPart
from billboards.metrics.base import FILE, Batch, Floats, Item, MetricCard
from billboards.metrics.neural.devices import find_devices
from billboards.metrics.neural.encoder import PRECISIONS, Precision
from billboards.metrics.neural.engine import Where
from billboards.metrics.neural.installed import need
from billboards.metrics.neural.learned import Learned, checked_precision, split_rows, warn_of_cut_texts
from billboards.metrics.neural.pairs import (
    HubPairs,
    Pair,
    PairReader,
    hub_classifier,
    hub_tokenizer,
    need_sentences,
    read_distinct,
    read_settings,
    told_sides,
)
from billboards.metrics.neural.weights import Weights, digest_files, locate, read_tensors
from billboards.metrics.nltk_words import nltk_sentences, punkt_version
from billboards.reading import shown

if TYPE_CHECKING:
    from torch import Tensor

#: Entailment, contradiction and neutral, as their first letters; what models call them begins so.
LABELS = {"e": ("entail", "support"), "c": ("contra", "refute"), "n": ("neutral", "not")}
#: The classes of the models that the authors' package knows, by their order.
PUBLISHED = {
    "boychaboy/SNLI_roberta-base": "enc",
    "boychaboy/SNLI_roberta-large": "enc",
    "microsoft/deberta-base-mnli": "cne",
    "roberta-large-mnli": "cne",
    "FacebookAI/roberta-large-mnli": "cne",
    "ynie/roberta-large-snli_mnli_fever_anli_R1_R2_R3-nli": "enc",
    "tals/albert-base-vitaminc-mnli": "ecn",
    "tals/albert-xlarge-vitaminc-mnli": "ecn",
    "tals/albert-xlarge-vitaminc": "ecn",
}
GRANULARITIES = ("sentence", "paragraph", "document", "2sents", "mixed")
OPERATORS: Mapping[str, Callable[..., Any]] = {"max": np.max, "mean": np.mean, "min": np.min}
#: Tokens that are read of a pair; sentences that are read of an input; characters of a sentence that is passed over.
TOKENS, MOST_SENTENCES, SHORT = 500, 100, 10
#: Sentences of an output that SummaC-Conv counts.
ROWS = 10
#: The bins by which the published convolution was trained.
PERCENTILES = (
    *(0.0, 0.01, 0.02, 0.03, 0.04, 0.07, 0.13, 0.37, 0.90, 0.91, 0.92, 0.93, 0.94, 0.95, 0.955, 0.96, 0.965),
    *(0.97, 0.975, 0.98, 0.985, 0.99, 0.995, 1.0),
)
Image = Floats


@dataclass(frozen=True)
class _SummaC(Learned):
    """What both metrics do; `model` is a classifier of natural language inference: a folder or a hub model.

    `granularity` says what input and output are cut into, or both apart, as in "paragraph-sentence". `labels` is the
    order of the model's classes (e, c, n), where neither the model nor the authors' package says it.
    """

    model: str = ""
    granularity: str = "sentence"
    labels: str = ""

    def weights(self) -> Weights:
        need(self.card.name, "torch", "transformers")
        self._check()
        if not self.model:
            raise MissingPart(
                f"{self.card.name} needs a model of natural language inference: name its folder, or a hub model that "
                f"was fetched before, as in {self.card.name}(model=tals/albert-xlarge-vitaminc-mnli)"
            )
        return locate(self.model, self.revision)

    def _check(self) -> None:
        kinds = self.granularity.split("-")
        if len(kinds) > 2 or not set(kinds) <= set(GRANULARITIES):
            raise InvalidInput(
                f"{self.card.name}: granularity {shown(self.granularity)} is none of {', '.join(GRANULARITIES)}, nor "
                "two of them with a dash between"
            )
        if self.labels and sorted(self.labels) != sorted(LABELS):
            raise InvalidInput(f"{self.card.name}: labels {shown(self.labels)} are no order of e, c and n")

    def versions(self) -> Mapping[str, str]:
        return {**super().versions(), "nltk": version("nltk"), "punkt": punkt_version()}

    def score_rows(self, batches: Sequence[Batch]) -> list[Floats]:
        images = self.images([item for batch in batches for item in batch.items()])
        return split_rows(np.array([self.of_image(image) for image in images], np.float64), batches)

    def images(self, items: Sequence[Item]) -> Iterator[Image]:
        """Entailment, contradiction and neutral × units of the input × units of the output, for each output."""
        weights, precision = self.weights(), checked_precision(self, self.precision)
        need_sentences(self.card.name)
        order = self.labels or label_order(self.card.name, weights)
        reader = nli_reader(weights, order, precision, find_devices(Where.from_environment().devices)[0])
        # Generators share their inputs, each of which is cut once.
        cut = cache(units)
        tables = [self._table(item, cut) for item in items]
        read, shortened = read_distinct(reader, (pair for table in tables for row in table for pair in row))
        warn_of_cut_texts(self, shortened, len(read), reader.limit)
        for table in tables:
            rows = [[read[pair] for pair in row] for row in table]
            # Where nothing is left to compare, every probability is 0, as in the authors' package.
            yield np.array(rows).transpose(2, 0, 1) if rows and rows[0] else np.zeros((3, 1, 1))

    def _table(self, item: Item, cut: Callable[[str, str], list[str]]) -> list[list[Pair]]:
        kinds = self.granularity.split("-")
        given, written = cut(item.input or "", kinds[0])[:MOST_SENTENCES], cut(item.output, kinds[-1])
        return [[(premise, claim) for claim in written] for premise in given]

    @abstractmethod
    def of_image(self, image: Image) -> float:
        """The score of one output."""


def units(text: str, granularity: str) -> list[str]:
    """What a text is cut into; units of ten characters or fewer are passed over."""
    if granularity == "document":
        return [text]
    sentences = [sentence for sentence in nltk_sentences(text) if len(sentence) > SHORT]
    if granularity == "sentence":
        return sentences
    if granularity == "2sents":
        return [" ".join(sentences[k : k + 2]) for k in range(len(sentences))]
    paragraphs = [part.strip() for part in text.split("\n\n" if "\n\n" in text else "\n")]
    paragraphs = [part for part in paragraphs if len(part) > SHORT]
    return sentences + paragraphs if granularity == "mixed" else paragraphs


def label_order(metric: str, weights: Weights) -> str:
    """The order of a model's classes: as published, else as the model's configuration names them."""
    if weights.name in PUBLISHED:
        return PUBLISHED[weights.name]
    named = read_settings(weights.folder / "config.json").get("id2label") or {}
    spelled = [str(named.get(str(k), "")).lower() for k in range(3)] if isinstance(named, Mapping) else []
    letters = [next((k for k, starts in LABELS.items() if label.startswith(starts)), "") for label in spelled]
    if sorted(letters) != sorted(LABELS):
        raise InvalidInput(
            f"{metric}: {weights.name} doesn't say which class is which; say the order of entailment, contradiction "
            f"and neutral, as in {metric}(model={weights.name},labels=ecn)"
        )
    return "".join(letters)


@lru_cache(maxsize=2)
def nli_reader(weights: Weights, order: str, precision: Precision, device: str) -> PairReader:
    """A reader that is kept for the next call; it gives the probabilities of e, c and n."""
    import torch

    from billboards.metrics.neural.padded import longest_input

    tokenizer, model = hub_tokenizer(weights.folder), hub_classifier(weights)
    if model.config.num_labels != len(LABELS):
        raise InvalidInput(f"{weights.name} has {model.config.num_labels} classes; SummaC reads three")
    where: Any = torch.device(device)
    model.to(where, getattr(torch, PRECISIONS[precision])).eval().requires_grad_(False)
    chosen = [order.index(letter) for letter in LABELS]

    def network(**given: Tensor) -> Tensor:
        probabilities: Tensor = model(**given).logits.float().softmax(-1)
        return probabilities[:, chosen]

    limit = min(TOKENS, longest_input(model.config) or TOKENS)
    return PairReader(HubPairs(tokenizer, limit, "longest_first", sided=told_sides(model.config)), network, where)


FAILURES = (
    "Judges consistency with the input alone: copied or vague text is fine with it, and what is left out goes unseen. "
    "Each sentence is held against one sentence of the input at a time: what follows from several, or needs the noun "
    "of a pronoun, counts as unsupported. Sentences of ten characters or fewer are passed over, and an output of such "
    "alone gets the score of an image of zeros. Only the first 100 sentences of an input are read. English only."
)
NEEDS = "torch, transformers, nltk's Punkt data, and a model of natural language inference that lies on this machine"
PAPER = (
    "Laban, Schnabel, Bennett and Hearst 2022, SummaC: Re-Visiting NLI-based Models for Inconsistency Detection in "
    "Summarization, TACL"
)


@dataclass(frozen=True)
class SummaCZS(_SummaC):
    """SummaC-ZS; `op1` works over the input's units, `op2` over the output's; `use_ent`, `use_con` say what counts."""

    op1: str = "max"
    op2: str = "mean"
    use_ent: bool = True
    use_con: bool = True

    card: ClassVar[MetricCard] = MetricCard(
        making="learned",
        name="SummaC-ZS",
        summary="For each sentence of the output, the highest entailment less the highest contradiction by a sentence "
        "of the input; their mean",
        needs_references=False,
        needs_input=True,
        needs_part=NEEDS,
        range=(-1, 1),
        languages=("en",),
        training_data="that of the model of natural language inference (for tals/albert-xlarge-vitaminc-mnli: VitaminC "
        "and MultiNLI); nothing is trained on summaries",
        licence="Apache-2.0 (this code and the authors'); each model has its own",
        paper=PAPER,
        failures=FAILURES,
        slow=True,
    )

    def _check(self) -> None:
        super()._check()
        for option, value in (("op1", self.op1), ("op2", self.op2)):
            if value not in OPERATORS:
                raise InvalidInput(f"SummaC-ZS: {option} {shown(value)} is none of {', '.join(OPERATORS)}")
        if not (self.use_ent or self.use_con):
            raise InvalidInput("SummaC-ZS: without entailment and contradiction nothing is left to count")

    def of_image(self, image: Image) -> float:
        entailed, contradicted = (OPERATORS[self.op1](image[k], axis=0) for k in (0, 1))
        if self.use_ent and self.use_con:
            scores = entailed - contradicted
        else:
            scores = entailed if self.use_ent else 1 - contradicted
        return float(OPERATORS[self.op2](scores))


@dataclass(frozen=True)
class SummaCConv(_SummaC):
    """SummaC-Conv; `convolution` is the file of the trained layer, as summac_conv_vitc_sent_perc_e.bin.

    `bins` is "percentile" or "even50" (any number), `nli_labels` which probabilities are counted, `agg` how the
    numbers of an output's sentences become one: mean, min, max, or all three.
    """

    convolution: str = field(default="", metadata=FILE)
    bins: str = "percentile"
    nli_labels: str = "e"
    agg: str = "mean"

    card: ClassVar[MetricCard] = MetricCard(
        making="learned",
        name="SummaC-Conv",
        summary="How the entailments of an output's sentences by the input's sentences spread, as a trained layer "
        "rates it",
        needs_references=False,
        needs_input=True,
        needs_part=f"{NEEDS}, and the file of the trained layer (summac_conv_vitc_sent_perc_e.bin)",
        range=(0, 1),
        languages=("en",),
        training_data="that of the model of natural language inference; the layer was trained on synthetic errors in "
        "summaries of CNN/DailyMail (FactCC's training set; Laban et al. 2022, §3.2.2)",
        licence="Apache-2.0 (this code, the authors' and their layer); each model has its own",
        paper=PAPER,
        failures=f"{FAILURES} Only the first ten sentences of an output count. The published layer belongs to the "
        "model it was trained with (tals/albert-xlarge-vitaminc-mnli) and says little of others' probabilities.",
        slow=True,
    )

    def _check(self) -> None:
        super()._check()
        if self.agg not in (*OPERATORS, "all"):
            raise InvalidInput(f"SummaC-Conv: agg {shown(self.agg)} is none of {', '.join(OPERATORS)}, all")
        if not self.nli_labels or list(self.nli_labels) != [letter for letter in LABELS if letter in self.nli_labels]:
            raise InvalidInput(f"SummaC-Conv: nli_labels {shown(self.nli_labels)} are none of e, c, n, ec, en, cn, ecn")
        edges(self.bins)

    @property
    def signature(self) -> str:
        # The file's name without the path to it; its digest stands beside the model's.
        named, path = Path(self.convolution).name, f"|convolution:{self.convolution}|"
        return super().signature.replace(path, f"|convolution:{named}|")

    def weights(self) -> ConvWeights:
        model = super().weights()
        if not self.convolution:
            raise MissingPart(
                "SummaC-Conv needs the file of its trained layer: name it, as in SummaC-Conv(model="
                "tals/albert-xlarge-vitaminc-mnli,convolution=summac_conv_vitc_sent_perc_e.bin); the authors publish "
                "it in their repository, tingofurro/summac"
            )
        file = Path(self.convolution).absolute()
        if not file.is_file():
            raise InvalidInput(f"SummaC-Conv: there is no file {self.convolution}")
        return ConvWeights(model.name, model.folder, file)

    def of_image(self, image: Image) -> float:
        import torch

        layer, last = conv_layers(self.weights(), len(self.nli_labels) * (len(edges(self.bins)) - 1))
        rows = torch.from_numpy(self._histograms(image)).float()
        # Rows that count nothing stand at the end and are left out.
        numbers = layer(rows[rows.sum(1) != 0])[:, 0]
        if not len(numbers):
            features = torch.zeros(3)
        else:
            kinds = {"mean": numbers.mean(), "min": numbers.min(), "max": numbers.max()}
            names = ("min", "mean", "max") if self.agg == "all" else (self.agg,) * 3
            features = torch.stack([kinds[name] for name in names])
        return float(last(features).softmax(0)[1])

    def _histograms(self, image: Image) -> Floats:
        """Units of the output × bins, label after label."""
        chosen, bins = [k for k, letter in enumerate(LABELS) if letter in self.nli_labels], edges(self.bins)
        rows = [
            np.concatenate([np.histogram(image[k, :, unit], bins=bins)[0] for k in chosen])
            for unit in range(min(image.shape[2], ROWS))
        ]
        return np.array(rows, np.float64)


@dataclass(frozen=True)
class ConvWeights(Weights):
    """A model of natural language inference and the file of a trained layer."""

    convolution: Path

    @property
    def digest(self) -> str:
        own = digest_files([self.convolution])
        return f"{super().digest}-{own}"


def edges(bins: str) -> list[float]:
    """The borders of the bins that are named."""
    if bins == "percentile":
        return list(PERCENTILES)
    count = bins.removeprefix("even")
    if not bins.startswith("even") or not count.isascii() or not count.isdecimal() or not 0 < int(count) <= 1000:
        raise InvalidInput(f"SummaC-Conv: bins {shown(bins)} are neither percentile nor even with a number, as even50")
    return [*np.arange(0, 1, 1 / int(count)).tolist(), 1.0]


@lru_cache(maxsize=2)
def conv_layers(weights: ConvWeights, width: int) -> tuple[Any, Any]:
    """The layer over bins and the one over a summary's features."""
    from torch import nn

    tensors = read_tensors(weights.convolution).tensors
    layer, last = nn.Linear(width, 1), nn.Linear(3, 2)
    for part, prefix in ((layer, "mlp."), (last, "layer_final.")):
        own = {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
        shapes = {name: tuple(value.shape) for name, value in part.state_dict().items()}
        if {name: tuple(value.shape) for name, value in own.items()} != shapes:
            raise InvalidInput(
                f"{weights.convolution.name} is no layer of SummaC-Conv's for {width} bins: {prefix}weight must be of "
                f"shape {shapes['weight']}; other bins or nli_labels may fit it"
            )
        part.load_state_dict(own)
        part.float().eval().requires_grad_(False)
    return layer, last


METRICS = {"SummaC-ZS": SummaCZS, "SummaC-Conv": SummaCConv}
