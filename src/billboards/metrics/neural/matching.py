"""Greedy matching (BERTScore, §3): each token with the most similar token of the other text.

Pairs of texts are matched many at a time on the device where their embeddings lie. They are sorted by length, so
that little is padded; what is padded can't be matched. A batch that doesn't fit into memory is halved and tried again.
Any number of outputs is one pass of the engine over windows of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from billboards.metrics.base import Floats
from billboards.metrics.neural.devices import upload
from billboards.metrics.neural.encoder import Embedded
from billboards.metrics.neural.engine import Engine
from billboards.metrics.neural.windows import TokenWindow, halve_until_it_fits, plan_windows

if TYPE_CHECKING:
    from torch import Tensor


#: Numbers in one batch of pairs' embeddings, by kind of device.
BATCH = {"cpu": 1 << 21, "cuda": 1 << 27}
#: Lower than any cosine.
NOT_THERE = -2.0


def match_window(window: TokenWindow, embedded: Embedded, weights: NDArray[np.float32]) -> Tensor:
    """P, R and F1 of each pair of a window: pairs × 3, or layers × pairs × 3 where all layers were read."""
    import torch

    unit = embedded.values
    layers = unit if unit.ndim == 3 else unit[None]
    counts = upload(weights[window.tokens.ids], unit.device)
    scores = torch.zeros((len(layers), len(window.items), 3), device=unit.device)
    if not len(window.tokens.ids):
        return scores if unit.ndim == 3 else scores[0]

    def match(pairs: NDArray[np.intp]) -> Tensor:
        output = _Side(window, embedded, counts, window.outputs[pairs])
        reference = _Side(window, embedded, counts, window.references[pairs])
        return torch.stack([_score(values, output, reference) for values in layers])

    for batch in _batches(window, embedded, unit.shape[-1], BATCH.get(unit.device.type, BATCH["cuda"])):
        scores[:, upload(batch, unit.device)] = halve_until_it_fits(batch, match)
    return scores if unit.ndim == 3 else scores[0]


def _batches(window: TokenWindow, embedded: Embedded, width: int, limit: int) -> Iterator[NDArray[np.intp]]:
    """Pairs of similar lengths, as many as fit."""
    longest = embedded.lengths[window.outputs] + embedded.lengths[window.references]
    order, start = np.argsort(-longest, kind="stable"), 0
    while start < len(order):
        size = max(int(limit // max(int(longest[order[start]]) * width, 1)), 1)
        yield order[start : start + size]
        start += size


class _Side:
    """One text of each pair: where its tokens lie, and what each of them counts (below 0 where there is none)."""

    def __init__(self, window: TokenWindow, embedded: Embedded, counts: Tensor, texts: NDArray[np.intp]) -> None:
        import torch

        starts = np.stack((window.tokens.starts[texts], embedded.starts[texts], embedded.lengths[texts]))
        own, start, length = upload(starts, counts.device)[:, :, None]
        place = torch.arange(int(embedded.lengths[texts].max(initial=1)), device=counts.device)
        inside, last = place < length, len(counts) - 1
        counted = torch.where(inside, counts[(own + place * inside).clamp_max(last)], 0.0)
        nothing = counted.sum(1, keepdim=True) == 0
        self.weights = torch.where(inside, torch.where(nothing, 1.0, counted), -1.0)
        self.places = (start + place * inside).clamp_max(last)
        self.empty = upload(window.tokens.empty[texts], counts.device)


def _score(unit: Tensor, output: _Side, reference: _Side) -> Tensor:
    """P, R and F1 of a batch of pairs; where a text is empty, all three are 0."""
    similarity = unit[output.places] @ unit[reference.places].transpose(1, 2)
    scores = greedy_scores(similarity, output.weights, reference.weights)
    return scores.masked_fill((output.empty | reference.empty)[:, None], 0.0)


def greedy_scores(similarity: Tensor, of_output: Tensor, of_reference: Tensor) -> Tensor:
    """P, R and F1 from cosines (pairs × output tokens × reference tokens) and weights, below 0 where no token is."""
    import torch

    absent = (of_output < 0)[:, :, None] | (of_reference < 0)[:, None, :]
    cosines = similarity.float().masked_fill(absent, NOT_THERE)
    precision = _weighted_mean(cosines.amax(2), of_output.clamp_min(0))
    recall = _weighted_mean(cosines.amax(1), of_reference.clamp_min(0))
    total = precision + recall
    f1 = torch.where(total != 0, 2 * precision * recall / torch.where(total != 0, total, 1.0), 0.0)
    return torch.stack((precision, recall, f1), -1).clamp_max(1.0)


def _weighted_mean(values: Tensor, weights: Tensor) -> Tensor:
    return (values * weights).sum(1) / weights.sum(1)


def score_texts(
    engine: Engine, outputs: Sequence[str], references: Sequence[Sequence[str]], weights: NDArray[np.float32]
) -> Floats:
    """P, R and F1 of each output, each the best over its references: outputs × 3, or layers × outputs × 3."""
    windows = plan_windows(outputs, references, engine.window_characters)
    done = engine.run(windows, lambda window, embedded: match_window(window, embedded, weights))
    depth = engine.encoders[0].depth
    best = np.full((depth, len(outputs), 3), -np.inf)
    for items, matched in done:
        scores = matched.cpu().double().numpy().reshape(depth, -1, 3)
        for layer in range(depth):
            np.maximum.at(best[layer], items, scores[layer])
    return best if engine.all_layers else best[0]
