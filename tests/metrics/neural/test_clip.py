"""CLIP-S, RefCLIP-S and RefOnlyC: a tiny random CLIP on generated images, beside transformers' own outputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from billboards.errors import InvalidInput, MissingPart
from billboards.metrics.base import Batch, score_checked
from billboards.metrics.discovery import metric

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'billboards[neural]'")
pytest.importorskip("transformers", reason="transformers is not installed: pip install 'billboards[neural]'")
pytest.importorskip("PIL", reason="pillow is not installed: pip install 'billboards[clip]'")

from billboards.metrics.neural.clip import ClipS, RefClipS, RefOnlyC  # noqa: E402
from billboards.metrics.neural.learned import TextsCut  # noqa: E402

WORDS = ("A", "photo", "depicts", "the", "a", "cat", "dog", "mat", "sat", "ran", "red", "blue")
OUTPUTS = ["a red cat", "the dog ran", "", "a blue mat", "a red cat"]
REFERENCES = [["the red cat", "a cat"], ["a dog"], ["the mat"], ["blue mat", "the cat sat"], ["a dog ran"]]
IMAGES = ["red.png", "noise.png", "wide.jpg", "red.png", "grey.png"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A CLIP of two layers of width 32, and whole words."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import CLIPConfig, CLIPImageProcessorPil, CLIPModel, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("clip") / "tiny-clip"
    vocabulary = {word: k for k, word in enumerate(("<unk>", *WORDS, "<start>", "<end>"))}
    words = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    ends = [(end, vocabulary[end]) for end in ("<start>", "<end>")]
    words.post_processor = processors.TemplateProcessing(single="<start> $A <end>", special_tokens=ends)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words, unk_token="<unk>", bos_token="<start>", eos_token="<end>", pad_token="<end>"
    )
    tokenizer.save_pretrained(folder)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    text = {**sizes, "vocab_size": len(vocabulary), "max_position_embeddings": 16, "eos_token_id": vocabulary["<end>"]}
    vision = {**sizes, "image_size": 32, "patch_size": 8}
    torch.manual_seed(2)
    CLIPModel(CLIPConfig(text_config=text, vision_config=vision, projection_dim=24)).save_pretrained(folder)
    CLIPImageProcessorPil(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}).save_pretrained(folder)
    return folder


@pytest.fixture(autouse=True)
def images(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four images: one colour, noise, a wide one, and one without colours."""
    from PIL import Image

    noise = np.random.default_rng(1).integers(0, 256, (48, 48, 3), np.uint8)
    Image.new("RGB", (40, 40), "red").save(tmp_path / "red.png")
    Image.fromarray(noise).save(tmp_path / "noise.png")
    Image.new("RGB", (90, 35), "blue").save(tmp_path / "wide.jpg")
    Image.fromarray(noise[..., 0]).save(tmp_path / "grey.png")
    monkeypatch.setenv("BILLBOARDS_IMAGES", str(tmp_path))
    return tmp_path


def cosines(model: Path, images: Path) -> tuple[list[float], list[float]]:
    """Caption with image, and caption with its best reference, by transformers' own forward pass, one at a time."""
    from PIL import Image
    from transformers import AutoTokenizer, CLIPImageProcessorPil, CLIPModel

    clip, tokenizer = CLIPModel.from_pretrained(model).eval(), AutoTokenizer.from_pretrained(model)
    processor = CLIPImageProcessorPil.from_pretrained(model)

    def outputs(text: str, image: str) -> Any:
        ids = tokenizer("A photo depicts " + text, return_tensors="pt")["input_ids"]
        pixels = processor(images=Image.open(images / image).convert("RGB"), return_tensors="pt")["pixel_values"]
        with torch.inference_mode():
            return clip(input_ids=ids, pixel_values=pixels)

    def text_of(text: str) -> Any:
        return outputs(text, "red.png").text_embeds[0]

    rows = zip(OUTPUTS, IMAGES, REFERENCES, strict=True)
    with_image, with_text = [], []
    for output, image, references in rows:
        both = outputs(output, image)
        with_image.append(float(both.text_embeds[0] @ both.image_embeds[0]))
        with_text.append(max(float(text_of(output) @ text_of(text)) for text in references))
    return with_image, with_text


def test_the_scores_are_the_papers_of_transformers_own_embeddings(model: Path, images: Path) -> None:
    with_image, with_text = cosines(model, images)
    clip_s = [2.5 * max(one, 0) for one in with_image]
    both = [(one, max(other, 0)) for one, other in zip(clip_s, with_text, strict=True)]
    harmonic = [2 * one * other / (one + other) if one + other else 0 for one, other in both]
    batch = Batch(OUTPUTS, REFERENCES, IMAGES)
    for scorer, expected in ((ClipS, clip_s), (RefClipS, harmonic), (RefOnlyC, with_text)):
        found = score_checked(scorer(str(model)), batch)[""]
        np.testing.assert_allclose(found, expected, atol=1e-5)
    assert np.ptp(with_image) > 0.01
    assert max(clip_s) > 0


def test_generators_scored_together_score_as_they_do_alone(model: Path) -> None:
    first, second = Batch(OUTPUTS, REFERENCES, IMAGES), Batch(OUTPUTS[::-1], REFERENCES, IMAGES)
    scorer = RefClipS(str(model))
    for batch, found in zip((first, second), scorer.score_rows([first, second]), strict=True):
        np.testing.assert_allclose(found, scorer.score_batch(batch), atol=1e-6)
    assert scorer.score_batch(Batch([], [], [])).shape == (0,)


def test_without_image_or_references_each_metric_needs_only_its_own(model: Path) -> None:
    np.testing.assert_allclose(
        ClipS(str(model)).score_batch(Batch(OUTPUTS, (), IMAGES)),
        ClipS(str(model)).score_batch(Batch(OUTPUTS, REFERENCES, IMAGES)),
        atol=1e-6,
    )
    assert RefOnlyC(str(model)).score_batch(Batch(["a cat"], [["a dog", "a cat"]])) == pytest.approx([1])


def test_captions_that_are_cut_are_counted(model: Path) -> None:
    with pytest.warns(TextsCut, match="1 of 2 texts were cut at the 16 tokens"):
        RefOnlyC(str(model)).score_batch(Batch(["cat " * 30], [["a cat"]]))


def test_an_image_that_is_missing_outside_or_none_is_named(model: Path, images: Path) -> None:
    (images / "text.png").write_text("no image")
    scorer = ClipS(str(model))
    for name in ("gone.png", "", "../red.png"):
        with pytest.raises(InvalidInput, match=rf"no image '{name}' lies in .* BILLBOARDS_IMAGES"):
            scorer.score_batch(Batch(["a cat"], (), [name]))
    with pytest.raises(InvalidInput, match=r"text\.png can't be read as an image"):
        scorer.score_batch(Batch(["a cat"], (), ["text.png"]))


def test_without_a_model_it_says_what_is_missing_and_how_to_name_it() -> None:
    for name in ("CLIP-S", "RefCLIP-S", "RefOnlyC"):
        with pytest.raises(MissingPart, match=rf"{name} needs a CLIP model.* as in {name}\(model="):
            metric(name).signature  # noqa: B018


def test_the_signatures_name_model_and_weights_and_no_folder(model: Path, images: Path) -> None:
    assert ClipS(str(model)).signature.startswith("CLIP-S|model:tiny-clip|weights:")
    assert str(images) not in ClipS(str(model)).signature
