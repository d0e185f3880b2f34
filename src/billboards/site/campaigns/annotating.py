"""What annotators do: come in by a link, get an item, answer it, undo, go on.

The link is the identity: no account is needed. An annotator holds one item at a time; asking for the next gives the
one in hands with all that was kept of it, so a crash loses nothing. A verb that says an answer is kept has written it
in a transaction of its own before it returns, under the id the client made, so that a request sent twice is kept once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from billboards.errors import InvalidInput, NotAllowed
from billboards.site.accounts.access import Viewer, require
from billboards.site.campaigns import annotator_records as annotators
from billboards.site.campaigns import answer_records as answers
from billboards.site.campaigns.annotator_records import Annotator, Participation, Standing
from billboards.site.campaigns.answer_keeping import Saved, check_id, held_item, keep_answer, take_back
from billboards.site.campaigns.campaign import Campaign, campaign_with_id
from billboards.site.campaigns.reviewing import review_campaign, review_due
from billboards.site.campaigns.turns import Progress, Turn, count_progress, next_turn
from billboards.site.site import Site


@dataclass(frozen=True)
class Participant:
    """An annotator in a campaign, as they stand at this moment."""

    campaign: Campaign
    annotator: Annotator
    state: Standing


def enter(site: Site, token: str, *, external: str | None = None) -> Participant:
    """Who comes by a link; a shared one needs the id that the platform gives its people."""
    now = site.clock()
    with site.database.reading() as connection:
        link = annotators.link(connection, token, now=now)
        if link is None:
            raise NotAllowed("this link opens nothing, or no longer; ask whoever sent it for another one")
        if link.annotator_id is not None:
            known = annotators.participation(connection, link.campaign_id, link.annotator_id)
            if known is not None:
                return _participant(connection, known)
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


def _participant(connection: Connection, known: Participation) -> Participant:
    who = annotators.annotator(connection, known.annotator_id)
    return Participant(campaign_with_id(connection, known.campaign_id), who, known.state)


def next_item(site: Site, participant: Participant) -> Turn:
    """The item an annotator holds, or the next one, or why there is none."""
    campaign, who = participant.campaign, participant.annotator
    if review_due(site, campaign.id, who.id):
        review_campaign(site, campaign.id)
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
    return keep_answer(
        site, participant.campaign.id, participant.annotator, assignment, answer_id, raw, seconds, "draft"
    )


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
    saved = keep_answer(
        site, participant.campaign.id, participant.annotator, assignment, answer_id, raw, seconds, "submitted"
    )
    if review_due(site, participant.campaign.id, participant.annotator.id):
        review_campaign(site, participant.campaign.id)
    return saved


def undo(site: Site, participant: Participant, answer_id: str) -> Turn:
    """Take back one's last answer: its item is opened again with what was answered."""
    check_id(answer_id)
    now = site.clock()
    with site.database.writing() as connection:
        campaign = campaign_with_id(connection, participant.campaign.id)
        if answers.answer_with_id(connection, participant.annotator.id, answer_id) is None:
            take_back(connection, campaign, participant.annotator, answer_id, now)
    return next_turn(site, participant.campaign.id, participant.annotator)


def give_back(site: Site, participant: Participant, assignment: str) -> None:
    """Let somebody else have an item."""
    now = site.clock()
    with site.database.writing() as connection:
        campaign = campaign_with_id(connection, participant.campaign.id)
        held = held_item(connection, campaign, participant.annotator, assignment)
        if held.state == "open":
            answers.set_state(connection, held.id, "released", now=now)
