"""What can be asked of a board: one file for each question.

A module here whose name has no underscore is an analysis of that name; a folder whose `__init__` declares none is a
group of them, such as `ratings agreement`. Packages from elsewhere add theirs by the entry point `billboards.analyses`,
whose name is the analysis' and whose value leads to it. Nothing is imported to list them: the first line of a module's
docstring is what `billboards --help` says of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from billboards.errors import InvalidInput, MissingPart, UnknownName

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

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


@cache
def own_analyses() -> dict[str, str]:
    """The module of each analysis of this package, by the analysis' name."""
    return dict(sorted(_modules(Path(__file__).parent, __name__, "")))


def _modules(folder: Path, package: str, before: str) -> Iterator[tuple[str, str]]:
    for path in folder.iterdir():
        name = path.stem.replace("_", "-")
        if path.name.startswith(("_", ".")) or (not before and name in APART):
            continue
        if path.suffix == ".py":
            yield f"{before}{name}", f"{package}.{path.stem}"
        elif (path / "__init__.py").is_file():
            if "@analysis(" in (path / "__init__.py").read_text("utf-8"):
                yield f"{before}{name}", f"{package}.{path.stem}"
            else:
                yield from _modules(path, f"{package}.{path.stem}", f"{name} ")


@cache
def installed_analyses() -> dict[str, EntryPoint]:
    """Analyses that other packages bring, by name; one of this package's own keeps its name."""
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=GROUP) if point.name not in own_analyses()}


def summaries() -> dict[str, str]:
    """What each analysis asks, in one line, without importing any."""
    own = {name: _first_line(module) for name, module in own_analyses().items()}
    return own | {name: f"an analysis from {_package(point)}" for name, point in installed_analyses().items()}


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist else point.value


def _first_line(module: str) -> str:
    place = Path(__file__).parents[1].joinpath(*module.split(".")[1:])
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    with file.open(encoding="utf-8") as lines:
        return lines.readline().strip().strip('"')


def analysis_named(name: str) -> Analysis[Any, Any]:
    """An analysis by its name: one of this package's, or one that is installed."""
    from billboards.analyses._analysis import Analysis

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
