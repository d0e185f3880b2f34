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
    words = {"json": "JSON", "csv": "CSV", "latex": "LaTeX (booktabs)", "markdown": "a Markdown page"}
    for name, text in (words | {"html": "one self-contained HTML page"}).items():
        group.add_argument(f"--{name}", dest="format", action="store_const", const=name, help=f"print {text}")
    options.add_shown(parser)


def run(arguments: Namespace) -> int:
    from billboards.analyses.card import card, card_html, card_markdown
    from billboards.cli import _analyses
    from billboards.cli.output import note

    result = _analyses.answer(arguments, card)
    if arguments.format not in ("markdown", "html"):
        _analyses.show(arguments, result)
        return 0
    print((card_markdown if arguments.format == "markdown" else card_html)(result.value), end="")
    for text in result.notes:
        note(text)
    return 0
