"""Predictions of what a fit has not seen: generators, documents, or both at once.

Leaving out only a generator flatters flexible models, because they have seen the instances; leaving out only documents
flatters those that remember generators. Each part's predictions are moved by one constant, so that the model of every
part has the same mean over all outputs: without that, a part without a bad generator predicts too high for exactly
that one. The constant comes from inputs alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from billboards.ensembles._family import Family, Training, dealt
from billboards.ensembles._inputs import Filling, expanded, input_directions, learn_filling
from billboards.ensembles._models import Model
from billboards.errors import NotEnoughData
from billboards.metrics.kernels.threads import algebra_on_one_core, in_parts
from billboards.stats import correlation

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

#: What is unseen: generators, documents, or both at once.
Scheme = Literal["both", "generators", "documents"]
SCHEMES: tuple[Scheme, ...] = get_args(Scheme)
#: Groups of documents that are held out together.
DOCUMENT_FOLDS = 5
#: Groups of generators: at least and at most, and between them as many as so many outputs to fit on allow in all.
FEWEST_FOLDS, MOST_FOLDS, FOLDED_OUTPUTS = 5, 10, 40_000


@dataclass(frozen=True, kw_only=True)
class Judged:
    """Judged outputs of a board: what is known of each (with gaps), and what people said."""

    #: Own values and means over other generators, side by side (outputs × 2·inputs); the last of each is the length.
    table: Floats
    target: Floats
    generator: Ints
    document: Ints

    @property
    def metrics(self) -> int:
        return int(self.table.shape[1]) // 2 - 1

    def only(self, rows: Bools) -> Judged:
        return Judged(
            table=self.table[rows],
            target=self.target[rows],
            generator=self.generator[rows],
            document=self.document[rows],
        )


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """A family's model of some outputs, with how their gaps are filled."""

    model: Model
    filling: Filling
    items: bool

    def predict(self, table: Floats) -> Floats:
        """What people would say of outputs, from what is known of them (with gaps)."""
        return self.model.predict(expanded(self.filling.fill(table), items=self.items))


def fit_family(family: Family, judged: Judged, *, k: int = 3, seed: int = 0) -> Fitted:
    """A family fitted on judged outputs."""
    if len(judged.target) < 2 or np.ptp(judged.target) == 0:
        raise NotEnoughData("every judgment is the same, so there is nothing to fit an ensemble to")
    filling = learn_filling(judged.table)
    training = Training(
        inputs=expanded(filling.fill(judged.table), items=family.items),
        target=judged.target,
        generator=judged.generator,
        document=judged.document,
        metrics=judged.metrics,
        directions=input_directions(judged.metrics, items=family.items),
        k=k,
        seed=seed,
    )
    return Fitted(model=family.fit(training), filling=filling, items=family.items)


@dataclass(frozen=True, kw_only=True)
class Part:
    """Outputs that are predicted by a fit on others."""

    held: Bools
    seen: Bools


def generator_folds(outputs: int) -> int:
    """How many groups of generators are held out in turn: more where that costs little."""
    return min(max(FOLDED_OUTPUTS // max(outputs, 1), FEWEST_FOLDS), MOST_FOLDS)


def parts_of(judged: Judged, scheme: Scheme, *, seed: int = 0, most_generators: int | None = None) -> list[Part]:
    """What is held out together, by scheme."""
    rows = dealt(judged.generator, most_generators or generator_folds(len(judged.target)), seed)
    columns = dealt(judged.document, DOCUMENT_FOLDS, seed)
    everything = np.ones(len(judged.target), bool)
    parts = []
    for row in range(int(rows.max()) + 1) if scheme != "documents" else (None,):
        for column in range(int(columns.max()) + 1) if scheme != "generators" else (None,):
            in_row = everything if row is None else rows == row
            in_column = everything if column is None else columns == column
            out_row = everything if row is None else ~in_row
            out_column = everything if column is None else ~in_column
            part = Part(held=in_row & in_column, seen=out_row & out_column)
            if part.held.any():
                parts.append(part)
    return parts


@dataclass(frozen=True, kw_only=True)
class HeldOut:
    """Predictions of unseen outputs, and on demand the same with single metrics taken away."""

    predicted: Floats
    #: Predictions as they stand, without the constant of their part.
    raw: Floats
    judged: Judged
    parts: tuple[Part, ...]
    #: The fit of each part, and the constant that moves its predictions.
    fits: tuple[Fitted, ...]
    constants: Floats

    def correlation(self, judged: Judged) -> float:
        return pearson(self.predicted, judged.target)

    @cached_property
    def without(self) -> Floats:
        """Predictions without each metric (metrics × outputs).

        With many metrics this takes far longer than the fits, for each gap is filled anew in every part: so only who
        asks for it pays, and no family that is merely tried.
        """
        without = np.full((self.judged.metrics, len(self.judged.target)), np.nan)

        def predict(start: int, stop: int) -> None:
            for place in range(start, stop):
                held, fitted = self.parts[place].held, self.fits[place]
                for metric in range(len(without)):
                    table = self.judged.table[held].copy()
                    table[:, metric] = np.nan
                    without[metric, held] = fitted.predict(table) + self.constants[place]

        with algebra_on_one_core():
            in_parts(predict, len(self.parts), smallest=1)
        return without


def predict_held_out(
    family: Family,
    judged: Judged,
    scheme: Scheme = "both",
    *,
    k: int = 3,
    seed: int = 0,
    most_generators: int | None = None,
    on_part: Callable[[int, int], None] | None = None,
) -> HeldOut:
    """Predictions of each judged output by a fit that has not seen its generator, its document, or both."""
    parts = parts_of(judged, scheme, seed=seed, most_generators=most_generators)
    count = len(judged.target)
    predicted, raw = np.full(count, np.nan), np.full(count, np.nan)
    level, constants = float(judged.target.mean()), np.full(len(parts), np.nan)
    fits: dict[int, Fitted] = {}

    def predict(start: int, stop: int) -> None:
        for place in range(start, stop):
            part = parts[place]
            fitted = fits[place] = fit_family(family, judged.only(part.seen), k=k, seed=seed)
            of_all = fitted.predict(judged.table)
            raw[part.held] = of_all[part.held]
            constants[place] = level - of_all.mean()
            predicted[part.held] = of_all[part.held] + constants[place]
            if on_part is not None:
                on_part(len(fits), len(parts))

    with algebra_on_one_core():
        in_parts(predict, len(parts), smallest=1)
    in_order = tuple(fits[place] for place in range(len(parts)))
    return HeldOut(predicted=predicted, raw=raw, judged=judged, parts=tuple(parts), fits=in_order, constants=constants)


def pearson(predicted: Floats, target: Floats) -> float:
    """Pearson's correlation of predictions with people; NaN where it is not defined."""
    return float(correlation.pearson(predicted.reshape(1, 1, -1), target.reshape(1, -1))[0][0])
