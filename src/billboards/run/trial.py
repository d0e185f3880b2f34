"""The trial of a submitted metric: a few outputs, twice, before it may score a board.

The shortest and the longest output are among them, since programs break at the ends. Both runs must give one finite
number per output and, unless the metric declares itself not deterministic, the same ones within the tolerance that it
declares. The second run has them in another order and, unless the metric needs whole generators, among other outputs; a
program that is loaded once for several calls is called with others before. None of this may change a score. Where it
does, a third run, which repeats the first, says whether the metric looks around or just doesn't repeat itself. How long
they took says how long the board will take.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput
from billboards.metrics.base import Batch, Metric
from billboards.metrics.executor import Result, Task, run_task
from billboards.run.manifest import GPU_TOLERANCE, Contract
from billboards.run.program_metrics import ProgramRun, WatchedMetric
from billboards.run.sandbox import Listener, Outcome
from billboards.run.shuffled_outputs import chosen, compare, joined, keyed, put_back, shuffle_whole

INSTANCES = 8
DECLARE = "`deterministic = false`"
Floats = NDArray[np.float64]
#: What the scores of an installed metric may depend on.
_INSTALLED = Contract(whole_generators=True, tolerance=GPU_TOLERANCE)


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

    @property
    def time_words(self) -> str:
        """What is known of the time that the whole board takes: little, where start-up may be all of the trial's."""
        low, high = self.estimate
        if high < 60:
            return "the whole board takes less than a minute"
        if high > 4 * low:
            return (
                f"the whole board takes at most {_time(high)}; how much less is not known yet, because a trial of a "
                "few outputs may be mostly start-up"
            )
        if _time(low) == _time(high):
            return f"the whole board takes about {_time(high)}"
        return f"the whole board takes {_time(low)} to {_time(high)}"


def _time(seconds: float) -> str:
    minutes = max(1, round(seconds / 60))
    return f"{minutes} minute{'s' if minutes > 1 else ''}" if minutes < 90 else f"{minutes / 60:.1f} hours"


def try_program(
    program: WatchedMetric,
    batch: Batch,
    *,
    instances: int = INSTANCES,
    rows: int = 1,
    listen: Listener | None = None,
    cancelled: Callable[[], bool] | None = None,
    quoting: bool = True,
    seed: bytes | None = None,
) -> Trial:
    """Run a program twice on a few outputs of a generator; `rows` is how many generators the board has.

    Without `quoting` the problem holds nothing that the program wrote. Orders and ids follow from `seed`, and are new
    ones without.
    """
    few = pick(batch, instances)
    seed = secrets.token_bytes(32) if seed is None else seed
    run = partial(program.run, listen=listen, cancelled=cancelled, quoting=quoting)
    others = _others(batch, few, seed)
    runs = [_shuffled_run(run, few, seed=keyed(seed, "first"))]
    if runs[-1].problem is None:
        company = () if program.contract.whole_generators else (others,)
        before = [others] if program.loads else []
        runs.append(_shuffled_run(run, few, *company, before=before, seed=keyed(seed, "second")))
    scored = [done.scores for done in runs if done.scores is not None]
    seconds = max(done.outcome.seconds for done in runs)
    repeatable = len(scored) == 2 and _agree(program, *scored)
    problem = runs[-1].problem
    if problem is None and not repeatable and program.card.deterministic:
        again = _shuffled_run(run, few, seed=keyed(seed, "first"))
        runs.append(again)
        problem = again.problem or _difference(program, few, [*scored, *_scores_of(again)], quoting)
    return Trial(
        problem=problem,
        repeatable=repeatable,
        scores=tuple(map(float, scored[0])) if scored else (),
        seconds=seconds,
        estimate=(rows * seconds, rows * seconds * len(batch) / len(few)),
        runs=tuple(runs),
        platform=runs[-1].outcome.platform,
    )


def _shuffled_run(
    run: Callable[..., list[ProgramRun]], few: Batch, *company: Batch, before: Sequence[Batch] = (), seed: bytes
) -> ProgramRun:
    """Outputs scored in a random order, in one call with others and after calls with others; their scores in order."""
    (call,) = shuffle_whole([joined([few, *company])], seed)
    done = run([*before, call.batch], seed=seed)[-1]
    if done.scores is None:
        return done
    (scores,) = put_back([call], [done.scores], [len(call)])
    return replace(done, scores=scores[: len(few)])


def _scores_of(run: ProgramRun) -> list[Floats]:
    return [] if run.scores is None else [run.scores]


def _agree(program: WatchedMetric, first: Floats, second: Floats) -> bool:
    return compare(first, second, tolerance=program.contract.tolerance).differing == 0


@dataclass(frozen=True)
class InProcessRuns(WatchedMetric):
    """A metric that runs in this process, tried as programs are; an installed one, which may read on a card."""

    whole: Metric
    contract: Contract = _INSTALLED

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
        seed: bytes | None = None,  # noqa: ARG002 - it is given no ids
        times: float | None = None,  # noqa: ARG002 - it has all the time it takes
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
    return chosen(batch, sorted(by_length[steps].tolist()))


def _others(batch: Batch, few: Batch, seed: bytes) -> Batch:
    """Other outputs, from half as many as the few to as many; of a board without others, some in places not theirs."""
    drawn = np.random.default_rng(int.from_bytes(keyed(seed, "others"), "big"))
    outputs = set(few.outputs)
    rest = chosen(batch, [k for k, output in enumerate(batch.outputs) if output not in outputs])
    turned = replace(few, outputs=[*few.outputs[1:], *few.outputs[:1]])
    count = int(drawn.integers((len(few) + 1) // 2, len(few) + 1))
    source = rest if len(rest) else turned
    return chosen(source, drawn.permutation(len(source))[:count])


def _difference(program: WatchedMetric, few: Batch, scored: Sequence[Floats], quoting: bool) -> str:
    """The sentence for a metric that scored the same outputs differently, first, in another mix, and as at first."""
    first, second, again = scored
    fix = f"fix its seeds, or declare {DECLARE}"
    if not _agree(program, first, again):
        return _differently(program, few, first, again, "run again", fix, quoting)
    if program.loads:
        why = "score() must not depend on what it scored before, on order or on company"
    else:
        why = "a score must not depend on order or on the other outputs of a call"
    corpus = "" if program.contract.whole_generators else ', or declare "corpus" under needs, for whole generators'
    noise = "; where this is the rounding of batches, declare a `tolerance`"
    where = "run again in another order and other company"
    return _differently(program, few, first, second, where, f"{why}; {fix}{corpus}{noise}", quoting)


def _differently(
    program: WatchedMetric, few: Batch, first: Floats, second: Floats, where: str, advice: str, quoting: bool
) -> str:
    if not quoting:
        return f"{program.name}: scored the same outputs differently when {where}; {advice}"
    k = int(np.nan_to_num(np.abs(first - second)).argmax())
    return (
        f"{program.name}: scored {few.outputs[k][:60]!r} as {float(first[k])!r} and, {where}, as "
        f"{float(second[k])!r}; {advice}"
    )
