"""The trial of a submitted metric: a few outputs, twice, before it may score a board.

The shortest and the longest output are among them, since programs break at the ends. Both runs must give one finite
number per output and, unless the metric declares itself not deterministic, the same ones to the last bit. How long they
took says how long the board will take. A program that is loaded once for several generators is run the second time in
the company of another, which must change nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from billboards.errors import InvalidInput
from billboards.metrics.base import Batch, Metric
from billboards.metrics.executor import Result, Task, run_task
from billboards.run.sandbox import Listener, Outcome
from billboards.run.watched import ProgramRun, WatchedMetric

INSTANCES = 8
DECLARE = "`deterministic = false`"


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What a trial found; `problem` is None when it passed, `platform` says that the problem is not the metric's.

    `estimate` is the lowest and the highest number of seconds the whole board may take: all start-up, or all outputs.
    """

    problem: str | None
    repeatable: bool
    scores: tuple[float, ...]
    seconds: float
    estimate: tuple[float, float]
    runs: tuple[ProgramRun, ...]
    platform: bool = False


def try_program(
    program: WatchedMetric,
    batch: Batch,
    *,
    instances: int = INSTANCES,
    rows: int = 1,
    listen: Listener | None = None,
    cancelled: Callable[[], bool] | None = None,
    quoting: bool = True,
) -> Trial:
    """Run a program twice on a few outputs of a generator; `rows` is how many generators the board has.

    Without `quoting` the problem holds nothing that the program wrote.
    """
    few = pick(batch, instances)
    runs: list[ProgramRun] = []
    for company in ([], [_others(few)] if program.loads else []):
        run = program.run([*company, few], listen=listen, cancelled=cancelled, quoting=quoting)[-1]
        runs.append(run)
        if run.problem is not None:
            break
    seconds = max(done.outcome.seconds for done in runs)
    scored = [done.scores for done in runs if done.scores is not None]
    repeatable = len(scored) == 2 and scored[0].tobytes() == scored[1].tobytes()
    return Trial(
        problem=runs[-1].problem or _difference(program, few, runs, repeatable, quoting),
        repeatable=repeatable,
        scores=tuple(map(float, scored[0])) if scored else (),
        seconds=seconds,
        estimate=(rows * seconds, rows * seconds * len(batch) / len(few)),
        runs=tuple(runs),
        platform=runs[-1].outcome.platform,
    )


@dataclass(frozen=True)
class InProcessRuns(WatchedMetric):
    """A metric that runs in this process, tried as programs are."""

    whole: Metric

    @property
    def signature(self) -> str:
        return self.whole.signature

    def run(
        self,
        batches: Sequence[Batch],
        *,
        listen: Listener | None = None,  # noqa: ARG002 - it writes nothing
        cancelled: Callable[[], bool] | None = None,  # noqa: ARG002 - a few outputs take no time worth stopping
        quoting: bool = True,  # noqa: ARG002 - an installed metric's own words
    ) -> list[ProgramRun]:
        results = [run_task(Task((k, 0), self.whole, batch)) for k, batch in enumerate(batches)]
        return [_run_of(result) for result in results]


def _run_of(result: Result) -> ProgramRun:
    scores = None if result.parts is None else next(iter(result.parts.values()))
    outcome = Outcome(
        verdict="finished" if scores is not None else "exit code",
        exit_code=None,
        stdout="",
        stderr="",
        seconds=result.seconds,
        cpu_seconds=0.0,
        peak_memory=0,
        result=None,
        problem=result.failure,
    )
    return ProgramRun(scores, result.failure, outcome)


def pick(batch: Batch, instances: int) -> Batch:
    """A few outputs, spread evenly over all lengths from the shortest to the longest, in the order they stand in."""
    if not len(batch):
        raise InvalidInput("a trial needs at least one output; give the board a generator first")
    by_length = np.argsort([len(output) for output in batch.outputs], kind="stable")
    steps = np.linspace(0, len(batch) - 1, min(instances, len(batch))).round().astype(int)
    places = sorted(by_length[steps].tolist())
    return Batch(
        [batch.outputs[k] for k in places],
        [batch.references[k] for k in places] if batch.references else (),
        [batch.inputs[k] for k in places] if batch.inputs else (),
        batch.language,
    )


def _others(few: Batch) -> Batch:
    """Outputs of another generator: these, each in the place of the one before it."""
    return replace(few, outputs=[*few.outputs[1:], *few.outputs[:1]])


def _difference(
    program: WatchedMetric, few: Batch, runs: list[ProgramRun], repeatable: bool, quoting: bool
) -> str | None:
    """The sentence for a metric that scores the same outputs differently, unless it said it would."""
    if repeatable or not program.card.deterministic:
        return None
    first, second = runs[0].scores, runs[1].scores
    assert first is not None
    assert second is not None
    if program.loads:
        return (
            f"{program.name}: scored the same outputs differently when run again after another generator's; "
            f"score() must not depend on what it scored before; fix its seeds, or declare {DECLARE}"
        )
    if not quoting:
        return (
            f"{program.name}: scored the same outputs differently when run again; fix its seeds, or declare {DECLARE}"
        )
    k = int(np.flatnonzero(first != second)[0])
    return (
        f"{program.name}: scored {few.outputs[k][:60]!r} as {float(first[k])!r} and, run again, as "
        f"{float(second[k])!r}; fix its seeds, or declare {DECLARE}"
    )
