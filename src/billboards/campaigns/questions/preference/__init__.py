"""A preference: which of two outputs is better, on a scale from the first that is shown to the second."""

from __future__ import annotations

from typing import Any, ClassVar

from billboards.campaigns.questions._contract import Compares
from billboards.campaigns.questions.scale import Scale


class Preference(Scale):
    """The options run from the first output shown to the second; for the first, their worth runs backwards."""

    kind: ClassVar[str] = "preference"
    compares: ClassVar[tuple[Compares, ...]] = ("reference", "generators")

    def worth(self, answer: Any, place: int, outputs: int) -> float:
        low, high = self.range
        worth = self.values[int(answer)]
        return worth if place == outputs - 1 else low + high - worth

    def problem_with(self, outputs: int) -> str | None:
        return None if outputs == 2 else f"a preference is between 2 outputs, not {outputs}; use best-worst for more"
