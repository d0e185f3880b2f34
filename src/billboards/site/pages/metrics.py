"""A metric's page: how it agrees with people, where it errs, how firm its place is, and what it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from fastapi import APIRouter

from billboards.analyses._people import PEOPLE
from billboards.analyses._scatter import drawing_for, drawing_words
from billboards.analyses.audit.results import MetricAudit
from billboards.analyses.audit.verdict import OUTCOMES
from billboards.analyses.overrating import verdict
from billboards.analyses.rank import MetricStanding, Ranking
from billboards.analyses.sensitivity import Sensitivity
from billboards.errors import InvalidInput, MissingPart, UnknownName
from billboards.metrics.base import MetricCard
from billboards.metrics.discovery import metric_class
from billboards.metrics.parts import split_part
from billboards.show.table import mean_digits
from billboards.show.words import interval_text, rank_texts, value_text
from billboards.site.boards import snapshots
from billboards.site.boards.masked import Look
from billboards.site.pages.citations import quote_metric
from billboards.site.pages.explorer import Matrix
from billboards.site.pages.figures import Figure, board_figure, living_files
from billboards.site.pages.long_lists import Cut, cut
from billboards.site.pages.timelines import timeline
from billboards.site.submissions.consistency import inconsistency
from billboards.site.web.asking import Ask, reading
from billboards.site.web.rendering import Body

router = APIRouter()

#: Generators that the table of residuals names, and conditions under which its rank is told.
MOST_RESIDUALS, MOST_CONDITIONS = 100, 100
#: Half the width of a bar chart in the table of residuals.
HALF = 60


@dataclass(frozen=True, slots=True)
class Residual:
    """How far a metric stands above or below people on one generator, in standard deviations of single outputs."""

    generator: str
    human: bool
    people: float
    score: float
    residual: float
    n: int
    start: float
    width: float


def metric_context(look: Look, name: str) -> dict[str, Any]:
    """What the page shows."""
    ranking = look.ranking
    if ranking is None:
        raise UnknownName("metric", name, ())
    standing = metric_named(ranking, name)
    drawn = _is_drawn(look, standing.name)
    estimate = next((e for e in (look.overrating.metrics if look.overrating else ()) if e.name == standing.name), None)
    submission = look.live.metrics.get(standing.name)
    return {
        "metric": standing,
        "facts": _facts(ranking, standing),
        "estimate": estimate,
        "human": look.overrating.human if look.overrating else "",
        "verdict": None if estimate is None else verdict(estimate),
        "not_measured": None if look.overrating is None else look.overrating.missing.get(standing.name),
        "residuals": extremes(residuals(look.matrix, ranking, standing.name)) if drawn else cut([], 0),
        "weight": None if ranking.ensemble is None else ranking.ensemble.weights.get(standing.name),
        "left_out": _left_out(ranking, standing),
        "audit": _audit(look, standing),
        "outcomes": OUTCOMES,
        "card": card_of(standing.name) if standing.origin == "own" else None,
        "submission": submission,
        "inconsistency": None
        if submission is None
        else inconsistency(submission, counted=standing.name not in look.withheld),
        "training": _training(look, standing),
        "not_scored": _not_scored(ranking, standing),
        "half": HALF,
        "withheld": look.withheld.get(standing.name),
        "wrong": look.recomputed.get(standing.name),
        "digits": mean_digits(g.scores.get(standing.name) for g in ranking.generators),
    }


def _not_scored(ranking: Ranking, standing: MetricStanding) -> tuple[str, ...]:
    """Generators that the author of a metric of scores only has not scored."""
    if not standing.scores_only:
        return ()
    return tuple(g.name for g in ranking.generators if not g.covered.get(standing.name) and g.kind != "optimised")


def _left_out(ranking: Ranking, standing: MetricStanding) -> str | None:
    """Why a metric may not join the ensemble; None where it may."""
    if not standing.counts:
        return "it is on probation"
    return None if ranking.ensemble is None else ranking.ensemble.left_out.get(standing.name)


def _training(look: Look, standing: MetricStanding) -> str | None:
    """What the author of a submitted metric says of its training data, and whether this board's are among them."""
    submission = look.live.metrics.get(standing.name)
    if submission is None:
        return None
    words = str(submission.settings.get("training_data") or "not said")
    overlap = submission.settings.get("trained_on_this_board")
    return f"{words}; {'this board’s judgments among them' if overlap else 'none of this board’s judgments'}"


def _audit(look: Look, standing: MetricStanding) -> MetricAudit | None:
    """The audit of this very metric; one of another version says nothing of it."""
    audit = look.audits.get(standing.name)
    return audit if audit is not None and audit.signature == standing.signature else None


def _is_drawn(look: Look, name: str) -> bool:
    """Whether its scores may be set against people's, and are there: between two rankings a metric may have gone."""
    return look.judged and name in look.matrix.names


def metric_named(ranking: Ranking, name: str) -> MetricStanding:
    """A metric by its name or its source's."""
    for standing in ranking.metrics:
        if name in (standing.name, standing.source_name):
            return standing
    raise UnknownName("metric", name, (standing.name for standing in ranking.metrics))


def card_of(name: str) -> MetricCard | None:
    """What an installed metric says of itself."""
    try:
        return metric_class(split_part(name)[0].partition("(")[0]).card
    except (InvalidInput, MissingPart):
        return None


def residuals(matrix: Matrix, ranking: Ranking, name: str) -> list[Residual]:
    """Each judged generator's mean disagreement with people under a metric, kindest first."""
    scores, people, disputed = matrix.shown(name), matrix.view.human, matrix.disagreement(name)
    kinds = {standing.name: standing.kind for standing in ranking.generators}
    lines = []
    for k, row in enumerate(matrix.view.scores.rows):
        judged = np.isfinite(disputed[k])
        if judged.any():
            mean = float(disputed[k][judged].mean())
            means = float(people[k][judged].mean()), float(scores[k][judged].mean())
            lines.append((row, kinds.get(row) == "human", *means, mean, int(judged.sum())))
    widest = max((abs(line[4]) for line in lines), default=0.0) or 1.0
    lines.sort(key=lambda line: -line[4])
    return [Residual(*line, *_bar(line[4] / widest)) for line in lines]


def extremes(ordered: Sequence[Residual]) -> Cut[Residual]:
    """Of very many generators those that the metric is kindest and harshest to."""
    if len(ordered) <= MOST_RESIDUALS:
        return cut(ordered, MOST_RESIDUALS)
    half = MOST_RESIDUALS // 2
    return Cut([*ordered[:half], *ordered[-half:]], len(ordered) - 2 * half)


def _bar(share: float) -> tuple[float, float]:
    width = round(abs(share) * HALF, 1)
    return (HALF if share >= 0 else HALF - width), width


def _facts(ranking: Ranking, standing: MetricStanding) -> list[tuple[str, str]]:
    ranks = dict(zip((m.name for m in ranking.metrics), rank_texts([m.rank for m in ranking.metrics]), strict=True))
    ranked = sum(m.rank is not None for m in ranking.metrics)
    facts = [("rank", f"{ranks[standing.name]} of {ranked}" if standing.rank else "not ranked")]
    private = ranking.private is not None
    facts.append(("correlation with people" + " (private share)" * private, value_text(standing.correlation, 3)))
    if standing.interval is not None:
        facts.append(("95% interval", interval_text(standing.interval, 3)))
    if standing.within is not None:
        sure = "" if standing.within_interval is None else f" ({interval_text(standing.within_interval, 3)})"
        facts.append(("within items", f"{value_text(standing.within, 3)}{sure}"))
    if private:
        facts.append(("on public judgments", value_text(standing.public, 3)))
    if standing.before is not None:
        drop = "" if standing.drop is None else f" (drop {value_text(standing.drop, 3)})"
        facts.append(("on the judgments before", f"{value_text(standing.before, 3)}{drop}"))
    facts.append(("judged outputs", value_text(standing.n)))
    facts += [("comes as", "scores only")] if standing.scores_only else []
    return [*facts, ("references", ", ".join(standing.references) or "none")]


def show_metric(ask: Ask) -> Body:
    """One metric of a board."""
    look = ask.look()
    context = metric_context(look, ask.params["metric"])
    name = context["metric"].name
    with ask.site.database.reading() as connection:
        places = snapshots.history(
            connection, look.name, "metric", name=name, audience=look.past_audience, since=look.first_step
        )
    places = look.masked_places(places, "metric")
    firm = bool(ask.query.get("firm"))
    sensitivity = look.sensitivity if firm else None
    context |= {
        "firm": firm,
        "can_be_firm": look.judged and context["metric"].correlation is not None,
        "range": None if sensitivity is None else next((m for m in sensitivity.metrics if m.name == name), None),
        "conditions": cut([] if sensitivity is None else _conditions(sensitivity, name), MOST_CONDITIONS),
        "places": places,
        "timeline": timeline({name: [p.value for p in places]}, [p.number for p in places], first=name),
        "others": [m.name for m in look.ranking.metrics if m.name != name] if look.ranking else [],
        "scatter": _scatter_figure(look, context["metric"]) if context["residuals"].entries else None,
        "quote": quote_metric(look, name),
        "living": living_files(),
    }
    return ask.board_page("metric", look, "metrics", heading=context["metric"].label, **context)


def _scatter_figure(look: Look, standing: MetricStanding) -> Figure:
    """The metric against people, output by output."""
    name, n = standing.name, standing.n
    correlation = value_text(standing.correlation, 3)
    title = f"{name} against people: correlation {correlation}; {drawing_words(n, drawing_for(n))}"
    words = (
        f"Scatter plot of {name} against people’s scores; correlation {correlation} on {value_text(n)} judged outputs."
    )
    return board_figure(look, "scatter", title, words, x=PEOPLE, y=name)


def _conditions(sensitivity: Sensitivity, name: str) -> list[dict[str, Any]]:
    return [
        {
            "name": f"without {condition.name}" if condition.kind == "without" else condition.name,
            "value": condition.values[name],
            "rank": condition.ranks[name],
        }
        for condition in sensitivity.conditions
    ]


router.add_route(
    "/boards/{board}/metrics/{metric:path}", reading(show_metric, words=("firm",)), include_in_schema=False
)
