"""MoverScore (Zhao et al. 2019): how far an output's words must be moved to become a reference's.

Words are contextual embeddings (power means over a model's last layers); their weights are idf, or alike. The words of
the output are moved onto those of the reference at the least cost, by word mover's distance, and the score is 1 minus
that cost. With several references the best counts. Punctuation and all but the first piece of a word are left out, and
what stands around every text has no weight.
"""

from __future__ import annotations

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
from billboards.metrics.neural.moving import Grams, Heaps, Table, join_grams, left_out_tokens, moving
from billboards.metrics.neural.readout import PowerMeans
from billboards.metrics.neural.tokens import Tokenizer
from billboards.metrics.neural.windows import TokenWindow, plan_windows

if TYPE_CHECKING:
    from torch import Tensor

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

    def score_rows(self, batches: Sequence[Batch]) -> list[Floats]:
        check_language(self, self.model, batches)
        self._check_sizes()
        precision = checked_precision(self, self.precision)
        engine = start_engine(self.weights(), None, precision, Where.from_environment(), PowerMeans(self.layers))
        found: dict[int, Floats] = {}
        for group in scored_together(batches, idf=self.idf):
            some = [batches[k] for k in group]
            found |= zip(group, split_rows(self._score(engine, some), some), strict=True)
        warn_of_cuts(self, engine)
        return [found[k] for k in range(len(batches))]

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
        for items, found in engine.run(plan_windows(outputs, references, engine.window_characters), move):
            np.maximum.at(best, items, found.numpy())
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
