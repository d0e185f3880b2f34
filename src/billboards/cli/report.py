"""Write one self-contained HTML page about a board: tables, plots, and how they were made."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from billboards.cli import options


def add_arguments(parser: ArgumentParser) -> None:
    options.add_board(parser)
    parser.add_argument("-o", "--out", type=Path, metavar="FILE", help="the page to write (default: BOARD/report.html)")
    parser.add_argument("--human", metavar="NAME", help="the person to measure overrating with")
    options.add_view(parser)
    options.add_ensemble(parser)
    parser.add_argument("--by", metavar="METRIC", help="rank generators by this metric, or by people")
    options.add_seed(parser)
    parser.add_argument("--no-references", action="store_true", help="leave out the study of the number of references")
    parser.add_argument("--no-studies", action="store_true", help="leave out the sections of all other analyses")
    parser.add_argument(
        "--also",
        action="append",
        default=[],
        metavar="ANALYSIS",
        help="a further analysis, also a slow one; may repeat",
    )
    options.add_jobs(parser)
    parser.add_argument("--open", action="store_true", help="open the page in a browser")


def run(arguments: Namespace) -> int:
    from billboards.analyses._report import report
    from billboards.board.folder import open_board
    from billboards.cli.output import note
    from billboards.cli.progress import scoring_progress

    board = open_board(arguments.board)
    with scoring_progress() as show:
        path = report(
            board,
            arguments.out or arguments.board / "report.html",
            human=arguments.human,
            aggregate=arguments.aggregate,
            part=options.chosen_slice(arguments),
            k=arguments.k,
            lam=arguments.lam,
            method=arguments.ensemble,
            by=arguments.by,
            seed=arguments.seed,
            with_references=not arguments.no_references,
            with_studies=not arguments.no_studies,
            also=arguments.also,
            jobs=arguments.jobs,
            on_progress=show,
        )
    note(f"wrote {path}")
    if arguments.open:
        _open(path)
    return 0


def _open(path: Path) -> None:
    import webbrowser

    webbrowser.open(path.resolve().as_uri())
