"""COMET's checkpoints as Unbabel publishes them: hparams.yaml beside checkpoints/model.ckpt.

The checkpoint holds an encoder's weights, the weights of its layers and an estimator; the encoder's configuration and
tokenizer are those of the model it was made from, which must lie on this machine, too (its weights needn't). Only
tensors are read from the file: a checkpoint can't run code.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from billboards.errors import InvalidInput, MissingPart
from billboards.metrics.neural.installed import need
from billboards.metrics.neural.readout import LayerMix, PlainTop, Readout
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
        found = _read_tensors(self.file, self.file.stat().st_mtime_ns)
        return {name.removeprefix(prefix): value for name, value in found.items() if name.startswith(prefix)}

    def readout(self) -> Readout:
        """What is read off the encoder's layers: one of them, or the mix."""
        if self.layer is not None:
            return PlainTop()
        import torch

        found = self.tensors("layerwise_attention.")
        scalars = [found[f"scalar_parameters.{k}"] for k in range(sum("scalar_parameters" in name for name in found))]
        raw = torch.cat(scalars).double()
        shares = sparsemax(raw) if self.transformation == "sparsemax" else raw.softmax(0)
        return LayerMix(tuple((shares * found["gamma"].double()).tolist()), self.normalised)


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
    said = _settings(folder / "hparams.yaml")
    if said.get("class_identifier") != kind:
        raise InvalidInput(f"{model} is a {shown(said.get('class_identifier'))}; {metric} reads a {kind}")
    return _checkpoint(model, folder, said)


def _checkpoint(model: str, folder: Path, said: Mapping[str, Any]) -> Checkpoint:
    layer, asked = said.get("layer", "mix"), said.get("pool", "avg")
    pool = next((one for one in POOLINGS if one == asked), None)
    if pool is None:
        raise InvalidInput(f"{model}: pool {shown(asked)} in hparams.yaml is none of {', '.join(POOLINGS)}")
    if layer != "mix" and type(layer) is not int:
        raise InvalidInput(f"{model}: layer {shown(layer)} in hparams.yaml is neither mix nor a whole number")
    own = (folder / "config.json").is_file()
    return Checkpoint(
        name=model,
        folder=folder,
        base=folder if own else locate(said["pretrained_model"]).folder,
        layer=None if layer == "mix" else layer,
        pool=pool,
        transformation=said.get("layer_transformation", "softmax"),
        normalised=said.get("layer_norm", True),
        activation=said.get("activations", "Tanh"),
        final_activation=said.get("final_activation"),
    )


def _settings(path: Path) -> Mapping[str, Any]:
    import yaml

    try:
        said = yaml.safe_load(path.read_text("utf-8"))
    except (yaml.YAMLError, OSError, ValueError, RecursionError) as error:
        raise InvalidInput(f"{path} can't be read: {str(error).splitlines()[0]}") from error
    if not isinstance(said, Mapping) or not isinstance(said.get("pretrained_model"), str):
        raise InvalidInput(f"{path} doesn't name the pretrained_model that the checkpoint was made from")
    return said


@lru_cache(maxsize=2)
def _read_tensors(file: Path, changed: int) -> Mapping[str, Tensor]:  # noqa: ARG001 - another file under the same name
    import torch

    try:
        found = torch.load(file, map_location="cpu", weights_only=True, mmap=True)
    except (pickle.UnpicklingError, RuntimeError) as error:
        reason = str(error).strip().splitlines()[0]
        raise InvalidInput(f"{file} is not read: it holds more than tensors, or is damaged ({reason})") from error
    if "state_dict" not in found:
        raise InvalidInput(f"{file} has no state_dict; it is no checkpoint of COMET")
    state: Mapping[str, Tensor] = found["state_dict"]
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

    found = getattr(nn, name.title(), None) or getattr(nn, name, None)
    if found is None:
        raise InvalidInput(f"{checkpoint.name}: torch has no activation {name!r}, which hparams.yaml names")
    return found()
