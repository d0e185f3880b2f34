"""Questions about a text, written by a model that is shown an answer in its context (question generation).

What the model is given is a template, because every such model was trained on one of its own. Its fields are the
answer, the context, and what stands before and behind the answer there; the context is the answer's sentence or the
whole text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from string import Formatter

from billboards.errors import InvalidInput
from billboards.metrics.neural.likelihood import LanguageModel
from billboards.metrics.neural.qa_selection import Candidate
from billboards.metrics.neural.writing import write

SENTENCE, TEXT = "sentence", "text"


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the answer that it was made for."""

    text: str
    answer: str


#: The questions about each text, in the order of their answers.
Questions = Mapping[str, Sequence[Question]]


@dataclass(frozen=True)
class Asking:
    """How questions are asked for: the template, what counts as the context, and how the model writes."""

    template: str
    scope: str
    beams: int
    longest: int

    def __post_init__(self) -> None:
        check_template("template", self.template, ("answer", "context", "before", "after"), needed=("answer",))
        if self.scope not in (SENTENCE, TEXT):
            raise InvalidInput(f"scope {self.scope!r} is none of {SENTENCE}, {TEXT}")

    def given(self, candidate: Candidate) -> str:
        """What a model is given to ask for an answer."""
        before, answer, after = candidate.context(whole=self.scope == TEXT)
        return self.template.format(answer=answer, context=before + answer + after, before=before, after=after)


def ask(model: LanguageModel, asking: Asking, chosen: Iterable[Sequence[Candidate]]) -> tuple[Questions, int]:
    """The questions for the answers of each text, and how many of the prompts were cut; what is blank asks nothing."""
    answers = [candidate for candidates in chosen for candidate in candidates]
    written = write(model, map(asking.given, answers), beams=asking.beams, longest=asking.longest)
    found: dict[str, list[Question]] = {}
    for candidate in answers:
        question = written.of[asking.given(candidate)]
        if question:
            found.setdefault(candidate.text, []).append(Question(question, candidate.answer))
    return found, written.cut


def check_template(option: str, template: str, fields: Sequence[str], needed: Sequence[str]) -> None:
    """Refuse a template that says nothing, names unknown fields, or could not stand in a signature."""
    try:
        named = [name for _, name, _, _ in Formatter().parse(template) if name is not None]
    except ValueError as error:
        raise InvalidInput(f"{option} {template!r} is no template: {error}") from error
    known = ", ".join(f"{{{name}}}" for name in fields)
    if set(named) - set(fields) or set(needed) - set(named):
        wanted = " and ".join(f"{{{name}}}" for name in needed)
        raise InvalidInput(f"{option} {template!r}: its fields are {known}, and {wanted} must be among them")
    if set(template) & set(",|\n\r\t"):
        raise InvalidInput(f"{option} {template!r}: commas, bars and line ends can't stand in a metric's name")
