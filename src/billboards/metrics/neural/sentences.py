"""Sentence vectors: the embeddings of a text's tokens as one vector, and outputs compared by such vectors.

Outputs that share references and input stand together and are worked on some thousands at a time: the distinct texts
of each part pass through the engine once, and only the part's vectors are in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from billboards.metrics.base import Batch, Floats, Item
from billboards.metrics.neural.devices import upload
from billboards.metrics.neural.encoder import Embedded
from billboards.metrics.neural.engine import Engine
from billboards.metrics.neural.windows import Indices, TokenWindow, plan_windows

if TYPE_CHECKING:
    from torch import Tensor

Pooling = Literal["avg", "cls", "max"]
#: Outputs whose sentence vectors are in memory at once.
PART = 8192


@dataclass(frozen=True)
class Sides:
    """Vectors of the output, of a reference and of the input of each pair; and where output or reference is empty."""

    output: Tensor
    reference: Tensor
    input: Tensor
    empty: Tensor


def score_sentences(
    engine: Engine, batches: Sequence[Batch], pooling: Pooling, score: Callable[[Sides], Tensor]
) -> Floats:
    """One score for each output of all batches, the best over its references; pairs × anything in, pairs out."""
    items = [item for batch in batches for item in batch.items()]
    best = np.full(len(items), -np.inf)
    for part in parts_of(items):
        chosen = [items[k] for k in part]
        # What the metric didn't ask for is stood in for by the output, so that nothing else is embedded.
        paired = [
            (k, paired_item, text)
            for k, paired_item in zip(part, chosen, strict=True)
            for text in paired_item.references or (paired_item.output,)
        ]
        wanted = [
            (paired_item.output, text, paired_item.output if paired_item.input is None else paired_item.input)
            for _, paired_item, text in paired
        ]
        numbers = {text: k for k, text in enumerate(dict.fromkeys(text.strip() for row in wanted for text in row))}
        vectors, empty = sentence_vectors(engine, list(numbers), pooling)
        rows = upload(np.array([[numbers[text.strip()] for text in row] for row in wanted]).T, vectors.device)
        output, reference, given = (vectors[row] for row in rows)
        scores = score(Sides(output, reference, given, empty[rows[0]] | empty[rows[1]])).double().cpu().numpy()
        np.maximum.at(best, [k for k, _, _ in paired], scores)
    return best


def parts_of(items: Sequence[Item]) -> Iterator[list[int]]:
    """Positions of outputs, those that share references and input together, in parts of bounded size."""
    number: dict[object, int] = {}
    groups = [number.setdefault((item.references, item.input), len(number)) for item in items]
    order = np.argsort(groups, kind="stable").tolist()
    yield from (order[start : start + PART] for start in range(0, len(order), PART))


def sentence_vectors(engine: Engine, texts: Sequence[str], pooling: Pooling) -> tuple[Tensor, Tensor]:
    """One vector in single precision for each text, on the engine's first device; and whether the text is empty."""
    import torch

    device: Any = engine.encoders[0].device
    vectors = torch.zeros((len(texts), engine.encoders[0].width), device=device)
    empty = torch.zeros(len(texts), dtype=torch.bool, device=device)

    def pool(window: TokenWindow, embedded: Embedded) -> Tensor:
        none = upload(window.tokens.empty[window.outputs], embedded.values.device)
        return torch.cat((pooled(embedded, pooling)[window.outputs], none[:, None]), 1)

    windows = plan_windows(texts, [(text,) for text in texts], engine.window_characters)
    with torch.inference_mode():
        for where, window_vectors in engine.run(windows, pool):
            vectors[where], empty[where] = window_vectors[:, :-1].to(device), window_vectors[:, -1].to(device) > 0
    return vectors, empty


def pooled(embedded: Embedded, pooling: Pooling) -> Tensor:
    """Texts × width: the mean of a text's tokens, their maximum, or the first of them; 0 where there is no token."""
    import torch

    order: Indices = np.argsort(embedded.starts + 0.5 * (embedded.lengths > 0), kind="stable")
    lengths = embedded.lengths[order]
    values, sizes = embedded.values.float(), upload(lengths, embedded.values.device)
    pooled = torch.zeros((len(order), values.shape[-1]), device=values.device)
    if not len(values):
        return pooled
    if pooling == "cls":
        rows = values[upload(embedded.starts[order], values.device).clamp_max(len(values) - 1)]
    else:
        kind = "sum" if pooling == "avg" else "max"
        rows = torch.segment_reduce(values, kind, lengths=sizes, axis=0)
    if pooling == "avg":
        rows = rows / sizes.clamp_min(1)[:, None]
    pooled[upload(order, values.device)] = torch.where(sizes[:, None] > 0, rows, 0.0)
    return pooled
