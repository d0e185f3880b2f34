"""Spans: errors marked in an output, with how bad each is; their weights add up, to the range's lower end at most."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator
from pydantic_core import PydanticCustomError

from billboards.campaigns.questions._contract import Question, Range, Texts, is_place
from billboards.reading import is_number, shown

#: More marked spans than this in one answer are a mistake of the page, not of the output.
MOST_SPANS = 500
_KEYS = ("output", "start", "end", "severity", "category", "missing")


class Severity(BaseModel):
    """How bad an error is, and what it takes off."""

    model_config = ConfigDict(frozen=True)

    name: str
    weight: float


def _severities(table: Any) -> Any:
    if not isinstance(table, Mapping) or not table:
        raise ValueError("is missing; write as in { minor = 1, major = 5 }")
    for name, weight in table.items():
        if not is_number(weight) or weight <= 0:
            raise ValueError(f"{name} must be a number above 0; found {shown(weight)}")
    return tuple(Severity(name=name, weight=float(weight)) for name, weight in table.items())


class Spans(Question):
    """An answer is a list of spans, places counted in characters; an empty one says that there is no error."""

    kind: ClassVar[str] = "spans"

    range: Range = Field(
        default=(-25.0, 0.0), description="two numbers, the lower one first, as in [-25, 0], with 0 for no error"
    )
    severities: Annotated[tuple[Severity, ...], BeforeValidator(_severities)] = Field(
        default=None, validate_default=True, description="a table as in { minor = 1, major = 5 }"
    )
    categories: Texts = Field(default=(), description="a list of texts")
    #: Whether a span may be empty, to say that something is missing at its place.
    allows_missing: Annotated[bool, BeforeValidator(bool)] = Field(default=False, description="true or false")

    @field_validator("range")
    @classmethod
    def _up_to_none(cls, limits: tuple[float, float]) -> tuple[float, float]:
        if limits[1] != 0:
            raise PydanticCustomError("above-zero", "0 stands for no error")
        return limits

    def check(self, raw: Any, outputs: Sequence[str]) -> list[dict[str, Any]]:
        if not isinstance(raw, list | tuple) or len(raw) > MOST_SPANS:
            raise self.refuse(f"send a list of at most {MOST_SPANS} spans; an empty one is no error")
        return [self._span(span, outputs, f"span {k}") for k, span in enumerate(raw, 1)]

    def _span(self, span: Any, outputs: Sequence[str], where: str) -> dict[str, Any]:
        if not isinstance(span, Mapping) or not set(span) <= set(_KEYS):
            raise self.refuse(f"{where} must be an object with {', '.join(_KEYS)}; found {str(span)[:80]!r}")
        output: Any = span.get("output", 0)
        start: Any = span.get("start")
        end: Any = span.get("end")
        if not is_place(output, outputs):
            raise self.refuse(
                f"{where}: output must be a place from 0 to {len(outputs) - 1}; found {str(output)[:40]!r}"
            )
        missing = span.get("missing", False)
        if missing is not False and (missing is not True or not self.allows_missing):
            raise self.refuse(f"{where}: this template has no spans for what is missing")
        least = 0 if missing else 1
        whole = all(isinstance(place, int) and not isinstance(place, bool) for place in (start, end))
        if not whole or not 0 <= start <= end <= len(outputs[output]) or end - start < least:
            raise self.refuse(
                f"{where} runs from {str(start)[:20]} to {str(end)[:20]}; "
                f"the output has {len(outputs[output])} characters, and a span marks one or more of them"
            )
        checked: dict[str, Any] = {"output": output, "start": start, "end": end}
        names = [severity.name for severity in self.severities]
        checked["severity"] = self._choice(span.get("severity"), names, f"{where}: severity")
        if self.categories:
            checked["category"] = self._choice(span.get("category"), self.categories, f"{where}: category")
        return {**checked, "missing": True} if missing else checked

    def _choice(self, value: Any, choices: Sequence[str], where: str) -> str:
        if value not in choices:
            raise self.refuse(f"{where} must be one of {', '.join(choices)}; found {str(value)[:40]!r}")
        return str(value)

    def worth(self, answer: Any, place: int, outputs: int) -> float:
        weight = {severity.name: severity.weight for severity in self.severities}
        total = sum(weight[span["severity"]] for span in answer if span["output"] == place)
        return max(self.range[0], 0.0 - total)

    def preview(self) -> Iterator[str]:
        yield "mark spans: " + ", ".join(f"{severity.name} (-{severity.weight:g})" for severity in self.severities)
        if self.categories:
            yield f"as: {', '.join(self.categories)}"

    def in_words(self, answer: Any, outputs: Sequence[str], names: Sequence[str]) -> str:
        marked = [f"“{outputs[s['output']][s['start'] : s['end']]}” ({s['severity']})" for s in answer]
        return ", ".join(marked) or "no error"

    def details(self, answer: Any, place: int) -> dict[str, list[Any]]:
        """The spans marked in one output, without saying where on the page it stood."""
        marked = [span for span in answer if span["output"] == place]
        return {"spans": [{key: value for key, value in span.items() if key != "output"} for span in marked]}
