"""Judged outputs from a known truth: generators and documents of their own quality, metrics that see some of it."""

from __future__ import annotations

import numpy as np

from billboards.ensembles._held_out import Judged
from billboards.ensembles._inputs import Cells, make_cells


def simulated(
    *, generators: int = 8, documents: int = 12, each: int = 4, metrics: int = 5, bent: float = 0.0, seed: int = 0
) -> tuple[Judged, Cells]:
    """Judged outputs, complete; `bent` makes people tell bad from not so bad only."""
    random = np.random.default_rng(seed)
    instances = documents * each
    quality = random.normal(size=(generators, 1)) + np.repeat(random.normal(size=documents), each)
    quality = quality + random.normal(size=(generators, instances))
    length = np.log1p(20 + 10 * random.random((generators, instances)))
    scores = [quality * (k + 1) / metrics + random.normal(size=quality.shape) for k in range(metrics)]
    said = (1 - bent) * 10 * quality + bent * 20 * np.tanh(4 * (quality + 1))
    human = 60 + said + 3 * random.normal(size=quality.shape)
    cells = make_cells(scores, length, np.ones(generators, bool))
    rows, places = np.nonzero(np.isfinite(human))
    judged = Judged(
        table=cells.at(rows, places),
        target=human[rows, places],
        generator=rows.astype(np.int64),
        document=(places // each).astype(np.int64),
    )
    return judged, cells
