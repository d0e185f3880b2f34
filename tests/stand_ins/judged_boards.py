"""A tiny board, bare and with judgments that each format of judgments can hold."""

from __future__ import annotations

from dataclasses import replace

from billboards.board import Board, Dimension, Generator, Instance, row_of
from billboards.board.judgments import JudgmentColumns

KEY = "a secret"
#: The dimension that a format can say; one that knows no scales takes the board's.
DIMENSIONS = {
    "mqm": Dimension("mqm", range=(-25.0, 0.0), to_100=(4.0, 100.0)),
    "appraise": Dimension("score", range=(0.0, 100.0)),
}


def bare_board(generators: tuple[str, ...] = ("A", "B")) -> Board:
    instances = tuple(
        Instance(id=f"s{k}", input=f"Quelle {k}, ganz ähnlich", document="d1" if k < 3 else "d2") for k in (1, 2, 3)
    )
    rows = tuple(
        row_of(Generator(name), instances, tuple(f"{name} wrote “{k}” here" for k in (1, 2, 3))) for name in generators
    )
    return Board(
        name="tiny",
        instances=instances,
        rows=rows,
        input_language="de",
        output_language="en",
    )


def judged_board(form: str) -> Board:
    """A board with two annotators' judgments: a score each, and one error span."""
    board = bare_board()
    dimension = DIMENSIONS.get(form, Dimension("adequacy", range=(-25.0, 100.0)))
    columns = JudgmentColumns((dimension.name,))
    for place, (row, annotator, value) in enumerate([(0, "ann@x.org", 0.0), (1, "ann@x.org", -5.0), (0, "bob", -1.0)]):
        shown = value + 60.0 if form == "appraise" else value
        kinds = {-5.0: "major", -1.0: "minor"}
        span = {"start": 2, "end": 7, "severity": kinds.get(value), "category": "Accuracy"}
        details = {"spans": [span]} if value else {}
        columns.add(place, row, {dimension.name: shown}, annotator=annotator, campaign="c1", details=details)
    return replace(board, dimensions={dimension.name: dimension}, judgments=columns.build())
