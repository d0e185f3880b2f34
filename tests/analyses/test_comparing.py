"""Comparing two metrics or two generators."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_boards import noisy_board

import billboards as bb
from billboards.analyses._view import judged_matrix, look_at
from billboards.analyses.compare import (
    GeneratorComparison,
    MetricComparison,
    Unit,
    compare_all_metrics,
    compare_generators,
    compare_metrics,
)
from billboards.errors import InvalidInput, NotEnoughData, UnknownName
from billboards.stats.clusters import benjamini_hochberg, holm
from billboards.stats.pairwise import acc_eq, permute_decisions
from billboards.stats.significance import permute_correlations


def test_a_better_metric_is_found_better_and_the_interval_holds_the_difference() -> None:
    found = compare_metrics(noisy_board({"good": 5, "poor": 200}), None, "good", "poor", draws=300)
    assert found.difference is not None
    assert found.interval is not None
    assert found.interval[0] < found.difference < found.interval[1]
    assert found.interval[0] > 0
    assert (found.p_permutation or 1) < 0.01
    assert (found.p_williams or 1) < 0.01
    assert found.n == 200
    assert 2 < (found.needed or 0) < 50


def test_acc_eq_of_both_stands_beside_the_correlations_with_its_p_values() -> None:
    board = noisy_board({"good": 5, "poor": 200})
    found = compare_metrics(board, None, "good", "poor", draws=200, seed=2)
    view = judged_matrix(board, None)
    pair, human = view.scores.values[:, view.judged], view.human[view.judged]
    expected = acc_eq(pair, human)
    accuracy = found.accuracy
    assert accuracy is not None
    assert accuracy.values == pytest.approx(tuple(expected.accuracy))
    assert accuracy.epsilons == pytest.approx(tuple(expected.epsilon))
    assert accuracy.difference == pytest.approx(expected.accuracy[0] - expected.accuracy[1])
    assert (accuracy.pairs, accuracy.instances) == (300, 50)
    assert accuracy.p_pairs == permute_decisions(pair, human, draws=200, seed=2).p[0, 1]
    assert accuracy.p_instances == permute_decisions(pair, human, unit="instances", draws=200, seed=2).p[0, 1]
    document = bb.compare(board, "good", "poor", draws=20).document["accuracy"]
    assert document["values"] == pytest.approx(list(accuracy.values))


def test_p_of_acc_eq_is_that_of_the_one_ahead_in_acc_eq() -> None:
    board = noisy_board({"good": 5, "poor": 200})
    one = compare_metrics(board, None, "good", "poor", draws=100).accuracy
    other = compare_metrics(board, None, "poor", "good", draws=100).accuracy
    assert one is not None
    assert other is not None
    assert one.p_pairs == other.p_pairs == pytest.approx(1 / 101)


def test_without_two_outputs_of_an_instance_there_is_no_acc_eq_and_the_table_says_so() -> None:
    board = noisy_board({"a": 5, "b": 20})
    judged = board.judgments
    kept = judged.row == judged.instance % 4
    board = replace(
        board,
        judgments=replace(
            judged,
            instance=judged.instance[kept],
            row=judged.row[kept],
            annotator=judged.annotator[kept],
            campaign=judged.campaign[kept],
            values=judged.values[kept],
        ),
    )
    result = bb.compare(board, "a", "b", draws=20)
    assert isinstance(result.value, MetricComparison)
    assert result.value.accuracy is None
    assert result.value.n == 50
    assert "acc_eq needs two judged outputs of one instance" in str(result)


@pytest.mark.parametrize(("unit", "name"), [("both", "BOTH"), ("instances", "INPUTS"), ("generators", "SYSTEMS")])
def test_what_the_permutation_test_exchanges_can_be_chosen(unit: Unit, name: str) -> None:
    board = noisy_board({"a": 20, "b": 60})
    result = bb.compare(board, "a", "b", unit=unit, draws=100, seed=1)
    assert isinstance(result.value, MetricComparison)
    view = judged_matrix(board, None)
    scores, human = view.scores.values, view.judged_human
    tests = permute_correlations(scores, human, unit=unit, draws=100, seed=1, sides="two")
    assert result.value.p_permutation == tests.p[0, 1]
    assert f"p, two-sided (PERM-{name})" in str(result)
    asked = bb.compare(board, "a", "b", unit=unit, draws=100, seed=1, sides="one")
    expected = permute_correlations(scores, human, unit=unit, draws=100, seed=1)
    assert isinstance(asked.value, MetricComparison)
    assert (asked.value.p_permutation, asked.value.sides) == (expected.p[0, 1], "one")
    assert f"p, one-sided (PERM-{name})" in str(asked)


def test_all_pairs_carry_p_values_corrected_for_their_number() -> None:
    board = noisy_board({"a": 5, "b": 60, "c": 80, "d": 200})
    found = compare_all_metrics(board, None, draws=2000)
    assert len(found.compared) == 6
    p = np.array([pair.p for pair in found.compared], float)
    assert p.tolist() == sorted(p)
    assert [pair.holm for pair in found.compared] == pytest.approx(holm(p).tolist())
    assert [pair.bh for pair in found.compared] == pytest.approx(benjamini_hochberg(p).tolist())
    view = judged_matrix(board, None)
    tests = permute_correlations(view.scores.values, view.judged_human, draws=2000, sides="two")
    pair = next(one for one in found.compared if {one.first, one.second} == {"b", "c"})
    ahead, behind = (view.scores.column(name) for name in (pair.first, pair.second))
    assert (pair.difference or 0) >= 0
    assert pair.p == tests.p[ahead, behind] == tests.p[behind, ahead]
    assert pair.n == 200
    assert pair.pairs == 300


def test_too_few_draws_for_holm_are_spoken_of() -> None:
    board = noisy_board({"a": 5, "b": 60, "c": 80})
    assert "50 draws are too few for any pair to pass Holm's at .05; take 60." in str(bb.compare_all(board, draws=50))
    assert "too few" not in str(bb.compare_all(board, draws=60))


def test_the_order_of_the_two_only_turns_the_sign() -> None:
    board = noisy_board({"a": 20, "b": 25})
    one, other = compare_metrics(board, None, "a", "b", draws=100), compare_metrics(board, None, "b", "a", draws=100)
    assert one.difference == pytest.approx(-(other.difference or 0), abs=1e-12)
    assert one.p_williams == pytest.approx(other.p_williams, abs=1e-12)
    assert one.needed == other.needed
    assert [o.instance for o in one.for_first] == [o.instance for o in other.for_second]


def test_deciding_outputs_speak_for_their_side_with_texts() -> None:
    board = noisy_board({"good": 5, "poor": 200})
    found = compare_metrics(board, None, "good", "poor", draws=10, shown=3)
    assert len(found.for_first) == 3
    assert [o.weight for o in found.for_first] == sorted((o.weight for o in found.for_first), reverse=True)
    assert all(o.weight > 0 for o in found.for_first)
    assert all(o.weight < 0 for o in found.for_second)
    best = found.for_first[0]
    row, column = board.row_position[best.generator], board.position[best.instance]
    assert best.output == board.rows[row].texts[column]
    assert best.reference == board.instances[column].references[0].text


def test_texts_that_are_not_there_are_empty() -> None:
    board = noisy_board({"m": 5})
    first, second = (row.name for row in board.rows[:2])
    bare = replace(board, instances=tuple(replace(instance, references=()) for instance in board.instances))
    gap = replace(bare.rows[1], load=lambda: (None, *bare.rows[1].load()[1:]))
    view = look_at(replace(bare, rows=(bare.rows[0], gap, *bare.rows[2:])))
    texts = view.texts(bare.instances[0].id, first, second)
    assert texts == {"output": bare.rows[0].texts[0], "reference": "", "other": ""}
    assert view.texts(bare.instances[0].id, second)["output"] == ""


def test_two_generators_are_compared_under_people_and_metrics() -> None:
    board = noisy_board({"m": 5})
    found = compare_generators(board, None, "g0", "g3", draws=200)
    people = found.scores[0]
    assert people.name == "people"
    assert people.difference > 0
    assert people.p < 0.01
    assert people.wins + people.ties + people.losses == people.n == 50
    assert found.decided_by == "people"
    assert found.for_first[0].output == board.row("g0").texts[board.position[found.for_first[0].instance]]
    assert found.for_first[0].other == board.row("g3").texts[board.position[found.for_first[0].instance]]
    assert compare_generators(board, None, "g0", "g3", by="m", draws=10).decided_by == "m"


def test_the_same_generator_twice_can_t_be_told_apart() -> None:
    found = compare_generators(noisy_board({"m": 5}), None, "g1", "g1", draws=100)
    assert found.scores[0].difference == 0
    assert found.scores[0].p == 1
    assert found.needed is None


def test_what_can_t_be_compared_is_refused() -> None:
    board = noisy_board({"m": 5, "empty": 5})
    nothing = replace(board.imported[1], values={"g0": np.full(50, np.nan)})
    board = replace(board, imported=(board.imported[0], nothing))
    with pytest.raises(NotEnoughData, match="share 0 judged outputs"):
        compare_metrics(board, None, "m", "empty")
    with pytest.raises(UnknownName, match="no metric named 'mm'"):
        compare_metrics(board, None, "m", "mm")
    with pytest.raises(InvalidInput, match="has no scores of both"):
        compare_generators(board, None, "g0", "g1", by="empty")
    with pytest.raises(InvalidInput, match="two metrics or two generators"):
        bb.compare(board, "m", "g1")


def test_one_call_knows_what_it_compares() -> None:
    board = noisy_board({"a": 5, "b": 9})
    assert isinstance(bb.compare(board, "a", "b", draws=20).value, MetricComparison)
    found = bb.compare(board, "g0", "g1", draws=20)
    assert isinstance(found.value, GeneratorComparison)
    assert "g0 against g1" in str(found)
    assert found.document["kind"] == "comparison"
    assert "<table" in found._repr_html_()
