"""Best and worst: of several outputs, the two ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from billboards.campaigns.questions._contract import Compares, Question, is_place

_ENDS = ("best", "worst")


class BestWorst(Question):
    """An answer names two places; those between them are worth the middle of the range."""

    kind: ClassVar[str] = "best-worst"
    compares: ClassVar[tuple[Compares, ...]] = ("reference", "generators")

    def check(self, raw: Any, outputs: Sequence[str]) -> dict[str, int]:
        if not isinstance(raw, Mapping) or set(raw) != set(_ENDS):
            raise self.refuse(f'send {{"best": k, "worst": j}}; found {str(raw)[:40]!r}')
        places = {end: raw[end] for end in _ENDS}
        if not all(is_place(place, outputs) for place in places.values()):
            raise self.refuse(f"best and worst are places from 0 to {len(outputs) - 1}")
        if places["best"] == places["worst"]:
            raise self.refuse("one output can't be the best and the worst; choose two")
        return places

    def worth(self, answer: Any, place: int, outputs: int) -> float:
        low, high = self.range
        return high if answer["best"] == place else low if answer["worst"] == place else (low + high) / 2

    def preview(self) -> Iterator[str]:
        yield "choose the best and the worst"

    def in_words(self, answer: Any, outputs: Sequence[str], names: Sequence[str]) -> str:
        return ", ".join(f"{end}: {names[answer[end]]}" for end in _ENDS)

    def from_form(self, fields: Mapping[str, str]) -> Any:
        places = {end: fields.get(f":{end}", "") for end in _ENDS}
        return {end: self.read_field(text) for end, text in places.items()} if all(places.values()) else None
