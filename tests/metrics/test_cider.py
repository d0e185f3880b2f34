"""CIDEr and CIDEr-D: numbers worked out by hand, and pycocoevalcap's own beside them."""

from __future__ import annotations

import math
import random
from pathlib import Path

import numpy as np
import pytest
from pycocoevalcap.cider.cider import Cider

from billboards.metrics.base import Batch, Floats
from billboards.metrics.cider import CIDEr, CIDErD
from billboards.metrics.words import caption_words


def theirs(batch: Batch, sigma: float = 6.0) -> Floats:
    outputs = {k: [text] for k, text in enumerate(batch.outputs)}
    scores: Floats = Cider(sigma=sigma).compute_score(dict(enumerate(map(list, batch.references))), outputs)[1]
    return scores


def random_batch(words: int, seed: int = 1) -> Batch:
    draw = random.Random(seed)
    vocabulary = [f"w{k}" for k in range(words)]

    def text() -> str:
        return " ".join(draw.choices(vocabulary, k=draw.randrange(15)))

    references = [[text() for _ in range(draw.randint(1, 5))] for _ in range(200)]
    outputs = [text() for _ in range(200)]
    # An instance that stands in the corpus twice, and an output that is a reference.
    outputs[3], references[3], outputs[7] = outputs[4], references[4], references[7][0]
    return Batch(outputs, references)


@pytest.mark.parametrize("words", [3, 50, 1000])
def test_cider_d_is_pycocoevalcaps_cider(words: int) -> None:
    batch = random_batch(words)
    np.testing.assert_allclose(CIDErD(tokenizer="split").score_batch(batch), theirs(batch), rtol=0, atol=1e-9)


def test_captions_are_scored_as_by_pycocoevalcap_from_their_words(shared_data: Path) -> None:
    lines = (shared_data / "flickr8k" / "Flickr8k.token.txt").read_text("utf-8").splitlines()[:1500]
    captions = [line.partition("\t")[2] for line in lines]
    references = [captions[k + 1 : k + 5] for k in range(0, len(captions), 5)]
    cut = [[" ".join(caption_words(text)) for text in texts] for texts in references]
    prepared = Batch([" ".join(caption_words(text)) for text in captions[::5]], cut)
    np.testing.assert_allclose(
        CIDErD().score_batch(Batch(captions[::5], references)), theirs(prepared), rtol=0, atol=1e-9
    )


def test_the_plain_cider_is_the_same_where_nothing_repeats_and_length_is_free() -> None:
    """Without repeated words there is nothing to clip, and with a wide tolerance no penalty."""
    draw = random.Random(3)
    words = [f"w{k}" for k in range(12)]
    texts = [[" ".join(draw.sample(words, draw.randrange(9))) for _ in range(4)] for _ in range(100)]
    batch = Batch([one[0] for one in texts], [one[1:] for one in texts])
    np.testing.assert_allclose(CIDEr(tokenizer="split").score_batch(batch), theirs(batch, 1e9), rtol=0, atol=1e-9)


def test_scores_are_those_worked_out_by_hand() -> None:
    """Two instances, so an n-gram of one of them weighs log 2 and one of both nothing."""
    batch = Batch(["a cat", "a dog dog"], [["a cat"], ["a dog"]])
    # Instance 1: one word and one pair agree in full, nothing is longer: (1 + 1 + 0 + 0) / 4 · 10.
    # Instance 2: words: (0, 2) against (0, 1): cosine 1; pairs: a dog, dog dog against a dog: 1 / sqrt 2.
    plain = 10 * (1 + 1 / math.sqrt(2)) / 4
    assert CIDEr(tokenizer="split").score_batch(batch) == pytest.approx([5.0, plain])
    # Clipped: min(2, 1) · 1 / (2 · 1) of the words; one pair more than the reference.
    clipped = 10 * (1 / 2 + 1 / math.sqrt(2)) / 4 * math.exp(-1 / 72)
    assert CIDErD(tokenizer="split").score_batch(batch) == pytest.approx([5.0, clipped])


def test_a_corpus_of_one_instance_weighs_nothing() -> None:
    assert list(CIDErD().score_batch(Batch(["a cat"], [["a cat"]]))) == [0.0]


def test_every_reference_counts_alike() -> None:
    others = (["x"], [["y"]])
    both = CIDErD().score_batch(Batch(["a cat", *others[0]], [["a cat", "no hit"], *others[1]]))
    one = CIDErD().score_batch(Batch(["a cat", *others[0]], [["a cat"], *others[1]]))
    assert both[0] == pytest.approx(one[0] / 2)
