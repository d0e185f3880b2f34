"""Generators by strength from a campaign's comparisons: pairs, or choices of a best and a worst.

It is the analysis `arena`, asked of one campaign's answers as they stand, whether the campaign is closed or not.
Answers are told apart by their ids. A template that asks about single outputs, or compares them with the reference, has
no strengths.
"""

from __future__ import annotations

from collections.abc import Iterable

from billboards.analyses import Result
from billboards.analyses._comparisons import Answer, Compared, of_answers
from billboards.analyses.arena import ArenaRanking, arena, rank_compared
from billboards.campaigns.templates import Template
from billboards.errors import NotEnoughData
from billboards.site.accounts.access import Viewer, require
from billboards.site.campaigns.campaign import campaign_with_id
from billboards.site.campaigns.judgments import Label, labels_of
from billboards.site.site import Site


def campaign_arena(
    site: Site, viewer: Viewer, campaign_id: str, *, with_excluded: bool = False
) -> Result[ArenaRanking] | None:
    """Strengths, who beats whom and Elo's history; None where nothing was compared, or all of it ended even."""
    require(viewer, "administer")
    with site.database.reading() as connection:
        campaign = campaign_with_id(connection, campaign_id)
        if campaign.template.compares != "generators":
            return None
        labels = labels_of(connection, campaign, with_excluded=with_excluded)
    try:
        ranked = rank_compared(
            compared_labels(campaign.template, labels),
            board=campaign.name,
            aggregate=campaign.template.overall,
            kinds={},
            seed=campaign.plan.seed,
        )
    except NotEnoughData:
        return None
    return arena.show(ranked)


def compared_labels(template: Template, labels: Iterable[Label]) -> Compared:
    """What labels say on the dimension that sums up, answer by answer in the order given."""
    of_answer: dict[str, list[Label]] = {}
    for label in labels:
        of_answer.setdefault(label.answer_id, []).append(label)
    generators: dict[str, int] = {}
    instances: dict[str, int] = {}
    people: dict[str, int] = {}
    question = template.dimension(template.overall)
    answers = [
        Answer(
            rows=tuple(generators.setdefault(label.slot.name, len(generators)) for label in given),
            values=tuple(question.share(label.values[question.name]) for label in given),
            instance=instances.setdefault(given[0].instance, len(instances)),
            annotator=people.setdefault(given[0].annotator, len(people)),
        )
        for given in of_answer.values()
        if len(given) > 1
    ]
    return of_answers(list(generators), answers)
