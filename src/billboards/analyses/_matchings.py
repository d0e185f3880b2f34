"""What sets MoverScore apart from BERTScore, measured on a board (BERTScore, Appendix C).

Every way of matching two texts under every setting is correlated with people over the same outputs. A variant is
outperformed where another one correlates significantly better by Williams' test, as in the paper's Table 9.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from billboards.analyses._layers import judged_view, number_or_none, score_judged
from billboards.board import Board, ReferenceSet, Slice
from billboards.errors import NotEnoughData
from billboards.metrics.neural.ablation import MATCHINGS, SETTINGS, score_variants
from billboards.metrics.neural.bertscore import BERTScore
from billboards.show.table import Table, TableColumn
from billboards.stats.bootstrap import Interval
from billboards.stats.correlation import Correlations, between_metrics, pearson_with_intervals
from billboards.stats.significance import williams

Floats = NDArray[np.float64]
LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class MatchingStanding:
    """One variant: a matching under a setting, its correlation with people, and whether another one is better."""

    setting: str
    matching: str
    correlation: float | None
    interval: Interval | None
    is_outperformed: bool


@dataclass(frozen=True, kw_only=True)
class MatchingStudy:
    """Every variant on one board, over `n` judged outputs."""

    board: str
    model: str
    layer: int
    aggregate: str
    part: str
    references: ReferenceSet
    n: int
    draws: int
    seed: int
    variants: tuple[MatchingStanding, ...]


def ablate_matching(
    board: Board,
    metric: BERTScore,
    *,
    aggregate: str | None = None,
    references: ReferenceSet | None = None,
    part: Slice | None = None,
    draws: int = 1000,
    seed: int = 0,
) -> MatchingStudy:
    """The correlation of every matching under every setting with people."""
    view = judged_view(board, "matchings are compared", aggregate=aggregate, references=references, part=part)
    shape = (len(SETTINGS) * len(MATCHINGS), -1)
    scores = score_judged(
        board, metric, view, lambda batches: [own.reshape(shape) for own in score_variants(metric, batches)]
    )
    human = view.judged_human
    correlations = pearson_with_intervals(scores, human, draws=draws, seed=seed)
    if np.isnan(correlations.r).all():
        raise NotEnoughData(f"board {board.name}: no matching's scores vary together with the judgments")
    outperformed = _outperformed(correlations, between_metrics(np.where(np.isfinite(human), scores, np.nan)))
    names = [(setting.name, matching) for setting in SETTINGS for matching in MATCHINGS]
    variants = tuple(_standing(*name, correlations, k, bool(outperformed[k])) for k, name in enumerate(names))
    return MatchingStudy(
        board=board.name,
        model=metric.model,
        layer=metric.used_layer,
        aggregate=view.aggregate,
        part=str(view.part),
        references=view.references,
        n=int(correlations.n[0]),
        draws=draws,
        seed=seed,
        variants=variants,
    )


def _outperformed(correlations: Correlations, between: Floats) -> NDArray[np.bool_]:
    """For each variant, whether any other correlates significantly better."""
    several = len(correlations.r)
    return np.array(
        [
            any(
                correlations.r[other] > correlations.r[own]
                and williams(correlations.r[other], correlations.r[own], between[other, own], int(correlations.n[own]))
                < LEVEL
                for other in range(several)
            )
            for own in range(several)
        ]
    )


def _standing(
    setting: str, matching: str, correlations: Correlations, k: int, is_outperformed: bool
) -> MatchingStanding:
    low, high = number_or_none(correlations.low[k]), number_or_none(correlations.high[k])
    interval = None if low is None or high is None else (low, high)
    return MatchingStanding(setting, matching, number_or_none(correlations.r[k]), interval, is_outperformed)


def matchings_table(study: MatchingStudy) -> Table:
    """A row for each setting: the correlation of every matching with people."""
    groups = [(setting, list(some)) for setting, some in groupby(study.variants, key=lambda variant: variant.setting)]
    matchings = [variant.matching for variant in groups[0][1]]
    columns = (
        TableColumn("setting", "setting", "left"),
        *(TableColumn(name, name, digits=3) for name in matchings),
        *(
            TableColumn(f"{name} interval", f"95% interval of {name}", digits=3, kind="interval", priority=1)
            for name in matchings
        ),
        TableColumn("unbeaten", "not outperformed", "left"),
    )
    title = f"{study.board}: matching of {study.model}'s embeddings, layer {study.layer} ({study.aggregate})"
    facts = (
        f"Pearson with people over {study.n:,} outputs, references {', '.join(study.references)}; part: {study.part}.",
        "WMD1, WMD2: 1 - word mover's distance of words, of pairs of words; F: greedy matching, BERTScore's F1.",
        "IDF: rare tokens weigh more; SEP: rare among the outputs themselves; PMEANS: power means of the last layers; "
        "RM: without punctuation and pieces of words.",
        "Not outperformed: no other variant correlates better at p < .05 (Williams, one-sided).",
    )
    return Table(title, columns, tuple(_row(setting, some) for setting, some in groups), facts)


def _row(setting: str, variants: list[MatchingStanding]) -> dict[str, object]:
    return {
        "setting": setting,
        **{variant.matching: variant.correlation for variant in variants},
        **{f"{variant.matching} interval": variant.interval for variant in variants},
        "unbeaten": ", ".join(variant.matching for variant in variants if not variant.is_outperformed),
    }
