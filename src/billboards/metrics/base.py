"""The contract every metric keeps (Billboards, §2.1): outputs in, one score per output out.

A metric is a frozen dataclass whose fields are its options. Its signature is computed from those fields, so it can't
promise what the object doesn't do. It is called once per generator with all of that generator's outputs; a metric
that treats outputs one by one says so, and may then be called with parts of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, fields
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from billboards.domain import MetricCard
from billboards.errors import MetricFailed

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Batch:
    """What a metric is given: outputs, and what it said it needs, position by position.

    `references` and `inputs` are empty when the metric did not ask for them; every output given has at least one
    reference when it did.
    """

    outputs: Sequence[str]
    references: Sequence[Sequence[str]] = ()
    inputs: Sequence[str] = ()
    language: str | None = None

    def __len__(self) -> int:
        return len(self.outputs)

    def part(self, start: int, stop: int) -> Batch:
        return Batch(self.outputs[start:stop], self.references[start:stop], self.inputs[start:stop], self.language)


class Metric(ABC):
    """One way to score outputs. Subclasses are frozen dataclasses; their fields are the options."""

    card: ClassVar[MetricCard]
    #: Several references: the metric's own definition, or the best score over single ones.
    multiple_references: ClassVar[Literal["own", "best"]] = "best"
    #: Whether an output's score depends on the other outputs (idf, CIDEr); such a metric is never called in parts.
    needs_corpus: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """The name of the column: the metric's, with the options that differ from their defaults."""
        changed = (f"{f.name}={getattr(self, f.name)}" for f in self._options() if getattr(self, f.name) != f.default)
        options = ",".join(changed)
        return f"{self.card.name}({options})" if options else self.card.name

    @property
    def signature(self) -> str:
        """The metric's identity: name, every option, and the versions that matter."""
        options = (f"{f.name}:{getattr(self, f.name)}" for f in self._options())
        versions = (f"{package}:{version}" for package, version in self.versions().items())
        return "|".join((self.card.name, *options, *versions))

    def versions(self) -> Mapping[str, str]:
        """Packages (or the metric's own revision) whose change may change a score."""
        return {}

    @abstractmethod
    def score(self, batch: Batch) -> Floats | Mapping[str, Floats]:
        """One score per output, or several named parts of which the first is primary."""

    def _options(self) -> tuple[Field[object], ...]:
        return tuple(f for f in fields(self) if f.init)  # type: ignore[arg-type]


def score_checked(metric: Metric, batch: Batch) -> dict[str, Floats]:
    """A metric's parts, the primary one first, with the contract enforced: right count, finite numbers."""
    found = metric.score(batch)
    parts = dict(found) if isinstance(found, Mapping) else {"": found}
    checked = {part: np.asarray(scores, np.float64) for part, scores in parts.items()}
    for part, scores in checked.items():
        what = f"{metric.name}[{part}]" if part else metric.name
        if scores.shape != (len(batch),):
            raise MetricFailed(f"{what}: returned {scores.shape} scores for {len(batch)} outputs; one each is needed")
        if not np.isfinite(scores).all():
            k = int(np.flatnonzero(~np.isfinite(scores))[0])
            raise MetricFailed(f"{what}: scored {batch.outputs[k][:60]!r} as {scores[k]}; scores must be finite")
    return checked
