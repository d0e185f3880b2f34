"""Judging the judges: blind checks of outputs on which two sources of judgments disagree, and answers worth a second
look (Billboards, §2.4 and §2.5).

A meta-evaluation is a campaign: outputs of both corners of disagreement, shuffled, are judged good or bad by people who
don't know what anybody said of them. Which source they side with tells which to trust. Answers that a good metric finds
implausible are listed for a second look; whether one is struck out is a person's decision, on record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from billboards.analyses.agreement import Disagreement, study_agreement
from billboards.board import Board
from billboards.campaigns.items import Item, chance, output_slot
from billboards.campaigns.plan import CampaignPlan, read_plan
from billboards.campaigns.template_files import parse_template, template_source
from billboards.errors import InvalidInput, NotEnoughData, Refused
from billboards.site.accounts.access import Viewer, require
from billboards.site.boards.live import live_board
from billboards.site.campaigns import annotator_records as annotators
from billboards.site.campaigns import answer_counts
from billboards.site.campaigns import answer_records as answers
from billboards.site.campaigns.annotator_records import Ruling
from billboards.site.campaigns.campaign import Campaign, campaign_with_id
from billboards.site.campaigns.decisions import follow_decisions
from billboards.site.campaigns.judgments import labels_of
from billboards.site.campaigns.lifecycle import write_draft
from billboards.site.database import trail
from billboards.site.site import Site
from billboards.stats.worst_case import bootstrap_mean

Decision = Literal["upheld", "struck", "restored"]


@dataclass(frozen=True, kw_only=True)
class Corner:
    """What blind judges said of the outputs that one source found better than the other."""

    #: The source that rated these outputs higher, and how many of them were judged.
    higher: str
    judged: int
    good: int
    share: float
    low: float
    high: float
    #: The source that the judges side with.
    sides_with: str


def create_meta_campaign(
    site: Site,
    viewer: Viewer,
    board: str,
    name: str,
    first: str,
    second: str,
    *,
    per_corner: int = 25,
    template: str | Path = "binary",
    plan: CampaignPlan | None = None,
) -> Campaign:
    """Plan a blind check of the outputs on which two aggregates or dimensions disagree most, so many of each corner."""
    plan = read_plan((plan or CampaignPlan(positive=0.0, negative=0.0)).document())
    source = template_source(template)
    asked = parse_template(source, str(template))
    if asked.compares != "none":
        raise InvalidInput(f"template {asked.name} compares outputs; a meta-evaluation judges them one by one")
    live = live_board(site, board, audience="owners").board
    study = study_agreement(live, first, second, shown=per_corner)
    items = [
        *_corner_items(live, study.first_above, "first", plan),
        *_corner_items(live, study.second_above, "second", plan),
    ]
    if not items:
        raise NotEnoughData(f"{first} and {second} nowhere disagree on board {board}")
    items = chance(plan.seed, "meta").sample(items, len(items))
    values = {"template": source, "plan": plan.document(), "rolling": False, "ranks": False, "joins": {}}
    values["instances"] = list(dict.fromkeys(item.instance for item in items))
    values["generators"] = list(dict.fromkeys(item.slots[0].name for item in items))
    values["details"] = {"first": first, "second": second}
    return write_draft(site, viewer, board, name, "meta", values, items)


def _corner_items(board: Board, corner: Sequence[Disagreement], part: str, plan: CampaignPlan) -> list[Item]:
    items = []
    for disagreement in corner:
        slot = output_slot(board, board.row(disagreement.generator), disagreement.instance)
        assert slot is not None, "what was judged has a text"
        items.append(Item(instance=disagreement.instance, slots=(slot,), order=(0,), wanted=plan.labels, part=part))
    return items


def meta_results(site: Site, viewer: Viewer, campaign_id: str) -> tuple[Corner, ...]:
    """For each corner, the share of outputs that blind judges found good, and whom that speaks for."""
    require(viewer, "administer")
    with site.database.reading() as connection:
        campaign = campaign_with_id(connection, campaign_id)
        labels = labels_of(connection, campaign)
    if campaign.kind != "meta":
        raise Refused(f"campaign {campaign.name} is no meta-evaluation")
    question = campaign.template.dimension(campaign.template.overall)
    corners = []
    for part, other in (("first", "second"), ("second", "first")):
        shares_by_item: dict[int, list[float]] = {}
        for label in labels:
            if label.part == part:
                shares_by_item.setdefault(label.item, []).append(question.share(label.values[question.name]))
        if shares_by_item:
            means = [float(np.mean(shares)) for shares in shares_by_item.values()]
            share, low, high = bootstrap_mean(means, seed=campaign.plan.seed)
            higher, lower = campaign.details[part], campaign.details[other]
            good = sum(mean >= 0.5 for mean in means)
            corners.append(
                Corner(
                    higher=higher,
                    judged=len(means),
                    good=good,
                    share=share,
                    low=low,
                    high=high,
                    sides_with=higher if share >= 0.5 else lower,
                )
            )
    return tuple(corners)


def dispute(site: Site, viewer: Viewer, campaign_id: str, answer_id: str, reason: str) -> Ruling:
    """Put on record that an answer is doubted; it counts until somebody decides."""
    return _rule(site, viewer, campaign_id, answer_id, "disputed", reason)


def decide(site: Site, viewer: Viewer, campaign_id: str, answer_id: str, decision: Decision, reason: str) -> Ruling:
    """A person decides about an answer: it stands, is struck out (its item opens again), or counts once more."""
    if decision not in ("upheld", "struck", "restored"):
        raise InvalidInput(f"{decision!r} is no decision; decide upheld, struck or restored")
    return _rule(site, viewer, campaign_id, answer_id, decision, reason)


def _rule(site: Site, viewer: Viewer, campaign_id: str, answer_id: str, verdict: str, reason: str) -> Ruling:
    require(viewer, "administer")
    if not reason.strip():
        raise InvalidInput("a decision about an answer needs a reason, since it stays on record")
    now = site.clock()
    with site.database.writing() as connection:
        campaign = campaign_with_id(connection, campaign_id)
        answer = answer_counts.submitted(connection, campaign_id, answer_id)
        held = answers.assignment(connection, answer.assignment_id)
        assert held is not None
        if verdict == "struck" and held.state == "submitted":
            answers.set_state(connection, held.id, "struck", now=now)
        elif verdict == "restored" and held.state == "struck":
            answers.set_state(connection, held.id, "submitted", now=now)
        elif verdict in ("struck", "restored"):
            raise Refused(f"answer {answer_id} is {held.state}, so it can't be {verdict}")
        detail = {"answer": answer_id, "reason": reason}
        action = f"answer.{verdict}"
        trail.note(connection, viewer.name, action, campaign_id, now=now, board=campaign.board, detail=detail)
        follow_decisions(connection, campaign, now=now)
        if verdict in ("struck", "restored") and (campaign.state == "closed" or campaign.rolling):
            trail.raise_generation(connection, campaign.board, now=now)
        return annotators.rule(
            connection, campaign_id, "answer", answer_id, verdict, reason, actor=viewer.name, now=now
        )
