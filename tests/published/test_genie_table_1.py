"""GENIE, Table 1: models of noisy annotators in simulation, 25 rounds as in the paper.

The paper's question counts are not published, so the cells can't be repeated; the pattern can, and the published cells
of the models that the paper recommends lie within the intervals.
"""

from __future__ import annotations

import pytest

from billboards.analyses._annotators import simulate_annotators
from billboards.stats.annotator_simulation import Detection, DetectionStudy


@pytest.fixture(scope="module")
def study() -> DetectionStudy:
    return simulate_annotators(rounds=25, seed=0)


def detections(study: DetectionStudy, model: str) -> tuple[Detection, ...]:
    return next(one.detections for one in study.models if one.model.name == model)


@pytest.mark.parametrize("model", ["class/learned/2", "rate/learned/2"])
def test_published_cells_of_the_recommended_models_are_within_the_intervals(study: DetectionStudy, model: str) -> None:
    row = next(one for one in study.models if one.model.name == model)
    assert row.published is not None
    for found, (precision, recall) in zip(row.detections, row.published, strict=True):
        assert found.precision_interval is not None
        assert found.recall_interval is not None
        assert found.precision_interval[0] <= precision / 100 <= found.precision_interval[1]
        assert found.recall_interval[0] <= recall / 100 <= found.recall_interval[1]


def test_priors_that_know_nothing_are_the_least_precise_after_few_questions(study: DetectionStudy) -> None:
    few = {one.model.name: one.detections[0] for one in study.models}
    assert few["rate/uniform/1"].precision == pytest.approx(0.95, abs=0.01)
    assert few["rate/jeffreys/1"].precision == pytest.approx(0.95, abs=0.01)
    informed = [found.precision for name, found in few.items() if "uniform" not in name and "jeffreys" not in name]
    assert {precision for precision in informed if precision is not None} == {1.0}


@pytest.mark.parametrize(
    "model", ["class/learned/2", "rate/learned/1", "rate/learned/2", "rate/fixed/1", "rate/fixed/2"]
)
def test_more_questions_find_more_until_nearly_everybody_is_found(study: DetectionStudy, model: str) -> None:
    recalls = [found.recall or 0.0 for found in detections(study, model)]
    assert recalls == sorted(recalls)
    assert recalls[2] > 0.97
