"""BLEU, chrF, chrF++ and TER: numbers worked out by hand, and sacreBLEU's own beside them."""

from __future__ import annotations

import math
import random
import subprocess
import sys

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU as SacreBLEU  # noqa: N811 - sacreBLEU's class beside ours of the same name
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER as SacreTER  # noqa: N811 - the same

from billboards.errors import InvalidInput, UnknownName
from billboards.metrics.base import Batch, Metric
from billboards.metrics.discovery import metric
from billboards.metrics.sacre import SacreMetric

CAT = "the cat sat on the mat"


def score_one(scorer: Metric, output: str, *references: str) -> float:
    found = scorer.score_batch(Batch([output], [references]))
    assert isinstance(found, np.ndarray)
    return float(found[0])


@pytest.mark.parametrize(
    ("name", "output", "references", "expected"),
    [
        # 4 of 4 words, 3 of 3 pairs, 2 of 2 triples, 1 of 1 quadruple; 4 words for 6: exp(1 - 6/4)
        ("BLEU", "the cat sat on", [CAT], 100 * math.exp(1 - 6 / 4)),
        # two words only: orders 3 and 4 don't count, the brevity penalty does
        ("BLEU", "the cat", [CAT], 100 * math.exp(1 - 6 / 2)),
        # 5/6 words, 3/5 pairs, 2/4 triples, 1/3 quadruples
        ("BLEU", "the cat sat on a mat", [CAT], 100 * (5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25),
        # 2/3 words, 1/2 pairs, no triple: smoothed to 1/2 of one
        ("BLEU", "the cat runs", ["the cat naps"], 100 * (2 / 3 * 1 / 2 * 1 / 2) ** (1 / 3)),
        # the counts of both references are pooled: every word and two of three pairs are in one of them
        ("BLEU", "a b c d", ["a b x y", "w z c d"], 100 * (4 / 4 * 2 / 3 * 1 / 4 * 1 / 4) ** 0.25),
        ("BLEU", "The cat sat on the mat", [CAT], 100 * (5 / 6 * 4 / 5 * 3 / 4 * 2 / 3) ** 0.25),
        ("BLEU(lowercase=True)", "The cat sat on the mat", [CAT], 100.0),
        ("BLEU(tokenize=char)", "abcd", ["abcd"], 100.0),
        ("BLEU(smooth=none)", "the cat runs", ["the cat naps"], 0.0),
        ("BLEU", "", [CAT], 0.0),
        ("BLEU", "nothing shared", [CAT], 0.0),
        # letters 2/3, pairs 1/2, triple 0/1, no order beyond: P = R = 7/18
        ("chrF", "abc", ["abd"], 100 * (2 / 3 + 1 / 2 + 0) / 3),
        # letters 2/2 of 2/4, pair 1/1 of 1/3: P = 1, R = 5/12; orders that only one side has don't count
        ("chrF", "ab", ["abcd"], 100 * 5 * 1 * (5 / 12) / (4 * 1 + 5 / 12)),
        ("chrF(beta=1)", "ab", ["abcd"], 100 * 2 * 1 * (5 / 12) / (1 + 5 / 12)),
        ("chrF(char_order=1)", "ab", ["abcd"], 100 * 5 * 1 * (1 / 2) / (4 * 1 + 1 / 2)),
        # spaces don't count unless asked for
        ("chrF", "a b", ["ab"], 100.0),
        # with the space: letters 2/3 of 2/2, pairs 0/2 of 0/1
        ("chrF(whitespace=True)", "a b", ["ab"], 100 * 5 * (1 / 3) * (1 / 2) / (4 * (1 / 3) + 1 / 2)),
        ("chrF", "AB", ["ab"], 0.0),
        ("chrF(lowercase=True)", "AB", ["ab"], 100.0),
        # the mean over all six orders, of which three exist
        ("chrF(eps_smoothing=True)", "abc", ["abc"], 50.0),
        ("chrF", "abc", ["xyz", "abd"], 100 * (2 / 3 + 1 / 2 + 0) / 3),
        ("chrF", "", [CAT], 0.0),
        ("chrF", "猫坐", ["猫坐"], 100.0),
        # letters 2/3 of 2/3, pairs 1/2, triple 0/1 and the word 0/1
        ("chrF++", "abc", ["abd"], 100 * (2 / 3 + 1 / 2 + 0 + 0) / 4),
        ("chrF++", CAT, [CAT], 100.0),
        ("chrF++", "", [CAT], 0.0),
        # one word replaced, of six
        ("TER", "the cat sat on a mat", [CAT], 100 / 6),
        # one shift of a phrase, of six words
        ("TER", "on the mat the cat sat", [CAT], 100 / 6),
        # the fewest edits (0, to the first) over the mean length (3 and 1 words)
        ("TER", "a b c", ["a b c", "z"], 0.0),
        # one edit to the second, over the mean length of 2
        ("TER", "a", ["a b c", "z"], 100 * 1 / 2),
        ("TER", "The cat", ["the cat"], 0.0),
        ("TER(case_sensitive=True)", "The cat", ["the cat"], 50.0),
        ("TER", "cat.", ["cat"], 100.0),
        ("TER(no_punct=True)", "cat.", ["cat"], 0.0),
        ("TER(normalized=True)", "a cat.", ["a cat"], 50.0),
        ("TER(normalized=True,asian_support=True)", "猫坐", ["猫站"], 50.0),
        ("TER(normalized=True)", "猫坐", ["猫站"], 100.0),
        ("TER", "", [CAT], 100.0),
        ("TER", "a b c d e", ["z"], 500.0),
    ],
)
def test_a_score_is_the_one_worked_out_by_hand(name: str, output: str, references: list[str], expected: float) -> None:
    assert score_one(metric(name), output, *references) == pytest.approx(expected, abs=1e-9)


def random_texts(seed: int, count: int) -> list[str]:
    """Texts of a small vocabulary, so that n-grams are shared; some are empty."""
    draw = random.Random(seed)
    words = ["the", "The", "cat", "cat,", "naïve", "猫", "sat", "on", "a", "mat.", "1,000", "don't"]
    return [" ".join(draw.choices(words, k=draw.randrange(9))) for _ in range(count)]


@pytest.mark.parametrize(
    ("name", "scorer"),
    [
        ("BLEU", SacreBLEU(effective_order=True)),
        ("BLEU(tokenize=intl,smooth=add-k)", SacreBLEU(tokenize="intl", smooth_method="add-k", effective_order=True)),
        ("BLEU(smooth=floor)", SacreBLEU(smooth_method="floor", effective_order=True)),
        ("BLEU(smooth=floor[0.25])", SacreBLEU(smooth_method="floor", smooth_value=0.25, effective_order=True)),
        ("BLEU(tokenize=char,smooth=none)", SacreBLEU(tokenize="char", smooth_method="none", effective_order=True)),
        ("BLEU(tokenize=none,lowercase=True)", SacreBLEU(tokenize="none", lowercase=True, effective_order=True)),
        ("chrF", CHRF()),
        ("chrF++", CHRF(word_order=2)),
        ("chrF++(beta=3,whitespace=True)", CHRF(word_order=2, beta=3, whitespace=True)),
        ("chrF(char_order=9,lowercase=True,eps_smoothing=True)", CHRF(9, lowercase=True, eps_smoothing=True)),
        ("chrF++(word_order=3)", CHRF(word_order=3)),
        ("TER", SacreTER()),
        ("TER(normalized=True,no_punct=True)", SacreTER(normalized=True, no_punct=True)),
        ("TER(case_sensitive=True)", SacreTER(case_sensitive=True)),
        ("TER(normalized=True,asian_support=True)", SacreTER(normalized=True, asian_support=True)),
    ],
)
def test_scores_and_signature_are_those_of_sacrebleu(name: str, scorer: SacreBLEU | CHRF | SacreTER) -> None:
    outputs, *references = (random_texts(seed, 60) for seed in range(4))
    pools = list(zip(*references, strict=True))
    expected = [scorer.sentence_score(o, pool).score for o, pool in zip(outputs, pools, strict=True)]
    ours = metric(name)
    assert isinstance(ours, SacreMetric)
    assert list(ours.score_batch(Batch(outputs, pools))) == pytest.approx(expected, abs=1e-9)
    theirs = f"{scorer.sentence_score('a', ['a']).name}|{scorer.get_signature().format()}"
    assert ours.sacrebleu_signature(references=1) == theirs
    assert ours.signature == theirs.replace("nrefs:1|", "") + "|kernel:1"
    corpus = scorer.corpus_score(outputs, references)
    assert ours.corpus_score(Batch(outputs, pools)) == pytest.approx(corpus.score, abs=1e-9)
    assert ours.sacrebleu_signature(references=3) == f"{corpus.name}|{scorer.get_signature().format()}"


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("BLEU", "BLEU|case:mixed|eff:yes|tok:13a|smooth:exp|version:2."),
        ("BLEU(tokenize=zh,lowercase=True)", "BLEU|case:lc|eff:yes|tok:zh|smooth:exp|version:2."),
        ("BLEU(smooth=floor)", "BLEU|case:mixed|eff:yes|tok:13a|smooth:floor[0.10]|version:2."),
        ("chrF", "chrF2|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2."),
        ("chrF(beta=3)", "chrF3|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2."),
        ("chrF++", "chrF2++|case:mixed|eff:yes|nc:6|nw:2|space:no|version:2."),
        ("TER", "TER|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:2."),
    ],
)
def test_a_signature_speaks_sacrebleus_words(name: str, start: str) -> None:
    assert metric(name).signature.startswith(start)


@pytest.mark.parametrize(
    ("name", "output", "references", "singly", "together"),
    [
        ("BLEU", "a b c d", ["a b x y", "w z c d"], [31.95, 31.95], 45.18),
        ("TER", "a", ["a b c", "z"], [66.67, 100.0], 50.0),
    ],
)
def test_bleu_and_ter_against_two_references_are_not_the_better_of_two_scores(
    name: str, output: str, references: list[str], singly: list[float], together: float
) -> None:
    scorer = metric(name)
    assert scorer.multiple_references == "own"
    assert [score_one(scorer, output, reference) for reference in references] == pytest.approx(singly, abs=0.01)
    assert score_one(scorer, output, *references) == pytest.approx(together, abs=0.01)


def test_chinese_needs_its_tokenizer() -> None:
    output, reference = "猫坐在红色的垫子上", "猫坐在蓝色的垫子上"
    assert score_one(metric("BLEU"), output, reference) == 0.0
    expected = 100 * (8 / 9 * 6 / 8 * 4 / 7 * 2 / 6) ** 0.25
    assert score_one(metric("BLEU(tokenize=zh)"), output, reference) == pytest.approx(expected, abs=1e-9)


def test_corpus_bleu_is_that_of_summed_counts_and_not_the_mean() -> None:
    batch = Batch(["a b", "a b c d e f"], [["a b"], ["a b c d x y"]])
    scorer = metric("BLEU(effective_order=False)")
    assert isinstance(scorer, SacreMetric)
    # 6 of 8 words, 4 of 6 pairs, 2 of 4 triples, 1 of 3 quadruples
    assert scorer.corpus_score(batch) == pytest.approx(100 * (6 / 8 * 4 / 6 * 2 / 4 * 1 / 3) ** 0.25, abs=1e-9)
    with pytest.raises(InvalidInput, match="no output to score"):
        scorer.corpus_score(Batch([], []))


def test_what_sacrebleus_signature_leaves_out_is_added_to_ours() -> None:
    assert metric("BLEU(max_ngram_order=2)").signature.endswith("|order:2|kernel:1")
    assert metric("BLEU(smooth=floor[0.125])").signature.endswith("|smooth_value:0.125|kernel:1")
    assert "|smooth:floor[0.25]|version:2." in metric("BLEU(smooth=floor[0.25])").signature


@pytest.mark.parametrize("smooth", ["exp[2]", "floor[]", "floor[0.1", "add-k[-1]", "add-k[nan]", "none[0]"])
def test_a_smoothing_value_must_be_a_number_that_the_method_takes(smooth: str) -> None:
    with pytest.raises(InvalidInput, match=r"is neither floor\[value\] nor add-k\[value\]"):
        score_one(metric("BLEU", smooth=smooth), "a", "a")


def test_a_long_document_with_a_moved_paragraph_is_one_shift_only_where_the_limits_allow() -> None:
    words = [f"w{k}" for k in range(300)]
    moved = words[:100] + words[110:140] + words[100:110] + words[140:]
    assert score_one(metric("TER"), " ".join(moved), " ".join(words)) == pytest.approx(100 * 1 / 300, abs=1e-9)
    # ten words at most are shifted, by fifty places at most: this takes ten deletions and ten insertions
    far = words[:100] + words[110:200] + words[100:110] + words[200:]
    assert score_one(metric("TER"), " ".join(far), " ".join(words)) == pytest.approx(100 * 20 / 300, abs=1e-9)


def test_an_unknown_tokenizer_or_smoothing_is_named_with_its_neighbours() -> None:
    with pytest.raises(UnknownName, match=r"no BLEU tokenizer named '13b'; did you mean 13a\?"):
        _ = metric("BLEU(tokenize=13b)").signature
    with pytest.raises(UnknownName, match=r"no BLEU smoothing named 'expo'; did you mean exp\?"):
        _ = metric("BLEU(smooth=expo)").signature


def test_an_order_without_n_grams_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"chrF\(char_order=0\): char_order must be at least 1"):
        score_one(metric("chrF(char_order=0)"), "a", "a")


def test_ter_is_lower_for_better_and_says_so() -> None:
    card = metric("TER").card
    assert (card.higher_is_better, card.slow, card.range) == (False, False, (0.0, None))


def test_ter_prepares_references_twice_as_sacrebleu_does() -> None:
    output, reference = "In the 1970's it was", "In the 1970's, it was good"
    peer = SacreTER(normalized=True, no_punct=True).sentence_score(output, [reference])
    found = metric("TER(normalized=True,no_punct=True)").score_batch(Batch([output], [[reference]]))
    assert peer.ref_length == len(["in", "the", "1970", "'s", "it", "was", "good"])
    assert np.asarray(found).tolist() == [peer.score]


def test_sacrebleu_advises_once_however_often_a_signature_is_asked_for() -> None:
    code = "from billboards.metrics.discovery import metric; m = metric('BLEU(effective_order=False)'); "
    code += "[m.signature for _ in range(5)]"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.count("effective_order") == 1
