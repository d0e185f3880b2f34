"""Bring judgments from other tools' files to a board, or write a board's judgments for them.

    billboards judgments add BOARD project.json --format label-studio --campaign pilot -o OUT
    billboards judgments write BOARD --format csv -o judgments.csv

Annotators' names leave only as pseudonyms; with --key they stay the same from one file to the next.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from billboards.cli import options
from billboards.formats import FORMATS


def add_arguments(parser: ArgumentParser) -> None:
    kinds = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    add = kinds.add_parser("add", help="a board with the judgments of a file, as a new board folder")
    options.add_board(add)
    add.add_argument("file", type=Path, metavar="FILE", help="the file to read")
    _add_format(add)
    add.add_argument("--campaign", required=True, metavar="NAME", help="the name these judgments go by on the board")
    add.add_argument("-o", "--out", type=Path, required=True, metavar="OUT", help="the board folder to write")
    add.add_argument("--force", action="store_true", help="replace OUT if it exists")
    write = kinds.add_parser("write", help="a board's judgments as a file")
    options.add_board(write)
    _add_format(write)
    write.add_argument("--campaign", action="append", default=[], metavar="NAME", help="only this one; may be repeated")
    write.add_argument("--tests", action="store_true", help="test questions too")
    write.add_argument("--key", metavar="TEXT", help="make pseudonyms from this secret (default: another each time)")
    write.add_argument("-o", "--out", type=Path, metavar="FILE", help="the file to write (default: print it)")


def _add_format(parser: ArgumentParser) -> None:
    summaries = "; ".join(f"{name}: {FORMATS.summary(name)}" for name in FORMATS)
    parser.add_argument("--format", required=True, choices=tuple(FORMATS), help=summaries.replace("%", "%%"))


def run(arguments: Namespace) -> int:
    return _add(arguments) if arguments.action == "add" else _write(arguments)


def _add(arguments: Namespace) -> int:
    from billboards.board.folder import open_board
    from billboards.board.writing import write_board
    from billboards.cli.output import note
    from billboards.formats import add_file

    imported = add_file(open_board(arguments.board), arguments.file, arguments.format, arguments.campaign)
    for text in imported.notes:
        note(f"note: {text}")
    note(f"wrote {write_board(imported.board, arguments.out, replace=arguments.force)}")
    return 0


def _write(arguments: Namespace) -> int:
    from billboards.board.folder import open_board
    from billboards.cli.output import note
    from billboards.formats import judgments_as_text
    from billboards.saving import save_file

    board = open_board(arguments.board)
    text = judgments_as_text(
        board, arguments.format, campaigns=arguments.campaign, key=arguments.key, tests=arguments.tests
    )
    if arguments.out is None:
        print(text, end="")
    else:
        note(f"wrote {save_file(arguments.out, text)}")
    return 0
