"""Word mover's distance (Kusner et al. 2015): how far an output's words must travel to become a reference's.

Words are vectors without context, from a file that the user names. Each distinct word weighs its share of the text's
words; the weights of the output are moved onto those of the reference at the least cost, exactly, and a unit costs the
Euclidean distance that it travels. As in gensim, vectors are brought to length 1 first, and words without a vector are
left out. Where a text then has no word at all, the distance is the largest that any two words could have (gensim:
infinity), unless both texts have the same words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np

from billboards.errors import InvalidInput, MissingPart
from billboards.metrics.base import FILE, Batch, Floats, Metric, MetricCard
from billboards.metrics.bleu import left_uncut, tokenize_for, tokenizer
from billboards.metrics.kernels.items import items_of
from billboards.metrics.kernels.pairs import pairs_of
from billboards.metrics.kernels.transport import Transport, least_costs
from billboards.metrics.languages import Language
from billboards.metrics.neural.weights import digest_files
from billboards.metrics.neural.word_vectors import WordVectors, open_vectors
from billboards.reading import text_lines

#: The most that the distinct words of an output times those of a reference may be.
MOST_PAIRS = 9_000_000


@dataclass(frozen=True)
class WMD(Metric):
    """The cost of moving an output's words onto a reference's.

    `model` is a file of word vectors (.bin of word2vec, or text: .txt, .vec, as GloVe and fastText have it; also .gz).
    `stop_words` is a file with a word on each line that takes no part. A word is looked up as it is written, else in
    lower case. `norm` brings vectors to length 1, as gensim does; the paper takes them as they are.
    """

    model: str = field(default="", metadata=FILE)
    tokenize: str = "13a"
    stop_words: str = field(default="", metadata=FILE)
    norm: bool = True

    travels: ClassVar[bool] = False
    card: ClassVar[MetricCard] = MetricCard(
        making="learned",
        name="WMD",
        summary="Least distance by which the words of the output can be moved onto those of the nearest reference, in "
        "word vectors",
        needs_part="a file of word vectors that lies on this machine; none comes with the metric",
        higher_is_better=False,
        range=(0.0, None),
        training_data="none of its own; that of the word vectors",
        licence="Apache-2.0 (this code, from the definition); the vectors have their own",
        paper="Kusner et al. 2015, From Word Embeddings To Document Distances, ICML; definition of gensim's wmdistance",
        failures="Blind to order and to negation; opposites lie close together. Words without a vector are left out, "
        "so that wrong names and numbers cost nothing. Distances of different vectors don't compare. Texts whose "
        "numbers of distinct words multiply to more than 9 million (3,000 each) are refused.",
        slow=True,
    )

    @property
    def signature(self) -> str:
        path = self._file()
        parts = {
            "vectors": path.name,
            "digest": digest_files([path]),
            "tokenize": self.tokenize,
            "stop_words": "none" if (stopped := self._stop_file()) is None else digest_files([stopped]),
            "norm": self.norm,
            "revision": 1,
        }
        return "|".join((self.card.name, *(f"{key}:{value}" for key, value in parts.items())))

    def language_options(self, language: Language) -> dict[str, object]:
        return tokenize_for(language)

    def language_doubt(self, language: Language) -> str | None:
        return left_uncut(language, self.tokenize) or super().language_doubt(language)

    def score_batch(self, batch: Batch) -> Floats:
        vectors, items = open_vectors(self._file()), items_of(batch)
        cut, stopped = tokenizer(self.tokenize), self._stopped()
        texts = [Counter(w for w in cut(text.rstrip()).split() if w not in stopped) for text in items.texts]
        heaps = _Heaps(tuple(texts), _looked_up(vectors, texts), self.norm)
        pairs = pairs_of(items)
        distances = np.full(len(pairs), 2.0 if self.norm else 2 * vectors.longest)
        movable = []
        for k, (output, reference) in enumerate(zip(pairs.outputs.tolist(), pairs.references.tolist(), strict=True)):
            if texts[output] == texts[reference]:
                distances[k] = 0.0
            elif heaps.size(output) and heaps.size(reference):
                self._check_sizes(heaps.size(output), heaps.size(reference))
                movable.append((k, output, reference))
        costs = least_costs(heaps.problems((output, reference) for _, output, reference in movable))
        distances[[k for k, _, _ in movable]] = np.maximum(costs, 0.0)
        return distances[pairs.best(-distances)][items.places]

    def _file(self) -> Path:
        if not self.model:
            raise MissingPart(
                "WMD needs word vectors: name their file as its model, as in "
                "WMD(model=GoogleNews-vectors-negative300.bin) or WMD(model=glove.6B.300d.txt)"
            )
        path = Path(self.model).expanduser()
        if not path.is_file():
            raise MissingPart(f"WMD: there is no file {self.model} of word vectors on this machine")
        return path

    def _stop_file(self) -> Path | None:
        if not self.stop_words:
            return None
        path = Path(self.stop_words).expanduser()
        if not path.is_file():
            raise MissingPart(f"WMD: there is no file {self.stop_words} of stop words on this machine")
        return path

    def _stopped(self) -> frozenset[str]:
        path = self._stop_file()
        return frozenset() if path is None else frozenset(line.strip() for line in text_lines(path))

    def _check_sizes(self, output: int, reference: int) -> None:
        if output * reference > MOST_PAIRS:
            raise InvalidInput(
                f"{self.card.name}: an output of {output:,} distinct words and a reference of {reference:,} are too "
                f"long; the product may be {MOST_PAIRS:,} at most"
            )


def _looked_up(vectors: WordVectors, texts: list[Counter[str]]) -> dict[str, Floats]:
    """The vector of each word that has one, as it is written or else in lower case."""
    words = {word for text in texts for word in text}
    places = vectors.find(words | {word.lower() for word in words})
    return {
        word: places[form].astype(np.float64)
        for word in words
        for form in (word if word in places else word.lower(),)
        if form in places
    }


@dataclass(frozen=True)
class _Heaps:
    """Texts as bags of words, and the vectors of the words that have one."""

    texts: tuple[Counter[str], ...]
    vectors: Mapping[str, Floats]
    norm: bool

    def size(self, text: int) -> int:
        return sum(word in self.vectors for word in self.texts[text])

    def problems(self, pairs: Iterator[tuple[int, int]]) -> Iterator[Transport]:
        """What is to be moved for each pair."""
        for output, reference in pairs:
            (values, supply), (others, demand) = self._heap(output), self._heap(reference)
            yield Transport(_distances(values, others), supply, demand)

    def _heap(self, text: int) -> tuple[Floats, Floats]:
        counted = [(self.vectors[word], count) for word, count in self.texts[text].items() if word in self.vectors]
        values = np.array([vector for vector, _ in counted])
        if self.norm:
            values /= np.linalg.norm(values, axis=1, keepdims=True).clip(1e-12)
        return values, np.array([float(count) for _, count in counted])


def _distances(values: Floats, others: Floats) -> Floats:
    """Euclidean distances of all pairs; those of close vectors from their differences, so that nothing cancels out."""
    both = (values**2).sum(1)[:, None] + (others**2).sum(1)[None]
    squares = both - 2 * values @ others.T
    i, j = np.nonzero(squares < 1e-6 * both)
    squares[i, j] = ((values[i] - others[j]) ** 2).sum(1)
    distances: Floats = np.sqrt(squares)
    return distances


METRICS = {"WMD": WMD}
