"""Statistic × grouping: every way in which the field says how far metrics agree with people, with one interface.

A yardstick is a statistic (Pearson, Spearman, Kendall's tau-b and tau-c, WMT's Kendall, acc_eq, PDP, pairwise accuracy,
SPA) and a grouping: pooled, by item, by system, or at system level (`stats.grouped` says what these are). Statistics on
pairs of outputs of one instance are by item, SPA is at system level, pairwise accuracy may be either. Presets name the
yardsticks by which a community reports.

Each comes with what significance needs. Intervals draw instances again (for SPA with the normal limit of its p-values,
for acc_eq at the epsilon of the whole sample, for tau by its jackknife). Differences between two metrics are tested on
the outputs that both score: where a value is a sum or a mean over instances, or rests on generators' means, the two
metrics' scores of whole instances are exchanged at random; pooled Pearson and Spearman exchange single outputs (for
Spearman: their ranks); SPA exchanges what two metrics say of a pair of generators, as the WMT metrics task does; by
system, the bootstrap of the difference is centred at 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput, UnknownName
from billboards.stats.alignment import aligned, group_centred, jointly
from billboards.stats.correlation import (
    cell_sums,
    instance_sums,
    pearson_of_sums,
    resampled_pearson,
    resampling_weights,
)
from billboards.stats.grouped import GROUPINGS, Grouping, correlation, correlations_of_groups, ranks_within
from billboards.stats.grouped import Statistic as CorrelationStatistic
from billboards.stats.kendall import kendall_influence
from billboards.stats.pairwise import acc_eq, pair_index, pairwise_difference_pearson
from billboards.stats.preferences import Ties, credits_of, preferences
from billboards.stats.significance import PairTests, Sides, exchange_correlations, random_signs, reached
from billboards.stats.system_pairs import soft_pairwise_accuracy, soft_pairwise_agreements, system_pairwise_accuracy
from billboards.stats.within_items import pair_sums, pdp_of_sums

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Statistic = Literal["pearson", "spearman", "kendall-b", "kendall-c", "kendall-wmt", "acc-eq", "pdp", "accuracy", "spa"]

#: Which groupings a statistic has, the usual one first.
GROUPINGS_OF: Mapping[Statistic, tuple[Grouping, ...]] = {
    "pearson": GROUPINGS,
    "spearman": GROUPINGS,
    "kendall-b": GROUPINGS,
    "kendall-c": GROUPINGS,
    "kendall-wmt": ("by-item",),
    "acc-eq": ("by-item",),
    "pdp": ("by-item",),
    "accuracy": ("system-level", "by-item"),
    "spa": ("system-level",),
}
STATISTICS: tuple[Statistic, ...] = tuple(GROUPINGS_OF)
#: Other names under which statistics are asked for.
ALIASES: Mapping[str, Statistic] = {
    "kendall": "kendall-b",
    "tau": "kendall-b",
    "tau-b": "kendall-b",
    "tau-c": "kendall-c",
    "acc_eq": "acc-eq",
    "acceq": "acc-eq",
    "wmt-kendall": "kendall-wmt",
    "darr": "kendall-wmt",
    "pairwise": "accuracy",
    "pairwise-accuracy": "accuracy",
}
_GROUPING_ALIASES: Mapping[str, Grouping] = {
    "global": "pooled",
    "no": "pooled",
    "item": "by-item",
    "summary-level": "by-item",
    "segment": "by-item",
    "by-segment": "by-item",
    "system": "by-system",
    "sys": "system-level",
}
_WORDS: Mapping[Statistic, str] = {
    "pearson": "Pearson’s r",
    "spearman": "Spearman’s rho",
    "kendall-b": "Kendall’s tau-b",
    "kendall-c": "Kendall’s tau-c",
    "kendall-wmt": "WMT’s Kendall",
    "acc-eq": "acc_eq",
    "pdp": "PDP",
    "accuracy": "pairwise accuracy",
    "spa": "SPA",
}
_CORRELATION: Mapping[Statistic, CorrelationStatistic] = {
    "pearson": "pearson",
    "spearman": "spearman",
    "kendall-b": "kendall-b",
    "kendall-c": "kendall-c",
}
#: Numbers that a block of draws may hold.
_BLOCK = 4_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Yardstick:
    """A statistic and a grouping, by which metrics are held against people."""

    statistic: Statistic = "pearson"
    grouping: Grouping = "pooled"

    @property
    def name(self) -> str:
        """What it is called in files and options, as in spearman/by-item."""
        return f"{self.statistic}/{self.grouping}"

    @property
    def words(self) -> str:
        """What it is called in a title; a grouping that goes without saying isn't named."""
        if len(GROUPINGS_OF[self.statistic]) == 1:
            return _WORDS[self.statistic]
        grouping = {"accuracy": {"by-item": "of outputs", "system-level": "of generators"}}.get(self.statistic, {})
        return f"{_WORDS[self.statistic]}, {grouping.get(self.grouping, self.grouping.replace('-', ' '))}"


def yardstick(name: str, grouping: str | None = None) -> Yardstick:
    """The yardstick of a name: a statistic, or statistic/grouping; without a grouping the statistic's usual one."""
    stated, slash, within = name.strip().lower().replace(" ", "/", 1).partition("/")
    asked = within.strip().replace(" ", "-") if slash else grouping
    statistic = ALIASES.get(stated, stated)
    names = {s: s for s in STATISTICS}
    if statistic not in names:
        raise UnknownName("statistic", name, STATISTICS)
    chosen = names[statistic]
    if asked is None:
        return Yardstick(statistic=chosen, grouping=GROUPINGS_OF[chosen][0])
    meant = _GROUPING_ALIASES.get(asked, asked)
    for possible in GROUPINGS_OF[chosen]:
        if possible == meant:
            return Yardstick(statistic=chosen, grouping=possible)
    if meant not in GROUPINGS:
        raise UnknownName("grouping", asked, GROUPINGS)
    raise InvalidInput(f"{chosen} is measured {' or '.join(GROUPINGS_OF[chosen])}, not {meant}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Preset:
    """The yardsticks by which a community reports, and where that is written."""

    name: str
    yardsticks: tuple[Yardstick, ...]
    source: str


def _preset(name: str, source: str, *names: str) -> Preset:
    return Preset(name=name, yardsticks=tuple(yardstick(each) for each in names), source=source)


#: How communities report: the first yardstick is the one their tables are sorted by.
PRESETS: Mapping[str, Preset] = {
    preset.name: preset
    for preset in (
        _preset(
            "summeval",
            "by item (summary level) as UniEval (Zhong et al. 2022) and G-Eval (Liu et al. 2023) print SummEval; "
            "Kendall at system level is SummEval's own (Fabbri et al. 2021, Table 2)",
            "spearman/by-item",
            "kendall-b/by-item",
            "kendall-b/system-level",
        ),
        _preset(
            "realsumm",
            "Bhandari et al. 2020: Pearson at system level and by summary",
            "pearson/system-level",
            "pearson/by-item",
        ),
        _preset(
            "beametrics",
            "BEAMetrics (Scialom and Hill 2021): Tables 2 and 3 are Pearson's r, 5 and 6 Kendall's tau, pooled",
            "pearson/pooled",
            "kendall-b/pooled",
        ),
        _preset(
            "billboard",
            "Bidimensional Leaderboards (Kasai et al. 2022), section 2.1: Pearson, pooled",
            "pearson/pooled",
        ),
        _preset(
            "wmt24",
            "WMT 2024 metrics task (Freitag et al. 2024): SPA at system level, acc_eq with calibrated ties by segment",
            "spa",
            "acc-eq",
        ),
        _preset(
            "wmt23",
            "WMT 2023 metrics task (Freitag et al. 2023): pairwise accuracy and Pearson at system level, Pearson and "
            "acc_eq by segment",
            "accuracy/system-level",
            "pearson/system-level",
            "pearson/pooled",
            "acc-eq",
        ),
        _preset(
            "darr",
            "WMT 2017-2020 metrics tasks: Kendall over pairs of segments 25 points apart",
            "kendall-wmt",
            "pearson/system-level",
        ),
    )
}


def preset(name: str) -> Preset:
    """A preset by its name."""
    if name not in PRESETS:
        raise UnknownName("preset", name, tuple(PRESETS))
    return PRESETS[name]


@dataclass(frozen=True, kw_only=True)
class Agreements:
    """How far each metric agrees with people by one yardstick.

    `p` is two-sided, of no agreement, NaN where there is no such test (acc_eq, SPA). `n` counts outputs, pairs of
    outputs, or generators and pairs of them. `drawn` holds the values in every draw of instances (draws × metrics),
    `exchanged` the differences between every two metrics where the two are alike (draws × metrics × metrics); both
    have no draws where none were asked for.
    """

    value: Floats
    p: Floats
    n: Integers
    drawn: Floats
    exchanged: Floats
    #: The share of pairs that each metric ties, where pairs are what counts.
    tied: Floats | None = None

    def interval(self, k: int) -> tuple[float, float] | None:
        """The 95% interval of a metric; None without draws."""
        finite = self.drawn[:, k][np.isfinite(self.drawn[:, k])] if len(self.drawn) else self.drawn[:, :0]
        if np.isnan(self.value[k]) or finite.size < 2:
            return None
        low, high = np.quantile(finite, (0.025, 0.975)).tolist()
        return low, high


def agreements(
    scores: Floats,
    human: Floats,
    how: Yardstick,
    *,
    draws: int = 0,
    exchanges: int = 0,
    seed: int = 0,
    ties: Ties = "wrong",
) -> Agreements:
    """How far metrics (metrics × rows × instances) agree with people (rows × instances) by a yardstick.

    scores: NaN where there is none. Exchanges compare metrics on the outputs that all have scored; pass only these.
    draws, exchanges: how often instances are drawn, and metrics exchanged; 0 for none.
    ties: what a pair counts that a metric ties, for pairwise accuracy of outputs and WMT's Kendall.
    """
    scores, human = aligned(scores, human)
    if how.grouping not in GROUPINGS_OF[how.statistic]:
        raise InvalidInput(
            f"{how.statistic} is measured {' or '.join(GROUPINGS_OF[how.statistic])}, not {how.grouping}"
        )
    plan = _Plan(draws=draws, exchanges=exchanges, seed=seed)
    if how.statistic == "spa":
        return _spa(scores, human, plan)
    if how.statistic == "accuracy" and how.grouping == "system-level":
        return _system_level(scores, human, how, plan)
    if how.statistic == "pdp":
        return _pdp(scores, human, plan)
    if how.statistic in ("accuracy", "kendall-wmt"):
        return _on_pairs(scores, human, how, plan, ties)
    if how.statistic == "acc-eq":
        return _acc_eq(scores, human, plan)
    return _correlations(scores, human, how, plan)


def compare_by(
    scores: Floats,
    human: Floats,
    how: Yardstick,
    *,
    draws: int = 1000,
    seed: int = 0,
    sides: Sides = "two",
    ties: Ties = "wrong",
) -> PairTests:
    """Tests between every two metrics (metrics × rows × instances) by a yardstick, on the outputs that both score.

    p[a, b] is for a above b, or with two sides for a other than b, with the +1 correction; n counts outputs.
    """
    scores, human = aligned(scores, human)
    present = np.isfinite(scores) & np.isfinite(human)
    masks: dict[bytes, list[int]] = {}
    for k, mask in enumerate(present):
        masks.setdefault(np.packbits(mask).tobytes(), []).append(k)
    difference, p = np.full((2, len(scores), len(scores)), np.nan)
    n = np.zeros((len(scores), len(scores)), np.int64)
    groups = list(masks.values())
    for i, first in enumerate(groups):
        for second in groups[i:]:
            members = first if second is first else [*first, *second]
            used = present[first[0]] & present[second[0]]
            if used.sum() < 3 or len(members) < 2:
                continue
            agreed = agreements(
                np.where(used, scores[members], np.nan),
                np.where(used, human, np.nan),
                how,
                exchanges=draws,
                seed=seed,
                ties=ties,
            )
            lead = agreed.value[:, None] - agreed.value[None, :]
            reach = (1 + reached(agreed.exchanged, lead, sides, slack=1e-9)) / (1 + draws)
            for a, member in enumerate(members):
                for b, other in enumerate(members):
                    if second is first or (member in first) != (other in first):
                        difference[member, other], p[member, other] = lead[a, b], reach[a, b] if draws else np.nan
                        n[member, other] = used.sum()
    p = np.where(np.isnan(difference), np.nan, p)
    np.fill_diagonal(p, 1.0)
    return PairTests(difference, p, n)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Plan:
    draws: int
    exchanges: int
    seed: int

    def weights(self, instances: int) -> Floats:
        """How often each draw takes each instance."""
        return resampling_weights(np.random.default_rng(self.seed), instances, self.draws)

    def signs(self, units: int) -> Floats:
        """Which units each exchange changes sides of, as ±1."""
        return random_signs(np.random.default_rng(self.seed), self.exchanges, units).astype(np.float64)


def _no_draws(metrics: int) -> Floats:
    return np.empty((0, metrics))


def _no_exchanges(metrics: int) -> Floats:
    return np.empty((0, metrics, metrics))


# Sums over instances: a value is Σ parts over Σ wholes, so draws and exchanges are products of matrices.


@dataclass(frozen=True)
class _Ratio:
    """Values that are ratios of sums over instances: both metrics × instances, 0 where an instance says nothing."""

    parts: Floats
    wholes: Floats

    @property
    def value(self) -> Floats:
        return _ratio(self.parts.sum(axis=1), self.wholes.sum(axis=1))

    def drawn(self, plan: _Plan) -> Floats:
        weights = plan.weights(self.parts.shape[1])
        return _ratio(weights @ self.parts.T, weights @ self.wholes.T)

    def exchanged(self, plan: _Plan) -> Floats:
        """Differences after whole instances of two metrics have changed sides, or not."""
        signs = plan.signs(self.parts.shape[1])
        moved, weighed = signs @ self.parts.T, signs @ self.wholes.T
        return _differences(self.parts.sum(axis=1), self.wholes.sum(axis=1), moved, weighed)

    def p_of_signs(self, null: float = 0.0) -> Floats:
        """Two-sided p that instances agree with people by luck: the sum under random signs, taken as normal."""
        lead = self.parts - null * self.wholes
        spread = np.sqrt((lead**2).sum(axis=1))
        with np.errstate(invalid="ignore", divide="ignore"):
            p = np.array([math.erfc(abs(z) / math.sqrt(2)) for z in np.nan_to_num(lead.sum(axis=1) / spread)])
        return np.where(self.wholes.sum(axis=1) > 0, p, np.nan)


def _ratio(parts: Floats, wholes: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio: Floats = np.where(wholes > 0, parts / wholes, np.nan)
    return ratio


def _differences(parts: Floats, wholes: Floats, moved: Floats, weighed: Floats) -> Floats:
    """Exchanged ratios of a less those of b: with m = (a + b)/2 and d = (a - b)/2 they are of the sums m ± s·d."""
    part, whole = (parts[:, None] + parts) / 2, (wholes[:, None] + wholes) / 2
    part_moved, whole_moved = (
        (moved[:, :, None] - moved[:, None, :]) / 2,
        (weighed[:, :, None] - weighed[:, None, :]) / 2,
    )
    return np.asarray(_ratio(part + part_moved, whole + whole_moved) - _ratio(part - part_moved, whole - whole_moved))


def ratio_draws(parts: Floats, wholes: Floats, *, draws: int, seed: int) -> tuple[Floats, Floats, Floats]:
    """Values that are ratios of sums over instances (both metrics × instances), their draws, and their exchanges."""
    ratio, plan = (
        _Ratio(parts.astype(np.float64), wholes.astype(np.float64)),
        _Plan(draws=draws, exchanges=draws, seed=seed),
    )
    return ratio.value, ratio.drawn(plan), ratio.exchanged(plan)


def _of_ratio(ratio: _Ratio, plan: _Plan, n: Integers, p: Floats, tied: Floats | None = None) -> Agreements:
    metrics = len(ratio.parts)
    return Agreements(
        value=ratio.value,
        p=p,
        n=n,
        drawn=ratio.drawn(plan) if plan.draws else _no_draws(metrics),
        exchanged=ratio.exchanged(plan) if plan.exchanges else _no_exchanges(metrics),
        tied=tied,
    )


def _on_pairs(scores: Floats, human: Floats, how: Yardstick, plan: _Plan, ties: Ties) -> Agreements:
    """Pairs of outputs of one instance that people put in order (for WMT's Kendall: at least 25 points apart)."""
    better, worse, instance = preferences(human, threshold=25.0 if how.statistic == "kendall-wmt" else 0.0)
    parts, wholes, tied = np.zeros((3, len(scores), human.shape[1]))
    for k, metric in enumerate(scores):
        lead = metric[better, instance] - metric[worse, instance]
        credit = credits_of(lead, ties)
        counted = ~np.isnan(credit)
        parts[k] = np.bincount(instance[counted], credit[counted], human.shape[1])
        wholes[k] = np.bincount(instance[counted], minlength=human.shape[1])
        tied[k] = np.bincount(instance[lead == 0], minlength=human.shape[1])
    compared = wholes.sum(axis=1) + (tied.sum(axis=1) if ties == "left-out" else 0)
    share = _ratio(tied.sum(axis=1), compared)
    n = wholes.sum(axis=1).astype(np.int64)
    if how.statistic == "kendall-wmt":
        ratio = _Ratio(parts, wholes)
        return _of_ratio(ratio, plan, n, ratio.p_of_signs(), share)
    ratio = _Ratio((parts + wholes) / 2, wholes)
    return _of_ratio(ratio, plan, n, ratio.p_of_signs(0.5), share)


def _acc_eq(scores: Floats, human: Floats, plan: _Plan) -> Agreements:
    """Each metric at its best epsilon on all instances; every instance with a pair counts the same."""
    calibrated = acc_eq(scores, human)
    first, second = pair_index(len(human))
    order = np.sign(human[first] - human[second])
    parts, wholes = np.zeros((2, len(scores), human.shape[1]))
    for k, metric in enumerate(scores):
        lead = metric[first] - metric[second]
        decided = ~np.isnan(lead + order)
        within = np.abs(lead) <= calibrated.epsilon[k]
        right = decided & (np.where(within, 0.0, np.sign(lead)) == order)
        pairs = decided.sum(axis=0)
        parts[k] = right.sum(axis=0) / np.maximum(pairs, 1)
        wholes[k] = pairs > 0
    return _of_ratio(_Ratio(parts, wholes), plan, calibrated.n, np.full(len(scores), np.nan))


def _pdp(scores: Floats, human: Floats, plan: _Plan) -> Agreements:
    measured = pairwise_difference_pearson(scores, human)
    pairs = pair_sums(instance_sums(scores, human))
    drawn, exchanged = _no_draws(len(scores)), _no_exchanges(len(scores))
    if plan.draws:
        flat = np.ascontiguousarray(np.moveaxis(pairs, 1, 0)).reshape(pairs.shape[1], -1)
        drawn = pdp_of_sums((plan.weights(pairs.shape[1]) @ flat).reshape(plan.draws, len(scores), 3))
    if plan.exchanges:
        used = np.isfinite(scores).all(axis=0) & np.isfinite(human)
        used &= used.sum(axis=0) > 1
        root = np.sqrt(used.sum(axis=0))
        centred = [np.where(used, group_centred(np.where(used, m, np.nan)) * root, np.nan) for m in (*scores, human)]
        exchanged = exchange_correlations(
            np.array(centred[:-1]), centred[-1], unit="instances", draws=plan.exchanges, seed=plan.seed
        ).drawn
    return Agreements(
        value=measured.value, p=_p_of_spread(measured.value, drawn), n=measured.n, drawn=drawn, exchanged=exchanged
    )


def _p_of_spread(value: Floats, drawn: Floats) -> Floats:
    """Two-sided p of no agreement from the draws' spread, taken as normal; NaN without draws."""
    if len(drawn) < 2:
        return np.full(len(value), np.nan)
    p = np.full(len(value), np.nan)
    for k, each in enumerate(value):
        finite = drawn[:, k][np.isfinite(drawn[:, k])]
        spread = float(finite.std(ddof=1)) if len(finite) > 1 else 0.0
        if not np.isnan(each) and spread > 0:
            p[k] = math.erfc(abs(float(each)) / spread / math.sqrt(2))
    return p


# Correlations.


def _correlations(scores: Floats, human: Floats, how: Yardstick, plan: _Plan) -> Agreements:
    statistic = _CORRELATION[how.statistic]
    if how.grouping == "system-level":
        return _system_level(scores, human, how, plan)
    measured = correlation(scores, human, statistic=statistic, grouping=how.grouping)
    drawn, exchanged = _no_draws(len(scores)), _no_exchanges(len(scores))
    if how.grouping == "by-item":
        values = np.array([correlations_of_groups(*jointly(metric, human), statistic) for metric in scores])
        values = values.reshape(len(scores), human.shape[1])
        ratio = _Ratio(np.nan_to_num(values), (~np.isnan(values)).astype(np.float64))
        return _of_ratio(ratio, plan, measured.n, measured.p)
    if how.grouping == "pooled":
        if plan.draws:
            drawn = _drawn_pooled(scores, human, statistic, plan)
        if plan.exchanges:
            exchanged = _exchanged_pooled(scores, human, statistic, plan)
        return Agreements(value=measured.value, p=measured.p, n=measured.n, drawn=drawn, exchanged=exchanged)
    if plan.draws or plan.exchanges:
        drawn = _drawn_by_system(scores, human, statistic, replace(plan, draws=max(plan.draws, plan.exchanges)))
    if plan.exchanges:
        # Bootstrap draws of the difference, moved to where the two are alike.
        centred = drawn[: plan.exchanges] - measured.value
        exchanged = centred[:, :, None] - centred[:, None, :]
    drawn = drawn[: plan.draws]
    p = _p_of_spread(measured.value, drawn)
    return Agreements(value=measured.value, p=p, n=measured.n, drawn=drawn, exchanged=exchanged)


def _drawn_pooled(scores: Floats, human: Floats, statistic: CorrelationStatistic, plan: _Plan) -> Floats:
    if statistic == "pearson":
        return resampled_pearson(instance_sums(scores, human), draws=plan.draws, seed=plan.seed)
    weights = plan.weights(human.shape[1])
    columns = [_of_outputs(metric, human, statistic, weights) for metric in scores]
    return np.stack(columns, axis=1) if columns else _no_draws(0)


def _exchanged_pooled(scores: Floats, human: Floats, statistic: CorrelationStatistic, plan: _Plan) -> Floats:
    if statistic in ("pearson", "spearman"):
        if statistic == "spearman":
            used = np.isfinite(scores).all(axis=0) & np.isfinite(human)
            ranked = [_ranked(np.where(used, values, np.nan)) for values in (*scores, human)]
            scores, human = np.array(ranked[:-1]).reshape(scores.shape), ranked[-1]
        return exchange_correlations(scores, human, draws=plan.exchanges, seed=plan.seed).drawn
    changes = np.array([kendall_influence(m, human, "b" if statistic == "kendall-b" else "c") for m in scores])
    moved = plan.signs(human.shape[1]) @ changes.reshape(len(scores), human.shape[1]).T
    return np.asarray(moved[:, :, None] - moved[:, None, :])


def _ranked(values: Floats) -> Floats:
    return ranks_within(values.reshape(-1, 1)).reshape(values.shape)


def _of_outputs(metric: Floats, human: Floats, statistic: CorrelationStatistic, weights: Floats) -> Floats:
    """One metric's correlation over all its outputs in every draw (weights: draws × instances)."""
    if statistic in ("kendall-b", "kendall-c"):
        variant: Literal["b", "c"] = "b" if statistic == "kendall-b" else "c"
        value = float(correlation(metric[None], human, statistic=statistic).value[0])
        change = kendall_influence(metric, human, variant)
        drawn = value + (weights - 1.0) @ change
        return np.clip(drawn, -1.0, 1.0)
    x, y = jointly(metric, human)
    present = ~np.isnan(x)
    instance = np.nonzero(present)[1]
    x, y = x[present], y[present]
    drawn = np.full(len(weights), np.nan)
    if len(x) < 2:
        return drawn
    step = max(1, _BLOCK // len(x))
    for start in range(0, len(weights), step):
        of_outputs = weights[start : start + step, instance]
        drawn[start : start + step] = _weighted_pearson(
            _weighted_ranks(x, of_outputs), _weighted_ranks(y, of_outputs), of_outputs
        )
    return drawn


def _weighted_ranks(values: Floats, weights: Floats) -> Floats:
    """Mean ranks of values that each occur as often as their weight says (draws × outputs)."""
    _, place = np.unique(values, return_inverse=True)
    order = np.argsort(place, kind="stable")
    starts = np.flatnonzero(np.diff(place[order], prepend=-1))
    of_level = np.add.reduceat(weights[:, order], starts, axis=1)
    below = np.cumsum(of_level, axis=1) - of_level
    return np.asarray((below + (of_level + 1) / 2)[:, place])


def _weighted_pearson(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Pearson's r of every draw (draws × outputs); NaN where a side doesn't vary."""
    total = weights.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        x = x - (weights * x).sum(axis=1, keepdims=True) / total
        y = y - (weights * y).sum(axis=1, keepdims=True) / total
        xx, yy, xy = ((weights * a * b).sum(axis=1) for a, b in ((x, x), (y, y), (x, y)))
        r: Floats = np.where((xx > 1e-9) & (yy > 1e-9), np.clip(xy / np.sqrt(xx * yy), -1, 1), np.nan)
    return r


def _drawn_by_system(scores: Floats, human: Floats, statistic: CorrelationStatistic, plan: _Plan) -> Floats:
    """The mean over generators of their correlations over instances, in every draw of instances."""
    weights = plan.weights(human.shape[1])
    columns = []
    for metric in scores:
        if statistic == "pearson":
            sums = cell_sums(metric, human)
            by_row = np.array([pearson_of_sums(weights @ row) for row in sums]).reshape(len(human), plan.draws)
        else:
            rows = (_of_outputs(m[None], h[None], statistic, weights) for m, h in zip(metric, human, strict=True))
            by_row = np.array(list(rows)).reshape(len(human), plan.draws)
        columns.append(_mean_of_defined(by_row))
    return np.stack(columns, axis=1) if columns else np.empty((plan.draws, 0))


def _mean_of_defined(values: Floats) -> Floats:
    defined = ~np.isnan(values)
    return _ratio(np.where(defined, values, 0.0).sum(axis=0), defined.sum(axis=0).astype(np.float64))


# Generators' means.


def _system_level(scores: Floats, human: Floats, how: Yardstick, plan: _Plan) -> Agreements:
    """Correlation, or accuracy, of generators' means; draws and exchanges give other means."""
    if how.statistic == "accuracy":
        pairs = system_pairwise_accuracy(scores, human)
        value, n, p = pairs.value, pairs.n, np.full(len(scores), np.nan)
    else:
        measured = correlation(scores, human, statistic=_CORRELATION[how.statistic], grouping="system-level")
        value, n, p = measured.value, measured.n, measured.p
    drawn, exchanged = _no_draws(len(scores)), _no_exchanges(len(scores))
    if plan.draws:
        weights = plan.weights(human.shape[1])
        drawn = np.stack([_of_means(*_drawn_means(metric, human, weights), how) for metric in scores], axis=1)
    if plan.exchanges:
        exchanged = _exchanged_means(scores, human, how, plan)
    if how.statistic == "accuracy":
        p = _p_of_spread(value - 0.5, drawn - 0.5)
    return Agreements(value=value, p=p, n=n, drawn=drawn, exchanged=exchanged)


def _drawn_means(metric: Floats, human: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Means of scores and judgments of each generator in every draw, as generators × draws."""
    x, y = jointly(metric, human)
    present = ~np.isnan(x)
    count = present.astype(np.float64) @ weights.T
    return tuple(_ratio(np.where(present, side, 0.0) @ weights.T, count) for side in (x, y))  # type: ignore[return-value]


def _of_means(x: Floats, y: Floats, how: Yardstick) -> Floats:
    """The statistic of means (generators × draws) in every draw; differences of rounding are none."""
    x, y = _rounded(x), _rounded(y)
    if how.statistic != "accuracy":
        return correlations_of_groups(x, y, _CORRELATION[how.statistic])
    first, second = pair_index(len(x))
    dx, dy = x[first] - x[second], y[first] - y[second]
    decided = ~np.isnan(dx + dy)
    return _ratio((decided & (np.sign(dx) == np.sign(dy))).sum(axis=0).astype(float), decided.sum(axis=0).astype(float))


def _rounded(means: Floats) -> Floats:
    scale = float(np.nanmax(np.abs(means), initial=0.0)) or 1.0
    rounded: Floats = np.round(means / scale, 12)
    return rounded


def _exchanged_means(scores: Floats, human: Floats, how: Yardstick, plan: _Plan) -> Floats:
    """Differences after two metrics' standardised scores of whole instances have changed sides, or not."""
    used = np.isfinite(scores).all(axis=0) & np.isfinite(human)
    count = np.maximum(used.sum(axis=1), 1)[:, None]
    rows = used.any(axis=1)
    standard = []
    for metric in scores:
        values = metric[used]
        spread = float(values.std()) if len(values) else 0.0
        standard.append(np.where(used, (metric - (values.mean() if len(values) else 0)) / (spread or 1.0), 0.0))
    signs = plan.signs(human.shape[1])
    means = [(z.sum(axis=1, keepdims=True) / count)[rows] for z in standard]
    moved = [((z @ signs.T) / count)[rows] for z in standard]
    people = (np.where(used, human, 0.0).sum(axis=1, keepdims=True) / count)[rows]
    people = np.broadcast_to(people, (int(rows.sum()), plan.exchanges))
    differences = np.zeros((plan.exchanges, len(scores), len(scores)))
    for a in range(len(scores)):
        for b in range(a + 1, len(scores)):
            middle, lead = (means[a] + means[b]) / 2, (moved[a] - moved[b]) / 2
            difference = _of_means(middle + lead, people, how) - _of_means(middle - lead, people, how)
            differences[:, a, b], differences[:, b, a] = difference, -difference
    return differences


def _spa(scores: Floats, human: Floats, plan: _Plan) -> Agreements:
    measured = soft_pairwise_accuracy(scores, human, seed=plan.seed)
    drawn, exchanged = _no_draws(len(scores)), _no_exchanges(len(scores))
    if plan.draws:
        weights = plan.weights(human.shape[1])
        drawn = np.stack([_drawn_spa(metric, human, weights) for metric in scores], axis=1)
    if plan.exchanges:
        agreed = soft_pairwise_agreements(scores, human, seed=plan.seed)
        shared = np.isfinite(agreed).all(axis=0)
        ratio = _Ratio(agreed[:, shared], np.ones((len(scores), int(shared.sum()))))
        exchanged = ratio.exchanged(plan)
    return Agreements(
        value=measured.value, p=np.full(len(scores), np.nan), n=measured.n, drawn=drawn, exchanged=exchanged
    )


def _drawn_spa(metric: Floats, human: Floats, weights: Floats) -> Floats:
    """SPA in every draw: under random swaps the sum of differences is about normal with variance Σd²."""
    from scipy.special import ndtr

    first, second = pair_index(len(human))
    x, y = jointly(metric, human)
    total, pairs = np.zeros(len(weights)), np.zeros(len(weights))
    for a, b in zip(first, second, strict=True):
        dx, dy = x[a] - x[b], y[a] - y[b]
        used = ~np.isnan(dx)
        if not used.any():
            continue
        chances = []
        for d in (dx[used], dy[used]):
            spread = np.sqrt(weights[:, used] @ d**2)
            with np.errstate(invalid="ignore", divide="ignore"):
                chances.append(ndtr(np.where(spread > 0, -(weights[:, used] @ d) / spread, 0.0)))
        total += 1 - np.abs(chances[0] - chances[1])
        pairs += 1
    return _ratio(total, pairs)
