"""Finding metrics by name: those of this package and of any other that declares the entry point `billboards.metrics`.

An entry point's name is the metric's name, its value the class. A name may carry options, as in `chrF(beta=1)`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from billboards.errors import InvalidInput, MissingPart, UnknownName
from billboards.metrics.base import Metric

GROUP = "billboards.metrics"


@cache
def known_metrics() -> Mapping[str, EntryPoint]:
    """Every metric that is installed, by name."""
    return {point.name: point for point in sorted(entry_points(group=GROUP), key=lambda point: point.name)}


def metric_class(name: str) -> type[Metric]:
    """The class behind a metric's name."""
    if name not in known_metrics():
        raise UnknownName("metric", name, known_metrics())
    point = known_metrics()[name]
    try:
        found = point.load()
    except ImportError as error:
        raise MissingPart(f"metric {name} needs a package that is not installed: {error}") from error
    if not (isinstance(found, type) and issubclass(found, Metric)):
        raise InvalidInput(f"entry point {name} = {point.value} is not a billboards Metric class")
    return found


def metric(spec: str, **options: object) -> Metric:
    """A metric from its name and options: `metric("chrF", beta=1)` or `metric("chrF(beta=1)")`."""
    match = re.fullmatch(r"\s*([^()]+?)\s*(?:\((.*)\))?\s*", spec)
    if match is None:
        raise InvalidInput(f"{spec!r} is not a metric; write NAME or NAME(option=value,…)")
    found = metric_class(match[1])
    options = {**_parse_options(spec, match[2] or ""), **options}
    known = [f.name for f in fields(found)]  # type: ignore[arg-type]
    for option in options:
        if option not in known:
            raise UnknownName(f"option of {match[1]}", option, known)
    return found(**options)


def _parse_options(spec: str, text: str) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for item in filter(None, (part.strip() for part in text.split(","))):
        key, equals, value = item.partition("=")
        if not equals:
            raise InvalidInput(f"{spec!r}: option {item!r} has no value; write NAME(option=value)")
        try:
            options[key.strip()] = ast.literal_eval(value.strip())
        except (ValueError, SyntaxError):
            options[key.strip()] = value.strip()
    return options
