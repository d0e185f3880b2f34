"""BLEURT (Sellam et al. 2020) and BLEURT-20 (Pu et al. 2021): a model trained on human ratings reads reference and
output as one text.

Reference and output are joined by the model's separator, reference first, and the number at the end of the model's
linear head is the score. Equal pairs are read once. With several references the best counts.

Three kinds of checkpoints are read: classifiers of transformers with one number (Elron/bleurt-base-512), those of
bleurt-pytorch (lucadiliello/BLEURT-20 and its kin), whose network is transformers' RemBERT under other names, and
Google's own folders, whose TensorFlow variables are read as plain numbers. No code that comes with a checkpoint is run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from billboards.errors import InvalidInput, MissingPart
from billboards.metrics.base import Batch, Floats, MetricCard
from billboards.metrics.neural.devices import find_devices
from billboards.metrics.neural.encoder import Precision
from billboards.metrics.neural.engine import Where
from billboards.metrics.neural.installed import need
from billboards.metrics.neural.learned import Learned, checked_precision, split_rows, warn_of_cut_texts
from billboards.metrics.neural.pairs import (
    HubPairs,
    PairReader,
    PairTokenizer,
    PiecePairs,
    hub_classifier,
    hub_tokenizer,
    load_state,
    logits,
    read_distinct,
    read_settings,
    told_sides,
    weight_file,
)
from billboards.metrics.neural.pieces import read_pieces
from billboards.metrics.neural.protobuf import fields
from billboards.metrics.neural.variables import read_variables
from billboards.metrics.neural.weights import Weights, digest_files, locate, read_tensors

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Bleurt(Learned):
    """BLEURT; `model` is a checkpoint's folder or a hub model fetched before."""

    model: str = ""

    card: ClassVar[MetricCard] = MetricCard(
        making="learned",
        name="BLEURT",
        summary="Human rating as a BERT or RemBERT predicts it that reads reference and output as one text",
        needs_part="torch, transformers and a checkpoint that lies on this machine; none comes with the metric",
        range=(None, None),
        training_data="that of the checkpoint. bleurt-*: sentences of Wikipedia with synthetic changes, then human "
        "ratings of translations into English (WMT metrics tasks of 2015 to 2018). BLEURT-20: ratings of WMT 2015 to "
        "2019 in 13 languages, and pairs made of them that are perfect or ruined (Pu et al. 2021). A board made of the "
        "same ratings flatters it",
        licence="Apache-2.0 (this code and Google's checkpoints)",
        paper="Sellam, Das and Parikh 2020, BLEURT: Learning Robust Metrics for Text Generation, ACL; Pu et al. 2021, "
        "Learning Compact Metrics for MT, EMNLP",
        failures="Trained on single sentences: longer texts are cut where the model's input ends, both sides "
        "together. Fluent outputs with wrong facts score high. Scores of different checkpoints have different scales: "
        "compare only equal signatures. BLEURT-20's are mostly between 0 and 1, but may pass either end.",
        slow=True,
    )

    def weights(self) -> Weights:
        need(self.card.name, "torch", "transformers")
        if not self.model:
            raise MissingPart(
                "BLEURT needs a checkpoint: name its folder, or a hub model that was fetched before, as in "
                "BLEURT(model=lucadiliello/BLEURT-20) or BLEURT(model=Elron/bleurt-base-512)"
            )
        folder = Path(self.model)
        if (folder / "bleurt_config.json").is_file():
            return TensorFlowCheckpoint(self.model, folder.resolve())
        weights = locate(self.model, self.revision)
        piece_model = weights.folder / "spm.model"
        return PieceCheckpoint(weights.name, weights.folder) if piece_model.is_file() else weights

    def score_rows(self, batches: Sequence[Batch]) -> list[Floats]:
        precision = checked_precision(self, self.precision)
        reader = pair_reader(self.weights(), precision, find_devices(Where.from_environment().devices)[0])
        items = [item for batch in batches for item in batch.items()]
        pairs = [[(text.strip(), item.output.strip()) for text in item.references] for item in items]
        scores, cut = read_distinct(reader, chain.from_iterable(pairs))
        warn_of_cut_texts(self, cut, len(scores), reader.limit)
        best = [max(scores[pair][0] for pair in each) for each in pairs]
        return split_rows(np.array(best, np.float64), batches)


@dataclass(frozen=True)
class PieceCheckpoint(Weights):
    """A checkpoint of bleurt-pytorch's with a model of SentencePiece's."""

    @property
    def digest(self) -> str:
        return digest_files([self.folder / "config.json", self.folder / "spm.model", weight_file(self.folder)])


@dataclass(frozen=True)
class TensorFlowCheckpoint(Weights):
    """A checkpoint as Google publishes it: settings, pieces or words, a graph and its variables."""

    @property
    def settings(self) -> Mapping[str, Any]:
        return read_settings(self.folder / "bleurt_config.json")

    @property
    def words(self) -> Path:
        """The file with the pieces or words that a text is cut into."""
        name, model = self.settings.get("vocab_file"), self.settings.get("sp_model")
        path = self.folder / Path(f"{model}.model" if model else str(name)).name
        if not path.is_file():
            raise InvalidInput(f"{self.name} lacks {path.name}, which bleurt_config.json names")
        return path

    @property
    def digest(self) -> str:
        files = [self.folder / name for name in ("bleurt_config.json", "bert_config.json", "saved_model.pb")]
        for path in files:
            if not path.is_file():
                raise InvalidInput(f"{self.name} is no whole checkpoint of BLEURT's: {path.name} is missing there")
        return digest_files([*files, self.words, *sorted((self.folder / "variables").glob("variables.*"))])


@lru_cache(maxsize=2)
def pair_reader(weights: Weights, precision: Precision, device: str) -> PairReader:
    """A reader that is kept for the next call."""
    import torch

    tokenizer, model = _google(weights) if isinstance(weights, TensorFlowCheckpoint) else _hub(weights)
    where: Any = torch.device(device)
    return PairReader(tokenizer, logits(model, precision, where), where)


def _hub(weights: Weights) -> tuple[PairTokenizer, Any]:
    """A checkpoint of Hugging Face's form."""
    from billboards.metrics.neural.padded import longest_input

    settings = read_settings(weights.folder / "config.json")
    if settings.get("model_type") == "bleurt":
        return _port(weights, settings)
    tokenizer, model = hub_tokenizer(weights.folder), hub_classifier(weights)
    if model.config.num_labels != 1:
        raise InvalidInput(f"{weights.name} gives {model.config.num_labels} numbers; BLEURT's model gives one")
    positions = longest_input(model.config)
    limit = min(tokenizer.model_max_length, tokenizer.model_max_length if positions is None else positions)
    return HubPairs(tokenizer, limit, "longest_first", sided=told_sides(model.config)), model


def _port(weights: Weights, settings: Mapping[str, Any]) -> tuple[PairTokenizer, Any]:
    """A checkpoint of bleurt-pytorch's."""
    model = _network(weights, settings, str(settings.get("hidden_act", "gelu")))
    limit = int(model.config.max_position_embeddings)
    tokenizer: PairTokenizer
    if isinstance(weights, PieceCheckpoint):
        tokenizer = PiecePairs(read_pieces(weights.folder / "spm.model"), limit)
    else:
        tokenizer = HubPairs(hub_tokenizer(weights.folder), limit, "longest_first", sided=True)
    _load(weights, model, read_tensors(weight_file(weights.folder)).tensors)
    return tokenizer, model


def _google(weights: TensorFlowCheckpoint) -> tuple[PairTokenizer, Any]:
    """A checkpoint of Google's."""
    from transformers import BertTokenizer

    model = _network(
        weights, read_settings(weights.folder / "bert_config.json"), _gelu(weights.folder / "saved_model.pb")
    )
    limit = min(int(weights.settings.get("max_seq_length", 512)), int(model.config.max_position_embeddings))
    tokenizer: PairTokenizer
    if weights.settings.get("sp_model"):
        tokenizer = PiecePairs(read_pieces(weights.words), limit)
    else:
        lower = bool(weights.settings.get("do_lower_case", True))
        words = BertTokenizer(vocab=str(weights.words), do_lower_case=lower)
        tokenizer = HubPairs(words, limit, "longest_first", sided=True)
    _load(weights, model, _renamed(read_variables(weights.folder / "variables")))
    return tokenizer, model


def _gelu(graph: Path) -> str:
    """Which form of GELU a graph computes: with the error function, or by the hyperbolic tangent."""
    content = memoryview(graph.read_bytes())

    def inside(messages: list[memoryview], wanted: int) -> list[memoryview]:
        return [
            value
            for message in messages
            for place, value in fields(message)
            if place == wanted and isinstance(value, memoryview)
        ]

    graphs = inside(inside([content], 2), 2)
    nodes = inside(graphs, 1) + inside(inside(inside(graphs, 2), 1), 3)
    operations = {bytes(operation) for operation in inside(nodes, 2)}
    return "gelu" if b"Erf" in operations else "gelu_new"


def _network(weights: Weights, settings: Mapping[str, Any], activation: str) -> Any:
    """The network that settings describe: RemBERT where embeddings have a width of their own, else BERT."""
    from transformers import BertConfig, BertForSequenceClassification, RemBertConfig, RemBertForSequenceClassification

    names = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
    lacking = [name for name in names if not isinstance(settings.get(name), int)]
    if lacking:
        raise InvalidInput(f"{weights.name} doesn't say its {lacking[0]}")
    sizes = {name: settings[name] for name in names}
    for name, usual in (("max_position_embeddings", 512), ("type_vocab_size", 2), ("pad_token_id", 0)):
        sizes[name] = settings.get(name, usual)
    sizes |= {"layer_norm_eps": settings.get("layer_norm_eps", 1e-12), "hidden_act": activation, "num_labels": 1}
    width = settings.get("embedding_size")
    if width is None:
        return BertForSequenceClassification(BertConfig(**sizes))
    own = {"input_embedding_size": width, "bos_token_id": None, "eos_token_id": None}
    return RemBertForSequenceClassification(RemBertConfig(**sizes, **own))


def _renamed(variables: Mapping[str, Any]) -> dict[str, Tensor]:
    """TensorFlow's variables under the names of bleurt-pytorch."""
    import torch

    state = {}
    for name, array in variables.items():
        if not name.startswith(("bert/", "dense/")) or "/Adam" in name or "adam_" in name:
            continue
        parts = name.replace("bert/", "bleurt/").replace("layer_", "layer/").split("/")
        parts = ["classifier", *parts[1:]] if parts[0] == "dense" else parts
        parts = ["embedding_projection" if part == "embedding_hidden_mapping_in" else part for part in parts]
        turned = parts[-1] == "kernel"
        last = {"kernel": "weight", "gamma": "weight", "beta": "bias"}.get(parts[-1], parts[-1])
        ends = [last] if last in ("weight", "bias") else [last, "weight"]
        state[".".join([*parts[:-1], *ends])] = torch.from_numpy(np.array(array.T if turned else array))
    return state


def _load(weights: Weights, model: Any, state: Mapping[str, Tensor]) -> None:
    """Put a checkpoint's weights into a network of transformers, which calls some parts otherwise."""
    projection = ("encoder.embedding_projection.", "encoder.embedding_hidden_mapping_in.")
    base = f"{model.base_model_prefix}."
    own = {name.replace("bleurt.", base, 1).replace(*projection): value for name, value in state.items()}
    load_state(weights.name, model, own)


METRICS = {"BLEURT": Bleurt}
