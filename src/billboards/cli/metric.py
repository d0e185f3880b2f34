"""Report on one metric over several boards: `billboards metric report ROUGE-1 --suite suite.toml`.

Where does it agree with people, which metrics beat it, how firm is its place, does it overrate machines, how fast is
it, and on which outputs does it fail worst? NAME is a metric, or a Python file with score(outputs, references, inputs).
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from billboards.cli import options

if TYPE_CHECKING:
    from billboards.analyses.suite.open import OpenSuite


def add_arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    report = actions.add_parser("report", help="one page about one metric: where it works, where it fails, how fast")
    report.add_argument("name", metavar="NAME", help="the metric, options in brackets, or a Python file of your own")
    report.add_argument("boards", type=Path, nargs="*", metavar="BOARD", help="board folders, without a suite")
    report.add_argument("--suite", type=Path, metavar="SUITE", help="the suite's file")
    options.add_metrics(report)
    report.add_argument("--html", type=Path, metavar="FILE", help="also write one self-contained page")
    report.add_argument(
        "--failures", type=options.positive, default=3, metavar="N", help="outputs of each kind and board (default 3)"
    )
    report.add_argument(
        "--draws", type=options.positive, default=1000, metavar="N", help="draws of tests and intervals (default 1000)"
    )
    options.add_yardsticks(report)
    report.add_argument(
        "--preferences",
        choices=("apart", "mixed"),
        help="whether preferences stay apart from the mean of correlations, or count there (default apart)",
    )
    report.add_argument(
        "--imported",
        choices=("yes", "no"),
        default="yes",
        help="compare with columns that came with boards, too, as rank does (default yes)",
    )
    report.add_argument("--audit", action="store_true", help="audit the metric on every board, too")
    report.add_argument("--challenge", action="store_true", help="challenge it with spoilt texts on every board, too")
    options.add_sides(report)
    options.add_seed(report)
    options.add_jobs(report)
    options.add_format(report)


def run(arguments: Namespace) -> int:
    from billboards.analyses.suite.report_tables import metric_report_html
    from billboards.cli.output import note, show
    from billboards.cli.progress import scoring_progress
    from billboards.saving import save_file

    suite = _suite(arguments).measured(
        arguments.preset,
        arguments.statistic,
        grouping=arguments.grouping,
        ties=arguments.ties,
        preferences=arguments.preferences,
    )
    with scoring_progress() as watch:
        result = suite.report_metric(
            arguments.name,
            metrics=arguments.metric,
            jobs=arguments.jobs,
            draws=arguments.draws,
            sides=arguments.sides,
            seed=arguments.seed,
            shown=arguments.failures,
            imported=arguments.imported == "yes",
            audit=arguments.audit,
            challenge=arguments.challenge,
            on_progress=watch,
        )
    for sentence in result.words:
        note(sentence)
    if arguments.html is not None:
        note(f"wrote {save_file(arguments.html, metric_report_html(result.value))}")
    return show(arguments, result)


def _suite(arguments: Namespace) -> OpenSuite:
    from billboards.analyses.suite.open import open_suite, suite_of
    from billboards.errors import InvalidInput

    if (arguments.suite is None) == (not arguments.boards):
        raise InvalidInput("name board folders, or a suite with --suite, not both")
    return open_suite(arguments.suite) if arguments.suite is not None else suite_of(arguments.boards)
