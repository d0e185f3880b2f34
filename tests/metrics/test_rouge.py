"""ROUGE-1 to -9, -L and -Lsum: numbers worked out by hand, and rouge-score's own beside them."""

from __future__ import annotations

import random
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from billboards.errors import UnknownName
from billboards.metrics.base import Batch, Floats
from billboards.metrics.discovery import metric
from billboards.metrics.words import unicode_words

CAT = "the cat sat on the mat"
KINDS = (*"123456789", "L", "Lsum")


def f_measures(name: str, outputs: list[str], references: list[list[str]]) -> Floats:
    found = metric(name).score_batch(Batch(outputs, references))
    assert isinstance(found, dict)
    scores: Floats = found["fmeasure"]
    return scores


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
        # cat sat on the, of 2 and of 3 runs
        ("ROUGE-4", "cat sat on the rug", [CAT], f_measure(1 / 2, 1 / 3)),
        ("ROUGE-9", "a b c d e f g h i j", ["a b c d e f g h i"], f_measure(1 / 2, 1 / 1)),
        # in order: the, sat or the, mat
        ("ROUGE-L", "the mat sat", [CAT], f_measure(2 / 3, 2 / 6)),
        # a word counts as often as both have it
        ("ROUGE-1", "the the the", [CAT], f_measure(2 / 3, 2 / 6)),
        ("ROUGE-1", "THE CAT, sat!", ["the cat sat"], 1.0),
        # the best reference, not the mean and not the first
        ("ROUGE-1", "a b", ["x y", "a z", "a b c"], f_measure(2 / 2, 2 / 3)),
        ("ROUGE-1(references=mean)", "a b", ["x y", "a b"], 1 / 2),
        ("ROUGE-L", "a b", ["b a", "a x b"], f_measure(2 / 2, 2 / 3)),
        # Lin's example: a b c d e against a b f and c g e: the union holds a, b, c and e
        ("ROUGE-Lsum", "a b f\nc g e", ["a b c d e"], f_measure(4 / 6, 4 / 5)),
        # lines are sentences: order between them doesn't count
        ("ROUGE-Lsum", "c d\na b", ["a b\nc d"], 1.0),
        ("ROUGE-L", "c d\na b", ["a b\nc d"], 1 / 2),
        # the output's one cat is not found twice
        ("ROUGE-Lsum", "cat", ["cat\ncat"], f_measure(1 / 1, 1 / 2)),
        ("ROUGE-1", "running cats", ["run cat"], 0.0),
        ("ROUGE-1(stemmer=True)", "running cats", ["runs cats"], 1.0),
        ("ROUGE-1", "", [CAT], 0.0),
        ("ROUGE-L", "", [CAT], 0.0),
        ("ROUGE-Lsum", "\n\n", [CAT], 0.0),
        ("ROUGE-3", "the cat", ["the cat"], 0.0),
        # letters outside a-z split a word, other scripts vanish
        ("ROUGE-1", "naïve", ["na ve"], 1.0),
        ("ROUGE-1", "猫坐在垫子上", ["猫坐在垫子上"], 0.0),
        ("ROUGE-L", "кошка сидит", ["кошка сидит"], 0.0),
        # unless asked for: words of any script, Chinese character by character
        ("ROUGE-1(tokenizer=unicode)", "naïve", ["na ve"], 0.0),
        ("ROUGE-1(tokenizer=unicode)", "猫坐在", ["猫在垫"], 2 / 3),
        ("ROUGE-2(tokenizer=unicode)", "Кошка, сидит!", ["кошка сидит"], 1.0),
        ("ROUGE-1(tokenizer=unicode)", "हिन्दी", ["हिन्दी"], 1.0),
    ],
)
def test_a_score_is_the_one_worked_out_by_hand(name: str, output: str, references: list[str], expected: float) -> None:
    assert f_measures(name, [output], [references]) == pytest.approx([expected], abs=1e-12)


WORDS = ["the", "cats", "cat", "sitting", "sat", "on", "Mats", "naïve", "猫", "\n", "K", "İs", "1,000", "кошка"]


def random_texts(seed: int, size: int = 60) -> Batch:
    draw = random.Random(seed)

    def text() -> str:
        # Some are longer than one and than two machine words of the subsequence kernel.
        return " ".join(draw.choices(WORDS, k=draw.choice([0, 1, 5, 10, 20, 64, 65, 130, 200])))

    return Batch([text() for _ in range(size)], [[text() for _ in range(draw.randint(1, 3))] for _ in range(size)])


@pytest.mark.parametrize("options", [{}, {"stemmer": True}, {"tokenizer": "unicode"}], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_exactly_those_of_rouge_score(kind: str, options: dict[str, object]) -> None:
    batch = random_texts(5)
    own = SimpleNamespace(tokenize=unicode_words) if options.get("tokenizer") else None
    scorer = RougeScorer([f"rouge{kind}"], use_stemmer="stemmer" in options, tokenizer=own)
    expected = [scorer.score_multi(item.references, item.output)[f"rouge{kind}"] for item in batch.items()]
    found = metric(f"ROUGE-{kind}", **options).score_batch(batch)
    assert isinstance(found, dict)
    assert list(found) == ["fmeasure", "precision", "recall"]
    for part, scores in found.items():
        assert list(scores) == [getattr(score, part) for score in expected]


@pytest.mark.parametrize("kind", ["1", "L", "Lsum"])
def test_the_mean_is_over_every_reference(kind: str) -> None:
    batch = random_texts(6)
    scorer = RougeScorer([f"rouge{kind}"])
    singles = [[scorer.score(r, item.output)[f"rouge{kind}"] for r in item.references] for item in batch.items()]
    found = metric(f"ROUGE-{kind}", references="mean").score_batch(batch)
    assert isinstance(found, dict)
    for part, scores in found.items():
        assert list(scores) == pytest.approx([np.mean([getattr(s, part) for s in each]) for each in singles], abs=1e-12)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.text(st.one_of(st.characters(), st.sampled_from("abc \n")), max_size=40), min_size=2, max_size=4))
def test_any_text_at_all_scores_as_in_rouge_score(texts: list[str]) -> None:
    output, *references = texts
    kinds = ("1", "2", "L", "Lsum")
    expected = RougeScorer([f"rouge{kind}" for kind in kinds]).score_multi(references, output)
    for kind in kinds:
        assert f_measures(f"ROUGE-{kind}", [output], [references]) == [expected[f"rouge{kind}"].fmeasure]


def test_a_sentence_of_800_words_is_read_out_in_parts_as_rouge_score_reads_it_whole() -> None:
    """So many words that not every row is kept: rows are computed again from those that are."""
    draw = random.Random(2)
    output, reference = (" ".join(draw.choices(WORDS[:9] + WORDS[10:], k=800)) for _ in range(2))
    expected = RougeScorer(["rougeLsum"]).score(reference, output)["rougeLsum"].fmeasure
    assert f_measures("ROUGE-Lsum", [output], [[reference]]) == [expected]


@pytest.mark.parametrize("kind", KINDS)
def test_100_000_words_are_scored_in_little_memory(kind: str) -> None:
    """A table of 100,000 times 100,000 would not fit this machine; half the words, in order, are known to be common."""
    words = [f"w{k}" for k in range(100_000)]
    output, reference = " ".join(words), " ".join(words[:50_000] + ["other"] * 50_000)
    n = int(kind) if kind.isdigit() else 1
    shared = (50_000 - n + 1) / (100_000 - n + 1)
    assert f_measures(f"ROUGE-{kind}", [output], [[reference]]) == pytest.approx([shared])


def test_the_stemmers_package_is_in_the_signature_only_where_it_stems() -> None:
    plain = "ROUGE-3|stemmer:False|tokenizer:rouge-score|references:best|rouge-score:0.1.2"
    assert metric("ROUGE-3").signature == plain
    assert "|nltk:" in metric("ROUGE-3(stemmer=True)").signature


def test_the_card_warns_of_scripts_that_rouge_score_blanks() -> None:
    assert "Cyrillic, Chinese, Arabic and other scripts are blanked" in (metric("ROUGE-L").card.failures or "")


@pytest.mark.parametrize("option", ["tokenizer=unicorn", "references=worst"])
def test_a_choice_that_is_not_there_is_refused_with_those_that_are(option: str) -> None:
    with pytest.raises(UnknownName, match=r"did you mean unicode\?|known: best, mean"):
        metric(f"ROUGE-1({option})")
