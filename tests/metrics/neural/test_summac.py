"""SummaC: tiny models of natural language inference, beside the definitions written out one pair at a time.

The trained layer is of the published file's layout, summac_conv_vitc_sent_perc_e.bin of tingofurro/summac: mlp
(1 × bins) and layer_final (2 × 3).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pair_checkpoints import write_albert, write_layer
from punkt_data import sentence_data

from billboards.errors import InvalidInput, MissingPart
from billboards.metrics.base import Batch
from billboards.metrics.discovery import metric

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'billboards[neural]'")
pytest.importorskip("transformers", reason="transformers is not installed: pip install 'billboards[neural]'")

from billboards.metrics.neural.learned import TextsCut  # noqa: E402
from billboards.metrics.neural.summac import PERCENTILES, SummaCConv, SummaCZS, edges, units  # noqa: E402

INPUTS = [
    "The cat sat on the mat. A small dog ran away. Not very.",
    "A small dog ran under the mat.\n\nThe cat and the dog sat.",
    "The cat sat on the mat. " * 3,
    "Short one.",
]
OUTPUTS = [
    "The cat sat under the mat. The dog ran away.",
    "A dog ran very away and sat.",
    "Mr. Smith sat on a mat.",
    "A cat ran on the mat.",
]
BATCH = Batch(OUTPUTS, (), INPUTS)


@pytest.fixture(autouse=True)
def punkt(tmp_path: Path) -> Iterator[None]:
    with sentence_data(tmp_path / "nltk"):
        yield


@pytest.fixture
def roberta(tiny_model: Callable[[str], Path], tmp_path: Path) -> Path:
    """A RoBERTa with MultiNLI's order of classes."""
    from transformers import AutoTokenizer, RobertaConfig, RobertaForSequenceClassification

    base, folder = tiny_model("RoBERTa"), tmp_path / "roberta-nli"
    AutoTokenizer.from_pretrained(base).save_pretrained(folder)
    named = {0: "CONTRADICTION", 1: "NEUTRAL", 2: "ENTAILMENT"}
    config = RobertaConfig.from_pretrained(
        base, num_labels=3, id2label=named, label2id={v: k for k, v in named.items()}
    )
    config.initializer_range = 0.3
    torch.manual_seed(2)
    RobertaForSequenceClassification(config).save_pretrained(folder)
    return folder


@pytest.fixture
def albert(tmp_path: Path) -> Path:
    return write_albert(tmp_path / "albert-vitaminc")


def slow_images(folder: Path, order: str, batch: Batch, split: Callable[[str], list[str]]) -> list[Any]:
    """Entailment, contradiction and neutral of every pair, one at a time."""
    from transformers import AutoModelForSequenceClassification

    from billboards.metrics.neural.pairs import hub_tokenizer

    tokenizer = hub_tokenizer(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    sided = model.config.model_type == "albert"

    def probabilities(premise: str, claim: str) -> list[float]:
        given = tokenizer(
            premise, claim, truncation=True, max_length=64, return_tensors="pt", return_token_type_ids=sided
        )
        with torch.inference_mode():
            shares = torch.softmax(model(**given).logits[0], 0)
        return [float(shares[order.index(letter)]) for letter in "ecn"]

    images = []
    for given, written in zip(batch.inputs, batch.outputs, strict=True):
        rows = [[probabilities(premise, claim) for claim in split(written)] for premise in split(given)[:100]]
        images.append(np.array(rows).transpose(2, 0, 1) if rows and rows[0] else np.zeros((3, 1, 1)))
    return images


def sentences(text: str) -> list[str]:
    import nltk

    return [sentence for sentence in nltk.sent_tokenize(text) if len(sentence) > 10]


def test_zero_shot_is_the_mean_of_highest_entailment_less_highest_contradiction(roberta: Path) -> None:
    wanted = [
        float(np.mean(image[0].max(0) - image[1].max(0))) for image in slow_images(roberta, "cne", BATCH, sentences)
    ]
    np.testing.assert_allclose(SummaCZS(str(roberta)).score_batch(BATCH), wanted, atol=2e-6)
    # "Short one." has ten characters and is passed over: nothing is left to compare.
    assert wanted[3] == 0
    assert np.ptp(wanted) > 0.01


def test_an_albert_is_read_by_its_pieces_and_told_which_text_a_token_is_of(albert: Path) -> None:
    from transformers import AlbertForSequenceClassification

    wanted = [
        float(np.mean(image[0].max(0) - image[1].max(0))) for image in slow_images(albert, "ecn", BATCH, sentences)
    ]
    np.testing.assert_allclose(SummaCZS(str(albert)).score_batch(BATCH), wanted, atol=2e-6)
    # By hand: [CLS] the cat sat . [SEP] a dog ran [SEP].
    model = AlbertForSequenceClassification.from_pretrained(albert).eval()
    ids, sides = torch.tensor([[2, 5, 7, 10, 20, 3, 6, 8, 11, 3]]), torch.tensor([[0] * 6 + [1] * 4])
    with torch.inference_mode():
        shares = model(ids, token_type_ids=sides).logits[0].softmax(0).tolist()
    scores = SummaCZS(str(albert), granularity="document").score_batch(Batch(["a Dog ran"], (), ["The cat sat."]))
    np.testing.assert_allclose(scores, [shares[0] - shares[1]], atol=2e-6)


def test_alberts_digits_are_kept_apart_from_a_comma(albert: Path) -> None:
    from billboards.metrics.neural.pairs import hub_tokenizer

    assert hub_tokenizer(albert).tokenize("99, 9") == ["▁", "9", "9", ",", "▁", "9"]


@pytest.mark.parametrize(("op1", "op2"), [("mean", "min"), ("min", "max"), ("max", "mean")])
@pytest.mark.parametrize("counted", ["ec", "e", "c"])
def test_operators_and_labels_are_options(roberta: Path, op1: str, op2: str, counted: str) -> None:
    one, other = getattr(np, op1), getattr(np, op2)

    def score(image: Any) -> float:
        entailed, contradicted = one(image[0], axis=0), one(image[1], axis=0)
        kinds: dict[str, Any] = {"ec": entailed - contradicted, "e": entailed, "c": 1 - contradicted}
        return float(other(kinds[counted]))

    wanted = [score(image) for image in slow_images(roberta, "cne", BATCH, sentences)]
    scorer = SummaCZS(str(roberta), op1=op1, op2=op2, use_ent="e" in counted, use_con="c" in counted)
    np.testing.assert_allclose(scorer.score_batch(BATCH), wanted, atol=2e-6)


def slow_convolution(image: Any, state: Any, bins: list[float], labels: str, agg: str) -> float:
    """One sentence of the output after the other, the first ten."""
    numbers = []
    for unit in range(min(image.shape[2], 10)):
        counts: list[int] = []
        for letter in labels:
            values = image["ecn".index(letter)][:, unit]
            for k, (low, high) in enumerate(pairwise(bins)):
                last = k == len(bins) - 2
                counts.append(sum(bool(low <= value < high or (last and value == high)) for value in values))
        numbers.append(float(state["mlp.weight"][0] @ torch.tensor(counts).float() + state["mlp.bias"][0]))
    names = ("min", "mean", "max") if agg == "all" else (agg,) * 3
    kinds = {"mean": float(np.mean(numbers)), "min": min(numbers), "max": max(numbers)}
    features = torch.tensor([kinds[name] for name in names]).float()
    return float(torch.softmax(state["layer_final.weight"] @ features + state["layer_final.bias"], 0)[1])


@pytest.mark.parametrize(
    ("bins", "labels", "agg"),
    [("percentile", "e", "mean"), ("even50", "ec", "all"), ("even4", "n", "min"), ("even7", "ecn", "max")],
)
def test_the_convolution_is_as_written_out(roberta: Path, tmp_path: Path, bins: str, labels: str, agg: str) -> None:
    borders = list(PERCENTILES) if bins == "percentile" else [k / int(bins[4:]) for k in range(int(bins[4:]))] + [1.0]
    file = write_layer(tmp_path / "layer.bin", (len(borders) - 1) * len(labels))
    state = torch.load(file, weights_only=True)
    inputs, outputs = [*INPUTS, "The cat ran away. " * 2], [*OUTPUTS, "The cat sat on the mat. A dog ran. " * 7]
    batch = Batch(outputs, (), inputs)
    wanted = [
        slow_convolution(image, state, borders, labels, agg) for image in slow_images(roberta, "cne", batch, sentences)
    ]
    scorer = SummaCConv(str(roberta), convolution=str(file), bins=bins, nli_labels=labels, agg=agg)
    np.testing.assert_allclose(scorer.score_batch(batch), wanted, atol=2e-6)


def test_bins_are_the_published_ones() -> None:
    assert len(edges("percentile")) == 24
    assert edges("even4") == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert len(edges("even50")) == 51


@pytest.mark.parametrize(
    ("granularity", "expected"),
    [
        ("sentence", ["The cat sat on it.", "A dog ran away."]),
        ("2sents", ["The cat sat on it. A dog ran away.", "A dog ran away."]),
        ("paragraph", ["The cat sat on it. Yes.", "A dog ran away."]),
        ("document", ["The cat sat on it. Yes.\n\nA dog ran away."]),
        ("mixed", ["The cat sat on it.", "A dog ran away.", "The cat sat on it. Yes.", "A dog ran away."]),
    ],
)
def test_a_text_is_cut_as_granularity_says(granularity: str, expected: list[str]) -> None:
    assert units("The cat sat on it. Yes.\n\nA dog ran away.", granularity) == expected
    assert units("one line of it\nand another one", "paragraph") == ["one line of it", "and another one"]


def test_input_and_output_may_be_cut_apart(roberta: Path) -> None:
    both = SummaCZS(str(roberta), granularity="document-sentence").score_batch(BATCH)
    images = slow_images(
        roberta, "cne", Batch(OUTPUTS, (), INPUTS), lambda text: [text] if text in INPUTS else sentences(text)
    )
    np.testing.assert_allclose(both, [float(np.mean(image[0].max(0) - image[1].max(0))) for image in images], atol=2e-6)


def test_long_pairs_are_cut_and_counted(roberta: Path) -> None:
    with pytest.warns(TextsCut, match="1 of 1 texts were cut at the 64 tokens"):
        SummaCZS(str(roberta)).score_batch(Batch(["The dog ran away."], (), ["the cat sat " * 60]))


def test_the_signature_names_options_and_the_layers_digest_but_no_path(roberta: Path, tmp_path: Path) -> None:
    file = write_layer(tmp_path / "layer.bin", 23)
    one = SummaCConv(str(roberta), convolution=str(file)).signature
    assert one.startswith("SummaC-Conv|model:roberta-nli|weights:")
    assert str(tmp_path) not in one
    assert "|punkt:" in one
    write_layer(file, 46)
    assert SummaCConv(str(roberta), convolution=str(file)).signature != one


def test_the_order_of_classes_must_be_known(roberta: Path) -> None:
    said = json.loads((roberta / "config.json").read_text())
    first = SummaCZS(str(roberta)).score_batch(BATCH)
    (roberta / "config.json").write_text(json.dumps({**said, "id2label": {str(k): f"LABEL_{k}" for k in range(3)}}))
    with pytest.raises(InvalidInput, match=r"doesn't say which class is which; .*labels=ecn\)"):
        SummaCZS(str(roberta)).score_batch(BATCH)
    np.testing.assert_allclose(SummaCZS(str(roberta), labels="cne").score_batch(BATCH), first, atol=1e-6)
    assert SummaCZS(str(roberta), labels="ecn").score_batch(BATCH)[0] != pytest.approx(first[0], abs=1e-3)


def test_what_is_missing_or_wrong_is_named(roberta: Path, tmp_path: Path) -> None:
    def refuse(scorer: SummaCZS | SummaCConv, kind: type[Exception], reason: str) -> None:
        with pytest.raises(kind, match=reason):
            scorer.score_batch(BATCH)

    for name in ("SummaC-ZS", "SummaC-Conv"):
        with pytest.raises(MissingPart, match=rf"{name} needs a model .* as in {name}\(model=tals/albert-xlarge"):
            metric(name).signature  # noqa: B018
    model = str(roberta)
    refuse(SummaCZS(model, granularity="word"), InvalidInput, "granularity 'word' is none of sentence")
    refuse(SummaCZS(model, granularity="sentence-sentence-sentence"), InvalidInput, "granularity")
    refuse(SummaCZS(model, labels="eec"), InvalidInput, "labels 'eec' are no order of e, c and n")
    refuse(SummaCZS(model, op1="sum"), InvalidInput, "op1 'sum' is none of max, mean, min")
    refuse(SummaCZS(model, op2="sum"), InvalidInput, "op2 'sum' is none of max, mean, min")
    refuse(SummaCZS(model, use_ent=False, use_con=False), InvalidInput, "nothing is left to count")
    refuse(SummaCConv(model), MissingPart, "needs the file of its trained layer")
    refuse(SummaCConv(model, convolution=str(tmp_path / "no.bin")), InvalidInput, "there is no file")
    file = str(write_layer(tmp_path / "layer.bin", 50))
    refuse(SummaCConv(model, convolution=file), InvalidInput, r"no layer of SummaC-Conv's for 23 bins: .*\(1, 23\)")
    refuse(SummaCConv(model, convolution=file, bins="odd"), InvalidInput, "bins 'odd' are neither percentile nor even")
    refuse(SummaCConv(model, convolution=file, agg="sum"), InvalidInput, "agg 'sum' is none of max, mean, min, all")
    refuse(SummaCConv(model, convolution=file, nli_labels="ce"), InvalidInput, "nli_labels 'ce' are none of e, c, n")
    with sentence_data(None):
        refuse(SummaCZS(model), MissingPart, "SummaC-ZS cuts texts into sentences")
    said = json.loads((roberta / "config.json").read_text())
    (roberta / "config.json").write_text(json.dumps({**said, "model_type": "unheard-of"}))
    refuse(SummaCZS(model), InvalidInput, "is no checkpoint that transformers can read|is no tokenizer")
