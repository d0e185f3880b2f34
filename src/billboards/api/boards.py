"""Boards themselves: opened from a folder, imported from public data, written, and described by their data card.

The verbs of other modules take a board that one of these returned.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from billboards.board import Board
from billboards.board.folder import open_board
from billboards.board.writing import write_board


def open(path: str | Path) -> Board:
    """The board in a folder; raises `InvalidBoard` with every mistake found.

    path: the board's folder

    Example:

        bb.open("my-board")
    """
    return open_board(path)


def save(board: Board, path: str | Path, *, force: bool = False) -> Board:
    """Write a board as a folder and open it there; `force` replaces a folder that exists.

    board: what is written
    path: the folder to make
    force: replace a folder that exists

    Example:

        bb.save(bb.import_board("table", "outputs.csv", generator="system"), "my-board")
    """
    return open_board(write_board(board, path, replace=force))


def import_board(
    kind: str, source: str | Path | Any | None = None, *, facts: Mapping[str, str] | None = None, **options: Any
) -> Board:
    """A board from a public data set or a table, in memory; `save` writes it.

    kind: the importer's name, such as "table"; `billboards import --help` lists them
    source: the folder or file to read, or a data frame of pandas or polars; for "text" the inputs, if there are any
    facts: what the source doesn't tell for the data card, as in `{"task": "Translate news"}`; a board that lacks some
        is a draft: `board.missing_facts` names them
    options: the importer's own, by the names of its options on the command line, with underscores for dashes

    Example:

        bb.import_board("table", "outputs.csv", generator="system", judgment=["adequacy"])
    """
    from billboards.board.card_facts import with_facts
    from billboards.importers import IMPORTERS

    with _as_file(source) as file:
        return with_facts(IMPORTERS.load(kind)(file, **options).board, facts or {})


@contextmanager
def _as_file(source: Any) -> Iterator[Any]:
    """A data frame as a CSV file for a while, missing values as empty cells; anything else as it is."""
    write = getattr(source, "write_csv", None) or getattr(source, "to_csv", None)
    if write is None:
        yield source
        return
    with TemporaryDirectory() as folder:
        file = Path(folder) / "frame.csv"
        # Only pandas numbers the rows.
        write(file, **({} if hasattr(source, "write_csv") else {"index": False}))
        yield file


def get(
    name: str,
    out: str | Path | None = None,
    *,
    mirror: str | Path | None = None,
    force: bool = False,
    unverified: bool = False,
    catalogue: str | Path | None = None,
) -> Board:
    """A public board by name: its files are downloaded once, checked and imported.

    name: as `billboards get --list` shows it
    out: a folder to write the board to, where it is then opened; without it the board is in memory alone
    mirror: a folder of clones and archives, or a server's address, to take the files from instead of the sources
    force: replace `out` if it exists
    unverified: accept files of a mirror folder that differ from the catalogue's
    catalogue: a TOML file with entries of your own, or a folder of them

    Licence, citation and what could not be verified are told on stderr.

    Example:

        bb.get("wmt20-zh-en", "zh-en", mirror="clones")
    """
    from billboards.catalogue import Place, get_board, read_catalogue
    from billboards.catalogue._cache import cache_folder
    from billboards.catalogue._terminal import on_terminal
    from billboards.errors import InvalidInput

    entry = read_catalogue([] if catalogue is None else [Path(catalogue)]).entry(name)
    if out is not None and Path(out).exists() and not force:
        raise InvalidInput(f"{out}: exists already; name another folder, or force=True to replace the board in it")
    place = Place(cache=cache_folder(), mirror=None if mirror is None else str(mirror), unverified=unverified)
    with on_terminal(place.cache, ask=False) as telling:
        board = get_board(entry, place, telling).board
    return board if out is None else save(board, out, force=force)
