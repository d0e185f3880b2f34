"""Move a site's state to another database: from SQLite to PostgreSQL, or back.

billboards migrate-data DATA --to postgresql://user@host/name
billboards migrate-data DATA --to sqlite                        back into DATA/site.sqlite

The site must be stopped and the target empty. Every row is counted and hashed on both sides; whatever goes wrong,
nothing is left in the target and the same command can be given again. The old database stays as it is.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from billboards.cli import options


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("data", type=Path, metavar="DATA", help="the site's data folder")
    parser.add_argument(
        "--to", required=True, metavar="ADDRESS", help="an empty database: postgresql://user@host/name, or sqlite"
    )
    options.add_format(parser)


def run(arguments: Namespace) -> int:
    from billboards.cli.output import emit, note
    from billboards.cli.progress import row_progress
    from billboards.cli.site_tables import tallies_table
    from billboards.show.table import records
    from billboards.site.admin.moves import move_site

    with row_progress() as tell:
        moved, address = move_site(arguments.data, arguments.to, tell)
    table = tallies_table(moved)
    emit(arguments, [table], lambda: {"kind": "moved data", "tables": records(table)})
    note(
        f'moved; now put `database = "{address}"` into {arguments.data / "site.toml"}, or set BILLBOARDS_DATABASE, '
        "and start the site again"
    )
    return 0
