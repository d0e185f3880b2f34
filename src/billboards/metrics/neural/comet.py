"""COMET and COMET-QE (Rei et al. 2020, 2021): a network trained on human ratings of translations reads input, output
and, unless it is COMET-QE, a reference.

Each text becomes a vector (a mix of an encoder's layers, pooled); an estimator gets the vectors, their products and
their differences. With several references the best counts.

The weights are checkpoints as Unbabel publishes them, hparams.yaml beside checkpoints/model.ckpt, which are named as an
option and never fetched unasked. A checkpoint holds an encoder's weights, the weights of its layers and an estimator;
the encoder's configuration and tokenizer are those of the model it was made from, which must lie on this machine, too
(its weights needn't). Only tensors are read from the file: a checkpoint can't run code.
"""

from __future__ import annotations

import pickle
import re
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from billboards.errors import InvalidInput, MissingPart
from billboards.metrics.base import Batch, Floats, MetricCard
from billboards.metrics.neural.engine import Where, start_engine
from billboards.metrics.neural.installed import need
from billboards.metrics.neural.learned import Learned, checked_precision, split_rows, warn_of_cuts
from billboards.metrics.neural.readout import LayerMix, PlainTop, Readout
from billboards.metrics.neural.sentences import Sides, score_sentences
from billboards.metrics.neural.weights import READ, Weights, digest_files, find_in_hub_cache, locate
from billboards.reading import shown

if TYPE_CHECKING:
    from torch import Tensor

    from billboards.metrics.neural.sentences import Pooling


Kind = Literal["regression_metric", "referenceless_regression_metric"]
POOLINGS: tuple[Pooling, ...] = ("avg", "cls", "max")
#: Weights of the encoder that are made, not learned, or not read.
UNREAD = re.compile(r"pooler\.|.*position_ids$")


@dataclass(frozen=True)
class Checkpoint(Weights):
    """A checkpoint on this machine, with the folder of the model it was made from."""

    base: Path
    layer: int | None
    pool: Pooling
    transformation: str
    normalised: bool
    activation: str
    final_activation: str | None

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
        from transformers import AutoConfig, AutoModel

        model = AutoModel.from_config(AutoConfig.from_pretrained(self.base, local_files_only=True))
        missing, unknown = model.load_state_dict(self.tensors("encoder.model."), strict=False)
        wrong = [name for name in (*missing, *unknown) if not UNREAD.match(name)]
        if wrong:
            raise InvalidInput(
                f"{self.file} doesn't fit the model {self.base.name} that it names: {len(wrong)} weights differ, "
                f"first {wrong[0]}"
            )
        return model.eval().requires_grad_(False)

    def longest_input(self, config: Any) -> int | None:
        # Four less than there are positions, as in unbabel-comet.
        return int(config.max_position_embeddings) - 4

    def tensors(self, prefix: str) -> dict[str, Tensor]:
        """The weights whose names begin so, by the rest of their names."""
        tensors = _read_tensors(self.file, self.file.stat().st_mtime_ns)
        return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}

    def readout(self) -> Readout:
        """What is read off the encoder's layers: one of them, or the mix."""
        if self.layer is not None:
            return PlainTop()
        import torch

        mixing = self.tensors("layerwise_attention.")
        scalars = [mixing[f"scalar_parameters.{k}"] for k in range(sum("scalar_parameters" in name for name in mixing))]
        raw = torch.cat(scalars).double()
        shares = sparsemax(raw) if self.transformation == "sparsemax" else raw.softmax(0)
        return LayerMix(tuple((shares * mixing["gamma"].double()).tolist()), self.normalised)


def locate_checkpoint(metric: str, model: str, kind: Kind) -> Checkpoint:
    """The checkpoint of this name on this machine, which must be of the kind that the metric reads."""
    need(metric, "torch", "transformers")
    if not model:
        raise MissingPart(
            f"{metric} needs a checkpoint of Unbabel's: name its folder, or a hub model that was fetched before, "
            f"as in {metric}(model=Unbabel/wmt22-comet-da)"
        )
    folder = Path(model).resolve() if Path(model).is_dir() else find_in_hub_cache(model)
    for file in ("hparams.yaml", "checkpoints/model.ckpt"):
        if not (folder / file).is_file():
            raise InvalidInput(f"{model} holds no checkpoint of COMET: {file} is missing there")
    settings = _settings(folder / "hparams.yaml")
    if settings.get("class_identifier") != kind:
        raise InvalidInput(f"{model} is a {shown(settings.get('class_identifier'))}; {metric} reads a {kind}")
    return _checkpoint(model, folder, settings)


def _checkpoint(model: str, folder: Path, settings: Mapping[str, Any]) -> Checkpoint:
    layer, asked = settings.get("layer", "mix"), settings.get("pool", "avg")
    pool = next((name for name in POOLINGS if name == asked), None)
    if pool is None:
        raise InvalidInput(f"{model}: pool {shown(asked)} in hparams.yaml is none of {', '.join(POOLINGS)}")
    if layer != "mix" and type(layer) is not int:
        raise InvalidInput(f"{model}: layer {shown(layer)} in hparams.yaml is neither mix nor a whole number")
    own = (folder / "config.json").is_file()
    return Checkpoint(
        name=model,
        folder=folder,
        base=folder if own else locate(settings["pretrained_model"]).folder,
        layer=None if layer == "mix" else layer,
        pool=pool,
        transformation=settings.get("layer_transformation", "softmax"),
        normalised=settings.get("layer_norm", True),
        activation=settings.get("activations", "Tanh"),
        final_activation=settings.get("final_activation"),
    )


def _settings(path: Path) -> Mapping[str, Any]:
    import yaml

    try:
        settings = yaml.safe_load(path.read_text("utf-8"))
    except (yaml.YAMLError, OSError, ValueError, RecursionError) as error:
        raise InvalidInput(f"{path} can't be read: {str(error).splitlines()[0]}") from error
    if not isinstance(settings, Mapping) or not isinstance(settings.get("pretrained_model"), str):
        raise InvalidInput(f"{path} doesn't name the pretrained_model that the checkpoint was made from")
    return settings


@lru_cache(maxsize=2)
def _read_tensors(file: Path, changed: int) -> Mapping[str, Tensor]:  # noqa: ARG001 - another file under the same name
    import torch

    try:
        content = torch.load(file, map_location="cpu", weights_only=True, mmap=True)
    except (pickle.UnpicklingError, RuntimeError) as error:
        reason = str(error).strip().splitlines()[0]
        raise InvalidInput(f"{file} is not read: it holds more than tensors, or is damaged ({reason})") from error
    if "state_dict" not in content:
        raise InvalidInput(f"{file} has no state_dict; it is no checkpoint of COMET")
    state: Mapping[str, Tensor] = content["state_dict"]
    return state


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
        weight, bias = weights[f"{place}.weight"], weights[f"{place}.bias"]
        linear = nn.Linear(weight.shape[1], weight.shape[0])
        linear.load_state_dict({"weight": weight, "bias": bias})
        steps += [linear, _activation(checkpoint, checkpoint.activation)]
    steps.pop()
    if checkpoint.final_activation is not None:
        steps.append(_activation(checkpoint, checkpoint.final_activation))
    network = nn.Sequential(*steps).float().to(device).eval().requires_grad_(False)
    return lambda features: network(features).view(-1)


def _activation(checkpoint: Checkpoint, name: str) -> Any:
    from torch import nn

    activation = getattr(nn, name.title(), None) or getattr(nn, name, None)
    if activation is None:
        raise InvalidInput(f"{checkpoint.name}: torch has no activation {name!r}, which hparams.yaml names")
    return activation()


@dataclass(frozen=True)
class _Comet(Learned):
    """What both metrics do; `model` is a checkpoint's folder or a hub model fetched before."""

    model: str = ""

    kind: ClassVar[Kind]

    def weights(self) -> Checkpoint:
        return locate_checkpoint(self.card.name, self.model, self.kind)

    def score_rows(self, batches: Sequence[Batch]) -> list[Floats]:
        checkpoint, precision = self.weights(), checked_precision(self, self.precision)
        engine = start_engine(checkpoint, checkpoint.layer, precision, Where.from_environment(), checkpoint.readout())
        estimate = estimator(checkpoint, engine.encoders[0].device)
        given = [self._needed(batch) for batch in batches]
        pool = checkpoint.pool
        scores = score_sentences(engine, given, pool, lambda sides: estimate(self.features(sides)))
        warn_of_cuts(self, engine)
        return split_rows(scores, batches)

    def _needed(self, batch: Batch) -> Batch:
        references = batch.references if self.card.needs_references else ()
        return Batch(batch.outputs, references, batch.inputs, batch.language)

    @abstractmethod
    def features(self, sides: Sides) -> Tensor:
        """What the estimator gets for each pair."""


@dataclass(frozen=True)
class Comet(_Comet):
    """COMET: input, output and reference."""

    kind: ClassVar[Kind] = "regression_metric"
    card: ClassVar[MetricCard] = MetricCard(
        name="COMET",
        summary="Human rating of a translation as a network predicts it from the embeddings of input, output and "
        "reference",
        needs_input=True,
        needs_part="torch, transformers and a checkpoint of Unbabel's that lies on this machine, with the tokenizer "
        "of the model it was made from",
        range=(None, None),
        training_data="that of the checkpoint: human ratings of translations (WMT direct assessment, for "
        "Unbabel/wmt22-comet-da those of 2017 to 2020, as its model card says). A board made of the same ratings "
        "flatters it",
        licence="Apache-2.0 (this code); each checkpoint has its own",
        paper="Rei et al. 2020, COMET: A Neural Framework for MT Evaluation, EMNLP",
        failures="Misses wrong numbers and names (Amrhein and Sennrich 2022, AACL), and rates fluent text in the wrong "
        "language or on another subject too high (Zouhar et al. 2024, WMT). Scores of different checkpoints have "
        "different scales: compare only equal signatures. An empty output gets a score like any other. Texts are cut "
        "where the model's input ends.",
        slow=True,
    )

    def features(self, sides: Sides) -> Tensor:
        import torch

        out, ref, src = sides.output, sides.reference, sides.input
        return torch.cat((out, ref, out * ref, (out - ref).abs(), out * src, (out - src).abs()), 1)


@dataclass(frozen=True)
class CometQE(_Comet):
    """COMET-QE: input and output."""

    kind: ClassVar[Kind] = "referenceless_regression_metric"
    card: ClassVar[MetricCard] = MetricCard(
        name="COMET-QE",
        summary="Human rating of a translation as a network predicts it from the embeddings of input and output, "
        "without a reference",
        needs_references=False,
        needs_input=True,
        needs_part="torch, transformers and a checkpoint of Unbabel's that lies on this machine, with the tokenizer "
        "of the model it was made from",
        range=(None, None),
        training_data="that of the checkpoint: human ratings of translations (WMT direct assessment); those named -mqm "
        "were then tuned on MQM ratings (Rei et al. 2021). A board made of the same ratings flatters it",
        licence="Apache-2.0 (this code); each checkpoint has its own",
        paper="Rei et al. 2021, Are References Really Needed? Unbabel-IST 2021 Submission for the Metrics Shared "
        "Task, WMT",
        failures="Rates a copied input, and fluent text with wrong numbers or names (Amrhein and Sennrich 2022, AACL), "
        "too high. Scores of different checkpoints have different scales: compare only equal signatures. Checkpoints "
        "of the later CometKiwi are built otherwise and refused. Texts are cut where the model's input ends.",
        slow=True,
    )

    def features(self, sides: Sides) -> Tensor:
        import torch

        out, src = sides.output, sides.input
        return torch.cat((out, src, out * src, (out - src).abs()), 1)


METRICS = {"COMET": Comet, "COMET-QE": CometQE}
