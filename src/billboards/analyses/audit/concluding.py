"""From what an audit has gathered to what it says: places, attack score, signs and the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from billboards.analyses.audit.kinship import Kinship
from billboards.analyses.audit.landing import Compared, Field, attack_by, attack_score, land
from billboards.analyses.audit.optimised import Optimised
from billboards.analyses.audit.results import (
    PEOPLE,
    Attack,
    Equivalence,
    Exhibit,
    HumanPlace,
    MetricAudit,
    SystemScores,
)
from billboards.analyses.audit.subject import Subject
from billboards.analyses.audit.verdict import judge_attack
from billboards.board import Board

Floats = NDArray[np.float64]
Interval = tuple[float, float]
UNKNOWN = Kinship(None, None, ())
#: Machines with people's scores from which on people outrank metrics.
FEWEST_JUDGED = 3


@dataclass(frozen=True)
class Evidence:
    """Everything that was found out about a metric."""

    own: Compared
    judged: Sequence[Compared]
    bias: tuple[HumanPlace, ...] = ()
    equivalence: tuple[Equivalence, ...] = ()
    kinship: Kinship = UNKNOWN
    quality: str = ""
    overrating: tuple[float | None, Interval | None] = (None, None)
    gallery: tuple[Exhibit, ...] = ()
    notes: tuple[str, ...] = ()
    #: A random choice from the same candidates, under the metric first.
    random: tuple[Compared, ...] = ()


def row_name(subject: Subject, optimised: Optimised) -> str:
    """The name under which an optimised output enters the board."""
    return f"optimised.{subject.name}.{optimised.method}"


def conclude(
    board: Board,
    subject: Subject,
    field: Field,
    optimised: Optimised,
    evidence: Evidence,
    weights: Floats,
    *,
    pairs: int,
    seed: int,
) -> MetricAudit:
    """The audit that evidence amounts to; `weights` are the resampled instances that its intervals come from."""
    own, judges = land(field, evidence.own), tuple(land(field, comparison) for comparison in evidence.judged)
    attack, interval = attack_score(evidence.own, evidence.judged, weights)
    people_attack, people_interval = _by_people(evidence, weights)
    kin = evidence.kinship
    audit = MetricAudit(
        board=board.name,
        board_version=board.version,
        metric=subject.name,
        signature=subject.signature,
        reference_free=not subject.needs_references,
        method=optimised.method,
        how=optimised.how,
        optimised=row_name(subject, optimised),
        pairs=pairs,
        complete=optimised.complete,
        seed=seed,
        draws=len(weights) - 1,
        own=own,
        judges=judges,
        attack=attack,
        attack_interval=interval,
        bias=evidence.bias,
        overrating=evidence.overrating[0],
        overrating_interval=evidence.overrating[1],
        equivalence=evidence.equivalence,
        kinship=kin.value,
        kinship_interval=kin.interval,
        relatives=kin.relatives,
        quality=evidence.quality,
        gallery=evidence.gallery,
        systems=_systems(board, field, row_name(subject, optimised), [evidence.own, *evidence.judged]),
        level="inconclusive",
        words="",
        notes=evidence.notes,
        lower=tuple(
            comparison.judge.name
            for comparison in (evidence.own, *evidence.judged)
            if not comparison.judge.higher_is_better
        ),
        people_attack=people_attack,
        people_interval=people_interval,
        random=tuple(land(field, line) for line in evidence.random),
    )
    judged = judge_attack(audit)
    return replace(judged, attacks=(attack_of(judged),))


def _by_people(evidence: Evidence, weights: Floats) -> tuple[float | None, Interval | None]:
    """The attack score by people alone, where they compare enough machines."""
    for comparison in evidence.judged:
        if comparison.judge.name == PEOPLE:
            return attack_by(evidence.own, comparison, weights, FEWEST_JUDGED)
    return None, None


def attack_of(audit: MetricAudit) -> Attack:
    """An audit by one attack, as a line of an audit by several."""
    assert audit.outcome is not None
    return Attack(
        method=audit.method,
        how=audit.how,
        optimised=audit.optimised,
        pairs=audit.pairs,
        complete=audit.complete,
        own=audit.own,
        judges=audit.judges,
        attack=audit.attack,
        attack_interval=audit.attack_interval,
        people_attack=audit.people_attack,
        people_interval=audit.people_interval,
        random=audit.random,
        outcome=audit.outcome,
        level=audit.level,
        kinship=audit.kinship,
        kinship_interval=audit.kinship_interval,
        equivalence=audit.equivalence,
    )


def _systems(board: Board, field: Field, name: str, judged: Sequence[Compared]) -> tuple[SystemScores, ...]:
    """Every generator's mean under every judge, and the optimised one's last."""
    systems = []
    for place, k in enumerate(field.rows):
        generator = board.rows[k].generator
        means = {comparison.judge.name: _mean(comparison.judge.scores[place]) for comparison in judged}
        systems.append(SystemScores(field.names[place], "machine" if generator is None else generator.kind, means))
    return (
        *systems,
        SystemScores(name, "optimised", {comparison.judge.name: _mean(comparison.own) for comparison in judged}),
    )


def _mean(values: Floats) -> float | None:
    finite = np.isfinite(values)
    return float(values[finite].mean()) if finite.any() else None
