"""LENS: a tiny checkpoint in the authors' layout, beside the formulas written out, one text at a time."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pair_checkpoints import write_lens, write_roberta

from billboards.errors import InvalidInput, MissingPart
from billboards.metrics.base import Batch
from billboards.metrics.discovery import metric

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'billboards[neural]'")
pytest.importorskip("transformers", reason="transformers is not installed: pip install 'billboards[neural]'")

from billboards.metrics.neural.comet import Comet  # noqa: E402
from billboards.metrics.neural.lens import Lens  # noqa: E402

BATCH = Batch(
    ["The cat sat.", "a dog ran", "", "the cat"],
    [["The cats sat there.", "A cat sat"], ["the dog ran away"], ["a cat"], ["the CAT"]],
    ["The cat was seated upon the mat.", "A dog was running.", "the cat", "the cat, it sat"],
)


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    return write_lens(tmp_path / "lens", write_roberta(tmp_path / "roberta"))


def written_out(folder: Path, batch: Batch) -> list[float]:
    """Z-scores, one text at a time."""
    from transformers import AutoTokenizer, RobertaModel

    base = folder.parent / "roberta"
    state = torch.load(folder / "checkpoints" / "model.ckpt", weights_only=True)["state_dict"]
    tokenizer, model = AutoTokenizer.from_pretrained(base), RobertaModel.from_pretrained(base).eval()
    own = {name.removeprefix("encoder.model."): value for name, value in state.items() if "encoder.model" in name}
    model.load_state_dict(own, strict=False)
    assert tokenizer.tokenize("the cat") == ["the", "Ġcat"]
    shares = torch.softmax(torch.cat([state[f"layerwise_attention.scalar_parameters.{k}"] for k in range(4)]), 0)

    def embed(text: str) -> Any:
        with torch.inference_mode():
            layers = model(**tokenizer(text.lower(), return_tensors="pt"), output_hidden_states=True).hidden_states
        normed = [(x[0] - x[0].mean()) / torch.sqrt(x[0].var(unbiased=False) + 1e-12) for x in layers]
        mixed = state["layerwise_attention.gamma"] * sum(s * x for s, x in zip(shares, normed, strict=True))
        return mixed.mean(0)

    def score(complicated: str, simple: str, reference: str) -> float:
        src, out, ref = embed(complicated), embed(simple), embed(reference)
        row = torch.cat((src, out, ref, out * ref, (out - ref).abs(), out * src, (out - src).abs()))
        for k in (0, 3, 6):
            row = state[f"estimator.ff.{k}.weight"] @ row + state[f"estimator.ff.{k}.bias"]
            row = torch.tanh(row) if k < 6 else row
        return float(row)

    return [
        max(score(str(item.input), item.output, reference) for reference in item.references) for item in batch.items()
    ]


def test_scores_are_as_written_out_and_rescaled(checkpoint: Path) -> None:
    wanted = written_out(checkpoint, BATCH)
    plain = Lens(str(checkpoint), rescale=False).score_batch(BATCH)
    np.testing.assert_allclose(plain, 100 * np.array(wanted), atol=1e-4)
    shares = [50 * (1 + math.erf(score / math.sqrt(2))) for score in wanted]
    np.testing.assert_allclose(Lens(str(checkpoint)).score_batch(BATCH), shares, atol=1e-4)
    assert np.ptp(wanted) > 0.01


def test_case_goes_unseen_and_the_signature_names_the_scale(checkpoint: Path) -> None:
    scorer = Lens(str(checkpoint))
    shouted = Batch([text.upper() for text in BATCH.outputs], BATCH.references, BATCH.inputs)
    np.testing.assert_allclose(scorer.score_batch(shouted), scorer.score_batch(BATCH), atol=1e-6)
    assert scorer.signature.startswith("LENS|model:lens|weights:")
    assert "|rescale:True|" in scorer.signature


def test_what_is_missing_or_another_metrics_is_named(checkpoint: Path) -> None:
    with pytest.raises(MissingPart, match=r"LENS needs a checkpoint: .* as in LENS\(model=davidheineman/lens\)"):
        metric("LENS").signature  # noqa: B018
    with pytest.raises(InvalidInput, match="is a regression_metric_multi_ref; LENS reads it, not COMET"):
        Comet(str(checkpoint)).score_batch(BATCH)
