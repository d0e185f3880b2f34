"""The column of BERTScore says which model it is; the name that people type, cells and documents stay as they are."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_boards import small_board

import billboards as bb
from billboards.analyses._labels import relabelled
from billboards.board.cells import ColumnKey, SqliteCells
from billboards.board.matrix import column_labels, column_named
from billboards.board.scores import Column, ImportedColumn
from billboards.cli.main import main
from billboards.metrics.labels import column_label, relabelled_text
from billboards.metrics.neural.bertscore import BERTScore
from billboards.metrics.parts import part_of

SIGNATURE = "BERTScore|model:minilm|weights:0123456789ab|layer:6|idf:no|rescaled:no|precision:fp32|revision:1"
LARGE = SIGNATURE.replace("model:minilm", "model:roberta-large")


@pytest.mark.parametrize(
    ("name", "signature", "label"),
    [
        ("BERTScore", SIGNATURE, "BERTScore (MiniLM)"),
        ("BERTScore", SIGNATURE.replace("minilm", "sentence-transformers/all-MiniLM-L6-v2"), "BERTScore (MiniLM)"),
        ("BERTScore(model=roberta-large)", LARGE, "BERTScore (roberta-large)"),
        ("BERTScore(model=roberta-large,idf=True)", LARGE, "BERTScore (roberta-large)(idf=True)"),
        ("BERTScore(idf=True)[P]", SIGNATURE, "BERTScore (MiniLM)(idf=True)[P]"),
        (
            "BERTScore(model=microsoft/deberta-xlarge-mnli)",
            SIGNATURE.replace("minilm", "microsoft/deberta-xlarge-mnli"),
            "BERTScore (deberta-xlarge-mnli)",
        ),
        # A column that came with the data has no signature of ours, and its model is the data's affair.
        ("BERTScore", "billboard:BERTScore", "BERTScore"),
        ("BERTScore", None, "BERTScore"),
        ("BLEU", "BLEU|case:mixed", "BLEU"),
        ("BERTScore-like", SIGNATURE, "BERTScore-like"),
    ],
)
def test_a_label_is_read_off_name_and_signature(name: str, signature: str | None, label: str) -> None:
    assert column_label(name, signature) == label


def test_a_metric_knows_its_label_without_its_model() -> None:
    assert BERTScore().label == "BERTScore (MiniLM)"
    assert BERTScore(model="roberta-large", idf=True).label == "BERTScore (roberta-large)(idf=True)"
    assert part_of(BERTScore(), "p").label == "BERTScore (MiniLM)[P]"
    assert (BERTScore().name, bb.metric("bertscore").label, bb.metric("bleu").label) == (
        "BERTScore", "BERTScore (MiniLM)", "BLEU"
    )  # fmt: skip


def test_sentences_have_labels_once() -> None:
    labels = {"BERTScore": "BERTScore (MiniLM)", "BERTScore (own)": "BERTScore (MiniLM) (own)"}
    text = "BERTScore beats BERTScore(idf=True), MyBERTScore and BERTScore (own); BERTScore[P]; BERTScore|model:minilm"
    shown = (
        "BERTScore (MiniLM) beats BERTScore(idf=True), MyBERTScore and BERTScore (MiniLM) (own); "
        "BERTScore (MiniLM)[P]; BERTScore|model:minilm"
    )
    assert relabelled_text(text, labels) == shown
    assert relabelled_text(shown, labels) == shown


def scored(folder: Path) -> bb.Board:
    """A board with the cells of a BERTScore as an older version wrote them, and BLEU."""
    board = bb.save(replace(small_board(), metrics=("BLEU",)), folder / "board")
    bb.score(board)
    column = Column(
        name="BERTScore",
        signature=SIGNATURE,
        references=board.references,
        origin="own",
        source_name=None,
        needs_references=True,
        needs_input=False,
        is_statistic=False,
    )
    assert board.home is not None
    store = SqliteCells(board.home)
    key = ColumnKey(column, board.context_version(references=board.references, inputs=False))
    random = np.random.default_rng(3)
    for row in board.rows:
        if not board.is_reference(row, board.references):
            scores = np.array([len(text or "") + random.random() for text in row.texts])
            store.save(key, row.version, {"F1": scores, "P": scores / 2}, seconds=0.1)
    return board


def test_tables_show_the_label_and_names_stay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    board = scored(tmp_path)
    result = bb.rank(board, by="bertscore", draws=5)
    assert result.value.ranked_by == "BERTScore"
    shown = result.to_text(wide=True)
    assert "generators by BERTScore (MiniLM)" in shown
    assert "BERTScore" not in shown.replace("BERTScore (MiniLM)", "").replace("BERTScore|", "")
    assert result.document["labels"] == {"BERTScore": "BERTScore (MiniLM)"}
    assert "BERTScore" in {metric["name"] for metric in result.document["metrics"]}
    assert any("ranked by BERTScore (MiniLM)" in note for note in result.notes)
    assert "BERTScore (MiniLM)" in json.dumps(result.chart().to_dict())
    for by in ("BERTScore", "BERTScore (MiniLM)", "bertscore (minilm)"):
        assert bb.rank(board, by=by, draws=5).value.ranked_by == "BERTScore"
    assert bb.rank(board, by="BERTScore[P]", draws=5).value.ranked_by == "BERTScore[P]"
    assert "BERTScore (MiniLM)" in bb.compare(board, "BERTScore", "BLEU", draws=5).to_text()
    assert "BERTScore (MiniLM)" in bb.estimate(board, metric="BERTScore").to_text()
    home = str(board.home)
    assert main(["rank", home, "--by", "BERTScore", "--draws", "5"]) == 0
    assert "generators by BERTScore (MiniLM)" in capsys.readouterr().out
    page = bb.report(board, tmp_path / "page.html", with_studies=False, with_references=False).read_text("utf-8")
    assert "BERTScore (MiniLM)" in page


def test_a_board_without_such_a_column_has_no_labels(tmp_path: Path) -> None:
    board = bb.save(replace(small_board(), metrics=("BLEU",)), tmp_path / "board")
    bb.score(board)
    result = bb.rank(board, draws=5)
    assert "labels" not in result.document
    assert relabelled(result.value, {}) is result.value
    assert result.value.shown is result.value


def test_scores_that_came_with_the_data_keep_their_name(tmp_path: Path) -> None:
    board = scored(tmp_path)
    assert board.home is not None
    store = SqliteCells(board.home)
    values = {row.name: np.array([float(len(text or "")) for text in row.texts]) for row in board.rows}
    released = bb.rank(board, draws=5).value
    column = ImportedColumn(name="BERTScore", source_name="BERTScore", signature="data:BERTScore", values=values)
    imported = replace(board, imported=(column,))
    assert column_labels(imported, store) == {"BERTScore (own)": "BERTScore (MiniLM) (own)"}
    assert column_named(imported, store, "BERTScore") == "BERTScore"
    assert column_labels(replace(imported, lead="own"), store) == {"BERTScore": "BERTScore (MiniLM)"}
    assert {metric.label for metric in released.metrics} == {"BLEU", "BERTScore (MiniLM)"}
