"""Template files: small TOML documents, checked key by key.

Every mistake says in which file and under which key it stands and what to write instead; all of them are found at
once. The shipped templates lie in `human/data/`; anyone's own is opened by its path.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from billboards.campaigns.answer_values import check_answers
from billboards.campaigns.template_questions import read_question
from billboards.campaigns.templates import SHOWN, Example, Question, Stage, Template, TestRule
from billboards.errors import InvalidInput, InvalidTemplate, Problem, UnknownName
from billboards.reading import Problems, shown, toml_document

FOLDER = "standard_templates"
_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
_COMPARES = ("none", "reference", "generators")
_DIRECTIONS = ("ltr", "rtl", "auto")

#: Every key of a template file, by its table; docs/campaigns.md explains each.
KEYS: Mapping[str, tuple[str, ...]] = {
    "": ("name", "version", "title", "task", "language", "direction", "compares", "outputs", "output_names", "overall",
         "instructions", "stages", "dimensions", "tests", "examples"),
    "stages": ("shows", "dimensions", "instructions"),
    "tests": ("dimension", "good_at_least", "bad_below"),
    "examples": ("input", "reference", "context", "outputs", "answers", "why"),
}  # fmt: skip


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
    template = reading.template()
    return (None if reading.problems.errors else template), tuple(reading.problems)


@dataclass(frozen=True)
class _Reading:
    """One file being read."""

    document: Mapping[str, Any]
    where: str
    problems: Problems

    def say(self, key: str, message: str) -> None:
        self.problems.error(self.where, None, f"{key}: {message}")

    def template(self) -> Template | None:
        found = self.document
        self._known(found, "", "the file")
        words = {key: self._text(key) for key in ("name", "title", "task", "instructions")}
        if words["name"] and not _NAME.fullmatch(words["name"]):
            self.say("name", f"{words['name']!r} must be lower-case letters, digits and hyphens")
        version = found.get("version")
        if isinstance(version, bool) or not isinstance(version, int) or version < 1:
            self.say("version", f"must be a whole number from 1 on; found {shown(version)}")
        questions = self._questions()
        compares = self._choice("compares", _COMPARES, "none")
        outputs = self._outputs(compares)
        stages = self._stages(questions)
        overall = str(found.get("overall", questions[-1].name if questions else ""))
        if questions and overall not in {question.name for question in questions}:
            self.say("overall", f"names no dimension: {shown(overall)}; write one of those below [[dimensions]]")
        rule = self._tests(questions, str(overall))
        self._check_kinds(questions, str(compares), outputs)
        if self.problems.errors:
            return None
        template = Template(
            words["name"],
            int(found["version"]),
            words["title"],
            words["task"],
            words["instructions"].strip(),
            stages,
            questions,
            rule,
            overall,
            compares,
            outputs,
            self._output_names(outputs),
            str(found.get("language", "en")),
            self._choice("direction", _DIRECTIONS, "auto"),
        )
        return self._with_examples(template)

    def _known(self, table: Mapping[str, Any], kind: str, where: str) -> None:
        for key in table:
            if key not in KEYS[kind]:
                self.problems.error(self.where, None, str(UnknownName(f"key in {where}", key, KEYS[kind])))

    def _text(self, key: str) -> str:
        value = self.document.get(key)
        if not isinstance(value, str) or not value.strip():
            self.say(key, "is missing; write it as a text in quotes" if value is None else f"found {shown(value)}")
            return ""
        return value

    def _choice(self, key: str, known: Sequence[str], default: str) -> Any:
        value = self.document.get(key, default)
        if value not in known:
            self.say(key, f"must be one of {', '.join(known)}; found {shown(value)}")
        return value

    def _tables(self, key: str, *, needed: bool = True) -> list[Mapping[str, Any]]:
        found = self.document.get(key, [])
        if not isinstance(found, list) or not all(isinstance(one, Mapping) for one in found):
            self.say(key, f"must be tables; begin each with [[{key}]]")
            return []
        if needed and not found:
            self.say(key, f"is missing; write at least one [[{key}]]")
        return found

    def _questions(self) -> tuple[Question, ...]:
        tables = self._tables("dimensions")
        read = [read_question(table, k, self.say) for k, table in enumerate(tables, 1)]
        questions = tuple(question for question in read if question is not None)
        names = [question.name for question in questions]
        for name in {name for name in names if names.count(name) > 1}:
            self.say("dimensions", f"{name} stands twice; give each dimension a name of its own")
        return questions

    def _outputs(self, compares: str) -> int:
        outputs = self.document.get("outputs", 1 if compares == "none" else 2)
        if isinstance(outputs, bool) or not isinstance(outputs, int) or not 1 <= outputs <= 10:
            self.say("outputs", f"must be a whole number from 1 to 10; found {shown(outputs)}")
            return 1
        if (outputs == 1) != (compares == "none") or (compares == "reference" and outputs != 2):
            self.say("outputs", f"{outputs} does not go with compares = {compares!r}: none has 1, reference 2")
        return outputs

    def _output_names(self, outputs: int) -> tuple[str, ...]:
        default = ["Output"] if outputs == 1 else [f"Output {k + 1}" for k in range(outputs)]
        return tuple(str(name) for name in self.document.get("output_names", default))

    def _check_kinds(self, questions: Sequence[Question], compares: str, outputs: int) -> None:
        names = self.document.get("output_names")
        if names is not None and (not isinstance(names, list) or len(names) != outputs):
            self.say("output_names", f"must be a list of {outputs} names, one for each output that is shown")
        for question in questions:
            if question.is_comparison == (compares == "none"):
                self.say(question.name, f"a {question.kind} question does not go with compares = {compares!r}")
            if question.kind == "preference" and outputs != 2:
                self.say(question.name, f"a preference is between 2 outputs, not {outputs}; use best-worst for more")

    def _stages(self, questions: Sequence[Question]) -> tuple[Stage, ...]:
        stages = tuple(self._stage(table, k) for k, table in enumerate(self._tables("stages"), 1))
        asked = [name for stage in stages for name in stage.dimensions]
        for question in questions:
            if asked.count(question.name) != 1:
                self.say("stages", f"{question.name} is asked {asked.count(question.name)} times; ask it in one stage")
        for name in sorted(set(asked) - {question.name for question in questions}):
            self.say("stages", f"{name} is no dimension; add a [[dimensions]] of that name or take it out")
        if stages and "outputs" not in stages[0].shows:
            self.say("stages", 'the first stage must show what is judged; add "outputs" to its shows')
        return stages

    def _stage(self, table: Mapping[str, Any], k: int) -> Stage:
        self._known(table, "stages", f"stage {k}")
        lists = {key: table.get(key, []) for key in ("shows", "dimensions")}
        for key, value in lists.items():
            if not isinstance(value, list) or not value or not all(isinstance(word, str) for word in value):
                self.say(f"stage {k}: {key}", f"must be a list of texts, not empty; found {shown(value)}")
                lists[key] = []
        for word in lists["shows"]:
            if word not in SHOWN:
                self.say(f"stage {k}: shows", f"{word!r} is none of {', '.join(SHOWN)}")
        return Stage(tuple(lists["shows"]), tuple(lists["dimensions"]), str(table.get("instructions", "")).strip())

    def _tests(self, questions: Sequence[Question], overall: str) -> TestRule:
        table = self.document.get("tests", {})
        if not isinstance(table, Mapping):
            self.say("tests", "must be one table; begin it with [tests]")
            return TestRule(overall)
        self._known(table, "tests", "[tests]")
        name = table.get("dimension", overall)
        if str(name) not in {question.name for question in questions}:
            self.say("tests: dimension", f"names no dimension: {shown(name)}")
        numbers = {key: table.get(key, 0.5) for key in ("good_at_least", "bad_below")}
        for key, value in numbers.items():
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
                self.say(f"tests: {key}", f"must be a number from 0 to 1; found {shown(value)}")
        return TestRule(str(name), numbers["good_at_least"], numbers["bad_below"])

    def _with_examples(self, template: Template) -> Template | None:
        examples = []
        for k, table in enumerate(self._tables("examples", needed=False), 1):
            self._known(table, "examples", f"example {k}")
            outputs, answers = table.get("outputs", []), table.get("answers", {})
            if not _are_texts(outputs) or len(outputs) != template.outputs:
                self.say(f"example {k}: outputs", f"must be a list of {template.outputs} texts")
                continue
            said = {key: table.get(key) for key in ("input", "reference", "context")}
            if not isinstance(answers, Mapping) or not _are_texts([text for text in said.values() if text is not None]):
                self.say(f"example {k}", "input, reference and context must be texts, and answers a table")
                continue
            try:
                checked = check_answers(template, outputs, answers, complete=True)
            except InvalidInput as error:
                self.say(f"example {k}: answers", str(error))
                continue
            examples.append(Example(tuple(outputs), checked, str(table.get("why", "")).strip(), **said))
        return None if self.problems.errors else replace(template, examples=tuple(examples))


def _are_texts(found: object) -> bool:
    return isinstance(found, list) and all(isinstance(text, str) for text in found)
