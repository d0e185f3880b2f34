"""The board of bulletins is complete, the same every time, honest about its judgments, and worth ranking."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from bulletins.build import build_board
from numpy.typing import NDArray

from billboards.board import Board, Slice, human_scores
from billboards.board.folder import open_board
from billboards.board.writing import write_board

Floats = NDArray[np.float64]


@pytest.fixture(scope="module")
def board() -> Board:
    return build_board()


@pytest.fixture(scope="module")
def human(board: Board) -> Floats:
    """The overall judgment of every output, rows × instances."""
    shape = (len(board.rows), len(board.instances))
    return human_scores(board.judgments, board.aggregate(), board.dimensions, shape)


@pytest.fixture(scope="module")
def chrf(board: Board) -> Floats:
    """chrF of every output against both references, rows × instances."""
    from sacrebleu.metrics.chrf import CHRF

    metric = CHRF()
    references = board.reference_texts(("Ada", "Ben"))
    return np.array(
        [
            [metric.sentence_score(text or "", refs).score for text, refs in zip(row.texts, references, strict=True)]
            for row in board.rows
        ]
    )


def test_there_are_48_instances_in_3_domains_and_8_machines_beside_1_human(board: Board) -> None:
    assert len(board.instances) == 48
    kinds = [generator.kind for generator in board.generators]
    assert (kinds.count("machine"), kinds.count("human")) == (8, 1)
    assert [len(board.select(Slice(domain=name))) for name in ("weather", "travel", "events")] == [16, 16, 16]


def test_every_generator_covers_every_instance(board: Board) -> None:
    assert all(text and text.strip() == text for row in board.rows for text in row.texts)
    assert [len(row.texts) for row in board.rows] == [48] * 9


def test_every_instance_has_both_references_a_document_and_an_input_of_its_own(board: Board) -> None:
    for instance in board.instances:
        assert [reference.name for reference in instance.references] == ["Ada", "Ben"]
        assert all(reference.text for reference in instance.references)
        assert instance.document is not None
        assert 5 <= len((instance.input or "").split("; ")) <= 8
    assert len({instance.input for instance in board.instances}) == 48


def test_parts_can_be_chosen_by_document_and_tag(board: Board) -> None:
    assert len(board.select(Slice(document="bus-notices"))) == 5
    assert len(board.select(Slice(tag="weekend"))) == 18
    assert len(board.select(Slice(domain="travel", tag="cancelled"))) == 4


def test_building_twice_gives_the_same_board(board: Board) -> None:
    again = build_board()
    assert again.version == board.version
    assert again.judgments.version == board.judgments.version


def test_a_written_board_opens_as_the_same_board(board: Board, tmp_path: Path) -> None:
    opened = open_board(write_board(board, tmp_path / "bulletins"))
    assert opened.version == board.version
    assert opened.instances == board.instances
    assert opened.generators == board.generators
    assert [row.texts for row in opened.rows] == [row.texts for row in board.rows]
    for name in ("name", "dimensions", "aggregates", "ranks", "metrics", "card", "input_language", "output_language"):
        assert getattr(opened, name) == getattr(board, name)


def test_three_readers_judge_every_output_on_both_dimensions_from_1_to_5(board: Board) -> None:
    judgments = board.judgments
    assert (judgments.dimensions, len(judgments.annotators)) == (("adequacy", "fluency"), 3)
    assert len(judgments) == 48 * 9 * 3
    cells = np.stack((judgments.instance, judgments.row, judgments.annotator))
    assert np.unique(cells, axis=1).shape[1] == 48 * 9 * 3
    assert set(np.unique(judgments.values)) == {1.0, 2.0, 3.0, 4.0, 5.0}


def test_another_seed_changes_the_readers_noise_and_no_text(board: Board) -> None:
    other = build_board(seed=7)
    assert [row.version for row in other.rows] == [row.version for row in board.rows]
    changed = (other.judgments.values != board.judgments.values).mean()
    assert 0.2 < changed < 0.8


def test_the_card_is_complete_and_says_that_the_judgments_are_illustrative(board: Board) -> None:
    assert board.card.missing() == ()
    assert "Illustrative judgments, made by a program" in str(board.card.protocol)
    assert "No person took part" in str(board.card.annotators)
    assert board.judgments.campaigns == ("illustrative",)
    assert all(generator.description for generator in board.generators)


def test_no_human_text_is_a_reference_and_machines_hit_one_at_most_twice(board: Board) -> None:
    references = [set(texts) for texts in board.reference_texts(("Ada", "Ben"))]
    hits = {row.name: sum(text in refs for text, refs in zip(row.texts, references, strict=True)) for row in board.rows}
    assert hits.pop("Cleo") == 0
    assert sum(hits.values()) <= 2


def test_chrf_agrees_with_the_judgments_but_not_too_well(human: Floats, chrf: Floats) -> None:
    assert 0.2 < np.corrcoef(human.ravel(), chrf.ravel())[0, 1] < 0.8


def test_readers_put_the_human_among_the_best_two_and_chrf_puts_worse_machines_above(
    board: Board, human: Floats, chrf: Floats
) -> None:
    cleo = board.row_position["Cleo"]
    judged, scored = human.mean(axis=1), chrf.mean(axis=1)
    assert (judged > judged[cleo]).sum() <= 1
    overrated = (scored > scored[cleo]) & (judged < judged[cleo] - 5)
    assert [row.name for row, yes in zip(board.rows, overrated, strict=True) if yes] == ["Embroiderer", "Stumbler"]
