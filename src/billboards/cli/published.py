"""Published tables beside what this package gives: `billboards published beametrics DATA`.

NAME is a publication whose tables come with the package; DATA a folder with the public data behind it, laid out as
their releases are, or as board folders. Each cell is computed again with options of the package, and shown with the
difference; what is further off has its reason. Without DATA the published cells alone are shown.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from billboards.cli import options


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", nargs="?", help="the publication (default: list them)")
    parser.add_argument("data", type=Path, nargs="?", metavar="DATA", help="the folder that holds the public data")
    parser.add_argument(
        "--column", action="append", default=[], metavar="NAME", help="only this column or set; may be repeated"
    )
    parser.add_argument(
        "--learned", action="store_true", help="compute rows of learned metrics, too, whose models must be at hand"
    )
    options.add_format(parser)


def run(arguments: Namespace) -> int:
    from billboards.analyses.published import published, published_names, read_publication
    from billboards.cli.output import note, show

    if arguments.name is None:
        for name in published_names():
            print(f"{name}  {read_publication(name)['title']}")
        return 0
    result = published(arguments.name, arguments.data, columns=arguments.column, learned=arguments.learned)
    for sentence in result.words:
        note(sentence)
    return show(arguments, result)
