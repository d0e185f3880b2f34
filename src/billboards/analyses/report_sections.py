"""The sections of a board's page, each from one result: pictures, and the tables of their numbers.

Drawing libraries are loaded by the section that draws, so that a page of tables needs none of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from billboards.analyses import comparison_tables as comparisons
from billboards.analyses import study_tables
from billboards.analyses.audit.results import MetricAudit
from billboards.analyses.comparison_results import Sensitivity
from billboards.analyses.effect_tables import overrating_table, reference_table
from billboards.analyses.ensemble_tables import ablation_table, ensemble_table, gains_table
from billboards.analyses.findings import best_metric, popular_metric
from billboards.analyses.ranking_results import EnsembleStudy, OverratingReport, Ranking, ReferenceEffect
from billboards.analyses.ranking_tables import lines_table, metric_table
from billboards.analyses.study_results import AgreementStudy, BoardStudies, Disagreement
from billboards.show.page import READ, Picture, picture
from billboards.show.words import clipped, linear_combination, one_line, value_text

Floats = NDArray[np.float64]
#: Points of a scatter plot on the page; each costs a quarter of a kilobyte, twice.
POINTS = 600


@dataclass(frozen=True)
class JudgedScores:
    """One metric's scores beside people's, generators × instances, NaN where missing."""

    metric: str
    human: Floats
    scores: Floats
    generators: tuple[str, ...]


def metrics_section(ranking: Ranking, judged: JudgedScores | None) -> dict[str, Any]:
    """Metrics by agreement with people, the lines to read them against, and the best one in a scatter plot."""
    from billboards.analyses.metric_plots import correlation_bars

    bars = picture(lambda theme: correlation_bars(ranking, theme=theme)) if best_metric(ranking) else None
    told_above = {m.references for m in ranking.metrics if not m.reference_free} <= {ranking.references}
    hidden = ("signature", "origin", "references") if told_above else ("signature", "origin")
    return {
        "bars": bars,
        "table": metric_table(ranking).without(hidden),
        "lines": lines_table(ranking) if ranking.lines else None,
        "scatter": _scatter(ranking, judged),
    }


def sensitivity_section(report: Sensitivity | None) -> dict[str, Any] | None:
    """Metrics' places under other statistics."""
    if report is None:
        return None
    return {
        "ranges": comparisons.sensitivity_table(report),
        "conditions": comparisons.conditions_table(report),
    }


def swaps_section(ranking: Ranking) -> Picture | None:
    """Generators under the best metric and under the popular one, where at least two have both."""
    from billboards.analyses.swap_plots import rank_swaps

    best, popular = best_metric(ranking), popular_metric(ranking)
    if best is None or popular is None:
        return None
    left, right = best.name, popular.name
    scored = [g for g in ranking.generators if g.scores.get(left) is not None and g.scores.get(right) is not None]
    return picture(lambda theme: rank_swaps(ranking, left, right, theme=theme)) if len(scored) > 1 else None


def ensemble_section(ranking: Ranking, study: EnsembleStudy | None) -> dict[str, Any] | None:
    """The ensemble, and what each metric is worth to it where that was studied."""
    from billboards.analyses.metric_plots import metric_correlations

    ensemble = ranking.ensemble
    if ensemble is None:
        return None
    section: dict[str, Any] = {
        "combination": linear_combination(ensemble.weights),
        "table": ensemble_table(ensemble),
        "study": None,
    }
    if study is not None:
        comparable = any(r is not None for i, row in enumerate(study.correlations) for r in (*row[:i], *row[i + 1 :]))
        section["study"] = {
            "ablations": ablation_table(study),
            "gains": gains_table(study),
            "alike": picture(lambda theme: metric_correlations(study, theme=theme)) if comparable else None,
        }
    return section


def overrating_section(report: OverratingReport | None) -> dict[str, Any] | None:
    """How much each metric overrates machines; those without an estimate are left to the notes."""
    from billboards.analyses.effect_plots import overrating_forest

    if report is None:
        return None
    forest = picture(lambda theme: overrating_forest(report, theme=theme)) if report.metrics else None
    table = overrating_table(report)
    measured = tuple(row for row in table.rows if row.get("beta0") is not None)
    return {"forest": forest, "table": replace(table, rows=measured)}


def references_section(effect: ReferenceEffect | None) -> dict[str, Any] | None:
    """What one reference more is worth."""
    from billboards.analyses.effect_plots import reference_curves

    if effect is None:
        return None
    curves = picture(lambda theme: reference_curves(effect, theme=theme)) if any(effect.curves.values()) else None
    return {"curves": curves, "table": reference_table(effect)}


def studies_sections(found: BoardStudies | None) -> dict[str, Any]:
    """Tables of each study that there is, and what is left out."""
    found = found or BoardStudies()
    return {
        "hybrids": found.hybrids and study_tables.hybrids_table(found.hybrids),
        "power": [study_tables.power_table(one) for one in found.power],
        "estimates": study_tables.estimates_table(found.estimates) if found.estimates else None,
        "agreement": found.agreement and study_tables.agreement_table(found.agreement),
        "corners": _corners(found.agreement),
        "left_out": found.left_out,
    }


def audits_section(audits: Sequence[MetricAudit]) -> dict[str, Any] | None:
    """The verdicts, and each audit with its charts and gallery."""
    if not audits:
        return None
    from billboards.analyses.audit.page import audit_section
    from billboards.analyses.audit.tables import audits_table

    return {"table": audits_table(audits), "each": [audit_section(one) for one in audits]}


def _scatter(ranking: Ranking, judged: JudgedScores | None) -> Picture | None:
    from billboards.analyses.metric_plots import scatter

    if judged is None or np.count_nonzero(np.isfinite(judged.human) & np.isfinite(judged.scores)) < 2:
        return None
    people = {standing.name for standing in ranking.generators if standing.kind == "human"}
    correlation = next((m.correlation for m in ranking.metrics if m.name == judged.metric), None)
    return picture(
        lambda theme: scatter(
            judged.human,
            judged.scores,
            judged.generators,
            judged.metric,
            human_name=f"people ({ranking.aggregate})",
            human_generators=people,
            correlation=correlation,
            sample=POINTS,
            seed=ranking.seed,
            theme=theme,
        )
    )


def _corners(found: AgreementStudy | None) -> list[tuple[str, list[dict[str, str]]]]:
    """The outputs that two sources differ on most: a title and the outputs, as texts to read."""
    if found is None or not found.first_above:
        return []
    titled = zip(study_tables.corner_tables(found), (found.first_above, found.second_above), strict=True)
    return [(corner.title, [_as_read(one, found) for one in outputs]) for corner, outputs in titled]


def _as_read(one: Disagreement, found: AgreementStudy) -> dict[str, str]:
    said = ((found.first, one.first), (found.second, one.second))
    return {
        "where": one_line(f"{one.instance} · {one.generator}"),
        "said": ", ".join(f"{one_line(name)} {value_text(value, 1)}" for name, value in said),
        "output": clipped(one.output, READ),
        "reference": clipped(one.reference, READ),
    }
