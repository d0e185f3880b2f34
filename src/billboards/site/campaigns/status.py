"""How a campaign stands, in numbers: labels done and to come, money spent and left, and what an hour is paid."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median

from billboards.campaigns.quote import count_answers
from billboards.site.accounts.access import Viewer, require
from billboards.site.campaigns import annotator_records as annotators
from billboards.site.campaigns import answer_counts
from billboards.site.campaigns.campaign import Campaign, campaign_with_id
from billboards.site.campaigns.decisions import count_saved, dropped_rows
from billboards.site.campaigns.rolling import Newcomer, waiting_generators
from billboards.site.site import Site


@dataclass(frozen=True, kw_only=True)
class Status:
    """A campaign at one moment. `done` and `wanted` are labels; money is in the plan's currency, fees included."""

    campaign: Campaign
    wanted: int
    done: int
    #: Items that annotators are at.
    leased: int
    by_generator: tuple[tuple[str, int, int], ...]
    #: Answers of every purpose, and those to test and qualification questions.
    answers: int
    tests: int
    annotators: dict[str, int]
    spent: float
    committed: float
    left: float | None
    median_seconds: float | None
    #: What an hour is paid at the median time; None where nothing was answered or nothing is paid.
    hourly: float | None
    first_at: float | None
    last_at: float | None
    #: Submitted answers by day (UTC).
    by_day: tuple[tuple[str, int], ...]
    #: Labels that were planned and need not be given, since what they would tell is decided; and what they would cost.
    saved: int = 0
    saved_money: float = 0.0
    #: Generators that wait to join a rolling campaign, each with its price.
    waiting: tuple[Newcomer, ...] = ()

    @property
    def hourly_ok(self) -> bool | None:
        """Whether an hour is paid as much as the plan wants."""
        return None if self.hourly is None else self.hourly >= self.campaign.plan.hourly


def campaign_status(site: Site, viewer: Viewer, campaign_id: str) -> Status:
    """How a campaign stands."""
    require(viewer, "administer")
    now = site.clock()
    with site.database.reading() as connection:
        campaign = campaign_with_id(connection, campaign_id)
        saved = count_saved(connection, campaign)
        left_out = dropped_rows(campaign)
        rows = {
            name: (done, done if name in left_out else wanted)
            for name, (done, wanted) in answer_counts.labels_by_row(connection, campaign_id).items()
        }
        counts = answer_counts.answered(connection, campaign_id)
        leased = answer_counts.in_hands(connection, campaign_id, now=now)
        people = Counter(
            str(participation.state) for participation in annotators.list_participations(connection, campaign_id)
        )
        times = answer_counts.times(connection, campaign_id)
        seconds = answer_counts.seconds_spent(connection, campaign_id)
    plan = campaign.plan
    total = sum(counts.values())
    middle = median(seconds) if seconds else None
    days = Counter(datetime.fromtimestamp(at, UTC).date().isoformat() for at in times)
    return Status(
        campaign=campaign,
        wanted=sum(wanted for _, wanted in rows.values()),
        done=sum(done for done, _ in rows.values()),
        leased=leased,
        by_generator=tuple((name, *rows.get(name, (0, 0))) for name in (campaign.generators or sorted(rows))),
        answers=total,
        tests=counts.get("test", 0) + counts.get("qualification", 0),
        annotators=dict(people),
        spent=total * plan.price,
        committed=leased * plan.price,
        left=None if plan.budget is None else plan.budget - (total + leased) * plan.price,
        median_seconds=middle,
        hourly=plan.pay * 3600 / middle if middle and plan.pay else None,
        first_at=min(times, default=None),
        last_at=max(times, default=None),
        by_day=tuple(sorted(days.items())),
        saved=saved,
        saved_money=count_answers(saved, plan)[1] * plan.price,
        waiting=waiting_generators(campaign),
    )
