"""COMET and COMET-QE: tiny checkpoints in Unbabel's format, beside the formulas written out with transformers."""

from __future__ import annotations

import os
from argparse import Namespace
from collections import Counter
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

from billboards.metrics.neural.comet import Comet, CometQE  # noqa: E402
from billboards.metrics.neural.comet_checkpoint import sparsemax  # noqa: E402

WIDTH, LAYERS = 32, 4
INPUTS = ["die Katze saß", "ein Hund", "the cat", "", "a small dog ran ."]
OUTPUTS = ["the cat sat on the mat", "a dog", "the cat", "", "not very small , not away"]
REFERENCES = [["a cat sat", "the cat sat"], ["the dog ran"], ["the cat"], ["away"], ["a dog ran away"]]
BATCH = Batch(OUTPUTS, REFERENCES, INPUTS)


@pytest.fixture
def write(tiny_model: Callable[[str], Path], tmp_path: Path) -> Callable[..., Path]:
    """A random checkpoint over a tiny XLM-R with these settings; hparams.yaml has them, or those that are listed."""

    def make(
        kind: str = "regression_metric", listed: dict[str, Any] | None = None, *, bare: bool = False, **settings: Any
    ) -> Path:
        import yaml
        from transformers import AutoModel

        base = tiny_model("XLM-R-XL" if settings.get("encoder_model") == "XLM-RoBERTa-XL" else "XLM-R")
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
        in_yaml = said if listed is None else {"class_identifier": kind, **listed}
        (folder / "hparams.yaml").write_text(yaml.safe_dump(in_yaml))
        beside = {} if bare else {"hyper_parameters": said}
        torch.save({"state_dict": state, **beside}, folder / "checkpoints" / "model.ckpt")
        return folder

    return make


def slow_comet(folder: Path, batch: Batch) -> list[float]:
    """The definition, one text at a time, with the settings that lie inside the checkpoint."""
    from transformers import AutoModel, AutoTokenizer

    content = torch.load(folder / "checkpoints" / "model.ckpt", weights_only=True)
    state, said = content["state_dict"], content["hyper_parameters"]
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
        read = model(**tokenizer(text, return_tensors="pt"), output_hidden_states=True)
        mixed = mix([*read.hidden_states[:-1], read.last_hidden_state])
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
        {"encoder_model": "XLM-RoBERTa-XL", "layer_norm": False},
        {"encoder_model": "XLM-RoBERTa-XL", "layer": 1},
        {"encoder_model": "XLM-RoBERTa-XL", "layer": 3},
    ],
    ids=["as in 2020", "first token", "sparse mix", "one layer", "XL", "a layer of XL", "XL's top layer"],
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


def test_what_lies_inside_the_checkpoint_counts_and_not_what_hparams_yaml_says(write: Callable[..., Path]) -> None:
    own = {"pool": "cls", "layer_transformation": "sparsemax", "layer_norm": False}
    silent = write(listed={}, **own)
    scores = Comet(str(silent)).score_batch(BATCH)
    np.testing.assert_allclose(scores, slow_comet(silent, BATCH), atol=1e-5)
    other = {"pool": "max", "layer": 2, "final_activation": "Sigmoid", "pretrained_model": "xlm-roberta-large"}
    np.testing.assert_array_equal(Comet(str(write(listed=other, **own))).score_batch(BATCH), scores)
    # With the settings of hparams.yaml alone the scores would be others.
    assert abs(scores - Comet(str(write(layer_transformation="softmax"))).score_batch(BATCH)).max() > 0.01


def test_sparsemax_patch_in_hparams_yaml_means_softmax(write: Callable[..., Path]) -> None:
    patched = write(listed={"layer_transformation": "sparsemax_patch"}, layer_transformation="sparsemax")
    expected = Comet(str(patched)).score_batch(BATCH)
    np.testing.assert_array_equal(Comet(str(write(layer_transformation="softmax"))).score_batch(BATCH), expected)
    assert abs(expected - Comet(str(write(layer_transformation="sparsemax"))).score_batch(BATCH)).max() > 0.001


def test_bare_weights_take_their_settings_from_hparams_yaml(write: Callable[..., Path]) -> None:
    bare = Comet(str(write(bare=True, pool="max"))).score_batch(BATCH)
    np.testing.assert_array_equal(Comet(str(write(pool="max"))).score_batch(BATCH), bare)
    assert abs(bare - Comet(str(write())).score_batch(BATCH)).max() > 0.01


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"pool": "mean"}, "pool 'mean' in the checkpoint is none of avg, cls, max"),
        ({"layer": "top"}, "layer 'top' in the checkpoint is neither mix nor a whole number"),
        ({"layer": -1}, "layer -1 in the checkpoint is no layer's number"),
        ({"activations": None}, "activations None in the checkpoint is no text"),
        ({"activations": "Nothing"}, "torch has no activation 'Nothing', which the checkpoint names"),
    ],
)
def test_settings_that_can_not_be_followed_are_named(
    write: Callable[..., Path], settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        Comet(str(write(**settings))).score_batch(BATCH)


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
    with pytest.raises(MissingPart, match="the model xlm-roberta-large is not on this machine"):
        Comet(str(write(pretrained_model="xlm-roberta-large"))).signature  # noqa: B018


def test_a_checkpoint_of_another_kind_is_refused(write: Callable[..., Path], tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="is a regression_metric; COMET reads it, not COMET-QE"):
        CometQE(str(write())).signature  # noqa: B018
    with pytest.raises(InvalidInput, match="is a unified_metric of mt, src, ref; UniTE reads it, not COMET"):
        Comet(str(write("unified_metric"))).signature  # noqa: B018
    with pytest.raises(InvalidInput, match="is a 'ranking_metric', which no metric here reads"):
        Comet(str(write("ranking_metric"))).signature  # noqa: B018
    with pytest.raises(InvalidInput, match=r"holds no checkpoint of COMET: hparams\.yaml is missing"):
        Comet(str(tmp_path)).signature  # noqa: B018


def test_classes_and_numpy_numbers_beside_the_weights_are_read_as_data(write: Callable[..., Path]) -> None:
    folder = write(listed={}, pool="cls")
    expected = Comet(str(folder)).score_batch(BATCH)
    file = folder / "checkpoints" / "model.ckpt"
    content = torch.load(file, weights_only=True)
    content["hyper_parameters"] |= {"dropout": np.float64(0.1), "loss": Namespace(name="mse"), "layer_norm": True}
    # Lightning 1.3, with which the models of 2020 were trained, kept the states of callbacks by their classes.
    content["callbacks"] = {Counter: {"best": np.float32(0.5)}}
    torch.save(content, file)
    np.testing.assert_array_equal(Comet(str(folder)).score_batch(BATCH), expected)


def test_a_checkpoint_that_would_run_something_is_refused_with_its_name(
    write: Callable[..., Path], tmp_path: Path
) -> None:
    folder = write()
    content = torch.load(folder / "checkpoints" / "model.ckpt", weights_only=True)
    torch.save({**content, "callback": Runs(tmp_path / "ran")}, folder / "checkpoints" / "model.ckpt")
    with pytest.raises(InvalidInput, match=r"would call .*mkdir"):
        Comet(str(folder)).score_batch(BATCH)
    assert not (tmp_path / "ran").exists()


class Runs:
    """What makes a folder when it is unpickled."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.folder),)


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


def test_only_a_model_of_the_hub_has_a_revision(write: Callable[..., Path]) -> None:
    with pytest.raises(InvalidInput, match="lies on this machine; only a model of the hub has a revision"):
        metric(f"COMET(model={write()},revision=main)").signature  # noqa: B018
    with pytest.raises(MissingPart, match="is not on this machine in its revision v1"):
        metric("XCOMET(model=Unbabel/XCOMET-XL,revision=v1)").signature  # noqa: B018
