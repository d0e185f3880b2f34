"""Imported scores against own ones: what is equal, what holds something else, and what that is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from small_boards import Errors, Overlap, small_board

import billboards as bb
from billboards.analyses._imported_scores import recompute
from billboards.board import Board, ImportedColumn
from billboards.board.cells import MemoryCells
from billboards.board.matrix import board_scores
from billboards.board.missing_cells import score_board
from billboards.metrics.base import Metric
from billboards.metrics.discovery import metric, metric_names
from billboards.metrics.executor import InProcess

KNOWN: dict[str, Metric] = {"overlap": Overlap(), "errors": Errors()}


def with_released(board: Board, change: dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]] | None = None) -> Board:
    store = MemoryCells()
    score_board(board, store, [Overlap()], InProcess())
    own = board_scores(board, store).of("overlap")
    values = {f"g{k}": own[k] for k in range(4)} | (change or {})
    column = ImportedColumn(
        name="overlap", source_name="word-overlap", signature="imported:x", values=values, references=("A", "B")
    )
    return replace(board, imported=(column,))


def test_equal_scores_are_said_to_be_equal() -> None:
    (column,), unknown = recompute(with_released(small_board()), KNOWN.get, list(KNOWN.values()))
    assert column.equal == ("g0", "g1", "g2", "g3")
    assert column.different == ()
    assert (column.source_name, column.compared, unknown) == ("word-overlap", 48, ())


def test_a_generator_with_another_metrics_scores_is_named_with_that_metric() -> None:
    board, store = small_board(), MemoryCells()
    score_board(board, store, [Errors()], InProcess())
    errors = board_scores(board, store).of("errors")[3]
    (column,), _ = recompute(with_released(board, {"g3": errors}), KNOWN.get, list(KNOWN.values()))
    assert [(d.generator, d.holds) for d in column.different] == [("g3", "errors")]


def test_scores_that_nothing_explains_are_named_with_the_difference() -> None:
    board = with_released(small_board(), {"g1": np.linspace(0, 1, 12)})
    (column,), _ = recompute(board, KNOWN.get, list(KNOWN.values()))
    assert [(d.generator, d.holds) for d in column.different] == [("g1", None)]
    assert column.different[0].largest > 0.1


def test_unknown_metrics_and_past_ensembles_are_listed() -> None:
    board = with_released(small_board())
    comet = replace(board.imported[0], name="COMET", source_name="comet")
    past = replace(board.imported[0], source_name="ensemble", is_ensemble=True)
    found, unknown = recompute(replace(board, imported=(comet, past)), KNOWN.get, [])
    assert (found, unknown) == ((), ("comet", "ensemble"))


def test_a_missing_released_score_is_not_compared() -> None:
    scores = np.full(12, np.nan)
    (column,), _ = recompute(with_released(small_board(), {"g2": scores}), KNOWN.get, [])
    assert column.equal == ("g0", "g1", "g3")
    assert column.compared == 36


@pytest.mark.long
@pytest.mark.data
def test_the_mistake_in_the_released_chrf_columns_is_found(shared_data: Path) -> None:
    board = bb.import_board(
        "billboard",
        shared_data / "billboard",
        board="wmt20-zh-en",
        judgments=shared_data / "wmt-mqm-human-evaluation",
        references=shared_data / "wmt20_references",
    )
    lexical = [metric(name) for name in ("BLEU", "chrF", "chrF++", "ROUGE-3", "ROUGE-L")]
    found, unknown = recompute(
        board, lambda name: next((m for m in lexical if m.name == name), None), lexical, sample=8
    )
    wrong = {column.source_name: {d.generator: d.holds for d in column.different} for column in found}
    assert wrong == {
        "SentBLEU": {},
        "chrFpp": {},
        "ROUGE-3": {},
        "ROUGE-L": {},
        "chrF": dict.fromkeys(
            (
                "DeepMind.381",
                "DiDi_NLP.401",
                "Huoshan_Translate.919",
                "OPPO.1422",
                "Online-B.1605",
                "THUNLP.1498",
                "Tencent_Translation.1249",
                "WeChat_AI.1525",
            ),
            "chrF++",
        ),
    }
    assert "wmt20-comet-da" in unknown
    assert "TER" in metric_names()


class Batched(Overlap):
    """Called once for all outputs of a generator, as neural metrics are, though no score depends on the others."""

    needs_corpus = True
    seen: ClassVar[list[int]] = []

    @property
    def needs_all_outputs(self) -> bool:
        return False

    def score_batch(self, batch: bb.Batch) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        self.seen.append(len(batch))
        return super().score_batch(batch)


def test_a_metric_that_only_likes_large_batches_is_asked_about_the_sample_alone() -> None:
    steps: list[tuple[int, int, str]] = []
    Batched.seen.clear()
    (column,), _ = recompute(
        with_released(small_board()),
        {"overlap": Batched()}.get,
        [],
        sample=5,
        on_progress=lambda step: steps.append((step.done, step.total, step.cell)),
    )
    assert column.compared == 4 * 5
    assert set(Batched.seen) <= {5, 10}
    assert steps == [(k, 4, "word-overlap") for k in (1, 2, 3, 4)]


def test_only_weights_of_all_texts_make_a_learned_metric_need_all_outputs() -> None:
    needy = {name: metric(name).needs_all_outputs for name in ("BERTScore", "MoverScore", "YiSi-1", "COMET", "CIDEr")}
    assert needy == {"BERTScore": False, "MoverScore": True, "YiSi-1": True, "COMET": False, "CIDEr": True}
    assert metric("BERTScore", idf=True).needs_all_outputs


def test_a_metric_of_the_whole_corpus_is_compared_on_all_of_it() -> None:
    """CIDEr-D under the name CIDEr, as COCO's evaluation prints it."""
    board, store = small_board(), MemoryCells()
    score_board(board, store, [metric("CIDEr-D")], InProcess())
    values = {f"g{k}": scores for k, scores in enumerate(board_scores(board, store).of("CIDEr-D")[:4])}
    released = replace(
        board,
        imported=(
            ImportedColumn(
                name="CIDEr", source_name="CIDEr", signature="imported:x", values=values, references=("A", "B")
            ),
        ),
    )
    (column,), _ = recompute(released, {"CIDEr": metric("CIDEr")}.get, [metric("CIDEr-D")], sample=2)
    assert column.compared == 48
    assert {difference.holds for difference in column.different} == {"CIDEr-D"}
