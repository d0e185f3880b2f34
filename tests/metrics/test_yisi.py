"""YiSi-0 beside its definition in plain loops, and numbers worked out by hand."""

from __future__ import annotations

from math import log2

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from billboards.errors import InvalidInput
from billboards.metrics.base import Batch
from billboards.metrics.discovery import metric
from billboards.metrics.yisi import YiSi0

Texts = list[list[str]]


def longest_run(one: str, other: str) -> int:
    runs = (one[start:stop] for start in range(len(one)) for stop in range(start + 1, len(one) + 1))
    return max((len(run) for run in runs if run in other), default=0)


def yisi(outputs: Texts, references: list[Texts], n: int = 3, alpha: float = 0.8) -> list[float]:
    """The formulas of the authors' program (phrasesim.h, lexsim.cpp, lexweight.cpp, yisiscorer.h), written out."""
    texts = [text for texts in references for text in texts]
    seen = {word: sum(word in text for text in texts) for text in texts for word in text}

    def weight(word: str) -> float:
        return log2(1 + (len(texts) + 1) / (seen.get(word, seen.get(word.lower(), 0)) + 1))

    def alike(gram: list[str], other: list[str], weights: list[float]) -> float:
        words = [2 * longest_run(a, b) / (len(a) + len(b)) for a, b in zip(gram, other, strict=True)]
        return sum(w * s for w, s in zip(weights, words, strict=True)) / sum(weights)

    def share(one: list[str], other: list[str]) -> float:
        size = min(n, len(one), len(other))
        if not size:
            return 0.0
        grams, others = ([text[k : k + size] for k in range(len(text) - size + 1)] for text in (one, other))
        total, shared = 0.0, 0.0
        for gram in grams:
            weights = [weight(word) for word in gram]
            shared += sum(weights) * max(alike(gram, candidate, weights) for candidate in others)
            total += sum(weights)
        return shared / total

    scores = []
    for output, own in zip(outputs, references, strict=True):
        precision = max(share(output, text) for text in own)
        recall = max(share(text, output) for text in own)
        below = alpha * precision + (1 - alpha) * recall
        scores.append(precision * recall / below if precision and recall else 0.0)
    return scores


OUTPUTS = ["The ferries leave at noon - from pier two .", "Nobody knows when the boats will be back ,"]
REFERENCES = [
    ["The ferry leaves pier two at noon .", "At noon a ferry left ."],
    ["Nobody knew when the boat would come back ."],
]


def test_texts_score_as_the_definition_written_out() -> None:
    scores = YiSi0(tokenize="none").score_batch(Batch(OUTPUTS, REFERENCES))
    expected = yisi([text.split() for text in OUTPUTS], [[text.split() for text in texts] for texts in REFERENCES])
    assert scores["YiSi-0"] == pytest.approx(expected, abs=1e-12)
    assert 0.3 < min(expected) < max(expected) < 0.9


def test_a_score_worked_out_by_hand() -> None:
    # "cats" and "cat" share three letters: 2 * 3 / 7. The word of the reference is in one of one: log2(1 + 2 / 2).
    # The output's is in none: log2(1 + 2 / 1); a single word is its own mean.
    scores = metric("YiSi-0").score_batch(Batch(["cats"], [["cat"]]))
    assert dict(scores) == {part: pytest.approx([6 / 7]) for part in ("YiSi-0", "precision", "recall")}


def test_recall_has_its_share_alpha() -> None:
    # Both words of the output are there, and one of three of the reference's; n-grams are single words.
    batch = Batch(["a b"], [["a b c"]])
    scores = YiSi0(n=1).score_batch(batch)
    assert scores["precision"] == pytest.approx([1.0])
    recall = float(scores["recall"][0])
    assert recall == pytest.approx(2 / 3)
    assert scores["YiSi-0"] == pytest.approx([recall / (0.8 + 0.2 * recall)])
    assert YiSi0(n=1, alpha=0.0).score_batch(batch)["YiSi-0"] == pytest.approx([1.0])
    assert YiSi0(n=1, alpha=1.0).score_batch(batch)["YiSi-0"] == pytest.approx([recall])


def test_precision_and_recall_may_come_from_two_references() -> None:
    scores = YiSi0(n=1).score_batch(Batch(["a b"], [["a", "a b c d"]]))
    assert scores["precision"] == pytest.approx([1.0])
    assert scores["recall"] == pytest.approx([1.0])


def test_a_word_that_no_reference_has_weighs_as_its_lower_case_does() -> None:
    batch = Batch(["The x", "y"], [["the z"], ["the w"]])
    precision = float(YiSi0(n=1).score_batch(batch)["precision"][0])
    the, unseen = log2(1 + 3 / 3), log2(1 + 3)
    assert precision == pytest.approx(the * (2 * 2 / 6) / (the + unseen))


def test_texts_too_long_for_their_letters_are_refused() -> None:
    with pytest.raises(
        InvalidInput, match="YiSi-0: an output of 1,000,000 letters and a reference of 501 are too long"
    ):
        metric("YiSi-0").score_batch(Batch(["ab" * 500_000], [["c" * 501]]))


@pytest.mark.parametrize("option", ["n=0", "n=101", "alpha=1.5", "alpha=-0.1"])
def test_options_out_of_their_range_are_refused(option: str) -> None:
    with pytest.raises(InvalidInput, match="n must lie between 1 and 100, alpha between 0 and 1"):
        metric(f"YiSi-0({option})").score_batch(Batch(["a"], [["a"]]))


words = st.lists(st.sampled_from(["a", "ab", "abc", "bc", "Abd", "d"]), max_size=7)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(words, st.lists(words, min_size=1, max_size=3)), min_size=1, max_size=4),
    st.integers(1, 4),
    st.sampled_from([0.2, 0.8]),
)
def test_any_corpus_scores_as_the_definition(corpus: list[tuple[list[str], Texts]], n: int, alpha: float) -> None:
    outputs, references = [output for output, _ in corpus], [texts for _, texts in corpus]
    batch = Batch([" ".join(text) for text in outputs], [[" ".join(text) for text in texts] for texts in references])
    scores = YiSi0(tokenize="none", n=n, alpha=alpha).score_batch(batch)["YiSi-0"]
    assert scores == pytest.approx(yisi(outputs, references, n, alpha), abs=1e-12)
