"""From an entry to a board: fetch its files, then call its importer on them."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from billboards.board.card_facts import with_facts
from billboards.board.judgment_sources import Imported
from billboards.catalogue._entry import Entry
from billboards.catalogue._fetch import Place, Telling, fetch
from billboards.catalogue._paths import is_safe
from billboards.errors import ImportRefused, InvalidInput
from billboards.importers import IMPORTERS, Importer
from billboards.options import check_options


def get_board(entry: Entry, place: Place, telling: Telling) -> Imported:
    """The board of an entry, in memory, with the importer's notes."""
    importer = check_entry(entry)
    with tempfile.TemporaryDirectory(prefix="billboards-") as name:
        root = Path(name).resolve()
        fetch(entry, root, place, telling)
        telling.note(f"importing {entry.name}")
        try:
            imported = importer(root / entry.source, **_options(entry, importer, root))
            board = with_facts(imported.board, entry.facts)
        except InvalidInput as error:
            raise ImportRefused(f"{entry.name}: {_without(root, str(error))}") from error
        return replace(imported, board=board, notes=tuple(_without(root, note) for note in imported.notes))


def check_entry(entry: Entry) -> Importer:
    """The importer of an entry, if it takes the entry's options."""
    importer = IMPORTERS.load(entry.importer)
    try:
        check_options(importer.name, importer.options, _options(entry, importer, Path()))
    except InvalidInput as error:
        raise InvalidInput(f"entry {entry.name}: {error}") from error
    return importer


def import_command(entry: Entry) -> str:
    """The command that does the same with clones in the current folder."""
    return shlex.join(["billboards", "import", entry.importer, entry.source, *_arguments(entry), "-o", entry.name])


def _arguments(entry: Entry) -> Iterator[str]:
    for key, value in entry.options.items():
        for part in value if isinstance(value, list) else [value]:
            yield f"--{key.replace('_', '-')}"
            if part is not True:
                yield str(part)


def _options(entry: Entry, importer: Importer, root: Path) -> dict[str, Any]:
    """The entry's options by their names in Python, paths below the folder where the sources stand."""
    paths = {option.name for option in importer.options if option.type is Path}
    values = {key.replace("-", "_"): value for key, value in entry.options.items()}
    return {key: _below(root, value) if key in paths else value for key, value in values.items()}


def _below(root: Path, value: Any) -> Any:
    if isinstance(value, list):
        return [_below(root, part) for part in value]
    if value != "." and not is_safe(str(value)):
        raise InvalidInput(f"{value!r} must be a relative path with slashes, without '..'")
    return root / str(value)


def _without(root: Path, text: str) -> str:
    """A message about files as the entry names them, not as they stood for a moment."""
    return text.replace(f"{root}/", "").replace(str(root), ".")
