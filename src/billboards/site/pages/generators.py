"""A generator's page: its place under each metric, its versions, and the outputs on which it does best and worst."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from fastapi import APIRouter

from billboards.analyses.ensemble import ENSEMBLE
from billboards.analyses.rank import GeneratorStanding, Ranking, leader_name
from billboards.show.table import mean_digits
from billboards.show.words import interval_text, rank_texts, value_text
from billboards.site.accounts.access import may
from billboards.site.boards import snapshots
from billboards.site.boards.masked import Look
from billboards.site.pages.board_rows import MOST_NAMED
from billboards.site.pages.citations import quote_generator
from billboards.site.pages.columns import has_corpus_values
from billboards.site.pages.explorer import PEOPLE, Output
from billboards.site.pages.long_lists import cut, few
from billboards.site.pages.timelines import timeline
from billboards.site.submissions import records as submissions
from billboards.site.web.asking import Ask, reading
from billboards.site.web.rendering import Body

router = APIRouter()

#: Outputs of each kind that the page shows, and versions.
SHOWN, MOST_VERSIONS = 5, 50


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoreLine:
    """A generator under one metric."""

    name: str
    text: str
    rank: str
    of: int
    coverage: str
    #: Whether a lower score is better.
    lower: bool = False
    #: The metric whose page says more.
    metric: str | None = None


def generator_context(look: Look, name: str) -> dict[str, Any]:
    """What the page shows."""
    board, ranking = look.board, look.ranking
    generator = board.generator(name)
    lead = _lead(look, name)
    best, worst = _extremes(look, name, lead)
    return {
        "generator": generator,
        "standing": None if ranking is None else standing_of(ranking, name),
        "facts": [] if ranking is None else _facts(ranking, standing_of(ranking, name)),
        "lines_of_scores": [] if ranking is None else score_lines(ranking, name),
        "lead": lead,
        "best": best,
        "worst": worst,
        "submission": look.live.generators.get(name),
    }


def standing_of(ranking: Ranking, name: str) -> GeneratorStanding:
    """A generator's place; one that came after the ranking has none."""
    for standing in ranking.generators:
        if standing.name == name:
            return standing
    return GeneratorStanding(
        name=name, kind="machine", rank=None, scores={}, covered={}, human=None, judged=0, reason="not ranked yet"
    )


def score_lines(ranking: Ranking, name: str) -> list[ScoreLine]:
    """The generator's mean and rank under people, the ensemble and every metric."""
    own = standing_of(ranking, name)
    order = [ENSEMBLE, *(metric.name for metric in ranking.metrics)]
    columns = {PEOPLE: [g.human for g in ranking.generators]}
    columns |= {metric: [g.scores.get(metric) for g in ranking.generators] for metric in order}
    lines = []
    for metric, values in columns.items():
        value = own.human if metric == PEOPLE else own.scores.get(metric)
        turned, coverage, words = metric in ranking.lower, _coverage(own, metric, ranking), metric
        leads_to = None if metric in (PEOPLE, ENSEMBLE) else metric
        if has_corpus_values(ranking, metric):
            corpus = [g.corpus.get(metric) for g in ranking.generators]
            lines.append(_line(metric, own.corpus.get(metric), corpus, coverage, turned=turned, metric=leads_to))
            words = f"{metric} of sentences"
        if any(v is not None for v in values):
            lines.append(_line(words, value, values, coverage, turned=turned, metric=leads_to))
        if metric == PEOPLE:
            lines += _dimension_lines(ranking, name)
    return lines


def _dimension_lines(ranking: Ranking, name: str) -> Iterator[ScoreLine]:
    """What people said on each dimension."""
    for column in () if ranking.people is None else ranking.people.dimensions:
        standing = column.standings.get(name)
        judged = "" if standing is None else f"{standing.instances:,} judged"
        yield _line(f"people: {column.name}", column.mean(name), [s.mean for s in column.generators], judged)


def _line(
    name: str,
    value: float | None,
    values: Sequence[float | None],
    coverage: str,
    *,
    turned: bool = False,
    metric: str | None = None,
) -> ScoreLine:
    numbers = [v for v in values if v is not None]
    sign = -1 if turned else 1
    text = "–" if value is None else _rank_text(sign * value, [sign * number for number in numbers])
    return ScoreLine(
        name=name,
        text=value_text(value, mean_digits(numbers)),
        rank=text,
        of=len(numbers),
        coverage=coverage,
        lower=turned,
        metric=metric,
    )


def _rank_text(value: float, numbers: Sequence[float]) -> str:
    above, equal = sum(other > value for other in numbers), sum(other == value for other in numbers)
    return rank_texts([1 + above] * equal)[0]


def _coverage(standing: GeneratorStanding, name: str, ranking: Ranking) -> str:
    """A word on a mean that is over fewer instances than others'."""
    if name == PEOPLE:
        return f"{standing.judged:,} judged" if standing.judged else ""
    full = max((g.covered.get(name, 0) for g in ranking.generators), default=0)
    covered = standing.covered.get(name, 0)
    return "" if covered in (0, full) else f"{covered:,} of {full:,} instances"


def _facts(ranking: Ranking, standing: GeneratorStanding) -> list[tuple[str, str]]:
    ranked = [g for g in ranking.generators if g.rank is not None]
    ranks = dict(zip((g.name for g in ranked), rank_texts([g.rank for g in ranked]), strict=True))
    place = f"{ranks[standing.name]} of {len(ranked)}" if standing.rank is not None else "not ranked"
    alike = [g.name for g in ranked if g.cluster == standing.cluster and g is not standing and g.cluster is not None]
    facts = [("rank", place), ("ranked by", leader_name(ranking) or "nothing yet")]
    common = ranking.common
    if common is not None and (placed := next((g for g in common.generators if g.name == standing.name), None)):
        by = "the common ensemble" if common.ensemble is not None else common.ranked_by
        facts.append(("rank among all", f"{placed.rank} of {len(common.generators)}, by {by}"))
    if standing.rank is not None and alike:
        facts.append(("not told apart from", few(alike, MOST_NAMED)))
    return [*facts, ("people", _people_words(ranking, standing))] if standing.human is not None else facts


def _people_words(ranking: Ranking, standing: GeneratorStanding) -> str:
    """What people said of a generator: its mean, how sure that is, and its place among those they judged."""
    mean, people = value_text(standing.human, 2), ranking.people
    judged = None if people is None else people.overall.standings.get(standing.name)
    if judged is None or people is None:
        return mean
    interval = "" if judged.interval is None else f" (95% interval {interval_text(judged.interval, 2)})"
    ranked = [s for s in people.overall.generators if s.rank is not None]
    ranks = dict(zip((s.name for s in ranked), rank_texts([s.rank for s in ranked]), strict=True))
    place = "" if judged.rank is None else f", rank {ranks[judged.name]} of {len(ranked)}"
    return f"{mean}{interval}{place}"


def _lead(look: Look, name: str) -> str | None:
    """What best and worst are told by: people where they judged this generator, else what ranks, else any metric."""
    matrix, row, ranking = look.matrix, look.board.row_position[name], look.ranking
    preferred = (PEOPLE, *((ranking.ranked_by,) if ranking is not None and ranking.ranked_by else ()), *matrix.names)
    able = (lead for lead in preferred if lead == PEOPLE or lead in matrix.names)
    return next((lead for lead in able if np.isfinite(matrix.of(lead)[row]).any()), None)


def _extremes(look: Look, name: str, lead: str | None) -> tuple[list[Output], list[Output]]:
    """The outputs that score highest and lowest."""
    if lead is None:
        return [], []
    row = look.board.row_position[name]
    scores = look.matrix.of(lead)[row]
    order = [int(k) for k in np.argsort(scores, kind="stable") if np.isfinite(scores[k])]
    shown = [[_output(look, row, k, lead) for k in chosen] for chosen in (order[::-1][:SHOWN], order[:SHOWN])]
    return shown[0], shown[1]


def _output(look: Look, row: int, k: int, lead: str) -> Output:
    instance, matrix = look.board.instances[k], look.matrix
    text = look.board.rows[row].texts[k] or ""
    people, score = float(matrix.view.human[row, k]), float(matrix.shown(lead)[row, k])
    human = None if np.isnan(people) else people
    return Output(
        instance=instance.id,
        input=instance.input or "",
        generator=look.board.rows[row].name,
        text=text,
        people=human,
        score=score,
        disagreement=None,
    )


def show_generator(ask: Ask) -> Body:
    """One generator of a board."""
    look, name = ask.look(), ask.params["generator"]
    context = generator_context(look, name)
    own = context["submission"]
    with ask.site.database.reading() as connection:
        places = snapshots.history(
            connection, look.name, "generator", name=name, audience=look.past_audience, since=look.first_step
        )
        versions = (
            ()
            if own is None or not may(ask.viewer, "see-submission", own)
            else submissions.find(connection, board=look.name, kind="generator", name=own.name, team_id=own.team_id)
        )
    places = look.masked_places(places, "generator")
    context |= {
        "versions": cut(versions, MOST_VERSIONS),
        "places": places,
        "timeline": timeline({name: [p.rank for p in places]}, [p.number for p in places], first=name, ranks=True),
        "others": [g.name for g in look.board.generators if g.name != name],
        "quote": quote_generator(look, name),
        "may_see": own is not None and (not own.anonymous or may(ask.viewer, "see-submission", own)),
    }
    return ask.board_page("generator", look, "", heading=name, **context)


router.add_route("/boards/{board}/generators/{generator:path}", reading(show_generator), include_in_schema=False)
