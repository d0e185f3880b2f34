"""Corpus scores and their signatures are sacreBLEU's, on a thousand corpora that were made up."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from billboards.metrics.base import Batch
from billboards.metrics.discovery import metric

WORDS = [
    *(),
    *(
        "the",
        "The",
        "cat",
        "cats,",
        "sat",
        "on",
        "a",
        "mat.",
        "1,000",
        "naïve",
        "(dog)",
        "it's",
        "été",
        "猫",
        "垫子",
        "\u200d",
        "👩\u200d🚀",
        "\xa0",
        "\u2028",
        "ﬁ",
        "Ω",
        "—",
        '"',
        "&",
        "%",
    ),
]
CORPORA = 1000
PAIRS: dict[str, Callable[[], Any]] = {
    "BLEU": BLEU,
    "BLEU(tokenize=zh)": lambda: BLEU(tokenize="zh"),
    "BLEU(tokenize=intl,smooth=floor[0.2],lowercase=True)": lambda: BLEU(True, False, "intl", "floor", 0.2),
    "BLEU(tokenize=char,smooth=add-k)": lambda: BLEU(tokenize="char", smooth_method="add-k"),
    "BLEU(smooth=none,corpus_effective_order=True)": lambda: BLEU(smooth_method="none", effective_order=True),
    "chrF": CHRF,
    "chrF++": lambda: CHRF(word_order=2),
    "chrF(beta=1,whitespace=True,lowercase=True)": lambda: CHRF(6, 0, 1, True, True),
    "TER": TER,
    "TER(normalized=True,no_punct=True,asian_support=True)": lambda: TER(True, True, True),
}


def made_up(draw: random.Random) -> tuple[list[str], list[list[str]]]:
    """A corpus of 1 to 5 outputs, each with 1 to 3 references; any text may be empty or blank."""
    outputs, references = [], []
    at_most = draw.randint(1, 3)
    for _ in range(draw.choice((1, 1, 2, 3, 5))):
        texts = [" ".join(draw.choices(WORDS, k=draw.choice((0, 1, 3, 6, 9)))) for _ in range(draw.randint(1, at_most))]
        output = " ".join(word for word in texts[0].split(" ") if draw.random() < 0.8) + draw.choice(
            ("", " ", " the cat")
        )
        outputs.append(output if draw.random() < 0.9 else draw.choice(("", " ")))
        references.append(texts)
    return outputs, references


def streams(references: list[list[str]]) -> list[list[str | None]]:
    """References as sacreBLEU takes them: first ones, second ones, None where an output has fewer."""
    most = max(map(len, references))
    return [[texts[k] if k < len(texts) else None for texts in references] for k in range(most)]


@pytest.mark.parametrize("name", PAIRS)
def test_corpus_scores_of_made_up_corpora_are_sacrebleus(name: str) -> None:
    draw, ours, theirs = random.Random(name), metric(name), PAIRS[name]()
    for _ in range(CORPORA // len(PAIRS)):
        outputs, references = made_up(draw)
        expected = theirs.corpus_score(outputs, streams(references))
        assert ours.corpus_score(Batch(outputs, references)) == pytest.approx(expected.score, abs=1e-10)
        sizes = set(map(len, references))
        assert ours.corpus_signature(sizes.pop() if len(sizes) == 1 else "var") == str(theirs.get_signature())


def test_bleu_of_a_corpus_does_not_take_the_effective_order_of_sentences() -> None:
    batch = Batch(["the cat", "a dog"], [["the cat"], ["a dog"]])
    assert list(metric("BLEU").score_batch(batch)) == pytest.approx([100.0, 100.0])
    assert metric("BLEU").corpus_score(batch) == BLEU().corpus_score(batch.outputs, [["the cat", "a dog"]]).score == 0.0
    assert metric("BLEU(corpus_effective_order=True)").corpus_score(batch) == pytest.approx(100.0)
