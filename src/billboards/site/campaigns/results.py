"""What a campaign has found so far, for its owners: live while it runs, and as it stands on the board afterwards.

Means are on 0-100, higher is better, over instances; intervals, ranks and clusters are those of the board page: over
instances and annotators, who may be severe (`billboards.stats.people`). The worst-case standard error is what the mean
and the number of instances allow (GENIE, §6 and Appendix C). Everything is told with and without the annotators who
were excluded. A board with one campaign's judgments and no others answers
what can be asked of any board: agreement, estimates that lean on a metric, answers worth a second look.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from billboards.analyses.ensemble import ENSEMBLE
from billboards.analyses.estimate import MeanEstimate, estimate_generator
from billboards.analyses.rank import Ranking
from billboards.analyses.ratings._ratings import board_ratings
from billboards.analyses.ratings.agreement import AnnotatorAgreementStudy, study_annotators
from billboards.analyses.ratings.doubts import ImplausibleRating, find_implausible
from billboards.board import Aggregate, Board
from billboards.campaigns.answers import answer_values
from billboards.errors import NotEnoughData
from billboards.site.accounts.access import Viewer, require
from billboards.site.boards.live import LiveBoard, live_board, live_with_excluded
from billboards.site.boards.refresh import rank_live
from billboards.site.campaigns import annotator_records as annotators
from billboards.site.campaigns import answer_counts
from billboards.site.campaigns import campaign_records as campaigns
from billboards.site.campaigns.answer_records import Answer, Assignment
from billboards.site.campaigns.campaign import Campaign, campaign_with_id
from billboards.site.campaigns.judgments import Label, judgments_of, labels_of
from billboards.site.site import Site
from billboards.site.work.cells import SqlCells
from billboards.stats.clusters import places
from billboards.stats.people import people_means, people_tests
from billboards.stats.worst_case import bootstrap_mean, worst_case_se


@dataclass(frozen=True, kw_only=True)
class Estimated:
    """A generator's mean on one dimension, on 0-100."""

    generator: str
    dimension: str
    #: Instances with a label, and labels.
    instances: int
    labels: int
    mean: float
    #: 95% bootstrap interval over instances alone, as version 0.1 computed it: too narrow where annotators differ.
    low: float
    high: float
    worst_se: float
    #: 95% interval over instances and annotators; None where one instance can't tell how sure a mean is.
    interval: tuple[float, float] | None = None
    annotators: int = 0
    #: Among the generators on this dimension; those that can't be told apart share a cluster and its first rank.
    rank: int | None = None
    cluster: int | None = None


@dataclass(frozen=True)
class Results:
    """What a campaign says of each generator; the dimension that sums up comes first."""

    campaign: Campaign
    with_excluded: bool
    estimates: tuple[Estimated, ...]


@dataclass(frozen=True, kw_only=True)
class AnswerLine:
    """One answer as it is exported: the annotator by pseudonym, what was shown in the order it was shown."""

    answer_id: str
    campaign: str
    item: int
    kind: str
    instance: str
    outputs: tuple[str, ...]
    test: str | None
    purpose: str
    annotator: str
    answers: Mapping[str, Any]
    #: What the answer is worth to each output, in the same order; empty for drafts.
    values: tuple[Mapping[str, float], ...]
    is_right: bool | None
    seconds: float
    at: float
    template: str
    state: str


@dataclass(frozen=True)
class Spread:
    """An output on which annotators differ, with everything they said on the dimension that sums up (0-100)."""

    instance: str
    generator: str
    text: str
    labels: tuple[tuple[str, float], ...]
    difference: float


def campaign_results(
    site: Site, viewer: Viewer, campaign_id: str, *, with_excluded: bool = False, draws: int = 1000
) -> Results:
    """Means, intervals and worst-case standard errors, by generator and dimension."""
    require(viewer, "administer")
    with site.database.reading() as connection:
        campaign = campaign_with_id(connection, campaign_id)
        labels = labels_of(connection, campaign, with_excluded=with_excluded)
    names = [question.name for question in campaign.template.valued]
    ordered = sorted(names, key=lambda name: name != campaign.template.overall)
    estimates = [estimate for name in ordered for estimate in _estimates(campaign, labels, name, draws)]
    key = {name: k for k, name in enumerate(ordered)}
    estimates.sort(key=lambda estimate: (key[estimate.dimension], -estimate.mean, estimate.generator))
    return Results(campaign, with_excluded, tuple(estimates))


def both_results(site: Site, viewer: Viewer, campaign_id: str) -> tuple[Results, Results]:
    """The results without the excluded, and with them."""
    return (
        campaign_results(site, viewer, campaign_id),
        campaign_results(site, viewer, campaign_id, with_excluded=True),
    )


def both_rankings(site: Site, viewer: Viewer, board: str) -> tuple[Ranking, Ranking]:
    """The board ranked on what counts, and as it would be with excluded annotators in it."""
    require(viewer, "administer")
    live: LiveBoard = live_board(site, board, audience="owners")
    return rank_live(live), rank_live(live_with_excluded(site, board))


def _by(labels: Sequence[Label]) -> Iterator[tuple[str, list[Label]]]:
    rows: dict[str, list[Label]] = {}
    for label in labels:
        rows.setdefault(label.slot.name, []).append(label)
    yield from rows.items()


def _estimates(campaign: Campaign, labels: Sequence[Label], dimension: str, draws: int) -> Iterator[Estimated]:
    """Every generator on one dimension, as people are shown on the board page."""
    if not labels:
        return
    by_generator = dict(_by(labels))
    question = campaign.template.dimension(dimension)
    values = np.array([[100 * question.share(label.values[dimension])] for label in labels])
    generator = _numbered([label.slot.name for label in labels])
    instance = _numbered([label.instance for label in labels])
    annotator = _numbered([label.annotator for label in labels])
    shape = (len(by_generator), int(instance.max()) + 1)
    means = people_means(values, generator, instance, annotator, shape=shape)
    tests = people_tests(means.cells, draws=draws, seed=campaign.plan.seed)
    _, ranks, clusters = places(means.mean, tests)
    for k, name in enumerate(by_generator):
        low, high = max(float(means.low[k]), 0.0), min(float(means.high[k]), 100.0)
        yield replace(
            _estimate(campaign, by_generator[name], name, dimension, draws),
            interval=None if np.isnan(means.low[k]) else (low, high),
            annotators=int(means.annotators[k]),
            rank=ranks[k],
            cluster=clusters.get(k),
        )


def _numbered(names: Sequence[str]) -> NDArray[np.int64]:
    """Names as numbers from 0, in the order of their first mention."""
    places_of = {name: k for k, name in enumerate(dict.fromkeys(names))}
    return np.array([places_of[name] for name in names], np.int64)


def _estimate(campaign: Campaign, labels: Sequence[Label], generator: str, dimension: str, draws: int) -> Estimated:
    question = campaign.template.dimension(dimension)
    shares: dict[str, list[float]] = {}
    for label in labels:
        shares.setdefault(label.instance, []).append(100 * question.share(label.values[dimension]))
    means = [sum(instance_shares) / len(instance_shares) for instance_shares in shares.values()]
    mean, low, high = bootstrap_mean(means, resamples=draws, seed=campaign.plan.seed)
    worst = worst_case_se(min(max(mean, 0.0), 100.0), len(means), high=100.0)
    return Estimated(
        generator=generator,
        dimension=dimension,
        instances=len(means),
        labels=len(labels),
        mean=mean,
        low=low,
        high=high,
        worst_se=worst,
    )


def campaign_answers(
    site: Site, viewer: Viewer, campaign_id: str, *, history: bool = False, names: bool = False
) -> Iterator[AnswerLine]:
    """Every answer, for export: those that were submitted, or all that was ever kept.

    Annotators stand under their pseudonyms; `names` gives the owner their real names, which no export should hold.
    """
    require(viewer, "administer")
    with site.database.reading() as connection:
        campaign = campaign_with_id(connection, campaign_id)
        people = annotators.in_campaign(connection, campaign_id)
        items = {item.id: item for item in campaigns.list_items(connection, campaign_id)}
        rows = list(answer_counts.history(connection, campaign_id))
    standing = {answer.assignment_id: answer.id for answer, _ in rows if answer.kind == "submitted"}
    for answer, assignment in rows:
        state = _state(answer, assignment, standing)
        if history or state in ("valid", "void", "struck"):
            item = items[assignment.item_id]
            who = people[answer.annotator_id]
            shown = [item.slots[slot] for slot in assignment.shown_order]
            yield AnswerLine(
                answer_id=answer.answer_id,
                campaign=campaign.name,
                item=item.id,
                kind=answer.kind,
                instance=item.instance,
                outputs=tuple(_slot_name(slot, item.instance) for slot in shown),
                test=item.test,
                purpose=item.purpose,
                annotator=who.name if names else who.pseudonym,
                answers=answer.answers,
                values=_worth(campaign, answer, assignment),
                is_right=answer.is_right,
                seconds=answer.seconds,
                at=answer.at,
                template=answer.template,
                state=state,
            )


def _state(answer: Answer, assignment: Assignment, standing: Mapping[str, int]) -> str:
    """What became of an answer: it counts, was excluded or struck out, or something later stands in its place."""
    if answer.kind != "submitted":
        return answer.kind
    if assignment.state == "open" or standing[assignment.id] != answer.id:
        return "superseded"
    return {"submitted": "valid", "void": "void", "struck": "struck"}.get(assignment.state, "superseded")


def _slot_name(slot: Mapping[str, Any], instance: str) -> str:
    if slot["source"] == "generator":
        return str(slot["name"])
    own = slot["instance"] == instance
    return f"reference {slot['name']}" if own else f"reference {slot['name']} of {slot['instance']}"


def _worth(campaign: Campaign, answer: Answer, assignment: Assignment) -> tuple[Mapping[str, float], ...]:
    if answer.kind != "submitted":
        return ()
    values = answer_values(campaign.template, answer.answers, assignment.shown_order)
    return tuple(values.get(slot, {}) for slot in assignment.shown_order)


def disagreements(site: Site, viewer: Viewer, campaign_id: str, *, limit: int = 50) -> tuple[Spread, ...]:
    """Outputs with several labels, those on which annotators differ most first."""
    require(viewer, "administer")
    with site.database.reading() as connection:
        campaign = campaign_with_id(connection, campaign_id)
        labels = labels_of(connection, campaign)
    question = campaign.template.dimension(campaign.template.overall)
    by_output: dict[tuple[str, str], list[Label]] = {}
    for label in labels:
        by_output.setdefault((label.instance, label.slot.name), []).append(label)
    spreads = []
    for (instance, generator), several in by_output.items():
        values = [(label.annotator, 100 * question.share(label.values[question.name])) for label in several]
        shares = [share for _, share in values]
        if len(values) > 1:
            difference = max(shares) - min(shares)
            spreads.append(Spread(instance, generator, several[0].slot.text, tuple(values), difference))
    return tuple(sorted(spreads, key=lambda spread: (-spread.difference, spread.instance, spread.generator))[:limit])


@dataclass(frozen=True)
class Doubt:
    """An answer that a good metric finds implausible, with what it says and what the metric makes one expect."""

    answer_id: str
    rating: ImplausibleRating


def board_of_campaign(
    site: Site, viewer: Viewer, campaign_id: str, *, with_excluded: bool = False
) -> tuple[Board, SqlCells]:
    """The owners' board with this campaign's judgments alone, ranked by what its template sums up with; its cells."""
    require(viewer, "administer")
    with site.database.reading() as connection:
        campaign = campaign_with_id(connection, campaign_id)
    live = live_board(site, campaign.board, audience="owners")
    with site.database.reading() as connection:
        judged = judgments_of(connection, live.board, campaign, with_excluded=with_excluded)
    template = campaign.template
    own = [template.board_dimension(question) for question in template.valued]
    overall = template.board_dimension(template.dimension(template.overall)).name
    board = replace(
        live.board,
        judgments=judged,
        dimensions={**live.board.dimensions, **{dimension.name: dimension for dimension in own}},
        aggregates={template.name: Aggregate(template.name, (overall,))},
        ranks=template.name,
    )
    return board, live.cells


def campaign_agreement(
    site: Site, viewer: Viewer, campaign_id: str, *, by_day: bool = False, resamples: int = 200
) -> AnnotatorAgreementStudy:
    """How far a campaign's annotators agree, dimension by dimension; `NotEnoughData` where there is no rating."""
    board, _ = board_of_campaign(site, viewer, campaign_id)
    with site.database.reading() as connection:
        template = campaign_with_id(connection, campaign_id).template
    asked = [template.board_dimension(question).name for question in template.valued]
    sources = [board_ratings(board, name) for name in asked]
    return study_annotators(sources, by="day" if by_day else None, resamples=resamples)


def metric_estimates(
    site: Site, viewer: Viewer, campaign_id: str, *, metric: str = ENSEMBLE
) -> tuple[MeanEstimate, ...]:
    """Each generator's mean from its labels and a metric that scores all of its outputs; none where that can't be."""
    board, cells = board_of_campaign(site, viewer, campaign_id)
    estimates = []
    for name in dict.fromkeys(board.rows[row].name for row in board.judgments.row.tolist()):
        try:
            estimates.append(estimate_generator(board, cells, name, metric=metric))
        except NotEnoughData:
            continue
    return tuple(estimates)


def second_look(
    site: Site, viewer: Viewer, campaign_id: str, *, metric: str = ENSEMBLE, limit: int = 50
) -> tuple[Doubt, ...]:
    """Answers that a metric finds implausible, the farthest off first: where to look, not what to find."""
    board, cells = board_of_campaign(site, viewer, campaign_id)
    study = find_implausible(board, cells, metric=metric, shown=limit)
    with site.database.reading() as connection:
        campaign = campaign_with_id(connection, campaign_id)
        labels = labels_of(connection, campaign)
    answer_ids = {(label.instance, label.annotator, label.slot.text): label.answer_id for label in labels}
    return tuple(
        Doubt(answer_ids[rating.instance, rating.annotator or "", rating.output], rating)
        for rating in study.implausible
    )
