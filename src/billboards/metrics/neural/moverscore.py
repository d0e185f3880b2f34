"""MoverScore (Zhao et al. 2019): how far an output's words must be moved to become a reference's.

Words are contextual embeddings (power means over a model's last layers); their weights are idf, or alike; n neighbours
can be joined into one. The words of the output are moved onto those of the reference at the least cost, by word mover's
distance (§3.1), and the score is 1 minus that cost. With several references the best counts. Punctuation and all but
the first piece of a word are left out, and what stands around every text has no weight.
"""

from __future__ import annotations

import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput
from billboards.metrics.base import Batch, Floats, MetricCard
from billboards.metrics.kernels.transport import Transport, least_costs
from billboards.metrics.neural.encoder import Embedded
from billboards.metrics.neural.engine import Engine, Where, start_engine
from billboards.metrics.neural.idf import even_weights, idf_weights, scored_together
from billboards.metrics.neural.learned import Learned, check_language, checked_precision, split_rows, warn_of_cuts
from billboards.metrics.neural.readout import PowerMeans
from billboards.metrics.neural.tokens import Tokenizer
from billboards.metrics.neural.windows import TokenWindow, plan_windows

if TYPE_CHECKING:
    from torch import Tensor


#: One weight per token of the vocabulary.
Table = NDArray[np.float32]
#: Words or n-grams × width, and their weights.
Grams = tuple[Floats, Floats]


def left_out_tokens(tokenizer: Tokenizer) -> NDArray[np.bool_]:
    """For each token of the vocabulary, whether it is punctuation or the rest of a word that was cut into pieces."""
    pieces = tokenizer.inner.convert_ids_to_tokens(list(range(tokenizer.vocabulary)))
    return np.array([piece.startswith("##") or piece.lstrip("▁Ġ") in set(string.punctuation) for piece in pieces])


@dataclass(frozen=True)
class Heaps:
    """The texts of a window as heaps of words: text k's embeddings lie in `values` from `starts[k]` on."""

    window: TokenWindow
    values: NDArray[np.float32]
    starts: NDArray[np.int64]
    #: For each token of the vocabulary, whether it is left out.
    left_out: NDArray[np.bool_]
    #: The tokens that every text gets.
    around: Sequence[int]

    def words(self, text: int, table: Table) -> Grams:
        """A text's words with their weights in a table, those without weight among them."""
        ids, start = self.window.tokens.of(text), int(self.starts[text])
        weights, kept = table[ids].astype(np.float64), ~self.left_out[ids]
        if not weights[kept].any():
            weights, kept = self._alike(text, ids)
        return self.values[start : start + len(ids)][kept].astype(np.float64), weights[kept]

    def _alike(self, text: int, ids: NDArray[np.int32]) -> tuple[Floats, NDArray[np.bool_]]:
        """Where nothing that is kept has a weight, all of a text's own words count alike, or else its other tokens."""
        own = ~np.isin(ids, self.around) & ~self.window.tokens.empty[text]
        words = own & ~self.left_out[ids]
        return np.ones(len(ids)), words if words.any() else own


def join_grams(values: Floats, weights: Floats, n: int) -> Grams:
    """Every n neighbours as their weighted mean, of length 1, with the sum of their weights; fewer than n are one.

    What has no weight is nobody's cargo and is dropped, but only now: a neighbour without weight is a neighbour.
    """
    size = min(n, len(weights))
    if not size:
        return values, weights
    runs = np.lib.stride_tricks.sliding_window_view(np.arange(len(weights)), size)
    runs = runs[weights[runs].sum(1) > 0]
    sums = weights[runs].sum(1)
    means = (weights[runs][..., None] * values[runs]).sum(1) / sums[:, None]
    return unit(means), sums


def unit(values: Floats) -> Floats:
    """Vectors of length 1."""
    scaled: Floats = values / np.linalg.norm(values, axis=1, keepdims=True).clip(1e-12)
    return scaled


def moving(written: Grams, wanted: Grams, *, squared: bool = False) -> Transport:
    """The problem of moving one heap onto another; an empty one is at a right angle to everything."""
    (values, supply), (others, demand) = written, wanted
    if not (len(supply) and len(demand)):
        return Transport(distances(np.zeros((1, 1)), squared=squared), np.ones(1), np.ones(1))
    return Transport(distances(values @ others.T, squared=squared), supply, demand)


def distances(cosines: Floats, *, squared: bool) -> Floats:
    """Euclidean distances between unit vectors, or their squares."""
    squares: Floats = np.clip(2 - 2 * cosines, 0.0, 4.0)
    return squares if squared else np.sqrt(squares)


#: The weights of the references' tokens, and of those of each generator's outputs.
Tables = tuple[Table, Sequence[Table]]


@dataclass(frozen=True)
class MoverScore(Learned):
    """1 - word mover's distance between contextual embeddings.

    `ngram` words are moved together; `layers` last layers are read; `idf` weighs a token by its rarity on its own side,
    among the references or among the generator's outputs. The distance is Euclidean as in the paper; `squared` is that
    of the authors' first program.
    """

    ngram: int = 1
    layers: int = 5
    idf: bool = True
    squared: bool = False

    card: ClassVar[MetricCard] = MetricCard(
        making="learned",
        name="MoverScore",
        summary="1 minus the least distance by which the words of the output can be moved onto those of the reference, "
        "in contextual embeddings",
        needs_part="torch, transformers and a model that lies on this machine",
        range=(-3.0, 1.0),
        training_data="none of its own; that of the model. The embedded all-MiniLM-L6-v2 was trained on 1.17 billion "
        "English sentence pairs, questions and answers of the Web among them",
        licence="Apache-2.0 (this code and the embedded model)",
        paper="Zhao et al. 2019, MoverScore: Text Generation Evaluating with Contextualized Embeddings and Earth "
        "Mover Distance, EMNLP",
        failures="Finds it difficult to see wrong facts, as all metrics on embeddings do. With idf a score depends on "
        "the generator's other outputs. The authors' numbers come from BERT fine-tuned on MNLI, and those of the "
        "embedded model are others. The embedded model reads English only. Texts are cut where the model's input ends.",
        slow=True,
    )

    @property
    def needs_all_outputs(self) -> bool:
        return self.idf

    def score_rows(self, batches: Sequence[Batch]) -> list[Floats]:
        check_language(self, self.model, batches)
        self._check_sizes()
        precision = checked_precision(self, self.precision)
        engine = start_engine(self.weights(), None, precision, Where.from_environment(), PowerMeans(self.layers))
        scores_of: dict[int, Floats] = {}
        for group in scored_together(batches, idf=self.idf):
            some = [batches[k] for k in group]
            scores_of |= zip(group, split_rows(self._score(engine, some), some), strict=True)
        warn_of_cuts(self, engine)
        return [scores_of[k] for k in range(len(batches))]

    def _check_sizes(self) -> None:
        for option, value in (("ngram", self.ngram), ("layers", self.layers)):
            if value < 1:
                raise InvalidInput(f"MoverScore: {option} must be 1 or more, found {value}")

    def _score(self, engine: Engine, batches: Sequence[Batch]) -> Floats:
        outputs = [text for batch in batches for text in batch.outputs]
        references = [texts for batch in batches for texts in batch.references]
        tables = self._tables(engine.tokenizer, batches)
        generator = np.repeat(np.arange(len(batches)) * self.idf, [len(batch) for batch in batches])
        left_out, around = left_out_tokens(engine.tokenizer), sorted(engine.tokenizer.around)

        def move(window: TokenWindow, embedded: Embedded) -> Tensor:
            heaps = Heaps(window, embedded.values.cpu().float().numpy(), embedded.starts, left_out, around)
            return _Mover(self, heaps, tables).scores(generator[window.items])

        best = np.full(len(outputs), -np.inf)
        for items, moved in engine.run(plan_windows(outputs, references, engine.window_characters), move):
            np.maximum.at(best, items, moved.numpy())
        return best

    def _tables(self, tokenizer: Tokenizer, batches: Sequence[Batch]) -> Tables:
        if not self.idf:
            return even_weights(tokenizer), [even_weights(tokenizer)]
        own = [idf_weights(tokenizer, [batch.outputs]) for batch in batches]
        return idf_weights(tokenizer, batches[0].references), own


@dataclass(frozen=True)
class _Mover:
    """The texts of a window, moved onto one another."""

    metric: MoverScore
    heaps: Heaps
    tables: Tables

    def scores(self, generator: NDArray[np.intp]) -> Tensor:
        """The score of each pair; a pair that comes several times is worked out once."""
        import torch

        window = self.heaps.window
        pairs = np.stack((window.references, window.outputs, generator))
        distinct, place = np.unique(pairs, axis=1, return_inverse=True)
        return torch.tensor((1.0 - least_costs(self._problems(distinct)))[place.ravel()])

    def _problems(self, pairs: NDArray[np.intp]) -> Iterator[Transport]:
        """What is to be moved for each pair; pairs with the same reference stand together."""
        of_references, of_outputs = self.tables
        for reference, group in groupby(pairs.T.tolist(), key=itemgetter(0)):
            wanted = self._grams(reference, of_references)
            for _, output, generator in group:
                yield moving(self._grams(output, of_outputs[generator]), wanted, squared=self.metric.squared)

    def _grams(self, text: int, table: Table) -> Grams:
        return join_grams(*self.heaps.words(text, table), self.metric.ngram)


METRICS = {"MoverScore": MoverScore}
