"""Who annotates: invitations, how everybody stands, and what people decide about annotators.

Personal links are made for names the owner knows; a shared one lets a crowd platform's people in under the ids that the
platform gives them. The annotator model excludes by itself; a person may exclude and readmit, and disputes are a
person's to decide. Whoever decides gives a reason, and it stays on record. After each test question the model looks at
everybody again (GENIE, §5): all annotators of a task are judged together, over the test questions of every campaign of
that task. A plan goes by all signs together, by the paper's model alone, or by an e-value of 100 against reaching the
pass mark, which happens to one in a hundred at most of those who do reach it, however often one looks.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import exp
from statistics import median
from typing import Any

from sqlalchemy import Connection

from billboards.errors import InvalidInput, Refused
from billboards.site.accounts.access import Viewer, require
from billboards.site.campaigns import annotator_records as annotators
from billboards.site.campaigns import answer_counts
from billboards.site.campaigns import answer_records as answers
from billboards.site.campaigns import campaign_records as campaigns
from billboards.site.campaigns.annotator_records import Annotator, Participation, Ruling, Standing
from billboards.site.campaigns.annotator_signs import MOST_ANSWERS, weigh_signs
from billboards.site.campaigns.campaign import Campaign, campaign_of, campaign_with_id
from billboards.site.campaigns.decisions import follow_decisions
from billboards.site.campaigns.repeating import check_may_judge
from billboards.site.database import trail
from billboards.site.site import Site
from billboards.stats.annotator_signs import ENOUGH, AnnotatorEvidence
from billboards.stats.annotators import (
    AnnotatorModel,
    AnnotatorReport,
    AnnotatorVerdict,
    QuestionStanding,
    judge_annotators,
)
from billboards.stats.sequences import log_evidence_of_error

MODEL = "annotator model"
#: What excludes annotators where the plan goes by all signs.
SIGNS = "annotator signs"
#: What excludes annotators where the plan goes by evidence, and how large an e-value must be: 1% are excluded wrongly.
EVIDENCE = "annotator e-value"
#: What is larger than the exponential of this is told as that.
LARGEST_LOG = 34.5
KINDS = ("positive", "negative")
#: Where a link leads, on the site.
PATH = "/annotate/"


@dataclass(frozen=True)
class Invitation:
    """A personal link; the token is shown now and never again."""

    name: str
    pseudonym: str
    token: str

    @property
    def path(self) -> str:
        return f"{PATH}{self.token}"


@dataclass(frozen=True, kw_only=True)
class TestCount:
    """An annotator's test questions of one kind, and what the model makes of them.

    `low` and `high` bound the accuracy by the annotator's own answers: a learned prior knows annotators who are all
    alike so well that its interval would tell nothing about one of them.
    """

    __test__ = False

    right: int
    wrong: int
    noisy: float | None = None
    accuracy: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, kw_only=True)
class AnnotatorLine:
    """How an annotator stands; `name` is real, for owners only."""

    pseudonym: str
    name: str
    state: Standing
    answers: int
    median_seconds: float | None
    positive: TestCount
    negative: TestCount
    joined: float
    reason: str
    #: What all signs say together, and each of them; None before anything was answered.
    evidence: AnnotatorEvidence | None = None


def invite(
    site: Site, viewer: Viewer, campaign_id: str, names: Sequence[str] | int, *, expires: float | None = None
) -> tuple[Invitation, ...]:
    """Personal links for people by name (or e-mail address), or for so many who have no name."""
    require(viewer, "administer")
    now = site.clock()
    with site.database.writing() as connection:
        campaign = campaign_with_id(connection, campaign_id)
        if campaign.state == "closed":
            raise Refused(f"campaign {campaign.name} is closed; nobody can be invited any more")
        enrolled = len(annotators.in_campaign(connection, campaign_id))
        wanted = _names(names, campaign.name, enrolled)
        made = []
        for name in wanted:
            who = annotators.annotator_of(connection, name, now=now)
            check_may_judge(connection, campaign, who.id, name=name)
            state: Standing = "qualifying" if campaign.plan.qualification else "active"
            annotators.join(connection, campaign_id, who.id, state, now=now)
            token = annotators.add_link(connection, campaign_id, now=now, annotator_id=who.id, expires=expires)
            made.append(Invitation(name, who.pseudonym, token))
        detail = {"annotators": [invitation.pseudonym for invitation in made]}
        trail.note(
            connection, viewer.name, "annotator.invited", campaign_id, now=now, board=campaign.board, detail=detail
        )
    return tuple(made)


def _names(names: Sequence[str] | int, campaign: str, enrolled: int) -> list[str]:
    if isinstance(names, int):
        if not 1 <= names <= 1000:
            raise InvalidInput(f"between 1 and 1,000 links are made at a time; found {names}")
        return [f"{campaign} annotator {enrolled + k + 1}" for k in range(names)]
    trimmed = [name.strip() for name in names]
    for name in trimmed:
        if not name or len(name) > 320 or any(ord(letter) < 32 for letter in name) or ":" in name:
            raise InvalidInput(f"{name[:80]!r} can't be an annotator's name; use one line without a colon")
    if len(set(trimmed)) != len(trimmed):
        raise InvalidInput("a name stands twice; invite everybody once")
    return trimmed


def shared_link(site: Site, viewer: Viewer, campaign_id: str, platform: str) -> str:
    """One link for everybody who comes from a platform; whoever comes must bring the platform's id."""
    require(viewer, "administer")
    if not platform or len(platform) > 100 or ":" in platform:
        raise InvalidInput(f"{platform[:80]!r} can't be a platform's name; use a short word such as prolific")
    now = site.clock()
    with site.database.writing() as connection:
        campaign = campaign_with_id(connection, campaign_id)
        token = annotators.add_link(connection, campaign_id, now=now, platform=platform)
        trail.note(
            connection,
            viewer.name,
            "campaign.shared",
            campaign_id,
            now=now,
            board=campaign.board,
            detail={"platform": platform},
        )
    return token


def revoke_link(site: Site, viewer: Viewer, campaign_id: str, pseudonym: str) -> int:
    """Make an annotator's links useless; answers that were given stay."""
    require(viewer, "administer")
    with site.database.writing() as connection:
        who = annotators.with_pseudonym(connection, campaign_id, pseudonym)
        count = annotators.revoke_links(connection, campaign_id, who.id, now=site.clock())
        board = campaign_with_id(connection, campaign_id).board
        detail = {"annotator": pseudonym, "links": count}
        trail.note(
            connection, viewer.name, "annotator.revoked", campaign_id, now=site.clock(), board=board, detail=detail
        )
        return count


def exclude(site: Site, viewer: Viewer, campaign_id: str, pseudonym: str, reason: str) -> Ruling:
    """A person leaves an annotator out; their items go to others."""
    _check_reason(viewer, reason)
    with site.database.writing() as connection:
        campaign = campaign_with_id(connection, campaign_id)
        who, standing = _standing(connection, campaign_id, pseudonym)
        if standing.state == "excluded":
            raise Refused(f"{pseudonym} is excluded already")
        return leave_out(connection, site, campaign, who, reason, actor=viewer.name)


def readmit(site: Site, viewer: Viewer, campaign_id: str, pseudonym: str, reason: str) -> Ruling:
    """A person lets an annotator in again; their answers count again, and the model does not decide about them."""
    _check_reason(viewer, reason)
    now = site.clock()
    with site.database.writing() as connection:
        campaign = campaign_with_id(connection, campaign_id)
        who, standing = _standing(connection, campaign_id, pseudonym)
        if standing.state not in ("excluded", "failed"):
            raise Refused(f"{pseudonym} takes part; there is nothing to readmit")
        ruling = annotators.rule(
            connection, campaign_id, "annotator", pseudonym, "readmitted", reason, actor=viewer.name, now=now
        )
        annotators.set_standing(connection, campaign_id, who.id, "active", now=now)
        restored = answers.set_all(connection, campaign_id, who.id, ("void",), "submitted", now=now)
        detail = {"annotator": pseudonym, "reason": reason, "answers": restored}
        action = "annotator.readmitted"
        trail.note(connection, viewer.name, action, campaign_id, now=now, board=campaign.board, detail=detail)
        follow_decisions(connection, campaign, now=now)
        if campaign.state == "closed" or campaign.rolling:
            trail.raise_generation(connection, campaign.board, now=now)
        return ruling


def rulings(site: Site, viewer: Viewer, campaign_id: str) -> tuple[Ruling, ...]:
    """Everything that was decided about annotators and answers, the oldest first."""
    require(viewer, "administer")
    with site.database.reading() as connection:
        return annotators.list_rulings(connection, campaign_id)


def annotator_lines(site: Site, viewer: Viewer, campaign_id: str) -> tuple[AnnotatorLine, ...]:
    """How everybody in a campaign stands, with what the annotator model makes of them now."""
    require(viewer, "administer")
    with site.database.reading() as connection:
        campaign = campaign_with_id(connection, campaign_id)
        people = annotators.in_campaign(connection, campaign_id)
        standings = annotators.list_participations(connection, campaign_id)
        ruled = {
            ruling.name: ruling for ruling in annotators.list_rulings(connection, campaign_id, subject="annotator")
        }
        report = judge_task(connection, campaign)
        weighed = weigh_annotators(connection, campaign) if campaign.plan.exclusion == "e-value" else {}
        signs = judge_signs(connection, campaign)
        counts = {person: answer_counts.answered(connection, campaign_id, annotator_id=person) for person in people}
        spent = {person: answer_counts.seconds_spent(connection, campaign_id, annotator_id=person) for person in people}
    verdicts = {} if report is None else {verdict.annotator: verdict for verdict in report.verdicts}

    def line(standing: Participation) -> AnnotatorLine:
        who = people[standing.annotator_id]
        verdict, ruling = verdicts.get(who.pseudonym), ruled.get(who.pseudonym)
        evidence = weighed.get(who.pseudonym)
        standing_reason = _standing_reason(campaign, evidence, verdict, signs.get(who.pseudonym))
        return AnnotatorLine(
            pseudonym=who.pseudonym,
            name=who.name,
            state=standing.state,
            answers=sum(counts[who.id].values()),
            median_seconds=median(spent[who.id]) if spent[who.id] else None,
            positive=_count(verdict, "positive"),
            negative=_count(verdict, "negative"),
            joined=standing.joined,
            reason=standing_reason if ruling is None else ruling.reason,
            evidence=signs.get(who.pseudonym),
        )

    return tuple(map(line, standings))


def _standing_reason(
    campaign: Campaign,
    evidence: Evidence | None,
    verdict: AnnotatorVerdict | None,
    signs: AnnotatorEvidence | None,
) -> str:
    """Why somebody stands as they do, by the plan's rule."""
    if evidence is not None:
        return evidence.reason
    if campaign.plan.exclusion == "signs":
        return "" if signs is None or not signs.signs else signs.reason
    return "" if verdict is None else verdict.reason


def _count(verdict: AnnotatorVerdict | None, kind: str) -> TestCount:
    standing: QuestionStanding | None = None
    if verdict is not None:
        standing = next(standing for standing in verdict.standings if standing.kind == kind)
    if standing is None or standing.right + standing.wrong == 0:
        return TestCount(right=0, wrong=0)
    low, high = standing.own_interval
    return TestCount(
        right=standing.right,
        wrong=standing.wrong,
        noisy=standing.p_noisy,
        accuracy=standing.accuracy,
        low=low,
        high=high,
    )


def _standing(connection: Connection, campaign_id: str, pseudonym: str) -> tuple[Annotator, Participation]:
    who = annotators.with_pseudonym(connection, campaign_id, pseudonym)
    standing = annotators.participation(connection, campaign_id, who.id)
    assert standing is not None, "who has a pseudonym here takes part"
    return who, standing


def _check_reason(viewer: Viewer, reason: str) -> None:
    require(viewer, "administer")
    if not reason.strip():
        raise InvalidInput("a decision about an annotator needs a reason, since it stays on record")


def review_due(site: Site, campaign_id: str, annotator_id: int) -> bool:
    """Whether an annotator is new, or has answered a test question that the model has not seen."""
    with site.database.reading() as connection:
        standing = annotators.participation(connection, campaign_id, annotator_id)
        last = answer_counts.last_tests(connection, campaign_id, annotator_id=annotator_id).get(annotator_id, 0)
    return standing is not None and standing.state == "active" and last > standing.reviewed


def review_campaign(site: Site, campaign_id: str) -> tuple[str, ...]:
    """Judge everybody in a campaign by the model, and exclude who is noisy; returns their pseudonyms."""
    with site.database.reading() as connection:
        campaign = campaign_with_id(connection, campaign_id)
        last = answer_counts.last_tests(connection, campaign_id)
        charges = _charges(connection, campaign)
    with site.database.writing() as connection:
        here = annotators.in_campaign(connection, campaign_id)
        noisy = [who for who in here.values() if who.pseudonym in charges]
        done = [who.pseudonym for who in noisy if _exclude(connection, site, campaign, who, charges[who.pseudonym])]
        annotators.set_reviewed(
            connection, campaign_id, {annotator_id: last.get(annotator_id, 0) for annotator_id in here}
        )
    return tuple(done)


@dataclass(frozen=True, kw_only=True)
class _Charge:
    """Why an annotator is to be excluded, and by which rule."""

    actor: str
    reason: str
    detail: Mapping[str, Any]


def _charges(connection: Connection, campaign: Campaign) -> dict[str, _Charge]:
    """Who is to be excluded by the plan's rule: by all signs, by the annotator model, or short of the pass mark."""
    if campaign.plan.exclusion == "signs":
        return {
            name: _Charge(actor=SIGNS, reason=evidence.reason, detail={"enough": ENOUGH, **asdict(evidence)})
            for name, evidence in judge_signs(connection, campaign).items()
            if evidence.careless
        }
    if campaign.plan.exclusion == "e-value":
        return {
            name: _Charge(actor=EVIDENCE, reason=evidence.reason, detail=asdict(evidence))
            for name, evidence in weigh_annotators(connection, campaign).items()
            if evidence.e >= ENOUGH
        }
    report = judge_task(connection, campaign)
    return {
        verdict.annotator: _Charge(
            actor=MODEL,
            reason=verdict.reason,
            detail={"model": AnnotatorModel().name, "standings": [asdict(standing) for standing in verdict.standings]},
        )
        for verdict in (() if report is None else report.verdicts)
        if verdict.noisy
    }


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """The e-value that an annotator is right less often than `accuracy`: the mean over both kinds of questions."""

    accuracy: float
    counts: Mapping[str, tuple[int, int]]
    e: float

    @property
    def reason(self) -> str:
        """The evidence in words."""
        right = ", ".join(f"{r} of {r + w} {kind}" for kind, (r, w) in self.counts.items() if r + w)
        return f"e-value {self.e:.3g} against an accuracy of {self.accuracy:g} or more: {right} questions right"


def weigh_annotators(connection: Connection, campaign: Campaign) -> dict[str, Evidence]:
    """The evidence against everybody who answered test questions of a campaign's task, by pseudonym."""
    pseudonyms, counts = _task_counts(connection, campaign)
    accuracy = campaign.plan.pass_mark
    weighed = {}
    for annotator_id, pseudonym in pseudonyms.items():
        own = {kind: counts.get((annotator_id, kind), (0, 0)) for kind in KINDS}
        logs = [float(log_evidence_of_error(right, wrong, accuracy=accuracy)) for right, wrong in own.values()]
        e = sum(exp(min(log, LARGEST_LOG)) for log in logs) / len(logs)
        weighed[pseudonym] = Evidence(accuracy=accuracy, counts=own, e=e)
    return weighed


def judge_signs(connection: Connection, campaign: Campaign) -> dict[str, AnnotatorEvidence]:
    """What all signs say against everybody who answered in a campaign or its task, by pseudonym."""
    pseudonyms, counts = _task_counts(connection, campaign, purposes=("test", "qualification"))
    here = annotators.in_campaign(connection, campaign.id)
    people = pseudonyms | {annotator_id: who.pseudonym for annotator_id, who in here.items()}
    given = answer_counts.given_answers(connection, campaign.id, most=MOST_ANSWERS)
    return weigh_signs(people, counts, campaign.template, given)


def _task_counts(
    connection: Connection, campaign: Campaign, *, purposes: Collection[str] = ("test",)
) -> tuple[dict[int, str], dict[tuple[int, str], tuple[int, int]]]:
    """Everybody who answered test questions of a campaign's task, with how many of each kind were right and wrong."""
    same = [
        row.id
        for row in campaigns.find(connection)
        if row.id == campaign.id or campaign_of(row).template.task == campaign.template.task
    ]
    counts = answer_counts.counts_of_tests(connection, same, purposes=purposes)
    pseudonyms = {
        annotator_id: annotators.annotator(connection, annotator_id).pseudonym for annotator_id, _ in sorted(counts)
    }
    return pseudonyms, counts


def judge_task(connection: Connection, campaign: Campaign) -> AnnotatorReport | None:
    """The model's report on everybody who answered test questions of a campaign's task; None where nobody did."""
    pseudonyms, counts = _task_counts(connection, campaign)
    if not pseudonyms:
        return None
    columns = {
        kind: tuple([counts.get((annotator_id, kind), (0, 0))[side] for annotator_id in pseudonyms] for side in (0, 1))
        for kind in KINDS
    }
    return judge_annotators(
        annotators=list(pseudonyms.values()),
        counts={kind: (right, wrong) for kind, (right, wrong) in columns.items()},
        model=AnnotatorModel(),
    )


def _exclude(connection: Connection, site: Site, campaign: Campaign, who: Annotator, charge: _Charge) -> bool:
    """Exclude a noisy annotator, unless a person has decided about them or somebody else was faster."""
    standing = annotators.participation(connection, campaign.id, who.id)
    ruled = annotators.list_rulings(connection, campaign.id, subject="annotator", names=[who.pseudonym])
    if standing is None or standing.state != "active" or any(ruling.verdict == "readmitted" for ruling in ruled):
        return False
    leave_out(connection, site, campaign, who, charge.reason, actor=charge.actor, detail=charge.detail)
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
    record = {"annotator": who.pseudonym, "reason": reason, "answers": voided}
    trail.note(connection, actor, "annotator.excluded", campaign.id, now=now, board=campaign.board, detail=record)
    follow_decisions(connection, campaign_with_id(connection, campaign.id), now=now)
    if campaign.state == "closed" or campaign.rolling:
        trail.raise_generation(connection, campaign.board, now=now)
    return ruling
