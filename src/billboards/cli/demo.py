"""Build the demo board, score it, rank it, write its report, and open the site on it.

The board is SummEval (Fabbri et al., 2021): 16 summarisers of 100 news articles, rated by three experts and five crowd
workers each. The site stays open until Ctrl-C; `--no-site` ends once the report is written, and so does an installation
without the extra `site`, which says how to get it.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from billboards.cli import options


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("-o", "--out", type=Path, default=Path("demo-board"), metavar="DIR", help="default: demo-board")
    parser.add_argument("--site", type=Path, default=Path("demo-site"), metavar="DATA", help="default: demo-site")
    parser.add_argument(
        "--port", type=options.port, default=8000, metavar="N", help="the site's (default 8000; 0: a free one)"
    )
    parser.add_argument("--no-site", action="store_true", help="end with the report; open no site")
    parser.add_argument("--no-open", action="store_true", help="open nothing in a browser")
    options.add_jobs(parser)


def run(arguments: Namespace) -> int:
    from billboards.board.writing import write_board
    from billboards.cli.main import main
    from billboards.cli.output import note
    from billboards.demo import build_board
    from billboards.extras import install_command

    if not (arguments.out / "board.toml").exists():
        write_board(build_board(), arguments.out)
        note(f"wrote the demo board to {arguments.out}")
    if missing := not arguments.no_site and not site_is_installed():
        arguments.no_site = True
    for command in _commands(arguments):
        code = main(command)
        if code:
            return code
    if missing:
        note(f"the demo ends with the report; for the site, too: `{install_command('site')}`, then `billboards demo`")
    return 0


def site_is_installed() -> bool:
    """Whether the packages of the extra `site` are there; none of them is loaded."""
    from importlib.util import find_spec

    from billboards.cli.serve import NEEDED

    return all(find_spec(name) is not None for name in NEEDED)


def _commands(arguments: Namespace) -> list[list[str]]:
    """What a newcomer would type, one after the other."""
    where, jobs = str(arguments.out), ["--jobs", str(arguments.jobs)]
    shown = [] if arguments.no_open else ["--open"]
    crowd_against_experts = ["agreement", where, "crowd", "expert", "--table", "1"]
    looked_at = [["score", where, *jobs], ["rank", where], crowd_against_experts]
    # Hundreds of subsets of nine references take minutes.
    report = ["report", where, "--no-references", *jobs]
    if arguments.no_site:
        return [*looked_at, [*report, *shown]]
    site = ["serve", str(arguments.site), "--board", where, "--port", str(arguments.port), *shown]
    return [*looked_at, report, site]
