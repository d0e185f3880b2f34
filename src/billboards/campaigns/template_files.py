"""Template files: small TOML documents, checked key by key.

Every mistake says in which file and under which key it stands and what to write instead; all of them are found at
once. The shipped templates lie in `standard_templates/`; anyone's own is opened by its path, or sent to a site as a
text: that must be UTF-8 and not too large, and is then read as any other. What a template says is only ever shown as
text.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from billboards.campaigns._mistakes import mistakes
from billboards.campaigns.answers import check_answers
from billboards.campaigns.questions import Compares, Question, Text, kind_names, question_kind
from billboards.campaigns.templates import Direction, Example, Stage, SurveyQuestion, Template, TestRule, Unit, When
from billboards.errors import InvalidInput, InvalidTemplate, Problem, UnknownName
from billboards.reading import Problems, shown, toml_document

FOLDER = "standard_templates"
#: Bytes; the longest of the shipped templates has less than a fiftieth of it.
LARGEST = 200_000
#: How many mistakes of one template are named.
LISTED = 100
#: How much of a file's name is repeated in messages.
_LONGEST_NAME = 80
_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
Part = TypeVar("Part", bound=BaseModel)


def shipped() -> tuple[str, ...]:
    """The names of the templates that come with the package."""
    folder = files("billboards.campaigns") / FOLDER
    return tuple(sorted(path.name.removesuffix(".toml") for path in folder.iterdir() if path.name.endswith(".toml")))


def template_source(name: str | Path) -> str:
    """The text of a template file, by a shipped name or a path."""
    if isinstance(name, str) and not name.endswith(".toml"):
        if name not in shipped():
            raise UnknownName("template", name, shipped())
        return (files("billboards.campaigns") / FOLDER / f"{name}.toml").read_text("utf-8")
    try:
        return Path(name).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{name}: can't be read: {error}; name a template file in UTF-8") from error


def open_template(name: str | Path) -> Template:
    """A template by a shipped name or a path."""
    return parse_template(template_source(name), str(name))


def parse_template(text: str, where: str) -> Template:
    """A template from the text of its file."""
    template, problems = read_template(text, where)
    if template is None:
        raise InvalidTemplate(problems)
    return template


def check_template(name: str | Path) -> tuple[Problem, ...]:
    """Every mistake in a template file."""
    return read_template(template_source(name), str(name))[1]


def read_template(text: str, where: str) -> tuple[Template | None, tuple[Problem, ...]]:
    """A template and its mistakes; there is one only where there are none."""
    try:
        document = toml_document(text)
    except tomllib.TOMLDecodeError as error:
        return None, (Problem(where, None, f"is no TOML: {error}"),)
    reading = _Reading(document, where, Problems())
    try:
        template = reading.template()
    except _Enough:
        template = None
        reading.problems.error(where, None, f"has more than {LISTED} mistakes; mend those listed and check again")
    return (None if reading.problems.errors else template), tuple(reading.problems)


@dataclass(frozen=True, slots=True)
class SentTemplate:
    """The text of a template file, and what messages call it."""

    name: str
    text: str


def sent_template(raw: bytes, name: str) -> SentTemplate:
    """A template file as it came in; what can't be one is refused before it is parsed."""
    name = name[:_LONGEST_NAME]
    if len(raw) > LARGEST:
        raise InvalidTemplate(
            [Problem(name, None, f"has {len(raw):,} bytes; a template may have {LARGEST:,}, shorten its texts")]
        )
    try:
        return SentTemplate(name, raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise InvalidTemplate(
            [Problem(name, line, "is not UTF-8; save the file as UTF-8 and send it again")]
        ) from error


class _Head(BaseModel):
    """The keys of a template file that stand above its tables."""

    model_config = ConfigDict(frozen=True, strict=True)

    name: Text = Field(description="a text in quotes")
    version: int = Field(ge=1, description="a whole number from 1 on")
    title: Text = Field(description="a text in quotes")
    task: Text = Field(description="a text in quotes")
    instructions: Text = Field(description="a text in quotes")
    language: Annotated[str, BeforeValidator(str)] = Field(default="en", description="a text in quotes")
    consent: str = Field(default="", description="a text in quotes")
    direction: Direction = Field(default="auto", description="one of ltr, rtl, auto")
    compares: Compares = Field(default="none", description="one of none, reference, generators")
    unit: Unit = Field(default="segment", description="one of segment, document")
    outputs: int = Field(default=None, ge=1, le=10, validate_default=True, description="a whole number from 1 to 10")
    output_names: Annotated[tuple[str, ...], Strict(False)] = Field(
        default=None, validate_default=True, description="a list of names, one for each output that is shown"
    )

    @field_validator("name")
    @classmethod
    def _plain(cls, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} must be lower-case letters, digits and hyphens")
        return name

    @field_validator("instructions", "consent")
    @classmethod
    def _stripped(cls, text: str) -> str:
        return text.strip()

    @field_validator("outputs", mode="before")
    @classmethod
    def _as_compared(cls, outputs: Any, info: ValidationInfo) -> Any:
        return (1 if info.data.get("compares", "none") == "none" else 2) if outputs is None else outputs

    @field_validator("outputs")
    @classmethod
    def _enough_to_compare(cls, outputs: int, info: ValidationInfo) -> int:
        compares = info.data.get("compares")
        wrong = (outputs == 1) != (compares == "none") or (compares == "reference" and outputs != 2)
        if compares is not None and wrong:
            raise ValueError(f"{outputs} does not go with compares = {compares!r}: none has 1, reference 2")
        return outputs

    @field_validator("output_names", mode="before")
    @classmethod
    def _numbered(cls, names: Any, info: ValidationInfo) -> Any:
        count = info.data.get("outputs", 1)
        if names is None:
            return ["Output"] if count == 1 else [f"Output {k + 1}" for k in range(count)]
        if isinstance(names, list) and len(names) != count and "outputs" in info.data:
            raise ValueError(f"must be a list of {count} names, one for each output that is shown")
        return [str(name) for name in names] if isinstance(names, list) else names


class _Survey(BaseModel):
    """The keys of a survey question beside those of its kind."""

    model_config = ConfigDict(frozen=True, strict=True)

    when: When = Field(default="before", description="before or after")
    required: bool = Field(default=True, description="true or false")


#: Every key of a template file, by its table; docs/campaigns.md explains each, and `Question` has those of dimensions.
KEYS: Mapping[str, tuple[str, ...]] = {
    "": (*_Head.model_fields, "overall", "stages", "dimensions", "tests", "examples", "survey"),
    "stages": tuple(Stage.model_fields),
    "tests": tuple(TestRule.model_fields),
    "examples": tuple(Example.model_fields),
    "survey": tuple(_Survey.model_fields),
}


class _Enough(Exception):
    """Of more mistakes nobody would read."""


@dataclass(frozen=True)
class _Reading:
    """One file being read."""

    document: Mapping[str, Any]
    where: str
    problems: Problems

    def say(self, key: str, message: str) -> None:
        self._add(f"{key}: {message}")

    def _add(self, message: str) -> None:
        if len(self.problems) >= LISTED:
            raise _Enough
        self.problems.error(self.where, None, message)

    def template(self) -> Template | None:
        for key in self.document:
            if key not in KEYS[""]:
                self._add(str(UnknownName("key in the file", key, KEYS[""])))
        head = self._part(_Head, {key: self.document[key] for key in _Head.model_fields if key in self.document}, "")
        questions = self._questions()
        stages = self._stages(questions)
        valued = [question.name for question in questions if question.has_value]
        overall = str(self.document.get("overall", valued[-1] if valued else ""))
        if questions and not valued:
            self.say("dimensions", "has only questions without a value; ask one that has, such as a scale")
        if questions and overall not in {question.name for question in questions}:
            self.say("overall", f"names no dimension: {shown(overall)}; write one of those below [[dimensions]]")
        elif questions and overall not in valued:
            self.say("overall", f"{overall} has no value to sum up with; write one of {', '.join(valued)}")
        tests = self._tests(questions, overall)
        survey = self._survey()
        if head is not None:
            self._check_kinds(questions, head)
            if head.unit == "document" and len(stages) > 1:
                self.say("unit", "a whole document is shown at once, in one stage; ask everything in one [[stages]]")
        if self.problems.errors or head is None or tests is None:
            return None
        template = Template(
            **dict(head),
            stages=stages,
            dimensions=questions,
            tests=tests,
            overall=overall,
            survey=survey,
        )
        return self._with_examples(template)

    def _part(
        self, model: type[Part], table: Mapping[str, Any], where: str, what: str = "", *, also: Sequence[str] = ()
    ) -> Part | None:
        """A table as its model has it; None where something is wrong with it, which is then among the problems."""
        try:
            return model.model_validate(table)
        except ValidationError as error:
            for message in mistakes(error, model, table, what or where, also=also):
                self._add(f"{where}: {message}" if where else message)
            return None

    def _tables(self, key: str, *, needed: bool = True) -> list[Mapping[str, Any]]:
        tables = self.document.get(key, [])
        if not isinstance(tables, list) or not all(isinstance(table, Mapping) for table in tables):
            self.say(key, f"must be tables; begin each with [[{key}]]")
            return []
        if needed and not tables:
            self.say(key, f"is missing; write at least one [[{key}]]")
        return tables

    def _questions(self) -> tuple[Question, ...]:
        read = [self._question(table, k) for k, table in enumerate(self._tables("dimensions"), 1)]
        questions = tuple(question for question in read if question is not None)
        names = [question.name for question in questions]
        for name in {name for name in names if names.count(name) > 1}:
            self.say("dimensions", f"{name} stands twice; give each dimension a name of its own")
        return questions

    def _question(self, table: Mapping[str, Any], k: int) -> Question | None:
        where = f"dimension {table['name'] if isinstance(table.get('name'), str) else k}"
        kind = table.get("kind")
        if not isinstance(kind, str) or kind not in kind_names():
            self.say(f"{where}: kind", f"must be one of {', '.join(kind_names())}; found {shown(kind)}")
            return None
        keys = {key: value for key, value in table.items() if key != "kind"}
        return self._part(question_kind(kind), keys, where, f"a {kind} question", also=("kind",))

    def _survey(self) -> tuple[SurveyQuestion, ...]:
        """The questions about annotators; each is a question of a kind that needs nothing to judge."""
        survey = []
        for k, table in enumerate(self._tables("survey", needed=False), 1):
            where = f"survey {table['name'] if isinstance(table.get('name'), str) else k}"
            kind = table.get("kind")
            kinds = [name for name in kind_names() if question_kind(name).asks_people]
            if not isinstance(kind, str) or kind not in kinds:
                self.say(f"{where}: kind", f"must be one of {', '.join(kinds)}; found {shown(kind)}")
                continue
            own = {key: value for key, value in table.items() if key in _Survey.model_fields}
            keys = {key: value for key, value in table.items() if key not in (*own, "kind")}
            frame = self._part(_Survey, own, where, "a survey question")
            also = ("kind", *_Survey.model_fields)
            question = self._part(question_kind(kind), keys, where, f"a {kind} question", also=also)
            if frame is not None and question is not None:
                survey.append(SurveyQuestion(when=frame.when, is_required=frame.required, question=question))
        names = [asked.question.name for asked in survey]
        for name in {name for name in names if names.count(name) > 1}:
            self.say("survey", f"{name} stands twice; give each question a name of its own")
        return tuple(survey)

    def _check_kinds(self, questions: Sequence[Question], head: _Head) -> None:
        for question in questions:
            if head.compares not in question.compares:
                self.say(question.name, f"a {question.kind} question does not go with compares = {head.compares!r}")
            if problem := question.problem_with(head.outputs):
                self.say(question.name, problem)

    def _stages(self, questions: Sequence[Question]) -> tuple[Stage, ...]:
        read = [self._part(Stage, table, f"stage {k}") for k, table in enumerate(self._tables("stages"), 1)]
        stages = tuple(stage for stage in read if stage is not None)
        asked = [name for stage in stages for name in stage.dimensions]
        for question in questions if len(stages) == len(read) else ():
            if asked.count(question.name) != 1:
                self.say("stages", f"{question.name} is asked {asked.count(question.name)} times; ask it in one stage")
        for name in sorted(set(asked) - {question.name for question in questions}):
            self.say("stages", f"{name} is no dimension; add a [[dimensions]] of that name or take it out")
        if read and read[0] is not None and "outputs" not in read[0].shows:
            self.say("stages", 'the first stage must show what is judged; add "outputs" to its shows')
        return stages

    def _tests(self, questions: Sequence[Question], overall: str) -> TestRule | None:
        table = self.document.get("tests", {})
        if not isinstance(table, Mapping):
            self.say("tests", "must be one table; begin it with [tests]")
            return None
        rule = self._part(TestRule, {"dimension": overall, **table}, "tests", "[tests]")
        if rule is not None and rule.dimension not in {question.name for question in questions if question.has_value}:
            self.say("tests: dimension", f"names no dimension with a value: {shown(rule.dimension)}")
        return rule

    def _with_examples(self, template: Template) -> Template | None:
        examples = []
        for k, table in enumerate(self._tables("examples", needed=False), 1):
            example = self._part(Example, table, f"example {k}")
            if example is None:
                continue
            if len(example.outputs) != template.outputs:
                self.say(f"example {k}: outputs", f"must be a list of {template.outputs} texts")
                continue
            try:
                checked = check_answers(template, example.outputs, example.answers, complete=True, source=example.input)
            except InvalidInput as error:
                self.say(f"example {k}: answers", str(error))
                continue
            examples.append(example.model_copy(update={"answers": checked}))
        return None if self.problems.errors else replace(template, examples=tuple(examples))
