"""Boards on which every analysis has an answer, and options that make it quick there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from compared_boards import compared_board
from crowded_boards import crowded_board
from small_boards import small_board

from billboards.board import Board
from billboards.board.judgments import JudgmentColumns

#: Analyses that ask for what the small board lacks, and the board that has it: many annotators on two days with marked
#: errors and gaps, or comparisons.
ASKED_OF = {
    "agreement": "crowded",
    "next": "crowded",
    "power": "crowded",
    "ratings agreement": "crowded",
    "ratings consensus": "crowded",
    "ratings days": "crowded",
    "ratings designs": "crowded",
    "ratings doubts": "crowded",
    "ratings severity": "crowded",
    "spans": "crowded",
    "arena": "compared",
}
#: Options that make an analysis quick here.
QUICK: dict[str, dict[str, Any]] = {
    "audit": {"metrics": ("length",), "draws": 5},
    "rank": {"draws": 20},
    "compare": {"draws": 20},
    "sensitivity": {"draws": 20},
    "trust": {"draws": 20},
    "watch": {"draws": 20},
    "decompose": {"draws": 20},
    "spans": {"draws": 20},
    "overrating": {"human": "A"},
    "hybrids": {"mixtures": 50, "sample": 10},
    "agreement": {"first": "fluency", "shown": 2},
    "arena": {"draws": 100, "level": 0.9},
    "next": {"items": 4},
    "power": {"power": 0.9},
    "ratings agreement": {"resamples": 20},
    "ratings consensus": {"methods": ("mean", "majority")},
    "ratings days": {"draws": 100},
    "ratings designs": {"rounds": 20, "labels": 2},
    "ratings severity": {"drift": False},
}


def board_of(name: str) -> str:
    """The board that an analysis is asked of."""
    return ASKED_OF.get(name, "small")


def crowd_board() -> Board:
    """Three labels an output on two dimensions, an error marked in each output that is rated below 3."""
    board = crowded_board(unlabelled=3)
    given, columns = board.judgments, JudgmentColumns(("adequacy", "fluency"))
    for k, value in enumerate(given.values[:, 0].tolist()):
        spans = [{"start": 0, "end": 3, "severity": "minor"}] if value < 3 else []
        details = given.details[k]
        columns.add(
            int(given.instance[k]),
            int(given.row[k]),
            {"adequacy": value, "fluency": 1.0 + k % 5},
            annotator=given.annotators[given.annotator[k]],
            campaign=given.campaigns[given.campaign[k]],
            details=details if "test" in details else {**details, "spans": spans},
        )
    dimensions = {**board.dimensions, "fluency": replace(board.dimensions["adequacy"], name="fluency")}
    judged = replace(board, judgments=columns.build(), dimensions=dimensions)
    return replace(judged, name="crowded", metrics=("length",))


def asked_boards(folder: Path) -> dict[str, Board]:
    """The boards that analyses are asked of, by name."""
    compared = replace(compared_board(folder), name="compared")
    small = replace(small_board(), metrics=("chrF", "length"))
    # What generators cost is stated, so that their efficiency can be asked for.
    priced = tuple(
        row if row.generator is None else replace(row, generator=replace(row.generator, price=0.1 * (k + 1)))
        for k, row in enumerate(small.rows)
    )
    return {
        "small": replace(small, rows=priced),
        "crowded": crowd_board(),
        "compared": replace(compared, metrics=("chrF", "length")),
    }
