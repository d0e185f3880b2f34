"""Stars: an output gets one star or more. A whole kind of question in one small package, to copy from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from pydantic import Field

from billboards.campaigns.questions import Question


class Stars(Question):
    """An answer is the number of stars, from 1."""

    kind: ClassVar[str] = "stars"

    most: int = Field(default=5, ge=2, le=9, description="a whole number from 2 to 9")

    def check(self, raw: Any, outputs: Sequence[str]) -> int:
        if isinstance(raw, bool) or not isinstance(raw, int) or not 1 <= raw <= self.most:
            raise self.refuse(f"{str(raw)[:40]!r} is no number of stars; send one from 1 to {self.most}")
        return raw

    def worth(self, answer: Any, place: int, outputs: int) -> float:
        low, high = self.range
        return low + (high - low) * (int(answer) - 1) / (self.most - 1)

    def preview(self) -> Iterator[str]:
        yield f"give 1 to {self.most} stars"

    def in_words(self, answer: Any, outputs: Sequence[str], names: Sequence[str]) -> str:
        return f"{answer} of {self.most} stars"
