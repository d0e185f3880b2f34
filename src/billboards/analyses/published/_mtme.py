"""Values of mt-metrics-eval computed again from its evaluation set: every metric by each column's yardstick."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from billboards.analyses._view import judged_matrix
from billboards.analyses.published import PublishedCell, Values, folder_of
from billboards.board.folder import open_board
from billboards.importers import IMPORTERS
from billboards.stats.yardsticks import agreements, yardstick


def values(publication: Mapping[str, Any], cells: Sequence[PublishedCell], data: Path) -> Values:
    """Ours for each cell, and why it is missing."""
    where = folder_of(data, publication["folders"])
    if where is None:
        return [(None, f"no folder {' or '.join(publication['folders'])}") for _ in cells]
    board = open_board(where) if (where / "board.toml").exists() else IMPORTERS.load("mtme")(where).board
    view = judged_matrix(board, None)
    scores, human = view.scores.values[:, view.judged], view.human[view.judged]
    place = {name: k for k, name in enumerate(view.scores.names)}
    by_column = {
        column: agreements(scores, human, yardstick(column)).value
        for column in dict.fromkeys(cell.column for cell in cells)
    }
    spa = "SPA rests on random swaps; two draws differ by about .005"
    return [
        (float(by_column[cell.column][place[cell.row]]), spa if cell.column.startswith("spa") else None)
        if cell.row in place
        else (None, f"{cell.row} has no segment scores in the set at hand")
        for cell in cells
    ]
