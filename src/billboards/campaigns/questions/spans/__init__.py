"""Spans: errors marked in an output or its source, each with how bad it is; their weights add up, to the range's lower
end at most.

Categories may be a hierarchy, written with a slash (`Accuracy/Omission`), and a category may have weights of its own,
as in the MQM of Freitag et al. (2021): minor punctuation takes off 0.1, an output that is no translation 25.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from billboards.campaigns.questions._contract import Compares, Question, Range, Texts, is_place
from billboards.reading import is_number, shown

#: More marked spans than this in one answer are a mistake of the page, not of the output.
MOST_SPANS = 500
#: Characters of a comment.
LONGEST_COMMENT = 1000
#: The category of an output that is no translation at all; it is marked from end to end.
NO_TRANSLATION = "Non-translation"
_KEYS = ("output", "start", "end", "severity", "category", "missing", "source", "comment")
#: Keys that came later: a template without them has the digest that it had before.
_LATER: Mapping[str, Any] = {"weights": {}, "marks_source": False, "comments": False, "no_translation": 0.0}


class Severity(BaseModel):
    """How bad an error is, and what it takes off."""

    model_config = ConfigDict(frozen=True)

    name: str
    weight: float


def _severities(table: Any) -> Any:
    if not isinstance(table, Mapping) or not table:
        raise ValueError("is missing; write as in { minor = 1, major = 5 }")
    for name, weight in table.items():
        if not is_number(weight) or weight < 0:
            raise ValueError(f"{name} must be a number from 0 on; found {shown(weight)}")
    if not any(table.values()):
        raise ValueError("needs a number above 0; every severity takes off nothing")
    return tuple(Severity(name=name, weight=float(weight)) for name, weight in table.items())


def _weights(table: Any) -> Any:
    if not isinstance(table, Mapping) or not all(isinstance(own, Mapping) for own in table.values()):
        raise ValueError('must be tables by category, as in { "Fluency/Punctuation" = { minor = 0.1 } }')
    for category, own in table.items():
        for severity, weight in own.items():
            if not is_number(weight) or weight < 0:
                raise ValueError(f"{category}: {severity} must be a number from 0 on; found {shown(weight)}")
    return {category: {name: float(weight) for name, weight in own.items()} for category, own in table.items()}


class Spans(Question):
    """An answer is a list of spans, places counted in characters; an empty one says that there is no error."""

    kind: ClassVar[str] = "spans"
    compares: ClassVar[tuple[Compares, ...]] = ("none", "generators")

    range: Range = Field(
        default=(-25.0, 0.0), description="two numbers, the lower one first, as in [-25, 0], with 0 for no error"
    )
    severities: Annotated[tuple[Severity, ...], BeforeValidator(_severities)] = Field(
        default=None, validate_default=True, description="a table as in { minor = 1, major = 5 }"
    )
    categories: Texts = Field(default=(), description="a list of texts")
    #: Whether a span may be empty, to say that something is missing at its place.
    allows_missing: Annotated[bool, BeforeValidator(bool)] = Field(default=False, description="true or false")
    #: What a severity takes off in some categories, where that is not what it takes off elsewhere.
    weights: Annotated[dict[str, dict[str, float]], BeforeValidator(_weights)] = Field(
        default_factory=dict, description='tables by category, as in { "Fluency/Punctuation" = { minor = 0.1 } }'
    )
    #: Whether what was left out is marked in the source.
    marks_source: bool = Field(default=False, description="true or false")
    #: Whether a mark may have a comment.
    comments: bool = Field(default=False, description="true or false")
    #: What an output that is no translation takes off; 0 where this can't be said.
    no_translation: float = Field(default=0.0, ge=0, description="a number from 0 on")

    @field_validator("range")
    @classmethod
    def _up_to_none(cls, limits: tuple[float, float]) -> tuple[float, float]:
        if limits[1] != 0:
            raise PydanticCustomError("above-zero", "0 stands for no error")
        return limits

    @field_validator("weights")
    @classmethod
    def _of_what_there_is(cls, table: dict[str, dict[str, float]], info: ValidationInfo) -> dict[str, dict[str, float]]:
        severities = [severity.name for severity in info.data.get("severities") or ()]
        for category, own in table.items():
            if category not in info.data.get("categories", ()):
                raise ValueError(f"{category!r} is no category of this question")
            if unknown := [name for name in own if name not in severities]:
                raise ValueError(f"{category}: {unknown[0]!r} is no severity of this question")
        return table

    @property
    def groups(self) -> list[tuple[str, list[tuple[str, str]]]]:
        """The hierarchy of categories: what stands before the slash, and below it each category with its own word."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for category in self.categories:
            group, slash, word = category.partition("/")
            groups.setdefault(group if slash else "", []).append((category, word if slash else category))
        return list(groups.items())

    @property
    def reads_source(self) -> bool:
        return self.marks_source

    @property
    def worst(self) -> str:
        """The severity of an output that is no translation: major, else the one that takes off most."""
        names = [severity.name for severity in self.severities]
        return "major" if "major" in names else max(self.severities, key=lambda severity: severity.weight).name

    def check(self, raw: Any, outputs: Sequence[str]) -> list[dict[str, Any]]:
        return self.check_item(raw, outputs, None)

    def check_item(self, raw: Any, outputs: Sequence[str], source: str | None) -> list[dict[str, Any]]:
        if not isinstance(raw, list | tuple) or len(raw) > MOST_SPANS:
            raise self.refuse(f"send a list of at most {MOST_SPANS} spans; an empty one is no error")
        return [self._span(span, outputs, source, f"span {k}") for k, span in enumerate(raw, 1)]

    def _span(self, span: Any, outputs: Sequence[str], source: str | None, where: str) -> dict[str, Any]:
        if not isinstance(span, Mapping) or not set(span) <= set(_KEYS):
            raise self.refuse(f"{where} must be an object with {', '.join(_KEYS)}; found {str(span)[:80]!r}")
        output: Any = span.get("output", 0)
        if not is_place(output, outputs):
            raise self.refuse(
                f"{where}: output must be a place from 0 to {len(outputs) - 1}; found {str(output)[:40]!r}"
            )
        missing, in_source = self._flags(span, source, where)
        whole = self.no_translation > 0 and span.get("category") == NO_TRANSLATION
        text, name = (source or "", "source") if in_source else (outputs[output], "output")
        start, end = self._place(span, text, name, where, may_be_empty=missing or (whole and not text))
        if whole and (in_source or missing or (start, end) != (0, len(text))):
            raise self.refuse(f"{where}: {NO_TRANSLATION} is said of a whole output, from 0 to {len(text)}")
        checked: dict[str, Any] = {"output": output, "start": start, "end": end}
        names = [severity.name for severity in self.severities]
        checked["severity"] = self._choice(span.get("severity"), names, f"{where}: severity")
        if whole:
            checked["category"] = NO_TRANSLATION
        elif self.categories:
            checked["category"] = self._choice(span.get("category"), self.categories, f"{where}: category")
        if comment := self._comment(span.get("comment", ""), where):
            checked["comment"] = comment
        return checked | ({"missing": True} if missing else {}) | ({"source": True} if in_source else {})

    def _flags(self, span: Mapping[str, Any], source: str | None, where: str) -> tuple[bool, bool]:
        """Whether something is missing at a span's place, and whether it lies in the source."""
        missing, in_source = span.get("missing", False), span.get("source", False)
        if missing is not False and (missing is not True or not self.allows_missing):
            raise self.refuse(f"{where}: this template has no spans for what is missing")
        if in_source is not False and (in_source is not True or not self.marks_source or missing):
            raise self.refuse(f"{where}: this template has no such spans in the source")
        if in_source and source is None:
            raise self.refuse(f"{where}: there is no source to mark anything in")
        return bool(missing), bool(in_source)

    def _place(
        self, span: Mapping[str, Any], text: str, name: str, where: str, *, may_be_empty: bool
    ) -> tuple[int, int]:
        start: Any = span.get("start")
        end: Any = span.get("end")
        whole = all(isinstance(place, int) and not isinstance(place, bool) for place in (start, end))
        if not whole or not 0 <= start <= end <= len(text) or end - start < (0 if may_be_empty else 1):
            raise self.refuse(
                f"{where} runs from {str(start)[:20]} to {str(end)[:20]}; "
                f"the {name} has {len(text)} characters, and a span marks one or more of them"
            )
        return start, end

    def _choice(self, value: Any, choices: Sequence[str], where: str) -> str:
        if value not in choices:
            raise self.refuse(f"{where} must be one of {', '.join(choices)}; found {str(value)[:40]!r}")
        return str(value)

    def _comment(self, comment: Any, where: str) -> str:
        if not isinstance(comment, str) or len(comment) > LONGEST_COMMENT or (comment and not self.comments):
            most = f"a text of at most {LONGEST_COMMENT:,} characters" if self.comments else "left out in this template"
            raise self.refuse(f"{where}: comment must be {most}")
        return " ".join(comment.split())

    @property
    def marks_errors(self) -> bool:
        return True

    def error_weight(self, category: str, severity: str) -> float:
        if self.no_translation and category == NO_TRANSLATION:
            return self.no_translation
        usual = {each.name: each.weight for each in self.severities}
        return self.weights.get(category, {}).get(severity, usual[severity])

    def worth(self, answer: Any, place: int, outputs: int) -> float:
        marked = [span for span in answer if span["output"] == place]
        total = sum(self.error_weight(span.get("category", ""), span["severity"]) for span in marked)
        return max(self.range[0], 0.0 - round(total, 9))

    def preview(self) -> Iterator[str]:
        yield "mark spans: " + ", ".join(f"{severity.name} (-{severity.weight:g})" for severity in self.severities)
        if self.categories:
            yield f"as: {', '.join(self.categories)}"
        for category, own in self.weights.items():
            yield f"{category}: " + ", ".join(f"{severity} (-{weight:g})" for severity, weight in own.items())
        if self.no_translation:
            yield f"or the whole output as no translation (-{self.no_translation:g})"

    def in_words(self, answer: Any, outputs: Sequence[str], names: Sequence[str]) -> str:
        return self.item_in_words(answer, outputs, names, None)

    def item_in_words(self, answer: Any, outputs: Sequence[str], names: Sequence[str], source: str | None) -> str:
        return ", ".join(self._in_words(span, outputs, source) for span in answer) or "no error"

    def _in_words(self, span: Mapping[str, Any], outputs: Sequence[str], source: str | None) -> str:
        note = f": {span['comment']}" if span.get("comment") else ""
        if span.get("category") == NO_TRANSLATION:
            return f"no translation{note}"
        if span.get("source"):
            words = f"characters {span['start']} to {span['end']} of the source"
            words = words if source is None else f"“{source[span['start'] : span['end']]}”"
            return f"left out: {words} ({span['severity']}){note}"
        return f"“{outputs[span['output']][span['start'] : span['end']]}” ({span['severity']}){note}"

    def details(self, answer: Any, place: int) -> dict[str, list[Any]]:
        """The spans marked in one output, without saying where on the page it stood.

        As raw MQM ratings have them: those of the source are `missing`, and come last.
        """
        marked = [_detail(span) for span in answer if span["output"] == place]
        return {"spans": sorted(marked, key=_first)}

    def document(self) -> dict[str, Any]:
        document = super().document()
        return {key: value for key, value in document.items() if key not in _LATER or value != _LATER[key]}


def _detail(span: Mapping[str, Any]) -> dict[str, Any]:
    detail = {key: value for key, value in span.items() if key not in ("output", "source")}
    return {**detail, "missing": True} if span.get("source") else detail


def _first(span: Mapping[str, Any]) -> tuple[bool, int, int, str, str]:
    in_source = bool(span.get("missing")) and span["start"] != span["end"]
    return in_source, span["start"], span["end"], span.get("category", ""), span["severity"]
