"""Compute a board's scores and its ranking again, check what its site signed, and say what is equal and what differs.

billboards verify BOARD                                   a board folder, or a board.zip
billboards verify https://HOST/boards/NAME --key KEY      a board on a site, and the site's public key
billboards verify signed-ranking.json --key KEY           a ranking that somebody quotes, proven alone
billboards verify DATA                                    a site's data folder: every file that is missing or damaged

Imported scores, submitted programs (but with --programs) and whatever rests on hidden texts or judgments can't be
computed here; each is named with the reason. Exit code 0: nothing differs; 1: something does; 2: it can't be read.
A site that asks for a log-in is given the token in the environment variable BILLBOARDS_TOKEN.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from pathlib import Path

from billboards.cli import options

TOKEN = "BILLBOARDS_TOKEN"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "board",
        type=_place,
        metavar="BOARD_OR_URL",
        help="a board folder, a board.zip, a board's address on a site, a signed ranking's JSON file, or a site's DATA",
    )
    parser.add_argument(
        "--metric",
        action="append",
        metavar="NAME",
        help="compute only the scores of this metric again; may be repeated (default: all)",
    )
    parser.add_argument(
        "--sample",
        type=options.positive,
        metavar="N",
        help="compute N instances of each generator, where a metric scores outputs one by one (default: all)",
    )
    options.add_seed(parser)
    parser.add_argument(
        "--tolerance",
        type=options.non_negative,
        default=0.0,
        metavar="X",
        help="call relative differences of scores up to X close, and let them pass (default 0: bit for bit)",
    )
    parser.add_argument(
        "--ranking",
        type=_quote,
        metavar="ID_OR_FILE",
        help="the ranking to compute again: its id, number or digest, or a JSON file (default: the latest)",
    )
    parser.add_argument(
        "--key",
        type=_key,
        metavar="FILE_OR_HEX",
        help="the site's public key, as 64 hexadecimal digits or a file: it must have signed the ranking",
    )
    parser.add_argument("--programs", action="store_true", help="run submitted metrics' programs of the download")
    options.add_jobs(parser)
    options.add_format(parser)


def _place(text: str) -> Path | str:
    """A file or folder, or as it stands the address of a board."""
    return text if text.startswith(("http://", "https://")) else Path(text)


def _key(text: str) -> Path | str:
    """A key by its digits, or else a file."""
    return text if len(text) == 64 and set(text) <= set("0123456789abcdef") else Path(text)


def _quote(text: str) -> Path | str:
    return Path(text) if text.endswith(".json") else text


def is_site(place: Path | str) -> bool:
    """Whether a place is the data folder of a site, and no board."""
    if isinstance(place, str) or not place.is_dir() or (place / "board.toml").exists():
        return False
    return any((place / name).exists() for name in ("site.sqlite", "site.toml", "boards", "blobs"))


def _verify_site(arguments: Namespace) -> int:
    from contextlib import closing

    from billboards.cli.output import emit, note
    from billboards.cli.site_tables import lost_table
    from billboards.show.table import records
    from billboards.site.admin.operations import verify_files
    from billboards.site.site import open_site

    with closing(open_site(arguments.board)) as site:
        verified = verify_files(site)
    table = lost_table(str(arguments.board), verified)
    counts = {"files": verified.files, "boards": verified.boards}
    emit(arguments, [table], lambda: {"kind": "verified site", **counts, "lost": records(table)})
    if verified.lost:
        note("restore what is missing from a backup: `billboards restore` makes a folder to copy files from")
    return 1 if verified.lost else 0


def run(arguments: Namespace) -> int:
    if is_site(arguments.board):
        return _verify_site(arguments)
    from billboards.api.claims import verify
    from billboards.cli.output import note, show
    from billboards.cli.progress import scoring_progress

    with scoring_progress() as tell:
        result = verify(
            arguments.board,
            metrics=arguments.metric,
            sample=arguments.sample,
            seed=arguments.seed,
            tolerance=arguments.tolerance,
            ranking=arguments.ranking,
            key=arguments.key,
            programs=arguments.programs,
            jobs=arguments.jobs,
            token=os.environ.get(TOKEN),
            on_progress=tell,
        )
    show(arguments, result)
    for words in (*result.notes, *result.words):
        note(words)
    return 1 if result.value.differs else 0
