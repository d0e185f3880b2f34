"""Write a whole site to one file while it runs: database, submitted files, boards and settings, of one moment.

billboards backup DATA site-2026-05-01.tar.gz

The file holds e-mail addresses, digests of tokens and hidden references: keep it as safe as the site.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from billboards.cli import options


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("data", type=Path, metavar="DATA", help="the site's data folder")
    parser.add_argument("file", type=Path, metavar="FILE", help="a new file, such as site.tar.gz")
    options.add_format(parser)


def run(arguments: Namespace) -> int:
    from contextlib import closing

    from billboards.cli.output import emit
    from billboards.cli.progress import scoring_progress
    from billboards.cli.site_tables import content_table
    from billboards.show.table import records
    from billboards.site.admin.backup import back_up
    from billboards.site.admin.operations import note_backup
    from billboards.site.site import open_site

    options.check_site(arguments.data)
    with closing(open_site(arguments.data)) as site, scoring_progress("writing") as watch:
        content = back_up(site, arguments.file, watch)
        note_backup(site, content.rows)
    table = content_table(f"{arguments.file}: a backup of {arguments.data}", content)
    emit(arguments, [table], lambda: {"kind": "backup", **records(table)[0]})
    return 0
