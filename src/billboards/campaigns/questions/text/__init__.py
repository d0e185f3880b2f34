"""Free text: what annotators want to say in their own words. It is kept and exported, and never counts as a value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from pydantic import Field, ValidationInfo, field_validator

from billboards.campaigns.questions._contract import Question

#: Characters that one answer may have at most, whatever a template says.
LONGEST = 20_000


class Text(Question):
    """An answer is the text itself, without blanks around it; empty where the template asks for none."""

    kind: ClassVar[str] = "text"
    compares = ("none", "reference", "generators")
    has_value: ClassVar[bool] = False
    asks_people: ClassVar[bool] = True

    least: int = Field(default=0, ge=0, le=LONGEST, description=f"a whole number from 0 to {LONGEST}")
    most: int = Field(default=2000, ge=1, le=LONGEST, description=f"a whole number from 1 to {LONGEST}")
    rows: int = Field(default=3, ge=1, le=30, description="a whole number from 1 to 30")

    @field_validator("most")
    @classmethod
    def _above(cls, most: int, info: ValidationInfo) -> int:
        if most < info.data.get("least", 0):
            raise ValueError(f"must be {info.data['least']} or more, as many characters as `least` asks for")
        return most

    def check(self, raw: Any, outputs: Sequence[str]) -> str:
        if not isinstance(raw, str):
            raise self.refuse(f"{str(raw)[:40]!r} is no text")
        text = raw.replace("\r\n", "\n").strip()
        if "\0" in text or (not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text)):
            raise self.refuse("this text holds what is no character; write it anew")
        if not self.least <= len(text) <= self.most:
            raise self.refuse(f"write {self.least:,} to {self.most:,} characters; these are {len(text):,}")
        return text

    def worth(self, answer: Any, place: int, outputs: int) -> float:
        return float("nan")

    def preview(self) -> Iterator[str]:
        least = f"{self.least:,} to" if self.least else "up to"
        yield f"(in your own words, {least} {self.most:,} characters)"

    def in_words(self, answer: Any, outputs: Sequence[str], names: Sequence[str]) -> str:
        return str(answer) or "(nothing)"

    def from_form(self, fields: Mapping[str, str]) -> Any:
        text = fields.get("")
        return None if text is None or (self.least and not text.strip()) else text
