"""What a family of ensembles is: a function from training outputs to a model, and what it may look at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from billboards.ensembles._models import Model
from billboards.registry import first_line
from billboards.stats.ensemble import Blocks, gather_blocks

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Training:
    """Judged outputs: what is known of each (outputs × inputs, nothing missing), and what people said of it.

    The first `metrics` inputs are the scores of metrics, higher is better; others describe the instance or the text.
    """

    inputs: Floats
    target: Floats
    #: Which generator wrote each output, and in which document it stands; small whole numbers.
    generator: Ints
    document: Ints
    metrics: int
    #: 1 for an input that may only help, 0 for one that may do anything.
    directions: NDArray[np.int32]
    #: How many metrics a small ensemble takes.
    k: int = 3
    seed: int = 0

    def only(self, rows: Bools) -> Training:
        """The training of some of the outputs."""
        return replace(
            self,
            inputs=self.inputs[rows],
            target=self.target[rows],
            generator=self.generator[rows],
            document=self.document[rows],
        )

    def blocks(self) -> Blocks:
        """Sums per generator of the metrics' scores and the judgments."""
        names, place = np.unique(self.generator, return_inverse=True)
        order = np.argsort(place, kind="stable")
        counts = np.bincount(place, minlength=len(names))
        columns = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
        shape = (len(names), int(counts.max()))
        human = np.full(shape, np.nan)
        human[place[order], columns] = self.target[order]
        scores = []
        for k in range(self.metrics):
            table = np.full(shape, np.nan)
            table[place[order], columns] = self.inputs[order, k]
            scores.append(table)
        return gather_blocks(scores, human)


@dataclass(frozen=True, kw_only=True)
class Family:
    """A way to make a model, with what doors say of it."""

    name: str
    fit: Callable[[Training], Model]
    #: Whether it takes a few metrics with a weight each, so that everybody can compute it by hand.
    small: bool
    #: Whether it looks at the instance (means over other generators, length) beside the metrics.
    items: bool

    @property
    def summary(self) -> str:
        return first_line(self.fit.__doc__ or "")


def family(*, small: bool = False, items: bool = True) -> Callable[[Callable[[Training], Model]], Family]:
    """Declare a family of ensembles.

    small: it takes a few metrics with a weight each.
    items: it looks at means over the other generators and at length beside the metrics' scores.

    Example:

        @family(small=True, items=False)
        def best_metric(training: Training) -> LinearModel:
            \"\"\"The metric that agrees best, alone.\"\"\"
            ...
    """

    def declare(fit: Callable[[Training], Model]) -> Family:
        return Family(name=fit.__name__.replace("_", "-"), fit=fit, small=small, items=items)

    return declare


def dealt(members: Ints, groups: int, seed: int) -> Ints:
    """A group for each member, as even as can be: by lot, the same for the same seed."""
    names, place = np.unique(members, return_inverse=True)
    order = np.random.default_rng(seed).permutation(len(names))
    group = np.empty(len(names), np.int64)
    group[order] = np.arange(len(names)) % min(groups, len(names))
    return group[place]


def inner_folds(training: Training, generators: int, documents: int) -> tuple[Ints, Ints]:
    """Groups of generators and of documents, for choices that are made inside the training part."""
    return dealt(training.generator, generators, training.seed), dealt(training.document, documents, training.seed)


def standardising(inputs: Floats) -> tuple[Floats, Floats]:
    """Mean and spread of each input; an input that does not vary has spread 1."""
    mean, spread = inputs.mean(axis=0), inputs.std(axis=0)
    return mean, np.where(spread > 1e-12 * np.maximum(np.abs(mean), 1e-300), spread, 1.0)
