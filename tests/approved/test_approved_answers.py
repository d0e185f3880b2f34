"""What every analysis prints about boards of many kinds, in full width; also where there is too little to answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from approving import approve
from asked_boards import QUICK
from varied_boards import varied_boards

from billboards.analyses import analysis_named, own_analyses
from billboards.board import Board
from billboards.errors import BillboardsError

#: Options that make an analysis quick on any of these boards.
HERE: Mapping[str, dict[str, Any]] = {
    **QUICK,
    "agreement": {},
    "audit": {"metrics": ("length",), "against": ("chrF",), "draws": 5},
    "overrating": {},
    "ratings days": {"draws": 20},
}
BOARDS = (
    "released",
    "released otherwise",
    "newcomers",
    "ferry",
    "private",
    "chinese",
    "audited",
    "crowd alone",
    "ordinary",
    "a constant metric",
    "two generators",
    "four outputs",
    "one instance",
    "all-tied judgments",
    "infinities",
    "no judgments",
    "no scores",
)


@pytest.fixture(scope="module")
def boards(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Callable[[], Board]]:
    return varied_boards(tmp_path_factory.mktemp("varied"))


@pytest.mark.parametrize("name", BOARDS)
def test_every_analysis_says_of_a_board_what_was_approved(name: str, boards: Mapping[str, Callable[[], Board]]) -> None:
    board = boards[name]()
    answers = {asked: printed(asked, board) for asked in own_analyses()}
    approve(f"answers/{name.replace(' ', '-')}", answers, folder=str(board.home or ""))


def printed(name: str, board: Board) -> Any:
    """The lines that are printed, or why there is no answer."""
    try:
        result = analysis_named(name)(board, **HERE.get(name, {}))
    except BillboardsError as error:
        return f"{type(error).__name__}: {error}"
    return [*result.words, *result.to_text(wide=True).splitlines()]
