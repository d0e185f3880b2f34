"""What a campaign will cost, and what that buys, before anything is asked (GENIE, §6 and Appendix C).

Scores lie between 0 and 1, so the standard error of a mean of n of them is at most sqrt(mu(1-mu)/n), and at most
0.5/sqrt(n) whatever the mean: 1.77 points with 800 instances, 2.89 with 300. Several labels of one instance don't
make it smaller in the worst case, since annotators may all say the same.

Test questions come early, so how many there are hangs on how many people share the work; the quote says for how many it
is, how many questions each of them gets, and who would be found by these.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from billboards.campaigns.plan import BLOCK, CampaignPlan
from billboards.stats.annotator_recall import ExpectedRecall, answers_for, expected_recall
from billboards.stats.worst_case import worst_case_se

#: Where nobody says how many people share the work: as many as have so many labels each, and so many at most.
LABELS_EACH, PEOPLE = 40, 20
#: Below this chance of finding somebody who answers at random the quote warns.
LEAST_RECALL = 0.8


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
    #: How many people share the work: as many as are expected or take part, else one for 40 labels, at most 20.
    annotators: int
    answers_per_person: float
    #: Test questions that an attentive person gets, those of the qualification test among them.
    questions_per_person: float
    #: The chance that test questions find somebody who answers at random, and somebody who does so every second time.
    recall_random: float
    recall_half_random: float
    warnings: tuple[str, ...] = ()
    #: What would find more of those who answer at random, where few are found.
    advice: tuple[str, ...] = ()


def count_answers(labels: int, plan: CampaignPlan) -> tuple[int, int]:
    """How many test questions go with so many labels, and how many answers both are together."""
    tests = sum(plan.block_tests)
    total = ceil(labels * BLOCK / (BLOCK - tests))
    return total - labels, total


def people_expected(labels: int, plan: CampaignPlan, annotators: int = 0) -> int:
    """How many people share so many labels: those who take part or are expected, and enough for the plan's cap."""
    people = annotators or plan.annotators or min(PEOPLE, max(1, ceil(labels / LABELS_EACH)))
    if plan.most_answers is not None:
        people = max(people, people_for(labels, plan, plan.most_answers))
    return people


def people_for(labels: int, plan: CampaignPlan, answers: int) -> int:
    """How many people it takes to give so many labels, if each gives so many answers, test questions among them."""
    questions = expected_recall(answers, **_dealing(plan)).questions
    return ceil(labels / max(answers - questions, 1.0))


def _dealing(plan: CampaignPlan) -> dict[str, int]:
    return {"early": plan.early_tests, "later": sum(plan.block_tests), "block": BLOCK}


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
    test_items: int | None = None,
    seconds_per_item: float | None = None,
) -> Quote:
    """The price of so many items.

    `annotators` counts those who take part already, 0 where nobody does; nobody gets more than the `test_items` there
    are as test questions.
    """
    labels = labels_of(items, plan) if labels is None else labels
    people = people_expected(labels, plan, annotators)
    per_person = answers_for(labels / people, **_dealing(plan))
    per_person = per_person if test_items is None else min(per_person, labels / people + test_items)
    answers = ceil(round(per_person * people, 6))
    tests = answers - labels
    qualifying = plan.qualification * people
    recall = expected_recall(per_person + plan.qualification, **_dealing(plan))
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
        annotators=people,
        answers_per_person=(answers + qualifying) / people,
        questions_per_person=(tests + qualifying) / people,
        recall_random=recall.random,
        recall_half_random=recall.half_random,
        warnings=tuple(_warnings(plan, instances, cost, hourly)),
        advice=tuple(_advice(plan, recall)),
    )


def _advice(plan: CampaignPlan, recall: ExpectedRecall) -> list[str]:
    """What to do where test questions would find too few; where there are none, a warning says so."""
    if not plan.positive or not plan.negative or recall.random >= LEAST_RECALL:
        return []
    return [
        f"of people who answer at random test questions would find {recall.random:.0%}, with about "
        f"{recall.questions:.0f} questions each; ask more early (early), or more of fewer people (annotators)"
    ]


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
