"""Whose turn it is to judge what: the next item for an annotator, or the reason why there is none.

Everything is decided in one writing transaction, so that two annotators never get the last label of an item. An
annotator who has an item gets it again; one who is being qualified gets the questions of the test, then everything
else in blocks with test questions at places that nobody can expect, more of them as long as it is open whether they
read. Nobody gives more answers than the plan lets one person give. Where a template asks about whole documents, a
document's segments are given at once, with one dealing, and held, renewed and given back together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from sqlalchemy import Connection

from billboards.campaigns.control_items import next_test
from billboards.campaigns.items import Candidate, chance, choose, shown_order
from billboards.campaigns.plan import is_over, seconds_until_open
from billboards.errors import Refused
from billboards.site.campaigns import annotator_records as annotators
from billboards.site.campaigns import answer_counts
from billboards.site.campaigns import answer_records as answers
from billboards.site.campaigns import campaign_records as campaigns
from billboards.site.campaigns.annotator_records import Annotator
from billboards.site.campaigns.answer_records import Answer, Assignment, OpenItem
from billboards.site.campaigns.campaign import Campaign, campaign_with_id
from billboards.site.campaigns.campaign_records import ItemRow
from billboards.site.campaigns.decisions import dropped_rows
from billboards.site.campaigns.shown_items import Shown, shown_item
from billboards.site.database import trail
from billboards.site.database.ids import new_id
from billboards.site.site import Site
from billboards.stats.annotator_recall import is_open

TurnState = Literal[
    "item",
    "consent",
    "survey",
    "waiting",
    "done",
    "enough",
    "paused",
    "draft",
    "closed",
    "window",
    "budget",
    "failed",
    "excluded",
]
PageName = Literal["consent", "before", "after"]
#: Seconds until it is worth looking again whether somebody has given an item back.
LOOK_AGAIN = 30.0
#: How far down the planned order an annotator's next item is looked for; many rounds of all generators.
AHEAD = 200

MESSAGES: dict[TurnState, str] = {
    "item": "",
    "consent": "Before you begin, please read this and say whether you agree.",
    "survey": "Before you begin, please answer some questions about yourself.",
    "waiting": "Other annotators are at what is left. Keep this page open: something may come back.",
    "done": "There is nothing left for you to judge. Thank you!",
    "enough": "You have given as many answers as one person gives in this campaign. Thank you!",
    "paused": "This campaign is paused. Your answers are kept; come back later.",
    "draft": "This campaign has not begun yet.",
    "closed": "This campaign is over. Thank you!",
    "window": "Nothing is given out at this hour. Your answers are kept.",
    "budget": "Nothing more can be paid at the moment. Your answers are kept.",
    "failed": "You did not pass the qualification test of this campaign. Thank you for trying.",
    "excluded": "You no longer take part in this campaign. If you think that this is wrong, write to its owner.",
}


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far an annotator has come; `left` is what is still to be judged by anybody."""

    done: int
    left: int
    #: Of the qualification test, how many questions were answered of how many; None where there is none.
    qualified: tuple[int, int] | None
    earned: float
    currency: str
    median_seconds: float | None


#: Of a document's segments: to be judged, judged already, or judged by others and there to be read.
SegmentState = Literal["open", "answered", "context"]


@dataclass(frozen=True, kw_only=True)
class Segment:
    """One segment of a document that is judged as a whole."""

    item_id: int
    batch: str | None
    state: SegmentState
    shown: Shown


@dataclass(frozen=True, kw_only=True)
class Turn:
    """What an annotator gets: an item, or a sentence that says why there is none and when to look again.

    Where documents are judged as a whole, `segments` are those of the document in order, and the item is the first of
    them that is left.
    """

    state: TurnState
    progress: Progress
    item: Shown | None = None
    again: float | None = None
    segments: tuple[Segment, ...] = ()
    #: The page about themselves that an annotator has before them: consent, before the first item, or after the last.
    page: PageName | None = None

    @property
    def message(self) -> str:
        return MESSAGES[self.state]


def next_turn(site: Site, campaign: Campaign, who: Annotator) -> Turn:
    """The item an annotator holds, or the next one, or why there is none."""
    now = site.clock()
    with site.database.writing(boards=[campaign.board]) as connection:
        campaign = campaign_with_id(connection, campaign.id)
        decision = _decide(connection, campaign, who, now)
        progress = count_progress(connection, campaign, who.id)
        if not isinstance(decision, Assignment):
            state, again = decision
            return Turn(state=state, progress=progress, item=None, again=again)
        dealt = _dealt(connection, decision)
    shown = {assignment.id: shown_item(site, campaign, item, assignment, kept) for item, assignment, kept in dealt}
    if decision.dealing is None:
        return Turn(state="item", progress=progress, item=shown[decision.id])
    first = next(assignment for _, assignment, _ in dealt if assignment.state == "open")
    segments = [
        Segment(item_id=item.id, batch=item.batch, state=_SEGMENT_STATES[assignment.state], shown=shown[assignment.id])
        for item, assignment, _ in dealt
    ]
    return Turn(
        state="item",
        progress=progress,
        item=shown[first.id],
        again=None,
        segments=tuple(_with_context(site, campaign, decision.campaign_id, segments)),
    )


_SEGMENT_STATES: dict[str, SegmentState] = {"open": "open", "submitted": "answered"}


def _dealt(connection: Connection, held: Assignment) -> list[tuple[ItemRow, Assignment, Answer | None]]:
    """What an annotator holds, with all that was given at the same time: items, and what was kept of each."""
    return [
        (campaigns.item(connection, assignment.item_id), assignment, answers.last_answer(connection, assignment.id))
        for assignment in answers.dealt(connection, held)
        if assignment.state in _SEGMENT_STATES
    ]


def _with_context(site: Site, campaign: Campaign, campaign_id: str, segments: Sequence[Segment]) -> Iterator[Segment]:
    """A document's segments with those among them that are others' to judge, to be read."""
    batch = next((segment.batch for segment in segments if segment.batch is not None), None)
    own = {segment.item_id for segment in segments}
    with site.database.reading() as connection:
        rows = [] if batch is None else campaigns.items_of_batch(connection, campaign_id, batch)
    others = [
        Segment(item_id=item.id, batch=batch, state="context", shown=shown_item(site, campaign, item, None, None))
        for item in rows
        if item.id not in own
    ]
    for segment in segments:
        while segment.batch is not None and others and others[0].item_id < segment.item_id:
            yield others.pop(0)
        yield segment
    yield from others


_Nothing = tuple[TurnState, float | None]


def _decide(connection: Connection, campaign: Campaign, who: Annotator, now: float) -> Assignment | _Nothing:
    standing = annotators.participation(connection, campaign.id, who.id)
    if standing is None:
        raise Refused("you do not take part in this campaign; come by the link you were sent")
    if standing.state in ("failed", "excluded"):
        return ("failed" if standing.state == "failed" else "excluded"), None
    if campaign.state in ("draft", "closed"):
        return ("draft" if campaign.state == "draft" else "closed"), None
    held = _held(connection, campaign, who, now)
    if held is not None:
        return held
    if campaign.state == "paused" or is_over(campaign.plan, now):
        return ("paused" if campaign.state == "paused" else "closed"), None
    wait = seconds_until_open(campaign.plan, now)
    if wait > 0:
        return "window", wait
    if not can_pay(connection, campaign, now):
        return "budget", None
    if standing.state == "qualifying":
        return _qualify(connection, campaign, who, now)
    return _give(connection, campaign, who, now)


def _held(connection: Connection, campaign: Campaign, who: Annotator, now: float) -> Assignment | None:
    """What an annotator has in hands, for longer; what went to somebody else meanwhile is let go."""
    while (held := answers.held_by(connection, campaign.id, who.id)) is not None:
        for other in answers.dealt(connection, held):
            if other.state != "open":
                continue
            if other.expires > now or answers.is_free(connection, other, now=now):
                answers.renew(connection, other.id, expires=now + campaign.plan.lease_seconds)
            else:
                answers.set_state(connection, other.id, "released", now=now)
        current = answers.assignment(connection, held.id)
        if current is not None and current.state == "open":
            return current
    return None


def can_pay(connection: Connection, campaign: Campaign, now: float, *, more: int = 1) -> bool:
    """Whether the budget has room for one more answer, or so many, beside those given and those under way."""
    plan = campaign.plan
    if plan.budget is None or not plan.price:
        return True
    count = sum(answer_counts.answered(connection, campaign.id).values())
    return (count + answer_counts.in_hands(connection, campaign.id, now=now) + more) * plan.price <= plan.budget + 1e-9


def _qualify(connection: Connection, campaign: Campaign, who: Annotator, now: float) -> Assignment | _Nothing:
    """The next question of the qualification test; after the last one, its outcome."""
    left = answers.unseen_items(connection, campaign.id, who.id, "qualification")
    if left:
        alone = (new_id(), 0) if campaign.template.unit == "document" else (None, None)
        return _assign(connection, campaign, who, left[0].id, now, alone)
    right, wrong = answer_counts.own_tests(connection, campaign.id, who.id, purposes=("qualification",))
    passed = right >= campaign.plan.pass_mark * (right + wrong)
    reason = f"{right} of {right + wrong} questions right; {campaign.plan.pass_mark:.0%} are needed"
    verdict = "passed" if passed else "failed"
    annotators.rule(
        connection, campaign.id, "annotator", who.pseudonym, verdict, reason, actor="qualification test", now=now
    )
    annotators.set_standing(connection, campaign.id, who.id, "active" if passed else "failed", now=now)
    trail.note(
        connection,
        "site",
        f"annotator.{verdict}",
        campaign.id,
        now=now,
        board=campaign.board,
        detail={"annotator": who.pseudonym, "reason": reason},
    )
    return _give(connection, campaign, who, now) if passed else ("failed", None)


def _give(connection: Connection, campaign: Campaign, who: Annotator, now: float) -> Assignment | _Nothing:
    """The next item to label, or a test question in its place."""
    counts = answer_counts.answered(connection, campaign.id, annotator_id=who.id)
    count = counts.get("label", 0) + counts.get("test", 0)
    if campaign.plan.most_answers is not None and count >= campaign.plan.most_answers:
        return "enough", None
    seen, judged = answers.seen(connection, campaign.id, who.id)
    waiting = _waiting(connection, campaign, who, now)
    candidates = (Candidate(item.id, item.instance, item.row or "", item.id) for item in waiting)
    # An adaptive schedule has put the comparisons that are worth most in front.
    chosen = choose(candidates, seen, {} if campaign.plan.schedule == "adaptive" else judged)
    if chosen is None:
        busy = answer_counts.in_hands(connection, campaign.id, now=now) > 0
        return ("waiting", LOOK_AGAIN) if busy else ("done", None)
    batch = next(item.batch for item in waiting if item.id == chosen.id)
    if batch is not None:
        return _deal(connection, campaign, who, batch, now)
    test = _test(connection, campaign, who, seen, count)
    return _assign(connection, campaign, who, chosen.id if test is None else test.id, now)


def _deal(connection: Connection, campaign: Campaign, who: Annotator, batch: str, now: float) -> Assignment | _Nothing:
    """A document's segments in order, all at once, with the test questions that are due among them.

    A test question shows one of the document's sources once more, as far as there is such a question.
    """
    segments = answers.open_batch(connection, campaign.id, who.id, batch, now=now)
    instances = {segment.instance for segment in segments}
    counts = answer_counts.answered(connection, campaign.id, annotator_id=who.id)
    count = counts.get("label", 0) + counts.get("test", 0)
    chosen: list[int] = []
    for segment in segments:
        while (test := _due(connection, campaign, who, count, instances, chosen)) is not None:
            chosen.append(test.id)
            count += 1
        chosen.append(segment.id)
        count += 1
    if not can_pay(connection, campaign, now, more=len(chosen)):
        return "budget", None
    dealing = new_id()
    made = [_assign(connection, campaign, who, item, now, (dealing, place)) for place, item in enumerate(chosen)]
    return made[0]


def _due(
    connection: Connection, campaign: Campaign, who: Annotator, count: int, instances: set[str], taken: Sequence[int]
) -> OpenItem | None:
    """The test question that is due after so many answers, on one of these instances if there is one."""
    right, wrong = answer_counts.own_tests(connection, campaign.id, who.id, purposes=("test", "qualification"))
    kind = next_test(campaign.plan, who.pseudonym, count, is_open=is_open(right, wrong))
    if kind is None:
        return None
    spoilt = _attention(connection, campaign, who) if kind == "attention" else []
    plain = "positive" if kind == "attention" else kind
    listed = spoilt or answers.unseen_items(connection, campaign.id, who.id, "test", plain)
    unseen = [item for item in listed if item.id not in taken]
    near = [item for item in unseen if item.instance in instances] or unseen
    return chance(campaign.plan.seed, "test", who.pseudonym, count).choice(near) if near else None


def _waiting(connection: Connection, campaign: Campaign, who: Annotator, now: float) -> list[OpenItem]:
    """Items that an annotator may get next; a campaign that may stop early finishes instances before others begin."""
    if campaign.plan.stop == "never":
        return answers.open_items(connection, campaign.id, who.id, now=now, limit=AHEAD)
    without = dropped_rows(campaign)
    ahead = max(1, len(campaign.generators) - len(without)) ** 2
    return answers.open_items(
        connection, campaign.id, who.id, now=now, limit=ahead, in_order=True, without=without.keys()
    )


def _test(connection: Connection, campaign: Campaign, who: Annotator, seen: set[str], count: int) -> OpenItem | None:
    """The test question that is due after so many answers, on an instance the annotator has not met if one is left."""
    right, wrong = answer_counts.own_tests(connection, campaign.id, who.id, purposes=("test", "qualification"))
    kind = next_test(campaign.plan, who.pseudonym, count, is_open=is_open(right, wrong))
    if kind is None:
        return None
    draw = chance(campaign.plan.seed, "test", who.pseudonym, count)
    if kind == "attention":
        spoilt = _attention(connection, campaign, who)
        if spoilt:
            return draw.choice(spoilt)
        kind = "positive"
    unseen = answers.unseen_items(connection, campaign.id, who.id, "test", kind)
    fresh = [item for item in unseen if item.instance not in seen] or unseen
    return draw.choice(fresh) if fresh else None


def _attention(connection: Connection, campaign: Campaign, who: Annotator) -> list[OpenItem]:
    """Spoilt texts whose good ones the annotator has judged; where both stand on one page, all that are left."""
    unseen = answers.unseen_items(connection, campaign.id, who.id, "test", "attention")
    if campaign.template.outputs > 1:
        return unseen
    judged = answer_counts.answered_instances(connection, campaign.id, who.id, "positive")
    return [item for item in unseen if item.instance in judged]


def _assign(
    connection: Connection,
    campaign: Campaign,
    who: Annotator,
    item_id: int,
    now: float,
    dealt: tuple[str | None, int | None] = (None, None),
) -> Assignment:
    item = campaigns.item(connection, item_id)
    # Test questions have their order from the plan, which is balanced; labels of one item take turns.
    turn = answers.labels_given(connection, item_id) if item.purpose == "label" else 0
    order = list(shown_order(item.shown_order, turn))
    dealing, place = dealt
    return answers.assign(
        connection,
        campaign.id,
        item_id,
        who.id,
        order,
        now=now,
        seconds=campaign.plan.lease_seconds,
        dealing=dealing,
        place=place,
    )


def count_progress(connection: Connection, campaign: Campaign, annotator_id: int) -> Progress:
    """How far an annotator has come in a campaign."""
    counts = answer_counts.answered(connection, campaign.id, annotator_id=annotator_id)
    qualifying = counts.get("qualification", 0)
    total = answer_counts.count_items(connection, campaign.id, "qualification")
    seconds = answer_counts.seconds_spent(connection, campaign.id, annotator_id=annotator_id)
    return Progress(
        done=counts.get("label", 0) + counts.get("test", 0),
        left=answers.labels_left(connection, campaign.id, without=dropped_rows(campaign).keys()),
        qualified=(qualifying, total) if total else None,
        earned=sum(counts.values()) * campaign.plan.pay,
        currency=campaign.plan.currency,
        median_seconds=median(seconds) if seconds else None,
    )
