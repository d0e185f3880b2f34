"""Mix the generators into thousands of hybrid systems: which metric orders them as people do, which picks the best?

billboards hybrids BOARD
billboards hybrids BOARD --parents all --sample 100
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from billboards.cli import options


def add_arguments(parser: ArgumentParser) -> None:
    options.add_board(parser)
    options.add_view(parser)
    parser.add_argument(
        "--mixtures", type=options.positive, default=10_000, metavar="N", help="hybrids to draw (default 10000)"
    )
    parser.add_argument(
        "--parents",
        type=_parents,
        default=2,
        metavar="N",
        help="generators that a hybrid mixes, drawn for it (default 2), or `all`",
    )
    parser.add_argument(
        "--sample", type=options.positive, default=100, metavar="N", help="hybrids to choose among (default 100)"
    )
    options.add_seed(parser)
    options.add_format(parser)


def _parents(text: str) -> int | None:
    return None if text == "all" else options.positive(text)


def run(arguments: Namespace) -> int:
    from billboards.api.studies import hybrids
    from billboards.board.folder import open_board
    from billboards.cli.output import show

    how = options.chosen_view(arguments, "mixtures", "parents", "sample", "seed")
    return show(arguments, hybrids(open_board(arguments.board), **how))
