"""Where an optimised output lands: under its own metric and under everyone else (§5.1), and the attack score.

The attack score is the share of machines that the optimised output beats under the metric it was made for, less the
share it beats under the other judges, on average. 1 means first under the metric and last under all others: whoever
maximises the metric has left quality behind. Near 0, what is good for the metric is good for the others. Beside it
stands a random choice from the same candidates, so that one sees what the candidates alone give.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from billboards.analyses.audit.optimised import Indices, Optimised
from billboards.analyses.audit.results import Landing
from billboards.metrics.base import Metric
from billboards.stats.system_level import beaten_shares, value_and_interval

Floats = NDArray[np.float64]
#: A machine is compared on no fewer instances than this, or than the board has.
FEWEST = 20


@dataclass(frozen=True)
class Judge:
    """Someone who scores outputs: a metric with its program, a column that came with the data, or people.

    `scores` are of all rows of the pool (rows × instances); `alone` those of the optimised output, where it is known
    other than by what it was chosen from.
    """

    name: str
    scores: Floats
    metric: Metric | None = None
    alone: Floats | None = None
    #: Whether its users read it so; the scores above are turned where they don't.
    higher_is_better: bool = True


@dataclass(frozen=True)
class Field:
    """The rows an optimised output is compared with: positions of all rows, and which of them are machines."""

    rows: tuple[int, ...]
    names: tuple[str, ...]
    machines: NDArray[np.bool_]

    @property
    def machine_places(self) -> Indices:
        return np.flatnonzero(self.machines)


@dataclass(frozen=True)
class Compared:
    """An optimised output under one judge: its own scores, and its lead over each machine (machines × instances)."""

    judge: Judge
    own: Floats
    leads: Floats


def compare(field: Field, optimised: Optimised, judge: Judge) -> Compared:
    """The optimised output beside each machine, which the pool is without."""
    machines = judge.scores[field.machines]
    own = _scores_of(field, optimised, judge, None)
    against = np.stack([_scores_of(field, optimised, judge, place) for place in field.machine_places.tolist()])
    return Compared(judge, own, against - machines)


def _scores_of(field: Field, optimised: Optimised, judge: Judge, without: int | None) -> Floats:
    """The judge's scores of the optimised output, with the row at a place left out of the pool."""
    if judge.alone is not None:
        return judge.alone
    pool = optimised.pool
    assert pool is not None
    place = {row: k for k, row in enumerate(field.rows)}
    inside = None if without is None or field.rows[without] not in pool.rows else pool.rows.index(field.rows[without])
    best = pool.best(inside)
    chosen = np.array([place[row] for row in pool.rows])[best]
    scores = judge.scores[chosen, np.arange(len(best))]
    return np.where(best >= 0, scores, np.nan)


def compare_random(field: Field, optimised: Optimised, judge: Judge, alone: Floats | None = None) -> Compared | None:
    """A random choice from the same candidates beside each machine; None where the judge can't say.

    From a pool it is the mean of all choices, which every judge knows; else the scores of what was drawn.
    """
    machines, pool = judge.scores[field.machines], optimised.pool
    if pool is None:
        return None if alone is None else Compared(judge, alone, alone - machines)
    place = {row: k for k, row in enumerate(field.rows)}
    scores = judge.scores[[place[row] for row in pool.rows]]
    usable = np.isfinite(pool.values) & np.isfinite(scores)
    values, count = np.where(usable, scores, 0.0), usable.sum(axis=0)
    own = _ratio(values.sum(axis=0), count)
    inside = {row: k for k, row in enumerate(pool.rows)}
    against = []
    for k in field.machine_places.tolist():
        left_out = inside.get(field.rows[k])
        total, fewer = values.sum(axis=0), count
        if left_out is not None:
            total, fewer = total - values[left_out], count - usable[left_out]
        against.append(_ratio(total, fewer))
    return Compared(judge, own, np.stack(against) - machines)


def _ratio(total: Floats, count: NDArray[np.intp]) -> Floats:
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def is_comparable(compared: Compared) -> bool:
    """Whether some machines can be compared at all."""
    return bool(_comparable(compared.leads).any())


def land(field: Field, compared: Compared) -> Landing:
    """Where the optimised output stands among the machines."""
    usable = _comparable(compared.leads)
    leads = np.where(usable[:, None], compared.leads, np.nan)[usable]
    machines = compared.judge.scores[field.machines][usable]
    names = [field.names[k] for k in field.machine_places[usable]]
    means, gaps = np.nanmean(machines, axis=1), np.nanmean(leads, axis=1)
    best = int(np.argmax(means))
    spread = float(np.std(means))
    return Landing(
        judge=compared.judge.name,
        mean=float(np.nanmean(compared.own)),
        best=names[best],
        best_mean=float(means[best]),
        margin=float(gaps[best]) / spread if spread > 0 else None,
        rank=1 + int((gaps < 0).sum()),
        machines=len(names),
        beaten=float(np.mean((np.sign(gaps) + 1) / 2)),
        n=int(np.isfinite(compared.own).sum()),
    )


def attack_score(
    own: Compared, judges: Sequence[Compared], weights: Floats
) -> tuple[float | None, tuple[float, float] | None]:
    """How much more the optimised output beats under its metric than under the others, with an interval."""
    if not judges:
        return None, None
    others = np.mean([_shares(judge, weights) for judge in judges], axis=0)
    return value_and_interval(_shares(own, weights) - others)


def attack_by(
    own: Compared, judge: Compared, weights: Floats, fewest: int
) -> tuple[float | None, tuple[float, float] | None]:
    """The same for one judge, over the machines that this judge can compare; None where those are too few."""
    both = _comparable(own.leads) & _comparable(judge.leads)
    if both.sum() < fewest:
        return None, None
    return value_and_interval(beaten_shares(own.leads[both], weights) - beaten_shares(judge.leads[both], weights))


def _shares(compared: Compared, weights: Floats) -> Floats:
    return beaten_shares(compared.leads[_comparable(compared.leads)], weights)


def _comparable(leads: Floats) -> NDArray[np.bool_]:
    """Machines with enough instances that both they and the optimised output have a score for."""
    enough = min(FEWEST, leads.shape[1])
    return np.asarray(np.isfinite(leads).sum(axis=1) >= enough)
