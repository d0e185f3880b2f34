"""Published values are computed anew: both numbers are shown, and one that is too far away ends with exit code 1."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from billboards.cli.main import main
from billboards.errors import InvalidInput, MissingPart, UnknownName
from billboards.metrics.discovery import metric
from billboards.metrics.neural import published_values
from billboards.metrics.neural.published_values import FOLDER, all_published, published_for, read_published, verify

OUTPUTS, REFERENCES = ["the cat", "a dog ran"], [["a dog ran"], ["the cat", "a dog"]]


@pytest.fixture
def checkpoint(tiny_model: Callable[[str], Path]) -> Path:
    return tiny_model("BERT")


def transcribed(folder: Path) -> list[float]:
    """The cosine of the means of all tokens' embeddings, one text at a time, the best reference counting."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()

    def embedded(text: str) -> torch.Tensor:
        with torch.inference_mode():
            return model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0].mean(0)

    return [
        max(float(torch.cosine_similarity(embedded(output), embedded(text), 0)) for text in texts)
        for output, texts in zip(OUTPUTS, REFERENCES, strict=True)
    ]


def write_examples(path: Path, scores: list[float], model: str = "lab/tiny", revision: str = "v1") -> Path:
    lines = [f'metric = "sentence-COSINE"\nmodel = "{model}"\nrevision = "{revision}"\nsource = "a transcription"']
    lines.append("tolerance = 0.0001")
    for output, references, score in zip(OUTPUTS, REFERENCES, scores, strict=True):
        lines.append(
            f'[[examples]]\noutput = "{output}"\nreferences = {references!r}\nscore = {score!r}'.replace("'", '"')
        )
    path.write_text("\n".join(lines))
    return path


def test_a_transcription_and_this_machine_agree(
    checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scores = transcribed(checkpoint)
    examples = write_examples(tmp_path / "examples.toml", scores)
    code = main(["metrics", "--verify", "sentence-cosine", "--model", str(checkpoint), "--examples", str(examples)])
    printed = capsys.readouterr().out
    assert code == 0
    assert "2 of 2 within the tolerance" in printed
    assert "published: a transcription; tolerance 0.0001" in printed
    assert all(f"{score:12.6f}" in printed for score in scores)
    assert "signature: sentence-cosine|model:BERT|weights:" in printed


def test_a_value_that_is_too_far_away_ends_with_1(
    checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = transcribed(checkpoint)
    examples = write_examples(tmp_path / "examples.toml", [first, second + 0.001])
    code = main(["metrics", "--verify", "sentence-cosine", "--model", str(checkpoint), "--examples", str(examples)])
    printed = capsys.readouterr().out
    assert code == 1
    assert "1 of 2 within the tolerance" in printed
    assert "NO" in printed
    assert "-1.00e-03" in printed


def test_without_the_model_the_command_that_fetches_it_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    examples = write_examples(tmp_path / "examples.toml", [0.0, 0.0])
    with pytest.raises(MissingPart, match="`billboards metrics --fetch lab/tiny --revision v1` fetches it"):
        verify(read_published(examples))
    assert main(["metrics", "--verify", "sentence-cosine", "--examples", str(examples)]) != 0
    assert "billboards metrics --fetch lab/tiny --revision v1" in capsys.readouterr().err


def test_every_file_of_the_package_names_a_metric_that_there_is() -> None:
    assert len(all_published()) == len(list(FOLDER.glob("*.toml")))
    for published in all_published():
        scorer = metric(published.metric)
        assert published.source, published.name
        for example in published.examples:
            assert bool(example.references) or not scorer.card.needs_references, published.name
            assert example.source is not None or not scorer.card.needs_input, published.name


def test_what_was_published_is_found_by_metric_model_and_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_examples(tmp_path / "tiny.toml", [0.0, 1.0])
    monkeypatch.setattr(published_values, "FOLDER", tmp_path)
    all_published.cache_clear()
    try:
        for name in ("sentence-cosine", "sentence-COSINE", "lab/TINY", "Tiny"):
            assert [each.name for each in published_for(name)] == ["tiny"]
        with pytest.raises(UnknownName, match="no published value named 'COMET'"):
            published_for("COMET")
    finally:
        all_published.cache_clear()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("metric = 1", "metric must be a text"),
        ("model = 'x'", "metric must be a text"),
        ("metric = 'BLEURT'\ncolour = 1", "unknown key 'colour'"),
        ("metric = 'BLEURT'\ntolerance = 0", "tolerance must be a number above 0"),
        ("metric = 'BLEURT'\nexamples = 3", "examples must be tables"),
        ("metric = 'BLEURT'\n[[examples]]\noutput = 'a'", "score must be a number"),
        ("metric = 'BLEURT'\n[[examples]]\nscore = 1", "output and source must be texts"),
        ("metric = 'BLEURT'\n[[examples]]\noutput = 'a'\nreferences = 'b'\nscore = 1", "references must be a list"),
        ("metric = ", "can't be read"),
    ],
)
def test_a_mistake_in_a_file_is_told(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "examples.toml"
    path.write_text(text)
    with pytest.raises(InvalidInput, match=reason):
        read_published(path)


def test_where_nothing_was_published_the_released_column_is_named(tmp_path: Path) -> None:
    path = tmp_path / "none.toml"
    path.write_text(
        'metric = "sentence-cosine"\nmodel = "m"\nsource = "none"\nreleased = "wmt23/BLEURT-20"\nexamples = []'
    )
    with pytest.raises(InvalidInput, match="released column wmt23/BLEURT-20"):
        verify(read_published(path))
