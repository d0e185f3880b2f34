"""Explain every mistake in a board folder, with file and line, and warn of what looks wrong.

With --recompute, imported scores are compared with own ones wherever the metric is known, and generators whose column
holds something else are named. Exit code 2 when there are mistakes.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from billboards.analyses._imported_scores import Recomputed
from billboards.cli import options
from billboards.errors import MissingPart, Problem, count_problems

if TYPE_CHECKING:
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
    from billboards.cli.progress import scoring_progress

    with scoring_progress() as watch:
        problems = check_board(arguments.board, watch)
    errors = [problem for problem in problems if problem.severity == "error"]
    comparison = _recompute(arguments) if arguments.recompute and not errors else Comparison()
    if arguments.json:
        print(json.dumps(asdict(_checked(problems, comparison)), indent=1, ensure_ascii=False))
    else:
        _print(problems, comparison)
    return 2 if errors else 0


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Imported columns beside own scores, and the names of those that were not compared."""

    recomputed: tuple[Recomputed, ...] = ()
    #: No metric of that name can run here.
    unknown: tuple[str, ...] = ()
    #: Slow metrics whose scores depend on all outputs, so that a sample says nothing.
    too_slow: tuple[str, ...] = ()


def _recompute(arguments: Namespace) -> Comparison:
    from billboards.analyses._column_verdicts import keep_verdicts
    from billboards.analyses._imported_scores import recompute
    from billboards.board.folder import open_board
    from billboards.cli.progress import scoring_progress
    from billboards.metrics.discovery import metric, metric_for, metric_names

    board = open_board(arguments.board)
    language = board.output_language

    too_slow: set[str] = set()

    def usable_metric(name: str) -> Metric | None:
        if name not in metric_names() or not _is_usable(made := metric_for(language, name)):
            return None
        if made.card.slow and made.needs_all_outputs and arguments.sample < len(board.instances):
            too_slow.add(name)
            return None
        return made

    everything = [*map(metric, metric_names()), metric("METEOR", early_nltk=True)]
    everything += [metric_for(language, name) for name in metric_names()] if language else []
    quick = [candidate for candidate in everything if candidate.card.needs_references and not candidate.card.slow]
    alternatives = list(filter(_is_usable, quick))
    with scoring_progress() as watch:
        recomputed, left_out = recompute(
            board,
            usable_metric,
            alternatives,
            sample=arguments.sample,
            seed=arguments.seed,
            on_progress=watch,
        )
    # A site says it beside the column.
    keep_verdicts(board, recomputed)
    slow = {column.source_name for column in board.imported if column.name in too_slow and not column.is_ensemble}
    return Comparison(
        recomputed=recomputed,
        unknown=tuple(name for name in left_out if name not in slow),
        too_slow=tuple(name for name in left_out if name in slow),
    )


def _is_usable(metric: Metric) -> bool:
    """Whether the programs and data that a metric needs are here."""
    try:
        return bool(metric.signature)
    except MissingPart:
        return False


def _print(problems: list[Problem], comparison: Comparison) -> None:
    for problem in problems:
        print(problem)
    for column in comparison.recomputed:
        print(_verdict(column))
        for difference in column.different:
            holds = (
                f"holds {difference.holds}"
                if difference.holds
                else f"differs by up to {difference.largest:.2g} (relative)"
            )
            print(f"    {difference.generator}: {holds}")
    if comparison.unknown:
        print(f"not recomputed, because no metric of that name is installed: {', '.join(comparison.unknown)}")
    if comparison.too_slow:
        print(
            f"not recomputed, because their scores depend on all outputs and they are slow: "
            f"{', '.join(comparison.too_slow)}; --sample with the number of instances recomputes them"
        )
    errors = [problem for problem in problems if problem.severity == "error"]
    print(f"{count_problems(errors):,} mistakes, {len(problems) - len(errors):,} warnings")


def _verdict(column: Recomputed) -> str:
    generators = len(column.equal) + len(column.different)
    title = column.name if column.name == column.source_name else f"{column.name} ({column.source_name})"
    if not column.different:
        return f"{title}: equal for all {generators} generators ({column.compared} outputs compared)"
    return f"{title}: {len(column.different)} of {generators} generators hold something else than {column.signature}:"


@dataclass(frozen=True, kw_only=True)
class Checked:
    """What `--json` prints: mistakes and doubts, columns that were compared, and those that were not."""

    schema: int
    problems: tuple[Problem, ...]
    recomputed: tuple[Recomputed, ...]
    not_recomputed: tuple[str, ...]


def _checked(problems: list[Problem], comparison: Comparison) -> Checked:
    from billboards.show.documents import SCHEMA

    return Checked(
        schema=SCHEMA,
        problems=tuple(problems),
        recomputed=comparison.recomputed,
        not_recomputed=(*comparison.unknown, *comparison.too_slow),
    )
