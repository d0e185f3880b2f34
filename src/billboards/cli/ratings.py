"""Study people's single ratings, on a board or in any table with one rating per row.

billboards ratings agreement BOARD --by day            alpha, ICC and kappa by dimension; scores by day or campaign
billboards ratings designs BOARD --campaign crowd      GENIE's section 4: which way of asking is steadiest
billboards ratings severity BOARD                      severe, lenient and drifting annotators; corrected means
billboards ratings consensus BOARD                     several labels made one: mean, majority, Dawid-Skene, MACE
billboards ratings doubts BOARD                        ratings that a good metric finds implausible
billboards ratings designs FILE --item id --value rating --annotator worker --dimensions aspect --range 0:100
"""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from billboards.cli import options

if TYPE_CHECKING:
    import altair

    from billboards.analyses.rating_sources import RatingColumns


def add_arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    _add_agreement(actions.add_parser("agreement", help="how far annotators agree, by dimension, day or campaign"))
    _add_designs(actions.add_parser("designs", help="which way of asking gives the steadiest score for the same money"))
    _add_severity(actions.add_parser("severity", help="severity and drift of annotators, and means without them"))
    _add_consensus(actions.add_parser("consensus", help="several labels of an output made one, in four ways"))
    _add_doubts(actions.add_parser("doubts", help="ratings that a metric finds implausible, for a second look"))


def run(arguments: Namespace) -> int:
    actions: dict[str, Callable[[Namespace], None]] = {
        "agreement": _agreement,
        "designs": _designs,
        "severity": _severity,
        "consensus": _consensus,
        "doubts": _doubts,
    }
    actions[arguments.action](arguments)
    return 0


def _add_agreement(parser: ArgumentParser) -> None:
    _add_source(parser)
    parser.add_argument(
        "--scale",
        choices=("nominal", "ordinal", "interval", "ratio"),
        default="interval",
        help="what differences between values mean to alpha (default interval)",
    )
    parser.add_argument(
        "--weights", choices=("plain", "linear", "quadratic"), default="quadratic", help="of kappa (default quadratic)"
    )
    parser.add_argument("--by", choices=("day", "campaign"), help="each day's or campaign's score and agreement too")
    parser.add_argument(
        "--resamples", type=options.positive, default=1000, metavar="N", help="of outputs (default 1000)"
    )
    _add_chart(parser)
    options.add_seed(parser)
    options.add_format(parser)


def _add_designs(parser: ArgumentParser) -> None:
    _add_source(parser)
    parser.add_argument(
        "--labels", type=options.positive, default=3, metavar="N", help="labels an item, against one (default 3)"
    )
    parser.add_argument("--rounds", type=options.positive, default=500, metavar="N", help="draws (default 500)")
    _add_chart(parser)
    options.add_seed(parser)
    options.add_format(parser)


def _add_severity(parser: ArgumentParser) -> None:
    _add_source(parser)
    parser.add_argument("--no-drift", dest="drift", action="store_false", help="take severity for constant in time")
    options.add_format(parser)


def _add_consensus(parser: ArgumentParser) -> None:
    _add_source(parser)
    parser.add_argument(
        "--method",
        dest="methods",
        action="append",
        choices=("mean", "majority", "dawid-skene", "mace"),
        help="may be repeated (default: all that the ratings allow)",
    )
    options.add_seed(parser)
    options.add_format(parser)


def _add_doubts(parser: ArgumentParser) -> None:
    options.add_board(parser)
    options.add_view(parser)
    parser.add_argument(
        "--metric", default="ensemble", metavar="NAME", help="what judges the ratings (default: the ensemble)"
    )
    parser.add_argument("--show", type=options.positive, default=25, metavar="N", help="ratings to show (default 25)")
    options.add_format(parser)


def _add_source(parser: ArgumentParser) -> None:
    parser.add_argument("source", type=Path, metavar="BOARD|FILE", help="a board folder, or a CSV, TSV, JSONL, Parquet")
    parser.add_argument(
        "--dimension", action="append", metavar="NAME", help="only this one; may be repeated (default: all that rank)"
    )
    parser.add_argument("--campaign", action="append", metavar="NAME", help="only ratings of this campaign (boards)")
    table = parser.add_argument_group("columns of a FILE")
    table.add_argument(
        "--item", type=_names, metavar="A[,B]", help="the column(s) that tell one rated thing from another"
    )
    table.add_argument("--value", metavar="COLUMN", help="the rating")
    table.add_argument("--annotator", metavar="COLUMN", help="who rated")
    table.add_argument("--generator", metavar="COLUMN", help="who or what made it")
    table.add_argument("--dimensions", metavar="COLUMN", help="which dimension the rating is on")
    table.add_argument("--time", metavar="COLUMN", help="when: ISO 8601, or seconds since 1970")
    table.add_argument("--range", type=_range, metavar="LOW:HIGH", help="ends of the scale (default: those that occur)")


def _add_chart(parser: ArgumentParser) -> None:
    parser.add_argument("--chart", type=Path, metavar="FILE.svg", help="draw it, too")


def _names(text: str) -> tuple[str, ...]:
    return tuple(part for part in text.split(",") if part)


def _range(text: str) -> tuple[float, float]:
    try:
        low, high = map(float, text.split(":"))
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a range such as 1:5") from None
    if not low < high:
        raise ArgumentTypeError(f"{text!r} runs the wrong way; write the lower end first")
    return low, high


def _columns(arguments: Namespace) -> list[RatingColumns]:
    """The ratings asked for, a dimension each."""
    from billboards.analyses.rating_sources import TableColumns, board_dimensions, board_ratings, table_ratings
    from billboards.errors import InvalidInput, UnknownName

    if arguments.source.is_dir():
        from billboards.board.folder import open_board

        board = open_board(arguments.source)
        names = arguments.dimension or board_dimensions(board)
        return [board_ratings(board, name, campaigns=arguments.campaign) for name in names]
    if arguments.item is None or arguments.value is None:
        raise InvalidInput(
            f"{arguments.source} is no board folder; of a table, name the columns with --item and --value"
        )
    given = (arguments.annotator, arguments.generator, arguments.dimensions, arguments.time, arguments.range)
    found = table_ratings(arguments.source, TableColumns(arguments.item, arguments.value, *given))
    for name in arguments.dimension or ():
        if name not in found:
            raise UnknownName("dimension", name, found)
    return [found[name] for name in arguments.dimension or found]


def _agreement(arguments: Namespace) -> None:
    from billboards.analyses.annotator_agreement import study_annotators
    from billboards.analyses.documents import ratings_document
    from billboards.analyses.rating_tables import annotator_tables
    from billboards.cli.output import emit

    study = study_annotators(
        _columns(arguments),
        level=arguments.scale,
        weights=arguments.weights,
        by=arguments.by,
        resamples=arguments.resamples,
        seed=arguments.seed,
    )
    emit(arguments, annotator_tables(study), lambda: ratings_document("annotator_agreement", study))
    if arguments.chart:
        from billboards.analyses.rating_plots import population_scores

        _draw(arguments.chart, population_scores(study))


def _designs(arguments: Namespace) -> None:
    from billboards.analyses.designs import study_designs
    from billboards.analyses.documents import ratings_document
    from billboards.analyses.rating_tables import design_tables
    from billboards.cli.output import emit

    study = study_designs(_columns(arguments), several=arguments.labels, rounds=arguments.rounds, seed=arguments.seed)
    emit(arguments, design_tables(study), lambda: ratings_document("designs", study))
    if arguments.chart:
        from billboards.analyses.rating_plots import design_spread

        _draw(arguments.chart, design_spread(study))


def _severity(arguments: Namespace) -> None:
    from billboards.analyses.documents import ratings_document
    from billboards.analyses.rating_tables import severity_tables
    from billboards.analyses.severity import study_severity
    from billboards.cli.output import emit

    studies = [study_severity(one, drift=arguments.drift) for one in _columns(arguments)]
    tables = [table for study in studies for table in severity_tables(study)]
    emit(arguments, tables, lambda: _together("severity", [ratings_document("severity", one) for one in studies]))


def _consensus(arguments: Namespace) -> None:
    from billboards.analyses.consensus import study_consensus
    from billboards.analyses.documents import ratings_document
    from billboards.analyses.rating_tables import consensus_tables
    from billboards.cli.output import emit

    studies = [study_consensus(one, arguments.methods, seed=arguments.seed) for one in _columns(arguments)]
    tables = [table for study in studies for table in consensus_tables(study)]
    emit(arguments, tables, lambda: _together("consensus", [ratings_document("consensus", one) for one in studies]))


def _doubts(arguments: Namespace) -> None:
    from billboards.analyses.documents import ratings_document
    from billboards.analyses.estimate_tables import implausible_table
    from billboards.analyses.home import home_of
    from billboards.analyses.implausible import find_implausible
    from billboards.board.folder import open_board
    from billboards.cli.output import emit

    board = open_board(arguments.board)
    how = options.chosen_view(arguments, "metric")
    study = find_implausible(board, home_of(board).cells, shown=arguments.show, **how)
    emit(arguments, (implausible_table(study),), lambda: ratings_document("doubts", study))


def _together(kind: str, documents: list[dict[str, object]]) -> dict[str, object]:
    """One document of several dimensions' studies."""
    return (
        documents[0]
        if len(documents) == 1
        else {"schema": documents[0]["schema"], "kind": f"{kind}_by_dimension", "dimensions": documents}
    )


def _draw(path: Path, chart: altair.LayerChart) -> None:
    from billboards.cli.output import note
    from billboards.show.plot import to_svg

    path.write_text(to_svg(chart), encoding="utf-8")
    note(f"wrote {path}")
