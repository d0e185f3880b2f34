"""AlignScore: tiny checkpoints in the authors' layout, beside the definition written out one pair at a time.

The layout is that of AlignScore-base.ckpt (yzha/AlignScore): a Lightning checkpoint whose state_dict holds a RoBERTa
(base_model), a head for masked words (mlm_head) and three for pairs (bin_layer, tri_layer, reg_layer), and whose
hyper_parameters name the RoBERTa (src/alignscore/model.py of yuh-zha/AlignScore).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pair_checkpoints import write_align
from punkt_data import sentence_data

from billboards.errors import InvalidInput, MissingPart
from billboards.metrics.base import Batch, score_checked
from billboards.metrics.discovery import metric

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'billboards[neural]'")
pytest.importorskip("transformers", reason="transformers is not installed: pip install 'billboards[neural]'")

from billboards.metrics.neural.alignscore import AlignScore, chunks  # noqa: E402
from billboards.metrics.neural.learned import TextsCut  # noqa: E402

INPUTS = [
    "The cat sat on the mat. A dog ran away.",
    "A small dog ran. Not very small.",
    "The cat sat. " * 3,
    "",
    "a cat",
]
OUTPUTS = ["The cat sat. The dog ran.", "A dog ran away.", "Mr. Smith sat under the mat.", "A cat.", ""]
BATCH = Batch(OUTPUTS, (), INPUTS)


@pytest.fixture(autouse=True)
def punkt(tmp_path: Path) -> Iterator[None]:
    with sentence_data(tmp_path / "nltk"):
        yield


@pytest.fixture
def write(tiny_model: Callable[[str], Path], tmp_path: Path) -> Callable[..., Path]:
    """A random checkpoint over the tiny RoBERTa, which it names."""

    def make(name: str = "AlignScore-base.ckpt", **changes: Any) -> Path:
        return write_align(tmp_path / name, tiny_model("RoBERTa"), **changes)

    return make


def slow_alignscore(file: Path, batch: Batch, mode: str) -> list[float]:
    """The definition, one pair at a time."""
    import nltk
    from transformers import AutoTokenizer, RobertaConfig, RobertaModel

    content = torch.load(file, weights_only=False)
    state, base = content["state_dict"], content["hyper_parameters"]["model"]
    tokenizer, model = AutoTokenizer.from_pretrained(base), RobertaModel(RobertaConfig.from_pretrained(base)).eval()
    own = {key.removeprefix("base_model."): value for key, value in state.items() if key.startswith("base_model.")}
    own.pop("embeddings.position_ids")
    model.load_state_dict(own)

    def holds(context: str, claim: str) -> float:
        given = tokenizer(
            [context], [claim], truncation="only_first", padding="max_length", max_length=64, return_tensors="pt"
        )
        with torch.inference_mode():
            pooled = model(given["input_ids"], attention_mask=given["attention_mask"]).pooler_output[0]
        head, wanted = ("tri_layer", 0) if mode.startswith("nli") else ("bin_layer", 1)
        return float(torch.softmax(state[f"{head}.weight"] @ pooled + state[f"{head}.bias"], 0)[wanted])

    def score(context: str, claim: str) -> float:
        if not mode.endswith("_sp"):
            return holds(context, claim)
        sentences = nltk.sent_tokenize(context) or [""]
        parts = len(context.strip().split()) // 350 + 1
        size = max(len(sentences) // parts, 1)
        joined = [" ".join(sentences[k : k + size]) for k in range(0, len(sentences), size)]
        claims = nltk.sent_tokenize(claim) or [""]
        return sum(max(holds(part, each) for part in joined) for each in claims) / len(claims)

    return [score(context, claim) for context, claim in zip(batch.inputs, batch.outputs, strict=True)]


@pytest.mark.parametrize("mode", ["nli_sp", "nli", "bin_sp", "bin"])
def test_every_mode_is_as_written_out(write: Callable[..., Path], mode: str) -> None:
    file = write()
    wanted = slow_alignscore(file, BATCH, mode)
    np.testing.assert_allclose(AlignScore(str(file), mode=mode).score_batch(BATCH), wanted, atol=2e-6)
    assert np.ptp(wanted) > 0.01


def test_a_long_input_is_cut_at_sentences_and_the_best_chunk_counts(write: Callable[..., Path]) -> None:
    inputs = [" ".join(f"{'The cat sat on the mat ' * 2}and dog {k}." for k in range(80))]
    assert len(chunks(inputs[0])) == 4
    batch = Batch(["A dog ran. The mat."], (), inputs)
    file = write()
    with pytest.warns(TextsCut, match="8 of 8 texts were cut at the 64 tokens"):
        scores = AlignScore(str(file)).score_batch(batch)
    np.testing.assert_allclose(scores, slow_alignscore(file, batch, "nli_sp"), atol=2e-6)


@pytest.mark.parametrize(
    ("sentences", "words", "expected"), [(1, 5, 1), (10, 34, 1), (10, 35, 2), (10, 105, 5), (2, 400, 2)]
)
def test_chunks_are_of_equal_numbers_of_sentences(sentences: int, words: int, expected: int) -> None:
    text = " ".join(" ".join(["word"] * (words - 1)) + " end." for _ in range(sentences))
    assert len(chunks(text)) == expected
    assert " ".join(chunks(text)) == text


def test_a_claim_that_leaves_no_room_is_cut_as_well(write: Callable[..., Path]) -> None:
    with pytest.warns(TextsCut, match="1 of 1 texts were cut"):
        scores = AlignScore(str(write()), mode="nli").score_batch(Batch(["cat dog mat " * 30], (), ["The cat sat."]))
    assert np.isfinite(scores).all()


def test_generators_share_their_inputs_and_no_output_has_no_score(write: Callable[..., Path]) -> None:
    scorer = AlignScore(str(write()))
    rows = scorer.score_rows([BATCH, BATCH.part(1, 3)])
    np.testing.assert_allclose(rows[1], rows[0][1:3], atol=1e-6)
    assert scorer.score_batch(Batch([], (), [])).shape == (0,)
    assert list(score_checked(scorer, BATCH)) == [""]


def test_its_card_says_that_it_reads_inputs_and_no_references() -> None:
    assert (AlignScore.card.needs_input, AlignScore.card.needs_references) == (True, False)


def test_folder_size_and_file_name_the_checkpoint(write: Callable[..., Path]) -> None:
    base, large = write(), write("AlignScore-large.ckpt")
    assert AlignScore(str(base.parent)).signature.startswith("AlignScore|model:AlignScore-base|weights:")
    assert AlignScore(str(base.parent), size="large").signature.startswith("AlignScore|model:AlignScore-large|")
    assert "|mode:nli_sp|" in AlignScore(str(large)).signature
    assert "|punkt:" in AlignScore(str(large)).signature
    assert "punkt" not in AlignScore(str(large), mode="bin").signature


def test_what_is_missing_is_named(write: Callable[..., Path], tmp_path: Path) -> None:
    def refuse(scorer: AlignScore, kind: type[Exception], reason: str) -> None:
        with pytest.raises(kind, match=reason):
            scorer.score_batch(BATCH)

    with pytest.raises(MissingPart, match=r"AlignScore needs a checkpoint: .* as in AlignScore\(model=yzha/AlignScore"):
        metric("AlignScore").signature  # noqa: B018
    file = write()
    refuse(AlignScore(str(file), mode="sp"), InvalidInput, "mode 'sp' is none of nli_sp, nli, bin_sp, bin")
    refuse(AlignScore(str(file), size="xl"), InvalidInput, "size 'xl' is none of base, large")
    refuse(AlignScore(str(tmp_path), size="large"), InvalidInput, r"AlignScore-large\.ckpt is missing there")
    refuse(AlignScore(str(write("a.ckpt", hyper_parameters={}))), InvalidInput, "doesn't say which RoBERTa")
    named = write("b.ckpt", hyper_parameters={"model": "roberta-base"})
    refuse(AlignScore(str(named)), MissingPart, "the model FacebookAI/roberta-base is not on this machine")
    fewer = write("c.ckpt", state_dict={"tri_layer.weight": torch.ones(3, 32)})
    refuse(AlignScore(str(fewer)), InvalidInput, r"c: \d+ weights don't fit its settings, first embeddings")


def test_sentences_need_punkts_data(write: Callable[..., Path]) -> None:
    file = write()
    with sentence_data(None):
        with pytest.raises(MissingPart, match=r"AlignScore cuts texts into sentences .* fetches them"):
            AlignScore(str(file)).score_batch(BATCH)
        assert np.isfinite(AlignScore(str(file), mode="nli").score_batch(BATCH)).all()
