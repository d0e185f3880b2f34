"""Scores of which lower is better are turned inside a board, and shown and written as their users know them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_boards import small_board

import billboards as bb
from billboards.analyses.compare import compare_generators
from billboards.analyses.rank import RankingOptions, generator_table, rank_board
from billboards.board import Board, ImportedColumn
from billboards.board.cells import MemoryCells
from billboards.board.folder import open_board
from billboards.board.matrix import board_scores
from billboards.board.missing_cells import score_board
from billboards.board.writing import write_board
from billboards.metrics.executor import InProcess
from billboards.show.latex import to_latex
from billboards.show.words import linear_combination
from billboards.site.pages.board_table import board_table
from billboards.site.pages.board_wish import Wish
from billboards.site.pages.generators import score_lines


def with_column(board: Board, name: str, sign: float, *, higher_is_better: bool = True) -> Board:
    """The board with made-up error counts of its machines, 1 for the first and more for the others."""
    machines = [row.name for row in board.rows[:4]]
    counts = {name: sign * np.linspace(k + 1, k + 2, len(board.instances)) for k, name in enumerate(machines)}
    column = ImportedColumn(
        name=name,
        source_name=name,
        signature="imported:1",
        values=counts,
        references=board.references,
        higher_is_better=higher_is_better,
    )
    return replace(board, imported=(column,))


def test_a_column_that_was_turned_before_its_release_is_known_by_the_metrics_card() -> None:
    scores = board_scores(with_column(small_board(), "TER", -1), None)
    assert not scores.columns[0].higher_is_better
    assert np.nanmax(scores.of("TER")) < 0
    np.testing.assert_array_equal(scores.natural("TER"), -scores.of("TER"))
    # One that has scores above 0 was not turned, whatever its name.
    assert board_scores(with_column(small_board(), "TER", 1), None).columns[0].higher_is_better
    assert board_scores(with_column(small_board(), "errors", -1), None).columns[0].higher_is_better
    assert (
        not board_scores(with_column(small_board(), "errors", -1, higher_is_better=False), None)
        .columns[0]
        .higher_is_better
    )


def test_means_are_natural_and_the_best_is_first() -> None:
    ranking = rank_board(with_column(small_board(), "TER", -1), None, RankingOptions(by="TER", draws=0))
    ranked = [standing for standing in ranking.generators if standing.rank is not None]
    assert [standing.name for standing in ranked] == ["g0", "g1", "g2", "g3"]
    assert [standing.scores["TER"] for standing in ranked] == pytest.approx([1.5, 2.5, 3.5, 4.5])
    assert ranking.lower == {"TER"}
    heads = {column.key: column.header for column in generator_table(ranking).columns}
    assert heads["TER"] == "TER ↓"
    assert r"TER $\downarrow$" in to_latex(generator_table(ranking), star=True)
    standing = ranking.metrics[0]
    assert (standing.higher_is_better, standing.correlation is not None and standing.correlation > 0) == (False, True)


def test_own_scores_follow_the_card() -> None:
    board, store = small_board(), MemoryCells()
    score_board(board, store, [bb.metric("TER"), bb.metric("WER"), bb.metric("chrF")], InProcess())
    ranking = rank_board(board, store, RankingOptions(draws=0))
    assert ranking.lower == {"TER", "WER"}
    means = {g.name: g.scores["TER"] for g in ranking.generators if g.kind == "machine"}
    assert means["g0"] == 0
    assert (means["g3"] or 0) > (means["g1"] or 0) > 0


def test_a_comparison_shows_them_as_they_are_known() -> None:
    pair = compare_generators(with_column(small_board(), "TER", -1), None, "g0", "g1", by="TER", draws=0)
    own = next(score for score in pair.scores if score.name == "TER")
    assert own.means == pytest.approx((1.5, 2.5))
    assert own.difference == pytest.approx(-1)
    assert (own.wins, own.losses, own.higher_is_better) == (12, 0, False)
    assert pair.for_first[0].first == pytest.approx(1 + 0 / 11, abs=1.1)
    assert all((output.first or 0) > 0 for output in pair.for_first)


def test_the_board_page_orders_and_shades_by_what_is_better() -> None:
    ranking = rank_board(with_column(small_board(), "TER", -1), None, RankingOptions(by="TER", draws=0))
    table = board_table(ranking, None, Wish(sort="TER"))
    place = next(k for k, column in enumerate(table.columns) if column.key == "TER")
    assert table.columns[place].name == "TER ↓"
    cells = [(row.name, row.cells[place]) for row in table.rows if row.cells[place].value is not None]
    assert [(name, cell.text) for name, cell in cells] == [
        ("g0", "1.500"),
        ("g1", "2.500"),
        ("g2", "3.500"),
        ("g3", "4.500"),
    ]
    assert [cell.rank for _, cell in cells] == [1, 2, 3, 4]
    assert [cell.value for _, cell in cells] == sorted((cell.value or 0 for _, cell in cells), reverse=True)
    lines = {line.name: line for line in score_lines(ranking, "g0")}
    assert lines["TER"].rank == "1"


def test_a_written_column_is_read_again_as_it_was(tmp_path: Path) -> None:
    board = with_column(small_board(), "errors", -1, higher_is_better=False)
    write_board(board, tmp_path / "b")
    assert "higher_is_better = false" in (tmp_path / "b" / "board.toml").read_text()
    assert "-" not in (tmp_path / "b" / "scores" / "errors.tsv").read_text().split("\n", 1)[1].replace("i0", "")
    again = open_board(tmp_path / "b").imported[0]
    assert not again.higher_is_better
    np.testing.assert_array_equal(again.values["g1"], board.imported[0].values["g1"])


def test_an_ensemble_says_which_scores_it_turned() -> None:
    assert linear_combination({"TER": 0.5, "chrF": 1.0}, ("TER",)) == "1.00·chrF + 0.50·(−TER)"
    board, store = small_board(instances=30), MemoryCells()
    score_board(board, store, [bb.metric("TER"), bb.metric("chrF")], InProcess())
    ensemble = rank_board(board, store, RankingOptions(k=2, draws=0)).ensemble
    assert ensemble is not None
    assert ensemble.turned == ("TER",)
    assert "(−TER)" in ensemble.formula


def test_a_clearly_negative_correlation_asks_about_the_sign() -> None:
    ranking = rank_board(with_column(small_board(), "mistakes", 1), None, RankingOptions(by="mistakes", draws=0))
    (note,) = [note for note in ranking.notes if "is a lower score better?" in note]
    assert note.startswith("mistakes correlates with people at -0.")
    assert note.endswith("write higher_is_better = false under [scores.mistakes] in board.toml")
    turned = with_column(small_board(), "mistakes", -1, higher_is_better=False)
    assert not any("lower" in note for note in rank_board(turned, None, RankingOptions(draws=0)).notes)
