"""Build the demo board, score it, rank it, and write and open its report.

The board is small and illustrative: imaginary bulletins, eight little programs that write them, one human writer.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from billboards.cli import options


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("-o", "--out", type=Path, default=Path("demo-board"), metavar="DIR", help="default: demo-board")
    parser.add_argument("--no-open", action="store_true", help="don't open the report in a browser")
    options.add_jobs(parser)


def run(arguments: Namespace) -> int:
    from billboards.boards.writing import write_board
    from billboards.cli.main import main
    from billboards.cli.output import note
    from billboards.demo.build import build_board

    if not (arguments.out / "board.toml").exists():
        write_board(build_board(), arguments.out)
        note(f"wrote the demo board to {arguments.out}")
    where, jobs = str(arguments.out), ["--jobs", str(arguments.jobs)]
    shown = [] if arguments.no_open else ["--open"]
    for command in (["score", where, *jobs], ["rank", where], ["report", where, *jobs, *shown]):
        code = main(command)
        if code:
            return code
    return 0
