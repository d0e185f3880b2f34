"""What annotators do: come in by a link, get an item, answer it, undo, go on.

The link is the identity: no account is needed. An annotator holds one item at a time; asking for the next gives the
one in hands with all that was kept of it, so a crash loses nothing. A verb that says an answer is kept has written it
in a transaction of its own before it returns, under the id the client made, so that a request sent twice is kept once.
Answers are never edited: a draft renews the annotator's hold on the item, a submission ends it, and undoing adds a row
that supersedes the submission and opens the item again. Whether a test question was answered right is decided here,
once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from billboards.campaigns.answers import answer_values, check_answers
from billboards.errors import InvalidInput, NotAllowed, Refused
from billboards.reading import shown
from billboards.site.accounts.access import Viewer, require
from billboards.site.campaigns import annotator_records as annotators
from billboards.site.campaigns import answer_records as answers
from billboards.site.campaigns import campaign_records as campaigns
from billboards.site.campaigns.adapting import adapt_schedule
from billboards.site.campaigns.annotator_records import Annotator, Participation, Standing
from billboards.site.campaigns.annotators import review_campaign, review_due
from billboards.site.campaigns.answer_records import Answer, AnswerKind, Assignment
from billboards.site.campaigns.campaign import Campaign, campaign_with_id
from billboards.site.campaigns.campaign_records import ItemRow
from billboards.site.campaigns.rolling import note_finished
from billboards.site.campaigns.turns import Progress, Turn, count_progress, next_turn
from billboards.site.campaigns.watching import follow_decisions
from billboards.site.site import Site

LONGEST_ID = 64
#: A page left open over lunch says nothing about how long an item takes.
LONGEST_TIME = 4 * 3600.0


@dataclass(frozen=True)
class Participant:
    """An annotator in a campaign, as they stand at this moment."""

    campaign: Campaign
    annotator: Annotator
    state: Standing


@dataclass(frozen=True, kw_only=True)
class Saved:
    """An answer that is on disk; `repeated` where it was there already."""

    answer_id: str
    assignment: str
    kind: AnswerKind
    at: float
    expires: float
    repeated: bool = False


def enter(site: Site, token: str, *, external: str | None = None) -> Participant:
    """Who comes by a link; a shared one needs the id that the platform gives its people."""
    now = site.clock()
    with site.database.reading() as connection:
        link = annotators.link(connection, token, now=now)
        if link is None:
            raise NotAllowed("this link opens nothing, or no longer; ask whoever sent it for another one")
        if link.annotator_id is not None:
            standing = annotators.participation(connection, link.campaign_id, link.annotator_id)
            if standing is not None:
                return _participant(connection, standing)
    if link.annotator_id is None and (not external or len(external) > 200):
        raise InvalidInput("this link is shared; come by the platform's own page, which says who you are")
    with site.database.writing() as connection:
        who = link.annotator_id or annotators.annotator_of(connection, f"{link.platform}:{external}", now=now).id
        return _participant(connection, _join(connection, link.campaign_id, who, now))


def enter_account(site: Site, viewer: Viewer, campaign_id: str) -> Participant:
    """Take part with an account."""
    account = require(viewer, "annotate")
    now = site.clock()
    with site.database.writing() as connection:
        who = annotators.annotator_of(connection, f"account:{account.name}", now=now, account_id=account.id)
        return _participant(connection, _join(connection, campaign_id, who.id, now))


def _join(connection: Connection, campaign_id: str, annotator_id: int, now: float) -> Participation:
    plan = campaign_with_id(connection, campaign_id).plan
    state: Standing = "qualifying" if plan.qualification else "active"
    return annotators.join(connection, campaign_id, annotator_id, state, now=now)


def _participant(connection: Connection, standing: Participation) -> Participant:
    who = annotators.annotator(connection, standing.annotator_id)
    return Participant(campaign_with_id(connection, standing.campaign_id), who, standing.state)


def next_item(site: Site, participant: Participant) -> Turn:
    """The item an annotator holds, or the next one, or why there is none."""
    campaign, who = participant.campaign, participant.annotator
    if review_due(site, campaign.id, who.id):
        review_campaign(site, campaign.id)
    if campaign.plan.schedule == "adaptive":
        adapt_schedule(site, campaign.id)
    return next_turn(site, campaign.id, who)


def progress(site: Site, participant: Participant) -> Progress:
    """How far an annotator has come."""
    with site.database.reading() as connection:
        campaign = campaign_with_id(connection, participant.campaign.id)
        return count_progress(connection, campaign, participant.annotator.id)


def save_answer(
    site: Site,
    participant: Participant,
    assignment: str,
    answer_id: str,
    raw: Mapping[str, Any],
    *,
    seconds: float,
) -> Saved:
    """Keep what was answered so far, and the item for longer."""
    return _keep(site, participant.campaign.id, participant.annotator, assignment, answer_id, raw, seconds, "draft")


def submit_answer(
    site: Site,
    participant: Participant,
    assignment: str,
    answer_id: str,
    raw: Mapping[str, Any],
    *,
    seconds: float,
) -> Saved:
    """Give a complete answer. It counts from the moment this returns."""
    saved = _keep(
        site, participant.campaign.id, participant.annotator, assignment, answer_id, raw, seconds, "submitted"
    )
    if review_due(site, participant.campaign.id, participant.annotator.id):
        review_campaign(site, participant.campaign.id)
    return saved


def undo(site: Site, participant: Participant, answer_id: str) -> Turn:
    """Take back one's last answer: its item is opened again with what was answered."""
    _check_id(answer_id)
    now = site.clock()
    with site.database.writing() as connection:
        campaign = campaign_with_id(connection, participant.campaign.id)
        if answers.answer_with_id(connection, participant.annotator.id, answer_id) is None:
            _take_back(connection, campaign, participant.annotator, answer_id, now)
    return next_turn(site, participant.campaign.id, participant.annotator)


def give_back(site: Site, participant: Participant, assignment: str) -> None:
    """Let somebody else have an item."""
    now = site.clock()
    with site.database.writing() as connection:
        campaign = campaign_with_id(connection, participant.campaign.id)
        held = _held_item(connection, campaign, participant.annotator, assignment)
        if held.state == "open":
            answers.set_state(connection, held.id, "released", now=now)


def _keep(
    site: Site,
    campaign_id: str,
    who: Annotator,
    assignment_id: str,
    answer_id: str,
    raw: Mapping[str, Any],
    seconds: float,
    kind: AnswerKind,
) -> Saved:
    """Keep an answer in a transaction of its own, once for every id."""
    _check_id(answer_id)
    spent = _checked_time(seconds)
    now = site.clock()
    with site.database.writing() as connection:
        earlier = answers.answer_with_id(connection, who.id, answer_id)
        if earlier is not None:
            return _saved(connection, earlier, repeated=True)
        campaign = campaign_with_id(connection, campaign_id)
        held = _held_item(connection, campaign, who, assignment_id)
        item = campaigns.item(connection, held.item_id)
        _check_may_answer(connection, campaign, who, held, now)
        texts = [str(item.slots[slot]["text"]) for slot in held.shown_order]
        checked = check_answers(campaign.template, texts, raw, complete=kind == "submitted")
        right = _is_right(campaign, item, checked, held) if kind == "submitted" else None
        expires = now + campaign.plan.lease_seconds
        answers.set_state(connection, held.id, "submitted" if kind == "submitted" else "open", now=now, expires=expires)
        made = _add(connection, campaign, held, answer_id, kind, checked, spent, now, right)
        if kind == "submitted" and campaign.rolling:
            note_finished(connection, campaign, item.row, now=now)
        if kind == "submitted" and item.purpose == "label":
            follow_decisions(connection, campaign, now=now, instance=item.instance)
        return _saved(connection, made)


def _add(
    connection: Connection,
    campaign: Campaign,
    held: Assignment,
    answer_id: str,
    kind: AnswerKind,
    checked: Mapping[str, Any],
    seconds: float,
    now: float,
    is_right: bool | None = None,
    supersedes: int | None = None,
) -> Answer:
    values = {"annotator_id": held.annotator_id, "answer_id": answer_id, "assignment_id": held.id}
    values |= {"campaign_id": campaign.id, "kind": kind, "answers": dict(checked), "is_right": is_right}
    values |= {"seconds": seconds, "at": now, "template": campaign.template.signature, "supersedes": supersedes}
    return answers.add_answer(connection, values)


def _take_back(connection: Connection, campaign: Campaign, who: Annotator, answer_id: str, now: float) -> None:
    """Supersede an annotator's last answer, and open its item again."""
    last = answers.last_submitted(connection, campaign.id, who.id)
    standing = annotators.participation(connection, campaign.id, who.id)
    if last is None or standing is None or standing.state not in ("active", "qualifying"):
        raise Refused("there is no answer that could be taken back")
    if campaign.state not in ("open", "paused"):
        raise Refused(f"campaign {campaign.name} is {campaign.state}; its answers stand")
    held = answers.assignment(connection, last.assignment_id)
    assert held is not None
    if campaigns.item(connection, held.item_id).purpose == "qualification" and standing.state == "active":
        raise Refused("the qualification test is over; its answers stand")
    other = answers.held_by(connection, campaign.id, who.id)
    if other is not None:
        # What was in hands meanwhile goes back; who gets it again finds what was kept of it.
        answers.renew(connection, other.id, expires=now)
    if campaign.rolling:
        note_finished(connection, campaign, campaigns.item(connection, held.item_id).row, now=now)
    answers.set_state(connection, held.id, "open", now=now, expires=now + campaign.plan.lease_seconds)
    _add(connection, campaign, held, answer_id, "undone", last.answers, last.seconds, now, supersedes=last.id)
    follow_decisions(connection, campaign, now=now)


def _held_item(connection: Connection, campaign: Campaign, who: Annotator, assignment_id: str) -> Assignment:
    """What an annotator speaks of, if it was given to them."""
    held = answers.assignment(connection, assignment_id)
    if held is None or held.annotator_id != who.id or held.campaign_id != campaign.id:
        raise NotAllowed("this item was not given to you; ask for the next one")
    return held


def _check_may_answer(connection: Connection, campaign: Campaign, who: Annotator, held: Assignment, now: float) -> None:
    """Answers are taken while the campaign runs or pauses, from who is not excluded, to what nobody else has got."""
    if campaign.state not in ("open", "paused"):
        raise Refused(f"campaign {campaign.name} is {campaign.state}; no more answers are taken")
    standing = annotators.participation(connection, campaign.id, who.id)
    if standing is None or standing.state not in ("active", "qualifying"):
        raise Refused("you no longer take part in this campaign; no more answers are taken")
    if held.state != "open":
        raise Refused("this item has been answered or given back; ask for the next one")
    if held.expires <= now and not answers.is_free(connection, held, now=now):
        raise Refused("this item went to somebody else, since its time was over; ask for the next one")


def _is_right(campaign: Campaign, item: ItemRow, checked: Mapping[str, Any], held: Assignment) -> bool | None:
    """Whether a test question was answered right."""
    if item.test is None:
        return None
    rule = campaign.template.tests
    value = answer_values(campaign.template, checked, held.shown_order)[0][rule.dimension]
    return rule.is_right(item.test, campaign.template.dimension(rule.dimension).share(value))


def _saved(connection: Connection, answer: Answer, *, repeated: bool = False) -> Saved:
    held = answers.assignment(connection, answer.assignment_id)
    assert held is not None
    return Saved(
        answer_id=answer.answer_id,
        assignment=held.id,
        kind=answer.kind,
        at=answer.at,
        expires=held.expires,
        repeated=repeated,
    )


def _check_id(answer_id: str) -> None:
    """Refuse what can't be the id of an answer."""
    if not isinstance(answer_id, str) or not answer_id or len(answer_id) > LONGEST_ID:
        raise InvalidInput(f"an answer needs an id of its own, of at most {LONGEST_ID} characters")


def _checked_time(seconds: float) -> float:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 <= seconds < float("inf"):
        raise InvalidInput(f"the time spent must be a number of seconds; found {shown(seconds)}")
    # The smaller first: a whole number may be larger than any float.
    return float(min(seconds, LONGEST_TIME))
