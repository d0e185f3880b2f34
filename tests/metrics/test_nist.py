"""NIST beside nltk's numbers, a plain transcription of mteval-v13a's formulas, and numbers worked out by hand."""

from __future__ import annotations

from collections import Counter
from math import exp, log, log2

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from nltk.translate.nist_score import corpus_nist

from billboards.errors import InvalidInput, UnknownName
from billboards.metrics.base import Batch
from billboards.metrics.discovery import metric
from billboards.metrics.nist import NIST

Texts = list[list[str]]
#: The example in the documentation of nltk, whose source gives 3.3709 and 1.4619 for its two outputs.
FIRST = "It is a guide to action which ensures that the military always obeys the commands of the party"
SECOND = "It is to insure the troops forever hearing the activity guidebook that party direct"
REFERENCES = [
    "It is a guide to action that ensures that the military will forever heed Party commands",
    "It is the guiding principle which guarantees the military forces always being under the command of the Party",
    "It is the practical guide for the army always to heed the directions of the party",
]


def grams(words: list[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[k : k + n]) for k in range(len(words) - n + 1))


def mteval(outputs: Texts, references: list[Texts], n: int = 5) -> float:
    """The formulas of mteval-v13a (compute_ngram_info, score_segment, nist_score), written out."""
    often: Counter[tuple[str, ...]] = Counter()
    for texts in references:
        for text in texts:
            for order in range(1, n + 1):
                often += grams(text, order)
    total = sum(len(text) for texts in references for text in texts)
    information = {gram: -log(often[gram] / (often[gram[:-1]] if gram[1:] else total)) / log(2) for gram in often}
    score = 0.0
    for order in range(1, n + 1):
        shared, written = 0.0, 0
        for output, texts in zip(outputs, references, strict=True):
            own = grams(output, order)
            most: Counter[tuple[str, ...]] = Counter()
            for text in texts:
                most |= grams(text, order)
            shared += sum(information[gram] * count for gram, count in (own & most).items())
            written += own.total()
        score += shared / max(written, 1)
    wanted = sum(sum(map(len, texts)) / len(texts) for texts in references)
    ratio = sum(map(len, outputs)) / wanted if wanted else 1.0
    return score * (1.0 if ratio >= 1 else exp(log(0.5) / log(1.5) ** 2 * log(ratio) ** 2) if ratio > 0 else 0.0)


def is_tied(outputs: Texts, references: list[Texts], n: int = 5) -> bool:
    """Whether two references of other lengths share equally much but for rounding, so that it chooses for nltk."""
    often = sum((grams(text, order) for texts in references for text in texts for order in range(1, n + 1)), Counter())
    total = sum(len(text) for texts in references for text in texts)
    for output, texts in zip(outputs, references, strict=True):
        for order in range(1, n + 1):
            shared = []
            for text in texts:
                both = grams(output, order) & grams(text, order)
                bits = (log2((often[gram[:-1]] if gram[1:] else total) / often[gram]) * both[gram] for gram in both)
                shared.append((sum(bits), len(text)))
            best, length = max(shared)
            if any(0 < best - 1e-9 < other and long != length for other, long in shared):
                return True
    return False


def batch_of(outputs: Texts, references: list[Texts]) -> Batch:
    return Batch([" ".join(words) for words in outputs], [[" ".join(text) for text in texts] for texts in references])


@pytest.mark.parametrize(("output", "expected"), [(FIRST, 3.3709), (SECOND, 1.4619)])
def test_the_example_of_nltks_documentation_has_its_numbers(output: str, expected: float) -> None:
    scored = metric("NIST(definition=nltk)").corpus_score(Batch([output], [REFERENCES]))
    assert scored == pytest.approx(expected, abs=1e-4)


def test_a_score_worked_out_by_hand() -> None:
    # "a" is two of the four words of both references: 1 bit; "a b" is one of the two that begin with "a": 1 bit.
    # The output "a b" has a (1) and b (2) of two words, and "a b" (1) of one pair.
    batch = Batch(["a b", "c"], [["a b"], ["a c"]])
    first, second = NIST(tokenize="none").score_batch(batch)
    assert first == pytest.approx((1 + 2) / 2 + 1)
    # "c" has 2 bits; one word where two are wanted.
    assert second == pytest.approx(2 * exp(log(0.5) / log(1.5) ** 2 * log(0.5) ** 2))
    # Together: 5 bits in three words, 1 in one pair; three words where four are wanted.
    whole = (5 / 3 + 1) * exp(log(0.5) / log(1.5) ** 2 * log(0.75) ** 2)
    assert NIST(tokenize="none").corpus_score(batch) == pytest.approx(whole)


def test_two_thirds_of_the_words_halve_the_score() -> None:
    score = NIST().corpus_score(Batch(["a b"], [["a b c"]]))
    assert score == pytest.approx((log2(3) + 0) / 2)


def test_references_of_equal_outputs_count_as_often_as_they_stand_there() -> None:
    once = NIST().score_batch(Batch(["a", "b"], [["a"], ["b c d"]]))
    twice = NIST().score_batch(Batch(["a", "a", "b"], [["a"], ["a"], ["b c d"]]))
    assert once[0] == pytest.approx(log2(4))
    assert twice[0] == pytest.approx(log2(5 / 2))


def test_an_output_is_cut_as_bleu_cuts_it() -> None:
    batch = Batch(["Hello, World"], [["Hello , World"]])
    assert NIST().corpus_score(batch) == pytest.approx(log2(3))
    assert NIST(tokenize="none").corpus_score(batch) < log2(3)
    lower = Batch(["hello"], [["Hello you"]])
    assert NIST().corpus_score(lower) == 0.0
    assert NIST(lowercase=True).corpus_score(lower) > 0.0


def test_a_chinese_board_cuts_characters() -> None:
    chinese = metric("NIST").for_language("zh")
    assert chinese.signature.startswith("NIST|tokenize:zh|")
    assert chinese.corpus_score(Batch(["猫坐"], [["猫坐着"]])) > 0.0


def test_unknown_options_are_refused() -> None:
    with pytest.raises(UnknownName, match="definition of NIST"):
        NIST(definition="other").score_batch(Batch(["a"], [["a"]]))
    with pytest.raises(InvalidInput, match="n must lie between 1 and 100"):
        NIST(n=0).score_batch(Batch(["a"], [["a"]]))


words = st.lists(st.sampled_from(["a", "b", "c", "d", "e"]), max_size=12)
corpora = st.lists(st.tuples(words, st.lists(words, min_size=1, max_size=3)), min_size=1, max_size=6)


@settings(max_examples=150, deadline=None)
@given(corpora)
def test_a_corpus_scores_as_mteval_scores_it(corpus: list[tuple[list[str], Texts]]) -> None:
    outputs, references = [output for output, _ in corpus], [texts for _, texts in corpus]
    scored = NIST(tokenize="none").corpus_score(batch_of(outputs, references))
    assert scored == pytest.approx(mteval(outputs, references), abs=1e-12)


@settings(max_examples=150, deadline=None)
@given(corpora)
def test_a_corpus_scores_as_nltk_scores_it(corpus: list[tuple[list[str], Texts]]) -> None:
    # nltk divides by nothing where no output, or no reference that it takes, has five words.
    long = ["a", "b", "c", "d", "e", "d"]
    outputs, references = [*(output for output, _ in corpus), long], [*(texts for _, texts in corpus), [long[:5]]]
    assume(not is_tied(outputs, references))
    scored = NIST(tokenize="none", definition="nltk").corpus_score(batch_of(outputs, references))
    assert scored == pytest.approx(corpus_nist(references, outputs), abs=1e-12)
