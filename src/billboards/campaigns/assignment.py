"""Which item an annotator gets next.

Nobody sees an instance twice, under whatever generator, as long as there is another; then everybody should see every
generator equally often, and items go out in their planned order, which is balanced over generators and time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Candidate:
    """An item that still needs a label; `place` is its place in the planned order."""

    id: int
    instance: str
    row: str
    place: int


def choose(candidates: Iterable[Candidate], seen: Collection[str], judged: Mapping[str, int]) -> Candidate | None:
    """The best item for who has seen these instances and judged each generator so often; None where there is none."""

    def cost(one: Candidate) -> tuple[bool, int, int]:
        return one.instance in seen, judged.get(one.row, 0), one.place

    return min(candidates, key=cost, default=None)
