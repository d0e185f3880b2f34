"""Metrics that are somebody's program, wherever it runs: watched while they run, and never an exception afterwards.

What a run of one gives a generator is its scores, or the sentence that says why there are none and whose fault it is.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from billboards.errors import MetricFailed
from billboards.metrics.base import Batch, CardedMetric, MetricCard
from billboards.run.manifest import Contract
from billboards.run.sandbox import Listener, Outcome
from billboards.run.score_lines import parse_scores

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ProgramRun:
    """What a run of a program gave one generator: its scores, or the sentence that says why there are none."""

    scores: Floats | None
    problem: str | None
    outcome: Outcome


class WatchedMetric(CardedMetric):
    """A metric whose runs are listened to and can be ended."""

    #: What its scores may depend on beside their own outputs.
    contract: Contract

    @property
    def loads(self) -> bool:
        """Whether several generators can be given to one run."""
        return False

    @property
    def scores_together(self) -> bool:  # type: ignore[override]  # the one metric of which an object decides
        return self.loads

    @abstractmethod
    def run(
        self,
        batches: Sequence[Batch],
        *,
        listen: Listener | None = None,
        cancelled: Callable[[], bool] | None = None,
        quoting: bool = True,
        seed: bytes | None = None,
        times: float | None = None,
    ) -> list[ProgramRun]:
        """Run it on some batches of outputs; whatever goes wrong is the result.

        `listen` hears what it writes, `cancelled` is asked all the time and ends it. Without `quoting` no sentence
        holds anything that it wrote: it may be a reference that nobody shall see. The ids of outputs follow from
        `seed`, and are new ones without. It has the time of so many `times` one generator; of one for each batch where
        nothing is said.
        """

    def score_batch(self, batch: Batch) -> Floats:
        return self.score_rows([batch])[0]

    def score_rows(self, batches: Sequence[Batch]) -> list[Floats]:
        done = self.run(batches) if self.loads else [self.run([batch])[0] for batch in batches]
        for each in done:
            if each.scores is None:
                raise MetricFailed(str(each.problem))
        return [each.scores for each in done if each.scores is not None]


def facts_signed(card: MetricCard, contract: Contract) -> dict[str, str]:
    """What every such metric's signature ends with: all that its scores can depend on beside the program."""
    whole = contract.whole_generators
    needs = ((card.needs_references, "references"), (card.needs_input, "input"), (whole, "corpus"))
    return {
        "needs": "+".join(need for is_needed, need in needs if is_needed) or "none",
        "higher_is_better": "yes" if card.higher_is_better else "no",
    }


def judged(name: str, outcome: Outcome, batches: Sequence[Batch], *, quoting: bool) -> list[ProgramRun]:
    """What an outcome gives each of the generators that were scored in one run."""
    if outcome.result is None:
        return [ProgramRun(None, f"{name}: {outcome.problem}", outcome)] * len(batches)
    try:
        scores = parse_scores(outcome.result, sum(map(len, batches)), quoting=quoting)
    except MetricFailed as error:
        return [ProgramRun(None, f"{name}: {error}", outcome)] * len(batches)
    shared = replace(
        outcome, seconds=outcome.seconds / len(batches), cpu_seconds=outcome.cpu_seconds / len(batches), result=None
    )
    ends = np.cumsum([len(batch) for batch in batches])[:-1]
    return [ProgramRun(row, None, shared) for row in np.split(scores, ends)]
