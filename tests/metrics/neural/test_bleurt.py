"""BLEURT: tiny random checkpoints of its form, beside transformers' own model one pair at a time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from billboards.errors import InvalidInput, MissingPart
from billboards.metrics.base import Batch
from billboards.metrics.discovery import metric

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'billboards[neural]'")
pytest.importorskip("transformers", reason="transformers is not installed: pip install 'billboards[neural]'")

from billboards.metrics.neural.bleurt import Bleurt  # noqa: E402
from billboards.metrics.neural.learned import TextsCut  # noqa: E402

Texts = tuple[list[str], list[list[str]]]


def write_checkpoint(folder: Path, base: Path, labels: int = 1) -> Path:
    """A tiny BERT with a linear head, and a tokenizer that joins two texts."""
    from tokenizers import processors
    from transformers import AutoConfig, AutoTokenizer, BertForSequenceClassification

    tokenizer = AutoTokenizer.from_pretrained(base)
    ends = [(token, tokenizer.convert_tokens_to_ids(token)) for token in ("[CLS]", "[SEP]")]
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ends
    )
    tokenizer.model_input_names = ["input_ids", "token_type_ids", "attention_mask"]
    tokenizer.save_pretrained(folder)
    config = AutoConfig.from_pretrained(base, num_labels=labels)
    config.initializer_range = 0.2
    torch.manual_seed(8)
    BertForSequenceClassification(config).save_pretrained(folder)
    return folder


@pytest.fixture
def checkpoint(tiny_model: Callable[[str], Path], tmp_path: Path) -> Path:
    return write_checkpoint(tmp_path / "tiny-bleurt", tiny_model("BERT"))


def slow_bleurt(folder: Path, outputs: list[str], references: list[list[str]]) -> list[float]:
    from transformers import AutoTokenizer, BertForSequenceClassification

    tokenizer, model = (
        AutoTokenizer.from_pretrained(folder),
        BertForSequenceClassification.from_pretrained(folder).eval(),
    )

    def score(reference: str, output: str) -> float:
        with torch.inference_mode():
            given = tokenizer(reference, output, return_tensors="pt", return_token_type_ids=True)
            return float(model(**given).logits)

    pairs = zip(outputs, references, strict=True)
    return [max(score(text, output) for text in texts) for output, texts in pairs]


def test_the_scores_are_those_of_transformers_own_model(checkpoint: Path, texts: Texts) -> None:
    expected = slow_bleurt(checkpoint, *texts)
    np.testing.assert_allclose(Bleurt(str(checkpoint)).score_batch(Batch(*texts)), expected, atol=1e-5)
    assert np.ptp(expected) > 0.01


def test_the_second_text_is_of_the_second_type_and_the_order_matters(checkpoint: Path) -> None:
    one, other = Bleurt(str(checkpoint)).score_batch(Batch(["the cat", "a dog ran"], [["a dog ran"], ["the cat"]]))
    assert one != pytest.approx(other, abs=1e-4)


def test_generators_are_scored_together_and_empty_outputs_get_a_score(checkpoint: Path) -> None:
    scorer = Bleurt(str(checkpoint))
    first, second = Batch(["the cat", ""], [["a cat"], ["a dog"]]), Batch(["the dog"], [["a dog", "dog"]])
    for batch, found in zip((first, second), scorer.score_rows([first, second]), strict=True):
        np.testing.assert_allclose(found, scorer.score_batch(batch), atol=1e-6)
        assert np.isfinite(found).all()
    assert scorer.score_batch(Batch([], [])).shape == (0,)


def test_pairs_that_are_cut_are_counted(checkpoint: Path) -> None:
    with pytest.warns(TextsCut, match="1 of 2 texts were cut at the 64 tokens"):
        Bleurt(str(checkpoint)).score_batch(Batch(["cat " * 40, "cat"], [["dog " * 40], ["dog"]]))


def test_what_is_missing_or_of_another_form_is_named(tiny_model: Callable[[str], Path], tmp_path: Path) -> None:
    with pytest.raises(MissingPart, match=r"BLEURT needs a checkpoint: .* as in BLEURT\(model="):
        metric("BLEURT").signature  # noqa: B018
    three = write_checkpoint(tmp_path / "three", tiny_model("BERT"), labels=3)
    with pytest.raises(InvalidInput, match="gives 3 numbers; BLEURT's model gives one"):
        Bleurt(str(three)).score_batch(Batch(["a"], [["a"]]))
    (three / "config.json").write_text('{"model_type": "unheard-of"}')
    with pytest.raises(InvalidInput, match="is no checkpoint that transformers can read"):
        Bleurt(str(three)).score_batch(Batch(["a"], [["a"]]))


def test_its_signature_names_the_checkpoint(checkpoint: Path) -> None:
    assert Bleurt(str(checkpoint)).signature.startswith("BLEURT|model:tiny-bleurt|weights:")
