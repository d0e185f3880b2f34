"""Delete a submitter's or annotator's data from a site when they ask for it.

billboards forget DATA ann                says what would be deleted
billboards forget DATA ann --confirm      deletes it

Outputs, programs, logs, descriptions, addresses, tokens and real names are deleted. Scores, places in past rankings and
answers stay as numbers under names drawn for them, because published rankings rest on them. Backups are not changed.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from billboards.cli import options


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("data", type=Path, metavar="DATA", help="the site's data folder")
    parser.add_argument("account", metavar="ACCOUNT", help="an account's name, or an annotator's real name")
    parser.add_argument("--confirm", action="store_true", help="yes, delete it; there is no way back")
    options.add_format(parser)


def run(arguments: Namespace) -> int:
    from contextlib import closing
    from getpass import getuser

    from billboards.cli.output import emit, note
    from billboards.cli.site_tables import forgotten_table
    from billboards.show.table import records
    from billboards.site.admin.erasure import forget, plan_forgetting
    from billboards.site.site import open_site

    options.check_site(arguments.data)
    with closing(open_site(arguments.data)) as site:
        if arguments.confirm:
            forgotten = forget(site, arguments.account, actor=f"{getuser()} at the command line")
        else:
            forgotten = plan_forgetting(site, arguments.account)
    table = forgotten_table(forgotten)
    document = {"kind": "forgotten", "done": forgotten.done, "pseudonym": forgotten.pseudonym, "counts": records(table)}
    emit(arguments, [table], lambda: document)
    if not forgotten.done:
        note("nothing was deleted; add --confirm to do it")
    return 0
