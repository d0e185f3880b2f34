"""A judge by a prompt of one's own: `judge(prompt=FILE)`, or one of those that come with the package."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

from billboards.errors import InvalidInput
from billboards.metrics.base import FILE, Item, MetricCard
from billboards.metrics.judges.asking import Asking, Parts, Question
from billboards.metrics.judges.judge import COMMON, FAILURES, quotable
from billboards.metrics.judges.prompts import Prompt, open_prompt
from billboards.metrics.judges.spans import Errors, MarksErrors, error_question


@dataclass(frozen=True)
class OwnPrompt(MarksErrors):
    """What a prompt's file asks for; `prompt` is its path, or the name of one that comes with the package."""

    prompt: str = field(default="quality", metadata=FILE)

    usual_tokens: ClassVar[int] = 60
    card: ClassVar[MetricCard] = replace(
        COMMON,
        name="judge",
        summary="What a language model says to a prompt from a file: a number, several aspects, or errors",
        range=(0.0, 100.0),
        paper="none of its own; the prompt automqm follows the idea of Fernandes et al. 2023, The Devil is in the "
        "Errors, WMT, in our own words",
        failures=f"{FAILURES} A prompt that says raw lets a text speak as if it were the prompt.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        opened = self.opened
        card = replace(
            type(self).card,
            needs_input="input" in opened.placeholders,
            needs_references=bool({"references", "reference"} & opened.placeholders),
            range=opened.range,
            higher_is_better=opened.direction == "higher" or opened.answer == "errors",
            parts=opened.parts,
            turned_parts=opened.parts[1:] if opened.answer == "errors" else (),
        )
        object.__setattr__(self, "card", card)

    @cached_property
    def opened(self) -> Prompt:
        """What the file says; it is read once."""
        return open_prompt(self.prompt)

    @property
    def digest(self) -> str:
        return self.opened.digest

    @property
    def signature(self) -> str:
        # What the file says is told by the digest; its path is its user's business.
        lower = "" if self.card.higher_is_better else "|higher_is_better:no"
        return f"{super().signature}|name:{self.opened.name}{lower}"

    def _spelled(self, options: Set[str]) -> str:
        named = {f.name: getattr(self, f.name) for f in self._options() if f.name in options}
        values = ",".join(f"{k}={self.opened.name if k == 'prompt' else v}" for k, v in named.items())
        return f"{self.card.name}({values})" if values else self.card.name

    def _judge(self, item: Item, asking: Asking) -> Parts:
        return asking.ask(self._question(item))

    def _openings(self, item: Item) -> Sequence[Question[Any]]:
        return [self._question(item)]

    def _question(self, item: Item) -> Question[Parts]:
        prompt = self.opened
        return Question(
            about=item.output,
            messages=prompt.messages(item),
            form=prompt.form,
            again=prompt.again,
            read=lambda answer: prompt.read(answer.text, quotable(item)),
            is_json=prompt.is_json,
        )

    def _error_question(self, item: Item) -> Question[Errors]:
        if self.opened.answer != "errors":
            raise InvalidInput(f"{self.name} marks no errors; a prompt does whose answer is errors")
        return error_question(self._question(item), item)


METRICS = {"judge": OwnPrompt}
