"""Delete what a site keeps longer than its owner says: by [retention] in site.toml, and log-ins that have expired.

billboards tidy DATA                says what would go, kind by kind
billboards tidy DATA --confirm      deletes it

    # DATA/site.toml
    [retention]
    log_days = 90
    ranking_days = 365

What has no setting is kept for ever. The scores, ensembles and last ranking of a board never go. A running site tidies
itself once a day. Backups are not changed.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from billboards.cli import options


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("data", type=Path, metavar="DATA", help="the site's data folder")
    parser.add_argument("--confirm", action="store_true", help="yes, delete it; there is no way back")
    options.add_format(parser)


def run(arguments: Namespace) -> int:
    from contextlib import closing
    from getpass import getuser

    from billboards.cli.output import emit, note
    from billboards.cli.site_tables import tidied_table
    from billboards.show.table import records
    from billboards.site.admin.expiry import plan_tidying, tidy
    from billboards.site.site import open_site

    options.check_site(arguments.data)
    with closing(open_site(arguments.data)) as site:
        tidied = tidy(site, actor=f"{getuser()} at the command line") if arguments.confirm else plan_tidying(site)
    table = tidied_table(str(arguments.data), tidied)
    document = {"kind": "tidied", "done": tidied.done, "kinds": records(table), "notes": list(tidied.notes)}
    emit(arguments, [table], lambda: document)
    if not tidied.done:
        note("nothing was deleted; add --confirm to do it")
    return 0
