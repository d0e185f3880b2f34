"""A metric in the hand: texts in any shape, one result; what it needs is asked for."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

import billboards as bb
from billboards.errors import InvalidInput
from billboards.metrics.base import Batch, Floats, Metric, MetricCard
from billboards.metrics.texts import NestingGuessed

OUTPUTS = ["It is late, and nobody came.", "The bridge was closed after a storm.", "Rain is likely today."]
FIRST = ["It's late and nobody has come.", "The bridge was closed after the storm.", "Rain is likely."]
SECOND = ["Nobody came; it is late.", "After the storm the bridge was shut.", "It may rain today."]
BY_OUTPUT = [list(pair) for pair in zip(FIRST, SECOND, strict=True)]


@pytest.mark.parametrize(("name", "peer"), [("bleu", BLEU()), ("CHRF", CHRF()), ("tEr", TER())])
@pytest.mark.parametrize("references", [[FIRST, SECOND], BY_OUTPUT, tuple(map(tuple, BY_OUTPUT)), np.array(BY_OUTPUT)])
def test_numbers_are_sacrebleus_in_either_nesting(name: str, peer: Any, references: Any) -> None:
    expected = peer.corpus_score(OUTPUTS, [FIRST, SECOND])
    scores = bb.metric(name).score(OUTPUTS, references)
    assert scores.corpus == pytest.approx(expected.score, rel=1e-12)
    assert scores.signature == str(peer.get_signature().format())
    assert len(scores) == len(list(scores)) == 3
    assert float(scores) == scores.corpus
    low, high = scores.interval()
    assert low <= scores.corpus <= high
    np.testing.assert_array_equal(np.asarray(scores), scores.sentences)


def test_one_text_and_one_or_many_references() -> None:
    chrf = bb.metric("chrF")
    expected = CHRF().corpus_score(OUTPUTS[:1], [FIRST[:1]]).score
    for references in (FIRST[0], [FIRST[0]], [[FIRST[0]]]):
        assert chrf.score(OUTPUTS[0], references).corpus == pytest.approx(expected, rel=1e-12)
    both = CHRF().corpus_score(OUTPUTS[:1], [FIRST[:1], SECOND[:1]]).score
    for nested in (BY_OUTPUT[0], [BY_OUTPUT[0]], [[FIRST[0]], [SECOND[0]]]):
        assert chrf.score(OUTPUTS[0], nested).corpus == pytest.approx(both, rel=1e-12)
    assert chrf.score(OUTPUTS, FIRST).sentences[1] == chrf.score(OUTPUTS[1], FIRST[1]).corpus


def test_frames_and_arrays_are_lists_of_texts() -> None:
    frame = pd.DataFrame({"output": OUTPUTS, "reference": FIRST})
    assert bb.metric("bleu").score(frame["output"], frame["reference"]).corpus == pytest.approx(
        BLEU().corpus_score(OUTPUTS, [FIRST]).score, rel=1e-12
    )
    columns = bb.metric("rouge-l").score(OUTPUTS, FIRST).to_pandas()
    assert list(columns) == list(bb.metric("ROUGE-L").parts)
    assert len(columns) == 3


def test_a_part_is_found_by_its_name() -> None:
    scores = bb.metric("ROUGE-L").score(OUTPUTS, FIRST)
    name = list(scores.parts)[-1]
    np.testing.assert_array_equal(scores[name], bb.metric(f"ROUGE-L[{name}]").score(OUTPUTS, FIRST).sentences)
    assert scores[0] == scores.sentences[0]


def test_a_square_of_references_is_read_as_its_words_say() -> None:
    outputs, first, second = OUTPUTS[:2], FIRST[:2], SECOND[:2]
    expected = BLEU().corpus_score(outputs, [first, second]).score
    for square, words in (([first, second], "each reference"), (BY_OUTPUT[:2], "each output")):
        with pytest.warns(NestingGuessed, match=words):
            assert bb.metric("bleu").score(outputs, square).corpus == pytest.approx(expected, rel=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = bb.metric("bleu").score(outputs, [first, second], nesting="reference")
        assert scores.corpus == pytest.approx(expected, rel=1e-12)
        turned = bb.metric("bleu").score(outputs, [first, second], nesting="output")
        assert turned.corpus == pytest.approx(
            BLEU().corpus_score(outputs, [[first[0], second[0]], [first[1], second[1]]]).score, rel=1e-12
        )


def test_a_square_that_words_do_not_decide_is_refused() -> None:
    square = [["a b", "a c"], ["a b", "a d"]]
    with pytest.raises(InvalidInput, match="two ways: say nesting"):
        bb.metric("bleu").score(["a b", "a c"], square)
    assert bb.metric("chrF").score(["a b", "a c"], square, nesting="output").corpus > 0


def test_a_square_that_is_the_same_in_both_nestings_needs_no_word() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert bb.metric("chrF").score(["a b", "a c"], [["a b", "a c"], ["a c", "a d"]]).corpus > 0


def test_references_that_some_outputs_lack() -> None:
    missing: list[str | None] = [SECOND[0], None, SECOND[2]]
    expected = BLEU().corpus_score(OUTPUTS, [FIRST, missing]).score  # type: ignore[list-item]  # it takes None
    by_output = [[FIRST[0], SECOND[0]], [FIRST[1]], [FIRST[2], SECOND[2]]]
    shapes: tuple[Any, ...] = ([FIRST, missing], by_output)
    for references in shapes:
        assert bb.metric("bleu").score(OUTPUTS, references).corpus == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", ["TER", "BLEU", "chrF", "ROUGE-L", "CharacTER", "METEOR", "CIDEr", "EED"])
@pytest.mark.parametrize("references", [None, [], [[]], [None], ()])
def test_what_needs_references_is_refused_without(name: str, references: Any) -> None:
    with pytest.raises(InvalidInput, match="needs a reference"):
        bb.metric(name).score(["a cat"], references)
    with pytest.raises(InvalidInput, match="needs a reference"):
        bb.metric(name).score(Batch(["a cat"], [[]]))


def test_what_needs_inputs_is_refused_without() -> None:
    with pytest.raises(InvalidInput, match="needs the input"):
        bb.metric("SARI").score(["a cat"], ["the cat"])
    assert bb.metric("SARI").score("a cat", "the cat", "one cat").corpus >= 0


@pytest.mark.parametrize(
    ("outputs", "references", "words"),
    [
        ([], [], "no output to score"),
        (["a", None], ["a", "b"], "output 2 is no text"),
        (["a", 3.5], ["a", "b"], "output 2 is no text"),
        (b"a", ["a"], "outputs are a text"),
        (None, ["a"], "outputs are a text"),
        (["a", "b"], ["a"], "2 outputs and 1 references"),
        (["a", "b"], [["a"]], "2 outputs and 1 lists of references, of 1 texts"),
        (["a", "b"], [["a", "b"], "c"], "number 2 is a text"),
        (["a", "b"], [["a"], [4]], "what is no text"),
        (["a", "b"], 7, "references are a text"),
        (["a", "b"], [["a"], 7], "references 2 are no list"),
        (["a"], {"a": "b"}, "references are a text"),
    ],
)
def test_what_is_no_text_is_refused(outputs: Any, references: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        bb.metric("BLEU").score(outputs, references)


def test_a_nesting_that_does_not_fit_is_refused() -> None:
    with pytest.raises(InvalidInput, match="a list for each output"):
        bb.metric("BLEU").score(OUTPUTS, [FIRST, SECOND], nesting="output")
    with pytest.raises(InvalidInput, match="must have a text for each"):
        bb.metric("BLEU").score(OUTPUTS, BY_OUTPUT, nesting="reference")
    with pytest.raises(InvalidInput, match='"output" or "reference"'):
        bb.metric("BLEU").score(OUTPUTS, BY_OUTPUT, nesting="both")  # type: ignore[arg-type]  # that is the point


def test_a_language_chooses_how_texts_are_cut() -> None:
    output, reference = "因为大桥关闭了", "因为大桥关了"
    scores = bb.metric("bleu").score(output, reference, language="zh")
    assert scores.corpus == pytest.approx(BLEU(tokenize="zh").corpus_score([output], [[reference]]).score, rel=1e-12)
    assert "tok:zh" in scores.signature


def test_functions_and_files_too(tmp_path: Any) -> None:
    def length_ratio(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> list[float]:
        return [len(output) / len(texts[0]) for output, texts in zip(outputs, references, strict=True)]

    ratio = len(OUTPUTS[0]) / len(FIRST[0])
    assert bb.metric(length_ratio).score(OUTPUTS[0], FIRST[0]).corpus == pytest.approx(ratio)
    file = tmp_path / "mine.py"
    file.write_text("def score(outputs, references, inputs):\n    return [float(len(o)) for o in outputs]\n")
    assert list(bb.metric(str(file)).score(OUTPUTS, FIRST)) == [float(len(output)) for output in OUTPUTS]


def test_a_metric_that_is_written_as_in_version_0_1_still_works() -> None:
    @dataclass(frozen=True)
    class Old(Metric):
        card: ClassVar[MetricCard] = MetricCard(name="old", needs_references=False)

        def score(self, batch: Batch) -> Floats:  # type: ignore[override]  # as it was
            return np.array([float(len(output)) for output in batch.outputs])

    old: Metric = Old()  # type: ignore[abstract]  # score_batch is its score
    np.testing.assert_array_equal(old.score_batch(Batch(["ab", "c"])), [2.0, 1.0])
    assert old.score(["ab", "c"]).corpus == 1.5
