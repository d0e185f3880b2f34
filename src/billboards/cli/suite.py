"""Judge the same metrics on several boards: `billboards suite run suite.toml`.

A suite is a TOML file that names boards, their dimensions and what counts as correctness. `run` computes the scores
that are missing on any board and writes both tables and one ranking over all boards; stopped with Ctrl-C, the same
command goes on from there. `--add my_metric.py` judges a metric of your own beside the suite's.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from billboards.cli import options

if TYPE_CHECKING:
    from billboards.analyses.suite.open import OpenSuite


def add_arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    _add_new(actions.add_parser("new", help="write a suite's file for some board folders"))
    _add_run(actions.add_parser("run", help="compute what is missing, then show both tables and the ranking"))
    _add_tables(actions.add_parser("tables", help="show both tables from the scores that there are"))
    _add_rank(actions.add_parser("rank", help="rank metrics over all boards, with clusters"))
    _add_people(actions.add_parser("people", help="rank each board's generators by what people said"))
    _add_advise(actions.add_parser("advise", help="which metric to use for a task and a language"))


def _add_new(parser: ArgumentParser) -> None:
    parser.add_argument("suite", type=Path, metavar="FILE", help="the file to write, as in suite.toml")
    parser.add_argument("boards", type=Path, nargs="+", metavar="BOARD", help="a board folder")


def _add_run(parser: ArgumentParser) -> None:
    _add_judged(parser)
    _add_measured(parser)
    parser.add_argument("--html", type=Path, metavar="FILE", help="also write one self-contained page")
    options.add_jobs(parser)
    options.add_sides(parser)
    _add_shown(parser)


def _add_tables(parser: ArgumentParser) -> None:
    _add_judged(parser)
    _add_measured(parser)
    _add_views(parser)
    _add_shown(parser)


def _add_rank(parser: ArgumentParser) -> None:
    _add_judged(parser)
    _add_measured(parser)
    _add_views(parser)
    parser.add_argument(
        "--role", choices=("correctness", "other"), default="correctness", help="which table (default correctness)"
    )
    parser.add_argument(
        "--block", choices=("all", "one", "none"), default="all", help="with which references (default all)"
    )
    _add_draws(parser)
    options.add_sides(parser)
    options.add_format(parser)


def _add_people(parser: ArgumentParser) -> None:
    parser.add_argument("suite", type=Path, metavar="SUITE", help="the suite's file")
    _add_draws(parser)
    options.add_sides(parser)
    options.add_format(parser)


def _add_advise(parser: ArgumentParser) -> None:
    _add_judged(parser)
    parser.add_argument("--task", metavar="TASK", help="what outputs are for, as in summarization (default: any)")
    parser.add_argument("--language", metavar="LANGUAGE", help="the outputs' language, as in de (default: any)")
    parser.add_argument("--references", choices=("yes", "no"), default="yes", help="whether there are references")
    parser.add_argument(
        "--cost",
        choices=("instant", "slow", "gpu", "paid"),
        help="the most that a metric may take to run (default: any)",
    )
    parser.add_argument(
        "--board", metavar="LABEL", help="a board of the suite instead: what was measured there counts, too"
    )
    _add_draws(parser)
    options.add_format(parser)


def _add_judged(parser: ArgumentParser) -> None:
    parser.add_argument("suite", type=Path, metavar="SUITE", help="the suite's file")
    options.add_metrics(parser)
    parser.add_argument(
        "--add",
        action="append",
        default=[],
        metavar="NAME",
        help="a metric beside the suite's, named as after --metric, such as a Python file; may be repeated",
    )


def _add_shown(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--show", choices=("values", "p", "intervals"), default="values", help="values, p-values or 95%% intervals"
    )
    _add_draws(parser)
    options.add_format(parser)


def _add_measured(parser: ArgumentParser) -> None:
    options.add_yardsticks(parser)
    parser.add_argument(
        "--preferences",
        choices=("apart", "mixed"),
        help="whether preferences stay apart from means of correlations, or count there (default apart)",
    )
    parser.add_argument(
        "--languages",
        choices=("one", "columns"),
        help="boards of one group, such as languages: one column together, or columns of their own (default one)",
    )


def _add_views(parser: ArgumentParser) -> None:
    parser.add_argument("--task", metavar="TASK", help="only boards of this task")
    parser.add_argument("--language", metavar="LANGUAGE", help="only boards whose outputs are in this language")
    parser.add_argument("--dimension", metavar="NAME", help="only this dimension of the boards that have it")


def _add_draws(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--draws", type=options.positive, default=1000, metavar="N", help="draws of tests and intervals (default 1000)"
    )
    options.add_seed(parser)


def run(arguments: Namespace) -> int:
    actions = {"new": _new, "run": _run, "tables": _tables, "rank": _rank, "people": _people, "advise": _advise}
    return actions[arguments.action](arguments)


def _new(arguments: Namespace) -> int:
    from billboards.analyses.suite.writing import write_suite
    from billboards.cli.output import note

    note(f"wrote {write_suite(arguments.suite, arguments.boards)}; check what counts as correctness, then run it")
    return 0


def _opened(arguments: Namespace) -> OpenSuite:
    from billboards.analyses.suite.open import open_suite

    return open_suite(arguments.suite)


def _judged(arguments: Namespace) -> OpenSuite:
    return _opened(arguments).judging(arguments.metric, arguments.add)


def _measured(arguments: Namespace) -> OpenSuite:
    return _judged(arguments).measured(
        arguments.preset,
        arguments.statistic,
        grouping=arguments.grouping,
        ties=arguments.ties,
        preferences=arguments.preferences,
        languages=arguments.languages,
    )


def _viewed(arguments: Namespace) -> OpenSuite:
    return _measured(arguments).only(task=arguments.task, language=arguments.language, dimension=arguments.dimension)


def _how(arguments: Namespace) -> dict[str, Any]:
    return {"draws": arguments.draws, "seed": arguments.seed}


def _run(arguments: Namespace) -> int:
    from billboards.analyses.suite.page import suite_html
    from billboards.analyses.suite.shown_tables import suite_ranking_table, suite_tables
    from billboards.cli.output import emit, note
    from billboards.cli.progress import scoring_progress
    from billboards.saving import save_file

    suite = _measured(arguments)
    with scoring_progress() as show:
        result = suite.run(jobs=arguments.jobs, sides=arguments.sides, on_progress=show, **_how(arguments))
    done = result.value
    note(f"{done.scoring.computed} cells computed, {done.scoring.present} were there already")
    tables = suite_tables(done.kept.result, None, arguments.show)
    emit(arguments, (*tables, *map(suite_ranking_table, done.kept.rankings)), lambda: result.document)
    if arguments.html is not None:
        note(f"wrote {save_file(arguments.html, suite_html(done.kept.result, done.kept.rankings))}")
    note(f"kept in {done.path}")
    for name, reason in done.scoring.failures.items():
        note(f"failed: {name}: {reason}")
    return 1 if done.scoring.failures else 0


def _tables(arguments: Namespace) -> int:
    from billboards.cli.output import show
    from billboards.cli.progress import scoring_progress

    with scoring_progress("measuring"):
        tables = _viewed(arguments).tables(None, arguments.show, **_how(arguments))
    return show(arguments, tables)


def _people(arguments: Namespace) -> int:
    from billboards.cli.output import show
    from billboards.cli.progress import scoring_progress

    with scoring_progress("ranking"):
        people = _opened(arguments).people(sides=arguments.sides, **_how(arguments))
    return show(arguments, people)


def _advise(arguments: Namespace) -> int:
    from billboards.cli.output import note, show
    from billboards.cli.progress import scoring_progress

    with scoring_progress("measuring"):
        advice = _judged(arguments).advise(
            arguments.task,
            arguments.language,
            references=arguments.references == "yes",
            cost=arguments.cost,
            board=arguments.board,
            imported=not arguments.metric,
            **_how(arguments),
        )
    for sentence in advice.words:
        note(sentence)
    return show(arguments, advice)


def _rank(arguments: Namespace) -> int:
    from billboards.cli.output import show
    from billboards.cli.progress import scoring_progress

    how = _how(arguments)
    with scoring_progress("ranking"):
        ranking = _viewed(arguments).rank(arguments.role, arguments.block, sides=arguments.sides, **how)
    return show(arguments, ranking)
