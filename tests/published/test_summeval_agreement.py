"""SummEval's published agreement (Fabbri et al. 2021): interval alpha .4920 of the crowd, .7127 of the experts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from billboards.stats.reliability import krippendorff_alpha_of_columns


@pytest.mark.data
@pytest.mark.parametrize(("who", "published"), [("turker", 0.4920), ("expert", 0.7127)])
def test_alpha_over_all_four_dimensions(shared_data: Path, who: str, published: float) -> None:
    unit, annotator, value = [], [], []
    lines = (shared_data / "THumB" / "cnndm" / "cnndm_THumB-1.0.jsonl").read_text(encoding="utf-8").splitlines()
    for k, line in enumerate(lines):
        ratings = json.loads(line)[f"{who}_annotations"]
        for person, rating in enumerate(ratings if isinstance(ratings, list) else ()):
            for dimension, rated in rating.items():
                unit.append(f"{k} {dimension}")
                annotator.append(person)
                value.append(rated)
    assert krippendorff_alpha_of_columns(unit, annotator, value) == pytest.approx(published, abs=0.00005)
