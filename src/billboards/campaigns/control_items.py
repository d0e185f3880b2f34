"""Test questions: items whose right answer is known (GENIE, §5).

A positive one shows the reference as if it were an output; a negative one shows the reference of another instance, by
permuting them cyclically, so that it looks right at a glance and almost never is. In comparisons, a test question pairs
a reference with another instance's, in both orders.
"""

from __future__ import annotations

from collections.abc import Sequence

from billboards.board import Board
from billboards.campaigns.items import Item, Purpose, Slot, Test, chance, output_slot, reference_of, shuffled
from billboards.campaigns.plan import BLOCK, CampaignPlan
from billboards.campaigns.templates import Template
from billboards.errors import InvalidInput


def plan_tests(board: Board, template: Template, plan: CampaignPlan, instances: Sequence[str]) -> list[Item]:
    """A test question of each kind that the plan asks for on every sampled instance with a reference."""
    positive, negative = plan.block_tests
    if not positive and not negative:
        return []
    pool = _pool(board, shuffled(instances, plan.seed, "tests"))
    items = []
    for k in range(len(pool)):
        items += [_question(board, template, pool, k, "positive", "test")] if positive else []
        items += [_question(board, template, pool, k, "negative", "test")] if negative else []
    return items


def plan_qualification(board: Board, template: Template, plan: CampaignPlan, instances: Sequence[str]) -> list[Item]:
    """The qualification test: questions of both kinds by turns, on instances outside the sample as far as there are."""
    if not plan.qualification:
        return []
    sampled = set(instances)
    others = [
        instance.id
        for instance in board.instances
        if instance.id not in sampled and reference_of(board, instance.id) is not None
    ]
    order = [*shuffled(others, plan.seed, "qualification"), *reversed(instances)]
    pool = _pool(board, order)
    count = min(plan.qualification, len(pool))
    kinds: tuple[Test, Test] = ("positive", "negative")
    chosen = chance(plan.seed, "kinds").sample([kinds[k % 2] for k in range(count)], count)
    return [_question(board, template, pool, k, kind, "qualification") for k, kind in enumerate(chosen)]


def _pool(board: Board, instances: Sequence[str]) -> list[Slot]:
    """References of instances, one each and each text once: a text that fits two instances is wrong for neither."""
    slots: dict[str, Slot] = {}
    for instance in instances:
        slot = reference_of(board, instance)
        if slot is not None:
            slots.setdefault(slot.text, slot)
    if len(slots) < 2:
        raise InvalidInput(
            f"board {board.name} has {len(slots)} different references to make test questions of; "
            "ask for none (positive = 0, negative = 0, qualification = 0), or add references"
        )
    return list(slots.values())


def _question(board: Board, template: Template, pool: Sequence[Slot], k: int, test: Test, purpose: Purpose) -> Item:
    own, other = pool[k], pool[(k + 1) % len(pool)]
    if template.outputs == 1:
        return Item(
            instance=own.instance, slots=(own if test == "positive" else other,), order=(0,), purpose=purpose, test=test
        )
    slots = (
        _positive(pool, k, template.outputs) if test == "positive" else _negative(board, own, other, template.outputs)
    )
    order = list(range(len(slots)))
    # Both kinds are shown in both orders, by turns.
    turn = (k + (test == "negative")) % len(order)
    return Item(
        instance=own.instance, slots=tuple(slots), order=(*order[turn:], *order[:turn]), purpose=purpose, test=test
    )


def _positive(pool: Sequence[Slot], k: int, outputs: int) -> list[Slot]:
    """The own reference among others' ones."""
    return [pool[(k + step) % len(pool)] for step in range(outputs)]


def _negative(board: Board, own: Slot, other: Slot, outputs: int) -> list[Slot]:
    """Another instance's reference beside the own one, and beside real outputs where more are compared."""
    slots = [other, own]
    for row in board.rows:
        slot = output_slot(board, row, own.instance) if len(slots) < outputs else None
        slots += [slot] if slot is not None and slot.text not in (own.text, other.text) else []
    while len(slots) < outputs:
        slots.append(own)
    return slots


def places_of_tests(plan: CampaignPlan, annotator: str, block: int) -> dict[int, Test]:
    """Where in a block of items an annotator meets test questions; drawn anew for each block, so none is expected."""
    positive, negative = plan.block_tests
    places = chance(plan.seed, "places", annotator, block).sample(range(BLOCK), positive + negative)
    return {place: "positive" if k < positive else "negative" for k, place in enumerate(places)}


def next_test(plan: CampaignPlan, annotator: str, answered: int) -> Test | None:
    """Which kind of test question an annotator's next item is, if any, after so many answers."""
    return places_of_tests(plan, annotator, answered // BLOCK).get(answered % BLOCK)
