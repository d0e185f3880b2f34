"""Options that several commands share, and what they mean."""

from __future__ import annotations

import os
import shlex
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from billboards.board import Board, ReferenceSet, Slice
    from billboards.run.dask_cluster import Cluster


#: The data folder of a site where none is named.
SITE = Path("billboards-site")


def add_board(parser: ArgumentParser) -> None:
    parser.add_argument("board", type=Path, metavar="BOARD", help="the board folder")


def add_sides(parser: ArgumentParser) -> None:
    """What tests between metrics ask."""
    parser.add_argument(
        "--sides",
        choices=("two", "one"),
        default="two",
        help="tests ask whether two metrics differ (default), or whether the better one is better",
    )


def add_yardsticks(parser: ArgumentParser) -> None:
    """By what metrics are held against people."""
    from billboards.stats.grouped import GROUPINGS
    from billboards.stats.preferences import TIES
    from billboards.stats.yardsticks import PRESETS, STATISTICS

    parser.add_argument("--preset", choices=tuple(PRESETS), help="measure as a community reports")
    parser.add_argument(
        "--statistic",
        action="append",
        default=[],
        metavar="NAME",
        help=f"what to measure by (default pearson): {', '.join(STATISTICS)}; /GROUPING behind it says how outputs are "
        "grouped, as in spearman/by-item; may be repeated",
    )
    parser.add_argument(
        "--grouping", choices=GROUPINGS, help="how outputs are grouped (default: the statistic's usual)"
    )
    parser.add_argument(
        "--ties",
        choices=TIES,
        help="how to count pairs that people compared and that a metric scores alike (default wrong)",
    )


def add_data(parser: ArgumentParser) -> None:
    """The site that a command speaks of."""
    parser.add_argument(
        "--data",
        type=Path,
        default=SITE,
        metavar="DATA",
        help="the site's data folder (default billboards-site)",
    )


def check_site(data: Path) -> None:
    """A command about a site that isn't there must not make an empty one."""
    from billboards.errors import InvalidInput

    if not data.is_dir():
        raise InvalidInput(
            f"{data}: there is no such site; name its data folder, or make one with `billboards serve {data}`"
        )


def with_site(command: str, data: Path) -> str:
    """A command to give next, about the same site."""
    return f"`{command}`" if data == SITE else f"`{command} --data {shlex.quote(str(data))}`"


#: Files that somebody may want tables in, and that none are written as.
OTHER_FILES = (".docx", ".ods", ".parquet", ".pdf", ".png", ".svg", ".tsv", ".xls", ".xlsx")


def place_of_tables(text: str) -> Path:
    """A file of a known kind, or a folder; a name that ends as another kind of file would become a folder unnoticed."""
    path = Path(text)
    if path.suffix.lower() in OTHER_FILES and not path.is_dir():
        raise ArgumentTypeError(
            f"{text}: tables are written as .tex, .md, .html, .csv, .json or .txt, or into a folder; figures by --chart"
        )
    return path


def add_format(parser: ArgumentParser, *, out: bool = True, arranging: bool = True) -> None:
    """How results are written: tables for people by default.

    out: whether -o may name files for the tables; not where a command has another use for it
    arranging: whether rows, columns and what stands out may be chosen
    """
    from billboards.cli._arguments import add_options

    group = parser.add_mutually_exclusive_group()
    group.add_argument("--json", dest="format", action="store_const", const="json", help="print JSON")
    group.add_argument("--csv", dest="format", action="store_const", const="csv", help="print CSV")
    group.add_argument("--latex", dest="format", action="store_const", const="latex", help="print LaTeX (booktabs)")
    group.add_argument("--markdown", dest="format", action="store_const", const="markdown", help="print Markdown")
    add_shown(parser)
    if out:
        parser.add_argument(
            "-o",
            "--out",
            dest="tables_out",
            type=place_of_tables,
            metavar="PATH",
            help="write tables there: FILE.tex, .md, .html, .csv, .json or .txt, or a folder with one file per table",
        )
    if arranging:
        from billboards.show.arranging import ARRANGING
        from billboards.show.latex import LATEX

        add_options(parser.add_argument_group("tables for papers"), (*ARRANGING, *LATEX))


def add_json(parser: ArgumentParser) -> None:
    """For results that are no table: plain lines for people, or one document for programs."""
    parser.add_argument("--json", action="store_true", help="print JSON")


def add_shown(parser: ArgumentParser) -> None:
    """How much of the tables is written."""
    parser.add_argument("--wide", action="store_true", help="show every column, however wide the terminal is")
    parser.add_argument("--table", metavar="NAME", help="print this table only, by its name or number (CSV: the first)")
    parser.set_defaults(format="terminal")


def add_view(parser: ArgumentParser) -> None:
    """Which judgments and which part of the board are looked at."""
    add_aggregate(parser)
    add_part(parser)


def add_aggregate(parser: ArgumentParser) -> None:
    """Which judgments are looked at."""
    parser.add_argument(
        "--aggregate", metavar="NAME", help="the aggregate or dimension of judgments to rank by (default: the board's)"
    )


def add_part(parser: ArgumentParser) -> None:
    """Which part of the board is looked at."""
    parser.add_argument("--domain", help="only the instances of this domain")
    parser.add_argument("--document", help="only the instances of this document")
    parser.add_argument("--tag", help="only the instances with this tag")


def add_ensemble(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--k", type=positive, default=3, metavar="N", help="tune lambda so that N metrics take part (default 3)"
    )
    parser.add_argument(
        "--lambda", dest="lam", type=non_negative, metavar="X", help="use this lambda (scikit-learn's alpha) instead"
    )
    parser.add_argument(
        "--ensemble",
        metavar="FAMILY",
        default="auto",
        help="auto, lasso (the paper's), best-subset, ridge, boosting or stacking; auto: lasso, unless one is better",
    )


def add_metrics(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--metric",
        action="append",
        metavar="NAME",
        help="a metric, options in brackets as in 'chrF(beta=1)', a part as in 'ROUGE-L[recall]', pack:NAME, "
        "evaluate:NAME, or a Python file of your own; may be repeated (default: the board's)",
    )


def add_jobs(parser: ArgumentParser) -> None:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    parser.add_argument(
        "--jobs", type=positive, default=cores, metavar="N", help=f"processes to use (default {cores}, one per core)"
    )


def add_engine(parser: ArgumentParser) -> None:
    """Where metrics run: on this machine, or on a cluster that somebody has started."""
    parser.add_argument(
        "--engine", choices=("local", "dask"), default="local", help="this machine (default), or a Dask cluster"
    )
    parser.add_argument("--address", metavar="URL", help="the address of the cluster's scheduler: tcp://HOST:8786")
    parser.add_argument(
        "--resources",
        type=resources,
        default={},
        metavar="GPU=1",
        help="what metrics on a neural network ask of a cluster's worker (default GPU=1; GPU=0 asks for none)",
    )


def resources(text: str) -> dict[str, float]:
    """Amounts by name, from `GPU=1,DISK=0`."""
    parts = [part.partition("=") for part in text.split(",")]
    try:
        return {name.strip(): non_negative(amount) for name, _, amount in parts if name.strip() or amount}
    except ArgumentTypeError as error:
        raise ArgumentTypeError(f"{text!r} must be NAME=AMOUNT, as in GPU=1: {error}") from error


@contextmanager
def chosen_cluster(arguments: Namespace) -> Iterator[Cluster | None]:
    """The cluster asked for, connected; None where metrics run on this machine."""
    from billboards.errors import InvalidInput

    if (arguments.engine == "dask") != (arguments.address is not None):
        raise InvalidInput("--engine dask and --address go together: --engine dask --address tcp://HOST:8786")
    if arguments.engine == "local":
        yield None
        return
    from billboards.run.dask_cluster import Cluster

    with Cluster(arguments.address, resources=arguments.resources) as cluster:
        yield cluster


def add_seed(parser: ArgumentParser) -> None:
    parser.add_argument("--seed", type=none_or_more, default=0, metavar="N", help="seed of what is random (default 0)")


def positive(text: str) -> int:
    from billboards.reading import whole_number

    if not (number := whole_number(text)):
        raise ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return number


def none_or_more(text: str) -> int:
    from billboards.reading import whole_number

    if (number := whole_number(text)) is None:
        raise ArgumentTypeError(f"{text!r} is not a whole number of 0 or more")
    return number


def port(text: str) -> int:
    from billboards.reading import whole_number

    if (number := whole_number(text)) is None or number > 65535:
        raise ArgumentTypeError(f"{text!r} is no port; choose a number from 0 to 65535")
    return number


def non_negative(text: str) -> float:
    from billboards.reading import decimal_number

    if (number := decimal_number(text)) is None or number < 0:
        raise ArgumentTypeError(f"{text!r} is not a number of 0 or more")
    return number


def chosen_slice(arguments: Namespace) -> Slice:
    from billboards.board import Slice

    return Slice(domain=arguments.domain, document=arguments.document, tag=arguments.tag)


def chosen_references(board: Board, text: str | None) -> ReferenceSet | None:
    """A reference set from `A,B`; None means the default."""
    return None if text is None else board.check_references(name.strip() for name in text.split(","))
