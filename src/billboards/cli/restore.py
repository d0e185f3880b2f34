"""Make a site from a backup, in a folder that is new or empty.

billboards restore site-2026-05-01.tar.gz DATA
billboards restore site-2026-05-01.tar.gz DATA --to postgresql://user@host/name

Every file's digest is checked before anything is put in place. A backup of a site on one database can be restored on
the other.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from billboards.cli import options


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="what `billboards backup` wrote")
    parser.add_argument("data", type=Path, metavar="DATA", help="a folder that is new or empty")
    parser.add_argument(
        "--to", default="", metavar="ADDRESS",
        help="an empty database for its state (default BILLBOARDS_DATABASE, else a SQLite file in DATA)",
    )  # fmt: skip
    options.add_format(parser)


def run(arguments: Namespace) -> int:
    from billboards.cli.output import emit, note
    from billboards.cli.progress import scoring_progress
    from billboards.cli.site_tables import content_table
    from billboards.show.table import records
    from billboards.site.admin.backup import restore

    with scoring_progress("reading") as watch:
        content = restore(arguments.file, arguments.data, database=arguments.to, watch=watch)
    table = content_table(f"{arguments.data}: restored from {arguments.file}", content)
    emit(arguments, [table], lambda: {"kind": "restored", **records(table)[0]})
    if arguments.to:
        note(f"put the database's address into {arguments.data / 'site.toml'} (`database = …`) or BILLBOARDS_DATABASE")
    return 0
