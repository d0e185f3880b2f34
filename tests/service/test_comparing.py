"""Comparing two metrics or two generators."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_boards import small_board

import billboards as bb
from billboards.domain import Board, GeneratorComparison, ImportedColumn, MetricComparison, human_scores
from billboards.errors import InvalidInput, NotEnoughData, UnknownName
from billboards.service.comparing import compare_generators, compare_metrics


def noisy_board(noise: dict[str, float], instances: int = 50) -> Board:
    """A board with imported metrics that are people's scores plus noise."""
    board = small_board(instances=instances)
    people = human_scores(board.judgments, board.aggregate(), board.dimensions, (6, instances))
    random = np.random.default_rng(0)
    columns = []
    for name, spread in noise.items():
        values = people + spread * random.normal(size=people.shape)
        rows = {f"g{k}": values[k] for k in range(4)}
        columns.append(ImportedColumn(name, name, f"imported:{name}", rows, ("A", "B")))
    return replace(board, imported=tuple(columns))


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
