"""A model on a device: tokens of many texts in, the embeddings of their tokens out.

Texts are sorted by length and cut into batches by their number of tokens; a model of BERT's family reads them without
padding, any other nearly so. Only the layers that are read are kept. A batch that doesn't fit into memory is halved
and tried again, down to a single text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput
from billboards.metrics.neural.installed import need
from billboards.metrics.neural.progress import tell
from billboards.metrics.neural.readout import Readout
from billboards.metrics.neural.tokens import Tokenizer, Tokens
from billboards.metrics.neural.weights import Weights
from billboards.metrics.neural.windows import halve_until_it_fits

if TYPE_CHECKING:
    from torch import Tensor

Precision = Literal["fp32", "bf16", "fp16"]
PRECISIONS: Mapping[Precision, str] = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}
#: Tokens in a batch: on a CPU what stays in its caches, on a GPU what fills it.
BATCH = {"cpu": 2048, "cuda": 65536}
Forward = Callable[[NDArray[np.int32], NDArray[np.int64], Readout], "Tensor"]


@dataclass(frozen=True)
class Embedded:
    """The embeddings of several texts' tokens: text k has the `lengths[k]` tokens from `starts[k]` on."""

    values: Tensor
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]


class Encoder:
    """A model up to a layer, on one device, in one precision, with what is read off its layers."""

    def __init__(
        self, weights: Weights, layer: int | None, precision: Precision, device: str, readout: Readout
    ) -> None:
        need("this metric", "torch", "transformers")
        import torch

        from billboards.metrics.neural.packed_bert import PackedModel, can_pack
        from billboards.metrics.neural.padded import PaddedModel, count_layers, keep_layers

        if precision not in PRECISIONS:
            raise InvalidInput(f"precision {precision!r} is none of {', '.join(PRECISIONS)}")
        model = weights.load()
        self.weights, self.precision, self.device = weights, precision, torch.device(device)
        self.layers = count_layers(model)
        self.top, self.readout = self.layers if layer is None else layer, readout
        keep_layers(model, self.top)
        limit = weights.longest_input(model.config)
        self.tokenizer = Tokenizer(weights.reader, limit, blank_first=weights.blank_first)
        self.width = int(model.config.hidden_size) * readout.vectors
        self.depth = self.top + 1 if readout.apart else 1
        dtype, padding = getattr(torch, PRECISIONS[precision]), self.tokenizer.inner.pad_token_id or 0
        packs = can_pack(model.config)
        self.forward: Forward = (
            PackedModel(model, device, dtype) if packs else PaddedModel(model, device, dtype, padding)
        )
        self.batch = BATCH.get(self.device.type, BATCH["cuda"])

    def encode(self, tokens: Tokens) -> Embedded:
        """The embeddings of these texts, in an order of the encoder's choosing that `starts` tells."""
        import torch

        order = np.argsort(tokens.lengths, kind="stable")
        lengths = tokens.lengths[order]
        starts = np.empty(len(order), np.int64)
        starts[order] = np.cumsum(lengths) - lengths
        # Made once and filled, because joining the batches at the end would need twice the memory.
        values, filled = self._room(int(lengths.sum())), 0
        with torch.inference_mode():
            # A tokenizer that puts nothing around a text gives an empty one no token at all.
            order, lengths = order[lengths > 0], lengths[lengths > 0]
            for part in batches(lengths, self.batch):
                embedded = self._batch(tokens, order[part])
                values[..., filled : filled + embedded.shape[-2], :] = embedded
                filled += embedded.shape[-2]
        return Embedded(values, starts, tokens.lengths)

    def _room(self, tokens: int) -> Tensor:
        """Room for the embeddings of so many tokens, in the form that readouts give."""
        import torch

        shape = (self.depth, tokens, self.width) if self.readout.apart else (tokens, self.width)
        kind = torch.float32 if self.precision == "fp32" else torch.float16
        return torch.empty(shape, dtype=kind, device=self.device)

    def _batch(self, tokens: Tokens, texts: NDArray[np.intp]) -> Tensor:
        def forward(some: NDArray[np.intp]) -> Tensor:
            ids = np.concatenate([tokens.of(text) for text in some])
            return self.forward(ids, tokens.lengths[some], self.readout)

        return halve_until_it_fits(texts, forward)


def batches(lengths: NDArray[np.int64], limit: int) -> Iterator[slice]:
    """Consecutive texts with at most `limit` tokens together; a longer text is a batch of its own.

    Who watches is told of a batch when the next one is asked for: then it was read.
    """
    ends, start = np.cumsum(lengths), 0
    while start < len(lengths):
        before = ends[start - 1] if start else 0
        stop = max(int(np.searchsorted(ends, before + limit, side="right")), start + 1)
        yield slice(start, stop)
        tell(stop - start)
        start = stop


@lru_cache(maxsize=4)
def encoder(weights: Weights, layer: int | None, precision: Precision, device: str, readout: Readout) -> Encoder:
    """An encoder that is kept for the next call, so that a model is loaded once for all generators of a board."""
    return Encoder(weights, layer, precision, device, readout)
