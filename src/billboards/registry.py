"""Things that people ask for by name, such as importers: where they are declared, and how they are loaded.

Each of this package's own stands in a file of its room: the file's name, with dashes for underscores, is the thing's
name, and the function of that name in it is its declaration. Files that begin with an underscore are helpers. Other
packages offer theirs by entry points, `NAME = "module:function"`, in a group that is called like the room.

Listing names and first lines reads files but runs none of them, so that help is quick, and whole where one is broken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Generic, TypeVar

from billboards.errors import InvalidInput, MissingPart, UnknownName

T = TypeVar("T")

#: What goes wrong while a module of somebody else's is imported, beside what it lacks.
_BROKEN = (AttributeError, NameError, SyntaxError, TypeError, ValueError, LookupError, OSError, RuntimeError)


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where something is declared: a function of a module, in a package."""

    module: str
    function: str
    package: str

    def __str__(self) -> str:
        return f"{self.module}:{self.function}"


@dataclass(frozen=True, kw_only=True)
class Registry(Generic[T]):
    """What is declared in a room of this package, and what other packages offer beside; iterates over the names."""

    #: What one of them is called in messages.
    kind: str
    #: The room's package, which also names the group of entry points.
    room: str
    #: What a declaration makes of its function.
    type: type[T]

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __contains__(self, name: object) -> bool:
        return name in self.places

    def __len__(self) -> int:
        return len(self.places)

    @cached_property
    def places(self) -> dict[str, tuple[Place, ...]]:
        """Where each name is declared; more than one place is a mistake that only matters to who asks for it."""
        places: dict[str, tuple[Place, ...]] = {}
        for name, place in (*self._own(), *self._others()):
            places[name] = (*places.get(name, ()), place)
        return dict(sorted(places.items()))

    @property
    def own(self) -> tuple[str, ...]:
        """The names that this package declares itself."""
        return tuple(name for name, _ in self._own())

    def summary(self, name: str) -> str:
        """The first line of a declaration, without a full stop; nothing is imported for it."""
        place = self.places[name][0]
        path = _source(place.module)
        if path is None:
            return f"can't be found: there is no module {place.module}"
        lead = re.compile(
            rf'^def {re.escape(place.function)}\((?:(?!^(?:def|class|@)).)*?^\s+r?"""(.*?)(?:"""|\n)', re.S | re.M
        )
        match = lead.search(path.read_text("utf-8", errors="replace"))
        return first_line(match[1]) if match else f"can't be found: {path.name} has no explained {place.function}"

    def load(self, name: str) -> T:
        """What is declared under a name; what is unknown, offered twice or broken is refused."""
        if name not in self.places:
            raise UnknownName(self.kind, name, self)
        place, *others = self.places[name]
        if others:
            packages = ", ".join(other.package for other in (place, *others))
            raise InvalidInput(f"{len(others) + 1} packages offer the {self.kind} {name}: {packages}; keep one of them")
        declared = self._loaded(name, place)
        if not isinstance(declared, self.type):
            raise InvalidInput(f"{self.kind} {name}: {place} is not declared as one")
        return declared

    def _loaded(self, name: str, place: Place) -> object:
        try:
            return getattr(import_module(place.module), place.function)
        except ImportError as error:
            raise MissingPart(f"{self.kind} {name} needs a package that is not installed: {error}") from error
        except _BROKEN as error:
            kind = type(error).__name__
            raise InvalidInput(f"{self.kind} {name}: {place} of {place.package} is broken: {kind}: {error}") from error

    def _own(self) -> Iterator[tuple[str, Place]]:
        folder = Path(str(import_module(self.room).__file__)).parent
        for path in sorted(folder.glob("*.py")):
            if not path.stem.startswith("_"):
                place = Place(module=f"{self.room}.{path.stem}", function=path.stem, package="billboards")
                yield path.stem.replace("_", "-"), place

    def _others(self) -> Iterator[tuple[str, Place]]:
        for point in entry_points(group=self.room):
            package = point.dist.name if point.dist else point.module
            yield point.name, Place(module=point.module, function=point.attr, package=package)


def first_line(text: str) -> str:
    """The first line of an explanation, without a full stop."""
    return text.strip().partition("\n")[0].strip().removesuffix(".")


def _source(module: str) -> Path | None:
    """The file of a module, without importing it or a package around it."""
    top, *below = module.split(".")
    spec = find_spec(top)
    if spec is None:
        return None
    if not below:
        return None if spec.origin is None else Path(spec.origin)
    for folder in spec.submodule_search_locations or ():
        stem = Path(folder, *below)
        for path in (stem.with_suffix(".py"), stem / "__init__.py"):
            if path.is_file():
                return path
    return None
