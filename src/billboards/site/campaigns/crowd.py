"""A campaign's studies on a crowd platform: quoted, drafted, published, reviewed, paid.

A draft costs nothing. Publishing, approving and paying bonuses cost money, so each of them refuses, saying what it
would cost, until it is confirmed. What a platform is asked for and when stands in the audit trail. Who did a place's
items gets the study's code; what becomes of their work is proposed from their answers and decided by a person.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Literal

from billboards.campaigns.crowd.base import CrowdPlatform, Screener, Study, StudyNow, Work, WorkState
from billboards.campaigns.crowd.publication import next_weekday_at_ten
from billboards.campaigns.crowd.quote import StudyQuote, money, quote_in_words, quote_study
from billboards.campaigns.quote import people_for
from billboards.errors import InvalidInput, PlatformFailed, Refused
from billboards.site.accounts.access import Viewer, require
from billboards.site.campaigns import annotator_records as annotators
from billboards.site.campaigns import answer_counts
from billboards.site.campaigns import study_records as studies
from billboards.site.campaigns.annotator_work import Participant
from billboards.site.campaigns.annotators import PATH, shared_link
from billboards.site.campaigns.campaign import Campaign, campaign_with_id
from billboards.site.campaigns.lifecycle import quote_campaign
from billboards.site.campaigns.study_records import Payment, StudyRow
from billboards.site.database import trail
from billboards.site.site import Site

#: Where a platform's people go back to with their code, and what the platform puts into an address.
BACK = {"prolific": "https://app.prolific.com/submissions/complete?cc={code}"}
WHO = {"prolific": "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"}


@dataclass(frozen=True)
class Drafted:
    """A study that nobody sees yet, with our price and the platform's."""

    row: StudyRow
    quote: StudyQuote
    now: StudyNow


@dataclass(frozen=True)
class Completion:
    """What somebody from a platform takes back there."""

    code: str
    platform: str
    url: str


@dataclass(frozen=True)
class Proposal:
    """What might become of a work, and why."""

    work: Work
    verdict: Literal["approve", "look"]
    answers: int
    reason: str


def draft_study(
    site: Site,
    viewer: Viewer,
    campaign_id: str,
    platform: CrowdPlatform,
    *,
    hourly: int,
    items_per_place: int = 20,
    seconds_per_item: float | None = None,
    screeners: Sequence[Screener] = (),
) -> Drafted:
    """Put a campaign on a platform as a draft, with a link of its own; costs nothing."""
    require(viewer, "administer")
    if not site.settings.base_url:
        raise InvalidInput("people from a platform must find this site: set base_url in site.toml")
    with site.database.reading() as connection:
        campaign = campaign_with_id(connection, campaign_id)
    plain = quote_campaign(site, viewer, campaign_id)
    # On a platform each place is somebody else's.
    people = people_for(plain.labels, campaign.plan, items_per_place)
    asked = quote_campaign(site, viewer, campaign_id, annotators=people)
    seconds = seconds_per_item or campaign.plan.seconds_per_item or 30.0
    quote = quote_study(
        platform.name,
        platform.fees,
        answers=asked.answers,
        generators=asked.generators,
        instances=asked.instances,
        items_per_place=items_per_place,
        seconds_per_item=seconds,
        hourly=hourly,
        questions=asked.questions_per_person,
        recall_random=asked.recall_random,
        recall_half_random=asked.recall_half_random,
    )
    token = shared_link(site, viewer, campaign_id, platform.name)
    address = f"{site.settings.base_url.rstrip('/')}{PATH}{token}{WHO.get(platform.name, '')}"
    code = secrets.token_hex(5).upper()
    drafted = platform.draft(_study(campaign, quote, address, code, tuple(screeners)))
    values: dict[str, object] = {
        "campaign_id": campaign_id,
        "platform": platform.name,
        "platform_id": drafted.id,
        "code": code,
    }
    values |= {"items_per_place": items_per_place, "quote": _document(quote)}
    with site.database.writing() as connection:
        row = studies.add_study(connection, values, now=site.clock())
        detail = {"study": row.id, "platform": platform.name, "total": quote.total}
        trail.note(
            connection, viewer.name, "study.drafted", campaign_id, now=site.clock(), board=campaign.board, detail=detail
        )
    return Drafted(row, quote, drafted)


def _study(campaign: Campaign, quote: StudyQuote, address: str, code: str, screeners: tuple[Screener, ...]) -> Study:
    template = campaign.template
    description = " ".join(template.instructions.split())[:900]
    return Study(
        name=template.title,
        description=description,
        address=address,
        code=code,
        minutes=quote.minutes,
        reward=quote.reward,
        places=quote.places,
        screeners=screeners,
    )


def _document(quote: StudyQuote) -> dict[str, object]:
    return {**asdict(quote), "total": quote.total, "words": list(quote_in_words(quote))}


def publish_study(
    site: Site,
    viewer: Viewer,
    study_id: str,
    platform: CrowdPlatform,
    *,
    confirmed: bool,
    zone: str | None = None,
) -> StudyNow:
    """Show a study to people, now or on a weekday at ten in a time zone; refuses, with its price, until confirmed."""
    row = _row(site, viewer, study_id, platform)
    study = platform.look(row.platform_id)
    if not confirmed:
        cost = "" if study.cost is None else f"; {platform.name} says {money(study.cost, study.currency or '')}"
        raise Refused(f"publishing spends money: {'; '.join(row.quote['words'])}{cost}. Say --confirm to publish")
    at = None if zone is None else next_weekday_at_ten(datetime.fromtimestamp(site.clock(), UTC), zone)
    published = platform.publish(row.platform_id, at=at)
    _moved(site, viewer, row, "published", {"at": None if at is None else at.isoformat()})
    return published


def end_study(site: Site, viewer: Viewer, study_id: str, platform: CrowdPlatform) -> StudyNow:
    """End a study for good."""
    row = _row(site, viewer, study_id, platform)
    ended = platform.end(row.platform_id)
    _moved(site, viewer, row, "ended", {})
    return ended


def grow_study(
    site: Site, viewer: Viewer, study_id: str, platform: CrowdPlatform, places: int, *, confirmed: bool
) -> StudyNow:
    """Offer more places; refuses, with what they cost, until confirmed."""
    row = _row(site, viewer, study_id, platform)
    study = platform.look(row.platform_id)
    cost = round(max(0, places - study.places) * study.reward * (1 + platform.fees.share))
    if not confirmed:
        more, price = places - study.places, money(cost, platform.fees.currency)
        raise Refused(f"{more} more places cost {price}; say --confirm to offer them")
    grown = platform.grow(row.platform_id, places)
    _note(site, viewer, row, "study.grown", {"places": places})
    return grown


def review_works(site: Site, viewer: Viewer, study_id: str, platform: CrowdPlatform) -> tuple[Proposal, ...]:
    """What to think of each work that waits for review, from the answers its author gave."""
    row = _row(site, viewer, study_id, platform)
    waiting = [work for work in platform.works(row.platform_id) if work.state is WorkState.TO_REVIEW]
    return tuple(_propose(site, row, work) for work in waiting)


def _propose(site: Site, row: StudyRow, work: Work) -> Proposal:
    with site.database.reading() as connection:
        by_name = {
            annotator.name: annotator for annotator in annotators.in_campaign(connection, row.campaign_id).values()
        }
        who = by_name.get(f"{row.platform}:{work.participant}")
        if who is None:
            return Proposal(work, "look", 0, "never came to the site")
        count = sum(answer_counts.answered(connection, row.campaign_id, annotator_id=who.id).values())
        standing = annotators.participation(connection, row.campaign_id, who.id)
    if work.code != row.code:
        return Proposal(work, "look", count, f"entered {work.code or 'no code'}, which is not the study's")
    if count < row.items_per_place:
        return Proposal(work, "look", count, f"gave {count} of {row.items_per_place} answers")
    if standing is not None and standing.state in ("excluded", "failed"):
        return Proposal(work, "look", count, f"is {standing.state}; see the campaign's record for the reason")
    return Proposal(work, "approve", count, "did all of it and keeps the code")


def approve_works(
    site: Site, viewer: Viewer, study_id: str, platform: CrowdPlatform, work_ids: Sequence[str], *, confirmed: bool
) -> int:
    """Accept works, which pays their rewards; refuses, with the amount, until confirmed."""
    row = _row(site, viewer, study_id, platform)
    if not confirmed:
        reward = platform.look(row.platform_id).reward
        amount = money(reward * len(work_ids), platform.fees.currency)
        raise Refused(f"approving {len(work_ids)} works pays {amount} and fees; say --confirm to approve")
    for work_id in work_ids:
        platform.approve(work_id)
        _note(site, viewer, row, "study.approved", {"work": work_id})
    return len(work_ids)


def reject_work(
    site: Site, viewer: Viewer, study_id: str, platform: CrowdPlatform, work_id: str, category: str, message: str
) -> None:
    """Refuse a work with the reason its author is told; a person's decision, on record."""
    row = _row(site, viewer, study_id, platform)
    platform.reject(work_id, category, message)
    _note(site, viewer, row, "study.rejected", {"work": work_id, "category": category, "message": message})


def prepare_bonuses(
    site: Site, viewer: Viewer, study_id: str, platform: CrowdPlatform, amounts: Mapping[str, int]
) -> Payment:
    """Write down bonuses, here and on the platform; pays nothing."""
    row = _row(site, viewer, study_id, platform)
    batch = platform.prepare_bonuses(row.platform_id, amounts)
    with site.database.writing() as connection:
        return studies.add_payment(connection, study_id, batch, amounts, now=site.clock())


def pay_bonuses(site: Site, viewer: Viewer, payment_id: str, platform: CrowdPlatform, *, confirmed: bool) -> Payment:
    """Pay prepared bonuses, once: what was sent and not answered is never sent again by itself."""
    require(viewer, "administer")
    with site.database.reading() as connection:
        payment = studies.payment(connection, payment_id)
    row = _row(site, viewer, payment.study_id, platform)
    total = money(sum(payment.amounts.values()), platform.fees.currency)
    if not confirmed:
        raise Refused(f"this pays {len(payment.amounts)} bonuses, {total} and fees; say --confirm to pay")
    _move(site, payment_id, "sent")
    try:
        platform.pay_bonuses(payment.batch_id)
    except Refused as error:
        _move(site, payment_id, "not paid", str(error))
        raise
    except PlatformFailed as error:
        raise PlatformFailed(f"{error}; then say what you found with `billboards crowd settle`") from error
    _move(site, payment_id, "paid")
    _note(site, viewer, row, "study.bonuses-paid", {"payment": payment_id, "total": total})
    with site.database.reading() as connection:
        return studies.payment(connection, payment_id)


def settle_payment(site: Site, viewer: Viewer, payment_id: str, *, was_paid: bool, reason: str) -> Payment:
    """Say what a person found on the platform about a payment that was sent and not answered."""
    require(viewer, "administer")
    _move(site, payment_id, "paid" if was_paid else "not paid", reason)
    with site.database.reading() as connection:
        return studies.payment(connection, payment_id)


def _move(site: Site, payment_id: str, to: studies.PaymentState, reason: str | None = None) -> None:
    with site.database.writing() as connection:
        studies.move_payment(connection, payment_id, to, now=site.clock(), reason=reason)


def completion(site: Site, participant: Participant, *, is_over: bool) -> Completion | None:
    """The code that is due: after a place's items, or where there is nothing left, for people from a platform."""
    platform = participant.annotator.name.partition(":")[0]
    if platform not in BACK or participant.state == "failed":
        return None
    with site.database.reading() as connection:
        platform_studies = [
            study for study in studies.list_studies(connection, participant.campaign.id) if study.platform == platform
        ]
        counted = answer_counts.answered(connection, participant.campaign.id, annotator_id=participant.annotator.id)
    count = sum(counted.values())
    if not platform_studies or not count or (count < platform_studies[-1].items_per_place and not is_over):
        return None
    return Completion(
        platform_studies[-1].code, platform.capitalize(), BACK[platform].format(code=platform_studies[-1].code)
    )


def _row(site: Site, viewer: Viewer, study_id: str, platform: CrowdPlatform) -> StudyRow:
    require(viewer, "administer")
    with site.database.reading() as connection:
        row = studies.study(connection, study_id)
    if row.platform != platform.name:
        raise InvalidInput(f"study {study_id} is on {row.platform}, not on {platform.name}")
    return row


def _moved(
    site: Site, viewer: Viewer, row: StudyRow, state: studies.StudyStanding, detail: Mapping[str, object]
) -> None:
    with site.database.writing() as connection:
        studies.set_study(connection, row.id, state, now=site.clock())
    _note(site, viewer, row, f"study.{state}", detail)


def _note(site: Site, viewer: Viewer, row: StudyRow, action: str, detail: Mapping[str, object]) -> None:
    with site.database.writing() as connection:
        board = campaign_with_id(connection, row.campaign_id).board
        about = {"study": row.id, "platform": row.platform, **detail}
        trail.note(connection, viewer.name, action, row.campaign_id, now=site.clock(), board=board, detail=about)
