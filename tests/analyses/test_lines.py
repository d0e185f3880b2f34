"""Reference lines: what sentinels and held-out people reach."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from small_boards import small_board

from billboards.analyses import _reference_lines as lines
from billboards.analyses._reference_lines import ReferenceLine, reference_lines
from billboards.analyses.rank import rank_board
from billboards.board import Board, Outputs, Slice
from billboards.board.judgments import JudgmentColumns


def named(found: tuple[ReferenceLine, ...]) -> dict[str, ReferenceLine]:
    return {line.name: line for line in found}


def with_annotators(board: Board, noise: dict[str, float], *, seed: int = 3) -> Board:
    """The same outputs judged by several people: the true value plus each one's own noise."""
    random = np.random.default_rng(seed)
    columns = JudgmentColumns(("adequacy",))
    for k in range(len(board.instances)):
        for row in range(4):
            true = random.uniform(1, 5)
            for name, spread in noise.items():
                columns.add(k, row, {"adequacy": float(np.clip(true + spread * random.normal(), 1, 5))}, annotator=name)
    return replace(board, judgments=columns.build())


def test_every_sentinel_is_measured_on_the_judged_outputs() -> None:
    found = named(reference_lines(small_board(instances=60), Slice()))
    assert set(found) == {"random", "length", "output only", "input only"}
    assert {line.n for line in found.values()} == {240}
    assert abs(found["random"].correlation or 1) < 0.2


def test_a_board_whose_ranking_judgments_are_all_gone_has_no_lines() -> None:
    nobody = JudgmentColumns(("adequacy",)).build()
    assert reference_lines(replace(small_board(instances=20), judgments=nobody), Slice()) == ()


def test_length_is_the_output_s_characters() -> None:
    board = small_board(instances=20)
    people = board.judgments.means("adequacy", (6, 20))[:4]
    size = np.array([[len(text or "") for text in row.texts] for row in board.rows[:4]], float)
    expected = np.corrcoef(size.ravel(), people.ravel())[0, 1]
    assert named(reference_lines(board, Slice()))["length"].correlation == pytest.approx(expected, abs=1e-12)


def test_a_fitted_sentinel_never_sees_the_document_it_predicts() -> None:
    """Judgments that are pure noise can't be predicted from other documents, however many features there are."""
    random = np.random.default_rng(1)
    columns = JudgmentColumns(("adequacy",))
    board = small_board(instances=90)
    for k in range(90):
        for row in range(4):
            columns.add(k, row, {"adequacy": float(random.integers(1, 6))})
    found = named(reference_lines(replace(board, judgments=columns.build()), Slice()))
    assert (found["output only"].correlation or 0) < 0.12


def test_random_numbers_do_not_change_when_a_generator_is_added() -> None:
    few, more = lines._random(["a"], ["i1", "i2"], 0), lines._random(["b", "a"], ["i1", "i2"], 0)
    np.testing.assert_array_equal(few[0], more[1])
    assert (lines._random(["a"], ["i1", "i2"], 1) != few).all()


def test_each_annotator_is_held_out_against_the_others() -> None:
    board = with_annotators(small_board(instances=30), {"careful": 0.1, "steady": 0.3, "careless": 3.0})
    found = named(reference_lines(board, Slice()))
    people = [name for name, line in found.items() if line.kind == "annotator"]
    assert people[-1] == "careless"
    assert found["careful"].n == 120
    values = {
        name: board.judgments.values[board.judgments.annotator == board.judgments.annotators.index(name), 0]
        for name in ("careful", "steady", "careless")
    }
    expected = np.corrcoef(values["careful"], (values["steady"] + values["careless"]) / 2)[0, 1]
    assert found["careful"].correlation == pytest.approx(expected, abs=1e-12)


def test_a_single_annotator_has_nobody_to_be_measured_against() -> None:
    assert all(line.kind == "sentinel" for line in reference_lines(small_board(instances=30), Slice()))


def test_large_boards_are_sampled_with_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MOST_OUTPUTS", 40)
    board = small_board(instances=60)
    first, again, other = (named(reference_lines(board, Slice(), seed=s)) for s in (0, 0, 1))
    assert first["length"].n == 40
    assert first == again
    assert first["length"].correlation != other["length"].correlation


def test_of_many_generators_only_a_sample_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MOST_GENERATORS", 2)
    board, read = small_board(instances=30), []

    def watched(row: Outputs) -> Outputs:
        return replace(row, load=lambda: read.append(row.name) or row.texts)  # type: ignore[func-returns-value]

    found = named(reference_lines(replace(board, rows=tuple(map(watched, board.rows))), Slice(), references=()))
    assert found["length"].n == 60
    assert len(read) == 2


def test_what_is_seen_of_a_text_without_understanding_it() -> None:
    """Of 14 characters 5 are capitals, 3 digits, and 3 neither letter, digit nor space; a circled capital is both."""
    expected = (14, 4, 14 / 4, 1, 5 / 14, 3 / 14, 3 / 14)
    assert lines._features("ÄB Ⓐb1, 2² CD!") == pytest.approx(expected)
    assert all(np.isnan(lines._features(None)))


def test_rankings_carry_the_lines_and_the_other_ensemble() -> None:
    board = small_board(instances=30)
    ranking = rank_board(board, None, draws=0)
    assert {line.name for line in ranking.lines} >= {"random", "length"}
    assert rank_board(replace(board, ranks=None), None, draws=0).lines == ()
