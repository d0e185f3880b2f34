"""What a kind of question promises.

A kind is a class and a question is an object of it: the class's fields are the keys that its `[[dimensions]]` may have
in a template file, checked by their types; its methods say how an answer is checked, what it is worth, and how both are
written down. Beside the class, in the same package, lie `question.html.j2`, what annotators see of it, and where it
needs them `question.js` and `question.css`. Nothing else in billboards knows one kind from another.
"""

from __future__ import annotations

import json
import sys
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, Strict
from pydantic_core import PydanticCustomError

from billboards.errors import InvalidInput

Compares = Literal["none", "reference", "generators"]

#: Keys that every question's document has, as the five first kinds made them; digests of templates are made of it.
_ALWAYS: Mapping[str, Any] = {
    "labels": (),
    "values": (),
    "step": 1.0,
    "severities": (),
    "categories": (),
    "allows_missing": False,
}


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("is missing; write it as a text in quotes")
    return text


def _printable(text: str) -> str:
    # Answers are kept under the name, and not every database takes a control character.
    if not text.isprintable():
        raise ValueError("must be letters that can be seen, without line breaks and control characters")
    return text


def _different(texts: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(texts)) != len(texts):
        raise ValueError("holds a text twice; annotators could not tell the two apart")
    return texts


def _rising(limits: tuple[float, float]) -> tuple[float, float]:
    if not limits[0] < limits[1]:
        raise PydanticCustomError("falling", "the lower number comes first")
    return limits


#: A text that may not be empty.
Text = Annotated[str, AfterValidator(_not_blank)]
#: Texts in a list, each another one.
Texts = Annotated[tuple[Text, ...], Strict(False), AfterValidator(_different)]
#: The least and the most that an answer may be worth.
Range = Annotated[tuple[float, float], Strict(False), AfterValidator(_rising)]
#: Whatever stands there, as a text without blanks around it.
Words = Annotated[str, BeforeValidator(lambda value: str(value).strip())]


class Question(BaseModel):
    """One dimension of a template: what is asked, how it is answered, and the range its numbers have."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    #: The word after `kind =` in a template file, and the name of the entry point.
    kind: ClassVar[str]
    #: What a template may compare that asks such a question: nothing, or several outputs with each other.
    compares: ClassVar[tuple[Compares, ...]] = ("none",)
    #: Whether answers are worth a number; those that are not are kept and exported, and never ranked.
    has_value: ClassVar[bool] = True
    #: Whether it can be asked of a person without anything to judge, on a survey page.
    asks_people: ClassVar[bool] = False

    name: Annotated[Text, AfterValidator(_printable)] = Field(description="a text in quotes")
    question: Annotated[Text, AfterValidator(str.strip)] = Field(description="a text in quotes")
    help: Words = Field(default="", description="a text in quotes")
    range: Range = Field(default=(0.0, 1.0), description="two numbers, the lower one first, as in [0, 1]")
    higher_is_better: bool = Field(default=True, description="true or false")

    @abstractmethod
    def check(self, raw: Any, outputs: Sequence[str]) -> Any:
        """A raw answer as it is kept, in values that JSON has; what is none is refused with `self.refuse`.

        outputs: the texts that were judged, in the order they were shown
        """

    def check_item(self, raw: Any, outputs: Sequence[str], source: str | None) -> Any:
        """The same for a kind whose answers speak of the input as well; without a say of its own it is `check`.

        source: the input that was shown, None where there was none
        """
        return self.check(raw, outputs)

    @abstractmethod
    def worth(self, answer: Any, place: int, outputs: int) -> float:
        """What a checked answer says of the output at this place, of so many shown; on the question's range."""

    @property
    def marks_errors(self) -> bool:
        """Whether an answer marks errors, which a judgment then keeps as its spans."""
        return False

    def error_weight(self, category: str, severity: str) -> float:
        """What a marked error takes off, for kinds that mark errors."""
        return 0.0

    @property
    def reads_source(self) -> bool:
        """Whether its answers speak of the input, so that `check_item` needs it."""
        return False

    def preview(self) -> Iterable[str]:
        """How it can be answered, in lines of plain text."""
        return ()

    def in_words(self, answer: Any, outputs: Sequence[str], names: Sequence[str]) -> str:
        """A checked answer as people read it; `names` is what the outputs are called on the page."""
        return str(answer)

    def item_in_words(self, answer: Any, outputs: Sequence[str], names: Sequence[str], source: str | None) -> str:
        """The same beside the input that was shown; without a say of its own it is `in_words`."""
        return self.in_words(answer, outputs, names)

    def from_form(self, fields: Mapping[str, str]) -> Any:
        """A raw answer from a page's form, None where there is none.

        fields: by what follows `answer:NAME` in a field's name, "" for the field of that very name
        """
        return self.read_field(fields[""]) if fields.get("", "").strip() else None

    def details(self, answer: Any, place: int) -> Mapping[str, list[Any]]:
        """What a judgment keeps beside its value, of the output at this place: lists by a judgment's key (`spans`)."""
        return {}

    def problem_with(self, outputs: int) -> str | None:
        """Why it can't be asked of so many outputs at once; None where it can."""
        return None

    def share(self, value: float) -> float:
        """A value on 0-1, higher is better."""
        low, high = self.range
        share = (value - low) / (high - low)
        return share if self.higher_is_better else 1.0 - share

    def refuse(self, message: str) -> InvalidInput:
        """The error to raise for what is no answer."""
        return InvalidInput(f"{self.name}: {message}")

    def read_field(self, text: str) -> Any:
        """What a form's field holds, which is JSON."""
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise self.refuse(f"{text[:40]!r} is no answer; choose one on the page") from error

    def document(self) -> dict[str, Any]:
        """The question with all its keys, as digests are made of it and programs read it."""
        return {**_ALWAYS, "kind": self.kind, **self.model_dump()}

    @classmethod
    def file(cls, ending: str) -> Traversable | None:
        """`question.html.j2`, `question.js` or `question.css`, by its ending; None where the kind has none."""
        package = sys.modules[cls.__module__].__package__
        if not package:
            raise InvalidInput(f"question kind {cls.kind} must lie in a package, beside its question.html.j2")
        path = resources.files(package) / f"question.{ending}"
        return path if path.is_file() else None


def is_place(value: object, outputs: Sequence[str]) -> bool:
    """Whether a value is the place of an output; 0.0 and true are equal to such and are none."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(outputs)
