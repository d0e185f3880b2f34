"""Small parts of pages as values: marked differences, found outputs, changes, lines, badges, kept bodies."""

from __future__ import annotations

import gzip
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_sites import ODD, SECRET, SLASHED, page_board
from ranking_examples import RANKING, generator, metric

from billboards.analyses._scatter import drawing_for, drawing_words
from billboards.analyses._view import judged_matrix
from billboards.board import Column, Scores
from billboards.board.judgments import JudgmentColumns, join_judgments
from billboards.errors import InvalidInput, UnknownName
from billboards.site.boards.refresh import ranks_among
from billboards.site.pages.badges import badge, generator_words, metric_words
from billboards.site.pages.changes import Move, changes_between
from billboards.site.pages.explorer import Matrix, Search, explore
from billboards.site.pages.text_differences import mark_matches, marked
from billboards.site.pages.timelines import timeline
from billboards.site.web.addresses import asked
from billboards.site.web.addresses import generator as generator_address
from billboards.site.web.rendering import Bodies, Body, linked


def kinds(text: str, against: str) -> list[tuple[str, str]]:
    return [(piece.kind, piece.text) for piece in marked(text, against)]


def test_words_that_only_one_text_has_are_marked() -> None:
    assert kinds("the old boat leaves", "the boat left") == [
        ("same", "the "),
        ("added", "old "),
        ("same", "boat "),
        ("missing", "left"),
        ("added", "leaves"),
    ]


def test_case_and_space_are_no_difference() -> None:
    assert kinds("The  boat", "the boat") == [("same", "The  boat")]


def test_a_mark_between_two_differences_does_not_tear_them_apart() -> None:
    assert kinds("red, green ships", "old, slow ships") == [
        ("missing", "old, slow "),
        ("added", "red, green "),
        ("same", "ships"),
    ]


def test_a_script_without_spaces_is_compared_by_characters() -> None:
    assert kinds("我爱船", "我看船") == [("same", "我"), ("missing", "看"), ("added", "爱"), ("same", "船")]


@given(st.text(max_size=60), st.text(max_size=60))
def test_the_pieces_of_a_marked_text_are_the_text(text: str, against: str) -> None:
    assert "".join(piece.text for piece in marked(text, against) if piece.kind != "missing") == text


def test_what_was_searched_for_is_marked_whatever_its_case() -> None:
    assert [piece.text for piece in mark_matches("A boat, a Boat", "boat") if piece.kind == "added"] == ["boat", "Boat"]
    assert [piece.text for piece in mark_matches("1+1", "+") if piece.kind == "added"] == ["+"]


@pytest.fixture(scope="module")
def matrix() -> Matrix:
    board = page_board()
    view = judged_matrix(board, None)
    scores = np.full((1, len(board.rows), len(board.instances)), np.nan)
    scores[0, :3] = np.arange(24).reshape(3, 8)
    made = Scores(
        columns=(Column(name="M", signature="M|v1"),), rows=tuple(row.name for row in board.rows), values=scores
    )
    return Matrix(replace(view, scores=made), None, board)


def test_outputs_are_found_by_text_generator_and_score(matrix: Matrix) -> None:
    board = page_board()
    assert explore(board, matrix, Search(metric="M")).total == 32
    assert explore(board, matrix, Search(metric="M", generator=SLASHED)).total == 8
    assert explore(board, matrix, Search(metric="M", text="INPUT 3")).total == 4
    between = explore(board, matrix, Search(metric="M", low=3, high=5, sort="worst"))
    assert [output.score for output in between.outputs] == [3.0, 4.0, 5.0]
    assert {output.generator for output in between.outputs} == {ODD}


def test_an_output_without_a_score_is_never_in_a_range_and_always_last(matrix: Matrix) -> None:
    board = page_board()
    for sort in ("best", "worst"):
        last = explore(board, matrix, Search(metric="M", sort=sort, page=2)).outputs[-1]
        assert last.generator == "Cleo"
    assert explore(board, matrix, Search(metric="M", low=-1e9)).total == 24


def test_disagreement_is_the_metric_minus_people_in_standard_deviations(matrix: Matrix) -> None:
    board = page_board()
    kinder = explore(board, matrix, Search(metric="M", sort="kinder"))
    values = [output.disagreement for output in kinder.outputs]
    assert values == sorted(values, key=lambda value: -(value or 0))
    disputed = matrix.disagreement("M")
    assert np.nanmean(disputed) == pytest.approx(0, abs=1e-12)
    assert {output.generator for output in kinder.outputs} == {ODD, SLASHED}
    assert explore(board, matrix, Search(metric="M", disputed=1e9)).total == 0


def test_outputs_are_found_by_where_the_text_is(matrix: Matrix) -> None:
    board = page_board()
    word = board.instances[0].references[0].text.split()[0]
    holding = sum(word in instance.references[0].text.split() for instance in board.instances)
    assert explore(board, matrix, Search(metric="M", text=SECRET)).total == 32, "a word of every reference"
    assert explore(board, matrix, Search(metric="M", text=SECRET, within="reference")).total == 32
    assert explore(board, matrix, Search(metric="M", text=SECRET, within="output")).total == 0
    assert explore(board, matrix, Search(metric="M", text=SECRET, within="source")).total == 0
    assert explore(board, matrix, Search(metric="M", text="input 3", within="source")).total == 4
    assert 0 < explore(board, matrix, Search(metric="M", text=word, within="output")).total <= 4 * holding


def test_outputs_are_found_by_part_and_by_judgment(matrix: Matrix) -> None:
    board = page_board()
    assert explore(board, matrix, Search(metric="M", domain="sea")).total == 16
    assert explore(board, matrix, Search(metric="M", domain="sea", generator="late")).total == 4
    # The machine "late" is judged by nobody.
    assert explore(board, matrix, Search(metric="M", judgment="judged")).total == 24
    assert explore(board, matrix, Search(metric="M", judgment="unjudged")).total == 8
    assert explore(board, matrix, Search(metric="M", judgment="errors")).total == 0
    marked = JudgmentColumns(("adequacy",))
    marked.add(2, 1, {"adequacy": 4.0}, annotator="ann", details={"spans": [{"start": 0, "end": 3}]})
    judged = replace(board, judgments=join_judgments(board.judgments, marked.build()))
    (output,) = explore(judged, matrix, Search(metric="M", judgment="errors")).outputs
    assert (output.instance, output.generator) == ("i/2", SLASHED)
    with pytest.raises(UnknownName, match="domain moon"):
        explore(board, matrix, Search(metric="M", domain="moon"))


def test_two_metrics_disagree_where_their_standardised_scores_are_apart(matrix: Matrix) -> None:
    scores = matrix.view.scores
    turned = np.concatenate((scores.values, -scores.values))
    columns = (*scores.columns, Column(name="N", signature="N|v1"))
    two = replace(matrix, view=replace(matrix.view, scores=replace(scores, columns=columns, values=turned)))
    page = explore(page_board(), two, Search(metric="M", versus="N", sort="disagreement"))
    assert page.total == 24, "outputs that both have scored, whether judged or not"
    # 0 to 23 against 0 to -23: the ends are apart by twice their distance from the mean of 11.5.
    assert page.outputs[0].disagreement == pytest.approx(-2 * 11.5 / np.std(np.arange(24)))
    assert {output.score for output in page.outputs[:2]} == {0.0, 23.0}


def test_a_page_beyond_the_last_is_the_last(matrix: Matrix) -> None:
    found_outputs = explore(page_board(), matrix, Search(metric="M", page=99))
    assert (found_outputs.page, found_outputs.last, len(found_outputs.outputs)) == (2, 2, 7)


def test_a_search_that_can_not_be_is_named(matrix: Matrix) -> None:
    with pytest.raises(InvalidInput, match="between 5 and 3"):
        explore(page_board(), matrix, Search(metric="M", low=5, high=3))
    with pytest.raises(UnknownName, match="nobody"):
        explore(page_board(), matrix, Search(metric="M", generator="nobody"))


def test_changes_name_who_came_went_and_moved() -> None:
    after = replace(
        RANKING,
        metrics=(metric("B", 1, 0.61), metric("A", 2, 0.6001), metric("D", 3, 0.1)),
        generators=(generator("two", 1, None), generator("one", 2, None), generator("four", None, None)),
        ranked_by="B",
    )
    changes = changes_between(RANKING, after)
    assert [(m.name, m.words, m.role) for m in changes.generators] == [
        ("two", "2 → 1", "up"),
        ("one", "1 → 2", "down"),
        ("four", "new, not ranked", ""),
        ("three", "gone", ""),
    ]
    assert [(m.name, m.words) for m in changes.metrics] == [
        ("B", "1 → 1"),
        ("A", "1 → 2"),
        ("D", "new at 3"),
        ("C", "gone"),
    ]
    assert changes.ranked_by == ("A", "B")
    assert not changes_between(RANKING, RANKING)


def test_a_timeline_leaves_out_gaps_and_keeps_labels_apart() -> None:
    drawn = timeline({"A": [0.5, None, 0.52], "B": [None, 0.5, 0.52]}, [1, 2, 3], first="A")
    assert drawn is not None
    assert [line.name for line in drawn.lines] == ["B", "A"]
    assert [len(line.dots) for line in drawn.lines] == [2, 2]
    low, high = sorted(line.label_y for line in drawn.lines)
    assert high - low >= 14
    assert timeline({"A": [None]}, [1]) is None


def test_badges_are_pictures_that_say_what_they_show() -> None:
    drawn = badge("harbour", generator_words(RANKING, "two"))
    title = ElementTree.fromstring(drawn).find("{http://www.w3.org/2000/svg}title")
    assert title is not None
    assert title.text == "harbour: #2 of 2"
    assert "<b>" not in badge("<b>", "x")
    assert metric_words(RANKING) == "A 0.600"
    assert generator_words(RANKING, "three") == "not ranked"
    with pytest.raises(UnknownName):
        generator_words(RANKING, "nobody")


def test_names_with_odd_characters_lead_home() -> None:
    assert generator_address("b", SLASHED) == "/boards/b/generators/a%2Fb%20c%3Fd%23e%25f"
    assert asked({"a": ["x", "y"], "b": None, "c": "", "d": 0}) == "?a=x&a=y&d=0"


def test_only_web_addresses_become_links() -> None:
    assert str(linked("javascript:alert(1)")) == "javascript:alert(1)"
    assert 'href="https://x.org/?a=1&amp;b=2"' in str(linked("https://x.org/?a=1&b=2"))


def test_the_bodies_unused_for_longest_go_first() -> None:
    bodies = Bodies(most=16_000)
    made = [Body(bytes([k]) * 400, "x/y") for k in range(50)]
    for k, body in enumerate(made):
        bodies.keep(k, body)
        bodies.get(0)
    assert bodies.get(0) is made[0]
    assert bodies.get(1) is None
    assert bodies.get(49) is made[49]


def test_a_body_is_compressed_the_same_way_every_time_and_small_ones_not_at_all() -> None:
    body = Body(b"<p>again</p>" * 100)
    assert body.squeezed is not None
    assert gzip.decompress(body.squeezed) == body.content
    assert Body(body.content).squeezed == body.squeezed
    assert Body(b"short").squeezed is None


def test_who_only_has_another_number_has_not_moved() -> None:
    before = {"BLEU": 1, "BLEURT": 2, "chrF": 3, "TER": None}
    after = {"new": 1, "BLEU": 2, "chrF": 3, "BLEURT": 4, "TER": None}
    assert ranks_among(before, after) == {"BLEU": 1, "BLEURT": 2, "chrF": 3, "TER": None}
    assert ranks_among(after, before) == {"BLEU": 1, "chrF": 2, "BLEURT": 3, "TER": None}
    assert ranks_among({"a": 1, "b": 1, "c": 3}, {"a", "b", "c"}) == {"a": 1, "b": 1, "c": 3}


def test_mere_renumbering_is_no_move_and_has_no_colour() -> None:
    # D comes in first: A and B have other numbers, and B agrees a little less, but neither has moved.
    before = replace(RANKING, metrics=(metric("A", 1, 0.6), metric("B", 2, 0.5)))
    after = replace(RANKING, metrics=(metric("D", 1, 0.7), metric("A", 2, 0.6), metric("B", 3, 0.49)))
    assert [(m.name, m.words, m.role) for m in changes_between(before, after).metrics] == [
        ("D", "new at 1", ""),
        ("B", "3 (was 2; only renumbered)", ""),
    ]
    fallen = Move(name="B", before=2, after=2, among=(1, 2))
    assert (fallen.words, fallen.role) == ("2 → 2", "down")


def test_ranks_over_time_have_the_first_on_top_and_whole_ticks() -> None:
    drawn = timeline({"g": [3, None, 1, 2]}, [1, 2, 3, 4], ranks=True)
    assert drawn is not None
    worst, best, last = drawn.lines[0].dots
    assert best[1] < last[1] < worst[1]
    assert [text for _, text in drawn.levels] == ["1", "2", "3"]
    always = timeline({"g": [2, 2]}, [1, 2], ranks=True)
    assert always is not None
    assert [text for _, text in always.levels] == ["2"]


@pytest.mark.parametrize(
    ("outputs", "said"),
    [(600, "one point for each of 600 outputs"), (16_000, "all 16,000 outputs, counted in squares")],
)
def test_a_scatter_plot_says_how_many_points_it_draws(outputs: int, said: str) -> None:
    assert drawing_words(outputs, drawing_for(outputs)) == said


def test_an_address_asks_for_nothing_that_is_empty_and_for_a_list_several_times() -> None:
    assert asked({"find": "", "by": None, "hide": ["BLEU", "", "chrF"], "page": 0}) == "?hide=BLEU&hide=chrF&page=0"
    assert asked({"find": ""}) == ""
