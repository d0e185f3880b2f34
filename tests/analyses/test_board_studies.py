"""The studies that a report shows by default, and what it says of those it leaves out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from edge_boards import EDGES, ordinary_board, with_scores

import billboards as bb
from billboards.analyses._report import BoardStudies, report_html, study_board
from billboards.analyses.rank import rank_board
from billboards.board import Aggregate, Board


def studied(board: Board) -> BoardStudies:
    return study_board(board, None, rank_board(board, None, draws=10))


def many_generators() -> Board:
    board = ordinary_board(machines=12, people=False)
    return with_scores(board, lambda name, people: people + np.random.default_rng(len(name)).normal(size=people.shape))


def test_each_study_is_of_the_first_entries_of_the_ranking() -> None:
    board = ordinary_board()
    ranking = rank_board(board, None, draws=10)
    found = study_board(board, None, ranking)
    assert found.hybrids is not None
    assert [one.generator for one in found.estimates] == [one.name for one in ranking.generators]
    assert {one.labels for one in found.estimates} == {6}
    metrics, generators = found.power
    assert (metrics.first, metrics.second) == (ranking.metrics[0].name, ranking.metrics[1].name)
    assert (generators.first, generators.second) == (ranking.generators[0].name, ranking.generators[1].name)
    assert found.agreement is not None
    assert (found.agreement.first, found.agreement.second) == ("fluency", "overall")
    assert found.left_out == ("Power for any other two metrics or generators; billboards power BOARD A B gives it.",)


def test_another_aggregate_is_held_against_the_one_that_ranks_before_any_dimension_is() -> None:
    board = ordinary_board()
    board = replace(board, aggregates={**board.aggregates, "crowd": Aggregate("crowd", ("adequacy", "fluency"))})
    agreement = studied(board).agreement
    assert agreement is not None
    assert agreement.first == "crowd"


def test_of_many_generators_ten_are_estimated_and_the_others_are_spoken_of() -> None:
    found = studied(many_generators())
    assert len(found.estimates) == 10
    assert any("means of 2 more generators" in sentence for sentence in found.left_out)


@pytest.mark.parametrize(
    ("edge", "said"),
    [
        ("no judgments", "Studies of metrics need judgments"),
        ("all-tied judgments", "Hybrid systems: board edge: every judgment is the same"),
        ("one instance", "People's mean of g0: g0 has 1 labels and 2 are to be used"),
    ],
)
def test_what_a_board_does_not_allow_is_said(edge: str, said: str) -> None:
    assert any(said in sentence for sentence in studied(EDGES[edge]()).left_out)


def test_the_page_has_a_section_for_each_study_with_texts_to_read() -> None:
    board = ordinary_board()
    ranking = rank_board(board, None, draws=10)
    found = study_board(board, None, ranking)
    page = report_html(ranking, board=board, studies=found)
    for section in ("hybrids", "power", "estimates", "agreement", "more"):
        assert f'id="{section}"' in page
    assert found.agreement is not None
    assert f"<p>{found.agreement.first_above[0].output}</p>" in page


def test_what_people_wrote_is_shown_as_text_not_as_markup() -> None:
    board = ordinary_board()
    texts = tuple(f"<script>{k}</script>" for k in range(12))
    board = replace(board, rows=tuple(replace(row, load=lambda: texts) for row in board.rows))
    ranking = rank_board(board, None, draws=10)
    page = report_html(ranking, board=board, studies=study_board(board, None, ranking))
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_a_page_without_studies_says_nothing_of_them(tmp_path: Path) -> None:
    board = bb.save(ordinary_board(), tmp_path / "board")
    with_all = bb.report(board, tmp_path / "all.html").read_text(encoding="utf-8")
    without = bb.report(board, tmp_path / "few.html", with_studies=False).read_text(encoding="utf-8")
    assert 'id="hybrids"' in with_all
    assert 'id="hybrids"' not in without
    assert 'id="more"' not in without
