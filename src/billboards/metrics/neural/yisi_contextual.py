"""YiSi-1 (Lo 2019): n-grams of tokens matched by a model's embeddings, rare tokens weighing more.

As YiSi-0, with the cosine of two tokens' embeddings in the place of their common letters; what is below 0 counts as 0.
A token's weight is its rarity among the references. The tokens that a model puts around every text take no part.
Precision and recall are each the best over the references, and `alpha` .8 of the F measure is recall's.

The program's test files set n-grams of 3 words for embeddings without context; here single tokens are matched by
default, since a model's embeddings know their neighbours. The authors took BERT in 2019 and larger models, with a layer
for each, in 2020 (Lo 2020): name the model and its layer. By default the layer is the one that BERTScore reads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput, MissingPart
from billboards.metrics.base import Batch, Floats, MetricCard
from billboards.metrics.neural.encoder import Embedded
from billboards.metrics.neural.engine import Engine, Where, start_engine
from billboards.metrics.neural.idf import CHUNK, scored_together
from billboards.metrics.neural.learned import Learned, check_language, checked_precision, split_rows, warn_of_cuts
from billboards.metrics.neural.models import layer_for
from billboards.metrics.neural.readout import TopLayer
from billboards.metrics.neural.tokens import Tokenizer
from billboards.metrics.neural.weights import Weights
from billboards.metrics.neural.windows import TokenWindow, plan_windows
from billboards.metrics.yisi import check_measure, f_measure

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class YiSi1(Learned):
    """The weighted F measure of n-grams of tokens, matched by contextual embeddings.

    `model` is a model's folder, the name of a hub model that was fetched before, or `minilm`, the small English one
    that comes as a package; `layer` its layer, by default the one that BERTScore reads.
    """

    model: str = ""
    layer: int | None = None
    n: int = 1
    alpha: float = 0.8

    card: ClassVar[MetricCard] = MetricCard(
        making="learned",
        name="YiSi-1",
        summary="Weighted F measure of tokens, each matched with the one whose contextual embedding is most similar; "
        "rare tokens weigh more, and recall four times as much as precision",
        needs_part="torch, transformers and a model that lies on this machine; none is chosen for you",
        range=(0.0, 1.0),
        training_data="none of its own; that of the model, and tokens are weighed by the references of the board",
        licence="Apache-2.0 (this code, from the definition); the model has its own",
        paper="Lo 2019, YiSi - a Unified Semantic MT Quality Evaluation and Estimation Metric for Languages with "
        "Different Levels of Available Resources, WMT; Lo 2020, Extended Study on Using Pretrained Language Models and "
        "YiSi-1 for Machine Translation Evaluation, WMT",
        failures="Finds it difficult to see wrong facts, as all metrics on embeddings do. Numbers differ between "
        "models, layers and boards: compare only equal signatures on one board. The semantic roles of YiSi-1_srl are "
        "not part of it. Texts are cut where the model's input ends.",
        slow=True,
    )

    @property
    def needs_all_outputs(self) -> bool:
        return True

    @property
    def takes_best_reference(self) -> bool:
        # Weights come from all references, and precision and recall each have their own best.
        return False

    @property
    def used_layer(self) -> int:
        """The layer that is read."""
        layer = layer_for(self.model) if self.layer is None else self.layer
        if isinstance(layer, bool) or not isinstance(layer, int) or layer < 0:
            raise InvalidInput(f"{self.card.name}: layer must be a whole number of 0 or more, found {self.layer!r}")
        return layer

    @property
    def signature(self) -> str:
        return super().signature.replace("|layer:None|", f"|layer:{self.used_layer}|")

    def weights(self) -> Weights:
        if not self.model:
            raise MissingPart(
                "YiSi-1 needs a model: name its folder, or a hub model that was fetched before, as in "
                "YiSi-1(model=bert-base-uncased,layer=9); YiSi-1(model=minilm) takes the small English one that comes "
                "as a package"
            )
        return super().weights()

    def score_rows(self, batches: Sequence[Batch]) -> list[Floats]:
        weights = self.weights()
        check_measure(self, self.n, self.alpha)
        check_language(self, self.model, batches)
        precision = checked_precision(self, self.precision)
        engine = start_engine(weights, self.used_layer, precision, Where.from_environment(), TopLayer())
        scores_of: dict[int, Floats] = {}
        for group in scored_together(batches, idf=True):
            some = [batches[k] for k in group]
            scores_of |= zip(group, split_rows(self._score(engine, some), some), strict=True)
        warn_of_cuts(self, engine)
        return [scores_of[k] for k in range(len(batches))]

    def _score(self, engine: Engine, batches: Sequence[Batch]) -> Floats:
        outputs = [text for batch in batches for text in batch.outputs]
        references = [texts for batch in batches for texts in batch.references]
        table = rarities(engine.tokenizer, batches[0].references)
        around = np.array(sorted(engine.tokenizer.around))

        def match(window: TokenWindow, embedded: Embedded) -> Tensor:
            return _match_window(window, embedded, _Tokens(table, around, self.n))

        best = np.zeros((len(outputs), 2))
        for items, parts in engine.run(plan_windows(outputs, references, engine.window_characters), match):
            np.maximum.at(best, items, parts.numpy())
        return f_measure(best[:, 0], best[:, 1], self.alpha)


def rarities(tokenizer: Tokenizer, references: Sequence[Sequence[str]]) -> Floats:
    """The weight of each token of the vocabulary, from all references of all outputs."""
    times = Counter(text for texts in references for text in texts)
    distinct, seen = list(times), np.zeros(tokenizer.vocabulary)
    for start in range(0, len(distinct), CHUNK):
        some = distinct[start : start + CHUNK]
        tokens = tokenizer(some)
        for text, written in enumerate(some):
            seen[np.unique(tokens.of(text))] += times[written]
    weights: Floats = np.log2(1 + (times.total() + 1) / (seen + 1))
    return weights


@dataclass(frozen=True)
class _Tokens:
    """What tokens weigh, which of them stand around every text, and how many are matched together."""

    table: Floats
    around: NDArray[np.int64]
    n: int


def _match_window(window: TokenWindow, embedded: Embedded, tokens: _Tokens) -> Tensor:
    """Precision and recall of each pair of a window; a pair that comes several times is matched once."""
    import torch

    values = embedded.values.cpu().float().numpy()
    pairs, place = np.unique(np.stack((window.outputs, window.references)), axis=1, return_inverse=True)
    sides: dict[int, tuple[Floats, Floats]] = {}

    def side(text: int) -> tuple[Floats, Floats]:
        """A text's own embeddings and their weights."""
        if text not in sides:
            ids, start = window.tokens.of(text), int(embedded.starts[text])
            own = ~np.isin(ids, tokens.around)
            sides[text] = values[start : start + len(ids)][own].astype(np.float64), tokens.table[ids][own]
        return sides[text]

    parts = [match_grams(*side(output), *side(reference), tokens.n) for output, reference in pairs.T.tolist()]
    return torch.tensor(np.array(parts).reshape(-1, 2)[place.ravel()])


def match_grams(
    output: Floats, of_output: Floats, reference: Floats, of_reference: Floats, n: int
) -> tuple[float, float]:
    """Precision and recall of an output's n-grams and a reference's, from unit vectors and weights."""
    size = min(n, len(of_output), len(of_reference))
    if not size:
        return 0.0, 0.0
    alike = output @ reference.T
    rows, columns = len(of_output) - size + 1, len(of_reference) - size + 1
    by_output, by_reference = np.zeros((rows, columns)), np.zeros((rows, columns))
    for t in range(size):
        shifted = alike[t : t + rows, t : t + columns]
        by_output += of_output[t : t + rows, None] * shifted
        by_reference += of_reference[None, t : t + columns] * shifted
    precision = by_output.max(1).clip(0.0).sum() / _gram_weights(of_output, size).sum()
    recall = by_reference.max(0).clip(0.0).sum() / _gram_weights(of_reference, size).sum()
    # Cosines of equal vectors may exceed 1 in their last digit.
    return min(float(precision), 1.0), min(float(recall), 1.0)


def _gram_weights(weights: Floats, size: int) -> Floats:
    runs: Floats = np.lib.stride_tricks.sliding_window_view(weights, size).sum(1)
    return runs


METRICS = {"YiSi-1": YiSi1}
