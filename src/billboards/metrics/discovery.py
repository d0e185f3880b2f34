"""Finding metrics by name: those of this package and of any other that declares the entry point `billboards.metrics`.

An entry point's name is the metric's name, its value the class. A name may carry options, as in `chrF(beta=1)`; an
option takes values of its default's type, so that `lowercase=no` is refused and not taken for yes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from billboards.errors import InvalidInput, MissingPart, UnknownName
from billboards.metrics.base import Metric

GROUP = "billboards.metrics"


@cache
def known_metrics() -> Mapping[str, EntryPoint]:
    """Every metric that is installed, by name."""
    return {name: points[0] for name, points in _installed().items()}


def metric_class(name: str) -> type[Metric]:
    """The class behind a metric's name."""
    if name not in known_metrics():
        raise UnknownName("metric", name, known_metrics())
    _check_unique(name)
    point = known_metrics()[name]
    try:
        found = point.load()
    except ImportError as error:
        raise MissingPart(f"metric {name} needs a package that is not installed: {error}") from error
    except AttributeError as error:
        raise InvalidInput(f"entry point {name} = {point.value} leads nowhere: {error}") from error
    if not (isinstance(found, type) and issubclass(found, Metric)):
        raise InvalidInput(f"entry point {name} = {point.value} is not a billboards Metric class")
    return found


def metric(spec: str, **options: object) -> Metric:
    """A metric from its name and options: `metric("chrF", beta=1)` or `metric("chrF(beta=1)")`."""
    match = re.fullmatch(r"\s*([^()]+?)\s*(?:\((.*)\))?\s*", spec)
    if match is None:
        raise InvalidInput(f"{spec!r} is not a metric; write NAME or NAME(option=value,…)")
    name, written = match[1], match[2] or ""
    found = metric_class(name)
    known = {f.name: f for f in fields(found) if f.init}
    given: dict[str, object] = {**_written_options(spec, written, known), **options}
    for option in given:
        if option not in known:
            raise UnknownName(f"option of {name}", option, known)
    return found(**{option: _checked(name, known[option], value) for option, value in given.items()})


@cache
def _installed() -> Mapping[str, tuple[EntryPoint, ...]]:
    points = sorted(entry_points(group=GROUP), key=lambda point: point.name)
    return {name: tuple(p for p in points if p.name == name) for name in dict.fromkeys(p.name for p in points)}


def _check_unique(name: str) -> None:
    """Two packages may not answer to one name: which of them scored would depend on the order of installation."""
    points = _installed()[name]
    if len(points) > 1:
        packages = ", ".join(point.dist.name if point.dist else point.value for point in points)
        raise InvalidInput(f"{len(points)} packages offer a metric named {name}: {packages}; keep one of them")


def _written_options(spec: str, text: str, known: Mapping[str, Field[Any]]) -> dict[str, object]:
    options: dict[str, object] = {}
    for item in filter(None, (part.strip() for part in text.split(","))):
        key, equals, value = (piece.strip() for piece in item.partition("="))
        if not equals:
            raise InvalidInput(f"{spec!r}: option {item!r} has no value; write NAME(option=value)")
        options[key] = _read(value, takes_text=key in known and isinstance(known[key].default, str))
    return options


def _read(text: str, *, takes_text: bool) -> object:
    """A value as Python reads it; an option that takes text gets what is no quoted text as it stands."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        # Python gives up on what is nested too deeply in one of several ways.
        return text
    return text if takes_text and not isinstance(value, str) else value


def _checked(name: str, option: Field[Any], value: object) -> object:
    """An option's value, of the type of its default."""
    wanted = type(option.default)
    if option.default is MISSING or option.default is None or type(value) is wanted:
        return value
    if wanted is float and type(value) is int and abs(value) < 2**63:
        return float(value)
    raise InvalidInput(
        f"{name}: option {option.name} must be of type {wanted.__name__}, "
        f"as in {option.name}={option.default!r}; found {value!r}"
    )
