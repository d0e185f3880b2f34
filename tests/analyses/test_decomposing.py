"""Where metrics' agreement comes from, as a reader sees it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from drawn_charts import data_of, title_of
from public_sets import make_wmt19_darr
from small_boards import noisy_board, small_board

import billboards as bb
from billboards.analyses._view import judged_matrix, look_at
from billboards.board.judgments import JudgmentColumns
from billboards.board.trust import TrustRules
from billboards.board.writing import write_board
from billboards.errors import NotEnoughData
from billboards.stats.agreement_parts import agreement_parts


def test_parts_add_up_and_people_stand_first() -> None:
    board = noisy_board({"near": 0.5, "far": 3.0})
    study = bb.decompose(board, draws=50).value
    ranked = {m.name: m for m in bb.rank(board, draws=0).value.metrics}
    assert [m.name for m in study.metrics] == ["near", "far"]
    for m in study.metrics:
        assert m.items + m.generators + m.outputs == pytest.approx(m.correlation, abs=1e-12)
        assert m.correlation == pytest.approx(ranked[m.name].correlation, abs=1e-12)
        assert m.own_items + m.own_generators + m.own_outputs == pytest.approx(1.0)
        assert m.outputs_interval is not None
        assert m.outputs_interval[0] < m.outputs_interval[1]
    people = study.people
    assert people.correlation == pytest.approx(1.0)
    assert (people.items, people.outputs) == pytest.approx((people.own_items, people.own_outputs))
    assert (study.items, study.generators, people.n) == (50, 4, 200)


def test_the_numbers_are_those_of_the_judged_matrix_and_draws_have_a_seed() -> None:
    board = noisy_board({"near": 0.5})
    matrix = judged_matrix(board, None)
    documents = np.array([board.documents[k] for k in range(50)])
    unit = np.unique(documents, return_inverse=True)[1]
    taken = agreement_parts(matrix.scores.values, matrix.judged_human, unit=unit, draws=30, seed=4)
    study = bb.decompose(board, draws=30, seed=4, resampled="documents").value
    (near,) = study.metrics
    assert (near.items, near.generators, near.outputs) == pytest.approx(tuple(taken.parts[0]), abs=1e-12)
    assert near.items_interval == pytest.approx(tuple(taken.intervals[:, 0, 0, 0]), abs=1e-9)
    assert bb.decompose(board, draws=30, seed=5, resampled="documents").value != study
    assert bb.decompose(board, draws=0).value.people.items_interval is None


def test_it_says_in_a_sentence_what_an_agreement_is_made_of() -> None:
    result = bb.decompose(noisy_board({"near": 0.5, "far": 3.0}), draws=20)
    near = result.value.metrics[0]
    assert result.words[0] == (
        f"Of the correlation of near with people, {near.correlation:.3f}, it earns {near.items:.3f} by knowing which "
        f"items are hard, {near.generators:.3f} by knowing which generators are good and {near.outputs:.3f} by judging "
        "single outputs."
    )
    assert result.words[1].startswith("People's scores vary by items (")
    assert "people themselves" in str(result)
    bars = data_of(result.chart())
    assert [bar["value"] for bar in bars if bar["name"] == "near"] == [near.items, near.generators, near.outputs]
    assert title_of(result.chart()).startswith(f"near earns {near.outputs:.3f} of its {near.correlation:.3f}")


def test_agreement_on_a_private_share_is_taken_apart_there() -> None:
    board = replace(noisy_board({"near": 0.5}), trust=TrustRules(private_share=0.4, private_seed=3))
    ranking = bb.rank(board, draws=0).value
    study = bb.decompose(board, draws=0).value
    assert ranking.private is not None
    assert study.items == ranking.private.private < 50
    assert study.metrics[0].correlation == pytest.approx(ranking.metrics[0].correlation, abs=1e-12)


def test_a_metric_without_parts_is_named_with_the_reason() -> None:
    board = noisy_board({"near": 0.5, "flat": 1.0})
    flat = replace(board.imported[1], values={name: np.full(50, 2.0) for name in board.imported[1].values})
    study = bb.decompose(replace(board, imported=(board.imported[0], flat)), draws=10).value
    assert [m.name for m in study.metrics] == ["near"]
    assert list(study.missing) == ["flat"]


def test_boards_that_have_no_answer_say_why(tmp_path: Path) -> None:
    with pytest.raises(NotEnoughData, match="has no scores yet"):
        bb.decompose(small_board())
    board, columns = noisy_board({"near": 0.5}), JudgmentColumns(("adequacy",))
    for k in range(50):
        columns.add(k, 0, {"adequacy": float(1 + k % 5)}, annotator="ann")
    with pytest.raises(NotEnoughData, match="outputs of two generators or more"):
        bb.decompose(replace(board, judgments=columns.build()))
    same = JudgmentColumns(("adequacy",))
    for row, k in np.ndindex(4, 50):
        same.add(k, row, {"adequacy": 3.0}, annotator="ann")
    with pytest.raises(NotEnoughData, match="people's scores on small don't vary"):
        bb.decompose(replace(board, judgments=same.build()))
    compared = make_wmt19_darr(tmp_path / "in").load("wmt19-darr").board
    with pytest.raises(NotEnoughData, match="agreement with them has no parts"):
        bb.decompose(bb.open(write_board(compared, tmp_path / "board")))


def test_hidden_judgments_leave_nothing_to_take_apart() -> None:
    board = noisy_board({"near": 0.5})
    hidden = replace(board, judgments=JudgmentColumns(("adequacy",)).build())
    view = replace(look_at(board), counted=hidden, judgments_hidden=True)
    with pytest.raises(NotEnoughData):
        bb.decompose(view)
