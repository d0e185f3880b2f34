"""MetricX beside a slow oracle: transformers' own mT5, one text at a time, read as the authors' programs read it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from billboards.errors import InvalidInput, MetricFailed, MissingPart
from billboards.metrics.base import Batch, Metric, score_checked
from billboards.metrics.discovery import metric
from billboards.metrics.neural import first_step as reading
from billboards.metrics.neural.first_step import FirstStep, Reading, ask_first, first_step
from billboards.metrics.neural.learned import TextsCut
from billboards.metrics.neural.metricx import RATING, MetricX, MetricXQE
from billboards.metrics.neural.packed_t5 import PackedT5, distance_buckets, read_settings
from billboards.metrics.neural.weights import Weights

pytest.importorskip("torch", reason="torch is not installed: pip install 'billboards[neural]'")
pytest.importorskip("transformers", reason="transformers is not installed: pip install 'billboards[neural]'")

from tiny_t5 import WORDS, metricx_config, write_t5, write_tokenizer

OUTPUTS = ["the cat sat", "", "a very small dog ran away", "the cat sat", "Zzz! mat"]
REFERENCES = [["the cat sat on the mat", "a cat"], ["not"], ["a dog ran"], ["the cat sat on the mat", "a cat"], ["mat"]]
INPUTS = ["the dog", "away away", "on the small mat ran", "the dog", ""]
BATCH = Batch(OUTPUTS, REFERENCES, INPUTS)

Made = Callable[[str], str]


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("mt5-xl")
    write_tokenizer(folder)
    return str(folder)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The folder of a checkpoint by its published name."""

    @cache
    def make(name: str) -> str:
        folder = tmp_path_factory.mktemp("google") / name
        write_t5(folder, metricx_config())
        return str(folder)

    return make


@cache
def loaded(folder: str, tokenizer: str) -> tuple[Any, Any, Any]:
    from safetensors.torch import load_file
    from transformers import AutoTokenizer, MT5ForConditionalGeneration

    model = MT5ForConditionalGeneration.from_pretrained(folder).double().eval()
    return model, AutoTokenizer.from_pretrained(tokenizer), load_file(f"{folder}/model.safetensors")


def rating(folder: str, tokenizer: str, text: str, longest: int) -> float:
    """The authors' recipe: cut, take the end away, one decoder step from token 0, word 250089, from 0 to 25."""
    import torch

    model, words, tensors = loaded(folder, tokenizer)
    ids = words(text, max_length=longest, truncation=True)["input_ids"][:-1]
    with torch.no_grad():
        states = model.encoder(input_ids=torch.tensor([ids])).last_hidden_state
        first = model.decoder(input_ids=torch.tensor([[0]]), encoder_hidden_states=states).last_hidden_state
    logit = float(first[0, 0] @ tensors["lm_head.weight"][250089].double())
    return min(max(logit, 0.0), 25.0)


def test_metricx_24_reads_input_output_and_reference(made: Made, tokenizer: str) -> None:
    folder = made("metricx-24-hybrid-xl-v2p6")
    expected = [
        min(rating(folder, tokenizer, f"source: {i} candidate: {o} reference: {r}", 1536) for r in refs)
        for o, refs, i in zip(OUTPUTS, REFERENCES, INPUTS, strict=True)
    ]
    scores = score_checked(MetricX(folder, tokenizer=tokenizer), BATCH)[""]
    assert scores.tolist() == pytest.approx(expected, abs=1e-5)
    assert len({round(score, 4) for score in scores}) == 4
    assert 0 < scores.min() < scores.max() < 25


def test_metricx_24_without_references_is_the_same_model_asked_otherwise(made: Made, tokenizer: str) -> None:
    folder = made("metricx-24-hybrid-xl-v2p6")
    expected = [
        rating(folder, tokenizer, f"source: {i} candidate: {o}", 1536) for o, i in zip(OUTPUTS, INPUTS, strict=True)
    ]
    scores = score_checked(MetricXQE(folder, tokenizer=tokenizer), Batch(OUTPUTS, inputs=INPUTS))[""]
    assert scores.tolist() == pytest.approx(expected, abs=1e-5)


def test_metricx_23_reads_the_output_first_and_no_input_beside_a_reference(made: Made, tokenizer: str) -> None:
    folder = made("metricx-23-xl-v2p0")
    expected = [
        min(rating(folder, tokenizer, f"candidate: {o} reference: {r}", 1024) for r in refs)
        for o, refs in zip(OUTPUTS, REFERENCES, strict=True)
    ]
    without_inputs = Batch(OUTPUTS, REFERENCES)
    scorer = MetricX(folder, tokenizer=tokenizer)
    assert score_checked(scorer, without_inputs)[""].tolist() == pytest.approx(expected, abs=1e-5)
    assert not scorer.card.needs_input
    assert MetricX.card.needs_input
    folder = made("metricx-23-qe-xl-v2p0")
    expected = [
        rating(folder, tokenizer, f"candidate: {o} source: {i}", 1024) for o, i in zip(OUTPUTS, INPUTS, strict=True)
    ]
    scores = score_checked(MetricXQE(folder, tokenizer=tokenizer), Batch(OUTPUTS, inputs=INPUTS))[""]
    assert scores.tolist() == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(("name", "longest"), [("metricx-23-xl-v2p0", 1024), ("metricx-24-hybrid-xl-v2p6", 1536)])
def test_long_texts_are_cut_where_training_ended(made: Made, tokenizer: str, name: str, longest: int) -> None:
    folder, long = made(name), " ".join(random.Random(5).choices(WORDS, k=1800))
    text = f"candidate: {long} reference: a" if "23" in name else f"source: mat candidate: {long} reference: a"
    scorer = MetricX(folder, tokenizer=tokenizer)
    with pytest.warns(TextsCut, match=rf"1 of 1 texts were cut at the {longest} tokens"):
        scores = scorer.score_batch(Batch([long], [["a"]], ["mat"]))
    assert scores[0] == pytest.approx(rating(folder, tokenizer, text, longest), abs=1e-5)
    model = FirstStep(scorer.weights(), "fp32", "cpu")
    (ids,), cut = model.tokens([text], Reading(limit=longest, keeps_end=False))
    assert (len(ids), cut) == (longest - 1, 1)


def test_scores_are_cut_to_the_range_and_lower_is_better(tokenizer: str, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    write_t5(tmp_path, metricx_config())
    tensors, ends = load_file(tmp_path / "model.safetensors"), []
    for factor in (1e4, -1.0):
        tensors["lm_head.weight"][RATING] *= factor
        save_file(tensors, tmp_path / "model.safetensors")
        scorer = MetricXQE(str(tmp_path), generation="24", tokenizer=tokenizer)
        first_step.cache_clear()
        ends += scorer.score_batch(Batch(["a"], inputs=["a"])).tolist()
    assert sorted(ends) == [0.0, 25.0]
    assert not MetricX.card.higher_is_better
    assert not MetricXQE.card.higher_is_better


def test_shards_and_older_files_hold_the_same_weights(made: Made, tokenizer: str, tmp_path: Path) -> None:
    import torch
    from safetensors.torch import load_file, save_file

    whole = made("metricx-24-hybrid-xl-v2p6")
    tensors, settings = load_file(f"{whole}/model.safetensors"), (Path(whole) / "config.json").read_text()
    names = sorted(tensors)
    for kind in ("shards", "bin"):
        folder = tmp_path / kind
        folder.mkdir()
        (folder / "config.json").write_text(settings)
        halves = [{name: tensors[name] for name in names[k::2]} for k in range(2)]
        for k, half in enumerate(halves, 1):
            if kind == "bin":
                torch.save(half, folder / f"pytorch_model-0000{k}-of-00002.bin")
            else:
                save_file(half, folder / f"model-0000{k}-of-00002.safetensors")
        scores = MetricX(str(folder), generation="24", tokenizer=tokenizer).score_batch(BATCH)
        assert scores.tolist() == MetricX(whole, tokenizer=tokenizer).score_batch(BATCH).tolist()


def test_a_tokenizer_beside_the_model_is_preferred(made: Made, tokenizer: str, tmp_path: Path) -> None:
    folder = tmp_path / "metricx-24-own"
    write_t5(folder, metricx_config())
    with pytest.raises(MissingPart, match="google/mt5-xl is not on this machine"):
        MetricX(str(folder)).score_batch(BATCH)
    with pytest.raises(InvalidInput, match=r"holds no tokenizer: tokenizer.json or spiece.model is missing"):
        MetricX(str(folder), tokenizer=str(folder)).score_batch(BATCH)
    elsewhere = MetricX(str(folder), tokenizer=tokenizer)
    before, scores = elsewhere.signature, elsewhere.score_batch(BATCH)
    write_tokenizer(folder)
    assert MetricX(str(folder)).score_batch(BATCH).tolist() == scores.tolist()
    assert before.startswith("MetricX|model:metricx-24-own|weights:")
    assert "|precision:fp32|generation:|transformers:" in before
    assert tokenizer not in before


def test_another_tokenizer_is_another_signature(made: Made, tokenizer: str, tmp_path: Path) -> None:
    write_tokenizer(tmp_path)
    folder = made("metricx-24-hybrid-xl-v2p6")
    first = MetricX(folder, tokenizer=str(tmp_path)).signature
    assert first == MetricX(folder, tokenizer=tokenizer).signature
    settings = json.loads((tmp_path / "tokenizer_config.json").read_text())
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({**settings, "model_max_length": 7}))
    assert MetricX(folder, tokenizer=str(tmp_path)).signature != first


@pytest.mark.parametrize(
    ("spec", "error", "words"),
    [
        ("MetricX", MissingPart, r"needs a checkpoint of Google's.* as in MetricX\(model=google/metricx-24"),
        ("MetricX-QE", MissingPart, r"needs a checkpoint of Google's.* as in MetricX-QE\(model="),
        ("MetricX(model=some/mt5)", InvalidInput, "doesn't tell which generation it is; say generation=23 or"),
        ("MetricX(model=google/metricx-25-x)", InvalidInput, "generation '25' is none of 23, 24"),
        ("MetricX(model=google/metricx-23-qe-xl-v2p0)", InvalidInput, "made without references; use MetricX-QE"),
        ("MetricX-QE(model=google/metricx-23-xl-v2p0)", InvalidInput, "made for references; use MetricX"),
        ("MetricX-QE(model=google/metricx-24-hybrid-xl-v2p6)", MissingPart, "is not on this machine"),
    ],
)
def test_what_is_missing_or_contradicts_itself_is_said(spec: str, error: type[Exception], words: str) -> None:
    scorer: Metric = metric(spec)
    with pytest.raises(error, match=words):
        _ = scorer.signature


def test_what_is_no_mt5_of_this_kind_is_refused(tokenizer: str, tmp_path: Path) -> None:
    small = tmp_path / "small"
    write_t5(small, metricx_config(vocab_size=300))
    with pytest.raises(InvalidInput, match="has 300 words, and a score is read at word 250089"):
        MetricX(str(small), generation="24", tokenizer=tokenizer).score_batch(BATCH)
    gemma = tmp_path / "gemma"
    write_t5(gemma, metricx_config(vocab_size=300, model_type="gemma3"))
    with pytest.raises(InvalidInput, match="is a gemma3 model; name a T5 or mT5"):
        MetricX(str(gemma), generation="24", tokenizer=tokenizer).score_batch(BATCH)
    odd = tmp_path / "odd"
    write_t5(odd, metricx_config(vocab_size=300))
    (odd / "config.json").write_text(json.dumps(metricx_config(feed_forward_proj="gated-swish9")))
    with pytest.raises(InvalidInput, match="feed_forward_proj 'gated-swish9'"):
        MetricX(str(odd), generation="24", tokenizer=tokenizer).score_batch(BATCH)
    (odd / "config.json").write_text(json.dumps(metricx_config(num_decoder_layers=4)))
    with pytest.raises(InvalidInput, match=r"lacks decoder\.block\.3\..*, so it is no T5 that reads and writes"):
        MetricX(str(odd), generation="24", tokenizer=tokenizer).score_batch(BATCH)


def test_equal_texts_are_read_once_and_rows_together_as_if_alone(
    made: Made, tokenizer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scorer = MetricX(made("metricx-24-hybrid-xl-v2p6"), tokenizer=tokenizer)
    rows = [BATCH.part(0, 2), BATCH.part(2, 5), BATCH.part(0, 0)]
    alone = [scorer.score_batch(batch) for batch in rows]
    read: list[int] = []
    plain = FirstStep.logits

    def watched(self: FirstStep, tokens: Any, words: Any) -> Any:
        read.extend(len(ids) for ids in tokens)
        return plain(self, tokens, words)

    monkeypatch.setattr(FirstStep, "logits", watched)
    monkeypatch.setitem(reading.BATCH, "cpu", 40)
    together = scorer.score_rows(rows)
    assert [len(scores) for scores in together] == [2, 3, 0]
    np.testing.assert_allclose(np.concatenate(together), np.concatenate(alone), atol=1e-5)
    # Seven pairs of outputs and references, two of which come back.
    assert len(read) == 5
    assert read == sorted(read)


def test_small_windows_two_devices_and_little_memory_change_no_score(
    made: Made, tokenizer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    scorer = MetricX(made("metricx-24-hybrid-xl-v2p6"), tokenizer=tokenizer)
    whole = scorer.score_batch(BATCH)
    monkeypatch.setenv("BILLBOARDS_DEVICES", "cpu,cpu")
    monkeypatch.setattr(reading, "WINDOW_CHARACTERS", 60)
    assert scorer.score_batch(BATCH) == pytest.approx(whole, abs=1e-5)
    plain = FirstStep.logits

    def cramped(self: FirstStep, tokens: Any, words: Any) -> Any:
        if len(tokens) > 1:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return plain(self, tokens, words)

    monkeypatch.setattr(FirstStep, "logits", cramped)
    assert scorer.score_batch(BATCH) == pytest.approx(whole, abs=1e-5)

    def full(self: FirstStep, tokens: Any, words: Any) -> Any:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(FirstStep, "logits", full)
    with pytest.raises(MetricFailed, match="doesn't suffice for a single text"):
        scorer.score_batch(BATCH)


def test_half_the_precision_is_near_and_another_column(made: Made, tokenizer: str) -> None:
    full = MetricX(made("metricx-24-hybrid-xl-v2p6"), tokenizer=tokenizer)
    whole = full.score_batch(BATCH)
    for precision, near in (("bf16", 0.5), ("fp16", 0.05)):
        half = MetricX(full.model, precision, tokenizer=tokenizer)
        scores = half.score_batch(BATCH)
        assert scores.tolist() == pytest.approx(whole.tolist(), abs=near)
        assert scores.tolist() != whole.tolist()
        assert half.signature == full.signature.replace("fp32", precision)


@pytest.mark.parametrize(("buckets", "farthest"), [(32, 128), (16, 40)])
def test_distances_fall_into_the_buckets_of_transformers(buckets: int, farthest: int) -> None:
    import torch
    from transformers.models.t5.modeling_t5 import T5Attention

    distance = torch.arange(700)[None, :] - torch.arange(700)[:, None]
    expected = T5Attention._relative_position_bucket(distance, True, buckets, farthest).numpy()
    assert np.array_equal(distance_buckets(700, buckets, farthest), expected)


FORMS = [("relu", True), ("relu", False), ("gated-gelu", False), ("gated-silu", True), ("gelu", True)]


@pytest.mark.parametrize(("form", "tied"), FORMS)
def test_every_form_of_t5_is_that_of_transformers(form: str, tied: bool, tmp_path: Path) -> None:
    import torch
    from tiny_t5 import unieval_config
    from transformers import T5ForConditionalGeneration

    settings = unieval_config(60, feed_forward_proj=form, tie_word_embeddings=tied)
    tensors = write_t5(tmp_path, settings, seed=3)
    model = T5ForConditionalGeneration.from_pretrained(tmp_path).eval()
    packed = PackedT5(read_settings(tmp_path), tensors, "cpu", torch.float32)
    lengths, draw = np.array([1, 4, 4, 30, 200]), np.random.default_rng(0)
    texts = [draw.integers(2, 60, length) for length in lengths]
    with torch.inference_mode():
        logits = packed.logits(packed(np.concatenate(texts).astype(np.int32), lengths), [7, 8, 9])
    for ids, own in zip(texts, logits, strict=True):
        with torch.no_grad():
            said = model(input_ids=torch.tensor([ids.tolist()]), decoder_input_ids=torch.tensor([[0]])).logits
        assert own.tolist() == pytest.approx(said[0, 0, [7, 8, 9]].tolist(), rel=5e-6, abs=1e-5)


def test_no_text_at_all_is_no_answer(made: Made, tokenizer: str) -> None:
    scorer = MetricX(made("metricx-24-hybrid-xl-v2p6"), tokenizer=tokenizer)
    model = FirstStep(scorer.weights(), "fp32", "cpu")
    assert ask_first([model], [], [RATING], Reading(limit=9, keeps_end=False)).of == {}
    assert model.tokens([""], Reading(limit=9, keeps_end=False)) == ([[1]], 0)


def test_a_tokenizer_that_cant_be_read_says_what_it_needs(tmp_path: Path) -> None:
    write_t5(tmp_path, metricx_config(vocab_size=300))
    (tmp_path / "spiece.model").write_bytes(b"no model")
    with pytest.raises(MissingPart, match="needs sentencepiece"):
        FirstStep(Weights("tiny", tmp_path), "fp32", "cpu")
