"""A slider: a number within the range, written or drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from pydantic import Field

from billboards.campaigns.questions._contract import Question, Range, Texts


class Slider(Question):
    """An answer is the number itself."""

    kind: ClassVar[str] = "slider"
    asks_people: ClassVar[bool] = True

    range: Range = Field(default=(0.0, 100.0), description="two numbers, the lower one first, as in [0, 1]")
    #: Anchors below the slider, from its lower end to its upper.
    labels: Texts = Field(default=(), description="a list of texts")
    step: float = Field(default=1.0, gt=0, description="a number above 0")

    def check(self, raw: Any, outputs: Sequence[str]) -> float:
        low, high = self.range
        if isinstance(raw, bool) or not isinstance(raw, int | float) or not low <= raw <= high:
            raise self.refuse(f"{str(raw)[:40]!r} is no number from {low:g} to {high:g}")
        return float(raw)

    def worth(self, answer: Any, place: int, outputs: int) -> float:
        return float(answer)

    def preview(self) -> Iterator[str]:
        yield f"{self.range[0]:g} ---- {self.range[1]:g}   {' · '.join(self.labels)}"

    def in_words(self, answer: Any, outputs: Sequence[str], names: Sequence[str]) -> str:
        return f"{answer:g}"
