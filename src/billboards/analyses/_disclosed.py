"""What a ranking may say to those from whom something stays hidden: numbers with the digits that they support.

Two things call for it. Where judgments are hidden, every number that rests on them is rounded: correlations, intervals,
weights, overrating. Where a submitted metric was given what its team may not read, its scores could spell that out:
then its own numbers are rounded, whoever judges. Order follows what is printed, so that it says no more than the
numbers do; what is measured is rounded before it chooses who leads.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from billboards.analyses._people import PEOPLE
from billboards.analyses._within_items import Leaders, apart
from billboards.analyses.ensemble import ENSEMBLE, Ensemble
from billboards.stats.bootstrap import Interval
from billboards.stats.disclosure import (
    DIGITS,
    FEW,
    MEAN_DIGITS,
    mean_decimals,
    round_significant,
    round_to,
    supported_decimals,
)
from billboards.stats.ladder import Rung

if TYPE_CHECKING:
    from billboards.analyses._reference_lines import ReferenceLine
    from billboards.analyses.audit.results import MetricAudit
    from billboards.analyses.overrating import OverratingEstimate, OverratingReport
    from billboards.analyses.rank import GeneratorStanding, MetricStanding, Ranking

#: How a note reads that repeats a correlation.
CORRELATES = "correlates with people at"
#: Words of sentences that compare agreements.
AGREES, AGREE = "agrees better with", "agree better with"
#: Why a metric that the Ladder keeps back joins no ensemble.
NOT_BETTER = "is not better than its team's best by more than noise (Ladder)"


@dataclass(frozen=True, kw_only=True)
class Disclosure:
    """What is kept from those who read a ranking."""

    #: Whether judgments are: then whatever rests on them is rounded, and columns that single out outputs are refused.
    judgments: bool = False
    #: Whether what people said of generators is kept back, too; where only some judgments are, the others say it.
    people: bool = False
    #: Metrics that were given what not everybody may read: their scores are withheld, and means and agreement rounded.
    columns: frozenset[str] = frozenset()
    #: What the Ladder publishes of metrics' agreement, by name.
    rungs: Mapping[str, Rung] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return self.judgments or bool(self.columns)

    @property
    def kept_back(self) -> dict[str, str]:
        """Metrics that the Ladder says nothing new of, and why they join no ensemble."""
        return {name: NOT_BETTER for name, rung in self.rungs.items() if not rung.improves}

    def rounds(self, names: Iterable[str]) -> bool:
        """Whether a number that rests on the judgments and on these columns is rounded."""
        return self.judgments or not self.columns.isdisjoint(names)


def disclosed_metrics(metrics: Sequence[MetricStanding], disclosure: Disclosure) -> tuple[MetricStanding, ...]:
    """Metrics with the digits that may be told, in the order of what is told."""
    if not disclosure:
        return tuple(metrics)
    told = [_metric(m, disclosure) for m in metrics]
    # Columns beside others keep their places behind them: they have no rank.
    ranked = sorted((m for m in told if m.rank is not None), key=lambda m: (-(m.correlation or 0.0), m.name))
    return (*_placed(ranked, clusters=not disclosure.rungs), *(m for m in told if m.rank is None))


def _metric(metric: MetricStanding, disclosure: Disclosure) -> MetricStanding:
    if not disclosure.rounds((metric.name,)):
        return metric
    if metric.correlation is None:
        # What has no correlation has none with other judgments either.
        return replace(
            metric,
            public=None,
            before=None,
            exposure=None,
            within=None,
            within_interval=None,
            tied=None,
            flags=_told_flags(metric.flags, keep=False),
        )
    decimals = supported_decimals(metric.n, metric.interval)
    rung = disclosure.rungs.get(metric.name)
    value = metric.correlation if rung is None else rung.value
    # The interval of who did not improve would say by how much not.
    told = rung is None or rung.improves
    interval, within_interval = (metric.interval, metric.within_interval) if told else (None, None)
    within_decimals = supported_decimals(metric.n, metric.within_interval)
    return replace(
        metric,
        correlation=round_to(value, decimals),
        interval=None if interval is None else _interval(interval, decimals),
        public=_told_beside(metric.public, rung, supported_decimals(metric.public_n)),
        before=_told_beside(metric.before, rung, supported_decimals(metric.before_n)),
        exposure=_told_beside(metric.exposure, rung, FEW),
        within=_told_beside(metric.within, rung, within_decimals),
        within_interval=None if within_interval is None else _interval(within_interval, within_decimals),
        tied=_told_beside(metric.tied, rung, decimals),
        flags=_told_flags(metric.flags, keep=told),
    )


def _told_flags(flags: Sequence[str], *, keep: bool) -> tuple[str, ...]:
    """What speaks against a metric; what its agreement does only where that is told at all."""
    return tuple(told_words(flag) for flag in flags if keep or AGREES not in flag)


def told_words(text: str) -> str:
    """A sentence on agreement with two decimals."""
    if not any(word in text for word in (AGREES, AGREE)):
        return text
    return re.sub(r"\d*\.\d{3,}", lambda number: f"{float(number[0]):.2f}", text)


def _told_beside(value: float | None, rung: Rung | None, decimals: int) -> float | None:
    """A number beside a metric's agreement; of who did not improve it would say by how much not."""
    return None if value is None or (rung is not None and not rung.improves) else round_to(value, decimals)


def _placed(ranked: Sequence[MetricStanding], *, clusters: bool) -> list[MetricStanding]:
    """Ranks and clusters by what is told: who has the same number shares both."""
    placed: list[MetricStanding] = []
    number = 0
    for place, metric in enumerate(ranked):
        before, last = (placed[-1], ranked[place - 1]) if placed else (None, None)
        together = last is not None and (
            math.isclose(last.correlation or 0.0, metric.correlation or 0.0, rel_tol=1e-12, abs_tol=1e-15)
            or (clusters and metric.cluster is not None and last.cluster == metric.cluster)
        )
        number += not together
        rank = before.rank if together and before is not None else place + 1
        cluster = number if clusters and metric.cluster is not None else None
        placed.append(replace(metric, rank=rank, cluster=cluster))
    return placed


def disclosed_ensemble(ensemble: Ensemble, disclosure: Disclosure) -> Ensemble:
    """An ensemble whose weights have two digits of the heaviest; what they round away is gone from it."""
    if not disclosure.rounds(ensemble.candidates):
        return ensemble
    heaviest = max(map(abs, ensemble.weights.values()), default=0.0)
    weights = {name: round_significant(w, beside=heaviest) for name, w in ensemble.weights.items()}
    kept = [name for name in ensemble.weights if weights[name] != 0.0]
    correlation = ensemble.correlation
    return replace(
        ensemble,
        weights={name: weights[name] for name in kept},
        centres={name: round_significant(ensemble.centres[name], MEAN_DIGITS) for name in kept},
        scales={name: round_significant(ensemble.scales[name], MEAN_DIGITS) for name in kept},
        signatures={name: ensemble.signatures[name] for name in kept},
        intercept=round_significant(ensemble.intercept),
        correlation=None if correlation is None else round_to(correlation, supported_decimals(ensemble.n)),
        lam=round_significant(ensemble.lam),
        lam_range=None,
    )


def disclosed_lines(lines: Sequence[ReferenceLine], disclosure: Disclosure) -> tuple[ReferenceLine, ...]:
    """Lines to read the metrics against, rounded like them."""
    if not disclosure.judgments:
        return tuple(lines)
    return tuple(
        replace(
            line,
            correlation=_rounded(line.correlation, supported_decimals(line.n)),
            within=_rounded(line.within, supported_decimals(line.n)),
        )
        for line in lines
    )


def disclosed_leaders(
    named: Leaders | None, metrics: Sequence[MetricStanding], disclosure: Disclosure
) -> Leaders | None:
    """Who leads pooled and who within items, as far as the numbers that are told say it; p with two decimals.

    metrics: as they are told.
    """
    if named is None or not disclosure.rounds((named.pooled, named.within)):
        return named
    told = apart(metrics)
    if told is None:
        return None
    # Of tests the clusters tell no more than whether two differ, and beside a Ladder they tell nothing.
    same = told == (named.pooled, named.within) and not disclosure.rungs
    pooled_p, within_p = (named.pooled_p, named.within_p) if same else (None, None)
    return Leaders(pooled=told[0], within=told[1], pooled_p=_told_p(pooled_p), within_p=_told_p(within_p))


def _told_p(p: float | None) -> float | None:
    """A p-value with two decimals, never smaller than it is."""
    return None if p is None else round_to(math.ceil(round_to(100 * p, 6)) / 100, FEW)


def disclosed_generators(
    generators: Sequence[GeneratorStanding], ensemble: Ensemble | None, disclosure: Disclosure
) -> tuple[GeneratorStanding, ...]:
    """Generators with means under withheld columns, and under an ensemble of them, as their intervals support."""
    names = set(disclosure.columns)
    if ensemble is not None and disclosure.rounds(ensemble.candidates):
        names.add(ENSEMBLE)
    if not names and not any(g.corpus for g in generators):
        return tuple(generators)
    decimals = {name: _mean_decimals(generators, name) for name in names}
    return tuple(
        replace(
            g,
            scores={name: _rounded(value, decimals.get(name)) for name, value in g.scores.items()},
            corpus={name: _rounded(value, decimals.get(name)) or 0.0 for name, value in g.corpus.items()},
            # A withheld metric chooses how wide its interval is, too.
            interval={
                name: _interval(interval, decimals[name]) if name in decimals else interval
                for name, interval in g.interval.items()
                if name not in disclosure.columns
            },
        )
        for g in generators
    )


def _mean_decimals(generators: Sequence[GeneratorStanding], name: str) -> int:
    means = [g.scores.get(name) for g in generators]
    intervals = [g.interval[name] for g in generators if name in g.interval]
    return mean_decimals(
        np.array([np.nan if mean is None else mean for mean in means], np.float64),
        np.array([(high - low) / 2 for low, high in intervals], np.float64),
    )


def _rounded(value: float | None, decimals: int | None) -> float | None:
    return value if value is None or decimals is None else round_to(value, decimals)


def _interval(interval: Interval, decimals: int) -> Interval:
    return round_to(interval[0], decimals), round_to(interval[1], decimals)


def disclosed(ranking: Ranking, disclosure: Disclosure) -> Ranking:
    """A whole ranking that was made for readers who may know more, as it may be told to others."""
    if not disclosure:
        return ranking
    ensemble = ranking.ensemble
    common, alternative = ranking.common, ranking.alternative
    generators = disclosed_generators(ranking.generators, ensemble, disclosure)
    if common is not None:
        fitted = common.ensemble
        told = disclosed_generators(ranking.generators, fitted or ensemble, disclosure)
        decimals = (
            _mean_decimals(told, common.ranked_by) if _is_told_less(common.ranked_by, fitted, disclosure) else None
        )
        measured = disclosure.rounds((common.ranked_by, *(fitted.candidates if fitted else ())))
        common = replace(
            common,
            correlation=_rounded(common.correlation, supported_decimals(common.n) if measured else None),
            ensemble=None if fitted is None else disclosed_ensemble(fitted, disclosure),
            generators=tuple(replace(g, score=_rounded(g.score, decimals)) for g in common.generators),
        )
    if alternative is not None:
        alternative = None if disclosure.judgments else disclosed_ensemble(alternative, disclosure)
    metrics = disclosed_metrics(ranking.metrics, disclosure)
    told_ranking = replace(
        ranking,
        metrics=metrics,
        generators=generators,
        ensemble=None if ensemble is None else disclosed_ensemble(ensemble, disclosure),
        alternative=alternative,
        lines=disclosed_lines(ranking.lines, disclosure),
        leaders=disclosed_leaders(ranking.leaders, metrics, disclosure),
        common=common,
        outstanding=None,
        notes=tuple(told_words(note) for note in ranking.notes if CORRELATES not in note),
    )
    return without_people(told_ranking) if disclosure.people else told_ranking


def _is_told_less(name: str, ensemble: Ensemble | None, disclosure: Disclosure) -> bool:
    return name in disclosure.columns or (ensemble is not None and disclosure.rounds(ensemble.candidates))


def without_people(ranking: Ranking) -> Ranking:
    """A ranking without what people said of generators; one by people has no order left."""
    generators = tuple(replace(generator, human=None, judged=0) for generator in ranking.generators)
    if ranking.ranked_by == PEOPLE:
        # A ranking from before the judgments were hidden: their order is theirs, too.
        hidden = (
            replace(g, rank=None, cluster=None, interval=_without(g.interval), reason="judgments are hidden")
            for g in generators
        )
        generators = tuple(sorted(hidden, key=lambda standing: standing.name))
    return replace(ranking, generators=generators, people=None, outstanding=None)


def _without(intervals: Mapping[str, Interval]) -> dict[str, Interval]:
    """Intervals of metrics alone."""
    return {name: interval for name, interval in intervals.items() if name != PEOPLE}


def disclosed_overrating(report: OverratingReport, disclosure: Disclosure, measured: Iterable[str]) -> OverratingReport:
    """Overrating with two decimals; where judgments are hidden, only of the metrics that have a correlation."""
    if not disclosure:
        return report
    kept = set(measured)
    return replace(
        report,
        metrics=tuple(
            _estimate(e) if disclosure.rounds((e.name,)) or e.name == ENSEMBLE else e
            for e in report.metrics
            if not disclosure.judgments or e.name in kept or e.name == ENSEMBLE
        ),
    )


def _estimate(estimate: OverratingEstimate) -> OverratingEstimate:
    return replace(
        estimate,
        # An ensemble's holds a digest of its weights.
        signature=ENSEMBLE if estimate.name == ENSEMBLE else estimate.signature,
        beta0=round_to(estimate.beta0, FEW),
        se=round_to(estimate.se, FEW),
        interval90=_interval(estimate.interval90, FEW),
        p=None if estimate.p is None else round_significant(estimate.p, DIGITS),
        components={name: round_to(share, FEW) for name, share in estimate.components.items()},
    )


def disclosed_audit(audit: MetricAudit, disclosure: Disclosure) -> MetricAudit:
    """An audit without the numbers of withheld columns: their means, where they land, and single outputs."""
    if not disclosure.columns:
        return audit
    if audit.metric in disclosure.columns:
        own = replace(
            audit.own,
            mean=round_significant(audit.own.mean, MEAN_DIGITS),
            best_mean=round_significant(audit.own.best_mean, MEAN_DIGITS),
            margin=None,
        )
        audit = replace(audit, own=own, gallery=())
    return replace(
        audit,
        judges=tuple(landing for landing in audit.judges if landing.judge not in disclosure.columns),
        bias=tuple(place for place in audit.bias if place.judge not in disclosure.columns),
        equivalence=tuple(each for each in audit.equivalence if each.judge not in disclosure.columns),
        systems=tuple(
            replace(s, means={name: mean for name, mean in s.means.items() if name not in disclosure.columns})
            for s in audit.systems
        ),
    )
