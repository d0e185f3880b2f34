"""The demo board is SummEval: 16 summarisers and one human writer, judged by experts and by a crowd."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import billboards as bb
from billboards.board import Board, Slice, human_scores
from billboards.board.folder import open_board
from billboards.board.writing import write_board
from billboards.demo import build_board
from billboards.importers.summeval import SYSTEMS


@pytest.fixture(scope="module")
def board() -> Board:
    return build_board()


def test_16_summarisers_and_1_person_summarise_100_articles(board: Board) -> None:
    assert len(board.instances) == 100
    assert {g.name for g in board.generators if g.kind == "machine"} == set(SYSTEMS.values())
    assert [g.name for g in board.generators if g.kind == "human"] == ["Crowd-writer"]
    assert all(text and text.strip() for row in board.rows for text in row.texts)
    assert [len(board.select(Slice(domain=name))) for name in ("CNN", "Daily Mail")] == [13, 87]


def test_nine_crowd_written_references_stand_beside_the_tenth_that_is_a_row(board: Board) -> None:
    assert board.reference_names == tuple(f"crowd{k}" for k in range(2, 11))
    assert all(len(instance.references) == 9 and instance.input is None for instance in board.instances)
    references = board.reference_texts(board.reference_names)
    person = board.row("Crowd-writer").texts
    assert not [text for text, others in zip(person, references, strict=True) if text in others]


def test_every_summary_of_a_machine_has_three_experts_and_five_crowd_workers(board: Board) -> None:
    judgments = board.judgments
    assert judgments.dimensions == ("coherence", "consistency", "fluency", "relevance")
    assert len(judgments) == 1600 * (3 + 5)
    cells = np.stack((judgments.instance, judgments.row, judgments.annotator))
    assert np.unique(cells, axis=1).shape[1] == 12_800
    assert set(np.unique(judgments.values)) == {1.0, 2.0, 3.0, 4.0, 5.0}
    assert board.row_position["Crowd-writer"] not in judgments.row
    assert board.anonymous == ("expert", "crowd")


@pytest.mark.parametrize(
    ("generator", "expert", "crowd"), [("BART", 91.350, 76.670), ("Lead-3", 91.067, 76.980), ("T5", 90.433, 76.750)]
)
def test_ratings_are_means_over_dimensions_and_annotators(
    board: Board, generator: str, expert: float, crowd: float
) -> None:
    """SummEval gives BART's experts 4.18 on coherence, 4.94 on consistency, 4.90 on fluency, 4.25 on relevance."""
    shape = (len(board.rows), len(board.instances))
    row = board.row_position[generator]
    means = [
        human_scores(board.judgments, board.aggregate(name), board.dimensions, shape)[row].mean()
        for name in ("expert", "crowd")
    ]
    assert means == pytest.approx([expert, crowd], abs=5e-4)


def test_its_metrics_need_neither_articles_nor_models(board: Board) -> None:
    metrics = [bb.metric(name) for name in board.metrics]
    assert [metric.name for metric in metrics if metric.card.needs_input] == []


def test_the_card_says_all_that_readers_must_know(board: Board) -> None:
    assert board.card.missing() == ()
    assert "Fabbri, Kryściński, McCann, Xiong, Socher, Radev (2021)" in str(board.card.citation)
    assert "MIT" in str(board.card.licence)
    assert "`billboards get summeval`" in str(board.card.comments)
    assert "nobody rated it" in str(board.card.comments)
    assert all(generator.description for generator in board.generators)


def test_a_written_board_opens_as_the_same_board(board: Board, tmp_path: Path) -> None:
    opened = open_board(write_board(board, tmp_path / "demo"))
    assert opened.version == board.version == build_board().version
    assert opened.instances == board.instances
    assert [row.texts for row in opened.rows] == [row.texts for row in board.rows]
    for name in ("name", "dimensions", "aggregates", "ranks", "metrics", "card", "anonymous", "generators"):
        assert getattr(opened, name) == getattr(board, name)
