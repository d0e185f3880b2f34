"""Compute every score that is missing, save each cell when it is done, and say what was done.

What is there already costs nothing. Ctrl-C stops; the same command goes on from there.
"""

from __future__ import annotations

import shlex
import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from billboards.cli import options

if TYPE_CHECKING:
    from billboards.metrics.judges.budget import Attendant


def add_arguments(parser: ArgumentParser) -> None:
    options.add_board(parser)
    options.add_metrics(parser)
    parser.add_argument(
        "--references", metavar="A,B", help="score against these references only (default: the board's)"
    )
    parser.add_argument("--generator", action="append", metavar="NAME", help="only this generator; may be repeated")
    options.add_jobs(parser)
    options.add_engine(parser)


def run(arguments: Namespace) -> int:
    from billboards.analyses._archive import open_home
    from billboards.board.scoring import chosen_metrics, score_board
    from billboards.cli.output import note
    from billboards.cli.progress import scoring_progress
    from billboards.metrics.judges.budget import attended
    from billboards.run.dask import DaskExecutor
    from billboards.run.local import executor

    home = open_home(arguments.board)
    metrics = chosen_metrics(home.board, arguments.metric)
    rows = [home.board.row(name) for name in arguments.generator] if arguments.generator else None
    with options.chosen_cluster(arguments) as cluster, scoring_progress() as show, attended(_attendant()):
        report = score_board(
            home.board,
            home.cells,
            metrics,
            executor(arguments.jobs) if cluster is None else DaskExecutor(cluster),
            references=options.chosen_references(home.board, arguments.references),
            rows=rows,
            counted=True,
            on_progress=show,
        )
    note(f"{report.computed} cells computed, {report.present} were there already")
    unmet = [m.name for m in metrics if m.card.needs_references and not home.board.reference_names]
    if unmet:
        note(f"not scored, because the board has no references: {', '.join(unmet)}")
    for name, (missing, outputs) in report.abstained.items():
        note(f"{name}: no score for {missing:,} of {outputs:,} outputs, from which the metric abstained")
    for name in report.zero:
        note(f"{name} is 0 for every output; `billboards check {arguments.board}` says what may be wrong")
    for name, reason in report.failures.items():
        note(f"failed: {name}: {reason}")
    return 1 if report.failures else 0


def _attendant() -> Attendant:
    """The person at the terminal, who is told what judges will take and may let them pass a cap."""
    from billboards.cli.output import note
    from billboards.metrics.judges.budget import Attendant

    def allow(question: str) -> bool:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            return False
        print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
        return sys.stdin.readline().strip().casefold() in ("y", "yes")

    return Attendant(note, allow, f"billboards {shlex.join(sys.argv[1:])}")
