"""Baselines: bert_score's files, rescaling, and estimates from random pairs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from billboards.errors import InvalidInput, NotEnoughData
from billboards.metrics.neural.baselines import Baseline, find_baseline, random_pairs, read_baseline, write_baseline


def test_a_baseline_that_is_written_is_read_again(tmp_path: Path) -> None:
    baseline = Baseline(np.array([[0.1, 0.2, 0.15], [0.3, 0.4, 0.35]]))
    write_baseline(baseline, tmp_path / "b.tsv")
    assert (tmp_path / "b.tsv").read_text().splitlines()[1] == "0,0.10000000,0.20000000,0.15000000"
    np.testing.assert_array_equal(read_baseline(tmp_path / "b.tsv").values, baseline.values)


def test_rescaling_maps_b_to_0_and_1_to_1() -> None:
    expected = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [0.5, 0.5, -3.0]])
    baseline = Baseline(np.array([[0.5, 0.5, 0.5], [0.8, 0.6, 0.75]]))
    scores = np.array([[0.8, 0.6, 0.75], [1.0, 1.0, 1.0], [0.9, 0.8, 0.0]])
    np.testing.assert_allclose(baseline.rescale(scores, 1), expected, atol=1e-12)
    both = baseline.rescale(np.stack((scores, scores)), None)
    np.testing.assert_allclose(both[0], scores * 2 - 1)
    np.testing.assert_allclose(both[1], baseline.rescale(scores, 1))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("layer,p,r,f\n", ":1: a baseline begins with the line LAYER,P,R,F"),
        ("LAYER,P,R,F\n1,0.1,0.1,0.1\n", ":2: expected layer 0"),
        ("LAYER,P,R,F\n0,0.1,0.1,0.1\n1,0.1,x,0.1\n", ":3: expected layer 1"),
        ("LAYER,P,R,F\n0,0.1,0.1,1.0\n", "three numbers below 1"),
        ("", ":1: a baseline begins"),
    ],
)
def test_a_file_that_is_no_baseline_is_refused(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "b.tsv").write_text(text)
    with pytest.raises(InvalidInput, match=complaint):
        read_baseline(tmp_path / "b.tsv")


def test_a_layer_that_the_baseline_lacks_is_refused() -> None:
    with pytest.raises(InvalidInput, match="layers 0 to 6; layer 7 is none"):
        find_baseline("minilm").row(7)


def test_pairs_are_of_different_texts_and_the_same_for_the_same_seed() -> None:
    lines = ["a\n", "b\n", "\n", "a", "c "]
    first, second = random_pairs(lines, 200, seed=1)
    assert {*first, *second} == {"a", "b", "c"}
    assert all(one != other for one, other in zip(first, second, strict=True))
    assert random_pairs(lines, 200, seed=1) == (first, second) != random_pairs(lines, 200, seed=2)
    with pytest.raises(NotEnoughData, match="two different texts or more; 1 were given"):
        random_pairs(["a", "a"], 10, seed=0)


def test_an_estimate_is_the_mean_score_of_random_pairs_at_every_layer(tiny_model: Callable[[str], Path]) -> None:
    pytest.importorskip("torch", reason="torch is not installed: pip install 'billboards[neural]'")
    from billboards.metrics.neural.baselines import estimate_baseline
    from billboards.metrics.neural.bert_score import score

    lines = ["the cat sat", "a dog ran away", "very small mat", "not on the mat"]
    folder = str(tiny_model("BERT"))
    found = estimate_baseline(lines, folder, pairs=30, seed=4)
    parts = score(*random_pairs(lines, 30, 4), model_type=folder, num_layers=2)
    assert found.values.shape == (4, 3)
    assert found.row(2).tolist() == pytest.approx([float(part.mean()) for part in parts], abs=1e-6)
