"""ROUGE-1, -2, -3 and -L: numbers worked out by hand, and rouge-score's own beside them."""

from __future__ import annotations

import random

import pytest
from rouge_score.rouge_scorer import RougeScorer

from billboards.metrics.base import Batch
from billboards.metrics.discovery import metric

CAT = "the cat sat on the mat"


def f_measure(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall)


@pytest.mark.parametrize(
    ("name", "output", "references", "expected"),
    [
        # the cat sat, of 4 and of 6 words
        ("ROUGE-1", "the cat sat down", [CAT], f_measure(3 / 4, 3 / 6)),
        # the cat, cat sat, of 3 and of 5 pairs
        ("ROUGE-2", "the cat sat down", [CAT], f_measure(2 / 3, 2 / 5)),
        # the cat sat, of 2 and of 4 triples
        ("ROUGE-3", "the cat sat down", [CAT], f_measure(1 / 2, 1 / 4)),
        # in order: the, sat or the, mat
        ("ROUGE-L", "the mat sat", [CAT], f_measure(2 / 3, 2 / 6)),
        # a word counts as often as both have it
        ("ROUGE-1", "the the the", [CAT], f_measure(2 / 3, 2 / 6)),
        ("ROUGE-1", "THE CAT, sat!", ["the cat sat"], 1.0),
        # the best reference, not the mean and not the first
        ("ROUGE-1", "a b", ["x y", "a z", "a b c"], f_measure(2 / 2, 2 / 3)),
        ("ROUGE-L", "a b", ["b a", "a x b"], f_measure(2 / 2, 2 / 3)),
        ("ROUGE-1", "running cats", ["run cat"], 0.0),
        ("ROUGE-1(stemmer=True)", "running cats", ["runs cats"], 1.0),
        ("ROUGE-1", "", [CAT], 0.0),
        ("ROUGE-L", "", [CAT], 0.0),
        ("ROUGE-3", "the cat", ["the cat"], 0.0),
        # letters outside a-z split a word, other scripts vanish
        ("ROUGE-1", "naïve", ["na ve"], 1.0),
        ("ROUGE-1", "猫坐在垫子上", ["猫坐在垫子上"], 0.0),
        ("ROUGE-L", "кошка сидит", ["кошка сидит"], 0.0),
    ],
)
def test_a_score_is_the_one_worked_out_by_hand(name: str, output: str, references: list[str], expected: float) -> None:
    assert metric(name).score(Batch([output], [references])) == pytest.approx([expected], abs=1e-12)


@pytest.mark.parametrize("stemmer", [False, True])
@pytest.mark.parametrize("order", "123L")
def test_scores_are_exactly_those_of_rouge_score(order: str, stemmer: bool) -> None:
    name, counted = f"ROUGE-{order}", f"rouge{order}"
    draw = random.Random(5)
    words = ["the", "cats", "cat", "sitting", "sat", "on", "Mats", "naïve", "猫"]
    outputs, *references = ([" ".join(draw.choices(words, k=draw.randrange(12))) for _ in range(50)] for _ in range(4))
    pools = list(zip(*references, strict=True))
    scorer = RougeScorer([counted], use_stemmer=stemmer)
    expected = [scorer.score_multi(p, o)[counted].fmeasure for o, p in zip(outputs, pools, strict=True)]
    assert list(metric(name, stemmer=stemmer).score(Batch(outputs, pools))) == expected


def test_the_stemmers_package_is_in_the_signature_only_where_it_stems() -> None:
    assert metric("ROUGE-3").signature.startswith("ROUGE-3|stemmer:False|rouge-score:0.1.")
    assert "|nltk:" not in metric("ROUGE-3").signature
    assert "|nltk:" in metric("ROUGE-3(stemmer=True)").signature


def test_the_card_warns_of_scripts_that_rouge_score_blanks() -> None:
    assert "Cyrillic, Chinese, Arabic and other scripts are blanked" in (metric("ROUGE-L").card.failures or "")
