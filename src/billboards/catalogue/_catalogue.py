"""All entries: those of this package, those of other packages, and those in files that somebody names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

from billboards.catalogue._entry import Entry, Template, read_entries
from billboards.errors import InvalidInput, UnknownName

OWN = Path(__file__).with_name("entries")
GROUP = "billboards.catalogue"


@dataclass(frozen=True, kw_only=True)
class Catalogue:
    """Entries by name, templates of entries, and what is broken among those of other packages."""

    entries: dict[str, tuple[Entry, ...]]
    templates: tuple[Template, ...]
    broken: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Entry]:
        """Every entry by name; a template stands for its boards with capitals for its parameters."""
        both = (*(entries[0] for entries in self.entries.values()), *(template.example for template in self.templates))
        return iter(sorted(both, key=lambda entry: entry.name.casefold()))

    def entry(self, name: str) -> Entry:
        """The entry of a name; upper and lower case are alike where no two names differ in them alone."""
        entries = self.entries.get(name) or self._in_any_case(name)
        if len(entries) > 1:
            raise InvalidInput(f"{len(entries)} packages offer a board {name}; keep one of them")
        if entries:
            return entries[0]
        for template in self.templates:
            entry = template.entry(name)
            if entry is not None:
                return entry
        broken = f" ({'; '.join(self.broken)})" if self.broken else ""
        shapes = [template.name for template in self.templates]
        raise InvalidInput(f"{UnknownName('public board', name, [*self.entries, *shapes])}{broken}")

    def _in_any_case(self, name: str) -> tuple[Entry, ...]:
        alike = [entries for key, entries in self.entries.items() if key.casefold() == name.casefold()]
        return alike[0] if len(alike) == 1 else ()


def read_catalogue(paths: Sequence[Path] = ()) -> Catalogue:
    """The catalogue; entries in files or folders that are named come before all others."""
    named = [item for path in paths for file in _files(path) for item in read_entries(file)]
    others, broken = _installed()
    entries: dict[str, tuple[Entry, ...]] = {}
    for item in (*_read(_toml_files(OWN)), *others):
        if isinstance(item, Entry):
            entries[item.name] = (*entries.get(item.name, ()), item)
    entries |= {item.name: (item,) for item in named if isinstance(item, Entry)}
    templates = tuple(item for item in (*named, *_read(_toml_files(OWN)), *others) if isinstance(item, Template))
    return Catalogue(entries=dict(sorted(entries.items())), templates=templates, broken=broken)


def _read(files: Iterable[Path]) -> list[Entry | Template]:
    return [item for file in files for item in read_entries(file)]


def _toml_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.toml"))


def _files(path: Path) -> list[Path]:
    """The entries in a file or folder that somebody names."""
    if not path.is_dir():
        return [path]
    files = _toml_files(path)
    if not files:
        raise InvalidInput(f"{path}: holds no entry such as NAME.toml")
    return files


def _installed() -> tuple[list[Entry | Template], tuple[str, ...]]:
    """Entries in other packages' folders, and what is wrong with some of them: that matters only to who asks."""
    items, broken = list[Entry | Template](), list[str]()
    for point in entry_points(group=GROUP):
        try:
            spec = find_spec(point.module)
            folders = [] if spec is None else [Path(folder) for folder in spec.submodule_search_locations or ()]
            if not folders:
                raise InvalidInput(f"{point.module} is no package with entries")
            for folder in folders:
                items += _read(_toml_files(folder))
        except (ImportError, InvalidInput) as error:
            broken.append(f"the entries {point.name} are broken: {error}")
    return items, tuple(broken)
