"""A campaign repeated on other days: the same template, instances and outputs, to see how far results reproduce.

A repetition is a campaign of its own that opens on its day and closes at its end; it says what it repeats and who may
take part. With anchors, only those generators are judged again: a recalibration, planned ahead at a fixed distance of
days. All repetitions and what they repeat are a family, and the family's judgments say how much means scatter from day
to day, whether they drift, and how much wider an interval must be that speaks of any day (GENIE, §4).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import reduce
from typing import Literal
from zoneinfo import ZoneInfo

from sqlalchemy import Connection

from billboards.analyses.ratings._ratings import board_ratings
from billboards.analyses.ratings.days import DayStudy, study_days
from billboards.board.judgments import join_judgments
from billboards.campaigns.control_items import plan_qualification, plan_tests
from billboards.campaigns.items import Item, read_slot
from billboards.campaigns.plan import DAYS, CampaignPlan, read_plan
from billboards.errors import InvalidInput, NotEnoughData, Refused, UnknownName
from billboards.site.accounts.access import Viewer, require
from billboards.site.admin.erasure import DELETED
from billboards.site.boards.live import live_board
from billboards.site.campaigns import answer_counts
from billboards.site.campaigns import campaign_records as campaigns
from billboards.site.campaigns.campaign import Campaign, campaign_of, campaign_with_id
from billboards.site.campaigns.campaign_records import ItemRow
from billboards.site.campaigns.judgments import judgments_of
from billboards.site.campaigns.lifecycle import write_draft
from billboards.site.site import Site

#: Who may judge in a repetition: anybody, only who has not judged in its family, or only who has.
Who = Literal["any", "fresh", "same"]
WHO: dict[Who, str] = {
    "any": "whoever comes",
    "fresh": "only people who have not judged these outputs before",
    "same": "only people who have judged these outputs before",
}
MOST_DAYS = 60


@dataclass(frozen=True, kw_only=True)
class Repeated:
    """What a repetition says of itself: what it repeats, on which day, who may judge, and on which generators."""

    of: str
    date: str
    annotators: Who
    anchors: tuple[str, ...]


def repeated(campaign: Campaign) -> Repeated | None:
    """What a campaign repeats; None where it is no repetition."""
    kept = campaign.details.get("repeats")
    return None if kept is None else Repeated(**{**kept, "anchors": tuple(kept["anchors"])})


def plan_repetitions(
    site: Site,
    viewer: Viewer,
    campaign_id: str,
    days: int,
    *,
    first: date | None = None,
    every: int = 1,
    annotators: Who = "any",
    anchors: Sequence[str] = (),
    instances: int | None = None,
    ranks: bool = False,
) -> tuple[Campaign, ...]:
    """Plan a campaign again on other days, a draft for each.

    days: how many repetitions
    first: the first of the days, in the plan's time zone (default: tomorrow)
    every: days from one repetition to the next
    annotators: who may judge
    anchors: judge these generators only
    instances: only so many of the campaign's instances, the first of its random order
    ranks: whether the board is ranked by the repetitions too
    """
    require(viewer, "administer")
    _check_numbers(days, every, instances)
    now = site.clock()
    with site.database.reading() as connection:
        campaign = campaign_with_id(connection, campaign_id)
        root = _root(connection, campaign)
        rows = campaigns.list_items(connection, root.id, "label")
    _check_repeatable(root, anchors)
    board = live_board(site, root.board, audience="owners").board
    chosen = [instance for instance in root.instances if instance in board.position][:instances]
    items = [item for row in rows if (item := _again(row, set(chosen), set(anchors))) is not None]
    if not items:
        raise InvalidInput(f"campaign {root.name} has no outputs that could be judged again; begin another campaign")
    generators = [name for name in root.generators if not anchors or name in anchors]
    dates = list(_days(root.plan, days, first, every, now))
    with site.database.reading() as connection:
        earlier = len(family(connection, root)) - 1
        _check_free(connection, root, dates)
    repetitions = []
    for k, day in enumerate(dates, earlier + 1):
        plan = _plan_on(root.plan, day, root.plan.seed + k)
        tests = plan_tests(board, root.template, plan, chosen)
        tests += plan_qualification(board, root.template, plan, chosen)
        kept = {"of": root.id, "date": day.isoformat(), "annotators": annotators, "anchors": list(anchors)}
        values = {
            "template": _source(site, root.id),
            "plan": plan.document(),
            "generators": generators,
            "instances": chosen,
            "rolling": False,
            "ranks": ranks,
            "joins": root.joins,
            "details": {"repeats": kept},
        }
        name = _name(root, day)
        repetitions.append(write_draft(site, viewer, root.board, name, "labels", values, [*items, *tests]))
    return tuple(repetitions)


def _check_numbers(days: int, every: int, instances: int | None) -> None:
    if not 1 <= days <= MOST_DAYS:
        raise InvalidInput(f"plan 1 to {MOST_DAYS} repetitions at a time; found {days}")
    if not 1 <= every <= 366:
        raise InvalidInput(f"repetitions are 1 to 366 days apart; found {every}")
    if instances is not None and instances < 2:
        raise InvalidInput(f"judge 2 instances or more again; found {instances}")


def _check_repeatable(root: Campaign, anchors: Sequence[str]) -> None:
    if root.kind != "labels":
        raise Refused(f"campaign {root.name} is a blind check; plan another one instead of repeating it")
    if root.state == "draft":
        raise Refused(f"campaign {root.name} is a draft; open it, then repeat it")
    if anchors and root.template.compares == "generators":
        raise Refused(f"campaign {root.name} compares generators with one another; repeat it with all of them")
    for name in anchors:
        if name not in root.generators:
            raise UnknownName("generator of the campaign", name, root.generators)


def _name(root: Campaign, day: date) -> str:
    return f"{root.name}-{day.isoformat()}"


def _check_free(connection: Connection, root: Campaign, dates: Sequence[date]) -> None:
    """Refuse a day that has a repetition already, before any is written."""
    names = {row.name for row in campaigns.find(connection, board=root.board)}
    for day in dates:
        if _name(root, day) in names:
            raise Refused(f"campaign {root.name} is repeated on {day.isoformat()} already; choose other days")


def _again(row: ItemRow, instances: set[str], anchors: set[str]) -> Item | None:
    """An item to be judged again, with the very texts that were shown; None where it is not asked for."""
    if row.instance not in instances or (anchors and row.row not in anchors):
        return None
    slots = tuple(map(read_slot, row.slots))
    if any(slot.text == DELETED for slot in slots):
        return None
    return Item(instance=row.instance, slots=slots, order=tuple(row.shown_order), wanted=row.wanted, part=row.part)


def _days(plan: CampaignPlan, days: int, first: date | None, every: int, now: float) -> Iterator[date]:
    """The days of the repetitions; one on which the plan allows no work is moved to the next on which it does."""
    today = datetime.fromtimestamp(now, ZoneInfo(plan.zone)).date()
    day = first or today + timedelta(days=1)
    if day < today:
        raise InvalidInput(f"the first repetition would be on {day.isoformat()}, which has passed; choose a later day")
    for _ in range(days):
        while plan.days and DAYS[day.weekday()] not in plan.days:
            day += timedelta(days=1)
        yield day
        day += timedelta(days=every)


def _plan_on(plan: CampaignPlan, day: date, seed: int) -> CampaignPlan:
    """The same plan on one day; another seed draws other test questions."""
    midnight = datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(plan.zone))
    opens, closes = midnight.timestamp(), (midnight + timedelta(days=1)).timestamp()
    again = replace(plan, opens=opens, closes=closes, seed=seed, newcomer_each=None, newcomers_total=None)
    return read_plan(again.document())


def _source(site: Site, campaign_id: str) -> str:
    with site.database.reading() as connection:
        return campaigns.get(connection, campaign_id).template


def _root(connection: Connection, campaign: Campaign) -> Campaign:
    """What a family repeats."""
    kept = repeated(campaign)
    return campaign if kept is None else campaign_with_id(connection, kept.of)


def family(connection: Connection, campaign: Campaign) -> tuple[Campaign, ...]:
    """A campaign with all of its repetitions, or of what it repeats; the first first."""
    root = _root(connection, campaign)
    rows = map(campaign_of, campaigns.find(connection, board=root.board))
    again = [other for other in rows if (kept := repeated(other)) is not None and kept.of == root.id]
    return (root, *sorted(again, key=lambda other: (other.plan.opens or 0.0, other.name)))


def check_may_judge(connection: Connection, campaign: Campaign, annotator_id: int, *, name: str = "") -> None:
    """Refuse who may not take part in a repetition, by whether they have judged in its family before.

    Who has begun goes on. `name` is what an owner calls somebody who is being invited.
    """
    kept = repeated(campaign)
    if kept is None or kept.annotators == "any" or _has_judged(connection, campaign, annotator_id):
        return
    others = [other for other in family(connection, campaign) if other.id != campaign.id]
    before = any(_has_judged(connection, other, annotator_id) for other in others)
    if before == (kept.annotators == "fresh"):
        whom = f"{name} can't be invited: this" if name else "this"
        raise Refused(f"{whom} campaign repeats another one and takes {WHO[kept.annotators]}")


def _has_judged(connection: Connection, campaign: Campaign, annotator_id: int) -> bool:
    return bool(answer_counts.answered(connection, campaign.id, annotator_id=annotator_id))


def campaign_days(site: Site, viewer: Viewer, campaign_id: str, *, draws: int = 20_000) -> DayStudy | None:
    """Scatter and drift over a campaign and its repetitions, on the dimension that sums up.

    None before two of them share judged outputs.
    """
    require(viewer, "administer")
    with site.database.reading() as connection:
        members = family(connection, campaign_with_id(connection, campaign_id))
    if len(members) < 2 or members[0].kind != "labels":
        return None
    root = members[0]
    board = live_board(site, root.board, audience="owners").board
    overall = root.template.board_dimension(root.template.dimension(root.template.overall))
    with site.database.reading() as connection:
        judged = [judgments_of(connection, board, member) for member in members]
    judgments = reduce(join_judgments, [part for part in judged if len(part)] or judged[:1])
    dimensions = {**board.dimensions, overall.name: overall}
    try:
        columns = board_ratings(replace(board, judgments=judgments, dimensions=dimensions), overall.name)
        return study_days(columns, by="campaign", draws=draws)
    except NotEnoughData:
        return None


def day_of(campaign: Campaign) -> str:
    """The day a member of a family stands for: the planned one, or that on which the first was opened."""
    kept = repeated(campaign)
    if kept is not None:
        return kept.date
    return "" if campaign.opened is None else datetime.fromtimestamp(campaign.opened, UTC).date().isoformat()
