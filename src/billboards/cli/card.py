"""Print a board's data card: what its owner states, and everything about the data that can be counted.

    billboards card BOARD
    billboards card BOARD --markdown > CARD.md
    billboards card BOARD --html > card.html

Facts that nobody stated are named at the end; write them into board.toml.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from billboards.cli import options


def add_arguments(parser: ArgumentParser) -> None:
    options.add_board(parser)
    group = parser.add_mutually_exclusive_group()
    for name, words in (("json", "JSON"), ("markdown", "a Markdown page"), ("html", "one self-contained HTML page")):
        group.add_argument(f"--{name}", dest="format", action="store_const", const=name, help=f"print {words}")
    parser.add_argument("--wide", action="store_true", help="show every column, however wide the terminal is")
    parser.set_defaults(format="terminal")


def run(arguments: Namespace) -> int:
    from billboards.analyses.card_tables import card_html, card_markdown
    from billboards.api.boards import card
    from billboards.board.folder import open_board
    from billboards.cli.output import note, show

    found = card(open_board(arguments.board))
    if arguments.format in ("markdown", "html"):
        print((card_markdown if arguments.format == "markdown" else card_html)(found.value), end="")
    else:
        show(arguments, found)
    if found.value.missing:
        note(f"not stated: {', '.join(found.value.missing)}; `billboards check` says where each belongs")
    return 0
