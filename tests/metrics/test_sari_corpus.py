"""SARI of a corpus: EASSE's number for ASSET, small ones by hand, and the definition in terms of multisets."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from billboards.errors import UnknownName
from billboards.metrics.base import Batch
from billboards.metrics.discovery import metric
from billboards.metrics.sari_corpus import CorpusSARI

Texts = list[str]


def test_the_source_of_asset_copied_has_easses_score(shared_data: Path) -> None:
    folder = shared_data / "asset"
    sources, *references = (
        (folder / f"asset.test.{name}").read_text("utf-8").splitlines()
        for name in ("orig", *(f"simp.{k}" for k in range(10)))
    )
    batch = Batch(sources, list(zip(*references, strict=True)), sources)
    assert metric("SARI-corpus").corpus_score(batch) == pytest.approx(20.73, abs=0.005)
    assert metric("SARI").corpus_score(batch) == pytest.approx(20.45, abs=0.005)
    assert metric("SARI(definition=corrected)").corpus_score(batch) == pytest.approx(53.78, abs=0.005)


@pytest.mark.parametrize(
    ("sources", "outputs", "references", "expected"),
    [
        # Only words have n-grams, of twelve F measures; kept: 1 of 1.
        (["a"], ["a"], [["a"]], 100 / 12),
        # a is rightly deleted, b rightly added.
        (["a"], ["b"], [["b"]], 100 * 2 / 12),
        # Summed over both outputs: one of two deletions is right, the other was to be kept; none was missed.
        (["a", "a"], ["b", ""], [["b"], ["a"]], 100 * (1 + 2 / 3) / 12),
        # Two references of which one keeps a: kept twice, wanted once.
        (["a"], ["a"], [["a", "b"]], 100 * (2 * (1 / 2) * 1 / 1.5) / 12),
        (["A b"], ["a B"], [["a b"]], 100 * 2 / 12),
        ([""], [""], [[""]], 0.0),
    ],
)
def test_scores_are_those_worked_out_by_hand(
    sources: Texts, outputs: Texts, references: list[Texts], expected: float
) -> None:
    assert CorpusSARI().corpus_score(Batch(outputs, references, sources)) == pytest.approx(expected)


def by_counting(sources: Texts, outputs: Texts, references: list[Texts]) -> float:
    """Counts of all outputs, order by order; 2PR / (P + R) of each operation."""
    total = 0.0
    for n in range(1, 5):
        sums = [[0, 0, 0] for _ in range(3)]
        for source, output, pool in zip(sources, outputs, references, strict=True):
            grams = [
                Counter(tuple(words[k : k + n]) for k in range(len(words) - n + 1))
                for words in (text.lower().split() for text in (source, output, *pool))
            ]
            given, made = (Counter({g: c * len(pool) for g, c in each.items()}) for each in grams[:2])
            wanted = sum(grams[2:], Counter[tuple[str, ...]]())
            added, to_add = set(made) - set(given), set(wanted) - set(given)
            pairs = [(given & made, given & wanted), (given - made, given - wanted)]
            rows = [(len(added & to_add), len(added), len(to_add))]
            rows += [((own & theirs).total(), own.total(), theirs.total()) for own, theirs in pairs]
            sums = [[a + b for a, b in zip(old, row, strict=True)] for old, row in zip(sums, rows, strict=True)]
        for right, done, asked in sums:
            precision, recall = right / max(done, 1), right / max(asked, 1)
            total += 2 * precision * recall / (precision + recall) if right else 0.0
    return 100 * total / 12


def test_random_corpora_score_as_by_counting() -> None:
    draw = random.Random(4)

    def text() -> str:
        return " ".join(draw.choices(["a", "b", "c", "D", "é", "猫"], k=draw.randrange(12)))

    for _ in range(200):
        size = draw.randint(1, 5)
        sources, outputs = ([text() for _ in range(size)] for _ in range(2))
        references = [[text() for _ in range(draw.randint(1, 4))] for _ in range(size)]
        found = CorpusSARI(tokenizer="split").corpus_score(Batch(outputs, references, sources))
        assert found == pytest.approx(by_counting(sources, outputs, references), abs=1e-10)


def test_a_sentence_has_the_score_of_a_corpus_of_its_own() -> None:
    batch = Batch(["a b c", "d"], [["a c"], ["d e"]], ["a b", "d"])
    alone = [CorpusSARI().corpus_score(batch.part(k, k + 1)) for k in range(2)]
    assert list(CorpusSARI().score_batch(batch)) == pytest.approx(alone)
    assert CorpusSARI().corpus_score(batch) != pytest.approx(sum(alone) / 2)


def test_a_tokenizer_that_is_not_there_is_refused() -> None:
    with pytest.raises(UnknownName, match="tokenizer of SARI"):
        metric("SARI-corpus(tokenizer=x)")
