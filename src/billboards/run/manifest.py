"""`metric.toml`: what a submitted metric says of itself.

Four things must be declared, because nobody else can know them and rankings depend on them: the metric's name, whether
higher is better, what it needs to see, and what it was trained on. The same checks serve the fields of a web form. All
mistakes are named at once, each with its line.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from billboards.board.names import file_name_mistake
from billboards.board.settings import key_lines
from billboards.errors import InvalidSubmission, Problem
from billboards.metrics.base import MetricCard
from billboards.reading import is_number, toml_document

FILE, SHELL, PYTHON, REQUIREMENTS = "metric.toml", "run.sh", "metric.py", "requirements.txt"
LONGEST_TEXT = 2_000
#: Bytes of the largest manifest, and of the largest list of packages.
LARGEST_MANIFEST, LARGEST_REQUIREMENTS = 2**16, 2**20
#: How many mistakes of one manifest are named.
LISTED = 100
#: How far an output's scores may lie apart in two mixes, as a share of the scores' interquartile range; on a graphics
#: card, and the largest share that may be declared.
TOLERANCE, GPU_TOLERANCE, LARGEST_TOLERANCE = 1e-6, 1e-3, 0.01


@dataclass(frozen=True, kw_only=True, slots=True)
class Contract:
    """What an output's score may depend on beside the output: all of its generator's, and how far arithmetic differs.

    A metric that does not need whole generators gets outputs of several in one call.
    """

    whole_generators: bool = False
    tolerance: float = TOLERANCE


@dataclass(frozen=True, kw_only=True, slots=True)
class Manifest:
    """What a metric declares, and which of its files is run."""

    card: MetricCard
    entry: str
    requirements: str = ""
    trained_on_this_board: bool = False
    gpu: bool = False
    contract: Contract = Contract()


def _mistake(words: str) -> PydanticCustomError:
    # Handed over as a value, because a message may hold braces.
    return PydanticCustomError("metric", "{words}", {"words": words})


def _short(value: str) -> str:
    if len(value) > LONGEST_TEXT:
        raise _mistake(f"has {len(value)} characters; {LONGEST_TEXT} are enough")
    return value


def _stated(value: str) -> str:
    if not value.strip():
        raise _mistake("is empty; write `none` where there is none")
    return _short(value)


def _name(value: str) -> str:
    if mistake := file_name_mistake(value.strip()):
        raise _mistake(mistake)
    if set(value) & set("|(),"):
        raise _mistake("holds one of | ( ) , which signatures use")
    return value.strip()


def _range(value: object) -> tuple[float, float]:
    if not (isinstance(value, list) and len(value) == 2 and all(map(is_number, value)) and value[0] < value[1]):
        raise _mistake("must be two numbers, the lowest and the highest score there can be")
    return float(value[0]), float(value[1])


def _tolerance(value: object) -> float:
    if not (is_number(value) and 0 <= float(value) <= LARGEST_TOLERANCE):
        raise _mistake(f"must be a number from 0 to {LARGEST_TOLERANCE}, a share of the scores' interquartile range")
    return float(value)


def _entry(value: object) -> str:
    if not (isinstance(value, str) and "/" not in value and (value == SHELL or value.endswith(".py"))):
        raise _mistake(f"must be {SHELL} or a Python file of the folder")
    return value


def _code(value: str) -> str:
    if not value:
        raise _mistake("is empty")
    return value


Text = Annotated[str, AfterValidator(_short)]


class Declared(BaseModel):
    """Every key of metric.toml; docs/submit-a-metric.md explains each."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    name: Annotated[str, AfterValidator(_name)]
    higher_is_better: bool
    needs: list[Literal["references", "input", "corpus"]]
    training_data: Annotated[str, AfterValidator(_stated)]
    trained_on_this_board: bool = False
    deterministic: bool = True
    tolerance: Annotated[float, BeforeValidator(_tolerance)] | None = None
    summary: Text = ""
    languages: list[Annotated[str, AfterValidator(_code)]] | None = None
    range: Annotated[tuple[float, float], BeforeValidator(_range)] | None = None
    licence: Text = ""
    paper: Text = ""
    failures: Text = ""
    entry: Annotated[str, BeforeValidator(_entry)] | None = None
    gpu: bool = False

    def card(self) -> MetricCard:
        """What a board shows of the metric."""
        return MetricCard(
            name=self.name,
            summary=self.summary,
            needs_references="references" in self.needs,
            needs_input="input" in self.needs,
            higher_is_better=self.higher_is_better,
            range=self.range,
            languages=None if self.languages is None else tuple(self.languages),
            deterministic=self.deterministic,
            training_data=self.training_data,
            licence=self.licence or None,
            paper=self.paper or None,
            failures=self.failures or None,
        )

    def contract(self) -> Contract:
        """What its scores may depend on."""
        usual = GPU_TOLERANCE if self.gpu else TOLERANCE
        tolerance = usual if self.tolerance is None else self.tolerance
        return Contract(whole_generators="corpus" in self.needs, tolerance=tolerance)


KEYS = tuple(Declared.model_fields)
DECLARED = tuple(key for key, field in Declared.model_fields.items() if field.is_required())
#: What is wrong with a value of a wrong kind, where its check doesn't say so itself.
_KINDS = {
    "needs": 'must be a list of "references", "input" and "corpus", or empty',
    "languages": 'must be a list of language codes, as in ["de", "en"]',
    "string_type": "must be a text",
    "bool_type": "must be true or false",
}


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a metric's folder; `InvalidSubmission` holds every mistake."""
    try:
        text = _short_text(folder / FILE, LARGEST_MANIFEST)
        values = toml_document(text, most=LARGEST_MANIFEST)
    except FileNotFoundError:
        raise InvalidSubmission([Problem(FILE, None, f"is not there; it declares {', '.join(DECLARED)}")]) from None
    except tomllib.TOMLDecodeError as error:
        raise InvalidSubmission([Problem(FILE, None, f"is no TOML: {error}")]) from error
    return manifest_from(values, folder, lines={path[0]: line for path, line in key_lines(text).items() if path})


def manifest_from(
    values: Mapping[str, object], folder: Path, *, where: str = FILE, lines: Mapping[str, int] | None = None
) -> Manifest:
    """The manifest that these values make for a folder; `where` names their source in messages, `lines` their lines."""
    declared, problems = _read_declared(values, where, lines or {})
    entry = str(values.get("entry") or _default_entry(folder))
    if not _is_plain_file(folder / entry):
        problems.append(Problem(entry[:LISTED], None, f"is not there; a metric is a folder with {SHELL} or {PYTHON}"))
    if problems or declared is None:
        raise InvalidSubmission(problems)
    requirements = _short_text(folder / REQUIREMENTS, LARGEST_REQUIREMENTS) if (folder / REQUIREMENTS).is_file() else ""
    return Manifest(
        card=declared.card(),
        entry=entry,
        requirements=requirements,
        trained_on_this_board=declared.trained_on_this_board,
        gpu=declared.gpu,
        contract=declared.contract(),
    )


def declared_from(values: Mapping[str, object], *, where: str) -> Declared:
    """What these values say of a metric that has no folder; `InvalidSubmission` holds every mistake."""
    declared, problems = _read_declared(values, where, {})
    if problems or declared is None:
        raise InvalidSubmission(problems)
    return declared


def _read_declared(
    values: Mapping[str, object], where: str, lines: Mapping[str, int]
) -> tuple[Declared | None, list[Problem]]:
    try:
        return Declared.model_validate(dict(values)), []
    except ValidationError as error:
        mistakes = sorted(error.errors(include_url=False), key=lambda each: each["type"] != "missing")
        problems = [Problem(where, lines.get(key), words) for key, words in islice(_worded(mistakes), LISTED)]
        if more := error.error_count() - len(problems):
            rest = f"and {more:,} more mistakes; mend those listed and check again"
            problems += [Problem(where, None, rest)] if len(problems) == LISTED else []
        return None, problems


def _worded(mistakes: list[ErrorDetails]) -> Iterator[tuple[str, str]]:
    """Each key with what is wrong with it, once."""
    seen = set()
    for mistake in mistakes:
        # A name that is no text, with half a character in it, has no place.
        key = str((mistake["loc"] or ("a name",))[0])
        if key in seen:
            continue
        seen.add(key)
        if mistake["type"] == "missing":
            yield key, f"{key} is missing; {', '.join(DECLARED)} must be declared"
        elif mistake["type"] == "extra_forbidden":
            near = get_close_matches(key.casefold(), KEYS, n=1)
            hint = f"did you mean {near[0]}?" if near else f"keys: {', '.join(KEYS)}"
            yield key, f"{key} is no key of a metric; {hint}"
        else:
            yield key, f"{key} {_KINDS.get(key) or _KINDS.get(mistake['type']) or mistake['msg']}"


def _default_entry(folder: Path) -> str:
    """run.sh; without it metric.py; without that the only Python file there is."""
    if (folder / SHELL).is_file():
        return SHELL
    files = sorted(path.name for path in folder.glob("*.py"))
    return files[0] if len(files) == 1 else PYTHON


def _is_plain_file(path: Path) -> bool:
    try:
        return path.is_file() and not path.is_symlink()
    except OSError:
        # A name that is longer than any file's.
        return False


def _short_text(path: Path, most: int) -> str:
    if path.is_symlink() or path.stat().st_size > most:
        raise InvalidSubmission([Problem(path.name, None, f"is a link, or larger than {most:,} bytes")])
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidSubmission([Problem(path.name, None, "is no UTF-8 text")]) from error
