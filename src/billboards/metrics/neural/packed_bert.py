"""BERT, RoBERTa and XLM-RoBERTa (XL and XXL, too) without padding: a batch's texts lie end to end in one long row.

The arithmetic is the model's own, with its own weights; what changes is that no token is computed that isn't there,
that query, key and value are one product, and that in half precision on a GPU the activation is part of the product
(the tanh form of GELU, which differs from the exact one by less than a step of bfloat16) and a sum of its norm.

Attention stays inside texts. Half precision on a GPU has kernels for exactly that: one of our own for short texts, and
flash attention over cumulative lengths. Everywhere else texts come sorted by length, so those of one length lie
together: each run of them is one dense, unmasked call.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from billboards.metrics.neural.devices import upload
from billboards.metrics.neural.gpu_kernels import HEAD_WIDTHS, WIDEST, add_and_norm, attend_tiles, has_kernels, tiles_of
from billboards.metrics.neural.readout import Readout

if TYPE_CHECKING:
    from torch import Tensor


class Layout:
    """Where each text of a batch lies, in the forms that attention needs."""

    def __init__(self, lengths: NDArray[np.int64], device: object, *, varlen: bool) -> None:
        self.longest = int(lengths.max(initial=0))
        self.runs = [(length, len(list(same))) for length, same in groupby(lengths.tolist())]
        self.bounds, self.tiles = None, None
        if varlen:
            bounds = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
            self.bounds = upload(bounds, device)
            self.tiles = tiles_of(lengths) if has_kernels() else None


def attend(query: Tensor, key: Tensor, value: Tensor, layout: Layout) -> Tensor:
    """Attention of every token to the tokens of its own text: tokens × heads × width in and out."""
    if layout.bounds is not None:
        from torch.nn.attention.varlen import varlen_attn

        bounds, longest = layout.bounds, layout.longest
        return varlen_attn(query, key, value, bounds, bounds, longest, longest)
    return _attend_by_runs(query, key, value, layout.runs)


def _attend_by_runs(query: Tensor, key: Tensor, value: Tensor, runs: list[tuple[int, int]]) -> Tensor:
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    _, heads, width = query.shape
    attended = torch.empty(query.shape, dtype=query.dtype, device=query.device)
    start = 0
    for length, texts in runs:
        part = slice(start, start + length * texts)
        shape = (texts, length, heads, width)
        run = [tensor[part].view(shape).transpose(1, 2) for tensor in (query, key, value)]
        attended[part].view(shape).copy_(scaled_dot_product_attention(*run).transpose(1, 2))
        start = part.stop
    return attended


def has_varlen(device: object, dtype: object) -> bool:
    """Whether the kernel for lengths of all sorts can be used: half precision on an NVIDIA GPU of 2020 or later."""
    import torch

    if torch.device(device).type != "cuda" or dtype not in (torch.float16, torch.bfloat16):
        return False
    try:
        import torch.nn.attention.varlen
    except ImportError:
        return False
    return torch.version.hip is None and torch.cuda.get_device_capability(device) >= (8, 0)


#: The families whose layers are those of BERT; the value says whether positions start after the padding token's.
FAMILIES = {"bert": False, "roberta": True, "xlm-roberta": True, "camembert": True, "xlm-roberta-xl": True}
#: The family that normalises before each step instead of after it, and once more above its last layer.
NORM_FIRST = "xlm-roberta-xl"


def can_pack(config: Any) -> bool:
    """Whether a model is one of the families above, with absolute positions and as an encoder."""
    absolute = getattr(config, "position_embedding_type", None) in (None, "absolute")
    return config.model_type in FAMILIES and absolute and not getattr(config, "is_decoder", False)


class PackedModel:
    """A BERT-like model that reads texts lying end to end."""

    def __init__(self, model: Any, device: Any, dtype: Any) -> None:
        import torch

        model.to(device=device, dtype=dtype)
        config, tables = model.config, model.embeddings
        self.device, self.heads = torch.device(device), config.num_attention_heads
        first = config.model_type == NORM_FIRST
        self.words, self.norm = tables.word_embeddings.weight, None if first else tables.LayerNorm
        self.last_norm = model.encoder.LayerNorm if first else None
        offset = config.pad_token_id + 1 if FAMILIES[config.model_type] else 0
        # Every text is of the first type, so that type's embedding is part of the position's.
        self.positions = (tables.position_embeddings.weight + tables.token_type_embeddings.weight[0])[offset:].detach()
        self.varlen = has_varlen(device, dtype)
        kind = _NormFirstLayer if first else _Layer
        self.layers = [kind(layer, self.heads, fused=self.varlen) for layer in model.encoder.layer]

    def __call__(self, ids: NDArray[np.int32], lengths: NDArray[np.int64], readout: Readout) -> Tensor:
        starts = np.cumsum(lengths) - lengths
        places = (np.arange(len(ids)) - np.repeat(starts, lengths)).astype(np.int32)
        on_device = upload(np.stack((ids, places)), self.device)
        layout = Layout(lengths, self.device, varlen=self.varlen)
        return readout(self._hidden(on_device[0], on_device[1], layout, apart=readout.apart), lengths)

    def _hidden(self, ids: Tensor, places: Tensor, layout: Layout, *, apart: bool) -> Iterator[Tensor]:
        """The layers one by one; a model's last norm is applied to the last, or to each that is kept apart."""
        from torch.nn.functional import embedding

        hidden = embedding(ids, self.words) + embedding(places, self.positions)
        hidden = hidden if self.norm is None else self.norm(hidden)
        for layer in self.layers:
            yield self.last_norm(hidden) if apart and self.last_norm is not None else hidden
            hidden = layer(hidden, layout)
        yield hidden if self.last_norm is None else self.last_norm(hidden)


class _Layer:
    """One layer of BERT: attention and a two-step network, each with a residual and a norm after it."""

    def __init__(self, layer: Any, heads: int, *, fused: bool) -> None:
        import torch

        own, self.heads = layer.attention.self, heads
        three = (own.query, own.key, own.value)
        self.three_weight = torch.cat([linear.weight for linear in three]).detach()
        self.three_bias = torch.cat([linear.bias for linear in three]).detach()
        self.out, self.down = layer.attention.output.dense, layer.output.dense
        self.up, self.activation = layer.intermediate.dense, layer.intermediate.intermediate_act_fn
        self.seen_norm, self.raised_norm = self.norms(layer)
        width = self.out.weight.shape[0]
        self.tiled = fused and has_kernels() and width // heads in HEAD_WIDTHS
        self.norms_sums = fused and has_kernels() and width <= WIDEST
        self.fused = fused and type(self.activation).__name__ in ("GELUActivation", "GELU", "GELUTanh")

    def norms(self, layer: Any) -> tuple[Any, Any]:
        """The norm that belongs to attention, and that of the network."""
        return layer.attention.output.LayerNorm, layer.output.LayerNorm

    def __call__(self, hidden: Tensor, layout: Layout) -> Tensor:
        hidden = self._norm_sum(self.out(self._see(hidden, layout)), hidden, self.seen_norm)
        return self._norm_sum(self.down(self._raise(hidden)), hidden, self.raised_norm)

    def _norm_sum(self, change: Tensor, hidden: Tensor, norm: Any) -> Tensor:
        if self.norms_sums:
            return add_and_norm(change, hidden, norm)
        normed: Tensor = norm(change.add_(hidden))
        return normed

    def _see(self, hidden: Tensor, layout: Layout) -> Tensor:
        from torch.nn.functional import linear

        three = linear(hidden, self.three_weight, self.three_bias).view(len(hidden), 3, self.heads, -1)
        if self.tiled and layout.bounds is not None and layout.tiles is not None:
            return attend_tiles(three, layout.bounds, layout.tiles).view(hidden.shape)
        return attend(three[:, 0], three[:, 1], three[:, 2], layout).reshape(hidden.shape)

    def _raise(self, hidden: Tensor) -> Tensor:
        import torch

        if self.fused:
            return torch._addmm_activation(self.up.bias, hidden, self.up.weight.t(), use_gelu=True)
        return self.activation(self.up(hidden))


class _NormFirstLayer(_Layer):
    """One layer of XLM-RoBERTa XL: each step has its norm before it."""

    def norms(self, layer: Any) -> tuple[Any, Any]:
        return layer.attention.self_attn_layer_norm, layer.LayerNorm

    def __call__(self, hidden: Tensor, layout: Layout) -> Tensor:
        hidden = self.out(self._see(self.seen_norm(hidden), layout)).add_(hidden)
        return self.down(self._raise(self.raised_norm(hidden))).add_(hidden)
