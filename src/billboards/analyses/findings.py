"""What a board says, in plain sentences made from its results alone.

The same few questions are answered on every board: which metric agrees best with people, what an ensemble adds, which
generators lead, and whether metrics overrate machines. A question that the results can't answer is left out.
"""

from __future__ import annotations

import math

from billboards.analyses.effect_tables import verdict
from billboards.analyses.ranking_results import MetricStanding, OverratingReport, Ranking
from billboards.analyses.ranking_tables import statistic_name
from billboards.show.words import interval_text, linear_combination, listed, one_line, value_text

#: What most papers report, the most used first (Billboards, Fig. 4), to set the best metric against.
POPULAR = ("BLEU", "ROUGE-L", "ROUGE-2", "ROUGE-1", "CIDEr", "METEOR", "chrF", "chrF++", "TER")
#: Generators in a picture of their places under two metrics: more than this nobody can follow.
MOST_SWAPS = 50


def findings(ranking: Ranking, overrating: OverratingReport | None = None) -> tuple[str, ...]:
    """Two to four sentences that say what the board says."""
    said = (_best_metric(ranking), _ensemble(ranking), _generators(ranking), overrating and _overrating(overrating))
    return tuple(sentence for sentence in said if sentence)


def correlated(ranking: Ranking) -> list[MetricStanding]:
    """The metrics that have a correlation, the best first."""
    measured = [m for m in ranking.metrics if m.correlation is not None and math.isfinite(m.correlation)]
    return sorted(measured, key=lambda m: -(m.correlation or 0.0))


def best_metric(ranking: Ranking) -> MetricStanding | None:
    """The metric that agrees best with people; a statistic of the text is none."""
    return next((m for m in correlated(ranking) if not m.is_statistic), None)


def popular_metric(ranking: Ranking) -> MetricStanding | None:
    """The popular metric to compare the best one with, else the one that agrees least."""
    best = best_metric(ranking)
    others = [m for m in correlated(ranking) if m is not best and not m.is_statistic]
    known = [m for name in POPULAR for m in others if m.name == name]
    return next(iter(known), others[-1] if others else None)


def best_metric_words(ranking: Ranking) -> str | None:
    """The finding of a metric ranking in one line."""
    best = best_metric(ranking)
    if best is None:
        return None
    words = f"{one_line(best.name)} agrees best with people ({value_text(best.correlation, 3)})"
    ensemble = ranking.ensemble
    if ensemble is None or ensemble.correlation is None:
        return words
    return f"{words}; the ensemble reaches {value_text(ensemble.correlation, 3)}"


def overrating_words(report: OverratingReport) -> str:
    """The finding of an overrating report in one line."""
    over = sum(verdict(estimate) == "overrates machines" for estimate in report.metrics)
    metrics = "metric" if len(report.metrics) == 1 else "metrics"
    clearly = "overrates" if over == len(report.metrics) == 1 else "overrate"
    return f"{over} of {len(report.metrics)} {metrics} significantly {clearly} machines over {one_line(report.human)}"


def _best_metric(ranking: Ranking) -> str | None:
    best = best_metric(ranking)
    if best is None:
        return None
    measured = [m for m in correlated(ranking) if not m.is_statistic]
    interval = "" if best.interval is None else f"95% interval {interval_text(best.interval, 3)}, "
    sentence = (
        f"Of {len(measured)} metrics, {one_line(best.name)} agrees best with people: its {statistic_name(ranking)} "
        f"correlation with the human judgments ({one_line(ranking.aggregate)}) is {value_text(best.correlation, 3)} "
        f"({interval}n = {best.n:,})."
    )
    alike = [m.name for m in measured if m is not best and m.cluster is not None and m.cluster == best.cluster]
    return f"{sentence} Not told apart from it: {listed(alike)}." if alike else sentence


def _ensemble(ranking: Ranking) -> str | None:
    ensemble, best = ranking.ensemble, best_metric(ranking)
    if ensemble is None or ensemble.correlation is None or best is None or best.correlation is None:
        return None
    difference = ensemble.correlation - best.correlation
    more = "more" if difference >= 0 else "less"
    return (
        f"An ensemble of {len(ensemble.weights)} metrics, {linear_combination(ensemble.weights)}, reaches "
        f"{value_text(ensemble.correlation, 3)} on generators it has not seen: {abs(difference):.3f} {more} than "
        f"{one_line(best.name)} alone."
    )


def _generators(ranking: Ranking) -> str | None:
    ranked = [g for g in ranking.generators if g.rank is not None]
    if not ranked or ranking.ranked_by is None:
        return None
    top = sorted(ranked, key=lambda g: g.rank or 0)[:3]
    names = listed([f"{g.name} ({value_text(g.scores.get(ranking.ranked_by))})" for g in top])
    lead = "leads" if len(top) == 1 else "lead"
    return f"Ranked by {one_line(ranking.ranked_by)}, {names} {lead} {len(ranked)} generators."


def _overrating(report: OverratingReport) -> str | None:
    if not report.metrics:
        return None
    most = max(report.metrics, key=lambda estimate: estimate.beta0)
    sentence = f"{overrating_words(report)}; the most is {value_text(most.beta0, 2)} standard deviations"
    people = [estimate.name for estimate in report.metrics if verdict(estimate) == "overrates people"]
    return f"{sentence} ({one_line(most.name)})." + (f" The other way round: {listed(people)}." if people else "")


def citation(ranking: Ranking) -> str:
    """What a paper states so that the numbers can be found again."""
    best = best_metric(ranking)
    lines = [f"board      {ranking.board}, version {ranking.board_version}, {ranking.part}"]
    lines += [f"ensemble   {ranking.ensemble.signature}"] if ranking.ensemble else []
    lines += [f"metric     {best.name}: {best.signature}"] if best else []
    lines += [f"statistic  {ranking.statistic}, {ranking.grouping}, judgments {ranking.aggregate}, seed {ranking.seed}"]
    return "\n".join(map(one_line, lines))
