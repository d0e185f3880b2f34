"""`metric.toml`: what a submitted metric says of itself.

Four things must be declared, because nobody else can know them and rankings depend on them: the metric's name, whether
higher is better, what it needs to see, and what it was trained on. The same checks serve the fields of a web form.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from billboards.board.names import file_name_mistake
from billboards.errors import InvalidSubmission, Problem
from billboards.metrics.base import MetricCard
from billboards.reading import is_number, toml_document

FILE, SHELL, PYTHON, REQUIREMENTS = "metric.toml", "run.sh", "metric.py", "requirements.txt"
NEEDS = ("references", "input")
LONGEST_TEXT = 2_000
LARGEST = 1 << 20


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a metric declares, and which of its files is run."""

    card: MetricCard
    entry: str
    requirements: str = ""
    trained_on_this_board: bool = False


def _text(value: object) -> str | None:
    if not isinstance(value, str):
        return "must be a text"
    return f"has {len(value)} characters; {LONGEST_TEXT} are enough" if len(value) > LONGEST_TEXT else None


def _said(value: object) -> str | None:
    return _text(value) or (None if str(value).strip() else "is empty; write `none` where there is none")


def _name(value: object) -> str | None:
    if not isinstance(value, str):
        return "must be a text"
    mistake = file_name_mistake(value.strip())
    return mistake or ("holds one of | ( ) , which signatures use" if set(value) & set("|(),") else None)


def _truth(value: object) -> str | None:
    return None if isinstance(value, bool) else "must be true or false"


def _needs(value: object) -> str | None:
    is_right = isinstance(value, list) and all(need in NEEDS for need in value)
    return None if is_right else 'must be a list of "references" and "input", or empty'


def _languages(value: object) -> str | None:
    is_right = isinstance(value, list) and all(isinstance(language, str) and language for language in value)
    return None if is_right else 'must be a list of language codes, as in ["de", "en"]'


def _range(value: object) -> str | None:
    is_right = isinstance(value, list) and len(value) == 2 and all(map(is_number, value)) and value[0] < value[1]
    return None if is_right else "must be two numbers, the lowest and the highest score there can be"


def _entry(value: object) -> str | None:
    is_right = isinstance(value, str) and "/" not in value and (value == SHELL or value.endswith(".py"))
    return None if is_right else f"must be {SHELL} or a Python file of the folder"


#: Every key, with what checks it; docs/submit-a-metric.md explains each.
KEYS: Mapping[str, Callable[[object], str | None]] = {
    "name": _name,
    "higher_is_better": _truth,
    "needs": _needs,
    "training_data": _said,
    "trained_on_this_board": _truth,
    "deterministic": _truth,
    "summary": _text,
    "languages": _languages,
    "range": _range,
    "licence": _text,
    "paper": _text,
    "failures": _text,
    "entry": _entry,
}
DECLARED = ("name", "higher_is_better", "needs", "training_data")


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a metric's folder; `InvalidSubmission` holds every mistake."""
    try:
        values = toml_document(_short_text(folder / FILE))
    except FileNotFoundError:
        raise InvalidSubmission([Problem(FILE, None, f"is not there; it declares {', '.join(DECLARED)}")]) from None
    except tomllib.TOMLDecodeError as error:
        raise InvalidSubmission([Problem(FILE, None, f"is no TOML: {error}")]) from error
    return manifest_from(values, folder)


def manifest_from(values: Mapping[str, object], folder: Path, *, where: str = FILE) -> Manifest:
    """The manifest that these values make for a folder; `where` names their source in messages."""
    problems = [Problem(where, None, message) for message in _mistakes(values)]
    entry = str(values.get("entry") or _default_entry(folder))
    if not (folder / entry).is_file() or (folder / entry).is_symlink():
        problems.append(Problem(entry, None, f"is not there; a metric is a folder with {SHELL} or {PYTHON}"))
    if problems:
        raise InvalidSubmission(problems)
    requirements = _short_text(folder / REQUIREMENTS) if (folder / REQUIREMENTS).is_file() else ""
    return Manifest(_card(values), entry, requirements, bool(values.get("trained_on_this_board", False)))


def _mistakes(values: Mapping[str, object]) -> Iterator[str]:
    for key in DECLARED:
        if key not in values:
            yield f"{key} is missing; {', '.join(DECLARED)} must be declared"
    for key, value in values.items():
        if key not in KEYS:
            near = get_close_matches(key, KEYS, n=1)
            yield f"{key} is no key of a metric; " + (
                f"did you mean {near[0]}?" if near else f"keys: {', '.join(KEYS)}"
            )
        elif mistake := KEYS[key](value):
            yield f"{key} {mistake}"


def _card(values: Mapping[str, object]) -> MetricCard:
    needs, languages, ends = values["needs"], values.get("languages"), values.get("range")
    assert isinstance(needs, list)
    return MetricCard(
        name=str(values["name"]).strip(),
        summary=str(values.get("summary", "")),
        needs_references="references" in needs,
        needs_input="input" in needs,
        higher_is_better=bool(values["higher_is_better"]),
        range=(float(ends[0]), float(ends[1])) if isinstance(ends, list) else None,
        languages=tuple(languages) if isinstance(languages, list) else None,
        deterministic=bool(values.get("deterministic", True)),
        training_data=str(values["training_data"]),
        licence=_optional(values, "licence"),
        paper=_optional(values, "paper"),
        failures=_optional(values, "failures"),
    )


def _optional(values: Mapping[str, object], key: str) -> str | None:
    return str(values[key]) if values.get(key) else None


def _default_entry(folder: Path) -> str:
    """run.sh; without it metric.py; without that the only Python file there is."""
    if (folder / SHELL).is_file():
        return SHELL
    files = sorted(path.name for path in folder.glob("*.py"))
    return files[0] if len(files) == 1 else PYTHON


def _short_text(path: Path) -> str:
    if path.is_symlink() or path.stat().st_size > LARGEST:
        raise InvalidSubmission([Problem(path.name, None, f"is a link, or larger than {LARGEST} bytes")])
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidSubmission([Problem(path.name, None, "is no UTF-8 text")]) from error
