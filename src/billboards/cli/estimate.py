"""Estimate people's mean score of generators from their labels, with a metric or the ensemble to correct for luck.

billboards estimate BOARD                            every generator: overall and by dimension
billboards estimate BOARD systemA --labels 100       one generator, from so many of its labels
billboards estimate BOARD systemA --next 50 --json > next.json    which outputs to label next
billboards estimate BOARD systemA --drawn next.json               … and the mean once they are labelled
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from pathlib import Path

from billboards.cli import options


def add_arguments(parser: ArgumentParser) -> None:
    options.add_board(parser)
    parser.add_argument(
        "generator", nargs="?", metavar="GENERATOR", help="whose mean to estimate (default: everyone's)"
    )
    options.add_view(parser)
    parser.add_argument(
        "--labels",
        type=options.positive,
        metavar="N",
        help="use so many of its labels, drawn by the seed (default: all)",
    )
    parser.add_argument(
        "--metric",
        default="ensemble",
        metavar="NAME",
        help="the control variate: a metric, or `ensemble`, fitted on the other generators (default)",
    )
    parser.add_argument(
        "--target",
        choices=("instances", "population"),
        help="the mean over the board's instances (default while some have no label) or over all texts like them",
    )
    drawing = parser.add_mutually_exclusive_group()
    drawing.add_argument(
        "--next",
        type=options.positive,
        metavar="N",
        help="draw N outputs to label next, where labels say most; a plain mean over them would be wrong",
    )
    drawing.add_argument(
        "--drawn", type=Path, metavar="FILE", help="the mean from labels drawn so, by the chances in --next's JSON"
    )
    options.add_seed(parser)
    options.add_format(parser)


def run(arguments: Namespace) -> int:
    from billboards.errors import InvalidInput

    asked = [f"--{name}" for name in ("labels", "target", "next", "drawn") if getattr(arguments, name) is not None]
    if arguments.generator is None:
        if asked:
            raise InvalidInput(f"{asked[0]} is about one generator; name it")
        return _everyone(arguments)
    for name in ("next", "drawn"):
        if getattr(arguments, name) is not None:
            other = next((one for one in asked if one != f"--{name}"), None)
            if other or options.chosen_slice(arguments):
                raise InvalidInput(f"--{name} speaks of all outputs and labels; leave {other or 'the slice'} out")
            return _next(arguments) if name == "next" else _drawn(arguments)
    return _one(arguments)


def _one(arguments: Namespace) -> int:
    from billboards.api.studies import estimate
    from billboards.board.folder import open_board
    from billboards.cli.output import show

    how = options.chosen_view(arguments, "labels", "metric", "target", "seed")
    return show(arguments, estimate(open_board(arguments.board), arguments.generator, **how))


def _everyone(arguments: Namespace) -> int:
    from billboards.analyses.documents import ratings_document
    from billboards.analyses.estimate_tables import estimate_tables
    from billboards.analyses.estimates import estimate_generators
    from billboards.analyses.home import open_home
    from billboards.cli.output import emit

    home = open_home(arguments.board)
    study = estimate_generators(
        home.board,
        home.cells,
        aggregates=None if arguments.aggregate is None else (arguments.aggregate,),
        metric=arguments.metric,
        part=options.chosen_slice(arguments),
        seed=arguments.seed,
    )
    emit(arguments, estimate_tables(study), lambda: ratings_document("estimates", study))
    return 0


def _next(arguments: Namespace) -> int:
    from billboards.analyses.documents import ratings_document
    from billboards.analyses.estimate_tables import next_table
    from billboards.analyses.home import open_home
    from billboards.analyses.next_items import choose_next
    from billboards.cli.output import emit

    home = open_home(arguments.board)
    found = choose_next(
        home.board,
        home.cells,
        arguments.generator,
        arguments.next,
        metric=arguments.metric,
        aggregate=arguments.aggregate,
        seed=arguments.seed,
    )
    emit(arguments, (next_table(found),), lambda: ratings_document("next_items", found))
    return 0


def _drawn(arguments: Namespace) -> int:
    from billboards.analyses.documents import ratings_document
    from billboards.analyses.estimate_tables import drawn_table
    from billboards.analyses.home import open_home
    from billboards.analyses.next_items import estimate_drawn
    from billboards.cli.output import emit

    home, generator = open_home(arguments.board), arguments.generator
    found = estimate_drawn(
        home.board,
        home.cells,
        generator,
        read_chances(arguments.drawn, generator),
        metric=arguments.metric,
        aggregate=arguments.aggregate,
    )
    head = {"board": home.board.name, "generator": generator}
    emit(
        arguments,
        (drawn_table(home.board.name, generator, found),),
        lambda: ratings_document("drawn_estimate", found) | head,
    )
    return 0


def read_chances(path: Path, generator: str) -> Mapping[str, float]:
    """The chances of a draw that --next wrote for this generator."""
    from billboards.errors import InvalidInput
    from billboards.reading import json_value

    try:
        document = json_value(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{path} can't be read as JSON: {error}; give what --next N --json printed") from error
    if not isinstance(document, dict) or document.get("kind") != "next_items":
        raise InvalidInput(f"{path} holds no draw; give what --next N --json printed")
    if document.get("generator") != generator:
        raise InvalidInput(f"{path} is a draw of {document.get('generator')!r}, not of {generator}")
    chances = document.get("probabilities")
    if not isinstance(chances, dict) or not all(type(chance) in (int, float) for chance in chances.values()):
        raise InvalidInput(f"{path}: probabilities must be numbers by instance; give what --next N --json printed")
    wrong = next((name for name, chance in chances.items() if not 0 < chance <= 1), None)
    if wrong is not None:
        raise InvalidInput(f"{path}: the probability of {wrong!r} must be above 0 and at most 1")
    return {name: float(chance) for name, chance in chances.items()}
