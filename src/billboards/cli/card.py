"""Print a board's data card: what its owner states, and everything about the data that can be counted.

    billboards card BOARD
    billboards card BOARD --markdown > CARD.md
    billboards card BOARD --html > card.html

Facts that nobody stated are named at the end: a board that lacks some is a draft, which no site publishes. State them
in a file, with what can be counted already in it, and put it into board.toml:

    billboards card BOARD --template -o facts.toml
    billboards card BOARD --fill facts.toml
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from billboards.cli import options


def add_arguments(parser: ArgumentParser) -> None:
    options.add_board(parser)
    group = parser.add_mutually_exclusive_group()
    words = {"json": "JSON", "csv": "CSV", "latex": "LaTeX (booktabs)", "markdown": "a Markdown page"}
    for name, text in (words | {"html": "one self-contained HTML page"}).items():
        group.add_argument(f"--{name}", dest="format", action="store_const", const=name, help=f"print {text}")
    group.add_argument("--template", action="store_true", help="print the facts as a TOML file to fill in")
    group.add_argument("--fill", type=Path, metavar="FILE", help="put the facts of such a file into board.toml")
    parser.add_argument("-o", "--out", type=Path, metavar="FILE", help="write the template here; FILE must be new")
    options.add_shown(parser)


def run(arguments: Namespace) -> int:
    from billboards.errors import InvalidInput

    if arguments.out is not None and not arguments.template:
        raise InvalidInput("--out goes with --template")
    if arguments.template:
        return _write_template(arguments)
    if arguments.fill is not None:
        return _fill(arguments)
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


def _write_template(arguments: Namespace) -> int:
    import shlex

    from billboards.board.card_template import card_template
    from billboards.board.folder import open_board
    from billboards.cli.output import note
    from billboards.errors import InvalidInput
    from billboards.saving import save_file

    board = open_board(arguments.board)
    template = card_template(board)
    if arguments.out is None:
        print(template, end="")
        return 0
    if arguments.out.exists():
        raise InvalidInput(f"{arguments.out}: exists already, perhaps filled in; name another file")
    save_file(arguments.out, template)
    folder, path = shlex.quote(str(arguments.board)), shlex.quote(str(arguments.out))
    missing = ", ".join(board.missing_facts) or "nothing"
    note(f"wrote {arguments.out}; missing: {missing}. `billboards card {folder} --fill {path}` puts it into the board")
    return 0


def _fill(arguments: Namespace) -> int:
    from billboards.board.card_facts import draft_note, read_facts
    from billboards.board.card_template import fill_card
    from billboards.cli.output import note

    board = fill_card(arguments.board, read_facts([], arguments.fill))
    note(f"wrote {arguments.board / 'board.toml'}")
    note(draft_note(board, str(arguments.board)) or "every fact is stated: the board is no draft")
    return 0
