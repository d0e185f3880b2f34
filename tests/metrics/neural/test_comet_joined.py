"""COMETKiwi, UniTE and XCOMET: tiny checkpoints in Unbabel's format, beside the definitions in plain loops.

The layout is that of the published files: class_identifier in hparams.yaml; in checkpoints/model.ckpt a state_dict
with encoder.model.*, layerwise_attention.scalar_parameters.N and .gamma, estimator.ff.N.*, and hidden2tag.* where words
are judged, and hyper_parameters by the names of unbabel-comet 2.2.7's classes. benchmarks/parity_comet.py compares with
that package itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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

from billboards.metrics.neural.comet_checkpoint import SEVERITIES  # noqa: E402
from billboards.metrics.neural.comet_spans import XComet, XCometQE, mqm  # noqa: E402
from billboards.metrics.neural.comet_unified import ErrorSpan, Judged, TokenSpan, best_pairs, token_spans  # noqa: E402
from billboards.metrics.neural.learned import TextsCut  # noqa: E402

LAYERS, POSITIONS = 4, 66
LONG = " ".join(["the small dog ran under a mat ,"] * 4)
INPUTS = ["die Katze saß", "a dog", "the cat", "", "a small dog ran .", LONG]
OUTPUTS = ["the cat sat on the mat", " a  dog ran", "the cat", "", "not very small , not away", LONG[::-1]]
REFERENCES = [["a cat sat", "the cat sat"], ["the dog ran"], ["the cat", "", "a"], ["away"], ["a dog ran away"], [LONG]]
BATCH = Batch(OUTPUTS, REFERENCES, INPUTS)
XL = {"encoder_model": "XLM-RoBERTa-XL"}
XCOMET = {**XL, "word_layer": 3}
Write = Callable[..., Path]

pytestmark = pytest.mark.filterwarnings("ignore:.*texts were cut:billboards.metrics.neural.learned.TextsCut")


@pytest.fixture
def write(tiny_model: Callable[[str], Path], tmp_path: Path) -> Write:
    """A random checkpoint over a tiny XLM-R or XLM-R-XL with these settings in it."""

    def make(kind: str, listed: dict[str, Any] | None = None, **settings: Any) -> Path:
        import yaml
        from transformers import AutoModel

        base = tiny_model("XLM-R-XL" if settings.get("encoder_model") == "XLM-RoBERTa-XL" else "XLM-R")
        own = {"pretrained_model": str(base), "encoder_model": "XLM-RoBERTa", "hidden_sizes": [24, 12], **settings}
        torch.manual_seed(3)
        encoder = AutoModel.from_pretrained(base).eval()
        state = {f"encoder.model.{name}": value for name, value in encoder.state_dict().items()}
        state |= {f"layerwise_attention.scalar_parameters.{k}": torch.randn(1) for k in range(LAYERS)}
        state["layerwise_attention.gamma"] = torch.tensor([1.3])
        for k, (wide, narrow) in enumerate(pairwise((32, 24, 12, 1))):
            state[f"estimator.ff.{3 * k}.weight"] = torch.randn(narrow, wide) / (5 if k < 2 else 1)
            state[f"estimator.ff.{3 * k}.bias"] = torch.randn(narrow)
        # Labels differ from token to token.
        labels = 1 + len(settings.get("error_labels", ("minor", "major", "critical")[: 3 if "xcomet" in kind else 2]))
        with torch.inference_mode():
            usual = encoder(torch.randint(5, 20, (8, 30)), output_hidden_states=True).hidden_states
        state["hidden2tag.weight"] = torch.randn(labels, 32)
        place = settings.get("word_layer", 3)
        middle = usual[place if type(place) is int else 3].mean((0, 1)).clone()
        state["hidden2tag.bias"] = -state["hidden2tag.weight"] @ middle
        folder = tmp_path / "tiny"
        (folder / "checkpoints").mkdir(parents=True, exist_ok=True)
        in_yaml = {"class_identifier": kind, **({} if listed is None else listed)}
        (folder / "hparams.yaml").write_text(yaml.safe_dump(in_yaml))
        torch.save({"state_dict": state, "hyper_parameters": own}, folder / "checkpoints" / "model.ckpt")
        return folder

    return make


class Slow:
    """The definition, one sequence at a time."""

    def __init__(self, folder: Path, kind: str) -> None:
        from transformers import AutoModel, AutoTokenizer

        content = torch.load(folder / "checkpoints" / "model.ckpt", weights_only=True)
        self.state, said = content["state_dict"], content["hyper_parameters"]
        self.said = {
            "sent_layer": "mix",
            "layer_transformation": "sparsemax",
            "layer_norm": "xcomet" not in kind,
        } | said
        self.tokenizer = AutoTokenizer.from_pretrained(said["pretrained_model"])
        self.model = AutoModel.from_pretrained(said["pretrained_model"]).eval()

    def read(self, *texts: str) -> tuple[float, list[list[float]]]:
        """The score of texts that are read as one, and the labels' probabilities of the first one's tokens."""
        cls, sep = self.tokenizer.cls_token_id, self.tokenizer.sep_token_id
        pieces = [self.tokenizer(text, truncation=True, max_length=POSITIONS - 4)["input_ids"][1:-1] for text in texts]
        ids = [cls, *pieces[0]]
        for piece in pieces[1:]:
            ids += [sep, sep, *piece]
        ids = [*ids, sep][: POSITIONS - 2]
        with torch.inference_mode():
            out = self.model(torch.tensor([ids]), output_hidden_states=True)
            layers = [*(layer[0] for layer in out.hidden_states[:-1]), out.last_hidden_state[0]]
            score = self.estimate(self.sentence(layers)[0])
            words = layers[self.said.get("word_layer", 3)][: len(pieces[0]) + 2]
            logits = words @ self.state["hidden2tag.weight"].T + self.state["hidden2tag.bias"]
            return score, torch.softmax(logits, 1).tolist()

    def sentence(self, layers: list[Any]) -> Any:
        if self.said["sent_layer"] != "mix":
            return layers[self.said["sent_layer"]]
        raw = [float(self.state[f"layerwise_attention.scalar_parameters.{k}"]) for k in range(LAYERS)]
        if self.said["layer_transformation"] == "softmax":
            shares = [float(np.exp(value) / np.sum(np.exp(raw))) for value in raw]
        else:
            # The threshold at which what lies above it sums to 1, by bisection.
            low, high = min(raw) - 1, max(raw)
            for _ in range(200):
                middle = (low + high) / 2
                over = sum(max(value - middle, 0) for value in raw)
                low, high = (middle, high) if over > 1 else (low, middle)
            shares = [max(value - low, 0) for value in raw]
        if self.said["layer_norm"]:
            layers = [(layer - layer.mean()) / torch.sqrt(layer.var(unbiased=False) + 1e-12) for layer in layers]
        return 1.3 * sum(share * layer for share, layer in zip(shares, layers, strict=True))

    def estimate(self, features: Any) -> float:
        for k in (0, 3, 6):
            features = self.state[f"estimator.ff.{k}.weight"] @ features + self.state[f"estimator.ff.{k}.bias"]
            features = torch.tanh(features) if k < 6 else features
        return float(features)

    def spans(self, output: str, words: Sequence[Sequence[float]], labels: Sequence[str]) -> list[dict[str, Any]]:
        """Error spans token by token: the first token's severity; what the last token doesn't close is left out."""
        offsets = self.tokenizer(output, return_offsets_mapping=True, truncation=True, max_length=POSITIONS - 4)
        spans: list[dict[str, Any]] = []
        current: dict[str, Any] | None = None
        for (start, end), row in zip(offsets["offset_mapping"], words, strict=True):
            label = row.index(max(row))
            if label == 0:
                spans += [] if current is None else [current]
                current = None
            elif current is None:
                current = {"start": start, "end": end, "severity": labels[label - 1], "sure": [max(row)]}
            else:
                current["end"] = end
                current["sure"].append(max(row))
        return spans


def slow_xcomet(folder: Path, output: str, given: str, reference: str | None) -> tuple[dict[str, float], list[Any]]:
    slow = Slow(folder, "xcomet_metric")
    read = [(given,)] if reference is None else [(given,), (reference,), (given, reference)]
    scores, words = zip(*(slow.read(output, *texts) for texts in read), strict=True)
    weights = [1] if reference is None else [0.1667, 0.3333, 0.5]
    mixed = [
        [sum(weight * row[token][label] for weight, row in zip(weights, words, strict=True)) for label in range(4)]
        for token in range(len(words[0]))
    ]
    spans = slow.spans(output, mixed, ("minor", "major", "critical"))
    counts = {name: sum(span["severity"] == name for span in spans) for name in ("minor", "major", "critical")}
    lost = min(counts["minor"] + 5 * counts["major"] + 10 * counts["critical"], 25)
    parts = {"mqm": (25 - lost) / 25, **counts}
    capped = [min(score, 1) for score in scores]
    if reference is None:
        return {"score": 0.78 * capped[0] + 0.22 * parts["mqm"], "src": capped[0], **parts}, spans
    score = 0.12 * capped[0] + 0.33 * capped[1] + 0.33 * capped[2] + 0.22 * parts["mqm"]
    return {"score": score, "src": scores[0], "ref": scores[1], "unified": scores[2], **parts}, spans


def made(name: str, folder: Path, **options: Any) -> Any:
    return metric(name, model=str(folder), **options)


@pytest.mark.parametrize(
    ("listed", "settings"),
    [
        ({}, {"input_segments": ["mt", "src"]}),
        ({"layer_transformation": "sparsemax_patch"}, {"input_segments": ["mt", "src"], "layer_norm": False}),
        ({}, {"input_segments": ["mt", "src"], "layer_norm": False, "layer_transformation": "softmax", **XL}),
        ({}, {"sent_layer": 2}),
        ({}, {"sent_layer": 1, **XL}),
    ],
    ids=["defaults", "wmt22-cometkiwi-da", "wmt23-cometkiwi-da-xl", "one layer", "one layer of XL"],
)
def test_cometkiwi_reads_output_and_input_as_one_text(
    write: Write, listed: dict[str, Any], settings: dict[str, Any]
) -> None:
    folder = write("unified_metric", listed, **settings)
    scores = score_checked(made("COMETKiwi", folder), BATCH)[""]
    slow = Slow(folder, "unified_metric")
    if listed:
        slow.said["layer_transformation"] = "softmax"
    expected = [slow.read(output, given)[0] for output, given in zip(OUTPUTS, INPUTS, strict=True)]
    np.testing.assert_allclose(scores, expected, atol=1e-5)
    assert np.ptp(expected) > 0.05


@pytest.mark.parametrize("settings", [{}, {"sent_layer": 3}, XL], ids=["mix", "top layer", "XL"])
def test_unite_is_the_mean_of_three_readings_which_it_keeps(write: Write, settings: dict[str, Any]) -> None:
    folder = write("unified_metric", **settings)
    parts = score_checked(made("UniTE", folder), BATCH)
    assert tuple(parts) == ("score", "src", "ref", "unified")
    slow = Slow(folder, "unified_metric")
    for k, (output, given) in enumerate(zip(OUTPUTS, INPUTS, strict=True)):
        read = [
            [slow.read(output, *texts)[0] for texts in ((given,), (text,), (given, text))] for text in REFERENCES[k]
        ]
        best = max(read, key=sum)
        expected = [sum(best) / 3, *best]
        np.testing.assert_allclose([scores[k] for scores in parts.values()], expected, atol=1e-5)


@pytest.mark.parametrize(
    "settings",
    [
        XCOMET,
        {**XL, "word_layer": 2, "sent_layer": 1},
        {"word_layer": 2, "sent_layer": 3, "encoder_model": "XLM-RoBERTa"},
    ],
    ids=["XCOMET-XL", "two layers", "XLM-R"],
)
def test_xcomet_mixes_three_scores_and_the_mqm_of_its_error_spans(write: Write, settings: dict[str, Any]) -> None:
    folder = write("xcomet_metric", **settings)
    scorer = made("XCOMET", folder)
    parts, spans = score_checked(scorer, BATCH), scorer.error_spans(BATCH)
    count = 0
    for k, (output, given) in enumerate(zip(OUTPUTS, INPUTS, strict=True)):
        read = [slow_xcomet(folder, output, given, text) for text in REFERENCES[k]]
        best, own = max(read, key=lambda pair: pair[0]["score"])
        assert {name: scores[k] for name, scores in parts.items()} == pytest.approx(best, abs=1e-5)
        assert [(span.start, span.end, span.severity) for span in spans[k]] == [
            (span["start"], span["end"], span["severity"]) for span in own
        ]
        for span, expected in zip(spans[k], own, strict=True):
            assert span.confidence == pytest.approx(float(np.mean(expected["sure"])), abs=1e-5)
        count += len(own)
    assert count > 1


def test_scores_above_1_count_as_1() -> None:
    fine = np.array([[1, 0, 0, 0]], np.float32)
    judged = Judged(np.array([[1.5, 0.5, 2.0]]), [fine], SEVERITIES)
    parts = {name: float(scores[0]) for name, scores in XComet().measure(judged).items()}
    assert parts["score"] == pytest.approx(0.12 + 0.33 * 0.5 + 0.33 + 0.22)
    assert (parts["src"], parts["unified"], parts["mqm"]) == (1.5, 2.0, 1.0)
    alone = {name: float(scores[0]) for name, scores in XCometQE().measure(judged).items()}
    assert (alone["score"], alone["src"]) == (1.0, 1.0)


def test_xcomet_without_references_reads_the_input_alone(write: Write) -> None:
    folder = write("xcomet_metric", **XCOMET)
    scorer, without = made("XCOMET-QE", folder), Batch(OUTPUTS, (), INPUTS)
    parts, spans = score_checked(scorer, without), scorer.error_spans(without)
    for k, (output, given) in enumerate(zip(OUTPUTS, INPUTS, strict=True)):
        expected, own = slow_xcomet(folder, output, given, None)
        assert {name: scores[k] for name, scores in parts.items()} == pytest.approx(expected, abs=1e-5)
        assert [(span.start, span.end) for span in spans[k]] == [(span["start"], span["end"]) for span in own]
    for name, scores in score_checked(scorer, BATCH).items():
        np.testing.assert_array_equal(scores, parts[name])


def test_a_span_has_the_text_of_its_tokens_and_its_place_in_the_output_as_it_was_given(write: Write) -> None:
    scorer = made("XCOMET", write("xcomet_metric", **XCOMET))
    batch = Batch([f"  {text}" for text in OUTPUTS], REFERENCES, INPUTS)
    moved, spans = scorer.error_spans(batch), scorer.error_spans(BATCH)
    texts = [span.text for own in spans for span in own]
    assert texts == [span.text for own in moved for span in own]
    for own, shifted in zip(spans, moved, strict=True):
        words = [(span, other) for span, other in zip(own, shifted, strict=True) if span.start > 0]
        assert [(other.start - span.start, other.end - span.end) for span, other in words] == [(2, 2)] * len(words)
    assert isinstance(spans[0], tuple)
    assert scorer.error_spans(Batch([], [], [])) == []


def test_a_span_that_the_end_does_not_close_is_none() -> None:
    sure, wrong, worse = [0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.3, 0.6]
    labels = ("minor", "major")
    words = np.array([sure, wrong, worse, sure, worse, sure, wrong], np.float32)
    spans = token_spans(words, labels)
    assert [(span.first, span.last, span.severity) for span in spans] == [(1, 3, "minor"), (4, 5, "major")]
    assert [span.confidence for span in spans] == pytest.approx([0.65, 0.6])
    assert token_spans(words[:1], labels) == []
    assert token_spans(words[:0], labels) == []


def test_errors_cost_1_5_or_10_and_at_most_25() -> None:
    spans = [TokenSpan(0, 1, severity, 1.0) for severity in ("minor", "major", "critical")]
    assert [mqm(spans[:k]) for k in range(4)] == pytest.approx([1, 24 / 25, 19 / 25, 9 / 25])
    assert mqm(spans * 3) == 0


def test_the_best_reference_counts_and_of_equals_the_first() -> None:
    assert best_pairs([0, 0, 1, 2, 2, 2], np.array([1.0, 2.0, 0.0, 3.0, 3.0, 1.0])) == [1, 2, 3]


def test_generators_scored_together_score_as_they_do_alone(write: Write) -> None:
    scorer = made("XCOMET", write("xcomet_metric", **XCOMET))
    other = Batch(OUTPUTS[::-1], REFERENCES, INPUTS)
    for batch, parts in zip((BATCH, other), scorer.score_rows([BATCH, other]), strict=True):
        for name, scores in scorer.score_batch(batch).items():
            np.testing.assert_allclose(parts[name], scores, atol=1e-6)


def test_texts_that_occur_twice_are_read_once(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    from billboards.metrics.neural.encoder import Encoder

    read: list[int] = []
    encode = Encoder.encode

    def counted(self: Encoder, tokens: Any) -> Any:
        read.append(len(tokens))
        return encode(self, tokens)

    monkeypatch.setattr(Encoder, "encode", counted)
    scorer = made("UniTE", write("unified_metric"))
    batch = Batch(["a dog", "a dog", "the cat"], [["a cat", "the mat"], ["a cat"], ["a cat"]], ["x", "x", "x"])
    scorer.score_batch(batch)
    # The two outputs with the input; a dog with two references and the cat with one, without and with the input.
    assert sum(read) == 2 + 3 + 3


def test_pairs_that_are_cut_are_counted(write: Write) -> None:
    scorer = made("COMETKiwi", write("unified_metric"))
    with pytest.warns(TextsCut, match=r"1 of 2 texts were cut at the 64 tokens"):
        scorer.score_batch(Batch(["a dog", LONG], (), ["the cat", LONG]))


def test_words_are_read_only_where_a_score_depends_on_them(write: Write) -> None:
    folder = write("unified_metric", word_level_training=True, word_layer=2)
    tagged = made("UniTE", folder)
    spans = tagged.error_spans(BATCH)
    slow = Slow(folder, "unified_metric")
    output, given, text = OUTPUTS[4], INPUTS[4], REFERENCES[4][0]
    words = [slow.read(output, *texts)[1] for texts in ((given,), (text,), (given, text))]
    mixed = np.einsum("i,itl->tl", [0.1667, 0.3333, 0.5], np.array(words))
    expected = slow.spans(output, mixed.tolist(), ("minor", "major"))
    assert [(span.start, span.severity) for span in spans[4]] == [
        (span["start"], span["severity"]) for span in expected
    ]
    assert any(isinstance(span, ErrorSpan) for own in spans for span in own)
    with pytest.raises(InvalidInput, match="judges no words, so it has no error spans; XCOMET's models do"):
        made("UniTE", write("unified_metric")).error_spans(BATCH)


def test_a_checkpoint_of_another_class_is_refused_with_the_metric_that_reads_it(write: Write) -> None:
    def refusal(name: str, folder: Path) -> str:
        with pytest.raises(InvalidInput) as error:
            made(name, folder).signature  # noqa: B018
        return str(error.value).split(" is a ")[1]

    kiwi = write("unified_metric", input_segments=["mt", "src"])
    assert refusal("COMET-QE", kiwi) == "unified_metric of mt, src; COMETKiwi reads it, not COMET-QE"
    assert refusal("UniTE", kiwi) == "unified_metric of mt, src; COMETKiwi reads it, not UniTE"
    assert refusal("XCOMET", kiwi) == "unified_metric of mt, src; COMETKiwi reads it, not XCOMET"
    only = write("unified_metric", input_segments=["mt", "ref"])
    assert refusal("COMETKiwi", only) == "unified_metric of mt, ref; no metric here reads it, not COMETKiwi"
    xcomet = write("xcomet_metric", **XCOMET)
    assert refusal("COMETKiwi", xcomet) == "xcomet_metric of mt, src, ref; XCOMET reads it, not COMETKiwi"
    for name in ("COMETKiwi", "UniTE", "XCOMET", "XCOMET-QE"):
        with pytest.raises(MissingPart, match=rf"{name} needs a checkpoint .* as in {name}\(model=Unbabel/"):
            metric(name).signature  # noqa: B018


def test_settings_and_weights_that_do_not_fit_are_named(write: Write) -> None:
    folder = write("xcomet_metric", **XCOMET, error_labels=["minor", "major"])
    with pytest.raises(InvalidInput, match="an XCOMET model's error_labels are minor, major, critical"):
        made("XCOMET", folder).score_batch(BATCH)
    tagged = write("unified_metric", word_level_training=True, word_layer=2, error_labels=["bad"])
    content = torch.load(tagged / "checkpoints" / "model.ckpt", weights_only=True)
    del content["state_dict"]["hidden2tag.weight"], content["state_dict"]["hidden2tag.bias"]
    torch.save(content, tagged / "checkpoints" / "model.ckpt")
    with pytest.raises(InvalidInput, match=r"\['bad'\] are its labels, and its weights are for none"):
        made("UniTE", tagged).error_spans(BATCH)
    with pytest.raises(InvalidInput, match="input_segments 'mt' in the checkpoint is no list of texts"):
        made("COMETKiwi", write("unified_metric", input_segments="mt")).score_batch(BATCH)
    with pytest.raises(InvalidInput, match="texts are not joined for the encoder 'BERT'"):
        made("COMETKiwi", write("unified_metric", encoder_model="BERT")).score_batch(BATCH)
    with pytest.raises(InvalidInput, match="word_layer 'top' in the checkpoint is no layer's number"):
        made("XCOMET", write("xcomet_metric", **XL, word_layer=3) and _with(tagged, word_layer="top")).score_batch(
            BATCH
        )


def _with(folder: Path, **settings: Any) -> Path:
    """The checkpoint with other settings."""
    file = folder / "checkpoints" / "model.ckpt"
    content = torch.load(file, weights_only=True)
    content["hyper_parameters"] |= settings
    torch.save(content, file)
    return folder


def test_half_precision_is_near(write: Write) -> None:
    folder = write("xcomet_metric", **XCOMET)
    exact, near = (score_checked(made("XCOMET", folder, precision=name), BATCH)["unified"] for name in ("fp32", "bf16"))
    np.testing.assert_allclose(near, exact, atol=0.15)
    assert (near != exact).any()


def test_parts_are_metrics_of_their_own(write: Write) -> None:
    folder = write("xcomet_metric", **XCOMET)
    whole = made("XCOMET", folder)
    critical = metric(f"XCOMET(model={folder})[critical]")
    assert not critical.card.higher_is_better
    np.testing.assert_array_equal(critical.score_batch(BATCH), whole.score_batch(BATCH)["critical"])
