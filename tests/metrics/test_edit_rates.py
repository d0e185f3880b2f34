"""WER, CER, PER, CDER, CharacTER, EED: numbers worked out by hand, and plain definitions beside the kernels."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from billboards.errors import InvalidInput
from billboards.metrics import character as character_module
from billboards.metrics.base import Batch
from billboards.metrics.discovery import metric
from billboards.metrics.eed import prepared
from billboards.metrics.summed import SummedMetric

CAT = "the cat sat on the mat"


def score_one(name: str, output: str, *references: str) -> float:
    found = metric(name).score_batch(Batch([output], [references]))
    assert isinstance(found, np.ndarray)
    return float(found[0])


@pytest.mark.parametrize(
    ("name", "output", "references", "expected"),
    [
        ("WER", CAT, [CAT], 0.0),
        # one word replaced, one left out, of six
        ("WER", "the dog sat on mat", [CAT], 100 * 2 / 6),
        # no shifts: three words go, three come
        ("WER", "on the mat the cat sat", [CAT], 100 * 6 / 6),
        # one edit of three words beats one edit of two
        ("WER", "a b", ["a c", "a b c"], 100 / 3),
        ("WER", "The cat", ["the cat"], 50.0),
        ("WER(lowercase=True)", "The cat", ["the cat"], 0.0),
        ("WER", "a b c d", ["a"], 300.0),
        ("WER", "", ["a b"], 100.0),
        ("WER", "a b", [""], 100.0),
        ("WER", "", [""], 0.0),
        # order does not matter
        ("PER", "on the mat the cat sat", [CAT], 0.0),
        # one word too many of seven, against six; "dog" for "cat" beside it
        ("PER", "the the dog sat on the mat", [CAT], 100 * 2 / 6),
        # three words are missing, and one is wrong
        ("PER", "the dog", [CAT], 100 * 5 / 6),
        ("PER", "a b", ["a c", "b a c"], 100 / 3),
        ("PER", "", ["a b"], 100.0),
        ("PER", "a b", [""], 100.0),
        ("PER", "", [""], 0.0),
        ("PER(lowercase=True)", "The Cat", ["cat the"], 0.0),
        ("PER(tokenizer=characters)", "坐猫", ["猫坐"], 0.0),
        ("CDER", CAT, [CAT], 0.0),
        # the path begins with a jump to "the cat sat", jumps to "on the mat" and from there to the output's end
        ("CDER", "on the mat the cat sat", [CAT], 100 * 3 / 6),
        ("CDER", "the dog sat on mat", [CAT], 100 * 2 / 6),
        # any number of words is passed over by one jump
        ("CDER", "a x x x x b", ["a b"], 100 / 2),
        ("CDER", "a b x x x x", ["a b"], 100 / 2),
        # words are used again: a jump back after "a b"
        ("CDER", "a b", ["a b a b"], 100 / 4),
        ("CDER", "", ["a b"], 100.0),
        ("CDER", "a b", [""], 100.0),
        ("CDER", "", [""], 0.0),
        ("CDER", "a b", ["c d", "a c d e"], 75.0),
        ("CER", "kitten", ["sitting"], 100 * 3 / 7),
        ("CER", "a b", ["ab"], 50.0),
        ("CER(whitespace=False)", "a b", ["ab"], 0.0),
        ("CER", " ab\n", ["ab"], 0.0),
        # a composed letter is not its letter and mark
        ("CER", "é", ["e\u0301"], 100.0),
        ("CER", "猫坐", ["猫站"], 50.0),
        ("CharacTER", CAT, [CAT], 0.0),
        # one letter for another, of 22 letters and blanks
        ("CharacTER", "the bat sat on the mat", [CAT], 1 / 22),
        # "on the mat" goes to the end, no letter changes. For the shift: (2 + 3 + 3) / 3, its mean word, and 3 for the
        # other "the", which is taken for the one that comes after "on" now
        ("CharacTER", "on the mat the cat sat", [CAT], (8 / 3 + 3) / 22),
        # 20 letters come for one: never more than 1, unless told so
        ("CharacTER", "a", ["b" * 20], 1.0),
        ("CharacTER(capped=False)", "a", ["b" * 20], 20.0),
        ("CharacTER", "abcd", ["wxyz", "abce"], 1 / 4),
        ("CharacTER", "", ["a"], 1.0),
        ("CharacTER", "a", [""], 1.0),
        ("EED", "same words", ["same words"], 0.3 / (12 + 0.3)),
    ],
)
def test_a_rate_is_the_one_worked_out_by_hand(name: str, output: str, references: list[str], expected: float) -> None:
    assert score_one(name, output, *references) == pytest.approx(expected, abs=1e-12)


def test_eed_of_the_example_in_the_documentation_of_torchmetrics() -> None:
    batch = Batch(
        ["this is the prediction", "here is an other sample"], [["this is the reference"], ["here is another one"]]
    )
    scorer = metric("EED")
    assert isinstance(scorer, SummedMetric)
    assert scorer.corpus_score(batch) == pytest.approx(0.3078, abs=5e-5)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello, world!\n", " Hello , world ! "),
        ("1,000 to Mr. Fox", " 1 ,000 to Mr. Fox "),
        ("It cost 1 . 5 in the U . S . , e . g . there", " It cost 1.5 in the U.S. , e.g. there "),
        ("", "  "),
    ],
)
def test_eed_sets_marks_apart_and_joins_tokenised_numbers_and_abbreviations(text: str, expected: str) -> None:
    assert prepared(text) == expected


def test_a_cost_below_nothing_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"EED\(rho=-1.0\): costs must be numbers that are not negative"):
        score_one("EED(rho=-1)", "a", "a")


def test_error_rates_of_a_corpus_sum_edits_and_lengths() -> None:
    batch = Batch(["a", "a b c d"], [["b"], ["a b c d"]])
    scorer = metric("WER")
    assert isinstance(scorer, SummedMetric)
    assert list(scorer.score_batch(batch)) == [100.0, 0.0]
    assert scorer.corpus_score(batch) == 20.0


def levenshtein(a: list[str], b: list[str]) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        above, row = row, [i]
        for j, y in enumerate(b, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (x != y)))
    return row[-1]


def jump_distance(output: list[str], reference: list[str]) -> int:
    """The cheapest path through the grid of places (Leusch et al. 2006), every edge tried: Dijkstra's search."""
    costs, ends = {(0, 0): 0}, set[tuple[int, int]]()
    while (len(output), len(reference)) not in ends:
        i, k = min(costs.keys() - ends, key=lambda place: costs[place])
        ends.add((i, k))
        steps = [((j, k), 1) for j in range(len(output) + 1)] + [((i, k + 1), 1)]
        if i < len(output) and k < len(reference):
            steps.append(((i + 1, k + 1), int(output[i] != reference[k])))
        for place, cost in steps:
            if place[1] <= len(reference) and costs[i, k] + cost < costs.get(place, 10**9):
                costs[place] = costs[i, k] + cost
    return costs[len(output), len(reference)]


def jump_table(output: list[str], reference: list[str]) -> int:
    """The same by the paper's recursion, row by row."""
    row = [0, *(1 for _ in output)]
    for word in reference:
        above, row = row, []
        for i in range(len(output) + 1):
            ways = [above[i] + 1, *([row[-1] + 1, above[i - 1] + (output[i - 1] != word)] if i else [])]
            row.append(min(ways))
        row = [min(cost, min(row) + 1) for cost in row]
    return row[-1]


symbols = st.lists(st.sampled_from("abc"), max_size=9)


@settings(max_examples=200, deadline=None)
@given(symbols, symbols)
def test_cder_is_the_cheapest_path_of_edits_and_jumps(output: list[str], reference: list[str]) -> None:
    expected = jump_distance(output, reference)
    assert jump_table(output, reference) == expected
    rate = 100 * expected / len(reference) if reference else 100.0 * (expected > 0)
    assert score_one("CDER", " ".join(output), " ".join(reference)) == pytest.approx(rate, abs=1e-12)


@pytest.mark.parametrize("words", [1, 2, 30, 400])
def test_cder_of_texts_longer_than_a_word_of_bits_is_that_of_the_plain_table(words: int) -> None:
    draw = random.Random(words)
    vocabulary = [f"w{k}" for k in range(words)]
    for _ in range(12):
        output, reference = ([draw.choice(vocabulary) for _ in range(draw.randint(60, 200))] for _ in range(2))
        rate = 100 * jump_table(output, reference) / len(reference)
        assert score_one("CDER", " ".join(output), " ".join(reference)) == pytest.approx(rate, abs=1e-12)


@settings(max_examples=100, deadline=None)
@given(symbols, symbols)
def test_per_counts_the_words_that_the_longer_text_has_alone(output: list[str], reference: list[str]) -> None:
    missing, extra = Counter(reference) - Counter(output), Counter(output) - Counter(reference)
    errors = max(missing.total(), extra.total())
    rate = 100 * errors / len(reference) if reference else 100.0 * (errors > 0)
    assert score_one("PER", " ".join(output), " ".join(reference)) == pytest.approx(rate, abs=1e-12)


def shifted_like(words: list[str], reference: list[str]) -> list[str]:
    """The words after greedy shifts, each candidate tried in full; the later of two equal ones wins."""
    while True:
        tried = [(levenshtein(words, reference), words)]
        for start, place in product(range(len(words)), range(len(reference))):
            length = 0
            while [*words[start:], None][length] == [*reference[place:], ...][length]:
                length += 1
            if start != place and length:
                rest = words[:start] + words[start + length :]
                moved = rest[:place] + words[start : start + length] + rest[place:]
                tried.append((levenshtein(moved, reference), moved))
        fewest = min(distance for distance, _ in tried)
        if fewest == tried[0][0]:
            return words
        words = max(moved for distance, moved in tried if distance == fewest)


def character(output: str, reference: str) -> float:
    """CharacTER, uncapped."""
    words, wanted = output.split(), reference.split()
    if not words:
        return 1.0
    moved, cost, k = shifted_like(words, wanted), 0.0, 0
    while k < len(words):
        length = 0
        if moved[k] != words[k] and words[k] in moved[k:]:
            place = moved.index(words[k], k)
            while [*words[k:], None][length] == [*moved[place:], ...][length]:
                length += 1
            cost += sum(map(len, words[k : k + length])) / length
        k += max(length, 1)
    text = " ".join(moved)
    return (levenshtein(list(text), list(" ".join(wanted))) + cost) / len(text)


def extended(output: str, reference: str) -> float:
    """EED of prepared texts, with the paper's costs."""
    row, visits = [0.0] + [1.0] * len(output), [0] * (len(output) + 1)
    for letter in reference:
        above, row = row, [row[0] + 1]
        for i, own in enumerate(output, 1):
            row.append(min(row[-1] + 0.2, above[i - 1] + (own != letter), above[i] + 1))
        lowest = row.index(min(row))
        visits[lowest] += 1
        if letter == " ":
            row = [min(cost, row[lowest] + 2) for cost in row]
    uncovered = 0.3 * sum(abs(count - 1) for count in visits)
    return min(1.0, (row[-1] + uncovered) / (len(reference) + uncovered))


phrases = st.lists(st.sampled_from(["a", "b", "ab", "ba", "猫", "é.", "1,5", "zz"]), max_size=14).map(" ".join)


@pytest.mark.long
@settings(max_examples=80, deadline=None)
@given(phrases, phrases)
def test_kernels_compute_what_the_definitions_say(output: str, reference: str) -> None:
    words = levenshtein(output.split(), reference.split())
    letters = levenshtein(list(output), list(reference))
    if reference:
        assert score_one("WER", output, reference) == pytest.approx(100 * words / len(reference.split()), abs=1e-9)
        assert score_one("CER", output, reference) == pytest.approx(100 * letters / len(reference), abs=1e-9)
    assert score_one("CharacTER(capped=False)", output, reference) == pytest.approx(
        character(output, reference), abs=1e-12
    )
    assert score_one("EED", output, reference) == pytest.approx(
        extended(prepared(output), prepared(reference)), abs=1e-12
    )


@settings(max_examples=12, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=50, max_size=260), st.lists(st.integers(0, 3), min_size=50, max_size=260))
def test_distances_across_several_strips_of_64_rows_are_exact(a: list[int], b: list[int]) -> None:
    output, reference = ([f"w{k}" for k in words] for words in (a, b))
    expected = 100 * levenshtein(output, reference) / len(reference)
    assert score_one("WER", " ".join(output), " ".join(reference)) == pytest.approx(expected, abs=1e-9)


def test_texts_that_would_take_too_long_are_refused() -> None:
    long = "a" * 500_000
    with pytest.raises(
        InvalidInput, match="CER: an output of 500,000 characters and a reference of 500,000 are too long"
    ):
        score_one("CER", long, "b" * 500_000)
    with pytest.raises(
        InvalidInput, match="EED: an output of 500,002 characters and a reference of 10,002 are too long"
    ):
        score_one("EED", long, "b" * 10_000)
    with pytest.raises(InvalidInput, match="CharacTER: an output of 500,000 characters"):
        score_one("CharacTER", long, "b" * 500_000)


def test_character_is_quick_where_no_order_of_the_words_can_be_nearer() -> None:
    # Of the reference 14 letters and blanks are there in this order: "the t t  the t".
    assert score_one("CharacTER", "the " * 25_000, CAT) == pytest.approx((99_999 - 14) / 99_999, abs=1e-12)


def test_character_refuses_texts_with_too_many_phrases_to_try(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(1)
    words = [draw.choice("abcdefgh") for _ in range(300)]
    monkeypatch.setattr(character_module, "MOST_STEPS", 100_000)
    with pytest.raises(
        InvalidInput, match="CharacTER: a long output has so many phrases of its reference in other places"
    ):
        score_one("CharacTER", " ".join(words), " ".join(draw.sample(words, 300)))
