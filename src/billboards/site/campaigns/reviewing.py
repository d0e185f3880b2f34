"""The annotator model at work: after each test question, who answers at random is found and left out (GENIE, §5).

All annotators of a task are judged together, by one model over the test questions of every campaign of that task.
Whoever is noisy is excluded: their answers no longer count, their items go to others, and the record says why. A
person may decide otherwise, and then the model does not speak again. Nothing is computed while the database is locked;
a review that was cut off is made up for when the annotator asks for the next item.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection

from billboards.site.campaigns import annotator_records as annotators
from billboards.site.campaigns import answer_counts
from billboards.site.campaigns import answer_records as answers
from billboards.site.campaigns import records as campaigns
from billboards.site.campaigns.annotator_records import Annotator, Ruling
from billboards.site.campaigns.campaign import Campaign, campaign_of, campaign_with_id
from billboards.site.database import trail
from billboards.site.site import Site
from billboards.stats.annotator_results import AnnotatorModel, AnnotatorReport, AnnotatorVerdict
from billboards.stats.annotators import judge_annotators

MODEL = "annotator model"
KINDS = ("positive", "negative")


def review_due(site: Site, campaign_id: str, annotator_id: int) -> bool:
    """Whether an annotator is new, or has answered a test question that the model has not seen."""
    with site.database.reading() as connection:
        known = annotators.participation(connection, campaign_id, annotator_id)
        last = answer_counts.last_tests(connection, campaign_id, annotator_id=annotator_id).get(annotator_id, 0)
    return known is not None and known.state == "active" and last > known.reviewed


def review_campaign(site: Site, campaign_id: str) -> tuple[str, ...]:
    """Judge everybody in a campaign by the model, and exclude who is noisy; returns their pseudonyms."""
    with site.database.reading() as connection:
        campaign = campaign_with_id(connection, campaign_id)
        last = answer_counts.last_tests(connection, campaign_id)
        report = judge_task(connection, campaign)
    verdicts = {} if report is None else {one.annotator: one for one in report.verdicts if one.noisy}
    with site.database.writing() as connection:
        here = annotators.in_campaign(connection, campaign_id)
        noisy = [who for who in here.values() if who.pseudonym in verdicts]
        done = [who.pseudonym for who in noisy if _exclude(connection, site, campaign, who, verdicts[who.pseudonym])]
        annotators.set_reviewed(connection, campaign_id, {one: last.get(one, 0) for one in here})
    return tuple(done)


def judge_task(connection: Connection, campaign: Campaign) -> AnnotatorReport | None:
    """The model's report on everybody who answered test questions of a campaign's task; None where nobody did."""
    same = [
        row.id
        for row in campaigns.find(connection)
        if row.id == campaign.id or campaign_of(row).template.task == campaign.template.task
    ]
    counts = answer_counts.counts_of_tests(connection, same)
    known = {one: annotators.annotator(connection, one).pseudonym for one, _ in sorted(counts)}
    if not known:
        return None
    columns = {
        kind: tuple([counts.get((one, kind), (0, 0))[side] for one in known] for side in (0, 1)) for kind in KINDS
    }
    return judge_annotators(
        annotators=list(known.values()),
        counts={kind: (right, wrong) for kind, (right, wrong) in columns.items()},
        model=AnnotatorModel(),
    )


def _exclude(connection: Connection, site: Site, campaign: Campaign, who: Annotator, verdict: AnnotatorVerdict) -> bool:
    """Exclude a noisy annotator, unless a person has decided about them or somebody else was faster."""
    standing = annotators.participation(connection, campaign.id, who.id)
    ruled = annotators.list_rulings(connection, campaign.id, subject="annotator", names=[who.pseudonym])
    if standing is None or standing.state != "active" or any(one.verdict == "readmitted" for one in ruled):
        return False
    detail = {"model": AnnotatorModel().name, "standings": [asdict(one) for one in verdict.standings]}
    leave_out(connection, site, campaign, who, verdict.reason, actor=MODEL, detail=detail)
    return True


def leave_out(
    connection: Connection,
    site: Site,
    campaign: Campaign,
    who: Annotator,
    reason: str,
    *,
    actor: str,
    detail: Mapping[str, Any] | None = None,
) -> Ruling:
    """Take an annotator out: the record, the standing, the answers that no longer count, the items that open again."""
    now = site.clock()
    ruling = annotators.rule(
        connection, campaign.id, "annotator", who.pseudonym, "excluded", reason, actor=actor, now=now, detail=detail
    )
    annotators.set_standing(connection, campaign.id, who.id, "excluded", now=now)
    voided = answers.set_all(connection, campaign.id, who.id, ("submitted",), "void", now=now)
    answers.set_all(connection, campaign.id, who.id, ("open",), "released", now=now)
    told = {"annotator": who.pseudonym, "reason": reason, "answers": voided}
    trail.note(connection, actor, "annotator.excluded", campaign.id, now=now, board=campaign.board, detail=told)
    if campaign.state == "closed" or campaign.rolling:
        trail.raise_generation(connection, campaign.board, now=now)
    return ruling
