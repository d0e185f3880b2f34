"""What a batch asks for, without repetition: each text once, each output with its references once.

Generators often agree, and every generator is scored by the same references. So texts are numbered, an item is a few
numbers, and what appears twice is computed once; `places` leads from the batch's positions to its items.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput
from billboards.metrics.base import Batch
from billboards.metrics.kernels.texts import offsets_of


@dataclass(frozen=True)
class Items:
    """Distinct texts, and distinct items: an output and its references, as numbers of texts.

    Item k is text `outputs[k]` against `references[bounds[k]:bounds[k + 1]]`; position p of the batch is item
    `places[p]`.
    """

    texts: Sequence[str]
    outputs: NDArray[np.int32]
    references: NDArray[np.int32]
    bounds: NDArray[np.int64]
    places: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.outputs)


def check_lengths(name: str, lengths: NDArray[np.int64], items: Items, most: int, what: str) -> None:
    """Refuse an output and a reference whose lengths multiply to more than a kernel's time allows.

    name: the metric.
    lengths: the length of each text.
    items: which output meets which reference.
    most: the largest product.
    what: what lengths are counted in.
    """
    outputs = lengths[np.repeat(items.outputs, np.diff(items.bounds))]
    references = lengths[items.references]
    products = outputs * references
    if len(products) and products.max() > most:
        k = int(products.argmax())
        raise InvalidInput(
            f"{name}: an output of {outputs[k]:,} {what} and a reference of {references[k]:,} are too long to be "
            f"compared; their product may be {most:,} at most"
        )


def items_of(batch: Batch) -> Items:
    """A batch's distinct texts and items."""
    numbers: dict[str, int] = {}
    items: dict[tuple[int, ...], int] = {}
    places = np.empty(len(batch), np.intp)
    for position, item in enumerate(batch.items()):
        texts = (item.output, *item.references)
        key = tuple([numbers.setdefault(text, len(numbers)) for text in texts])
        places[position] = items.setdefault(key, len(items))
    outputs = np.array([key[0] for key in items], np.int32)
    references = np.array([number for key in items for number in key[1:]], np.int32)
    bounds = offsets_of([len(key) - 1 for key in items])
    return Items(list(numbers), outputs, references, bounds, places)
