"""A scale: one of several options, from the worst to the best."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, ClassVar

from pydantic import Field, Strict, ValidationInfo, field_validator

from billboards.campaigns.questions._contract import Question, Texts
from billboards.reading import shown


class Scale(Question):
    """An answer is the place of the option that was chosen, from 0."""

    kind: ClassVar[str] = "scale"
    asks_people: ClassVar[bool] = True

    labels: Texts = Field(default=(), validate_default=True, description="a list of texts")
    #: What each option is worth, within the range; spread evenly over it where the file says nothing.
    values: Annotated[tuple[float, ...], Strict(False)] = Field(
        default=None, validate_default=True, description="a list of numbers, one for each label"
    )

    @field_validator("labels")
    @classmethod
    def _several(cls, labels: tuple[str, ...]) -> tuple[str, ...]:
        if len(labels) < 2:
            raise ValueError(
                "must be two options or more, from the worst (or the first output) to the best (or the second)"
            )
        return labels

    @field_validator("values", mode="before")
    @classmethod
    def _even(cls, values: Any, info: ValidationInfo) -> Any:
        if values is not None or "labels" not in info.data or "range" not in info.data:
            return () if values is None else values
        low, high = info.data["range"]
        last = len(info.data["labels"]) - 1
        return tuple(low + (high - low) * k / last for k in range(last + 1))

    @field_validator("values")
    @classmethod
    def _within(cls, values: tuple[float, ...], info: ValidationInfo) -> tuple[float, ...]:
        if "labels" not in info.data or "range" not in info.data:
            return values
        if len(values) != len(info.data["labels"]):
            raise ValueError(f"must be a list of {len(info.data['labels'])} numbers, one for each label")
        low, high = info.data["range"]
        if not all(low <= value <= high for value in values):
            raise ValueError(f"must be numbers from {low:g} to {high:g}; found {shown(list(values))}")
        return values

    def check(self, raw: Any, outputs: Sequence[str]) -> int:
        if isinstance(raw, bool) or not isinstance(raw, int) or not 0 <= raw < len(self.labels):
            raise self.refuse(f"{str(raw)[:40]!r} is no option; send a number from 0 to {len(self.labels) - 1}")
        return raw

    def worth(self, answer: Any, place: int, outputs: int) -> float:
        return self.values[int(answer)]

    def preview(self) -> Iterator[str]:
        worth = zip(self.labels, self.values, strict=True)
        yield "   ".join(f"[{k + 1}] {label} ({value:g})" for k, (label, value) in enumerate(worth))

    def in_words(self, answer: Any, outputs: Sequence[str], names: Sequence[str]) -> str:
        return self.labels[int(answer)]
