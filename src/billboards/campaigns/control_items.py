"""Test questions: items whose right answer is known (GENIE, §5).

A positive one shows a reference as if it were an output: another than the one on the page where there is another, and
never that one letter for letter. A negative one shows the reference of another instance, by permuting them cyclically,
so that it looks right at a glance and almost never is. An attention question shows the text of a positive one once
more, with a small fault put in. In comparisons, a test question pairs a reference with another instance's, or with its
own spoilt copy, in both orders.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

from billboards.board import Board
from billboards.campaigns.corruptions import corrupt, names_in
from billboards.campaigns.items import Item, Purpose, Slot, Test, chance, output_slot, reference_of, shuffled
from billboards.campaigns.plan import BLOCK, CampaignPlan
from billboards.campaigns.templates import Template
from billboards.errors import InvalidInput


def plan_tests(board: Board, template: Template, plan: CampaignPlan, instances: Sequence[str]) -> list[Item]:
    """A test question of each kind that the plan asks for on every sampled instance with a reference."""
    positive, negative, attention = plan.block_tests
    if not positive and not negative:
        return []
    pool = _pool(board, shuffled(instances, plan.seed, "tests"))
    spoilt = _spoilt(board, template, plan, pool) if attention else {}
    if attention and not spoilt:
        raise InvalidInput(
            f"board {board.name} has no reference that a small fault can be put into; ask for none (attention = 0)"
        )
    items = []
    for k in range(len(pool)):
        items += [_question(board, template, pool, k, "positive", "test")] if positive else []
        items += [_question(board, template, pool, k, "negative", "test")] if negative else []
        items += [_attention(template, pool, k, spoilt[k])] if k in spoilt else []
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


def good_slot(board: Board, template: Template, instance: str) -> Slot:
    """A good text that is not the reference on the page: another reference, or a light variant of the only one.

    Where no reference is shown, the first one is as good as any.
    """
    shown = reference_of(board, instance)
    assert shown is not None, "test questions are made of instances with a reference"
    if not template.shows("reference"):
        return shown
    for k in range(1, len(board.references)):
        other = reference_of(board, instance, k)
        if other is not None and other.text.strip() != shown.text.strip():
            return other
    return replace(shown, text=_variant(shown.text))


def _variant(text: str) -> str:
    """The same words, but not letter for letter: without the last sign, or with one, or with another capital."""
    whole = text.rstrip()
    if whole[-1:] in ".!?\u3002" and len(whole) > 1:
        return whole[:-1]
    return f"{whole}."


def _question(board: Board, template: Template, pool: Sequence[Slot], k: int, test: Test, purpose: Purpose) -> Item:
    own, other = pool[k], pool[(k + 1) % len(pool)]
    if template.outputs == 1:
        slot = good_slot(board, template, own.instance) if test == "positive" else other
        return Item(instance=own.instance, slots=(slot,), order=(0,), purpose=purpose, test=test)
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


def _spoilt(board: Board, template: Template, plan: CampaignPlan, pool: Sequence[Slot]) -> dict[int, Slot]:
    """Good texts with a small fault, by place in the pool, wherever one can be made that is sure to differ."""
    names = sorted({name for slot in pool for name in names_in(slot.text)})
    spoilt = {}
    for k, slot in enumerate(pool):
        good = good_slot(board, template, slot.instance) if template.outputs == 1 else slot
        texts = [reference.text for reference in board.instances[board.position[slot.instance]].references]
        texts += [output.text for row in board.rows if (output := output_slot(board, row, slot.instance)) is not None]
        made = corrupt(
            good.text,
            chance(plan.seed, "fault", slot.instance),
            names=names,
            right=texts,
            language=board.output_language,
        )
        if made is not None:
            spoilt[k] = replace(good, text=made.text)
    return spoilt


def _attention(template: Template, pool: Sequence[Slot], k: int, spoilt: Slot) -> Item:
    """A spoilt text alone, whose answer is laid beside that of the good one; or beside the good one, in comparisons."""
    own = pool[k]
    slots = (spoilt, own, *(pool[(k + step) % len(pool)] for step in range(1, template.outputs - 1)))
    slots = slots[: template.outputs]
    turn = k % len(slots)
    order = (*range(turn, len(slots)), *range(turn))
    return Item(instance=own.instance, slots=slots, order=order, purpose="test", test="attention")


def places_of_tests(plan: CampaignPlan, annotator: str, block: int, *, is_open: bool = False) -> dict[int, Test]:
    """Where in a block of items an annotator meets test questions; drawn anew for each block, so none is expected.

    While it is open whether the annotator reads, there are more of them, and among those all that there are anyway.
    """
    kinds: list[Test] = []
    for kind, count in zip(get_args(Test), plan.block_tests, strict=True):
        kinds += [kind] * count
    draw = chance(plan.seed, "places", annotator, block)
    places = draw.sample(range(BLOCK), plan.early_tests)
    more = plan.early_tests - len(kinds) if is_open else 0
    turns = draw.sample(kinds, len(kinds))
    kinds += [turns[k % len(turns)] for k in range(more)]
    return dict(zip(places[: len(kinds)], kinds, strict=True))


def next_test(plan: CampaignPlan, annotator: str, answered: int, *, is_open: bool = False) -> Test | None:
    """Which kind of test question an annotator's next item is, if any, after so many answers."""
    return places_of_tests(plan, annotator, answered // BLOCK, is_open=is_open).get(answered % BLOCK)
