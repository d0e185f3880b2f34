"""From what an audit has gathered to what it says: places, attack score, signs and the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from billboards.analyses.audit.kinship import Kinship
from billboards.analyses.audit.landing import Compared, Field, attack_score, land
from billboards.analyses.audit.optimised import Optimised
from billboards.analyses.audit.results import Equivalence, Exhibit, HumanPlace, MetricAudit, SystemScores
from billboards.analyses.audit.subject import Subject
from billboards.analyses.audit.verdict import level_of, signs_of, verdict_words
from billboards.board import Board

Floats = NDArray[np.float64]
Interval = tuple[float, float]
UNKNOWN = Kinship(None, None, ())


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


def row_name(subject: Subject, optimised: Optimised) -> str:
    """The name under which an optimised output enters the board."""
    return f"optimised.{subject.name}.{optimised.method}"


def conclude(
    board: Board,
    subject: Subject,
    field: Field,
    optimised: Optimised,
    found: Evidence,
    weights: Floats,
    *,
    pairs: int,
    seed: int,
) -> MetricAudit:
    """The audit that evidence amounts to; `weights` are the resampled instances that its intervals come from."""
    own, judges = land(field, found.own), tuple(land(field, one) for one in found.judged)
    attack, interval = attack_score(found.own, found.judged, weights)
    kin = found.kinship
    signs = signs_of(subject.name, attack, interval, found.bias, kin.value, kin.interval)
    level = level_of(signs)
    words = verdict_words(
        subject.name,
        optimised.how,
        own,
        judges,
        attack,
        interval,
        found.bias,
        found.equivalence,
        kin.value,
        level,
    )
    return MetricAudit(
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
        bias=found.bias,
        overrating=found.overrating[0],
        overrating_interval=found.overrating[1],
        equivalence=found.equivalence,
        kinship=kin.value,
        kinship_interval=kin.interval,
        relatives=kin.relatives,
        quality=found.quality,
        gallery=found.gallery,
        systems=_systems(board, field, row_name(subject, optimised), [found.own, *found.judged]),
        level=level,
        words=words,
        signs=signs,
        notes=found.notes,
    )


def _systems(board: Board, field: Field, name: str, judged: Sequence[Compared]) -> tuple[SystemScores, ...]:
    """Every generator's mean under every judge, and the optimised one's last."""
    found = []
    for place, k in enumerate(field.rows):
        generator = board.rows[k].generator
        means = {one.judge.name: _mean(one.judge.scores[place]) for one in judged}
        found.append(SystemScores(field.names[place], "machine" if generator is None else generator.kind, means))
    return (*found, SystemScores(name, "optimised", {one.judge.name: _mean(one.own) for one in judged}))


def _mean(values: Floats) -> float | None:
    there = np.isfinite(values)
    return float(values[there].mean()) if there.any() else None
