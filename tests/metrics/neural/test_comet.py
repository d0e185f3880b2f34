"""COMET and COMET-QE: tiny checkpoints in Unbabel's format, beside the formulas written out with transformers."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from billboards.errors import InvalidInput, MissingPart
from billboards.metrics.base import Batch, score_checked
from billboards.metrics.discovery import metric

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'billboards[neural]'")
pytest.importorskip("transformers", reason="transformers is not installed: pip install 'billboards[neural]'")

from billboards.metrics.neural.comet import Comet, CometQE, sparsemax  # noqa: E402

WIDTH, LAYERS = 32, 4
INPUTS = ["die Katze saß", "ein Hund", "the cat", "", "a small dog ran ."]
OUTPUTS = ["the cat sat on the mat", "a dog", "the cat", "", "not very small , not away"]
REFERENCES = [["a cat sat", "the cat sat"], ["the dog ran"], ["the cat"], ["away"], ["a dog ran away"]]
BATCH = Batch(OUTPUTS, REFERENCES, INPUTS)


@pytest.fixture
def write(tiny_model: Callable[[str], Path], tmp_path: Path) -> Callable[..., Path]:
    """A random checkpoint over the tiny XLM-R, with these settings in its hparams.yaml."""

    def make(kind: str = "regression_metric", **settings: Any) -> Path:
        import yaml
        from transformers import AutoModel

        base = tiny_model("XLM-R")
        said = {"class_identifier": kind, "pretrained_model": str(base), "encoder_model": "XLM-RoBERTa", **settings}
        torch.manual_seed(3)
        encoder = AutoModel.from_pretrained(base)
        state = {f"encoder.model.{name}": value * 1.1 for name, value in encoder.state_dict().items()}
        state |= {f"layerwise_attention.scalar_parameters.{k}": torch.randn(1) for k in range(LAYERS)}
        state["layerwise_attention.gamma"] = torch.tensor([1.3])
        sizes = [WIDTH * (6 if kind == "regression_metric" else 4), 24, 12, 1]
        for k, (wide, narrow) in enumerate(pairwise(sizes)):
            state |= {f"estimator.ff.{3 * k}.weight": torch.randn(narrow, wide) / 5}
            state |= {f"estimator.ff.{3 * k}.bias": torch.randn(narrow)}
        folder = tmp_path / "tiny-comet"
        (folder / "checkpoints").mkdir(parents=True, exist_ok=True)
        (folder / "hparams.yaml").write_text(yaml.safe_dump(said))
        torch.save({"state_dict": state, "hyper_parameters": said}, folder / "checkpoints" / "model.ckpt")
        return folder

    return make


def slow_comet(folder: Path, batch: Batch) -> list[float]:
    """The definition, one text at a time."""
    import yaml
    from transformers import AutoModel, AutoTokenizer

    said = yaml.safe_load((folder / "hparams.yaml").read_text())
    state = torch.load(folder / "checkpoints" / "model.ckpt", weights_only=True)["state_dict"]
    base = said["pretrained_model"]
    tokenizer, model = AutoTokenizer.from_pretrained(base), AutoModel.from_pretrained(base).eval()
    own = {name.removeprefix("encoder.model."): value for name, value in state.items() if "encoder.model" in name}
    model.load_state_dict(own)

    def mix(layers: Any) -> Any:
        if isinstance(said.get("layer"), int):
            return layers[said["layer"]][0]
        raw = torch.cat([state[f"layerwise_attention.scalar_parameters.{k}"] for k in range(LAYERS)])
        weights = sparsemax(raw) if said.get("layer_transformation") == "sparsemax" else torch.softmax(raw, 0)
        texts = [layer[0] for layer in layers]
        if said.get("layer_norm", True):
            texts = [(text - text.mean()) / torch.sqrt(text.var(unbiased=False) + 1e-12) for text in texts]
        return state["layerwise_attention.gamma"] * sum(w * text for w, text in zip(weights, texts, strict=True))

    def embed(text: str) -> Any:
        mixed = mix(model(**tokenizer(text, return_tensors="pt"), output_hidden_states=True).hidden_states)
        pool = said.get("pool", "avg")
        return mixed[0] if pool == "cls" else mixed.max(0).values if pool == "max" else mixed.mean(0)

    def estimate(features: Any) -> float:
        activation = torch.nn.functional.relu if said.get("activations") == "ReLU" else torch.tanh
        for k in (0, 3, 6):
            features = state[f"estimator.ff.{k}.weight"] @ features + state[f"estimator.ff.{k}.bias"]
            features = activation(features) if k < 6 else features
        return float(torch.sigmoid(features) if said.get("final_activation") == "Sigmoid" else features)

    def score(source: str, output: str, reference: str | None) -> float:
        src, mt = embed(source), embed(output)
        if reference is None:
            return estimate(torch.cat([mt, src, mt * src, abs(mt - src)]))
        ref = embed(reference)
        return estimate(torch.cat([mt, ref, mt * ref, abs(mt - ref), mt * src, abs(mt - src)]))

    with torch.inference_mode():
        items = [(item, item.references or (None,)) for item in batch.items()]
        return [max(score(item.input or "", item.output, one) for one in texts) for item, texts in items]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"pool": "cls", "layer_norm": False},
        {"pool": "max", "layer_transformation": "sparsemax", "activations": "ReLU"},
        {"layer": 2, "final_activation": "Sigmoid"},
    ],
    ids=["as in 2020", "first token", "sparse mix", "one layer"],
)
def test_comet_is_its_definition_written_out(write: Callable[..., Path], settings: dict[str, Any]) -> None:
    folder = write(**settings)
    found = score_checked(Comet(str(folder)), BATCH)[""]
    expected = slow_comet(folder, BATCH)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert np.ptp(expected) > 0.01


def test_comet_qe_is_its_definition_written_out_and_looks_at_no_reference(write: Callable[..., Path]) -> None:
    folder = write("referenceless_regression_metric")
    without = Batch(OUTPUTS, (), INPUTS)
    found = CometQE(str(folder)).score_batch(without)
    np.testing.assert_allclose(found, slow_comet(folder, without), atol=1e-5)
    np.testing.assert_array_equal(CometQE(str(folder)).score_batch(BATCH), found)


def test_generators_scored_together_score_as_they_do_alone(write: Callable[..., Path]) -> None:
    scorer = Comet(str(write()))
    other = Batch(OUTPUTS[::-1], REFERENCES, INPUTS)
    for batch, found in zip((BATCH, other), scorer.score_rows([BATCH, other]), strict=True):
        np.testing.assert_allclose(found, scorer.score_batch(batch), atol=1e-6)


def test_sparsemax_reaches_zero_and_sums_to_one() -> None:
    assert sparsemax(torch.tensor([0.5, 0.3, -2.0])).tolist() == pytest.approx([0.6, 0.4, 0])
    assert sparsemax(torch.tensor([3.0, 1.0])).tolist() == pytest.approx([1, 0])


def test_without_a_checkpoint_it_says_what_is_missing_and_how_to_name_it() -> None:
    for name in ("COMET", "COMET-QE"):
        with pytest.raises(MissingPart, match=rf"{name} needs a checkpoint .* as in {name}\(model="):
            metric(name).signature  # noqa: B018
    with pytest.raises(MissingPart, match="nothing is downloaded unasked"):
        metric("COMET(model=Unbabel/wmt22-comet-da)").signature  # noqa: B018


def test_the_model_it_was_made_from_must_be_here_too(write: Callable[..., Path]) -> None:
    folder = write()
    text = (folder / "hparams.yaml").read_text()
    base = next(line for line in text.splitlines() if line.startswith("pretrained_model"))
    (folder / "hparams.yaml").write_text(text.replace(base, "pretrained_model: xlm-roberta-large"))
    with pytest.raises(MissingPart, match="the model xlm-roberta-large is not on this machine"):
        Comet(str(folder)).signature  # noqa: B018


def test_a_checkpoint_of_another_kind_is_refused(write: Callable[..., Path], tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="is a 'regression_metric'; COMET-QE reads a referenceless"):
        CometQE(str(write())).signature  # noqa: B018
    with pytest.raises(InvalidInput, match="tiny-comet is a 'unified_metric'; COMET reads a regression_metric"):
        Comet(str(write("unified_metric"))).signature  # noqa: B018
    with pytest.raises(InvalidInput, match=r"holds no checkpoint of COMET: hparams\.yaml is missing"):
        Comet(str(tmp_path)).signature  # noqa: B018


def test_a_checkpoint_that_holds_more_than_tensors_is_not_read(write: Callable[..., Path]) -> None:
    folder = write()
    torch.save({"state_dict": {}, "callback": Path("anything")}, folder / "checkpoints" / "model.ckpt")
    with pytest.raises(InvalidInput, match="it holds more than tensors, or is damaged"):
        Comet(str(folder)).score_batch(BATCH)


def test_weights_that_do_not_fit_the_model_are_named(write: Callable[..., Path]) -> None:
    folder = write()
    state = torch.load(folder / "checkpoints" / "model.ckpt", weights_only=True)
    del state["state_dict"]["encoder.model.encoder.layer.0.output.dense.weight"]
    torch.save(state, folder / "checkpoints" / "model.ckpt")
    with pytest.raises(InvalidInput, match=r"1 weights differ, first encoder\.layer\.0\.output\.dense\.weight"):
        Comet(str(folder)).score_batch(BATCH)


def test_the_signature_changes_with_the_weights(write: Callable[..., Path]) -> None:
    folder = write()
    before = Comet(str(folder)).signature
    assert before.startswith("COMET|model:tiny-comet|weights:")
    write(pool="cls")
    assert Comet(str(folder)).signature != before
