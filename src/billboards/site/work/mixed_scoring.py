"""Submitted programs that can't see who wrote what: how a job's outputs come to them, and whether that shows.

The generators of a job are scored mixed (`run.shuffled_outputs`); a generator that comes alone goes among outputs that
the metric has scored before, so that no call is known to be one writer's. The order, the ids and the choice of those
strays follow from the site's secret, the column and the rows.

Strays are a probe as well: each has a score already, from another mix, and a second one that differs tells that the
metric looks around. Of a metric that has no scores yet, some outputs are scored again, in a run of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from billboards.board import Outputs
from billboards.board.cells import Floats
from billboards.board.missing_cells import Cell, cell_batch
from billboards.metrics.base import Batch, CardedMetric, Metric
from billboards.metrics.executor import Result, Task
from billboards.run.program_metrics import ProgramRun, WatchedMetric
from billboards.run.shuffled_outputs import (
    Call,
    Comparison,
    chosen,
    compare,
    joined,
    keyed,
    mix,
    put_back,
    sample,
    shuffle_whole,
)
from billboards.site.site import Site
from billboards.site.submissions.consistency import keep_comparison, kept_comparison
from billboards.site.work import leases
from billboards.site.work.order_secret import order_secret
from billboards.site.work.worklist import Job, Plan, takes_mixed

#: Outputs that are scored twice in a job, and the least that a generator alone is put among.
PROBED = 50
#: A generator alone is put among so many strays, for each of its outputs.
SHARE = 0.25
#: Generators that strays are taken from, at most.
MOST_ROWS = 8
#: Runs a program on some batches, with ids by a seed and the time of so many generators.
Run = Callable[..., list[ProgramRun]]


@dataclass(frozen=True)
class MixedProgram(CardedMetric):
    """A submitted program as a job sees it: all of the job's generators come to it at once, to be mixed."""

    program: WatchedMetric
    scores_together: ClassVar[bool] = True

    @property
    def signature(self) -> str:
        return self.program.signature

    def score_batch(self, batch: Batch) -> Floats:
        return self.program.score_batch(batch)


def mixed(metric: Metric) -> Metric:
    """A metric as a job scores by it; installed ones are our own and may see what they like."""
    return MixedProgram(metric.card, metric) if isinstance(metric, WatchedMetric) else metric


@dataclass(frozen=True)
class Strays:
    """Outputs that the metric has scored before, with those scores as the program gave them."""

    batch: Batch
    scores: Floats


NO_STRAYS = Strays(Batch([]), np.empty(0))


@dataclass(frozen=True)
class Scored:
    """What became of some tasks, and of the outputs that were scored twice."""

    results: list[Result]
    platform: bool
    seen: Comparison


class Mixing:
    """The outputs of one job on their way to a program, and their scores on the way back."""

    def __init__(self, site: Site, job: Job, plan: Plan, cells: Sequence[Cell[Metric]]) -> None:
        self.site, self.job, self.plan, self.cells = site, job, plan, cells
        self.key = cells[0].key
        self.whole = job.submission is None or not takes_mixed(job.submission)

    def score(self, tasks: Sequence[Task], program: WatchedMetric, run: Run) -> Scored:
        """Score the outputs of some cells, each of which has some, and keep what the probe saw."""
        versions = [self.cells[task.key[0]].row.version for task in tasks]
        seed = keyed(order_secret(self.site.data), program.signature, self.key.context, *versions)
        strays = NO_STRAYS if self.whole else self._strays(self._stored(versions), tasks, program, seed)
        is_probed = not len(strays.batch) and not self._was_probed
        scored = score_mixed(tasks, program, run, strays=strays, whole=self.whole, is_probed=is_probed, seed=seed)
        self._keep(scored.seen)
        return scored

    @property
    def _was_probed(self) -> bool:
        """Whether some of the metric's outputs have been scored twice; a run of its own for that costs a load."""
        return self.job.submission is None or kept_comparison(self.job.submission) is not None

    def _stored(self, versions: Sequence[str]) -> list[Outputs]:
        """The rows of this column that have scores, in a fixed order, without those that are scored now."""
        blocks = [block for block in self.plan.blocks if block.key == self.key]
        rows = {version: row for block in blocks for version, row in block.rows.by_version.items()}
        present = self.site.cells(self.job.board).present(self.key) - set(versions)
        return [rows[version] for version in sorted(present & rows.keys())]

    def _strays(self, stored: Sequence[Outputs], tasks: Sequence[Task], program: WatchedMetric, seed: bytes) -> Strays:
        drawn = np.random.default_rng(int.from_bytes(keyed(seed, "strays"), "big"))
        rows = [stored[k] for k in drawn.permutation(len(stored))[:MOST_ROWS]]
        if not rows:
            return NO_STRAYS
        scores = self.site.cells(self.job.board).load(self.key, [row.version for row in rows])
        sign = 1.0 if program.card.higher_is_better else -1.0
        batches, scored = [], []
        for row in rows:
            batch, positions = cell_batch(self.plan.board, Cell(program, self.key, row))
            batches.append(batch)
            scored.append(sign * scores[row.version][positions])
        whole, all_known = joined(batches), np.concatenate(scored)
        wanted = max(PROBED, math.ceil(SHARE * len(tasks[0].batch)) if len(tasks) == 1 else 0)
        few = drawn.permutation(len(whole))[:wanted]
        return Strays(chosen(whole, few), all_known[few])

    def _keep(self, seen: Comparison) -> None:
        submission = self.job.submission
        if submission is None or not (seen.differing or (seen.outputs and not self._was_probed)):
            return
        with self.site.database.writing(boards=[self.job.board]) as connection:
            if leases.holds(connection, self.job.lease):
                keep_comparison(connection, submission.id, seen, now=self.site.clock())


def score_mixed(
    tasks: Sequence[Task],
    program: WatchedMetric,
    run: Run,
    *,
    strays: Strays,
    whole: bool,
    is_probed: bool,
    seed: bytes,
) -> Scored:
    """Score tasks of one program: mixed with one another and with strays, or whole and in a random order.

    Where they are probed, some are scored again in a run of their own: of those that come whole, all of one.
    """
    batches = [task.batch for task in tasks]
    sizes = [len(batch) for batch in batches]
    calls = shuffle_whole(batches, seed) if whole else mix(batches, strays.batch, seed)
    done = _run_calls(program, run, calls, max(sizes), keyed(seed, "first run"))
    if done[-1].scores is None:
        return _failed(tasks, done)
    rows = put_back(calls, [each.scores for each in done if each.scores is not None], [*sizes, len(strays.batch)])
    first, second = strays.scores, rows.pop()
    if is_probed:
        probe = _probe(batches, whole, keyed(seed, "second run"))
        (again,) = _run_calls(program, run, [probe], max(sizes), keyed(seed, "second run"))
        if again.scores is None:
            return _failed(tasks, [again])
        done = [*done, again]
        first = np.array([rows[k][place] for k, place in zip(probe.origins, probe.places, strict=True)])
        second = again.scores
    seconds = sum(each.outcome.seconds for each in done) / len(tasks)
    results = [Result(task.key, {"": scores}, seconds) for task, scores in zip(tasks, rows, strict=True)]
    tolerance, deterministic = program.contract.tolerance, program.card.deterministic
    return Scored(results, False, compare(first, second, tolerance=tolerance, deterministic=deterministic))


def _probe(batches: Sequence[Batch], whole: bool, seed: bytes) -> Call:
    """The call that scores some outputs again: a few of all generators, or one generator whole."""
    return shuffle_whole(batches, seed)[0] if whole else sample(batches, PROBED, seed)


def _run_calls(program: WatchedMetric, run: Run, calls: Sequence[Call], longest: int, seed: bytes) -> list[ProgramRun]:
    """What came of each call, until one fails; one run does them all where the program is loaded once."""
    if program.loads:
        outputs = sum(map(len, calls))
        return run([call.batch for call in calls], seed=seed, times=max(len(calls), outputs / longest))
    return list(_run_each(run, calls, longest, seed))


def _run_each(run: Run, calls: Sequence[Call], longest: int, seed: bytes) -> Iterator[ProgramRun]:
    for k, call in enumerate(calls):
        (done,) = run([call.batch], seed=keyed(seed, str(k)), times=max(1.0, len(call) / longest))
        yield done
        if done.scores is None:
            return


def _failed(tasks: Sequence[Task], done: Sequence[ProgramRun]) -> Scored:
    """Nobody knows for which of the generators a mixed call failed: all fail, for the same reason."""
    last = done[-1]
    seconds = sum(each.outcome.seconds for each in done) / len(tasks)
    results = [Result(task.key, None, seconds, last.problem) for task in tasks]
    return Scored(results, last.outcome.platform, Comparison(0, 0))
