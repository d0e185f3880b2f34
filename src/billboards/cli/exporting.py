"""Write a board for other tools: in the mt-metrics-eval layout, or as a data set for the Hugging Face hub."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from billboards.cli import options


def add_arguments(parser: ArgumentParser) -> None:
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="KIND")
    mtme = kinds.add_parser("mtme", help="the mt-metrics-eval layout")
    options.add_board(mtme)
    mtme.add_argument("--language-pair", metavar="LP", help="such as en-de (default: the board's languages)")
    mtme.add_argument("-o", "--out", type=Path, required=True, metavar="OUT", help="the folder to write")
    mtme.add_argument("--force", action="store_true", help="replace OUT if it exists")

    hub = kinds.add_parser("hf", help="a data set for the Hugging Face hub: JSON lines and a card")
    options.add_board(hub)
    hub.add_argument("-o", "--out", type=Path, required=True, metavar="OUT", help="the folder to write")
    hub.add_argument("--force", action="store_true", help="replace OUT if it exists")


def run(arguments: Namespace) -> int:
    return {"mtme": _mtme, "hf": _hub}[arguments.kind](arguments)


def _hub(arguments: Namespace) -> int:
    from billboards.analyses._archive import open_home
    from billboards.board.hub import export_to_hub
    from billboards.board.matrix import with_own_scores
    from billboards.cli.output import note
    from billboards.cli.progress import scoring_progress

    home = open_home(arguments.board)
    with scoring_progress("writing"):
        counts = export_to_hub(with_own_scores(home.board, home.cells), arguments.out, replace=arguments.force)
    lines = ", ".join(f"{count:,} {table}" for table, count in counts.items())
    note(f"wrote {arguments.out}: {lines}; `hf upload OWNER/NAME {arguments.out} --repo-type dataset` publishes it")
    return 0


def _mtme(arguments: Namespace) -> int:
    from billboards.analyses._archive import open_home
    from billboards.board.matrix import with_own_scores
    from billboards.cli.output import note
    from billboards.cli.progress import scoring_progress
    from billboards.importers.mtme import export_board

    home = open_home(arguments.board)
    board = with_own_scores(home.board, home.cells)
    with scoring_progress("writing"):
        export_board(board, arguments.out, language_pair=arguments.language_pair, replace=arguments.force)
    compared = sum("others" in detail for detail in board.judgments.details.values())
    if compared:
        note(f"note: the layout has no place for comparisons; {compared} judgments that compare outputs were left out")
    note(f"wrote {arguments.out}")
    return 0
