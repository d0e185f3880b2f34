"""BERTScore of any number of outputs, as one pass of the engine over windows of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from billboards.metrics.base import Floats
from billboards.metrics.neural.engine import Engine
from billboards.metrics.neural.matching import match_window
from billboards.metrics.neural.windows import plan_windows


def score_texts(
    engine: Engine, outputs: Sequence[str], references: Sequence[Sequence[str]], weights: NDArray[np.float32]
) -> Floats:
    """P, R and F1 of each output, each the best over its references: outputs × 3, or layers × outputs × 3."""
    windows = plan_windows(outputs, references, engine.window_characters)
    done = engine.run(windows, lambda window, embedded: match_window(window, embedded, weights))
    depth = engine.encoders[0].depth
    best = np.full((depth, len(outputs), 3), -np.inf)
    for items, found in done:
        scores = found.cpu().double().numpy().reshape(depth, -1, 3)
        for layer in range(depth):
            np.maximum.at(best[layer], items, scores[layer])
    return best if engine.all_layers else best[0]
