"""What can be asked of a board: one file for each question.

A module here whose name has no underscore is an analysis of that name; a folder whose `__init__` declares none is a
group of them, such as `ratings agreement`. Packages from elsewhere add theirs by the entry point `billboards.analyses`,
whose name is the analysis' and whose value leads to it. Nothing is imported to list them: the first line of a module's
docstring is what `billboards --help` says of it.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib import import_module

TYPE_CHECKING = False  # `billboards --help` lists analyses and must start as fast as the interpreter allows
if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.metadata import EntryPoint
    from typing import Any

    from billboards.analyses._analysis import Analysis, Result, analysis
    from billboards.analyses._view import View, look_at
    from billboards.options import Named
    from billboards.show.table import Table, TableColumn

GROUP = "billboards.analyses"
#: A folder that is asked by commands of its own: it speaks of several boards.
APART = ("suite",)

_HOMES = {
    "Analysis": "billboards.analyses._analysis",
    "Result": "billboards.analyses._analysis",
    "analysis": "billboards.analyses._analysis",
    "View": "billboards.analyses._view",
    "look_at": "billboards.analyses._view",
    "Named": "billboards.options",
    "Table": "billboards.show.table",
    "TableColumn": "billboards.show.table",
}

__all__ = [
    "Analysis",
    "Named",
    "Result",
    "Table",
    "TableColumn",
    "View",
    "analysis",
    "analysis_named",
    "installed_analyses",
    "look_at",
    "own_analyses",
    "summaries",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


_FOLDER = os.path.dirname(__file__)  # noqa: PTH120 - pathlib would cost as much as the rest of this module


@cache
def own_analyses() -> dict[str, str]:
    """The module of each analysis of this package, by the analysis' name."""
    return dict(sorted(_modules(_FOLDER, __name__, "")))


def _modules(folder: str, package: str, before: str) -> Iterator[tuple[str, str]]:
    with os.scandir(folder) as entries:
        listed = [(entry.name, entry.path) for entry in entries if not entry.name.startswith(("_", "."))]
    for file, path in listed:
        stem, _, ending = file.partition(".")
        name = stem.replace("_", "-")
        if not before and name in APART:
            continue
        if ending == "py" or (not ending and _declares(f"{path}/__init__.py")):
            yield f"{before}{name}", f"{package}.{stem}"
        elif not ending:
            yield from _modules(path, f"{package}.{stem}", f"{name} ")


def _declares(file: str) -> bool:
    with open(file, encoding="utf-8") as text:  # noqa: PTH123 - as above
        return "@analysis(" in text.read()


@cache
def names_elsewhere() -> tuple[str, ...]:
    """The names of analyses that other packages bring, read from their metadata without loading any of them."""
    names = list[str]()
    for folder in dict.fromkeys(sys.path):
        try:
            with os.scandir(folder or ".") as entries:
                places = [entry.path for entry in entries if entry.name.endswith((".dist-info", ".egg-info"))]
        except OSError:
            continue
        for place in places:
            names += _declared(f"{place}/entry_points.txt")
    return tuple(sorted(set(names) - own_analyses().keys()))


def _declared(file: str) -> list[str]:
    try:
        with open(file, encoding="utf-8") as text:  # noqa: PTH123 - as above
            _, head, after = text.read().partition(f"[{GROUP}]")
    except (OSError, UnicodeDecodeError):
        return []
    lines = after.partition("\n[")[0].splitlines() if head else []
    return [line.partition("=")[0].strip() for line in lines if "=" in line]


@cache
def installed_analyses() -> dict[str, EntryPoint]:
    """Analyses that other packages bring, by name; one of this package's own keeps its name."""
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=GROUP) if point.name not in own_analyses()}


@cache
def summaries() -> dict[str, str]:
    """What each analysis asks, in one line, without importing any."""
    own = {name: _first_line(module) for name, module in own_analyses().items()}
    return own | dict.fromkeys(names_elsewhere(), "an analysis from another package")


def _first_line(module: str) -> str:
    with open(_file(module), encoding="utf-8") as lines:  # noqa: PTH123 - as above
        return lines.readline().strip().strip('"')


def _file(module: str) -> str:
    place = "/".join((_FOLDER, *module.split(".")[2:]))
    return f"{place}/__init__.py" if os.path.isdir(place) else f"{place}.py"  # noqa: PTH112 - as above


def groups() -> dict[str, str]:
    """What each analysis is for, by its name, as its declaration says; read from the text, without importing any."""
    declared = {name: _group(module) for name, module in own_analyses().items()}
    return {name: group for name, group in declared.items() if group}


def _group(module: str) -> str:
    with open(_file(module), "rb") as text:  # noqa: PTH123 - as above
        _, _, declaration = text.read().partition(b"\n@analysis(")
    _, _, after = declaration.partition(b"\ndef ")[0].partition(b'group="')
    return after.partition(b'"')[0].decode()


def analysis_named(name: str) -> Analysis[Any, Any]:
    """An analysis by its name: one of this package's, or one that is installed.

    name: the analysis as the command line calls it

    Example:

        analysis_named("rank")
    """
    from billboards.analyses._analysis import Analysis
    from billboards.errors import InvalidInput, MissingPart, UnknownName

    if name in own_analyses():
        declared = getattr(import_module(own_analyses()[name]), name.split(" ")[-1].replace("-", "_"))
    elif name in installed_analyses():
        point = installed_analyses()[name]
        try:
            declared = point.load()
        except ImportError as error:
            raise MissingPart(f"analysis {name} ({point.value}) can't be imported: {error}") from error
        except AttributeError as error:
            raise InvalidInput(f"entry point {name} = {point.value} leads nowhere: {error}") from error
    else:
        raise UnknownName("analysis", name, [*own_analyses(), *installed_analyses()])
    if not isinstance(declared, Analysis):
        raise InvalidInput(f"{name} is no analysis; declare it with @analysis()")
    return declared
