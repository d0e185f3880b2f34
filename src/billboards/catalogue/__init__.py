"""The catalogue of public boards: what there is, where its files lie, under which licence, and how it becomes a board.

An entry is one TOML file in `entries/` (docs/how-to-add-a-public-board.md); the SHA-256 of its files stand beside them
in `digests/`, a list for each repository. Other packages add entries by the entry point `billboards.catalogue`, anybody
by naming a file. `get_board` fetches an entry's files, checks them and calls the importer that the entry names.
"""

from __future__ import annotations

from billboards.catalogue._catalogue import Catalogue, read_catalogue
from billboards.catalogue._entry import Entry, File, Source, Template, read_entries
from billboards.catalogue._fetch import Place, Telling
from billboards.catalogue._get import check_entry, get_board, import_command

__all__ = [
    "Catalogue",
    "Entry",
    "File",
    "Place",
    "Source",
    "Telling",
    "Template",
    "check_entry",
    "get_board",
    "import_command",
    "read_catalogue",
    "read_entries",
]
