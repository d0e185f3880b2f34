"""Compare two metrics, or two generators: is the difference real, and which outputs decide it?

billboards compare BOARD COMET BLEU
billboards compare BOARD systemA systemB --by chrF
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from billboards.cli import options


def add_arguments(parser: ArgumentParser) -> None:
    options.add_board(parser)
    parser.add_argument("first", metavar="A", help="a metric or a generator")
    parser.add_argument("second", metavar="B", help="another of the same kind")
    options.add_view(parser)
    parser.add_argument(
        "--by", metavar="SCORE", help="what decides between generators (default: people, else a metric)"
    )
    parser.add_argument("--show", type=options.positive, default=5, metavar="N", help="outputs to show (default 5)")
    parser.add_argument("--draws", type=options.positive, default=1000, metavar="N", help="draws (default 1000)")
    options.add_seed(parser)
    options.add_format(parser)


def run(arguments: Namespace) -> int:
    from billboards import api
    from billboards.cli.output import emit

    result = api.compare(
        api.open(arguments.board),
        arguments.first,
        arguments.second,
        aggregate=arguments.aggregate,
        part=options.chosen_slice(arguments),
        by=arguments.by,
        draws=arguments.draws,
        seed=arguments.seed,
        shown=arguments.show,
    )
    emit(arguments, result.tables, lambda: result.document)
    return 0
