"""What a campaign will cost, and what that buys, before anything is asked (GENIE, §6 and Appendix C).

Scores lie between 0 and 1, so the standard error of a mean of n of them is at most sqrt(mu(1-mu)/n), and at most
0.5/sqrt(n) whatever the mean: 1.77 points with 800 instances, 2.89 with 300. Several labels of one instance don't
make it smaller in the worst case, since annotators may all say the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from billboards.campaigns.plan import BLOCK, CampaignPlan
from billboards.stats.worst_case import worst_case_se


@dataclass(frozen=True, kw_only=True)
class Quote:
    """A campaign's size and price. `answers` is everything that is asked and paid, test questions among it."""

    generators: int
    instances: int
    labels: int
    test_answers: int
    answers: int
    cost: float
    cost_per_generator: float
    fees: float
    currency: str
    #: The largest standard error a generator's mean can have, on 0-1.
    worst_se: float
    #: What an hour is paid if items take as long as expected; None where nothing is known of that.
    hourly: float | None
    warnings: tuple[str, ...] = ()


def count_answers(labels: int, plan: CampaignPlan) -> tuple[int, int]:
    """How many test questions go with so many labels, and how many answers both are together."""
    tests = sum(plan.block_tests)
    total = ceil(labels * BLOCK / (BLOCK - tests))
    return total - labels, total


def labels_of(items: int, plan: CampaignPlan) -> int:
    """How many labels so many items get, those planned to overlap among them."""
    return items * plan.labels + round(items * plan.overlap)


def quote(
    plan: CampaignPlan,
    *,
    items: int,
    generators: int,
    instances: int,
    labels: int | None = None,
    annotators: int = 0,
    seconds_per_item: float | None = None,
) -> Quote:
    """The price of so many items; `annotators` counts those who are expected to take the qualification test."""
    labels = labels_of(items, plan) if labels is None else labels
    tests, answers = count_answers(labels, plan)
    qualifying = plan.qualification * annotators
    cost = (answers + qualifying) * plan.price
    seconds = seconds_per_item or plan.seconds_per_item
    hourly = None if seconds is None else plan.pay * 3600 / seconds
    return Quote(
        generators=generators,
        instances=instances,
        labels=labels,
        test_answers=tests + qualifying,
        answers=answers + qualifying,
        cost=cost,
        cost_per_generator=cost / generators if generators else 0.0,
        fees=(answers + qualifying) * plan.pay * plan.fee,
        currency=plan.currency,
        worst_se=worst_case_se(0.5, instances),
        hourly=hourly,
        warnings=tuple(_warnings(plan, instances, cost, hourly)),
    )


def _warnings(plan: CampaignPlan, instances: int, cost: float, hourly: float | None) -> list[str]:
    warnings = []
    if plan.selector not in (None, "random") and plan.aim == "means":
        warnings.append("instances are drawn with unequal chances: weigh labels by them (billboards estimate --drawn)")
    elif plan.selector not in (None, "random"):
        warnings.append(f"instances are chosen for their worth by {plan.selector}: plain means over them are biased")
    if instances < plan.instances:
        warnings.append(f"the board has {instances} instances to judge, fewer than the {plan.instances} asked for")
    if plan.pay and hourly is None:
        warnings.append("no hourly wage can be told yet; say how long an item takes (seconds_per_item)")
    if plan.pay and hourly is not None and hourly < plan.hourly:
        warnings.append(f"an hour would be paid {hourly:.2f} {plan.currency}, less than {plan.hourly:.2f}")
    if plan.budget is not None and cost > plan.budget:
        warnings.append(
            f"the budget of {plan.budget:.2f} {plan.currency} ends before everything is labelled ({cost:.2f})"
        )
    if not plan.positive or not plan.negative:
        warnings.append("without test questions of both kinds nobody can tell who answers at random")
    return warnings
