"""What is read off a model's layers while a text passes through it.

A forward pass hands its hidden states on one by one, the embeddings first; a readout consumes them. So a metric that
wants one layer never holds two, one that mixes layers holds a sum, and only the search for the best layer holds all.
What a readout gives is all that is kept of a batch, so it also brings embeddings into the form that is compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

if TYPE_CHECKING:
    from torch import Tensor


class Readout(Protocol):
    """Hidden states, layer by layer, to what a metric works with: tokens × width, or layers × tokens × width.

    Numbers are float32 where the model computes in it, else float16.
    """

    #: Under this name its embeddings are kept on disk.
    name: ClassVar[str]
    #: Whether layers are kept apart; a model that computes all at once is then asked for them.
    every: ClassVar[bool]

    def __call__(self, layers: Iterator[Tensor]) -> Tensor:
        """Consume the layers of one batch."""

    def __hash__(self) -> int:
        """Readouts are frozen: an encoder is kept by what is read off it."""


@dataclass(frozen=True)
class TopLayer:
    """The last layer that is computed, as vectors of length 1: tokens × width."""

    name: ClassVar[str] = "top"
    every: ClassVar[bool] = False

    def __call__(self, layers: Iterator[Tensor]) -> Tensor:
        for hidden in layers:
            top = hidden
        return normalise(top)


@dataclass(frozen=True)
class AllLayers:
    """Every layer, the embeddings first, as vectors of length 1: layers × tokens × width."""

    name: ClassVar[str] = "all"
    every: ClassVar[bool] = True

    def __call__(self, layers: Iterator[Tensor]) -> Tensor:
        import torch

        return torch.stack([normalise(hidden) for hidden in layers])


def normalise(values: Tensor) -> Tensor:
    """Vectors of length 1, in float32, or in float16 where they come in half precision.

    The length is found in single precision; near 1 the steps of float16 are eight times finer than bfloat16's.
    """
    import torch

    single = values.float()
    single = single / single.norm(dim=-1, keepdim=True).clamp_min(1e-12)
    return single if values.dtype == torch.float32 else single.half()
