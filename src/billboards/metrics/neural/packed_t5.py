"""T5 and mT5 up to the decoder's first step (Raffel et al. 2020; Xue et al. 2021), without padding and in one pass.

The texts of a batch lie end to end, as in `packed`. Attention has a bias for the distance of two tokens, the same in
all layers: texts come sorted by length, and each run of texts of one length is one dense call with that bias. Half
precision on a GPU has a kernel of our own for all lengths at once.

The decoder is asked for one step only, so it has a single query for each text. Its keys and values need not be made:
the query is taken back through the key's matrix and asked of the encoder's states themselves, whose mean is then taken
through the value's matrix. That is the same sum in another order, and far fewer products.

Weights and settings are read from the checkpoint's own files. transformers 5 takes every T5 for one whose output words
are its input words; a checkpoint with a matrix of its own for output words (`lm_head.weight`) is read so here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import groupby
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput
from billboards.metrics.neural.devices import upload
from billboards.metrics.neural.gpu_kernels import BLOCK, HEAD_WIDTHS, attend_by_distance, blocks_of, has_kernels
from billboards.metrics.neural.packed_bert import has_varlen

if TYPE_CHECKING:
    from torch import Tensor

#: A kernel for attention with a bias wants the bias's rows to begin at multiples of so many numbers.
ALIGNED = 16
#: Texts of one length that lie together: where they begin in the batch, which texts they are, and their length.
Run = tuple[slice, slice, int]
#: Texts are made equally long for the decoder's single queries where that takes at most so many times the room.
PADDED = 1.5


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a checkpoint's config.json says of its arithmetic."""

    layers: int
    decoder_layers: int
    heads: int
    buckets: int
    farthest: int
    gated: bool
    activation: str
    epsilon: float
    #: Whether the decoder's state is divided by the root of its width before words are read off it.
    scaled: bool
    start: int


def read_settings(folder: Path) -> Settings:
    """The settings of a T5 or mT5 in this folder."""
    try:
        given = json.loads((folder / "config.json").read_text("utf-8"))
        return _settings(folder, given)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise InvalidInput(f"{folder.name}: config.json is not that of a T5 or mT5 ({error!r})") from error


def _settings(folder: Path, given: Mapping[str, Any]) -> Settings:
    kind = given.get("model_type")
    if kind not in ("t5", "mt5"):
        raise InvalidInput(f"{folder.name} is a {kind} model; name a T5 or mT5")
    form = given.get("feed_forward_proj", "gated-gelu" if kind == "mt5" else "relu")
    # As in transformers: "gated-gelu" has always meant the tanh form.
    activation = "gelu_new" if form == "gated-gelu" else form.rpartition("-")[2]
    if activation not in ACTIVATIONS:
        raise InvalidInput(f"{folder.name}: feed_forward_proj {form!r} in config.json is not known here")
    # What decided the scaling before transformers 5 was whether input and output words are the same.
    scaled = kind == "t5" and given.get("scale_decoder_outputs", given.get("tie_word_embeddings", True))
    return Settings(
        layers=given["num_layers"],
        decoder_layers=given.get("num_decoder_layers") or given["num_layers"],
        heads=given["num_heads"],
        buckets=given.get("relative_attention_num_buckets", 32),
        farthest=given.get("relative_attention_max_distance", 128),
        gated=form.startswith("gated-"),
        activation=activation,
        epsilon=given.get("layer_norm_epsilon", 1e-6),
        scaled=bool(scaled),
        start=given.get("decoder_start_token_id") or 0,
    )


def _relu(values: Tensor) -> Tensor:
    return values.relu()


def _gelu(values: Tensor) -> Tensor:
    from torch.nn.functional import gelu

    return gelu(values)


def _gelu_new(values: Tensor) -> Tensor:
    from torch.nn.functional import gelu

    return gelu(values, approximate="tanh")


def _silu(values: Tensor) -> Tensor:
    from torch.nn.functional import silu

    return silu(values)


ACTIVATIONS: Mapping[str, Callable[[Any], Any]] = {"relu": _relu, "gelu": _gelu, "gelu_new": _gelu_new, "silu": _silu}


class Layout:
    """Where each text of a batch lies, in the forms that attention needs."""

    def __init__(self, lengths: NDArray[np.int64], device: Any, *, kernels: bool) -> None:
        self.runs, self.longest = _runs(lengths), int(lengths.max(initial=0))
        self.bounds: Tensor | None = None
        self.places: Tensor | None = None
        if not kernels:
            return
        ends = np.cumsum(lengths)
        self.bounds = upload(np.concatenate(([0], ends)).astype(np.int32), device)
        blocks = blocks_of(lengths)
        self.blocks = upload(blocks.text, device), upload(blocks.row, device)
        if len(lengths) * self.longest <= PADDED * lengths.sum():
            column = np.arange(self.longest)
            places = (ends - lengths)[:, None] + np.minimum(column, lengths[:, None] - 1)
            self.places = upload(places.astype(np.int64), device)
            self.beyond = upload(column >= lengths[:, None], device)[:, None]


class PackedT5:
    """A T5 on a device: tokens of texts in, the decoder's state at its first step out."""

    def __init__(self, settings: Settings, tensors: Mapping[str, Tensor], device: Any, dtype: Any) -> None:
        import torch

        self.settings, self.device, self.dtype = settings, torch.device(device), dtype
        # Sums over layers leave the range of fp16; they and the products that go beyond it stay in fp32.
        self.wide = torch.float32 if dtype == torch.float16 else dtype
        self.tensors = tensors
        self.words = self._weight(self._words())
        self.output = self._weight("lm_head.weight") if "lm_head.weight" in tensors else self.words
        self.bias_of_distance = self._weight(
            "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight", self.wide
        ).to(dtype)
        self.layers = [_EncoderLayer(self, f"encoder.block.{k}.") for k in range(settings.layers)]
        self.steps = [_DecoderLayer(self, f"decoder.block.{k}.") for k in range(settings.decoder_layers)]
        self.ends = [self._weight(f"{side}.final_layer_norm.weight", self.wide) for side in ("encoder", "decoder")]
        self.biases = torch.empty((1, settings.heads, 0, 0), dtype=dtype, device=self.device)
        self.near = torch.empty((settings.heads, 0), dtype=dtype, device=self.device)
        width = self.layers[0].out.shape[1] // settings.heads
        self.kernels = has_varlen(device, dtype) and has_kernels() and width in HEAD_WIDTHS
        # What the checkpoint's file holds is not needed any more.
        self.tensors = {}

    def __call__(self, ids: NDArray[np.int32], lengths: NDArray[np.int64]) -> Tensor:
        """The decoder's first state for each text; texts of equal length lie together."""
        from torch.nn.functional import embedding

        layout = Layout(lengths, self.device, kernels=self.kernels)
        hidden = embedding(upload(ids, self.device), self.words).to(self.wide)
        bias = self._near(layout.longest) if self.kernels else self._bias(layout.longest)
        for layer in self.layers:
            hidden = layer(hidden, layout, bias)
        return self._first_step(self.normed(hidden, self.ends[0]), layout, len(lengths))

    def logits(self, states: Tensor, words: list[int]) -> Tensor:
        """How much each state speaks for some words, in full precision: states × words."""
        rows = self.output[words].float()
        given = states.float()
        if self.settings.scaled:
            given = given * given.shape[-1] ** -0.5
        return given @ rows.T

    def normed(self, hidden: Tensor, weight: Tensor) -> Tensor:
        """Divided by the root mean square and weighted."""
        from torch.nn.functional import rms_norm

        return rms_norm(hidden, (hidden.shape[-1],), weight, self.settings.epsilon).to(self.dtype)

    def _words(self) -> str:
        names = ("shared.weight", "decoder.embed_tokens.weight", "encoder.embed_tokens.weight")
        return next((name for name in names if name in self.tensors), names[0])

    def _weight(self, name: str, dtype: Any = None) -> Tensor:
        if name not in self.tensors:
            raise InvalidInput(f"the checkpoint lacks {name}, so it is no T5 that reads and writes; name another")
        return self.tensors[name].to(device=self.device, dtype=dtype or self.dtype)

    def _first_step(self, encoded: Tensor, layout: Layout, texts: int) -> Tensor:
        hidden = self.words[self.settings.start].to(self.wide).repeat(texts, 1)
        encoded = encoded if layout.places is None else encoded[layout.places]
        for step in self.steps:
            hidden = step(hidden, encoded, layout)
        return self.normed(hidden, self.ends[1])

    def _bias(self, longest: int) -> Tensor:
        """The bias of attention for every pair of places, heads first; kept for the next batch of no longer texts."""
        if longest > self.biases.shape[-1]:
            side = -(-longest // ALIGNED) * ALIGNED
            buckets = upload(distance_buckets(side, self.settings.buckets, self.settings.farthest), self.device)
            self.biases = self.bias_of_distance[buckets].permute(2, 0, 1).contiguous()[None]
        return self.biases

    def _near(self, longest: int) -> Tensor:
        """The bias of attention for every distance, heads first, with a block to spare; kept like the other."""
        side = longest + BLOCK
        if 2 * side >= self.near.shape[-1]:
            distance = np.arange(-2 * side, 2 * side + 1)
            buckets = upload(buckets_of(distance, self.settings.buckets, self.settings.farthest), self.device)
            self.near = self.bias_of_distance[buckets].T.contiguous()
        return self.near


def distance_buckets(side: int, buckets: int, farthest: int) -> NDArray[np.int64]:
    """The bucket of each query's distance to each key."""
    return buckets_of(np.arange(side)[None, :] - np.arange(side)[:, None], buckets, farthest)


def buckets_of(distance: NDArray[np.int64], buckets: int, farthest: int) -> NDArray[np.int64]:
    """The bucket of each distance: near ones have their own, far ones share, by direction."""
    half = buckets // 2
    exact = half // 2
    away = np.abs(distance)
    # In single precision, as in the models' training: a distance that lies on an edge belongs where it was put there.
    ratio = np.log(np.maximum(away, 1).astype(np.float32) / np.float32(exact)) / np.float32(log(farthest / exact))
    far = np.minimum(exact + (ratio * np.float32(half - exact)).astype(np.int64), half - 1)
    numbers: NDArray[np.int64] = np.where(away < exact, away, far) + np.where(distance > 0, half, 0)
    return numbers


class _Layer:
    """What layers of both sides do: attend, then think; each adds to what was there."""

    def __init__(self, model: PackedT5, prefix: str, place: int) -> None:
        import torch

        self.model, self.prefix = model, prefix
        thinking = f"{prefix}layer.{place}."
        gate = ("wi_0", "wi_1") if model.settings.gated else ("wi",)
        names = [f"{thinking}DenseReluDense.{name}.weight" for name in gate]
        self.widen = torch.cat([self.weight(name) for name in names])
        self.narrow = self.weight(f"{thinking}DenseReluDense.wo.weight", model.wide)
        self.before_thinking = self.weight(f"{thinking}layer_norm.weight", model.wide)
        self.activation = ACTIVATIONS[model.settings.activation]

    def weight(self, name: str, dtype: Any = None) -> Tensor:
        return self.model._weight(name, dtype)

    def attention(self, name: str, what: str) -> Tensor:
        return self.weight(f"{self.prefix}{name}.{what}.weight")

    def think(self, hidden: Tensor) -> Tensor:
        from torch.nn.functional import linear

        wide = linear(self.model.normed(hidden, self.before_thinking), self.widen)
        if self.model.settings.gated:
            gate, values = wide.chunk(2, -1)
            wide = self.activation(gate).mul_(values)
        else:
            wide = self.activation(wide)
        return _added(hidden, wide, self.narrow)


class _EncoderLayer(_Layer):
    def __init__(self, model: PackedT5, prefix: str) -> None:
        import torch

        super().__init__(model, prefix, 1)
        self.before = self.weight(f"{prefix}layer.0.layer_norm.weight", model.wide)
        self.asked = torch.cat([self.attention("layer.0.SelfAttention", what) for what in "qkv"])
        self.out = self.attention("layer.0.SelfAttention", "o")

    def __call__(self, hidden: Tensor, layout: Layout, bias: Tensor) -> Tensor:
        from torch.nn.functional import linear

        three = linear(self.model.normed(hidden, self.before), self.asked)
        if layout.bounds is None:
            attended = self._by_runs(three, layout.runs, bias)
        else:
            split = three.view(len(three), 3, self.model.settings.heads, -1)
            attended = attend_by_distance(split, layout.bounds, layout.blocks, bias).view(len(three), -1)
        return self.think(_added(hidden, attended, self.out))

    def _by_runs(self, three: Tensor, runs: list[Run], bias: Tensor) -> Tensor:
        import torch
        from torch.nn.functional import scaled_dot_product_attention

        heads = self.model.settings.heads
        query, key, value = three.chunk(3, -1)
        attended = torch.empty_like(query, memory_format=torch.contiguous_format)
        for part, texts, length in runs:
            shape = (texts.stop - texts.start, length, heads, query.shape[-1] // heads)
            asks, keys, values = (tensor[part].view(shape).transpose(1, 2) for tensor in (query, key, value))
            near = bias[..., :length, :length]
            given = scaled_dot_product_attention(asks, keys, values, attn_mask=near, scale=1.0)
            attended[part].view(shape).copy_(given.transpose(1, 2))
        return attended


class _DecoderLayer(_Layer):
    def __init__(self, model: PackedT5, prefix: str) -> None:
        super().__init__(model, prefix, 2)
        heads = model.settings.heads
        self.before = [self.weight(f"{prefix}layer.{place}.layer_norm.weight", model.wide) for place in (0, 1)]
        # A token that stands alone attends to itself, whatever it asks for.
        self.own_value, self.own_out = (self.attention("layer.0.SelfAttention", what) for what in "vo")
        self.query, self.out = (self.attention("layer.1.EncDecAttention", what) for what in "qo")
        key, value = (self.attention("layer.1.EncDecAttention", what) for what in "kv")
        self.key, self.value = (matrix.view(heads, -1, matrix.shape[-1]) for matrix in (key, value))

    def __call__(self, hidden: Tensor, encoded: Tensor, layout: Layout) -> Tensor:
        import torch
        from torch.nn.functional import linear

        own = linear(self.model.normed(hidden, self.before[0]), self.own_value)
        hidden = _added(hidden, own, self.own_out)
        query = linear(self.model.normed(hidden, self.before[1]), self.query)
        # Heads first: each takes its part of the query back through its part of the key's matrix.
        query = query.view(len(hidden), len(self.key), -1).transpose(0, 1)
        asked = torch.bmm(query, self.key).transpose(0, 1)
        if layout.places is None:
            read = torch.empty_like(asked, memory_format=torch.contiguous_format)
            for part, texts, length in layout.runs:
                states = encoded[part].view(texts.stop - texts.start, length, -1)
                shares = torch.bmm(asked[texts], states.transpose(1, 2)).softmax(-1)
                read[texts] = torch.bmm(shares, states)
        else:
            shares = torch.bmm(asked, encoded.transpose(1, 2)).masked_fill_(layout.beyond, -torch.inf).softmax(-1)
            read = torch.bmm(shares, encoded)
        values = torch.bmm(read.transpose(0, 1), self.value.transpose(1, 2)).transpose(0, 1)
        return self.think(_added(hidden, values.reshape(len(hidden), -1), self.out))


def _added(hidden: Tensor, values: Tensor, weight: Tensor) -> Tensor:
    """What was there with the product of values and a weight added to it, in one step where their types agree."""
    from torch.nn.functional import linear

    if hidden.dtype == values.dtype:
        return hidden.addmm_(values, weight.T)
    return hidden.add_(linear(values.to(weight.dtype), weight))


def _runs(lengths: NDArray[np.int64]) -> list[Run]:
    """Texts of one length that lie together."""
    runs, token, text = [], 0, 0
    for length, same in groupby(lengths.tolist()):
        count = len(list(same))
        runs.append((slice(token, token + length * count), slice(text, text + count), length))
        token, text = token + length * count, text + count
    return runs
