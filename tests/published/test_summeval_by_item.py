"""SummEval as its users report it: by item and by system, beside a plain scipy loop over the same rows.

Published beside it: the repository of DocAsRef (Bao et al. 2023, experiments/results/result_summeval.md, rows "trad")
prints correlations by summary of ROUGE with the original reference. Ours are within .02: the texts of the two copies
differ (this one capitalises sentences of systems that wrote lower case).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import kendalltau, pearsonr, spearmanr

import billboards as bb
from billboards.analyses.suite.dimension_agreement import load_columns, people_say
from billboards.analyses.suite.open import OpenSuite, opened
from billboards.analyses.suite.results import Block, Suite, SuiteBoard, SuiteResult

pytestmark = pytest.mark.data

Floats = NDArray[np.float64]
DIMENSIONS = ("coherence", "consistency", "fluency", "relevance")
METRICS = ("ROUGE-1", "ROUGE-2", "ROUGE-L")
COEFFICIENTS: dict[str, Callable[[Floats, Floats], float]] = {
    "pearson": lambda x, y: float(pearsonr(x, y).statistic),
    "spearman": lambda x, y: float(spearmanr(x, y).statistic),
    "kendall-b": lambda x, y: float(kendalltau(x, y).statistic),
}
#: By statistic and dimension: ROUGE-1, ROUGE-2, ROUGE-L.
DOCASREF = {
    ("pearson", "coherence"): (0.129, 0.131, 0.153),
    ("pearson", "consistency"): (0.214, 0.212, 0.178),
    ("pearson", "fluency"): (0.148, 0.123, 0.133),
    ("pearson", "relevance"): (0.270, 0.221, 0.221),
    ("spearman", "coherence"): (0.117, 0.109, 0.146),
    ("spearman", "consistency"): (0.148, 0.166, 0.123),
    ("spearman", "relevance"): (0.250, 0.194, 0.205),
}


@pytest.fixture(scope="module")
def suite(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> OpenSuite:
    folder = tmp_path_factory.mktemp("summeval") / "summeval"
    bb.save(bb.import_board("summeval", shared_data / "summeval"), folder)
    ready = opened(Suite("summeval", (SuiteBoard(folder, DIMENSIONS, ()),), METRICS))
    ready.score()
    return ready


def value(result: SuiteResult, metric: str, block: Block, dimension: str, statistic: str) -> float:
    (cell,) = (c for c in result.cells if (c.metric, c.block, c.column) == (metric, block, f"summeval:{dimension}"))
    return cell.measures[statistic].value


@pytest.mark.long
@pytest.mark.parametrize("block", ["all", "one"])
@pytest.mark.parametrize("grouping", ["by-item", "by-system"])
@pytest.mark.parametrize("statistic", ["spearman", "kendall-b"])
def test_every_cell_is_what_a_plain_loop_over_the_same_rows_gives(
    suite: OpenSuite, statistic: str, grouping: str, block: Block
) -> None:
    result = suite.tables(f"{statistic}/{grouping}", draws=0).value
    (member,) = suite.boards
    scores = load_columns(member, block, suite.chosen)
    assert scores.names == METRICS
    for dimension in DIMENSIONS:
        human = people_say(member, dimension)
        assert np.isfinite(human).sum() == 1600
        for metric, values in zip(METRICS, scores.values, strict=True):
            pairs = zip(values.T, human.T, strict=True) if grouping == "by-item" else zip(values, human, strict=True)
            loop = [COEFFICIENTS[statistic](x, y) for x, y in pairs if len(np.unique(x)) > 1 and len(np.unique(y)) > 1]
            ours = value(result, metric, block, dimension, f"{statistic}/{grouping}")
            assert ours == pytest.approx(float(np.mean(loop)), abs=1e-12), (metric, dimension)


@pytest.mark.parametrize("statistic", ["pearson", "spearman"])
def test_what_a_paper_prints_by_summary_comes_out_within_two_hundredths(suite: OpenSuite, statistic: str) -> None:
    result = suite.tables(f"{statistic}/by-item", draws=0).value
    for (coefficient, dimension), printed in DOCASREF.items():
        if coefficient == statistic:
            ours = [value(result, metric, "one", dimension, f"{statistic}/by-item") for metric in METRICS]
            assert np.abs(np.array(ours) - printed).max() < 0.02, (dimension, ours, printed)


def test_the_preset_reports_by_item_and_at_system_level(suite: OpenSuite) -> None:
    shown = suite.measured("summeval").tables(draws=0)
    assert [table.name for table in shown.tables] == [
        "correctness-spearman-by-item",
        "correctness-kendall-b-by-item",
        "correctness-kendall-b-system-level",
    ]
    assert round(value(shown.value, "ROUGE-1", "all", "relevance", "kendall-b/system-level"), 3) == 0.583
