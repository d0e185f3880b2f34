"""Correlations of metrics with simplicity on Simplicity-DA (Alva-Manchego et al., 2021, the table of all 600 outputs).

The paper correlates the released scores against ASSET's references with the released z-scores, without sign. They come
out where the whole repository lies in the shared data; the sample there has three outputs with scores.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from billboards.analyses.rank import rank_board
from billboards.importers import IMPORTERS

PUBLISHED = {
    "BERTScore-P-asset": 0.617,
    "BERTScore-F1-asset": 0.573,
    "iBLEU-asset": 0.504,
    "amean(BLEU,SARI)-asset": 0.503,
    "BERTScore-R-asset": 0.500,
    "BLEU-asset": 0.496,
    "gmean(BLEU,SARI)-asset": 0.476,
    "amean(BLEU,SARI,SAMSA)-asset": 0.419,
    "amean(BLEU,SAMSA)-asset": 0.380,
    "SARI-asset": 0.359,
    "gmean(BLEU,SARI,SAMSA)-asset": 0.328,
    "gmean(BLEU,SAMSA)-asset": 0.300,
    "amean(SARI,SAMSA)-asset": 0.166,
    "gmean(SARI,SAMSA)-asset": 0.156,
    "FKGL": 0.117,
    "FKBLEU-asset": 0.098,
    "SAMSA": 0.058,
}


@pytest.mark.data
def test_the_paper_s_metrics_are_columns_and_its_cells_come_out_of_the_whole_repository(shared_data: Path) -> None:
    sample = shared_data.parent / "samples" / "metaeval-simplification"
    names = {column.name for column in IMPORTERS.load("simplicity-da")(sample).board.imported}
    assert set(PUBLISHED) <= names
    for clone in filter(Path.is_dir, (shared_data / "metaeval-simplification", shared_data / "simplicity_da")):
        board = IMPORTERS.load("simplicity-da")(clone).board
        for judgments in ("simplicity_zscore", "simplicity_z"):
            ranking = rank_board(board, None, aggregate=judgments, draws=0)
            cells = {metric.name: abs(metric.correlation or np.nan) for metric in ranking.metrics}
            for name, value in PUBLISHED.items():
                assert cells[name] == pytest.approx(value, abs=0.00051), (judgments, name)
