"""AlignScore (Zha et al. 2023): whether a context carries what an output claims, as a RoBERTa sees it.

The context (the input) is cut at sentences into chunks of about 350 words, the output into sentences. A RoBERTa with
three heads reads every pair of chunk and sentence; a sentence gets the best of its chunks, an output the mean of its
sentences (§3.2). The head is the three-way one (entailed, neutral, contradicted) or the binary one.

The weights are Lightning checkpoints as the authors publish them, AlignScore-base.ckpt and AlignScore-large.ckpt. The
encoder's configuration and tokenizer are those of the RoBERTa that the checkpoint was made from, which must lie on this
machine, too (its weights needn't).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from billboards.errors import InvalidInput, MissingPart
from billboards.metrics.base import Batch, Floats, Item, MetricCard
from billboards.metrics.neural.devices import find_devices
from billboards.metrics.neural.encoder import PRECISIONS, Precision
from billboards.metrics.neural.engine import Where
from billboards.metrics.neural.installed import need
from billboards.metrics.neural.learned import Learned, checked_precision, split_rows, warn_of_cut_texts
from billboards.metrics.neural.pairs import (
    HubPairs,
    Pair,
    PairReader,
    hub_tokenizer,
    load_state,
    need_sentences,
    read_distinct,
)
from billboards.metrics.neural.weights import READ, Weights, digest_files, locate, locate_folder, read_tensors
from billboards.metrics.nltk_words import nltk_sentences, punkt_version
from billboards.reading import shown

if TYPE_CHECKING:
    from torch import Tensor

MODES = ("nli_sp", "nli", "bin_sp", "bin")
SIZES = ("base", "large")
#: A head, and which of its classes says that the claim holds.
HEADS = {"nli": ("tri_layer", 0), "bin": ("bin_layer", 1)}
#: Words of a chunk, about.
WORDS = 350


@dataclass(frozen=True)
class AlignScore(Learned):
    """AlignScore; `model` is a checkpoint (.ckpt), its folder, or a hub model fetched before.

    `mode` names the head (nli or bin) and, by `_sp`, that texts are cut into chunks and sentences; `size` is the
    checkpoint's, where a folder holds both.
    """

    model: str = ""
    mode: str = "nli_sp"
    size: str = "base"

    card: ClassVar[MetricCard] = MetricCard(
        making="learned",
        name="AlignScore",
        summary="Whether the input carries each sentence of the output, as a RoBERTa predicts it that was trained on "
        "seven tasks of alignment",
        needs_references=False,
        needs_input=True,
        needs_part="torch, transformers, nltk's Punkt data, and a checkpoint of AlignScore's that lies on this "
        "machine, with the configuration and tokenizer of the RoBERTa it was made from",
        range=(0, 1),
        languages=("en",),
        training_data="4.7 million pairs of natural language inference, question answering, paraphrases, fact "
        "verification, retrieval, semantic similarity and summarization (Zha et al. 2023, Table 1), among them SNLI, "
        "MultiNLI, FEVER, VitaminC, PAWS, SQuAD, HotpotQA, MS MARCO and synthetic summaries of WikiHow. A board made "
        "of the same texts flatters it",
        licence="Apache-2.0 (this code); the checkpoints are under the MIT licence",
        paper="Zha, Yang, Li and Hu 2023, AlignScore: Evaluating Factual Consistency with a Unified Alignment "
        "Function, ACL",
        failures="Judges consistency with the input alone: copied or empty of content is fine with it, and what is "
        "left out goes unseen. A claim that rests on several distant places of the input is checked against one chunk "
        "at a time. Sentences are judged apart, so a pronoun loses its noun. English only. An empty output is read as "
        "one empty claim, on which the authors' code fails; a claim that fills the model's input is cut alone, where "
        "the authors' code cuts its whole batch otherwise.",
        slow=True,
    )

    def weights(self) -> AlignCheckpoint:
        need(self.card.name, "torch", "transformers")
        for option, value, values in (("mode", self.mode, MODES), ("size", self.size, SIZES)):
            if value not in values:
                raise InvalidInput(f"AlignScore: {option} {shown(value)} is none of {', '.join(values)}")
        return locate_checkpoint(self.model, self.size, self.revision)

    def versions(self) -> Mapping[str, str]:
        cut = {"nltk": version("nltk"), "punkt": punkt_version()} if self._cuts else {}
        return {**super().versions(), **cut}

    @property
    def _cuts(self) -> bool:
        return self.mode.endswith("_sp")

    def score_rows(self, batches: Sequence[Batch]) -> list[Floats]:
        weights, precision = self.weights(), checked_precision(self, self.precision)
        if self._cuts:
            need_sentences(self.card.name)
        device = find_devices(Where.from_environment().devices)[0]
        reader = pair_reader(weights, self.mode.removesuffix("_sp"), precision, device)
        # Generators share their inputs, each of which is cut once.
        cut_input = cache(chunks)
        tables = [self._table(item, cut_input) for batch in batches for item in batch.items()]
        scores, cut = read_distinct(reader, (pair for table in tables for pair in chain.from_iterable(table)))
        warn_of_cut_texts(self, cut, len(scores), reader.limit)
        means = [np.mean([max(scores[pair][0] for pair in claim) for claim in table]) for table in tables]
        return split_rows(np.array(means, np.float64), batches)

    def _table(self, item: Item, cut_input: Callable[[str], list[str]]) -> list[list[Pair]]:
        """For each claim of an output, its pairs with the chunks of the input."""
        given = item.input or ""
        if not self._cuts:
            return [[(given, item.output)]]
        contexts = cut_input(given)
        return [[(context, claim) for context in contexts] for claim in nltk_sentences(item.output) or [""]]


def chunks(text: str) -> list[str]:
    """A text in chunks of equal numbers of sentences, about 350 words each; the last may be shorter."""
    sentences = nltk_sentences(text) or [""]
    count = len(text.split()) // WORDS + 1
    size = max(len(sentences) // count, 1)
    return [" ".join(sentences[start : start + size]) for start in range(0, len(sentences), size)]


@dataclass(frozen=True)
class AlignCheckpoint(Weights):
    """A checkpoint's file, with the folder of the RoBERTa that it was made from."""

    file: Path
    base: Path

    @property
    def label(self) -> str:
        return self.file.stem

    @property
    def digest(self) -> str:
        return digest_files([self.file, *sorted({path for pattern in READ for path in self.base.glob(pattern)})])


def locate_checkpoint(model: str, size: str, revision: str) -> AlignCheckpoint:
    """The checkpoint that is meant, and its RoBERTa: beside it, else the one that it names."""
    if not model:
        raise MissingPart(
            "AlignScore needs a checkpoint: name AlignScore-base.ckpt or AlignScore-large.ckpt, its folder, or the hub "
            "model that was fetched before, as in AlignScore(model=yzha/AlignScore, size=large)"
        )
    path = Path(model)
    file = path.absolute() if path.is_file() else locate_folder(model, revision) / f"AlignScore-{size}.ckpt"
    if not file.is_file():
        raise InvalidInput(f"{model} holds no checkpoint of AlignScore's: {file.name} is missing there")
    if (file.parent / "config.json").is_file():
        return AlignCheckpoint(model, file.parent, file, file.parent)
    return AlignCheckpoint(model, file.parent, file, _roberta(file))


def _roberta(file: Path) -> Path:
    """The folder of the RoBERTa that a checkpoint names, under its old or its present name on the hub."""
    named = read_tensors(file).hyper_parameters.get("model")
    if not isinstance(named, str) or not named:
        raise InvalidInput(
            f"{file} doesn't say which RoBERTa it was made from; put that model's config.json and tokenizer beside it"
        )
    try:
        return locate(named).folder
    except MissingPart:
        if "/" in named:
            raise
        return locate(f"FacebookAI/{named}").folder


@lru_cache(maxsize=2)
def pair_reader(weights: AlignCheckpoint, head: str, precision: Precision, device: str) -> PairReader:
    """A reader that is kept for the next call; it gives the probability that a claim holds."""
    import torch
    from torch import nn
    from transformers import AutoConfig, RobertaModel

    from billboards.metrics.neural.padded import longest_input

    config = AutoConfig.from_pretrained(weights.base, local_files_only=True)
    if config.model_type != "roberta":
        raise InvalidInput(f"{weights.name}: {weights.base.name} is a {config.model_type}; AlignScore reads a RoBERTa")
    tensors, (layer, wanted) = read_tensors(weights.file).tensors, HEADS[head]
    model = RobertaModel(config)
    own = {name.removeprefix("base_model."): v for name, v in tensors.items() if name.startswith("base_model.")}
    load_state(weights.label, model, own)
    classes = nn.Linear(config.hidden_size, 3 if head == "nli" else 2)
    last = {name.removeprefix(f"{layer}."): v for name, v in tensors.items() if name.startswith(f"{layer}.")}
    load_state(weights.label, classes, last)
    where, kind = torch.device(device), getattr(torch, PRECISIONS[precision])
    for part in (model, classes):
        part.to(where, kind).eval().requires_grad_(False)

    def network(**given: Tensor) -> Tensor:
        probabilities: Tensor = classes(model(**given).pooler_output).float().softmax(-1)
        return probabilities[:, wanted : wanted + 1]

    tokenizer = hub_tokenizer(weights.base)
    limit = min(tokenizer.model_max_length, longest_input(config) or tokenizer.model_max_length)
    return PairReader(HubPairs(tokenizer, limit, "only_first", sided=False), network, where)


METRICS = {"AlignScore": AlignScore}
