"""The sections of a report that come from analyses: a section each, and the reason where a board doesn't allow one."""

from __future__ import annotations

from pathlib import Path

import pytest
from edge_boards import EDGES
from small_boards import noisy_board, small_board

import billboards as bb
from billboards.analyses import analysis_named, own_analyses
from billboards.analyses._report import BY_HAND, sections_of
from billboards.analyses._view import look_at
from billboards.board import Board


def sections(board: Board) -> tuple[dict[str, str], list[str]]:
    left_out: list[str] = []
    names = [name for name in own_analyses() if name not in BY_HAND and analysis_named(name).quick]
    found = sections_of(look_at(board), names, left_out)
    return {part.name: " ".join(str(table.title) for table in part.tables) for part in found}, left_out


def test_every_quick_analysis_has_a_section_or_the_reason_why_not() -> None:
    shown, left_out = sections(small_board())
    quick = [name for name in own_analyses() if name not in BY_HAND and analysis_named(name).quick]
    assert len(set(shown)) + len(left_out) >= len(quick)
    assert "estimate" in shown


def test_a_report_has_a_section_for_each_and_says_what_is_left_out(tmp_path: Path) -> None:
    board = bb.save(small_board(), tmp_path / "small")
    page = bb.report(board, tmp_path / "report.html").read_text("utf-8")
    assert 'id="ratings-agreement"' in page
    assert 'id="estimate"' in page
    assert "What is not on this page" in page


def test_a_page_without_studies_says_nothing_of_them(tmp_path: Path) -> None:
    board = bb.save(small_board(), tmp_path / "small")
    page = bb.report(board, tmp_path / "report.html", with_studies=False).read_text("utf-8")
    assert 'id="ratings-agreement"' not in page
    assert "What is not on this page" not in page


def test_a_page_shows_the_best_metric_against_people(tmp_path: Path) -> None:
    board = bb.save(noisy_board({"good": 10.0, "poor": 60.0}), tmp_path / "noisy")
    page = bb.report(board, tmp_path / "report.html", with_studies=False, with_references=False).read_text("utf-8")
    assert "good against people (correlation 0.953)" in page
    assert "All 200 judged outputs; the line is the trend of all." in page


@pytest.mark.parametrize("edge", list(EDGES))
def test_no_board_is_too_odd_for_a_section(edge: str) -> None:
    shown, left_out = sections(EDGES[edge]())
    assert shown or left_out
