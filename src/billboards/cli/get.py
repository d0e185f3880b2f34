"""Fetch a public board: download its files, check them, and write a board folder that is ready to rank.

    billboards get --list
    billboards get summeval
    billboards get wmt20-zh-en --from ~/clones -o zh-en

Files are kept in the platform's cache folder, or the one that BILLBOARDS_CACHE names, and fetched once; a download that
was cut off goes on where it stopped. Every file is compared with its SHA-256; if the catalogue has none for a file, the
SHA-256 that was found is printed. The licence is printed before the first download. At a terminal you are asked to
agree to it, unless you give `--yes`; in a script nobody is asked, and the download begins. The proxies of the
environment are used (HTTPS_PROXY, HTTP_PROXY, NO_PROXY).
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from billboards.cli.options import add_format

if TYPE_CHECKING:
    from billboards.catalogue import Catalogue, Entry
    from billboards.show.table import Table


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help="the public board; --list shows them")
    parser.add_argument("--list", action="store_true", help="list the public boards instead")
    parser.add_argument(
        "--from",
        dest="mirror",
        metavar="DIR",
        help="take the files from a folder of clones and archives, or from a server's address, instead of the sources",
    )
    parser.add_argument("-o", "--out", type=Path, metavar="OUT", help="the board folder to write (default ./NAME)")
    parser.add_argument("--force", action="store_true", help="replace OUT if it exists")
    parser.add_argument("--yes", action="store_true", help="agree to the licence without being asked")
    parser.add_argument(
        "--unverified",
        action="store_true",
        help="with --from DIR, accept files that differ from the catalogue's, and missing ones; digests are printed",
    )
    parser.add_argument(
        "--catalogue",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="entries of your own: a TOML file, or a folder of them; may be repeated",
    )
    add_format(parser, out=False)


def run(arguments: Namespace) -> int:
    from billboards.catalogue import read_catalogue
    from billboards.errors import InvalidInput

    catalogue = read_catalogue(arguments.catalogue)
    if arguments.list:
        return _list(arguments, catalogue)
    if arguments.name is None:
        raise InvalidInput("name a public board, such as `billboards get summeval`; `billboards get --list` shows them")
    return _get(arguments, catalogue.entry(arguments.name))


def _get(arguments: Namespace, entry: Entry) -> int:
    import shlex

    from billboards.board.writing import write_board
    from billboards.catalogue import Place, get_board
    from billboards.catalogue._cache import cache_folder
    from billboards.catalogue._terminal import on_terminal
    from billboards.cli.output import note
    from billboards.errors import InvalidInput

    out = arguments.out or Path(entry.name)
    if out.exists() and not arguments.force:
        raise InvalidInput(f"{out}: exists already; give another folder with -o, or --force to replace the board in it")
    place = Place(cache=cache_folder(), mirror=arguments.mirror, unverified=arguments.unverified)
    if arguments.unverified and place.folder is None:
        raise InvalidInput("--unverified is for files of your own: give their folder with --from DIR")
    with on_terminal(place.cache, ask=not arguments.yes) as telling:
        imported = get_board(entry, place, telling)
    board = imported.board
    path = write_board(board, out, replace=arguments.force)
    for text in imported.notes:
        note(f"note: {text}")
    note(
        f"wrote {path}: {len(board.instances)} instances, {len(board.generators)} generators, "
        f"{len(board.judgments)} judgments, {len(board.imported)} columns of imported scores"
    )
    note(f"licence: {entry.licence}. Next: `billboards rank {shlex.quote(str(path))}`")
    return 0


def _list(arguments: Namespace, catalogue: Catalogue) -> int:
    from billboards.cli.output import emit, note

    emit(arguments, [_table(catalogue)], lambda: {"boards": [_document(entry) for entry in catalogue]})
    for text in catalogue.broken:
        note(f"warning: {text}")
    return 0


def _table(catalogue: Catalogue) -> Table:
    from billboards.catalogue._terminal import size_text
    from billboards.show.table import Table, TableColumn

    columns = (
        TableColumn("name", "name", align="left", kind="name"),
        TableColumn("task", "task", align="left"),
        TableColumn("languages", "lang", align="left"),
        TableColumn("judged", "judged"),
        TableColumn("size", "size"),
        TableColumn("verified", "verified", align="left", priority=1),
        TableColumn("licence", "licence", align="left"),
        TableColumn("title", "title", align="left", priority=2),
    )
    rows = tuple(
        {
            **_document(entry),
            "languages": " ".join(entry.languages),
            "size": size_text(entry.size),
            "verified": "yes" if entry.is_verified else "no",
        }
        for entry in catalogue
    )
    return Table("public boards: `billboards get NAME` (judged: how many outputs)", columns, rows, name="boards")


def _document(entry: Entry) -> dict[str, object]:
    from billboards.catalogue import import_command

    return {
        "name": entry.name,
        "title": entry.title,
        "task": entry.task,
        "languages": list(entry.languages),
        "judged": entry.judged,
        "size": entry.size,
        "verified": entry.is_verified,
        "licence": entry.licence,
        "citation": entry.citation,
        "remark": entry.remark,
        "import": import_command(entry),
        "sources": [
            {
                "repository": source.repository,
                "commit": source.commit,
                "url": source.url,
                "licence": source.licence,
                "files": len(source.files),
                "patterns": list(source.patterns),
            }
            for source in entry.sources
        ],
    }
