"""A prompt of one's own in a TOML file: what is said, the scale, any aspects, examples, and the form of the answer.

The words go out exactly as they stand. A placeholder is replaced by a text of the board as a JSON string, out of which
no text can break; `raw = true` puts texts in as they are, and a text may then speak as if it were the prompt. A digest
of all that is said stands in the metric's signature.
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from billboards.errors import InvalidInput, UnknownName
from billboards.metrics.base import Item
from billboards.metrics.judges.parsing import COSTS, MOST, Scores, number_between, read_errors, read_last, read_number
from billboards.metrics.judges.templates import AGAIN, AGAIN_NUMBER, Messages
from billboards.reading import shown, toml_document

FOLDER = "standard_prompts"
#: Bytes of a file, and examples in it.
LARGEST, MOST_EXAMPLES = 200_000, 50
#: What may stand for a text of the board, and for words that follow from the file.
TEXTS, WORDS = ("output", "input", "references", "reference"), ("aspects", "form")
_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}|\{(\w+)\}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,59}")
ERRORS_FORM = '{"errors": [{"span": "…", "category": "…", "severity": "critical, major or minor"}]}'
Text = Annotated[str, Field(max_length=LARGEST)]


class Example(BaseModel):
    """An output with what is shown beside it, and the answer that would be right."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    output: Text
    answer: Text = Field(min_length=1, description="the whole answer, as the judge should write it")
    input: Text | None = None
    references: list[Text] = []


class Prompt(BaseModel):
    """What a file says."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: str = Field(description="a short name of letters, digits, dots and dashes, which the column will bear")
    user: Text = Field(description="the user's message, with {output} in it")
    system: Text | None = Field(None, description="the system's message, a text")
    answer: Literal["json", "number", "errors"] = Field("json", description='"json", "number" or "errors"')
    scale: tuple[float, float] = Field((0.0, 100.0), description="the lowest and the highest number, as in [1, 5]")
    direction: Literal["higher", "lower"] = Field("higher", description='"higher" or "lower", whichever is better')
    aspects: dict[str, Text] = Field({}, description="a table of names and what each means")
    examples: list[Example] = Field([], max_length=MOST_EXAMPLES, description=f"at most {MOST_EXAMPLES} examples")
    raw: bool = Field(False, description="true or false")

    @field_validator("scale", mode="before")
    @classmethod
    def _pair(cls, value: object) -> object:
        if not isinstance(value, list) or len(value) != 2 or any(type(end) not in (int, float) for end in value):
            raise ValueError("must be two numbers, as in [1, 5]")
        return tuple(float(end) for end in value)

    @field_validator("name")
    @classmethod
    def _short(cls, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise ValueError("must be a short name of letters, digits, dots and dashes")
        return name

    @field_validator("aspects")
    @classmethod
    def _named(cls, aspects: dict[str, str]) -> dict[str, str]:
        if wrong := [name for name in aspects if not re.fullmatch(r"[\w -]{1,60}", name)]:
            raise ValueError(f"must have names of letters, digits and blanks; found {shown(wrong[0])}")
        return aspects

    @field_validator("user", "system")
    @classmethod
    def _placeholders(cls, text: str | None) -> str | None:
        for match in _PLACEHOLDER.finditer(text or ""):
            if match[2] and match[2] not in (*TEXTS, *WORDS):
                offered = ", ".join(f"{{{name}}}" for name in (*TEXTS, *WORDS))
                raise ValueError(f"has no {{{match[2]}}} to put in; there are {offered}; {{{{…}}}} is no placeholder")
        return text

    @model_validator(mode="after")
    def _makes_sense(self) -> Prompt:
        if "output" not in self.placeholders:
            raise ValueError("user: must hold {output}, the text to be judged")
        if not self.scale[0] < self.scale[1]:
            raise ValueError("scale: must begin with the lowest number, as in [1, 5]")
        if self.answer != "json" and len(self.aspects) > 1:
            raise ValueError(f'aspects: several can only be told apart in answer = "json", not in "{self.answer}"')
        for place, example in enumerate(self.examples, 1):
            if ("input" in self.placeholders) != (example.input is not None):
                raise ValueError(f"examples: number {place} must have an input if, and only if, the prompt shows it")
        return self

    @cached_property
    def placeholders(self) -> frozenset[str]:
        """What stands for texts and words in what is said."""
        messages = f"{self.system or ''}{self.user}"
        return frozenset(match[2] for match in _PLACEHOLDER.finditer(messages) if match[2])

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of an answer in JSON."""
        return tuple(self.aspects) or ("score",)

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the scores that are kept, the primary first."""
        if self.answer == "errors":
            return ("score", *COSTS)
        return ("mean", *self.aspects) if len(self.aspects) > 1 else ()

    @property
    def range(self) -> tuple[float, float]:
        return (-MOST, 0.0) if self.answer == "errors" else self.scale

    @property
    def form(self) -> str:
        """The form of the answer, as it is shown to the judge."""
        if self.answer == "errors":
            return ERRORS_FORM
        if self.answer == "number":
            return f"a number from {self.scale[0]:g} to {self.scale[1]:g}"
        return json.dumps(dict.fromkeys(self.keys, round(self.scale[0])))

    @property
    def again(self) -> str:
        """What is said where an answer could not be read."""
        return AGAIN_NUMBER if self.answer == "number" else AGAIN

    @property
    def is_json(self) -> bool:
        """Whether a server may be told that JSON is wanted; some demand that the messages say so, too."""
        return self.answer != "number" and "json" in f"{self.system or ''}{self.user}".casefold()

    @property
    def digest(self) -> str:
        content = json.dumps([self.model_dump(exclude={"name"}), self.form, self.again], sort_keys=True)
        return blake2b(content.encode("ascii"), digest_size=6).hexdigest()

    def messages(self, item: Item) -> Messages:
        """The question about an output, after the examples."""
        messages = [] if self.system is None else [{"role": "system", "content": self._filled(self.system, item)}]
        for example in self.examples:
            shown_item = Item(example.output, tuple(example.references), example.input)
            messages.append({"role": "user", "content": self._filled(self.user, shown_item)})
            messages.append({"role": "assistant", "content": example.answer.strip()})
        return [*messages, {"role": "user", "content": self._filled(self.user, item)}]

    def read(self, text: str, quoted: tuple[str, ...]) -> Scores:
        """An answer's scores."""
        if self.answer == "errors":
            return read_errors(text, quoted)
        if self.answer == "number":
            return {"": read_number(text, *self.scale)}

        def read(answer: dict[str, Any]) -> Scores:
            values = {key: number_between(answer, key, *self.scale) for key in self.keys}
            mean = sum(values.values()) / len(values)
            return {"mean": mean, **values} if self.parts else {"": mean}

        return read_last(text, read, self.keys, quoted)

    def _filled(self, text: str, item: Item) -> str:
        """A message with an output's texts in it; in one pass, so that no text is filled in turn."""

        def replacement(match: re.Match[str]) -> str:
            return f"{{{match[1]}}}" if match[1] else self._word(match[2], item)

        return _PLACEHOLDER.sub(replacement, text.strip())

    def _word(self, name: str, item: Item) -> str:
        if name == "form":
            return self.form
        if name == "aspects":
            return "\n".join(f"- {aspect}: {meaning}" for aspect, meaning in self.aspects.items())
        if name == "references":
            written = json.dumps(list(item.references), ensure_ascii=False)
            return "\n".join(item.references) if self.raw else written
        texts = {"output": item.output, "input": item.input or "", "reference": next(iter(item.references), "")}
        return texts[name] if self.raw else json.dumps(texts[name], ensure_ascii=False)


@dataclass(frozen=True)
class Source:
    """A file's text and what messages call it."""

    where: str
    text: str


def shipped() -> tuple[str, ...]:
    """The names of the prompts that come with the package."""
    folder = files("billboards.metrics.judges") / FOLDER
    return tuple(sorted(path.name.removesuffix(".toml") for path in folder.iterdir() if path.name.endswith(".toml")))


def open_prompt(named: str) -> Prompt:
    """A prompt by a shipped name or by a path that ends in .toml."""
    if not named.endswith(".toml"):
        if named not in shipped():
            raise UnknownName("prompt (or a file that ends in .toml)", named, shipped())
        text = (files("billboards.metrics.judges") / FOLDER / f"{named}.toml").read_text("utf-8")
        return parse_prompt(Source(f"{named}.toml", text))
    path = Path(named)
    try:
        if path.stat().st_size > LARGEST:
            raise InvalidInput(f"{named}: is larger than {LARGEST:,} bytes; a prompt is shorter")
        prompt = parse_prompt(Source(named, path.read_text("utf-8-sig")))
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{named}: can't be read: {error}; name a prompt's file in UTF-8") from error
    if prompt.name in shipped():
        raise InvalidInput(f"{named}: name = {prompt.name!r} is that of a shipped prompt; give it another")
    return prompt


def parse_prompt(source: Source) -> Prompt:
    """A prompt from the text of its file; every mistake says where it stands and what to write."""
    try:
        document = toml_document(source.text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{source.where}: is no TOML: {error}; mend it there") from error
    try:
        return Prompt.model_validate(document)
    except ValidationError as error:
        mistakes = dict.fromkeys(_mistake(source, detail) for detail in error.errors(include_url=False))
        raise InvalidInput("; ".join(list(mistakes)[:5])) from error


def _mistake(source: Source, detail: Any) -> str:
    place = [str(step) for step in detail["loc"]]
    words = str(detail["ctx"]["error"]) if detail["type"] == "value_error" else ""
    if not place:
        key, _, words = words.partition(": ")
        place = [key]
    line = _line(source.text, place)
    where = source.where if line is None else f"{source.where}:{line}"
    key = ".".join(place)
    if words:
        return f"{where}: {key}: {words}"
    takes = Example.model_fields if place[0] == "examples" and len(place) > 1 else Prompt.model_fields
    if detail["type"] == "extra_forbidden":
        return f"{where}: {UnknownName('key of a prompt', place[-1], tuple(takes))}"
    wanted = takes[place[-1]].description if place[-1] in takes else None
    if detail["type"] == "missing":
        return f"{where}: {key} is missing" + (f"; write it as {wanted}" if wanted else "")
    return f"{where}: {key}: must be {wanted}" if wanted else f"{where}: {key}: {detail['msg']}"


def _line(text: str, place: list[str]) -> int | None:
    """The line of a key in a file: that of its table's heading where the key isn't there."""
    lines, start, best = text.splitlines(), 0, None
    for k, step in enumerate(place):
        if step.isdecimal():
            heads = [
                n for n, line in enumerate(lines) if re.match(rf"\s*\[\[\s*{re.escape(place[k - 1])}\s*\]\]", line)
            ]
            if int(step) < len(heads):
                start = best = heads[int(step)]
            continue
        pattern = rf"\s*(?:\[\[?\s*)?[\"']?{re.escape(step)}[\"']?\s*(?:=|\])"
        hit = next((n for n in range(start, len(lines)) if re.match(pattern, lines[n])), None)
        if hit is not None:
            start = best = hit
    return None if best is None else best + 1
