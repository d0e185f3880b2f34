"""Unbabel's checkpoints as they are published: hparams.yaml beside checkpoints/model.ckpt (Rei et al. 2020).

A checkpoint holds an encoder's weights, the weights of its layers, an estimator and, where words are judged, a tagger.
Its settings are those that lie inside model.ckpt, and where they are silent the defaults of unbabel-comet's class;
hparams.yaml names the class. The encoder's configuration and tokenizer are those of the model it was made from, which
must lie on this machine, too (its weights needn't). Only data are read from the file: a checkpoint can't run code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar, get_args

from billboards.errors import InvalidInput, MissingPart
from billboards.metrics.neural.installed import need
from billboards.metrics.neural.readout import LayerMix, PlainLayer, PlainTop, Readout, SentenceAndWords
from billboards.metrics.neural.weights import READ, Weights, digest_files, locate, locate_folder, read_tensors
from billboards.reading import shown

if TYPE_CHECKING:
    from torch import Tensor

    from billboards.metrics.neural.sentences import Pooling

Kind = Literal[
    "regression_metric",
    "referenceless_regression_metric",
    "unified_metric",
    "xcomet_metric",
    "regression_metric_multi_ref",
]
#: What a unified model reads: the output first, then the input, the reference, or both.
Choice = TypeVar("Choice", bound=str)
Segment = Literal["mt", "src", "ref"]
SEGMENTS: tuple[Segment, ...] = get_args(Segment)
#: How severe XCOMET's errors may be.
SEVERITIES = ("minor", "major", "critical")
POOLINGS: tuple[Pooling, ...] = ("avg", "cls", "max")
#: How many separators stand between two texts that are read as one, by unbabel-comet's name of the encoder.
SEPARATORS: Mapping[str, int] = {"XLM-RoBERTa": 2, "XLM-RoBERTa-XL": 2, "MiniLM": 2, "RemBERT": 1}
#: The encoder whose last layer, and no other, is normalised once more.
ENDS_IN_NORM = "XLM-RoBERTa-XL"
#: Weights of the encoder that are made, not learned, or not read.
UNREAD = re.compile(r"pooler\.|.*position_ids$")

_ALWAYS: Mapping[str, Any] = {"encoder_model": "XLM-RoBERTa", "activations": "Tanh", "final_activation": None}
_REGRESSION: Mapping[str, Any] = {
    **_ALWAYS,
    "pretrained_model": "xlm-roberta-large",
    "layer": "mix",
    "layer_transformation": "softmax",
    "layer_norm": True,
    "pool": "avg",
}
#: What unbabel-comet 2.2.7 takes where a checkpoint's own settings are silent; other settings change no score.
DEFAULTS: Mapping[Kind, Mapping[str, Any]] = {
    "regression_metric": _REGRESSION,
    "referenceless_regression_metric": _REGRESSION,
    # As lens-metric 0.2.0 has it.
    "regression_metric_multi_ref": {**_REGRESSION, "pretrained_model": "xlm-roberta-base"},
    "unified_metric": {
        **_ALWAYS,
        "pretrained_model": "microsoft/infoxlm-large",
        "sent_layer": "mix",
        "layer_transformation": "sparsemax",
        "layer_norm": True,
        "word_layer": 24,
        "word_level_training": False,
        "error_labels": ["minor", "major"],
        "input_segments": ["mt", "src", "ref"],
    },
    "xcomet_metric": {
        **_ALWAYS,
        "encoder_model": "XLM-RoBERTa-XL",
        "pretrained_model": "facebook/xlm-roberta-xl",
        "sent_layer": "mix",
        "layer_transformation": "sparsemax",
        "layer_norm": False,
        "word_layer": 36,
        "error_labels": [*SEVERITIES],
    },
}
#: What a class sets by itself, whatever a checkpoint says.
FIXED: Mapping[Kind, Mapping[str, Any]] = {
    "xcomet_metric": {"word_level_training": True, "input_segments": ["mt", "src", "ref"]},
    "regression_metric_multi_ref": {"layer_transformation": "softmax", "layer_norm": True},
}


@dataclass(frozen=True, kw_only=True)
class Checkpoint(Weights):
    """A checkpoint on this machine, with the folder of the model it was made from."""

    base: Path
    #: When the file was last changed, so that another under the same name is another checkpoint.
    changed: int
    kind: Kind
    encoder_model: str
    #: The layer that sentences are read from; None for the mix of all.
    layer: int | None
    transformation: str
    normalised: bool
    activation: str
    final_activation: str | None
    #: Of regression models: how a text's tokens become one vector.
    pool: Pooling = "cls"
    #: Of models that read several texts as one: which, the layer that words are judged by, and what they may be.
    segments: tuple[Segment, ...] = ()
    word_layer: int | None = None
    labels: tuple[str, ...] = ()

    @property
    def file(self) -> Path:
        return self.folder / "checkpoints" / "model.ckpt"

    @property
    def digest(self) -> str:
        of_base = sorted({path for pattern in READ for path in self.base.glob(pattern)})
        return digest_files([self.folder / "hparams.yaml", self.file, *of_base])

    @property
    def reader(self) -> Path:
        return self.base

    def load(self) -> Any:
        """The encoder, with the checkpoint's weights."""
        import torch
        from transformers import MODEL_MAPPING, AutoConfig

        from billboards.metrics.neural.padded import quiet

        config, own = AutoConfig.from_pretrained(self.base, local_files_only=True), self.tensors("encoder.model.")
        try:
            with quiet():
                model, report = MODEL_MAPPING[type(config)].from_pretrained(
                    None, config=config, state_dict=own, dtype=torch.float32, output_loading_info=True
                )
        except RuntimeError as error:
            reason = str(error).strip().splitlines()[0]
            raise InvalidInput(f"{self.file} doesn't fit the model {self.base.name} that it names: {reason}") from error
        unlike = (*report["missing_keys"], *report["unexpected_keys"])
        wrong = sorted(name for name in unlike if not UNREAD.match(name))
        if wrong:
            raise InvalidInput(
                f"{self.file} doesn't fit the model {self.base.name} that it names: {len(wrong)} weights differ, "
                f"first {wrong[0]}"
            )
        for weight in model.parameters():
            # What lies in the file may be written over while the model is in use.
            weight.data = weight.data.clone()
        return model.eval().requires_grad_(False)

    @property
    def blank_first(self) -> bool:
        return False

    def longest_input(self, config: Any) -> int | None:
        # Four less than there are positions, as in unbabel-comet.
        return int(config.max_position_embeddings) - 4

    @property
    def longest_joined(self) -> int:
        """How many tokens are read of several texts that are joined."""
        from transformers import AutoConfig

        return int(AutoConfig.from_pretrained(self.base, local_files_only=True).max_position_embeddings) - 2

    def tensors(self, prefix: str) -> dict[str, Tensor]:
        """The weights whose names begin so, by the rest of their names."""
        tensors = read_tensors(self.file).tensors
        return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}

    @property
    def top(self) -> int | None:
        """The last layer that must be computed; None for all."""
        return None if self.word_layer is not None or self.encoder_model == ENDS_IN_NORM else self.layer

    def readout(self) -> Readout:
        """What is read off the encoder's layers: one of them, or the mix; and what words are judged by."""
        if self.word_layer is not None:
            sentence = self._mix() if self.layer is None else PlainLayer(self.layer)
            return SentenceAndWords(sentence, self.word_layer)
        if self.layer is None:
            return self._mix()
        return PlainLayer(self.layer) if self.encoder_model == ENDS_IN_NORM else PlainTop()

    def without_words(self) -> Checkpoint:
        """The same as if no word were judged, which costs less where only sentences are scored."""
        return replace(self, word_layer=None)

    def _mix(self) -> LayerMix:
        import torch

        mixing = self.tensors("layerwise_attention.")
        scalars = [mixing[f"scalar_parameters.{k}"] for k in range(sum("scalar_parameters" in name for name in mixing))]
        raw = torch.cat(scalars).double()
        shares = sparsemax(raw) if self.transformation == "sparsemax" else raw.softmax(0)
        return LayerMix(tuple((shares * mixing["gamma"].double()).tolist()), self.normalised)


def locate_checkpoint(
    metric: str, model: str, kind: Kind, *, example: str, segments: Sequence[Segment] = (), revision: str = ""
) -> Checkpoint:
    """The checkpoint of this name on this machine, which must be of the kind that the metric reads.

    metric: the metric, for messages.
    model: a folder, or a hub model that was fetched before.
    kind: the class that the checkpoint must be of.
    example: a model to name where none is named.
    segments: what a model that reads several texts as one must read at least.
    revision: a commit, tag or branch of the hub (default: the main branch).
    """
    need(metric, "torch", "transformers")
    if not model:
        raise MissingPart(
            f"{metric} needs a checkpoint of Unbabel's: name its folder, or a hub model that was fetched before, "
            f"as in {metric}(model={example})"
        )
    folder = locate_folder(model, revision)
    for file in ("hparams.yaml", "checkpoints/model.ckpt"):
        if not (folder / file).is_file():
            raise InvalidInput(f"{model} holds no checkpoint of COMET: {file} is missing there")
    listed = _listed(folder / "hparams.yaml")
    own = next((name for name in get_args(Kind) if name == listed.get("class_identifier")), None)
    if own is None:
        raise InvalidInput(f"{model} is a {shown(listed.get('class_identifier'))}, which no metric here reads")
    checkpoint = _checkpoint(model, folder, own, _settings(own, listed, folder / "checkpoints" / "model.ckpt"))
    if own != kind or not set(segments) <= set(checkpoint.segments):
        what = f"{own} of {', '.join(checkpoint.segments)}" if checkpoint.segments else own
        raise InvalidInput(f"{model} is a {what}; {reader_of(checkpoint)} reads it, not {metric}")
    return checkpoint


def reader_of(checkpoint: Checkpoint) -> str:
    """The metrics that read a checkpoint, by name."""
    if checkpoint.kind == "unified_metric":
        reads = set(checkpoint.segments)
        return "UniTE" if reads == {"mt", "src", "ref"} else "COMETKiwi" if "src" in reads else "no metric here"
    names = {"regression_metric": "COMET", "referenceless_regression_metric": "COMET-QE", "xcomet_metric": "XCOMET"}
    return {**names, "regression_metric_multi_ref": "LENS"}[checkpoint.kind]


def _listed(path: Path) -> Mapping[str, Any]:
    """What hparams.yaml says."""
    import yaml

    try:
        listed = yaml.safe_load(path.read_text("utf-8"))
    except (yaml.YAMLError, OSError, ValueError, RecursionError) as error:
        raise InvalidInput(f"{path} can't be read: {str(error).splitlines()[0]}") from error
    if not isinstance(listed, Mapping):
        raise InvalidInput(f"{path} holds no settings; class_identifier is missing there")
    return listed


def _settings(kind: Kind, listed: Mapping[str, Any], file: Path) -> Mapping[str, Any]:
    """A checkpoint's settings, as unbabel-comet takes them from its two files."""
    # A file of bare weights has none of its own; unbabel-comet can be asked to take hparams.yaml's, too.
    own = read_tensors(file).hyper_parameters or listed
    if kind == "regression_metric_multi_ref":
        # lens-metric gives hparams.yaml the last word.
        own = {**own, **listed}
    settings = {name: own.get(name, default) for name, default in DEFAULTS[kind].items()}
    settings.update(FIXED.get(kind, {}))
    # The models that were trained by a version which took a softmax for sparsemax say so there since 2.2.4.
    if listed.get("layer_transformation") == "sparsemax_patch":
        settings["layer_transformation"] = "softmax"
    return settings


def _checkpoint(model: str, folder: Path, kind: Kind, settings: Mapping[str, Any]) -> Checkpoint:
    given = _Given(model, settings)
    own = (folder / "config.json").is_file()
    judges_words = bool(settings.get("word_level_training"))
    checkpoint = Checkpoint(
        name=model,
        folder=folder,
        base=folder if own else locate(given.text("pretrained_model")).folder,
        changed=(folder / "checkpoints" / "model.ckpt").stat().st_mtime_ns,
        kind=kind,
        encoder_model=given.text("encoder_model"),
        layer=given.layer("layer" if "layer" in settings else "sent_layer"),
        transformation=given.text("layer_transformation"),
        normalised=bool(settings["layer_norm"]),
        activation=given.text("activations"),
        final_activation=None if settings["final_activation"] is None else given.text("final_activation"),
        pool=given.choice("pool", POOLINGS) if "pool" in settings else "cls",
        segments=given.several("input_segments", SEGMENTS) if "input_segments" in settings else (),
        word_layer=given.number("word_layer") if judges_words else None,
        labels=given.texts("error_labels") if judges_words else (),
    )
    if kind == "xcomet_metric" and checkpoint.labels != SEVERITIES:
        raise InvalidInput(f"{model}: an XCOMET model's error_labels are {', '.join(SEVERITIES)}")
    if checkpoint.segments and checkpoint.encoder_model not in SEPARATORS:
        raise InvalidInput(f"{model}: texts are not joined for the encoder {shown(checkpoint.encoder_model)}")
    return checkpoint


@dataclass(frozen=True)
class _Given:
    """A checkpoint's settings, each checked when it is taken."""

    model: str
    settings: Mapping[str, Any]

    def text(self, name: str) -> str:
        value = self.settings[name]
        if not isinstance(value, str):
            self.refuse(name, "no text")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        values = self.settings[name]
        if not isinstance(values, list | tuple) or not values or not all(isinstance(value, str) for value in values):
            self.refuse(name, "no list of texts")
        return tuple(values)

    def number(self, name: str) -> int:
        value = self.settings[name]
        if type(value) is not int or value < 0:
            self.refuse(name, "no layer's number")
        return value

    def layer(self, name: str) -> int | None:
        value = self.settings[name]
        if value != "mix" and type(value) is not int:
            self.refuse(name, "neither mix nor a whole number")
        return None if value == "mix" else self.number(name)

    def several(self, name: str, choices: Sequence[Choice]) -> tuple[Choice, ...]:
        chosen = tuple(choice for value in self.texts(name) for choice in choices if choice == value)
        if len(chosen) != len(self.settings[name]):
            self.refuse(name, f"not of {', '.join(choices)} alone")
        return chosen

    def choice(self, name: str, choices: Sequence[Choice]) -> Choice:
        chosen = next((choice for choice in choices if choice == self.settings[name]), None)
        if chosen is None:
            self.refuse(name, f"none of {', '.join(choices)}")
        return chosen

    def refuse(self, name: str, why: str) -> NoReturn:
        raise InvalidInput(f"{self.model}: {name} {shown(self.settings[name])} in the checkpoint is {why}")


def sparsemax(values: Tensor) -> Tensor:
    """The point of the simplex nearest to these numbers (Martins and Astudillo 2016): a softmax that reaches 0."""
    import torch

    ordered = values.sort(descending=True).values
    over = (ordered.cumsum(0) - 1) / torch.arange(1, len(values) + 1, device=values.device)
    threshold = over[ordered > over][-1]
    return (values - threshold).clamp_min(0)


def estimator(checkpoint: Checkpoint, device: Any) -> Callable[[Tensor], Tensor]:
    """The checkpoint's network from features (rows) to scores."""
    from torch import nn

    weights = checkpoint.tensors("estimator.ff.")
    places = sorted({int(name.split(".")[0]) for name in weights})
    steps: list[Any] = []
    for place in places:
        steps += [_linear(weights, f"{place}."), _activation(checkpoint, checkpoint.activation)]
    steps.pop()
    if checkpoint.final_activation is not None:
        steps.append(_activation(checkpoint, checkpoint.final_activation))
    network = nn.Sequential(*steps).float().to(device).eval().requires_grad_(False)
    return lambda features: network(features).view(-1)


def tagger(checkpoint: Checkpoint, device: Any) -> Callable[[Tensor], Tensor]:
    """The checkpoint's layer from words' vectors to the probabilities of their labels, "no error" first."""
    weights = checkpoint.tensors("hidden2tag.")
    if not weights or len(weights["bias"]) != 1 + len(checkpoint.labels):
        raise InvalidInput(
            f"{checkpoint.name}: {shown(list(checkpoint.labels))} are its labels, and its weights are for "
            f"{len(weights['bias']) - 1 if weights else 'none'}"
        )
    linear = _linear(weights, "").float().to(device).eval().requires_grad_(False)
    return lambda words: linear(words).softmax(-1)


def _linear(weights: Mapping[str, Tensor], prefix: str) -> Any:
    from torch import nn

    weight, bias = weights[f"{prefix}weight"], weights[f"{prefix}bias"]
    linear = nn.Linear(weight.shape[1], weight.shape[0])
    linear.load_state_dict({"weight": weight, "bias": bias})
    return linear


def _activation(checkpoint: Checkpoint, name: str) -> Any:
    from torch import nn

    activation = getattr(nn, name.title(), None) or getattr(nn, name, None)
    if activation is None:
        raise InvalidInput(f"{checkpoint.name}: torch has no activation {name!r}, which the checkpoint names")
    return activation()
