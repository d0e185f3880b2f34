"""Metrics' agreement within items beside the pooled one: where only outputs of one instance are compared.

Pooled agreement rewards whoever knows which instances are hard. Within items that earns nothing, so the two may put
another metric first; a ranking says so, with whether either difference is more than luck. Where people compared
outputs, what ranks is within items already.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from billboards.analyses._view import JudgedMatrix
from billboards.board import Board
from billboards.show.words import one_line, p_text, value_text
from billboards.stats.alignment import group_centred
from billboards.stats.correlation import Correlations
from billboards.stats.disclosure import hardly_varies
from billboards.stats.significance import Sides
from billboards.stats.within_items import better_within_items, within_items

if TYPE_CHECKING:
    from billboards.analyses.rank import MetricStanding, Ranking, RankingOptions

Floats = NDArray[np.float64]
#: Two metrics differ when luck does as much more seldom.
LEVEL = 0.05


@dataclass(frozen=True, kw_only=True, slots=True)
class Leaders:
    """Who agrees best with people over all outputs, and who within items, where these are two metrics.

    `pooled_p` and `within_p` are of tests between the two; None where nothing was drawn, or where it is not told.
    """

    pooled: str
    within: str
    pooled_p: float | None = None
    within_p: float | None = None


def agreement_within(board: Board, matrix: JudgedMatrix, options: RankingOptions, *, draws: int) -> Correlations | None:
    """How far each metric agrees with people within items, with intervals; None where people compared outputs.

    Where judgments are hidden, a column that varies within items on a few outputs alone has no value.
    """
    if matrix.pairs is not None or not matrix.scores.columns:
        return None
    documents = [board.documents[k] for k in board.select(matrix.part)]
    scores, human = matrix.scores.values, matrix.judged_human
    within = within_items(scores, human, unit=options.resampled, documents=documents, draws=draws, seed=options.seed)
    if not options.disclosure.judgments:
        return within
    out = np.array([_varies_little(values, human) for values in scores], bool)
    return replace(within, **{side: np.where(out, np.nan, getattr(within, side)) for side in ("r", "low", "high")})


def _varies_little(scores: Floats, human: Floats) -> bool:
    used = np.isfinite(scores) & np.isfinite(human)
    apart = np.where(used, group_centred(np.where(used, scores, np.nan)), np.nan)
    return hardly_varies(apart) is not None


def stand_within(
    standings: Iterable[MetricStanding], matrix: JudgedMatrix, within: Correlations | None
) -> tuple[MetricStanding, ...]:
    """Standings with the agreement within items of those that have a correlation."""
    if within is None:
        return tuple(standings)
    place = {column.name: k for k, column in enumerate(matrix.scores.columns)}
    return tuple(_standing(m, within, place[m.name]) for m in standings)


def _standing(metric: MetricStanding, within: Correlations, k: int) -> MetricStanding:
    if metric.correlation is None or not np.isfinite(within.r[k]):
        return metric
    low, high = float(within.low[k]), float(within.high[k])
    return replace(
        metric,
        within=float(within.r[k]),
        within_n=int(within.n[k]),
        within_interval=(low, high) if np.isfinite(low) else None,
    )


def leaders(
    metrics: Sequence[MetricStanding],
    matrix: JudgedMatrix,
    tests: Floats | None,
    *,
    draws: int,
    seed: int,
    sides: Sides,
) -> Leaders | None:
    """Who leads pooled and who within items, where these differ: of metrics that count and judge quality."""
    named = apart(metrics)
    if named is None:
        return None
    pooled, within = named
    if tests is None or not draws:
        return Leaders(pooled=pooled, within=within)
    place = {column.name: k for k, column in enumerate(matrix.scores.columns)}
    a, b = place[pooled], place[within]
    scores = matrix.scores.values
    within_p = better_within_items(scores[b], scores[a], matrix.judged_human, draws=draws, seed=seed, sides=sides)
    return Leaders(pooled=pooled, within=within, pooled_p=_p(tests[a, b]), within_p=_p(within_p))


def _p(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def apart(metrics: Sequence[MetricStanding]) -> tuple[str, str] | None:
    """The names of who is best pooled and of who is best within items; None where that is one metric."""
    able = [m for m in metrics if m.counts and not m.is_statistic and m.beside is None and m.correlation is not None]
    measured = [m for m in able if m.within is not None]
    if not measured:
        return None
    pooled = max(able, key=lambda m: m.correlation or 0.0)
    best = max(m.within or 0.0 for m in measured)
    # Who shares the highest number is no other leader.
    if pooled.within is None or pooled.within >= best:
        return None
    return pooled.name, next(m.name for m in measured if m.within == best)


def leaders_words(ranking: Ranking) -> str | None:
    """That the two ways to measure agreement name two metrics, in a sentence or two."""
    named = ranking.leaders
    if named is None:
        return None
    standing = {m.name: m for m in ranking.metrics}
    pooled, within = standing.get(named.pooled), standing.get(named.within)
    if pooled is None or within is None:
        return None
    first, second = one_line(named.pooled), one_line(named.within)
    sentence = (
        f"Over all outputs {first} leads ({value_text(pooled.correlation, 3)}, {second} "
        f"{value_text(within.correlation, 3)}); within items {second} does ({value_text(within.within, 3)}, {first} "
        f"{value_text(pooled.within, 3)})."
    )
    if named.pooled_p is None or named.within_p is None:
        return sentence
    return f"{sentence} {_surely(named.pooled_p, named.within_p)}"


def _surely(pooled_p: float, within_p: float) -> str:
    """Which of the two differences is significant."""
    over, inside = (f"p = {p_text(p)}".replace("= <", "< ") for p in (pooled_p, within_p))
    if pooled_p <= LEVEL and within_p <= LEVEL:
        return f"Both differences are significant ({over} and {inside}): who leads depends on the question."
    if pooled_p > LEVEL and within_p > LEVEL:
        return f"Neither difference is significant ({over} and {inside})."
    which, other = ("over all outputs", "within items") if pooled_p <= LEVEL else ("within items", "over all outputs")
    sure, unsure = (over, inside) if pooled_p <= LEVEL else (inside, over)
    return f"The difference {which} is significant ({sure}), the one {other} is not ({unsure})."
