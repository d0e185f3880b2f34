"""Explain every mistake in a board folder, with file and line, and warn of what looks wrong.

With --recompute, imported scores are compared with own ones wherever the metric is known, and generators whose column
holds something else are named. Exit code 2 when there are mistakes.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from billboards.cli import options
from billboards.errors import MissingPart

if TYPE_CHECKING:
    from billboards.analyses._recompute import Recomputed
    from billboards.errors import Problem
    from billboards.metrics.base import Metric


def add_arguments(parser: ArgumentParser) -> None:
    options.add_board(parser)
    parser.add_argument("--recompute", action="store_true", help="compare imported scores with own ones")
    parser.add_argument(
        "--sample",
        type=options.positive,
        default=50,
        metavar="N",
        help="instances to recompute per generator (default 50)",
    )
    options.add_seed(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: Namespace) -> int:
    from billboards.board.check import check_board

    problems = check_board(arguments.board)
    errors = [problem for problem in problems if problem.severity == "error"]
    recomputed: tuple[Recomputed, ...] = ()
    unknown: tuple[str, ...] = ()
    if arguments.recompute and not errors:
        recomputed, unknown = _recompute(arguments)
    if arguments.json:
        print(json.dumps(_document(problems, recomputed, unknown), indent=1, ensure_ascii=False))
    else:
        _print(problems, recomputed, unknown)
    return 2 if errors else 0


def _recompute(arguments: Namespace) -> tuple[tuple[Recomputed, ...], tuple[str, ...]]:
    from billboards.analyses._recompute import recompute
    from billboards.analyses._recomputed import keep_verdicts
    from billboards.board.folder import open_board
    from billboards.cli.output import note
    from billboards.metrics.discovery import metric, metric_for, metric_names

    board = open_board(arguments.board)
    language = board.output_language

    def usable_metric(name: str) -> Metric | None:
        return made if name in metric_names() and _is_usable(made := metric_for(language, name)) else None

    everything = [*map(metric, metric_names()), metric("METEOR", early_nltk=True)]
    everything += [metric_for(language, name) for name in metric_names()] if language else []
    quick = [candidate for candidate in everything if candidate.card.needs_references and not candidate.card.slow]
    alternatives = list(filter(_is_usable, quick))
    recomputed, unknown = recompute(
        board,
        usable_metric,
        alternatives,
        sample=arguments.sample,
        seed=arguments.seed,
        on_progress=lambda name: note(f"recomputing {name} …"),
    )
    # A site says it beside the column.
    keep_verdicts(board, recomputed)
    return recomputed, unknown


def _is_usable(metric: Metric) -> bool:
    """Whether the programs and data that a metric needs are here."""
    try:
        return bool(metric.signature)
    except MissingPart:
        return False


def _print(problems: list[Problem], recomputed: tuple[Recomputed, ...], unknown: tuple[str, ...]) -> None:
    for problem in problems:
        print(problem)
    for column in recomputed:
        print(_verdict(column))
        for difference in column.different:
            holds = (
                f"holds {difference.holds}"
                if difference.holds
                else f"differs by up to {difference.largest:.2g} (relative)"
            )
            print(f"    {difference.generator}: {holds}")
    if unknown:
        print(f"not recomputed, because no metric of that name is installed: {', '.join(unknown)}")
    errors = sum(problem.severity == "error" for problem in problems)
    print(f"{errors} mistakes, {len(problems) - errors} warnings")


def _verdict(column: Recomputed) -> str:
    generators = len(column.equal) + len(column.different)
    title = column.name if column.name == column.source_name else f"{column.name} ({column.source_name})"
    if not column.different:
        return f"{title}: equal for all {generators} generators ({column.compared} outputs compared)"
    return f"{title}: {len(column.different)} of {generators} generators hold something else than {column.signature}:"


def _document(
    problems: list[Problem], recomputed: tuple[Recomputed, ...], unknown: tuple[str, ...]
) -> dict[str, object]:
    from dataclasses import asdict

    from billboards.show.documents import SCHEMA

    return {
        "schema": SCHEMA,
        "problems": [asdict(problem) for problem in problems],
        "recomputed": [asdict(column) for column in recomputed],
        "not_recomputed": list(unknown),
    }
