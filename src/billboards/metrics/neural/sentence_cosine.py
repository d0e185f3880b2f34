"""Sentence-embedding cosine: how alike the mean token embeddings of an output and of a reference are.

The simplest metric that a sentence encoder gives (Reimers and Gurevych 2019, §3): the vectors of all tokens average to
one for the text. With several references the best counts; an empty text is like nothing and scores 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from billboards.domain import MetricCard
from billboards.metrics.base import Batch, Floats
from billboards.metrics.neural.engine import Where, start_engine
from billboards.metrics.neural.learned import Learned, check_language, checked_precision, split_rows, warn_of_cuts
from billboards.metrics.neural.readout import PlainTop
from billboards.metrics.neural.sentences import Sides, score_sentences

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class SentenceCosine(Learned):
    """The cosine of mean-pooled embeddings; `model` is `minilm`, a model's folder or a hub model fetched before."""

    card: ClassVar[MetricCard] = MetricCard(
        name="sentence-cosine",
        summary="Cosine of the sentence embeddings of output and reference, each the mean of its tokens' embeddings",
        needs_part="torch, transformers and a model that lies on this machine",
        range=(-1.0, 1.0),
        training_data="none of its own; that of the model. The embedded all-MiniLM-L6-v2 was trained on 1.17 billion "
        "English sentence pairs, questions and answers of the Web among them",
        licence="Apache-2.0 (this code and the embedded model)",
        paper="Reimers and Gurevych 2019, Sentence-BERT: Sentence Embeddings using Siamese BERT-Networks, EMNLP",
        failures="Sees the topic and not the words: order, negation, numbers and names cost little, and bad grammar "
        "costs nothing. A model that was not trained for sentences makes all texts alike. The embedded model reads "
        "English only. Texts are cut where the model's input ends.",
        slow=True,
    )

    def score_rows(self, batches: Sequence[Batch]) -> list[Floats]:
        check_language(self, self.model, batches)
        precision = checked_precision(self, self.precision)
        engine = start_engine(self.weights(), None, precision, Where.from_environment(), PlainTop())
        scores = score_sentences(engine, batches, "avg", _cosine)
        warn_of_cuts(self, engine)
        return split_rows(scores, batches)


def _cosine(sides: Sides) -> Tensor:
    from torch.nn.functional import cosine_similarity

    cosines = cosine_similarity(sides.output, sides.reference, dim=1).clamp(-1.0, 1.0)
    return cosines.masked_fill(sides.empty, 0.0)
