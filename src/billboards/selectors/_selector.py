"""What a selector is: a function from what is known of a board's instances to the worth of having each judged.

    @selector()
    def variance(candidates: Candidates) -> Floats:
        \"""Where the metric's scores of an instance's outputs lie far apart.\"""

The first line of the docstring says what it looks for. A worth is 0 or more for each instance, or for each output
(generators × instances); NaN where nothing can be said.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput, NotEnoughData
from billboards.registry import first_line

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Candidates:
    """What a selector may look at: scores, texts and the labels that there are, never those that are to come.

    `scores` are metrics × generators × instances, higher is better; `labels` are generators × instances; NaN is
    missing. `metric` is the place of the metric that is relied on, None where there is no score at all.
    """

    scores: Floats
    metrics: tuple[str, ...]
    metric: int | None
    texts: tuple[tuple[str | None, ...], ...]
    labels: Floats
    seed: int = 0

    @property
    def relied_on(self) -> Floats:
        """The scores of the metric that is relied on, generators × instances."""
        if self.metric is None:
            raise NotEnoughData("this selector looks at a metric's scores, and there are none; score the board first")
        scores: Floats = self.scores[self.metric]
        return scores


@dataclass(frozen=True, kw_only=True)
class Selector:
    """A declared selector; called with candidates it says what each instance, or each output, is worth."""

    name: str
    function: Callable[[Candidates], Floats]

    @property
    def summary(self) -> str:
        """What it looks for, in one line."""
        return first_line(inspect.getdoc(self.function) or "")

    def __call__(self, candidates: Candidates) -> Floats:
        """The worth of each instance, or of each output; a result of another shape or below 0 is refused."""
        worth = np.asarray(self.function(candidates), float)
        outputs = candidates.labels.shape
        if worth.shape not in (outputs, outputs[1:]):
            raise InvalidInput(
                f"selector {self.name} gives worths of shape {worth.shape}; give one for each of {outputs[1]} instances"
            )
        if (worth < 0).any() or np.isinf(worth).any():
            raise InvalidInput(f"selector {self.name} gives a worth that is below 0 or endless; give 0 or more, or NaN")
        return worth


def selector(name: str | None = None) -> Callable[[Callable[[Candidates], Floats]], Selector]:
    """Declare a function to be a selector.

    name: what people ask for; the function's own name, with dashes for underscores, unless another is given
    """

    def declare(function: Callable[[Candidates], Floats]) -> Selector:
        return Selector(name=name or function.__name__.replace("_", "-"), function=function)

    return declare
