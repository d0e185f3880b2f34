"""Find noisy annotators by their test questions, with GENIE's models.

billboards annotators fit counts.csv                verdicts from columns annotator, right, wrong [, kind]
billboards annotators checks scores.csv             verdicts from the BAD items of an Appraise or ESA score file
billboards annotators checks scores.csv --corrupt   … and how well noise that is put in would be found
billboards annotators simulate --rounds 1000        GENIE's Table 1: eight models on annotators known to be noisy
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from billboards.cli import options

if TYPE_CHECKING:
    from billboards.stats.annotators import AnnotatorModel


def add_arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    _add_fit(actions.add_parser("fit", help="verdicts from a table of right and wrong answers"))
    _add_checks(actions.add_parser("checks", help="verdicts from the attention checks of an Appraise score file"))
    _add_simulate(actions.add_parser("simulate", help="GENIE's Table 1: how well models find noisy annotators"))


def _add_fit(parser: ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="CSV, TSV or JSONL: annotator, right, wrong [, kind]")
    _add_model(parser)
    options.add_seed(parser)
    options.add_format(parser)


def _add_checks(parser: ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="a score file of Appraise, with BAD items")
    _add_model(parser)
    parser.add_argument(
        "--corrupt", action="store_true", help="make some annotators noisy, and count how many of them are found"
    )
    parser.add_argument(
        "--share", type=_share, default=0.1, metavar="X", help="how many of them are made noisy (default 0.1)"
    )
    parser.add_argument("--rounds", type=options.positive, default=100, metavar="N", help="how often (default 100)")
    options.add_seed(parser)
    options.add_format(parser)


def _add_simulate(parser: ArgumentParser) -> None:
    parser.add_argument("--rounds", type=options.positive, default=25, metavar="N", help="rounds (default 25)")
    parser.add_argument(
        "--annotators", type=options.positive, default=88, metavar="N", help="made-up annotators a round (default 88)"
    )
    parser.add_argument(
        "--most", type=options.positive, default=100, metavar="N",
        help="their test questions go from 1 to N, evenly on a logarithmic scale (default 100)",
    )  # fmt: skip
    parser.add_argument(
        "--counts", type=Path, metavar="FILE", help="take the numbers of questions from this table of counts instead"
    )
    options.add_seed(parser)
    options.add_format(parser)


def _add_model(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--model", default="class/learned/2", metavar="NAME",
        help="criterion/prior/components: class or rate; learned, fixed, jeffreys or uniform (default class/learned/2)",
    )  # fmt: skip
    parser.add_argument(
        "--threshold", type=_share, default=0.99, metavar="X", help="noisy when likelier than this (default 0.99)"
    )
    parser.add_argument(
        "--accuracy", type=_share, default=0.9, metavar="X", help="what rate models ask for (default 0.9)"
    )


def _share(text: str) -> float:
    from argparse import ArgumentTypeError

    value = options.non_negative(text)
    if not 0 < value < 1:
        raise ArgumentTypeError(f"{text!r} is not between 0 and 1")
    return value


def run(arguments: Namespace) -> int:
    return {"fit": _fit, "checks": _checks, "simulate": _simulate}[arguments.action](arguments)


def _fit(arguments: Namespace) -> int:
    from billboards.analyses._annotators import fit_annotators, mixture_table, verdict_table
    from billboards.cli.output import emit
    from billboards.show.documents import document_of

    report = fit_annotators(arguments.file, _model(arguments))
    emit(arguments, [verdict_table(report), mixture_table(report)], lambda: document_of(report))
    return 0


def _checks(arguments: Namespace) -> int:
    from billboards.analyses._annotators import check_annotators, control_tables
    from billboards.cli.output import emit, note
    from billboards.cli.progress import scoring_progress
    from billboards.show.documents import document_of

    with scoring_progress() as show:
        study = check_annotators(
            arguments.file,
            _model(arguments),
            corrupt=arguments.corrupt,
            share=arguments.share,
            rounds=arguments.rounds,
            seed=arguments.seed,
            tell=show,
        )
    if study.unpaired:
        note(f"{arguments.file}: {study.unpaired} BAD items have no original by the same annotator; they are left out")
    emit(arguments, control_tables(study), lambda: document_of(study))
    return 0


def _simulate(arguments: Namespace) -> int:
    from billboards.analyses._annotators import (
        assumed_questions,
        detection_overview,
        detection_table,
        questions_in,
        simulate_annotators,
    )
    from billboards.cli.output import emit
    from billboards.cli.progress import scoring_progress
    from billboards.show.documents import document_of

    made_up = assumed_questions(arguments.annotators, arguments.most)
    questions = made_up if arguments.counts is None else questions_in(arguments.counts)
    with scoring_progress() as show:
        study = simulate_annotators(rounds=arguments.rounds, seed=arguments.seed, questions=questions, tell=show)
    overview = () if arguments.format == "csv" else (detection_overview(study),)
    emit(arguments, [*overview, detection_table(study)], lambda: document_of(study))
    return 0


def _model(arguments: Namespace) -> AnnotatorModel:
    from billboards.stats.annotators import AnnotatorModel

    return AnnotatorModel.named(
        arguments.model, threshold=arguments.threshold, accuracy=arguments.accuracy, seed=arguments.seed
    )
