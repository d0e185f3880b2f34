"""Sentence-embedding cosine: how alike the mean token embeddings of an output and of a reference, or its input, are.

The simplest metric that a sentence encoder gives (Reimers and Gurevych 2019, §3): the vectors of all tokens average to
one for the text. With several references the best counts; an empty text is like nothing and scores 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from billboards.metrics.base import Batch, Floats, Item, MetricCard
from billboards.metrics.neural.engine import Engine, Where, start_engine
from billboards.metrics.neural.learned import Learned, check_language, checked_precision, split_rows, warn_of_cuts
from billboards.metrics.neural.readout import PlainTop
from billboards.metrics.neural.sentences import Sides, score_sentences, sentence_vectors

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class SentenceCosine(Learned):
    """The cosine of mean-pooled embeddings; `model` is `minilm`, a model's folder or a hub model fetched before."""

    card: ClassVar[MetricCard] = MetricCard(
        making="learned",
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


@dataclass(frozen=True)
class SourceCosine(SentenceCosine):
    """The same cosine with the input in place of a reference: is the output about what the input is about?"""

    card: ClassVar[MetricCard] = replace(
        SentenceCosine.card,
        name="source-cosine",
        summary="Cosine of the sentence embeddings of output and input, each the mean of its tokens' embeddings",
        needs_references=False,
        needs_input=True,
        failures="Sees the topic and not the words, and calls best what is most like the input: a copy of it is "
        "perfect, an output of a few well-chosen sentences of it nearly so. The embedded model reads English only, so "
        "input and output must be English. Texts are cut where the model's input ends.",
    )

    def score_rows(self, batches: Sequence[Batch]) -> list[Floats]:
        check_language(self, self.model, batches)
        precision = checked_precision(self, self.precision)
        engine = start_engine(self.weights(), None, precision, Where.from_environment(), PlainTop())
        items = [item for batch in batches for item in batch.items()]
        outputs, given = ([text.strip() for text in side] for side in ([i.output for i in items], _inputs(items)))
        vectors = {**_vectors(engine, dict.fromkeys(outputs)), **self._input_vectors(engine, given)}
        warn_of_cuts(self, engine)
        return split_rows(_cosines(vectors, outputs, given), batches)

    def _input_vectors(self, engine: Engine, given: Sequence[str]) -> dict[str, Tensor]:
        """Vectors of the inputs. Those that many outputs share are kept: an audit asks about the same inputs again."""
        counts, key = Counter(given), self.signature
        kept = {text: _KEPT[key, text] for text in counts if (key, text) in _KEPT}
        new = _vectors(engine, [text for text in counts if text not in kept])
        for text, vector in new.items():
            if counts[text] > 1:
                _KEPT[key, text] = vector
        while len(_KEPT) > MOST_KEPT:
            del _KEPT[next(iter(_KEPT))]
        return kept | new


#: Vectors of inputs by the metric's signature and the text, the oldest first; each takes a few kilobytes.
_KEPT: dict[tuple[str, str], Tensor] = {}
MOST_KEPT = 10_000


def _inputs(items: Sequence[Item]) -> list[str]:
    return [item.input or "" for item in items]


def _vectors(engine: Engine, texts: Iterable[str]) -> dict[str, Tensor]:
    """One vector for each text; an empty text has none that is like another."""
    distinct = list(texts)
    if not distinct:
        return {}
    vectors, empty = sentence_vectors(engine, distinct, "avg")
    return dict(zip(distinct, vectors.masked_fill(empty[:, None], 0.0), strict=True))


def _cosines(vectors: Mapping[str, Tensor], outputs: Sequence[str], given: Sequence[str]) -> Floats:
    import torch
    from torch.nn.functional import cosine_similarity

    if not outputs:
        return np.empty(0)
    numbers = {text: k for k, text in enumerate(vectors)}
    matrix = torch.stack(list(vectors.values()))
    sides = (matrix[torch.tensor([numbers[text] for text in side], device=matrix.device)] for side in (outputs, given))
    cosines = cosine_similarity(*sides, dim=1).clamp(-1.0, 1.0)
    return np.asarray(cosines.double().cpu().numpy())


def _cosine(sides: Sides) -> Tensor:
    from torch.nn.functional import cosine_similarity

    cosines = cosine_similarity(sides.output, sides.reference, dim=1).clamp(-1.0, 1.0)
    return cosines.masked_fill(sides.empty, 0.0)


METRICS = {"sentence-cosine": SentenceCosine, "source-cosine": SourceCosine}
