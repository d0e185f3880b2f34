"""What is read off a model's layers while a text passes through it.

A forward pass hands its hidden states on one by one, the embeddings first; a readout consumes them. So a metric that
wants one layer never holds two, one that mixes layers holds a sum, and only the search for the best layer holds all.
What a readout gives is all that is kept of a batch, so it also brings embeddings into the form that is compared.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from torch import Tensor


class Readout(Protocol):
    """Hidden states, layer by layer, to what a metric works with: tokens × width, or layers × tokens × width.

    Numbers are float32 where the model computes in it, else float16.
    """

    #: Whether more than the top layer is read; a model that computes all at once is then asked for them.
    every: ClassVar[bool]
    #: Whether layers are kept apart.
    apart: ClassVar[bool]
    #: Vectors of the model's width that are kept of each token, one after the other.
    vectors: ClassVar[int]

    @property
    def name(self) -> str:
        """Under this name its embeddings are kept on disk."""

    def __call__(self, layers: Iterator[Tensor], lengths: NDArray[np.int64]) -> Tensor:
        """Consume the layers of one batch of texts, so many tokens each."""

    def __hash__(self) -> int:
        """Readouts are frozen: an encoder is kept by what is read off it."""


@dataclass(frozen=True)
class PlainTop:
    """The last layer that is computed, as the model gives it: tokens × width."""

    name: ClassVar[str] = "plain"
    every: ClassVar[bool] = False
    apart: ClassVar[bool] = False
    vectors: ClassVar[int] = 1

    def __call__(self, layers: Iterator[Tensor], lengths: NDArray[np.int64]) -> Tensor:  # noqa: ARG002
        return _kept(_last(layers))


@dataclass(frozen=True)
class PlainLayer:
    """One layer by its number, 0 for the embeddings, as the model gives it: tokens × width.

    A model that ends in a norm of its own applies it to the last layer that is computed; below that there is none.
    """

    layer: int
    every: ClassVar[bool] = True
    apart: ClassVar[bool] = False
    vectors: ClassVar[int] = 1

    @property
    def name(self) -> str:
        return f"plain{self.layer}"

    def __call__(self, layers: Iterator[Tensor], lengths: NDArray[np.int64]) -> Tensor:  # noqa: ARG002
        # Nothing above is asked for, so a model that computes layer by layer ends here.
        return _kept(next(hidden for k, hidden in enumerate(layers) if k == self.layer))


@dataclass(frozen=True)
class TopLayer(PlainTop):
    """The last layer that is computed, as vectors of length 1: tokens × width."""

    name: ClassVar[str] = "top"

    def __call__(self, layers: Iterator[Tensor], lengths: NDArray[np.int64]) -> Tensor:  # noqa: ARG002
        return normalise(_last(layers))


def _last(layers: Iterator[Tensor]) -> Tensor:
    """The last of the layers; none of the others is held."""
    for hidden in layers:
        top = hidden
    return top


@dataclass(frozen=True)
class AllLayers:
    """Every layer, the embeddings first, as vectors of length 1: layers × tokens × width."""

    name: ClassVar[str] = "all"
    every: ClassVar[bool] = True
    apart: ClassVar[bool] = True
    vectors: ClassVar[int] = 1

    def __call__(self, layers: Iterator[Tensor], lengths: NDArray[np.int64]) -> Tensor:  # noqa: ARG002
        import torch

        return torch.stack([normalise(hidden) for hidden in layers])


@dataclass(frozen=True)
class PowerMeans:
    """The last layers as unit vectors, by their power means for p of -∞, 1 and ∞: tokens × three widths.

    That is the minimum, the mean and the maximum over the layers, place by place (MoverScore, §3.2).
    """

    layers: int
    every: ClassVar[bool] = True
    apart: ClassVar[bool] = False
    vectors: ClassVar[int] = 3

    @property
    def name(self) -> str:
        return f"powermeans{self.layers}"

    def __call__(self, layers: Iterator[Tensor], lengths: NDArray[np.int64]) -> Tensor:  # noqa: ARG002
        import torch

        last = torch.stack([normalise(hidden) for hidden in deque(layers, self.layers)])
        return torch.cat((last.amin(0), last.mean(0), last.amax(0)), -1)


@dataclass(frozen=True)
class LayerMix:
    """A weighted sum of all layers (COMET, §2.2), each first normalised over the whole text if so wished."""

    weights: tuple[float, ...]
    normalised: bool
    every: ClassVar[bool] = True
    apart: ClassVar[bool] = False
    vectors: ClassVar[int] = 1
    #: The weights are part of the model, whose digest stands in the file's name, too.
    name: ClassVar[str] = "mix"

    def __call__(self, layers: Iterator[Tensor], lengths: NDArray[np.int64]) -> Tensor:
        import torch

        total, kind = torch.zeros(()), torch.float32
        for weight, hidden in zip(self.weights, layers, strict=True):
            kind = hidden.dtype
            values = _over_texts(hidden.float(), lengths) if self.normalised else hidden.float()
            total = total.to(hidden.device) + weight * values
        return total if kind == torch.float32 else total.half()


@dataclass(frozen=True)
class SentenceAndWords:
    """What tells of a whole text, and beside it one layer that tells of its words: tokens × two widths."""

    sentence: LayerMix | PlainLayer
    words: int
    every: ClassVar[bool] = True
    apart: ClassVar[bool] = False
    vectors: ClassVar[int] = 2

    @property
    def name(self) -> str:
        return f"{self.sentence.name}+{self.words}"

    def __call__(self, layers: Iterator[Tensor], lengths: NDArray[np.int64]) -> Tensor:
        import torch

        kept: list[Tensor] = []

        def watched() -> Iterator[Tensor]:
            for k, hidden in enumerate(layers):
                if k == self.words:
                    kept.append(_kept(hidden))
                yield hidden

        passing = watched()
        sentence = self.sentence(passing, lengths)
        # The words' layer may lie above the last that the sentence needs.
        while not kept:
            next(passing)
        return torch.cat((sentence, kept[0]), -1)


def _over_texts(values: Tensor, lengths: NDArray[np.int64]) -> Tensor:
    """Mean 0 and variance 1 over all numbers of a text."""
    import torch

    many = torch.from_numpy(lengths).to(values.device)

    def mean(rows: Tensor) -> Tensor:
        means = torch.segment_reduce(rows.mean(1, keepdim=True), "mean", lengths=many, axis=0)
        return means.repeat_interleave(many, 0)

    centred = values - mean(values)
    return centred / (mean(centred**2) + 1e-12).sqrt()


def _kept(values: Tensor) -> Tensor:
    """float32 as it is, half precision as float16."""
    import torch

    return values if values.dtype == torch.float32 else values.half()


def normalise(values: Tensor) -> Tensor:
    """Vectors of length 1, in float32, or in float16 where they come in half precision.

    The length is found in single precision; near 1 the steps of float16 are eight times finer than bfloat16's.
    """
    import torch

    single = values.float()
    single = single / single.norm(dim=-1, keepdim=True).clamp_min(1e-12)
    return single if values.dtype == torch.float32 else single.half()
