"""The kinds of questions that templates may ask: those of this package, one folder each, and of any other that
declares the entry point `billboards.questions`.

An entry point's name is the kind's name, its value the class. docs/how-to-add-a-question-kind.md shows one whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.resources.abc import Traversable
from pathlib import Path

from billboards.campaigns.questions._contract import Compares, Question, Range, Text, Texts, is_place
from billboards.errors import InvalidInput, MissingPart, UnknownName

__all__ = [
    "FILE",
    "Compares",
    "Question",
    "Range",
    "Text",
    "Texts",
    "is_place",
    "kind_names",
    "question_file",
    "question_kind",
    "question_styles",
]

GROUP = "billboards.questions"
#: The names of a kind's files as the site serves them: question-KIND.ENDING.
FILE = "question-"


def kind_names() -> tuple[str, ...]:
    """Every kind that is installed, this package's own first."""
    return tuple(_installed())


@cache
def question_kind(name: str) -> type[Question]:
    """The class behind a kind's name."""
    if name not in _installed():
        raise UnknownName("kind of question", name, kind_names())
    points = _installed()[name]
    if len(points) > 1:
        packages = ", ".join(point.dist.name if point.dist else point.value for point in points)
        raise InvalidInput(f"{len(points)} packages offer a question kind named {name}: {packages}; keep one of them")
    (point,) = points
    try:
        kind = point.load()
    except ImportError as error:
        raise MissingPart(f"question kind {name} needs a package that is not installed: {error}") from error
    except AttributeError as error:
        raise InvalidInput(f"entry point {name} = {point.value} leads nowhere: {error}") from error
    if not (isinstance(kind, type) and issubclass(kind, Question)) or kind.kind != name:
        raise InvalidInput(f"entry point {name} = {point.value} is not a billboards Question class of that kind")
    return kind


def question_file(name: str) -> Traversable | None:
    """A kind's template or script by the name the site serves it under: question-slider.js; None where it is none."""
    kind, _, ending = name.removeprefix(FILE).partition(".")
    if not name.startswith(FILE) or kind not in _installed():
        return None
    return question_kind(kind).file(ending)


@cache
def question_styles() -> str:
    """The styles of all kinds, as they stand in annotators' pages."""
    files = (question_kind(name).file("css") for name in kind_names())
    return "".join(file.read_text("utf-8") for file in files if file is not None)


@cache
def _installed() -> Mapping[str, tuple[EntryPoint, ...]]:
    own = [EntryPoint(name, f"{__name__}.{place}", GROUP) for name, place in _own().items()]
    points = [*own, *sorted(entry_points(group=GROUP), key=lambda point: point.name)]
    return {name: tuple(p for p in points if p.name == name) for name in dict.fromkeys(p.name for p in points)}


def _own() -> dict[str, str]:
    """This package's own kinds: a folder each, whose class is named after it."""
    names = [path.name for path in Path(__file__).parent.iterdir() if (path / "question.html.j2").is_file()]
    return {name.replace("_", "-"): f"{name}:{''.join(map(str.capitalize, name.split('_')))}" for name in sorted(names)}
