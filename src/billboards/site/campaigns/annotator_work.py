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
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection

from billboards.board import Board
from billboards.campaigns.answers import answer_values, check_answers
from billboards.campaigns.templates import Template
from billboards.errors import InvalidInput, NotAllowed, Refused
from billboards.reading import shown
from billboards.site.accounts.access import Viewer, require
from billboards.site.campaigns import annotator_records as annotators
from billboards.site.campaigns import answer_counts
from billboards.site.campaigns import answer_records as answers
from billboards.site.campaigns import campaign_records as campaigns
from billboards.site.campaigns.adapting import adapt_schedule
from billboards.site.campaigns.annotator_records import Annotator, Participation, Standing
from billboards.site.campaigns.annotators import review_campaign, review_due
from billboards.site.campaigns.answer_records import Answer, AnswerKind, Assignment
from billboards.site.campaigns.campaign import Campaign, campaign_with_id
from billboards.site.campaigns.campaign_records import ItemRow
from billboards.site.campaigns.decisions import follow_decisions
from billboards.site.campaigns.judged_submissions import announce_judged
from billboards.site.campaigns.repeating import check_may_judge
from billboards.site.campaigns.rolling import note_finished
from billboards.site.campaigns.shown_items import campaign_board
from billboards.site.campaigns.surveys import add_page, check_survey, consent_digest, consent_text, next_page
from billboards.site.campaigns.turns import PageName, Progress, Turn, count_progress, next_turn
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
                participant = _participant(connection, standing)
                check_may_judge(connection, participant.campaign, link.annotator_id)
                return participant
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
    campaign = campaign_with_id(connection, campaign_id)
    check_may_judge(connection, campaign, annotator_id)
    state: Standing = "qualifying" if campaign.plan.qualification else "active"
    return annotators.join(connection, campaign_id, annotator_id, state, now=now)


def _participant(connection: Connection, standing: Participation) -> Participant:
    who = annotators.annotator(connection, standing.annotator_id)
    return Participant(campaign_with_id(connection, standing.campaign_id), who, standing.state)


def next_item(site: Site, participant: Participant) -> Turn:
    """The item an annotator holds, or the next one, or why there is none."""
    campaign, who = participant.campaign, participant.annotator
    page = first_page(site, participant)
    if page is not None:
        return Turn(state="consent" if page == "consent" else "survey", progress=progress(site, participant), page=page)
    if review_due(site, campaign.id, who.id):
        review_campaign(site, campaign.id)
    if campaign.plan.schedule == "adaptive":
        adapt_schedule(site, campaign.id)
    turn = next_turn(site, campaign, who)
    return replace(turn, page=last_page(site, participant, turn))


def first_page(site: Site, participant: Participant) -> PageName | None:
    """The page that an annotator must fill in before the first item: consent, then the survey before."""
    if participant.state not in ("qualifying", "active") or participant.campaign.state not in ("open", "paused"):
        return None
    with site.database.reading() as connection:
        return next_page(connection, participant.campaign, participant.annotator.id, ("consent", "before"))


def last_page(site: Site, participant: Participant, turn: Turn) -> PageName | None:
    """The survey after the last item, for who has judged something."""
    if turn.state not in ("done", "closed", "budget") or not turn.progress.done:
        return None
    with site.database.reading() as connection:
        return next_page(connection, participant.campaign, participant.annotator.id, ("after",))


def accept_consent(site: Site, participant: Participant, digest: str) -> None:
    """Keep that an annotator accepted the text with this digest, and when."""
    text = consent_text(participant.campaign)
    if not text or digest != consent_digest(text):
        raise Refused("this is not the text that is to be accepted; look at the page again")
    _keep_page(site, participant, "consent", digest, {})


def answer_survey(site: Site, participant: Participant, page: PageName, raw: Mapping[str, Any]) -> None:
    """Keep what an annotator says of themselves, apart from judgments; a page that was sent counts once."""
    template = participant.campaign.template
    asked = () if page == "consent" else template.asked_of_people(page)
    if not asked:
        raise Refused("nothing is asked on this page; go on to the next item")
    _keep_page(site, participant, page, template.digest, check_survey(asked, raw))


def _keep_page(site: Site, participant: Participant, page: PageName, digest: str, checked: Mapping[str, Any]) -> None:
    now = site.clock()
    with site.database.writing(boards=[participant.campaign.board]) as connection:
        campaign, who = participant.campaign, participant.annotator
        standing = annotators.participation(connection, campaign.id, who.id)
        if standing is None or standing.state == "excluded":
            raise Refused("you no longer take part in this campaign; no more answers are taken")
        add_page(connection, campaign.id, who.id, page, digest, checked, now=now)


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
    return _keep(site, participant, assignment, answer_id, raw, seconds, "draft")


def submit_answer(
    site: Site,
    participant: Participant,
    assignment: str,
    answer_id: str,
    raw: Mapping[str, Any],
    *,
    seconds: float,
) -> Saved:
    """Give a complete answer. It counts from the moment this returns.

    A segment of a document may be answered again: the later answer supersedes the earlier one.
    """
    saved = _keep(site, participant, assignment, answer_id, raw, seconds, "submitted")
    if review_due(site, participant.campaign.id, participant.annotator.id):
        review_campaign(site, participant.campaign.id)
    return saved


def undo(site: Site, participant: Participant, answer_id: str) -> Turn:
    """Take back one's last answer: its item is opened again with what was answered."""
    _check_id(answer_id)
    now = site.clock()
    with site.database.writing(boards=[participant.campaign.board]) as connection:
        campaign = campaign_with_id(connection, participant.campaign.id)
        if answers.answer_with_id(connection, participant.annotator.id, answer_id) is None:
            _take_back(connection, campaign, participant.annotator, answer_id, now)
    return next_turn(site, participant.campaign, participant.annotator)


def give_back(site: Site, participant: Participant, assignment: str) -> None:
    """Let somebody else have an item, or all that is left of a document."""
    now = site.clock()
    with site.database.writing(boards=[participant.campaign.board]) as connection:
        campaign = campaign_with_id(connection, participant.campaign.id)
        held = _held_item(connection, campaign, participant.annotator, assignment)
        if held.state == "open":
            for other in answers.dealt(connection, held):
                if other.state == "open":
                    answers.set_state(connection, other.id, "released", now=now)


def _keep(
    site: Site,
    participant: Participant,
    assignment_id: str,
    answer_id: str,
    raw: Mapping[str, Any],
    seconds: float,
    kind: AnswerKind,
) -> Saved:
    """Keep an answer in a transaction of its own, once for every id."""
    campaign_id, who = participant.campaign.id, participant.annotator
    _check_id(answer_id)
    spent = _checked_time(seconds)
    now = site.clock()
    asked = participant.campaign.template
    reads_source = asked.shows("input") and any(question.reads_source for question in asked.dimensions)
    board = campaign_board(site, participant.campaign) if reads_source else None
    with site.database.writing(boards=[participant.campaign.board]) as connection:
        earlier = answers.answer_with_id(connection, who.id, answer_id)
        if earlier is not None:
            return _saved(connection, earlier, repeated=True)
        campaign = campaign_with_id(connection, campaign_id)
        held = _held_item(connection, campaign, who, assignment_id)
        item = campaigns.item(connection, held.item_id)
        before = _check_may_answer(connection, campaign, who, held, kind, now)
        texts = [str(item.slots[slot]["text"]) for slot in held.shown_order]
        source = None if board is None else _source(board, item.instance)
        checked = check_answers(campaign.template, texts, raw, complete=kind == "submitted", source=source)
        right = _is_right(connection, campaign, item, checked, held) if kind == "submitted" else None
        expires = now + campaign.plan.lease_seconds
        answers.set_state(connection, held.id, "submitted" if kind == "submitted" else "open", now=now, expires=expires)
        for other in answers.dealt(connection, held) if held.dealing is not None else ():
            if other.state == "open":
                answers.renew(connection, other.id, expires=expires)
        made = _add(connection, campaign, held, answer_id, kind, checked, spent, now, right, before)
        if kind == "submitted" and campaign.rolling:
            note_finished(connection, campaign, item.row, now=now)
            _tell_submitter(connection, campaign, item, now)
        if kind == "submitted" and item.purpose == "label":
            follow_decisions(connection, campaign, now=now, instance=item.instance)
        return _saved(connection, made)


def _tell_submitter(connection: Connection, campaign: Campaign, item: ItemRow, now: float) -> None:
    """In a rolling campaign people's judging of a generator ends when everything asked about it is answered."""
    if item.row is not None and item.purpose == "label":
        done, wanted = answer_counts.labels_by_row(connection, campaign.id, row=item.row)[item.row]
        if done >= wanted:
            announce_judged(connection, campaign, now=now, row=item.row)


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
    if other is not None and (other.dealing is None or other.dealing != held.dealing):
        # What was in hands meanwhile goes back; who gets it again finds what was kept of it.
        for shelved in answers.dealt(connection, other):
            if shelved.state == "open":
                answers.renew(connection, shelved.id, expires=now)
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


def _source(board: Board, instance: str) -> str | None:
    """The input that an annotator was shown."""
    return board.instances[board.position[instance]].input if instance in board.position else None


def _check_may_answer(
    connection: Connection, campaign: Campaign, who: Annotator, held: Assignment, kind: AnswerKind, now: float
) -> int | None:
    """Answers are taken while the campaign runs or pauses, from who is not excluded, to what nobody else has got.

    Returns the answer that this one supersedes: a segment of a document may be answered again.
    """
    if campaign.state not in ("open", "paused"):
        raise Refused(f"campaign {campaign.name} is {campaign.state}; no more answers are taken")
    standing = annotators.participation(connection, campaign.id, who.id)
    if standing is None or standing.state not in ("active", "qualifying"):
        raise Refused("you no longer take part in this campaign; no more answers are taken")
    if held.state == "submitted" and held.dealing is not None and kind == "submitted":
        earlier = answers.last_answer(connection, held.id, "submitted")
        return None if earlier is None else earlier.id
    if held.state != "open":
        raise Refused("this item has been answered or given back; ask for the next one")
    if held.expires <= now and not answers.is_free(connection, held, now=now):
        raise Refused("this item went to somebody else, since its time was over; ask for the next one")
    return None


def _is_right(
    connection: Connection, campaign: Campaign, item: ItemRow, checked: Mapping[str, Any], held: Assignment
) -> bool | None:
    """Whether a test question was answered right; None where there is nothing to lay an answer beside."""
    if item.test is None:
        return None
    template, rule = campaign.template, campaign.template.tests
    values = answer_values(template, checked, held.shown_order)
    share = template.dimension(rule.dimension).share(values[0][rule.dimension])
    if item.test != "attention":
        return rule.is_right(item.test, share)
    if template.outputs > 1:
        return _below(template, rule.dimension, values[0], values[1]) if 1 in values else share < 0.5
    earlier = answer_counts.answer_to(
        connection, campaign.id, held.annotator_id, instance=item.instance, test="positive"
    )
    if earlier is None:
        return None
    answered, order = earlier
    return _below(template, rule.dimension, values[0], answer_values(template, answered, order)[0])


def _below(template: Template, dimension: str, spoilt: Mapping[str, float], good: Mapping[str, float]) -> bool:
    """Whether a spoilt text was found worse than the good one."""
    question = template.dimension(dimension)
    return question.share(spoilt[dimension]) < question.share(good[dimension])


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
