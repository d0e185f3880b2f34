"""What the report on a board says, of boards of many kinds and with each option."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from approving import approve
from told_commands import told_by
from varied_boards import varied_boards

import billboards as bb
from billboards.board import Board

BOARDS = ("released", "newcomers", "ferry", "private", "chinese", "ordinary", "two generators", "no judgments")
#: Sections that say enough of themselves elsewhere, or take long.
PLAIN = ("--jobs", 1, "--no-studies")
ASKED: dict[str, tuple[object, ...]] = {
    "a person": ("--human", "A"),
    "nobody": ("--human", "none"),
    "a metric": ("--by", "chrF"),
    "people": ("--by", "people"),
    "two metrics": ("--k", 2, "--seed", 5),
    "a lambda": ("--lambda", 0.05, "--no-references"),
    "another ensemble": ("--ensemble", "ridge"),
    "no such ensemble": ("--ensemble", "none"),
    "no such part": ("--domain", "none"),
    "a further analysis": ("--also", "trust", "--also", "kin"),
    "no such analysis": ("--also", "none"),
}


@pytest.fixture(scope="module")
def boards(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Callable[[], Board]]:
    return varied_boards(tmp_path_factory.mktemp("varied"))


def folder_of(board: Board, place: Path) -> Path:
    if board.home is not None:
        return Path(board.home)
    bb.save(board, place)
    return place


@pytest.mark.parametrize("name", BOARDS)
def test_a_report_says_what_was_approved(
    name: str, boards: Mapping[str, Callable[[], Board]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, page = folder_of(boards[name](), tmp_path / "board"), tmp_path / "page.html"
    told = told_by(["report", folder, "-o", page, *PLAIN], capsys, files=(page,))
    told.pop("out")
    approve(f"reports/{name.replace(' ', '-')}", comparable(told, tmp_path), folder=folder)


def test_a_report_says_with_each_option_what_was_approved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, page = folder_of(varied_boards(tmp_path)["newcomers"](), tmp_path / "board"), tmp_path / "page.html"
    plain = told_by(["report", folder, "-o", page, *PLAIN], capsys, files=(page,))
    told: dict[str, Any] = {}
    for name, more in ASKED.items():
        page.unlink(missing_ok=True)
        answer = told_by(["report", folder, "-o", page, *PLAIN, *more], capsys, files=(page,))
        # What every report says is kept once.
        usual = set(plain["page.html"])
        told[name] = answer | {"page.html": [line for line in answer["page.html"] if line not in usual]}
    approve("reports/asked", comparable(told, tmp_path), folder=folder)


def comparable(told: dict[str, Any], place: Path) -> dict[str, Any]:
    """What is said of where the page lies is said of this run alone."""
    return {
        name: comparable(value, place)
        if isinstance(value, dict)
        else [str(line).replace(str(place), "PLACE") for line in value]
        if isinstance(value, list)
        else value
        for name, value in told.items()
    }
