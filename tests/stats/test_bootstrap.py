"""Resampling instances, documents, generators and both, against plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from billboards.errors import InvalidInput
from billboards.stats.bootstrap import UNITS, Unit, bootstrap_pearson
from billboards.stats.correlation import pearson_with_intervals, resampling_weights

Floats = NDArray[np.float64]
DOCUMENTS = np.repeat(["a", "b", "c", "d", "e", "f"], 5)


def board(seed: int = 1) -> tuple[Floats, Floats]:
    random = np.random.default_rng(seed)
    human = random.normal(size=(4, 30))
    scores = np.stack([human + random.normal(size=human.shape), random.normal(size=human.shape)]) * 9 + 50
    scores[0, 1, 3:6] = human[2, 7] = np.nan
    return scores, human


def weighted(x: Floats, y: Floats, weights: Floats) -> float:
    """Pearson with a weight for every cell, computed directly."""
    used = np.isfinite(x) & np.isfinite(y)
    w, x, y = weights[used], x[used], y[used]
    mx, my = np.average(x, weights=w), np.average(y, weights=w)
    xy, xx, yy = (np.average(a * b, weights=w) for a, b in ((x - mx, y - my), (x - mx, x - mx), (y - my, y - my)))
    return float(xy / np.sqrt(xx * yy))


@pytest.mark.parametrize("unit", UNITS)
def test_every_draw_equals_a_weighted_correlation(unit: Unit) -> None:
    scores, human = board()
    found = bootstrap_pearson(scores, human, unit=unit, documents=DOCUMENTS, draws=40, seed=5)
    random = np.random.default_rng(5)
    rows, instances = np.ones((40, 4)), np.ones((40, 30))
    if unit == "documents":
        instances = np.repeat(resampling_weights(random, 6, 40), 5, axis=1)
    if unit in ("generators", "both"):
        rows = resampling_weights(random, 4, 40)
    if unit in ("instances", "both"):
        instances = resampling_weights(random, 30, 40)
    for draw in range(40):
        weights = np.outer(rows[draw], instances[draw])
        for k in range(2):
            expected = weighted(scores[k], human, weights) if (rows[draw] > 0).sum() > 1 or unit != "both" else np.nan
            if np.isfinite(expected):
                assert found[draw, k] == pytest.approx(expected, abs=1e-9)


def test_instances_are_drawn_as_for_the_intervals() -> None:
    scores, human = board(2)
    found = bootstrap_pearson(scores, human, draws=200, seed=3)
    intervals = pearson_with_intervals(scores, human, draws=200, seed=3)
    np.testing.assert_allclose(np.quantile(found, 0.025, axis=0), intervals.low, atol=1e-12)


def test_documents_that_move_together_make_intervals_wider() -> None:
    random = np.random.default_rng(4)
    level = np.repeat(random.normal(size=6), 5)
    human = level + 0.1 * random.normal(size=(3, 30))
    scores = (np.repeat(random.normal(size=6), 5) + level + 0.1 * random.normal(size=(3, 30)))[None]
    spread = {
        unit: float(bootstrap_pearson(scores, human, unit=unit, documents=DOCUMENTS, draws=500).std())
        for unit in ("instances", "documents")
    }
    assert spread["documents"] > 1.5 * spread["instances"]


def test_what_is_asked_must_be_there() -> None:
    scores, human = board()
    with pytest.raises(InvalidInput, match="needs the document of every instance"):
        bootstrap_pearson(scores, human, unit="documents")
    with pytest.raises(InvalidInput, match="not 'words'"):
        bootstrap_pearson(scores, human, unit="words")  # type: ignore[arg-type]
