"""The items of a campaign: which outputs of which instances are judged, together and in which order (GENIE, §4 and §6).

The subsample of instances is random, fixed by the campaign's seed, and the same for every generator, so that
generators are compared on the same instances and one that comes later is too. Items are ordered in rounds: each has
every generator once, each on another instance, so that whoever works at whatever time sees all generators evenly. A
campaign that may stop early goes through its instances in blocks of as many as there are generators, so that instances
are complete one block after the other.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

from billboards.board import Board, Outputs, digest
from billboards.campaigns.plan import CampaignPlan
from billboards.campaigns.schedules import balanced_pairs, balanced_sets
from billboards.campaigns.templates import Template
from billboards.errors import InvalidInput

#: Segments that an annotator gets at once; a longer document is dealt in parts.
LONGEST_DOCUMENT = 40
Purpose = Literal["label", "test", "qualification"]
Test = Literal["positive", "negative", "attention"]


@dataclass(frozen=True)
class Slot:
    """One text of an item: a generator's output, or a reference (of this instance or, in a test question, another)."""

    source: Literal["generator", "reference"]
    name: str
    instance: str
    text: str
    #: The version of the generator's row, so that a judgment is never laid on outputs nobody has seen.
    version: str = ""


@dataclass(frozen=True, kw_only=True)
class Item:
    """One thing to judge. Slot 0 is the output in question; `order` holds the slots as they are first shown."""

    instance: str
    slots: tuple[Slot, ...]
    order: tuple[int, ...]
    purpose: Purpose = "label"
    test: Test | None = None
    wanted: int = 1
    #: A part of the campaign that results are told apart by, such as a corner of disagreement.
    part: str | None = None
    #: What is dealt together, to one annotator and in order: a document with one generator, or one group of them.
    batch: str | None = None

    @property
    def row(self) -> str | None:
        """The generator an item's progress counts for."""
        return self.slots[0].name if self.purpose == "label" else None


def chance(seed: int, *words: object) -> random.Random:
    """Random numbers that depend on the seed and on what they are for, and on nothing else."""
    text = "\0".join(map(str, (seed, *words)))
    return random.Random(int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big"))


def shuffled(ids: Iterable[str], seed: int, what: str) -> list[str]:
    """Ids in a random order that stays the same for those there when others are added."""

    def place(key: str) -> bytes:
        return hashlib.sha256(f"{seed}\0{what}\0{key}".encode("utf-8", "surrogatepass")).digest()

    return sorted(ids, key=place)


def eligible(board: Board, template: Template) -> list[str]:
    """The instances that have all that a template shows."""
    instances = board.instances
    if template.shows("reference") or template.compares == "reference":
        instances = tuple(instance for instance in instances if reference_of(board, instance.id) is not None)
    if template.shows("input"):
        instances = tuple(
            instance for instance in instances if instance.input is not None or instance.image is not None
        )
    if not instances:
        needs = [word for word in ("input", "reference") if template.shows(word) or template.compares == word]
        raise InvalidInput(
            f"no instance of board {board.name} has {' and '.join(needs)}, which template {template.name} shows; "
            "choose another template"
        )
    return [instance.id for instance in instances]


def sample(board: Board, template: Template, plan: CampaignPlan) -> tuple[str, ...]:
    """The fixed random subsample of instances; of whole documents, as many as have no more instances together."""
    if template.unit == "document":
        return _sampled_documents(board, template, plan)
    return tuple(shuffled(eligible(board, template), plan.seed, "sample")[: plan.instances])


def _sampled_documents(board: Board, template: Template, plan: CampaignPlan) -> tuple[str, ...]:
    documents = documents_of(board, eligible(board, template))
    instances: list[str] = []
    for name in shuffled(documents, plan.seed, "sample"):
        if not instances or len(instances) + len(documents[name]) <= plan.instances:
            instances += documents[name]
    return tuple(instances)


def documents_of(board: Board, instances: Iterable[str]) -> dict[str, list[str]]:
    """Instances by document, each in the document's order; a long one is cut into parts of about the same length.

    An instance without a document is one by itself.
    """
    whole: dict[str, list[str]] = {}
    for instance in sorted(instances, key=board.position.__getitem__):
        document = board.instances[board.position[instance]].document
        whole.setdefault(f"segment {instance}" if document is None else f"document {document}", []).append(instance)
    parts: dict[str, list[str]] = {}
    for name, segments in whole.items():
        count = -(-len(segments) // LONGEST_DOCUMENT)
        ends = [len(segments) * k // count for k in range(count + 1)]
        for k in range(count):
            parts[f"{name}, part {k + 1}" if count > 1 else name] = segments[ends[k] : ends[k + 1]]
    return parts


def reference_of(board: Board, instance: str, k: int = 0) -> Slot | None:
    """The k-th of an instance's references among those the board uses."""
    names = set(board.references)
    references = [
        reference for reference in board.instances[board.position[instance]].references if reference.name in names
    ]
    return Slot("reference", references[k].name, instance, references[k].text) if k < len(references) else None


def output_slot(board: Board, row: Outputs, instance: str) -> Slot | None:
    """A generator's output for an instance; None where it has none."""
    text = row.texts[board.position[instance]]
    return None if text is None else Slot("generator", row.name, instance, text, row.version)


def plan_items(
    board: Board, template: Template, plan: CampaignPlan, rows: Sequence[Outputs], instances: Sequence[str]
) -> list[Item]:
    """The items by which generators are judged, in the order they are to be given out."""
    if template.unit == "document":
        items = list(_documents(board, template, plan, rows, instances))
    elif template.compares == "generators":
        groups = _groups if plan.schedule == "random" else _scheduled
        items = list(groups(board, template, plan, rows, instances))
    else:
        items = list(_singles(board, template, plan, rows, instances))
    return _with_labels(items, plan)


def _singles(
    board: Board, template: Template, plan: CampaignPlan, rows: Sequence[Outputs], instances: Sequence[str]
) -> Iterable[Item]:
    """One generator per item; where it is compared with the reference, each of them is first in half of its items."""
    for turn, block in _turns(plan, len(rows), instances):
        shift = max(1, len(block) // max(1, len(rows)))
        for k in chance(plan.seed, "round", turn).sample(range(len(rows)), len(rows)):
            instance = block[(turn + k * shift) % len(block)]
            slot = output_slot(board, rows[k], instance)
            if slot is None:
                continue
            if template.compares == "none":
                yield Item(instance=instance, slots=(slot,), order=(0,))
            else:
                other = reference_of(board, instance)
                assert other is not None, "eligible instances have a reference"
                yield Item(instance=instance, slots=(slot, other), order=(0, 1) if turn % 2 == k % 2 else (1, 0))


def _turns(plan: CampaignPlan, rows: int, instances: Sequence[str]) -> Iterable[tuple[int, Sequence[str]]]:
    """Every turn with the block of instances it goes through: all of them, or as many as there are generators."""
    size = len(instances) if plan.stop == "never" else max(1, rows)
    for start in range(0, len(instances), max(1, size)):
        block = instances[start : start + size]
        yield from ((start + turn, block) for turn in range(len(block)))


def _groups(
    board: Board, template: Template, plan: CampaignPlan, rows: Sequence[Outputs], instances: Sequence[str]
) -> Iterable[Item]:
    """Several generators per item: of each instance, everybody in some group, the groups drawn anew each time."""
    _check_number(template, rows)
    for instance in instances:
        slots = [slot for row in rows if (slot := output_slot(board, row, instance)) is not None]
        draw = chance(plan.seed, "groups", instance)
        for group, order in _drawn_groups(slots, template.outputs, draw):
            yield Item(instance=instance, slots=group, order=order)


Drawn = TypeVar("Drawn")


def _drawn_groups(
    everybody: Sequence[Drawn], size: int, draw: random.Random
) -> Iterable[tuple[tuple[Drawn, ...], tuple[int, ...]]]:
    """Everybody in some group of this size, and the order in which the group is shown."""
    drawn = list(everybody)
    draw.shuffle(drawn)
    for start in range(0, len(drawn), size):
        group = drawn[start : start + size]
        missing = size - len(group)
        group += draw.sample(drawn[:start], missing) if missing <= start else []
        if len(group) == size:
            yield tuple(group), tuple(draw.sample(range(size), size))


def _documents(
    board: Board, template: Template, plan: CampaignPlan, rows: Sequence[Outputs], instances: Sequence[str]
) -> Iterable[Item]:
    """Documents in rounds as instances are: each round has every generator, or group of them, on another document.

    A batch is what one annotator gets: the segments of a document in order, by the same generators all through.
    """
    documents = list(documents_of(board, instances).items())
    documents = [documents[k] for k in chance(plan.seed, "documents").sample(range(len(documents)), len(documents))]
    size = template.outputs if template.compares == "generators" else 1
    if len(rows) < size:
        raise InvalidInput(f"template {template.name} compares {size} generators, and there are {len(rows)}; add some")
    groups = {
        name: list(_drawn_groups(range(len(rows)), size, chance(plan.seed, "groups", name)))
        if size > 1
        else [((k,), (0,)) for k in range(len(rows))]
        for name, _ in documents
    }
    most = max((len(drawn) for drawn in groups.values()), default=0)
    shift = max(1, len(documents) // max(1, most))
    for turn in range(len(documents)):
        for k in chance(plan.seed, "round", turn).sample(range(most), most):
            name, segments = documents[(turn + k * shift) % len(documents)]
            if k < len(groups[name]):
                chosen, order = groups[name][k]
                yield from _batch(board, template, name, segments, [rows[r] for r in chosen], order, turn + k)


def _batch(
    board: Board,
    template: Template,
    name: str,
    segments: Sequence[str],
    rows: Sequence[Outputs],
    order: tuple[int, ...],
    turn: int,
) -> Iterable[Item]:
    """A document by one generator, or by several that are compared; segments that one of them lacks are left out."""
    batch = digest((name, *(row.name for row in rows)))
    for instance in segments:
        slots = [slot for row in rows if (slot := output_slot(board, row, instance)) is not None]
        if len(slots) < len(rows):
            continue
        if template.compares == "reference":
            other = reference_of(board, instance)
            assert other is not None, "eligible instances have a reference"
            yield Item(instance=instance, slots=(slots[0], other), order=(0, 1) if turn % 2 else (1, 0), batch=batch)
        else:
            yield Item(instance=instance, slots=tuple(slots), order=order, batch=batch)


def _scheduled(
    board: Board, template: Template, plan: CampaignPlan, rows: Sequence[Outputs], instances: Sequence[str]
) -> Iterable[Item]:
    """Several generators per item by a balanced schedule; who has no output for an instance sits out there."""
    _check_number(template, rows)
    size, draw = template.outputs, chance(plan.seed, "schedule")
    rounds = _rounds(len(rows), size, len(instances), draw)
    for instance, sets in zip(instances, rounds, strict=True):
        for group in sets:
            item = item_of(board, [rows[k] for k in group], instance)
            if item is not None:
                yield item


def _rounds(entries: int, size: int, count: int, draw: random.Random) -> Iterator[Sequence[tuple[int, ...]]]:
    if size == 2:
        yield from balanced_pairs(entries, count, draw)
    else:
        yield from balanced_sets(entries, size, count, draw)


def item_of(board: Board, rows: Sequence[Outputs], instance: str) -> Item | None:
    """An item that shows these generators' outputs in this order; None where one of them has none."""
    slots = tuple(slot for row in rows if (slot := output_slot(board, row, instance)) is not None)
    if len(slots) < len(rows):
        return None
    return Item(instance=instance, slots=slots, order=tuple(range(len(slots))))


def entry_items(
    board: Board,
    plan: CampaignPlan,
    newcomer: Outputs,
    others: Sequence[Outputs],
    instances: Sequence[str],
) -> list[Item]:
    """A newcomer's items in a campaign of pairs: one for each instance, with each of the others equally often.

    It is shown first in every second item with each of them.
    """
    if not others:
        raise InvalidInput(f"{newcomer.name} has nobody to be compared with; add other generators")
    draw = chance(plan.seed, "entry", newcomer.name)
    opponents = draw.sample(list(others), len(others))
    items = []
    for k, instance in enumerate(instances):
        # Slot 0 is the newcomer, for whom the item counts, whichever is shown first.
        item = item_of(board, [newcomer, opponents[k % len(opponents)]], instance)
        if item is not None:
            turned = (k // len(opponents) + k) % 2 == 1
            items.append(Item(instance=instance, slots=item.slots, order=(1, 0) if turned else (0, 1)))
    return _with_labels(items, plan)


def _check_number(template: Template, rows: Sequence[Outputs]) -> None:
    if len(rows) < template.outputs:
        raise InvalidInput(
            f"template {template.name} compares {template.outputs} generators, and there are {len(rows)}; add some"
        )


def _with_labels(items: list[Item], plan: CampaignPlan) -> list[Item]:
    """Items with the number of labels each gets; those with one more are drawn by the seed, documents as a whole."""
    draw = chance(plan.seed, "overlap", items[0].slots[0].name if items else "")
    together = [item.batch or str(k) for k, item in enumerate(items)]
    units = list(dict.fromkeys(together))
    more = {units[k] for k in draw.sample(range(len(units)), round(len(units) * plan.overlap))}
    return [replace(item, wanted=plan.labels + (unit in more)) for item, unit in zip(items, together, strict=True)]


def shown_order(order: Sequence[int], label: int) -> tuple[int, ...]:
    """The order in which a label sees an item's slots: turned by one place each time, so none is always first."""
    turn = label % len(order)
    return (*order[turn:], *order[:turn])


def slot_document(slot: Slot) -> dict[str, Any]:
    """A slot as it is kept."""
    return {key: getattr(slot, key) for key in ("source", "name", "instance", "text", "version")}


def read_slot(document: Mapping[str, Any]) -> Slot:
    return Slot(**document)


@dataclass(frozen=True, slots=True)
class Candidate:
    """An item that still needs a label; `place` is its place in the planned order."""

    id: int
    instance: str
    row: str
    place: int


def choose(candidates: Iterable[Candidate], seen: Collection[str], judged: Mapping[str, int]) -> Candidate | None:
    """The best item for who has seen these instances and judged each generator so often; None where there is none."""

    def cost(candidate: Candidate) -> tuple[bool, int, int]:
        return candidate.instance in seen, judged.get(candidate.row, 0), candidate.place

    return min(candidates, key=cost, default=None)
