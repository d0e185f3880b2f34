"""Which family makes a board's ensemble: the small one, unless another is significantly better on what it has not seen.

Families are compared on the same unseen outputs (both generator and document held out). The difference of their
correlations is drawn again over generators and documents, crossed; another family is taken when at most 2.5% of the
draws speak against it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from billboards.ensembles._held_out import Judged, pearson

Floats = NDArray[np.float64]

#: With fewer, nothing flexible is tried: it could not be told from luck.
FEWEST_GENERATORS, FEWEST_DOCUMENTS, FEWEST_OUTPUTS, FEWEST_METRICS = 4, 20, 400, 3
DRAWS, LEVEL = 1000, 0.95


@dataclass(frozen=True, kw_only=True)
class Difference:
    """How much better one family's predictions agree with people than another's, with its interval."""

    difference: float
    low: float
    high: float

    @property
    def is_better(self) -> bool:
        return self.low > 0


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The family chosen, what each that was tried reaches on unseen outputs, and what spoke for the one chosen."""

    name: str
    reached: dict[str, float]
    #: The family that was beaten last, and by how much.
    beaten: str | None = None
    by: Difference | None = None


def why_too_few(judged: Judged) -> str | None:
    """Why families can't be compared on a board; None where they can."""
    counts = (
        (len(np.unique(judged.generator)), FEWEST_GENERATORS, "judged generators"),
        (len(np.unique(judged.document)), FEWEST_DOCUMENTS, "documents"),
        (len(judged.target), FEWEST_OUTPUTS, "judged outputs"),
        (judged.metrics, FEWEST_METRICS, "metrics"),
    )
    return next((f"{count} {what}, and {fewest} are needed" for count, fewest, what in counts if count < fewest), None)


def choose_family(judged: Judged, predicted: Mapping[str, Callable[[], Floats]], *, seed: int = 0) -> Choice:
    """The first family, unless a later one is significantly better on unseen generators and documents.

    predicted: what each family, by name, says of outputs that it has not seen.
    """
    (first, predict), *others = predicted.items()
    best = predict()
    choice = Choice(name=first, reached={first: pearson(best, judged.target)})
    for name, predict in others:
        values = predict()
        reached = {**choice.reached, name: pearson(values, judged.target)}
        difference = compare_predictions(values, best, judged, seed=seed)
        if difference.is_better:
            choice, best = Choice(name=name, reached=reached, beaten=choice.name, by=difference), values
        else:
            choice = replace(choice, reached=reached)
    return choice


def compare_predictions(
    first: Floats, other: Floats, judged: Judged, *, draws: int = DRAWS, seed: int = 0, level: float = LEVEL
) -> Difference:
    """The difference of two correlations with people, drawn again over generators and documents, crossed."""
    rows, row = np.unique(judged.generator, return_inverse=True)
    columns, column = np.unique(judged.document, return_inverse=True)
    place = row * len(columns) + column
    y = judged.target - judged.target.mean()
    first, other = first - first.mean(), other - other.mean()
    terms = (np.ones_like(y), y, y * y, first, first * first, first * y, other, other * other, other * y)
    cells = len(rows) * len(columns)
    sums = np.array([np.bincount(place, term, cells) for term in terms]).reshape(-1, len(rows), len(columns))
    random = np.random.default_rng(seed)
    by_row = random.multinomial(len(rows), np.full(len(rows), 1 / len(rows)), draws).astype(float)
    by_column = random.multinomial(len(columns), np.full(len(columns), 1 / len(columns)), draws).astype(float)
    drawn = np.einsum("dr,tdr->td", by_row, np.einsum("trc,dc->tdr", sums, by_column))
    differences = _correlations(drawn, 3) - _correlations(drawn, 6)
    low, high = np.nanquantile(differences, [(1 - level) / 2, (1 + level) / 2])
    whole = sums.sum(axis=(1, 2))[:, None]
    difference = float((_correlations(whole, 3) - _correlations(whole, 6))[0])
    return Difference(difference=difference, low=float(low), high=float(high))


def _correlations(sums: Floats, first: int) -> Floats:
    """Pearson's correlation of predictions with judgments in each draw, from its sums."""
    n, y, yy = sums[0], sums[1], sums[2]
    p, pp, py = sums[first], sums[first + 1], sums[first + 2]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((py - p * y / n) / np.sqrt((pp - p * p / n) * (yy - y * y / n)))
